//! `host.so`: the operator's tiling, shape inference and definition, for the runner.

use std::collections::BTreeSet;
use std::path::Path;

use super::builder::{Artifact, Builder, WARN_ONCE};
use super::cache::Digest;
use super::error::BuildError;
use super::flags::ProjectFlags;
use super::host_dependencies::{Candidates, defined_types, unresolved};
use super::missing_symbols::{missing_symbols, stand_ins};
use project::{camel_case, is_interface_code};
use source::SourceTree;
use source::arch::TARGET;
use source::lex::{Include, includes};

const OUTPUT: &str = "host.so";
const DEPENDENCIES: &str = "sources.txt";
/// Dependencies of dependencies are followed this far.
const ROUNDS: usize = 6;

/// Targets of repositories that operators add host sources to (`sdk/cmake/in_tree_functions.cmake`).
const REPOSITORY_TARGETS: [&str; 7] =
    ["op_host_aclnn", "op_host_aclnnInner", "op_host_aclnnExc", "optiling", "opsproto", "cust_optiling", "cust_proto"];

/// A source with its flags and whether it is device code.
pub(super) type HostSource = (String, ProjectFlags, bool);

impl Builder {
    /// Builds the host library of a framework operator: its own sources, and those of the repository that define what
    /// they use. What nothing defines gets stand-ins: host code refers to branches for other architectures, whose sources are
    /// not part of the library.
    pub fn host(&self, tree: &SourceTree) -> Result<Artifact, BuildError> {
        let start = std::time::Instant::now();
        let sources = self.host_sources(tree);
        if sources.is_empty() {
            return Err(BuildError::Environment {
                message: format!("{} has no host sources (op_host/*.cpp)", self.project.root.display()),
                fix: "direct-launch projects have none; name the operator's own directory with --project".to_owned(),
            });
        }
        let mut objects = self.objects(tree, &sources)?;
        let others = self.dependencies(tree, &sources, &objects)?;
        objects.extend(self.objects(tree, &others)?);
        let mut artifact = self.artifact(&self.host_digest("host 3", &objects), OUTPUT, |directory| {
            self.link_host_whole(&directory.join(OUTPUT), &objects, directory)
        })?;
        artifact.wall_s = start.elapsed().as_secs_f64();
        Ok(artifact)
    }

    fn host_digest(&self, kind: &str, objects: &[Artifact]) -> String {
        let mut digest = Digest::new(kind);
        digest
            .text(&self.sdk.digest)
            .text(&self.sdk.compiler.identity)
            .texts(objects.iter().map(|object| &object.digest));
        digest.finish()
    }

    fn link_host(&self, output: &Path, objects: &[Artifact], extra: &[&str]) -> Result<(), BuildError> {
        let mut words = vec!["-shared".to_owned(), "-o".to_owned(), output.display().to_string()];
        words.extend(objects.iter().map(|object| object.path.display().to_string()));
        words.extend(self.sdk.link_words());
        words.extend(
            ["-Wl,-z,lazy", "-Wl,--allow-multiple-definition", "-ldl", "-pthread"]
                .iter()
                .chain(extra)
                .map(|word| (*word).to_owned()),
        );
        self.link(OUTPUT, &self.overlay(&SourceTree::new())?, &words)
    }

    /// Links with stand-ins for what is left undefined.
    fn link_host_whole(&self, output: &Path, objects: &[Artifact], directory: &Path) -> Result<(), BuildError> {
        let strict = ["-Wl,-z,defs", "-Wl,--no-demangle", WARN_ONCE];
        let (source, object) = (directory.join("missing.cpp"), directory.join("missing.o"));
        let object_word = object.display().to_string();
        let mut symbols = BTreeSet::new();
        let mut extra: Vec<&str> = Vec::new();
        // What the linker says is cut off where it is long.
        for _ in 0..ROUNDS {
            let log = match self.link_host(output, objects, &[strict.as_slice(), &extra].concat()) {
                Err(BuildError::Compile(failure)) => failure.log,
                linked => return linked,
            };
            let before = symbols.len();
            symbols.extend(missing_symbols(&log));
            if symbols.len() == before {
                break;
            }
            std::fs::write(&source, stand_ins(&symbols)).map_err(BuildError::io(&source))?;
            let words = ["-w", "-O1", "-fPIC", "-c", "-o"].map(str::to_owned).into_iter();
            let words = words.chain([object_word.clone(), source.display().to_string()]);
            self.compile(OUTPUT, &self.overlay(&SourceTree::new())?, &words.collect::<Vec<_>>())?;
            extra = vec![object_word.as_str()];
        }
        self.link_host(output, objects, &extra)
    }

    /// Sources of the host library with their flags: what targets for host code compile, and where CMake names none or
    /// the operator is one of a repository, all of `op_host` apart from interface code and other architectures.
    pub(super) fn host_sources(&self, tree: &SourceTree) -> Vec<HostSource> {
        let all: Vec<&str> = tree
            .iter()
            .filter(|(file, text)| {
                file.starts_with("op_host/")
                    && !is_interface_code(file)
                    && !TARGET.is_foreign(file)
                    && !self.is_interface_text(text)
            })
            .map(|(file, _)| file)
            .filter(|file| {
                matches!(Path::new(file).extension().and_then(|extension| extension.to_str()), Some("cpp" | "cc"))
            })
            .collect();
        let model = self.model();
        let in_repository = self.project.repository_root != self.project.root;
        // What the operator's CMake file names itself; the SDK's own target has all files of the folder.
        let is_named = |file: &&str| {
            model
                .groups_of(&self.project.root.join(file))
                .any(|(target, _)| !in_repository || REPOSITORY_TARGETS.contains(&target.name.as_str()))
        };
        let named = completed(all.iter().copied().filter(is_named).collect(), &all, tree);
        let whole = named.is_empty();
        let flagged = if whole { &all } else { &named };
        let mut common = ProjectFlags::none();
        // The plugin and interface targets are compiled with other definitions; those of tiling are the ones meant here.
        for file in flagged {
            for (target, group) in model.groups_of(&self.project.root.join(file)) {
                if !target.name.contains("proto") && !target.name.contains("opapi") {
                    common.merge(ProjectFlags::from_group(group));
                }
            }
        }
        let chosen = if whole { all } else { named };
        chosen.into_iter().map(|file| (file.to_owned(), common.clone(), false)).collect()
    }

    /// Whether a source is part of the interface layer by what it includes: headers of the operator executor, which
    /// tiling functions and definitions have no use for.
    fn is_interface_text(&self, text: &str) -> bool {
        includes(text).into_iter().filter_map(Include::quoted).any(|name| {
            let interface = ["opdev/", "aclnn/", "aclnn_kernels/", "level0/"].iter().any(|part| name.starts_with(part));
            interface && !self.sdk.include().join(name).is_file()
        })
    }

    /// Sources of the repository that define what the operator's own use. Found by linking and looking for what is missing;
    /// remembered for the same objects.
    pub(super) fn dependencies(
        &self,
        tree: &SourceTree,
        own: &[HostSource],
        objects: &[Artifact],
    ) -> Result<Vec<HostSource>, BuildError> {
        if self.project.repository_root == self.project.root {
            return Ok(Vec::new());
        }
        let flags = own.first().map_or_else(ProjectFlags::none, |(_, flags, _)| flags.clone());
        let place = format!("host dependencies 3 of {}", self.project.repository_root.display());
        let remembered = self.artifact(&self.host_digest(&place, objects), DEPENDENCIES, |directory| {
            let found = self.find_dependencies(tree, own, objects, &flags, directory)?;
            let path = directory.join(DEPENDENCIES);
            std::fs::write(&path, found.join("\n")).map_err(BuildError::io(&path))
        })?;
        let text = fs_err::read_to_string(&remembered.path).map_err(BuildError::io(&remembered.path))?;
        Ok(text.lines().map(|file| self.dependency(file, &flags)).collect())
    }

    /// A source outside the operator with the operator's flags and those that CMake gives the source itself.
    fn dependency(&self, file: &str, flags: &ProjectFlags) -> HostSource {
        let mut flags = flags.clone();
        for (_, group) in self.model().groups_of(Path::new(file)) {
            flags.merge(ProjectFlags::from_group(group));
        }
        (file.to_owned(), flags, false)
    }

    fn find_dependencies(
        &self,
        tree: &SourceTree,
        own: &[HostSource],
        objects: &[Artifact],
        flags: &ProjectFlags,
        directory: &Path,
    ) -> Result<Vec<String>, BuildError> {
        let mut candidates: Option<Candidates> = None;
        let mut objects = objects.to_vec();
        let mut found: Vec<String> = Vec::new();
        let trial = directory.join("trial.so");
        let own_texts = || own.iter().filter_map(|(file, _, _)| tree.text(file));
        let has_tiling = own_texts().any(|text| text.contains("IMPL_OP_OPTILING") || text.contains("SetTiling"));
        let mut chosen = Vec::new();
        if !has_tiling {
            // A definition that a family's macro makes has no OP_ADD in the text: its name is then the folder's.
            let mut types: BTreeSet<String> = own_texts().flat_map(defined_types).collect();
            types.extend(self.project.root.file_name().map(|name| camel_case(&name.to_string_lossy())));
            chosen = candidates.get_or_insert_with(|| self.candidates(tree, own)).registering(&types);
        }
        for _ in 0..ROUNDS {
            for file in chosen {
                let source = [self.dependency(&file.display().to_string(), flags)];
                match self.objects(tree, &source) {
                    Ok(made) => {
                        objects.extend(made);
                        found.extend(source.into_iter().map(|(file, _, _)| file));
                    }
                    // What it defines stays missing, which matters only if it is called.
                    Err(BuildError::Compile(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            let missing = match self.link_host(&trial, &objects, &["-Wl,-z,defs"]) {
                Ok(()) => break,
                Err(BuildError::Compile(failure)) => unresolved(&failure.log),
                Err(error) => return Err(error),
            };
            chosen = candidates.get_or_insert_with(|| self.candidates(tree, own)).defining(&missing);
            if chosen.is_empty() {
                break;
            }
        }
        let _ = std::fs::remove_file(&trial);
        Ok(found)
    }

    pub(super) fn candidates(&self, tree: &SourceTree, own: &[HostSource]) -> Candidates {
        let mut headers = BTreeSet::new();
        for (file, flags, _) in own {
            headers.extend(self.closure(tree, file, flags).other_files.into_keys());
        }
        Candidates::around(&self.project, &headers)
    }
}

/// Named sources, and those with the operator's definition or tiling function where the names leave them out: a list that
/// somebody wrote down may be incomplete, and without the two there is no operator.
fn completed<'file>(mut named: Vec<&'file str>, all: &[&'file str], tree: &SourceTree) -> Vec<&'file str> {
    let defines = |text: &str| text.contains("OP_ADD(");
    let tiles =
        |text: &str| text.contains("IMPL_OP_OPTILING(") || text.contains("IMPL_OP(") && text.contains(".Tiling(");
    for is_needed in [&defines as &dyn Fn(&str) -> bool, &tiles] {
        let has = |file: &&str| tree.text(file).is_some_and(is_needed);
        if !named.is_empty() && !named.iter().any(has) {
            named.extend(all.iter().copied().filter(has));
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_that_no_target_names_is_part_of_the_library() {
        let mut tree = SourceTree::new();
        tree.insert("op_host/add_def.cpp", "OP_ADD(Add);");
        tree.insert("op_host/add_tiling.cpp", "IMPL_OP_OPTILING(Add).Tiling(F);");
        tree.insert("op_host/add_old.cc", "IMPL_OP(Add)\n    .Tiling(G);");
        let all = ["op_host/add_def.cpp", "op_host/add_old.cc", "op_host/add_tiling.cpp"];
        assert_eq!(completed(vec!["op_host/add_tiling.cpp"], &all, &tree), ["op_host/add_tiling.cpp", all[0]]);
        assert_eq!(completed(all.to_vec(), &all, &tree), all);
        tree.insert("op_host/add_tiling.cpp", "");
        let named = vec!["op_host/add_def.cpp", "op_host/add_tiling.cpp"];
        assert_eq!(completed(named.clone(), &all, &tree), [named[0], named[1], "op_host/add_old.cc"]);
        assert!(completed(vec![], &all, &tree).is_empty(), "then all are taken anyway");
    }
}
