//! Locked values as Rust source.

use std::fmt::Write;

use toml::Value;

use super::built::Built;

/// A module for each operator.
pub(super) fn modules(operators: &[Built]) -> Result<String, String> {
    let mut text = String::new();
    let mut names: Vec<String> = Vec::new();
    for built in operators {
        let module = module_name(&built.locked.operator);
        if names.contains(&module) {
            return Err(format!("two operators are called {module}"));
        }
        let _ = writeln!(
            text,
            "/// {}, as ascend.lock has it.\n#[allow(dead_code, non_upper_case_globals)]\npub mod {module} {{",
            built.locked.operator
        );
        let _ = writeln!(text, "    /// Files that were built.\n    pub const ARTIFACTS: &[&str] = &[");
        for artifact in &built.artifacts {
            let _ = writeln!(text, "        {:?},", artifact.display().to_string());
        }
        text.push_str("    ];\n");
        let mut constants = vec!["ARTIFACTS".to_owned()];
        for (name, value) in &built.locked.configuration {
            let constant = identifier(name);
            if constants.contains(&constant) {
                return Err(format!(
                    "tunable {name} of {} would be called {constant}, as something else is",
                    built.locked.operator
                ));
            }
            let _ = match value {
                Value::Integer(value) => writeln!(text, "    pub const {constant}: i64 = {value};"),
                Value::Boolean(value) => writeln!(text, "    pub const {constant}: bool = {value};"),
                Value::String(value) => writeln!(text, "    pub const {constant}: &str = {value:?};"),
                other => return Err(format!("tunable {name} of {} is no value: {other}", built.locked.operator)),
            };
            constants.push(constant);
        }
        text.push_str("}\n");
        names.push(module);
    }
    Ok(text)
}

/// `AddCustom` to `add_custom`.
fn module_name(operator: &str) -> String {
    let mut name = String::new();
    let mut before = '_';
    for letter in identifier(operator).chars() {
        if letter.is_ascii_uppercase() && !before.is_ascii_uppercase() && before != '_' {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
        before = letter;
    }
    name
}

/// Letters, digits and `_`; no digit first.
fn identifier(name: &str) -> String {
    let mut made: String =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    if made.chars().next().is_none_or(|first| first.is_ascii_digit()) {
        made.insert(0, '_');
    }
    // Words of the language.
    if syntax_word(&made) { format!("{made}_") } else { made }
}

fn syntax_word(name: &str) -> bool {
    const WORDS: [&str; 38] = [
        "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern", "false", "fn",
        "for", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "self",
        "static", "struct", "super", "trait", "true", "type", "unsafe", "use", "where", "while", "gen",
    ];
    WORDS.contains(&name)
}
