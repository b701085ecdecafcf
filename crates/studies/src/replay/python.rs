//! Constraints as Python writes them, in our own language.

/// Translates `and or not`, `//` and `True`/`False`; everything else is alike in both languages. `None` where a
/// construct has no counterpart (`**`, `in`, attribute access, chained comparison), so that the rows decide instead.
pub fn translate(python: &str) -> Option<String> {
    let mut translated = String::new();
    let mut negations: Vec<usize> = Vec::new();
    let mut depth = 0_usize;
    let mut compared = vec![false];
    let mut rest = python;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_alphabetic() || first == '_' {
            rest.find(|at: char| !(at.is_ascii_alphanumeric() || at == '_')).unwrap_or(rest.len())
        } else if first.is_ascii_digit() {
            rest.find(|at: char| !(at.is_ascii_digit() || at == '.')).unwrap_or(rest.len())
        } else {
            ["**", "//", "<=", ">=", "==", "!="]
                .iter()
                .find(|mark| rest.starts_with(**mark))
                .map_or(first.len_utf8(), |mark| mark.len())
        };
        let (token, after) = rest.split_at(length);
        rest = after;
        match token {
            "and" | "or" | ")" => {
                // `not` reaches as far as the comparison that it stands before.
                while negations.last() == Some(&depth) {
                    negations.pop();
                    translated.push(')');
                }
                *compared.last_mut()? = false;
                if token == ")" {
                    depth = depth.checked_sub(1)?;
                    compared.pop();
                    translated.push(')');
                } else {
                    translated.push_str(if token == "and" { "&&" } else { "||" });
                }
            }
            "not" => {
                translated.push_str("!(");
                negations.push(depth);
            }
            "(" => {
                depth += 1;
                compared.push(false);
                translated.push('(');
            }
            "<" | "<=" | ">" | ">=" | "==" | "!=" => {
                if std::mem::replace(compared.last_mut()?, true) {
                    return None;
                }
                translated.push_str(token);
            }
            "//" => translated.push('/'),
            "True" => translated.push_str("true"),
            "False" => translated.push_str("false"),
            "**" | "in" | "is" | "if" | "lambda" | "." | "[" => return None,
            "\"" => translated.push('\''),
            other if other.contains('.') => return None,
            other => translated.push_str(other),
        }
    }
    translated.extend(std::iter::repeat_n(')', negations.len()));
    (depth == 0).then_some(translated)
}

#[cfg(test)]
mod tests {
    use super::translate;

    #[test]
    fn words_become_marks() {
        assert_eq!(translate("a == 0 or b % 32 != 0").as_deref(), Some("a == 0 || b % 32 != 0"));
        assert_eq!(translate("not a == 1 and b").as_deref(), Some("!( a == 1 )&& b"));
        assert_eq!(translate("(not (a > b // 2)) or True").as_deref(), Some("(!( (a > b / 2))) || true"));
    }

    #[test]
    fn what_has_no_counterpart_is_refused() {
        for text in ["a ** 2 < 4", "1 <= a <= 4", "a in [1, 2]", "a < 1.5", "(a"] {
            assert_eq!(translate(text), None, "{text}");
        }
    }
}
