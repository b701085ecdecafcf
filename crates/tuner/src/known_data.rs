//! Times on data that is only checked. What is timed is the same data in every run, so that times can be compared: whoever knows it may
//! have its answers in the kernel, which is fast on this data and on no other.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::evaluation::{CaseTime, Evaluation, Outcome};
use super::workload::Trial;
use backend::LaunchProfile;
use verify::{DataKind, Reason, Rejection};

/// How much longer, beyond what the operator as it stands does, a case may take on other data than that which is timed.
const MORE: f64 = 1.1;

/// The longest modelled times of timed cases, by name, on data of the same kind that is not timed.
pub(super) type OtherData = BTreeMap<String, f64>;

/// Notes what a trial of a case took, if it is one of these.
pub(super) fn note(
    other: &mut OtherData,
    trial: &Trial,
    (case, verify_only): (&str, bool),
    launches: &[LaunchProfile],
) {
    if trial.timed || verify_only || trial.data != DataKind::Random {
        return;
    }
    let us: f64 = launches.iter().map(|launch| launch.profile.task_us).sum();
    let longest = other.entry(case.to_owned()).or_default();
    *longest = longest.max(us);
}

/// The modelled time of a case.
fn modelled(time: &CaseTime) -> f64 {
    time.measured.map_or(time.task_us, |measured| measured.modelled_us)
}

/// How much longer than on the timed data the operator as it stands takes on other data, by case.
#[derive(Clone, Debug, Default)]
pub(super) struct Usual(Arc<OtherData>);

impl Usual {
    /// Of its own evaluation.
    pub(super) fn of(baseline: &Evaluation) -> Self {
        let Outcome::Valid(times) = &baseline.outcome else { return Self::default() };
        let ratio = |time: &CaseTime| {
            let other = baseline.other_data.get(&time.name)?;
            Some((time.name.clone(), other / modelled(time)))
        };
        Self(Arc::new(times.iter().filter_map(ratio).collect()))
    }

    /// Why a candidate's times are not those of its cases, where they are those of the timed data alone.
    pub(super) fn refuses(&self, times: &[CaseTime], other_data: &OtherData) -> Option<Rejection> {
        times.iter().find_map(|time| {
            let (usual, other, timed) = (self.0.get(&time.name)?, other_data.get(&time.name)?, modelled(time));
            let is_flattered = *other > timed * usual.max(1.0) * MORE;
            is_flattered.then(|| {
                let detail = format!(
                    "{timed:.3} us on the timed data and {other:.3} us on other data of the same kind, which the operator as it \
                     stands does not tell apart: whoever knows the timed data has its answers"
                );
                Rejection::new(Reason::KnownData, &time.name, detail)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluation(us: f64, other: f64) -> Evaluation {
        let name = "a".to_owned();
        let time = CaseTime { name: name.clone(), task_us: us, bound_us: 0.0, bound_by_work: false, measured: None };
        Evaluation {
            digest: String::new(),
            thorough: true,
            outcome: Outcome::Valid(vec![time]),
            estimate_us: None,
            blocks: Vec::new(),
            round: 0,
            seconds: 0.0,
            error: None,
            other_data: [(name, other)].into(),
        }
    }

    fn refused(usual: &Usual, us: f64, other: f64) -> bool {
        let evaluation = evaluation(us, other);
        let Outcome::Valid(times) = &evaluation.outcome else { unreachable!("it is one") };
        usual.refuses(times, &evaluation.other_data).is_some()
    }

    #[test]
    fn a_candidate_may_depend_on_data_as_the_operator_does() {
        let steady = Usual::of(&evaluation(10.0, 10.0));
        assert!(refused(&steady, 5.0, 10.0) && !refused(&steady, 5.0, 5.2) && !refused(&steady, 5.0, 4.0));
        let searching = Usual::of(&evaluation(10.0, 20.0));
        assert!(!refused(&searching, 5.0, 10.0) && refused(&searching, 2.0, 10.0));
        // What was slower on other data than on the timed one sets no bar below that.
        let lucky = Usual::of(&evaluation(10.0, 5.0));
        assert!(!refused(&lucky, 5.0, 5.0) && refused(&lucky, 5.0, 6.0));
        assert!(!refused(&Usual::default(), 1.0, 10.0), "nothing is known of the operator as it stands");
    }
}
