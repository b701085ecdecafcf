//! Which entry of a lock a command is about, and what becomes of those that it is not about.

use std::path::Path;

use super::args::{BackendChoice, Target};
use aicore::Origin;
use events::{Event, Warning};
use lock::{EntryKey, EntryName, Lock, LockError};
use source::SourceTree;
use space::{Configuration, Tunable};
use tuner::{Candidate, TunerError, Workspace};

/// Where the times come from that a command line asks for; nothing where it leaves that open.
fn origin_of(target: &Target) -> Option<Origin> {
    match target.backend {
        BackendChoice::Auto => None,
        BackendChoice::Sim | BackendChoice::Recorded => Some(Origin::Modelled),
        BackendChoice::Cann => Some(Origin::Measured),
    }
}

/// The entry that a command line is about: the one that `--soc` names, that of the machine description which `--machine` names, or the
/// one whose values the sources hold. `path` is for messages.
pub fn entry_for(whole: &Lock, target: &Target, path: &Path) -> Result<Lock, LockError> {
    entry_named(whole, target.soc.as_ref(), target.machine.as_deref(), origin_of(target), path)
}

/// The same by its name, by a machine description and by where its times come from, as far as these are given.
pub fn entry_named(
    whole: &Lock,
    soc: Option<&EntryName>,
    machine: Option<&str>,
    asked: Option<Origin>,
    path: &Path,
) -> Result<Lock, LockError> {
    if let Some(name) = soc {
        let name = EntryName { origin: name.origin.or(asked), ..name.clone() };
        return whole.named(Some(&name), path);
    }
    let entries = whole.entries();
    let of_origin = |entry: &&Lock| asked.is_none_or(|origin| origin == entry.origin);
    let of_machine = |entry: &&Lock| machine.is_none_or(|name| name.eq_ignore_ascii_case(&entry.machine.name));
    let found = entries.iter().find(|entry| of_origin(entry) && of_machine(entry));
    Ok(found.or(entries.first()).cloned().unwrap_or_else(|| whole.clone()))
}

/// Entries that a check is about, and those that it leaves out because nothing here can say anything of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Names as `--soc` takes them; nothing for the one whose values the sources hold.
    pub names: Vec<Option<EntryName>>,
    /// What is left out.
    pub left_out: Vec<EntryKey>,
}

/// All modelled entries, and of measured ones those that were asked for: by name, by `--backend`, or because the sources hold them. A
/// lock that cannot be read is for the check itself to speak of.
pub fn to_be_checked(whole: Option<&Lock>, target: &Target) -> Asked {
    let is_one = target.soc.is_some() || target.machine.is_some() || !target.assignments.is_empty();
    let Some(whole) = whole.filter(|whole| !is_one && !whole.others.is_empty()) else {
        return Asked { names: vec![target.soc.clone()], left_out: Vec::new() };
    };
    let asked = origin_of(target);
    let mut found = Asked::default();
    for (place, entry) in whole.entries().iter().enumerate() {
        let key = entry.key();
        let wanted = match asked {
            Some(origin) => origin == key.origin,
            None => place == 0 || key.origin == Origin::Modelled,
        };
        match (wanted, place) {
            (false, _) => found.left_out.push(key),
            (true, 0) => found.names.push(None),
            (true, _) => found.names.push(Some(EntryName { soc: key.soc, origin: Some(key.origin) })),
        }
    }
    if found.names.is_empty() {
        // The check says why there is nothing to compare.
        found.names.push(None);
    }
    found
}

/// That some entries were not looked at.
pub fn not_checked(left_out: &[EntryKey]) -> Option<Event> {
    let names = left_out.iter().map(ToString::to_string).collect::<Vec<_>>();
    (!names.is_empty()).then(|| {
        Event::Warning(Warning {
            code: "not-checked".to_owned(),
            message: format!("nothing is said of what ascend.lock holds for {}", names.join(", ")),
            help: Some(
                "measured entries are checked where such a device is: `--backend cann`, or `--soc` with their name"
                    .to_owned(),
            ),
        })
    })
}

/// What this workspace would lock.
pub fn key_of(workspace: &Workspace) -> EntryKey {
    let soc = workspace.attached.as_ref().map_or(&workspace.machine.name, |attached| &attached.soc);
    EntryKey { soc: soc.to_ascii_lowercase(), origin: workspace.origin() }
}

/// The entry whose values the sources hold, where that of this workspace goes beside it: the sources are of another chip, and
/// `ascend.toml` does not say that they shall be of this one.
pub fn beside_what(workspace: &Workspace, present: Option<&Lock>) -> Option<EntryKey> {
    let (manifest, key) = (&workspace.manifest, key_of(workspace));
    let own = present?.key();
    let of_manifest = match (&workspace.attached, &manifest.devices.soc) {
        (Some(_), Some(soc)) => soc.eq_ignore_ascii_case(&key.soc),
        (Some(_), None) => manifest.machine.eq_ignore_ascii_case(&key.soc),
        (None, _) => {
            workspace.options.machine.as_ref().is_none_or(|name| *name == manifest.machine)
                || manifest.machine.eq_ignore_ascii_case(&key.soc)
        }
    };
    (own.soc != key.soc && !of_manifest).then_some(own)
}

/// Sources with the values of an entry in them. Where a place for them is gone, the sources as they are: these are not what was locked
/// either.
pub fn as_built(sources: &SourceTree, tunables: &[Tunable], values: &Configuration) -> Candidate {
    let baseline = Candidate::baseline(sources.clone(), tunables);
    baseline.with_configuration(tunables, values).unwrap_or(baseline)
}

/// What an entry is about: the sources as they are or, where they hold the values of another, with its own. What the command line fixes
/// stays.
pub fn candidate_of(workspace: &Workspace, whole: &Lock, entry: &Lock) -> Result<Candidate, TunerError> {
    let baseline = workspace.baseline()?;
    if entry.key() == whole.key() {
        return Ok(baseline);
    }
    let mut values = entry.configuration.clone();
    for (name, value) in workspace.options.fixed.iter() {
        values.set(name, value.clone());
    }
    Ok(baseline.with_configuration(workspace.tunables(), &values)?)
}

/// The lock with an entry whose values these sources hold, and the other entries over these sources. Second those that no longer fit:
/// what was locked for them cannot be built from here.
pub fn with_own(
    present: Option<&Lock>,
    entry: Lock,
    sources: &SourceTree,
    tunables: &[Tunable],
) -> (Lock, Vec<EntryKey>) {
    let Some(present) = present else { return (as_written(entry.with_own(entry.clone())), Vec::new()) };
    let (key, mut whole, mut drifted) = (entry.key(), present.with_own(entry), Vec::new());
    for other in present.entries().into_iter().filter(|other| other.key() != key) {
        match other.carried(sources, &as_built(sources, tunables, &other.configuration).sources) {
            Some(carried) => whole = whole.with_beside(carried),
            None => drifted.push(other.key()),
        }
    }
    (as_written(whole), drifted)
}

/// The lock with an entry whose values it alone holds: what its files are with these values is said beside what they are.
pub fn with_beside(present: &Lock, entry: Lock, on_disk: &SourceTree, built: &SourceTree) -> Lock {
    let (sources, digests) = (lock::source_digests(on_disk), lock::source_digests(built));
    let applied = lock::applied(&sources, &digests);
    let mut files = entry.files.clone();
    files.extend(on_disk.iter().map(|(file, text)| (file.to_owned(), lock::bytes_digest(text.as_bytes()))));
    as_written(present.with_beside(Lock { sources, applied, files, ..entry }))
}

/// The lock as it will be read again.
fn as_written(whole: Lock) -> Lock {
    Lock { version: whole.written_version(), ..whole }
}

/// That entries of other chips do not fit what was written.
pub fn drifted_entries(drifted: &[EntryKey]) -> Vec<Event> {
    let warning = |key: &EntryKey| {
        Event::Warning(Warning {
            code: "entry-drifted".to_owned(),
            message: format!("the sources are no longer what ascend.lock holds for {key}: that entry is drifted"),
            help: Some(format!(
                "`cargo ascend-tune run --soc {key}` tunes them for it, `lock accept --soc {key}` takes them as they are"
            )),
        })
    };
    drifted.iter().map(warning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use lock::testing::{other, sample};

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        target: Target,
    }

    fn target(arguments: &[&str]) -> Target {
        Line::parse_from(std::iter::once(&"t").chain(arguments)).target
    }

    /// Modelled for two chips, measured on one of them; the sources are of the first.
    fn lock() -> Lock {
        let measured = Lock { origin: Origin::Measured, ..other() };
        sample().with_beside(other()).with_beside(measured)
    }

    #[test]
    fn a_command_line_names_an_entry() {
        let named = |arguments: &[&str]| match entry_for(&lock(), &target(arguments), Path::new("ascend.lock")) {
            Ok(entry) => entry.key().to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(named(&[]), "ascend910b2:modelled");
        assert_eq!(named(&["--soc", "Ascend910_93"]), "ascend910_93:modelled");
        assert_eq!(named(&["--soc", "ascend910_93:measured"]), "ascend910_93:measured");
        assert_eq!(named(&["--soc", "ascend910_93", "--backend", "cann"]), "ascend910_93:measured");
        assert_eq!(named(&["--machine", "ascend910_93"]), "ascend910_93:modelled");
        assert_eq!(
            named(&["--machine", "other.toml"]),
            "ascend910b2:modelled",
            "what differs is said by the comparison"
        );
        assert_eq!(named(&["--backend", "cann"]), "ascend910_93:measured");
        assert!(named(&["--soc", "ascend310p3"]).contains("there is no entry for ascend310p3"));
    }

    #[test]
    fn a_check_is_about_what_the_machine_at_hand_can_say_something_of() {
        let asked = |arguments: &[&str]| {
            let asked = to_be_checked(Some(&lock()), &target(arguments));
            let names = asked.names.iter().map(|name| name.as_ref().map_or("own".to_owned(), ToString::to_string));
            let left_out = asked.left_out.iter().map(|key| format!("not {key}"));
            names.chain(left_out).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(asked(&[]), "own ascend910_93:modelled not ascend910_93:measured");
        assert_eq!(
            asked(&["--backend", "cann"]),
            "ascend910_93:measured not ascend910b2:modelled not ascend910_93:modelled"
        );
        assert_eq!(asked(&["--soc", "ascend910_93"]), "ascend910_93");
        assert_eq!(asked(&["--machine", "ascend910b2"]), "own");
        assert_eq!(to_be_checked(None, &target(&[])).names, [None]);
        assert_eq!(to_be_checked(Some(&sample()), &target(&[])).names, [None]);
        assert!(not_checked(&[]).is_none() && not_checked(&[sample().key()]).is_some());
    }
}
