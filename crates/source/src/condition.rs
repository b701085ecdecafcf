//! Preprocessor branches that are not compiled for the target: constants and kernels in them must not be mistaken for the
//! real ones.

use std::ops::Range;

use super::arch::TARGET;

/// What is known of the names that conditions ask about, on a device.
fn known(name: &str) -> Option<i64> {
    match name {
        "ASCENDC_CPU_DEBUG" | "__CCE_KT_TEST__" => Some(0),
        name => TARGET.value_of(name),
    }
}

/// Truth of a condition, or `None` when it depends on something unknown.
fn truth(condition: &str) -> Option<bool> {
    let condition = condition.split("//").next().unwrap_or_default().trim();
    if let Some((left, right)) = split_outside(condition, "||") {
        return match (truth(left), truth(right)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        };
    }
    if let Some((left, right)) = split_outside(condition, "&&") {
        return match (truth(left), truth(right)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
    }
    if let Some(inner) = condition.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        return truth(inner);
    }
    if let Some(rest) = condition.strip_prefix('!')
        && !rest.starts_with('=')
    {
        return truth(rest).map(|value| !value);
    }
    if let Some(rest) = condition.strip_prefix("defined") {
        let name = rest.trim().trim_start_matches('(').trim_end_matches(')').trim();
        return known(name).map(|value| value != 0);
    }
    for comparison in ["==", "!=", ">=", "<=", ">", "<"] {
        if let Some((left, right)) = condition.split_once(comparison) {
            let number = |side: &str| {
                let side = side.trim().trim_start_matches('(').trim_end_matches(')').trim();
                side.parse().ok().or_else(|| known(side))
            };
            let (left, right): (i64, i64) = (number(left)?, number(right)?);
            return Some(match comparison {
                "==" => left == right,
                "!=" => left != right,
                ">=" => left >= right,
                "<=" => left <= right,
                ">" => left > right,
                _ => left < right,
            });
        }
    }
    condition.parse::<i64>().ok().or_else(|| known(condition)).map(|value| value != 0)
}

fn split_outside<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let mut depth = 0i32;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && text[at..].starts_with(mark) => return Some((&text[..at], &text[at + mark.len()..])),
            _ => {}
        }
    }
    None
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
                "ifdef" => known(condition).map(|value| value != 0),
                "ifndef" => known(condition).map(|value| value == 0),
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
}
