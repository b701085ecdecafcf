//! Which view a result is shown by.

use super::{ablation, checks, experience, fidelity, locks, operators, replay, runs, views};
use events::Event;

/// What a command was asked for, as text; `None` of what is said on the way to it.
pub(super) fn text(event: &Event, color: bool, verbose: bool) -> Option<String> {
    Some(match event {
        Event::Profile(profile) => views::profile(profile, color),
        Event::Check(check) => checks::check(check, color),
        Event::Checks(summary) => checks::checks(summary, color),
        Event::Inits(done) => operators::inits(done, color),
        Event::OperatorsDone(done) => operators::done(done, color),
        Event::RunComparison(comparison) => runs::comparison(comparison, color),
        Event::Comparison(comparison) => views::comparison(comparison, color),
        Event::Lock(update) => locks::update(update, color),
        Event::LockShown(shown) => locks::shown(shown, color),
        Event::LockDiff(diff) => locks::diff(diff, color),
        Event::LockVerified(verified) => locks::verified(verified, color),
        Event::LockMigrated(migrated) => locks::migrated(migrated, color),
        Event::Restored(restored) => locks::restored(restored, color),
        Event::Doctor(doctor) => views::doctor(doctor, color),
        Event::Rewind(rewind) => experience::rewind(rewind),
        Event::KernelTest(test) => views::kernel_test(test, color),
        Event::KernelTestSummary(summary) => views::kernel_test_summary(summary),
        Event::Calibration(calibration) => fidelity::calibration(calibration),
        Event::Fidelity(report) => fidelity::fidelity(report, verbose),
        Event::ReplayedSpace(space) => replay::space(space),
        Event::ReplaySettings(report) => replay::settings(report),
        Event::Replay(report) => replay::report(report),
        Event::AblationTrial(trial) => ablation::trial(trial),
        Event::Ablation(report) => ablation::report(report),
        Event::Doors(doors) => views::doors(doors),
        Event::Bank(bank) => experience::bank(bank),
        Event::Survey(survey) => views::survey(survey, verbose),
        Event::Summary(summary) => views::summary(summary, color),
        Event::Start(_)
        | Event::Sdk(_)
        | Event::Baseline(_)
        | Event::Repair(_)
        | Event::Evaluation(_)
        | Event::Improvement(_)
        | Event::StageSwitch(_)
        | Event::TakenBack(_)
        | Event::Warning(_)
        | Event::Error(_)
        | Event::Build(_)
        | Event::Init(_)
        | Event::Written(_)
        | Event::Surveyed(_)
        | Event::Progress(_)
        | Event::Devices(_)
        | Event::ModelError(_) => return None,
    })
}
