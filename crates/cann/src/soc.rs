//! Names of a chip: the full name, the compute unit of builds, and the architecture of compilers.

use std::fmt;
use std::path::Path;

use super::platform::{Platform, chips_in};
use source::arch::{ChipFamily, chip_family};

/// A chip by its full name, with the family that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Soc {
    /// The full name, as the run time and platform files spell it.
    pub name: String,
    /// What its family is called elsewhere.
    pub family: &'static ChipFamily,
}

/// A name that is no chip's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SocError {
    /// Nothing known begins like it.
    #[error(
        "{name:?} is no chip that is known; full names are like those of the toolkit's platform files, and of \
             `python3 -c \"import acl; print(acl.get_soc_name())\"`: name one with --soc"
    )]
    Unknown {
        /// The name.
        name: String,
    },
    /// The name of a family where one of its chips is asked for.
    #[error("{name} is a family of chips; name one of them with --soc{}", choice(chips))]
    Family {
        /// The name.
        name: String,
        /// Chips of the family that the toolkit has platform files of.
        chips: Vec<String>,
    },
}

fn choice(chips: &[String]) -> String {
    if chips.is_empty() { String::new() } else { format!(": {}", chips.join(", ")) }
}

impl Soc {
    /// A chip by its full name in whatever case. A folder of platform files gives the spelling, and refuses none that it lacks.
    ///
    /// # Errors
    /// Where the name is of no known family, or of a family only.
    pub fn named(name: &str, platforms: Option<&Path>) -> Result<Soc, SocError> {
        let name = name.trim();
        let family = chip_family(name).ok_or_else(|| SocError::Unknown { name: name.to_owned() })?;
        let known = platforms.map(chips_in).unwrap_or_default();
        if let Some(spelled) = known.iter().find(|known| known.eq_ignore_ascii_case(name)) {
            return Ok(Soc { name: spelled.clone(), family });
        }
        if family.compute_units.iter().any(|unit| unit.eq_ignore_ascii_case(name)) {
            let own = |chip: &String| chip_family(chip) == Some(family);
            return Err(SocError::Family { name: name.to_owned(), chips: known.into_iter().filter(own).collect() });
        }
        Ok(Soc { name: spelled(name), family })
    }

    /// A chip by what `npu-smi` calls it: the name of the table (`910B3`, or `Ascend910` where names say no more), and the name that
    /// `-t board` has of its NPU (`9391`).
    ///
    /// # Errors
    /// As [`Soc::named`].
    pub fn of_npu_smi(chip: &str, npu: Option<&str>, platforms: Option<&Path>) -> Result<Soc, SocError> {
        let joined: String = chip.split_whitespace().collect();
        let full = if joined.to_ascii_lowercase().starts_with("ascend") { joined } else { format!("Ascend{joined}") };
        match npu.map(str::trim).filter(|npu| !npu.is_empty()) {
            // The table's name may be whole already.
            Some(npu) if !full.to_ascii_lowercase().ends_with(&npu.to_ascii_lowercase()) => {
                let more = Self::named(&format!("{full}_{npu}"), platforms);
                more.or_else(|_| Self::named(&full, platforms))
            }
            _ => Self::named(&full, platforms),
        }
    }

    /// The name of its family in builds and folders. `known` are those that the project names itself; an older name is taken where
    /// it is the one there.
    pub fn compute_unit(&self, known: &[String]) -> &'static str {
        let units = self.family.compute_units;
        units.iter().find(|unit| known.iter().any(|known| known == *unit)).unwrap_or(&units[0])
    }

    /// Its architecture as compilers take it.
    pub fn npu_arch(&self) -> &'static str {
        self.family.npu_arch
    }

    /// Its platform file, where the toolkit has one that can be read.
    pub fn platform(&self, platforms: &Path) -> Option<Platform> {
        Platform::of_chip(platforms, &self.name).ok()
    }
}

impl fmt::Display for Soc {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)
    }
}

/// `ascend910b2` as the toolkit spells it.
fn spelled(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    match lower.strip_prefix("ascend") {
        Some(rest) if *name == lower => format!("Ascend{}", rest.to_ascii_uppercase()),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Soc, SocError};

    #[test]
    fn names_of_npu_smi_become_full_names() {
        for (chip, npu, full, unit) in [
            ("910B3", None, "Ascend910B3", "ascend910b"),
            ("Ascend 910B3", None, "Ascend910B3", "ascend910b"),
            ("Ascend910", Some("9391"), "Ascend910_9391", "ascend910_93"),
            ("Ascend910_9391", Some("9391"), "Ascend910_9391", "ascend910_93"),
            ("910B2", Some("910B2"), "Ascend910B2", "ascend910b"),
            ("310P3", None, "Ascend310P3", "ascend310p"),
        ] {
            let soc = Soc::of_npu_smi(chip, npu, None).unwrap();
            assert_eq!((soc.to_string().as_str(), soc.compute_unit(&[])), (full, unit), "{chip}");
        }
        // A name that says no more than the family is not guessed at.
        let error = Soc::of_npu_smi("Ascend910", None, None).unwrap_err();
        assert!(matches!(error, SocError::Family { .. }), "{error}");
        assert!(Soc::named("Tesla", None).unwrap_err().to_string().contains("get_soc_name"));
    }

    #[test]
    fn the_toolkits_spelling_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        for chip in ["Ascend910B2", "Ascend910B4-1", "Ascend910_9391"] {
            fs_err::write(folder.path().join(format!("{chip}.ini")), "[SoCInfo]\nai_core_cnt=24\n").unwrap();
        }
        let platforms = Some(folder.path());
        assert_eq!(Soc::named("ascend910b4-1", platforms).unwrap().name, "Ascend910B4-1");
        assert_eq!(Soc::named("ascend910b9", platforms).unwrap().name, "Ascend910B9");
        let error = Soc::named("ascend910b", platforms).unwrap_err().to_string();
        assert!(error.contains("Ascend910B2, Ascend910B4-1") && !error.contains("9391"), "{error}");
        assert_eq!(
            Soc::named("Ascend910B2", platforms).unwrap().platform(folder.path()).unwrap().cube_cores(),
            Some(24)
        );
    }

    #[test]
    fn an_older_name_of_the_family_is_taken_where_the_project_has_it() {
        let soc = Soc::named("Ascend950PR_9599", None).unwrap();
        assert_eq!(soc.npu_arch(), "dav-3510");
        assert_eq!(soc.compute_unit(&[]), "ascend950");
        assert_eq!(soc.compute_unit(&["ascend910_95".to_owned()]), "ascend910_95");
    }
}
