//! Machine descriptions: the figures of one SoC, each with its unit, its source and how far it can be trusted.
//!
//! A description is a TOML file. The ones the tool knows by name are embedded; a user's file may extend one of them
//! and state only what differs. Every constant is a table `{ value, unit, source, confidence }`, so that a report can
//! say where a modelled number comes from.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::constant::Constant;
use super::vector::{VectorClass, VectorTable};

/// Why a description was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MachineError {
    /// The name is none of the embedded descriptions.
    #[error("no machine description named `{name}`; known: {known}; or give the path of a .toml file")]
    Unknown {
        /// Name asked for.
        name: String,
        /// Names there are.
        known: String,
    },
    /// A chip that is known, of an architecture that is not modelled.
    #[error(
        "`{name}` is not described: it is a chip of architecture {architecture}, {why}. Described are chips of architecture dav-2201: {known}"
    )]
    OtherArchitecture {
        /// Name asked for.
        name: String,
        /// Its architecture as the compiler names it.
        architecture: &'static str,
        /// What is in the way.
        why: &'static str,
        /// Names there are.
        known: String,
    },
    /// The file does not parse or says something it must not.
    #[error("{file}:{line}:{column}: {message}")]
    Invalid {
        /// File as the caller named it.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong and what would be right.
        message: String,
    },
}

macro_rules! parameters {
    ($( $(#[doc = $doc:literal])+ $name:ident : $unit:literal, )+) => {
        /// The constants of a machine by field, in the units of the description.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Parameters {
            $( $(#[doc = $doc])+ pub $name: f64, )+
        }

        impl Parameters {
            /// Name and unit of every constant.
            pub const NAMES: &'static [(&'static str, &'static str)] = &[$((stringify!($name), $unit),)+];

            fn from_constants(constants: &BTreeMap<String, Constant>) -> Result<Self, &'static str> {
                Ok(Self { $( $name: constants.get(stringify!($name)).ok_or(stringify!($name))?.value, )+ })
            }
        }
    };
}

parameters! {
    /// Vector cores.
    aiv_cores: "cores",
    /// Cube cores.
    aic_cores: "cores",
    /// AI Core clock.
    clock_mhz: "MHz",
    /// Unified buffer that a kernel may use.
    ub_bytes: "bytes",
    /// L1 buffer of a cube core.
    l1_bytes: "bytes",
    /// L2 cache.
    l2_bytes: "bytes",
    /// HBM read ceiling, all cores together.
    hbm_read_gbps: "GB/s",
    /// Cost of a byte written to HBM relative to a byte read (bus turnaround included).
    hbm_write_weight: "ratio",
    /// Bytes that each row of a copy past L2 costs beyond its own.
    bypass_row_bytes: "bytes",
    /// Rate at which all cores together read the same addresses at the same time.
    same_address_gbps: "GB/s",
    /// L2 read ceiling, all cores together.
    l2_read_gbps: "GB/s",
    /// L2 write ceiling, all cores together.
    l2_write_gbps: "GB/s",
    /// Share that a reading copy gets of a contended resource, relative to a writing one.
    read_priority: "ratio",
    /// Read rate of one core from HBM when it runs alone.
    core_read_hbm_alone: "bytes/cycle",
    /// Read rate of one core from HBM when four or more cores run.
    core_read_hbm_shared: "bytes/cycle",
    /// Read rate of one core on L2 hits.
    core_read_l2: "bytes/cycle",
    /// Write rate of one core.
    core_write: "bytes/cycle",
    /// Rate of copies inside the unified buffer.
    core_ub_to_ub: "bytes/cycle",
    /// Read rate of one cube core from HBM into L1 when it runs alone.
    cube_read_hbm_alone: "bytes/cycle",
    /// The same when many cores run.
    cube_read_hbm_shared: "bytes/cycle",
    /// Read rate of one cube core into L1 on L2 hits.
    cube_read_l2: "bytes/cycle",
    /// Write rate of one fixpipe to global memory.
    fixpipe_write: "bytes/cycle",
    /// Start-up of a fixpipe transfer.
    fixpipe_startup_cycles: "cycles",
    /// Rate from L0C to L1.
    l0c_to_l1: "bytes/cycle",
    /// Rate from L1 to L0A.
    l1_to_l0a: "bytes/cycle",
    /// Rate from L1 to L0B.
    l1_to_l0b: "bytes/cycle",
    /// Rate from L1 to the bias table and the fixpipe buffer.
    l1_to_tables: "bytes/cycle",
    /// Issue of one L1 to L0 copy behind another.
    mte1_issue_cycles: "cycles",
    /// Time from the last byte of such a copy to its completion, exposed before a flag or barrier.
    mte1_tail_cycles: "cycles",
    /// Start-up of a matrix multiplication behind another.
    cube_startup_cycles: "cycles",
    /// Tail of a matrix multiplication, exposed before a flag or barrier.
    cube_tail_cycles: "cycles",
    /// Inner dimension that the cube unit takes in a cycle: 16-bit types, with 16 rows and 16 columns.
    cube_k_16bit: "elements/cycle",
    /// The same for 8-bit types.
    cube_k_8bit: "elements/cycle",
    /// The same for 32-bit types.
    cube_k_32bit: "elements/cycle",
    /// Start-up of a copy into the unified buffer.
    mte2_startup_cycles: "cycles",
    /// Start-up of a copy out of the unified buffer.
    mte3_startup_cycles: "cycles",
    /// Shortest distance of copies that nothing separates.
    dma_accept_cycles: "cycles",
    /// Growth of that distance with the size of the copy, up to the whole start-up.
    dma_accept_cycles_per_byte: "cycles/byte",
    /// Least time of one burst (row) of a copy.
    dma_burst_cycles: "cycles",
    /// The same of a copy past L2.
    dma_bypass_burst_cycles: "cycles",
    /// Largest packet a copy is cut into.
    dma_packet_bytes: "bytes",
    /// Extra bytes that each packet costs.
    dma_packet_overhead_bytes: "bytes",
    /// Start addresses that are no multiple of this are misaligned.
    dma_alignment_bytes: "bytes",
    /// Cost of misaligned bursts of one packet relative to aligned ones; of longer ones one packet more.
    dma_misaligned_factor: "ratio",
    /// Write-back tail of a vector instruction, exposed before a flag, a barrier or a dependent instruction.
    vector_tail_cycles: "cycles",
    /// Wait of a vector instruction for the result of the one before, beyond its busy time.
    vector_dependent_cycles: "cycles",
    /// Mask or control register write on the vector queue.
    vector_mask_cycles: "cycles",
    /// Issue of a vector or DMA instruction by the scalar unit.
    scalar_issue_cycles: "cycles",
    /// Issue of a flag, barrier or mask instruction by the scalar unit.
    scalar_issue_sync_cycles: "cycles",
    /// One scalar access to the unified buffer.
    scalar_ub_access_cycles: "cycles",
    /// One generic scalar operation.
    scalar_op_cycles: "cycles",
    /// One floating-point operation of the scalar unit in registers; one for every access beside it is part of what that costs.
    scalar_float_cycles: "cycles",
    /// One scalar access to global memory that hits the data cache.
    scalar_gm_access_cycles: "cycles",
    /// First touch of a data cache line in global memory.
    scalar_gm_miss_cycles: "cycles",
    /// Data cache line.
    scalar_line_bytes: "bytes",
    /// Instructions that wait in the queue of one pipe before the scalar unit stalls.
    queue_depth: "instructions",
    /// set_flag or wait_flag whose condition holds.
    flag_cycles: "cycles",
    /// pipe_barrier beyond what it waits for.
    barrier_cycles: "cycles",
    /// SyncAll beyond the arrival of the last core.
    sync_all_cycles: "cycles",
    /// From setting a cross-core flag to a waiting core going on.
    cross_flag_cycles: "cycles",
    /// Task duration that a launch on cores of both kinds adds.
    mix_launch_us: "us",
    /// Task duration beyond the longest core, one core.
    launch_us: "us",
    /// Growth of that with each further core.
    launch_per_core_us: "us",
    /// Start of a block on a core before its first instruction.
    prologue_us: "us",
    /// What the first block on a core takes longer to start when the kernel has not run before.
    cold_start_us: "us",
    /// Making a TPipe with its buffers, beyond what static tensors cost.
    pipe_setup_cycles: "cycles",
    /// Scalar work of a kernel whose TPipe is a member of the operator's object, over that of one whose TPipe is not.
    pipe_in_object_ratio: "ratio",
}

/// A machine: parameters, vector costs, and where each figure comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Name, such as `Ascend910B2`.
    pub name: String,
    /// Version of the description.
    pub version: String,
    /// Every constant with its provenance.
    pub constants: BTreeMap<String, Constant>,
    /// The same by field.
    pub parameters: Parameters,
    /// Vector classes by name.
    pub vector: BTreeMap<String, VectorClass>,
    pub(crate) table: VectorTable,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireMachine {
    name: Option<String>,
    version: Option<String>,
    extends: Option<Spanned<String>>,
    #[serde(default)]
    constants: BTreeMap<Spanned<String>, Spanned<Constant>>,
    #[serde(default)]
    vector: BTreeMap<String, Spanned<VectorClass>>,
}

const EMBEDDED: &[(&str, &str)] = &[
    ("ascend910b1", include_str!("../../../templates/machines/ascend910b1.toml")),
    ("ascend910b2", include_str!("../../../templates/machines/ascend910b2.toml")),
    ("ascend910b3", include_str!("../../../templates/machines/ascend910b3.toml")),
    ("ascend910b4", include_str!("../../../templates/machines/ascend910b4.toml")),
    ("ascend910_9391", include_str!("../../../templates/machines/ascend910_9391.toml")),
    ("ascend910_9381", include_str!("../../../templates/machines/ascend910_9381.toml")),
    ("ascend910_9372", include_str!("../../../templates/machines/ascend910_9372.toml")),
    ("ascend910_9362", include_str!("../../../templates/machines/ascend910_9362.toml")),
];

/// Chips that are not described: how their names begin, their architecture, and what is in the way of a description.
const OTHER_ARCHITECTURES: &[(&str, &str, &str)] = &[
    ("ascend310p", "dav-2002", NOT_310P),
    ("ascend310b", "dav-3002", "whose instructions and pipes differ; nothing measured on it was found published"),
    ("ascend910_95", "dav-3510", "whose vector core works on registers; the model knows vector instructions on memory"),
    ("ascend950", "dav-3510", "whose vector core works on registers; the model knows vector instructions on memory"),
    (
        "ascend910a",
        "dav-1001",
        "whose cores are cube and vector core in one; nothing measured on it was found published",
    ),
    (
        "ascend910pro",
        "dav-1001",
        "whose cores are cube and vector core in one; nothing measured on it was found published",
    ),
];

/// Sizes, core counts and bandwidths of 310P are in its platform file; costs of instructions and copies are nowhere.
const NOT_310P: &str = "whose cores are cube and vector core in one (256 KiB of unified buffer, results of the cube unit go \
    there and not to global memory). Its platform file gives sizes, core counts and bandwidths, but no cost of an \
    instruction, copy or flag, and no time measured on it was found published: every time would be a guess";

impl Machine {
    /// Names of the embedded descriptions.
    pub fn names() -> Vec<&'static str> {
        EMBEDDED.iter().map(|(name, _)| *name).collect()
    }

    fn unknown(name: &str) -> MachineError {
        let (lower, known) = (name.to_ascii_lowercase(), Self::names().join(", "));
        let name = name.to_owned();
        match OTHER_ARCHITECTURES.iter().find(|(prefix, ..)| lower.starts_with(prefix)) {
            Some((_, architecture, why)) => MachineError::OtherArchitecture { name, architecture, why, known },
            None => MachineError::Unknown { name, known },
        }
    }

    /// Text of an embedded description, case does not matter.
    pub fn embedded_text(name: &str) -> Option<&'static str> {
        EMBEDDED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, text)| *text)
    }

    /// An embedded description by name; case does not matter.
    pub fn named(name: &str) -> Result<Self, MachineError> {
        match EMBEDDED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some((known, text)) => Self::parse(&format!("{known}.toml"), text),
            None => Err(Self::unknown(name)),
        }
    }

    /// Parse a description. `file` is only for messages. `extends` names an embedded description.
    pub fn parse(file: &str, text: &str) -> Result<Self, MachineError> {
        Self::parse_at_depth(file, text, 0)
    }

    fn parse_at_depth(file: &str, text: &str, depth: u32) -> Result<Self, MachineError> {
        let invalid = |span: Option<Range<usize>>, message: String| {
            let (line, column) = position(text, span.map_or(0, |span| span.start));
            MachineError::Invalid { file: file.to_owned(), line, column, message }
        };
        let wire: WireMachine =
            toml::from_str(text).map_err(|error| invalid(error.span(), error.message().trim().to_owned()))?;
        let base = match &wire.extends {
            None => None,
            Some(extends) => {
                let base_text = Self::embedded_text(extends.get_ref()).filter(|_| depth < 4).ok_or_else(|| {
                    let known = Self::names().join(", ");
                    invalid(Some(extends.span()), format!("`extends` must name one of {known}"))
                })?;
                Some(Self::parse_at_depth(extends.get_ref(), base_text, depth + 1)?)
            }
        };
        let (mut constants, mut vector, base_name, base_version) = match base {
            Some(base) => (base.constants, base.vector, Some(base.name), Some(base.version)),
            None => (BTreeMap::new(), BTreeMap::new(), None, None),
        };
        for (key, constant) in wire.constants {
            let name = key.get_ref();
            let Some((_, unit)) = Parameters::NAMES.iter().find(|(known, _)| known == name) else {
                let known: Vec<_> = Parameters::NAMES.iter().map(|(known, _)| *known).collect();
                let message = format!("unknown constant `{name}`; constants are: {}", known.join(", "));
                return Err(invalid(Some(key.span()), message));
            };
            let span = constant.span();
            let constant = constant.into_inner();
            if constant.unit != *unit {
                let message = format!("`{name}` is in {unit}, the file says {}", constant.unit);
                return Err(invalid(Some(span), message));
            }
            if !constant.value.is_finite() || constant.value < 0.0 || (constant.value == 0.0 && must_be_positive(name))
            {
                let message = format!("`{name}` = {} is out of range: it must be above zero", constant.value);
                return Err(invalid(Some(span), message));
            }
            constants.insert(name.clone(), constant);
        }
        for (name, class) in wire.vector {
            let span = class.span();
            let class = class.into_inner();
            if let Some(problem) = class.problem() {
                return Err(invalid(Some(span), format!("vector class `{name}`: {problem}")));
            }
            vector.insert(name, class);
        }
        let parameters = Parameters::from_constants(&constants).map_err(|missing| {
            invalid(None, format!("constant `{missing}` is missing; add it or `extends = \"ascend910b2\"`"))
        })?;
        let table = VectorTable::new(&vector);
        let name = wire.name.or(base_name).ok_or_else(|| invalid(None, "`name` is missing".to_owned()))?;
        let version = wire.version.or(base_version).ok_or_else(|| invalid(None, "`version` is missing".to_owned()))?;
        Ok(Self { name, version, constants, parameters, vector, table })
    }

    /// Parameters and vector table from the constants, after these changed. Every name is there already.
    pub(crate) fn refresh(&mut self) {
        if let Ok(parameters) = Parameters::from_constants(&self.constants) {
            self.parameters = parameters;
        }
        self.table = VectorTable::new(&self.vector);
    }

    /// Hex digest of everything that changes a modelled number: the constants' values, not their prose.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{} {}\n", self.name, self.version).as_bytes());
        for (name, constant) in &self.constants {
            hasher.update(format!("{name}={:?} {}\n", constant.value, constant.unit).as_bytes());
        }
        for (name, class) in &self.vector {
            hasher.update(format!("{name}: {}\n", class.fingerprint()).as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Cycles of the AI Core clock in microseconds.
    pub fn cycles_to_us(&self, cycles: f64) -> f64 {
        cycles / self.parameters.clock_mhz
    }
}

fn must_be_positive(name: &str) -> bool {
    !(name.ends_with("_cycles")
        || name.ends_with("_us")
        || name.ends_with("_overhead_bytes")
        || name.ends_with("per_byte"))
}

fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |tail| tail.chars().count()) + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_description_parses_whatever_the_case() {
        for name in Machine::names() {
            let machine = Machine::named(&name.to_uppercase()).unwrap();
            assert!(machine.name.eq_ignore_ascii_case(name));
            assert_eq!(machine.constants.len(), Parameters::NAMES.len());
            assert!(machine.constants.values().all(|constant| !constant.source.is_empty()));
        }
        assert!(matches!(Machine::named("tpu"), Err(MachineError::Unknown { .. })));
        let told = Machine::named("Ascend310P3").unwrap_err().to_string();
        assert!(told.contains("dav-2002") && told.contains("every time would be a guess"), "{told}");
        assert!(told.ends_with(&Machine::names().join(", ")), "{told}");
    }

    #[test]
    fn a_user_file_extends_and_overrides() {
        let text = "name = \"mine\"\nversion = \"7\"\nextends = \"Ascend910B2\"\n[constants]\n\
            clock_mhz = { value = 1000, unit = \"MHz\", source = \"board\", confidence = \"measured\" }\n";
        let machine = Machine::parse("mine.toml", text).unwrap();
        assert_eq!(machine.parameters.clock_mhz, 1000.0);
        assert_eq!(machine.parameters.aiv_cores, 48.0);
        assert_ne!(machine.digest(), Machine::named("ascend910b2").unwrap().digest());
    }

    #[test]
    fn mistakes_are_reported_with_line_and_column() {
        let cases = [
            (
                "extends = \"ascend910b2\"\n[constants]\nclock_mhz = { value = 1, unit = \"GHz\", source = \"\", confidence = \"fitted\" }\n",
                3,
                13,
                "is in MHz",
            ),
            (
                "extends = \"ascend910b2\"\n[constants]\nclock = { value = 1, unit = \"GHz\", source = \"\", confidence = \"fitted\" }\n",
                3,
                1,
                "unknown constant",
            ),
            ("extends = \"gpu\"\n", 1, 11, "must name one of"),
            (
                "extends = \"ascend910b2\"\n[constants]\nclock_mhz = { value = 0, unit = \"MHz\", source = \"\", confidence = \"fitted\" }\n",
                3,
                13,
                "above zero",
            ),
            ("name = \n", 1, 8, ""),
            ("name = \"x\"\nversion = \"1\"\n", 1, 1, "is missing"),
        ];
        for (text, expected_line, expected_column, part) in cases {
            match Machine::parse("m.toml", text) {
                Err(MachineError::Invalid { line, column, message, .. }) => {
                    assert_eq!((line, column), (expected_line, expected_column), "{text}: {message}");
                    assert!(message.contains(part), "{message}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
