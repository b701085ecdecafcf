//! Where references are in an operator's directory, and which array of theirs is which tensor.

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::python::Array;
use crate::cases::{DescribedOp, DescribedTensor};

/// A script that writes inputs and right outputs, with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataScript {
    /// The script.
    pub path: PathBuf,
    /// Words after its name.
    pub arguments: Vec<String>,
}

/// Scripts that are tried for one operator.
const SCRIPTS: usize = 4;

/// The `golden.py` of an operator.
pub fn golden_script(directory: &Path) -> Option<PathBuf> {
    files(directory, &["golden.py"]).into_iter().next()
}

/// Scripts that make test data: those that need no argument, and those that a kernel test calls with words of its own.
pub fn data_scripts(directory: &Path) -> Vec<DataScript> {
    let mut found: Vec<DataScript> = Vec::new();
    for path in files(directory, &["gen_data.py"]) {
        let text = std::fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        if !text.contains("sys.argv") && !text.contains("argparse") {
            found.push(DataScript { path, arguments: Vec::new() });
            continue;
        }
        // `tests/ut/op_kernel/x_data/gen_data.py` is called by `tests/ut/op_kernel/test_x.cpp`.
        let Some(tests) = path.parent().and_then(Path::parent) else { continue };
        let callers = std::fs::read_dir(tests).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut callers: Vec<PathBuf> =
            callers.filter(|path| path.extension().is_some_and(|one| one == "cpp")).collect();
        callers.sort();
        for caller in callers {
            let text = std::fs::read(&caller).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            for arguments in calls(&text.unwrap_or_default()) {
                let script = DataScript { path: path.clone(), arguments };
                if !found.contains(&script) {
                    found.push(script);
                }
            }
        }
    }
    found.truncate(SCRIPTS);
    found
}

/// Words after `gen_data.py` in the strings of a test.
fn calls(text: &str) -> Vec<Vec<String>> {
    let mut result = Vec::new();
    for (at, name) in text.match_indices("gen_data.py") {
        let line_start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        if text[line_start..at].trim_start().starts_with("//") {
            continue;
        }
        let rest = &text[at + name.len()..];
        let Some(end) = rest.find(['"', '\n']) else { continue };
        // A string that goes on after its end is put together at run time.
        let goes_on = rest[end..].trim_start_matches('"').trim_start().starts_with('+');
        if !rest[end..].starts_with('"') || goes_on {
            continue;
        }
        result.push(shell_words(&rest[..end]));
    }
    result
}

/// Words as a shell splits them, with both kinds of quotes.
fn shell_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for letter in text.chars() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (Some(_), letter) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '\\') => {}
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (None, ';' | '&' | '|' | '>') => break,
            (None, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

fn files(directory: &Path, names: &[&str]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = WalkDir::new(directory)
        .max_depth(7)
        .into_iter()
        .filter_entry(|entry| {
            let name = entry.file_name().to_string_lossy();
            entry.depth() == 0
                || !(name.starts_with('.')
                    || name.starts_with("arch3")
                    || matches!(name.as_ref(), "op_host" | "op_kernel") && entry.depth() == 1)
        })
        .flatten()
        .filter(|entry| entry.file_type().is_file() && names.iter().any(|name| entry.file_name() == *name))
        .map(walkdir::DirEntry::into_path)
        .collect();
    found.sort();
    found
}

/// A case made from arrays: which is which tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptCase {
    /// Array of each input that is given, in the operator's order.
    pub inputs: Vec<(String, Array)>,
    /// Right array of each output, in the operator's order.
    pub outputs: Vec<Array>,
    /// Position in the dtype lists.
    pub combination: usize,
}

/// Finds out which array is which tensor; `None` where numbers or dtypes do not fit the operator.
pub fn match_case(op: &DescribedOp, arrays: &[Array]) -> Option<ScriptCase> {
    let right = |array: &&Array| {
        let name = array.file.to_ascii_lowercase();
        ["golden", "expect", "output", "result"].iter().any(|part| name.contains(part))
    };
    let outputs: Vec<Array> = arrays.iter().filter(right).cloned().collect();
    let inputs: Vec<&Array> = arrays.iter().filter(|array| !right(array)).collect();
    if outputs.len() != op.outputs.len() || inputs.is_empty() {
        return None;
    }
    let inputs = by_name(op, &inputs).or_else(|| by_order(op, &inputs))?;
    let length = op.inputs.iter().map(|input| input.dtypes.len()).max().unwrap_or(0);
    let fits = |position: &usize| {
        inputs.iter().all(|(found, array)| found.dtypes.get(*position).is_none_or(|dtype| *dtype == array.dtype))
    };
    let combination = (0..length).find(fits)?;
    let inputs = inputs.into_iter().map(|(found, array)| (found.name.clone(), array.clone())).collect();
    Some(ScriptCase { inputs, outputs, combination })
}

type Assigned<'data> = Vec<(&'data DescribedTensor, &'data Array)>;

/// `input/input_x.bin`, `x.bin` and `float16_x_op.bin` are `x`; every required input must be found.
fn by_name<'data>(op: &'data DescribedOp, arrays: &[&'data Array]) -> Option<Assigned<'data>> {
    let mut assigned = Vec::new();
    for found in &op.inputs {
        let wanted = found.name.to_ascii_lowercase();
        let array = arrays.iter().find(|array| {
            let stem = stem(&array.file);
            stem == wanted
                || stem.strip_prefix("input_") == Some(&wanted)
                || stem.strip_prefix("input") == Some(&wanted)
        });
        match array {
            Some(array) => assigned.push((found, *array)),
            None if found.param.eq_ignore_ascii_case("optional") => {}
            None => return None,
        }
    }
    (assigned.len() == arrays.len()).then_some(assigned)
}

/// As many arrays as there are inputs, or required inputs, in the same order.
fn by_order<'data>(op: &'data DescribedOp, arrays: &[&'data Array]) -> Option<Assigned<'data>> {
    let required: Vec<&DescribedTensor> =
        op.inputs.iter().filter(|found| !found.param.eq_ignore_ascii_case("optional")).collect();
    let chosen = match arrays.len() {
        count if count == op.inputs.len() => op.inputs.iter().collect(),
        count if count == required.len() => required,
        _ => return None,
    };
    Some(chosen.into_iter().zip(arrays.iter().copied()).collect())
}

fn stem(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_tests_are_read_as_a_shell_would() {
        let text = "system(\"cd ./d/ && python3 gen_data.py '(128, 64)' 'float16'\");\n\
                    // system(\"python3 gen_data.py 1\");\n\
                    std::string s = \"python3 gen_data.py \" + shape;\n\
                    system(\"python3 gen_data.py 3 4 > log\");\n";
        assert_eq!(calls(text), [vec!["(128, 64)", "float16"], vec!["3", "4"]]);
    }

    fn array(file: &str, dtype: &str) -> Array {
        Array { file: file.into(), dtype: dtype.into(), shape: vec![2], bytes: vec![] }
    }

    fn tensor(name: &str, param: &str) -> DescribedTensor {
        DescribedTensor {
            name: name.into(),
            dtypes: vec!["float16".into(), "float32".into()],
            formats: vec![],
            param: param.into(),
        }
    }

    #[test]
    fn arrays_find_their_tensors() {
        let op = DescribedOp {
            kind: "Op".into(),
            inputs: vec![tensor("x", "required"), tensor("y", "required"), tensor("bias", "optional")],
            outputs: vec![tensor("z", "required")],
            attrs: vec![],
        };
        let golden = array("./output/golden.bin", "float32");
        let named = [array("./input/input_y.bin", "float32"), array("./input/input_x.bin", "float32"), golden.clone()];
        let case = match_case(&op, &named).unwrap();
        let files: Vec<&str> = case.inputs.iter().map(|(_, array)| array.file.as_str()).collect();
        assert_eq!((files.as_slice(), case.combination), (&["./input/input_x.bin", "./input/input_y.bin"][..], 1));
        let ordered = [array("a.bin", "float16"), array("b.bin", "float16"), golden.clone()];
        assert_eq!(match_case(&op, &ordered).unwrap().inputs[1].0, "y");
        assert_eq!(match_case(&op, &[array("a.bin", "float16"), golden.clone()]), None);
        let other_dtype = [array("a.bin", "int8"), array("b.bin", "int8"), golden];
        assert_eq!(match_case(&op, &other_dtype), None);
    }
}
