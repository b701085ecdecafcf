//! Whether two local tensors may be in the same memory.

use crate::analysis::code::Surroundings;
use source::facts::{Callers, Origin};

/// Whether two tensors of a function may share memory. Parameters are followed to what callers in the class pass for them.
pub(crate) fn may_share(around: &Surroundings<'_>, left: &str, right: &str) -> bool {
    let Surroundings { context, file, function, kernel, tensors } = *around;
    if left == right {
        return true;
    }
    if tensors.disjoint(left, right) {
        return false;
    }
    let callers = Callers::new(kernel, &context.forest);
    let places = |name: &str| callers.origins(file, function, tensors, name).map_err(|_| ());
    let (Ok(left), Ok(right)) = (places(left), places(right)) else { return true };
    // What comes from nowhere is not known after all.
    let apart = left.iter().all(|left| right.iter().all(|right| memory(left) != memory(right)));
    left.is_empty() || right.is_empty() || !apart
}

/// Queue or buffer that a tensor is part of: what goes into a queue comes out of it.
fn memory(origin: &Origin) -> (bool, &str) {
    match origin {
        Origin::Alloc(name) | Origin::DeQue(name) => (true, name),
        Origin::Buffer(name) => (false, name),
        Origin::Parameter | Origin::Unknown => (false, ""),
    }
}
