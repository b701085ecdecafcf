//! Kernels of the tests.

use super::mend::Mend;
use crate::context::Context;
use source::SourceTree;
use source::facts::KnownValues;

/// A kernel file, `k.cpp`.
pub(super) fn context(text: &str) -> Context {
    let mut tree = SourceTree::new();
    tree.insert("k.cpp", text);
    Context::new(tree, KnownValues::default(), None)
}

/// A place.
pub(super) fn at(file: &str, line: u32) -> (String, u32) {
    (file.to_owned(), line)
}

/// Its text with all of these.
#[track_caller]
pub(super) fn mended(context: &Context, mends: &[Mend]) -> String {
    let tree = context.admit(&Mend::patch(mends)).unwrap_or_else(|error| panic!("{error}"));
    tree.text("k.cpp").unwrap_or_default().to_owned()
}
