//! Damaged traces give typed errors.

use proptest::prelude::*;

use super::super::testing::{TraceBuilder, pipe, region};
use super::super::{LaunchStatus, Machine, Options, TraceError, analyse};

fn sample() -> Vec<u8> {
    let mut trace = TraceBuilder::default();
    trace.with_region(0, 4096, 0).with_region(1, 4096, 1);
    for core in 0..2 {
        let at = u64::from(core) * 2048;
        let builder = trace.core(core);
        builder.load(0, region(0) + at, 2048).order(pipe::MTE2, pipe::V, 0).add(4096, 0, 0, 1024);
        builder.order(pipe::V, pipe::MTE3, 0).store(region(1) + at, 4096, 2048).fault(5, "queue").end();
    }
    trace.build()
}

fn read(bytes: &[u8]) -> Result<usize, TraceError> {
    let machine = Machine::named("ascend910b2").unwrap();
    analyse(bytes, &machine, &Options::default()).map(|reports| reports.len())
}

#[test]
fn every_truncation_is_an_error_or_an_unfinished_launch() {
    let bytes = sample();
    assert_eq!(read(&bytes), Ok(1));
    let machine = Machine::named("ascend910b2").unwrap();
    for end in 0..bytes.len() {
        match analyse(&bytes[..end], &machine, &Options::default()) {
            Ok(reports) => assert!(reports.iter().all(|report| report.status == LaunchStatus::Unfinished), "at {end}"),
            Err(TraceError::Truncated { .. } | TraceError::Magic { .. }) => {}
            Err(other) => panic!("at {end}: {other}"),
        }
    }
}

#[test]
fn records_may_straddle_chunks() {
    let bytes = sample();
    let machine = Machine::named("ascend910b2").unwrap();
    let whole = analyse(&bytes, &machine, &Options::default()).unwrap();
    let mut split = bytes[..8].to_vec();
    let mut at = 8;
    while at < bytes.len() {
        let kind = bytes[at];
        let size = u64::from_le_bytes(bytes[at + 8..at + 16].try_into().unwrap()) as usize;
        let payload = &bytes[at + 16..at + 16 + size];
        let parts = if kind == 5 { payload.split_at(50) } else { (payload, &[][..]) };
        for part in [parts.0, parts.1].into_iter().filter(|part| kind != 5 || !part.is_empty()).take(if kind == 5 {
            2
        } else {
            1
        }) {
            split.extend_from_slice(&bytes[at..at + 8]);
            split.extend_from_slice(&(part.len() as u64).to_le_bytes());
            split.extend_from_slice(part);
        }
        at += 16 + size;
    }
    assert_eq!(analyse(&split, &machine, &Options::default()).unwrap(), whole);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damage_never_panics(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = sample();
        for (index, value) in changes {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        let _ = read(&bytes);
    }

    #[test]
    fn garbage_never_panics(tail in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut bytes = b"ASCTRC02".to_vec();
        bytes.extend_from_slice(&tail);
        let _ = read(&bytes);
    }
}
