//! Calls that Python tests make through PyTorch: `torch.ops.<library>.<operator>(...)`. The tests are run, without a device,
//! up to the call; nothing of them is read but which files name the operator.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::call::{Argument, Call, CallTensor};
use super::reference::{Python, RecordedArgument, RecordedCall, RecordedTensor, ReferenceError};
use super::{Origin, elements};
use manifest::ValueRange;

/// Folders above an operator in which tests and schemas are looked for.
const ABOVE: usize = 5;
/// Files that are run.
const FILES: usize = 6;
/// A file that is larger is no test of one operator.
const LARGEST_BYTES: u64 = 1 << 20;
/// Elements from which on lists of tensors are cut to their first one: lists are layers or experts, all alike.
const MANY_ELEMENTS: u64 = 1 << 24;
/// Elements of a call that nobody would want to wait for.
const MOST_ELEMENTS: u64 = 1 << 26;

/// Calls of an operator, whose name as folders have it is `name`, in the Python tests of its repository.
pub(super) async fn calls(python: &Python, directory: &Path, name: &str) -> Result<Vec<Call>, ReferenceError> {
    let folders = folders(directory);
    let (files, names) = tests(&folders, &names(directory, name));
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let recorded = python.calls(&files, &names, &schemas(&folders, &names)).await?;
    let top = folders.last().map_or(directory, PathBuf::as_path);
    Ok(recorded.iter().filter_map(|call| understood(call, top)).collect())
}

/// The folders above an operator, up to the top of its repository.
fn folders(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in directory.ancestors().take(ABOVE) {
        found.push(folder.to_owned());
        if folder.join(".git").exists() {
            break;
        }
    }
    found
}

/// Names under which an operator is called: that of its type and that of its folder, both also with the device's prefix.
fn names(directory: &Path, name: &str) -> Vec<String> {
    let folder = directory.file_name().map(|folder| folder.to_string_lossy().into_owned());
    let plain: BTreeSet<String> = folder.into_iter().chain([name.to_owned()]).collect();
    plain.iter().flat_map(|name| [name.clone(), format!("npu_{name}")]).collect()
}

/// Python files under the folders' `tests` that call one of the names, and under what names they do.
fn tests(folders: &[PathBuf], names: &[String]) -> (Vec<PathBuf>, Vec<String>) {
    let (mut found, mut called) = (Vec::new(), BTreeSet::new());
    for entry in folders.iter().flat_map(|folder| WalkDir::new(folder.join("tests")).max_depth(10)).flatten() {
        let is_test = entry.file_type().is_file()
            && entry.path().extension().is_some_and(|ending| ending == "py")
            && entry.metadata().is_ok_and(|data| data.len() <= LARGEST_BYTES);
        let Some(text) = is_test.then(|| std::fs::read_to_string(entry.path()).ok()).flatten() else { continue };
        let here: Vec<String> = names.iter().flat_map(|name| called_names(&text, name)).collect();
        if text.contains("torch") && !here.is_empty() {
            // What is called by the very name comes first.
            found.push((!here.iter().any(|name| names.contains(name)), entry.into_path()));
            called.extend(here);
        }
    }
    found.sort();
    found.dedup();
    (found.into_iter().map(|(_, path)| path).take(FILES).collect(), called.into_iter().collect())
}

/// A name as a text calls it: as it is, or with a version or a chip behind it (`_v2`, `_310`).
fn called_names(text: &str, name: &str) -> Vec<String> {
    let begin = format!(".{name}");
    let endings = text.match_indices(&begin).filter_map(|(at, _)| {
        let rest = &text[at + begin.len()..];
        let ending = rest.split_once('(')?.0;
        let number = ending.strip_prefix('_').map(|number| number.strip_prefix('v').unwrap_or(number));
        let fits = ending.is_empty()
            || number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
        fits.then(|| format!("{name}{ending}"))
    });
    endings.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Names of parameters by place, from the registrations of the calls in the C++ sources beside and above the operator.
fn schemas(folders: &[PathBuf], names: &[String]) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    for path in entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|ending| ending == "cpp"))
    {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        for name in names {
            if let Some(parameters) = schema(&text, name) {
                found.entry(name.clone()).or_insert(parameters);
            }
        }
    }
    found
}

/// Parameters in `def("name(Tensor x, int n=3) -> Tensor")`, whose text may be several literals.
fn schema(text: &str, name: &str) -> Option<Vec<String>> {
    let begin = format!("\"{name}(");
    let from = text.find(&begin)? + 1;
    let mut written = String::new();
    let mut inside = true;
    let mut letters = text[from..].chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if inside => written.extend(letters.next()),
            '"' => inside = !inside,
            _ if inside => written.push(letter),
            letter if letter.is_whitespace() => {}
            // The last literal is over.
            _ => break,
        }
    }
    let list = written.split_once('(')?.1;
    let end = list.rfind("->").and_then(|arrow| list[..arrow].rfind(')')).or_else(|| list.rfind(')'))?;
    let mut parameters = Vec::new();
    let (mut depth, mut part) = (0_i32, String::new());
    for letter in list[..end].chars().chain([',']) {
        match letter {
            ',' if depth == 0 => {
                let declared = part.split('=').next().unwrap_or_default();
                parameters.extend(declared.split_whitespace().nth(1).map(str::to_owned));
                part.clear();
                continue;
            }
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        part.push(letter);
    }
    Some(parameters)
}

/// A recorded call as one of an interface.
fn understood(call: &RecordedCall, top: &Path) -> Option<Call> {
    let total = |lists: bool| -> u64 {
        let count = |argument: &RecordedArgument| match argument {
            RecordedArgument::Tensor(tensor) => elements(&tensor.shape),
            RecordedArgument::Tensors { tensors } => {
                let counted = if lists { tensors.len() } else { 1 };
                tensors.iter().take(counted).map(|tensor| elements(&tensor.shape)).sum()
            }
            _ => 0,
        };
        call.arguments.iter().map(|(_, argument)| count(argument)).fold(0, u64::saturating_add)
    };
    let whole = total(true) <= MANY_ELEMENTS;
    if total(whole) > MOST_ELEMENTS {
        return None;
    }
    let lengths: Vec<f64> = call
        .arguments
        .iter()
        .filter_map(|(_, argument)| match argument {
            RecordedArgument::Tensors { tensors } => Some(tensors.len() as f64),
            _ => None,
        })
        .collect();
    let arguments = call.arguments.iter().map(|(name, argument)| {
        let argument = match argument {
            RecordedArgument::Tensor(found) => Argument::Tensor(tensor(found)),
            RecordedArgument::Tensors { tensors } => {
                Argument::Tensors(tensors.iter().take(if whole { tensors.len() } else { 1 }).map(tensor).collect())
            }
            // What counted the lists that were cut.
            RecordedArgument::Number { value } if !whole && lengths.contains(value) => Argument::Number(1.0),
            RecordedArgument::Number { value } => Argument::Number(*value),
            RecordedArgument::Numbers { values } => Argument::Numbers(values.clone()),
            RecordedArgument::Bool { value } => Argument::Bool(*value),
            RecordedArgument::Text { value } => Argument::Text(value.clone()),
            RecordedArgument::Nothing => Argument::Nothing,
            RecordedArgument::Unknown => Argument::Unknown,
        };
        (name.clone(), argument)
    });
    let place = call.place.strip_prefix(&top.display().to_string()).unwrap_or(&call.place);
    Some(Call {
        origin: Origin::PythonTest,
        place: place.trim_start_matches('/').to_owned(),
        arguments: arguments.collect(),
        outputs: None,
        outputs_last: false,
    })
}

fn tensor(found: &RecordedTensor) -> CallTensor {
    // Whole numbers are drawn below the upper end.
    let above = if found.dtype.contains("int") || found.dtype == "bool" { 1.0 } else { 0.0 };
    CallTensor {
        dtype: found.dtype.clone(),
        shape: found.shape.clone(),
        format: String::new(),
        values: found.values.clone(),
        range: found
            .range
            .filter(|(low, high)| low < high || above > 0.0)
            .map(|(low, high)| ValueRange { low, high: high + above }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_come_from_the_registration() {
        let text = "ops.def(\n  \"other(Tensor a) -> Tensor\");\n ops.def(\n    \"npu_scale(\"\n\
                    \"Tensor x, Tensor(a!)? y=None, \"\n \"int[2] sizes=[1, 2], str mode=\\\"a,b\\\", float s=1.0\"\n\
                    \") -> (Tensor(a!), Tensor)\");\n ops.impl(\"npu_scale\", &f);";
        assert_eq!(schema(text, "other").unwrap(), ["a"]);
        assert_eq!(schema(text, "npu_scale").unwrap()[..3], ["x", "y", "sizes"]);
        assert_eq!(schema(text, "scale"), None);
    }

    #[test]
    fn names_may_have_a_version_behind_them() {
        let text = "a.ops.x.npu_scale_310(1)\n.npu_scale(2); .npu_scale_rows(3); .npu_scale_v2(4) .npu_scaler()";
        assert_eq!(called_names(text, "npu_scale"), ["npu_scale", "npu_scale_310", "npu_scale_v2"]);
        assert_eq!(called_names(text, "scale"), [""; 0]);
    }

    #[test]
    fn long_lists_are_cut_and_endless_calls_left_out() {
        let tensor = |size: u64| RecordedTensor {
            dtype: "int32".into(),
            shape: vec![size],
            range: Some((0.0, 3.0)),
            values: vec![],
        };
        let call = |size: u64| RecordedCall {
            place: "/top/tests/test_x.py:3".into(),
            arguments: vec![
                ("x".into(), RecordedArgument::Tensors { tensors: vec![tensor(size), tensor(size)] }),
                ("layers".into(), RecordedArgument::Number { value: 2.0 }),
            ],
        };
        let lengths = |size: u64| {
            understood(&call(size), Path::new("/top")).map(|call| match &call.arguments[0].1 {
                Argument::Tensors(list) => (call.place.clone(), list.len(), list[0].range.map(|range| range.high)),
                _ => unreachable!(),
            })
        };
        assert_eq!(lengths(8).unwrap(), ("tests/test_x.py:3".to_owned(), 2, Some(4.0)));
        assert_eq!(lengths(MANY_ELEMENTS).unwrap().1, 1);
        let layers = |size: u64| understood(&call(size), Path::new("/top")).unwrap().arguments[1].1.clone();
        assert_eq!((layers(8), layers(MANY_ELEMENTS)), (Argument::Number(2.0), Argument::Number(1.0)));
        assert!(lengths(MOST_ELEMENTS + 1).is_none());
    }
}
