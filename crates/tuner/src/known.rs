//! What the operator as it stands is known to have: hazards by place, and bytes of outputs that nobody writes. A candidate may
//! have no more of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::workload::Trial;
use aicore::{HazardKind, Severity};
use backend::{Execution, LocatedHazard, Place};
use events::{Event, KnownHazard, Warning};
use manifest::Allowance;
use source::SourceTree;
use source::parse::SyntaxForest;
use verify::DataKind;

/// An error of the hazard judge that the operator as it stands has.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownFinding {
    /// Name of the case.
    pub case: String,
    /// The hazard.
    pub hazard: LocatedHazard,
    /// The line that shows it, without blanks at its ends; empty where it is not known.
    pub statement: String,
    /// Why it is meant to be there, where the manifest says so.
    pub allowed: Option<String>,
}

/// Which data a trial runs on.
type DataOfTrial = (usize, bool, u32);

/// Everything that is known of a baseline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownFindings {
    /// Errors, by case in the order in which they were found.
    pub findings: Vec<KnownFinding>,
    /// Kinds of all hazards, warnings included.
    pub kinds: BTreeSet<HazardKind>,
    /// Bytes of each output that stay unwritten, by trial.
    unwritten: BTreeMap<DataOfTrial, Vec<Vec<Range<usize>>>>,
    /// Sources that the places are in.
    sources: SourceTree,
}

impl KnownFindings {
    /// Nothing yet of these sources.
    pub fn of(sources: &SourceTree) -> Self {
        Self { sources: sources.clone(), ..Self::default() }
    }

    /// Takes up what a run of a case showed.
    pub(super) fn note(&mut self, case: &str, execution: &Execution, allowances: &[Allowance]) {
        for hazard in execution.launches.iter().flat_map(|launch| &launch.hazards) {
            self.kinds.insert(hazard.kind);
            let same = |known: &KnownFinding| {
                known.case == case
                    && (known.hazard.kind, known.hazard.severity, known.hazard.output)
                        == (hazard.kind, hazard.severity, hazard.output)
                    && (&known.hazard.place, &known.hazard.other) == (&hazard.place, &hazard.other)
            };
            if hazard.severity != Severity::Error || self.findings.iter().any(same) {
                continue;
            }
            self.findings.push(KnownFinding {
                case: case.to_owned(),
                hazard: hazard.clone(),
                statement: statement(&self.sources, &hazard.place).to_owned(),
                allowed: allowance(allowances, &self.sources, hazard).map(|found| found.reason.clone()),
            });
        }
    }

    /// Takes up which bytes a trial leaves unwritten.
    pub(super) fn note_unwritten(&mut self, trial: &Trial, ranges: Vec<Vec<Range<usize>>>) {
        if ranges.iter().any(|output| !output.is_empty()) {
            self.unwritten.insert(data_of(trial), ranges);
        }
    }

    /// Takes up what another trial leaves unwritten.
    pub(super) fn join_unwritten(&mut self, other: KnownFindings) {
        self.unwritten.extend(other.unwritten);
    }

    /// Bytes of an output that the baseline leaves unwritten in a trial.
    pub fn unwritten(&self, trial: &Trial, output: usize) -> &[Range<usize>] {
        self.unwritten.get(&data_of(trial)).and_then(|outputs| outputs.get(output)).map_or(&[], Vec::as_slice)
    }

    /// Whether the baseline has this hazard too: of the same kind, no less grave, in the same case, at the same place. A line
    /// that a candidate has moved, or that is not the baseline's, is another place; values of numbers do not count. Which
    /// bytes stay unwritten is compared by content, so of an unwritten output only the output must be the same.
    pub fn covers(&self, case: &str, sources: &SourceTree, hazard: &LocatedHazard) -> bool {
        let of_kind = self.findings.iter().filter(|known| {
            known.case == case && known.hazard.kind == hazard.kind && known.hazard.severity >= hazard.severity
        });
        let mut lines = LineMaps { before: &self.sources, after: sources, maps: BTreeMap::new() };
        let places = [lines.origin(&hazard.place), lines.origin(&hazard.other)];
        of_kind.into_iter().any(|known| {
            if hazard.kind == HazardKind::UnwrittenOutput {
                return known.hazard.output == hazard.output;
            }
            let [Some(place), Some(other)] = &places else { return false };
            let (known_place, known_other) = (&known.hazard.place, &known.hazard.other);
            // Which of two accesses comes second is an accident.
            (place, other) == (known_place, known_other) || (other, place) == (known_place, known_other)
        })
    }

    /// One entry a kind and place, with the cases that show it.
    pub fn by_place(&self) -> Vec<KnownHazard> {
        let mut found: Vec<KnownHazard> = Vec::new();
        for known in &self.findings {
            let hazard = &known.hazard;
            let same = |one: &&mut KnownHazard| {
                (one.kind, &one.file, one.line, one.output)
                    == (hazard.kind, &hazard.place.file, hazard.place.line, hazard.output)
            };
            match found.iter_mut().find(same) {
                Some(one) if one.cases.contains(&known.case) => {}
                Some(one) => one.cases.push(known.case.clone()),
                None => found.push(KnownHazard {
                    kind: hazard.kind,
                    file: hazard.place.file.clone(),
                    line: hazard.place.line,
                    statement: known.statement.clone(),
                    output: hazard.output,
                    message: hazard.message.clone(),
                    cases: vec![known.case.clone()],
                    allowed: known.allowed.clone(),
                }),
            }
        }
        found
    }

    /// Warnings that tell the user, one a kind and place.
    pub fn warnings(&self) -> Vec<Event> {
        let warning = |known: KnownHazard| {
            let (code, help) = match &known.allowed {
                Some(reason) => ("allowed-hazard", format!("ascend.toml allows it: {reason}")),
                None => (
                    "known-hazard",
                    "mend it, or say in ascend.toml why it is right ([[allow]]); no candidate may have more of it, and \
                     hazards = \"errors\" refuses it"
                        .to_owned(),
                ),
            };
            let message = format!("the operator as it stands has a hazard: {known}");
            Event::Warning(Warning { code: code.to_owned(), message, help: Some(help) })
        };
        self.by_place().into_iter().map(warning).collect()
    }
}

fn data_of(trial: &Trial) -> DataOfTrial {
    (trial.case, trial.data == DataKind::Hostile, trial.seed)
}

/// The manifest's entry that allows a hazard of these sources.
pub(super) fn allowance<'manifest>(
    allowances: &'manifest [Allowance],
    sources: &SourceTree,
    hazard: &LocatedHazard,
) -> Option<&'manifest Allowance> {
    let mut of_kind = allowances.iter().filter(|allowed| allowed.hazard == hazard.kind).peekable();
    of_kind.peek()?;
    let needs_function = |allowed: &&Allowance| allowed.function.is_some();
    let function =
        allowances.iter().any(|allowed| needs_function(&allowed)).then(|| function_at(sources, &hazard.place));
    let function = function.flatten();
    of_kind.find(|allowed| {
        allowed.file.as_ref().is_none_or(|file| *file == hazard.place.file)
            && allowed.function.as_ref().is_none_or(|name| function.as_ref() == Some(name))
    })
}

/// Name of the function around a place.
fn function_at(sources: &SourceTree, place: &Place) -> Option<String> {
    let text = sources.text(&place.file)?;
    let forest = SyntaxForest::parse(sources);
    let start = text.split_inclusive('\n').take(place.line.checked_sub(1)? as usize).map(str::len).sum::<usize>();
    let blanks = text.get(start..)?.bytes().take_while(u8::is_ascii_whitespace).count();
    forest.get(&place.file)?.enclosing_function(start + blanks).map(|function| function.name.clone())
}

/// The line at a place, without blanks at its ends.
fn statement<'sources>(sources: &'sources SourceTree, place: &Place) -> &'sources str {
    let lines = sources.text(&place.file).map(str::lines);
    let line = lines.zip(place.line.checked_sub(1)).and_then(|(mut lines, index)| lines.nth(index as usize));
    line.map_or("", str::trim)
}

/// Lines of a candidate as lines of the baseline.
struct LineMaps<'trees> {
    before: &'trees SourceTree,
    after: &'trees SourceTree,
    /// By file: the baseline's line, from 1, of each of the candidate's lines.
    maps: BTreeMap<String, Vec<Option<u32>>>,
}

impl LineMaps<'_> {
    /// Where a place of the candidate is in the baseline; `None` for what the candidate has added.
    fn origin(&mut self, place: &Place) -> Option<Place> {
        let (Some(before), Some(after)) = (self.before.text(&place.file), self.after.text(&place.file)) else {
            // Nobody edits what is outside of the tree.
            let outside = self.before.text(&place.file).is_none() && self.after.text(&place.file).is_none();
            return outside.then(|| place.clone());
        };
        if before == after || place.line == 0 {
            return Some(place.clone());
        }
        let map = self.maps.entry(place.file.clone()).or_insert_with(|| line_map(before, after));
        let line = (*map.get(place.line as usize - 1)?)?;
        Some(Place { file: place.file.clone(), line })
    }
}

/// For each line of `after` the line of `before`, from 1, that it is.
fn line_map(before: &str, after: &str) -> Vec<Option<u32>> {
    let skeletons = |text: &str| text.lines().map(skeleton).collect::<Vec<_>>();
    let (old, new) = (skeletons(before), skeletons(after));
    let mut map = vec![None; new.len()];
    for operation in capture_diff_slices(Algorithm::Myers, &old, &new) {
        if let DiffOp::Equal { old_index, new_index, len } = operation {
            for step in 0..len {
                map[new_index + step] = u32::try_from(old_index + step + 1).ok();
            }
        }
    }
    map
}

/// A line without blanks, with its numbers, and the calls that read them at run time, made equal: a place with another value is
/// the same place.
fn skeleton(line: &str) -> String {
    const KNOB: &str = "ascend_tune_knob(";
    let mut skeleton = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(next) = rest.chars().next() {
        let in_name = skeleton.ends_with(|before: char| before.is_ascii_alphanumeric() || before == '_');
        if next.is_ascii_digit() && !in_name {
            let digit = |at: char| at.is_ascii_alphanumeric() || at == '\'' || at == '.';
            rest = rest.trim_start_matches(digit);
            skeleton.push('#');
        } else if let Some(call) = rest.strip_prefix(KNOB).filter(|_| !in_name) {
            rest = call.split_once(')').map_or("", |(_, rest)| rest);
            skeleton.push('#');
        } else {
            if !next.is_whitespace() {
                skeleton.push(next);
            }
            rest = &rest[next.len_utf8()..];
        }
    }
    skeleton.replace("static_cast<decltype(#)>(#)", "#")
}

/// Replaces the bytes of these ranges by those of the right answer, so that they are equal whatever they are.
pub(super) fn excused(actual: &[u8], expected: &[u8], ranges: &[Range<usize>]) -> Vec<u8> {
    let mut excused = actual.to_vec();
    for range in ranges {
        if let (Some(into), Some(from)) = (excused.get_mut(range.clone()), expected.get(range.clone())) {
            into.copy_from_slice(from);
        }
    }
    excused
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "void CopyIn() {\n    DataCopy(x, xGm, 64);\n}\nvoid CopyOut() {\n    DataCopy(yGm, y, 64);\n    Add(y, y, x, n);\n}\n";

    fn tree(text: &str) -> SourceTree {
        let mut tree = SourceTree::new();
        tree.insert("k.cpp", text);
        tree
    }

    fn hazard(kind: HazardKind, line: u32) -> LocatedHazard {
        LocatedHazard {
            kind,
            severity: Severity::Error,
            place: Place { file: "k.cpp".to_owned(), line },
            other: Place::default(),
            count: 1,
            message: "two pipes".to_owned(),
            output: None,
        }
    }

    fn known(hazards: Vec<LocatedHazard>) -> KnownFindings {
        let mut known = KnownFindings::of(&tree(KERNEL));
        known.findings = hazards
            .into_iter()
            .map(|hazard| KnownFinding {
                case: "small".to_owned(),
                statement: statement(&known.sources, &hazard.place).to_owned(),
                hazard,
                allowed: None,
            })
            .collect();
        known
    }

    #[test]
    fn a_known_place_survives_edits_around_it_and_other_numbers_in_it() {
        let known = known(vec![hazard(HazardKind::Race, 5)]);
        assert!(known.covers("small", &tree(KERNEL), &hazard(HazardKind::Race, 5)));
        let shifted = KERNEL.replace("void CopyIn", "// one\n// two\nvoid CopyIn");
        assert!(known.covers("small", &tree(&shifted), &hazard(HazardKind::Race, 7)));
        assert!(!known.covers("small", &tree(&shifted), &hazard(HazardKind::Race, 5)));
        let value =
            KERNEL.replace("(yGm, y, 64)", "(yGm, y, static_cast<decltype(64)>(ascend_tune_knob(\"TILE\", 64)))");
        assert!(known.covers("small", &tree(&value), &hazard(HazardKind::Race, 5)));
    }

    #[test]
    fn a_hazard_of_the_same_kind_elsewhere_is_more_of_it() {
        let known = known(vec![hazard(HazardKind::Race, 5)]);
        let elsewhere = |text: &str, line| known.covers("small", &tree(text), &hazard(HazardKind::Race, line));
        assert!(!elsewhere(KERNEL, 2), "another statement");
        let twice =
            KERNEL.replace("    DataCopy(yGm, y, 64);\n", "    DataCopy(yGm, y, 64);\n    DataCopy(yGm, y, 64);\n");
        assert!(elsewhere(&twice, 5) != elsewhere(&twice, 6), "a copy of the statement is not the statement");
        let moved = "void CopyIn() {\n    DataCopy(yGm, y, 64);\n    DataCopy(x, xGm, 64);\n}\nvoid CopyOut() {\n    Add(y, y, x, n);\n}\n";
        assert!(!elsewhere(moved, 2), "a statement that was moved is another place");
        assert!(!known.covers("small", &tree(KERNEL), &hazard(HazardKind::OutOfBoundsUb, 5)), "another kind");
        assert!(!known.covers("large", &tree(KERNEL), &hazard(HazardKind::Race, 5)), "another case");
    }

    #[test]
    fn unwritten_outputs_are_known_by_output() {
        let unwritten = |output| LocatedHazard { output: Some(output), ..hazard(HazardKind::UnwrittenOutput, 5) };
        let known = known(vec![unwritten(1)]);
        let moved = LocatedHazard { place: Place::default(), ..unwritten(1) };
        assert!(known.covers("small", &tree(KERNEL), &moved));
        assert!(!known.covers("small", &tree(KERNEL), &unwritten(0)));
        assert_eq!(excused(&[1, 2, 3, 4], &[9, 9, 9, 9], &[1..2, 3..4]), [1, 9, 3, 9]);
    }

    #[test]
    fn allowances_name_a_kind_and_where_it_is_meant() {
        let allow = |file: Option<&str>, function: Option<&str>| {
            let (file, function) = (file.map(str::to_owned), function.map(str::to_owned));
            let entry = Allowance { hazard: HazardKind::Race, file, function, reason: "meant".to_owned() };
            allowance(&[entry], &tree(KERNEL), &hazard(HazardKind::Race, 5)).is_some()
        };
        assert!(allow(Some("k.cpp"), None));
        assert!(allow(None, Some("CopyOut")));
        assert!(!allow(None, Some("CopyIn")));
        assert!(!allow(Some("other.cpp"), Some("CopyOut")));
    }

    #[test]
    fn warnings_come_once_a_place_with_the_cases() {
        let mut known = known(vec![hazard(HazardKind::Race, 5), hazard(HazardKind::Race, 5)]);
        known.findings[1].case = "large".to_owned();
        let [Event::Warning(warning)] = &known.warnings()[..] else { panic!("one warning") };
        assert!(warning.message.contains("race at k.cpp:5: two pipes (cases small, large)"), "{}", warning.message);
        assert_eq!(warning.code, "known-hazard");
    }
}
