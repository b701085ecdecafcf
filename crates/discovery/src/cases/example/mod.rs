//! Programs that call an operator through AscendCL: shapes, dtypes, values and attributes as they stand in the text.
//!
//! The text is read and not run: declarations with literal values are remembered in their order, a tensor is what a call
//! with `Create..Tensor` in its name makes of a known shape, and the call of interest is the one whose name ends in
//! `GetWorkspaceSize`. Documentation holds the same programs between fences.

mod arithmetic;
mod known;
mod words;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::call::{Argument, Call, CallTensor};
use super::{Origin, elements};
use arithmetic::number;
use known::Known;
use source::arch::TARGET;
use source::tunable::lexer::{Kind, Tokens};
use words::dtype_of;

/// Texts that are read of one operator.
const FILES: usize = 12;
/// A text that is larger is no example.
const LARGEST_BYTES: u64 = 256 << 10;

/// Calls in the programs and documents of an operator's directory, those of the interface that is named after the operator
/// first: other interfaces with tensors of other ranks may end in the same operator.
pub(super) fn calls(directory: &Path, operator: &str) -> Vec<Call> {
    let mut result: Vec<(bool, Call)> = Vec::new();
    for path in texts(directory).into_iter().take(FILES) {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let place = path.strip_prefix(directory).unwrap_or(&path).display().to_string();
        let text = if path.extension().is_some_and(|ending| ending == "md") { fenced(&text) } else { text };
        for (interface, call) in calls_with_interface(&text, &place) {
            if !result.iter().any(|(_, known)| known.arguments == call.arguments) {
                result.push((is_named_after(&interface, operator), call));
            }
        }
    }
    result.sort_by_key(|(is_own, _)| !is_own);
    result.into_iter().map(|(_, call)| call).collect()
}

/// Whether `aclnnTakeV2GetWorkspaceSize` and the like are named after an operator `Take`.
fn is_named_after(interface: &str, operator: &str) -> bool {
    let plain = |name: &str| {
        let name = name.to_ascii_lowercase();
        let digits = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        digits.strip_suffix('v').unwrap_or(&name).to_owned()
    };
    let name = interface.strip_suffix("GetWorkspaceSize").unwrap_or(interface);
    let name = name.strip_prefix("aclnn").unwrap_or(name);
    plain(name.strip_prefix("Inplace").unwrap_or(name)) == plain(operator)
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
        .filter(|path| !TARGET.is_foreign(&path.strip_prefix(directory).unwrap_or(path).to_string_lossy()))
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

/// Calls of one program.
#[cfg(test)]
fn calls_in(text: &str, place: &str) -> Vec<Call> {
    calls_with_interface(text, place).into_iter().map(|(_, call)| call).collect()
}

/// Calls of one program with the names of their interfaces.
fn calls_with_interface(text: &str, place: &str) -> Vec<(String, Call)> {
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
                let call = Call { origin: Origin::Example, place, arguments, outputs: None, outputs_last: true };
                calls.push((word.to_owned(), call));
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
        let call = Call {
            origin: Origin::Example,
            place: format!("{place}:{}", line(described_at)),
            arguments: described,
            outputs: Some(outputs),
            outputs_last: false,
        };
        calls.push((String::new(), call));
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
                _ => self.tensors(&arguments).or_else(|| self.shaped(&arguments)).map(Known::Tensors),
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

    /// Tensors of one dtype, one for each shape in a list of shapes.
    fn shaped(&self, arguments: &[Range<usize>]) -> Option<Vec<CallTensor>> {
        let dtype = arguments.iter().find_map(|range| self.dtype(range.clone()))?;
        let shapes = arguments.iter().find_map(|range| match self.known.get(&self.name(range.clone())) {
            Some(Known::Lists(shapes)) => Some(shapes),
            _ => None,
        })?;
        let tensor = |shape: &Vec<f64>| CallTensor {
            dtype: dtype.clone(),
            shape: shape.iter().map(|&size| size.max(0.0) as u64).collect(),
            ..CallTensor::default()
        };
        Some(shapes.iter().map(tensor).collect())
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

    /// The name that an argument is about: `&x`, `x.data()`, `x`; of `data.x` and `data->x` the member's.
    fn name(&self, range: Range<usize>) -> String {
        let is_name = |at: usize| range.contains(&at) && self.tokens.kind(at) == Some(Kind::Identifier);
        let Some(mut at) = range.clone().find(|&at| is_name(at)) else { return String::new() };
        while matches!(self.tokens.get(at + 1), "." | "->") && is_name(at + 2) && self.tokens.get(at + 3) != "(" {
            at += 2;
        }
        self.tokens.get(at).to_owned()
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
            Some(Known::Lists(_) | Known::Dtype(_) | Known::Format(_)) | None => Argument::Unknown,
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
            [_, "." | "->", _] if self.known.contains_key(&self.name(range.clone())) => {
                return self.known.get(&self.name(range)).cloned();
            }
            // `const_cast<char*>(name)`, `name.data()`, `name.c_str()`, `&name`
            _ => {}
        }
        if let Some(dtype) = self.dtype(range.clone()) {
            return Some(Known::Dtype(dtype));
        }
        if let Some(format) = self.format(range.clone()) {
            return Some(Known::Format(format));
        }
        if let Some(number) = number(self.tokens, &self.known, range.clone()) {
            return Some(Known::Number(number));
        }
        let known = range.clone().filter_map(|at| self.known.get(self.tokens.get(at))).next();
        let is_plain = words.contains(&"const_cast") || words.contains(&"data") || words.contains(&"c_str");
        known.filter(|_| is_plain || words.len() <= 2).cloned()
    }

    /// `{1, 2}`, and lists of tensors.
    fn braces(&self, open: usize) -> Option<Known> {
        let items = self.tokens.arguments(open)?;
        if let Some(list) = self.tensors(&items).filter(|list| list.len() == items.len()) {
            return Some(Known::Tensors(list));
        }
        if items.first().is_some_and(|range| self.tokens.get(range.start) == "{") {
            let lists = items.into_iter().map(|range| match self.braces(range.start)? {
                Known::Numbers(values) => Some(values),
                _ => None,
            });
            return lists.collect::<Option<Vec<_>>>().map(Known::Lists);
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
            [_, value] => number(self.tokens, &self.known, value.clone()).map(|value| Known::Numbers(vec![value])),
            _ => None,
        }
    }
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
    fn tensors_may_be_members_of_a_struct() {
        let text = "
            struct GtData {
                std::vector<int64_t> selfShape = {4, 2};
                std::vector<int64_t> outShape = {4, 2};
                aclTensor* self = nullptr;
                aclTensor* out = nullptr;
                std::vector<float> selfData = {0, 1, 2, 3, 4, 5, 6, 7};
                std::vector<char> outData = {0, 0, 0, 0, 0, 0, 0, 0};
            };
            int Execute(GtData& data, GtData* other) {
                CreateAclTensor(data.selfData, data.selfShape, &data.selfAddress, aclDataType::ACL_FLOAT, &data.self);
                CreateAclTensor(other->outData, other->outShape, &other->outAddress, aclDataType::ACL_BOOL, &other->out);
                return aclnnGtGetWorkspaceSize(data.self, other->out, &workspaceSize, &executor);
            }";
        let found = calls_in(text, "test.cpp");
        let shapes = found[0].arguments.iter().map(|(name, argument)| match argument {
            Argument::Tensor(tensor) => (name.as_str(), tensor.dtype.as_str(), tensor.shape.clone()),
            _ => (name.as_str(), "", Vec::new()),
        });
        let shapes: Vec<_> = shapes.collect();
        assert_eq!(shapes, [("self", "float32", vec![4, 2]), ("out", "bool", vec![4, 2])]);
    }

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

    #[test]
    fn shapes_in_a_list_make_a_list_of_tensors_and_arguments_left_over_fall_in_order() {
        let program = r#"
int main()
{
    std::vector<int64_t> shape = {4, 5};
    const std::vector<std::vector<int64_t>> shapes = {{4, 2}, {4, 3}};
    std::vector<int64_t> wanted = {7, 8};
    CreateAclTensor(data, shape, &address, ACL_FLOAT, &x);
    aclTensorList* list = nullptr;
    ret = CreateAclTensorList<float>(shapes, addresses, ACL_FLOAT, &list);
    aclIntArray* sizes = aclCreateIntArray(wanted.data(), wanted.size());
    aclnnCutGetWorkspaceSize(x, sizes, 3, true, list, &workspaceSize, &executor);
}
"#;
        let tensor =
            |name: &str, param: &str| serde_json::json!({ "name": name, "param": param, "dtypes": ["float32"] });
        let attribute = |name: &str, kind: &str| serde_json::json!({ "name": name, "type": kind, "required": true });
        let op: DescribedOp = serde_json::from_value(serde_json::json!({
            "type": "Cut",
            "inputs": [tensor("x", "required")],
            "outputs": [tensor("y", "dynamic")],
            "attrs": [attribute("grad_shape", "list_int"), attribute("axis", "int"), attribute("keep", "bool")],
        }))
        .unwrap();
        let case = candidates(&op, &calls_in(program, "main.cpp")[0]).remove(0);
        assert_eq!(case.output_shapes, [[4, 2], [4, 3]]);
        let values: Vec<&str> = case.attributes.iter().map(|attribute| attribute.value.as_str()).collect();
        assert_eq!(values, ["7,8", "3", "true"]);
        assert!(!case.assumed && case.doubt().is_none());
        let silent = program.replace("sizes, 3, true, list", "sizes, list");
        let case = candidates(&op, &calls_in(&silent, "main.cpp")[0]).remove(0);
        assert!(case.assumed && case.doubt().is_some_and(|why| why.ends_with("was assumed")));
    }

    #[test]
    fn the_interface_named_after_the_operator_comes_first() {
        let named = |interface: &str| is_named_after(interface, "UpsampleNearest3d");
        assert!(named("aclnnUpsampleNearest3dGetWorkspaceSize") && named("aclnnUpsampleNearest3dV2GetWorkspaceSize"));
        assert!(!named("aclnnUpsampleNearest2dGetWorkspaceSize") && !named(""));
        let directory = tempfile::tempdir().unwrap();
        let program = |interface: &str, shape: &str| {
            format!(
                "int main() {{ std::vector<int64_t> s = {shape}; CreateAclTensor(data, s, &a, ACL_FLOAT, &x);\n\
                     {interface}GetWorkspaceSize(x, &workspaceSize, &executor); }}"
            )
        };
        fs_err::write(directory.path().join("a.cpp"), program("aclnnTake2d", "{2, 3}")).unwrap();
        fs_err::write(directory.path().join("b.cpp"), program("aclnnTake", "{4, 5}")).unwrap();
        let places: Vec<String> = calls(directory.path(), "Take").into_iter().map(|call| call.place).collect();
        assert_eq!(places, ["b.cpp:2", "a.cpp:2"]);
    }
}
