//! V17: a gap between two buffers lets the vector unit read both operands in one cycle.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::code::{functions, vector_calls};
use crate::analysis::machine::BLOCK_BYTES;
use crate::rewrite::buffers::{GAP, declared, free_name, initialised, removed};
use crate::rewrite::planned_room;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::{InitBuffer, Kernel, KnownValues, Origin, TensorFacts};
use source::parse::{Function, SyntaxFile};

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
        let meetings = meetings(context);
        let mut found = Vec::new();
        for (kernel, pairs) in &meetings {
            let kernel = &context.facts.kernels[*kernel];
            let mut seen = BTreeSet::new();
            for meeting in pairs {
                let (before, later) = (&kernel.init_buffers[meeting.before], &kernel.init_buffers[meeting.later]);
                if !seen.insert(later.target.as_str()) {
                    continue;
                }
                let Some(init_file) = context.forest.get(&later.statement.file) else { continue };
                let edits = apart(&context.facts.known, kernel, before, later).and_then(|previous| {
                    let gap = Gap { previous, before, later };
                    gaps(context, kernel, &[gap])
                });
                let note = format!("a gap before {}", later.target);
                found.push(with_room(context, init_file, later, note, edits, 1));
            }
            found.extend(together(context, kernel, pairs));
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

/// A vector instruction's two sources are in two buffers of a class, by position among its `InitBuffer` calls, the earlier one first.
#[derive(Clone, Copy, Debug)]
struct Meeting {
    before: usize,
    later: usize,
}

/// Where sources meet in vector instructions, by class, in text order.
fn meetings(context: &Context) -> BTreeMap<&str, Vec<Meeting>> {
    let mut found: BTreeMap<&str, Vec<Meeting>> = BTreeMap::new();
    for (file, function, kernel, tensors) in functions(context) {
        let aliases = aliases(file, function, &tensors);
        for call in vector_calls(file, function, &tensors) {
            let [left, right] = call.sources[..] else { continue };
            let of = |tensor| init_of(kernel, &tensors, resolved(&aliases, tensor));
            let (Some(left), Some(right)) = (of(left), of(right)) else { continue };
            let starts = |init: usize| kernel.init_buffers[init].statement.start;
            let (before, later) = if starts(left) < starts(right) { (left, right) } else { (right, left) };
            if kernel.init_buffers[before].target != kernel.init_buffers[later].target {
                found.entry(kernel.name.as_str()).or_default().push(Meeting { before, later });
            }
        }
    }
    found
}

/// Names that are another tensor of the function by declaration. Where a gap pays hangs on them; nothing is wrong by one.
fn aliases<'f>(file: &'f SyntaxFile, function: &Function, tensors: &TensorFacts) -> BTreeMap<&'f str, &'f str> {
    let locals = file.locals().iter().filter(|local| function.body.contains(&local.span.start));
    let named = locals.filter_map(|local| Some((local.name.as_str(), file.slice(local.value.as_ref()?).trim())));
    named.filter(|(name, of)| name != of && tensors.tensors.contains_key(*of)).collect()
}

fn resolved<'f>(aliases: &BTreeMap<&'f str, &'f str>, tensor: &'f str) -> &'f str {
    // A name declared in two blocks may stand for itself through another.
    (0..aliases.len()).fold(tensor, |tensor, _| aliases.get(tensor).copied().unwrap_or(tensor))
}

/// A gap behind one `InitBuffer` that keeps two buffers apart.
#[derive(Clone, Copy)]
struct Gap<'a> {
    previous: &'a InitBuffer,
    before: &'a InitBuffer,
    later: &'a InitBuffer,
}

/// Gaps at most that are put into one class.
const MOST_GAPS: usize = 3;

/// Several gaps at once, where sources meet in more than two buffers and one gap leaves too many of them together: as many as keep
/// most sources apart.
fn together(context: &Context, kernel: &Kernel, meetings: &[Meeting]) -> Option<Candidate> {
    let first = &kernel.init_buffers[meetings.first()?.before];
    let mut order: Vec<usize> = (0..kernel.init_buffers.len()).filter(|init| beside(kernel, *init, first)).collect();
    order.sort_by_key(|init| kernel.init_buffers[*init].statement.start);
    let place = |init: usize| order.iter().position(|known| *known == init);
    let pairs: Vec<(usize, usize)> =
        meetings.iter().filter_map(|meeting| Some((place(meeting.before)?, place(meeting.later)?))).collect();
    // Whatever is not known to be otherwise is taken for a multiple of the period; what is known to be would move all others.
    let uneven = order.iter().any(|init| {
        let size = context.facts.known.value(&kernel.init_buffers[*init].size);
        size.is_some_and(|size| size % PERIOD_BYTES != 0)
    });
    let met: BTreeSet<usize> = pairs.iter().map(|(_, later)| *later).collect();
    let parted = |gaps: &[usize]| {
        let lies_apart = |(before, later): &&(usize, usize)| {
            gaps.iter().filter(|gap| (before + 1..=*later).contains(*gap)).count() % 2 == 1
        };
        pairs.iter().filter(lies_apart).count()
    };
    let mut choices: Vec<Vec<usize>> = vec![Vec::new()];
    for gap in met {
        let more: Vec<Vec<usize>> = choices.iter().filter(|gaps| gaps.len() < MOST_GAPS).cloned().collect();
        choices.extend(more.into_iter().map(|gaps| [gaps, vec![gap]].concat()));
    }
    let best = choices.iter().max_by_key(|gaps| (parted(gaps), Reverse(gaps.len())))?;
    if uneven || best.len() < 2 {
        return None;
    }
    let gap = |place: &usize| {
        let [previous, later] = [order[place - 1], order[*place]].map(|init| &kernel.init_buffers[init]);
        Gap { previous, before: previous, later }
    };
    let made: Vec<Gap<'_>> = best.iter().map(gap).collect();
    let later = made.first()?.later;
    let file = context.forest.get(&later.statement.file)?;
    let names: Vec<&str> = made.iter().map(|gap| gap.later.target.as_str()).collect();
    let note = format!("gaps before {}", names.join(" and "));
    Some(with_room(context, file, later, note, gaps(context, kernel, &made), made.len()))
}

/// Whether a buffer is made where another one is, in one function on one pipe.
fn beside(kernel: &Kernel, init: usize, first: &InitBuffer) -> bool {
    let init = &kernel.init_buffers[init];
    init.statement.file == first.statement.file && init.pipe == first.pipe
}

/// The edits of gaps, each with a comment at its `InitBuffer`: nobody uses the buffer, so the line has to say what it is for.
fn gaps(context: &Context, kernel: &Kernel, gaps: &[Gap<'_>]) -> Result<Vec<Edit>, String> {
    let free = |number: usize| match number {
        0 => free_name(context, GAP),
        more => free_name(context, &format!("{GAP}{}", more + 1)),
    };
    let names: Vec<String> = (0..gaps.len()).map(free).collect();
    let name = |buffer: &InitBuffer| buffer.target.rsplit(['>', '.']).next().unwrap_or_default().trim().to_owned();
    let mut edits = vec![declared(context, kernel, &names.iter().map(String::as_str).collect::<Vec<_>>())?];
    for (gap, of) in names.iter().zip(gaps) {
        let plain = format!("InitBuffer({gap}, {GAP_BYTES});");
        let comment = format!("{plain} // keeps {} and {} in different banks", name(of.before), name(of.later));
        let made = initialised(context, of.previous, &[(gap.clone(), GAP_BYTES.to_string())], &[])?;
        let explained = |edit: Edit| Edit { replacement: edit.replacement.replace(&plain, &comment), ..edit };
        edits.extend(made.into_iter().map(explained));
    }
    Ok(edits)
}

/// The candidate of so many gaps, with room made for them where a launch has filled the unified buffer.
fn with_room(
    context: &Context,
    file: &SyntaxFile,
    later: &InitBuffer,
    note: String,
    edits: Result<Vec<Edit>, String>,
    gaps: usize,
) -> Candidate {
    let place = later.statement.span();
    if !context.unified_buffer.overflows_by(GAP_BYTES * gaps as i64) {
        return Candidate::new(file, &place, note, edits);
    }
    let edits = edits.and_then(|edits| Ok([edits, planned_room::leave_a_third(context)?].concat()));
    Candidate::new(file, &place, format!("{note}, planned with two thirds of the unified buffer"), edits)
        .on_condition("tiles follow from the size of the unified buffer")
}

/// The one `InitBuffer` behind a tensor, by position.
fn init_of(kernel: &Kernel, tensors: &TensorFacts, tensor: &str) -> Option<usize> {
    match &tensors.tensors.get(tensor)?.origin {
        Origin::Alloc(target) | Origin::DeQue(target) | Origin::Buffer(target) => {
            let init = kernel.init_of(target)?;
            kernel.init_buffers.iter().position(|known| std::ptr::eq(known, init))
        }
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
