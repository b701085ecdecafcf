//! What a motif sees: sources with their syntax trees, facts, profile, and what the cases run of them.

mod block_runs;
mod blocks;
pub(crate) mod coverage;
mod functions;
mod memo;
pub(crate) mod tiling;
pub(crate) mod unified_buffer;
pub(crate) mod visited;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::id::Id;
use crate::site::{Candidate, Refusal, Site};
use aicore::Profile;
use coverage::Coverage;
use functions::Functions;
use memo::Memo;
use source::facts::{Facts, FileSpan, KnownValues};
use source::parse::SyntaxForest;
use source::{Edit, Patch, SourceTree};
use tiling::TilingStructure;
use unified_buffer::{CutLines, UnifiedBuffer};

/// A source tree with everything known about it.
#[derive(Clone, Debug)]
pub struct Context {
    /// The sources.
    pub tree: SourceTree,
    /// Files of the repository that they include beside themselves, which nobody edits.
    pub beside: Arc<SourceTree>,
    /// What the host writes for the kernel, where its library has been asked.
    pub tiling: Vec<TilingStructure>,
    /// Their syntax trees.
    pub forest: SyntaxForest,
    /// Facts read from them.
    pub facts: Facts,
    /// Profile of these sources, where there is one.
    pub profile: Option<Profile>,
    /// Values of names over all cases: tunables, tiling fields, sizes of element types (`T` -> 2).
    pub known: KnownValues,
    /// Share of the critical path by file and line, where it was followed.
    pub hot: HotLines,
    /// What the profiled launch took of the unified buffer.
    pub unified_buffer: UnifiedBuffer,
    /// What no case runs.
    pub coverage: Coverage,
    /// What was found out about functions of these sources.
    pub(crate) functions: Functions,
    /// Where motifs apply, as far as that was asked.
    pub(crate) found: Memo<Id, Arc<[Candidate]>>,
}

/// Shares of the critical path by file, relative to the operator's root, and line.
pub type HotLines = BTreeMap<(String, u32), f64>;

impl Context {
    /// Parses the sources and collects the facts.
    pub fn new(tree: SourceTree, known: KnownValues, profile: Option<Profile>) -> Self {
        let forest = SyntaxForest::parse(&tree);
        let facts = Facts::collect(&forest, &known);
        let (unified_buffer, coverage) = (UnifiedBuffer::default(), Coverage::default());
        let beside = Arc::default();
        Self {
            tree,
            beside,
            tiling: Vec::new(),
            forest,
            facts,
            profile,
            known,
            hot: HotLines::new(),
            unified_buffer,
            coverage,
            functions: Functions::default(),
            found: Memo::default(),
        }
    }

    /// The same where it is told more: other motifs may apply.
    fn told(self) -> Self {
        Self { found: Memo::default(), ..self }
    }

    /// The same with the buffers that a launch of these sources took, which end at `top_bytes`.
    pub fn with_buffers(self, cuts: &CutLines, top_bytes: u64) -> Self {
        let unified_buffer = UnifiedBuffer::of(&self.facts, &self.forest, cuts, top_bytes);
        Self { unified_buffer, ..self.told() }
    }

    /// The same with what no case runs, of these sources or of those that they were made from.
    pub fn with_coverage(self, coverage: &Coverage) -> Self {
        Self { coverage: coverage.carried(&self.tree), ..self.told() }
    }

    /// The same with the files that the sources include beside themselves.
    pub fn with_beside(self, beside: Arc<SourceTree>) -> Self {
        Self { beside, ..self.told() }
    }

    /// The same with what the host writes for the kernel.
    pub fn with_tiling(self, tiling: Vec<TilingStructure>) -> Self {
        Self { tiling, ..self.told() }
    }

    /// The same with the lines of the critical path.
    pub fn with_hot_lines(self, hot: HotLines) -> Self {
        Self { hot, ..self.told() }
    }

    /// Share of the critical path that lies in the lines of a site.
    pub fn path_share(&self, site: &Site) -> f64 {
        let Some(file) = self.forest.get(&site.file) else { return 0.0 };
        let line = |offset: usize| u32::try_from(file.line(offset)).unwrap_or(u32::MAX);
        let (first, last) = (line(site.span.start), line(site.span.end.saturating_sub(1).max(site.span.start)));
        self.hot.range((site.file.clone(), first)..=(site.file.clone(), last)).map(|(_, share)| share).sum()
    }

    /// The sources with a patch of any origin, or why it must not become a candidate: it touches code that no case runs, or leaves code
    /// that does not parse and did not stand there before. Where a motif applies, the code is understood beyond that.
    pub fn admit(&self, patch: &Patch) -> Result<SourceTree, Refusal> {
        self.verifiable(&patch.edits).map_err(|reason| Refusal::Unverified { title: patch.title.clone(), reason })?;
        let patched = self.tree.apply(patch)?;
        self.forest.check_result(patch, &patched)?;
        Ok(patched)
    }

    /// The same for a patch of which nothing is known but what it does on the cases. Probes draw a few numbers for what no case runs, which is
    /// enough to find a fault that slips in, and not one that somebody, or a model, has put there.
    ///
    /// # Errors
    /// Where it touches code that no case runs, and what [`Self::admit`] refuses.
    pub fn admit_on_cases(&self, patch: &Patch) -> Result<SourceTree, Refusal> {
        if let Some(reason) = patch.edits.iter().find_map(|edit| self.coverage.unverified_by_cases(edit)) {
            return Err(Refusal::Unverified { title: patch.title.clone(), reason });
        }
        self.admit(patch)
    }

    /// `Err` where an edit touches what no case runs, nor a probe.
    pub(crate) fn verifiable(&self, edits: &[Edit]) -> Result<(), String> {
        edits.iter().find_map(|edit| self.coverage.unverified(edit)).map_or(Ok(()), Err)
    }

    /// The text at a place.
    pub fn text_of(&self, place: &FileSpan) -> Option<&str> {
        Some(self.forest.get(&place.file)?.slice(&place.span()))
    }

    /// The context of changed sources: same knowledge, no profile.
    pub fn after(&self, tree: SourceTree) -> Self {
        Self {
            unified_buffer: self.unified_buffer.of_descendant(),
            coverage: self.coverage.carried(&tree),
            beside: Arc::clone(&self.beside),
            tiling: self.tiling.clone(),
            ..Self::new(tree, self.known.clone(), None)
        }
    }
}
