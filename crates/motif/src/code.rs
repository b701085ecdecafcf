//! What several motifs need of the code: statements, vector calls, liveness of temporaries, insertion of lines.

use std::ops::Range;

use super::alias::may_share;
use super::context::{Candidate, Context};
use super::steady::steady;
use source::Edit;
use source::facts::api::Access;
use source::facts::api::{Shape, overwrites_first, vector_shape};
use source::facts::{Kernel, Origin, TensorFacts, base_name};
use source::parse::{Call, Function, Loop, SyntaxFile, TokenKind, lex};

/// An edit of one file.
pub(super) fn edit(file: &SyntaxFile, span: Range<usize>, replacement: impl Into<String>) -> Edit {
    Edit { file: file.name().to_owned(), span, replacement: replacement.into() }
}

/// Text without blanks: equal expressions compare equal.
pub(super) fn squash(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}

/// What stands before a call's name, such as `AscendC::`; template arguments may follow the name.
pub(super) fn written_scope<'a>(file: &'a SyntaxFile, call: &Call) -> &'a str {
    let callee = file.slice(&call.callee);
    &callee[..callee.find(call.name.as_str()).unwrap_or(0)]
}

/// `AscendC::` where names have to be qualified in this file.
pub(super) fn scope(file: &SyntaxFile) -> &'static str {
    if file.text().contains("using namespace AscendC") { "" } else { "AscendC::" }
}

/// Inserts lines after the line of a statement, indented like it. `None` if the statement shares its lines.
pub(super) fn insert_after(file: &SyntaxFile, statement: &Range<usize>, lines: &[String]) -> Option<Edit> {
    let whole = file.whole_lines(statement)?;
    let indentation = file.indentation(statement.start);
    let text: String = lines.iter().map(|line| format!("{indentation}{line}\n")).collect();
    file.slice(&whole).ends_with('\n').then(|| edit(file, whole.end..whole.end, text))
}

/// All functions with their tensors and kernel.
pub(super) fn functions(context: &Context) -> Vec<(&SyntaxFile, &Function, &Kernel, TensorFacts)> {
    let mut found = Vec::new();
    for file in context.forest.iter() {
        for function in file.functions() {
            let name = function.class.as_deref().unwrap_or(&function.name);
            if let Some(kernel) = context.facts.kernels.get(name) {
                found.push((file, function, kernel, TensorFacts::of(file, function)));
            }
        }
    }
    found
}

/// A vector call in count form that is a statement of its own.
#[derive(Clone, Debug)]
pub(super) struct VectorCall<'a> {
    pub(super) call: &'a Call,
    pub(super) statement: Range<usize>,
    pub(super) name: &'a str,
    pub(super) destination: &'a str,
    pub(super) sources: Vec<&'a str>,
    pub(super) scalar: Option<&'a str>,
    pub(super) count: &'a str,
}

/// Takes a vector call apart; `Duplicate` has no source and a scalar. Only plain tensors as operands.
pub(super) fn vector_call<'a>(file: &'a SyntaxFile, call: &'a Call, tensors: &TensorFacts) -> Option<VectorCall<'a>> {
    let statement = call.statement.clone()?;
    if call.object.is_some() || call.template_arguments.is_some() || !matches!(call.scope.as_str(), "" | "AscendC") {
        return None;
    }
    let (sources, has_scalar) = match (call.name.as_str(), vector_shape(&call.name)) {
        ("Duplicate" | "CreateVecIndex", _) => (0, true),
        (_, Some(Shape::Binary)) => (2, false),
        (_, Some(Shape::Unary)) => (1, false),
        // The rounding mode of a cast stands where others have a scalar.
        (_, Some(Shape::Scalar)) | ("Axpy" | "Cast", _) => (1, true),
        ("MulAddDst" | "FusedMulAdd" | "AddReluCast" | "SubReluCast" | "MulCast", _) => (2, false),
        _ => return None,
    };
    if call.arguments.len() != 1 + sources + usize::from(has_scalar) + 1 {
        return None;
    }
    let argument = |index: usize| file.slice(&call.arguments[index]).trim();
    let operands: Vec<&str> = (0..=sources).map(argument).collect();
    operands.iter().all(|operand| tensors.tensors.contains_key(*operand)).then(|| VectorCall {
        call,
        statement,
        name: &call.name,
        destination: operands[0],
        sources: operands[1..].to_vec(),
        scalar: has_scalar.then(|| argument(1 + sources)),
        count: argument(call.arguments.len() - 1),
    })
}

/// All vector calls of a function in text order.
pub(super) fn vector_calls<'a>(
    file: &'a SyntaxFile,
    function: &Function,
    tensors: &TensorFacts,
) -> Vec<VectorCall<'a>> {
    file.calls_in(function.body.clone()).filter_map(|call| vector_call(file, call, tensors)).collect()
}

/// The block that a statement stands in directly.
pub(super) fn block_of(file: &SyntaxFile, statement: &Range<usize>) -> Option<Range<usize>> {
    let mut node = file.node_at(statement)?;
    while node.byte_range().len() < statement.len() {
        node = node.parent()?;
    }
    // `node_at` finds the smallest node: climb to the statement itself, then to its parent.
    while node.parent().is_some_and(|parent| parent.byte_range() == *statement) {
        node = node.parent()?;
    }
    node.parent().filter(|parent| parent.kind() == "compound_statement").map(|parent| parent.byte_range())
}

/// Identifiers of an expression.
pub(super) fn words(text: &str) -> Vec<&str> {
    lex(text).into_iter().filter(|token| token.kind == TokenKind::Word).map(|token| &text[token.span]).collect()
}

pub(super) use super::change::assigns;

/// Whether two statements stand directly in the same block, so that both run or, but for an early exit in between, neither.
pub(super) fn same_block(file: &SyntaxFile, left: &Range<usize>, right: &Range<usize>) -> bool {
    block_of(file, left).is_some_and(|block| block_of(file, right) == Some(block))
}

/// Whether an expression has the same value everywhere in the text: no name in it is assigned there, and it calls nothing
/// but size queries and casts.
pub(super) fn invariant(expression: &str, text: &str) -> bool {
    const PURE: &[&str] = &[
        "static_cast",
        "sizeof",
        "sqrt",
        "GetSize",
        "GetBlockIdx",
        "GetBlockNum",
        "half",
        "float",
        "int32_t",
        "uint32_t",
        "T",
    ];
    let tokens = lex(expression);
    let calls_nothing = tokens.windows(2).all(|pair| {
        let open = &expression[pair[1].span.clone()] == "(";
        !(open && pair[0].kind == TokenKind::Word) || PURE.contains(&&expression[pair[0].span.clone()])
    });
    let indexed = tokens.iter().any(|token| matches!(&expression[token.span.clone()], "[" | "="));
    let stepped = expression.contains("++") || expression.contains("--");
    calls_nothing && !indexed && !stepped && words(expression).iter().all(|word| !assigns(text, word))
}

/// Loops of a function around a byte, innermost first.
pub(super) fn loops_around<'a>(file: &'a SyntaxFile, function: &Function, byte: usize) -> Vec<&'a Loop> {
    let body = function.body.clone();
    let mut loops: Vec<&Loop> = file
        .loops()
        .iter()
        .filter(|repetition| body.contains(&repetition.span.start) && repetition.span.contains(&byte))
        .collect();
    loops.reverse();
    loops
}

/// Type of the counter that a loop declares, as written.
pub(super) fn counter_type<'a>(file: &'a SyntaxFile, repetition: &Loop) -> &'a str {
    let initializer = repetition.initializer.clone().unwrap_or_default();
    let declared = file.slice(&initializer).split('=').next().unwrap_or_default().trim_end();
    declared.rsplit_once([' ', '\t']).map_or("", |(type_text, _)| type_text.trim())
}

/// A function with what is known around it.
pub(super) struct Surroundings<'a> {
    pub(super) context: &'a Context,
    pub(super) file: &'a SyntaxFile,
    pub(super) function: &'a Function,
    pub(super) kernel: &'a Kernel,
    pub(super) tensors: &'a TensorFacts,
}

/// Proves that nobody reads `tensor` after the statement before it is overwritten.
pub(super) fn dead_after(
    around: &Surroundings<'_>,
    tensor: &str,
    statement: &Range<usize>,
    count: &str,
) -> Result<(), String> {
    let Surroundings { context, file, function, kernel, tensors } = *around;
    let Some(variable) = tensors.tensors.get(tensor) else { return Err(format!("{tensor} is not a local tensor")) };
    let overwrites = |used: &source::facts::TensorUse| {
        let call =
            used.call.and_then(|index| file.calls().get(index)).and_then(|call| vector_call(file, call, tensors));
        call.is_some_and(|call| {
            let reads_itself = call.sources.contains(&tensor);
            overwrites_first(call.name)
                && call.destination == tensor
                && !reads_itself
                && squash(call.count) == squash(count)
        })
    };
    let relevant = |used: &&source::facts::TensorUse| relevant(file, used);
    let statement_of = |used: &source::facts::TensorUse| {
        used.call.and_then(|index| file.calls().get(index)).and_then(|call| call.statement.clone())
    };
    let shared = |span: &Range<usize>| {
        let others = tensors.uses.iter().filter(|used| used.access != Access::None && used.tensor != tensor);
        let mut others = others.filter(|used| span.contains(&used.span.start));
        others.find(|used| may_share(around, tensor, &used.tensor))
    };
    let is_shared = |used: &source::facts::TensorUse| {
        format!("{} may share memory with {tensor} and is used at line {}", used.tensor, file.line(used.span.start))
    };
    if let Some(next) = tensors.uses_of(tensor).filter(relevant).find(|used| used.span.start >= statement.end) {
        let next_statement = statement_of(next).filter(|next| same_block(file, next, statement));
        let Some(next_statement) = next_statement.filter(|_| overwrites(next)) else {
            return Err(format!("{tensor} is used again at line {}", file.line(next.span.start)));
        };
        let between = statement.end..next_statement.start;
        if let Some(word) = leaves_early(file.slice(&between)) {
            return Err(format!("{word} may leave {tensor} as it is before line {}", file.line(next_statement.start)));
        }
        steady(context, file, kernel, count, &between)
            .map_err(|reason| format!("{tensor} may not be overwritten in its whole length: {reason}"))?;
        return shared(&(statement.end..next_statement.end)).map_or(Ok(()), |used| Err(is_shared(used)));
    }
    if let Some(used) = shared(&(statement.end..function.body.end)) {
        return Err(is_shared(used));
    }
    // The next round of a loop, or the next call of the function, starts with the first use.
    for repetition in loops_around(file, function, statement.start) {
        if repetition.body.contains(&variable.declaration.start) {
            break;
        }
        if let Some(used) = shared(&repetition.span) {
            return Err(is_shared(used));
        }
        let inside: Vec<&source::facts::TensorUse> = tensors
            .uses_of(tensor)
            .filter(relevant)
            .filter(|used| repetition.span.contains(&used.span.start) && !statement.contains(&used.span.start))
            .collect();
        let Some(first) = inside.first() else { continue };
        if !overwrites(first) || !leads(file, first, &inside) {
            return Err(format!("the next round of the loop reads {tensor}"));
        }
        steady(context, file, kernel, count, &repetition.span)
            .map_err(|reason| format!("the next round may overwrite less of {tensor}: {reason}"))?;
    }
    not_kept(around, tensor, &overwrites)
}

/// Whether the first of some uses is a statement of a block that all of them stand in, so that it comes before the others on all
/// paths.
fn leads(file: &SyntaxFile, first: &source::facts::TensorUse, uses: &[&source::facts::TensorUse]) -> bool {
    let statement = first.call.and_then(|index| file.calls().get(index)).and_then(|call| call.statement.clone());
    let block = statement.and_then(|statement| block_of(file, &statement));
    block.is_some_and(|block| uses.iter().all(|used| block.contains(&used.span.start)))
}

/// The first word of a text that leaves a function or a round of a loop.
pub(super) fn leaves_early(text: &str) -> Option<&str> {
    words(text).into_iter().find(|word| matches!(*word, "break" | "continue" | "return" | "goto" | "throw"))
}

/// Proves that no later call of the function finds what a tensor holds at its end; `overwrites` tells the uses that leave
/// nothing of what was there before.
pub(super) fn not_kept(
    around: &Surroundings<'_>,
    tensor: &str,
    overwrites: &dyn Fn(&source::facts::TensorUse) -> bool,
) -> Result<(), String> {
    let Surroundings { context, kernel, tensors, .. } = *around;
    let Some(variable) = tensors.tensors.get(tensor) else { return Err(format!("{tensor} is not a local tensor")) };
    let relevant = |used: &&source::facts::TensorUse| relevant(around.file, used);
    match &variable.origin {
        Origin::Alloc(_) | Origin::DeQue(_) => Ok(()),
        Origin::Buffer(buffer) => {
            let uses: Vec<&source::facts::TensorUse> = tensors.uses_of(tensor).filter(relevant).collect();
            if uses.first().is_some_and(|first| !overwrites(first) || !leads(around.file, first, &uses)) {
                return Err(format!(
                    "{tensor} may be read before it is written, so its content may come from an earlier call"
                ));
            }
            let here = |file: &SyntaxFile, call: &Call| {
                file.name() == around.file.name() && variable.declaration.contains(&call.span.start)
            };
            let gets = kernel
                .calls(&context.forest)
                .filter(|(_, _, call)| call.object.as_deref().map(base_name) == Some(buffer));
            let others: Vec<(&SyntaxFile, &Call)> =
                gets.filter(|(file, _, call)| !here(file, call)).map(|(file, _, call)| (file, call)).collect();
            if others.iter().all(|(file, call)| filled_first(file, call)) {
                return Ok(());
            }
            Err(format!("{buffer} is handed out at more than one place"))
        }
        Origin::Parameter | Origin::Unknown => {
            Err(format!("where {tensor} comes from is not known, so its content may be read elsewhere"))
        }
    }
}

/// Whether a function that takes a buffer fills it before it reads from it, and reads no more than it filled.
fn filled_first(file: &SyntaxFile, taken: &Call) -> bool {
    let Some(function) = file.enclosing_function(taken.span.start) else { return false };
    let tensors = TensorFacts::of(file, function);
    let declared = |tensor: &source::facts::Tensor| tensor.declaration.contains(&taken.span.start);
    let Some((name, _)) = tensors.tensors.iter().find(|(_, tensor)| declared(tensor)) else { return false };
    let call_of = |used: &source::facts::TensorUse| used.call.and_then(|index| file.calls().get(index));
    let uses: Vec<&source::facts::TensorUse> =
        tensors.uses_of(name).filter(|used| used.access != Access::None).collect();
    let Some(first) = uses.first().and_then(|used| call_of(used)) else { return uses.is_empty() };
    let reduces = |call: &Call| matches!(call.name.as_str(), "ReduceSum" | "ReduceMax" | "ReduceMin");
    let is_scratch = |used: &source::facts::TensorUse| used.argument == Some(2) && call_of(used).is_some_and(reduces);
    if uses.iter().all(|used| is_scratch(used)) {
        return true;
    }
    if !loops_around(file, function, taken.span.start).is_empty() || uses[0].argument != Some(0) || !uses[0].whole {
        return false;
    }
    let count = |call: &Call| call.arguments.last().map(|argument| squash(file.slice(argument)));
    let block = first.statement.as_ref().and_then(|statement| block_of(file, statement));
    if block.as_ref() != Some(&function.body) {
        return false;
    }
    let element = |used: &source::facts::TensorUse| {
        call_of(used).is_some_and(|call| call.name == "GetValue" && file.argument(call, 0).map(str::trim) == Some("0"))
    };
    if reduces(first) && uses[0].access == Access::Write {
        return uses[1..].iter().all(|used| element(used));
    }
    let Some(fill) = vector_call(file, first, &tensors) else { return false };
    overwrites_first(fill.name)
        && !fill.sources.contains(&name.as_str())
        && uses[1..].iter().all(|used| {
            let same =
                call_of(used).filter(|call| call.object.is_none()).is_some_and(|call| count(call) == count(first));
            element(used) || (used.whole && same && !is_scratch(used))
        })
}

/// Whether a use touches what the tensor holds. A reduction's scratch tensor is not read: neither does the reduction need
/// its content nor does it leave any.
fn relevant(file: &SyntaxFile, used: &source::facts::TensorUse) -> bool {
    let call = used.call.and_then(|index| file.calls().get(index));
    let scratch = used.argument == Some(2)
        && call.is_some_and(|call| matches!(call.name.as_str(), "ReduceSum" | "ReduceMax" | "ReduceMin"));
    used.access != Access::None && !is_free(file, used) && !scratch
}

fn is_free(file: &SyntaxFile, used: &source::facts::TensorUse) -> bool {
    used.access == Access::Release
        && used.call.and_then(|index| file.calls().get(index)).is_some_and(|call| call.name == "FreeTensor")
}

/// Scratch tensors that the function declares and does not use, of the given element type, in buffers of their own.
pub(super) fn unused_scratch<'a>(tensors: &'a TensorFacts, element: &str) -> Vec<&'a str> {
    let twin = |name: &str| {
        let origin = tensors.tensors.get(name).map(|tensor| &tensor.origin);
        tensors.tensors.iter().any(|(other, tensor)| other != name && Some(&tensor.origin) == origin)
    };
    let unused = |name: &str| tensors.uses_of(name).next().is_none() && !twin(name);
    tensors
        .tensors
        .iter()
        .filter(|(name, tensor)| {
            tensor.element == element && matches!(tensor.origin, Origin::Buffer(_)) && unused(name)
        })
        .map(|(name, _)| name.as_str())
        .collect()
}

/// One candidate for every unused scratch tensor, or one that says that there is none.
pub(super) fn with_each_scratch(
    file: &SyntaxFile,
    call: &VectorCall<'_>,
    tensors: &TensorFacts,
    note: &str,
    text: impl Fn(&str) -> String,
) -> Vec<Candidate> {
    let element = tensors.tensors.get(call.destination).map_or("", |tensor| tensor.element.as_str());
    let same_type =
        call.sources.iter().all(|source| tensors.tensors.get(*source).is_some_and(|source| source.element == element));
    let scratches = if same_type { unused_scratch(tensors, element) } else { Vec::new() };
    if scratches.is_empty() {
        let reason = "no unused scratch tensor of the same type is declared in the function".to_owned();
        return vec![Candidate::new(file, &call.call.span, note, Err(reason))];
    }
    let candidate = |scratch: &str| {
        Candidate::new(
            file,
            &call.call.span,
            format!("{note} through {scratch}"),
            Ok(vec![edit(file, call.call.span.clone(), text(scratch))]),
        )
    };
    scratches.into_iter().map(candidate).collect()
}

/// Whether the element type is floating point; `None` for a template parameter of unknown meaning.
pub(super) fn is_float(element: &str) -> Option<bool> {
    match element {
        "half" | "float" | "float16_t" | "float32_t" => Some(true),
        _ if source::facts::fixed_type_bytes(element).is_some() => Some(false),
        _ => None,
    }
}
