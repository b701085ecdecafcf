//! What passed before, exactly as it is now, need not be built and run again. A record of a check that passed lies beside the user's cache
//! and names everything that had a part in it; where all of that is the same, the result is, too, since times are modelled and runs are
//! deterministic. The lock is no such record: it lies in the repository, and whoever edits a kernel can edit its digests.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::cli::args::{BackendChoice, Target};
use crate::cli::projects::is_built;
use crate::cli::target::headers;
use aicore::Origin;
use build::compiler::Compiler;
use build::sdk::{Sdk, SdkOptions};
use build::{BuildInputs, Digest};
use events::Check;
use lock::EntryName;
use manifest::{KernelHeaders, Reference};
use project::{OperatorProject, RepositoryIndex};
use toolchain::Cmake;
use tuner::{Workspace, recover};

/// Version of the records.
const FORMAT: &str = "check 1";
/// What the folder of records has behind the name of the cache, beside which it lies: compilers and CMake may write to the cache, and what
/// they are told to do stands in files of the operator.
const BESIDE: &str = "-checks";
/// After so long without use a record goes.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// Variables that compilers, CMake and loaders read.
const VARIABLES: [&str; 16] = [
    "ASCEND_HOME_PATH",
    "CC",
    "CFLAGS",
    "CMAKE_PREFIX_PATH",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "CPPFLAGS",
    "CXX",
    "CXXFLAGS",
    "C_INCLUDE_PATH",
    "GCC_EXEC_PREFIX",
    "LDFLAGS",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "PYTHONPATH",
    "SOURCE_DATE_EPOCH",
];
/// Words of code that reads files or the environment: of which ones, only it knows.
const READS_FILES: [&str; 6] = ["fopen", "ifstream", "open(", "ReadFile", "filesystem", "getenv"];

/// Records of one way of checking on this machine.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    folder: PathBuf,
    /// Everything that is the same for all operators: tool, SDK, compiler, CMake, environment, arguments.
    facts: String,
    /// A machine description that is a file.
    machine: Option<String>,
}

/// A record.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    operator: String,
    /// Files and folders outside the operator's directory with their digests. Paths are as seen from that directory, or whole.
    files: BTreeMap<String, String>,
    /// Files that are not there, and would be taken if they were.
    absent: Vec<String>,
    /// File names that are included.
    names: Vec<String>,
    /// Digest of which files of the repository have such a name.
    named: String,
    /// What was found.
    check: Check,
}

/// What a record says.
#[derive(Debug)]
pub(super) struct Recalled {
    /// The operator.
    pub operator: String,
    /// What was found, marked as remembered.
    pub check: Check,
}

/// A check that has begun, and may become a record.
#[derive(Debug)]
pub(super) struct Memo<'memory> {
    memory: &'memory Memory,
    own: String,
    begun: SystemTime,
}

impl Memory {
    /// The records for these arguments; nothing where something decides that has no digest: devices, and headers of a toolkit.
    pub(super) fn open(target: &Target, tolerance: Option<f64>) -> Option<Self> {
        let is_modelled = matches!(target.backend, BackendChoice::Auto | BackendChoice::Sim);
        let has_own_headers = matches!(headers(target), None | Some(KernelHeaders::Own));
        if !is_modelled || !has_own_headers {
            return None;
        }
        let options = SdkOptions::from_environment();
        let (_, sdk) = Sdk::unpacked(&options).ok()?;
        let (compiler, cmake) = (Compiler::find().ok()?, Cmake::find().ok()?);
        let tool = blake3::hash(&std::fs::read(std::env::current_exe().ok()?).ok()?);
        let mut facts = Digest::new(FORMAT);
        facts
            .text(&tool.to_hex())
            .text(&sdk)
            .text(&compiler.identity)
            .text(&format!("{} {} {}", cmake.program.display(), cmake.version, cmake.generator))
            .texts(VARIABLES.iter().map(|name| format!("{:?}", std::env::var_os(name))))
            .text(&format!("{:?} {:?} {:?}", target.machine, tolerance, target.sdk_headers))
            .texts(target.soc.iter().map(ToString::to_string))
            .texts(&target.cases)
            .texts(target.assignments.iter().map(|set| format!("{}={}", set.name, set.value)))
            .texts(target.definitions.iter().map(|entry| format!("{}={}", entry.name, entry.value)));
        let cache = options.cache_directory().ok()?;
        let mut name = cache.file_name()?.to_owned();
        name.push(BESIDE);
        let folder = cache.with_file_name(name);
        Some(Self { folder, facts: facts.finish(), machine: target.machine.clone() })
    }

    /// The records of the same way of checking for an entry of the lock; without a name, for the one whose values the sources hold.
    pub(super) fn of(&self, name: Option<&EntryName>) -> Self {
        let Some(name) = name else { return self.clone() };
        let facts = Digest::new(FORMAT).text(&self.facts).text(&name.to_string()).finish();
        Self { folder: self.folder.clone(), facts, machine: Some(name.soc.clone()) }
    }

    /// What an earlier check of exactly this has found.
    pub(super) fn recall(&self, directory: &Path) -> Option<Recalled> {
        let project = OperatorProject::find(directory).ok()?;
        recover(&project.root, &project.work_directory()).ok()?;
        let path = self.path(&own_digest(&project).ok()?);
        let record: Record = serde_json::from_slice(&std::fs::read(&path).ok()?).ok()?;
        let root = &project.root;
        let is_same = |(file, digest): (&String, &String)| digest_of(&root.join(file)).is_ok_and(|now| now == *digest);
        let is_absent = |file: &String| !root.join(file).exists();
        let same = record.files.iter().all(is_same)
            && record.absent.iter().all(is_absent)
            && record.named == digest_of_named(&project, &record.names);
        if !same {
            return None;
        }
        // Records that are asked for stay.
        let _ = std::fs::File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        Some(Recalled { operator: record.operator, check: Check { remembered: true, ..record.check } })
    }

    /// Takes down what is there before a check begins.
    pub(super) fn begin(&self, directory: &Path) -> Option<Memo<'_>> {
        let project = OperatorProject::find(directory).ok()?;
        Some(Memo { memory: self, own: own_digest(&project).ok()?, begun: SystemTime::now() })
    }

    fn path(&self, own: &str) -> PathBuf {
        self.folder.join(Digest::new(FORMAT).text(&self.facts).text(own).finish()).with_extension("json")
    }
}

impl Memo<'_> {
    /// Keeps that a check passed, if everything that had a part in it is known and did not change meanwhile. That it cannot be kept
    /// is no reason for a check to fail.
    pub(super) fn keep(self, workspace: &Workspace, check: &Check) {
        if decides_alone(workspace) {
            let kept = self.record(workspace, check).and_then(|record| self.write(&record));
            if let Err(error) = kept {
                tracing::debug!(%error, "the check is not remembered");
            }
        }
    }

    fn record(&self, workspace: &Workspace, check: &Check) -> io::Result<Record> {
        let project = &workspace.project;
        let mut inputs = workspace.evaluator.builder.inputs(&workspace.sources).map_err(io::Error::other)?;
        let machine = self.memory.machine.as_ref().unwrap_or(&workspace.manifest.machine);
        if machine.ends_with(".toml") {
            let given = PathBuf::from(machine);
            inputs.files.insert(if given.exists() { std::path::absolute(given)? } else { project.root.join(given) });
        }
        let BuildInputs { files, absent, names } = inputs;
        let seen = |path: &Path| project.seen_from_root(path).unwrap_or_else(|| path.display().to_string());
        let mut digests = BTreeMap::new();
        for file in files {
            if std::fs::metadata(&file).and_then(|file| file.modified()).is_ok_and(|at| at >= self.begun) {
                return Err(io::Error::other(format!("{} was changed meanwhile", file.display())));
            }
            digests.insert(seen(&file), digest_of(&file)?);
        }
        if own_digest(project)? != self.own {
            return Err(io::Error::other("the operator was changed meanwhile"));
        }
        let names: Vec<String> = names.into_iter().collect();
        Ok(Record {
            operator: workspace.manifest.operator.clone(),
            files: digests,
            absent: absent.iter().map(|path| seen(path)).collect(),
            named: digest_of_named(project, &names),
            names,
            check: check.clone(),
        })
    }

    fn write(&self, record: &Record) -> io::Result<()> {
        let folder = &self.memory.folder;
        fs_err::create_dir_all(folder)?;
        forget_old(folder);
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
        serde_json::to_writer(&mut file, record)?;
        file.persist(self.memory.path(&self.own)).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Whether files, tool and compiler are all that a check of it hangs on. Commands of the manifest and code that opens files read what
/// they like, and a device measures.
fn decides_alone(workspace: &Workspace) -> bool {
    let manifest = &workspace.manifest;
    let reads_files = || {
        let texts = || workspace.sources.iter().map(|(_, text)| text);
        texts().any(|text| READS_FILES.iter().any(|word| text.contains(word)))
    };
    let is_inside = |path: &Path| {
        let is_plain = |part| matches!(part, std::path::Component::Normal(_) | std::path::Component::CurDir);
        path.components().all(is_plain)
    };
    let knows_answers = match &manifest.reference {
        Reference::Baseline | Reference::Definition { .. } => true,
        Reference::Npy(folder) => is_inside(folder) || folder.starts_with(&workspace.project.root),
        Reference::Command(_) | Reference::Script { .. } => false,
    };
    workspace.origin() == Origin::Modelled
        && workspace.attached.is_none()
        && manifest.headers == KernelHeaders::Own
        && manifest.prepare.is_empty()
        && knows_answers
        && !reads_files()
}

/// Digest of every file of an operator's directory, with its name: sources, manifest, lock, CMake files, data. Not of what was built.
fn own_digest(project: &OperatorProject) -> io::Result<String> {
    let mut digest = Digest::new("directory 1");
    let is_hidden = |entry: &walkdir::DirEntry| entry.file_name().to_string_lossy().starts_with('.');
    let walk = walkdir::WalkDir::new(&project.root).sort_by_file_name().into_iter().filter_entry(|entry| {
        let is_left_out = || is_hidden(entry) || entry.file_name() == "target" || is_built(entry.path());
        entry.depth() == 0 || !entry.file_type().is_dir() || !is_left_out()
    });
    for entry in walk {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type().is_dir() {
            continue;
        }
        digest.text(&path.strip_prefix(&project.root).unwrap_or(path).to_string_lossy());
        // A link to a folder stands for its name; what is read through it is found by the includes.
        match entry.file_type().is_symlink() && path.is_dir() {
            true => digest.text(&std::fs::read_link(path)?.to_string_lossy()),
            false => digest.text(&digest_of(path)?),
        };
    }
    Ok(digest.finish())
}

/// Digest of a file, or of the names in a folder.
fn digest_of(path: &Path) -> io::Result<String> {
    if path.is_dir() {
        let mut names: Vec<_> =
            std::fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
        names.sort();
        return Ok(Digest::new("folder 1").texts(names.iter().map(|name| name.to_string_lossy())).finish());
    }
    match std::fs::read(path) {
        Ok(bytes) => Ok(Digest::new("file 1").bytes(&bytes).finish()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok("absent".to_owned()),
        Err(error) => Err(error),
    }
}

/// Digest of which files of the repository have one of the names. In an operator's own directory all files count anyway.
fn digest_of_named(project: &OperatorProject, names: &[String]) -> String {
    let mut digest = Digest::new("names 1");
    if project.repository_root != project.root {
        let index = RepositoryIndex::of(&project.repository_root);
        for name in names {
            let seen = index.named(name).iter().map(|path| project.seen_from_root(path).unwrap_or_default());
            digest.texts(seen);
        }
    }
    digest.finish()
}

/// Removes records that nobody has asked for in a long time.
fn forget_old(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let at = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        if at.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > KEPT) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "extern \"C\" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR tiling) {}\n";

    fn write(root: &Path, file: &str, text: &str) {
        fs_err::create_dir_all(root.join(file).parent().unwrap()).unwrap();
        fs_err::write(root.join(file), text).unwrap();
    }

    /// An operator of a repository, and a memory with a record of it that names a header, a folder and what is not there.
    fn remembered(base: &Path) -> (Memory, PathBuf) {
        let root = base.join("ops/add");
        write(&root, "op_kernel/add.cpp", KERNEL);
        write(&root, "op_host/add.cpp", "#include \"shared.h\"\n");
        write(base, "common/inc/shared.h", "");
        write(base, "ops/cmake/rules.cmake", "");
        let memory = Memory { folder: base.join("records"), facts: "facts".to_owned(), machine: None };
        let project = OperatorProject::find(&root).unwrap();
        let outside = ["../../common/inc/shared.h", "../cmake", "../cmake/rules.cmake", "../CMakeLists.txt"];
        let digest = |file: &str| (file.to_owned(), digest_of(&root.join(file)).unwrap());
        let names = vec!["shared.h".to_owned()];
        let record = Record {
            operator: "Add".to_owned(),
            files: outside.iter().map(|file| digest(file)).collect(),
            absent: vec!["../../include/shared.h".to_owned()],
            named: digest_of_named(&project, &names),
            names,
            check: Check {
                verdict: events::CheckVerdict::Ok,
                cases: Vec::new(),
                drift: Vec::new(),
                differences: Vec::new(),
                findings: Vec::new(),
                remembered: false,
                tolerance: 1.03,
                claimed: None,
                timed: None,
                origin: Origin::Modelled,
                machine: "ascend910b2".to_owned(),
                machine_version: "3".to_owned(),
            },
        };
        memory.begin(&root).unwrap().write(&record).unwrap();
        (memory, root)
    }

    #[test]
    fn a_record_holds_until_anything_changes_that_had_a_part_in_it() {
        let temporary = tempfile::tempdir().unwrap();
        let base = std::fs::canonicalize(temporary.path()).unwrap();
        let (memory, root) = remembered(&base);
        let recalled = memory.recall(&root).unwrap();
        assert_eq!((recalled.operator.as_str(), recalled.check.remembered), ("Add", true));
        let other = Memory { facts: "another compiler".to_owned(), folder: memory.folder.clone(), machine: None };
        assert!(other.recall(&root).is_none());
        write(&base, "ops/mul/op_kernel/mul.cpp", "");
        write(&root, "target/ascend-tune/report.html", "");
        assert!(memory.recall(&root).is_some(), "this is nothing to it");
        for (file, text) in [
            ("ops/add/op_kernel/add.cpp", "// edited\n"),
            ("ops/add/data/x.npy", ""),
            ("common/inc/shared.h", "int a;"),
            ("ops/CMakeLists.txt", ""),
            ("ops/cmake/more.cmake", ""),
            ("ops/cmake/rules.cmake", "set(A 1)\n"),
            ("include/shared.h", ""),
        ] {
            let before = fs_err::read_to_string(base.join(file)).ok();
            write(&base, file, &format!("{}{text}", before.as_deref().unwrap_or_default()));
            assert!(memory.recall(&root).is_none(), "{file}");
            match before {
                Some(before) => write(&base, file, &before),
                None => fs_err::remove_file(base.join(file)).unwrap(),
            }
            assert!(memory.recall(&root).is_some(), "{file} is as it was");
        }
    }
}
