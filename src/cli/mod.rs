//! The command line: arguments, exit statuses, and one file per subcommand.

pub mod args;
pub mod doctor;
mod exit;
pub mod output;
mod value;

#[cfg(test)]
mod tests;

pub use exit::Exit;
