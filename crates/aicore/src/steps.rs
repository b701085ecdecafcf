//! The instructions of one core as two builds of a kernel are compared by: what moves and computes, without addresses and
//! scalar work.

use std::fmt;

use std::sync::Arc;

use super::operand::Space;
use super::source::Source;
use super::stream::Cursor;
use super::trace::{OpKind, Trace};
use super::trace_error::TraceError;

/// One operand: how much of which memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepOperand {
    /// Memory.
    pub space: Space,
    /// Bytes of all its pieces together.
    pub bytes: u64,
    /// Written, else only read.
    pub written: bool,
}

/// One instruction that moves or computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchStep {
    /// Instruction.
    pub instruction: String,
    /// Repetitions, or for some instructions other bits that the trace has in their place.
    pub repeat: u16,
    /// Number of the element type.
    pub dtype: u8,
    /// Operands in order.
    pub operands: Vec<StepOperand>,
    /// Return address of the instruction.
    pub site: u64,
}

impl LaunchStep {
    /// Whether two builds did the same here; their addresses differ.
    pub fn same(&self, other: &Self) -> bool {
        self.instruction == other.instruction
            && self.repeat == other.repeat
            && self.dtype == other.dtype
            && self.operands == other.operands
    }
}

impl fmt::Display for LaunchStep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} x{} dtype {}:", self.instruction, self.repeat, self.dtype)?;
        for operand in &self.operands {
            let verb = if operand.written { "writes" } else { "reads" };
            write!(formatter, " {verb} {} B of {},", operand.bytes, operand.space.name())?;
        }
        write!(formatter, " {} operands", self.operands.len())
    }
}

/// Steps of one core in one launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchSteps {
    /// Lines `hexbase hexend path` of the process's modules, to symbolise sites.
    pub modules: String,
    /// Steps in program order.
    pub steps: Vec<LaunchStep>,
}

/// Steps of the core with this number in the trace, launch by launch. A core that a launch does not have took none.
pub fn steps(trace: &[u8], core: u32) -> Result<Vec<LaunchSteps>, TraceError> {
    let trace = Trace::parse(&Arc::new(Source::from(trace)))?;
    let launches = trace.launches.iter().map(|launch| {
        let mut steps = Vec::new();
        let mut cursor = launch.cores.get(&core).map(|stream| stream.cursor(&launch.message_opcodes));
        while let Some(record) = cursor.as_mut().and_then(Cursor::next) {
            let Some(opcode) = launch.opcodes.get(usize::from(record.opcode)) else { continue };
            if matches!(opcode.kind, OpKind::Copy | OpKind::Compute | OpKind::CleanCache) {
                let operands = record.operands().map(|operand| StepOperand {
                    space: operand.space,
                    bytes: operand.pieces().map(|(_, len)| len).sum(),
                    written: operand.writes,
                });
                steps.push(LaunchStep {
                    instruction: opcode.name.clone(),
                    repeat: record.repeat,
                    dtype: record.dtype,
                    operands: operands.collect(),
                    site: record.site,
                });
            }
        }
        LaunchSteps { modules: launch.modules.clone(), steps }
    });
    Ok(launches.collect())
}

/// A place where two builds part: positions in their steps. Without a left position the right step is one too many, and the
/// other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parting {
    /// Position in the left steps.
    pub left: Option<usize>,
    /// Position in the right steps.
    pub right: Option<usize>,
}

/// How far behind a difference the same steps are looked for.
const WINDOW: usize = 48;

/// All places where two streams of steps part.
pub fn partings(left: &[LaunchStep], right: &[LaunchStep]) -> Vec<Parting> {
    let mut found = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        if left[i].same(&right[j]) {
            i += 1;
            j += 1;
            continue;
        }
        // Two steps in a row that are the same again: one alone may be chance.
        let meets = |a: usize, b: usize| {
            let same = |k: usize| match (left.get(i + a + k), right.get(j + b + k)) {
                (Some(left), Some(right)) => left.same(right),
                (None, None) => true,
                _ => false,
            };
            same(0) && same(1)
        };
        let (skip_left, skip_right) = (1..=WINDOW)
            .flat_map(|distance| (0..=distance).map(move |a| (a, distance - a)))
            .find(|(a, b)| meets(*a, *b))
            .unwrap_or((1, 1));
        for k in 0..skip_left.max(skip_right) {
            found.push(Parting { left: (k < skip_left).then_some(i + k), right: (k < skip_right).then_some(j + k) });
        }
        i += skip_left;
        j += skip_right;
    }
    found.extend((i..left.len()).map(|at| Parting { left: Some(at), right: None }));
    found.extend((j..right.len()).map(|at| Parting { left: None, right: Some(at) }));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(names: &str) -> Vec<LaunchStep> {
        let step = |name: &str| LaunchStep {
            instruction: name.to_owned(),
            repeat: 1,
            dtype: 0,
            operands: vec![StepOperand { space: Space::Ub, bytes: 32, written: true }],
            site: 0,
        };
        names.split_whitespace().map(step).collect()
    }

    fn parted(left: &str, right: &str) -> Vec<(Option<usize>, Option<usize>)> {
        partings(&stream(left), &stream(right)).into_iter().map(|parting| (parting.left, parting.right)).collect()
    }

    #[test]
    fn streams_part_where_they_differ_and_meet_again() {
        assert_eq!(parted("load add store", "load add store"), []);
        assert_eq!(parted("load add store end", "load dup add store end"), [(None, Some(1))]);
        assert_eq!(parted("load mul store end", "load add store end"), [(Some(1), Some(1))]);
        assert_eq!(parted("load", "load add"), [(None, Some(1))]);
        let mut other = stream("load add store");
        other[1].operands[0].bytes = 64;
        assert_eq!(partings(&stream("load add store"), &other), [Parting { left: Some(1), right: Some(1) }]);
    }
}
