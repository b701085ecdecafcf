//! Constants of host code that differ by size: finding the places where one is used, and code that chooses between values there.
//!
//! A constant that only the tiling function reads need not be one: what is used of it becomes a local variable, which has one value up to a
//! number of elements of the first input and another one beyond. The constant stays where it is, with the value for the largest inputs; those
//! for smaller ones are constants beside it, so that all of them can be found and searched again.

mod refusal;
mod size;
#[cfg(test)]
mod tests;
mod there;
mod uses;
mod write;

pub use refusal::{NotDispatched, WhyNot};
pub use there::{BySize, chosen_by_size, of_choices};

use crate::{Patch, SourceTree};
use space::{Binding, Tunable};

use uses::Uses;

/// What the files of an operator are, as far as somebody who changes one has to know.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// Files that the sources include and that are not among them.
    pub beside: &'a SourceTree,
    /// Source files that are compiled for the AI Core.
    pub kernels: &'a [String],
    /// All tunables of the operator.
    pub tunables: &'a [Tunable],
}

/// A tunable and its values by class, from the smallest inputs to the largest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValuesBySize<'a> {
    /// The tunable.
    pub tunable: &'a Tunable,
    /// One value for each class.
    pub values: Vec<i64>,
}

/// Name of the patch that chooses by size, where those of the catalogue have their id.
pub const BY_SIZE: &str = "by-size";

/// Whether values of a tunable can be chosen by size.
///
/// # Errors
/// Why not.
pub fn dispatchable(tree: &SourceTree, tunable: &Tunable, around: Surroundings<'_>) -> Result<(), NotDispatched> {
    let uses = Uses::of(tree, tunable, around)?;
    for function in &uses.functions {
        write::variable(tree, &uses, function, around)?;
    }
    Ok(())
}

/// The code that chooses between the values: class `n` is of inputs of up to `up_to[n]` elements, the last one of all others. The sources
/// have the values of the last class.
///
/// # Errors
/// Where a tunable is no constant of host code alone, or the size of the input is not known where it is used.
pub fn by_size(
    tree: &SourceTree,
    values: &[ValuesBySize<'_>],
    up_to: &[u64],
    around: Surroundings<'_>,
) -> Result<Patch, NotDispatched> {
    let mut found = Vec::new();
    for one in values {
        found.push((Uses::of(tree, one.tunable, around)?, one));
    }
    write::patch(tree, &found, up_to, around)
}

/// The only file and the name of a constant; why a tunable is none, otherwise.
fn constant_of(tunable: &Tunable) -> Result<(&str, &str), WhyNot> {
    match &tunable.binding {
        Binding::Constant { file, name, also } if also.is_empty() => Ok((file, name)),
        Binding::Constant { .. } => Err(WhyNot::InStep),
        _ => Err(WhyNot::NoConstant),
    }
}
