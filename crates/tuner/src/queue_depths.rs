//! What the baseline's profile says about deeper queues: which of them cannot fit into the unified buffer beside all others.

use std::collections::BTreeMap;

use super::candidate::Candidate;
use backend::LaunchProfile;
use source::tunable::{Meaning, locate};
use space::{Binding, Configuration, SearchSpace, Tunable, Value, domain_values};

/// A tunable that is a number of buffers.
struct Depth<'a> {
    name: &'a str,
    present: i64,
    /// Larger values of the domain, in order.
    larger: Vec<i64>,
    /// Bytes of one buffer of all queues that it counts for, by launch.
    unit_bytes: Vec<u64>,
}

/// Configurations that differ from the baseline in one or two numbers of buffers and cannot fit: the smallest of each. With more
/// of anything they do not fit either. Numbers of cores stand at their least, for these do not decide how long a tile may be.
pub(super) fn overflows(
    space: &SearchSpace,
    baseline: &Candidate,
    launches: &[&LaunchProfile],
    ub_bytes: u64,
) -> Vec<Configuration> {
    let depths: Vec<Depth<'_>> = space.tunables().filter_map(|tunable| depth(tunable, baseline, launches)).collect();
    let free = |launch: usize| ub_bytes.saturating_sub(launches[launch].profile.buffers_end_bytes);
    let fits = |asked: &[(usize, i64)]| {
        (0..launches.len()).all(|launch| {
            let more = asked.iter().map(|&(depth, value)| {
                depths[depth].unit_bytes[launch] * (value - depths[depth].present).unsigned_abs()
            });
            more.sum::<u64>() <= free(launch)
        })
    };
    let mut found = Vec::new();
    let mut add = |asked: &[(usize, i64)]| {
        let mut configuration = with_least_cores(space, &baseline.configuration);
        for &(depth, value) in asked {
            configuration.set(depths[depth].name, Value::Int(value));
        }
        if space.point(&configuration).is_some() {
            found.push(configuration);
        }
    };
    for (place, depth) in depths.iter().enumerate() {
        if let Some(least) = depth.larger.iter().find(|value| !fits(&[(place, **value)])) {
            add(&[(place, *least)]);
        }
        for (second, other) in depths.iter().enumerate().skip(place + 1) {
            for value in depth.larger.iter().filter(|value| fits(&[(place, **value)])) {
                let alone = |other: &&i64| fits(&[(second, **other)]);
                let both = |other: &&i64| !fits(&[(place, *value), (second, **other)]);
                if let Some(least) = other.larger.iter().filter(alone).find(both) {
                    add(&[(place, *value), (second, *least)]);
                }
            }
        }
    }
    found
}

fn depth<'a>(tunable: &'a Tunable, baseline: &Candidate, launches: &[&LaunchProfile]) -> Option<Depth<'a>> {
    let present = baseline.configuration.get(&tunable.name)?.as_int().filter(|present| *present > 0)?;
    (Meaning::of(tunable)? == Meaning::Buffers).then_some(())?;
    let lines = lines_of(tunable, baseline);
    let unit_bytes: Vec<u64> = launches
        .iter()
        .map(|launch| {
            let buffers = launch.profile.buffers.iter().zip(&launch.buffer_places);
            let counted = buffers.filter(|(_, place)| {
                lines.get(&place.file).is_some_and(|lines| lines.contains(&(place.line as usize)))
            });
            counted.map(|(buffer, _)| buffer.bytes).sum::<u64>() / present.unsigned_abs()
        })
        .collect();
    let values = domain_values(tunable).ok()?;
    let mut larger: Vec<i64> = values.iter().filter_map(Value::as_int).filter(|value| *value > present).collect();
    larger.sort_unstable();
    (unit_bytes.iter().any(|bytes| *bytes > 0)).then_some(Depth { name: &tunable.name, present, larger, unit_bytes })
}

/// Lines of the `InitBuffer` calls that a number of buffers stands in, by file.
fn lines_of(tunable: &Tunable, baseline: &Candidate) -> BTreeMap<String, Vec<usize>> {
    let mut lines: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    match &tunable.binding {
        Binding::Argument { .. } => {
            for site in locate(&baseline.sources, &tunable.binding).unwrap_or_default() {
                lines.entry(site.file).or_default().push(site.line);
            }
        }
        Binding::Constant { name, .. } => {
            let name = name.rsplit("::").next().unwrap_or(name);
            for (file, text) in baseline.sources.iter() {
                let counts = |line: &str| line.contains("InitBuffer") && has_word(line, name);
                let found = text.lines().enumerate().filter(|(_, line)| counts(line)).map(|(index, _)| index + 1);
                lines.entry(file.to_owned()).or_default().extend(found);
            }
        }
        _ => {}
    }
    lines
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).any(|part| part == word)
}

fn with_least_cores(space: &SearchSpace, present: &Configuration) -> Configuration {
    let mut configuration = present.clone();
    for (dimension, tunable) in space.tunables().enumerate() {
        let of_cores = matches!(tunable.binding, Binding::Share { .. }) || Meaning::of(tunable) == Some(Meaning::Cores);
        if let Some(least) = space.value(dimension, 0).filter(|_| of_cores) {
            configuration.set(&tunable.name, least.clone());
        }
    }
    configuration
}
