//! Outputs of the locked operator, kept beside the journal, so that `check` can say how far others are off. The lock itself has
//! digests only.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::TunerError;
use super::trialled::References;
use super::workspace::Workspace;
use verify::{Difference, largest_difference};

/// Folder below the work directory.
const FOLDER: &str = "locked-outputs";
/// File with the digest that the outputs of a case have in the lock.
const VERIFICATION: &str = "verification";
/// Outputs of a case that are larger than this are not kept.
const MOST_BYTES: usize = 256 << 20;

impl Workspace {
    /// Digest of each output of each case over all its trials, by case and name.
    pub fn output_digests(&self, outputs: &References) -> BTreeMap<String, BTreeMap<String, String>> {
        let mut hashers: BTreeMap<String, BTreeMap<String, blake3::Hasher>> = BTreeMap::new();
        for (index, trial) in self.evaluator.workload.trials.iter().enumerate() {
            let of_case = hashers.entry(self.manifest.cases[trial.case].name.clone()).or_default();
            for (position, output) in outputs.get(&index).into_iter().flatten().enumerate() {
                let hasher = of_case.entry(self.output_name(trial.case, position)).or_default();
                hasher.update(&(output.len() as u64).to_le_bytes());
                hasher.update(output);
            }
        }
        let short = |hasher: blake3::Hasher| hasher.finalize().to_hex()[..32].to_owned();
        let of_case = |digests: BTreeMap<String, blake3::Hasher>| {
            digests.into_iter().map(|(name, hasher)| (name, short(hasher))).collect()
        };
        hashers.into_iter().map(|(case, digests)| (case, of_case(digests))).collect()
    }

    /// Name of an output; the tensors of a list have one name and get numbers.
    fn output_name(&self, case: usize, position: usize) -> String {
        let outputs = &self.manifest.cases[case].outputs;
        let Some(output) = outputs.get(position) else { return format!("region {position}") };
        match outputs[..position].iter().filter(|before| before.name == output.name).count() {
            0 => output.name.clone(),
            number => format!("{} {number}", output.name),
        }
    }

    /// Keeps the outputs of each case's first trial under the digests that go into the lock.
    pub fn keep_outputs(&self, outputs: &References, digests: &BTreeMap<String, String>) -> Result<(), TunerError> {
        for (case, digest) in digests {
            let folder = self.kept_folder(case);
            let _ = std::fs::remove_dir_all(&folder);
            let Some(first) = self.first_outputs(case, outputs) else { continue };
            if first.iter().map(Vec::len).sum::<usize>() > MOST_BYTES {
                continue;
            }
            fs_err::create_dir_all(&folder)?;
            for (position, bytes) in first.iter().enumerate() {
                fs_err::write(file(&folder, position), bytes)?;
            }
            // Last, so that what is cut short is not taken for whole.
            fs_err::write(folder.join(VERIFICATION), digest)?;
        }
        Ok(())
    }

    /// How far each output of a case's first trial is from the locked one, by name; `None` where those are not at hand.
    pub fn differences(
        &self,
        case: &str,
        locked: &str,
        outputs: &References,
    ) -> Option<Vec<(String, Option<Difference>)>> {
        let folder = self.kept_folder(case);
        if fs_err::read_to_string(folder.join(VERIFICATION)).ok()? != locked {
            return None;
        }
        let trial = self.first_trial(case)?;
        let outputs = outputs.get(&trial)?.iter().enumerate().map(|(position, now)| {
            let before = fs_err::read(file(&folder, position)).ok()?;
            let trial = &self.evaluator.workload.trials[trial];
            let (_, dtype) = self.evaluator.output_type(trial, position);
            Some((self.output_name(trial.case, position), largest_difference(now, &before, dtype)))
        });
        outputs.collect()
    }

    fn first_trial(&self, case: &str) -> Option<usize> {
        let trials = &self.evaluator.workload.trials;
        trials.iter().position(|trial| self.manifest.cases[trial.case].name == case)
    }

    fn first_outputs<'outputs>(&self, case: &str, outputs: &'outputs References) -> Option<&'outputs Vec<Vec<u8>>> {
        outputs.get(&self.first_trial(case)?)
    }

    fn kept_folder(&self, case: &str) -> PathBuf {
        // A case may have any name.
        self.work_directory.join(FOLDER).join(&blake3::hash(case.as_bytes()).to_hex()[..16])
    }
}

fn file(folder: &Path, position: usize) -> PathBuf {
    folder.join(format!("{position}.bin"))
}
