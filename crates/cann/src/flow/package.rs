//! A private package of operators: the tree that an installer would make below `vendors/`, in a folder of ours. Nothing is installed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::error::FlowError;
use super::products::{Pair, named};
use crate::environment::Environment;

/// The variable that children find packages by.
const VARIABLE: &str = "ASCEND_CUSTOM_OPP_PATH";

/// A package that only children see which are given its environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// `.../vendors/<vendor>`.
    pub vendor: PathBuf,
}

impl Package {
    /// Variables by which a child finds it before all others; packages that are named already stay behind it.
    pub fn environment(&self, surroundings: &Environment) -> BTreeMap<String, String> {
        let list = |name: &str, folder: PathBuf| Some((name.to_owned(), surroundings.prepended(name, &[folder])?));
        let libraries = self.vendor.join("op_api/lib");
        let libraries = libraries.is_dir().then(|| list("LD_LIBRARY_PATH", libraries)).flatten();
        list(VARIABLE, self.vendor.clone()).into_iter().chain(libraries).collect()
    }

    /// The library with the tiling functions.
    pub fn tiling_library(&self, processor: &str) -> Option<PathBuf> {
        let folder = self.vendor.join("op_impl/ai_core/tbe/op_tiling");
        let of_processor = folder.join("lib/linux").join(processor);
        let first = named(&of_processor, &|name| name.ends_with(".so")).into_iter().next();
        first.or_else(|| Some(folder.join("liboptiling.so")).filter(|library| library.is_file()))
    }
}

/// What a package is made of.
pub(super) struct Parts<'call> {
    /// The binary tree.
    pub tree: &'call Path,
    /// Compute unit.
    pub unit: &'call str,
    /// Vendor.
    pub vendor: &'call str,
    /// Processor of host libraries.
    pub processor: &'call str,
    /// Kernel objects.
    pub pairs: &'call [Pair],
}

/// Completes a package: what `cmake --install` put there stays, what it did not is laid out by the names that builds give their files.
/// Objects are always those that are given.
pub(super) fn lay_out(vendor: &Path, parts: &Parts<'_>) -> Result<(), FlowError> {
    let tbe = vendor.join("op_impl/ai_core/tbe");
    let kernels = tbe.join("kernel").join(parts.unit);
    // Objects of earlier builds have other names; whoever installs a tree takes them along.
    if kernels.is_dir() && !parts.pairs.is_empty() {
        fs_err::remove_dir_all(&kernels).map_err(FlowError::io(&kernels))?;
    }
    for pair in parts.pairs {
        let folder = kernels.join(&pair.op_file);
        copy(&pair.text, &folder)?;
        copy(&pair.object.path, &folder)?;
    }
    let unit_folder = |path: &PathBuf| path.components().any(|part| part.as_os_str() == parts.unit);
    let config = tbe.join("kernel/config").join(parts.unit);
    if let Some(listed) = named(parts.tree, &|name| name == "binary_info_config.json").into_iter().find(unit_folder) {
        let folder = listed.parent().unwrap_or(parts.tree);
        for entry in fs_err::read_dir(folder).map_err(FlowError::io(folder))?.flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "json") {
                copy_missing(&entry.path(), &config)?;
            }
        }
    }
    let info = format!("aic-{}-ops-info.json", parts.unit);
    if let Some(found) = named(parts.tree, &|name| name == info).first() {
        copy_missing(found, &tbe.join("config").join(parts.unit))?;
    }
    let sources = tbe.join(format!("{}_impl/dynamic", parts.vendor));
    if !sources.is_dir() {
        let is_stub =
            |path: &PathBuf| path.parent().and_then(Path::file_name).is_some_and(|folder| folder == "dynamic");
        let stubs = named(parts.tree, &|name| name.ends_with(".py")).into_iter().filter(is_stub).collect::<Vec<_>>();
        for folder in stubs.iter().filter_map(|stub| stub.parent()).take(1) {
            copy_tree(folder, &sources)?;
        }
    }
    host_libraries(vendor, &tbe, parts)
}

fn host_libraries(vendor: &Path, tbe: &Path, parts: &Parts<'_>) -> Result<(), FlowError> {
    let newest = |beginning: &str| {
        named(parts.tree, &|name| name.starts_with(beginning) && name.ends_with(".so"))
            .into_iter()
            .find(|path| !path.is_symlink())
    };
    let of_processor = format!("lib/linux/{}", parts.processor);
    let tiling = tbe.join("op_tiling");
    let opmaster = newest("libcust_opmaster").or_else(|| {
        // A project may name its library itself; the link that goes with it does not have the name.
        newest("liboptiling").or_else(|| newest("libcust_tiling"))
    });
    if let Some(library) = opmaster {
        let copied = copy(&library, &tiling.join(&of_processor))?;
        let link = tiling.join("liboptiling.so");
        if !link.is_file() {
            let _ = fs_err::remove_file(&link);
            let name = copied.file_name().unwrap_or_default();
            fs_err::os::unix::fs::symlink(Path::new(&of_processor).join(name), &link).map_err(FlowError::io(&link))?;
        }
    }
    if let Some(library) = newest("libcust_opsproto") {
        copy(&library, &vendor.join("op_proto").join(&of_processor))?;
    }
    if let Some(library) = newest("libcust_opapi") {
        copy(&library, &vendor.join("op_api/lib"))?;
    }
    let generated = |path: &PathBuf| path.components().any(|part| part.as_os_str() == "autogen");
    let headers = [("aclnn_", "op_api/include"), ("op_proto", "op_proto/inc")];
    for (beginning, folder) in headers {
        let found = named(parts.tree, &|name| name.starts_with(beginning) && name.ends_with(".h"));
        for header in found.iter().filter(|path| generated(path)) {
            copy_missing(header, &vendor.join(folder))?;
        }
    }
    Ok(())
}

fn copy(file: &Path, folder: &Path) -> Result<PathBuf, FlowError> {
    fs_err::create_dir_all(folder).map_err(FlowError::io(folder))?;
    let target = folder.join(file.file_name().unwrap_or_default());
    fs_err::copy(file, &target).map_err(FlowError::io(file))?;
    Ok(target)
}

fn copy_missing(file: &Path, folder: &Path) -> Result<(), FlowError> {
    let there = folder.join(file.file_name().unwrap_or_default()).exists();
    if there { Ok(()) } else { copy(file, folder).map(drop) }
}

/// Copies a folder with all that is in it; links stay links.
pub(super) fn copy_tree(from: &Path, to: &Path) -> Result<(), FlowError> {
    for entry in walkdir::WalkDir::new(from).into_iter().flatten() {
        let Ok(inside) = entry.path().strip_prefix(from) else { continue };
        let target = to.join(inside);
        if entry.file_type().is_dir() {
            fs_err::create_dir_all(&target).map_err(FlowError::io(&target))?;
        } else if entry.file_type().is_symlink() {
            let leads = fs_err::read_link(entry.path()).map_err(FlowError::io(entry.path()))?;
            fs_err::os::unix::fs::symlink(leads, &target).map_err(FlowError::io(&target))?;
        } else {
            fs_err::copy(entry.path(), &target).map_err(FlowError::io(entry.path()))?;
        }
    }
    Ok(())
}

/// The folder of a vendor in what `cmake --install` left below a prefix, or a packager staged.
pub(super) fn vendor_below(prefix: &Path, vendor: &str) -> Option<PathBuf> {
    let mut found: Vec<(std::time::SystemTime, PathBuf)> = walkdir::WalkDir::new(prefix)
        .max_depth(8)
        .into_iter()
        .flatten()
        .filter(|entry| entry.file_type().is_dir() && entry.file_name() == "vendors")
        .flat_map(|entry| {
            let named = entry.path().join(vendor);
            let others = fs_err::read_dir(entry.path()).into_iter().flatten().flatten().map(|entry| entry.path());
            std::iter::once(named).chain(others).find(|folder| folder.is_dir())
        })
        .filter_map(|folder| Some((fs_err::metadata(&folder).ok()?.modified().ok()?, folder)))
        .collect();
    found.sort();
    found.pop().map(|(_, folder)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: PathBuf, text: &str) {
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    #[test]
    fn children_find_it_before_others() {
        let folder = tempfile::tempdir().unwrap();
        let vendor = folder.path().join("vendors/v");
        fs_err::create_dir_all(vendor.join("op_api/lib")).unwrap();
        let package = Package { vendor: vendor.clone() };
        let mut surroundings = Environment::default();
        surroundings.variables.insert(VARIABLE.to_owned(), "/other/vendors/w".to_owned());
        let given = package.environment(&surroundings);
        assert_eq!(given[VARIABLE], format!("{}:/other/vendors/w", vendor.display()));
        assert_eq!(given["LD_LIBRARY_PATH"], vendor.join("op_api/lib").display().to_string());
    }

    #[test]
    fn a_tree_is_laid_out_by_the_names_of_files() {
        let (tree, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |name: &str| tree.path().join(name);
        let text =
            r#"{"binFileName":"AddCustom_ab12","kernelName":"AddCustom_ab12","magic":"RT_DEV_BINARY_MAGIC_ELF"}"#;
        put(at("op_kernel/binary/u1/bin/add_custom/AddCustom_ab12.json"), text);
        put(at("op_kernel/binary/u1/bin/add_custom/AddCustom_ab12.o"), "ELF");
        put(at("op_kernel/binary/u1/bin/config/binary_info_config.json"), "{}");
        put(at("op_kernel/binary/u1/bin/config/add_custom.json"), "{}");
        put(at("op_kernel/tbe/op_info_cfg/ai_core/u1/aic-u1-ops-info.json"), "{}");
        put(at("op_kernel/tbe/dynamic/add_custom.py"), "import tbe");
        put(at("op_kernel/tbe/dynamic/add_custom.cpp"), "kernel");
        put(at("op_host/libcust_opmaster_rt2.0.so"), "host");
        put(at("op_host/libcust_opapi.so"), "api");
        put(at("autogen/aclnn_add_custom.h"), "");
        let mut broken = Vec::new();
        let pairs = super::super::products::pairs(tree.path(), &mut broken);
        assert_eq!(pairs.len(), 1, "{broken:?}");
        let vendor = out.path().join("vendors/customize");
        put(vendor.join("op_impl/ai_core/tbe/kernel/u1/add_custom/AddCustom_old0.o"), "of an earlier build");
        let parts = Parts { tree: tree.path(), unit: "u1", vendor: "customize", processor: "x86_64", pairs: &pairs };
        lay_out(&vendor, &parts).unwrap();
        let tbe = "op_impl/ai_core/tbe";
        for file in [
            &format!("{tbe}/kernel/u1/add_custom/AddCustom_ab12.o"),
            &format!("{tbe}/kernel/config/u1/binary_info_config.json"),
            &format!("{tbe}/kernel/config/u1/add_custom.json"),
            &format!("{tbe}/config/u1/aic-u1-ops-info.json"),
            &format!("{tbe}/customize_impl/dynamic/add_custom.cpp"),
            &format!("{tbe}/op_tiling/lib/linux/x86_64/libcust_opmaster_rt2.0.so"),
            &format!("{tbe}/op_tiling/liboptiling.so"),
            "op_api/lib/libcust_opapi.so",
            "op_api/include/aclnn_add_custom.h",
        ] {
            assert!(vendor.join(file).is_file(), "{file}");
        }
        assert!(!vendor.join(tbe).join("kernel/u1/add_custom/AddCustom_old0.o").exists());
        let tiling = Package { vendor }.tiling_library("x86_64").unwrap();
        assert!(tiling.ends_with("libcust_opmaster_rt2.0.so"));
    }
}
