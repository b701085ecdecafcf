//! What a motif sees and what it answers.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::coverage::Coverage;
use super::unified_buffer::{CutLines, UnifiedBuffer};
use aicore::{PathPart, Profile};
use source::facts::{Facts, KnownValues, Place};
use source::parse::{ParseError, SyntaxFile, SyntaxForest};
use source::{Edit, EditError, Patch, SourceTree};

/// A source tree with everything known about it.
#[derive(Clone, Debug)]
pub struct Context {
    /// The sources.
    pub tree: SourceTree,
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
}

/// Shares of the critical path by file, relative to the operator's root, and line.
pub type HotLines = BTreeMap<(String, u32), f64>;

impl Context {
    /// Parses the sources and collects the facts.
    pub fn new(tree: SourceTree, known: KnownValues, profile: Option<Profile>) -> Self {
        let forest = SyntaxForest::parse(&tree);
        let facts = Facts::collect(&forest, &known);
        let (unified_buffer, coverage) = (UnifiedBuffer::default(), Coverage::default());
        Self { tree, forest, facts, profile, known, hot: HotLines::new(), unified_buffer, coverage }
    }

    /// The same with the buffers that a launch of these sources took, which end at `top_bytes`.
    pub fn with_buffers(self, cuts: &CutLines, top_bytes: u64) -> Self {
        let unified_buffer = UnifiedBuffer::of(&self.facts, &self.forest, cuts, top_bytes);
        Self { unified_buffer, ..self }
    }

    /// The same with what no case runs, of these sources or of those that they were made from.
    pub fn with_coverage(self, coverage: &Coverage) -> Self {
        Self { coverage: coverage.carried(&self.tree), ..self }
    }

    /// The same with the lines of the critical path.
    pub fn with_hot_lines(self, hot: HotLines) -> Self {
        Self { hot, ..self }
    }

    /// Share of the critical path that lies in the lines of a site.
    pub fn path_share(&self, site: &Site) -> f64 {
        let Some(file) = self.forest.get(&site.file) else { return 0.0 };
        let line = |offset: usize| u32::try_from(file.line(offset)).unwrap_or(u32::MAX);
        let (first, last) = (line(site.span.start), line(site.span.end.saturating_sub(1).max(site.span.start)));
        self.hot.range((site.file.clone(), first)..=(site.file.clone(), last)).map(|(_, share)| share).sum()
    }

    /// The sources with a patch of any origin, or why it must not become a candidate: it touches code that is not understood, or
    /// that no case runs, or leaves code that does not parse.
    pub fn admit(&self, patch: &Patch) -> Result<SourceTree, Refusal> {
        self.forest.check_edits(&patch.edits)?;
        verifiable(&patch.edits, self).map_err(|reason| Refusal::Unverified { title: patch.title.clone(), reason })?;
        let patched = self.tree.apply(patch)?;
        self.forest.check_result(patch, &patched)?;
        Ok(patched)
    }

    /// The text at a place.
    pub fn text_of(&self, place: &Place) -> Option<&str> {
        Some(self.forest.get(&place.file)?.slice(&place.span()))
    }

    /// The context of changed sources: same knowledge, no profile.
    pub fn after(&self, tree: SourceTree) -> Self {
        Self {
            unified_buffer: self.unified_buffer.of_descendant(),
            coverage: self.coverage.carried(&tree),
            ..Self::new(tree, self.known.clone(), None)
        }
    }
}

/// Groups of motifs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Movement between memories.
    DataMovement,
    /// Flags, barriers and queues.
    Synchronisation,
    /// Vector instructions.
    Vector,
    /// The scalar unit.
    Scalar,
    /// Launch, cores and what a kernel does once.
    Launch,
}

/// A counter that a motif should move down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counter {
    /// Busy time of the scalar unit.
    ScalarUs,
    /// Busy time of the vector unit.
    VecUs,
    /// Busy time of copies from global memory.
    Mte2Us,
    /// Busy time of copies to global memory.
    Mte3Us,
    /// Time lost in waits, all pipes.
    StallUs,
    /// What the task takes beyond its longest core: the start of all of them.
    LaunchUs,
}

impl Counter {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::ScalarUs, Self::VecUs, Self::Mte2Us, Self::Mte3Us, Self::StallUs, Self::LaunchUs];

    /// Name in records and reports.
    pub fn name(self) -> &'static str {
        match self {
            Counter::ScalarUs => "scalar_us",
            Counter::VecUs => "vec_us",
            Counter::Mte2Us => "mte2_us",
            Counter::Mte3Us => "mte3_us",
            Counter::StallUs => "stall_us",
            Counter::LaunchUs => "launch_us",
        }
    }

    /// Share of the critical path that could go with it, at most, of the launch its share of the task; `None` where the
    /// path was not followed.
    ///
    /// Waits are not on the path, only what is waited for: with all waits gone the pipe with the largest share remains.
    pub fn path_share(self, profile: &Profile) -> Option<f64> {
        if profile.critical_path.is_empty() {
            return None;
        }
        let whole: f64 = profile.critical_path.iter().map(|step| step.time_us).sum();
        let of = |pipe: &str| -> f64 {
            let steps = profile.critical_path.iter().filter(|step| step.pipe == pipe && step.part != PathPart::Start);
            steps.map(|step| step.time_us).sum::<f64>() / whole.max(f64::MIN_POSITIVE)
        };
        Some(match self {
            Counter::ScalarUs => of("s"),
            Counter::VecUs => of("v"),
            Counter::Mte2Us => of("mte2"),
            Counter::Mte3Us => of("mte3"),
            Counter::StallUs => {
                let shares = ["s", "v", "mte2", "mte3", "mte1", "m", "fix"].map(of);
                shares.iter().sum::<f64>() - shares.into_iter().fold(0.0, f64::max)
            }
            Counter::LaunchUs => self.read(profile) / profile.task_us.max(f64::MIN_POSITIVE),
        })
    }

    /// Its value in a profile.
    pub fn read(self, profile: &Profile) -> f64 {
        match self {
            Counter::ScalarUs => profile.pipes.scalar_us,
            Counter::VecUs => profile.pipes.vec_us,
            Counter::Mte2Us => profile.pipes.mte2_us,
            Counter::Mte3Us => profile.pipes.mte3_us,
            Counter::StallUs => profile.stalls.iter().map(|stall| stall.time_us).sum(),
            Counter::LaunchUs => (profile.task_us - profile.longest_core_us).max(0.0),
        }
    }
}

/// A place where a motif applies.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Site {
    /// File, relative to the operator's root.
    pub file: String,
    /// Bytes that show the pattern.
    pub span: Range<usize>,
    /// Line of the first byte, from 1.
    pub line: usize,
    /// What would be done, one line.
    pub note: String,
    /// Conditions that the source does not prove; the verifier must check them.
    pub conditions: Vec<String>,
    /// Whether results may differ in rounding.
    pub rounding: bool,
}

/// A place that looks like a site but is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// File, relative to the operator's root.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Why.
    pub reason: String,
}

/// Why an edit was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The precondition does not hold.
    #[error("{motif} does not apply at {file}:{line}: {reason}")]
    Precondition {
        /// The motif.
        motif: String,
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// Why not.
        reason: String,
    },
    /// Nothing like the site is in these sources.
    #[error("{motif} has no site at {file}:{line} in these sources; look for sites again")]
    NoSuchSite {
        /// The motif.
        motif: String,
        /// The file.
        file: String,
        /// The line.
        line: usize,
    },
    /// No case would show whether a change is right.
    #[error("{title}: {reason}")]
    Unverified {
        /// What the patch would do.
        title: String,
        /// Why not.
        reason: String,
    },
    /// The code is not understood.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The edits do not fit the sources.
    #[error(transparent)]
    Edit(#[from] EditError),
}

/// Sites found and places refused, in file order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Places where the motif applies.
    pub sites: Vec<Site>,
    /// Places that look like it but where it must not be applied.
    pub refused: Vec<Refused>,
}

/// A place with the edits that would be made there, or the reason against them.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The place.
    pub site: Site,
    /// The edits, or why there are none.
    pub edits: Result<Vec<Edit>, String>,
}

impl Candidate {
    /// A candidate at a span.
    pub fn new(
        file: &SyntaxFile,
        span: &Range<usize>,
        note: impl Into<String>,
        edits: Result<Vec<Edit>, String>,
    ) -> Self {
        let site = Site {
            file: file.name().to_owned(),
            span: span.clone(),
            line: file.line(span.start),
            note: note.into(),
            conditions: Vec::new(),
            rounding: false,
        };
        Self { site, edits }
    }

    /// Adds a condition that the verifier must check.
    pub fn on_condition(mut self, condition: impl Into<String>) -> Self {
        self.site.conditions.push(condition.into());
        self
    }

    /// Marks the candidate as changing rounding.
    pub fn with_rounding(mut self, rounding: bool) -> Self {
        self.site.rounding = rounding;
        self
    }
}

/// An optimisation that can be made and unmade in source code.
pub trait Motif: Sync {
    /// Id in the catalogue.
    fn id(&self) -> &'static str;
    /// Title, a few words.
    fn title(&self) -> &'static str;
    /// Group.
    fn family(&self) -> Family;
    /// What must hold, for the documentation.
    fn precondition(&self) -> &'static str;
    /// What it costs, for the documentation.
    fn cost(&self) -> &'static str;
    /// Whether it may change rounding.
    fn rounding_changes(&self) -> bool {
        false
    }
    /// What the source does not prove and the verifier has to check, for the documentation.
    fn left_to_verifier(&self) -> &'static str {
        "nothing"
    }
    /// What unmaking it looks like, for the documentation.
    fn undoing(&self) -> &'static str;
    /// Tunables that it opens or closes, for the documentation.
    fn tunables(&self) -> &'static str {
        "none"
    }
    /// Whether it puts something else where the value of a tunable stood, which can't be varied any more then.
    fn replaces_constants(&self) -> bool {
        false
    }
    /// Counters that should go down, most telling first.
    fn relieves(&self) -> &'static [Counter];
    /// Speed-up to expect before anything is known: a seed of ours for ordering, not a measurement.
    fn prior_gain(&self) -> f64;
    /// Places for the motif.
    fn candidates(&self, context: &Context) -> Vec<Candidate>;
    /// Places where the motif has been applied and can be undone.
    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate>;

    /// Sites where the motif applies and places where it was refused.
    fn find(&self, context: &Context) -> Findings {
        findings(self.candidates(context), context)
    }
    /// The patch at a site of [`Motif::find`].
    fn apply(&self, context: &Context, site: &Site) -> Result<Patch, Refusal> {
        patch(self.id(), self.title(), self.candidates(context), context, site)
    }
    /// Sites where the motif can be unmade.
    fn rewind_sites(&self, context: &Context) -> Findings {
        findings(self.rewind_candidates(context), context)
    }
    /// The patch that unmakes the motif at a site of [`Motif::rewind_sites`].
    fn rewind(&self, context: &Context, site: &Site) -> Result<Patch, Refusal> {
        let title = format!("rewind of {}", self.title());
        patch(self.id(), &title, self.rewind_candidates(context), context, site)
    }
}

fn findings(candidates: Vec<Candidate>, context: &Context) -> Findings {
    let mut findings = Findings::default();
    for candidate in candidates {
        let Candidate { site, edits } = candidate;
        let checked = edits.and_then(|edits| {
            context.forest.check_edits(&edits).map_err(|error| error.to_string())?;
            verifiable(&edits, context)
        });
        match checked {
            Ok(()) => findings.sites.push(site),
            Err(reason) => findings.refused.push(Refused { file: site.file, line: site.line, reason }),
        }
    }
    findings.sites.sort_by(|left, right| {
        (&left.file, left.span.start, &left.note).cmp(&(&right.file, right.span.start, &right.note))
    });
    findings
}

/// `Err` where an edit touches what no case runs.
fn verifiable(edits: &[Edit], context: &Context) -> Result<(), String> {
    edits.iter().find_map(|edit| context.coverage.unverified(edit)).map_or(Ok(()), Err)
}

fn patch(
    motif: &str,
    title: &str,
    candidates: Vec<Candidate>,
    context: &Context,
    site: &Site,
) -> Result<Patch, Refusal> {
    let same = |candidate: &Candidate| {
        candidate.site.file == site.file && candidate.site.span == site.span && candidate.site.note == site.note
    };
    let Some(candidate) = candidates.into_iter().find(same) else {
        return Err(Refusal::NoSuchSite { motif: motif.to_owned(), file: site.file.clone(), line: site.line });
    };
    let edits = candidate.edits.map_err(|reason| Refusal::Precondition {
        motif: motif.to_owned(),
        file: site.file.clone(),
        line: site.line,
        reason,
    })?;
    let title = format!("{title} at {}:{}", site.file, site.line);
    let patch = Patch { title, motif: motif.to_owned(), edits };
    context.admit(&patch)?;
    Ok(patch)
}
