//! The command line: arguments, exit statuses, and one file per subcommand.

pub mod args;
pub mod doctor;
mod exit;
mod value;

#[cfg(test)]
mod tests;

pub use exit::Exit;
