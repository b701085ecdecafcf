//! What decides on a choice by size: sizes that no case has, on both sides of where one class ends and the next begins.

use super::candidate::Candidate;
use super::classes::{Gains, Meeting, SizeClass, meeting, sizes_between, threshold};
use super::probe_edges::first_elements;
use super::probe_sizes::candidate_of;
use super::probing::{ProbeSet, ProbeVerdict};
use super::round::Field;
use super::taken_back::reason_of;
use super::{CaseTime, TunerError};
use discovery::cases::Candidate as CaseCandidate;

/// Sizes between two classes that are tried with the values of both, at most: one for each doubling where there are fewer.
const BETWEEN: u32 = 7;
/// Dtypes of which they are tried.
const DTYPES: usize = 2;

/// Where two neighbouring classes meet, and the cases from which sizes there are made.
pub(super) struct Boundary {
    /// The largest size of the class below, and where the single candidate is kept in between, the largest of these.
    pub up_to: Vec<u64>,
    /// Cases of the class below, of different dtypes.
    cases: Vec<CaseCandidate>,
}

/// The field, and what its cases and the drawn probes say.
pub(super) struct HeldOut<'a> {
    /// Cases.
    pub field: &'a Field,
    /// The operator as it was.
    pub baseline: &'a Candidate,
    /// Probes of the run.
    pub probes: &'a ProbeSet,
    /// Times of the single best candidate, by which cases have their places.
    pub times: &'a [CaseTime],
}

impl HeldOut<'_> {
    /// Where the candidate `below` for the smaller classes gives way to the one `above` for the larger ones, or to `single` before that
    /// where it may; why it does nowhere, otherwise.
    pub async fn boundary(
        &self,
        (below, above): (&Candidate, &Candidate),
        single: Option<&Candidate>,
        (smaller, larger): (&[SizeClass], &[SizeClass]),
    ) -> Result<Result<Boundary, String>, TunerError> {
        let (Some(last), Some(first)) = (smaller.last(), larger.first()) else {
            return Err(TunerError::Internal("a class without sizes".to_owned()));
        };
        let (low, high) = (last.most, first.least);
        let cases = self.cases_of(last);
        if low + 1 >= high {
            return Ok(Ok(Boundary { up_to: vec![low], cases }));
        }
        let doublings = (high / low.max(1)).checked_ilog2().unwrap_or(0);
        let sizes = sizes_between(low, high, doublings.clamp(1, BETWEEN));
        // Odd lengths where the shape has such: what is full only at powers of two is full nowhere else.
        let odd = |size: u64| ((size - size / 32) | 1).clamp(low + 1, high - 1);
        let wanted: Vec<(CaseCandidate, u64)> =
            sizes.iter().flat_map(|size| cases.iter().map(move |case| (case.clone(), odd(*size)))).collect();
        let set = self.set(&wanted, "classes").await?;
        let inside = |place: &usize| (low + 1..high).contains(&self.size(&set, *place));
        let places: Vec<usize> = (0..set.probes.len()).filter(inside).collect();
        let mut all = vec![Gains::default(); set.probes.len()];
        for (place, gain) in self.gains(&set, below).await? {
            all[place].below = gain;
        }
        for (place, gain) in self.gains(&set, above).await? {
            all[place].above = gain;
        }
        if let Some(single) = single {
            for (place, gain) in self.gains(&set, single).await? {
                all[place].single = gain;
            }
        }
        let gains: Vec<Gains> = places.iter().map(|place| all[*place]).collect();
        tracing::debug!(sizes = ?places.iter().map(|place| self.size(&set, *place)).collect::<Vec<_>>(), ?gains, "held out");
        let Some(Meeting { below, between }) = meeting(&gains, single.is_some()) else {
            return Ok(Err(format!("nothing that was found holds at every size between {low} and {high} elements")));
        };
        let at = |place: usize| self.size(&set, places[place]);
        let least = below.checked_sub(1).map_or(low, at);
        let first_of_above = if between < places.len() { at(between) } else { high };
        if below == between {
            let up_to = vec![threshold(least, (first_of_above - 1).max(least))];
            return Ok(Ok(Boundary { up_to, cases }));
        }
        // What holds everywhere is in the middle: as much of it as may be needed.
        let of_single = at(between - 1);
        let up_to = vec![least, threshold(of_single, (first_of_above - 1).max(of_single))];
        Ok(Ok(Boundary { up_to, cases }))
    }

    async fn gains(&self, set: &ProbeSet, candidate: &Candidate) -> Result<Vec<(usize, Option<f64>)>, TunerError> {
        let verdicts = self.check(set, candidate).await?.into_iter();
        let gain = |verdict: &ProbeVerdict| verdict.holds().then(|| verdict.speedup().map(f64::ln)).flatten();
        Ok(verdicts.map(|(place, verdict)| (place, gain(&verdict))).collect())
    }

    /// Why the choice is none: a probe, an edge or a size next to a boundary at which the candidate does not hold, or is slower than the
    /// single best one by more than the floor.
    pub async fn refusal(
        &self,
        (chosen, single): (&Candidate, &Candidate),
        boundaries: &[Boundary],
    ) -> Result<Option<String>, TunerError> {
        let mut next_to: Vec<(CaseCandidate, u64)> = Vec::new();
        for boundary in boundaries {
            for case in &boundary.cases {
                let (own, unit) = (first_elements(case), unit_of(case));
                for up_to in &boundary.up_to {
                    let below = up_to / unit * unit;
                    // A case is no held-out size.
                    let below = if below == own && below > unit { below - unit } else { below };
                    let above = (up_to / unit + 1) * unit;
                    next_to
                        .extend([below, above].into_iter().filter(|size| *size > 0).map(|size| (case.clone(), size)));
                }
            }
        }
        let set = self.set(&next_to, "classes").await?;
        for up_to in boundaries.iter().flat_map(|boundary| &boundary.up_to) {
            let sizes = (0..set.probes.len()).map(|place| self.size(&set, place));
            let (below, above): (Vec<u64>, Vec<u64>) = sizes.partition(|size| size <= up_to);
            if below.is_empty() || above.is_empty() {
                let side = if below.is_empty() { "up to" } else { "beyond" };
                return Ok(Some(format!("no size {side} {up_to} elements could be tried")));
            }
        }
        let edges =
            self.probes.at_edges(&self.field.workspace, &self.field.baseline_times, self.baseline, chosen).await?;
        for set in [&set, self.probes, &edges] {
            if let Some(why) = self.worse(set, chosen, single).await? {
                return Ok(Some(why));
            }
        }
        Ok(None)
    }

    /// The first probe of a set at which a candidate does not hold, or loses against the single best one.
    async fn worse(
        &self,
        set: &ProbeSet,
        chosen: &Candidate,
        single: &Candidate,
    ) -> Result<Option<String>, TunerError> {
        let before = self.check(set, single).await?;
        for (place, verdict) in self.check(set, chosen).await? {
            let name = &set.probes[place].case.name;
            if !verdict.holds() {
                return Ok(Some(format!("probe {name}: {}", reason_of(&verdict))));
            }
            let known = before.iter().find(|(other, _)| *other == place).and_then(|(_, verdict)| verdict.speedup());
            let ratio = known.zip(verdict.speedup()).map_or(1.0, |(before, now)| before / now);
            if ratio > set.floor {
                let slower = (ratio - 1.0) * 100.0;
                return Ok(Some(format!("probe {name}: {slower:.1} % slower there than with one value for all sizes")));
            }
        }
        Ok(None)
    }

    async fn check(&self, set: &ProbeSet, candidate: &Candidate) -> Result<Vec<(usize, ProbeVerdict)>, TunerError> {
        let workspace = &self.field.workspace;
        let tunables = workspace.tunables();
        if candidate.digest(tunables) == self.baseline.digest(tunables) {
            // It is what all others are held against.
            return Ok((0..set.probes.len()).map(|place| (place, ProbeVerdict::Held { speedup: 1.0 })).collect());
        }
        set.check(&candidate.plain_plan(tunables), workspace.options.jobs, false).await
    }

    async fn set(&self, wanted: &[(CaseCandidate, u64)], folder: &str) -> Result<ProbeSet, TunerError> {
        let Self { field, baseline, probes, .. } = self;
        probes.of_sizes(&field.workspace, &field.baseline_times, baseline, wanted, folder).await
    }

    fn size(&self, set: &ProbeSet, place: usize) -> u64 {
        first_elements(&candidate_of(&set.probes[place].case))
    }

    /// Cases of a class, one of each of the first dtypes.
    fn cases_of(&self, class: &SizeClass) -> Vec<CaseCandidate> {
        let manifest = &self.field.workspace.manifest;
        let mut found: Vec<CaseCandidate> = Vec::new();
        for place in &class.cases {
            let case = manifest.cases.iter().find(|case| case.name == self.times[*place].name).map(candidate_of);
            let dtype = |case: &CaseCandidate| case.inputs.first().map(|input| input.dtype.clone());
            found.extend(case.filter(|case| !found.iter().any(|known| dtype(known) == dtype(case))));
        }
        found.truncate(DTYPES);
        found
    }
}

/// Elements of the first input by which a case grows with its first axis.
fn unit_of(case: &CaseCandidate) -> u64 {
    let length = case.inputs.first().and_then(|input| input.shape.as_ref()?.first().copied()).unwrap_or(1);
    (first_elements(case) / length.max(1)).max(1)
}
