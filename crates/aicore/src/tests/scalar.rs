//! The kernel's own scalar code.

use super::super::buffers::{BUFFER_CUT, PIPE_IN_OBJECT};
use super::super::testing::{TraceBuilder, pipe};
use super::report;

/// Scalar time in microseconds of a kernel with a pipe and 10000 scalar operations.
fn scalar_us(pipe_in_object: bool) -> f64 {
    let mut trace = TraceBuilder::default();
    let core = trace.core(0);
    let mut buffer = |what| {
        core.record("buffer", pipe::S, 0, 0, 0, [what, 64, 64], &[]);
    };
    if pipe_in_object {
        buffer(PIPE_IN_OBJECT);
    }
    buffer(BUFFER_CUT);
    core.scalar(0, 10_000, &[]).end();
    report(&trace).profile.pipes.scalar_us
}

#[test]
fn a_pipe_in_the_object_makes_scalar_code_slower() {
    // 900 cycles of the pipe and 10000 of the kernel at 1.85 GHz, a fifth more of both.
    let (outside, inside) = (scalar_us(false), scalar_us(true));
    let slower = inside - outside;
    assert!((slower - 0.19 * 10_900.0 / 1850.0).abs() < 1e-3, "{outside} {inside}");
}
