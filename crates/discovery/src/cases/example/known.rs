//! What names of a program stand for.

use super::super::call::CallTensor;

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Known {
    Numbers(Vec<f64>),
    /// Lists of numbers, as shapes of several tensors are written.
    Lists(Vec<Vec<f64>>),
    Number(f64),
    Bool(bool),
    Text(String),
    Dtype(String),
    Format(String),
    Tensor(CallTensor),
    Tensors(Vec<CallTensor>),
    Nothing,
}
