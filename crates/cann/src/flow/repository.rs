//! Builds that a repository's own script does, in a copy of the repository.

use std::process::Command;

use super::package::vendor_below;
use super::pending::Pending;
use super::products::pairs;
use super::{Built, Flow, FlowError, Ran};
use source::SourceTree;

impl Flow {
    /// Words after `bash` for the build script of a repository.
    pub(super) fn repository_words(&self) -> Vec<String> {
        let name = self.project.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
        vec![
            "build.sh".to_owned(),
            "--pkg".to_owned(),
            format!("--soc={}", self.soc.compute_unit(&[])),
            format!("--ops={name}"),
            "--vendor_name=ascend_tune".to_owned(),
            format!("-j{}", self.options.jobs.max(1)),
        ]
    }

    pub(super) fn build_in_repository(&self, tree: &SourceTree, changed: &[String]) -> Result<Built, FlowError> {
        let source = self.mirror.root().to_owned();
        let map = |path: &str| self.original(path);
        let state = self.options.work.join("build-repository");
        let pending = self.pending(&state, changed)?;
        let products = source.join("build");
        let mut drive = self.drive(source.clone(), source.clone(), &map)?;
        let unit = self.soc.compute_unit(&[]);
        const STEP: &str = "the repository's build.sh";
        let mut before = Vec::new();
        if !pending.is_nothing() || pairs(&products, &mut before).is_empty() {
            for pair in pairs(&products, &mut before) {
                for file in [&pair.text, &pair.object.path] {
                    fs_err::remove_file(file).map_err(FlowError::io(file))?;
                }
            }
            let mut command = Command::new("bash");
            command.args(self.repository_words()).current_dir(&source);
            drive.run(STEP, command, "install bash")?;
        }
        let mut broken = Vec::new();
        let mut found = pairs(&products, &mut broken);
        if found.is_empty() {
            found = pairs(&source.join("build_out"), &mut broken);
        }
        if found.is_empty() {
            return Err(self.no_object(STEP, broken, &drive.log, unit));
        }
        let installed =
            vendor_below(&products, "ascend_tune").or_else(|| vendor_below(&source.join("build_out"), "ascend_tune"));
        let mut built = self.package(tree, &products, unit, "ascend_tune", installed.as_deref(), &found)?;
        built.ran = Ran { configured: true, host: true, kernel: true };
        built.log = drive.log;
        Pending { configuration: false, host: false, kernel: false }.keep(&state)?;
        // The script keeps its own cache, which ours is only a note beside.
        fs_err::write(state.join("CMakeCache.txt"), "").map_err(FlowError::io(&state))?;
        Ok(built)
    }
}
