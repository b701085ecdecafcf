//! L09: a kernel that uses no workspace does not look at it.

use std::ops::Range;

use super::code::{edit, squash, words};
use super::context::{Candidate, Context, Counter, Family, Motif};
use super::entry::{device_files, entries, foreign_header, mention};
use crate::source::Edit;
use crate::source::parse::{Function, SyntaxFile};

/// What reads the workspace that `SetSysWorkspace` names.
const READERS: &[&str] = &[
    "GetSysWorkSpacePtr",
    "SyncAll",
    "IBSet",
    "IBWait",
    "REGIST_MATMUL_OBJ",
    "Matmul",
    "MatmulImpl",
    "Hccl",
    "InitDetermineComputeWorkspace",
];

/// The motif.
pub struct NoWorkspace;

impl Motif for NoWorkspace {
    fn id(&self) -> &'static str {
        "L09"
    }
    fn title(&self) -> &'static str {
        "drop checks of an unused workspace"
    }
    fn family(&self) -> Family {
        Family::Launch
    }
    fn precondition(&self) -> &'static str {
        "an entry function that checks its workspace for null, names it with SetSysWorkspace or asks GetUserWorkspace for the user's part, and uses \
         neither further; nothing in the device sources synchronises all cores or multiplies matrices, and every header is known"
    }
    fn cost(&self) -> &'static str {
        "nothing"
    }
    fn undoing(&self) -> &'static str {
        "the usual checks at the start"
    }
    fn seen_by_model(&self) -> bool {
        false
    }
    fn relieves(&self) -> &'static [Counter] {
        &[Counter::ScalarUs]
    }
    fn prior_gain(&self) -> f64 {
        1.01
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function) in entries(context) {
            let Some(boilerplate) = Boilerplate::of(file, function) else { continue };
            let span = boilerplate.statements[0].clone();
            let edits = boilerplate.removed(context, file, function);
            let candidate = Candidate::new(file, &span, "drop the checks of the workspace", edits);
            found.push(candidate.on_condition("the framework launches the kernel with a workspace that is not null"));
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function) in entries(context) {
            let Some(name) = workspace(function) else { continue };
            if words(file.slice(&function.body)).contains(&name) || words(file.slice(&function.body)).contains(&USER) {
                continue;
            }
            let body = file.slice(&function.body);
            let edits = if let Some(rest) = body.strip_prefix("{\n") {
                let indentation = &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()];
                let lines = [
                    format!("if ({name} == nullptr) {{"),
                    "    return;".to_owned(),
                    "}".to_owned(),
                    format!("SetSysWorkspace({name});"),
                    format!("GM_ADDR {USER} = GetUserWorkspace({name});"),
                    format!("if ({USER} == nullptr) {{"),
                    "    return;".to_owned(),
                    "}".to_owned(),
                ];
                let text: String = lines.iter().map(|line| format!("{indentation}{line}\n")).collect();
                let start = function.body.start + 2;
                Ok(vec![edit(file, start..start, text)])
            } else {
                Err("the function's body does not start on a line of its own".to_owned())
            };
            found.push(Candidate::new(file, &function.span, "check the workspace", edits));
        }
        found
    }
}

/// Name that the user's part of the workspace gets.
const USER: &str = "userWS";

/// The parameter that is the workspace: the one before the tiling data.
fn workspace(function: &Function) -> Option<&str> {
    let named = |parameter: &&crate::source::parse::Parameter| parameter.name.to_lowercase().contains("workspace");
    function.parameters.iter().find(named).map(|parameter| parameter.name.as_str())
}

/// Statements that look at the workspace.
struct Boilerplate<'a> {
    names: Vec<&'a str>,
    statements: Vec<Range<usize>>,
}

impl<'a> Boilerplate<'a> {
    fn of(file: &'a SyntaxFile, function: &'a Function) -> Option<Self> {
        let mut names = vec![workspace(function)?];
        let body = file.node_at(&function.body)?;
        let mut statements = Vec::new();
        let mut cursor = body.walk();
        for node in body.named_children(&mut cursor).filter(|node| node.kind() != "comment") {
            let text = squash(file.slice(&node.byte_range()));
            let ours = match node.kind() {
                "if_statement" => names.iter().any(|name| {
                    let checks =
                        [format!("if({name}==nullptr)"), format!("if(nullptr=={name})"), format!("if({name}==NULL)")];
                    checks.iter().any(|check| {
                        text.strip_prefix(check.as_str()).is_some_and(|rest| rest == "{return;}" || rest == "return;")
                    })
                }),
                "expression_statement" => {
                    let text = text.trim_start_matches("AscendC::");
                    text == format!("SetSysWorkspace({});", names[0])
                }
                "declaration" => {
                    let local = file.locals().iter().find(|local| local.span == node.byte_range() && local.alone);
                    let value = local.and_then(|local| local.value.as_ref()).map(|value| squash(file.slice(value)));
                    let value = value.map(|value| value.trim_start_matches("AscendC::").to_owned());
                    let user = value == Some(format!("GetUserWorkspace({})", names[0]));
                    names.extend(local.filter(|_| user).map(|local| local.name.as_str()));
                    user
                }
                _ => false,
            };
            if ours {
                statements.push(node.byte_range());
            }
        }
        (!statements.is_empty()).then_some(Self { names, statements })
    }

    fn removed(&self, context: &Context, file: &SyntaxFile, function: &Function) -> Result<Vec<Edit>, String> {
        if let Some((word, place)) = mention(context, READERS) {
            return Err(format!("{place}: {word} uses the workspace"));
        }
        if let Some(header) = foreign_header(context) {
            return Err(format!("{header} is not part of these sources and may use the workspace"));
        }
        let inside = |span: &Range<usize>| self.statements.iter().any(|statement| statement.contains(&span.start));
        for token in crate::source::parse::lex(file.slice(&function.body)) {
            let span = function.body.start + token.span.start..function.body.start + token.span.end;
            let text = file.slice(&span);
            let directive = text.starts_with('#') && self.names.iter().any(|name| text.contains(name));
            if (self.names.contains(&text) || directive) && !inside(&span) {
                return Err(format!("{text} is used at line {}", file.line(span.start)));
            }
        }
        if let Some(other) =
            device_files(context).find(|other| other.text().contains("SetSysWorkspace") && other.name() != file.name())
        {
            return Err(format!("{} sets a workspace too", other.name()));
        }
        let removal = |statement: &Range<usize>| {
            Ok(edit(file, file.whole_lines(statement).ok_or("a check shares its line")?, ""))
        };
        self.statements.iter().map(removal).collect()
    }
}
