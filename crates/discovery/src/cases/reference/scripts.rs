//! Where references are in an operator's directory, and which array of theirs is which tensor.

use std::ops::Range;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::array::Array;
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
    let inputs = assign(op, &inputs)?;
    let length = op.inputs.iter().map(|input| input.dtypes.len()).max().unwrap_or(0);
    let fits = |position: &usize| {
        inputs.iter().all(|(found, array)| found.dtypes.get(*position).is_none_or(|dtype| *dtype == array.dtype))
    };
    // Of equals the first.
    let combination = (0..length).filter(fits).min_by_key(|&position| op.private_formats(position))?;
    let inputs = inputs.into_iter().map(|(found, array)| (found.name.clone(), array.clone())).collect();
    Some(ScriptCase { inputs, outputs, combination })
}

type Assigned<'data> = Vec<(&'data DescribedTensor, &'data Array)>;

/// Arrays whose files name a tensor are that tensor: `input/input_x.bin`, `x.bin`, and `float16_input_x_op.bin` beside
/// `float16_input_y_op.bin`. As many others as there are inputs, or required inputs, left are those in the same order.
fn assign<'data>(op: &'data DescribedOp, arrays: &[&'data Array]) -> Option<Assigned<'data>> {
    let stems: Vec<String> = arrays.iter().map(|array| stem(&array.file)).collect();
    let own_words = own_words(&stems);
    let mut taken: Vec<Option<usize>> = Vec::new();
    for found in &op.inputs {
        let wanted = found.name.to_ascii_lowercase();
        let names_it = |at: &usize| {
            let stem = &stems[*at];
            stem.strip_prefix("input") == Some(&wanted) || is_named(stem, own_words[*at].clone(), &wanted)
        };
        taken.push((0..arrays.len()).find(|at| !taken.contains(&Some(*at)) && names_it(at)));
    }
    let unnamed: Vec<usize> = (0..arrays.len()).filter(|at| !taken.contains(&Some(*at))).collect();
    let left: Vec<usize> = (0..taken.len()).filter(|&place| taken[place].is_none()).collect();
    let required = left.iter().copied().filter(|&place| !op.inputs[place].param.eq_ignore_ascii_case("optional"));
    let required: Vec<usize> = required.collect();
    let filled = match unnamed.len() {
        count if count == left.len() => left,
        count if count == required.len() => required,
        _ => return None,
    };
    for (place, at) in filled.into_iter().zip(unnamed) {
        taken[place] = Some(at);
    }
    let assigned = op.inputs.iter().zip(taken).filter_map(|(found, at)| Some((found, arrays[at?])));
    Some(assigned.collect())
}

/// Which words of each stem are not those that all of them begin or end with.
fn own_words(stems: &[String]) -> Vec<Range<usize>> {
    let words: Vec<Vec<&str>> = stems.iter().map(|stem| stem.split('_').collect()).collect();
    let shortest = words.iter().map(Vec::len).min().unwrap_or(0);
    let shared = |word: &dyn Fn(&[&str], usize) -> String, most: usize| {
        (0..most).take_while(|&at| words.iter().all(|own| word(own, at) == word(&words[0], at))).count()
    };
    // One word at least is a stem's own.
    let most = shortest.saturating_sub(1);
    let before = shared(&|own, at| own[at].to_owned(), most);
    let behind = shared(&|own, at| own[own.len() - 1 - at].to_owned(), most - before);
    words.iter().map(|own| before..own.len() - behind).collect()
}

/// Whether some words of a stem in a row, its own among them, are `wanted`.
fn is_named(stem: &str, own: Range<usize>, wanted: &str) -> bool {
    let words: Vec<&str> = stem.split('_').collect();
    (0..=own.start).any(|from| (own.end..=words.len()).any(|to| words[from..to].join("_") == wanted))
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
            ..DescribedOp::default()
        };
        let golden = array("./output/golden.bin", "float32");
        let named = [array("./input/input_y.bin", "float32"), array("./input/input_x.bin", "float32"), golden.clone()];
        let case = match_case(&op, &named).unwrap();
        let files: Vec<&str> = case.inputs.iter().map(|(_, array)| array.file.as_str()).collect();
        assert_eq!((files.as_slice(), case.combination), (&["./input/input_x.bin", "./input/input_y.bin"][..], 1));
        let ordered = [array("a.bin", "float16"), array("b.bin", "float16"), golden.clone()];
        assert_eq!(match_case(&op, &ordered).unwrap().inputs[1].0, "y");
        assert_eq!(match_case(&op, &[array("a.bin", "float16"), golden.clone()]), None);
        let long = ["float16_input_alpha_op.bin", "float16_input_y_op.bin", "float16_golden_op.bin"];
        let long: Vec<Array> = long.iter().map(|file| array(file, "float16")).collect();
        let case = match_case(&op, &long).unwrap();
        let pairs: Vec<(&str, &str)> =
            case.inputs.iter().map(|(name, array)| (name.as_str(), array.file.as_str())).collect();
        let expected = [("x", "float16_input_alpha_op.bin"), ("y", "float16_input_y_op.bin")];
        assert_eq!(pairs, expected, "what is named is that tensor, the other the one that is left");
        let gradients = ["grad_y.bin", "grad_x.bin", "golden.bin"].map(|file| array(file, "float16"));
        let mut grad = op.clone();
        grad.inputs[0].name = "grad_x".into();
        grad.inputs[1].name = "grad_y".into();
        assert_eq!(match_case(&grad, &gradients).unwrap().inputs[0].1.file, "grad_x.bin");
        let other_dtype = [array("a.bin", "int8"), array("b.bin", "int8"), golden];
        assert_eq!(match_case(&op, &other_dtype), None);
    }
}
