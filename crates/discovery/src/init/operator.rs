//! Operator definitions in the text: classes derived from `OpDef`, or names in registrations.

use manifest::Attribute;
use source::SourceTree;
use source::tunable::lexer::Tokens;

use super::FoundTensor;
use crate::cases::{DescribedOp, DescribedTensor};

/// Inputs, outputs and attributes of an operator.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Definition {
    pub inputs: Vec<FoundTensor>,
    pub outputs: Vec<FoundTensor>,
    pub attributes: Vec<Attribute>,
}

/// Operator types in order of their appearance: definitions first, then registrations of tiling.
pub(super) fn operator_names(tree: &SourceTree, sources: &[String]) -> Vec<String> {
    let mut defined: Vec<String> = Vec::new();
    let mut registered: Vec<String> = Vec::new();
    for text in sources.iter().filter_map(|file| tree.text(file)) {
        let tokens = Tokens::of(text);
        for position in 0..tokens.tokens.len() {
            let after = |offset: usize| tokens.get(position + offset).to_owned();
            match tokens.get(position) {
                "class" | "struct" if after(2) == ":" => {
                    let base = if after(3) == "public" { after(4) } else { after(3) };
                    if base == "OpDef" {
                        defined.push(after(1));
                    }
                }
                "OP_ADD" if after(1) == "(" => defined.push(after(2)),
                "IMPL_OP_OPTILING" | "REGISTER_TILING_DATA_CLASS" if after(1) == "(" => registered.push(after(2)),
                _ => {}
            }
        }
    }
    let mut names: Vec<String> = Vec::new();
    for name in defined.into_iter().chain(registered) {
        // `REGISTER_TILING_DATA_CLASS(Op_1001, ..)` registers the data of one tiling key.
        let keyed = name.rsplit_once('_').is_some_and(|(_, key)| key.bytes().all(|byte| byte.is_ascii_digit()));
        if !keyed && !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The definition of an operator as the text has it; empty where the text has none.
pub(super) fn definition(tree: &SourceTree, sources: &[String], operator: &str) -> Definition {
    for text in sources.iter().filter_map(|file| tree.text(file)) {
        let tokens = Tokens::of(text);
        for position in 0..tokens.tokens.len() {
            let is_class = matches!(tokens.get(position), "class" | "struct") && tokens.get(position + 1) == operator;
            if !is_class || tokens.get(position + 2) != ":" {
                continue;
            }
            let Some(open) = (position..tokens.tokens.len()).find(|at| tokens.get(*at) == "{") else { continue };
            let Some(close) = tokens.closing(open) else { continue };
            return read_class(&tokens, open, close);
        }
    }
    Definition::default()
}

fn read_class(tokens: &Tokens<'_>, open: usize, close: usize) -> Definition {
    let mut definition = Definition::default();
    let mut position = open;
    while position < close {
        let word = tokens.get(position);
        if !matches!(word, "Input" | "Output" | "Attr") || tokens.get(position + 1) != "(" {
            position += 1;
            continue;
        }
        let name = tokens.get(position + 2).trim_matches('"').to_owned();
        let end = chain_end(tokens, position, close);
        if word == "Attr" {
            definition.attributes.extend(attribute(tokens, name, position, end));
        } else {
            let tensor = tensor(tokens, name, position, end);
            let list = if word == "Input" { &mut definition.inputs } else { &mut definition.outputs };
            // Per-target configurations repeat the tensors; the first mention is the operator's own.
            if !list.iter().any(|known| known.name == tensor.name) {
                list.push(tensor);
            }
        }
        position = end;
    }
    definition
}

/// End of the call chain: the `;` after it.
fn chain_end(tokens: &Tokens<'_>, start: usize, limit: usize) -> usize {
    (start..limit).find(|at| tokens.get(*at) == ";").unwrap_or(limit)
}

/// Tokens of the arguments of a method in a chain.
fn method<'a>(tokens: &Tokens<'a>, name: &str, start: usize, end: usize) -> Option<Vec<&'a str>> {
    let at = (start..end).find(|at| tokens.get(*at) == name && tokens.get(at + 1) == "(")?;
    let close = tokens.closing(at + 1)?;
    Some((at + 2..close).map(|position| tokens.get(position)).collect())
}

fn tensor(tokens: &Tokens<'_>, name: String, start: usize, end: usize) -> FoundTensor {
    let listed = method(tokens, "DataType", start, end).or_else(|| method(tokens, "DataTypeList", start, end));
    let dtypes = listed.unwrap_or_default().into_iter().filter_map(dtype).map(str::to_owned).collect();
    let optional = method(tokens, "ParamType", start, end).is_some_and(|words| words.contains(&"OPTIONAL"));
    FoundTensor { name, dtypes, optional }
}

fn attribute(tokens: &Tokens<'_>, name: String, start: usize, end: usize) -> Option<Attribute> {
    let kinds = [
        ("Int", "int", "1"),
        ("Float", "float", "1.0"),
        ("Bool", "bool", "false"),
        ("String", "string", ""),
        ("ListInt", "list_int", ""),
        ("ListFloat", "list_float", ""),
    ];
    for (call, kind, unset) in kinds {
        let Some(words) = method(tokens, call, start, end) else { continue };
        let joined = words.concat();
        let trimmed = joined.trim_matches(['{', '}', '"']);
        // `1e-5f` is not a number in TOML; a name instead of a literal is unknown here.
        let numbers = trimmed.split(',').map(|item| item.trim_end_matches(['f', 'F', 'U', 'L']));
        let numbers: Vec<&str> = numbers.filter(|item| !item.is_empty()).collect();
        let value = match kind {
            "int" | "list_int" if numbers.iter().all(|item| item.parse::<i64>().is_ok()) => numbers.join(","),
            "float" | "list_float" if numbers.iter().all(|item| item.parse::<f64>().is_ok()) => numbers.join(","),
            "bool" if matches!(trimmed, "true" | "false") => trimmed.to_owned(),
            "string" => trimmed.to_owned(),
            _ => unset.to_owned(),
        };
        let value = if value.is_empty() { unset.to_owned() } else { value };
        return Some(Attribute { name, kind: kind.to_owned(), value });
    }
    None
}

/// Dtype name of an enumerator such as `DT_FLOAT16`; `None` for other words.
pub(super) fn dtype(word: &str) -> Option<&'static str> {
    Some(match word {
        "DT_FLOAT16" => "float16",
        "DT_FLOAT" => "float32",
        "DT_BF16" => "bfloat16",
        "DT_INT8" => "int8",
        "DT_UINT8" => "uint8",
        "DT_INT16" => "int16",
        "DT_UINT16" => "uint16",
        "DT_INT32" => "int32",
        "DT_UINT32" => "uint32",
        "DT_INT64" => "int64",
        "DT_UINT64" => "uint64",
        "DT_BOOL" => "bool",
        "DT_DOUBLE" => "float64",
        "DT_INT4" => "int4",
        "DT_COMPLEX64" => "complex64",
        _ => return None,
    })
}

/// The definition that the runner reports of a compiled operator.
pub(super) fn described(op: &DescribedOp) -> Definition {
    let tensors = |list: &[DescribedTensor]| {
        let found = list.iter().map(|tensor| FoundTensor {
            name: tensor.name.clone(),
            dtypes: tensor.dtypes.clone(),
            optional: tensor.param.eq_ignore_ascii_case("optional"),
        });
        found.collect()
    };
    let attributes = op.attrs.iter().filter_map(|attribute| {
        let kind = attribute.kind.to_ascii_lowercase();
        let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let value = match &attribute.default {
            serde_json::Value::Null => return None,
            serde_json::Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(","),
            value => text(value),
        };
        Some(Attribute { name: attribute.name.clone(), kind, value })
    });
    Definition { inputs: tensors(&op.inputs), outputs: tensors(&op.outputs), attributes: attributes.collect() }
}
