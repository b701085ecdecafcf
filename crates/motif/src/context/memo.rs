//! What is found out once for all who ask.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Answers by question. Shared by the copies of a context, which have the same sources; those of other sources begin anew.
#[derive(Clone, Debug)]
pub(crate) struct Memo<Question, Answer> {
    answers: Arc<Mutex<BTreeMap<Question, Answer>>>,
}

impl<Question, Answer> Default for Memo<Question, Answer> {
    fn default() -> Self {
        Self { answers: Arc::default() }
    }
}

impl<Question: Ord, Answer: Clone> Memo<Question, Answer> {
    /// What is known, or is found out now. Two threads that ask at once may both find out, and find the same.
    pub(crate) fn once(&self, question: Question, find: impl FnOnce() -> Answer) -> Answer {
        let answers = || self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = answers().get(&question) {
            return answer.clone();
        }
        let answer = find();
        answers().insert(question, answer.clone());
        answer
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use crate::{Context, Id};
    use source::SourceTree;
    use source::facts::KnownValues;

    #[test]
    fn a_motif_is_looked_for_once_and_anew_where_the_context_is_another() {
        let asked = Cell::new(0);
        let ask = |context: &Context, motif: Id| {
            context.found.once(motif, || {
                asked.set(asked.get() + 1);
                Arc::default()
            });
            asked.get()
        };
        let context = Context::new(SourceTree::new(), KnownValues::default(), None);
        let asks = [(Id::D01, 1), (Id::D01, 1), (Id::L01, 2), (Id::D01, 2)].map(|(id, most)| (ask(&context, id), most));
        assert!(asks.iter().all(|(now, most)| now == most), "{asks:?}");
        assert_eq!(ask(&context.clone(), Id::D01), 2, "a copy has the same sources");
        // Whatever it is told may change what applies.
        let told: [&dyn Fn(Context) -> Context; 6] = [
            &|context| context.with_buffers(&BTreeMap::new(), 0),
            &|context| context.with_coverage(&crate::Coverage::default()),
            &|context| context.with_beside(Arc::default()),
            &|context| context.with_tiling(Vec::new()),
            &|context| context.with_hot_lines(BTreeMap::new()),
            &|context| context.after(SourceTree::new()),
        ];
        for (place, tell) in told.into_iter().enumerate() {
            let before = asked.get();
            assert_eq!(ask(&tell(context.clone()), Id::D01), before + 1, "{place}");
        }
    }
}
