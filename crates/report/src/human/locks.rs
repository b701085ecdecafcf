//! Results of `lock` and what belongs to it, of `undo` and `apply`.

use std::fmt::Write as _;

use events::{
    LockDiff, LockMigrated, LockShown, LockTopic, LockUpdate, LockVerified, LockedStep, LockedTime, Restored,
};
use space::Value;

use super::super::units::{counted, factor, microseconds};
use super::table::{Align, table};
use super::{BAD, GOOD, HINT, STRONG, paint};

pub(super) fn update(update: &LockUpdate, color: bool) -> String {
    let mut text: String = update.changes.iter().map(|change| format!("  {change}\n")).collect();
    let _ = match (update.changes.is_empty(), update.written) {
        (true, false) => writeln!(text, "{} says what is there", update.lock),
        (_, true) => writeln!(text, "{} {} as it is now", paint(color, GOOD, "locked"), update.lock),
        (false, false) => {
            writeln!(text, "{} is not changed; `cargo ascend-tune lock accept` locks what is there now", update.lock)
        }
    };
    text
}

pub(super) fn shown(shown: &LockShown, color: bool) -> String {
    let mut text = format!(
        "{}  {}, {}\n  {}, format {}, written by version {}, seed {}\n",
        shown.lock,
        paint(color, STRONG, &shown.operator),
        shown.origin.word(),
        shown.device.as_deref().unwrap_or(&shown.machine),
        shown.version,
        shown.tool,
        shown.seed,
    );
    if !shown.settings.is_empty() {
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let row = |setting: &events::LockedSetting| {
            let default = setting.default.as_ref().map(Value::to_string);
            vec![setting.name.clone(), setting.value.to_string(), or_none(default), or_none(setting.cmake.clone())]
        };
        let rows: Vec<Vec<String>> = shown.settings.iter().map(row).collect();
        let columns = [("tunable", Align::Left), ("locked", Align::Right), ("before", Align::Right)];
        let columns = [&columns[..], &[("CMake entry", Align::Left)]].concat();
        let _ = write!(text, "\n{}", table(&columns, &rows));
    }
    if !shown.steps.is_empty() {
        let _ = write!(text, "\n{}", table(&STEP_COLUMNS, &shown.steps.iter().map(step).collect::<Vec<_>>()));
    }
    if !shown.cases.is_empty() {
        let rows: Vec<Vec<String>> = shown.cases.iter().map(time).collect();
        let columns = ["baseline", "locked", "faster", "spread"].map(|title| (title, Align::Right));
        let columns = [&[("case", Align::Left)][..], &columns].concat();
        let _ = write!(text, "\n{}", table(&columns, &rows));
    }
    text.push('\n');
    for case in &shown.cases {
        if let Some(weight) = case.weight_permille {
            let _ = writeln!(text, "  {} weighs {:.3}", case.name, weight as f64 / 1000.0);
        }
        if let Some(us) = case.alone_us {
            let with: Vec<String> = case.alone_with.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            let with = if with.is_empty() { "other rewrites".to_owned() } else { with.join(", ") };
            let _ = writeln!(text, "  {} alone: {} with {with}", case.name, microseconds(us));
        }
    }
    if let Some(claimed) = shown.claimed {
        let _ = writeln!(text, "  claimed: {}", factor(claimed));
    }
    if let Some(probes) = &shown.probes {
        let _ = writeln!(
            text,
            "  on {} that the search never saw: {}, worst {} ({})",
            counted(probes.names.len() as u64, "probe"),
            factor(probes.speedup),
            factor(probes.worst),
            probes.worst_name
        );
    }
    for known in &shown.known {
        let _ = writeln!(text, "  known: {known}");
    }
    for departure in &shown.departures {
        let _ = writeln!(text, "  not as defined: {departure}");
    }
    for accepted in &shown.accepted {
        let _ = writeln!(text, "  accepted: {accepted}");
    }
    let _ = writeln!(text, "  files: {}", shown.files.join(", "));
    for other in &shown.others {
        let _ = writeln!(text, "  beside it: {other}");
    }
    text
}

const STEP_COLUMNS: [(&str, Align); 3] = [("motif", Align::Left), ("gain", Align::Right), ("what", Align::Left)];

fn step(step: &LockedStep) -> Vec<String> {
    vec![step.motif.clone(), step.gain.map_or_else(|| "-".to_owned(), factor), step.title.clone()]
}

fn time(case: &LockedTime) -> Vec<String> {
    let faster = if case.tuned_us > 0.0 { factor(case.baseline_us / case.tuned_us) } else { "-".to_owned() };
    let spread = match (case.spread_permille, case.launches) {
        (Some(spread), Some(launches)) => format!("{:.1} % of {launches}", spread as f64 / 10.0),
        _ => "-".to_owned(),
    };
    vec![case.name.clone(), microseconds(case.baseline_us), microseconds(case.tuned_us), faster, spread]
}

pub(super) fn diff(diff: &LockDiff, color: bool) -> String {
    if diff.differences.is_empty() {
        return format!("{} and {} say the same\n", diff.before, diff.after);
    }
    let mut text = format!("{} -> {}\n", diff.before, diff.after);
    let rows: Vec<Vec<String>> = diff
        .differences
        .iter()
        .map(|one| {
            let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
            let change = one.ratio.map_or_else(String::new, |ratio| format!("{:+.1} %", 100.0 * (ratio - 1.0)));
            vec![one.topic.word().to_owned(), one.name.clone(), or_none(&one.before), or_none(&one.after), change]
        })
        .collect();
    let columns = [
        ("about", Align::Left),
        ("what", Align::Left),
        ("before", Align::Left),
        ("after", Align::Left),
        ("", Align::Right),
    ];
    text.push_str(&table(&columns, &rows));
    let times = || diff.differences.iter().filter(|one| one.topic == LockTopic::Latency).filter_map(|one| one.ratio);
    let (slower, faster) = (times().filter(|ratio| *ratio > 1.0).count(), times().filter(|ratio| *ratio < 1.0).count());
    if slower + faster > 0 {
        let style = if slower > 0 { BAD } else { GOOD };
        let _ = writeln!(text, "{} slower, {faster} faster", paint(color, style, &counted(slower as u64, "case")));
    }
    text
}

pub(super) fn verified(verified: &LockVerified, color: bool) -> String {
    let mut text = String::new();
    for finding in &verified.findings {
        let _ = writeln!(text, "  {}: {}", finding.file, finding.message);
    }
    let style = if verified.verdict.passes() { GOOD } else { BAD };
    let _ = writeln!(
        text,
        "{} {}: {}\n  {} {}",
        paint(color, style, verified.verdict.word()),
        verified.operator,
        verified.proves,
        paint(color, HINT, "not looked at:"),
        verified.leaves_open
    );
    text
}

pub(super) fn migrated(migrated: &LockMigrated, color: bool) -> String {
    let mut text: String = migrated.changes.iter().map(|change| format!("  {change}\n")).collect();
    let LockMigrated { lock, from, to, written, .. } = migrated;
    let _ = match (written, migrated.changes.is_empty()) {
        (true, _) => writeln!(text, "{} {lock}: format {from} -> {to}", paint(color, GOOD, "migrated")),
        (false, true) => writeln!(text, "{lock} is up to date: format {from}"),
        (false, false) => writeln!(text, "{lock} is not changed"),
    };
    text
}

pub(super) fn restored(restored: &Restored, color: bool) -> String {
    let mut text = String::new();
    let rows: Vec<Vec<String>> = restored
        .steps
        .iter()
        .map(|step| {
            let state = match (step.applied, step.alone) {
                (true, _) => "applied",
                (false, true) => "",
                (false, false) => "not without the others",
            };
            let gain = step.gain.map_or_else(|| "-".to_owned(), factor);
            vec![step.number.to_string(), gain, step.title.clone(), state.to_owned()]
        })
        .collect();
    if !rows.is_empty() {
        let columns = [("step", Align::Right), ("gain", Align::Right), ("what", Align::Left), ("", Align::Left)];
        text.push_str(&table(&columns, &rows));
    }
    for file in &restored.files {
        let verb = if restored.written { "wrote" } else { "would write" };
        let _ = writeln!(text, "  {} {file}", paint(color, GOOD, verb));
    }
    for file in &restored.removed {
        let verb = if restored.written { "removed" } else { "would remove" };
        let _ = writeln!(text, "  {} {file}", paint(color, GOOD, verb));
    }
    if restored.files.is_empty() && restored.removed.is_empty() {
        let _ = writeln!(text, "  {} is as it should be: nothing to write", restored.operator);
    }
    if let Some(next) = &restored.next {
        let _ = writeln!(text, "  {} {next}", paint(color, HINT, "next:"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use aicore::Origin;
    use events::{LockDifference, LockedSetting, RecordedStep};

    #[test]
    fn a_lock_is_a_page() {
        let page = LockShown {
            lock: "ascend.lock".to_owned(),
            version: 2,
            tool: "0.1.0".to_owned(),
            operator: "Gelu".to_owned(),
            origin: Origin::Measured,
            machine: "m version 1".to_owned(),
            device: Some("Chip with toolkit 8".to_owned()),
            seed: 1,
            claimed: Some(1.25),
            settings: vec![LockedSetting {
                name: "TILE".to_owned(),
                value: Value::Int(4096),
                default: Some(Value::Int(64)),
                cmake: None,
            }],
            steps: vec![LockedStep { motif: "D01".to_owned(), title: "two buffers".to_owned(), gain: None }],
            cases: vec![LockedTime {
                name: "small".to_owned(),
                baseline_us: 4.0,
                tuned_us: 2.0,
                spread_permille: Some(12),
                launches: Some(40),
                weight_permille: Some(2500),
                alone_us: Some(1.5),
                alone_with: [("TILE".to_owned(), Value::Int(512))].into_iter().collect(),
            }],
            probes: None,
            known: Vec::new(),
            departures: Vec::new(),
            files: vec!["k.cpp".to_owned(), "h.h".to_owned()],
            accepted: Vec::new(),
            others: vec!["ascend910_93:modelled, claimed 1.300x".to_owned()],
        };
        insta::assert_snapshot!(shown(&page, false), @"
        ascend.lock  Gelu, measured
          Chip with toolkit 8, format 2, written by version 0.1.0, seed 1

          tunable  locked  before  CMake entry
          TILE       4096      64  -

          motif  gain  what
          D01       -  two buffers

          case   baseline    locked  faster       spread
          small  4.000 us  2.000 us   2.00x  1.2 % of 40

          small weighs 2.500
          small alone: 1.500 us with TILE = 512
          claimed: 1.25x
          files: k.cpp, h.h
          beside it: ascend910_93:modelled, claimed 1.300x
        ");
    }

    #[test]
    fn differences_and_steps_are_tables() {
        let one = |topic, name: &str, before: Option<&str>, after: Option<&str>, ratio| LockDifference {
            topic,
            name: name.to_owned(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
            ratio,
        };
        let differences = vec![
            one(LockTopic::Setting, "TILE", Some("64"), Some("4096"), None),
            one(LockTopic::Latency, "small", Some("2.000 us"), Some("2.100 us"), Some(1.05)),
            one(LockTopic::Step, "D01", None, Some("two buffers"), None),
        ];
        let diff = LockDiff { before: "HEAD:./ascend.lock".to_owned(), after: "ascend.lock".to_owned(), differences };
        insta::assert_snapshot!(super::diff(&diff, false), @"
        HEAD:./ascend.lock -> ascend.lock
          about    what   before    after
          setting  TILE   64        4096
          latency  small  2.000 us  2.100 us     +5.0 %
          step     D01    -         two buffers
        1 case slower, 0 faster
        ");
        let step = |number, alone, applied| RecordedStep {
            number,
            motif: None,
            title: format!("step {number}"),
            gain: Some(1.5),
            alone,
            applied,
        };
        let restored = Restored {
            action: "apply".to_owned(),
            operator: "Gelu".to_owned(),
            files: vec!["k.cpp".to_owned()],
            removed: vec!["ascend.lock".to_owned()],
            written: false,
            steps: vec![step(1, true, true), step(2, true, false), step(3, false, false)],
            next: Some("accept it".to_owned()),
        };
        insta::assert_snapshot!(super::restored(&restored, false), @"
        step   gain  what
           1  1.50x  step 1  applied
           2  1.50x  step 2
           3  1.50x  step 3  not without the others
        would write k.cpp
        would remove ascend.lock
        next: accept it
        ");
    }
}
