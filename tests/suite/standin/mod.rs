//! A stand-in toolkit: trees of one in temporary folders, and the programs in them.
//!
//! It is written from the documents alone and knows nothing of the code that drives it, so that a wrong belief on either side shows. No
//! number from it is a measurement: times are those of the AI Core model with noise that a knob asks for.

mod columns;
mod drive;
mod files;
mod knobs;
mod layout;
mod model;
mod msprof;
mod npu_smi;
mod object;
mod profile_options;
mod program;
mod replay;
mod soc;

mod tests;

pub use drive::{Machine, Style, at_length};
pub use layout::{Layout, Standin};
