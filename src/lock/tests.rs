use std::collections::BTreeMap;
use std::path::Path;

use super::*;
use crate::source::SourceTree;
use crate::space::{Configuration, Value};

pub(crate) fn sample() -> Lock {
    let mut tree = SourceTree::new();
    tree.insert("op_kernel/gelu.cpp", "kernel");
    tree.insert("op_host/gelu.cpp", "host");
    Lock {
        version: LOCK_VERSION,
        tool: "0.1.0".into(),
        operator: "GeluNaive".into(),
        origin: Origin::Modelled,
        seed: 1,
        manifest: "feed".into(),
        machine: LockedMachine { name: "ascend910b2".into(), version: "3".into(), digest: "beef".into() },
        sources: source_digests(&tree),
        configuration: [
            ("TILE_LENGTH".to_owned(), Value::Int(8192)),
            ("BUFFER_NUM".to_owned(), Value::Int(2)),
            ("mode".to_owned(), Value::Text("wide".into())),
        ]
        .into_iter()
        .collect(),
        motifs: vec![LockedMotif { id: "D01".into(), title: "double buffering on inQueueX".into() }],
        cases: vec![case("small", 4_000_000, 2_000_000), case("large", 91_234_567, 12_500_000)],
    }
}

fn case(name: &str, baseline: u64, tuned: u64) -> LockedCase {
    LockedCase {
        name: name.into(),
        baseline: Picoseconds(baseline),
        tuned: Picoseconds(tuned),
        verification: "c0ffee".into(),
    }
}

fn measured(values: &[(&str, u64)]) -> Vec<MeasuredCase> {
    values.iter().map(|&(name, time)| MeasuredCase { name: name.into(), time: Picoseconds(time) }).collect()
}

#[test]
fn text_is_sorted_and_stable() {
    let text = sample().to_text().unwrap();
    insta::assert_snapshot!(text, @"");
    let again = Lock::parse(&text, Path::new(LOCK_FILE)).unwrap();
    assert_eq!(again.to_text().unwrap(), text);
}

#[test]
fn numbers_that_toml_cannot_hold_are_refused() {
    let mut lock = sample();
    lock.seed = u64::MAX;
    insta::assert_snapshot!(lock.to_text().unwrap_err(), @"");
}

#[test]
fn errors_name_line_and_column() {
    let text = sample().to_text().unwrap();
    let message = |text: &str| Lock::parse(text, Path::new(LOCK_FILE)).unwrap_err().to_string();
    let corrupted = [
        text.replace("version = 1\n", "version = 2\n"),
        text.replace("version = 1\n", "version = 0\n"),
        text.replace("version = 1\n", ""),
        text.replace("seed = 1", "seed = -1"),
        text.replace("origin = \"modelled\"", "origin = \"guessed\""),
        text.replace("seed = 1", "seed = 1\nsurprise = 1"),
        text.replace("\"small\"", "\"large\""),
        text.replace("[machine]", "<<<<<<< ours\n[machine]"),
        String::new(),
    ]
    .map(|text| message(&text))
    .join("\n");
    insta::assert_snapshot!(corrupted, @"");
}

#[test]
fn compare_knows_all_verdicts() {
    let lock = sample();
    let now = measured(&[("small", 2_060_000), ("large", 12_875_001), ("other", 1)]);
    let verdicts = |now: &[MeasuredCase], tolerance: f64, selected: &[String]| {
        compare(&lock, now, tolerance, selected)
            .iter()
            .map(|case| format!("{} {:?} {}", case.name, case.ratio, case.verdict.word()))
            .collect::<Vec<_>>()
            .join("\n")
    };
    insta::assert_snapshot!(verdicts(&now, 1.03, &[]), @"");
    insta::assert_snapshot!(verdicts(&measured(&[("small", 1_900_000)]), 1.03, &[]), @"");
    insta::assert_snapshot!(verdicts(&measured(&[("small", 2_000_001)]), 1.0, &["small".to_owned()]), @"");
}

#[test]
fn drift_names_what_changed() {
    let lock = sample();
    let mut tree = SourceTree::new();
    tree.insert("op_kernel/gelu.cpp", "kernel, edited");
    tree.insert("op_kernel/new.h", "");
    let sources = source_digests(&tree);
    let machine = LockedMachine { digest: "dead".into(), ..lock.machine.clone() };
    let mut configuration = lock.configuration.clone();
    configuration.set("BUFFER_NUM", Value::Int(1));
    configuration.set("EXTRA", Value::Bool(true));
    let current = Current {
        operator: "GeluNaive",
        sources: &sources,
        manifest: "food",
        machine: &machine,
        configuration: Some(&configuration),
    };
    let found = drift(&lock, &current).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(found, @"");
    let same = Current {
        operator: "GeluNaive",
        sources: &lock.sources,
        manifest: "feed",
        machine: &lock.machine,
        configuration: Some(&lock.configuration),
    };
    assert_eq!(drift(&lock, &same), []);
}

#[test]
fn writing_is_lazy_and_keeps_the_users_comments() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(LOCK_FILE);
    assert!(matches!(read(&path), Err(LockError::Absent { .. })));
    let lock = sample();
    assert_eq!(write(&lock, &path).unwrap(), Written::Changed);
    assert_eq!(write(&lock, &path).unwrap(), Written::Unchanged);
    let text = fs_err::read_to_string(&path).unwrap();
    fs_err::write(&path, format!("# owned by the kernels team\n\n{text}")).unwrap();
    assert_eq!(write(&lock, &path).unwrap(), Written::Unchanged);
    let changed = Lock { seed: 2, ..lock };
    assert_eq!(write(&changed, &path).unwrap(), Written::Changed);
    let text = fs_err::read_to_string(&path).unwrap();
    assert!(text.starts_with("# owned by the kernels team\n\n# This file is @generated"), "{text}");
    assert_eq!(text.matches('#').count(), 3);
    let mut read_back = read(&path).unwrap();
    read_back.cases.reverse();
    assert_eq!(read_back, changed);
    assert_eq!(fs_err::read_dir(directory.path()).unwrap().count(), 1, "no temporary file stays behind");
}

#[test]
fn picoseconds_refuse_what_is_no_duration() {
    assert_eq!(Picoseconds::from_us(1.25), Some(Picoseconds(1_250_000)));
    for value in [-1.0, f64::NAN, f64::INFINITY, 1e30] {
        assert_eq!(Picoseconds::from_us(value), None);
    }
}

proptest::proptest! {
    #[test]
    fn any_lock_survives_the_round_trip(
        operator in ".{0,12}",
        values in proptest::collection::btree_map("[^\\x00]{1,8}", proptest::num::i64::ANY, 0..5),
        times in proptest::collection::btree_map(".{1,8}", 0..i64::MAX as u64, 0..5),
    ) {
        let mut lock = sample();
        lock.operator = operator;
        lock.configuration = values.into_iter().map(|(name, value)| (name, Value::Int(value))).collect::<Configuration>();
        lock.cases = times.iter().map(|(name, &time)| case(name, time, time / 2)).collect::<Vec<_>>();
        lock.sources = times.keys().map(|name| (name.clone(), name.clone())).collect::<BTreeMap<_, _>>();
        let text = lock.to_text().unwrap();
        proptest::prop_assert_eq!(Lock::parse(&text, Path::new(LOCK_FILE)).unwrap(), lock);
    }
}
