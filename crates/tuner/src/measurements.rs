//! What devices measured of candidates, with the candidates themselves: rows that the model's constants can be fitted to later.
//!
//! Kept over runs for as long as the same chip is measured in the same way. Nothing depends on it but `calibrate --from-journal`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::caches::Caches;
use super::devices::Attached;
use super::journal::{Entry, Journal};
use super::plan::Plan;
use aicore::Machine;
use backend::{DeviceTime, LaunchProfile};
use manifest::{Case, Layout};
use source::SourceTree;

/// The file, below the folder of a project that this tool works in.
const FILE: &str = "measured.jsonl";

/// What was measured on, and how: times of one device only mean something beside others that were taken the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredOn {
    /// Full name of the chip.
    pub soc: String,
    /// The toolkit's version.
    pub toolkit: String,
    /// How kernels were launched and timed.
    pub route: String,
    /// Name of the machine description that candidates were tried on first.
    pub machine: String,
    /// What launches found in caches.
    pub caches: Caches,
    /// When the first was taken, in seconds since 1970.
    pub since_s: u64,
}

/// The time of a candidate on a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The candidate.
    pub candidate: String,
    /// Digest of its sources.
    sources: String,
    /// Values of tunables that were injected.
    knobs: BTreeMap<String, i64>,
    /// CMake entries on top of the manifest's.
    cmake: BTreeMap<String, String>,
    /// Name of the case.
    pub case: String,
    /// Digest of all that the case says.
    case_digest: String,
    /// Median in microseconds.
    pub task_us: f64,
    /// Standard deviation of one launch as a share of it.
    pub spread: f64,
    /// Launches.
    pub count: u32,
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    On(MeasuredOn),
    Sources { digest: String, files: BTreeMap<String, String> },
    Time(Measurement),
}

impl Entry for Line {
    fn key(&self) -> String {
        match self {
            Line::On(_) => "on".to_owned(),
            Line::Sources { digest, .. } => sources_key(digest),
            Line::Time(time) => format!("{} {} {}", time.candidate, time.case, time.case_digest),
        }
    }
}

fn sources_key(digest: &str) -> String {
    format!("sources {digest}")
}

/// Where measurements of a project are kept.
#[derive(Debug)]
pub struct Measurements {
    path: PathBuf,
    on: MeasuredOn,
    /// Opened with the first measurement: a command that measures nothing touches no file.
    open: Mutex<Option<(Journal<Line>, BTreeSet<String>)>>,
}

impl Measurements {
    /// Measurements on a device of a project with this layout, kept below `work_directory`.
    pub(super) fn below(work_directory: &Path, attached: &Attached, machine: &Machine, layout: Layout) -> Self {
        let on = MeasuredOn {
            soc: attached.soc.clone(),
            toolkit: attached.toolkit.clone(),
            route: attached.fleet.route().words(),
            machine: machine.name.clone(),
            caches: Caches::of(layout, &attached.measure),
            since_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        };
        Self { path: work_directory.join(FILE), on, open: Mutex::default() }
    }

    /// Keeps the time of a candidate on a case. A trial of several launches is none: only their sum is known of it.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub(super) fn note(&self, plan: &Plan, case: &Case, launches: &[LaunchProfile]) -> std::io::Result<()> {
        match launches {
            [LaunchProfile { device: Some(time), .. }] => self.keep(plan, case, time),
            _ => Ok(()),
        }
    }

    fn keep(&self, plan: &Plan, case: &Case, device: &DeviceTime) -> std::io::Result<()> {
        let sources = plan.sources.digest();
        let time = Line::Time(Measurement {
            candidate: plan.digest.clone(),
            sources: sources.clone(),
            knobs: plan.knobs.clone(),
            cmake: plan.cmake.clone(),
            case: case.name.clone(),
            case_digest: digest_of_case(case),
            task_us: device.task_us,
            spread: device.spread,
            count: device.count,
        });
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.is_none() {
            *open = Some(self.opened()?);
        }
        let Some((journal, known)) = open.as_mut() else { return Ok(()) };
        if known.insert(sources_key(&sources)) {
            let files = plan.sources.iter().map(|(file, text)| (file.to_owned(), text.to_owned())).collect();
            journal.append(&Line::Sources { digest: sources, files })?;
        }
        if known.insert(time.key()) {
            journal.append(&time)?;
        }
        Ok(())
    }

    fn opened(&self) -> std::io::Result<(Journal<Line>, BTreeSet<String>)> {
        let same = MeasuredOn { since_s: 0, ..self.on.clone() };
        let (journal, _) = Journal::open(&self.path, &digest_of(&same)?, true)?;
        let mut known: BTreeSet<String> = journal.entries().map(Line::key).collect();
        let on = Line::On(self.on.clone());
        if known.insert(on.key()) {
            journal.append(&on)?;
        }
        Ok((journal, known))
    }
}

/// Measurements of a project as they were kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// What on.
    pub on: MeasuredOn,
    /// Times of cases as they still are.
    pub times: Vec<Measurement>,
    /// Names of cases that say something else now than when they were measured.
    pub stale: BTreeSet<String>,
    /// Digest of all of it.
    pub digest: String,
    sources: BTreeMap<String, SourceTree>,
}

impl Kept {
    /// Reads what is kept below `work_directory`; `None` where nothing was ever measured.
    ///
    /// # Errors
    /// Where the file is there and cannot be read.
    pub fn below(work_directory: &Path, cases: &[Case]) -> std::io::Result<Option<Self>> {
        let text = match fs_err::read_to_string(work_directory.join(FILE)) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let (mut on, mut times, mut stale, mut sources) = (None, Vec::new(), BTreeSet::new(), BTreeMap::new());
        // The first line says whom the others belong to; a last one may have been cut.
        for line in text.lines().skip(1).map_while(|line| serde_json::from_str(line).ok()) {
            match line {
                Line::On(said) => on = Some(said),
                Line::Sources { digest, files } => {
                    sources.insert(digest, files.into_iter().collect());
                }
                Line::Time(time) => {
                    // Probes were measured as well; they are no cases.
                    match cases.iter().find(|case| case.name == time.case).map(digest_of_case) {
                        Some(digest) if digest == time.case_digest => times.push(time),
                        Some(_) => drop(stale.insert(time.case)),
                        None => {}
                    }
                }
            }
        }
        let digest = blake3::hash(text.as_bytes()).to_hex()[..16].to_owned();
        Ok(on.map(|on| Self { on, times, stale, digest, sources }))
    }

    /// The candidate of a measurement; `None` where its sources are missing.
    pub fn plan(&self, time: &Measurement) -> Option<Plan> {
        Some(Plan {
            digest: time.candidate.clone(),
            sources: self.sources.get(&time.sources)?.clone(),
            knobs: time.knobs.clone(),
            cmake: time.cmake.clone(),
            written: None,
        })
    }
}

fn digest_of(value: &impl Serialize) -> std::io::Result<String> {
    Ok(blake3::hash(&serde_json::to_vec(value)?).to_hex()[..32].to_owned())
}

fn digest_of_case(case: &Case) -> String {
    // What it is called and what it counts for do not change what it does.
    let said =
        Case { name: String::new(), weight: 1.0, stands_for: None, hostile: false, verify_only: false, ..case.clone() };
    blake3::hash(format!("{said:?}").as_bytes()).to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, arguments: &[&str]) -> Case {
        let text = "[operator]\nname = \"Op\"\nlayout = \"direct-launch\"\nkernel = \"k\"\ntiling = \"\"\nsources = [\"k.asc\"]\n\n[[case]]\nname = \"a\"\n";
        let manifest = manifest::Manifest::parse(text, Path::new("ascend.toml")).unwrap();
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Case { name: name.to_owned(), arguments, ..manifest.cases[0].clone() }
    }

    fn time(task_us: f64) -> DeviceTime {
        DeviceTime { task_us, spread: 0.01, count: 10, ..DeviceTime::default() }
    }

    fn plan(text: &str) -> Plan {
        Plan { digest: format!("of {text}"), sources: [("k.asc", text)].into_iter().collect(), ..Plan::default() }
    }

    #[test]
    fn times_are_kept_with_what_they_are_of() {
        let folder = tempfile::tempdir().unwrap();
        let on = MeasuredOn {
            soc: "Ascend910B2".to_owned(),
            toolkit: "9.0.0".to_owned(),
            route: "a test".to_owned(),
            machine: "Ascend910B2".to_owned(),
            caches: Caches::Repeated,
            since_s: 7,
        };
        let open = || Measurements { path: folder.path().join(FILE), on: on.clone(), open: Mutex::default() };
        let cases = [case("a", &["1"]), case("b", &["2"])];
        assert_eq!(Kept::below(folder.path(), &cases).unwrap(), None);
        open().keep(&plan("one"), &cases[0], &time(1.0)).unwrap();
        // Another command goes on with the same file; what is known is not kept twice.
        let second = open();
        second.keep(&plan("one"), &cases[0], &time(1.1)).unwrap();
        second.keep(&plan("two"), &cases[1], &time(2.0)).unwrap();
        let kept = Kept::below(folder.path(), &cases).unwrap().unwrap();
        let times: Vec<(&str, f64)> = kept.times.iter().map(|time| (time.case.as_str(), time.task_us)).collect();
        assert_eq!((times, &kept.on), (vec![("a", 1.0), ("b", 2.0)], &on));
        assert_eq!(kept.plan(&kept.times[1]).unwrap(), plan("two"));

        // A case that says something else now, one that is gone, and a line that was cut.
        let now = [case("a", &["other"])];
        let path = folder.path().join(FILE);
        fs_err::write(&path, fs_err::read_to_string(&path).unwrap() + "{\"time\":{\"candi").unwrap();
        let kept = Kept::below(folder.path(), &now).unwrap().unwrap();
        assert!(kept.times.is_empty() && kept.stale.iter().eq(["a"]), "{kept:?}");

        // Another chip has a file of its own, and the one before is put aside.
        let other = MeasuredOn { soc: "Ascend910B4".to_owned(), ..on.clone() };
        let other = Measurements { path: path.clone(), on: other, open: Mutex::default() };
        other.keep(&plan("one"), &cases[0], &time(5.0)).unwrap();
        let kept = Kept::below(folder.path(), &cases).unwrap().unwrap();
        assert_eq!((kept.times.len(), kept.on.soc.as_str()), (1, "Ascend910B4"));
        assert!(path.with_extension("jsonl.old").exists());
    }
}
