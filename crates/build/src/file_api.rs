//! CMake's File API: what targets a project has, with sources, flags, definitions and include folders.

use source::normal;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Name under which we ask.
pub const CLIENT: &str = "client-ascend-tune";

/// What is asked for.
pub const QUERY: &str = r#"{"requests":[{"kind":"codemodel","version":2},{"kind":"cache","version":2},{"kind":"toolchains","version":1},{"kind":"cmakeFiles","version":1}]}"#;

/// Why a reply cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReplyError {
    /// There is no reply.
    #[error("{}: no File API reply; cmake 3.14 or later is needed", path.display())]
    Missing {
        /// The reply directory.
        path: PathBuf,
    },
    /// A reply file cannot be read.
    #[error("{}: {message}", path.display())]
    Bad {
        /// The file.
        path: PathBuf,
        /// The reason.
        message: String,
    },
}

/// A configured project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CmakeModel {
    /// Top of the CMake sources.
    pub source_directory: PathBuf,
    /// Version of cmake.
    pub cmake_version: String,
    /// Targets by name.
    pub targets: Vec<Target>,
    /// Cache entries.
    pub cache: BTreeMap<String, String>,
    /// Files that the configuration depends on, ours and the toolkit's without CMake's own modules.
    pub inputs: Vec<PathBuf>,
}

/// A target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Name in CMake.
    pub name: String,
    /// Identifier within the reply.
    pub id: String,
    /// `EXECUTABLE`, `SHARED_LIBRARY`, `OBJECT_LIBRARY`, ...
    pub kind: String,
    /// Source files, absolute.
    pub sources: Vec<TargetSource>,
    /// Groups of sources that are compiled alike.
    pub groups: Vec<CompileGroup>,
    /// Words of the link command by role (`flags`, `libraries`, `libraryPath`, ...).
    pub link: Vec<(String, String)>,
    /// Identifiers of targets that this one depends on.
    pub dependencies: Vec<String>,
    /// Name of the file it makes, if it makes one.
    pub output_name: Option<String>,
}

/// A source of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSource {
    /// Absolute path.
    pub path: PathBuf,
    /// Index of its compile group; headers have none.
    pub group: Option<usize>,
    /// Made by the build.
    pub generated: bool,
}

/// How some sources of a target are compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompileGroup {
    /// `CXX`, `ASC`, ...
    pub language: String,
    /// Definitions without `-D`.
    pub defines: Vec<String>,
    /// Include folders.
    pub includes: Vec<PathBuf>,
    /// All other words.
    pub options: Vec<String>,
    /// Language standard, such as `17`.
    pub standard: Option<String>,
}

impl CmakeModel {
    /// Targets that compile a file, with the group it is in.
    pub fn groups_of<'model>(
        &'model self,
        file: &Path,
    ) -> impl Iterator<Item = (&'model Target, &'model CompileGroup)> {
        let file = normal(file);
        self.targets.iter().filter_map(move |target| {
            let source = target.sources.iter().find(|source| normal(&source.path) == file)?;
            target.groups.get(source.group?).map(|group| (target, group))
        })
    }

    /// Target by identifier.
    pub fn target(&self, id: &str) -> Option<&Target> {
        self.targets.iter().find(|target| target.id == id)
    }

    /// Executables in the order of their names.
    pub fn executables(&self) -> impl Iterator<Item = &Target> {
        self.targets.iter().filter(|target| target.kind == "EXECUTABLE")
    }
}

#[derive(Deserialize)]
struct Index {
    cmake: IndexCmake,
    reply: BTreeMap<String, BTreeMap<String, IndexQuery>>,
}
#[derive(Deserialize)]
struct IndexCmake {
    version: IndexVersion,
}
#[derive(Deserialize)]
struct IndexVersion {
    string: String,
}
#[derive(Deserialize)]
struct IndexQuery {
    #[serde(default)]
    responses: Vec<Response>,
}
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    kind: Option<String>,
    json_file: Option<String>,
}
#[derive(Deserialize)]
struct WireCodemodel {
    paths: WirePaths,
    configurations: Vec<WireConfiguration>,
}
#[derive(Deserialize)]
struct WirePaths {
    source: PathBuf,
}
#[derive(Deserialize)]
struct WireConfiguration {
    targets: Vec<WireTargetReference>,
}
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireTargetReference {
    json_file: String,
}
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireTarget {
    name: String,
    id: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    sources: Vec<WireSource>,
    #[serde(default)]
    compile_groups: Vec<WireGroup>,
    link: Option<WireLink>,
    #[serde(default)]
    dependencies: Vec<WireDependency>,
    name_on_disk: Option<String>,
}
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireSource {
    path: PathBuf,
    compile_group_index: Option<usize>,
    #[serde(default)]
    is_generated: bool,
}
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireGroup {
    language: String,
    language_standard: Option<WireStandard>,
    #[serde(default)]
    defines: Vec<WireDefine>,
    #[serde(default)]
    includes: Vec<WireInclude>,
    #[serde(default)]
    compile_command_fragments: Vec<WireFragment>,
}
#[derive(Deserialize)]
struct WireStandard {
    standard: String,
}
#[derive(Deserialize)]
struct WireDefine {
    define: String,
}
#[derive(Deserialize)]
struct WireInclude {
    path: PathBuf,
}
#[derive(Deserialize)]
struct WireFragment {
    fragment: String,
    role: Option<String>,
}
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireLink {
    #[serde(default)]
    command_fragments: Vec<WireFragment>,
}
#[derive(Deserialize)]
struct WireDependency {
    id: String,
}
#[derive(Deserialize)]
struct WireCache {
    entries: Vec<WireEntry>,
}
#[derive(Deserialize)]
struct WireEntry {
    name: String,
    value: String,
}
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireCmakeFiles {
    inputs: Vec<WireInput>,
}
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireInput {
    path: PathBuf,
    #[serde(rename = "isCMake", default)]
    is_cmake: bool,
    #[serde(default)]
    is_generated: bool,
}

/// Reads the newest reply below a binary directory.
pub fn read_reply(binary_directory: &Path) -> Result<CmakeModel, ReplyError> {
    let reply = binary_directory.join(".cmake/api/v1/reply");
    let missing = || ReplyError::Missing { path: reply.clone() };
    let index_file = std::fs::read_dir(&reply)
        .map_err(|_| missing())?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("index-") && name.ends_with(".json"))
        .max()
        .ok_or_else(missing)?;
    let index: Index = read(&reply, &index_file)?;
    let responses = index
        .reply
        .get(CLIENT)
        .and_then(|query| query.get("query.json"))
        .map(|query| &query.responses)
        .ok_or_else(missing)?;
    let file_of = |kind: &str| {
        responses
            .iter()
            .find(|response| response.kind.as_deref() == Some(kind))
            .and_then(|response| response.json_file.clone())
    };
    let codemodel: WireCodemodel = read(&reply, &file_of("codemodel").ok_or_else(missing)?)?;
    let source_directory = codemodel.paths.source;
    let mut targets = Vec::new();
    for reference in codemodel.configurations.iter().take(1).flat_map(|configuration| &configuration.targets) {
        targets.push(target(read(&reply, &reference.json_file)?, &source_directory));
    }
    targets.sort_by(|left, right| left.name.cmp(&right.name));
    let mut cache = BTreeMap::new();
    if let Some(file) = file_of("cache") {
        let wire: WireCache = read(&reply, &file)?;
        cache.extend(wire.entries.into_iter().map(|entry| (entry.name, entry.value)));
    }
    let mut inputs = Vec::new();
    if let Some(file) = file_of("cmakeFiles") {
        let wire: WireCmakeFiles = read(&reply, &file)?;
        inputs.extend(
            wire.inputs
                .into_iter()
                .filter(|input| !input.is_cmake && !input.is_generated)
                .map(|input| normal(&source_directory.join(input.path))),
        );
        inputs.sort();
        inputs.dedup();
    }
    Ok(CmakeModel { source_directory, cmake_version: index.cmake.version.string, targets, cache, inputs })
}

fn target(wire: WireTarget, source_directory: &Path) -> Target {
    let sources = wire
        .sources
        .into_iter()
        .map(|source| TargetSource {
            path: normal(&source_directory.join(source.path)),
            group: source.compile_group_index,
            generated: source.is_generated,
        })
        .collect();
    let groups = wire
        .compile_groups
        .into_iter()
        .map(|group| CompileGroup {
            language: group.language,
            defines: group.defines.into_iter().map(|define| define.define).collect(),
            includes: group.includes.into_iter().map(|include| include.path).collect(),
            options: group.compile_command_fragments.iter().flat_map(|part| split_words(&part.fragment)).collect(),
            standard: group.language_standard.map(|standard| standard.standard),
        })
        .collect();
    let link = wire
        .link
        .map(|link| link.command_fragments)
        .unwrap_or_default()
        .into_iter()
        .map(|part| (part.role.unwrap_or_default(), part.fragment))
        .collect();
    Target {
        name: wire.name,
        id: wire.id,
        kind: wire.kind,
        sources,
        groups,
        link,
        dependencies: wire.dependencies.into_iter().map(|dependency| dependency.id).collect(),
        output_name: wire.name_on_disk,
    }
}

fn read<Value: for<'de> Deserialize<'de>>(directory: &Path, file: &str) -> Result<Value, ReplyError> {
    let path = directory.join(file);
    let bytes =
        std::fs::read(&path).map_err(|error| ReplyError::Bad { path: path.clone(), message: error.to_string() })?;
    serde_json::from_slice(&bytes).map_err(|error| ReplyError::Bad { path, message: error.to_string() })
}

/// Words of a command line as a POSIX shell splits them; expansions are left alone.
pub(crate) fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            letter if letter.is_whitespace() => words.extend(word.take()),
            '\'' => word.get_or_insert_default().extend(letters.by_ref().take_while(|letter| *letter != '\'')),
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(letter) = letters.next() {
                    match letter {
                        '"' => break,
                        '\\' => word.extend(letters.next()),
                        letter => word.push(letter),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(letters.next()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_reply_is_read() {
        let temporary = tempfile::tempdir().unwrap();
        let reply = temporary.path().join(".cmake/api/v1/reply");
        std::fs::create_dir_all(&reply).unwrap();
        for (name, text) in [
            (
                "index-1.json",
                r#"{"cmake":{"version":{"string":"3.99.0"}},"objects":[],"reply":{"client-ascend-tune":{"query.json":{"requests":[],
                "responses":[{"kind":"codemodel","jsonFile":"c.json"},{"kind":"cache","jsonFile":"k.json"},{"error":"unknown"},
                {"kind":"cmakeFiles","jsonFile":"f.json"}]}}}}"#,
            ),
            (
                "c.json",
                r#"{"kind":"codemodel","paths":{"source":"/p","build":"/b"},"configurations":[{"name":"","targets":[{"name":"demo","id":"demo::1","jsonFile":"t.json"}]}]}"#,
            ),
            ("k.json", r#"{"entries":[{"name":"A","value":"1","type":"STRING"}]}"#),
            (
                "f.json",
                r#"{"inputs":[{"path":"CMakeLists.txt"},{"path":"/cmake/x.cmake","isCMake":true,"isExternal":true},{"path":"/sdk/cmake/asc-config.cmake","isExternal":true}]}"#,
            ),
            (
                "t.json",
                r#"{"name":"demo","id":"demo::1","type":"EXECUTABLE","nameOnDisk":"demo","sources":[{"path":"add.asc","compileGroupIndex":0},
                {"path":"add.h"}],"compileGroups":[{"language":"ASC","sourceIndexes":[0],"languageStandard":{"standard":"17"},
                "defines":[{"define":"N=1"}],"includes":[{"path":"/sdk/include"}],
                "compileCommandFragments":[{"fragment":"-O3 -DNDEBUG"},{"fragment":"--npu-arch=dav-2201 '-DQ=a b'"}]}],
                "link":{"language":"ASC","commandFragments":[{"fragment":"-ldl","role":"libraries"}]},"dependencies":[{"id":"lib::2"}]}"#,
            ),
        ] {
            std::fs::write(reply.join(name), text).unwrap();
        }
        let model = read_reply(temporary.path()).unwrap();
        assert_eq!(model.cmake_version, "3.99.0");
        assert_eq!(model.cache["A"], "1");
        assert_eq!(model.inputs, [PathBuf::from("/p/CMakeLists.txt"), PathBuf::from("/sdk/cmake/asc-config.cmake")]);
        let (target, group) = model.groups_of(Path::new("/p/x/../add.asc")).next().unwrap();
        assert_eq!((target.name.as_str(), target.dependencies.len()), ("demo", 1));
        assert_eq!(group.options, ["-O3", "-DNDEBUG", "--npu-arch=dav-2201", "-DQ=a b"]);
        assert_eq!(group.defines, ["N=1"]);
        assert_eq!(target.link, [("libraries".to_owned(), "-ldl".to_owned())]);
        assert!(model.groups_of(Path::new("/p/add.h")).next().is_none());
    }

    #[test]
    fn no_reply_is_an_error() {
        let temporary = tempfile::tempdir().unwrap();
        assert!(matches!(read_reply(temporary.path()), Err(ReplyError::Missing { .. })));
    }

    #[test]
    fn words_are_split_like_a_shell_does() {
        assert_eq!(split_words(r#"a  "b c" 'd e'f \"g "" -D"H=\"i\"""#), ["a", "b c", "d ef", "\"g", "", "-DH=\"i\""]);
    }
}
