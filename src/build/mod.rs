//! The build: SDK, CMake flow, compiler driver and artifact cache.
//!
//! CMake is asked once what the project's targets are ([`cmake`], [`file_api`]); after that every candidate is compiled
//! directly ([`Builder`]), from an overlay of edited texts over the project's files, into a content-addressed cache.

pub mod bisheng;
mod builder;
mod cache;
pub mod cmake;
pub mod compiler;
pub mod diagnostics;
mod direct;
mod error;
pub mod file_api;
mod flags;
mod host;
mod includes;
mod kernel;
pub(crate) mod launch;
pub(crate) mod lex;
mod overlay;
mod project_build;
pub mod sdk;
mod template_key;
#[cfg(test)]
mod tests;
mod tiling_header;
mod unit_test;

pub use builder::{Artifact, BuildOptions, Builder};
pub use diagnostics::{Diagnostic, Severity};
pub use error::{BuildError, BuildErrorKind, CompileFailure};
pub use kernel::{KernelVariant, TensorBinding, TilingClass, TilingField};
pub use overlay::project_relative;
