//! How many records of an instruction trace the model plays in a second: timing alone, with the critical path, with
//! hazards. `cargo bench --bench play` prints a table; arguments are files with traces to play as well, which stay where they
//! are. `--only-files` leaves the made-up traces out, so that the memory named at the end is what the files needed.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use aicore::testing::{CoreBuilder, Part, TraceBuilder, pipe, region};
use aicore::{LaunchReport, Machine, Options, TraceError, TraceSource, analyse, analyse_source};

/// Time that plays are repeated for each figure; the clock below moves in steps of some milliseconds.
const FIGURE: Duration = Duration::from_millis(400);

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    // `cargo test --benches` only asks whether it starts.
    if !std::env::args().any(|word| word == "--bench") {
        return Ok(());
    }
    let machine = Machine::named("ascend910b2")?;
    println!("{:<44}{:>10}{:>14}{:>16}{:>16}", "trace", "records", "timing", "with the path", "with hazards");
    let made = |name: &str, trace: Vec<u8>| row(name, |options| analyse(&trace, &machine, options));
    if !std::env::args().any(|word| word == "--only-files") {
        made("tiles of 25 records, 48 alike cores", tiles(48, 400, false))?;
        made("the same, every core its own lengths", tiles(48, 400, true))?;
        made("the same on one core", tiles(1, 8000, false))?;
        made("vector instructions in a row, 8 cores", vectors(8, 20_000))?;
        made("strided vector instructions, 8 cores", strided(8, 20_000))?;
        made("copies of 512 B, 48 cores", short_copies(48, 2_000))?;
        made("scalar accesses, 8 cores", scalars(8, 20_000))?;
    }
    for file in std::env::args().skip(1).filter(|word| !word.starts_with('-')) {
        let trace = InFile(File::open(&file)?);
        row(&file, |options| analyse_source(&trace, &machine, options))?;
    }
    if let Some(memory) = most_memory() {
        println!("most memory at a time: {memory}");
    }
    Ok(())
}

/// A trace that is read piece by piece.
struct InFile(File);

impl TraceSource for InFile {
    fn size_bytes(&self) -> u64 {
        self.0.metadata().map_or(0, |metadata| metadata.len())
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> std::io::Result<()> {
        self.0.read_exact_at(into, offset)
    }
}

/// Of this process, where the system tells.
fn most_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    Some(status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().to_owned())
}

fn row(name: &str, judge: impl Fn(&Options) -> Result<Vec<LaunchReport>, TraceError>) -> Result<(), Failure> {
    let mut records = 0;
    let mut time = |hazards: bool, critical_path: bool| -> Result<f64, Failure> {
        let (mut plays, started) = (0, clock());
        while clock().saturating_sub(started) < FIGURE {
            let reports = judge(&Options { hazards, critical_path, ..Options::default() })?;
            records = reports.iter().map(|report| report.records).sum();
            plays += 1;
        }
        Ok(clock().saturating_sub(started).as_secs_f64() / f64::from(plays))
    };
    let (timing, path, hazards) = (time(false, false)?, time(false, true)?, time(true, false)?);
    let rate = |seconds: f64| records as f64 / seconds / 1e6;
    println!(
        "{name:<44}{records:>10}{:>10.1} M/s{:>8.1} M/s {:>3.1}x{:>8.1} M/s {:>3.1}x",
        rate(timing),
        rate(path),
        path / timing,
        rate(hazards),
        hazards / timing,
    );
    Ok(())
}

/// Time that this thread has had on a processor, so that other work on the machine does not count; where the system does
/// not tell, time since the first call.
fn clock() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| START.get_or_init(Instant::now).elapsed(), Duration::from_nanos)
}

/// Fills the unified buffer, so that nothing read from it is unwritten.
fn fill(core: &mut CoreBuilder) {
    core.load(0, region(0), 0x30000).order(pipe::MTE2, pipe::V, 0);
}

/// Copy in, three vector instructions with their masks, copy out; two buffers and the flags that they need.
fn tiles(cores: u32, count: u64, ragged: bool) -> Vec<u8> {
    let mut trace = TraceBuilder::default();
    trace.with_region(0, 1 << 34, 0).with_region(1, 1 << 34, 1);
    for core in 0..cores {
        let bytes = if ragged { 8192 - 64 * core } else { 8192 };
        let base = (u64::from(core) * count) << 13;
        let builder = trace.core(core);
        for tile in 0..count {
            let (slot, id) = ((tile % 2) * 65536, (tile % 2) as u32);
            if tile >= 2 {
                builder.at(1).wait(pipe::V, pipe::MTE2, id);
            }
            builder.at(2).load(slot, region(0) + base + (tile << 13), bytes).order(pipe::MTE2, pipe::V, id);
            if tile >= 2 {
                builder.wait(pipe::MTE3, pipe::V, id);
            }
            for line in 3..6 {
                builder.at(line).add(slot + 16384, slot, slot + 8192 * (line & 1), bytes / 2);
            }
            builder.at(6).set(pipe::V, pipe::MTE2, id).order(pipe::V, pipe::MTE3, id);
            builder.at(7).store(region(1) + base + (tile << 13), slot + 16384, bytes).set(pipe::MTE3, pipe::V, id);
        }
        builder.end();
    }
    trace.build()
}

fn vectors(cores: u32, count: u64) -> Vec<u8> {
    on_cores(cores, |core| {
        fill(core);
        for index in 0..count {
            let at = (index % 7) * 4096;
            core.add(0x20000 + at, at, 0x10000 + at, 1024);
        }
    })
}

fn strided(cores: u32, count: u64) -> Vec<u8> {
    on_cores(cores, |core| {
        fill(core);
        for index in 0..count {
            let at = (index % 5) * 1024;
            let parts = [Part::ub_write(0x20000 + at, 32).rows(64, 64), Part::ub_read(at, 32).rows(64, 128)];
            core.record("vadd", pipe::V, 1, 0, 8, [0; 3], &parts);
        }
    })
}

fn short_copies(cores: u32, count: u64) -> Vec<u8> {
    let mut trace = TraceBuilder::default();
    for core in 0..cores {
        for index in 0..count {
            let at = (u64::from(core) * count + index) * 512;
            trace.core(core).load((index % 64) * 512, region(0) + at, 512);
        }
        trace.core(core).end();
    }
    trace.build()
}

fn scalars(cores: u32, count: u64) -> Vec<u8> {
    on_cores(cores, |core| {
        fill(core);
        for index in 0..count {
            let at = (index % 2048) * 4;
            core.scalar(1, 2, &[Part::ub_read(at, 4)]).scalar(1, 0, &[Part::ub_write(0x10000 + at, 4)]);
        }
    })
}

fn on_cores(cores: u32, emit: impl Fn(&mut CoreBuilder)) -> Vec<u8> {
    let mut trace = TraceBuilder::default();
    for core in 0..cores {
        emit(trace.core(core));
        trace.core(core).end();
    }
    trace.build()
}
