//! A real toolkit and its devices: where they are, how they are driven, what they say.
//!
//! Nothing here decides what is faster or right; it finds, starts, reads and classifies. The backend that the tuner runs candidates by
//! stands on it.

pub mod launcher;
pub mod measure;
mod object;
pub mod profiler;
pub mod replay;

// The toolkit: found, driven, its words understood.
mod device;
mod diagnosis;
mod environment;
mod flow;
mod platform;
mod soc;
mod toolkit;
mod version;

pub use object::{KernelObject, Magic, ObjectError};

pub use device::{Answer, Ask, AskError, Device, DeviceError, DeviceLock, Devices, Health, LockError, Process, System};
pub use diagnosis::{Class, Finding, diagnose, named_logs};
pub use environment::Environment;
pub use flow::{Built, Flow, FlowError, FlowOptions, Package, Ran, Style};
pub use platform::{Platform, PlatformError, chips_in};
pub use soc::{Soc, SocError};
pub use toolkit::{FoundBy, Looked, Toolkit, ToolkitError};
pub use version::Version;
