//! The devices of a run: who gets which, and what becomes of one that dies.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ::cann::DeviceLock;
use ::cann::measure::{MeasureOptions, Measured};
use ::cann::profiler::KernelLaunch;
use tokio::sync::MutexGuard;

use super::super::execution::RunFailure;
use super::launch::DeviceLaunch;
use super::slot::{Slot, SlotFailure};

/// How kernels come to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// Our launcher: objects loaded once, launches timed by events.
    Launcher,
    /// The profiler replays each object with the tiling that was decided; why the launcher does not.
    Replay(String),
}

impl Route {
    /// In words, for those who want to know.
    pub fn words(&self) -> String {
        match self {
            Route::Launcher => "our launcher on AscendCL".to_owned(),
            Route::Replay(why) => format!("`msprof op --config`, because the launcher does not run here: {why}"),
        }
    }
}

/// A device of the fleet.
#[derive(Clone, Debug)]
pub struct FleetDevice {
    /// What it is called in messages.
    pub name: String,
    /// What binds a child to it.
    pub environment: Vec<(String, String)>,
    /// What keeps others off it as long as it is used.
    pub lock: Option<Arc<DeviceLock>>,
}

/// What a fleet is made with.
#[derive(Clone, Debug)]
pub struct FleetOptions {
    /// Its devices.
    pub devices: Vec<FleetDevice>,
    /// Our launcher, or why there is none.
    pub launcher: Result<PathBuf, String>,
    /// The profiler, where there is one: the program and its first words.
    pub profiler: Option<(PathBuf, Vec<String>)>,
    /// The toolkit's environment.
    pub environment: Vec<(String, String)>,
    /// Folder for logs, outputs and profiles.
    pub scratch: PathBuf,
    /// How times are taken.
    pub measure: MeasureOptions,
    /// Bytes of L2 cache, where a device does not tell.
    pub l2_bytes: u64,
    /// The full name that every device has to have; empty for whatever it is.
    pub soc: String,
    /// Seconds that a run may take.
    pub wall_s: f64,
}

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
    slots: Vec<Place>,
    options: Arc<FleetOptions>,
    route: Mutex<Route>,
    next: AtomicUsize,
    losses: Mutex<Vec<String>>,
}

#[derive(Debug)]
struct Place {
    slot: tokio::sync::Mutex<Slot>,
    alive: AtomicBool,
}

/// What a device says of a launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// Outputs; none of a launch that is only timed.
    pub outputs: Vec<Vec<u8>>,
    /// Its times; `None` where none counted.
    pub time: Option<Measured>,
    /// What the profiler says, where it was asked.
    pub profile: Option<KernelLaunch>,
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
        let place = |device: &FleetDevice| Place {
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
            let told = match slot.run(launch, &route, profiled).await {
                Ok(told) => return Ok(told),
                Err(failure) => failure,
            };
            match told {
                SlotFailure::Launch(failure) => return Err(failure),
                SlotFailure::Route(why) => match (&route, &self.options.profiler) {
                    (Route::Launcher, Some(_)) => {
                        *self.route.lock().unwrap_or_else(PoisonError::into_inner) = Route::Replay(why);
                    }
                    _ => return Err(RunFailure::NoDevice(format!("no route to a device: {why}"))),
                },
                SlotFailure::Device(why) => {
                    // Whoever else waits for it goes to another.
                    self.slots[place].alive.store(false, Ordering::SeqCst);
                    let mut losses = self.losses.lock().unwrap_or_else(PoisonError::into_inner);
                    losses.push(format!("{}: {why}", slot.name()));
                }
            }
        }
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
