//! Where motifs apply to the sources, found out once for all who ask.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::id::Id;
use crate::site::Candidate;

/// Candidates by motif. Shared by the copies of a context; one that is told more begins anew.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    candidates: Arc<Mutex<BTreeMap<Id, Arc<[Candidate]>>>>,
}

impl Found {
    /// The candidates of a motif, or those that are found now. Two threads that ask at once may both find them, and find the same.
    pub(crate) fn once(&self, motif: Id, find: impl FnOnce() -> Vec<Candidate>) -> Arc<[Candidate]> {
        let known = || self.candidates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(candidates) = known().get(&motif) {
            return Arc::clone(candidates);
        }
        let candidates: Arc<[Candidate]> = find().into();
        known().insert(motif, Arc::clone(&candidates));
        candidates
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
                Vec::new()
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
