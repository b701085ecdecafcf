//! D05: `DataCopyPad` of whole 32-byte blocks is a plain `DataCopy`.

use super::code::{edit, scope, squash, words};
use super::context::{Candidate, Context, Counter, Family, Motif};
use source::Edit;
use source::facts::{Kernel, base_name, fixed_type_bytes};
use source::parse::{Call, SyntaxFile, TokenKind, lex};

/// Bytes of a block in the unified buffer.
const BLOCK_BYTES: i64 = 32;

/// The motif.
pub struct PlainCopy;

impl Motif for PlainCopy {
    fn id(&self) -> &'static str {
        "D05"
    }
    fn title(&self) -> &'static str {
        "DataCopyPad to DataCopy"
    }
    fn family(&self) -> Family {
        Family::DataMovement
    }
    fn precondition(&self) -> &'static str {
        "one block, no gaps, no padding; length = count * sizeof(element) and a multiple of 32 bytes, proved from constants and known values, else a \
         condition that a misaligned transfer would break"
    }
    fn cost(&self) -> &'static str {
        "lengths that are not a multiple of 32 bytes no longer work"
    }
    fn left_to_verifier(&self) -> &'static str {
        "multiple of 32 bytes, where it is not proved"
    }
    fn undoing(&self) -> &'static str {
        "Pad form (always safe)"
    }
    fn tunables(&self) -> &'static str {
        "closes tile lengths that are not whole blocks"
    }
    fn relieves(&self) -> &'static [Counter] {
        &[Counter::Mte2Us, Counter::Mte3Us, Counter::ScalarUs]
    }
    fn prior_gain(&self) -> f64 {
        1.01
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

/// The fields of a parameter struct: written in place, or initialised at the declaration of a local variable.
pub(super) fn fields_of(file: &SyntaxFile, call: &Call, index: usize) -> Result<Vec<String>, String> {
    let text = file.argument(call, index).ok_or("the parameters are missing")?;
    if let Some(fields) = braced(text) {
        return Ok(fields);
    }
    let function = file.enclosing_function(call.span.start).ok_or("the copy is not in a function")?;
    let mut declared =
        file.locals().iter().filter(|local| local.name == text && function.body.contains(&local.span.start));
    let (Some(local), None) = (declared.next(), declared.next()) else {
        return Err(format!("{text} is not one local variable"));
    };
    let mentions = words(file.slice(&function.body)).into_iter().filter(|word| *word == text).count();
    let uses = file
        .calls_in(function.body.clone())
        .flat_map(|call| &call.arguments)
        .filter(|argument| file.slice(argument) == text)
        .count();
    let value = local.value.as_ref().map(|value| file.slice(value)).unwrap_or_default();
    if let (Some(fields), true) = (braced(value), mentions == uses + 1) {
        return Ok(fields);
    }
    assigned_fields(file, &function.body, local.span.end..call.span.start, text, mentions - uses - 1)
}

/// `params.blockCount = 1; params.blockLen = ..;` in a straight line before the call.
fn assigned_fields(
    file: &SyntaxFile,
    body: &std::ops::Range<usize>,
    between: std::ops::Range<usize>,
    name: &str,
    expected: usize,
) -> Result<Vec<String>, String> {
    let unclear = || format!("{name} is not set in a way that can be read off");
    let mut fields: Vec<String> = vec![String::new(); 4];
    let mut seen = 0;
    for statement in file.slice(&between).split(';') {
        let statement = statement.trim();
        let Some(rest) = statement.strip_prefix(name).and_then(|rest| rest.strip_prefix('.')) else { continue };
        let (field, value) = rest.split_once('=').ok_or_else(unclear)?;
        let index = match field.trim() {
            "blockCount" => 0,
            "blockLen" => 1,
            "srcStride" => 2,
            "dstStride" => 3,
            "rsv" => continue,
            _ => return Err(unclear()),
        };
        fields[index] = value.trim().to_owned();
        seen += 1;
    }
    let straight = !file.slice(&between).contains(['{', '}']);
    let strides = fields[2..].iter_mut().all(|field| {
        if field.is_empty() {
            "0".clone_into(field);
        }
        true
    });
    if seen != expected
        || !straight
        || !strides
        || fields[0].is_empty()
        || fields[1].is_empty()
        || !body.contains(&between.start)
    {
        return Err(unclear());
    }
    Ok(fields)
}

/// Parts of `Type{a, b}`, `Type<T>{a, b}` or `{a, b}`.
pub(super) fn braced(text: &str) -> Option<Vec<String>> {
    let open = text.find('{')?;
    let inner = text.trim_end().strip_suffix('}')?.get(open + 1..)?;
    let mut parts = vec![String::new()];
    let (mut depth, mut before) = (0i32, ' ');
    for character in inner.chars() {
        let arrow = std::mem::replace(&mut before, character) == '-' && character == '>';
        match character {
            '>' if arrow => {}
            '(' | '{' | '[' | '<' => depth += 1,
            ')' | '}' | ']' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut()?.push(character);
    }
    Some(parts.into_iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect())
}

/// `n` of `n * sizeof(T)`, casts around it taken off. A type of the same size will do for `T`.
pub(super) fn without_size(length: &str, element: &str) -> Option<String> {
    let mut text = length.trim();
    while let Some(inner) = strip_cast(text) {
        text = inner;
    }
    let size_of = |text: &str| -> bool {
        let named = text.strip_prefix("sizeof(").and_then(|rest| rest.strip_suffix(')'));
        named.is_some_and(|named| {
            let bytes = fixed_type_bytes(named);
            named == element || (bytes.is_some() && bytes == fixed_type_bytes(element))
        })
    };
    // What stands before the last `*` is one value: `a / b * size` is `(a / b) * size`.
    let star = text.rfind('*')?;
    let (head, tail) = (text[..star].trim(), text[star + 1..].trim());
    if size_of(&squash(tail)) && is_product(head, true) {
        return Some(head.to_owned());
    }
    let star = text.find('*')?;
    let (head, tail) = (text[..star].trim(), text[star + 1..].trim());
    (size_of(&squash(head)) && is_product(tail, false)).then(|| tail.to_owned())
}

/// Whether the text is one factor or a product of factors, without any other operator outside parentheses; quotients may be
/// among them where asked for.
fn is_product(text: &str, quotients: bool) -> bool {
    let without_arrows = text.replace("->", ".");
    let mut depth = 0i32;
    lex(&without_arrows).iter().filter(|token| token.kind == TokenKind::Punctuation).all(|token| {
        let word = &without_arrows[token.span.clone()];
        depth += i32::from(word == "(") - i32::from(word == ")");
        depth > 0 || matches!(word, "*" | "." | ":" | "(" | ")") || (quotients && matches!(word, "/" | "%"))
    })
}

fn strip_cast(text: &str) -> Option<&str> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix("static_cast<") {
        let open = rest.find('(')?;
        let inner = rest[open + 1..].strip_suffix(')')?;
        return balanced(inner).then_some(inner);
    }
    if let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'))
        && balanced(inner)
    {
        return Some(inner);
    }
    let (cast, rest) = text.strip_prefix('(')?.split_once(')')?;
    (fixed_type_bytes(cast).is_some() && rest.trim_start().starts_with('(')).then_some(rest)
}

fn balanced(text: &str) -> bool {
    let mut depth = 0i32;
    text.chars().all(|character| {
        depth += i32::from(character == '(') - i32::from(character == ')');
        depth >= 0
    }) && depth == 0
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
