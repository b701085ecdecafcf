//! Classes that write global memory by scalars in loops, with what proves that their rounds may be dealt to cores.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::analysis::arms::{Chain, decision};
use crate::analysis::code::{classes_called, functions_of, object_name, words};
use crate::analysis::element_places::{Nest, Running};
use crate::analysis::entry::device_files;
use crate::analysis::flow::effects::{is_harmless, own_functions, reached, steady};
use crate::analysis::flow::values::Values;
use crate::analysis::loops::{counted, loops_around};
use crate::analysis::private_tensors::{Private, private};
use crate::analysis::running::Course;
use crate::context::Context;
use crate::rewrite::first_core::{Place, Rest, first_core_alone, is_named, ways};
use crate::rewrite::scalar_ranges::Deal;
use source::Edit;
use source::facts::Kernel;
use source::facts::api::is_copy;
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Function, Loop, Member, SyntaxFile};

/// What global tensors of such a kernel are asked for.
const OF_SCALARS: &[&str] = &["GetValue", "SetValue", "SetGlobalBuffer", "SetL2CacheHint", "GetSize"];

/// What a launch deals.
pub(crate) struct Dealing<'a> {
    pub(crate) edits: Vec<Edit>,
    /// What is dealt, with its class.
    pub(crate) deals: Vec<(&'a Kernel, Deal<'a>)>,
    /// For each of them what holds in the kernel where it is done and another one is not, where that is decided.
    pub(crate) ways: Vec<Option<String>>,
    /// What holds in the kernel where rounds are dealt, where that is not always so, with the class that decides.
    pub(crate) condition: Option<(&'a Kernel, String)>,
}

/// Edits that deal the rounds of loops of scalars to cores, and leave everything else that touches global memory to the first one.
///
/// # Errors
/// Why that would mean something else.
pub(crate) fn dealt(context: &Context) -> Result<Dealing<'_>, String> {
    let kernels: Vec<&Kernel> = context.facts.kernels.values().filter(|kernel| !kernel.globals.is_empty()).collect();
    let first = kernels.first().ok_or("no class has global tensors")?;
    let mut classes = Vec::new();
    for kernel in &kernels {
        classes.push(Scalars::of(context, kernel)?);
    }
    let (mut edits, mut dealt, mut deals): (Vec<Edit>, Vec<Chain<'_>>, Vec<(&Kernel, Deal<'_>)>) =
        (Vec::new(), Vec::new(), Vec::new());
    let mut by_deal: Vec<Vec<Chain<'_>>> = Vec::new();
    let mut rest = others(context, &classes)?;
    let mut unseen = None;
    for class in &classes {
        let mut taken = 0;
        class.written_by_one()?;
        rest.extend(class.rest.iter().cloned());
        for writes in &class.writes {
            let deal = class.deal(writes)?;
            let ranges = deal.edits(&mut taken)?;
            let call = writes.calls[0];
            // What no case runs stays as it is.
            if let Err(reason) = context.verifiable(&ranges) {
                rest.push(Rest { function: (writes.file, writes.function), call: Some(call), reason: reason.clone() });
                unseen = Some(reason);
                continue;
            }
            edits.extend(ranges);
            deals.push((class.kernel, deal));
            let own = ways(context, writes.file, writes.function, Some(call))?;
            dealt.extend(own.iter().cloned());
            by_deal.push(own);
        }
    }
    if dealt.is_empty() {
        let reason = unseen.or_else(|| rest.first().map(|rest| rest.reason.clone()));
        return Err(reason.unwrap_or_else(|| format!("{} writes nothing by scalars", first.name)));
    }
    let mut condition = None;
    let mut questions = first_core_alone(context, &dealt, &rest)?.into_iter();
    if let Some((edit, asked)) = questions.next() {
        edits.push(edit);
        condition = asked.zip(deals.first()).map(|(asked, (kernel, _))| (*kernel, asked));
    }
    if questions.next().is_some() {
        return Err("several functions decide what is done".to_owned());
    }
    let decided = |at: usize| (0..by_deal.len()).find_map(|other| way_of(&by_deal[other], &by_deal[at]));
    let ways = (0..by_deal.len()).map(decided).collect();
    Ok(Dealing { edits, deals, ways, condition })
}

/// What holds where a launch goes one of the second ways and none of the first, where one decision says so for all.
fn way_of(first: &[Chain<'_>], second: &[Chain<'_>]) -> Option<String> {
    let mut found: Option<String> = None;
    for (left, right) in first.iter().flat_map(|left| second.iter().map(move |right| (left, right))) {
        let condition = decision(left, right)?.condition;
        if found.as_ref().is_some_and(|known| *known != condition) {
            return None;
        }
        found = Some(condition);
    }
    found
}

/// Functions that belong to no class with global tensors, and copy.
fn others<'a>(context: &'a Context, classes: &[Scalars<'a>]) -> Result<Vec<Rest<'a>>, String> {
    let known: BTreeSet<(&str, usize)> = classes
        .iter()
        .flat_map(|class| functions_of(context, class.kernel))
        .map(|(file, function)| (file.name(), function.body.start))
        .collect();
    let mut found = Vec::new();
    for file in device_files(context) {
        for call in file.calls().iter().filter(|call| copies(call)) {
            let reason = format!("{}:{}: {} is no scalar's", file.name(), file.line(call.span.start), call.name);
            let Some(function) = file.enclosing_function(call.span.start) else { return Err(reason) };
            if !known.contains(&(file.name(), function.body.start)) {
                found.push(Rest { function: (file, function), call: None, reason });
            }
        }
    }
    Ok(found)
}

/// Whether a call moves what is more than one element.
fn copies(call: &Call) -> bool {
    is_copy(&call.name) || matches!(call.name.as_str(), "InitGlobalMemory" | "InitOutput")
}

/// A kernel that reads and writes global memory by scalars.
struct Scalars<'a> {
    context: &'a Context,
    kernel: &'a Kernel,
    /// Loops that write, outermost ones.
    writes: Vec<Writes<'a>>,
    /// Functions that do more than asking for elements, and what that is.
    rest: Vec<Rest<'a>>,
    /// Tensors of the unified buffer that it keeps elements in, with the function of each.
    kept: Vec<(Place<'a>, Private<'a>)>,
}

/// A loop that writes, and its writes.
struct Writes<'a> {
    file: &'a SyntaxFile,
    function: &'a Function,
    outer: &'a Loop,
    calls: Vec<&'a Call>,
}

impl<'a> Scalars<'a> {
    fn of(context: &'a Context, kernel: &'a Kernel) -> Result<Self, String> {
        if kernel.has_base() || !context.facts.derived(&kernel.name).is_empty() {
            return Err(format!("{} has a base class or is one", kernel.name));
        }
        let mut scalars = Self { context, kernel, writes: Vec::new(), rest: Vec::new(), kept: Vec::new() };
        let mut uses: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (file, function) in functions_of(context, kernel).into_iter().filter(|(_, known)| is_named(context, known))
        {
            match scalars.asks_for_elements(file, function, &mut uses) {
                Ok(kept) => scalars.kept.extend(kept.into_iter().map(|private| ((file, function), private))),
                Err(reason) => {
                    scalars.rest.push(Rest { function: (file, function), call: None, reason });
                    continue;
                }
            }
            let writes = |call: &&Call| call.name == "SetValue" && kernel.globals.contains_key(object_name(call));
            for call in file.calls_in(function.body.clone()).filter(writes) {
                scalars.add(file, function, call)?;
            }
        }
        for (at, (_, private)) in scalars.kept.iter().enumerate() {
            if scalars.kept[at + 1..].iter().any(|(_, other)| other.buffer == private.buffer) {
                return Err(format!("{} is taken at two places", private.buffer));
            }
        }
        match uses.iter().find(|(_, names)| names.contains("GetValue") && names.contains("SetValue")) {
            Some((global, _)) => Err(format!("{global} is read and written")),
            None => Ok(scalars),
        }
    }

    /// Proves that a function asks global tensors for elements alone, and uses no others.
    fn asks_for_elements(
        &self,
        file: &'a SyntaxFile,
        function: &'a Function,
        uses: &mut BTreeMap<&'a str, BTreeSet<&'a str>>,
    ) -> Result<Vec<Private<'a>>, String> {
        let globals = &self.kernel.globals;
        let mut own: Vec<(&str, &str)> = Vec::new();
        let takes = file.calls_in(function.body.clone()).filter(|call| call.name == "Get");
        let kept: Vec<Private<'a>> = takes.filter_map(|call| private(self.kernel, file, function, call)).collect();
        for call in file.calls_in(function.body.clone()) {
            let object = object_name(call);
            let at = || format!("{}:{}", file.name(), file.line(call.span.start));
            match (call.name.as_str(), globals.get_key_value(object)) {
                (name, Some((object, _))) if OF_SCALARS.contains(&name) => own.push((object, name)),
                ("GetValue" | "SetValue", _) if kept.iter().any(|private| private.name == object) => {}
                ("GetValue" | "SetValue", _) => return Err(format!("{}: {object} is no global tensor", at())),
                ("Get", _) if private(self.kernel, file, function, call).is_some() => {}
                ("Get" | "AllocTensor" | "DeQue", _) => {
                    return Err(format!("{}: {} takes a tensor of the unified buffer", at(), call.name));
                }
                _ if copies(call) => return Err(format!("{}: {} is no scalar's", at(), call.name)),
                _ => {}
            }
        }
        // Any other mention may be another name of it, and a pointer to global memory is one that nobody asks.
        let body = file.slice(&function.body);
        let tokens = pieces(body);
        for (index, token) in tokens.iter().enumerate() {
            let word = &body[token.span.clone()];
            let byte = function.body.start + token.span.start;
            let in_binding = || {
                let mut calls = file.calls_in(function.body.clone());
                calls.any(|call| call.name == "SetGlobalBuffer" && call.span.contains(&byte))
            };
            if word == "__gm__" && !in_binding() {
                return Err(format!("{}:{}: a pointer to global memory", file.name(), file.line(byte)));
            }
            let follows = |by: usize| tokens.get(index + by).map_or("", |next| &body[next.span.clone()]);
            let is_declared =
                globals.get(word).is_some_and(|(_, place)| place.file == file.name() && place.span().contains(&byte));
            if token.kind == PieceKind::Word && globals.contains_key(word) && !is_declared {
                let asked = follows(1) == "." && OF_SCALARS.contains(&follows(2));
                if !asked {
                    return Err(format!("{}:{}: {word} is used as a whole", file.name(), file.line(byte)));
                }
            }
        }
        for (object, name) in own {
            uses.entry(object).or_default().insert(name);
        }
        Ok(kept)
    }

    /// The loop around a write is one to deal.
    fn add(&mut self, file: &'a SyntaxFile, function: &'a Function, call: &'a Call) -> Result<(), String> {
        let at = || format!("{}:{}", file.name(), file.line(call.span.start));
        let object = object_name(call);
        let Some(outer) = loops_around(file, function, call.span.start).last().copied() else {
            return Err(format!("{}: {object} is written in no loop", at()));
        };
        counted(file, outer).map_err(|reason| format!("{}: {reason}", at()))?;
        let index = call.arguments.first().ok_or_else(|| format!("{}: SetValue without an index", at()))?;
        for span in Values::of(file, function).spans_behind(index) {
            if let Some(reads) = self.reading(file, &span) {
                return Err(format!("{}: where {object} is written follows {}", at(), reads));
            }
        }
        let mut known = self.writes.iter_mut();
        match known.find(|writes| writes.file.name() == file.name() && writes.outer.span == outer.span) {
            Some(writes) => writes.calls.push(call),
            None => self.writes.push(Writes { file, function, outer, calls: vec![call] }),
        }
        Ok(())
    }

    /// Proves that no two loops that may both run write one tensor: their ranges are not the same.
    fn written_by_one(&self) -> Result<(), String> {
        let ways = |writes: &Writes<'a>, object: &str| {
            let call = writes.calls.iter().find(|call| object_name(call) == object).copied();
            ways(self.context, writes.file, writes.function, call)
        };
        for (at, first) in self.writes.iter().enumerate() {
            let objects: BTreeSet<&str> = first.calls.iter().map(|call| object_name(call)).collect();
            for second in &self.writes[at + 1..] {
                let Some(object) =
                    second.calls.iter().map(|call| object_name(call)).find(|name| objects.contains(name))
                else {
                    continue;
                };
                for left in ways(first, object)? {
                    if ways(second, object)?.iter().any(|right| decision(&left, right).is_none()) {
                        let line = second.file.line(second.outer.span.start);
                        return Err(format!("line {line}: {object} is written by two loops"));
                    }
                }
            }
        }
        Ok(())
    }

    /// How a loop is dealt: as one range with the loop that is all that it does, if there is one, else by itself.
    fn deal(&self, writes: &Writes<'a>) -> Result<Deal<'a>, String> {
        let course = self.course(writes);
        let alone = || self.range_of(writes, None);
        match Nest::only_loop(&course, writes.outer, &writes.calls) {
            Some(inner) => self.range_of(writes, Some(inner)).or_else(|_| alone()),
            None => alone(),
        }
    }

    fn course(&self, writes: &Writes<'a>) -> Course<'a> {
        let Writes { file, function, outer, .. } = writes;
        Course { context: self.context, kernel: self.kernel, file, function, body: outer.body.clone() }
    }

    fn range_of(&self, writes: &Writes<'a>, inner: Option<&'a Loop>) -> Result<Deal<'a>, String> {
        let Writes { file, function, outer, calls } = writes;
        let nest = Nest::of(self.course(writes), outer, inner)?;
        let running = match nest.running(calls) {
            Ok(running) => running,
            // Most that run along are no indices at all, and there is more to say about them.
            Err(reason) => return Err(self.independent(writes, outer, &[]).err().unwrap_or(reason)),
        };
        self.independent(writes, outer, &running)?;
        if let Some(inner) = inner {
            self.independent(writes, inner, &running)?;
        }
        let kept = self.kept.iter().filter(|((_, other), _)| other.span == function.span);
        let body = &nest.innermost().body;
        for (_, private) in kept.filter(|(_, private)| words(file.slice(&outer.body)).contains(&private.name)) {
            private.is_set_in_every_round(&nest.course, body)?;
        }
        let element =
            |call: &Call| self.kernel.globals.get(object_name(call)).map_or("", |(element, _)| element.as_str());
        let places = calls.iter().map(|call| Some((element(call), nest.written(call, &running)?)));
        let written: Option<Vec<_>> = places.collect();
        if written.is_none() {
            let (counter, _) = counted(file, outer)?;
            let values = Values::of(file, function);
            for call in calls {
                let follows =
                    call.arguments.first().is_some_and(|index| values.behind(index).contains(counter.as_str()));
                if !follows || inner.is_some() || !running.is_empty() {
                    let at = format!("{}:{}", file.name(), file.line(call.span.start));
                    return Err(format!("{at}: where {} is written does not follow {counter}", object_name(call)));
                }
            }
        }
        let elements: BTreeSet<&str> = calls.iter().map(|call| element(call)).collect();
        Ok(Deal { nest, running, written, elements: elements.into_iter().collect() })
    }

    /// A call in the span that may give what memory holds.
    fn reading(&self, file: &'a SyntaxFile, span: &Range<usize>) -> Option<&'a str> {
        let gives = |call: &&Call| {
            let free = is_harmless(&call.name);
            let own = own_functions(self.context, self.kernel, &call.name).next().is_some() && call.is_own();
            !free && !own || call.name == "GetValue"
        };
        let direct = file.calls_in(span.clone()).find(gives).map(|call| call.name.as_str());
        direct.or_else(|| {
            let functions = reached(self.context, self.kernel, file, span);
            let mut calls = functions.into_iter().flat_map(|(file, function)| file.calls_in(function.body.clone()));
            calls.find(gives).map(|call| call.name.as_str())
        })
    }

    /// Proves that a round gets nothing from the one before it but the given names, that the loop runs once, and that nothing leaves it
    /// early.
    fn independent(&self, writes: &Writes<'a>, repetition: &Loop, but: &[Running]) -> Result<(), String> {
        let Writes { file, function, .. } = writes;
        let line = file.line(repetition.span.start);
        let (counter, bound) = counted(file, repetition)?;
        leaves(file, repetition)?;
        self.runs_once(function, 0)?;
        let body = &repetition.body;
        steady(self.context, file, self.kernel, &bound, body)?;
        let mut mentioned: BTreeSet<&str> = words(file.slice(body)).into_iter().collect();
        for (other, function) in reached(self.context, self.kernel, file, body) {
            mentioned.extend(words(other.slice(&function.body)));
        }
        if let Some(name) = self.pointers(function).intersection(&mentioned).next() {
            return Err(format!("line {line}: {name} points to global memory"));
        }
        let values = Values::of(file, function);
        for name in self.outside(file, function, body).intersection(&mentioned) {
            let is_known = *name == counter
                || self.kernel.globals.contains_key(*name)
                || but.iter().any(|running| running.name == *name)
                || self.kept.iter().any(|((_, other), kept)| kept.name == *name && other.span == function.span)
                || values.is_set_first(name, body);
            if is_known {
                continue;
            }
            steady(self.context, file, self.kernel, name, body)
                .map_err(|reason| format!("line {line}: a round may get {name} from the one before: {reason}"))?;
        }
        steady(self.context, file, self.kernel, &counter, body)
    }

    /// Members and parameters that point to global memory.
    fn pointers(&self, function: &'a Function) -> BTreeSet<&'a str> {
        let is_pointer = |type_text: &str| type_text.contains("__gm__") || type_text.contains("GM_ADDR");
        let members = self.members().filter(|member| is_pointer(&member.type_text)).map(|member| member.name.as_str());
        let parameters = function.parameters.iter().filter(|parameter| is_pointer(&parameter.type_text));
        members.chain(parameters.map(|parameter| parameter.name.as_str())).collect()
    }

    /// Data members of the class.
    fn members(&self) -> impl Iterator<Item = &'a Member> {
        classes_called(self.context, &self.kernel.name).into_iter().flat_map(|(_, class)| &class.members)
    }

    /// Names that live longer than a round: members, parameters and what the function declares outside of the loop.
    fn outside(&self, file: &'a SyntaxFile, function: &'a Function, body: &Range<usize>) -> BTreeSet<&'a str> {
        let members = self.members().map(|member| member.name.as_str());
        let locals = file
            .locals()
            .iter()
            .filter(|local| function.body.contains(&local.span.start) && !body.contains(&local.span.start));
        let parameters = function.parameters.iter().map(|parameter| parameter.name.as_str());
        members.chain(locals.map(|local| local.name.as_str())).chain(parameters).collect()
    }

    /// Proves that no loop calls a function, directly or through those that call it.
    fn runs_once(&self, function: &Function, depth: usize) -> Result<(), String> {
        if depth > 4 {
            return Err(format!("who calls {} was not found out", function.name));
        }
        for file in device_files(self.context) {
            for call in file.calls_named(&function.name) {
                let Some(caller) = file.enclosing_function(call.span.start) else { continue };
                if !loops_around(file, caller, call.span.start).is_empty() {
                    return Err(format!(
                        "{}:{}: {} is called in a loop",
                        file.name(),
                        file.line(call.span.start),
                        call.name
                    ));
                }
                self.runs_once(caller, depth + 1)?;
            }
        }
        Ok(())
    }
}

/// `Err` where a round may end the loop or the function, or a directive decides what it is.
fn leaves(file: &SyntaxFile, repetition: &Loop) -> Result<(), String> {
    let body = file.slice(&repetition.body);
    for token in pieces(body) {
        let at = repetition.body.start + token.span.start;
        let line = file.line(at);
        let inner = || {
            let mut loops = file.loops().iter().filter(|inner| inner.span.start > repetition.span.start);
            loops.any(|inner| repetition.body.contains(&inner.span.start) && inner.body.contains(&at))
        };
        match (token.kind, &body[token.span.clone()]) {
            (PieceKind::Directive, _) => return Err(format!("line {line}: a directive stands in the loop")),
            (PieceKind::Word, word @ ("return" | "goto")) => {
                return Err(format!("line {line}: {word} leaves the loop"));
            }
            (PieceKind::Word, "break") if !inner() => return Err(format!("line {line}: break leaves the loop")),
            _ => {}
        }
    }
    Ok(())
}
