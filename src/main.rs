//! The `cargo ascend-tune` program: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ascend_tune::cli::main(std::env::args_os())
}
