//! Chips of the stand-in: constants of the platform files, as the table of the document gives them.

use std::fmt::Write;

/// One chip.
#[derive(Clone, Copy, Debug)]
pub struct Soc {
    /// Full name.
    pub name: &'static str,
    /// What `npu-smi` calls it.
    pub smi_name: &'static str,
    /// Cube cores.
    pub cube_cores: u32,
    /// Vector cores.
    pub vector_cores: u32,
    /// Clock in MHz.
    pub rated_mhz: u32,
    /// Bytes of a unified buffer.
    pub ub_bytes: u32,
    /// MiB of the L2 cache.
    pub l2_mib: u32,
}

/// Those that tests ask for.
pub const ALL: [Soc; 4] = [
    Soc {
        name: "Ascend910B2",
        smi_name: "910B2",
        cube_cores: 24,
        vector_cores: 48,
        rated_mhz: 1800,
        ub_bytes: 196_608,
        l2_mib: 192,
    },
    Soc {
        name: "Ascend910B3",
        smi_name: "910B3",
        cube_cores: 20,
        vector_cores: 40,
        rated_mhz: 1800,
        ub_bytes: 196_608,
        l2_mib: 192,
    },
    Soc {
        name: "Ascend910B4",
        smi_name: "910B4",
        cube_cores: 20,
        vector_cores: 40,
        rated_mhz: 1500,
        ub_bytes: 196_608,
        l2_mib: 96,
    },
    Soc {
        name: "Ascend910_9391",
        smi_name: "Ascend910",
        cube_cores: 24,
        vector_cores: 48,
        rated_mhz: 1850,
        ub_bytes: 196_608,
        l2_mib: 192,
    },
];

impl Soc {
    /// The chip of that name.
    pub fn named(name: &str) -> Self {
        ALL.into_iter().find(|soc| soc.name == name).unwrap_or_else(|| panic!("the stand-in has no {name}"))
    }

    /// Its platform file.
    pub fn platform_file(&self) -> String {
        let Self { name, cube_cores, vector_cores, rated_mhz, ub_bytes, l2_mib, .. } = *self;
        let mut text = String::new();
        let mut section = |title: &str, lines: &[(&str, String)]| {
            let _ = writeln!(text, "[{title}]");
            for (key, value) in lines {
                let _ = writeln!(text, "{key}={value}");
            }
            text.push('\n');
        };
        let number = |value: u32| value.to_string();
        section(
            "version",
            &[("SoC_version", name.to_owned()), ("Short_SoC_version", name[..name.len().min(10)].to_owned())],
        );
        section(
            "SoCInfo",
            &[
                ("ai_core_cnt", number(cube_cores)),
                ("cube_core_cnt", number(cube_cores)),
                ("vector_core_cnt", number(vector_cores)),
                ("l2_size", (u64::from(l2_mib) << 20).to_string()),
            ],
        );
        section(
            "AICoreSpec",
            &[
                ("cube_freq", number(rated_mhz)),
                ("cube_vector_combine", "split".to_owned()),
                ("ub_size", number(ub_bytes)),
                ("l1_size", "524288".to_owned()),
                ("l0_a_size", "65536".to_owned()),
                ("l0_b_size", "65536".to_owned()),
                ("l0_c_size", "131072".to_owned()),
                ("bt_size", "1024".to_owned()),
                ("ubblock_size", "32".to_owned()),
                ("ubbank_size", "4096".to_owned()),
                ("ubbank_num", "64".to_owned()),
                ("vec_calc_size", "128".to_owned()),
            ],
        );
        section(
            "AICoreMemoryRates",
            &[
                ("ddr_rate", "32".to_owned()),
                ("l2_read_rate", "110".to_owned()),
                ("l2_write_rate", "86".to_owned()),
                ("ub_to_ddr_rate", "64".to_owned()),
                ("ub_to_l2_rate", "64".to_owned()),
            ],
        );
        section("DtypeMKN", &[("Default", "16,16,16".to_owned()), ("DT_INT8", "16,32,16".to_owned())]);
        section("VectorCoreintrinsicDtypeMap", &[("Intrinsic_vadd", "float16,float32,int32,int16".to_owned())]);
        text
    }
}
