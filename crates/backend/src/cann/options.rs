//! What a fleet is made with, and what one of its devices answers.

use std::path::PathBuf;
use std::sync::Arc;

use ::cann::DeviceLock;
use ::cann::measure::{MeasureOptions, Measured};
use ::cann::profiler::KernelLaunch;

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
    /// The profiler of programs, where there is one.
    pub task_profiler: Option<PathBuf>,
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
