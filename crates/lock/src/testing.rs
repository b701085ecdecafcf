//! A lock for tests here and elsewhere.

use std::collections::BTreeMap;

use super::*;
use aicore::Origin;
use source::SourceTree;
use space::Value;

/// A lock with something of everything.
pub fn sample() -> Lock {
    let mut tree = SourceTree::new();
    tree.insert("op_kernel/gelu.cpp", "kernel");
    tree.insert("op_host/gelu.cpp", "host");
    Lock {
        version: 2,
        tool: "0.1.0".into(),
        operator: "GeluNaive".into(),
        origin: Origin::Modelled,
        seed: 1,
        manifest: "feed".into(),
        speedup_permille: Some(1310),
        machine: LockedMachine { name: "ascend910b2".into(), version: "3".into(), digest: "beef".into() },
        device: None,
        sources: source_digests(&tree),
        applied: BTreeMap::new(),
        included: None,
        configuration: [
            ("TILE_LENGTH".to_owned(), Value::Int(8192)),
            ("BUFFER_NUM".to_owned(), Value::Int(2)),
            ("mode".to_owned(), Value::Text("wide".into())),
        ]
        .into_iter()
        .collect(),
        defaults: [("TILE_LENGTH".to_owned(), Value::Int(256))].into_iter().collect(),
        brought: space::Configuration::new(),
        cmake: BTreeMap::new(),
        files: BTreeMap::new(),
        generalisation: Some(LockedGeneralisation {
            seed: 1,
            speedup_permille: 1310,
            worst_permille: 995,
            worst: "smaller-float16-7".into(),
            probes: vec!["larger-float16-8192x1024".into(), "smaller-float16-7".into()],
            joined: Vec::new(),
            representing: Vec::new(),
        }),
        motifs: vec![LockedMotif {
            id: "D01".into(),
            title: "double buffering on inQueueX".into(),
            gain_permille: Some(1200),
        }],
        cases: vec![case("small", 4_000_000, 2_000_000), case("large", 91_234_567, 12_500_000)],
        known: Vec::new(),
        departures: Vec::new(),
        accepted: Vec::new(),
        others: Vec::new(),
    }
}

/// An entry of another chip.
pub fn other() -> Lock {
    let machine = LockedMachine { name: "ascend910_93".into(), version: "1".into(), digest: "f00d".into() };
    let mut entry = Lock { machine, cases: vec![case("small", 3_000_000, 1_500_000)], ..sample() };
    entry.configuration.set("TILE_LENGTH", Value::Int(64));
    entry
}

/// A case of it: times in picoseconds.
pub fn case(name: &str, baseline: u64, tuned: u64) -> LockedCase {
    LockedCase {
        name: name.into(),
        baseline: Picoseconds(baseline),
        tuned: Picoseconds(tuned),
        measured: None,
        weight_permille: None,
        alone: None,
        verification: "c0ffee".into(),
        outputs: BTreeMap::new(),
    }
}
