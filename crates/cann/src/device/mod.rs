//! Devices of this machine as `npu-smi` tells of them: which, how they are, who is on them.

mod ask;
mod lock;
mod properties;
mod table;
mod visible;

pub use ask::{Answer, Ask, AskError, System};
pub use lock::{DeviceLock, LockError};
pub use table::{Health, Process};

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::environment::Environment;
use super::soc::{Soc, SocError};

/// Seconds that `npu-smi` has: with a driver in trouble it hangs.
const LIMIT: Duration = Duration::from_secs(20);
/// The program, and where drivers put it where `PATH` does not lead to it.
const PROGRAM: &str = "npu-smi";
const USUAL: [&str; 2] = ["/usr/local/bin/npu-smi", "/usr/local/sbin/npu-smi"];
/// AI Core load in percent from which a device counts as in use.
const BUSY_PERCENT: u32 = 5;

/// A device that this process may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Number of its card, as `npu-smi -i` takes it.
    pub npu: u32,
    /// Number of the chip on the card, as `npu-smi -c` takes it.
    pub chip: u32,
    /// Number that the driver gives it; `ASCEND_RT_VISIBLE_DEVICES` lists these.
    pub driver_id: u32,
    /// Number that a program has to name, which inherits this process's environment.
    pub runtime_id: u32,
    /// Its address on the bus; tells devices apart on one machine, whatever is visible to whom.
    pub bus: String,
    /// What the table calls it, such as `910B3`.
    pub name: String,
    /// How it is.
    pub health: Health,
    /// Load of its AI Cores in percent.
    pub ai_core_percent: Option<u32>,
    /// Its memory in MiB: used, and all.
    pub memory_mib: Option<(u64, u64)>,
    /// Who is on it, as far as the driver tells: processes of other containers may be missing.
    pub processes: Vec<Process>,
}

impl Device {
    /// Why it should not be measured on: it is ill, or somebody else is on it. Own processes do not count.
    pub fn in_use(&self, own: &[u32]) -> Option<String> {
        if !self.health.is_fit() {
            return Some(format!("its health is {}", self.health));
        }
        let others: Vec<String> =
            self.processes.iter().filter(|process| !own.contains(&process.pid)).map(Process::to_string).collect();
        if !others.is_empty() {
            return Some(format!("used by {}", others.join(", ")));
        }
        let load = self.ai_core_percent.filter(|load| *load >= BUSY_PERCENT && self.processes.is_empty());
        load.map(|load| format!("its AI Cores are at {load} % and nobody says whose work it is"))
    }

    /// What binds a child to it: the child sees this device alone, as number 0.
    pub fn environment(&self) -> BTreeMap<String, String> {
        BTreeMap::from([(visible::VARIABLE.to_owned(), self.driver_id.to_string())])
    }
}

impl fmt::Display for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "device {} ({}, {}, {})", self.driver_id, self.name, self.bus, self.health)
    }
}

/// What `npu-smi` says of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Devices {
    /// The program that was asked.
    pub program: PathBuf,
    /// Version of the driver, where the table has it.
    pub driver: Option<String>,
    /// Devices that `ASCEND_RT_VISIBLE_DEVICES` leaves, in its order.
    pub devices: Vec<Device>,
    /// How many there are without that.
    pub installed: usize,
    /// What was passed over: lines that could not be read, numbers that no device has.
    pub remarks: Vec<String>,
}

/// Why nothing is known of devices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// There is no `npu-smi`.
    #[error(
        "npu-smi was not found in PATH nor in /usr/local/bin: there is no Ascend driver, or a container does not see it; install the driver, or start the container with its devices and /usr/local/bin/npu-smi"
    )]
    NoProgram,
    /// It did not answer.
    #[error(
        "`npu-smi {arguments}` did not answer within {seconds} s: the driver hangs; look at `dmesg`, and reset the device (`npu-smi set -t reset`) or the machine"
    )]
    Hangs {
        /// What was asked.
        arguments: String,
        /// How long it had.
        seconds: u64,
    },
    /// It said no.
    #[error("`npu-smi {arguments}` fails ({status}): {said}")]
    Fails {
        /// What was asked.
        arguments: String,
        /// How it ended.
        status: String,
        /// Its words, the first lines.
        said: String,
    },
    /// Nothing in its answer could be read.
    #[error("the table of `npu-smi info` could not be read: {said}; report it with `npu-smi -v`")]
    Unreadable {
        /// What it began with.
        said: String,
    },
    /// There is a driver and no device that may be used.
    #[error("{installed} devices are installed and none may be used: ASCEND_RT_VISIBLE_DEVICES={visible:?}")]
    NoneVisible {
        /// Devices there are.
        installed: usize,
        /// What the variable says.
        visible: String,
    },
}

impl Devices {
    /// Asks for the table, and for the driver's numbers of the devices.
    ///
    /// # Errors
    /// Where there is no program, it does not answer in time, says no or what cannot be read, or no device may be used.
    pub fn ask(ask: &dyn Ask, environment: &Environment) -> Result<Devices, DeviceError> {
        let program = program(environment).ok_or(DeviceError::NoProgram)?;
        let text = answer(ask, &program, &["info"])?;
        let read = table::read(&text);
        if read.chips.is_empty() {
            let said = text.lines().filter(|line| !line.trim().is_empty()).take(3).collect::<Vec<_>>().join(" / ");
            return Err(DeviceError::Unreadable { said });
        }
        // Numbers of the driver come from the list of chips; without it from the order, which is the same where all are there.
        let numbers = answer(ask, &program, &["info", "-m"]).map(|text| properties::numbers(&text)).unwrap_or_default();
        let mut remarks = read.remarks;
        let mut all = Vec::new();
        for (place, chip) in read.chips.into_iter().enumerate() {
            let place = u32::try_from(place).unwrap_or(u32::MAX);
            let number = numbers.get(&(chip.npu, chip.chip)).copied().unwrap_or(place);
            all.push(Device {
                npu: chip.npu,
                chip: chip.chip,
                driver_id: number,
                runtime_id: number,
                bus: chip.bus.unwrap_or_else(|| format!("npu{}-chip{}", chip.npu, chip.chip)),
                name: chip.name,
                health: chip.health,
                ai_core_percent: chip.ai_core_percent,
                memory_mib: chip.memory_mib,
                processes: chip.processes,
            });
        }
        all.sort_by_key(|device| device.driver_id);
        let installed = all.len();
        let devices = visible::select(all, environment.variable(visible::VARIABLE), &mut remarks);
        if devices.is_empty() {
            let visible = environment.variable(visible::VARIABLE).unwrap_or_default().to_owned();
            return Err(DeviceError::NoneVisible { installed, visible });
        }
        Ok(Devices { program, driver: read.driver, devices, installed, remarks })
    }

    /// How a device is now: `-t health`, which says why, too.
    ///
    /// # Errors
    /// As [`Devices::ask`].
    pub fn health(&self, ask: &dyn Ask, device: &Device) -> Result<(Health, Option<String>), DeviceError> {
        let (npu, chip) = (device.npu.to_string(), device.chip.to_string());
        let text = answer(ask, &self.program, &["info", "-t", "health", "-i", &npu, "-c", &chip])?;
        Ok(properties::health(&text))
    }

    /// What is known of the card and chip of a device, by key. Serial numbers are not among it.
    ///
    /// # Errors
    /// As [`Devices::ask`].
    pub fn board(&self, ask: &dyn Ask, device: &Device) -> Result<BTreeMap<String, String>, DeviceError> {
        let (npu, chip) = (device.npu.to_string(), device.chip.to_string());
        let mut known = properties::board(&answer(ask, &self.program, &["info", "-t", "board", "-i", &npu])?);
        // Not every version tells of single chips.
        if let Ok(text) = answer(ask, &self.program, &["info", "-t", "board", "-i", &npu, "-c", &chip]) {
            known.extend(properties::board(&text));
        }
        Ok(known)
    }

    /// The full name of a device's chip: from the table where it says it all, else from the board.
    ///
    /// # Errors
    /// Where the names there are do not say it.
    pub fn soc(&self, ask: &dyn Ask, device: &Device, platforms: Option<&Path>) -> Result<Soc, SocError> {
        let board = self.board(ask, device).unwrap_or_default();
        let chip = board.get("Chip Name").filter(|name| !name.is_empty());
        let from_board = chip.map(|chip| Soc::of_npu_smi(chip, board.get("NPU Name").map(String::as_str), platforms));
        match from_board {
            Some(Ok(soc)) => Ok(soc),
            _ => Soc::of_npu_smi(&device.name, board.get("NPU Name").map(String::as_str), platforms),
        }
    }
}

fn program(environment: &Environment) -> Option<PathBuf> {
    let path =
        environment.variable("PATH").unwrap_or_default().split(':').map(|folder| Path::new(folder).join(PROGRAM));
    path.chain(USUAL.iter().map(PathBuf::from)).find(|program| program.is_file())
}

fn answer(ask: &dyn Ask, program: &Path, arguments: &[&str]) -> Result<String, DeviceError> {
    let words = || arguments.join(" ");
    match ask.ask(program, arguments, LIMIT) {
        Ok(Answer { success: true, output, .. }) => Ok(output),
        Ok(Answer { status, output, .. }) => {
            let said = output.lines().filter(|line| !line.trim().is_empty()).take(3).collect::<Vec<_>>().join(" / ");
            Err(DeviceError::Fails { arguments: words(), status, said })
        }
        Err(AskError::Late) => Err(DeviceError::Hangs { arguments: words(), seconds: LIMIT.as_secs() }),
        Err(AskError::Missing(_)) => Err(DeviceError::NoProgram),
    }
}

#[cfg(test)]
mod tests;
