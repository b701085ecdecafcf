//! The `cargo ascend-tune` program: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(panic = "abort")]
    end_as_if_unwound();
    ascend_tune::cli::main(std::env::args_os())
}

/// A panic ends the program with the status that it has where panics unwind, in place of a signal.
#[cfg(panic = "abort")]
fn end_as_if_unwound() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        tell(panic);
        std::process::exit(101);
    }));
}
