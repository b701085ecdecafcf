//! Content-addressed artifacts: a directory named by the digest of everything that went in. A result is made in a
//! temporary directory and renamed, so readers see all of it or nothing, and it does not matter who makes it first.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::error::{BuildError, CompileFailure};

const FAILURE: &str = "failure.json";
const LOOKED_THROUGH: &str = ".looked-through";

/// Collects what a result depends on.
#[derive(Clone)]
pub struct Digest(blake3::Hasher);

impl Digest {
    /// A digest for one kind of result; the kind's version changes when its recipe does.
    pub fn new(kind: &str) -> Self {
        let mut digest = Digest(blake3::Hasher::new());
        digest.text(kind);
        digest
    }

    /// Adds a text. Lengths go in too, so that neighbouring texts cannot run into each other.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Adds texts in order.
    pub fn texts<Text: AsRef<str>>(&mut self, texts: impl IntoIterator<Item = Text>) -> &mut Self {
        for text in texts {
            self.text(text.as_ref());
        }
        self.text("end")
    }

    /// The digest as 32 hexadecimal digits.
    pub fn finish(&self) -> String {
        self.0.finalize().to_hex()[..32].to_owned()
    }
}

/// Outcome of a look into the cache.
pub(crate) enum Cached {
    /// Directory with the finished result.
    Result(PathBuf),
    /// A failure of the past.
    Failure(CompileFailure),
}

/// A path without where its cache lies: file and folder, and the folder says what is in the file.
pub fn artifact_name(path: &Path) -> PathBuf {
    let last: Vec<_> = path.components().rev().take(2).collect();
    last.into_iter().rev().collect()
}

/// Directory of artifacts.
#[derive(Clone, Debug)]
pub(crate) struct ArtifactCache {
    directory: PathBuf,
}

impl ArtifactCache {
    pub fn new(directory: PathBuf) -> Self {
        ArtifactCache { directory }
    }

    /// What is known under a digest.
    pub fn find(&self, digest: &str) -> Option<Cached> {
        let directory = self.directory.join(digest);
        if !directory.is_dir() {
            return None;
        }
        touch(&directory);
        match std::fs::read(directory.join(FAILURE)) {
            Ok(bytes) => serde_json::from_slice(&bytes).ok().map(Cached::Failure),
            Err(_) => Some(Cached::Result(directory)),
        }
    }

    /// Makes a result with `make` in a temporary directory and publishes it, failures of the sources too.
    pub fn publish(
        &self,
        digest: &str,
        make: impl FnOnce(&Path) -> Result<(), BuildError>,
    ) -> Result<PathBuf, BuildError> {
        fs_err::create_dir_all(&self.directory).map_err(BuildError::io(&self.directory))?;
        let temporary = tempfile::Builder::new()
            .prefix(".new-")
            .tempdir_in(&self.directory)
            .map_err(BuildError::io(&self.directory))?;
        let outcome = make(temporary.path());
        if let Err(BuildError::Compile(failure)) = &outcome {
            let path = temporary.path().join(FAILURE);
            let bytes = serde_json::to_vec_pretty(failure).unwrap_or_default();
            std::fs::write(&path, bytes).map_err(BuildError::io(path))?;
        } else {
            outcome?;
            return publish_directory(temporary, &self.directory.join(digest));
        }
        publish_directory(temporary, &self.directory.join(digest))?;
        outcome.map(|()| PathBuf::new())
    }
}

/// Days after which an artifact that nobody used goes, and those after which it may go to make room.
const KEPT_DAYS: u64 = 14;
const SURE_DAYS: u64 = 1;
/// Bytes of all artifacts from which the longest unused make room.
const MOST_BYTES: u64 = 8 << 30;

impl ArtifactCache {
    /// Removes what has not been used for long, once a day.
    pub fn forget_old(&self) {
        let days = |days: u64| Duration::from_secs(days * 24 * 3600);
        let marker = self.directory.join(LOOKED_THROUGH);
        if age(&marker).is_some_and(|age| age < days(1)) || std::fs::write(&marker, "").is_err() {
            return;
        }
        let Ok(entries) = std::fs::read_dir(&self.directory) else { return };
        let mut artifacts: Vec<(Duration, u64, PathBuf)> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.is_dir())
            .filter_map(|path| Some((age(&path)?, bytes(&path), path)))
            .collect();
        artifacts.sort();
        let mut kept = 0;
        for (age, bytes, path) in artifacts {
            kept += bytes;
            if age > days(KEPT_DAYS) || age > days(SURE_DAYS) && kept > MOST_BYTES {
                remove_whole(&path);
            }
        }
    }
}

/// Removes the folders of a cache whose names begin with `prefix`, but for the `kept` that were made or touched last and
/// those that were within `kept_for`.
pub(crate) fn remove_old(cache: &Path, prefix: &str, kept: usize, kept_for: Duration) {
    let Ok(entries) = std::fs::read_dir(cache) else { return };
    let mut folders: Vec<(Duration, PathBuf)> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix) && entry.path().is_dir())
        .filter_map(|entry| Some((age(&entry.path())?, entry.path())))
        .collect();
    folders.sort();
    for (age, folder) in folders.into_iter().skip(kept) {
        if age >= kept_for {
            remove_whole(&folder);
        }
    }
}

/// Removes a folder that others may look for. Renamed first: nobody finds half of it. What cannot be removed now is tried
/// again when somebody looks through the cache.
fn remove_whole(folder: &Path) {
    let gone = folder.with_extension("gone");
    let _ = std::fs::rename(folder, &gone).and_then(|()| std::fs::remove_dir_all(&gone));
}

fn age(path: &Path) -> Option<Duration> {
    path.metadata().ok()?.modified().ok()?.elapsed().ok()
}

fn bytes(artifact: &Path) -> u64 {
    let files = std::fs::read_dir(artifact).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len()).sum()
}

/// Marks a directory as used now.
pub(crate) fn touch(directory: &Path) {
    let _ = std::fs::File::open(directory).and_then(|directory| directory.set_modified(SystemTime::now()));
}

/// Renames a finished temporary directory; when another process was first, its result stands.
pub(crate) fn publish_directory(temporary: tempfile::TempDir, target: &Path) -> Result<PathBuf, BuildError> {
    match std::fs::rename(temporary.path(), target) {
        Ok(()) => {
            // The directory has a new name: there is nothing left to remove under the old one.
            let _ = temporary.keep();
            Ok(target.to_owned())
        }
        Err(_) if target.is_dir() => Ok(target.to_owned()),
        Err(source) => Err(BuildError::Io { path: target.to_owned(), source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_stable_and_keep_texts_apart() {
        let digest = |texts: &[&str]| Digest::new("test 1").texts(texts).finish();
        assert_eq!(digest(&["ab", "c"]), digest(&["ab", "c"]));
        assert_ne!(digest(&["ab", "c"]), digest(&["a", "bc"]));
        // Changes only when the recipe of digests does, and then every cached artifact is worthless.
        assert_eq!(digest(&["ab", "c"]), "954b358db55c70bf10c59a20b8ff85ea");
    }

    #[test]
    fn what_nobody_used_for_long_goes_and_what_is_used_stays() {
        let temporary = tempfile::tempdir().unwrap();
        let cache = ArtifactCache::new(temporary.path().to_owned());
        let long_ago = SystemTime::now() - Duration::from_secs((KEPT_DAYS + 1) * 24 * 3600);
        for name in ["unused", "used"] {
            let made = cache.publish(name, |_| Ok(())).unwrap();
            std::fs::File::open(made).unwrap().set_modified(long_ago).unwrap();
        }
        assert!(matches!(cache.find("used"), Some(Cached::Result(_))));
        cache.forget_old();
        assert!(cache.find("unused").is_none());
        assert!(matches!(cache.find("used"), Some(Cached::Result(_))));
    }

    #[test]
    fn only_the_newest_folders_of_a_kind_stay_and_those_of_late() {
        let temporary = tempfile::tempdir().unwrap();
        let names = ["new-0", "new-1", "new-2", "new-3", "other-4"];
        for (hours, name) in names.into_iter().enumerate() {
            let folder = temporary.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            let time = SystemTime::now() - Duration::from_secs(3600 * hours as u64);
            std::fs::File::open(&folder).unwrap().set_modified(time).unwrap();
        }
        let left = || names.into_iter().filter(|name| temporary.path().join(name).is_dir()).collect::<Vec<_>>();
        remove_old(temporary.path(), "new-", 1, Duration::from_secs(9000));
        assert_eq!(left(), ["new-0", "new-1", "new-2", "other-4"]);
        remove_old(temporary.path(), "new-", 2, Duration::ZERO);
        assert_eq!(left(), ["new-0", "new-1", "other-4"]);
    }

    #[test]
    fn results_and_failures_are_found_again() {
        let temporary = tempfile::tempdir().unwrap();
        let cache = ArtifactCache::new(temporary.path().join("artifacts"));
        assert!(cache.find("aa").is_none());
        let made = cache
            .publish("aa", |directory| std::fs::write(directory.join("x"), "1").map_err(BuildError::io(directory)));
        assert!(made.unwrap().join("x").is_file());
        assert!(matches!(cache.find("aa"), Some(Cached::Result(_))));
        // Whoever comes second gets the first result.
        let again = cache.publish("aa", |_| Ok(())).unwrap();
        assert!(again.join("x").is_file());
        let failure = CompileFailure { what: "kernel.so".into(), diagnostics: vec![], log: "bad".into() };
        assert!(cache.publish("bb", |_| Err(BuildError::Compile(failure.clone()))).is_err());
        assert!(matches!(cache.find("bb"), Some(Cached::Failure(found)) if found == failure));
        let environment = || BuildError::Environment { message: String::new(), fix: String::new() };
        assert!(cache.publish("cc", |_| Err(environment())).is_err());
        assert!(cache.find("cc").is_none());
        let left: Vec<_> = std::fs::read_dir(temporary.path().join("artifacts")).unwrap().flatten().collect();
        assert_eq!(left.len(), 2);
    }
}
