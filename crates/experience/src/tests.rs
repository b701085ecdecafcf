//! Records on disk, merging, retrieval, and judging of rewinds.

use std::collections::BTreeMap;

use super::*;
use aicore::{Limiter, Origin, PipeTimes, Profile, Stall};
use motif::{Context, Id, all, by_id};
use source::SourceTree;
use source::facts::KnownValues;

fn record(motif: &str, operator: &str, before_us: f64, after_us: f64, symptoms: &[&str]) -> Record {
    Record {
        motif: motif.into(),
        verdict: Verdict::Kept,
        origin: Origin::Modelled,
        before_us,
        after_us,
        before_digest: "aa".into(),
        after_digest: "bb".into(),
        symptoms: symptoms.iter().map(|symptom| (*symptom).to_owned()).collect(),
        avoid_when: vec!["one round only".into()],
        conditions: Vec::new(),
        provenance: Provenance {
            operator: operator.into(),
            licence: "MIT".into(),
            machine: "ascend910b2".into(),
            ..Provenance::default()
        },
        features: Features { dtypes: vec!["float".into()], input_queues: 1, ..Features::default() },
        counters: BTreeMap::from([("stall_us".to_owned(), [5.0, 2.0])]),
        setting: None,
        diff: "-v0(1)\n+v0(2)\n".into(),
    }
}

#[test]
fn a_record_of_what_a_model_did_is_a_file_of_the_bank_whatever_it_is_called() {
    let directory = tempfile::tempdir().unwrap();
    let mut bank = Bank::new();
    let motif = format!("{OF_A_MODEL}../../etc/\u{e9}\nx\"]{}", "y".repeat(300));
    let id = bank.add(directory.path(), record(&motif, "a", 10.0, 5.0, &["waits"])).unwrap();
    assert!(id.starts_with("model--") && !id.contains(['/', '.', '"', '\n']) && id.len() < 64, "{id}");
    assert_eq!(Bank::load(directory.path()).unwrap().get(&id).unwrap().motif, motif);
}

#[test]
fn records_survive_the_disk_and_keep_their_ids() {
    let directory = tempfile::tempdir().unwrap();
    let mut bank = Bank::load(&directory.path().join("not-there")).unwrap();
    assert!(bank.is_empty());
    let first = record("D01", "add", 10.0, 8.0, &["waits"]);
    let id = bank.add(directory.path(), first.clone()).unwrap();
    assert!(id.starts_with("d01-"));
    let loaded = Bank::load(directory.path()).unwrap();
    assert_eq!(loaded, bank);
    assert_eq!(loaded.get(&id), Some(&first));
    // Numbers are no part of the identity: a second measurement replaces the first.
    assert_eq!(record("D01", "add", 12.0, 8.0, &["waits"]).id(), id);
    assert_ne!(record("D01", "mul", 10.0, 8.0, &["waits"]).id(), id);
    std::fs::write(directory.path().join("x.toml"), "motif = 3\n").unwrap();
    assert!(matches!(Bank::load(directory.path()), Err(BankError::Malformed { .. })));
}

#[test]
fn merging_prefers_what_was_measured() {
    let mut measured = record("D01", "add", 10.0, 5.0, &[]);
    measured.origin = Origin::Measured;
    let (mut left, mut right) = (Bank::new(), Bank::new());
    let id = left.insert(measured.clone());
    right.insert(record("D01", "add", 10.0, 9.0, &[]));
    right.insert(record("Y01", "add", 10.0, 9.0, &[]));
    let mut other = right.clone();
    left.merge(right);
    assert_eq!((left.len(), left.get(&id)), (2, Some(&measured)));
    let mut only = Bank::new();
    only.insert(measured.clone());
    other.merge(only);
    assert_eq!(other, left);
}

#[test]
fn search_ranks_by_symptoms_and_shape_and_holds_out_operators() {
    let mut bank = Bank::new();
    bank.insert(record("D01", "a", 10.0, 8.0, &["waits"]));
    bank.insert(record("D01", "b", 10.0, 5.0, &["waits"]));
    bank.insert(record("D01", "c", 10.0, 10.0, &["scalar-bound"]));
    let shape = record("D01", "x", 1.0, 1.0, &[]).features;
    let query = Query { symptoms: vec!["waits".to_owned()], features: shape, ..Query::default() };
    let found = bank.search(&query);
    assert_eq!((found[0].likeness, found[2].likeness), (1.0, 0.5));
    // The record that is half as alike has a quarter of the weight.
    let expected = bank.expected("D01", &query).unwrap();
    assert_eq!((expected.records, expected.lower, expected.median, expected.upper), (3, 1.25, 1.25, 2.0));
    assert_eq!((expected.verified, expected.weight), (1.0, 2.25));
    assert_eq!(bank.without("b").len(), 2);
    assert_eq!(bank.expected("V01", &query), None);
}

#[test]
fn code_at_the_site_finds_its_like_whatever_the_names() {
    let mut bank = Bank::new();
    let mut barrier = record("Y01", "a", 10.0, 5.0, &["waits"]);
    barrier.diff = "-PipeBarrier<PIPE_ALL>();\n Add(v0,v1,v2,v3);\n".into();
    let mut fill = record("Y01", "b", 10.0, 9.0, &["waits"]);
    fill.diff = "-Duplicate(v0,1.0f,v3);\n".into();
    bank.insert(barrier);
    bank.insert(fill);
    let query = |code: &str| Query {
        symptoms: vec!["waits".into()],
        features: record("Y01", "x", 1.0, 1.0, &[]).features,
        shingles: Shingles::of(code),
    };
    let first = |code: &str| bank.search(&query(code))[0].record.provenance.operator.clone();
    assert_eq!(first("AscendC::PipeBarrier<PIPE_ALL>();"), "a");
    assert_eq!(first("Duplicate(ones, 1.0f, length);"), "b");
}

#[test]
fn what_never_verifies_is_told_apart_from_what_never_gains() {
    let mut bank = Bank::new();
    for operator in ["a", "b", "c"] {
        let refused = Record { verdict: Verdict::Rejected, ..record("D01", operator, 10.0, 5.0, &["waits"]) };
        bank.insert(refused);
    }
    bank.insert(record("D01", "d", 10.0, 8.0, &["waits"]));
    let shape = record("D01", "x", 1.0, 1.0, &[]).features;
    let query = Query { symptoms: vec!["waits".into()], features: shape, ..Query::default() };
    let expected = bank.expected("D01", &query).unwrap();
    assert_eq!((expected.median, expected.verified), (1.25, 0.25));
}

#[test]
fn holding_out_does_not_depend_on_the_spelling() {
    let mut bank = Bank::new();
    bank.insert(record("D01", "RmsNorm", 10.0, 8.0, &[]));
    bank.insert(record("D01", "rms_norm_quant", 10.0, 8.0, &[]));
    bank.insert(record("D01", "LayerNorm", 10.0, 8.0, &[]));
    assert_eq!(bank.without("rms_norm").len(), 1);
    assert_eq!(bank.without("rms-norm/beginner").len(), 3);
}

#[test]
fn equal_shapes_give_equal_texts() {
    let left = normalise("for (int i = 0; i < n; i++) { Add(x, y, z); } // sum\n");
    assert_eq!(left, normalise("for (int k = 0; k < count; k++) { Add(a, b, c); }"));
    assert_ne!(left, normalise("for (int k = 0; k < count; k++) { Add(a, b, a); }"));
}

fn profile(task_us: f64, stall_us: f64) -> Profile {
    Profile {
        kernel: String::new(),
        task_us,
        bound_us: 1.0,
        fixed_us: 0.5,
        limiter: Limiter::Latency,
        pipes: PipeTimes::default(),
        units: Vec::new(),
        cores: 1,
        longest_core_us: task_us,
        shortest_core_us: task_us,
        gm_read_bytes: 0,
        gm_write_bytes: 0,
        stalls: vec![Stall { pipe: "v".into(), reason: "flag".into(), time_us: stall_us, site: 0 }],
        timeline: Vec::new(),
        critical_path: Vec::new(),
        buffers: Vec::new(),
        buffers_end_bytes: 0,
        counters: BTreeMap::new(),
    }
}

#[test]
fn a_rewind_is_kept_only_when_its_counter_moved() {
    let motif = by_id(Id::D01);
    let kept = judge(2.0, &profile(20.0, 8.0), &profile(10.0, 2.0), motif.metadata().relieves);
    assert_eq!(kept.verdict, Verdict::Kept);
    assert_eq!(kept.reason, "stall_us from 8.00 to 2.00 us");
    assert_eq!(
        judge(2.0, &profile(20.0, 8.0), &profile(10.0, 8.0), motif.metadata().relieves).verdict,
        Verdict::EffectWithoutMechanism
    );
    // The longest launch is faster, the others pay for it.
    assert_eq!(
        judge(1.0, &profile(20.0, 8.0), &profile(10.0, 2.0), motif.metadata().relieves).verdict,
        Verdict::NoGain
    );
}

#[test]
fn strong_fixtures_have_rewinds_that_lead_back() {
    let mut tree = SourceTree::new();
    tree.insert("op_kernel/add_custom.cpp", include_str!("../../../fixtures/add_custom/op_kernel/add_custom.cpp"));
    let context = Context::new(tree, KnownValues::default(), None);
    let rewinds = rewound_patches(&context, all());
    let motifs: std::collections::BTreeSet<Id> = rewinds.iter().map(|rewind| rewind.motif).collect();
    for motif in [Id::D01, Id::D05, Id::V01, Id::Y01, Id::Y02] {
        assert!(motifs.contains(&motif), "{motif} is not among {motifs:?}");
    }
}

#[test]
fn pruning_keeps_the_quantiles_and_the_newest_machine() {
    let directory = tempfile::tempdir().unwrap();
    let mut bank = Bank::new();
    for (operator, after) in [("a", 9.0), ("b", 8.0), ("c", 5.0), ("d", 4.0), ("e", 2.0)] {
        bank.add(directory.path(), record("D01", operator, 10.0, after, &["waits"])).unwrap();
    }
    let mut old = record("Y01", "a", 10.0, 5.0, &[]);
    old.provenance.machine_version = "9".into();
    let mut new = record("Y01", "b", 10.0, 5.0, &[]);
    new.provenance.machine_version = "10".into();
    let (old, new) = (bank.add(directory.path(), old).unwrap(), bank.add(directory.path(), new).unwrap());
    // Records that name no version are older than all that do.
    let gone = bank.superfluous();
    assert!(gone.contains(&old) && !gone.contains(&new));
    assert_eq!(gone.len(), 6);
    let mut only = Bank::new();
    for (operator, after) in [("a", 9.0), ("b", 8.0), ("c", 5.0), ("d", 4.0), ("e", 2.0)] {
        only.insert(record("D01", operator, 10.0, after, &["waits"]));
    }
    for id in only.superfluous() {
        only.take(&id);
    }
    let mut left: Vec<f64> = only.iter().map(|(_, record)| record.gain()).collect();
    left.sort_by(f64::total_cmp);
    assert_eq!(left, [10.0 / 9.0, 2.0, 5.0]);
    bank.remove(directory.path(), &old).unwrap();
    assert_eq!(Bank::load(directory.path()).unwrap(), bank);
    bank.remove(directory.path(), &old).unwrap();
}

#[test]
fn statistics_count_verdicts_and_leave_refused_records_out_of_the_gains() {
    let mut bank = Bank::new();
    bank.insert(record("D01", "a", 10.0, 5.0, &[]));
    bank.insert(Record { verdict: Verdict::NoGain, ..record("D01", "b", 10.0, 10.0, &[]) });
    bank.insert(Record { verdict: Verdict::Rejected, ..record("D01", "c", 10.0, 1.0, &[]) });
    let statistics = bank.statistics();
    let one = &statistics[0];
    assert_eq!((one.records, one.operators, one.kept, one.no_gain, one.rejected), (3, 3, 1, 1, 1));
    assert_eq!((one.lower, one.upper), (1.0, 2.0));
    let json: serde_json::Value = serde_json::from_str(&bank.to_json()).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 3);
    assert!(json[0]["id"].as_str().unwrap().starts_with("d01-"));
    assert!(bank.to_markdown().contains("| D01 | 3 | 3 | 1 | 1 | 0 | 1 | 1.00x"), "{}", bank.to_markdown());
}
