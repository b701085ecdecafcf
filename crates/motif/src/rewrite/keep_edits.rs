//! Edits that keep the chunks of a load in a buffer of their own, as many as fit, and guard the loads that bring them again.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::analysis::chunk_loads::{Load, Reuse};
use crate::analysis::code::{block_of, scope, squash, words};
use crate::analysis::flow::changes::{changed_names, changes_name};
use crate::analysis::loops::counter_type;
use crate::analysis::queue_run::{Frame, QueueRun, counter};
use crate::analysis::siblings::siblings;
use crate::rewrite::buffers::free_name;
use crate::rewrite::counted_bytes::{LENGTH, SLOTS};
use crate::rewrite::edits::{edit, insert_after};
use crate::rewrite::keep_room::{Room, bare};
use crate::rewrite::signature::{declared_apart, with_argument, with_parameter};
use source::Edit;
use source::facts::{TensorFacts, fixed_type_bytes};
use source::parse::{Call, Loop, SyntaxFile};

/// Start of the name of a parameter that an edit adds.
pub(crate) const PARAMETER: &str = "keptRound";

/// A round that has no room, for calls that are no rounds.
pub(crate) const NONE: &str = "0xFFFFFFFF";
pub(crate) const NONE_BY_DEFAULT: &str = " = 0xFFFFFFFF";

/// A parameter that tells a function in which round it runs.
struct Added {
    name: String,
    kind: String,
    /// Other calls leave it out: none of the rounds of the loop.
    optional: bool,
    /// Frame and start of the loop.
    of: (usize, usize),
    /// What calls give, by the frame that they start.
    arguments: BTreeMap<usize, String>,
}

/// The pieces of one reuse.
pub(crate) struct Keep<'a> {
    run: &'a QueueRun<'a>,
    reuse: &'a Reuse<'a>,
    /// Name of the buffer; the others are this with an end.
    name: String,
    /// Parameters to add to functions, by file and start.
    added: BTreeMap<(&'a str, usize), Vec<Added>>,
}

impl<'a> Keep<'a> {
    pub(crate) fn new(run: &'a QueueRun<'a>, reuse: &'a Reuse<'a>) -> Option<Self> {
        let tensor = &reuse.first.taken.name;
        let mut letters = tensor.chars();
        let first = letters.next()?.to_ascii_uppercase();
        let name = free_name(run.context, &format!("keep{first}{}", letters.as_str()));
        Some(Self { run, reuse, name, added: BTreeMap::new() })
    }

    pub(crate) fn edits(mut self) -> Result<Vec<Edit>, String> {
        let first = self.reuse.first;
        let mut edits = Room { run: self.run, reuse: self.reuse, name: &self.name }.initialised()?;
        let mut kept = self.stored(first)?;
        for load in self.reuse.later.clone() {
            self.guarded(load, &mut edits, &mut kept)?;
        }
        let Frame { file, .. } = &self.run.frames[first.to];
        if !kept.is_empty() {
            let shared = || format!("line {} is shared", file.line(first.taken.span.start));
            edits.push(insert_after(file, &first.taken.span, &kept).ok_or_else(shared)?);
        }
        edits.extend(self.signatures()?);
        Ok(edits)
    }

    /// Parameters and arguments for the counters that functions do not know.
    fn signatures(&self) -> Result<Vec<Edit>, String> {
        let mut edits = Vec::new();
        for parameters in self.added.values() {
            // The same call may stand for several frames.
            let mut calls: BTreeMap<(&str, usize), (usize, &Call)> = BTreeMap::new();
            let mut given: BTreeMap<((&str, usize), usize), &str> = BTreeMap::new();
            let mut callee = None;
            for (index, added) in parameters.iter().enumerate() {
                for (frame, argument) in &added.arguments {
                    let Some((outer, call)) = &self.run.frames[*frame].parent else { continue };
                    let place = (self.run.frames[*outer].file.name(), call.span.start);
                    calls.insert(place, (*outer, call));
                    given.insert((place, index), argument);
                    callee = Some(&self.run.frames[*frame]);
                }
            }
            let Some(Frame { file, function, .. }) = callee else { continue };
            let apart = declared_apart(self.run.context, function);
            if apart && parameters.iter().any(|added| added.optional) {
                return Err(format!("{} is declared apart and called at more than one place", function.name));
            }
            let default = |added: &Added| if added.optional { NONE_BY_DEFAULT } else { "" };
            let list: Vec<String> =
                parameters.iter().map(|added| format!("{} {}{}", added.kind, added.name, default(added))).collect();
            for (index, (place, (outer, call))) in calls.iter().enumerate() {
                if call.arguments.len() != function.parameters.len() {
                    return Err(format!("{} has parameters with defaults", function.name));
                }
                let of = |index: usize| given.get(&(*place, index)).copied();
                let last = (0..parameters.len()).rfind(|index| of(*index).is_some()).unwrap_or(0);
                let arguments: Vec<&str> = (0..=last).map(|index| of(index).unwrap_or(NONE)).collect();
                let (arguments, caller) = (arguments.join(", "), self.run.frames[*outer].file);
                if index == 0 {
                    let at = (caller, *call);
                    edits.extend(with_parameter(self.run.context, file, function, &list.join(", "), at, &arguments)?);
                } else {
                    edits.push(with_argument(caller, call, &arguments));
                }
            }
        }
        Ok(edits)
    }

    /// The counter of a loop as an expression of a frame.
    fn index(&mut self, frame: usize, wanted: (usize, &'a Loop)) -> Result<String, String> {
        let Frame { file, function, parent } = &self.run.frames[frame];
        let home = self.run.frames[wanted.0].file;
        let (name, _) = counter(home, wanted.1).ok_or("a loop has no counter")?;
        if frame == wanted.0 {
            let shadowed =
                file.locals().iter().any(|local| local.name == name && wanted.1.body.contains(&local.span.start));
            return if shadowed { Err(format!("{name} is declared again in its loop")) } else { Ok(name.to_owned()) };
        }
        let (outer, call) = parent.as_ref().ok_or_else(|| format!("{} is not called from the loop", function.name))?;
        // What another buffer's edit added goes with it; where other calls mean other rounds, none may be known.
        let once = self.run.once(frame);
        for (position, parameter) in function.parameters.iter().enumerate() {
            let Some(argument) = call.arguments.get(position).filter(|_| once) else { continue };
            let same = self.run.reader(wanted).text(*outer, &argument.clone(), None).is_ok_and(|text| text == "$");
            if same && !parameter.name.starts_with(PARAMETER) && !changes_name(file, &function.body, &parameter.name) {
                return Ok(parameter.name.clone());
            }
        }
        let argument = self.index(*outer, wanted)?;
        let end = self.name.trim_start_matches("keep").to_owned();
        let kind = counter_type(home, wanted.1).trim_start_matches("const ");
        // What starts with a plain 0 is an int.
        let kind = if kind == "auto" { "int32_t" } else { kind }.to_owned();
        let number = self.added.values().map(Vec::len).sum::<usize>();
        let list = self.added.entry((file.name(), function.span.start)).or_default();
        if let Some(known) = list.iter_mut().find(|added| added.of == (wanted.0, wanted.1.span.start)) {
            known.arguments.insert(frame, argument);
            return Ok(known.name.clone());
        }
        let number = if number == 0 { String::new() } else { number.to_string() };
        let name = format!("{PARAMETER}{number}{end}");
        list.push(Added {
            name: name.clone(),
            kind,
            optional: !once,
            of: (wanted.0, wanted.1.span.start),
            arguments: BTreeMap::from([(frame, argument)]),
        });
        Ok(name)
    }

    fn unsigned(&self, expression: &str, of: (usize, &'a Loop)) -> String {
        let kind = counter_type(self.run.frames[of.0].file, of.1);
        let plain = kind.contains("uint") || kind.contains("size_t") || kind.contains("unsigned");
        if plain { expression.to_owned() } else { format!("static_cast<uint32_t>({expression})") }
    }

    /// Conditions in a frame: that the chunk is found in the buffer, and that it is not.
    fn conditions(&mut self, load: &Load<'a>, frame: usize) -> Result<(String, String), String> {
        let pass = load.pass();
        let index = self.index(frame, pass)?;
        let index = self.unsigned(&index, pass);
        let slots = format!("{}{SLOTS}", self.name);
        Ok(match self.reuse.around {
            None => (format!("{index} < {slots}"), format!("{index} >= {slots}")),
            Some(around) => {
                let round = self.index(frame, around)?;
                (format!("{round} > 0 && {index} < {slots}"), format!("{round} == 0 || {index} >= {slots}"))
            }
        })
    }

    fn slot(&mut self, load: &Load<'a>) -> Result<String, String> {
        let index = self.index(load.to, load.pass())?;
        let file = self.run.frames[load.to].file;
        let call = file.calls().iter().find(|call| load.taken.value.as_ref() == Some(&call.span));
        let element = call.and_then(|call| call.template_arguments.clone()).unwrap_or_default();
        let name = &self.name;
        Ok(format!("{name}.Get<{element}>()[{index} * {name}{LENGTH}]"))
    }

    /// What the first load does with its tensor: a copy for later.
    fn stored(&mut self, load: &'a Load<'a>) -> Result<Vec<String>, String> {
        let slot = self.slot(load)?;
        let index = self.index(load.to, load.pass())?;
        let index = self.unsigned(&index, load.pass());
        let mut condition = format!("{index} < {}{SLOTS}", self.name);
        if let Some(around) = self.reuse.around {
            condition = format!("{} == 0 && {condition}", self.index(load.to, around)?);
        }
        let prefix = scope(self.run.frames[load.to].file);
        let count = self.count(load).unwrap_or_else(|| format!("{}{LENGTH}", self.name));
        let copy = format!("    {prefix}DataCopy({slot}, {}, {count});", load.taken.name);
        Ok(vec![format!("if ({condition}) {{"), copy, "}".to_owned()])
    }

    /// Whole blocks of what the copy brings, in elements, where the function that takes the tensor names it.
    fn count(&self, load: &Load<'a>) -> Option<String> {
        let [copy] = load.copies[..] else { return None };
        let last = copy.arguments.get(2)?;
        let brought = squash(&self.run.reader(load.pass()).text(load.from, last, None).ok()?);
        let elements = match copy.name.as_str() {
            "DataCopy" if copy.arguments.len() == 3 && !brought.contains('{') => brought,
            "DataCopyPad" => {
                let inner = brought.trim_start_matches(['(', '{']);
                let bytes = inner
                    .strip_prefix("1,")?
                    .strip_suffix(",0,0,0}")
                    .or_else(|| inner.strip_prefix("1,")?.trim_end_matches(')').strip_suffix(",0,0}"))?;
                let bytes = bytes.strip_prefix("static_cast<uint32_t>(").or_else(|| bytes.strip_prefix("(uint32_t)("));
                let bytes = bytes?.strip_suffix(')')?;
                bytes.rsplit_once("*sizeof(").map(|(count, _)| count.to_owned())?
            }
            _ => return None,
        };
        let Frame { file, function, .. } = &self.run.frames[load.to];
        let tensors = TensorFacts::of(file, function);
        let bytes = fixed_type_bytes(&tensors.tensors.get(&load.taken.name)?.element)?;
        let block = 32 / bytes;
        for used in tensors.uses_of(&load.taken.name) {
            let Some(span) = used.call.and_then(|index| file.calls().get(index)?.arguments.last()) else { continue };
            let text = file.slice(span).trim();
            let declared_later = file.locals().iter().any(|local| {
                function.body.contains(&local.span.start)
                    && local.span.start > load.taken.span.start
                    && words(text).contains(&local.name.as_str())
            });
            let Ok(value) = self.run.reader(load.pass()).text(load.to, span, None) else { continue };
            if !declared_later && bare(&squash(&value)) == bare(&elements) {
                return Some(format!("({text} + {}) / {block} * {block}", block - 1));
            }
        }
        None
    }

    /// The load, done only where the chunk is not kept.
    fn guarded(&mut self, load: &'a Load<'a>, edits: &mut Vec<Edit>, kept: &mut Vec<String>) -> Result<(), String> {
        let Frame { file, function, .. } = &self.run.frames[load.to];
        let (found, missing) = self.conditions(load, load.to)?;
        let slot = self.slot(load)?;
        let take = load.taken.value.clone().ok_or("the tensor has no value")?;
        if block_of(file, &load.free).is_none() {
            return Err(format!("line {} is the only statement of an if", file.line(load.free.start)));
        }
        if let Some((frame, statement)) = self.fill(load) {
            let fill_file = self.run.frames[frame].file;
            let (_, absent) = self.conditions(load, frame)?;
            let barrier = self.barrier(load, frame);
            edits.push(guard(fill_file, &statement, &absent, barrier)?);
            edits.push(edit(file, take.clone(), format!("{found} ? {slot} : {}", file.slice(&take))));
            edits.push(guard(file, &load.free, &missing, false)?);
            return Ok(());
        }
        // The tensor is taken and given back as before; only the copy is left out.
        let from = self.run.frames[load.from].file;
        let (_, absent) = self.conditions(load, load.from)?;
        for statement in &load.brought {
            edits.push(guard(from, statement, &absent, false)?);
        }
        let name = &load.taken.name;
        let whole = format!("{name}Taken");
        if words(file.slice(&function.body)).contains(&whole.as_str()) {
            return Err(format!("{whole} is a name of {} already", function.name));
        }
        let kind = &load.taken.type_text;
        let declared = file.slice(&load.taken.span).replacen(&format!("{name} "), &format!("{whole} "), 1);
        if !declared.contains(&format!("{whole} =")) {
            return Err(format!("the declaration of {name} is not understood"));
        }
        edits.push(edit(file, load.taken.span.clone(), declared));
        let line = format!("{kind} {name} = {found} ? {slot} : {whole};");
        if self.reuse.around.is_some() {
            kept.insert(0, line);
        } else {
            let shared = || format!("line {} is shared", file.line(load.taken.span.start));
            edits.push(insert_after(file, &load.taken.span, &[line]).ok_or_else(shared)?);
        }
        let call = file.calls_in(load.free.clone()).next().and_then(|call| call.arguments.first());
        edits.push(edit(file, call.ok_or("FreeTensor names no tensor")?.clone(), whole));
        Ok(())
    }

    /// A statement that does nothing but fill the tensor, in a function that runs at one place.
    fn fill(&self, load: &'a Load<'a>) -> Option<(usize, Range<usize>)> {
        let chain = self.run.chain(load.pass().0, load.from);
        for pair in chain.windows(2) {
            let (_, call) = self.run.frames[pair[1]].parent.as_ref()?;
            let file = self.run.frames[pair[0]].file;
            let statement = call.statement.clone().filter(|statement| block_of(file, statement).is_some());
            if let Some(statement) = statement.filter(|_| self.only_fills(load, pair[1])) {
                return Some((pair[0], statement));
            }
        }
        // Alloc, copies and EnQue one behind the other.
        let Frame { file, .. } = &self.run.frames[load.from];
        let all = siblings(file, &load.alloc.span);
        let from = all.iter().position(|span| *span == load.alloc.span)?;
        let to = all.iter().position(|span| *span == load.enque)?;
        let block = block_of(file, &load.alloc.span)?;
        let own = |span: &Range<usize>| {
            let copies = load.brought.contains(span);
            let local = file.locals().iter().find(|local| local.span == *span);
            let later = &all.get(to + 1).map(|next| file.slice(&(next.start..block.end))).unwrap_or_default();
            copies || local.is_some_and(|local| local.alone && !words(later).contains(&local.name.as_str()))
        };
        let alone = all
            .get(from..=to)?
            .iter()
            .all(|span| *span == load.alloc.span && own(span) || *span == load.enque || own(span));
        alone.then_some((load.from, load.alloc.span.start..load.enque.end))
    }

    /// Whether a function does nothing but fill the tensor.
    fn only_fills(&self, load: &Load<'_>, frame: usize) -> bool {
        let Frame { file, function, .. } = &self.run.frames[frame];
        let body = file.slice(&function.body);
        let local = |word: &str| {
            function.parameters.iter().any(|parameter| parameter.name == word && !parameter.type_text.contains('&'))
                || file.locals().iter().any(|local| local.name == word && function.body.contains(&local.span.start))
        };
        if changed_names(file, &function.body).iter().any(|word| !local(word)) || body.contains('#') {
            return false;
        }
        file.calls_in(function.body.clone()).all(|call| {
            let own = call
                .object
                .as_deref()
                .filter(|object| *object != "this")
                .map(|object| self.run.member(frame, source::facts::base_name(object)) == load.queue);
            let inner = self.run.frames.iter().position(|inner| {
                inner.parent.as_ref().is_some_and(|(outer, by)| *outer == frame && by.span == call.span)
            });
            let fills = inner
                .is_some_and(|inner| self.run.chain(frame, load.from).contains(&inner) && self.only_fills(load, inner));
            let copies = frame == load.from && load.copies.iter().any(|copy| copy.span == call.span);
            own.unwrap_or(false)
                || (own.is_none() && (fills || copies || call.name == "PipeBarrier" || call.statement.is_none()))
        })
    }

    /// Whether a barrier goes with the fill.
    fn barrier(&self, load: &Load<'_>, from: usize) -> bool {
        self.run.chain(from, load.from).iter().skip(1).any(|frame| {
            let Frame { file, function, .. } = &self.run.frames[*frame];
            file.calls_in(function.body.clone()).any(|call| call.name == "PipeBarrier")
        })
    }
}

/// Statements under a condition.
fn guard(file: &SyntaxFile, span: &Range<usize>, condition: &str, barrier: bool) -> Result<Edit, String> {
    let lines = file.whole_lines(span).ok_or_else(|| format!("line {} is shared", file.line(span.start)))?;
    let indentation = file.indentation(span.start);
    let text = file.slice(&lines);
    let directives = |name: &str| {
        text.lines()
            .filter(|line| {
                line.trim_start().trim_start_matches('#').trim_start().starts_with(name)
                    && line.trim_start().starts_with('#')
            })
            .count()
    };
    if directives("if") != directives("endif") {
        return Err(format!("a directive stands near line {}", file.line(span.start)));
    }
    let inner: String = text
        .lines()
        .map(|line| {
            let plain = line.trim().is_empty() || line.starts_with('#');
            if plain { format!("{line}\n") } else { format!("    {line}\n") }
        })
        .collect();
    let otherwise = if barrier {
        format!("{indentation}}} else {{\n{indentation}    {}PipeBarrier<PIPE_ALL>();\n", scope(file))
    } else {
        String::new()
    };
    Ok(edit(file, lines, format!("{indentation}if ({condition}) {{\n{inner}{otherwise}{indentation}}}\n")))
}
