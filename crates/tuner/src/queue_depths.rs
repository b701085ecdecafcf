//! What the baseline's profile says about deeper queues: how many buffers of all of them together fit into the unified buffer.

use std::collections::BTreeMap;

use super::candidate::Candidate;
use backend::{LaunchProfile, Place};
use source::tunable::{Meaning, locate};
use space::{Binding, Configuration, LinearBound, SearchSpace, Tunable, Value, domain_values};

/// What a launch took of the unified buffer.
pub(super) struct Taken<'a> {
    /// Bytes of all buffers that an `InitBuffer` call made.
    by_place: Vec<(&'a Place, u64)>,
    /// End of the highest of them.
    end_bytes: u64,
}

impl<'a> Taken<'a> {
    /// What this launch took.
    pub fn by(launch: &'a LaunchProfile) -> Self {
        let bytes = launch.profile.buffers.iter().map(|buffer| buffer.bytes);
        Self { by_place: launch.buffer_places.iter().zip(bytes).collect(), end_bytes: launch.profile.buffers_end_bytes }
    }
}

/// A tunable that is a number of buffers.
struct Depth<'a> {
    name: &'a str,
    present: u64,
    /// Largest value of the domain.
    largest: u64,
    /// Bytes of one buffer of all queues that it counts for, by launch.
    unit_bytes: Vec<u64>,
}

/// What all numbers of buffers together may take, one bound a launch that they could overflow. Tiles as long as those of the baseline
/// and longer ones are what this is known of; numbers of cores stand at their least, for these do not decide how long a tile may be, and
/// so do numbers of buffers that a launch does not make.
pub(super) fn bounds(
    space: &SearchSpace,
    baseline: &Candidate,
    launches: &[Taken<'_>],
    ub_bytes: u64,
) -> Vec<LinearBound> {
    let depths: Vec<Depth<'_>> = space.tunables().filter_map(|tunable| depth(tunable, baseline, launches)).collect();
    let is_depth = |tunable: &Tunable| depths.iter().any(|depth| depth.name == tunable.name);
    let from = at_their_least(space, &baseline.configuration, |tunable| is_of_cores(tunable) || is_depth(tunable));
    let mut found: Vec<LinearBound> = Vec::new();
    for (launch, taken) in launches.iter().enumerate() {
        let sum = |count: fn(&Depth<'_>) -> u64| {
            depths.iter().map(|depth| depth.unit_bytes[launch].saturating_mul(count(depth))).sum::<u64>()
        };
        let free = ub_bytes.saturating_sub(taken.end_bytes);
        let most = sum(|depth| depth.present) + free;
        if sum(|depth| depth.largest) <= most {
            continue;
        }
        let taking = depths.iter().filter(|depth| depth.unit_bytes[launch] > 0);
        let weights = taking.map(|depth| (depth.name.to_owned(), depth.unit_bytes[launch])).collect();
        let bound = LinearBound { weights, most, from: from.clone() };
        if !found.contains(&bound) {
            found.push(bound);
        }
    }
    found
}

fn depth<'a>(tunable: &'a Tunable, baseline: &Candidate, launches: &[Taken<'_>]) -> Option<Depth<'a>> {
    let present = baseline.configuration.get(&tunable.name)?.as_int().filter(|present| *present > 0)?.unsigned_abs();
    (Meaning::of(tunable)? == Meaning::Buffers).then_some(())?;
    let lines = lines_of(tunable, baseline);
    let unit_bytes: Vec<u64> = launches
        .iter()
        .map(|launch| {
            let counted = launch.by_place.iter().filter(|(place, _)| {
                lines.get(&place.file).is_some_and(|lines| lines.contains(&(place.line as usize)))
            });
            counted.map(|(_, bytes)| bytes).sum::<u64>() / present
        })
        .collect();
    let values = domain_values(tunable).ok()?;
    let largest = values.iter().filter_map(Value::as_int).max()?.unsigned_abs();
    Some(Depth { name: &tunable.name, present, largest, unit_bytes })
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

fn is_of_cores(tunable: &Tunable) -> bool {
    matches!(tunable.binding, Binding::Share { .. }) || Meaning::of(tunable) == Some(Meaning::Cores)
}

fn at_their_least(space: &SearchSpace, present: &Configuration, these: impl Fn(&Tunable) -> bool) -> Configuration {
    let mut configuration = present.clone();
    for (dimension, tunable) in space.tunables().enumerate() {
        if let Some(least) = space.value(dimension, 0).filter(|_| these(tunable)) {
            configuration.set(&tunable.name, least.clone());
        }
    }
    configuration
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::SourceTree;
    use space::Domain;

    const QUEUES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

    /// Eight queues with a buffer of a KiB each, one to three of them.
    fn operator() -> (SearchSpace, Candidate, Vec<Place>) {
        let line = |queue: &&str| format!("    pipe.InitBuffer({queue}, 1, 1024);\n");
        let body: String = QUEUES.iter().map(line).collect();
        let file = "op_kernel/x.cpp".to_owned();
        let sources: SourceTree = [(file.clone(), format!("void Init()\n{{\n{body}}}\n"))].into_iter().collect();
        let tunable = |queue: &&str| Tunable {
            name: format!("{queue}_buffers"),
            domain: Domain::Range { min: 1, max: 3, step: 1 },
            default: Some(Value::Int(1)),
            binding: Binding::Argument {
                file: file.clone(),
                call: "InitBuffer".to_owned(),
                first: (*queue).to_owned(),
                index: 1,
            },
            reason: String::new(),
            when: None,
        };
        let tunables: Vec<Tunable> = QUEUES.iter().map(tunable).collect();
        let space = SearchSpace::new(&tunables, &[], &[]).expect("a space");
        let configuration = QUEUES.iter().map(|queue| (format!("{queue}_buffers"), Value::Int(1))).collect();
        let places = (0..8).map(|queue| Place { file: file.clone(), line: 3 + queue }).collect();
        (space, Candidate { sources, configuration, patches: Vec::new() }, places)
    }

    #[test]
    fn all_queues_together_fit_or_are_never_drawn() {
        let (space, baseline, places) = operator();
        let launch = |used: usize, end_bytes| Taken {
            by_place: places[..used].iter().map(|place| (place, 1024)).collect(),
            end_bytes,
        };
        // One launch makes all queues and has room for three buffers more, another makes two of them and has room for all.
        let found = bounds(&space, &baseline, &[launch(8, 12 << 10), launch(2, 4 << 10)], 15 << 10);
        let [bound] = &found[..] else { panic!("one launch can overflow: {found:?}") };
        assert_eq!((bound.weights.len(), bound.most), (8, 11 << 10));
        let fitting = space.clone().with_bounds(&found);
        let more = |point: &[u32]| point.iter().sum::<u32>();
        // What one and two of them have together says nothing of three: that is the sum's.
        assert!(fitting.allows(&[1, 1, 1, 0, 0, 0, 0, 0]) && fitting.allows(&[0, 2, 1, 0, 0, 0, 0, 0]));
        assert!(!fitting.allows(&[1, 1, 1, 1, 0, 0, 0, 0]) && !fitting.allows(&[0, 2, 2, 0, 0, 0, 0, 0]));
        let all = space.enumerate().expect("small");
        let left = fitting.enumerate().expect("smaller");
        assert_eq!(left.len(), all.iter().filter(|point| more(point) <= 3).count());
        assert!(left.len() * 20 < all.len(), "{} of {}", left.len(), all.len());
    }

    #[test]
    fn a_queue_that_a_launch_does_not_make_says_nothing_about_it() {
        let (space, mut baseline, places) = operator();
        baseline.configuration.set("h_buffers", Value::Int(2));
        let by_place = places[..7].iter().map(|place| (place, 1024)).collect();
        let found = bounds(&space, &baseline, &[Taken { by_place, end_bytes: 8 << 10 }], 9 << 10);
        let fitting = space.with_bounds(&found);
        for other in 0..3 {
            assert!(fitting.allows(&[0, 0, 0, 0, 0, 0, 1, other]) && !fitting.allows(&[0, 0, 0, 0, 0, 1, 1, other]));
        }
    }

    #[test]
    fn what_always_fits_is_not_bound() {
        let (space, baseline, places) = operator();
        let by_place = places.iter().map(|place| (place, 1024)).collect();
        assert_eq!(bounds(&space, &baseline, &[Taken { by_place, end_bytes: 8 << 10 }], 24 << 10), []);
    }
}
