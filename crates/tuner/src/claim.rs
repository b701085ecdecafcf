//! What is claimed of a winner: no more than what probes confirm. Cases flatter where a rule gains at their sizes and nowhere else.

use super::TunerError;
use super::probe_sizes::case_bytes;
use super::probing::{MUST_HAVE_DATA_BYTES, ProbeSet, ProbeVerdict};
use super::progress::Progress;
use super::round::Field;
use super::settle::{WORTH_A_STEP, WORTH_WRITING};
use events::{self, Event};
use manifest::Case;
use search::geometric_mean;

/// Share of the cases' gain, in logarithms, that probes have to confirm; with less of it the cases flatter.
const CONFIRMED: f64 = 2.0 / 3.0;
/// Probes that join the cases where these flatter.
const REPRESENTATIVES: usize = 3;
/// What a winner gains on probes at least for its cases to be let flatter: a gain of some sizes that is little elsewhere is none that a
/// maintainer would merge.
const WORTH_SOME_SIZES: f64 = 1.03;
/// Speed-ups that differ by less than this are the same for choosing among probes.
const SAME_GAIN: f64 = 0.005;
/// What is slower by more than this is slower: the model's last digits mean nothing.
const SLOWER: f64 = 0.9995;

/// Speed-up that may be claimed: the lesser of both, where there are probes.
pub(super) fn claimed(on_cases: f64, on_probes: Option<f64>) -> f64 {
    on_probes.map_or(on_cases, |on_probes| on_probes.min(on_cases))
}

/// Whether the cases show a gain of which probes confirm too little.
pub(super) fn flatter(on_cases: f64, verdicts: &[(usize, ProbeVerdict)]) -> bool {
    let on_probes = mean(verdicts);
    on_cases >= WORTH_WRITING && on_probes.is_some_and(|on_probes| on_probes.ln() < on_cases.ln() * CONFIRMED)
}

/// Geometric mean of the speed-ups on probes; `None` without any.
pub(super) fn mean(verdicts: &[(usize, ProbeVerdict)]) -> Option<f64> {
    let speedups: Vec<f64> = verdicts.iter().filter_map(|(_, verdict)| verdict.speedup()).collect();
    (!speedups.is_empty()).then(|| geometric_mean(speedups.into_iter(), &[]))
}

/// Where the cases flatter the best candidate: the probes that gain least, as cases that together weigh as much as those of the
/// manifest. Empty where they do not. Of `joined` the search knows already.
pub(super) async fn representatives(
    field: &Field,
    probes: &ProbeSet,
    progress: &Progress,
    joined: &[String],
) -> Result<Vec<Case>, TunerError> {
    let workspace = &field.workspace;
    let plan = progress.best.plain_plan(workspace.tunables());
    let verdicts = probes.of_the_sample(probes.check(&plan, workspace.options.jobs, false).await?);
    if !flatter(progress.baseline_us / progress.best_us, &verdicts) {
        return Ok(Vec::new());
    }
    let mut candidates: Vec<(i64, u64, &Case)> = verdicts
        .iter()
        .filter_map(|(place, verdict)| {
            let probe = &probes.probes[*place];
            let bytes = case_bytes(&probe.case);
            let usable = probe.with_data && bytes <= MUST_HAVE_DATA_BYTES && !joined.contains(&probe.case.name);
            usable.then(|| Some(((verdict.speedup()? / SAME_GAIN).round() as i64, bytes, &probe.case)))?
        })
        .collect();
    candidates.sort_by_key(|(gain, bytes, _)| (*gain, *bytes));
    let gains: Vec<i64> = candidates.iter().map(|(gain, ..)| *gain).collect();
    let chosen = spread(&gains);
    let weight = field.weights.iter().sum::<f64>() / chosen.len().max(1) as f64;
    let case = |place: usize| Case { weight, verify_only: false, ..candidates[place].2.clone() };
    Ok(chosen.into_iter().map(case).collect())
}

/// Places of the representatives among candidates in the order of their gain, then of their size: those that gain least, and among
/// more of the same gain than there is room for some of every size. The smallest alone are all launch, and nothing gains there.
fn spread(gains: &[i64]) -> Vec<usize> {
    let Some(last) = gains.get(REPRESENTATIVES - 1) else { return (0..gains.len()).collect() };
    let less = gains.iter().filter(|gain| *gain < last).count();
    let same = gains.iter().filter(|gain| *gain == last).count();
    let room = REPRESENTATIVES - less;
    // The middle of each of as many parts as there is room for.
    let chosen = (0..room).map(|part| less + (2 * part + 1) * same / (2 * room));
    (0..less).chain(chosen).collect()
}

/// Says that probes join the cases.
pub(super) fn cases_flatter(names: &[String]) -> Event {
    Event::Warning(events::Warning {
        code: "cases-flatter".to_owned(),
        message: format!(
            "the cases flatter: on probes the gain is less than two thirds of theirs; {} are timed with them from now on",
            names.join(", ")
        ),
        help: None,
    })
}

/// Why a winner is none, where it gains nothing on the probes and is slower on one of them, or little where the cases flatter. `noise`
/// is the standard deviation of a time as a share of it.
pub(super) fn only_the_cases_gain(on_cases: f64, verdicts: &[(usize, ProbeVerdict)], noise: f64) -> Option<String> {
    let mean = mean(verdicts)?;
    let worst = verdicts.iter().filter_map(|(_, verdict)| verdict.speedup()).fold(f64::INFINITY, f64::min);
    // One run in a thousand lies further from the mean than three deviations.
    if mean < WORTH_A_STEP && worst < SLOWER - 3.0 * noise {
        return Some(format!("it gains on the cases only: {mean:.3}x on probes, {worst:.3}x on the worst of them"));
    }
    (mean < WORTH_SOME_SIZES && flatter(on_cases, verdicts)).then(|| {
        format!("it gains at the sizes of the cases: {on_cases:.3}x there, and no more than {mean:.3}x on probes")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(speedups: &[f64]) -> Vec<(usize, ProbeVerdict)> {
        speedups.iter().enumerate().map(|(place, &speedup)| (place, ProbeVerdict::Held { speedup })).collect()
    }

    #[test]
    fn no_more_is_claimed_than_probes_confirm() {
        assert_eq!(claimed(1.08, Some(1.02)), 1.02);
        assert_eq!(claimed(1.02, Some(1.08)), 1.02, "the cases are what was asked for");
        assert_eq!(claimed(1.08, None), 1.08);
    }

    #[test]
    fn cases_flatter_below_two_thirds_of_their_gain() {
        assert!(flatter(1.08, &held(&[1.1, 1.0, 1.0])));
        assert!(!flatter(1.08, &held(&[1.1, 1.05, 1.03])));
        assert!(!flatter(1.21, &held(&[1.14])), "in logarithms");
        assert!(!flatter(1.005, &held(&[1.0])), "nothing that would be written");
        assert!(!flatter(1.08, &held(&[])), "nothing is known of others");
    }

    #[test]
    fn representatives_of_the_same_gain_are_of_every_size() {
        assert_eq!(spread(&[0, 0, 0, 0, 0, 0, 0, 0, 0]), [1, 4, 7]);
        assert_eq!(spread(&[-3, 0, 0, 0, 0, 0, 0]), [0, 2, 5], "who loses is there in any case");
        assert_eq!(spread(&[-3, -2, -1, 0, 0]), [0, 1, 2]);
        assert_eq!(spread(&[0, 0, 0, 5]), [0, 1, 2]);
        assert_eq!(spread(&[1, 2]), [0, 1]);
        assert_eq!(spread(&[]), [0; 0]);
    }

    #[test]
    fn what_gains_nothing_on_probes_must_be_slower_on_none() {
        let why = only_the_cases_gain(1.002, &held(&[1.002, 1.0, 0.995]), 0.0).expect("a reason");
        assert_eq!(why, "it gains on the cases only: 0.999x on probes, 0.995x on the worst of them");
        assert_eq!(only_the_cases_gain(1.002, &held(&[1.0, 1.0, 0.9999]), 0.0), None, "slower nowhere");
        assert_eq!(only_the_cases_gain(1.002, &held(&[1.05, 1.02, 0.995]), 0.0), None, "worth something");
        assert_eq!(only_the_cases_gain(1.002, &held(&[1.0, 0.995]), 0.05), None, "within the noise");
        assert_eq!(only_the_cases_gain(1.002, &held(&[]), 0.0), None, "nothing is known");
    }

    #[test]
    fn what_gains_little_elsewhere_must_not_gain_more_on_the_cases() {
        let why = only_the_cases_gain(1.05, &held(&[1.02, 1.0, 1.02]), 0.0).expect("a reason");
        assert_eq!(why, "it gains at the sizes of the cases: 1.050x there, and no more than 1.013x on probes");
        assert_eq!(only_the_cases_gain(1.05, &held(&[1.04, 1.03]), 0.0), None, "most of it is everywhere");
        assert_eq!(only_the_cases_gain(1.5, &held(&[1.2, 1.1]), 0.0), None, "worth having");
        assert_eq!(only_the_cases_gain(1.008, &held(&[1.0, 1.0]), 0.0), None, "nothing that would be written");
    }
}
