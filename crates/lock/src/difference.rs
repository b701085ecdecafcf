//! What two locks differ in.

use std::collections::BTreeMap;

use super::{Lock, LockedCase};
use events::{LockDifference, LockTopic};

/// Everything that `after` says otherwise than `before`, by topic and then by name. First of the entries whose values the sources hold;
/// where there are others, they are compared with those of the same chip, whose names stand before what differs.
pub fn differences(before: &Lock, after: &Lock) -> Vec<LockDifference> {
    if before.others.is_empty() && after.others.is_empty() {
        return of_entries(before, after);
    }
    let (mut found, was, is) = (Vec::new(), before.entries(), after.entries());
    if before.key() != after.key() {
        found.push(LockDifference {
            topic: LockTopic::Circumstance,
            name: "chip of the sources".to_owned(),
            before: Some(before.key().to_string()),
            after: Some(after.key().to_string()),
            ratio: None,
        });
    }
    let gone = was.iter().filter(|entry| after.entry(&entry.key()).is_none());
    for entry in is.iter().chain(gone) {
        let key = entry.key();
        let said =
            |entry: &Lock| format!("{} cases, {} tunables", entry.cases.len(), entry.configuration.iter().count());
        match (before.entry(&key), after.entry(&key)) {
            (Some(was), Some(is)) => found.extend(
                of_entries(&was, &is)
                    .into_iter()
                    .map(|one| LockDifference { name: format!("{key}: {}", one.name), ..one }),
            ),
            (was, is) => found.push(LockDifference {
                topic: LockTopic::Circumstance,
                name: format!("{key}: entry"),
                before: was.as_ref().map(said),
                after: is.as_ref().map(said),
                ratio: None,
            }),
        }
    }
    found
}

fn of_entries(before: &Lock, after: &Lock) -> Vec<LockDifference> {
    let mut found = Vec::new();
    for (topic, says) in TOPICS {
        let (was, is) = (says(before), says(after));
        let mut names: Vec<&String> = was.keys().chain(is.keys()).collect();
        names.sort();
        names.dedup();
        for name in names {
            let (was, is) = (was.get(name), is.get(name));
            if was != is {
                let ratio = if topic == LockTopic::Latency { ratio(before.case(name), after.case(name)) } else { None };
                found.push(LockDifference {
                    topic,
                    name: name.clone(),
                    before: was.cloned(),
                    after: is.cloned(),
                    ratio,
                });
            }
        }
    }
    found
}

/// What a lock says of a topic, by name.
type Says = fn(&Lock) -> BTreeMap<String, String>;

const TOPICS: [(LockTopic, Says); 8] = [
    (LockTopic::Circumstance, circumstances),
    (LockTopic::Setting, |lock| {
        let values = lock.configuration.iter().chain(lock.brought.iter());
        values.map(|(name, value)| (name.into(), value.to_string())).collect()
    }),
    (LockTopic::Latency, |lock| lock.cases.iter().map(|case| (case.name.clone(), case.tuned.to_string())).collect()),
    (LockTopic::Output, |lock| lock.cases.iter().map(|case| (case.name.clone(), short(&case.verification))).collect()),
    (LockTopic::Step, |lock| lock.motifs.iter().map(|motif| (motif.id.clone(), motif.title.clone())).collect()),
    (LockTopic::Claim, claims),
    (LockTopic::Known, known),
    (LockTopic::File, files),
];

fn ratio(before: Option<&LockedCase>, after: Option<&LockedCase>) -> Option<f64> {
    let (before, after) = (before?.tuned.0, after?.tuned.0);
    (before > 0).then(|| after as f64 / before as f64)
}

fn circumstances(lock: &Lock) -> BTreeMap<String, String> {
    let mut said = BTreeMap::from([
        ("operator".to_owned(), lock.operator.clone()),
        ("origin".to_owned(), lock.origin.word().to_owned()),
        ("seed".to_owned(), lock.seed.to_string()),
        ("tool".to_owned(), lock.tool.clone()),
        ("format".to_owned(), lock.version.to_string()),
        ("machine".to_owned(), {
            let machine = &lock.machine;
            format!("{} version {} ({})", machine.name, machine.version, short(&machine.digest))
        }),
    ]);
    if let Some(device) = &lock.device {
        said.insert("device".to_owned(), format!("{} with toolkit {}", device.soc, device.toolkit));
    }
    said
}

fn claims(lock: &Lock) -> BTreeMap<String, String> {
    let times = |permille: u64| format!("{:.3}x", permille as f64 / 1000.0);
    let mut said = BTreeMap::new();
    said.extend(lock.speedup_permille.map(|claimed| ("speed-up".to_owned(), times(claimed))));
    if let Some(general) = &lock.generalisation {
        said.insert("speed-up on probes".to_owned(), times(general.speedup_permille));
        said.insert("worst probe".to_owned(), format!("{} {}", general.worst, times(general.worst_permille)));
    }
    said
}

fn known(lock: &Lock) -> BTreeMap<String, String> {
    let hazards = lock.known.iter().map(|known| {
        let name = format!("{} at {}: {}", known.kind.word(), known.file, known.statement);
        (name, format!("cases {}", known.cases.join(", ")))
    });
    let departures = lock.departures.iter().map(|departure| {
        let name = format!("output {} is not as {} gives it", departure.output, departure.definition);
        (name, format!("cases {}", departure.cases.join(", ")))
    });
    hazards.chain(departures).collect()
}

fn files(lock: &Lock) -> BTreeMap<String, String> {
    let sources = lock.sources.iter().chain(lock.included.iter().flatten());
    let mut said: BTreeMap<String, String> = sources.map(|(file, digest)| (file.clone(), short(digest))).collect();
    said.insert("ascend.toml".to_owned(), short(&lock.manifest));
    said
}

/// Enough of a digest to tell it from another.
fn short(digest: &str) -> String {
    let digest = digest.split_once(':').map_or(digest, |(_, digest)| digest);
    digest.chars().take(8).collect()
}
