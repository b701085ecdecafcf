//! What a copy moves: the fields of its parameter struct, and the elements behind a length in bytes.

use std::ops::Range;

use crate::analysis::code::{squash, words};
use source::facts::fixed_type_bytes;
use source::lex::{PieceKind, pieces};
use source::parse::{Call, SyntaxFile};

/// The fields of a parameter struct: written in place, or initialised at the declaration of a local variable.
pub(crate) fn fields_of(file: &SyntaxFile, call: &Call, index: usize) -> Result<Vec<String>, String> {
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
    // Broken text may have it in more arguments than places.
    let assigned =
        mentions.checked_sub(uses + 1).ok_or_else(|| format!("{text} is used in a way that is not understood"))?;
    assigned_fields(file, &function.body, local.span.end..call.span.start, text, assigned)
}

/// `params.blockCount = 1; params.blockLen = ..;` in a straight line before the call.
fn assigned_fields(
    file: &SyntaxFile,
    body: &Range<usize>,
    between: Range<usize>,
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
pub(crate) fn braced(text: &str) -> Option<Vec<String>> {
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
pub(crate) fn without_size(length: &str, element: &str) -> Option<String> {
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
    pieces(&without_arrows).iter().filter(|token| token.kind == PieceKind::Punctuation).all(|token| {
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
