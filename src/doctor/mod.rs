//! Checks of the environment. They are pure over [`Environment`], so that every answer can be tested.

mod cann;
mod checks;
mod system;

#[cfg(test)]
mod tests;

pub use cann::{CannFacts, DeviceFacts, ToolkitFacts};
pub use checks::{Environment, Program, SdkState, examine};
pub use system::SystemEnvironment;
