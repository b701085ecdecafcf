//! What is found out about a function once for all motifs that ask.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::analysis::flow::graph::Graph;
use source::facts::TensorFacts;
use source::parse::{Function, SyntaxFile};

/// A file's name and where a function begins in it.
type Place = (String, usize);
/// Answers by function.
type Known<T> = Mutex<BTreeMap<Place, T>>;

/// Answers by function. Shared by the copies of a context, which have the same sources; those of changed sources begin anew.
#[derive(Clone, Debug, Default)]
pub(crate) struct Functions {
    tensors: Arc<Known<Arc<TensorFacts>>>,
    graphs: Arc<Known<Result<Arc<Graph>, String>>>,
}

impl Functions {
    /// The tensors of a function.
    pub(crate) fn tensors(&self, file: &SyntaxFile, function: &Function) -> Arc<TensorFacts> {
        once(&self.tensors, file, function, || Arc::new(TensorFacts::of(file, function)))
    }

    /// The control flow of a function, or why it is not understood; `find` is asked where nobody was before.
    pub(crate) fn graph(
        &self,
        file: &SyntaxFile,
        function: &Function,
        find: impl FnOnce() -> Result<Graph, String>,
    ) -> Result<Arc<Graph>, String> {
        once(&self.graphs, file, function, || find().map(Arc::new))
    }
}

/// What is known of a function, or is found out now. Two threads that ask at once may both find out, and find the same.
fn once<T: Clone>(known: &Known<T>, file: &SyntaxFile, function: &Function, find: impl FnOnce() -> T) -> T {
    let place = (file.name().to_owned(), function.span.start);
    let answers = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(answer) = answers().get(&place) {
        return answer.clone();
    }
    let answer = find();
    answers().insert(place, answer.clone());
    answer
}
