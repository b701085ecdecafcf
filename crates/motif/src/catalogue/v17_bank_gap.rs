//! V17: a gap between two buffers lets the vector unit read both operands in one cycle.

use crate::analysis::code::{functions, vector_calls};
use crate::analysis::machine::BLOCK_BYTES;
use crate::rewrite::buffers::{added, free_name, removed};
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::{InitBuffer, Kernel, KnownValues, Origin, TensorFacts};

/// The motif.
pub struct BankGap;

const METADATA: Metadata = Metadata {
    id: Id::V17,
    title: "gap between buffers against bank conflicts",
    family: Family::Vector,
    precondition: "a vector instruction with two sources in buffers of their own, initialised in one function, which are not known to lie apart otherwise than by \
     a multiple of 512 bytes",
    left_to_verifier: "whether it pays: what lies behind the gap moves too",
    relieves: &[Counter::VecUs],
    prior_gain: 1.05,
    cost: "256 bytes of the unified buffer",
    tunables: "takes bytes of the unified buffer",
    undoing: "no gap",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for BankGap {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for (file, function, kernel, tensors) in functions(context) {
            for call in vector_calls(file, function, &tensors) {
                let [left, right] = call.sources[..] else { continue };
                let (Some(left), Some(right)) = (init_of(kernel, &tensors, left), init_of(kernel, &tensors, right))
                else {
                    continue;
                };
                let (before, later) = if left.statement < right.statement { (left, right) } else { (right, left) };
                if before.target == later.target || !seen.insert((kernel.name.clone(), later.target.clone())) {
                    continue;
                }
                let Some(init_file) = context.forest.get(&later.statement.file) else { continue };
                let edits = apart(&context.facts.known, kernel, before, later).and_then(|previous| {
                    let name = free_name(context, "gapBuf");
                    let edits = added(context, kernel, previous, &[(name.clone(), GAP_BYTES.to_string())], &[])?;
                    Ok(explained(edits, &name, before, later))
                });
                let note = format!("a gap before {}", later.target);
                found.push(Candidate::new(init_file, &later.statement.span(), note, edits));
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for kernel in context.facts.kernels.values() {
            for init in
                kernel.init_buffers.iter().filter(|init| init.number.is_none() && init.size == GAP_BYTES.to_string())
            {
                let Some(file) = context.forest.get(&init.statement.file) else { continue };
                let edits = removed(context, kernel, &init.target, 0);
                found.push(Candidate::new(file, &init.statement.span(), format!("no gap {}", init.target), edits));
            }
        }
        found
    }
}

/// Half of the distance after which addresses meet the same groups of banks again: 16 groups of blocks of 32 bytes
/// (guide on bank conflicts of the unified buffer).
const GAP_BYTES: i64 = 256;
const PERIOD_BYTES: i64 = 512;

/// The edits with a comment at the gap's `InitBuffer`: nobody uses the buffer, so the line has to say what it is for.
fn explained(edits: Vec<Edit>, gap: &str, before: &InitBuffer, later: &InitBuffer) -> Vec<Edit> {
    let plain = format!("InitBuffer({gap}, {GAP_BYTES});");
    let name = |buffer: &InitBuffer| buffer.target.rsplit(['>', '.']).next().unwrap_or_default().trim().to_owned();
    let comment = format!("{plain} // keeps {} and {} in different banks", name(before), name(later));
    let explain = |edit: Edit| Edit { replacement: edit.replacement.replace(&plain, &comment), ..edit };
    edits.into_iter().map(explain).collect()
}

/// The one `InitBuffer` behind a tensor.
fn init_of<'a>(kernel: &'a Kernel, tensors: &TensorFacts, tensor: &str) -> Option<&'a InitBuffer> {
    match &tensors.tensors.get(tensor)?.origin {
        Origin::Alloc(target) | Origin::DeQue(target) | Origin::Buffer(target) => kernel.init_of(target),
        Origin::Parameter | Origin::Unknown => None,
    }
}

/// The `InitBuffer` directly before the later one, if the two are not known to be apart already.
fn apart<'a>(
    known: &KnownValues,
    kernel: &'a Kernel,
    before: &InitBuffer,
    later: &InitBuffer,
) -> Result<&'a InitBuffer, String> {
    if before.statement.file != later.statement.file || before.pipe != later.pipe {
        return Err("the two buffers are not made at one place".to_owned());
    }
    let mut between: Vec<&InitBuffer> = kernel
        .init_buffers
        .iter()
        .filter(|init| {
            init.statement.file == later.statement.file
                && before.statement.start <= init.statement.start
                && init.statement.start < later.statement.start
        })
        .collect();
    between.sort_by_key(|init| init.statement.start);
    if let Some(gap) = between.iter().find(|init| init.number.is_none() && init.size == GAP_BYTES.to_string()) {
        return Err(format!("there is the gap {} already", gap.target));
    }
    // Buffers follow each other in the order in which they are made, each rounded up to blocks of 32 bytes. A queue's second
    // buffer lies as far from the first as the queue's buffers are long.
    let distance = between.iter().try_fold(0, |sum: i64, init| {
        let size = known.value(&init.size)?.checked_add(BLOCK_BYTES - 1)? / BLOCK_BYTES * BLOCK_BYTES;
        sum.checked_add(size)
    });
    if let Some(distance) = distance.filter(|distance| distance % PERIOD_BYTES != 0) {
        return Err(format!(
            "{} and {} are {} bytes apart, modulo {PERIOD_BYTES}",
            before.target,
            later.target,
            distance % PERIOD_BYTES
        ));
    }
    between.last().copied().ok_or_else(|| "nothing lies between".to_owned())
}
