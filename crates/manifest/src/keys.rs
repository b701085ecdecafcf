//! The known keys of every table, so that all unknown ones are found at once and each comes with the likely right name.

use toml::de::{DeTable, DeValue};

use super::finding::Finding;
use super::model::MODEL_ROLES;

const TENSOR: &[&str] = &["name", "dtype", "format", "shape", "range", "values", "optional"];

/// Keys of a table; `path` is dotted, `*` stands for names of the user's choice. `None` where any key is right.
fn known(path: &str) -> Option<&'static [&'static str]> {
    Some(match path {
        "" => &[
            "operator", "machine", "cmake", "direct", "case", "tunable", "space", "verify", "allow", "check", "limits",
            "sdk", "cann", "model", "proposer",
        ],
        "operator" => &["name", "layout", "kernel", "tiling", "sources"],
        "machine" => &["name"],
        "cmake" => &["entries"],
        "direct" => &["prepare", "arguments"],
        "case" => {
            &["name", "weight", "stands-for", "hostile", "verify-only", "arguments", "inputs", "outputs", "attributes"]
        }
        "case.stands-for" => &["elements"],
        "case.inputs" | "case.outputs" => TENSOR,
        "case.attributes" => &["name", "type", "value"],
        "tunable.*" => &[
            "file", "constant", "also", "call", "first", "index", "cap", "share", "of", "portion", "cmake", "domain",
            "default", "when", "reason",
        ],
        "tunable.*.domain" => &["range", "multiple-of", "power-of-two", "values", "ordered", "bool", "permutation"],
        "space" => &["constraints", "case-floor", "dispatch"],
        "verify" => &[
            "seeds",
            "probes",
            "sample-blocks-from-mib",
            "reference",
            "command",
            "golden",
            "script",
            "python",
            "hazards",
            "rounding-changes",
            "tolerance",
        ],
        "verify.tolerance.*" => &["absolute", "relative"],
        "allow" => &["hazard", "file", "function", "reason"],
        "check" => &["tolerance"],
        "limits" => &["run-timeout-s", "run-memory-mib", "compile-timeout-s", "compile-memory-mib"],
        "sdk" => &["headers", "toolkit"],
        "cann" => {
            &["toolkit", "soc", "devices", "warm-up", "warm-up-us", "launches", "most-launches", "flush-l2", "rotate"]
        }
        "model" => &[
            "endpoint",
            "name",
            "roles",
            "key-env",
            "temperature",
            "prompt-tokens",
            "answer-tokens",
            "timeout-s",
            "budget-tokens",
            "budget-money",
            "budget-s",
            "price-prompt",
            "price-answer",
            "stream",
            "structured",
            "tools",
            "tool-calls",
            "tool-s",
            "evolve",
            "islands",
            "distil",
            "local-motifs",
            "motif-places",
            "rewind",
            "repairs",
            "share",
            "prompts",
            "consent",
        ],
        "proposer" => &["command", "timeout-s", "repairs", "share"],
        "model.roles" => &MODEL_ROLES,
        _ => return None,
    })
}

/// Unknown keys of the whole document.
pub(super) fn unknown_keys(table: &DeTable<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    walk(table, "", &mut findings);
    findings.sort_by_key(|finding| finding.span.start);
    findings
}

fn walk(table: &DeTable<'_>, path: &str, findings: &mut Vec<Finding>) {
    let free = matches!(path, "tunable" | "verify.tolerance");
    for (key, value) in table {
        let name: &str = key.get_ref();
        if !free
            && let Some(known) = known(path)
            && !known.contains(&name)
        {
            let place = if path.is_empty() { "at the top".to_owned() } else { format!("in [{path}]") };
            let help = match nearest(name, known) {
                Some(likely) => format!("did you mean `{likely}`?"),
                None => format!("there are: {}", known.join(", ")),
            };
            findings.push(Finding { span: key.span(), message: format!("unknown key `{name}` {place}"), help });
            continue;
        }
        let segment = if free { "*" } else { name };
        let path = if path.is_empty() { segment.to_owned() } else { format!("{path}.{segment}") };
        match value.get_ref() {
            DeValue::Table(inner) => walk(inner, &path, findings),
            DeValue::Array(items) => {
                for item in items.iter() {
                    if let DeValue::Table(inner) = item.get_ref() {
                        walk(inner, &path, findings);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The known name that is at most two edits away.
pub(super) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let scored = known.iter().map(|candidate| (distance(name, candidate), *candidate));
    scored.min().filter(|(edits, _)| *edits <= 2).map(|(_, candidate)| candidate)
}

fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (position, from) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = position + 1;
        for (column, to) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = row[column + 1];
            row[column + 1] = substituted.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

/// Every key of the manifest, for the test that the template states them all.
pub fn all_keys() -> Vec<&'static str> {
    let tables = [
        "",
        "operator",
        "machine",
        "cmake",
        "direct",
        "case",
        "case.stands-for",
        "case.inputs",
        "case.attributes",
        "tunable.*",
        "tunable.*.domain",
        "space",
        "verify",
        "verify.tolerance.*",
        "allow",
        "check",
        "limits",
        "sdk",
        "cann",
        "model",
        "proposer",
    ];
    tables.iter().filter_map(|table| known(table)).flatten().copied().collect()
}
