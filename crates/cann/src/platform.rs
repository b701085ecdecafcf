//! Platform files of a toolkit: one a chip, with its core counts, sizes and rates.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a platform file says, by section and key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Platform {
    /// The chip: the name of the file.
    pub chip: String,
    sections: BTreeMap<String, BTreeMap<String, String>>,
}

/// A platform file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {message}", path.display())]
pub struct PlatformError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it, and what there is instead.
    pub message: String,
}

impl Platform {
    /// The file of a chip; its name in whatever case.
    ///
    /// # Errors
    /// Where the folder has no such file or it cannot be read: names of those there are.
    pub fn of_chip(folder: &Path, chip: &str) -> Result<Platform, PlatformError> {
        let known = chips_in(folder);
        match known.iter().find(|known| known.eq_ignore_ascii_case(chip)) {
            Some(known) => Self::read(&folder.join(format!("{known}.ini"))),
            None => Err(PlatformError {
                path: folder.to_owned(),
                message: format!("no platform file of {chip}; there are {}", known.join(", ")),
            }),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Where it cannot be read or has no section.
    pub fn read(path: &Path) -> Result<Platform, PlatformError> {
        let fail = |message: String| PlatformError { path: path.to_owned(), message };
        let bytes = fs_err::read(path).map_err(|error| fail(error.to_string()))?;
        let chip = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let platform = Self::parse(&chip, &String::from_utf8_lossy(&bytes));
        match platform.sections.is_empty() {
            true => Err(fail("it has no section: it is no platform file".to_owned())),
            false => Ok(platform),
        }
    }

    fn parse(chip: &str, text: &str) -> Platform {
        let mut platform = Platform { chip: chip.to_owned(), sections: BTreeMap::new() };
        let mut section = None;
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';'])) {
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = Some(name.trim().to_owned());
                platform.sections.entry(name.trim().to_owned()).or_default();
            } else if let (Some(section), Some((key, value))) = (&section, line.split_once('=')) {
                let section = platform.sections.entry(section.clone()).or_default();
                section.insert(key.trim().to_owned(), value.trim().to_owned());
            }
        }
        platform
    }

    /// A section's entries; sections and keys are found in whatever case.
    pub fn section(&self, name: &str) -> Option<&BTreeMap<String, String>> {
        self.sections.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, entries)| entries)
    }

    /// A number by its key, in whichever section it is.
    pub fn number(&self, key: &str) -> Option<u64> {
        let entries = self.sections.values().flatten();
        let mut values = entries.filter(|(known, _)| known.eq_ignore_ascii_case(key)).map(|(_, value)| value);
        values.find_map(|value| match value.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => value.parse().ok(),
        })
    }

    /// Cube cores; on chips whose cores are both in one, its cores.
    pub fn cube_cores(&self) -> Option<u64> {
        self.number("cube_core_cnt").or_else(|| self.number("ai_core_cnt"))
    }

    /// Vector cores; where they are part of the cube cores (a count of 0, or none), those.
    pub fn vector_cores(&self) -> Option<u64> {
        self.number("vector_core_cnt").filter(|count| *count > 0).or_else(|| self.cube_cores())
    }

    /// Rated clock of the AI Core in MHz.
    pub fn clock_mhz(&self) -> Option<u64> {
        self.number("cube_freq").or_else(|| self.number("vec_freq"))
    }

    /// Unified buffer in bytes.
    pub fn ub_bytes(&self) -> Option<u64> {
        self.number("ub_size")
    }

    /// L2 cache in bytes. Files give bytes; a small number can only be MiB.
    pub fn l2_bytes(&self) -> Option<u64> {
        self.number("l2_size").map(|size| if size < 4096 { size << 20 } else { size })
    }

    /// Rates of the vendor's own model in bytes per cycle and core, by their keys.
    pub fn rates(&self) -> BTreeMap<String, u64> {
        let mut rates = BTreeMap::new();
        for section in ["AICoreMemoryRates", "VectorCoreMemoryRates"] {
            for (key, value) in self.section(section).into_iter().flatten() {
                if let Ok(value) = value.parse() {
                    rates.entry(key.clone()).or_insert(value);
                }
            }
        }
        rates
    }

    /// Dtypes that an instruction takes (`vadd`), as the file spells them; `None` where it is not listed.
    pub fn dtypes_of(&self, instruction: &str) -> Option<Vec<String>> {
        let word = format!("Intrinsic_{instruction}");
        let sections = ["AICoreintrinsicDtypeMap", "VectorCoreintrinsicDtypeMap"];
        let entries = sections.iter().filter_map(|name| self.section(name)).flatten();
        let same = |key: &String| key.eq_ignore_ascii_case(&word) || key.eq_ignore_ascii_case(instruction);
        let (_, value) = entries.into_iter().find(|(key, _)| same(key))?;
        let value = value.split_once('|').map_or(value.as_str(), |(_, dtypes)| dtypes);
        Some(value.split(',').map(|dtype| dtype.trim().to_owned()).filter(|dtype| !dtype.is_empty()).collect())
    }
}

/// Chips that a folder has files of, sorted.
pub fn chips_in(folder: &Path) -> Vec<String> {
    let entries = fs_err::read_dir(folder).into_iter().flatten().flatten();
    let name = |file: std::ffi::OsString| Some(file.into_string().ok()?.strip_suffix(".ini")?.to_owned());
    let mut names: Vec<String> = entries.filter_map(|entry| name(entry.file_name())).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::{Platform, chips_in};

    /// Made up in the documented form.
    const TEXT: &str = "[version]\nSoC_version=Ascend910B2\n\n[SoCInfo]\nai_core_cnt=24\ncube_core_cnt=24\n\
        vector_core_cnt=48\nl2_size=201326592\n[AICoreSpec]\ncube_freq = 1800\nub_size=196608\n# a note\n[AICoreMemoryRates]\n\
        ddr_rate=32\nl2_read_rate=110\nodd=x\n[AICoreintrinsicDtypeMap]\nIntrinsic_vadd=float16,float32,int32\n\
        Intrinsic_vdiv=0|f16,f32\n";

    #[test]
    fn numbers_are_found_by_their_keys() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join("Ascend910B2.ini"), TEXT).unwrap();
        fs_err::write(folder.path().join("Ascend310P3.ini"), "nothing").unwrap();
        let platform = Platform::of_chip(folder.path(), "ascend910b2").unwrap();
        assert_eq!(platform.chip, "Ascend910B2");
        assert_eq!((platform.cube_cores(), platform.vector_cores()), (Some(24), Some(48)));
        assert_eq!(
            (platform.clock_mhz(), platform.ub_bytes(), platform.l2_bytes()),
            (Some(1800), Some(196_608), Some(192 << 20))
        );
        assert_eq!(
            platform.rates().into_iter().collect::<Vec<_>>(),
            [("ddr_rate".to_owned(), 32), ("l2_read_rate".to_owned(), 110)]
        );
        assert_eq!(platform.dtypes_of("vadd").unwrap(), ["float16", "float32", "int32"]);
        assert_eq!(platform.dtypes_of("vdiv").unwrap(), ["f16", "f32"]);
        assert_eq!(platform.dtypes_of("vfancy"), None);
        assert_eq!(chips_in(folder.path()), ["Ascend310P3", "Ascend910B2"]);
        let missing = Platform::of_chip(folder.path(), "Ascend910B9").unwrap_err().to_string();
        assert!(missing.contains("no platform file of Ascend910B9; there are Ascend310P3, Ascend910B2"), "{missing}");
        let odd = Platform::of_chip(folder.path(), "Ascend310P3").unwrap_err().to_string();
        assert!(odd.contains("no section"), "{odd}");
    }

    #[test]
    fn chips_of_one_kind_of_core_count_it_for_both() {
        let platform = Platform::parse("x", "[SoCInfo]\nai_core_cnt=32\nvector_core_cnt=0\nl2_size=32\n");
        assert_eq!((platform.cube_cores(), platform.vector_cores()), (Some(32), Some(32)));
        assert_eq!(platform.l2_bytes(), Some(32 << 20));
    }
}
