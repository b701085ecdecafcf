//! The result of the last run, kept beside its journal: texts before and after, and what each step makes alone. By it a run is undone, and
//! one that wrote nothing is applied, whole or by steps.
//!
//! The record says what the sources are in each state, and the sources say in which of these they are: nothing is written over a text
//! that the record does not know.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::TunerError;
use super::finish::write_state;
use super::result_error::ResultError;
use super::run::RunOutcome;
use super::steps::{Step, Steps};
use lock::{LOCK_FILE, Lock};
use source::{SourceTree, merged_trees};
use space::Configuration;

const FILE: &str = "result.json";
/// Version of the record. One of another version is as good as none.
const FORMAT: u32 = 1;

/// One step of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct RecordedStep {
    /// Catalogue id of a rewrite.
    motif: Option<String>,
    /// The tunable of a value.
    tunable: Option<String>,
    title: String,
    gain: Option<f64>,
    /// The files that the step alone changes; `None` where it does not stand alone.
    texts: Option<BTreeMap<String, String>>,
}

/// A state that `apply` left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Chosen {
    steps: Vec<usize>,
    texts: BTreeMap<String, String>,
    lock: String,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedResult {
    format: u32,
    operator: String,
    /// Texts of the files that the result changes, as they were.
    before: BTreeMap<String, String>,
    /// The same as the result has them.
    after: BTreeMap<String, String>,
    /// Values of the tunables as they were.
    values_before: Configuration,
    /// Text of the lock as it was, if there was one.
    lock_before: Option<String>,
    /// Text of the lock of the result.
    lock: String,
    steps: Vec<RecordedStep>,
    /// What `apply --only` wrote last.
    chosen: Option<Chosen>,
    /// Whether the result is held by the lock alone, since the sources hold the values of another chip.
    #[serde(default)]
    lock_only: bool,
}

/// In which of its states an operator is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Before,
    After,
    Chosen,
}

/// What `undo` and `apply` did, or would do.
#[derive(Clone, Debug, PartialEq)]
pub struct Rewritten {
    /// Operator.
    pub operator: String,
    /// Files that change, the lock among them.
    pub files: Vec<String>,
    /// Files that go: a lock that was not there before.
    pub removed: Vec<String>,
    /// All steps of the result, with whether they are applied afterwards.
    pub steps: Vec<events::RecordedStep>,
}

impl RecordedResult {
    /// The result of a run that began with these sources and the lock `lock_before`, if there was one, and made `lock`.
    pub fn of(
        outcome: &RunOutcome,
        sources: &SourceTree,
        lock_before: Option<String>,
        lock: &Lock,
    ) -> Result<Self, TunerError> {
        let (baseline, winner) = (&outcome.baseline, &outcome.progress.best);
        let milestones = &outcome.progress.milestones;
        let steps = Steps::of(baseline, winner, milestones, &outcome.tunables).with_constants();
        let recorded = steps.list.iter().enumerate().map(|(place, step)| {
            let alone = steps.only(|one| one == place);
            let texts = alone.map(|alone| changed(sources, &alone.sources));
            let title = steps.title(place);
            match step {
                Step::Rewrite { patch, .. } => {
                    let of_it = |milestone: &&super::Milestone| {
                        milestone.motif == patch.motif && milestone.title == patch.title
                    };
                    let gain = milestones.iter().find(of_it).map(|milestone| milestone.gain);
                    RecordedStep { motif: Some(patch.motif.clone()), tunable: None, title, gain, texts }
                }
                Step::Value(name) => {
                    RecordedStep { motif: None, tunable: Some(name.clone()), title, gain: None, texts }
                }
            }
        });
        let after = changed(sources, &winner.sources);
        let before = after.keys().filter_map(|file| Some((file.clone(), sources.text(file)?.to_owned())));
        Ok(Self {
            format: FORMAT,
            operator: lock.operator.clone(),
            before: before.collect(),
            steps: recorded.collect(),
            after,
            values_before: baseline.configuration.clone(),
            lock_before,
            lock: lock.to_text()?,
            chosen: None,
            lock_only: false,
        })
    }

    /// The result of a run that leaves the sources alone, since they hold the values of another chip than the one it was for.
    pub fn of_lock(lock_before: Option<String>, lock: &Lock) -> Result<Self, TunerError> {
        Ok(Self {
            format: FORMAT,
            operator: lock.operator.clone(),
            before: BTreeMap::new(),
            after: BTreeMap::new(),
            values_before: Configuration::new(),
            lock_before,
            lock: lock.to_text()?,
            steps: Vec::new(),
            chosen: None,
            lock_only: true,
        })
    }

    /// Keeps the record, in place of the one of the run before. One that changes nothing does not take the place of one that does.
    pub fn keep(&self, work_directory: &Path) -> Result<(), TunerError> {
        let nothing = self.after.is_empty() && self.steps.is_empty() && !self.lock_only;
        if nothing && Self::read(work_directory).is_ok() {
            return Ok(());
        }
        let (path, temporary) = (work_directory.join(FILE), work_directory.join(FILE).with_extension("json.tmp"));
        fs_err::create_dir_all(work_directory)?;
        fs_err::write(&temporary, serde_json::to_vec(self).map_err(std::io::Error::from)?)?;
        Ok(fs_err::rename(&temporary, &path)?)
    }

    /// The record in a work directory.
    pub fn read(work_directory: &Path) -> Result<Self, ResultError> {
        let path = work_directory.join(FILE);
        let bytes = fs_err::read(&path).ok();
        let read = bytes.and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        read.filter(|read| read.format == FORMAT).ok_or(ResultError::NoRecord(path))
    }

    /// Puts sources and lock back as they were before the run.
    pub fn undo(mut self, root: &Path, work_directory: &Path, dry_run: bool) -> Result<Rewritten, TunerError> {
        let standing = self.standing(root)?;
        let now = match standing {
            Standing::Before => return Err(ResultError::NotApplied(self.operator).into()),
            Standing::After => self.after.clone(),
            Standing::Chosen => self.chosen.as_ref().map(|chosen| chosen.texts.clone()).unwrap_or_default(),
        };
        let (before, lock) = (self.before.clone(), self.lock_before.clone());
        let rewritten = self.rewritten(root, &now, &before, lock.as_deref(), &[]);
        if !dry_run {
            write_state(root, work_directory, &tree(&now), &tree(&before), lock.as_deref())?;
            self.chosen = None;
            self.keep(work_directory)?;
        }
        Ok(rewritten)
    }

    /// Applies the result: all of it, or only these steps to the sources as they were before the run. A step is told by its number, by the
    /// motif or by the tunable.
    pub fn apply(
        mut self,
        root: &Path,
        work_directory: &Path,
        only: &[String],
        dry_run: bool,
    ) -> Result<Rewritten, TunerError> {
        let now = match self.standing(root)? {
            Standing::Before => self.before.clone(),
            Standing::After => self.after.clone(),
            Standing::Chosen => self.chosen.as_ref().map(|chosen| chosen.texts.clone()).unwrap_or_default(),
        };
        let all: Vec<usize> = (0..self.steps.len()).collect();
        let wanted = if only.is_empty() { all.clone() } else { self.named(only)? };
        let (texts, lock) = if wanted == all {
            (self.after.clone(), self.lock.clone())
        } else {
            (self.texts_of(&wanted)?, self.lock_of(&wanted)?)
        };
        let rewritten = self.rewritten(root, &now, &texts, Some(&lock), &wanted);
        if !dry_run {
            // First the record, which then knows the state whatever happens.
            self.chosen = (wanted != all).then(|| Chosen { steps: wanted, texts: texts.clone(), lock: lock.clone() });
            self.keep(work_directory)?;
            write_state(root, work_directory, &tree(&now), &tree(&texts), Some(&lock))?;
        }
        Ok(rewritten)
    }

    /// The state that files and lock are in.
    fn standing(&self, root: &Path) -> Result<Standing, ResultError> {
        let text = |file: &str| fs_err::read_to_string(root.join(file)).ok();
        let differing = |texts: &BTreeMap<String, String>| -> Vec<String> {
            texts
                .iter()
                .filter(|(file, wanted)| text(file).as_ref() != Some(wanted))
                .map(|(file, _)| file.clone())
                .collect()
        };
        let lock_now = text(LOCK_FILE);
        let says = |wanted: &str| {
            let parsed = |text: &str| Lock::parse(text, Path::new(LOCK_FILE)).ok();
            lock_now.as_deref() == Some(wanted) || lock_now.as_deref().and_then(parsed) == parsed(wanted)
        };
        let known = [
            self.chosen.as_ref().map(|chosen| (Standing::Chosen, &chosen.texts, Some(&chosen.lock))),
            Some((Standing::After, &self.after, Some(&self.lock))),
            Some((Standing::Before, &self.before, self.lock_before.as_ref())),
        ];
        let known = known.into_iter().flatten();
        let mut nearest: Option<Vec<String>> = None;
        for (standing, texts, lock) in known {
            let mut others = differing(texts);
            if !lock.map_or(lock_now.is_none(), |lock| says(lock)) {
                others.push(LOCK_FILE.to_owned());
            }
            if others.is_empty() {
                return Ok(standing);
            }
            if nearest.as_ref().is_none_or(|nearest| others.len() < nearest.len()) {
                nearest = Some(others);
            }
        }
        Err(ResultError::Changed(nearest.unwrap_or_default()))
    }

    fn named(&self, only: &[String]) -> Result<Vec<usize>, ResultError> {
        let mut found = Vec::new();
        for wanted in only {
            let by_number = wanted.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let is_it = |step: &RecordedStep| {
                let motif = step.motif.as_ref().is_some_and(|motif| motif.eq_ignore_ascii_case(wanted));
                motif || step.tunable.as_ref() == Some(wanted)
            };
            let place = self.steps.iter().position(is_it).or(by_number).filter(|place| *place < self.steps.len());
            let Some(place) = place else {
                let known = self.steps.iter().enumerate();
                let known = known.map(|(place, step)| format!("{} {}", place + 1, step.title)).collect();
                return Err(ResultError::NoStep { step: wanted.clone(), known });
            };
            found.push(place);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// The changed files with some of the steps.
    fn texts_of(&self, wanted: &[usize]) -> Result<BTreeMap<String, String>, ResultError> {
        let base = tree(&self.before);
        let mut made = base.clone();
        for &place in wanted {
            let step = &self.steps[place];
            let not_alone = || ResultError::NotAlone { number: place + 1, title: step.title.clone() };
            let mut alone = base.clone();
            for (file, text) in step.texts.as_ref().ok_or_else(not_alone)? {
                alone.insert(file.clone(), text.clone());
            }
            made = merged_trees(&base, &made, &alone).ok_or_else(not_alone)?;
        }
        Ok(made.iter().map(|(file, text)| (file.to_owned(), text.to_owned())).collect())
    }

    /// The lock with some of the steps. Its digests and latencies are those of the whole result, so that it is stale until it is accepted.
    fn lock_of(&self, wanted: &[usize]) -> Result<String, TunerError> {
        let mut lock = Lock::parse(&self.lock, Path::new(LOCK_FILE))?;
        let steps = || wanted.iter().map(|place| &self.steps[*place]);
        lock.motifs.retain(|motif| steps().any(|step| step.motif.as_ref() == Some(&motif.id)));
        for (name, value) in self.values_before.iter() {
            if !steps().any(|step| step.tunable.as_deref() == Some(name)) && lock.configuration.get(name).is_some() {
                lock.configuration.set(name, value.clone());
            }
        }
        // Constants that came with a rewrite go with it; of which one, the lock does not say.
        let is_left_out = |(place, step): (usize, &RecordedStep)| step.motif.is_some() && !wanted.contains(&place);
        if self.steps.iter().enumerate().any(is_left_out) {
            lock.brought = Configuration::new();
        }
        lock.generalisation = None;
        lock.speedup_permille = None;
        Ok(lock.to_text()?)
    }

    fn rewritten(
        &self,
        root: &Path,
        now: &BTreeMap<String, String>,
        then: &BTreeMap<String, String>,
        lock: Option<&str>,
        applied: &[usize],
    ) -> Rewritten {
        let mut files: Vec<String> =
            then.iter().filter(|(file, text)| now.get(*file) != Some(text)).map(|(file, _)| file.clone()).collect();
        let mut removed = Vec::new();
        let present = fs_err::read_to_string(root.join(LOCK_FILE)).ok();
        if present.as_deref() != lock {
            if lock.is_some() { files.push(LOCK_FILE.to_owned()) } else { removed.push(LOCK_FILE.to_owned()) }
        }
        let steps = self.steps.iter().enumerate().map(|(place, step)| events::RecordedStep {
            number: place + 1,
            motif: step.motif.clone(),
            title: step.title.clone(),
            gain: step.gain,
            alone: step.texts.is_some(),
            applied: applied.contains(&place),
        });
        Rewritten { operator: self.operator.clone(), files, removed, steps: steps.collect() }
    }
}

fn tree(texts: &BTreeMap<String, String>) -> SourceTree {
    texts.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect()
}

/// The files of `after` that `before` has otherwise.
fn changed(before: &SourceTree, after: &SourceTree) -> BTreeMap<String, String> {
    let differing = after.iter().filter(|(file, text)| before.text(file) != Some(text));
    differing.map(|(file, text)| (file.to_owned(), text.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::Value;

    const BEFORE: &str = "int tile = 64;\n\nload();\nwait();\n\nslow();\n";

    fn texts(text: &str) -> BTreeMap<String, String> {
        BTreeMap::from([("k.h".to_owned(), text.to_owned())])
    }

    fn values(tile: i64) -> Configuration {
        [("TILE".to_owned(), Value::Int(tile))].into_iter().collect()
    }

    fn lock() -> Lock {
        let mut lock = Lock { configuration: values(256), ..lock::testing::sample() };
        lock.motifs[0].id = "Y01".to_owned();
        // As they are read.
        lock.cases.reverse();
        lock
    }

    fn recorded() -> RecordedResult {
        let step = |motif: Option<&str>, tunable: Option<&str>, text: Option<String>| RecordedStep {
            motif: motif.map(str::to_owned),
            tunable: tunable.map(str::to_owned),
            title: motif.or(tunable).unwrap_or_default().to_owned(),
            gain: Some(1.5),
            texts: text.map(|text| texts(&text)),
        };
        RecordedResult {
            format: FORMAT,
            operator: "Op".to_owned(),
            before: texts(BEFORE),
            after: texts(&BEFORE.replace("wait();\n", "").replace("64", "256").replace("slow", "quick")),
            values_before: values(64),
            lock_before: None,
            lock: lock().to_text().unwrap(),
            steps: vec![
                step(Some("Y01"), None, Some(BEFORE.replace("wait();\n", ""))),
                step(None, Some("TILE"), Some(BEFORE.replace("64", "256"))),
                step(Some("V01"), None, None),
            ],
            chosen: None,
            lock_only: false,
        }
    }

    fn project(text: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs_err::write(root.path().join("k.h"), text).unwrap();
        root
    }

    fn read(root: &tempfile::TempDir) -> (String, Option<Lock>) {
        let lock = lock::read(&root.path().join(LOCK_FILE)).ok();
        (fs_err::read_to_string(root.path().join("k.h")).unwrap(), lock)
    }

    #[test]
    fn a_result_goes_on_and_off_and_edits_are_not_written_over() {
        let root = project(BEFORE);
        let path = root.path();
        recorded().keep(path).unwrap();
        let record = || RecordedResult::read(path).unwrap();
        assert_eq!(
            record().undo(path, path, false).unwrap_err().to_string(),
            "Op is as it was before the last run: there is nothing to undo"
        );
        let shown = record().apply(path, path, &[], true).unwrap();
        assert_eq!((shown.files.join(" "), read(&root)), ("k.h ascend.lock".into(), (BEFORE.into(), None)));
        record().apply(path, path, &[], false).unwrap();
        assert_eq!(read(&root), (recorded().after["k.h"].clone(), Some(lock())));
        // Nothing is there to be done.
        assert!(record().apply(path, path, &[], false).unwrap().files.is_empty());
        let undone = record().undo(path, path, false).unwrap();
        assert_eq!((undone.files.join(" "), undone.removed.join(" ")), ("k.h".into(), "ascend.lock".into()));
        assert_eq!(read(&root), (BEFORE.into(), None));

        record().apply(path, path, &[], false).unwrap();
        fs_err::write(path.join("k.h"), "mine\n").unwrap();
        let refused = record().undo(path, path, false).unwrap_err().to_string();
        assert!(refused.starts_with("k.h: changed since the last run, nothing was written"), "{refused}");
        assert_eq!(read(&root), ("mine\n".into(), Some(lock())));
        fs_err::write(path.join("k.h"), &recorded().after["k.h"]).unwrap();
        lock::write(&Lock { seed: 7, ..lock() }, &path.join(LOCK_FILE)).unwrap();
        let refused = record().undo(path, path, false).unwrap_err().to_string();
        assert!(refused.starts_with("ascend.lock: changed since"), "{refused}");
    }

    #[test]
    fn steps_are_applied_alone_from_any_state() {
        let root = project(BEFORE);
        let path = root.path();
        recorded().keep(path).unwrap();
        let apply = |steps: &[&str]| {
            let steps: Vec<String> = steps.iter().map(|step| (*step).to_owned()).collect();
            RecordedResult::read(path).unwrap().apply(path, path, &steps, false)
        };
        let made = apply(&["y01"]).unwrap();
        assert_eq!(made.steps.iter().map(|step| step.applied).collect::<Vec<_>>(), [true, false, false]);
        let (text, lock) = read(&root);
        let lock = lock.unwrap();
        assert_eq!(text, BEFORE.replace("wait();\n", ""));
        assert_eq!((lock.motifs.len(), &lock.configuration, lock.speedup_permille), (1, &values(64), None));
        apply(&["TILE"]).unwrap();
        let (text, lock) = read(&root);
        assert_eq!((text, lock.unwrap().motifs.len()), (BEFORE.replace("64", "256"), 0));
        apply(&["1", "2"]).unwrap();
        assert_eq!(read(&root).0, BEFORE.replace("64", "256").replace("wait();\n", ""));
        let refused = |steps: &[&str]| apply(steps).unwrap_err().to_string();
        assert_eq!(
            refused(&["3"]),
            "step 3 (V01) does not stand without the steps before it: both change the same words"
        );
        assert_eq!(refused(&["4"]), "`4` is no step of the recorded result; its steps are: 1 Y01; 2 TILE; 3 V01");
        RecordedResult::read(path).unwrap().undo(path, path, false).unwrap();
        assert_eq!(read(&root), (BEFORE.into(), None));
    }

    #[test]
    fn a_run_that_finds_nothing_leaves_the_record() {
        let root = project(BEFORE);
        recorded().keep(root.path()).unwrap();
        let nothing =
            RecordedResult { before: BTreeMap::new(), after: BTreeMap::new(), steps: Vec::new(), ..recorded() };
        nothing.keep(root.path()).unwrap();
        assert_eq!(RecordedResult::read(root.path()).unwrap(), recorded());
        fs_err::write(root.path().join(FILE), "{}").unwrap();
        assert!(matches!(RecordedResult::read(root.path()), Err(ResultError::NoRecord(_))));
    }
}
