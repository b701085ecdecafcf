//! The SDK, embedded or given: unpacked once per version, its library and runner built once per compiler.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use walkdir::WalkDir;

use super::cache::{Digest, publish_directory, remove_old, touch};
use super::compiler::Compiler;
use super::error::BuildError;
use super::forwards;
use super::sdk_library::{LIBRARY, RUNNER, build_library, library_name};
use super::slots::Slots;

/// Packed by the build script.
static EMBEDDED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sdk.tar.gz"));

const PREFIX: &str = "sdk-";
/// Unpacked trees that stay, and for how long the others do after their last use: a run that began before some edits of
/// the tree still reads its own.
const KEPT: usize = 6;
const KEPT_FOR: Duration = Duration::from_secs(24 * 3600);

/// Where the SDK comes from and where it goes.
#[derive(Clone, Debug, Default)]
pub struct SdkOptions {
    /// A directory to unpack instead of the embedded tree, for people who work on the SDK (`ASCEND_TUNE_SDK`). An edit of it
    /// makes another unpacked tree.
    pub directory: Option<PathBuf>,
    /// The cache (`ASCEND_TUNE_CACHE`); the user's cache directory without.
    pub cache: Option<PathBuf>,
    /// Parallel compilations; 0 means one per processor.
    pub jobs: usize,
}

impl SdkOptions {
    /// Options that the environment asks for.
    pub fn from_environment() -> Self {
        let path = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        SdkOptions { directory: path("ASCEND_TUNE_SDK"), cache: path("ASCEND_TUNE_CACHE"), jobs: 0 }
    }

    /// The cache directory that these options mean.
    pub fn cache_directory(&self) -> Result<PathBuf, BuildError> {
        if let Some(cache) = &self.cache {
            return std::path::absolute(cache).map_err(BuildError::io(cache));
        }
        use etcetera::BaseStrategy;
        let strategy = etcetera::choose_base_strategy().map_err(|error| BuildError::Environment {
            message: format!("the user's cache directory is unknown ({error})"),
            fix: "set HOME, or ASCEND_TUNE_CACHE to a directory that may be written".to_owned(),
        })?;
        Ok(strategy.cache_dir().join("cargo-ascend-tune"))
    }
}

/// Whether the library of an SDK is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LibraryState {
    /// It can be linked with.
    Ready,
    /// It is being built.
    Pending,
}

/// An SDK ready for use.
#[derive(Clone, Debug)]
pub struct Sdk {
    /// Root of the tree, the value of `ASCEND_HOME_PATH`.
    pub root: PathBuf,
    /// Digest over all its files.
    pub digest: String,
    /// The compiler it was built with.
    pub compiler: Compiler,
    /// Directory of the shared library and the runner.
    pub library_directory: PathBuf,
    /// Whether the library was compiled now, and not found in the cache.
    pub built: bool,
    /// Seconds that making it ready took.
    pub prepare_s: f64,
}

impl Sdk {
    /// Unpacks the SDK and builds its library where that has not been done yet.
    pub fn prepare(options: &SdkOptions) -> Result<Sdk, BuildError> {
        Ok(Self::prepare_beside(options, |_, _| ())?.0)
    }

    /// The same, with something done beside that needs the tree and the compiler, but no library: while that is built, in the place of
    /// one of its compilers, or after it where there is only one. It is told which of these it is, and its result does not hang on
    /// the library's.
    pub fn prepare_beside<Made: Send>(
        options: &SdkOptions,
        beside: impl FnOnce(&Sdk, LibraryState) -> Made + Send,
    ) -> Result<(Sdk, Made), BuildError> {
        let started = Instant::now();
        let compiler = Compiler::find()?;
        let cache = options.cache_directory()?;
        fs_err::create_dir_all(&cache).map_err(BuildError::io(&cache))?;
        let (root, digest) = unpack(&cache, options.directory.as_deref())?;
        let library_directory = cache.join(library_name(&root, &compiler)?);
        let mut sdk = Sdk { root, digest, compiler, library_directory, built: false, prepare_s: 0.0 };
        let slots = Slots::new(jobs(options.jobs));
        if slots.count() == 1 || sdk.library().is_file() {
            sdk.built = build_library(&sdk.root, &sdk.compiler, &sdk.library_directory, &slots)?;
            sdk.prepare_s = started.elapsed().as_secs_f64();
            let made = beside(&sdk, LibraryState::Ready);
            return Ok((sdk, made));
        }
        let early = sdk.clone();
        std::thread::scope(|scope| {
            // Taken before the library takes all of them.
            let slot = slots.take();
            let aside = scope.spawn(move || {
                let made = beside(&early, LibraryState::Pending);
                drop(slot);
                made
            });
            sdk.built = build_library(&sdk.root, &sdk.compiler, &sdk.library_directory, &slots)?;
            sdk.prepare_s = started.elapsed().as_secs_f64();
            match aside.join() {
                Ok(made) => Ok((sdk, made)),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    /// Where the library is, or will be once something needs it. Compiles nothing.
    pub fn expected_library(options: &SdkOptions) -> Result<PathBuf, BuildError> {
        let (root, _) = Self::unpacked(options)?;
        Ok(options.cache_directory()?.join(library_name(&root, &Compiler::find()?)?).join(LIBRARY))
    }

    /// Only the tree, unpacked, without compiling anything.
    pub fn unpacked(options: &SdkOptions) -> Result<(PathBuf, String), BuildError> {
        let cache = options.cache_directory()?;
        fs_err::create_dir_all(&cache).map_err(BuildError::io(&cache))?;
        unpack(&cache, options.directory.as_deref())
    }

    /// The cache that the library lies in: folder of what projects share.
    pub fn cache(&self) -> Option<&Path> {
        self.library_directory.parent()
    }

    /// The shared library that every artifact is linked with.
    pub fn library(&self) -> PathBuf {
        self.library_directory.join(LIBRARY)
    }

    /// The program that runs framework operators.
    pub fn runner(&self) -> PathBuf {
        self.library_directory.join(RUNNER)
    }

    /// Folder of the public headers.
    pub fn include(&self) -> PathBuf {
        self.root.join("include")
    }

    /// Words of the headers that kernels are built against.
    pub(super) fn announced_words(&self) -> std::io::Result<BTreeSet<String>> {
        let mut words = BTreeSet::new();
        let folders = [self.include().join("ascendsim"), self.root.join("toolkit")];
        for folder in folders.iter().filter(|folder| folder.is_dir()) {
            for entry in fs_err::read_dir(folder)? {
                let path = entry?.path();
                // That header is for programs that launch kernels themselves.
                if path.is_file() && !path.ends_with("launch.h") {
                    let text = fs_err::read_to_string(path)?;
                    let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                    words.extend(text.split(|letter| !is_of_word(letter)).map(str::to_owned));
                }
            }
        }
        Ok(words)
    }

    /// Folder of the CMake package.
    pub fn cmake(&self) -> PathBuf {
        self.root.join("cmake")
    }

    /// Linker words for the library.
    pub(crate) fn link_words(&self) -> Vec<String> {
        let directory = self.library_directory.display();
        vec![
            format!("-L{directory}"),
            format!("-Wl,-rpath,{directory}"),
            "-Wl,--no-as-needed".to_owned(),
            "-lascend_sim".to_owned(),
        ]
    }
}

/// Number of parallel compilations meant by an option value.
pub(crate) fn jobs(wanted: usize) -> usize {
    if wanted > 0 { wanted } else { std::thread::available_parallelism().map_or(1, usize::from) }
}

/// A file of the SDK: its path in the tree, with `/`, and what is in it.
type SdkFile = (String, Vec<u8>);

/// The tree that options mean, complete and in the cache.
fn unpack(cache: &Path, directory: Option<&Path>) -> Result<(PathBuf, String), BuildError> {
    let files = match directory {
        Some(directory) => given_files(directory)?,
        None => embedded_files().map_err(BuildError::io(Path::new("the embedded SDK")))?,
    };
    publish(cache, complete(files)?)
}

fn given_files(directory: &Path) -> Result<Vec<SdkFile>, BuildError> {
    let root = std::path::absolute(directory).map_err(BuildError::io(directory))?;
    if !root.join("include").is_dir() || !root.join("cmake").is_dir() {
        return Err(BuildError::Environment {
            message: format!("ASCEND_TUNE_SDK={} holds no include/ and cmake/", directory.display()),
            fix: "point it to the sdk folder of a checkout, or unset it to use the embedded SDK".to_owned(),
        });
    }
    let mut files = Vec::new();
    // A link in the tree is a file of it: what is built from is a copy, where a relative link leads nowhere.
    // The programs that check a checkout are no part of what is embedded either.
    let is_part = |entry: &walkdir::DirEntry| entry.depth() != 1 || entry.file_name() != "tests";
    for entry in WalkDir::new(&root).follow_links(true).into_iter().filter_entry(is_part) {
        let entry = entry.map_err(|error| BuildError::Io { path: root.clone(), source: error.into() })?;
        if entry.file_type().is_file() {
            let name = entry.path().strip_prefix(&root).unwrap_or(entry.path()).to_string_lossy().into_owned();
            let bytes = std::fs::read(entry.path()).map_err(BuildError::io(entry.path()))?;
            files.push((name, bytes));
        }
    }
    Ok(files)
}

fn embedded_files() -> std::io::Result<Vec<SdkFile>> {
    let mut files = Vec::new();
    for entry in tar::Archive::new(GzDecoder::new(EMBEDDED)).entries()? {
        let mut entry = entry?;
        let name = entry.path()?.to_string_lossy().into_owned();
        let mut contents = Vec::new();
        entry.read_to_end(&mut contents)?;
        files.push((name, contents));
    }
    Ok(files)
}

/// The tree with the headers of its table in the table's place, sorted by path. A tree without a table is complete: an
/// unpacked one may be given too.
fn complete(mut files: Vec<SdkFile>) -> Result<Vec<SdkFile>, BuildError> {
    if let Some(at) = files.iter().position(|(path, _)| path == forwards::TABLE) {
        let (_, table) = files.swap_remove(at);
        let paths = files.iter().map(|(path, _)| path.as_str()).collect();
        let made = forwards::forwards(&String::from_utf8_lossy(&table), &paths)?;
        files.extend(made.into_iter().map(|forward| (forward.path, forward.text.into_bytes())));
    }
    files.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    Ok(files)
}

/// Writes a complete tree to the cache, where its digest names it.
fn publish(cache: &Path, files: Vec<SdkFile>) -> Result<(PathBuf, String), BuildError> {
    let mut digest = Digest::new("sdk 1");
    for (path, contents) in &files {
        digest.text(path).bytes(contents);
    }
    let digest = digest.finish();
    let target = cache.join(format!("{PREFIX}{digest}"));
    if target.is_dir() {
        touch(&target);
        return Ok((target, digest));
    }
    let temporary = tempfile::Builder::new().prefix(".sdk-").tempdir_in(cache).map_err(BuildError::io(cache))?;
    for (name, contents) in files {
        let path = temporary.path().join(&name);
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent).map_err(BuildError::io(parent))?;
        }
        std::fs::write(&path, contents).map_err(BuildError::io(&path))?;
        if name.starts_with("bin/") {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).map_err(BuildError::io(&path))?;
        }
    }
    // A temporary directory is private to its owner; a cache may be shared.
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(temporary.path(), std::fs::Permissions::from_mode(0o755))
        .map_err(BuildError::io(temporary.path()))?;
    let root = publish_directory(temporary, &target)?;
    // Every edit of a tree that is worked on is a tree of its own.
    remove_old(cache, PREFIX, KEPT, KEPT_FOR);
    Ok((root, digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpacking_is_repeatable_and_complete() {
        let temporary = tempfile::tempdir().unwrap();
        let options = SdkOptions { directory: None, cache: Some(temporary.path().to_owned()), jobs: 1 };
        let (first, digest) = Sdk::unpacked(&options).unwrap();
        let (second, again) = Sdk::unpacked(&options).unwrap();
        assert_eq!((&first, &digest), (&second, &again));
        assert!(first.join("cmake/asc-config.cmake").is_file());
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(first.join("bin/bisheng")).unwrap().permissions().mode() & 0o111, 0o111);
        // The same tree given as a directory has the same digest.
        std::fs::create_dir_all(first.join("include")).unwrap();
        let given = SdkOptions { directory: Some(first), ..options };
        assert_eq!(Sdk::unpacked(&given).unwrap().1, digest);
    }

    fn checkout() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk")
    }

    #[test]
    fn every_forward_leads_to_a_header_that_is_there() {
        let files = embedded_files().unwrap();
        let (_, table) = files.iter().find(|(path, _)| path == forwards::TABLE).unwrap();
        let table = std::str::from_utf8(table).unwrap();
        let paths: BTreeSet<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
        // Refuses targets that are no files, names that are files, and names that are there twice.
        let made = forwards::forwards(table, &paths).unwrap();
        assert!(made.len() > 600, "{}", made.len());
        let temporary = tempfile::tempdir().unwrap();
        let (root, _) = publish(temporary.path(), complete(files.clone()).unwrap()).unwrap();
        for forward in &made {
            let path = root.join(&forward.path);
            let text = std::fs::read_to_string(&path).unwrap();
            let include = text.lines().find_map(|line| line.strip_prefix("#include \"")?.strip_suffix('"')).unwrap();
            // The compiler looks beside the header first, then in the folder of headers.
            let found = [path.parent().unwrap(), &root.join("include")]
                .iter()
                .map(|folder| folder.join(include))
                .find(|found| found.is_file())
                .unwrap_or_else(|| panic!("{}: {include}", forward.path));
            assert_eq!(found.canonicalize().unwrap(), root.join(&forward.target).canonicalize().unwrap(), "{text}");
        }
        // What a compiler is given has the headers and not the table.
        assert!(!root.join(forwards::TABLE).exists());
    }

    /// Headers that only forward are entered in the table; one that is written as a file is not found there.
    #[test]
    fn no_file_of_the_tree_only_forwards() {
        let only_forwards: Vec<String> = embedded_files()
            .unwrap()
            .into_iter()
            .filter(|(path, _)| path.ends_with(".h"))
            .filter(|(_, text)| {
                let text = String::from_utf8_lossy(text);
                let mut lines = text
                    .lines()
                    .map(str::trim)
                    .filter(|line| !line.is_empty() && !line.starts_with("//") && !line.starts_with("#pragma once"))
                    .collect::<Vec<_>>();
                if let [first, _, .., last] = lines[..]
                    && first.starts_with("#ifndef")
                    && last.starts_with("#endif")
                {
                    lines.pop();
                    lines.drain(..2);
                }
                lines.len() == 1 && lines[0].starts_with("#include \"")
            })
            .map(|(path, _)| path)
            .collect();
        assert_eq!(only_forwards, Vec::<String>::new(), "enter these in sdk/{}", forwards::TABLE);
    }

    #[test]
    fn a_checkout_is_unpacked_as_the_embedded_tree_and_an_edit_of_it_beside() {
        let temporary = tempfile::tempdir().unwrap();
        let cache = temporary.path().join("cache");
        let unpacked = |directory: Option<PathBuf>| {
            Sdk::unpacked(&SdkOptions { directory, cache: Some(cache.clone()), jobs: 1 }).unwrap()
        };
        let embedded = unpacked(None);
        assert_eq!(unpacked(Some(checkout())), embedded);
        // A tree that is worked on.
        let mine = temporary.path().join("mine");
        for (path, contents) in embedded_files().unwrap() {
            let path = mine.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, contents).unwrap();
        }
        assert_eq!(unpacked(Some(mine.clone())), embedded);
        let table = mine.join(forwards::TABLE);
        let text = std::fs::read_to_string(&table).unwrap();
        std::fs::write(&table, text + "\n[mine.by_name]\n\"kernel_operator.h\" = [\"mine.h\"]\n").unwrap();
        let (root, digest) = unpacked(Some(mine.clone()));
        assert_ne!(digest, embedded.1);
        assert!(root.starts_with(&cache) && root.join("mine/mine.h").is_file());
        assert!(!mine.join("mine/mine.h").exists());
        std::fs::write(&table, "[include.by_name]\n\"nothing.h\" = [\"mine.h\"]\n").unwrap();
        let options = SdkOptions { directory: Some(mine), cache: Some(cache), jobs: 1 };
        let error = Sdk::unpacked(&options).unwrap_err().to_string();
        assert!(error.contains("sdk/forwards.toml:2") && error.contains("include/nothing.h"), "{error}");
    }

    #[test]
    fn a_wrong_directory_is_refused() {
        let temporary = tempfile::tempdir().unwrap();
        let cache = Some(temporary.path().join("cache"));
        let options = SdkOptions { directory: Some(temporary.path().to_owned()), cache, jobs: 1 };
        let error = Sdk::unpacked(&options).unwrap_err().to_string();
        assert!(error.contains("ASCEND_TUNE_SDK"), "{error}");
    }
}
