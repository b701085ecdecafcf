//! V11: a mask that every instruction of a loop sets anew is set once before it.

use crate::analysis::code::{block_of, functions, scope, squash, words, written_scope};
use crate::analysis::flow::effects::invariant;
use crate::rewrite::edits::edit;
use crate::rewrite::template::find;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::api::{Shape, vector_shape};
use source::facts::{TensorFacts, base_name};
use source::parse::{Call, Function, Loop, SyntaxFile};

/// The motif.
pub struct MaskOnce;

const METADATA: Metadata = Metadata {
    id: Id::V11,
    title: "mask set once for a loop",
    family: Family::Vector,
    precondition: "a loop whose vector instructions all take repeats with the same mask as a number, on elements of one type, and where nothing else touches the mask; \
     the mask does not change in the loop",
    left_to_verifier: "nobody relies on the mask that the last instruction left",
    relieves: &[Counter::ScalarUs, Counter::VecUs],
    prior_gain: 1.02,
    cost: "nothing",
    tunables: "none",
    undoing: "each instruction sets its mask",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for MaskOnce {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            for repetition in file.loops().iter().filter(|repetition| function.body.contains(&repetition.span.start)) {
                let calls: Vec<&Call> = file.calls_in(repetition.body.clone()).collect();
                if !calls.iter().any(|call| mask_of(file, call).is_some_and(|mask| !is_placeholder(mask))) {
                    continue;
                }
                let edits = once(file, function, repetition, &calls, &tensors);
                found.push(Candidate::new(file, &repetition.span, "set the mask before the loop", edits));
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, _) in functions(context) {
            for set in find(file, &function.body, "@SetVectorMask<$$e>(static_cast<int32_t>($m));") {
                let next = file.loops().iter().find(|repetition| {
                    repetition.span.start >= set.span.end
                        && file.slice(&(set.span.end..repetition.span.start)).trim().is_empty()
                });
                let Some(repetition) = next else { continue };
                let edits = every_time(file, repetition, &set);
                found.push(Candidate::new(file, &repetition.span, "set the mask in every instruction", edits));
            }
        }
        found
    }
}

/// What stands for a mask that was set before.
const PLACEHOLDER: &str = "MASK_PLACEHOLDER";

fn is_placeholder(mask: &str) -> bool {
    mask.strip_prefix("AscendC::").unwrap_or(mask) == PLACEHOLDER
}

/// Position of the mask in the form with mask, repeats and strides.
fn mask_position(call: &Call) -> Option<usize> {
    let operands = match vector_shape(&call.name)? {
        Shape::Binary | Shape::Scalar => 3,
        Shape::Unary => 2,
    };
    (call.object.is_none() && call.arguments.len() == operands + 3).then_some(operands)
}

fn mask_of<'a>(file: &'a SyntaxFile, call: &Call) -> Option<&'a str> {
    file.argument(call, mask_position(call)?).map(str::trim)
}

fn once(
    file: &SyntaxFile,
    function: &Function,
    repetition: &Loop,
    calls: &[&Call],
    tensors: &TensorFacts,
) -> Result<Vec<Edit>, String> {
    block_of(file, &repetition.span).ok_or("the loop is the only statement of an if or a loop")?;
    let lines = file.whole_lines(&repetition.span).ok_or("the loop shares its lines")?;
    let (mut mask, mut element, mut edits) = (None, None, Vec::new());
    for call in calls {
        let Some(text) = mask_of(file, call) else {
            // Sizes, casts of values and parts of parameters leave masks alone; whatever else may not.
            if HARMLESS.contains(&call.name.as_str()) || call.name.ends_with("Params") {
                continue;
            }
            return Err(format!("line {}: {} may set a mask of its own", file.line(call.span.start), call.name));
        };
        let type_of = |index: usize| {
            file.argument(call, index)
                .and_then(|operand| tensors.tensors.get(base_name(operand)))
                .map(|tensor| tensor.element.as_str())
        };
        let own = type_of(0).filter(|own| !own.is_empty() && type_of(1) == Some(own));
        let own = own.ok_or_else(|| format!("the element type of {} is not known", call.name))?;
        if *mask.get_or_insert(squash(text)) != squash(text) || *element.get_or_insert(own) != own {
            return Err(format!("line {}: another mask or type", file.line(call.span.start)));
        }
        if is_placeholder(text) || call.template_arguments.is_some() {
            return Err(format!("line {}: the form of {} is given by hand", file.line(call.span.start), call.name));
        }
        let position = mask_position(call).unwrap_or_default();
        edits.push(edit(file, call.callee.end..call.callee.end, format!("<{own}, false>")));
        let prefix = written_scope(file, call);
        edits.push(edit(file, call.arguments[position].clone(), format!("{prefix}{PLACEHOLDER}")));
    }
    let (mask, element) = (mask.unwrap_or_default(), element.unwrap_or_default());
    let original = calls.iter().find_map(|call| mask_of(file, call)).unwrap_or_default();
    if !invariant(original, file, &repetition.span) {
        return Err(format!("the mask {original} may change in the loop"));
    }
    if file.locals().iter().any(|local| {
        local.name == mask && file.slice(&local.span).contains('[') && function.body.contains(&local.span.start)
    }) || function
        .parameters
        .iter()
        .any(|parameter| parameter.name == mask && parameter.type_text.contains(['*', '[']))
    {
        return Err(format!("{original} is a mask bit by bit"));
    }
    let local = |name: &str| {
        file.locals().iter().any(|local| local.name == name && repetition.span.contains(&local.span.start))
    };
    if words(original).into_iter().any(local) {
        return Err(format!("the mask {original} is declared in the loop"));
    }
    let indentation = file.indentation(repetition.span.start);
    let scope = scope(file);
    let set = format!("{indentation}{scope}SetVectorMask<{element}>(static_cast<int32_t>({original}));\n");
    edits.insert(0, edit(file, lines.start..lines.start, set));
    edits.push(edit(file, lines.end..lines.end, format!("{indentation}{scope}ResetMask();\n")));
    Ok(edits)
}

/// Calls that have nothing to do with masks.
const HARMLESS: &[&str] =
    &["static_cast", "sizeof", "GetSize", "GetBlockIdx", "min", "max", "Min", "Max", "PipeBarrier", "GetValue"];

fn every_time(
    file: &SyntaxFile,
    repetition: &Loop,
    set: &crate::rewrite::template::Found,
) -> Result<Vec<Edit>, String> {
    let (mask, element) = (set.hole("m"), set.hole("e"));
    let reset = file
        .calls()
        .iter()
        .find(|call| call.name == "ResetMask" && call.span.start >= repetition.span.end)
        .and_then(|call| call.statement.clone())
        .filter(|reset| file.slice(&(repetition.span.end..reset.start)).trim().is_empty())
        .ok_or("the mask stays set after the loop")?;
    let mut edits = vec![edit(file, file.removal_span(&set.span), ""), edit(file, file.removal_span(&reset), "")];
    for call in file.calls_in(repetition.body.clone()) {
        let Some(position) = mask_position(call) else { continue };
        let callee = file.slice(&call.callee);
        let arguments = format!("<{element}, false>");
        let plain = callee.strip_suffix(arguments.as_str()).ok_or("an instruction sets a mask of its own")?;
        if !mask_of(file, call).is_some_and(is_placeholder) {
            return Err("an instruction sets a mask of its own".to_owned());
        }
        edits.push(edit(file, call.callee.clone(), plain));
        edits.push(edit(file, call.arguments[position].clone(), mask));
    }
    Ok(edits)
}
