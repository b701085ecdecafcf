//! Repairing an operator that is wrong as it stands, before it is tuned: edits that may mend it are tried one after the other, and one is
//! kept only where less is wrong with it and nothing else.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::TunerError;
use super::candidate::Candidate;
use super::faults::{Faults, Judge, is_less};
use super::known::KnownFindings;
use super::run::Surveyed;
use super::workspace::Workspace;
use aicore::HazardKind;
use backend::Place;
use diffy::DiffOptions;
use motif::repair::{Mend, MendKind, early_frees, element_counts, missing_waits};
use motif::{Context, Coverage};
use source::SourceTree;
use source::facts::KnownValues;
use source::parse::SyntaxForest;
use verify::Reason;

/// So many versions of an operator are tried at most: each is compiled, and runs all trials. Who asks for a repair waits for it; who does
/// not, and is only to be told of one, does not wait long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tries {
    /// To mend it.
    Asked = 12,
    /// To say that it can be mended.
    Unasked = 4,
}

/// One edit, or several that mend something only together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairStep {
    /// What was done; with file and line of each but the first.
    pub title: String,
    /// File of the first, relative to the operator's root.
    pub file: String,
    /// Line of what was wrong there, in the operator as it stands before this step.
    pub line: usize,
    /// The change as a unified diff.
    pub diff: String,
    /// How much was wrong before.
    pub before: usize,
    /// How much is wrong after it.
    pub after: usize,
}

/// What mends an operator, wholly or in part.
#[derive(Clone, Debug, PartialEq)]
pub struct Repair {
    /// In the order in which they were found.
    pub steps: Vec<RepairStep>,
    /// The sources with all of them.
    pub sources: SourceTree,
}

impl Repair {
    /// Whether nothing is left that is wrong.
    pub fn is_complete(&self) -> bool {
        self.left() == 0
    }

    /// How much is still wrong.
    pub fn left(&self) -> usize {
        self.steps.last().map_or(0, |step| step.after)
    }
}

/// Looks for what mends the operator as it stands, where it is known to be wrong; no longer than `patience`. Of one that is right
/// nothing is asked.
pub async fn find_repair(
    workspace: &Workspace,
    surveyed: &Result<Surveyed, TunerError>,
    tries: Tries,
    patience: Option<Duration>,
) -> Result<Option<Repair>, TunerError> {
    let known = match surveyed {
        Ok(surveyed) => Some(surveyed.known()),
        // What does not build or take a case is another matter.
        Err(TunerError::Baseline(rejection)) if is_at_fault(rejection.reason) => None,
        Err(_) => return Ok(None),
    };
    // Also of one that is wrong where nothing is there to be tried.
    if let Some(known) = known
        && proposals(&context_of(&workspace.sources), known, !known.departures.is_empty()).is_empty()
    {
        return Ok(None);
    }
    let began = Instant::now();
    let is_over = || patience.is_some_and(|patience| began.elapsed() > patience);
    let most_tries = tries as usize;
    let judge = Judge::of(workspace).await?;
    let Some(first) = judge.faults(&workspace.sources, true).await? else { return Ok(None) };
    let coverage = Coverage::of(&SyntaxForest::parse(&workspace.sources), &first.visited);
    let mut now = Standing { sources: workspace.sources.clone(), faults: first };
    let mut tried = BTreeSet::from([now.sources.digest()]);
    let mut steps = Vec::new();
    while now.faults.count() > 0 && tried.len() <= most_tries {
        let context = context_of(&now.sources).with_coverage(&coverage);
        let mut found = None;
        for mends in proposals(&context, &now.faults.known, now.faults.has_wrong_results()) {
            let Ok(sources) = context.admit(&Mend::patch(&mends)) else { continue };
            if tried.len() > most_tries || is_over() || !tried.insert(sources.digest()) {
                continue;
            }
            let Some(faults) = judge.faults(&sources, false).await? else { continue };
            // A number of elements changes results; an order of accesses does not.
            let may_change = mends.iter().all(|mend| mend.kind == MendKind::ElementCount);
            if is_less(&now.faults, &faults, may_change, &|output, anew| judge.is_told(output, anew)) {
                found = Some((mends, Standing { sources, faults }));
                break;
            }
        }
        let Some((mends, next)) = found else { break };
        steps.extend(step(&now, &next, &mends));
        now = next;
    }
    Ok((!steps.is_empty()).then_some(Repair { steps, sources: now.sources }))
}

/// A version of the operator, judged.
struct Standing {
    sources: SourceTree,
    faults: Faults,
}

fn is_at_fault(reason: Reason) -> bool {
    matches!(reason, Reason::WrongResult | Reason::UnwrittenOutput | Reason::Hazard)
}

fn context_of(sources: &SourceTree) -> Context {
    Context::new(sources.clone(), KnownValues::default(), None)
}

/// Edits that are worth a trial, each entry for itself. Numbers of elements come together first: a result may need several.
fn proposals(context: &Context, known: &KnownFindings, has_wrong_results: bool) -> Vec<Vec<Mend>> {
    let mut all = Vec::new();
    if has_wrong_results {
        let admitted = |mend: &Mend| context.admit(&Mend::patch(std::slice::from_ref(mend))).is_ok();
        let counts: Vec<Mend> = element_counts(context).into_iter().filter(admitted).collect();
        if counts.len() > 1 {
            all.push(counts.clone());
        }
        all.extend(counts.into_iter().map(|mend| vec![mend]));
    }
    let line = |place: &'_ Place| (place.file.clone(), place.line);
    let both = known.not_allowed().flat_map(|finding| [line(&finding.hazard.place), line(&finding.hazard.other)]);
    let frees = early_frees(context, &both.collect::<Vec<_>>());
    // The place of a race is that of its later access.
    let races = known.not_allowed().filter(|finding| finding.hazard.kind == HazardKind::Race);
    let waits = missing_waits(context, &races.map(|finding| line(&finding.hazard.place)).collect::<Vec<_>>());
    all.extend(frees.into_iter().chain(waits).map(|mend| vec![mend]));
    all
}

fn step(before: &Standing, after: &Standing, mends: &[Mend]) -> Option<RepairStep> {
    let first = mends.first()?;
    let further = |mend: &Mend| format!("{}:{}: {}", mend.file, mend.line, mend.title);
    Some(RepairStep {
        title: std::iter::once(first.title.clone())
            .chain(mends[1..].iter().map(further))
            .collect::<Vec<_>>()
            .join("; "),
        file: first.file.clone(),
        line: first.line,
        diff: unified(&before.sources, &after.sources),
        before: before.faults.count(),
        after: after.faults.count(),
    })
}

/// A unified diff of all files that differ.
fn unified(before: &SourceTree, after: &SourceTree) -> String {
    let changed =
        after.iter().filter_map(|(file, text)| Some((file, before.text(file).filter(|old| *old != text)?, text)));
    let of_file = |(file, old, new): (&str, &str, &str)| {
        let mut options = DiffOptions::new();
        options.set_original_filename(format!("a/{file}")).set_modified_filename(format!("b/{file}"));
        options.create_patch(old, new).to_string()
    };
    changed.map(of_file).collect()
}

impl Workspace {
    /// The same for other sources, as if the operator had been written like that.
    #[must_use]
    pub fn with_sources(&self, sources: &SourceTree) -> Self {
        let evaluator = self.evaluator.of_other_operator(sources);
        Self { sources: sources.clone(), evaluator, ..self.clone() }
    }

    /// Sources with the fixed tunables of the command line applied.
    pub(super) fn baseline_of(&self, sources: &SourceTree) -> Result<Candidate, TunerError> {
        Self { sources: sources.clone(), ..self.clone() }.baseline()
    }
}
