//! The corpus of seeded defects in `tests/defects`: kernels with one defect each, and their repaired twins.
//!
//! Every file is compiled once and leaves one trace with all of its kernels. The judge has to name the defect's class and
//! line in the broken one and to have nothing against the twin.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use aicore::{Hazard, HazardKind, LaunchReport, Machine, Options, Severity, analyse};
use backend::Symbols;

use crate::support::{require_tools, root, sdk};

/// The option of a device's compiler that leaves all synchronisation to the kernel.
const AUTO_SYNC_OFF: &str = "--cce-auto-sync=off";

/// One defect as its source states it.
struct Expected {
    name: String,
    kind: HazardKind,
    severity: Severity,
    line: u32,
    /// Known not to be found.
    missed: bool,
}

/// The defects of a source: macro calls at the beginning of a line, each with one line that ends with `// here`.
fn expected(source: &str) -> Vec<Expected> {
    let mut found: Vec<Expected> = Vec::new();
    for (index, line) in source.lines().enumerate() {
        let called = ["DEFECT(", "OUTPUT_DEFECT(", "MISSED("].into_iter().find(|name| line.starts_with(name));
        if let Some(arguments) = called.and_then(|name| line.strip_prefix(name)) {
            let mut words = arguments.split(", ");
            let name = words.next().unwrap_or_default().to_owned();
            let class = words.next().unwrap_or_default().trim_matches('"');
            let severity = if class.ends_with('?') { Severity::Warning } else { Severity::Error };
            let kind = serde_json::from_value(class.trim_end_matches('?').into())
                .unwrap_or_else(|error| panic!("class of {name}: {error}"));
            found.push(Expected { name, kind, severity, line: 0, missed: called == Some("MISSED(") });
        } else if line.ends_with("// here") {
            let last = found.last_mut().expect("a defect comes first");
            assert_eq!(last.line, 0, "{} has two marked lines", last.name);
            last.line = index as u32 + 1;
        }
    }
    assert!(found.iter().all(|defect| defect.line > 0), "a defect has no marked line");
    found
}

/// The compiler as all files of the corpus are compiled.
fn compiler(options: &[&str]) -> Command {
    let sources = root().join("tests/defects");
    let mut command = Command::new(sdk().compiler.program());
    command.current_dir(&sources).args(["-std=c++17", "-O1", "-g1", "-Wall", "-Wextra", "-Werror"]).args(options);
    // Lines of the kernels are the user's, those of the header are not.
    command.arg(format!("-fdebug-prefix-map={}=.", sources.display()));
    command.arg(format!("-fdebug-prefix-map={}=/defect.h", sources.join("defect.h").display()));
    command
}

fn includes() -> [String; 3] {
    let folders = [sdk().include().to_owned(), sdk().root.join("src"), root().join("tests/defects")];
    folders.map(|folder| format!("-I{}", folder.display()))
}

/// Folder with the header that all files begin with, compiled once for all that have these options: reading it is half the work of most.
fn compiled_header(options: &[&str]) -> PathBuf {
    static COMPILED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("defects{}", options.concat()));
    let mut compiled = COMPILED.lock().expect("nobody fails while the header is compiled");
    if compiled.insert(folder.clone()) {
        fs_err::create_dir_all(&folder).expect("a folder");
        let mut command = compiler(options);
        command.args(includes()).args(["-x", "c++-header"]).arg(root().join("tests/defects/defect.h"));
        command.arg("-o").arg(folder.join("defect.h.gch"));
        let built = command.output().expect("the compiler runs");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    }
    folder
}

/// Compiles a file of kernels, runs all of them and judges the trace.
fn judged(file: &str, options: &[&str]) -> BTreeMap<String, LaunchReport> {
    let sdk = sdk();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (program, trace) = (directory.path().join("program"), directory.path().join("trace"));
    let library = sdk.library_directory.display();
    let words: Vec<&str> = options.iter().copied().filter(|option| *option != AUTO_SYNC_OFF).collect();
    let built = compiler(&words)
        .arg(format!("-I{}", compiled_header(&words).display()))
        .args(includes())
        .arg(file)
        .arg("-o")
        .arg(&program)
        .args([format!("-L{library}"), format!("-Wl,-rpath,{library}")])
        .args(["-lascend_sim", "-ldl"])
        .output()
        .expect("the compiler runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ran = Command::new(&program).arg(&trace).current_dir(directory.path()).output().expect("the program runs");
    assert!(ran.status.success(), "{}\n{}", ran.status, String::from_utf8_lossy(&ran.stderr));
    let bytes = fs_err::read(&trace).expect("there is a trace");
    let machine = Machine::named("ascend910b2").expect("a machine");
    // What a device's compiler would insert between the scalar unit and the others is missing then.
    let options = Options { auto_sync: !options.contains(&AUTO_SYNC_OFF), ..Options::default() };
    let reports = analyse(&bytes, &machine, &options).unwrap_or_else(|error| panic!("{error}"));
    let found = reports.into_iter().map(|mut report| (report.info.remove("kernel").unwrap_or_default(), report));
    // The program is gone once this returns; the lines are looked up here.
    found.map(|(name, report)| (name, located(report, file))).collect()
}

/// With lines of `file` for sites: 0 where a site is not one of its lines.
fn located(mut report: LaunchReport, file: &str) -> LaunchReport {
    let mut symbols = Symbols::new(&report.modules);
    let mut line = |site: u64| {
        let place = symbols.place(site);
        if Path::new(&place.file) == Path::new(file) { u64::from(place.line) } else { 0 }
    };
    for hazard in &mut report.hazards {
        hazard.site = line(hazard.site);
        hazard.other_site = line(hazard.other_site);
    }
    report
}

fn text(hazard: &Hazard) -> String {
    format!(
        "{:?} {:?} line {} and {}: {}",
        hazard.severity, hazard.kind, hazard.site, hazard.other_site, hazard.message
    )
}

/// What is wrong with the verdicts on one defect.
fn misses(defect: &Expected, reports: &BTreeMap<String, LaunchReport>) -> Vec<String> {
    let Expected { name, kind, severity, line, missed } = defect;
    let hazards = |twin: &str| {
        let report = reports.get(&format!("{name}.{twin}"));
        report.unwrap_or_else(|| panic!("{name}.{twin} did not run")).hazards.as_slice()
    };
    let mut misses = Vec::new();
    let expected = format!("{severity:?} {kind:?} line {line}");
    let first = hazards("broken").first();
    let needs_two = matches!(kind, HazardKind::Race | HazardKind::CrossCoreRace);
    match first {
        Some(hazard)
            if (hazard.kind, hazard.severity, hazard.site) == (*kind, *severity, u64::from(*line))
                && (!needs_two || hazard.other_site != 0) =>
        {
            if *missed {
                misses.push(format!("{name}: is found now; it is a DEFECT"));
            }
        }
        _ if *missed => {}
        _ => {
            let found: Vec<String> = hazards("broken").iter().map(text).collect();
            let found = if found.is_empty() { "nothing".to_owned() } else { found.join("\n      ") };
            misses.push(format!("{name}: expected {expected}, found\n      {found}"));
        }
    }
    let is_unjust = |hazard: &&Hazard| hazard.severity == Severity::Error || (hazard.kind == *kind && !missed);
    let unjust = hazards("repaired").iter().filter(is_unjust);
    misses.extend(unjust.map(|hazard| format!("{name}, repaired: {}", text(hazard))));
    misses
}

/// All defects of a file, and one list of everything that the judge got wrong.
fn check(file: &str, options: &[&str]) {
    require_tools!();
    let source = fs_err::read_to_string(root().join("tests/defects").join(file)).expect("the kernels are there");
    let defects = expected(&source);
    let reports = judged(file, options);
    assert_eq!(reports.len(), 2 * defects.len(), "kernels that are not registered, or twice");
    let misses: Vec<String> = defects.iter().flat_map(|defect| misses(defect, &reports)).collect();
    assert!(
        misses.is_empty(),
        "{} verdicts on {} defects are wrong:\n  {}",
        misses.len(),
        defects.len(),
        misses.join("\n  ")
    );
}

macro_rules! files {
    ($($name:ident [$($option:literal),*]),+ $(,)?) => {
        $(
            #[test]
            fn $name() {
                check(concat!(stringify!($name), ".cpp"), &[$($option),*]);
            }
        )+

        /// Kernels that nobody judges prove nothing.
        #[test]
        fn the_corpus_is_whole() {
            let folder = root().join("tests/defects");
            let mut files: Vec<String> = fs_err::read_dir(&folder)
                .expect("the folder is there")
                .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".cpp").map(str::to_owned))
                .collect();
            files.sort();
            assert_eq!(files, [$(stringify!($name)),+]);
            let count = |file: &String| {
                expected(&fs_err::read_to_string(folder.join(format!("{file}.cpp"))).expect("readable")).len()
            };
            let defects: usize = files.iter().map(count).sum();
            assert!(defects >= DEFECTS, "{defects} defects");
        }
    };
}

/// As many as the corpus has to have.
const DEFECTS: usize = 120;

files!(
    alignment [],
    arguments [],
    arguments_of_calls [],
    bounds [],
    copies_and_pads [],
    cores [],
    counts [],
    cube ["-D__DAV_C220_CUBE__"],
    cube_core ["-D__DAV_C220_CUBE__"],
    edges_of_products ["-D__DAV_C220_CUBE__"],
    events [],
    faster_passes [],
    faster_tiles [],
    flags [],
    handovers [],
    hands ["--cce-auto-sync=off"],
    indices_and_masks [],
    lanes_and_masks [],
    merges_of_cores [],
    multicore [],
    operators [],
    pipelines [],
    pipes_of_a_tile [],
    products ["-D__DAV_C220_CUBE__"],
    queues [],
    queues_and_buffers [],
    races [],
    ranges [],
    rounds_of_a_core [],
    rows [],
    scalars ["--cce-auto-sync=off"],
    schedules [],
    shares_and_borders [],
    shares_of_cores [],
    stages_of_products ["-D__DAV_C220_CUBE__"],
    tables [],
    teams [],
    tiles_and_tails [],
    tiles_of_cube ["-D__DAV_C220_CUBE__"],
    tiles_of_products ["-D__DAV_C220_CUBE__"],
    values [],
    writes [],
);
