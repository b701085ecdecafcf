//! Builds that CMake is driven for: packages of operators, and programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::cmake::Drive;
use super::entries::{Request, vendor};
use super::package::{Package, Parts, copy_tree, lay_out, vendor_below};
use super::pending::Pending;
use super::products::{self, Elf, Pair, linked, pairs};
use super::targets::Targets;
use super::{Built, Flow, FlowError, Ran, Style, digest};
use crate::object::KernelObject;
use source::SourceTree;
use toolchain::Cmake;

impl Flow {
    pub(super) fn build_with_cmake(&self, tree: &SourceTree, changed: &[String]) -> Result<Built, FlowError> {
        let cmake = Cmake::find()?;
        let inside = self.cmake_folder();
        let source = self.mirror.root().join(&inside);
        let request = Request {
            style: self.style,
            toolkit: &self.toolkit,
            soc: &self.soc,
            source: &source,
            work: &self.options.work,
            user: &self.options.entries,
        };
        let entries = request.entries()?;
        // Other entries are another tree: some count at the first configuration only, and a tree is never wiped.
        let digest = digest(entries.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let binary = self.options.work.join(format!("build-{}", &digest[..12]));
        let map = |path: &str| self.original(path);
        let mut drive = self.drive(source, binary.clone(), &map)?;
        let mut pending = self.pending(&binary, changed)?;
        let started = SystemTime::now() - Duration::from_millis(20);
        let mut ran = Ran::default();
        if pending.configuration {
            // These are made once and then never again, whatever they were made of.
            forget(&binary, &is_generated)?;
            drive.configure(&cmake, &entries)?;
            ran.configured = true;
            pending = Pending { configuration: false, ..pending };
            pending.keep(&binary)?;
        }
        if pending.kernel {
            forget(&binary, &|path| path.ends_with("copy_kernel_src.timestamp"))?;
        }
        let result = match self.style.is_program() {
            true => self.program(&cmake, &mut drive, pending, started, tree),
            false => self.operators(&cmake, &mut drive, pending, tree, &entries),
        };
        let mut built = result?;
        (ran.host, ran.kernel) = (pending.host, pending.kernel);
        Pending { configuration: false, host: false, kernel: false }.keep(&binary)?;
        built.ran = ran;
        built.log = drive.log;
        Ok(built)
    }

    /// What is out of date in a tree after these files changed. Every tree of this project hears of it, because the copy that they are
    /// built from is one.
    pub(super) fn pending(&self, binary: &Path, changed: &[String]) -> Result<Pending, FlowError> {
        let text = |name: &str| {
            let bytes = fs_err::read(self.mirror.root().join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let trees = fs_err::read_dir(&self.options.work).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_tree =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("build-"));
        let trees: Vec<PathBuf> = trees.filter(is_tree).filter(|tree| tree != binary).collect();
        let mut own = Pending::of(binary);
        own.add(changed.iter(), &text);
        own.keep(binary)?;
        for tree in trees {
            let mut other = Pending::of(&tree);
            other.add(changed.iter(), &text);
            other.keep(&tree)?;
        }
        Ok(own)
    }

    fn operators(
        &self,
        cmake: &Cmake,
        drive: &mut Drive<'_>,
        pending: Pending,
        tree: &SourceTree,
        entries: &BTreeMap<String, String>,
    ) -> Result<Built, FlowError> {
        let unit = entries.get("ASCEND_COMPUTE_UNIT").cloned().unwrap_or_default();
        let targets = Targets::of(&drive.targets(cmake)?, &unit);
        let vendor = vendor(entries);
        let binary = drive.binary.clone();
        if (pending.host || pending.kernel) && !(targets.host.is_empty() && targets.texts.is_empty()) {
            let names: Vec<String> = targets.host.iter().chain(&targets.texts).cloned().collect();
            drive.build(cmake, "the build of host code", &names)?;
            // No kernel needs them, and where one fails the package is laid out all the same.
            if !targets.optional.is_empty() {
                let _ = drive.build(cmake, "the build of a package's texts", &targets.optional);
            }
        }
        let mut last = "the build of host code";
        if pending.kernel {
            // What an earlier build left would be taken for what this one makes.
            let mut old = Vec::new();
            for pair in pairs(&binary, &mut old) {
                for file in [&pair.text, &pair.object.path] {
                    fs_err::remove_file(file).map_err(FlowError::io(file))?;
                }
            }
            if self.style == Style::MsOpGen {
                // The kernel compiler asks the tiling library of an installed package; this one is installed nowhere.
                let prepared = self.options.work.join("prepared/vendors").join(&vendor);
                let parts = Parts {
                    tree: &binary,
                    unit: &unit,
                    vendor: &vendor,
                    processor: &self.toolkit.processor,
                    pairs: &[],
                };
                if prepared.is_dir() {
                    fs_err::remove_dir_all(&prepared).map_err(FlowError::io(&prepared))?;
                }
                lay_out(&prepared, &parts)?;
                let package = Package { vendor: prepared };
                drive.environment.extend(package.environment(&self.surroundings()));
            }
            last = "the build of kernels";
            drive.build(cmake, last, &targets.kernel)?;
        }
        let mut broken = Vec::new();
        let found = pairs(&binary, &mut broken);
        if found.is_empty() {
            return Err(self.no_object(last, broken, &drive.log, &unit));
        }
        let staged = self.options.work.join("staged");
        if staged.is_dir() {
            fs_err::remove_dir_all(&staged).map_err(FlowError::io(&staged))?;
        }
        // Whoever installs by rules of their own knows more than we do; where that fails, names of files are enough.
        let installed = drive.install(cmake, &staged).is_ok();
        let from = installed.then(|| vendor_below(&staged, &vendor)).flatten();
        self.package(tree, &binary, &unit, &vendor, from.as_deref(), &found)
    }

    /// Makes the package of these sources.
    pub(super) fn package(
        &self,
        tree: &SourceTree,
        binary: &Path,
        unit: &str,
        vendor: &str,
        installed: Option<&Path>,
        found: &[Pair],
    ) -> Result<Built, FlowError> {
        let name = installed.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let vendor = name.as_deref().unwrap_or(vendor);
        let folder = self.folder_of(tree)?;
        let package = Package { vendor: folder.join("vendors").join(vendor) };
        if let Some(installed) = installed {
            copy_tree(installed, &package.vendor)?;
        }
        let parts = Parts { tree: binary, unit, vendor, processor: &self.toolkit.processor, pairs: found };
        lay_out(&package.vendor, &parts)?;
        let kernels = package.vendor.join("op_impl/ai_core/tbe/kernel").join(unit);
        let mut objects: BTreeMap<String, Vec<KernelObject>> = BTreeMap::new();
        for pair in found {
            let path = kernels.join(&pair.op_file).join(pair.object.path.file_name().unwrap_or_default());
            objects.entry(pair.op_type.clone()).or_default().push(KernelObject { path, ..pair.object.clone() });
        }
        Ok(Built {
            objects,
            libraries: package.tiling_library(&self.toolkit.processor).into_iter().collect(),
            package: Some(package),
            program: None,
            ran: Ran::default(),
            log: String::new(),
        })
    }

    fn program(
        &self,
        cmake: &Cmake,
        drive: &mut Drive<'_>,
        pending: Pending,
        started: SystemTime,
        tree: &SourceTree,
    ) -> Result<Built, FlowError> {
        const STEP: &str = "the build";
        if !pending.is_nothing() {
            drive.build(cmake, STEP, &[])?;
        }
        let found = linked(&drive.binary);
        let is_new = |path: &Path| {
            fs_err::metadata(path).and_then(|found| found.modified()).is_ok_and(|written| written >= started)
        };
        if found.is_empty() || (pending.host || pending.kernel) && !found.iter().any(|(path, _)| is_new(path)) {
            let what = match found.is_empty() {
                true => "neither a program nor a library",
                false => "only what an earlier build made: no target uses the files that changed",
            };
            return Err(self.nothing(STEP, what.to_owned(), &drive.log));
        }
        let folder = self.folder_of(tree)?.join("bin");
        let mut built = Built {
            objects: BTreeMap::new(),
            package: None,
            program: None,
            libraries: Vec::new(),
            ran: Ran::default(),
            log: String::new(),
        };
        let mut programs = Vec::new();
        for (path, kind) in found {
            // The same folders, so that programs find their libraries beside them.
            let target = folder.join(path.strip_prefix(&drive.binary).unwrap_or(&path));
            let parent = target.parent().unwrap_or(&folder);
            fs_err::create_dir_all(parent).map_err(FlowError::io(parent))?;
            fs_err::copy(&path, &target).map_err(FlowError::io(&path))?;
            match kind {
                Elf::Program => programs.push(target),
                Elf::Library => built.libraries.push(target),
            }
        }
        let named = self.options.program.as_deref();
        let is_named = |path: &&PathBuf| named.is_some_and(|name| path.file_name().is_some_and(|file| file == name));
        built.program = match (programs.iter().find(is_named), programs.as_slice()) {
            (Some(program), _) => Some(program.clone()),
            (None, []) => None,
            (None, [only]) if named.is_none() => Some(only.clone()),
            (None, several) => {
                let names: Vec<_> =
                    several.iter().map(|path| path.file_name().unwrap_or_default().to_string_lossy()).collect();
                return Err(FlowError::Missing {
                    message: match named {
                        Some(name) => format!("the project makes no program {name}"),
                        None => "the project makes several programs".to_owned(),
                    },
                    fix: format!("name one of {} as the program to run", names.join(", ")),
                });
            }
        };
        Ok(built)
    }
}

/// Whether a file is made out of definitions: when CMake runs, and then taken by whatever name it has, so that one of an operator or a
/// variant that is no more is taken too; or once, and never again.
fn is_generated(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_script = path.parent().is_some_and(|folder| folder.ends_with("gen")) && name.ends_with(".sh");
    path.starts_with("autogen")
        || is_script
        || name.ends_with("-ops-info.json")
        || ["npu_supported_ops.json", ".impl_timestamp"].contains(&name.as_ref())
}

/// Removes files of a tree, told by their paths within it.
fn forget(tree: &Path, is_one: &dyn Fn(&Path) -> bool) -> Result<(), FlowError> {
    for file in products::named(tree, &|_| true) {
        if file.strip_prefix(tree).is_ok_and(is_one) {
            fs_err::remove_file(&file).map_err(FlowError::io(&file))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_generated;
    use std::path::Path;

    #[test]
    fn what_is_made_out_of_definitions_is_made_again() {
        let of = |path: &str| is_generated(Path::new(path));
        for path in [
            "autogen/aclnn_add.cpp",
            "op_kernel/binary/u1/gen/Add-add-0.sh",
            "op_kernel/tbe/op_info_cfg/ai_core/u1/aic-u1-ops-info.json",
            "op_kernel/tbe/.impl_timestamp",
        ] {
            assert!(of(path), "{path}");
        }
        for path in [
            "op_kernel/binary/u1/bin/add/Add_ab12.json",
            "op_host/libcust_opapi.so",
            "scripts/install.sh",
            "CMakeCache.txt",
        ] {
            assert!(!of(path), "{path}");
        }
    }
}
