//! L01: as many cores as there are, instead of a constant number of them.

use std::ops::Range;

use super::code::{edit, words};
use super::context::{Candidate, Context, Counter, Family, Motif};
use super::entry::device_files;
use source::Edit;
use source::facts::{is_host, parse_integer};
use source::parse::{Call, Function, Local, SyntaxFile, TokenKind, lex};

/// Vector cores of the machine, asked from the platform.
const HEADER: &str = "\"tiling/platform/platform_ascendc.h\"";

/// The motif.
pub struct AllCores;

impl Motif for AllCores {
    fn id(&self) -> &'static str {
        "L01"
    }
    fn title(&self) -> &'static str {
        "all vector cores instead of a constant number"
    }
    fn family(&self) -> Family {
        Family::Launch
    }
    fn precondition(&self) -> &'static str {
        "in a host function that sets the block dimension, a constant above 1 with a name of cores or blocks of a launch, from which the block dimension follows, \
         and which the kernel does not mention; every share follows from the constant"
    }
    fn cost(&self) -> &'static str {
        "more cores to start: small inputs may lose (L02)"
    }
    fn left_to_verifier(&self) -> &'static str {
        "cores stay independent with another number of them (results, hazard check)"
    }
    fn undoing(&self) -> &'static str {
        "a constant number of cores: 16, or 8"
    }
    fn tunables(&self) -> &'static str {
        "closes a constant that is a tunable"
    }
    fn replaces_constants(&self) -> bool {
        true
    }
    fn relieves(&self) -> &'static [Counter] {
        &[Counter::Mte2Us, Counter::Mte3Us, Counter::VecUs, Counter::ScalarUs]
    }
    fn prior_gain(&self) -> f64 {
        1.2
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for launch in launches(context) {
            found.extend(launch.named(context));
            found.extend(launch.literal());
        }
        found
            .into_iter()
            .map(|candidate| candidate.on_condition("cores stay independent when there are more of them"))
            .collect()
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for launch in launches(context) {
            for local in launch.core_locals() {
                let Some(value) = local.value.clone() else { continue };
                if !launch.file.slice(&value).contains("GetCoreNumAiv()") {
                    continue;
                }
                for cores in ["16", "8"] {
                    let edits = Ok(vec![edit(launch.file, value.clone(), cores)]);
                    found.push(Candidate::new(launch.file, &local.span, format!("{} = {cores}", local.name), edits));
                }
            }
        }
        found
    }
}

/// A host function that sets the block dimension.
pub(super) struct Launch<'a> {
    pub(super) file: &'a SyntaxFile,
    pub(super) function: &'a Function,
    /// The call of `SetBlockDim`.
    pub(super) set: &'a Call,
}

/// Host functions that set one block dimension.
pub(super) fn launches(context: &Context) -> Vec<Launch<'_>> {
    let mut found = Vec::new();
    for file in context.forest.iter().filter(|file| is_host(file.name())) {
        for function in file.functions() {
            let mut calls = file.calls_in(function.body.clone()).filter(|call| call.name == "SetBlockDim");
            // Several block dimensions in one function belong to several ways of splitting.
            if let (Some(set), None) = (calls.next(), calls.next()) {
                found.push(Launch { file, function, set });
            }
        }
    }
    found
}

/// Whether a name speaks of cores or of blocks of a launch.
fn is_core_name(name: &str) -> bool {
    let name = name.to_lowercase().replace('_', "");
    let cores = ["corenum", "numcores", "cores", "usedcore", "blockdim", "blocknum", "numblocks", "aivnum"];
    cores.iter().any(|part| name.contains(part)) && !name.contains("per") && !name.contains("max")
}

impl<'a> Launch<'a> {
    fn locals(&self) -> impl Iterator<Item = &'a Local> {
        let body = self.function.body.clone();
        self.file.locals().iter().filter(move |local| body.contains(&local.span.start))
    }

    /// Names that the block dimension follows from.
    pub(super) fn sources(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = self.set.arguments.iter().flat_map(|span| words(self.file.slice(span))).collect();
        for _ in 0..6 {
            for local in self.locals() {
                let value = local.value.as_ref().filter(|_| names.contains(&local.name.as_str()));
                for word in value.map(|value| words(self.file.slice(value))).unwrap_or_default() {
                    if !names.contains(&word) {
                        names.push(word);
                    }
                }
            }
        }
        names
    }

    fn core_locals(&self) -> impl Iterator<Item = &'a Local> {
        let sources = self.sources();
        self.locals().filter(move |local| {
            sources.contains(&local.name.as_str()) && is_core_name(&local.name) && local.alone && local.value.is_some()
        })
    }

    /// The question for the number of cores, with the function's context as it is called here.
    fn question(&self) -> Result<String, String> {
        let context = self.set.object.as_deref().ok_or("SetBlockDim is not called on a context")?;
        Ok(format!("platform_ascendc::PlatformAscendC({context}->GetPlatformInfo()).GetCoreNumAiv()"))
    }

    /// `const uint32_t cores = 16;`
    fn literal(&self) -> Vec<Candidate> {
        let mut found = Vec::new();
        for local in self.core_locals() {
            let Some(value) = local.value.clone() else { continue };
            let Some(cores) = parse_integer(self.file.slice(&value)).filter(|cores| *cores > 1) else { continue };
            let edits = || -> Result<Vec<Edit>, String> {
                if local.type_text.contains("constexpr") {
                    return Err(format!("{} is a constant expression", local.name));
                }
                let mut edits = vec![edit(self.file, value.clone(), self.question()?)];
                edits.extend(included(self.file, HEADER)?);
                Ok(edits)
            };
            let note = format!("all vector cores instead of {cores}");
            found.push(Candidate::new(self.file, &local.span, note, edits()));
        }
        found
    }

    /// A constant of the file, from which the block dimension follows.
    fn named(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for name in self.sources().into_iter().filter(|name| is_core_name(name)) {
            let Some(cores) = context.facts.known.value(name).filter(|cores| *cores > 1) else { continue };
            if context.facts.definitions(name).next().is_none() {
                continue;
            }
            let note = format!("all vector cores instead of {name}, which is {cores}");
            found.push(Candidate::new(self.file, &self.set.span, note, self.asked(context, name)));
        }
        found
    }

    fn asked(&self, context: &Context, name: &str) -> Result<Vec<Edit>, String> {
        let (file, body) = (self.file, &self.function.body);
        if let Some(other) = device_files(context).find(|other| words(other.text()).contains(&name)) {
            return Err(format!("{} mentions {name}", other.name()));
        }
        let local = "availableCores";
        if words(file.slice(&self.function.span)).contains(&local) {
            return Err(format!("{local} is taken"));
        }
        let mentions: Vec<Range<usize>> = lex(file.slice(body))
            .into_iter()
            .filter(|token| token.kind == TokenKind::Word)
            .map(|token| body.start + token.span.start..body.start + token.span.end)
            .filter(|span| file.slice(span) == name)
            .collect();
        let constant = |span: &Range<usize>| {
            self.locals().any(|local| local.span.contains(&span.start) && local.type_text.contains("constexpr"))
        };
        if let Some(span) = mentions.iter().find(|span| constant(span)) {
            return Err(format!("line {}: {name} is part of a constant expression", file.line(span.start)));
        }
        let elsewhere: usize = context
            .forest
            .iter()
            .map(|other| words(other.text()).into_iter().filter(|word| *word == name).count())
            .sum();
        if elsewhere != mentions.len() + context.facts.definitions(name).count() {
            return Err(format!("{name} is used outside of {}", self.function.name));
        }
        let text = file.slice(body);
        let rest = text.strip_prefix("{\n").ok_or("the function's body does not start on a line of its own")?;
        let indentation = &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()];
        let start = body.start + 2;
        let line = format!("{indentation}const uint32_t {local} = {};\n", self.question()?);
        let mut edits = vec![edit(file, start..start, line)];
        edits.extend(mentions.into_iter().map(|span| edit(file, span, local)));
        for constant in context.facts.definitions(name) {
            let holder = context.forest.get(&constant.value.file).ok_or("the constant's file is not parsed")?;
            let declaration = holder
                .locals()
                .iter()
                .find(|local| local.name == *name && local.alone && local.value == Some(constant.value.span()))
                .ok_or_else(|| format!("{name} is not declared alone"))?;
            // A comment on the line goes with it.
            let begin = holder.text()[..declaration.span.start].rfind('\n').map_or(0, |at| at + 1);
            let after = &holder.text()[declaration.span.end..];
            let end = after.find('\n').unwrap_or(after.len());
            let comment = after[..end].trim();
            if !(comment.is_empty() || comment.starts_with("//")) {
                return Err(format!("the definition of {name} shares its line"));
            }
            edits.push(edit(holder, begin..(declaration.span.end + end + 1).min(holder.text().len()), ""));
        }
        edits.extend(included(self.file, HEADER)?);
        Ok(edits)
    }
}

/// The line that includes a header, which is named with its quotes or brackets, if the file does not yet.
pub(super) fn included(file: &SyntaxFile, header: &str) -> Result<Option<Edit>, String> {
    let text = file.text();
    if text.contains(header.trim_matches('"')) {
        return Ok(None);
    }
    let includes = |token: &source::parse::Token| {
        token.kind == TokenKind::Directive
            && file.slice(&token.span).trim_start_matches('#').trim_start().starts_with("include")
    };
    let last = lex(text).into_iter().rfind(includes).ok_or("the file includes nothing")?;
    let end = text[last.span.end..].find('\n').ok_or("the file ends in a directive")? + last.span.end + 1;
    Ok(Some(edit(file, end..end, format!("#include {header}\n"))))
}
