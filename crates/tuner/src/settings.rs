//! Settings between operators: what those of a strong one are in measures that hold elsewhere, slower ones to hold against
//! them, and what the bank's make of this operator.

use std::collections::BTreeSet;

use aicore::Machine;
use experience::{Bank, Query, Setting, SettingKind};
use source::tunable::Meaning;
use space::{Configuration, SearchSpace, Tunable, Value, domain_values};

/// A setting of a strong operator made worse, as a competent first version might have it.
#[derive(Clone, Debug, PartialEq)]
pub struct RewoundSetting {
    /// What it decides.
    pub kind: SettingKind,
    /// Name of the tunable.
    pub tunable: String,
    /// The configuration with the slower value.
    pub configuration: Configuration,
    /// Both values in the measure of the kind.
    pub setting: Setting,
}

/// Cores are halved and tiles quartered: less than that is a straw man.
const FEWER_CORES: f64 = 0.5;
const SHORTER_TILE: f64 = 0.25;

/// The settings of a strong operator, each made worse on its own. Its buffers take `filled_bytes` of the unified buffer.
pub fn rewound_settings(
    space: &SearchSpace,
    strong: &Configuration,
    filled_bytes: u64,
    machine: &Machine,
) -> Vec<RewoundSetting> {
    let mut found = Vec::new();
    let filled = filled_bytes as f64 / machine.parameters.ub_bytes;
    for (kind, tunable, present) in settings(space, strong) {
        let (wanted, measure) = match kind {
            SettingKind::Cores => (present * FEWER_CORES, 1.0 / machine.parameters.aiv_cores),
            SettingKind::Buffers => (1.0, 1.0),
            SettingKind::Tile => (present * SHORTER_TILE, filled / present),
        };
        let Some(slow) = nearest(tunable, wanted, kind).filter(|slow| (*slow as f64) < present) else { continue };
        let mut configuration = strong.clone();
        configuration.set(&tunable.name, Value::Int(slow));
        if measure > 0.0 && space.check(&configuration).is_ok() {
            let setting = Setting { slow: slow as f64 * measure, fast: present * measure };
            found.push(RewoundSetting { kind, tunable: tunable.name.clone(), configuration, setting });
        }
    }
    found
}

/// What the bank lets expect of an operator that runs with `present`: all settings that it knows, then the same with the tile as it
/// is, because only a launch can say whether the longer one fits. Its buffers take `filled_bytes` of the unified buffer; the tunables `asked` limit
/// how much of it the tiling function plans with.
pub fn expected_settings(
    space: &SearchSpace,
    bank: &Bank,
    query: &Query,
    present: &Configuration,
    asked: &BTreeSet<&str>,
    filled_bytes: u64,
    machine: &Machine,
) -> Vec<Configuration> {
    let mut without_tile = present.clone();
    let mut more_buffers = 1.0_f64;
    let mut tiles = Vec::new();
    let tile_of_asked = space.tunables().filter(|tunable| asked.contains(tunable.name.as_str())).map(|tunable| {
        let limit = present.get(&tunable.name).and_then(Value::as_int).filter(|limit| *limit > 0);
        (SettingKind::Tile, tunable, limit.map_or(machine.parameters.ub_bytes, |limit| limit as f64))
    });
    // All tiles follow from the size that the tiling function plans with.
    let follows = |kind: SettingKind| kind == SettingKind::Tile && !asked.is_empty();
    let own = settings(space, present).filter(|(kind, ..)| !follows(*kind));
    for (kind, tunable, value) in own.chain(tile_of_asked) {
        let Some(known) = bank.setting(kind, query) else { continue };
        let wanted = match kind {
            SettingKind::Cores => known * machine.parameters.aiv_cores,
            SettingKind::Buffers => known,
            SettingKind::Tile => {
                tiles.push((tunable, value, known));
                continue;
            }
        };
        let Some(better) = nearest(tunable, wanted, kind) else { continue };
        without_tile.set(&tunable.name, Value::Int(better));
        if kind == SettingKind::Buffers {
            more_buffers = more_buffers.max(better as f64 / value.max(1.0));
        }
    }
    let mut expected = Vec::new();
    // With several lengths nothing says which of them fills the buffer.
    if let [(tunable, value, share)] = tiles.as_slice()
        && filled_bytes > 0
    {
        let wanted = value * share * machine.parameters.ub_bytes / (filled_bytes as f64 * more_buffers);
        if let Some(tile) = nearest(tunable, wanted, SettingKind::Tile) {
            let mut configuration = without_tile.clone();
            configuration.set(&tunable.name, Value::Int(tile));
            expected.push(configuration);
        }
    }
    expected.push(without_tile);
    expected.dedup();
    expected.retain(|configuration| configuration != present && space.check(configuration).is_ok());
    expected
}

/// Tunables that decide something which operators have in common, with their values.
fn settings<'a>(
    space: &'a SearchSpace,
    configuration: &'a Configuration,
) -> impl Iterator<Item = (SettingKind, &'a Tunable, f64)> {
    space.tunables().filter_map(|tunable| {
        let kind = SettingKind::of(Meaning::of(tunable)?)?;
        match configuration.get(&tunable.name)? {
            Value::Int(value) if *value > 0 => Some((kind, tunable, *value as f64)),
            _ => None,
        }
    })
}

/// The value of the domain nearest to the one wanted, of a tile the longest that is no longer.
fn nearest(tunable: &Tunable, wanted: f64, kind: SettingKind) -> Option<i64> {
    let values = domain_values(tunable).ok()?.into_iter().filter_map(|value| match value {
        Value::Int(value) if value > 0 => Some(value),
        _ => None,
    });
    match kind {
        SettingKind::Tile => values.filter(|value| *value as f64 <= wanted).max(),
        SettingKind::Cores | SettingKind::Buffers => {
            values.min_by(|left, right| (*left as f64 - wanted).abs().total_cmp(&(*right as f64 - wanted).abs()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aicore::Origin;
    use experience::{Features, Provenance, Record, Shingles, Verdict};
    use space::{Binding, Domain};

    fn tunable(name: &str, domain: Domain, present: i64) -> Tunable {
        Tunable {
            name: name.to_owned(),
            domain,
            default: Some(Value::Int(present)),
            binding: Binding::Constant { file: "tiling.cpp".to_owned(), name: name.to_owned(), also: Vec::new() },
            reason: String::new(),
            when: None,
        }
    }

    fn space(cores: i64, tile: i64, buffers: i64) -> (SearchSpace, Configuration) {
        let tunables = [
            tunable("BLOCK_DIM", Domain::Range { min: 1, max: 48, step: 1 }, cores),
            tunable("TILE_LENGTH", Domain::PowerOfTwo { min: 64, max: 16_384 }, tile),
            tunable("BUFFER_NUM", Domain::Range { min: 1, max: 4, step: 1 }, buffers),
            tunable("EPOCHS", Domain::Range { min: 1, max: 4, step: 1 }, 1),
        ];
        let present = tunables.iter().filter_map(|one| Some((one.name.clone(), one.default.clone()?))).collect();
        (SearchSpace::new(&tunables, &[], &[]).unwrap(), present)
    }

    /// A record of a strong operator's setting.
    fn record(operator: &str, kind: SettingKind, fast: f64, verdict: Verdict) -> Record {
        Record {
            motif: kind.id().to_owned(),
            verdict,
            origin: Origin::Modelled,
            before_us: 12.0,
            after_us: 10.0,
            before_digest: String::new(),
            after_digest: String::new(),
            symptoms: Vec::new(),
            avoid_when: Vec::new(),
            conditions: Vec::new(),
            provenance: Provenance { operator: operator.to_owned(), ..Provenance::default() },
            features: Features::default(),
            counters: std::collections::BTreeMap::new(),
            setting: Some(Setting { slow: fast / 2.0, fast }),
            diff: String::new(),
        }
    }

    fn expected(records: Vec<Record>, filled_bytes: u64) -> Vec<String> {
        let (space, present) = space(16, 512, 1);
        expected_of(&space, &present, &BTreeSet::new(), records, filled_bytes)
    }

    fn expected_of(
        space: &SearchSpace,
        present: &Configuration,
        asked: &BTreeSet<&str>,
        records: Vec<Record>,
        filled_bytes: u64,
    ) -> Vec<String> {
        let mut bank = Bank::new();
        for record in records {
            bank.insert(record);
        }
        let query = Query { symptoms: Vec::new(), features: Features::default(), shingles: Shingles::default() };
        let machine = Machine::named("ascend910b2").unwrap();
        let found = expected_settings(space, &bank, &query, present, asked, filled_bytes, &machine);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn settings_of_strong_operators_are_expected_of_others_in_their_measure() {
        let of = |kind, fast| record("Strong", kind, fast, Verdict::Kept);
        let all = vec![of(SettingKind::Cores, 1.0), of(SettingKind::Buffers, 2.0), of(SettingKind::Tile, 0.75)];
        // 512 elements take 6 KiB, twice that with two buffers each: twelve times as long a tile fills three quarters of 192 KiB.
        assert_eq!(
            expected(all.clone(), 6144),
            [
                "BLOCK_DIM=48 BUFFER_NUM=2 EPOCHS=1 TILE_LENGTH=4096",
                "BLOCK_DIM=48 BUFFER_NUM=2 EPOCHS=1 TILE_LENGTH=512"
            ]
        );
        // Of a launch that says nothing of its buffers the tile stays as it is.
        assert_eq!(expected(all, 0), ["BLOCK_DIM=48 BUFFER_NUM=2 EPOCHS=1 TILE_LENGTH=512"]);
        assert!(expected(Vec::new(), 6144).is_empty());
        // What is so already is not tried.
        assert!(expected(vec![of(SettingKind::Cores, 1.0 / 3.0)], 6144).is_empty());
    }

    #[test]
    fn where_tiles_follow_from_what_is_planned_with_more_buffers_mean_less_of_it() {
        let mut size = tunable("ubSize_limit", Domain::PowerOfTwo { min: 8192, max: 131_072 }, 0);
        size.binding = Binding::Cap { file: "tiling.cpp".to_owned(), target: "ubSize".to_owned() };
        let tunables = [
            size,
            tunable("TILE_LENGTH", Domain::PowerOfTwo { min: 64, max: 16_384 }, 512),
            tunable("BUFFER_NUM", Domain::Range { min: 1, max: 4, step: 1 }, 1),
        ];
        let space = SearchSpace::new(&tunables, &[], &[]).unwrap();
        let present = tunables.iter().filter_map(|one| Some((one.name.clone(), one.default.clone()?))).collect();
        let of = |kind, fast| record("Strong", kind, fast, Verdict::Kept);
        let records = vec![of(SettingKind::Buffers, 2.0), of(SettingKind::Tile, 0.75)];
        // Buffers fill 180 KiB of 192: with two each they fill three quarters of it where 76.8 KiB are planned with.
        let found = expected_of(&space, &present, &BTreeSet::from(["ubSize_limit"]), records, 184_320);
        assert_eq!(
            found,
            ["BUFFER_NUM=2 TILE_LENGTH=512 ubSize_limit=65536", "BUFFER_NUM=2 TILE_LENGTH=512 ubSize_limit=0"]
        );
    }

    #[test]
    fn a_setting_that_mostly_does_not_matter_is_not_expected() {
        let cores = |operator, verdict| record(operator, SettingKind::Cores, 1.0, verdict);
        let records = |without_gain: usize| {
            let others = ["A", "B"].into_iter().take(without_gain);
            std::iter::once(cores("Strong", Verdict::Kept))
                .chain(others.map(|operator| cores(operator, Verdict::NoGain)))
                .collect()
        };
        assert_eq!(expected(records(0), 0).len(), 1);
        assert!(expected(records(2), 0).is_empty());
    }

    #[test]
    fn every_setting_is_made_worse_on_its_own_and_within_reason() {
        let (space, strong) = space(48, 8192, 2);
        let machine = Machine::named("ascend910b2").unwrap();
        let found = rewound_settings(&space, &strong, 98_304, &machine);
        let percent = |share: f64| (share * 100.0).round();
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.configuration.to_string(), percent(one.setting.slow), percent(one.setting.fast)))
            .collect();
        assert_eq!(
            found,
            [
                ("BLOCK_DIM=24 BUFFER_NUM=2 EPOCHS=1 TILE_LENGTH=8192".to_owned(), 50.0, 100.0),
                ("BLOCK_DIM=48 BUFFER_NUM=1 EPOCHS=1 TILE_LENGTH=8192".to_owned(), 100.0, 200.0),
                ("BLOCK_DIM=48 BUFFER_NUM=2 EPOCHS=1 TILE_LENGTH=2048".to_owned(), 13.0, 50.0),
            ]
        );
    }
}
