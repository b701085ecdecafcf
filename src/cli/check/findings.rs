//! What a check found, as findings with places.

use backend::{LaunchProfile, longest};
use events::{CaseVerdict, CheckCase, CheckFinding, KnownHazard, Verdict};
use lock::LOCK_FILE;
use project::OperatorProject;
use tuner::TunerError;
use verify::Rejection;

/// Where the kernel begins: the place of what has no better one.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    file: String,
    line: u32,
}

impl Entry {
    /// The entry that the manifest names.
    pub(super) fn of(project: &OperatorProject, kernel: &str) -> Self {
        let entry = project.entry_called(kernel).or_else(|| project.kernel_entry());
        entry.map_or_else(Self::default, |entry| Self {
            file: entry.file.clone(),
            line: u32::try_from(entry.line).unwrap_or(0),
        })
    }
}

/// An output that is not the locked one.
pub(super) fn of_difference(difference: &str, entry: &Entry) -> CheckFinding {
    let case = difference.strip_prefix("case ").and_then(|rest| rest.split_once(':')).map(|(case, _)| case.to_owned());
    CheckFinding {
        verdict: Verdict::Different,
        case,
        file: entry.file.clone(),
        line: entry.line,
        message: difference.to_owned(),
    }
}

/// Times that are not compared, and why.
pub(super) fn not_compared(message: String) -> CheckFinding {
    CheckFinding { verdict: Verdict::CannotTell, case: None, file: LOCK_FILE.to_owned(), line: 0, message }
}

/// A hazard that the lock does not know.
pub(super) fn of_hazard(hazard: &KnownHazard) -> CheckFinding {
    CheckFinding {
        verdict: Verdict::Wrong,
        case: hazard.cases.first().cloned(),
        file: hazard.file.clone(),
        line: hazard.line,
        message: format!("a hazard that ascend.lock does not know: {hazard}"),
    }
}

/// A case that does not count.
pub(super) fn of_rejection(rejection: &Rejection) -> CheckFinding {
    CheckFinding {
        verdict: Verdict::Wrong,
        case: (!rejection.case.is_empty()).then(|| rejection.case.clone()),
        file: rejection.file.clone(),
        line: rejection.line,
        message: rejection.to_string(),
    }
}

/// What is to be said of a case by its times: with where they go now, where the launches are known.
pub(super) fn of_case(case: &CheckCase, launches: &[LaunchProfile], entry: &Entry) -> Option<CheckFinding> {
    let name = &case.name;
    let at = |verdict, file: &str, line, message| {
        Some(CheckFinding { verdict, case: Some(name.clone()), file: file.to_owned(), line, message })
    };
    let times = || {
        let (locked, now) = (case.locked_us?, case.now_us?);
        let change = 100.0 * (case.ratio? - 1.0);
        Some(format!("case {name}: {now:.3} us, where {locked:.3} us are locked ({change:+.1} %)"))
    };
    match case.verdict {
        CaseVerdict::Improved => at(Verdict::Faster, &entry.file, entry.line, times()?),
        CaseVerdict::Regressed => {
            let (reason, file, line) = reason(launches, entry);
            at(Verdict::Slower, &file, line, times()? + &reason)
        }
        CaseVerdict::Missing => {
            let where_it_is = if case.locked_us.is_some() { "ascend.lock" } else { "the project" };
            at(Verdict::CannotTell, "ascend.toml", 0, format!("case {name} is only in {where_it_is}"))
        }
        CaseVerdict::CannotTell => {
            let pairs = case.pairs.unwrap_or_default();
            let message = format!("{} in {pairs} pairs of runs, which vary too much to tell", times()?);
            at(Verdict::CannotTell, &entry.file, entry.line, message)
        }
        CaseVerdict::Ok | CaseVerdict::Wrong | CaseVerdict::NotRun => None,
    }
}

/// What takes the time of the longest launch: what it is limited by, and the pipe that waits longest, with the line.
fn reason(launches: &[LaunchProfile], entry: &Entry) -> (String, String, u32) {
    let Some(launch) = longest(launches) else { return (String::new(), entry.file.clone(), entry.line) };
    let limit = format!("; now limited by {}", report::limiter_words(launch.profile.limiter));
    let stalls = launch.profile.stalls.iter().zip(&launch.stall_places);
    match stalls.max_by(|(left, _), (right, _)| left.time_us.total_cmp(&right.time_us)) {
        Some((stall, place)) => {
            let waits = format!("{limit}, and pipe {} waits {:.3} us for {}", stall.pipe, stall.time_us, stall.reason);
            match place.file.is_empty() {
                true => (waits, entry.file.clone(), entry.line),
                false => (format!("{waits}, longest at {}:{}", place.file, place.line), place.file.clone(), place.line),
            }
        }
        None => (limit, entry.file.clone(), entry.line),
    }
}

/// Why nothing can be said.
pub(super) fn of_error(error: &TunerError) -> CheckFinding {
    let (file, line) = match error {
        TunerError::Baseline(rejection) => (rejection.file.clone(), rejection.line),
        TunerError::Lock(error) => (lock::LOCK_FILE.to_owned(), u32::try_from(error.line()).unwrap_or(0)),
        _ => (String::new(), 0),
    };
    let help = error.help().map(|help| format!("; {help}")).unwrap_or_default();
    CheckFinding { verdict: Verdict::CannotTell, case: None, file, line, message: format!("{error}{help}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(verdict: CaseVerdict, now_us: Option<f64>) -> CheckCase {
        CheckCase {
            name: "large".into(),
            locked_us: Some(20.0),
            now_us,
            ratio: now_us.map(|now| now / 20.0),
            pairs: None,
            verdict,
        }
    }

    #[test]
    fn what_has_no_place_of_its_own_is_at_the_entry() {
        let entry = Entry { file: "op_kernel/add.cpp".into(), line: 7 };
        let slower = of_case(&case(CaseVerdict::Regressed, Some(25.0)), &[], &entry).unwrap();
        assert_eq!((slower.file.as_str(), slower.line, slower.verdict), ("op_kernel/add.cpp", 7, Verdict::Slower));
        assert_eq!(slower.message, "case large: 25.000 us, where 20.000 us are locked (+25.0 %)");
        let missing = of_case(&case(CaseVerdict::Missing, None), &[], &entry).unwrap();
        assert_eq!(
            (missing.verdict, missing.message.as_str()),
            (Verdict::CannotTell, "case large is only in ascend.lock")
        );
        assert_eq!(of_case(&case(CaseVerdict::Ok, Some(20.0)), &[], &entry), None);
        assert_eq!(of_difference("case a b: output y is off", &entry).case.as_deref(), Some("a b"));
    }
}
