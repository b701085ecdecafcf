//! The second door: a toolkit's own kernel headers on this SDK's instructions. Finds the headers in the folder shapes that
//! toolkits and checkouts of the open device library have, and says with which words kernels are compiled against them.

use std::collections::BTreeMap;
use std::fmt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use walkdir::WalkDir;

use super::cache::{Digest, publish_directory};
use super::error::BuildError;

/// The header that stands for a toolkit.
const HEADER: &str = "kernel_operator.h";

/// How the folders of a toolkit are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `include/kernel_operator.h` beside `impl/`: the open device library and toolkits built from it.
    Open,
    /// `ascendc/include/basic_api/kernel_operator.h` and `highlevel_api/`: installed toolkits up to 8.
    Split,
    /// `tikcpp/tikcfw/kernel_operator.h`, everything below one folder.
    Flat,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Shape::Open => "open device library",
            Shape::Split => "toolkit with basic_api and highlevel_api",
            Shape::Flat => "toolkit with tikcfw",
        })
    }
}

/// Kernel headers of a toolkit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolkit {
    /// Folder that the shape describes.
    pub root: PathBuf,
    /// Its shape.
    pub shape: Shape,
    /// Digest over names, sizes and times of the headers.
    pub digest: String,
    /// Include folders in the order of search.
    includes: Vec<PathBuf>,
}

impl Toolkit {
    /// Looks for kernel headers in a directory that the user names: a toolkit's home, a checkout, or a folder inside.
    pub fn find(directory: &Path) -> Result<Toolkit, BuildError> {
        let given = std::path::absolute(directory).map_err(BuildError::io(directory))?;
        let (root, shape) = locate(&given).ok_or_else(|| BuildError::Environment {
            message: format!("no kernel headers of a toolkit in {}: {HEADER} was not found", directory.display()),
            fix: "name the toolkit's home (the value of ASCEND_HOME_PATH), or a checkout of the open device library \
                  that holds include/kernel_operator.h"
                .to_owned(),
        })?;
        let includes = folders(&root, shape).into_iter().filter(|folder| folder.is_dir()).collect();
        let digest = match shape {
            Shape::Open => digest(&[root.join("include"), root.join("impl")])?,
            Shape::Split => digest(&["basic_api", "highlevel_api"].map(|name| root.join(name)))?,
            Shape::Flat => digest(std::slice::from_ref(&root))?,
        };
        Ok(Toolkit { root, shape, digest, includes })
    }

    /// Kernel headers of the toolkits that the environment names.
    pub fn from_environment() -> Option<Toolkit> {
        ["ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"]
            .iter()
            .filter_map(std::env::var_os)
            .filter(|value| !value.is_empty())
            .find_map(|value| Toolkit::find(Path::new(&value)).ok())
    }

    /// Compiler words of device code: our support headers first, then the toolkit's, then this SDK for what a toolkit
    /// takes from elsewhere. `links` is the folder that [`Toolkit::links`] made.
    pub(crate) fn words(&self, sdk: &Path, links: &Path) -> Vec<String> {
        let mut words: Vec<String> = DEFINES.map(str::to_owned).to_vec();
        words.push(format!("-I{}", sdk.join("toolkit").display()));
        words.extend(self.includes.iter().map(|folder| format!("-I{}", folder.display())));
        for folder in [links.to_owned(), links.join("older")] {
            words.push(format!("-I{}", folder.display()));
        }
        words.extend(["-idirafter".to_owned(), sdk.join("include").display().to_string()]);
        words
    }

    /// Folder with the names that kernels know and a checkout has elsewhere, made once.
    pub(crate) fn links(&self, cache: &Path) -> Result<PathBuf, BuildError> {
        let target = cache.join(format!("toolkit-{}", self.digest));
        if target.is_dir() {
            return Ok(target);
        }
        let temporary =
            tempfile::Builder::new().prefix(".toolkit-").tempdir_in(cache).map_err(BuildError::io(cache))?;
        for (name, original) in self.names() {
            let path = temporary.path().join(name);
            if let Some(parent) = path.parent() {
                fs_err::create_dir_all(parent).map_err(BuildError::io(parent))?;
            }
            if original.is_dir() {
                symlink(&original, &path).map_err(BuildError::io(&path))?;
            } else {
                // Not a link: from there the compiler would look for what the header includes by a path up the folders.
                let text = format!("#include \"{}\"\n", original.display());
                std::fs::write(&path, text).map_err(BuildError::io(&path))?;
            }
        }
        fs_err::create_dir_all(temporary.path().join("older")).map_err(BuildError::io(temporary.path()))?;
        publish_directory(temporary, &target)
    }

    /// Names of installed toolkits by the place that they lead to.
    fn names(&self) -> BTreeMap<PathBuf, PathBuf> {
        let mut names = BTreeMap::new();
        let (basic, library, implementation) = match self.shape {
            Shape::Open => ("include/basic_api", "include/adv_api", "impl/basic_api"),
            Shape::Split => ("basic_api/interface", "highlevel_api/lib", "basic_api/impl"),
            Shape::Flat => ("interface", "lib", "impl"),
        };
        let (basic, library) = (self.root.join(basic), self.root.join(library));
        if self.shape == Shape::Open {
            names.insert("interface".into(), basic.clone());
            names.insert("older/impl".into(), self.root.join(implementation));
        } else {
            names.insert("adv_api".into(), library.clone());
        }
        names.insert("basic_api".into(), basic);
        for entry in WalkDir::new(&library).into_iter().flatten() {
            let (Ok(inside), Some(file)) = (entry.path().strip_prefix(&library), entry.path().file_name()) else {
                continue;
            };
            if !entry.file_type().is_file() {
                continue;
            }
            let file = file.to_string_lossy();
            names.insert(Path::new("lib").join(inside), entry.path().to_owned());
            // Older names of the same headers.
            if let Some(stem) = file.strip_suffix(".h").filter(|stem| !stem.starts_with("kernel_operator_")) {
                let older = inside.with_file_name(format!("kernel_operator_{stem}_intf.h"));
                names.entry(Path::new("lib").join(older)).or_insert_with(|| entry.path().to_owned());
            }
            if file == "matmul_intf.h" || file == "tiling_api.h" {
                names.entry(Path::new("lib").join(file.as_ref())).or_insert_with(|| entry.path().to_owned());
            }
            if inside.starts_with("matmul") {
                names.entry(Path::new("lib/matrix").join(inside)).or_insert_with(|| entry.path().to_owned());
            }
        }
        names
    }
}

/// The configuration of the headers in which on-chip pointers are addresses of the host.
const DEFINES: [&str; 3] = ["-DASCENDC_CPU_DEBUG=1", "-D__CCE_KT_TEST__=1", "-DASCENDSIM_TOOLKIT_HEADERS=1"];

fn locate(given: &Path) -> Option<(PathBuf, Shape)> {
    let machines = ["x86_64-linux", "aarch64-linux", "arm64-linux"];
    let mut bases = vec![given.to_owned()];
    bases.extend(machines.map(|machine| given.join(machine)));
    bases.extend(["latest", "compiler"].map(|name| given.join(name)));
    bases.extend(machines.map(|machine| given.join("latest").join(machine)));
    for base in &bases {
        for (inside, shape) in
            [("", Shape::Open), ("asc", Shape::Open), ("ascendc/include", Shape::Split), ("include", Shape::Split)]
        {
            let root = if inside.is_empty() { base.clone() } else { base.join(inside) };
            let found = match shape {
                Shape::Open => root.join("include").join(HEADER).is_file() && root.join("impl").is_dir(),
                _ => root.join("basic_api").join(HEADER).is_file(),
            };
            if found {
                return Some((root, shape));
            }
        }
        if base.join("basic_api").join(HEADER).is_file() {
            return Some((base.clone(), Shape::Split));
        }
        for inside in ["tikcpp/tikcfw", "tikcfw", ""] {
            let root = if inside.is_empty() { base.clone() } else { base.join(inside) };
            if root.join(HEADER).is_file() && root.join("interface").is_dir() {
                return Some((root, Shape::Flat));
            }
        }
    }
    None
}

fn folders(root: &Path, shape: Shape) -> Vec<PathBuf> {
    let names: &[&str] = match shape {
        Shape::Open => &[
            "include/basic_api",
            "include",
            "impl",
            "",
            "include/adv_api",
            "impl/basic_api",
            "impl/adv_api",
            "include/utils",
        ],
        Shape::Split => &[
            "basic_api",
            "basic_api/interface",
            "basic_api/impl",
            "highlevel_api",
            "highlevel_api/lib",
            "highlevel_api/impl",
            "highlevel_api/tiling",
        ],
        Shape::Flat => &["", "interface", "impl", "lib", "include", "include/adv_api", "include/utils"],
    };
    names.iter().map(|name| if name.is_empty() { root.to_owned() } else { root.join(name) }).collect()
}

fn digest(roots: &[PathBuf]) -> Result<String, BuildError> {
    let mut digest = Digest::new("toolkit 2");
    for entry in roots.iter().flat_map(|root| WalkDir::new(root).follow_links(true).sort_by_file_name()) {
        // A link that leads nowhere is nobody's header.
        let Ok(entry) = entry else { continue };
        if !entry.file_type().is_file() || entry.path().extension().is_none_or(|extension| extension != "h") {
            continue;
        }
        let data =
            entry.metadata().map_err(|error| BuildError::Io { path: entry.path().to_owned(), source: error.into() })?;
        let time = data.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        digest.text(&entry.path().to_string_lossy()).text(&format!("{} {}", data.len(), time.as_nanos()));
    }
    Ok(digest.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, file: &str) {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }

    #[test]
    fn headers_are_found_in_every_shape() {
        for (file, beside, given, shape) in [
            ("include/kernel_operator.h", "impl/x.h", "", Shape::Open),
            ("x86_64-linux/asc/include/kernel_operator.h", "x86_64-linux/asc/impl/x.h", "", Shape::Open),
            ("aarch64-linux/ascendc/include/basic_api/kernel_operator.h", "x.h", "", Shape::Split),
            (
                "x86_64-linux/tikcpp/tikcfw/kernel_operator.h",
                "x86_64-linux/tikcpp/tikcfw/interface/x.h",
                "",
                Shape::Flat,
            ),
            ("tikcfw/kernel_operator.h", "tikcfw/interface/x.h", "tikcfw", Shape::Flat),
        ] {
            let temporary = tempfile::tempdir().unwrap();
            write(temporary.path(), file);
            write(temporary.path(), beside);
            let found = Toolkit::find(&temporary.path().join(given)).unwrap();
            assert_eq!(found.shape, shape, "{file}");
            assert!(found.includes.iter().any(|folder| folder.join(HEADER).is_file()), "{file}");
        }
        let empty = tempfile::tempdir().unwrap();
        let error = Toolkit::find(empty.path()).unwrap_err().to_string();
        assert!(error.contains("kernel_operator.h was not found"), "{error}");
    }

    #[test]
    fn older_names_lead_to_the_same_headers() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().join("checkout");
        for file in ["include/kernel_operator.h", "impl/basic_api/dav_c220/x.h", "include/adv_api/math/sin.h"] {
            write(&root, file);
        }
        write(&root, "include/adv_api/matmul/matmul_intf.h");
        let toolkit = Toolkit::find(&root).unwrap();
        let links = toolkit.links(temporary.path()).unwrap();
        for name in [
            "lib/math/sin.h",
            "lib/math/kernel_operator_sin_intf.h",
            "lib/matmul_intf.h",
            "lib/matrix/matmul/matmul_intf.h",
            "older/impl/dav_c220/x.h",
        ] {
            assert!(links.join(name).is_file(), "{name}");
        }
        assert_eq!(toolkit.links(temporary.path()).unwrap(), links);
        write(&root, "include/more.h");
        assert_ne!(Toolkit::find(&root).unwrap().digest, toolkit.digest);
    }
}
