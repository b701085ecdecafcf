//! L01: as many cores as there are, instead of a constant number of them.

use std::ops::Range;

use crate::analysis::code::words;
use crate::analysis::entry::device_files;
use crate::analysis::launches::{Launch, all_launches, launches};
use crate::rewrite::edits::{edit, included};
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::parse_integer;
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Local};

/// Vector cores of the machine, asked from the platform.
const HEADER: &str = "\"tiling/platform/platform_ascendc.h\"";

/// The motif.
pub struct AllCores;

const METADATA: Metadata = Metadata {
    id: Id::L01,
    title: "all vector cores instead of a constant number",
    family: Family::Launch,
    precondition: "in a host function that sets the block dimension, a constant with a name of cores or blocks of a launch, from which the block dimension follows, \
     and which the kernel does not mention; it is above 1, or the kernel asks which core it is; every share follows from the constant",
    left_to_verifier: "cores stay independent with another number of them (results, hazard check)",
    relieves: &[Counter::Mte2Us, Counter::Mte3Us, Counter::VecUs, Counter::ScalarUs],
    prior_gain: 1.2,
    cost: "more cores to start: small inputs may lose (L02)",
    tunables: "closes a constant that is a tunable",
    undoing: "a constant number of cores: 16, or 8",
    rounding_changes: false,
    replaces_constants: true,
    company: Company { prevails_over: &[Id::L02], ..Company::ANY },
};

impl Motif for AllCores {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = Vec::new();
        for launch in all_launches(context) {
            for candidate in launch.named(context).into_iter().chain(launch.literal(context)) {
                // Several block dimensions may follow from one constant.
                let same = |other: &Candidate| {
                    other.site.file == candidate.site.file
                        && other.site.note == candidate.site.note
                        && other.edits == candidate.edits
                };
                if !found.iter().any(same) {
                    found.push(candidate);
                }
            }
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

/// The least number of cores that more than one may stand for: one only where the kernel asks which core it is, and so has shares for all.
fn least_cores(context: &Context) -> i64 {
    let asks = device_files(context).any(|file| {
        let in_assertion = |call: &Call| {
            let mut around = file.calls().iter().filter(|outer| outer.span.contains(&call.span.start));
            around.any(|outer| outer.name.eq_ignore_ascii_case("assert"))
        };
        file.calls_named("GetBlockIdx").any(|call| !in_assertion(call))
    });
    if asks { 1 } else { 2 }
}

/// Whether a name speaks of cores or of blocks of a launch.
fn is_core_name(name: &str) -> bool {
    let name = name.to_lowercase().replace('_', "");
    let cores = ["corenum", "numcores", "cores", "usedcore", "blockdim", "blocknum", "numblocks", "aivnum"];
    cores.iter().any(|part| name.contains(part)) && !name.contains("per") && !name.contains("max")
}

impl<'a> Launch<'a> {
    fn core_locals(&self) -> impl Iterator<Item = &'a Local> {
        let sources = self.sources();
        self.locals().filter(move |local| {
            sources.contains(&local.name.as_str()) && is_core_name(&local.name) && local.alone && local.value.is_some()
        })
    }

    /// `const uint32_t cores = 16;`
    fn literal(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for local in self.core_locals() {
            let Some(value) = local.value.clone() else { continue };
            let Some(cores) = parse_integer(self.file.slice(&value)) else { continue };
            if cores < least_cores(context) {
                continue;
            }
            let edits = || -> Result<Vec<Edit>, String> {
                let mut edits = vec![edit(self.file, value.clone(), self.question()?)];
                edits.extend(self.no_constant(local)?);
                edits.extend(included(self.file, HEADER)?);
                Ok(edits)
            };
            let note = format!("all vector cores instead of {cores}");
            found.push(Candidate::new(self.file, &local.span, note, edits()));
        }
        found
    }

    /// The edit that makes a variable of a constant expression, if it is one that no type or other constant is made of.
    fn no_constant(&self, local: &Local) -> Result<Option<Edit>, String> {
        if !local.type_text.contains("constexpr") {
            return Ok(None);
        }
        let file = self.file;
        let constant = || format!("{} is a constant expression", local.name);
        let body = &self.function.body;
        for token in pieces(file.slice(body)).into_iter().filter(|token| token.kind == PieceKind::Word) {
            let at = body.start + token.span.start..body.start + token.span.end;
            if file.slice(&at) != local.name || local.span.contains(&at.start) {
                continue;
            }
            let mut node = file.node_at(&at).ok_or_else(constant)?;
            while let Some(parent) = node.parent().filter(|parent| parent.start_byte() > body.start) {
                let kind = parent.kind();
                let is_type =
                    kind.contains("template") || kind.contains("array_declarator") || kind.contains("static_assert");
                let is_case = kind == "case_statement" && parent.child_by_field_name("value") == Some(node);
                let constexpr = kind == "declaration" && file.slice(&parent.byte_range()).contains("constexpr");
                if is_type || is_case || constexpr {
                    return Err(constant());
                }
                node = parent;
            }
        }
        let declared = file.slice(&local.span);
        let word = declared.find("constexpr").ok_or_else(constant)?;
        let start = local.span.start + word;
        Ok(Some(edit(file, start..start + "constexpr".len(), "const")))
    }

    /// A constant of the file, from which the block dimension follows.
    fn named(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for name in self.sources().into_iter().filter(|name| is_core_name(name)) {
            let Some(cores) = context.facts.known.value(name).filter(|cores| *cores >= least_cores(context)) else {
                continue;
            };
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
        let mentions: Vec<Range<usize>> = pieces(file.slice(body))
            .into_iter()
            .filter(|token| token.kind == PieceKind::Word)
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
