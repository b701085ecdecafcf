//! What the operator as it stands is known to have: hazards by place, and bytes of outputs that nobody writes. A candidate may
//! have no more of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::origin::Origins;
use super::workload::Trial;
use aicore::{HazardKind, Severity};
use backend::{Execution, LocatedHazard, Place};
use discovery::cases::DefinedOutput;
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

/// An output of the operator as it stands that is not what its definition gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Name of the case.
    pub case: String,
    /// Which data of it.
    pub trial: String,
    /// Name of the output.
    pub output: String,
    /// What the definition computes, and the file that it is in.
    pub definition: String,
    /// How they differ.
    pub detail: String,
}

/// Which data a trial runs on.
type DataOfTrial = (usize, DataKind, u32);

/// Everything that is known of a baseline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownFindings {
    /// Errors, by case in the order in which they were found.
    pub findings: Vec<KnownFinding>,
    /// Kinds of all hazards, warnings included.
    pub kinds: BTreeSet<HazardKind>,
    /// Bytes of each output that stay unwritten, by trial.
    unwritten: BTreeMap<DataOfTrial, Vec<Vec<Range<usize>>>>,
    /// Outputs that its definition gives and that it agrees with, by trial.
    defined: BTreeMap<DataOfTrial, Vec<Option<DefinedOutput>>>,
    /// Outputs that are not what its definition gives.
    pub departures: Vec<Departure>,
    /// Trials that its definition says nothing about, with the reasons.
    undefined: Vec<(String, String)>,
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
                    && likeness(&known.hazard.message) == likeness(&hazard.message)
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

    /// Takes up what the definition gives for a trial, as far as the baseline agrees with it.
    pub(super) fn note_defined(&mut self, trial: &Trial, outputs: Vec<Option<DefinedOutput>>) {
        self.defined.insert(data_of(trial), outputs);
    }

    /// Takes up that the baseline and its definition contradict each other.
    pub(super) fn note_departure(&mut self, departure: Departure) {
        self.departures.push(departure);
    }

    /// Takes up that the definition says nothing about a trial.
    pub(super) fn note_undefined(&mut self, trial: String, reason: String) {
        self.undefined.push((trial, reason));
    }

    /// What the definition gives for a trial, as far as the baseline agrees with it.
    pub(super) fn defined(&self, trial: &Trial) -> &[Option<DefinedOutput>] {
        self.defined.get(&data_of(trial)).map_or(&[], Vec::as_slice)
    }

    /// Where places of a candidate are in the baseline.
    pub(super) fn origins<'trees>(&'trees self, candidate: &'trees SourceTree) -> Origins<'trees> {
        Origins::new(&self.sources, candidate)
    }

    /// Whether the baseline has this hazard too: of the same kind, no less grave, in the same case, at the same place. A statement
    /// that is not the baseline's is another place; values of numbers do not count. Which bytes stay unwritten is compared by
    /// content, so of an unwritten output only the output must be the same.
    pub(super) fn covers(&self, case: &str, origins: &mut Origins<'_>, hazard: &LocatedHazard) -> bool {
        let of_kind = |known: &&KnownFinding| {
            known.case == case && known.hazard.kind == hazard.kind && known.hazard.severity >= hazard.severity
        };
        let mut of_kind = self.findings.iter().filter(of_kind).peekable();
        if of_kind.peek().is_none() {
            return false;
        }
        if hazard.kind == HazardKind::UnwrittenOutput {
            return of_kind.any(|known| known.hazard.output == hazard.output);
        }
        // What is read or written behind a tensor's end is the same fault wherever it stands, as long as it reaches no further: rows that
        // are one too many are so in a copy of several rows, too.
        let reaches_as_far = |known: &KnownFinding| {
            known.hazard.reach.as_ref().zip(hazard.reach.as_ref()).is_some_and(|(known, own)| known.covers(own))
        };
        if of_kind.clone().any(reaches_as_far) {
            return true;
        }
        let (Some(place), Some(other)) = (origins.of(&hazard.place), origins.of(&hazard.other)) else { return false };
        // A statement that was moved may do something else to the same memory.
        let by_statement = !(place.by_line && other.by_line);
        let same_words = |known: &KnownFinding| likeness(&known.hazard.message) == likeness(&hazard.message);
        of_kind.any(|known| {
            let (known_place, known_other) = (&known.hazard.place, &known.hazard.other);
            // Which of two accesses comes second is an accident.
            let same_places = (place.has(known_place) && other.has(known_other))
                || (other.has(known_place) && place.has(known_other));
            same_places && (!by_statement || same_words(known))
        })
    }

    /// Errors that nobody allows.
    pub(super) fn not_allowed(&self) -> impl Iterator<Item = &KnownFinding> {
        self.findings.iter().filter(|finding| finding.allowed.is_none())
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
        let hazards = self.by_place().into_iter().map(warning);
        hazards.chain(self.departure_warnings()).collect()
    }

    /// Warnings of what is not as its definition says: one an output, with the first trial that shows it, and one of what it says
    /// nothing about.
    fn departure_warnings(&self) -> Vec<Event> {
        let mut told: BTreeMap<&str, (&Departure, usize)> = BTreeMap::new();
        for departure in &self.departures {
            told.entry(&departure.output).or_insert((departure, 0)).1 += 1;
        }
        let mut warnings: Vec<Event> = told
            .into_values()
            .map(|(first, count)| {
                let more = if count > 1 { format!(", and in {} more runs", count - 1) } else { String::new() };
                let message = format!(
                    "output {} of the operator as it stands is not {}: {} in {}{more}",
                    first.output, first.definition, first.detail, first.trial
                );
                let help = "mend the operator, or take baseline as reference if it means something else; candidates are \
                            compared with the operator itself there";
                warning_of("departs-from-definition", message, help)
            })
            .collect();
        if let Some((trial, reason)) = self.undefined.first() {
            let count = self.undefined.len();
            let message = format!("the definition says nothing about {count} runs, such as {trial}: {reason}");
            let help = "candidates are compared with the operator itself there";
            warnings.push(warning_of("undefined-runs", message, help));
        }
        warnings
    }
}

fn warning_of(code: &str, message: String, help: &str) -> Event {
    Event::Warning(Warning { code: code.to_owned(), message, help: Some(help.to_owned()) })
}

fn data_of(trial: &Trial) -> DataOfTrial {
    (trial.case, trial.data, trial.seed)
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

/// What a hazard's message says of whom and what, without how many bytes and where in them: its words, and the numbers of regions
/// and flags.
fn likeness(message: &str) -> Vec<&str> {
    const NAMED_BY_NUMBER: [&str; 6] = ["input", "output", "workspace", "region", "flag", "tensor"];
    let mut words = Vec::new();
    for word in message.split_whitespace().map(|word| word.trim_matches([',', ';', ':', '.'])) {
        let counts = word.starts_with(|first: char| first.is_ascii_digit() || first == '-');
        let names = words.last().is_some_and(|before| NAMED_BY_NUMBER.contains(before));
        words.push(if counts && !names { "#" } else { word });
    }
    words
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
            reach: None,
            output: None,
        }
    }

    fn known(hazards: Vec<LocatedHazard>) -> KnownFindings {
        known_in(KERNEL, hazards)
    }

    fn known_in(text: &str, hazards: Vec<LocatedHazard>) -> KnownFindings {
        let mut known = KnownFindings::of(&tree(text));
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

    fn covers(known: &KnownFindings, case: &str, sources: &SourceTree, hazard: &LocatedHazard) -> bool {
        known.covers(case, &mut known.origins(sources), hazard)
    }

    #[test]
    fn a_known_place_survives_edits_around_it_and_other_numbers_in_it() {
        let known = known(vec![hazard(HazardKind::Race, 5)]);
        assert!(covers(&known, "small", &tree(KERNEL), &hazard(HazardKind::Race, 5)));
        let shifted = KERNEL.replace("void CopyIn", "// one\n// two\nvoid CopyIn");
        assert!(covers(&known, "small", &tree(&shifted), &hazard(HazardKind::Race, 7)));
        assert!(!covers(&known, "small", &tree(&shifted), &hazard(HazardKind::Race, 5)));
        let value =
            KERNEL.replace("(yGm, y, 64)", "(yGm, y, static_cast<decltype(64)>(ascend_tune_knob(\"TILE\", 64)))");
        assert!(covers(&known, "small", &tree(&value), &hazard(HazardKind::Race, 5)));
    }

    #[test]
    fn a_hazard_of_the_same_kind_elsewhere_is_more_of_it() {
        let known = known(vec![hazard(HazardKind::Race, 5)]);
        let elsewhere = |text: &str, line| covers(&known, "small", &tree(text), &hazard(HazardKind::Race, line));
        assert!(!elsewhere(KERNEL, 2), "another statement");
        let twice =
            KERNEL.replace("    DataCopy(yGm, y, 64);\n", "    DataCopy(yGm, y, 64);\n    DataCopy(yGm, y, 64);\n");
        assert!(elsewhere(&twice, 5) != elsewhere(&twice, 6), "a copy of the statement is not the statement");
        let moved = "void CopyIn() {\n    DataCopy(yGm, y, 64);\n    DataCopy(x, xGm, 64);\n}\nvoid CopyOut() {\n    Add(y, y, x, n);\n}\n";
        assert!(!elsewhere(moved, 2), "a statement that was moved is another place");
        assert!(!covers(&known, "small", &tree(KERNEL), &hazard(HazardKind::OutOfBoundsUb, 5)), "another kind");
        assert!(!covers(&known, "large", &tree(KERNEL), &hazard(HazardKind::Race, 5)), "another case");
    }

    /// Two tensors are taken, then filled.
    const TAKES: &str = "void CopyIn(int i)\n{\n    LocalTensor<half> a = qA.Alloc();\n    LocalTensor<half> b = qB.Alloc();\n    DataCopy(a, aGm[i], n);\n    DataCopy(b, bGm[i], n);\n}\n";

    fn beyond(line: u32, input: u32) -> LocatedHazard {
        let message = format!("copy: 128 bytes at offset 0 of input {input}, which has 36 bytes");
        LocatedHazard { message, ..hazard(HazardKind::OutOfBoundsGm, line) }
    }

    #[test]
    fn which_of_two_lines_that_changed_places_has_moved_does_not_matter() {
        let known = known_in(TAKES, vec![beyond(5, 0)]);
        let (second, first) = ("    LocalTensor<half> b = qB.Alloc();\n", "    DataCopy(a, aGm[i], n);\n");
        let later = TAKES.replace(&format!("{second}{first}"), &format!("{first}{second}"));
        assert_ne!(later, TAKES);
        assert!(covers(&known, "small", &tree(&later), &beyond(4, 0)));
        let of_take = known_in(TAKES, vec![hazard(HazardKind::QueueMisuse, 4)]);
        assert!(covers(&of_take, "small", &tree(&later), &hazard(HazardKind::QueueMisuse, 5)));
        assert!(!covers(&known, "small", &tree(&later), &beyond(4, 1)), "another buffer");
        assert!(!covers(&known, "small", &tree(&later), &beyond(6, 1)), "another statement");
        assert!(!covers(&known, "small", &tree(&later), &hazard(HazardKind::Race, 4)), "another kind");
        let twice = later.replace(first, &format!("{first}{first}"));
        let copies = [4, 5].map(|line| covers(&known, "small", &tree(&twice), &beyond(line, 0)));
        assert!(copies.iter().filter(|known| **known).count() <= 1, "a copy of the statement is more of it");
        let looped = later.replace(first, &format!("    for (; k < n; k++) {{\n{first}    }}\n"));
        assert!(!covers(&known, "small", &tree(&looped), &beyond(5, 0)), "in a loop it is more of it");
    }

    #[test]
    fn what_reaches_no_further_behind_a_tensor_is_known_wherever_it_stands() {
        let message = |bytes, offset, tensor: &str, by: &str| {
            format!("{by}: {bytes} bytes at offset {offset} of {tensor}, which has 1000 bytes")
        };
        let reaching = |line, message: String| LocatedHazard {
            reach: aicore::Reach::of(&message),
            message,
            ..hazard(HazardKind::OutOfBoundsGm, line)
        };
        let known = known(vec![reaching(2, message(256, 960, "input 0", "copy_gm_to_ubuf"))]);
        let other_text = KERNEL.replace("DataCopy(x, xGm, 64)", "DataCopyPad(x, xGm, several)");
        let covered = |message| covers(&known, "small", &tree(&other_text), &reaching(2, message));
        assert!(covered(message(256, 960, "input 0", "copy_gm_to_ubuf_align_b16")), "the same bytes, another copy");
        assert!(covered(message(1216, 0, "input 0", "copy_gm_to_ubuf")), "with what lies in front of them");
        assert!(!covered(message(257, 960, "input 0", "copy_gm_to_ubuf")), "a byte more");
        assert!(!covered(message(256, 960, "input 1", "copy_gm_to_ubuf")), "another tensor");
        assert!(!covered(message(256, 960, "input 0", "copy_ubuf_to_gm")), "written, not read");
        assert!(!covered("copy_gm_to_ubuf: 256 bytes at an address that is near no tensor".to_owned()));
        assert!(!covered(message(256, 960, "input 0", "copy_gm_to_ubuf").replace("960", "-128")), "in front of it");
    }

    #[test]
    fn a_pipe_that_is_handed_over_makes_no_other_buffer() {
        let setup = "void Init()\n{\n    pipe.InitBuffer(a, 1, n * sizeof(half));\n    pipe.InitBuffer(b, 1, n * sizeof(half));\n}\nvoid Run()\n{\n    Cast(a, b, n);\n}\n";
        let past = |line, made| LocatedHazard {
            other: Place { file: "k.cpp".to_owned(), line: made },
            ..hazard(HazardKind::OutOfBoundsUb, line)
        };
        let known = known_in(setup, vec![past(8, 3)]);
        let rewritten = setup
            .replace("void Init()\n", "void Init(TPipe *pipe)\n")
            .replace("pipe.", "pipe->")
            .replace("    Cast", "    // now\n    Cast");
        assert!(covers(&known, "small", &tree(&rewritten), &past(9, 3)));
        assert!(!covers(&known, "small", &tree(&rewritten), &past(9, 4)), "the other buffer");
        for (what, text) in [
            ("another operand", setup.replace("Cast(a, b, n)", "Cast(a, c, n)")),
            ("another call", setup.replace("Cast(a, b, n)", "Muls(a, b, n)")),
            ("more of it", setup.replace("Cast(a, b, n)", "Cast(a, b, n + m)")),
            ("another size", setup.replacen("n * sizeof", "m * sizeof", 1)),
        ] {
            assert!(!covers(&known, "small", &tree(&text), &past(8, 3)), "{what}");
        }
    }

    #[test]
    fn a_block_that_is_headed_like_another_is_not_told_apart() {
        let (moving, rest) =
            ("        Add(a, a, b, n);\n", "        Sub(a, a, b, n);\n        Abs(a, a, n);\n        Exp(a, a, n);\n");
        let looped = |body: &str| format!("    for (;;) {{\n{body}    }}\n");
        let other = rest.replace("a, n", "b, n");
        let kernel = |first: &str, second: &str| format!("void Run()\n{{\n{}{}}}\n", looped(first), looped(second));
        let known = known_in(&kernel(&format!("{moving}{rest}"), &other), vec![hazard(HazardKind::Race, 4)]);
        let moved = kernel(rest, &format!("{other}{moving}"));
        assert!(!covers(&known, "small", &tree(&moved), &hazard(HazardKind::Race, 12)), "{moved}");
    }

    #[test]
    fn a_statement_over_several_lines_is_one_place() {
        let broken = TAKES.replace("DataCopy(a, aGm[i], n);", "DataCopy(a,\n             aGm[i], n);");
        let known = known_in(&broken, vec![beyond(5, 0)]);
        assert!(covers(&known, "small", &tree(TAKES), &beyond(5, 0)));
        assert!(!covers(&known, "small", &tree(TAKES), &beyond(6, 0)));
    }

    #[test]
    fn patches_on_top_of_each_other_leave_a_known_place_known() {
        let known = known_in(TAKES, vec![beyond(5, 0), beyond(6, 1)]);
        let (head, body) = TAKES.split_at(TAKES.find("    Local").unwrap());
        let lines: Vec<&str> = body.split_inclusive('\n').collect();
        // Takes and copies are in turns, with hints before the copies.
        let [take_a, take_b, copy_a, copy_b, end] = lines[..] else { panic!("five lines") };
        let patched =
            format!("// new\n{head}{take_a}    SetHint(aGm);\n{copy_a}{take_b}    SetHint(bGm);\n{copy_b}{end}");
        assert!(covers(&known, "small", &tree(&patched), &beyond(6, 0)), "{patched}");
        assert!(covers(&known, "small", &tree(&patched), &beyond(9, 1)));
    }

    #[test]
    fn messages_are_alike_whatever_they_count() {
        let one = "copy: 128 bytes at offset 0 of input 0, which has 36 bytes";
        assert_eq!(likeness(one), likeness("copy: 7936 bytes at offset 4556416 of input 0, which has 4564236 bytes"));
        assert_ne!(likeness(one), likeness("copy: 128 bytes at offset 0 of input 1, which has 36 bytes"));
        assert_ne!(likeness(one), likeness("fill: 128 bytes at offset 0 of input 0, which has 36 bytes"));
        assert_eq!(likeness("writes bytes 0x10..0x20 of UB"), likeness("writes bytes 0x30..0x40 of UB"));
    }

    #[test]
    fn unwritten_outputs_are_known_by_output() {
        let unwritten = |output| LocatedHazard { output: Some(output), ..hazard(HazardKind::UnwrittenOutput, 5) };
        let known = known(vec![unwritten(1)]);
        let moved = LocatedHazard { place: Place::default(), ..unwritten(1) };
        assert!(covers(&known, "small", &tree(KERNEL), &moved));
        assert!(!covers(&known, "small", &tree(KERNEL), &unwritten(0)));
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
    fn a_departure_is_told_once_an_output() {
        let mut known = known(Vec::new());
        for (output, trial) in [("y", "small"), ("y", "small, hostile"), ("rstd", "small")] {
            known.note_departure(Departure {
                case: "small".to_owned(),
                trial: trial.to_owned(),
                output: output.to_owned(),
                definition: "y = -x (elementwise.py)".to_owned(),
                detail: "2 of 4 elements differ".to_owned(),
            });
        }
        known.note_undefined("odd".to_owned(), "an index is not below 3".to_owned());
        let told: Vec<String> = known
            .warnings()
            .iter()
            .map(|event| {
                let Event::Warning(warning) = event else { panic!("only warnings") };
                format!("{}: {}", warning.code, warning.message)
            })
            .collect();
        let rstd = "departs-from-definition: output rstd of the operator as it stands is not y = -x (elementwise.py): \
                    2 of 4 elements differ in small";
        let undefined =
            "undefined-runs: the definition says nothing about 1 runs, such as odd: an index is not below 3";
        assert_eq!((told[0].as_str(), told[2].as_str(), told.len()), (rstd, undefined, 3));
        assert!(told[1].ends_with("in small, and in 1 more runs"), "{}", told[1]);
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
