//! Chip families: what the sources, builds and folders of operators call each of them.
//!
//! What a chip of a family can do, and how long it takes, is in its machine description; here is only what names tell.

/// Sizes that kernels of a family are written for: preconditions of rewrites and domains of tunables speak of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorCore {
    /// How many there are on the chip that counts where nobody names one.
    pub count: i64,
    /// Bytes of the unified buffer, with those that are reserved.
    pub unified_buffer_bytes: i64,
    /// Bytes of a block in it: rows start at blocks, as the buffers do.
    pub block_bytes: i64,
    /// Bytes that one repeat of a vector instruction covers.
    pub repeat_bytes: i64,
    /// Most repeats of an instruction, and largest stride between them in blocks.
    pub repeats: i64,
    /// Event ids of one pair of pipes: queues of one position may have as many buffers (reference of `AllocTensor`).
    pub event_ids: i64,
}

/// A family of chips with the same instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arch {
    /// The digits of `--npu-arch=dav-...`, and the value of `__NPU_ARCH__`.
    pub number: i64,
    /// Value of `__CCE_AICORE__`.
    pub aicore: i64,
    /// What its vector cores work with.
    pub vector: VectorCore,
    /// Macro that stands for the family in the toolkit's headers.
    pub family_macro: &'static str,
    /// How the names of its chips begin, as repositories list them.
    pub chip: &'static str,
    /// How the names of all chips begin that take its code, as definitions have them.
    family: &'static [&'static str],
    /// The chip that its unit tests are built for.
    pub test_soc: &'static str,
    /// The machine description that counts where nobody names one.
    pub machine: &'static str,
    /// Numbers of folders `arch<N>` with code for it.
    folders: [u32; 2],
    /// How the quoted names of other families' chips begin, in definitions and lists.
    other_chips: &'static [&'static str],
    /// Parts of the names of unit tests that are for others.
    other_tests: &'static [&'static str],
}

/// 910B and 910_93: vector cores beside cube cores, instructions on memory.
///
/// The values are those that the toolkit's compiler sets for `dav-2201`; folders are as the operator repositories name them
/// (`arch22`, and `arch32`, which shares its host code).
pub const DAV_2201: Arch = Arch {
    number: 2201,
    aicore: 220,
    vector: VectorCore {
        count: 48,
        unified_buffer_bytes: 196_608,
        block_bytes: 32,
        repeat_bytes: 256,
        repeats: 255,
        event_ids: 8,
    },
    family_macro: "__DAV_C220__",
    chip: "ascend910b",
    family: &["ascend910b", "ascend910_93"],
    test_soc: "Ascend910B1",
    machine: "ascend910b2",
    folders: [22, 32],
    other_chips: &["ascend950", "ascend910_95", "ascend310p", "ascend910\"", "ascend910_93"],
    other_tests: &["_apt", "regbase", "arch35", "_950", "_310p"],
};

/// What a toolkit calls the chips of one family: three spellings, and older names beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChipFamily {
    /// How the full names of its chips begin, lower case.
    pub chips: &'static [&'static str],
    /// Names of the family in builds (`ASCEND_COMPUTE_UNIT`) and folders, the present one first.
    pub compute_units: &'static [&'static str],
    /// Its architecture as compilers take it.
    pub npu_arch: &'static str,
    /// How an older compiler spells that: code of cube cores, and of vector cores; empty where it has one name.
    pub older_archs: [&'static str; 2],
    /// Cube and vector cores are apart, two vector cores to a cube core.
    pub is_split: bool,
}

/// Families that a toolkit may be asked to build for. Of several beginnings that fit a name the longest counts.
pub const CHIP_FAMILIES: [ChipFamily; 6] = [
    ChipFamily {
        chips: &["ascend910b"],
        compute_units: &["ascend910b"],
        npu_arch: "dav-2201",
        older_archs: ["dav-c220-cube", "dav-c220-vec"],
        is_split: true,
    },
    ChipFamily {
        chips: &["ascend910_93"],
        compute_units: &["ascend910_93"],
        npu_arch: "dav-2201",
        older_archs: ["dav-c220-cube", "dav-c220-vec"],
        is_split: true,
    },
    ChipFamily {
        chips: &["ascend950", "ascend910_95"],
        compute_units: &["ascend950", "ascend910_95"],
        npu_arch: "dav-3510",
        older_archs: ["", ""],
        is_split: true,
    },
    ChipFamily {
        chips: &["ascend310p"],
        compute_units: &["ascend310p"],
        npu_arch: "dav-2002",
        older_archs: ["", ""],
        is_split: false,
    },
    ChipFamily {
        chips: &["ascend310b"],
        compute_units: &["ascend310b"],
        npu_arch: "dav-3002",
        older_archs: ["", ""],
        is_split: false,
    },
    ChipFamily {
        chips: &["ascend910", "ascend910a", "ascend910pro"],
        compute_units: &["ascend910"],
        npu_arch: "dav-1001",
        older_archs: ["", ""],
        is_split: false,
    },
];

/// The family of a chip or of a compute unit, by its name in whatever case.
pub fn chip_family(name: &str) -> Option<&'static ChipFamily> {
    let name = name.trim().to_ascii_lowercase();
    let fits = |family: &'static ChipFamily| {
        let beginning = family.chips.iter().filter(|chip| name.starts_with(**chip)).map(|chip| chip.len()).max()?;
        Some((beginning, family))
    };
    CHIP_FAMILIES.iter().filter_map(fits).max_by_key(|(length, _)| *length).map(|(_, family)| family)
}

/// The family that everything is compiled for.
pub const TARGET: Arch = DAV_2201;

impl Arch {
    /// What the compiler of kernels defines.
    pub fn defines(&self) -> [String; 3] {
        [
            format!("-D__NPU_ARCH__={}", self.number),
            format!("-D__CCE_AICORE__={}", self.aicore),
            format!("-D{}", self.family_macro),
        ]
    }

    /// Its name as compilers take it.
    pub fn npu_arch(&self) -> String {
        format!("dav-{}", self.number)
    }

    /// What a macro that tells families apart stands for; `None` of any other.
    pub fn value_of(&self, macro_name: &str) -> Option<i64> {
        match macro_name {
            "__NPU_ARCH__" | "NPU_ARCH" => Some(self.number),
            "__CCE_AICORE__" => Some(self.aicore),
            _ => None,
        }
    }

    /// Whether a chip's name, in whatever case, is one of its own.
    pub fn has_chip(&self, name: &str) -> bool {
        let own = self.chip.trim_start_matches("ascend");
        name.to_ascii_lowercase().contains(own)
    }

    /// Whether what a definition says of a chip counts for this family.
    pub fn is_of_family(&self, chip: &str) -> bool {
        self.family.iter().any(|own| chip.to_ascii_lowercase().starts_with(own))
    }

    /// Whether a definition or a list names a chip of another family, in quotes.
    pub fn names_other_chip(&self, text: &str) -> bool {
        text.match_indices('"').any(|(at, _)| self.other_chips.iter().any(|chip| text[at + 1..].starts_with(chip)))
    }

    /// Whether a file is code for another family: a folder or file is named after its architecture.
    pub fn is_foreign(&self, file: &str) -> bool {
        let number = |part: &str, prefix: &str| part.strip_prefix(prefix).and_then(|rest| rest.parse::<u32>().ok());
        let other = |number: Option<u32>| number.is_some_and(|number| !self.folders.contains(&number));
        let (folders, name) = file.rsplit_once('/').unwrap_or(("", file));
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        stem.ends_with("_apt") && extension == "cpp"
            || stem.rsplit_once("_arch").is_some_and(|(_, digits)| other(digits.parse().ok()))
            || folders
                .split('/')
                .any(|part| other(number(part, "arch")) || number(part, "v").is_some_and(|number| number >= 35))
    }

    /// Whether a unit test is for another family, by its file's name.
    pub fn is_foreign_test(&self, name: &str) -> bool {
        self.other_tests.iter().any(|part| name.contains(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chip_has_a_family_in_three_spellings() {
        for (chip, unit, arch) in [
            ("Ascend910B2", "ascend910b", "dav-2201"),
            ("Ascend910B4-1", "ascend910b", "dav-2201"),
            ("Ascend910_9391", "ascend910_93", "dav-2201"),
            ("ascend910_93", "ascend910_93", "dav-2201"),
            ("Ascend910_9599", "ascend950", "dav-3510"),
            ("Ascend950DT_9574", "ascend950", "dav-3510"),
            ("Ascend310P3", "ascend310p", "dav-2002"),
            ("Ascend310B1", "ascend310b", "dav-3002"),
            ("Ascend910A", "ascend910", "dav-1001"),
            ("Ascend910ProB", "ascend910", "dav-1001"),
        ] {
            let family = chip_family(chip).unwrap();
            assert_eq!((family.compute_units[0], family.npu_arch), (unit, arch), "{chip}");
        }
        assert_eq!(chip_family("Kirin9030"), None);
        assert_eq!(chip_family(TARGET.test_soc).unwrap().npu_arch, TARGET.npu_arch());
    }

    #[test]
    fn names_tell_whose_code_it_is() {
        for own in ["op_kernel/add.cpp", "op_kernel/arch22/add.h", "op_host/arch32/a.cpp", "a_arch22.cpp", "v1/a.h"] {
            assert!(!TARGET.is_foreign(own), "{own}");
        }
        for other in ["op_kernel/add_apt.cpp", "op_kernel/arch35/add.h", "a_arch35.cpp", "v35/a.h"] {
            assert!(TARGET.is_foreign(other), "{other}");
        }
        assert!(TARGET.is_of_family("ascend910b") && TARGET.is_of_family("ascend910_93"));
        assert!(!TARGET.is_of_family("ascend910_95") && !TARGET.is_of_family("ascend910"));
        assert!(TARGET.has_chip("Ascend910B4") && !TARGET.has_chip("Ascend950"));
        assert!(TARGET.names_other_chip("set(X \"ascend950\")") && !TARGET.names_other_chip("\"ascend910b\""));
    }
}
