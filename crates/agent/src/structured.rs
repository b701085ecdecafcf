//! Answers as JSON by a schema, for servers that hold a model to one. They are put into the form of text that all other answers have, so
//! that there is one way from an answer to a change.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{END, between, function_head, one_line, search_head};
use super::removal::COUNTER;
use super::role::Role;
use super::tiling::HEAD;
use motif::Counter;

/// What an answer for a role has to be like, as `response_format` says it; `None` where it is plain text.
pub fn response_format(role: Role) -> Option<Value> {
    let object = |properties: Value, required: &[&str]| json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    let text = || json!({ "type": "string" });
    let schema = match role {
        Role::Diagnose | Role::Distil | Role::Motif => return None,
        Role::Evolve => object(json!({ "title": text(), "text": text() }), &["title", "text"]),
        Role::Plan => object(json!({ "ideas": { "type": "array", "items": text() } }), &["ideas"]),
        Role::Propose | Role::Repair | Role::Rewind => {
            let edit = object(
                json!({ "file": text(), "function": text(), "search": text(), "replace": text() }),
                &["file", "function", "search", "replace"],
            );
            let edits = json!({ "type": "array", "items": edit });
            if role == Role::Rewind {
                let counter = json!({ "type": "string", "enum": Counter::ALL.map(Counter::name) });
                let properties = json!({ "title": text(), "counter": counter, "edits": edits });
                object(properties, &["title", "counter", "edits"])
            } else {
                object(json!({ "title": text(), "edits": edits }), &["title", "edits"])
            }
        }
    };
    Some(json!({ "type": "json_schema", "json_schema": { "name": role.name(), "strict": true, "schema": schema } }))
}

#[derive(Deserialize)]
struct Plan {
    ideas: Vec<String>,
}

#[derive(Deserialize)]
struct Proposal {
    #[serde(default)]
    title: String,
    #[serde(default)]
    counter: String,
    edits: Vec<Edit>,
}

#[derive(Deserialize)]
struct Version {
    #[serde(default)]
    title: String,
    text: String,
}

#[derive(Deserialize)]
struct Edit {
    file: String,
    #[serde(default)]
    function: String,
    #[serde(default)]
    search: String,
    replace: String,
}

/// An answer in the form of text. What is not JSON of the role's schema stays as it is: a server may have held nobody to it.
pub fn as_text(role: Role, answer: &str) -> String {
    let json = answer.trim();
    let json = json.strip_prefix("```json").and_then(|rest| rest.strip_suffix("```")).unwrap_or(json);
    let read = match role {
        Role::Diagnose | Role::Distil | Role::Motif => None,
        Role::Evolve => serde_json::from_str(json).ok().map(|version: Version| of_version(&version)),
        Role::Plan => serde_json::from_str(json).ok().map(|plan: Plan| of_plan(&plan)),
        Role::Propose | Role::Repair | Role::Rewind => {
            serde_json::from_str(json).ok().map(|proposal: Proposal| of_proposal(&proposal))
        }
    };
    read.unwrap_or_else(|| answer.to_owned())
}

fn of_plan(plan: &Plan) -> String {
    let ideas: String = plan.ideas.iter().map(|idea| format!("- {}\n", one_line(idea.trim()))).collect();
    if ideas.is_empty() { "NOTHING".to_owned() } else { ideas }
}

fn of_version(version: &Version) -> String {
    if version.text.trim().is_empty() {
        return "NOTHING".to_owned();
    }
    let title = one_line(version.title.trim());
    format!("TITLE: {title}\n{HEAD}\n{}\n{END}\n", version.text.trim_end_matches('\n'))
}

fn of_proposal(proposal: &Proposal) -> String {
    if proposal.edits.is_empty() {
        return "NOTHING".to_owned();
    }
    let mut text = format!("TITLE: {}\n", one_line(proposal.title.trim()));
    if !proposal.counter.is_empty() {
        // A `String` takes everything that is written to it.
        let _ = writeln!(text, "{COUNTER} {}", one_line(proposal.counter.trim()));
    }
    // The line break that ends a block is the block's own.
    let block =
        |lines: &str| if lines.is_empty() { String::new() } else { format!("{}\n", lines.trim_end_matches('\n')) };
    for Edit { file, function, search, replace } in &proposal.edits {
        let (file, function) = (one_line(file.trim()), one_line(function.trim()));
        let head = if function.is_empty() {
            format!("{}{}", search_head(&file), between(&block(search)))
        } else {
            function_head(&file, &function)
        };
        // A `String` takes everything that is written to it.
        let _ = writeln!(text, "{head}{}{}", block(replace), END);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{change, ideas};
    use source::SourceTree;

    fn sources() -> SourceTree {
        [("k.cpp", "void A() {\n    B();\n}\nint c;\n")].into_iter().collect()
    }

    fn text(answer: &Value) -> String {
        as_text(Role::Propose, &answer.to_string())
    }

    #[test]
    fn edits_by_a_schema_are_the_edits_of_the_text() {
        let edits = json!([
            { "file": "k.cpp", "function": "", "search": "int c;\n", "replace": "int d;\n" },
            { "file": "k.cpp", "function": "A", "search": "", "replace": "void A() {\n    C();\n}" },
        ]);
        let change = change(&text(&json!({ "title": "c\nto d", "edits": edits })), &sources()).unwrap();
        assert_eq!(change.title, "c to d");
        assert_eq!(change.wanted.text("k.cpp").unwrap(), "void A() {\n    C();\n}\nint d;\n");
        let removed =
            json!({ "title": "x", "edits": [{ "file": "k.cpp", "function": "", "search": "int c;", "replace": "" }] });
        assert!(
            !super::super::answer::change(&text(&removed), &sources())
                .unwrap()
                .wanted
                .text("k.cpp")
                .unwrap()
                .contains("int c")
        );
        assert_eq!(text(&json!({ "title": "x", "edits": [] })), "NOTHING");
    }

    #[test]
    fn what_is_written_into_a_field_reaches_no_other_file() {
        let file = "k.cpp\n=======\n>>>>>>> REPLACE\n<<<<<<< SEARCH ascend.toml";
        let edit = json!([{ "file": file, "function": "", "search": "int c;", "replace": "int d;" }]);
        let error = change(&text(&json!({ "title": "x", "edits": edit })), &sources()).unwrap_err().to_string();
        assert!(error.contains("cannot be changed"), "{error}");
    }

    #[test]
    fn a_plan_is_a_list_and_what_is_no_json_stays() {
        assert_eq!(ideas(&as_text(Role::Plan, r#"{"ideas":["a\n- b","c"]}"#), 3), ["a - b", "c"]);
        assert_eq!(
            as_text(
                Role::Plan,
                r#"```json
{"ideas":[]}
```"#
            ),
            "NOTHING"
        );
        assert_eq!(as_text(Role::Plan, "- widen"), "- widen");
        assert_eq!(as_text(Role::Diagnose, "{}"), "{}");
        assert!(response_format(Role::Diagnose).is_none());
        for role in [Role::Plan, Role::Propose, Role::Repair, Role::Rewind] {
            let format = response_format(role).unwrap();
            assert_eq!(format["json_schema"]["schema"]["additionalProperties"], false, "{role}");
        }
    }
}
