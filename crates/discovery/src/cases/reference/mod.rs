//! What is right: by an operator's authors, in their `golden.py` or the scripts that make data for their tests; by definitions of ours
//! (`definition`); and the calls that authors' Python tests make.
//!
//! All are Python and run as workers, in a directory of their own, with whatever packages the machine has. A reference that
//! cannot be run is no verdict: the reason is kept, and the state is *unknown*.

mod array;
mod definition;
mod python;
mod scripts;

pub use array::Array;
pub use definition::{Defined, DefinedData, DefinedOutput, Definition, Meant};
pub use python::{Python, RecordedArgument, RecordedCall, RecordedTensor, ReferenceError};
pub use scripts::golden_script;
pub(super) use scripts::{ScriptCase, data_scripts, match_case};
