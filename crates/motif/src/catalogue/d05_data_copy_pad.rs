//! D05: `DataCopyPad` of whole 32-byte blocks is a plain `DataCopy`.

use crate::analysis::code::{scope, squash};
use crate::analysis::copies::{braced, fields_of, without_size};
use crate::analysis::machine::BLOCK_BYTES;
use crate::rewrite::edits::edit;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::{Kernel, base_name, fixed_type_bytes};
use source::parse::{Call, SyntaxFile};

/// The motif.
pub struct PlainCopy;

const METADATA: Metadata = Metadata {
    id: Id::D05,
    title: "DataCopyPad to DataCopy",
    family: Family::DataMovement,
    precondition: "one block, no gaps, no padding; length = count * sizeof(element) and a multiple of 32 bytes, proved from constants and known values, else a \
     condition that a misaligned transfer would break",
    left_to_verifier: "multiple of 32 bytes, where it is not proved",
    relieves: &[Counter::Mte2Us, Counter::Mte3Us, Counter::ScalarUs],
    prior_gain: 1.01,
    cost: "lengths that are not a multiple of 32 bytes no longer work",
    tunables: "closes tile lengths that are not whole blocks",
    undoing: "Pad form (always safe)",
    rounding_changes: false,
    replaces_constants: false,
    company: Company { proved_only: true, ..Company::ANY },
};

impl Motif for PlainCopy {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for kernel in context.facts.kernels.values() {
            for (file, _, call) in
                kernel.calls(&context.forest).filter(|(_, _, call)| call.name == "DataCopyPad" && call.object.is_none())
            {
                let count = plain_count(file, kernel, call);
                let proved = count.as_ref().is_ok_and(|(count, bytes)| {
                    // Where the element's size is not known it is at least one byte.
                    let divisor = context.facts.known.divisor(count).saturating_mul((*bytes).max(1));
                    divisor != 0 && divisor % BLOCK_BYTES == 0
                });
                let edits = count.and_then(|(count, bytes)| plain_copy(context, file, call, &count, bytes));
                let mut candidate = Candidate::new(file, &call.span, "plain DataCopy", edits);
                if !proved {
                    candidate =
                        candidate.on_condition("the length is a multiple of 32 bytes in every case, tails included");
                }
                found.push(candidate);
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for kernel in context.facts.kernels.values() {
            for (file, _, call) in kernel
                .calls(&context.forest)
                .filter(|(_, _, call)| call.name == "DataCopy" && call.arguments.len() == 3)
            {
                if let Some(edits) = padded_copy(file, kernel, call) {
                    found.push(Candidate::new(file, &call.span, "DataCopyPad", edits));
                }
            }
        }
        found
    }
}

/// Element type of the global tensor in the call, and whether it is the source.
fn global_operand<'a>(file: &SyntaxFile, kernel: &'a Kernel, call: &Call) -> Option<(&'a str, bool)> {
    let element = |index: usize| {
        kernel.globals.get(file.argument(call, index).map(base_name)?).map(|(element, _)| element.as_str())
    };
    match (element(0), element(1)) {
        (Some(element), None) => Some((element, false)),
        (None, Some(element)) => Some((element, true)),
        _ => None,
    }
}

/// Count of elements as written and the bytes of an element (0 if only the name of the type is known).
fn plain_count(file: &SyntaxFile, kernel: &Kernel, call: &Call) -> Result<(String, i64), String> {
    let (element, loads) = global_operand(file, kernel, call)
        .ok_or("the copy is not between a global tensor of the class and a local one")?;
    if call.arguments.len() != if loads { 4 } else { 3 } || call.template_arguments.is_some() {
        return Err("not the form with copy parameters".to_owned());
    }
    let fields = fields_of(file, call, 2)?;
    let field = |index: usize| fields.get(index).map(|text| squash(text)).unwrap_or_else(|| "0".to_owned());
    if field(0) != "1" || field(2) != "0" || field(3) != "0" {
        return Err("the copy has several blocks or gaps".to_owned());
    }
    if loads {
        let padding = fields_of(file, call, 3)?;
        let padding: Vec<String> = padding.iter().map(|text| squash(text)).collect();
        let none = padding.first().is_some_and(|first| first == "false" || first == "0");
        let zero = padding.len() > 2 && padding[1] == "0" && padding[2] == "0";
        if !none && !zero {
            return Err("the copy pads".to_owned());
        }
    }
    let length = fields.get(1).ok_or("the length is not set")?;
    let count =
        without_size(length, element).ok_or_else(|| format!("the length {length} is not count * sizeof({element})"))?;
    Ok((count, fixed_type_bytes(element).unwrap_or(0)))
}

fn plain_copy(context: &Context, file: &SyntaxFile, call: &Call, count: &str, bytes: i64) -> Result<Vec<Edit>, String> {
    if let Some(value) = context.facts.known.value(count)
        && bytes > 0
        && value * bytes % BLOCK_BYTES != 0
    {
        return Err(format!("{count} elements are {} bytes, not a multiple of {BLOCK_BYTES}", value * bytes));
    }
    let callee = file.slice(&call.callee);
    let name = callee.strip_suffix("Pad").ok_or("the callee is not written as DataCopyPad")?;
    let operand = |index: usize| file.argument(call, index).unwrap_or_default();
    let text = format!("{name}({}, {}, {count})", operand(0), operand(1));
    Ok(vec![edit(file, call.span.clone(), text)])
}

/// The Pad form; `None` where the call is something else.
fn padded_copy(file: &SyntaxFile, kernel: &Kernel, call: &Call) -> Option<Result<Vec<Edit>, String>> {
    let (element, loads) = global_operand(file, kernel, call)?;
    let argument = |index: usize| file.argument(call, index).unwrap_or_default();
    let count = argument(2);
    if braced(count).is_some() || count.to_ascii_lowercase().contains("param") {
        return Some(Err("not the form with an element count".to_owned()));
    }
    let prefix = scope(file);
    let simple = !count.replace("->", ".").contains(['+', '-', '/', '%', '?']);
    let count = if simple { count.to_owned() } else { format!("({count})") };
    let padding =
        if loads { format!(", {prefix}DataCopyPadExtParams<{element}>{{false, 0, 0, 0}}") } else { String::new() };
    let text = format!(
        "{}Pad({}, {}, {prefix}DataCopyExtParams{{1, static_cast<uint32_t>({count} * sizeof({element})), 0, 0, 0}}{padding})",
        file.slice(&call.callee),
        argument(0),
        argument(1)
    );
    Some(Ok(vec![edit(file, call.span.clone(), text)]))
}
