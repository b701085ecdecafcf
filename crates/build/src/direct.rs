//! Direct launch: the project's own program, with launches rewritten and linked with the SDK's library.

use std::collections::BTreeSet;

use super::builder::{Artifact, Builder};
use super::cache::Digest;
use super::error::BuildError;
use super::file_api::Target;
use super::flags::ProjectFlags;
use super::run_time_kernel::run_time_units;
use source::SourceTree;
use source::lex::{compiles_at_run_time, has_launch, only_embedded_kernels};

/// Libraries of the toolkit; `libascend_sim.so` stands in for all of them.
pub(crate) const TOOLKIT_LIBRARIES: [&str; 41] = [
    "ascendcl",
    "acl_rt",
    "acl_rtc",
    "acl_op_compiler",
    "acl_cblas",
    "acl_dvpp",
    "runtime",
    "runtime_camodel",
    "npu_drv",
    "npu_drv_camodel",
    "register",
    "error_manager",
    "profapi",
    "ge_common_base",
    "unified_dlog",
    "mmpa",
    "ascend_dump",
    "c_sec",
    "ascendc_runtime",
    "tiling_api",
    "platform",
    "graph",
    "graph_base",
    "exe_graph",
    "nnopbase",
    "opapi",
    "opapi_math",
    "opapi_nn",
    "cust_opapi",
    "hccl",
    "metadef",
    "lowering",
    "rt2_registry",
    "alog",
    "ascendalog",
    "slog",
    "msprofiler",
    "ascend_protobuf",
    "tikcpp",
    "ascendc_acl_stub",
    "pem_davinci",
];

impl Builder {
    /// Builds the program of a direct-launch project.
    pub fn direct(&self, tree: &SourceTree) -> Result<Artifact, BuildError> {
        let start = std::time::Instant::now();
        let program = self.program(tree)?;
        let targets = self.with_libraries(program);
        let mut sources = Vec::new();
        let mut seen = BTreeSet::new();
        for target in &targets {
            for source in &target.sources {
                let Some(group) = source.group.and_then(|index| target.groups.get(index)) else { continue };
                let Ok(relative) = source.path.strip_prefix(&self.project.root) else { continue };
                let file = relative.to_string_lossy().into_owned();
                if source.generated || tree.text(&file).is_none() || !seen.insert(file.clone()) {
                    continue;
                }
                let text = tree.text(&file).unwrap_or_default();
                let device = group.language == "ASC"
                    || has_launch(text)
                    || (text.contains("__global__") && !only_embedded_kernels(text));
                sources.push((file, ProjectFlags::from_group(group), device));
            }
        }
        let tree = &self.with_run_time_kernels(tree, &mut sources);
        let objects = self.objects(tree, &sources)?;
        let libraries = libraries(program);
        let output = program.name.clone();
        let mut digest = Digest::new("direct 1");
        digest
            .text(&self.sdk.digest)
            .text(&self.sdk.compiler.identity)
            .texts(objects.iter().map(|object| &object.digest))
            .texts(&libraries);
        let digest = digest.finish();
        let mut artifact = self.artifact(&digest, &output, |directory| {
            let mut words =
                vec!["-rdynamic".to_owned(), "-o".to_owned(), directory.join(&output).display().to_string()];
            words.extend(objects.iter().map(|object| object.path.display().to_string()));
            words.extend(self.sdk.link_words());
            words.extend(libraries.iter().cloned());
            words.extend(["-ldl", "-pthread"].map(str::to_owned));
            self.link(&output, &self.overlay(&SourceTree::new())?, &words)
        })?;
        artifact.wall_s = start.elapsed().as_secs_f64();
        Ok(artifact)
    }

    /// Whether the program of a direct-launch project compiles its kernels while it runs.
    pub fn compiles_at_run_time(&self, tree: &SourceTree) -> bool {
        tree.iter().any(|(_, text)| compiles_at_run_time(text))
    }

    /// The tree with a file more for each text of kernels that the program compiles while it runs; the sources get them, too.
    fn with_run_time_kernels(&self, tree: &SourceTree, sources: &mut Vec<(String, ProjectFlags, bool)>) -> SourceTree {
        let mut tree = tree.clone();
        if !self.compiles_at_run_time(&tree) {
            return tree;
        }
        let compiled: Vec<String> = sources.iter().map(|(file, _, _)| file.clone()).collect();
        // What other programs of the project are made of is no text that this one reads.
        let of_others = |file: &str| {
            let path = self.project.root.join(file);
            self.model().targets.iter().any(|target| target.sources.iter().any(|source| source.path == path))
        };
        let on_disk = |file: &str| std::fs::read_to_string(self.project.root.join(file)).ok();
        for unit in run_time_units(&tree, &compiled, &of_others, &on_disk) {
            let flags = sources.iter().find(|(file, _, _)| *file == unit.of);
            let flags = flags.map_or_else(ProjectFlags::none, |(_, flags, _)| flags.clone());
            tree.insert(unit.file.clone(), unit.text);
            sources.push((unit.file, flags, true));
        }
        tree
    }

    /// The executable meant: the one named, or the only one that launches a kernel.
    fn program(&self, tree: &SourceTree) -> Result<&Target, BuildError> {
        let all: Vec<&Target> = self.model().executables().collect();
        let names = || all.iter().map(|target| target.name.as_str()).collect::<Vec<_>>().join(", ");
        if let Some(name) = &self.options.program {
            return all.iter().copied().find(|target| target.name == *name).ok_or_else(|| BuildError::Environment {
                message: format!("the project has no executable `{name}`"),
                fix: format!("choose one of: {}", names()),
            });
        }
        let launching: Vec<&Target> = all
            .iter()
            .copied()
            .filter(|target| self.with_libraries(target).iter().any(|part| self.launches(part, tree)))
            .collect();
        match launching.as_slice() {
            [only] => Ok(only),
            [] => Err(BuildError::Environment {
                message: "no executable of the project launches a kernel".to_owned(),
                fix: "the sources that hold <<<>>> or call aclrtcCompileProg must belong to an add_executable target"
                    .to_owned(),
            }),
            [first, ..] => Err(BuildError::Environment {
                message: format!("several executables launch kernels: {}", names()),
                fix: format!("name one as the operator in ascend.toml, for instance `{}`", first.name),
            }),
        }
    }

    fn launches(&self, target: &Target, tree: &SourceTree) -> bool {
        target.sources.iter().any(|source| {
            let name =
                source.path.strip_prefix(&self.project.root).ok().map(|path| path.to_string_lossy().into_owned());
            name.and_then(|name| tree.text(&name)).is_some_and(|text| has_launch(text) || compiles_at_run_time(text))
                || source.group.and_then(|index| target.groups.get(index)).is_some_and(|group| group.language == "ASC")
        })
    }

    /// The target and the libraries of the project that it depends on.
    fn with_libraries<'builder>(&'builder self, program: &'builder Target) -> Vec<&'builder Target> {
        let mut result = vec![program];
        let mut index = 0;
        while index < result.len() {
            for id in &result[index].dependencies {
                if let Some(target) = self.model().target(id)
                    && target.kind.ends_with("_LIBRARY")
                    && !result.iter().any(|known| known.id == target.id)
                {
                    result.push(target);
                }
            }
            index += 1;
        }
        result
    }
}

/// Libraries of the system that the program names.
fn libraries(program: &Target) -> Vec<String> {
    program
        .link
        .iter()
        .filter(|(role, _)| role == "libraries")
        .flat_map(|(_, fragment)| super::file_api::split_words(fragment))
        .filter(|word| word.strip_prefix("-l").is_some_and(|name| !TOOLKIT_LIBRARIES.contains(&name)))
        .collect()
}
