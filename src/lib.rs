//! The command: arguments in, exit status out. What it does lies in the crates below `crates/`; docs/architecture.md is their map.
//!
//! * [`cli`]: arguments, one file per subcommand, exit statuses, which output.
//! * [`doctor`]: what is there and what is missing.

pub mod cli;
pub mod doctor;
