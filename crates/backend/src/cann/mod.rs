//! Devices as a backend: every job runs on the simulator first, and what is left of it on a device.

mod child;
mod fleet;
mod launch;
mod learned;
mod measuring;
mod objects;
mod options;
mod program;
mod slot;

pub use fleet::{Fleet, FleetError};
pub use learned::Learned;
pub use measuring::CannBackend;
pub use objects::{BuiltOnce, DeviceBuild, DeviceProducts};
pub use options::{FleetDevice, FleetOptions, Route};
