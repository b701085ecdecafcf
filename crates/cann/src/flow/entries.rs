//! Cache entries that a project is configured with: the project's own, what the toolkit needs, what the user says.

use std::collections::BTreeMap;
use std::path::Path;

use super::error::FlowError;
use super::style::Style;
use crate::soc::Soc;
use crate::toolkit::Toolkit;
use toolchain::preset_entries;

/// The vendor of projects that name none.
const VENDOR: &str = "customize";

/// What entries depend on.
pub(super) struct Request<'call> {
    pub style: Style,
    pub toolkit: &'call Toolkit,
    pub soc: &'call Soc,
    /// Folder with the project's CMake file, in the copy.
    pub source: &'call Path,
    /// Where everything that is built lies.
    pub work: &'call Path,
    /// What the user says.
    pub user: &'call BTreeMap<String, String>,
}

impl Request<'_> {
    /// Entries for the first configuration. Some count only there (those that `find_package(ASC)` reads), so that other entries mean
    /// another tree.
    pub(super) fn entries(&self) -> Result<BTreeMap<String, String>, FlowError> {
        let mut entries = match self.style {
            Style::MsOpGen | Style::Package => preset_entries(self.source)?,
            _ => BTreeMap::new(),
        };
        let mut set = |name: &str, value: String| drop(entries.insert(name.to_owned(), value));
        let home = self.toolkit.home.display().to_string();
        set("ASCEND_CANN_PACKAGE_PATH", home);
        set("CMAKE_POLICY_VERSION_MINIMUM", "3.5".to_owned());
        if let Some(folder) = self.toolkit.cmake_folder() {
            set("ASC_DIR", folder.display().to_string());
        }
        match self.style {
            Style::MsOpGen | Style::Package => {
                // An older name of the family is the one to build by where the project lists it.
                let listed = self.project_units();
                set("ASCEND_COMPUTE_UNIT", self.soc.compute_unit(&listed).to_owned());
                for (name, value) in [
                    ("ENABLE_BINARY_PACKAGE", "True"),
                    ("ENABLE_SOURCE_PACKAGE", "True"),
                    ("ENABLE_TEST", "False"),
                    ("ENABLE_CROSS_COMPILE", "False"),
                    // A build that passes over what fails says that it succeeded.
                    ("ASCEND_SKIP_FAILED_COMPUTE_UNIT", "False"),
                    ("ASCEND_PACK_SHARED_LIBRARY", "False"),
                ] {
                    set(name, value.to_owned());
                }
            }
            Style::KernelLaunch => {
                set("SOC_VERSION", self.soc.name.clone());
                set("RUN_MODE", "npu".to_owned());
                set("CMAKE_ASC_ARCHITECTURES", self.soc.npu_arch().to_owned());
            }
            Style::Language => {
                set("CMAKE_ASC_ARCHITECTURES", self.soc.npu_arch().to_owned());
                set("CMAKE_ASC_RUN_MODE", "npu".to_owned());
                set("SOC_VERSION", self.soc.name.clone());
                if let Some(bisheng) = self.toolkit.program("bisheng") {
                    set("CMAKE_ASC_COMPILER", bisheng.display().to_string());
                }
            }
            // By what published programs ask for the architecture that they hand to the compiler; to others it is an unused entry.
            Style::RunTime => set("CMAKE_ASC_ARCHITECTURES", self.soc.npu_arch().to_owned()),
            Style::Repository | Style::Unknown => {}
        }
        for (name, value) in [("CMAKE_BUILD_TYPE", "Release"), ("ASCEND_PYTHON_EXECUTABLE", "python3")] {
            entries.entry(name.to_owned()).or_insert_with(|| value.to_owned());
        }
        if matches!(self.style, Style::MsOpGen) {
            entries.entry("vendor_name".to_owned()).or_insert_with(|| VENDOR.to_owned());
        }
        entries.extend(self.user.iter().map(|(name, value)| (name.clone(), value.clone())));
        // What decides where files go is not the project's nor the user's: copies of programs find their libraries beside them, and
        // nothing is installed outside.
        let fixed = [
            ("CMAKE_INSTALL_PREFIX", self.work.join("install").display().to_string()),
            ("CMAKE_BUILD_RPATH_USE_ORIGIN", "ON".to_owned()),
            ("CMAKE_EXPORT_COMPILE_COMMANDS", "ON".to_owned()),
        ];
        entries.extend(fixed.into_iter().map(|(name, value)| (name.to_owned(), value)));
        entries.retain(|name, _| name != "CMAKE_TOOLCHAIN_FILE");
        Ok(entries)
    }

    fn project_units(&self) -> Vec<String> {
        let preset = preset_entries(self.source).unwrap_or_default();
        let listed = preset.get("ASCEND_COMPUTE_UNIT").map(String::as_str).unwrap_or_default();
        listed.split(';').map(|unit| unit.trim().to_owned()).collect()
    }
}

/// The vendor that entries name.
pub(super) fn vendor(entries: &BTreeMap<String, String>) -> String {
    entries.get("vendor_name").cloned().unwrap_or_else(|| VENDOR.to_owned())
}
