//! `lock show`.

use super::path_of;
use crate::cli::Exit;
use crate::cli::args::Common;
use crate::cli::output::Output;
use events::{Event, LockShown, LockedProbes, LockedSetting, LockedStep, LockedTime};
use lock::{EntryName, Lock};
use tuner::TunerError;

/// Executes the command.
pub(super) fn execute(common: &Common, soc: Option<&EntryName>, output: &mut Output) -> Result<Exit, TunerError> {
    let path = path_of(common)?;
    let whole = lock::read(&path)?;
    let entry = whole.named(soc, &path)?;
    let shown = LockShown { others: others(&whole, &entry), ..shown(path.display().to_string(), &entry) };
    output.emit(&Event::LockShown(Box::new(shown)));
    Ok(Exit::Fine)
}

/// The entries beside the one that is shown, as `--soc` names them, with what they claim.
fn others(whole: &Lock, entry: &Lock) -> Vec<String> {
    let others = whole.entries().into_iter().filter(|other| other.key() != entry.key());
    let claim = |permille: u64| format!(", claimed {:.3}x", permille as f64 / 1000.0);
    let own = |other: &Lock| if other.key() == whole.key() { ", whose values the sources hold" } else { "" };
    others
        .map(|other| {
            format!("{}{}{}", other.key(), own(&other), other.speedup_permille.map_or_else(String::new, claim))
        })
        .collect()
}

/// What a lock says.
fn shown(path: String, locked: &Lock) -> LockShown {
    let share = |permille: u64| permille as f64 / 1000.0;
    let entry_of = |name: &str| {
        let entry = locked.cmake.iter().find(|(_, tunable)| tunable.as_str() == name);
        entry.map(|(entry, _)| entry.clone())
    };
    LockShown {
        lock: path,
        version: locked.version,
        tool: locked.tool.clone(),
        operator: locked.operator.clone(),
        origin: locked.origin,
        machine: format!("{} version {}", locked.machine.name, locked.machine.version),
        device: locked.device.as_ref().map(|device| format!("{} with toolkit {}", device.soc, device.toolkit)),
        seed: locked.seed,
        claimed: locked.speedup_permille.map(share),
        settings: locked
            .configuration
            .iter()
            .map(|(name, value)| LockedSetting {
                name: name.to_owned(),
                value: value.clone(),
                default: locked.defaults.get(name).cloned(),
                cmake: entry_of(name),
            })
            .collect(),
        steps: locked
            .motifs
            .iter()
            .map(|motif| LockedStep {
                motif: motif.id.clone(),
                title: motif.title.clone(),
                gain: motif.gain_permille.map(share),
            })
            .collect(),
        cases: locked
            .cases
            .iter()
            .map(|case| LockedTime {
                name: case.name.clone(),
                baseline_us: case.baseline.us(),
                tuned_us: case.tuned.us(),
                spread_permille: case.measured.map(|measured| measured.spread_permille),
                launches: case.measured.map(|measured| measured.launches),
                weight_permille: case.weight_permille,
                alone_us: case.alone.as_ref().map(|alone| alone.tuned.us()),
                alone_with: case.alone.as_ref().map(|alone| alone.configuration.clone()).unwrap_or_default(),
            })
            .collect(),
        probes: locked.generalisation.as_ref().map(|general| LockedProbes {
            speedup: share(general.speedup_permille),
            worst: share(general.worst_permille),
            worst_name: general.worst.clone(),
            names: general.probes.clone(),
        }),
        known: locked
            .known
            .iter()
            .map(|known| {
                let place = if known.file.is_empty() { String::new() } else { format!(" at {}", known.file) };
                let reason = known.reason.as_ref().map_or_else(String::new, |reason| format!("; meant: {reason}"));
                format!("{}{place}: {} (cases {}){reason}", known.kind.word(), known.statement, known.cases.join(", "))
            })
            .collect(),
        departures: locked
            .departures
            .iter()
            .map(|one| format!("{}, by {} (cases {})", one.output, one.definition, one.cases.join(", ")))
            .collect(),
        files: locked
            .sources
            .keys()
            .chain(locked.included.iter().flat_map(|included| included.keys()))
            .cloned()
            .collect(),
        accepted: locked
            .accepted
            .iter()
            .map(|accepted| format!("by version {}: {}", accepted.tool, accepted.changes.join("; ")))
            .collect(),
        others: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_of_a_lock_is_shown() {
        let mut locked = lock::testing::sample();
        locked.cmake.insert("TILE".to_owned(), "TILE_LENGTH".to_owned());
        let shown = shown("ascend.lock".to_owned(), &locked);
        let tile = shown.settings.iter().find(|setting| setting.name == "TILE_LENGTH").unwrap();
        assert_eq!((tile.default.clone(), tile.cmake.as_deref()), (Some(256.into()), Some("TILE")));
        assert_eq!((shown.claimed, shown.steps[0].gain, shown.cases.len()), (Some(1.31), Some(1.2), 2));
        assert_eq!(shown.files, ["op_host/gelu.cpp", "op_kernel/gelu.cpp"]);
        assert_eq!(shown.probes.unwrap().worst, 0.995);
    }
}
