//! What several motifs need of the code: statements, vector calls, liveness of temporaries, insertion of lines.

use std::ops::Range;
use std::sync::Arc;

use crate::context::Context;
use source::facts::api::{Shape, vector_shape};
use source::facts::{Kernel, Origin, TensorFacts};
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Class, Function, SyntaxFile};

/// Text without blanks: equal expressions compare equal.
pub(crate) fn squash(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}

/// What stands before a call's name, such as `AscendC::`; template arguments may follow the name.
pub(crate) fn written_scope<'a>(file: &'a SyntaxFile, call: &Call) -> &'a str {
    let callee = file.slice(&call.callee);
    &callee[..callee.find(call.name.as_str()).unwrap_or(0)]
}

/// `AscendC::` where names have to be qualified in this file.
pub(crate) fn scope(file: &SyntaxFile) -> &'static str {
    if file.text().contains("using namespace AscendC") { "" } else { "AscendC::" }
}

/// The object of a member call by its own name: `gm` of `this->gm.GetValue(i)`, empty for a free function. A part of one is no name.
pub(crate) fn object_name(call: &Call) -> &str {
    call.object.as_deref().map_or("", |object| object.strip_prefix("this->").unwrap_or(object))
}

/// The functions of a kernel with their files.
pub(crate) fn functions_of<'a>(context: &'a Context, kernel: &'a Kernel) -> Vec<(&'a SyntaxFile, &'a Function)> {
    let known = kernel.functions.iter();
    known
        .filter_map(|(name, index)| {
            let file = context.forest.get(name)?;
            Some((file, file.functions().get(*index)?))
        })
        .collect()
}

/// Classes of a name, with their files: a template, and what is written for some of its arguments.
pub(crate) fn classes_called<'a>(context: &'a Context, name: &str) -> Vec<(&'a SyntaxFile, &'a Class)> {
    let of =
        |file: &'a SyntaxFile| file.classes().iter().filter(|class| class.name == name).map(move |class| (file, class));
    context.forest.iter().flat_map(of).collect()
}

/// Whether statements are all that a block holds.
pub(crate) fn is_all_of(file: &SyntaxFile, statements: &Range<usize>, block: &Range<usize>) -> bool {
    squash(file.slice(block)) == format!("{{{}}}", squash(file.slice(statements)))
}

/// All functions with their tensors and kernel.
pub(crate) fn functions(context: &Context) -> Vec<(&SyntaxFile, &Function, &Kernel, Arc<TensorFacts>)> {
    let mut found = Vec::new();
    for file in context.forest.iter() {
        for function in file.functions() {
            let name = function.class.as_deref().unwrap_or(&function.name);
            if let Some(kernel) = context.facts.kernels.get(name) {
                found.push((file, function, kernel, context.functions.tensors(file, function)));
            }
        }
    }
    found
}

/// A vector call in count form that is a statement of its own.
#[derive(Clone, Debug)]
pub(crate) struct VectorCall<'a> {
    pub(crate) call: &'a Call,
    pub(crate) statement: Range<usize>,
    pub(crate) name: &'a str,
    pub(crate) destination: &'a str,
    pub(crate) sources: Vec<&'a str>,
    pub(crate) scalar: Option<&'a str>,
    pub(crate) count: &'a str,
}

/// Takes a vector call apart; `Duplicate` has no source and a scalar. Only plain tensors as operands.
pub(crate) fn vector_call<'a>(file: &'a SyntaxFile, call: &'a Call, tensors: &TensorFacts) -> Option<VectorCall<'a>> {
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
pub(crate) fn vector_calls<'a>(
    file: &'a SyntaxFile,
    function: &Function,
    tensors: &TensorFacts,
) -> Vec<VectorCall<'a>> {
    file.calls_in(function.body.clone()).filter_map(|call| vector_call(file, call, tensors)).collect()
}

/// The block that a statement stands in directly.
pub(crate) fn block_of(file: &SyntaxFile, statement: &Range<usize>) -> Option<Range<usize>> {
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
pub(crate) fn words(text: &str) -> Vec<&str> {
    pieces(text).into_iter().filter(|token| token.kind == PieceKind::Word).map(|token| &text[token.span]).collect()
}

/// Whether two statements stand directly in the same block, so that both run or, but for an early exit in between, neither.
pub(crate) fn same_block(file: &SyntaxFile, left: &Range<usize>, right: &Range<usize>) -> bool {
    block_of(file, left).is_some_and(|block| block_of(file, right) == Some(block))
}

/// A function with what is known around it.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    pub(crate) context: &'a Context,
    pub(crate) file: &'a SyntaxFile,
    pub(crate) function: &'a Function,
    pub(crate) kernel: &'a Kernel,
    pub(crate) tensors: &'a TensorFacts,
}

/// Scratch tensors that the function declares and does not use, of the given element type, in buffers of their own.
pub(crate) fn unused_scratch<'a>(tensors: &'a TensorFacts, element: &str) -> Vec<&'a str> {
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

/// Whether the element type is floating point; `None` for a template parameter of unknown meaning.
pub(crate) fn is_float(element: &str) -> Option<bool> {
    match element {
        "half" | "float" | "float16_t" | "float32_t" => Some(true),
        _ if source::facts::fixed_type_bytes(element).is_some() => Some(false),
        _ => None,
    }
}

/// A name, maybe of a member.
pub(crate) fn is_name(text: &str) -> bool {
    let text = text.replace("->", ".");
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
}
