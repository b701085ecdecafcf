//! Programs that call an operator through AscendCL: shapes, dtypes, values and attributes as they stand in the text.
//!
//! The text is read and not run: declarations with literal values are remembered in their order, a tensor is what a call
//! with `Create..Tensor` in its name makes of a known shape, and the call of interest is the one whose name ends in
//! `GetWorkspaceSize`. Documentation holds the same programs between fences.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::call::{Argument, Call, CallTensor};
use super::{Origin, elements};
use crate::project::is_other_architecture;
use crate::source::tunable::lexer::{Kind, Tokens};

/// Texts that are read of one operator.
const FILES: usize = 12;
/// A text that is larger is no example.
const LARGEST_BYTES: u64 = 256 << 10;

/// Calls in the programs and documents of an operator's directory.
pub(super) fn calls(directory: &Path) -> Vec<Call> {
    let mut result: Vec<Call> = Vec::new();
    for path in texts(directory).into_iter().take(FILES) {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let place = path.strip_prefix(directory).unwrap_or(&path).display().to_string();
        let text = if path.extension().is_some_and(|ending| ending == "md") { fenced(&text) } else { text };
        for call in calls_in(&text, &place) {
            if !result.iter().any(|known| known.arguments == call.arguments) {
                result.push(call);
            }
        }
    }
    result
}

/// Programs before documents.
fn texts(directory: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = WalkDir::new(directory)
        .max_depth(7)
        .into_iter()
        .filter_entry(|entry| {
            let name = entry.file_name().to_string_lossy();
            let skipped = name.starts_with('.') || matches!(name.as_ref(), "op_host" | "op_kernel" | "target" | "ut");
            entry.depth() == 0 || !(entry.file_type().is_dir() && skipped)
        })
        .flatten()
        .filter(|entry| entry.file_type().is_file() && entry.metadata().is_ok_and(|data| data.len() <= LARGEST_BYTES))
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|ending| ending == "cpp" || ending == "md"))
        .filter(|path| !is_other_architecture(&path.strip_prefix(directory).unwrap_or(path).to_string_lossy()))
        .collect();
    found.sort_by_key(|path| (path.extension().is_some_and(|ending| ending == "md"), path.clone()));
    found
}

/// The lines between fences, on the lines where they stand.
fn fenced(text: &str) -> String {
    let mut inside = false;
    let mut result = String::with_capacity(text.len());
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if inside {
            result.push_str(line);
        }
        result.push('\n');
    }
    result
}

/// What a name stands for.
#[derive(Clone, Debug)]
enum Known {
    Numbers(Vec<f64>),
    Number(f64),
    Bool(bool),
    Text(String),
    Dtype(String),
    Format(String),
    Tensor(CallTensor),
    Tensors(Vec<CallTensor>),
    Nothing,
}

/// Calls of one program.
pub(super) fn calls_in(text: &str, place: &str) -> Vec<Call> {
    if !text.contains("GetWorkspaceSize") && !text.contains("AddInputTensorDesc") {
        return Vec::new();
    }
    let tokens = Tokens::of(text);
    let mut reader = Reader { tokens: &tokens, known: BTreeMap::new() };
    let line = |position: usize| {
        let start = tokens.tokens.get(position).map_or(0, |token| token.span.start);
        text[..start].matches('\n').count() + 1
    };
    let mut calls = Vec::new();
    let (mut described, mut outputs, mut described_at) = (Vec::new(), Vec::new(), 0);
    for position in 0..tokens.tokens.len() {
        let word = tokens.get(position);
        if tokens.kind(position) != Some(Kind::Identifier) {
            continue;
        }
        if word.ends_with("GetWorkspaceSize") && tokens.get(position + 1) == "(" {
            let Some(arguments) = tokens.arguments(position + 1) else { continue };
            let arguments: Vec<(String, Argument)> = arguments
                .into_iter()
                .filter(|range| !matches!(reader.name(range.clone()).as_str(), "workspaceSize" | "executor"))
                .map(|range| (reader.name(range.clone()), reader.argument(range)))
                .collect();
            // A declaration or a wrapper has names of which nothing is known.
            if arguments.iter().any(|(_, argument)| matches!(argument, Argument::Tensor(_) | Argument::Tensors(_))) {
                let place = format!("{place}:{}", line(position));
                calls.push(Call { origin: Origin::Example, place, arguments, outputs: None, outputs_last: true });
            }
        } else if matches!(word, "AddInputTensorDesc" | "AddOutputTensorDesc") && tokens.get(position + 1) == "(" {
            let Some(tensor) = tokens.arguments(position + 1).and_then(|list| reader.tensor(&list)) else { continue };
            if word == "AddInputTensorDesc" {
                described_at = if described.is_empty() { position } else { described_at };
                described.push((String::new(), Argument::Tensor(tensor)));
            } else {
                outputs.push(tensor);
            }
        } else {
            reader.declaration(position);
            reader.creation(position);
        }
    }
    if !described.is_empty() {
        calls.push(Call {
            origin: Origin::Example,
            place: format!("{place}:{}", line(described_at)),
            arguments: described,
            outputs: Some(outputs),
            outputs_last: false,
        });
    }
    calls
}

struct Reader<'a> {
    tokens: &'a Tokens<'a>,
    known: BTreeMap<String, Known>,
}

impl Reader<'_> {
    /// `TYPE NAME = ..;`, `TYPE NAME{..}`, `TYPE NAME(..)`, `TYPE NAME[] = {..}`: what it says about the name.
    fn declaration(&mut self, position: usize) {
        let tokens = self.tokens;
        let name = tokens.get(position);
        let before = tokens.get(position.wrapping_sub(1));
        let is_type =
            tokens.kind(position.wrapping_sub(1)) == Some(Kind::Identifier) || matches!(before, ">" | "*" | "&");
        let assigned = matches!(before, ";" | "{" | "}") && tokens.get(position + 1) == "=";
        if !(is_type || assigned) || matches!(before, "return" | "if" | "while") {
            return;
        }
        let start = tokens.statement_start(position);
        let types: Vec<&str> = (start..position).map(|at| tokens.get(at)).collect();
        // `NAME[] =` and `NAME[2] =`
        let mut after = position + 1;
        if tokens.get(after) == "[" {
            let Some(close) = tokens.closing(after) else { return };
            after = close + 1;
        }
        let value = match tokens.get(after) {
            "=" if tokens.get(after + 1) == "{" => self.braces(after + 1),
            "=" => self.value(after + 1..tokens.expression_end(after + 1, true)),
            "{" => self.braces(after),
            "(" if types.contains(&"vector") => self.constructed(after),
            _ => None,
        };
        if let Some(value) = value {
            self.known.insert(name.to_owned(), value);
        } else if types.contains(&"aclTensor") {
            self.known.remove(name);
        }
    }

    /// `NAME = nullptr` stays unknown until something is made of it; `CreateAclTensor(data, shape, &address, dtype, &NAME)` and
    /// `NAME = aclCreateTensor(shape.data(), ..)` make a tensor.
    fn creation(&mut self, position: usize) {
        let tokens = self.tokens;
        let word = tokens.get(position);
        let mut open = position + 1;
        if tokens.get(open) == "<" {
            let Some(close) = tokens.closing_angle(open) else { return };
            open = close + 1;
        }
        if tokens.get(open) != "(" {
            return;
        }
        let lower = word.to_ascii_lowercase();
        if !lower.contains("create") {
            return;
        }
        let Some(arguments) = tokens.arguments(open) else { return };
        let start = tokens.statement_start(position);
        let assigned =
            (start..position).rev().find(|&at| tokens.get(at) == "=").map(|at| tokens.get(at - 1).to_owned());
        let made = if lower.contains("tensorlist") {
            arguments.first().and_then(|range| match self.known.get(&self.name(range.clone())) {
                Some(Known::Tensors(list)) => Some(Known::Tensors(list.clone())),
                _ => self.tensors(&arguments).map(Known::Tensors),
            })
        } else if lower.contains("tensor") {
            self.tensor(&arguments).map(Known::Tensor)
        } else if lower.contains("scalar") || lower.contains("array") {
            arguments.iter().find_map(|range| match self.known.get(&self.name(range.clone())) {
                Some(known @ (Known::Numbers(_) | Known::Number(_) | Known::Bool(_))) => Some(known.clone()),
                _ => None,
            })
        } else {
            None
        };
        let Some(made) = made else { return };
        let last =
            arguments.iter().rev().find(|range| tokens.get(range.start) == "&").map(|range| self.name(range.clone()));
        // A status is no tensor: where the address of a name is given, that name is meant.
        let target = match (last, assigned) {
            (Some(last), _) if matches!(made, Known::Tensor(_) | Known::Tensors(_)) => Some(last),
            (_, assigned) => assigned,
        };
        self.known.extend(target.map(|name| (name, made)));
    }

    /// The tensor that arguments with a shape and a dtype describe.
    fn tensor(&self, arguments: &[Range<usize>]) -> Option<CallTensor> {
        let dtype = arguments.iter().find_map(|range| self.dtype(range.clone()))?;
        let lists: Vec<(usize, Vec<f64>)> = arguments
            .iter()
            .enumerate()
            .filter_map(|(index, range)| match self.known.get(&self.name(range.clone())) {
                Some(Known::Numbers(values)) => Some((index, values.clone())),
                _ if self.tokens.get(range.start) == "{" => match self.braces(range.start) {
                    Some(Known::Numbers(values)) => Some((index, values)),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        // Data come first where both are given; without known data the only list is the shape.
        let named_shape = arguments
            .iter()
            .enumerate()
            .find(|(_, range)| self.name((*range).clone()).to_ascii_lowercase().contains("shape"));
        let shape_at = match named_shape {
            Some((index, _)) => index,
            None => lists.get(usize::from(lists.first().is_some_and(|(index, _)| *index == 0) && lists.len() > 1))?.0,
        };
        let (_, shape) = lists.iter().find(|(index, _)| *index == shape_at)?;
        let shape: Vec<u64> = shape
            .iter()
            .map(|&size| (size >= 0.0 && size.fract() == 0.0).then_some(size as u64))
            .collect::<Option<Vec<u64>>>()?;
        let values = lists.iter().find(|(index, _)| *index < shape_at).map(|(_, values)| values.clone());
        let count = elements(&shape);
        // Halves are written as bit patterns, and long lists are of no use to anybody.
        let whole = dtype.starts_with("int") || dtype.starts_with("uint") || dtype == "bool";
        let values = values
            .filter(|values| whole && values.len() <= 1024 && (values.len() as u64 == count || values.len() == 1));
        let format = arguments.iter().find_map(|range| self.format(range.clone())).unwrap_or_default();
        Some(CallTensor { dtype, shape, format, values: values.unwrap_or_default(), range: None })
    }

    /// Names of tensors among the arguments.
    fn tensors(&self, arguments: &[Range<usize>]) -> Option<Vec<CallTensor>> {
        let list: Vec<CallTensor> = arguments
            .iter()
            .filter_map(|range| match self.known.get(&self.name(range.clone())) {
                Some(Known::Tensor(tensor)) => Some(tensor.clone()),
                _ => None,
            })
            .collect();
        (!list.is_empty()).then_some(list)
    }

    /// The name that an argument is about: `&x`, `x.data()`, `x`.
    fn name(&self, range: Range<usize>) -> String {
        let first = range.clone().find(|&at| self.tokens.kind(at) == Some(Kind::Identifier));
        first.map_or_else(String::new, |at| self.tokens.get(at).to_owned())
    }

    fn dtype(&self, range: Range<usize>) -> Option<String> {
        range.clone().find_map(|at| dtype_of(self.tokens.get(at))).or_else(|| {
            match (range.len(), self.known.get(self.tokens.get(range.start))) {
                (1, Some(Known::Dtype(dtype))) => Some(dtype.clone()),
                _ => None,
            }
        })
    }

    fn format(&self, range: Range<usize>) -> Option<String> {
        let written = range.clone().find_map(|at| self.tokens.get(at).strip_prefix("ACL_FORMAT_"));
        written.map(str::to_owned).or_else(|| match self.known.get(self.tokens.get(range.start)) {
            Some(Known::Format(format)) => Some(format.clone()),
            _ => None,
        })
    }

    /// An argument of the call itself.
    fn argument(&self, range: Range<usize>) -> Argument {
        match self.value(range) {
            Some(Known::Numbers(values)) => Argument::Numbers(values),
            Some(Known::Number(value)) => Argument::Number(value),
            Some(Known::Bool(value)) => Argument::Bool(value),
            Some(Known::Text(text)) => Argument::Text(text),
            Some(Known::Tensor(tensor)) => Argument::Tensor(tensor),
            Some(Known::Tensors(list)) => Argument::Tensors(list),
            Some(Known::Nothing) => Argument::Nothing,
            Some(Known::Dtype(_) | Known::Format(_)) | None => Argument::Unknown,
        }
    }

    /// Value of an expression: a literal, a name, or arithmetic on both.
    fn value(&self, range: Range<usize>) -> Option<Known> {
        let words: Vec<&str> = range.clone().map(|at| self.tokens.get(at)).collect();
        match words.as_slice() {
            ["nullptr" | "NULL"] => return Some(Known::Nothing),
            ["true"] => return Some(Known::Bool(true)),
            ["false"] => return Some(Known::Bool(false)),
            [word] if word.starts_with('"') => return Some(Known::Text(word.trim_matches('"').to_owned())),
            [word] if self.known.contains_key(*word) => return self.known.get(*word).cloned(),
            // `const_cast<char*>(name)`, `name.data()`, `name.c_str()`, `&name`
            _ => {}
        }
        if let Some(dtype) = self.dtype(range.clone()) {
            return Some(Known::Dtype(dtype));
        }
        if let Some(format) = self.format(range.clone()) {
            return Some(Known::Format(format));
        }
        if let Some(number) = self.number(range.clone()) {
            return Some(Known::Number(number));
        }
        let known = range.clone().filter_map(|at| self.known.get(self.tokens.get(at))).next();
        let is_plain = words.contains(&"const_cast") || words.contains(&"data") || words.contains(&"c_str");
        known.filter(|_| is_plain || words.len() <= 2).cloned()
    }

    fn number(&self, range: Range<usize>) -> Option<f64> {
        let mut sum = Sum { reader: self, at: range.start, end: range.end };
        let value = sum.sum()?;
        (sum.at == range.end).then_some(value)
    }

    /// `{1, 2}`, and lists of tensors.
    fn braces(&self, open: usize) -> Option<Known> {
        let items = self.tokens.arguments(open)?;
        if let Some(list) = self.tensors(&items).filter(|list| list.len() == items.len()) {
            return Some(Known::Tensors(list));
        }
        let numbers = items.into_iter().map(|range| match self.value(range)? {
            Known::Number(value) => Some(value),
            Known::Bool(value) => Some(f64::from(u8::from(value))),
            _ => None,
        });
        numbers.collect::<Option<Vec<f64>>>().map(Known::Numbers)
    }

    /// `(count, value)` and `({..})`.
    fn constructed(&self, open: usize) -> Option<Known> {
        let items = self.tokens.arguments(open)?;
        match items.as_slice() {
            [one] if self.tokens.get(one.start) == "{" => self.braces(one.start),
            [_, value] => self.number(value.clone()).map(|value| Known::Numbers(vec![value])),
            _ => None,
        }
    }
}

/// Arithmetic over numbers and known names.
struct Sum<'a, 'b> {
    reader: &'a Reader<'b>,
    at: usize,
    end: usize,
}

impl Sum<'_, '_> {
    fn word(&self) -> &str {
        if self.at < self.end { self.reader.tokens.get(self.at) } else { "" }
    }

    fn sum(&mut self) -> Option<f64> {
        let mut value = self.product()?;
        loop {
            match self.word() {
                "+" => {
                    self.at += 1;
                    value += self.product()?;
                }
                "-" => {
                    self.at += 1;
                    value -= self.product()?;
                }
                _ => return Some(value),
            }
        }
    }

    fn product(&mut self) -> Option<f64> {
        let mut value = self.factor()?;
        loop {
            match self.word() {
                "*" => {
                    self.at += 1;
                    value *= self.factor()?;
                }
                "/" => {
                    self.at += 1;
                    let divisor = self.factor()?;
                    // Whole numbers divide as C++ does.
                    value = if value.fract() == 0.0 && divisor.fract() == 0.0 {
                        (divisor != 0.0).then(|| (value / divisor).trunc())?
                    } else {
                        value / divisor
                    };
                }
                _ => return Some(value),
            }
        }
    }

    fn factor(&mut self) -> Option<f64> {
        let word = self.word().to_owned();
        self.at += 1;
        match word.as_str() {
            "-" => self.factor().map(|value| -value),
            "(" => {
                let value = self.sum()?;
                (self.word() == ")").then(|| self.at += 1)?;
                Some(value)
            }
            "static_cast" if self.word() == "<" => {
                self.at = self.reader.tokens.closing_angle(self.at)? + 1;
                self.factor()
            }
            _ => match self.reader.known.get(&word) {
                Some(Known::Number(value)) => Some(*value),
                Some(_) => None,
                None => literal(&word),
            },
        }
    }
}

/// A number of C++: `0x3C00`, `1e-5f`, `10UL`.
fn literal(word: &str) -> Option<f64> {
    let plain = word.replace('\'', "");
    if let Some(digits) = plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X")) {
        return i64::from_str_radix(digits.trim_end_matches(['u', 'U', 'l', 'L']), 16).ok().map(|value| value as f64);
    }
    let plain = plain.trim_end_matches(['u', 'U', 'l', 'L', 'f', 'F']);
    plain.starts_with(|first: char| first.is_ascii_digit() || first == '.').then(|| plain.parse().ok())?
}

/// Dtype of an AscendCL enumerator.
fn dtype_of(word: &str) -> Option<String> {
    let name = word.strip_prefix("ACL_")?;
    Some(
        match name {
            "FLOAT" => "float32",
            "FLOAT16" => "float16",
            "BF16" => "bfloat16",
            "DOUBLE" => "float64",
            "BOOL" => "bool",
            "INT4" => "DT_INT4",
            "INT8" => "int8",
            "UINT8" => "uint8",
            "INT16" => "int16",
            "UINT16" => "uint16",
            "INT32" => "int32",
            "UINT32" => "uint32",
            "INT64" => "int64",
            "UINT64" => "uint64",
            "COMPLEX64" => "complex64",
            _ => return None,
        }
        .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::{DescribedOp, call::candidates};
    use super::*;

    const PROGRAM: &str = r#"
int CreateAclTensor(const std::vector<T>& hostData, const std::vector<int64_t>& shape, void** address,
                    aclDataType dataType, aclTensor** tensor);
int main()
{
    int64_t rows = 4;
    std::vector<int64_t> xShape = {rows, 8 * 2};
    std::vector<int64_t> idxShape = {2};
    aclTensor* x = nullptr;
    aclTensor* idx = nullptr;
    std::vector<float> xHostData(64, 1.0f);
    std::vector<int32_t> idxHostData = {3, 1};
    auto ret = CreateAclTensor(xHostData, xShape, &xDeviceAddr, aclDataType::ACL_FLOAT16, &x);
    ret = CreateAclTensor(idxHostData, idxShape, &idxDeviceAddr, ACL_INT32, &idx);
    ret = CreateAclTensor(outHostData, xShape, &outDeviceAddr, ACL_FLOAT16, &out);
    float scale = 0.5f;
    ret = aclnnTakeGetWorkspaceSize(x, nullptr, idx, scale, true, out, &workspaceSize, &executor);
}
"#;

    #[test]
    fn a_program_gives_shapes_values_and_attributes() {
        let tensor = |name: &str, param: &str, dtypes: &[&str]| serde_json::json!({ "name": name, "param": param, "dtypes": dtypes, "formats": [] });
        let op: DescribedOp = serde_json::from_value(serde_json::json!({
            "type": "Take",
            "inputs": [
                tensor("x", "required", &["float32", "float16"]), tensor("bias", "optional", &["float32", "float16"]),
                tensor("indices", "required", &["int32", "int32"]),
            ],
            "outputs": [tensor("y", "required", &["float32", "float16"])],
            "attrs": [
                { "name": "scale", "type": "float", "required": true }, { "name": "keep", "type": "bool", "required": true },
            ],
        }))
        .unwrap();
        let calls = calls_in(PROGRAM, "examples/test.cpp");
        assert_eq!(calls.len(), 1, "a declaration is no call");
        let found = candidates(&op, &calls[0]);
        let case = &found[0];
        assert_eq!(case.place, "examples/test.cpp:17");
        let inputs: Vec<_> = case.inputs.iter().map(|input| (input.name.as_str(), input.dtype.as_str())).collect();
        assert_eq!(inputs, [("x", "float16"), ("indices", "int32")]);
        assert_eq!(case.inputs[0].shape.as_deref(), Some([4, 16].as_slice()));
        assert_eq!(case.inputs[1].values, [3.0, 1.0]);
        assert_eq!((case.outputs[0].dtype.as_str(), &case.output_shapes), ("float16", &vec![vec![4, 16]]));
        assert_eq!(case.attributes[0].value, "0.5");
    }

    #[test]
    fn a_list_belongs_to_the_dynamic_input_whatever_the_order() {
        let program = r#"
int main()
{
    std::vector<int64_t> shape = {8, 32};
    float alphaValue = 1.5f;
    CreateAclTensor(data, shape, &address, ACL_FLOAT, &a);
    CreateAclTensor(data, shape, &address, ACL_FLOAT, &b);
    CreateAclTensor(data, shape, &address, ACL_FLOAT, &c);
    CreateAclTensor(data, shape, &address, ACL_FLOAT, &d);
    alpha = aclCreateScalar(&alphaValue, ACL_FLOAT);
    std::vector<aclTensor*> in{a, b};
    auto listIn = aclCreateTensorList(in.data(), 2);
    std::vector<aclTensor*> out{c, d};
    auto listOut = aclCreateTensorList(out.data(), 2);
    aclnnPowGetWorkspaceSize(alpha, listIn, listOut, &workspaceSize, &executor);
}
"#;
        let tensor =
            |name: &str, param: &str| serde_json::json!({ "name": name, "param": param, "dtypes": ["float32"] });
        let op: DescribedOp = serde_json::from_value(serde_json::json!({
            "type": "Pow",
            "inputs": [tensor("scalar", "required"), tensor("x", "dynamic")],
            "outputs": [tensor("y", "dynamic")],
        }))
        .unwrap();
        let case = candidates(&op, &calls_in(program, "main.cpp")[0]).remove(0);
        let inputs: Vec<_> =
            case.inputs.iter().map(|input| (input.name.as_str(), input.shape.clone().unwrap())).collect();
        assert_eq!(inputs, [("scalar", vec![1]), ("x", vec![8, 32]), ("x", vec![8, 32])]);
        assert_eq!(case.inputs[0].values, [1.5]);
        assert_eq!(case.outputs.len(), 2);
    }
}
