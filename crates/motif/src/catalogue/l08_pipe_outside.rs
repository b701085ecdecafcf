//! L08: the pipe is a variable of the entry function and the operator's object has a pointer to it.
//!
//! As a member its address escapes with the object's, and the compiler no longer folds what it knows of the other members.

use crate::analysis::code::{block_of, words};
use crate::analysis::entry::device_files;
use crate::analysis::flow::effects::own_functions;
use crate::rewrite::edits::edit;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::{FileSpan, Kernel};
use source::lex::{PieceKind, pieces};
use source::parse::{Function, Local, Parameter, SyntaxFile};

/// Name of the new parameter of `Init`.
const PARAMETER: &str = "pipeIn";

/// The motif.
pub struct PipeOutside;

const METADATA: Metadata = Metadata {
    id: Id::L08,
    title: "TPipe outside the operator's object",
    family: Family::Launch,
    precondition: "a class without bases and with one Init, whose TPipe member is used as object of calls or by its address; every mention of the class, but as a namespace or as the operator of a template, is a variable \
     of a function, on which Init is called once as a statement; no such function has a name equal to the member's",
    left_to_verifier: "nothing",
    relieves: &[Counter::ScalarUs],
    prior_gain: 1.05,
    cost: "nothing",
    tunables: "none",
    undoing: "the pipe as a member",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for PipeOutside {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        each_pipe(context, false, |operator| operator.outside())
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        each_pipe(context, true, |operator| operator.inside())
    }
}

/// A class with its pipe.
struct Operator<'a> {
    context: &'a Context,
    kernel: &'a Kernel,
    pipe: &'a str,
    declaration: &'a FileSpan,
}

/// An object of the class: its declaration, and the call of `Init` on it.
struct Object<'a> {
    file: &'a SyntaxFile,
    local: &'a Local,
    init: &'a source::parse::Call,
}

fn each_pipe(
    context: &Context,
    pointer: bool,
    change: impl Fn(&Operator<'_>) -> Result<Vec<Edit>, String>,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    for kernel in context.facts.kernels.values() {
        for (pipe, declaration) in &kernel.pipes {
            let Some(file) = context.forest.get(&declaration.file) else { continue };
            let member = file.classes().iter().find(|class| class.name == kernel.name).is_some_and(|class| {
                class.members.iter().any(|member| member.name == *pipe && member.span == declaration.span())
            });
            if !member || file.slice(&declaration.span()).contains('*') != pointer {
                continue;
            }
            let operator = Operator { context, kernel, pipe, declaration };
            let note = if pointer { "pipe as a member" } else { "pipe outside the object" };
            found.push(Candidate::new(
                file,
                &declaration.span(),
                format!("{}: {note}", kernel.name),
                change(&operator),
            ));
        }
    }
    found
}

impl<'a> Operator<'a> {
    fn init(&self) -> Result<(&'a SyntaxFile, &'a Function), String> {
        let mut inits = own_functions(self.context, self.kernel, "Init");
        match (inits.next(), inits.next()) {
            (Some(init), None) => Ok(init),
            (None, _) => Err(format!("{} has no Init", self.kernel.name)),
            _ => Err(format!("{} has more than one Init", self.kernel.name)),
        }
    }

    /// All objects of the class, or why some use of it is not understood.
    fn objects(&self) -> Result<Vec<Object<'a>>, String> {
        let (context, name) = (self.context, self.kernel.name.as_str());
        if self.kernel.has_base() {
            return Err(format!("{name} has a base class"));
        }
        let mut objects = Vec::new();
        for file in device_files(context) {
            let locals: Vec<&Local> = file
                .locals()
                .iter()
                .filter(|local| file.enclosing_function(local.span.start).is_some() && is_class(&local.type_text, name))
                .collect();
            let tokens = pieces(file.text());
            let code: Vec<&str> = tokens.iter().map(|token| file.slice(&token.span)).collect();
            let is_namespace = code.windows(2).any(|pair| pair == ["namespace", name]);
            for (index, token) in tokens.iter().enumerate() {
                let text = code[index];
                let at = || format!("{}:{}", file.name(), file.line(token.span.start));
                if token.kind == PieceKind::Directive && words(text.trim_start_matches('#')).contains(&name) {
                    return Err(format!("{}: a directive mentions {name}", at()));
                }
                if token.kind != PieceKind::Word || text != name {
                    continue;
                }
                let declares = locals.iter().any(|local| local.span.contains(&token.span.start));
                let class = file.classes().iter().find(|class| class.span.contains(&token.span.start));
                let own_class = class.is_some_and(|class| class.name == name);
                // `Name<T>::Init` outside the class.
                let head = file.functions().iter().any(|function| {
                    function.class.as_deref() == Some(name)
                        && function.span.start <= token.span.start
                        && token.span.start < function.body.start
                });
                let other = names_no_class(&code[..index], &code[index + 1..], is_namespace);
                if !(declares || own_class || head || other) {
                    return Err(format!("{}: {name} is mentioned other than as the type of an object", at()));
                }
            }
            for local in locals {
                objects.push(self.object(file, local)?);
            }
        }
        if objects.is_empty() { Err(format!("no object of {name} is declared here")) } else { Ok(objects) }
    }

    fn object(&self, file: &'a SyntaxFile, local: &'a Local) -> Result<Object<'a>, String> {
        let line = file.line(local.span.start);
        let function = file.enclosing_function(local.span.start).ok_or("an object outside of functions")?;
        if !local.alone || local.value.is_some() || local.type_text.contains(['*', '&']) {
            return Err(format!("line {line}: the object is not declared alone and without arguments"));
        }
        let scope = block_of(file, &local.span).unwrap_or_else(|| function.body.clone());
        let mut inits = file
            .calls_in(scope)
            .filter(|call| call.name == "Init" && call.object.as_deref() == Some(local.name.as_str()))
            .filter(|call| declared_by(file, &local.name, call.span.start) == Some(&local.span));
        match (inits.next(), inits.next()) {
            (Some(init), None) if init.statement.is_some() => Ok(Object { file, local, init }),
            _ => Err(format!("line {line}: Init is not called once on {}", local.name)),
        }
    }

    /// Words `pipe` of the class, each with the text that replaces it and what follows; `pointer` is the form that it has.
    fn mentions(&self, pointer: bool) -> Result<Vec<Edit>, String> {
        let mut edits = Vec::new();
        for (file, index) in &self.kernel.functions {
            let Some(file) = self.context.forest.get(file) else { continue };
            let Some(function) = file.functions().get(*index) else { continue };
            let start = function.body.start;
            let tokens = pieces(file.slice(&function.body));
            let text = |index: usize| {
                tokens.get(index).map_or("", |token| file.slice(&(start + token.span.start..start + token.span.end)))
            };
            for (index, token) in tokens.iter().enumerate() {
                if token.kind == PieceKind::Directive && text(index).contains(self.pipe) {
                    return Err(format!("a directive mentions {}", self.pipe));
                }
                if token.kind != PieceKind::Word || text(index) != self.pipe {
                    continue;
                }
                let end = start + token.span.end;
                let line = file.line(end);
                let before = index.checked_sub(1).map_or("", text);
                let unclear = || format!("line {line}: {} is used in a way that is not understood", self.pipe);
                match (before, text(index + 1), text(index + 2)) {
                    (_, ".", _) if !pointer => edits.push(edit(file, end..end + 1, "->")),
                    (_, "-", ">") if pointer => edits.push(edit(file, end..end + 2, ".")),
                    ("&", "," | ")" | ";", _) if !pointer => {
                        let ampersand = start + tokens[index - 1].span.start;
                        edits.push(edit(file, ampersand..ampersand + 1, ""));
                    }
                    (_, "=", _) if pointer && text(index + 2) == PARAMETER => {}
                    ("(" | ",", "," | ")", _) if pointer => {
                        let at = start + token.span.start;
                        edits.push(edit(file, at..at, "&"));
                    }
                    _ => return Err(unclear()),
                }
            }
        }
        Ok(edits)
    }

    /// Where the parameters of `Init` begin: in the class, and in a definition outside of it.
    fn heads(&self, file: &SyntaxFile, init: &Function) -> Result<Vec<Edit>, String> {
        let mut heads = Vec::new();
        for (other, class) in
            device_files(self.context).flat_map(|file| file.classes().iter().map(move |class| (file, class)))
        {
            if class.name != self.kernel.name {
                continue;
            }
            let inside = |byte: usize| {
                other
                    .functions()
                    .iter()
                    .any(|function| function.body.contains(&byte) && function.body.start > class.body.start)
            };
            heads.extend(
                parameters_of_init(other, class.body.clone(), &inside).map(|byte| (other.name().to_owned(), byte)),
            );
        }
        heads.extend(
            parameters_of_init(file, init.span.start..init.body.start, &|_| false)
                .map(|byte| (file.name().to_owned(), byte)),
        );
        heads.sort();
        heads.dedup();
        let expected = 1 + usize::from(heads.len() > 1);
        if heads.len() != expected || heads.is_empty() {
            return Err("the head of Init is not found".to_owned());
        }
        Ok(heads.into_iter().map(|(file, byte)| Edit { file, span: byte..byte, replacement: String::new() }).collect())
    }

    fn outside(&self) -> Result<Vec<Edit>, String> {
        let (context, pipe) = (self.context, self.pipe);
        let (file, init) = self.init()?;
        if words(file.slice(&init.span)).contains(&PARAMETER) {
            return Err(format!("{PARAMETER} is taken"));
        }
        let objects = self.objects()?;
        let holder = context.forest.get(&self.declaration.file).ok_or("the class is not parsed")?;
        let text = holder.slice(&self.declaration.span());
        let at = text.rfind(pipe).ok_or("the member's name is not found")?;
        let type_text = text[..at].trim_end();
        if !matches!(type_text, "TPipe" | "AscendC::TPipe") || text[at + pipe.len()..].trim() != ";" {
            return Err("the member is not declared alone".to_owned());
        }
        let star = self.declaration.start + at;
        let mut edits = vec![edit(holder, star..star, "*")];
        edits.extend(self.mentions(false)?);
        let comma = if init.parameters.is_empty() { "" } else { ", " };
        for mut head in self.heads(file, init)? {
            // Where every parameter has a line of its own, no blank is left at the end of the first.
            let ends_line = self.context.forest.get(&head.file).is_some_and(|file| {
                let rest = &file.text()[head.span.start..];
                rest.starts_with('\n')
            });
            let comma = if ends_line { comma.trim_end() } else { comma };
            head.replacement = format!("{type_text} *{PARAMETER}{comma}");
            edits.push(head);
        }
        let body = file.slice(&init.body);
        let (opening, rest) = body.split_once('\n').ok_or("Init's body is one line")?;
        let behind = opening.trim_start_matches('{').trim();
        if !behind.is_empty() && !behind.starts_with("//") {
            return Err("Init's body does not start on a line of its own".to_owned());
        }
        let indentation = &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()];
        let start = init.body.start + opening.len() + 1;
        edits.push(edit(file, start..start, format!("{indentation}{pipe} = {PARAMETER};{}", end_of_line(file))));
        for object in objects {
            let function = object.file.enclosing_function(object.local.span.start).ok_or("no function")?;
            if words(object.file.slice(&function.span)).iter().any(|word| *word == pipe || word.contains("TPipe")) {
                return Err(format!("{} has a pipe already, or something named {pipe}", function.name));
            }
            // What stands behind it on its line, such as a comment, stays there.
            let line = object.file.text()[..object.local.span.start].rfind('\n').map_or(0, |end| end + 1);
            let indentation = object.file.slice(&(line..object.local.span.start));
            if !indentation.trim().is_empty() {
                return Err("something stands before the object on its line".to_owned());
            }
            let end = end_of_line(object.file);
            edits.push(edit(object.file, line..line, format!("{indentation}AscendC::TPipe {pipe};{end}")));
            let open = object.init.callee.end + 1;
            let comma = if object.init.arguments.is_empty() { "" } else { ", " };
            edits.push(edit(object.file, open..open, format!("&{pipe}{comma}")));
        }
        Ok(edits)
    }

    fn inside(&self) -> Result<Vec<Edit>, String> {
        let pipe = self.pipe;
        let (file, init) = self.init()?;
        let is_pipe = |parameter: &Parameter| parameter.name == PARAMETER && parameter.type_text.contains("TPipe");
        if !init.parameters.first().is_some_and(is_pipe) {
            return Err("the pipe is not the first parameter of Init".to_owned());
        }
        let objects = self.objects()?;
        let holder = self.context.forest.get(&self.declaration.file).ok_or("the class is not parsed")?;
        let text = holder.slice(&self.declaration.span());
        let star = text.find('*').filter(|star| text[star + 1..].trim_end_matches(';') == pipe);
        let star = self.declaration.start + star.ok_or("the member is not declared alone")?;
        let mut edits = vec![edit(holder, star..star + 1, "")];
        edits.extend(self.mentions(true)?);
        for mut head in self.heads(file, init)? {
            let from = head.span.start;
            let text = self.context.forest.get(&head.file).map_or("", |file| &file.text()[from..]);
            let end = text.find(PARAMETER).ok_or("the parameter is not found")? + PARAMETER.len();
            let comma = if text[end..].starts_with(", ") { 2 } else { usize::from(text[end..].starts_with(",\n")) };
            head.span = from..from + end + comma;
            edits.push(head);
        }
        let line = format!("{pipe} = {PARAMETER};");
        let body = file.slice(&init.body);
        let at = body.find(&line).ok_or_else(|| format!("Init does not begin with {line}"))?;
        let statement = init.body.start + at..init.body.start + at + line.len();
        edits.push(edit(file, file.whole_lines(&statement).ok_or("the assignment shares its line")?, ""));
        for object in objects {
            let declared = object.file.locals().iter().find(|local| {
                local.name == pipe
                    && local.span.end <= object.local.span.start
                    && object.file.slice(&(local.span.end..object.local.span.start)).trim().is_empty()
            });
            let declared =
                declared.ok_or_else(|| format!("{pipe} is not declared right before {}", object.local.name))?;
            edits.push(edit(
                object.file,
                object.file.whole_lines(&declared.span).ok_or("the pipe shares its line")?,
                "",
            ));
            let first = object.init.arguments.first().ok_or("Init has no arguments")?;
            if object.file.slice(first) != format!("&{pipe}") {
                return Err("the pipe is not the first argument of Init".to_owned());
            }
            let end = object.init.arguments.get(1).map_or(first.end, |second| second.start);
            edits.push(edit(object.file, first.start..end, ""));
        }
        Ok(edits)
    }
}

/// How lines of a file end.
fn end_of_line(file: &SyntaxFile) -> &'static str {
    if file.text().contains("\r\n") { "\r\n" } else { "\n" }
}

/// Whether the words before and behind a name show that it means something else than a class of that name: a namespace, or the operator
/// whose template parameters are declared.
fn names_no_class(before: &[&str], behind: &[&str], is_namespace: bool) -> bool {
    match (before, behind) {
        ([.., "namespace"], _) | ([.., "ASCENDC_TPL_ARGS_DECL", "("], [",", ..]) => true,
        (_, [":", ":", ..]) => is_namespace,
        _ => false,
    }
}

/// Whether a type is the class, maybe with a scope and template arguments.
fn is_class(type_text: &str, name: &str) -> bool {
    let plain = type_text.split('<').next().unwrap_or_default().trim();
    plain.rsplit("::").next() == Some(name)
}

/// Bytes after `Init(` in a part of a file.
fn parameters_of_init<'a>(
    file: &'a SyntaxFile,
    part: std::ops::Range<usize>,
    skipped: &'a dyn Fn(usize) -> bool,
) -> impl Iterator<Item = usize> + 'a {
    let tokens = pieces(file.slice(&part));
    let text = file.slice(&part);
    let found: Vec<usize> = tokens
        .windows(2)
        .filter(|pair| &text[pair[0].span.clone()] == "Init" && &text[pair[1].span.clone()] == "(")
        .map(|pair| part.start + pair[1].span.end)
        .filter(|byte| !skipped(*byte))
        .collect();
    found.into_iter()
}

/// The declaration that a name means at a byte: the last one before it whose block is still open.
fn declared_by<'a>(file: &'a SyntaxFile, name: &str, byte: usize) -> Option<&'a std::ops::Range<usize>> {
    let visible = |local: &&Local| {
        local.name == name
            && local.span.end <= byte
            && block_of(file, &local.span).is_some_and(|block| block.contains(&byte))
    };
    file.locals().iter().rfind(visible).map(|local| &local.span)
}
