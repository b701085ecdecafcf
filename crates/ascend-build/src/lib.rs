//! For `build.rs`: builds the Ascend C operators of a package with the values that `ascend.lock` has, and tells Cargo what they are made of.
//!
//! In its `main`:
//!
//! ```ignore
//! ascend_build::Operators::of_package().and_then(|operators| operators.build()).unwrap_or_else(|error| error.end());
//! ```
//!
//! The package says in its `Cargo.toml` where its operators are:
//!
//! ```toml
//! [package.metadata.ascend-tune]
//! projects = ["kernels/add", "kernels/gelu"]   # directories with ascend.toml and ascend.lock; `project = ".."` for a single one
//! build = true                                 # false: only constants, and `cargo-ascend-tune` need not be installed
//! backend = "sim"                              # sim: the embedded machine; cann: a toolkit
//! soc = "ascend910b3"                          # where the lock has several: whose values are built
//! definitions = { CMAKE_BUILD_TYPE = "Release" }
//! ```
//!
//! Before anything is built the digests of `ascend.lock` are compared with the files, in this crate; what is not as it was locked ends the
//! build, with the names of the files and the command that mends it. The tuner itself is no part of this crate: the installed
//! `cargo-ascend-tune` (or the program that `CARGO_ASCEND_TUNE` names) builds, by `build --locked`.
//!
//! `$OUT_DIR/ascend_tune.rs` has a module for each operator, with a constant for each tunable and `ARTIFACTS`, the files that were built:
//!
//! ```ignore
//! include!(concat!(env!("OUT_DIR"), "/ascend_tune.rs"));
//! ```

mod built;
mod constants;
pub mod digest;
mod error;
mod lock;
mod operators;
mod package;
mod tool;

pub use built::Built;
pub use error::Error;
pub use lock::Locked;
pub use operators::{Operator, Operators};
