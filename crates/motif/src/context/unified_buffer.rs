//! What a launch took of the unified buffer, so that an edit that asks for more is not tried where there is no more.

use std::collections::BTreeMap;

use source::arch::TARGET;
use source::facts::{Facts, InitBuffer, Kernel};
use source::parse::SyntaxForest;

/// Bytes of the unified buffer.
pub(crate) const UNIFIED_BUFFER_BYTES: i64 = TARGET.vector.unified_buffer_bytes;

/// Bytes that `InitBuffer` calls took, by file relative to the operator's root, and line.
pub type CutLines = BTreeMap<(String, u32), u64>;

/// Measured sizes of a kernel's buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnifiedBuffer {
    /// Whether these very sources were launched, not ones that they were made from.
    launched: bool,
    /// End of the highest buffer in bytes; 0 where nothing was measured.
    top_bytes: u64,
    /// Bytes of all buffers behind a name, by class and member.
    members: BTreeMap<(String, String), u64>,
}

impl UnifiedBuffer {
    /// From the lines of a launch, for as long as these sources change only a little: names stay, lines move.
    pub fn of(facts: &Facts, forest: &SyntaxForest, cuts: &CutLines, top_bytes: u64) -> Self {
        let mut members = BTreeMap::new();
        for kernel in facts.kernels.values() {
            for init in &kernel.init_buffers {
                let place = &init.statement;
                let Some(file) = forest.get(&place.file) else { continue };
                let line = |offset: usize| u32::try_from(file.line(offset)).unwrap_or(u32::MAX);
                let lines = (place.file.clone(), line(place.start))..=(place.file.clone(), line(place.span().end));
                let bytes: u64 = cuts.range(lines).map(|(_, bytes)| bytes).sum();
                if bytes > 0 {
                    *members.entry((kernel.name.clone(), init.target.clone())).or_default() += bytes;
                }
            }
        }
        Self { launched: true, top_bytes, members }
    }

    /// The same for sources that were made from those launched.
    pub fn of_descendant(&self) -> Self {
        Self { launched: false, ..self.clone() }
    }

    /// Whether these very sources were launched.
    pub fn launched(&self) -> bool {
        self.launched
    }

    /// Whether so many bytes more do not fit beside what a launch took; `false` where nothing was measured.
    pub fn overflows_by(&self, more: i64) -> bool {
        let end = i64::try_from(self.top_bytes).unwrap_or(i64::MAX);
        self.top_bytes > 0 && end.saturating_add(more) > UNIFIED_BUFFER_BYTES
    }

    /// Bytes in use when the number or size of the buffers behind `inits` changes from `from` to `to`; `None` where they were
    /// not measured.
    pub fn with_numbers(&self, kernel: &Kernel, inits: &[&InitBuffer], from: i64, to: i64) -> Option<i64> {
        let held = |init: &&InitBuffer| self.members.get(&(kernel.name.clone(), init.target.clone())).copied();
        let changed: u64 = inits.iter().map(held).sum::<Option<u64>>()?;
        let changed = i64::try_from(changed).ok()?;
        Some(i64::try_from(self.top_bytes).ok()? + changed / from.max(1) * (to - from))
    }
}
