//! The build: SDK, CMake flow, compiler driver and artifact cache.
//!
//! CMake is asked once what the project's targets are ([`cmake`], [`file_api`]); after that every candidate is compiled
//! directly ([`Builder`]), from an overlay of edited texts over the project's files, into a content-addressed cache.

mod ahead;
mod arithmetic;
pub mod bisheng;
mod builder;
mod cache;
pub mod cmake;
mod compiled_headers;
pub mod compiler;
mod compiler_detection;
mod direct;
mod error;
pub mod file_api;
mod flags;
mod forwards;
mod host;
mod host_dependencies;
mod imports;
mod includes;
mod initialisers;
mod inputs;
mod kernel;
mod kernel_kinds;
mod kernel_symbols;
mod kernel_variant;
mod launch;
mod library_facts;
mod missing_symbols;
mod overlay;
mod project_build;
mod run_time_kernel;
pub mod sdk;
mod sdk_library;
mod slots;
mod task_type;
mod template_key;
#[cfg(test)]
mod tests;
mod tiling_header;
mod tiling_test;
pub mod toolkit;
mod translation_unit;
mod unit_test;
mod wrapper;

pub use builder::{Artifact, BuildOptions, Builder};
pub use cache::{Digest, artifact_name};
pub use error::{BuildError, BuildErrorKind, CompileFailure};
pub use forwards::ForwardsError;
pub use imports::Half;
pub use inputs::{BuildInputs, inputs_by_text};
pub use kernel::KernelLibraries;
pub use kernel_variant::{KernelVariant, TensorBinding, TilingClass, TilingField};
pub use library_facts::LibraryFacts;
pub use overlay::project_relative;
pub use toolchain::diagnostics::{self, Diagnostic, Severity};
pub use toolchain::{ToolLimit, ToolLimits};
pub use toolkit::Toolkit;
