//! Verification: input data, references, tolerances and verdicts. Whatever a candidate gains, it counts only if it is right.

mod compare;
mod data;
mod draw;
mod dtype;
mod npy;
mod tensor;
mod verdict;

pub use compare::{
    Agreement, Difference, Mismatch, compare, compare_reordered, compare_within, default_tolerance,
    default_tolerance_of, largest_difference, narrowed, tolerance_from,
};
pub use data::{DataKind, generate};
pub use draw::Draw;
pub use dtype::{DType, UnknownDType};
pub use npy::{NpyArray, NpyError, parse_npy};
pub use tensor::{TensorSpec, Tolerance, ValueRange};
pub use verdict::{Reason, Rejection};
