//! What the authors of an operator wrote to test it, as a second opinion on this project's host floor and as cases.
//!
//! Tiling unit tests (`tests/ut/op_host/*tiling*.cpp`) are C++ with helpers of their own, so they are not read but compiled
//! and run: against the SDK's contexts, under the test framework's names, linked with the operator's host library. Every
//! call of a tiling function leaves a [`TilingExample`], every test a [`TilingTest`].

mod example;
mod kernel_run;
mod tiling_tests;

pub use example::{
    Difference, ExamplePlatform, Expected, TensorExample, TilingExample, TilingOutcome, TilingTest, Verdict,
};
pub use kernel_run::{KernelTestError, run_kernel_tests};
pub use tiling_tests::{TestRunner, run_tiling_tests, tiling_test_files};
