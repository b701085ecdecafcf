//! Keeping a bank: what it holds, what it need not hold, and how others read it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use super::{Bank, BankError, Record, Verdict};
use events::MotifStatistics;

impl Bank {
    /// Statistics by motif.
    pub fn statistics(&self) -> Vec<MotifStatistics> {
        let mut by_motif: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
        for (_, record) in self.iter() {
            by_motif.entry(&record.motif).or_default().push(record);
        }
        by_motif.into_iter().map(|(motif, records)| statistics_of(motif, &records)).collect()
    }

    /// Ids of records that teach nothing new: of those that agree in motif, shape of the code, machine and verdict only
    /// the least, the middle and the greatest gain are needed, and of versions of a machine only the newest.
    pub fn superfluous(&self) -> Vec<String> {
        let mut newest: BTreeMap<&str, &str> = BTreeMap::new();
        for (_, record) in self.iter() {
            let Described { machine, version } = Described::of(record);
            let known = newest.entry(machine).or_insert(version);
            if later(version, known) {
                *known = version;
            }
        }
        let mut alike: BTreeMap<String, Vec<(&str, f64)>> = BTreeMap::new();
        let mut gone = Vec::new();
        for (id, record) in self.iter() {
            let Described { machine, version } = Described::of(record);
            if newest.get(machine).is_some_and(|newest| later(newest, version)) {
                gone.push(id.to_owned());
                continue;
            }
            let key = format!(
                "{} {machine} {:?} {:?} {:?}",
                record.motif,
                record.verdict,
                record.origin,
                record.features.tokens()
            );
            alike.entry(key).or_default().push((id, record.gain()));
        }
        for group in alike.values_mut().filter(|group| group.len() > 3) {
            group.sort_by(|left, right| left.1.total_cmp(&right.1).then(left.0.cmp(right.0)));
            let (middle, last) = (group.len() / 2, group.len() - 1);
            let kept = |at: usize| at == 0 || at == middle || at == last;
            gone.extend(group.iter().enumerate().filter(|(at, _)| !kept(*at)).map(|(_, (id, _))| (*id).to_owned()));
        }
        gone.sort();
        gone
    }

    /// Removes a record and its file; a file that is gone already is no error.
    pub fn remove(&mut self, directory: &Path, id: &str) -> Result<(), BankError> {
        let path = directory.join(format!("{id}.toml"));
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(BankError::Io { path, source }),
            _ => {
                self.take(id);
                Ok(())
            }
        }
    }

    /// All records as one JSON array, each with its id.
    pub fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Named<'a> {
            id: &'a str,
            gain: f64,
            #[serde(flatten)]
            record: &'a Record,
        }
        let all: Vec<Named<'_>> = self.iter().map(|(id, record)| Named { id, gain: record.gain(), record }).collect();
        serde_json::to_string_pretty(&all).unwrap_or_default()
    }

    /// All records as a page: a table of motifs, then one of records.
    pub fn to_markdown(&self) -> String {
        let mut page = "# Experience\n\n| motif | records | operators | kept | no gain | other effect | refused | gain, quartiles |\n|---|--:|--:|--:|--:|--:|--:|---|\n".to_owned();
        for one in self.statistics() {
            let _ = writeln!(
                page,
                "| {} | {} | {} | {} | {} | {} | {} | {:.2}x {:.2}x {:.2}x |",
                one.motif,
                one.records,
                one.operators,
                one.kept,
                one.no_gain,
                one.effect_without_mechanism,
                one.rejected,
                one.lower,
                one.median,
                one.upper
            );
        }
        page.push_str("\n| record | operator | gain | machine | origin | symptoms |\n|---|---|--:|---|---|---|\n");
        for (id, record) in self.iter() {
            let _ = writeln!(
                page,
                "| `{id}` | {} | {:.2}x | {} version {} | {:?} | {} |",
                record.provenance.operator,
                record.gain(),
                record.provenance.machine,
                record.provenance.machine_version,
                record.origin,
                record.symptoms.join(", ")
            );
        }
        page
    }
}

/// The machine description that a record was made with.
struct Described<'a> {
    machine: &'a str,
    version: &'a str,
}

impl<'a> Described<'a> {
    fn of(record: &'a Record) -> Self {
        Self { machine: &record.provenance.machine, version: &record.provenance.machine_version }
    }
}

/// Whether a version is later than another one; numbers count as numbers.
fn later(left: &str, right: &str) -> bool {
    let parts = |version: &str| -> Vec<(u64, String)> {
        version.split('.').map(|part| (part.parse().unwrap_or(0), part.to_owned())).collect()
    };
    parts(left) > parts(right)
}

fn statistics_of(motif: &str, records: &[&Record]) -> MotifStatistics {
    let count = |verdict: Verdict| records.iter().filter(|record| record.verdict == verdict).count() as u64;
    let mut gains: Vec<f64> =
        records.iter().filter(|record| record.verdict != Verdict::Rejected).map(|record| record.gain()).collect();
    gains.sort_by(f64::total_cmp);
    let quantile = |share: f64| {
        let last = gains.len().saturating_sub(1) as f64;
        gains.get((last * share).round() as usize).copied().unwrap_or(1.0)
    };
    let operators: std::collections::BTreeSet<&str> =
        records.iter().map(|record| record.provenance.operator.as_str()).collect();
    MotifStatistics {
        motif: motif.to_owned(),
        records: records.len() as u64,
        operators: operators.len() as u64,
        kept: count(Verdict::Kept),
        no_gain: count(Verdict::NoGain),
        effect_without_mechanism: count(Verdict::EffectWithoutMechanism),
        rejected: count(Verdict::Rejected),
        lower: quantile(0.25),
        median: quantile(0.5),
        upper: quantile(0.75),
    }
}
