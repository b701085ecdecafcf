//! Files that somebody edited, merged or cut short: none of them makes a reader panic or hang.
//!
//! Inputs are made from sound ones by a seed. `ASCEND_TUNE_FUZZ_SECONDS` asks for so many seconds for each kind of file, with
//! seeds that go on from those of every other day. What fails is kept below `target/fuzz`; what failed once is in `tests/fuzz` and is
//! read first.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use aicore::testing::{TraceBuilder, pipe, region};
use aicore::{Machine, Options, analyse};
use discovery::init::discover_sources;
use experience::Bank;
use lock::Lock;
use manifest::{Layout, Manifest};
use motif::{self, Context};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use source::SourceTree;
use space::SearchSpace;
use tuner::{Evaluation, Journal};

use crate::support::root;

/// Inputs of each kind in the tests.
const ROUNDS: u64 = 150;
/// Longest processor time for one input: these are small files, and other work on the machine is not theirs.
const LONGEST: Duration = Duration::from_secs(10);
/// Words that mean something to one reader or another.
const WORDS: [&str; 34] = [
    "0",
    "-1",
    "1e300",
    "9223372036854775807",
    "18446744073709551616",
    "nan",
    "inf",
    "\"\"",
    "[]",
    "{}",
    "[[case]]",
    "[tunable.X]",
    "=",
    "\n",
    "\r\n",
    "\0",
    "\u{feff}",
    "é",
    "/*",
    "*/",
    "//",
    "\"",
    "'",
    "(",
    ")",
    "{",
    "}",
    "<",
    ">",
    "#define X(",
    "\\\n",
    "template <",
    "for (;;)",
    "1/0 == 1",
];

/// One sound input made into one that may not be.
fn spoilt(sound: &[u8], other: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = sound.to_vec();
    for _ in 0..rng.random_range(1..=4) {
        let from = rng.random_range(0..=bytes.len());
        let to = (from + rng.random_range(0..40)).min(bytes.len());
        match rng.random_range(0..9) {
            0 => drop(bytes.drain(from..to)),
            1 => bytes.truncate(from),
            2 => {
                let word = WORDS[rng.random_range(0..WORDS.len())];
                drop(bytes.splice(from..from, word.bytes()));
            }
            3 => {
                let word = WORDS[rng.random_range(0..WORDS.len())];
                drop(bytes.splice(from..to, word.bytes()));
            }
            4 => bytes[from..to].iter_mut().for_each(|byte| *byte = rng.next_u32() as u8),
            5 => {
                let part = bytes[from..to].to_vec();
                drop(bytes.splice(from..from, part.repeat(rng.random_range(1..4))));
            }
            6 => {
                let at = rng.random_range(0..=other.len());
                let part = other[at..(at + 200).min(other.len())].to_vec();
                drop(bytes.splice(from..to, part));
            }
            7 => {
                if let Some(byte) = bytes.get_mut(from) {
                    *byte ^= 1 << rng.random_range(0..8);
                }
            }
            _ => {
                // A number, if there is one here, becomes another.
                let digit = bytes[from..].iter().position(u8::is_ascii_digit).map(|at| from + at);
                if let Some(at) = digit {
                    let word = WORDS[rng.random_range(0..7)];
                    drop(bytes.splice(at..=at, word.bytes()));
                }
            }
        }
    }
    bytes
}

/// What this thread has had of the processor. The inputs are read in it, without any waiting.
fn processor_time() -> Duration {
    let text = fs_err::read_to_string("/proc/thread-self/schedstat").expect("the system counts processor time");
    let first = text.split_whitespace().next().and_then(|nanoseconds| nanoseconds.parse().ok());
    Duration::from_nanos(first.expect("nanoseconds come first"))
}

/// Reads spoilt inputs until the time is up, or so many of them.
fn fuzz(kind: &str, sound: &[Vec<u8>], read: impl Fn(&[u8])) {
    let seconds = std::env::var("ASCEND_TUNE_FUZZ_SECONDS").ok().and_then(|text| text.parse::<u64>().ok());
    let first =
        seconds.map_or(0, |_| std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs() / 86_400 * 1_000_000));
    for known in walkdir::WalkDir::new(root().join("tests/fuzz")).into_iter().filter_map(Result::ok) {
        if known.file_name().to_string_lossy().starts_with(&format!("{kind}-")) {
            read(&fs_err::read(known.path()).expect("readable"));
        }
    }
    let began = Instant::now();
    let mut round = 0;
    let goes_on = |round: u64| seconds.map_or(round < ROUNDS, |seconds| began.elapsed().as_secs() < seconds);
    while goes_on(round) {
        let mut rng = ChaCha8Rng::seed_from_u64(first + round);
        let bytes =
            spoilt(&sound[rng.random_range(0..sound.len())], &sound[rng.random_range(0..sound.len())], &mut rng);
        let before = processor_time();
        let failed = catch_unwind(AssertUnwindSafe(|| read(&bytes))).is_err();
        let taken = processor_time().saturating_sub(before);
        if failed || taken > LONGEST {
            let kept = root().join("target/fuzz").join(format!("{kind}-{}", first + round));
            fs_err::create_dir_all(kept.parent().expect("a folder")).expect("made");
            fs_err::write(&kept, &bytes).expect("written");
            panic!("{kind}: {} after {:?}: {}", if failed { "a panic" } else { "too slow" }, taken, kept.display());
        }
        round += 1;
    }
    println!("{kind}: {round} inputs in {:.1} s", began.elapsed().as_secs_f64());
}

fn files(folder: &str, extensions: &[&str]) -> Vec<Vec<u8>> {
    let found = walkdir::WalkDir::new(root().join(folder)).sort_by_file_name().into_iter().filter_map(Result::ok);
    let wanted =
        |path: &Path| path.extension().is_some_and(|extension| extensions.iter().any(|wanted| extension == *wanted));
    let files = found.filter(|entry| entry.file_type().is_file() && wanted(entry.path()));
    let files = files.filter(|entry| !entry.path().components().any(|part| part.as_os_str() == "target"));
    // A package of Cargo among the fixtures has a manifest of another kind.
    let files = files.filter(|entry| entry.file_name() != "Cargo.toml");
    let texts: Vec<Vec<u8>> = files.map(|entry| fs_err::read(entry.path()).expect("a file")).collect();
    assert!(!texts.is_empty(), "{folder} has files of {extensions:?}");
    texts
}

#[test]
fn manifests() {
    let sound = files("fixtures", &["toml"]);
    let parses = |bytes: &Vec<u8>| Manifest::parse(&String::from_utf8_lossy(bytes), Path::new("ascend.toml")).is_ok();
    assert!(sound.iter().all(parses), "what is spoilt was sound");
    fuzz("manifest", &sound, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        match Manifest::parse(&text, Path::new("ascend.toml")) {
            Ok(manifest) => {
                let facts: Vec<_> = manifest.cases.iter().map(|case| case.facts(48, 196_608)).collect();
                if let Ok(space) = SearchSpace::new(&manifest.tunables, &manifest.constraints, &facts) {
                    let mut rng = ChaCha8Rng::seed_from_u64(1);
                    let _ = space.sample(&mut rng);
                }
            }
            Err(invalid) => drop(invalid.render(false)),
        }
    });
}

#[test]
fn locks() {
    let sound = br#"version = 1
tool = "0.1.0"
operator = "Gelu"
origin = "modelled"
seed = 1
manifest = "content:00"

[machine]
name = "ascend910b2"
version = "4"
digest = "00"

[sources]
"op_kernel/gelu.cpp" = "content:00"

[included]
"../common/x.h" = "content:00"

[configuration]
TILE = 8192
mode = "wide"

[generalisation]
seed = 1
speedup_permille = 1310
worst_permille = 995
worst = "a"
probes = ["a"]

[[motif]]
id = "D01"
title = "t"

[[case]]
name = "8"
baseline_ps = 4000000
tuned_ps = 2000000
verification = "00"
outputs = { y = "00" }
"#;
    assert!(Lock::parse(&String::from_utf8_lossy(sound), Path::new("ascend.lock")).is_ok());
    fuzz("lock", &[sound.to_vec()], |bytes| {
        match Lock::parse(&String::from_utf8_lossy(bytes), Path::new("ascend.lock")) {
            Ok(lock) => drop(lock.to_text()),
            Err(error) => drop(error.to_string()),
        }
    });
}

#[test]
fn machines() {
    let sound = files("templates/machines", &["toml"]);
    let parses = |bytes: &Vec<u8>| Machine::parse("machine.toml", &String::from_utf8_lossy(bytes)).is_ok();
    assert!(sound.iter().any(parses), "what is spoilt was sound");
    fuzz("machine", &sound, |bytes| {
        let _ = Machine::parse("machine.toml", &String::from_utf8_lossy(bytes));
    });
}

#[test]
fn banks() {
    let temporary = tempfile::tempdir().expect("a directory");
    fuzz("bank", &files("templates/bank", &["toml"]), |bytes| {
        fs_err::write(temporary.path().join("record.toml"), bytes).expect("written");
        let _ = Bank::load(temporary.path()).map(|bank| bank.digest());
    });
}

#[test]
fn journals() {
    let temporary = tempfile::tempdir().expect("a directory");
    let path = temporary.path().join("journal.jsonl");
    let (journal, _) = Journal::<Evaluation>::open(&path, "inputs", false).expect("a journal");
    drop(journal);
    let mut sound = fs_err::read(&path).expect("a header");
    sound.extend_from_slice(
        b"{\"digest\":\"00\",\"thorough\":false,\"outcome\":{\"valid\":[{\"name\":\"8\",\"task_us\":3.5,\"bound_us\":1.0}]},\"seconds\":0.5}\n",
    );
    fs_err::write(&path, &sound).expect("written");
    let entries = Journal::<Evaluation>::open(&path, "inputs", true).expect("a journal").0.entries().count();
    assert_eq!(entries, 1, "what is spoilt was sound");
    fuzz("journal", &[sound], |bytes| {
        fs_err::write(&path, bytes).expect("written");
        let _ = Journal::<Evaluation>::open(&path, "inputs", true).map(|(journal, _)| journal.entries().count());
    });
}

#[test]
fn traces() {
    let mut trace = TraceBuilder::default();
    for core in 0..2 {
        let builder = trace.core(core);
        builder.load(0, region(0), 1024).order(pipe::MTE2, pipe::V, 0).add(4096, 0, 0, 512).order(
            pipe::V,
            pipe::MTE3,
            0,
        );
        builder.store(region(1), 4096, 1024).buffer_cut(0, 256).clean(Some(region(1))).sync_all();
        builder.set_cross(pipe::MTE3, 1, 0).wait_cross(1).load_l1(0, region(0), 64).product(16, 16, 16, 0).fixpipe(
            region(1),
            16,
            0,
        );
        builder.end();
    }
    let machine = Machine::named("ascend910b2").expect("a machine");
    assert!(analyse(&trace.build()[..], &machine, &Options::default()).is_ok(), "what is spoilt was sound");
    fuzz("trace", &[trace.build()], |bytes| {
        let _ = analyse(bytes, &machine, &Options::default()).map(|reports| reports.len());
    });
}

#[test]
fn sources() {
    let sound = files("fixtures", &["cpp", "h", "asc", "txt"]);
    fuzz("source", &sound, |bytes| {
        let mut tree = SourceTree::new();
        let text = String::from_utf8_lossy(bytes).into_owned();
        tree.insert("op_kernel/x.cpp", text.clone());
        tree.insert("CMakeLists.txt", text);
        for layout in [Layout::Msopgen, Layout::DirectLaunch] {
            let _ = discover_sources(&tree, layout, None, None);
        }
        let context = Context::new(tree, Default::default(), None);
        for motif in motif::all() {
            for site in motif.find(&context).sites {
                let _ = motif.apply(&context, &site);
            }
        }
    });
}
