//! Preprocessor branches that are not compiled for the target: constants and kernels in them must not be mistaken for the
//! real ones.

use std::ops::Range;

use super::arch::TARGET;
use super::constant::{ConstantValue, Names, condition_holds};

/// What is known on a device of the names that conditions ask about.
struct OnDevice;

impl Names for OnDevice {
    fn value(&self, name: &str) -> Option<ConstantValue> {
        known(name).map(ConstantValue::wide)
    }

    fn is_defined(&self, name: &str) -> Option<bool> {
        known(name).map(|value| value != 0)
    }
}

fn known(name: &str) -> Option<i64> {
    match name {
        "ASCENDC_CPU_DEBUG" | "__CCE_KT_TEST__" => Some(0),
        name => TARGET.value_of(name),
    }
}

/// Truth of a condition, or `None` when it depends on something unknown.
fn truth(condition: &str) -> Option<bool> {
    condition_holds(condition, &OnDevice).ok()
}

/// Whether the macro is defined that an `#ifdef` names, or `None` of one that is not known.
fn is_defined(condition: &str) -> Option<bool> {
    let end = condition.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(condition.len());
    OnDevice.is_defined(&condition[..end])
}

/// End of a preprocessor line: the newline that no backslash continues.
pub fn directive_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut end = at;
    while let Some(&byte) = bytes.get(end) {
        if byte == b'\n' && !text[..end].trim_end_matches('\r').ends_with('\\') {
            break;
        }
        end += 1;
    }
    end
}

struct Branch {
    /// Whether an earlier branch of this `#if` was certainly taken.
    taken: bool,
    /// Start of the present branch, if it is certainly not compiled.
    dead_from: Option<usize>,
}

/// Byte ranges that are certainly not compiled.
pub fn inactive_lines(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut stack: Vec<Branch> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let line_end = text[at..].find('\n').map_or(text.len(), |length| at + length);
        let line = text[at..line_end].trim_start();
        if let Some(rest) = line.strip_prefix('#') {
            let start = line_end - line.len();
            let end = directive_end(text, start);
            let directive = rest.trim_start();
            let word: String = directive.chars().take_while(char::is_ascii_alphabetic).collect();
            let condition = text[start..end].split_once(word.as_str()).map_or("", |(_, condition)| condition).trim();
            let value = match word.as_str() {
                "if" | "elif" => truth(condition),
                "ifdef" => is_defined(condition),
                "ifndef" => is_defined(condition).map(|defined| !defined),
                _ => None,
            };
            match word.as_str() {
                "if" | "ifdef" | "ifndef" => {
                    stack.push(Branch { taken: value == Some(true), dead_from: (value == Some(false)).then_some(end) });
                }
                "elif" | "else" => {
                    if let Some(branch) = stack.last_mut() {
                        ranges.extend(branch.dead_from.take().map(|from| from..start));
                        if branch.taken || value == Some(false) {
                            branch.dead_from = Some(end);
                        }
                        branch.taken |= value == Some(true);
                    }
                }
                "endif" => ranges.extend(stack.pop().and_then(|branch| branch.dead_from).map(|from| from..start)),
                _ => {}
            }
            at = end.max(line_end) + 1;
        } else {
            at = line_end + 1;
        }
    }
    // An unfinished `#if` hides nothing.
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_of_other_architectures_are_dead() {
        let text = "#if defined(__NPU_ARCH__) && (__NPU_ARCH__ == 3510)\nA\n#else\nB\n#endif\n#if (NPU_ARCH == 2201)\nC\n#elif (NPU_ARCH == 3510)\nD\n#endif\n#ifdef SOMETHING\nE\n#else\nF\n#endif\n#ifndef ASCENDC_CPU_DEBUG\nG\n#endif\n#if 0\nH\n#endif\n";
        let dead = inactive_lines(text);
        let live: String = "ABCDEFGH"
            .chars()
            .filter(|letter| {
                let at = text.find(&format!("\n{letter}\n")).expect("there") + 1;
                !dead.iter().any(|range| range.contains(&at))
            })
            .collect();
        assert_eq!(live, "BCEFG");
    }

    #[test]
    fn conditions_are_read_as_the_preprocessor_reads_them() {
        let known = [
            ("0 /* never */", false),
            ("(__NPU_ARCH__ == 2201) && defined(__NPU_ARCH__) // this one", true),
            ("__CCE_AICORE__ / 10 == 22", true),
            ("!(__CCE_AICORE__ >= 200 && __CCE_AICORE__ < 300)", false),
            ("UNKNOWN && 0", false),
            ("1 || UNKNOWN > 3", true),
            ("defined __CCE_AICORE__ && \\\n __CCE_AICORE__ == 220", true),
            ("0 ? UNKNOWN == 1 : 1", true),
            ("0xFFu == 255 && '\\n' == 10", true),
            ("-1 > 0u", true),
        ];
        for (condition, value) in known {
            assert_eq!(truth(condition), Some(value), "{condition}");
        }
        for condition in
            ["UNKNOWN", "defined(UNKNOWN)", "UNKNOWN && 1", "__has_include(<a.h>)", "1 / 0", "", "1 +", "((1)"]
        {
            assert_eq!(truth(condition), None, "{condition}");
        }
        let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
        assert_eq!(truth(&deep), None);
        assert_eq!(is_defined("ASCENDC_CPU_DEBUG // for the host"), Some(false));
    }
}
