//! What is found out about a function once for all motifs that ask.

use std::any::{Any, TypeId};
use std::sync::Arc;

use super::memo::Memo;
use source::facts::TensorFacts;
use source::parse::{Function, SyntaxFile};

/// What kind of answer it is, a file's name, and where a function begins in it.
type Question = (TypeId, String, usize);

/// Answers by function; of each kind of answer, which its type tells, a function has one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Functions {
    answers: Memo<Question, Arc<dyn Any + Send + Sync>>,
}

impl Functions {
    /// What is known of a function, or is found out now.
    pub(crate) fn once<Answer: Clone + Send + Sync + 'static>(
        &self,
        file: &SyntaxFile,
        function: &Function,
        find: impl FnOnce() -> Answer,
    ) -> Answer {
        let question = (TypeId::of::<Answer>(), file.name().to_owned(), function.span.start);
        let answer = self.answers.once(question, || Arc::new(find()));
        match answer.downcast_ref::<Answer>() {
            Some(answer) => answer.clone(),
            None => unreachable!("the question names the type of its answer"),
        }
    }

    /// The tensors of a function.
    pub(crate) fn tensors(&self, file: &SyntaxFile, function: &Function) -> Arc<TensorFacts> {
        self.once(file, function, || Arc::new(TensorFacts::of(file, function)))
    }
}

#[cfg(test)]
mod tests {
    use crate::Context;
    use source::SourceTree;
    use source::facts::KnownValues;

    #[test]
    fn a_question_is_answered_once_for_each_function_and_anew_for_other_sources() {
        let context = |text: &str| {
            let mut tree = SourceTree::new();
            tree.insert("k.h", text.to_owned());
            Context::new(tree, KnownValues::default(), None)
        };
        let ask = |context: &Context, place: usize, answer: usize| {
            let file = context.forest.get("k.h").unwrap();
            context.functions.once(file, &file.functions()[place], || answer)
        };
        let first = context("void F() { g(); }\nvoid H() { g(); }\n");
        assert_eq!((ask(&first, 0, 1), ask(&first, 0, 2), ask(&first, 1, 3), ask(&first.clone(), 0, 4)), (1, 1, 3, 1));
        let file = first.forest.get("k.h").unwrap();
        let other = first.functions.once(file, &file.functions()[0], || "of another kind");
        assert_eq!((other, ask(&first, 0, 5)), ("of another kind", 1));
        assert_eq!(ask(&first.after(first.tree.clone()), 0, 6), 6);
    }
}
