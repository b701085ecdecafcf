//! The devices of a run: who gets which, and what becomes of one that dies.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::MutexGuard;

use super::super::execution::{DeviceTime, RunFailure};
use super::launch::DeviceLaunch;
use super::options::{FleetDevice, FleetOptions, Route, Told};
use super::program::ProgramLaunch;
use super::slot::{Slot, SlotFailure};

/// A fleet that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FleetError {
    /// No way leads to a device.
    #[error("no route to a device: the launcher does not run here ({launcher}), and the toolkit has no msprof")]
    NoRoute {
        /// Why the launcher does not.
        launcher: String,
    },
    /// There are no devices.
    #[error("there is no device to run on")]
    NoDevice,
}

/// The devices of a run.
#[derive(Debug)]
pub struct Fleet {
    slots: Vec<DeviceSlot>,
    options: Arc<FleetOptions>,
    route: Mutex<Route>,
    next: AtomicUsize,
    losses: Mutex<Vec<String>>,
}

#[derive(Debug)]
struct DeviceSlot {
    slot: tokio::sync::Mutex<Slot>,
    alive: AtomicBool,
}

/// A device that somebody keeps to, so that times can be compared. Another takes its place when it dies.
#[derive(Debug, Default)]
pub struct Pin {
    place: Mutex<Option<usize>>,
}

impl Fleet {
    /// A fleet of these devices.
    ///
    /// # Errors
    /// Where there are none, or no way leads to them.
    pub fn new(options: FleetOptions) -> Result<Self, FleetError> {
        if options.devices.is_empty() {
            return Err(FleetError::NoDevice);
        }
        let route = match (&options.launcher, &options.profiler) {
            (Ok(_), _) => Route::Launcher,
            (Err(why), Some(_)) => Route::Replay(why.clone()),
            (Err(why), None) => return Err(FleetError::NoRoute { launcher: why.clone() }),
        };
        let options = Arc::new(options);
        let place = |device: &FleetDevice| DeviceSlot {
            slot: tokio::sync::Mutex::new(Slot::new(device.clone(), Arc::clone(&options))),
            alive: AtomicBool::new(true),
        };
        Ok(Self {
            slots: options.devices.iter().map(place).collect(),
            route: Mutex::new(route),
            next: AtomicUsize::new(0),
            losses: Mutex::default(),
            options,
        })
    }

    /// Devices that are left.
    pub fn devices(&self) -> usize {
        self.slots.iter().filter(|place| place.alive.load(Ordering::SeqCst)).count()
    }

    /// Devices that are not, each with the reason.
    pub fn losses(&self) -> Vec<String> {
        self.losses.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How kernels come to the devices.
    pub fn route(&self) -> Route {
        self.route.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How times are taken.
    pub fn options(&self) -> &FleetOptions {
        &self.options
    }

    /// Runs a launch on a device, and on another where that dies. `profiled` asks the profiler, too.
    ///
    /// # Errors
    /// Where the launch is at fault, or no device is left.
    pub(super) async fn run(
        &self,
        launch: &DeviceLaunch,
        pin: Option<&Pin>,
        profiled: bool,
    ) -> Result<Told, RunFailure> {
        loop {
            let (place, mut slot) = self.take(pin).await?;
            let route = self.route();
            match slot.run(launch, &route, profiled).await {
                Ok(told) => return Ok(told),
                Err(failure) => self.after(failure, place, slot.name(), &route)?,
            }
        }
    }

    /// The same for a program with a main of its own: times of its launches.
    ///
    /// # Errors
    /// Likewise.
    pub(super) async fn run_program(
        &self,
        launch: &ProgramLaunch,
        pin: Option<&Pin>,
    ) -> Result<Vec<DeviceTime>, RunFailure> {
        loop {
            let (place, mut slot) = self.take(pin).await?;
            match slot.run_program(launch).await {
                Ok(times) => return Ok(times),
                Err(failure) => self.after(failure, place, slot.name(), &self.route())?,
            }
        }
    }

    /// Takes the consequences of a failure; what is left of them is tried again.
    fn after(&self, failure: SlotFailure, place: usize, name: &str, route: &Route) -> Result<(), RunFailure> {
        match failure {
            SlotFailure::Launch(failure) => return Err(failure),
            SlotFailure::Route(why) => match (route, &self.options.profiler) {
                (Route::Launcher, Some(_)) => {
                    *self.route.lock().unwrap_or_else(PoisonError::into_inner) = Route::Replay(why);
                }
                _ => return Err(RunFailure::NoDevice(format!("no route to a device: {why}"))),
            },
            SlotFailure::Device(why) => {
                // Whoever else waits for it goes to another.
                self.slots[place].alive.store(false, Ordering::SeqCst);
                self.losses.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{name}: {why}"));
            }
        }
        Ok(())
    }

    /// A device that is free, or the one that was kept to.
    async fn take(&self, pin: Option<&Pin>) -> Result<(usize, MutexGuard<'_, Slot>), RunFailure> {
        loop {
            let alive: Vec<usize> =
                (0..self.slots.len()).filter(|place| self.slots[*place].alive.load(Ordering::SeqCst)).collect();
            if alive.is_empty() {
                let losses = self.losses().join("; ");
                return Err(RunFailure::NoDevice(format!(
                    "no device is left ({losses}); what was measured is in the journal: the same command goes on from there"
                )));
            }
            let kept = pin.and_then(|pin| *pin.place.lock().unwrap_or_else(PoisonError::into_inner));
            let free = || alive.iter().find_map(|place| Some((*place, self.slots[*place].slot.try_lock().ok()?)));
            let (place, slot) = match kept.filter(|place| alive.contains(place)) {
                Some(place) => (place, self.slots[place].slot.lock().await),
                None => match free() {
                    Some(found) => found,
                    None => {
                        let place = alive[self.next.fetch_add(1, Ordering::SeqCst) % alive.len()];
                        (place, self.slots[place].slot.lock().await)
                    }
                },
            };
            // It may have died while somebody waited for it.
            if self.slots[place].alive.load(Ordering::SeqCst) {
                if let Some(pin) = pin {
                    *pin.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
                }
                return Ok((place, slot));
            }
        }
    }
}
