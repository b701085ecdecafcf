//! A trace that is read piece by piece says the same as one in memory.

use std::sync::atomic::{AtomicUsize, Ordering};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::testing::{Part, TraceBuilder, pipe, region};
use super::super::{
    LaunchReport, Machine, Options, Recording, TraceError, TraceSource, Warmth, analyse, analyse_source,
};

/// Bytes that are handed out in pieces, up to a number of them.
struct Pieces<'a> {
    bytes: &'a [u8],
    window: usize,
    left: AtomicUsize,
    largest: AtomicUsize,
}

impl<'a> Pieces<'a> {
    fn of(bytes: &'a [u8], window: usize) -> Self {
        Self { bytes, window, left: AtomicUsize::new(usize::MAX), largest: AtomicUsize::new(0) }
    }
}

impl TraceSource for Pieces<'_> {
    fn size_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> std::io::Result<()> {
        let left = self
            .left
            .load(Ordering::Relaxed)
            .checked_sub(1)
            .ok_or_else(|| std::io::Error::other("the disk is gone"))?;
        self.left.store(left, Ordering::Relaxed);
        self.largest.fetch_max(into.len(), Ordering::Relaxed);
        into.copy_from_slice(&self.bytes[offset as usize..offset as usize + into.len()]);
        Ok(())
    }

    fn window_bytes(&self) -> usize {
        self.window
    }
}

const OPTIONS: Options = Options {
    hazards: true,
    auto_sync: true,
    critical_path: true,
    shortcuts: true,
    sample: false,
    warmth: Warmth::Cold,
};

/// Blocks that are alike at equal distances, at unequal ones, or not; waits that are held, faults with texts, cores that
/// meet, and a core that hangs.
fn random_trace(seed: u64) -> Vec<u8> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut trace = TraceBuilder::default();
    trace.with_region(0, 1 << 24, 0).with_region(1, 1 << 24, 1);
    let blocks = random.random_range(1..60_u32);
    let scattered = random.random_bool(0.5);
    let tiles = random.random_range(1..30_u64);
    for block in 0..blocks {
        let bytes = if seed.is_multiple_of(3) { 32 * random.random_range(1..100_u32) } else { 2048 };
        let base = match scattered {
            true => 4096 * random.random_range(0..4096_u64),
            false => u64::from(block) * tiles * 4096,
        };
        let core = trace.core(block);
        for tile in 0..tiles {
            let at = if scattered { base ^ (tile << 12) } else { base + tile * 4096 };
            core.at(tile % 5).load(0, region(0) + at, bytes);
            if seed % 5 == 1 {
                // The wait comes before its set in the program.
                core.wait(pipe::MTE2, pipe::V, 1).set(pipe::MTE2, pipe::V, 1);
            } else {
                core.order(pipe::MTE2, pipe::V, 0);
            }
            core.add(8192, 0, 0, bytes / 2).order(pipe::V, pipe::MTE3, 0).store(region(1) + at, 8192, bytes);
            core.scalar(1, 1, &[Part::ub_read(64, 4)]).order(pipe::MTE3, pipe::MTE2, 2);
        }
        if seed % 4 == 1 {
            core.sync_all();
        }
        if seed % 6 == 2 {
            core.fault(5, &"queue ".repeat(random.random_range(0..200)));
        }
        if seed % 7 == 3 && block == 0 {
            core.wait(pipe::V, pipe::MTE2, 3);
        }
        core.end();
    }
    trace.build()
}

#[test]
fn windows_change_nothing() {
    let machine = Machine::named("ascend910b2").unwrap();
    let mut hazards = 0;
    for seed in 0..42 {
        let bytes = random_trace(seed);
        let whole = analyse(&bytes, &machine, &OPTIONS).unwrap();
        for window in [1, 777] {
            let source = Pieces::of(&bytes, window);
            let read: Vec<LaunchReport> = analyse_source(&source, &machine, &OPTIONS).unwrap();
            assert_eq!(read, whole, "seed {seed}, {window} bytes");
        }
        hazards += whole[0].hazards.len();
    }
    assert!(hazards > 40, "{hazards}");
}

/// What is remembered of one machine is not taken for what holds on another.
#[test]
fn a_recording_says_of_every_machine_what_a_fresh_one_says() {
    let machine = Machine::named("ascend910b2").unwrap();
    let with = |name: &str, value: f64| machine.with_values(&[(name.to_owned(), value)].into());
    let machines = [
        machine.clone(),
        with("dma_packet_bytes", 4096.0),
        with("dma_alignment_bytes", 8192.0),
        with("aiv_cores", 5.0),
        with("hbm_read_gbps", 400.0),
        machine.clone(),
    ];
    for seed in 0..14 {
        let bytes = random_trace(seed);
        let recording = Recording::of(&bytes).unwrap();
        assert_eq!(recording.launches(), 1);
        for (place, machine) in machines.iter().enumerate() {
            for warmth in [Warmth::Cold, Warmth::Repeated] {
                let options = Options { warmth, critical_path: false, hazards: false, ..OPTIONS };
                let fresh = analyse(&bytes, machine, &options).unwrap();
                let profiles = recording.profiles(machine, &[0], warmth);
                assert_eq!(profiles[&0], fresh[0].profile, "seed {seed}, machine {place}");
            }
        }
    }
}

#[test]
fn no_more_than_a_window_is_read_at_a_time() {
    let mut trace = TraceBuilder::default();
    for core in 0..4 {
        for tile in 0..2000 {
            trace.core(core).load(0, region(0) + tile * 512, 512);
        }
        trace.core(core).end();
    }
    let bytes = trace.build();
    let source = Pieces::of(&bytes, 4096);
    analyse_source(&source, &Machine::named("ascend910b2").unwrap(), &OPTIONS).unwrap();
    assert_eq!(source.largest.load(Ordering::Relaxed), 4096);
}

#[test]
fn a_trace_that_can_no_longer_be_read_is_an_error() {
    let machine = Machine::named("ascend910b2").unwrap();
    let bytes = random_trace(2);
    for left in [0, 1, 10, 40, 100] {
        let source = Pieces { left: AtomicUsize::new(left), ..Pieces::of(&bytes, 512) };
        let error = analyse_source(&source, &machine, &OPTIONS).unwrap_err();
        assert!(matches!(&error, TraceError::Unreadable { .. }), "{left}: {error}");
        assert!(error.to_string().contains("the disk is gone"), "{error}");
    }
}
