//! Whether a run counts: its hazards weighed against what the operator as it stands has, its outputs against right ones.

use std::borrow::Cow;
use std::ops::Range;

use super::TrialError;
use super::contradiction::Contradiction;
use super::evaluator::Evaluator;
use super::known::{KnownFindings, allowance, excused};
use super::plan::Plan;
use super::standard::Standard;
use super::workload::Trial;
use aicore::{HazardKind, Severity};
use backend::{Execution, LocatedHazard};
use discovery::cases::DefinedOutput;
use manifest::{HazardPolicy, Layout};
use verify::{DType, Reason, Rejection, compare, compare_reordered, default_tolerance_of};

impl Evaluator {
    /// Runs a trial, weighs its hazards and compares its outputs where right ones are known. Bytes that a baseline leaves
    /// unwritten go to `known`.
    pub(super) async fn run_judged(
        &self,
        plan: &Plan,
        trial: &Trial,
        expected: Option<&Vec<Vec<u8>>>,
        known: &mut KnownFindings,
    ) -> Result<Execution, TrialError> {
        let mut modelled = None;
        if let Some(model) = self.model_only() {
            // What would be rejected anyway costs no device time, and cannot spoil a device.
            let ran = model.run_trial(plan, trial, false).await?;
            self.judge(plan, trial, &ran)?;
            modelled = Some(ran);
        }
        let mut execution = self.run_trial(plan, trial, true).await?;
        self.judge(plan, trial, &execution)?;
        // Where something unwritten is read, results may hang on it even if the judge sees no error.
        let unwritten = |hazard: &LocatedHazard| hazard.kind == HazardKind::UninitialisedRead;
        let mut hazards = execution.launches.iter().flat_map(|launch| &launch.hazards);
        let mut faulty = || hazards.any(|hazard| hazard.severity == Severity::Error || unwritten(hazard));
        if matches!(self.standard, Standard::Baseline) && self.manifest.layout != Layout::DirectLaunch && faulty() {
            let again = self.run_with_other_garbage(plan, trial).await?;
            let unwritten = self.unwritten(trial, &execution, &again)?;
            // Of what a kernel selects there may be nothing.
            if nothing_written(&execution.outputs, &unwritten) && !execution.call.writes_shapes {
                let detail =
                    "no byte of any output is written: there is nothing that a candidate could be compared with";
                return Err(Rejection::new(Reason::UnwrittenOutput, &trial.label(&self.manifest.cases), detail).into());
            }
            known.note_unwritten(trial, unwritten);
        }
        if let Some(expected) = expected {
            // Right answers that the user gives hold for every byte of an output that is not optional.
            let of_baseline = matches!(self.standard, Standard::Baseline).then_some(&*known);
            let except = |output: usize| match of_baseline {
                Some(known) if self.is_optional(trial, output) => known.unwritten(trial, output),
                Some(_) => &[],
                None => self.unwritten_in_baseline(trial, output),
            };
            let right = |ran: &Execution| self.agrees_except(trial, ran, expected, &except);
            let mut compared = right(&execution);
            if compared.is_err()
                && let Some(kept) = self.run_as_tensors_were_left(plan, trial, &right).await?
            {
                (execution, compared) = (kept, Ok(()));
            }
            if let Err(rejection) = compared {
                if let (Some(modelled), Some(contradictions)) = (modelled.as_ref(), &self.contradictions)
                    && right(modelled).is_ok()
                {
                    let measured = &execution;
                    let what = Contradiction { plan, trial, rejection: &rejection, measured, modelled, expected };
                    self.report(contradictions, &what).await;
                }
                return Err(rejection.into());
            }
        }
        if let Standard::Candidate(known) = &self.standard {
            self.agrees_with_definition(trial, &execution, known.defined(trial))?;
        }
        Ok(execution)
    }

    /// Weighs hazards.
    pub(super) fn judge(&self, plan: &Plan, trial: &Trial, execution: &Execution) -> Result<(), Rejection> {
        let label = trial.label(&self.manifest.cases);
        let case = &self.manifest.cases[trial.case].name;
        let policy = self.manifest.hazards;
        let mut origins = match &self.standard {
            Standard::Candidate(known) => Some(known.origins(&plan.sources)),
            Standard::Alone | Standard::Baseline => None,
        };
        // Garbage in the data may give scalar code odd values, but never a reason to leave its memory or order.
        for hazard in execution.launches.iter().flat_map(|launch| &launch.hazards) {
            let refused = match (&self.standard, &mut origins) {
                (Standard::Baseline, _) => rejects(hazard, policy) && !self.tolerates(plan, trial, hazard),
                (Standard::Candidate(known), Some(origins)) => {
                    let more = rejects(hazard, policy) && !known.covers(case, origins, hazard);
                    more || is_new_risk(hazard.kind, known)
                }
                (Standard::Alone | Standard::Candidate(_), _) => rejects(hazard, policy),
            };
            if refused {
                return Err(self.hazard_rejection(hazard, &label));
            }
        }
        Ok(())
    }

    /// Whether the operator as it stands may have a hazard that would reject a candidate.
    fn tolerates(&self, plan: &Plan, trial: &Trial, hazard: &LocatedHazard) -> bool {
        let optional = hazard.output.is_some_and(|output| self.is_optional(trial, output as usize));
        // What stops the machine leaves nothing to compare with.
        let stops = matches!(hazard.kind, HazardKind::Deadlock | HazardKind::Unsupported);
        let by_default = self.manifest.hazards == HazardPolicy::Known;
        !stops && (by_default || optional || allowance(&self.manifest.allow, &plan.sources, hazard).is_some())
    }

    fn is_optional(&self, trial: &Trial, output: usize) -> bool {
        let case = &self.manifest.cases[trial.case];
        let output = case.outputs.get(output).map(|output| (case.name.clone(), output.name.clone()));
        output.is_some_and(|name| self.manifest.optional_outputs.contains(&name))
    }

    /// Bytes of an output that the baseline leaves unwritten in a trial.
    pub(super) fn unwritten_in_baseline(&self, trial: &Trial, output: usize) -> &[Range<usize>] {
        match &self.standard {
            Standard::Candidate(known) => known.unwritten(trial, output),
            Standard::Alone | Standard::Baseline => &[],
        }
    }

    /// Bytes of each output that hold the garbage of both runs: nobody writes them. Everything else must be the same in both,
    /// or the results depend on memory that nobody wrote, or on the order of blocks, and are no reference.
    fn unwritten(
        &self,
        trial: &Trial,
        execution: &Execution,
        again: &Execution,
    ) -> Result<Vec<Vec<Range<usize>>>, Rejection> {
        let garbage = self.garbage(trial);
        let pairs = execution.outputs.iter().zip(&again.outputs);
        let unwritten: Vec<_> = pairs.map(|(first, second)| garbage_ranges(first, second, garbage)).collect();
        let label = trial.label(&self.manifest.cases);
        for (output, ranges) in unwritten.iter().enumerate().filter(|(_, ranges)| !ranges.is_empty()) {
            let told = errors(execution).any(|hazard| {
                hazard.kind == HazardKind::UnwrittenOutput && hazard.output == u32::try_from(output).ok()
            });
            if !told {
                let (name, _) = self.output_type(trial, output);
                let detail = format!("output {name}: memory that nobody wrote is copied to byte {}", ranges[0].start);
                return Err(Rejection::new(Reason::WrongResult, &label, detail));
            }
        }
        let except = |output: usize| unwritten.get(output).map_or(&[][..], Vec::as_slice);
        self.agrees_except(trial, again, &execution.outputs, &except).map_err(|mut rejection| {
            rejection.detail.push_str(
                " in a second run with other garbage in unwritten memory and the blocks in another order: the results depend \
                 on one of them, so there is no right answer to compare with",
            );
            rejection
        })?;
        Ok(unwritten)
    }

    /// Compares the outputs of a run with right ones, except for bytes that the baseline leaves unwritten.
    pub fn agrees(&self, trial: &Trial, execution: &Execution, expected: &[Vec<u8>]) -> Result<(), Rejection> {
        self.agrees_except(trial, execution, expected, &|output| self.unwritten_in_baseline(trial, output))
    }

    /// Compares the outputs of a run with right ones, except for these bytes of each.
    pub(super) fn agrees_except<'ranges>(
        &self,
        trial: &Trial,
        execution: &Execution,
        expected: &[Vec<u8>],
        except: &dyn Fn(usize) -> &'ranges [Range<usize>],
    ) -> Result<(), Rejection> {
        let case = trial.label(&self.manifest.cases);
        if expected.len() != execution.outputs.len() {
            let detail = format!("{} outputs instead of {}", execution.outputs.len(), expected.len());
            return Err(Rejection::new(Reason::WrongResult, &case, detail));
        }
        for (position, (actual, expected)) in execution.outputs.iter().zip(expected).enumerate() {
            if actual == expected {
                continue;
            }
            let (name, dtype) = self.output_type(trial, position);
            let tolerance = self.manifest.tolerance.get(&dtype.to_string()).copied();
            let tolerance = tolerance.unwrap_or_else(|| default_tolerance_of(dtype, expected));
            let ranges = except(position);
            let excused =
                if ranges.is_empty() { Cow::Borrowed(actual) } else { Cow::Owned(excused(actual, expected, ranges)) };
            let compared = compare(&excused, expected, dtype, tolerance);
            let is_reordered = || {
                // Of some blocks alone there is but a part, whose elements are others.
                let defined =
                    self.definition_of(trial, position).filter(|whole| whole.bytes.len() == expected.len())?;
                compare_reordered(&excused, expected, dtype, tolerance, |index| defined.terms(index)).ok()
            };
            if let Err(mismatch) = compared
                && is_reordered().is_none()
            {
                let detail = format!("output {name}: {mismatch}");
                return Err(Rejection::new(Reason::WrongResult, &case, detail));
            }
        }
        Ok(())
    }

    /// What the definition gives for an output, where the operator as it stands agrees with it: a candidate must as well, and sums of
    /// both may then be in another order.
    fn definition_of(&self, trial: &Trial, output: usize) -> Option<&DefinedOutput> {
        let Standard::Candidate(known) = &self.standard else { return None };
        known.defined(trial).get(output)?.as_ref()
    }

    /// Name and dtype of an output. Direct-launch regions have neither unless the case lists outputs: bytes, exactly.
    pub(super) fn output_type(&self, trial: &Trial, position: usize) -> (String, DType) {
        let unnamed = || (format!("region {position}"), DType::Uint8);
        let outputs = &self.manifest.cases[trial.case].outputs;
        let Some(tensor) = outputs.get(if outputs.len() == 1 { 0 } else { position }) else { return unnamed() };
        tensor.dtype.parse().map_or_else(|_| unnamed(), |dtype| (tensor.name.clone(), dtype))
    }

    fn hazard_rejection(&self, hazard: &LocatedHazard, case: &str) -> Rejection {
        let reason = match hazard.kind {
            HazardKind::UnwrittenOutput => Reason::UnwrittenOutput,
            _ => Reason::Hazard,
        };
        let mut detail = hazard.message.clone();
        if !hazard.other.file.is_empty() {
            detail.push_str(&format!(" (the other access is at {}:{})", hazard.other.file, hazard.other.line));
        }
        if let Standard::Candidate(known) = &self.standard
            && known.kinds.contains(&hazard.kind)
        {
            detail.push_str("; the operator as it stands has hazards of this kind, but not here");
        }
        Rejection {
            reason,
            hazard: Some(hazard.kind),
            case: case.to_owned(),
            file: hazard.place.file.clone(),
            line: hazard.place.line,
            detail,
        }
    }
}

/// Hazards of a run that count as errors.
fn errors(execution: &Execution) -> impl Iterator<Item = &LocatedHazard> {
    let all = execution.launches.iter().flat_map(|launch| &launch.hazards);
    all.filter(|hazard| hazard.severity == Severity::Error)
}

/// Ranges of bytes that hold this garbage in two runs.
fn garbage_ranges(first: &[u8], second: &[u8], garbage: (u8, u8)) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (at, pair) in first.iter().copied().zip(second.iter().copied()).enumerate() {
        if pair != garbage {
            continue;
        }
        match ranges.last_mut().filter(|range| range.end == at) {
            Some(range) => range.end += 1,
            None => ranges.push(at..at + 1),
        }
    }
    ranges
}

/// Whether all that there is of outputs stays unwritten.
fn nothing_written(outputs: &[Vec<u8>], unwritten: &[Vec<Range<usize>>]) -> bool {
    let is_whole = |(bytes, ranges): (&Vec<u8>, &Vec<Range<usize>>)| {
        !bytes.is_empty() && ranges.iter().map(Range::len).sum::<usize>() == bytes.len()
    };
    !outputs.is_empty() && outputs.iter().zip(unwritten).all(is_whole)
}

/// Whether a hazard rejects under the policy of the manifest, if nothing is known of the baseline.
pub fn rejects(hazard: &LocatedHazard, policy: HazardPolicy) -> bool {
    match policy {
        HazardPolicy::Known | HazardPolicy::Errors => hazard.severity == Severity::Error,
        HazardPolicy::Strict => true,
    }
}

/// Whether a candidate writes in padding, or to inputs, or leaves a flag set, or has the scalar unit go to odd addresses, though the
/// baseline does not: right for whole allocations that nobody reads again, and for the kernel itself, but slices of larger tensors,
/// which the baseline can be used on, would lose what lies next to them, the operators that take the same input what lies there, and
/// the next kernel on the core would pass a wait too early. What the scalar unit makes of an address that the size of an access does not
/// divide no public source says.
fn is_new_risk(kind: HazardKind, of_baseline: &KnownFindings) -> bool {
    let risks =
        [HazardKind::WriteInPadding, HazardKind::InputOverwritten, HazardKind::FlagMisuse, HazardKind::Misaligned];
    risks.contains(&kind) && !of_baseline.kinds.contains(&kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_write_in_padding_only_where_the_baseline_does() {
        let clean = KnownFindings::default();
        let mut pads = KnownFindings::default();
        pads.kinds.insert(HazardKind::WriteInPadding);
        assert!(is_new_risk(HazardKind::WriteInPadding, &clean));
        assert!(!is_new_risk(HazardKind::WriteInPadding, &pads));
        assert!(is_new_risk(HazardKind::FlagMisuse, &clean), "a flag left set is the next kernel's trouble");
        assert!(!is_new_risk(HazardKind::QueueMisuse, &clean));
    }

    #[test]
    fn bytes_that_hold_the_garbage_of_both_runs_were_not_written() {
        let first = [1, 200, 200, 2, 200, 200];
        let second = [1, 60, 60, 2, 200, 60];
        assert_eq!(garbage_ranges(&first, &second, (200, 60)), [1..3, 5..6]);
    }
}
