//! `host.so`: the operator's tiling, shape inference and definition, for the runner.

use std::path::Path;

use super::builder::{Artifact, Builder};
use super::cache::Digest;
use super::error::BuildError;
use super::flags::ProjectFlags;
use crate::project::is_interface_code;
use crate::source::SourceTree;

const OUTPUT: &str = "host.so";

impl Builder {
    /// Builds the host library of a framework operator.
    pub fn host(&self, tree: &SourceTree) -> Result<Artifact, BuildError> {
        let start = std::time::Instant::now();
        let sources = self.host_sources(tree);
        if sources.is_empty() {
            return Err(BuildError::Environment {
                message: format!("{} has no host sources (op_host/*.cpp)", self.project.root.display()),
                fix: "direct-launch projects have none; name the operator's own directory with --project".to_owned(),
            });
        }
        let objects = self.objects(tree, &sources)?;
        let mut digest = Digest::new("host 1");
        digest
            .text(&self.sdk.digest)
            .text(&self.sdk.compiler.identity)
            .texts(objects.iter().map(|object| &object.digest));
        let digest = digest.finish();
        let mut artifact = self.artifact(&digest, OUTPUT, |directory| {
            let mut words = vec!["-shared".to_owned(), "-o".to_owned(), directory.join(OUTPUT).display().to_string()];
            words.extend(objects.iter().map(|object| object.path.display().to_string()));
            words.extend(self.sdk.link_words());
            words.extend(["-Wl,-z,defs", "-ldl", "-pthread"].map(str::to_owned));
            self.compile(OUTPUT, &self.overlay(&SourceTree::new())?, &words)
        })?;
        artifact.wall_s = start.elapsed().as_secs_f64();
        Ok(artifact)
    }

    /// Sources of the host library with their flags: what targets for host code compile, and where CMake names none, all
    /// of `op_host` apart from interface code.
    fn host_sources(&self, tree: &SourceTree) -> Vec<(String, ProjectFlags, bool)> {
        let all: Vec<&str> = tree
            .iter()
            .map(|(file, _)| file)
            .filter(|file| file.starts_with("op_host/") && !is_interface_code(file))
            .filter(|file| {
                matches!(Path::new(file).extension().and_then(|extension| extension.to_str()), Some("cpp" | "cc"))
            })
            .collect();
        let model = self.model();
        let named: Vec<&str> = all
            .iter()
            .copied()
            .filter(|file| model.groups_of(&self.project.root.join(file)).next().is_some())
            .collect();
        let chosen = if named.is_empty() { all } else { named };
        let mut common = ProjectFlags::none();
        // The plugin and interface targets are compiled with other definitions; those of tiling are the ones meant here.
        for file in &chosen {
            for (target, group) in model.groups_of(&self.project.root.join(file)) {
                if !target.name.contains("proto") && !target.name.contains("opapi") {
                    common.merge(ProjectFlags::from_group(group));
                }
            }
        }
        chosen.into_iter().map(|file| (file.to_owned(), common.clone(), false)).collect()
    }
}
