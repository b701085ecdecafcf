//! L15: rounds of a loop of scalars over global memory, dealt to all cores in ranges.
//!
//! The scalar unit writes global memory through a cache of its core, whole lines at a time: two cores must not write one line. A range is
//! so many rounds that what a dense tensor holds of them ends where a line does.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::analysis::code::{functions_of, object_name, scope, words};
use crate::analysis::entry::device_files;
use crate::analysis::flow::effects::{is_harmless, own_functions, reached, steady};
use crate::analysis::flow::values::Values;
use crate::analysis::launches::Launch;
use crate::analysis::loops::{counted, loops_around};
use crate::rewrite::dealing::{of_all_cores, of_one_core, to_all_cores, to_one_core};
use crate::rewrite::edits::edit;
use crate::{Candidate, Combination, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::Kernel;
use source::facts::api::is_copy;
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Function, Loop, Member, SyntaxFile};

/// Elements of the first input that a core should have to do: a scalar unit takes a microsecond for so many even where it hardly does anything
/// for each, which is far longer than a core takes to start.
const SCALARS_PER_CORE: u32 = 128;
/// Bytes of a line of a core's data cache, as docs/model.md has them.
const LINE_BYTES: usize = 64;
/// What global tensors of such a kernel are asked for.
const OF_SCALARS: &[&str] = &["GetValue", "SetValue", "SetGlobalBuffer", "SetL2CacheHint", "GetSize"];

/// The motif.
pub struct DealtLoops;

const METADATA: Metadata = Metadata {
    id: Id::L15,
    title: "rounds of a scalar loop dealt to all cores",
    family: Family::Launch,
    precondition: "a kernel of vector cores alone; the only block dimension that host code sets is 1, and nothing there asks for it; global memory is read and written by GetValue and SetValue alone, \
     and no global tensor by both; every write stands in a loop from 0 in steps of 1 that runs once, at an index that follows its counter and nothing that was read; what outlives a round is the same for all of them; the first input has a shape",
    left_to_verifier: "rounds are independent: none reads what another one wrote under another name, and no two cores write the same line of the data cache (results, hazard check); \
     the first input tells how much work there is",
    relieves: &[Counter::ScalarUs],
    prior_gain: 8.0,
    cost: "more cores to start; a range is at least a line of the data cache",
    tunables: "closes a block dimension that is a tunable",
    undoing: "one core does all rounds",
    rounding_changes: false,
    replaces_constants: true,
    // What works on tiles is dealt no more.
    company: Company {
        leads: &[
            Combination { rank: 17, motifs: &[Id::L15, Id::D24, Id::V01] },
            Combination { rank: 18, motifs: &[Id::L15, Id::D24, Id::V01, Id::Y01, Id::D01] },
        ],
        ..Company::ANY
    },
};

impl Motif for DealtLoops {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        // Most kernels of one core have nothing of the kind, which is worth no word.
        if !device_files(context).any(|file| file.calls_named("SetValue").next().is_some()) {
            return Vec::new();
        }
        let note = format!("scalar rounds dealt to all vector cores, at least {SCALARS_PER_CORE} elements for each");
        of_one_core(context, &note, |launch| dealt(context, launch))
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        of_all_cores(context, SCALARS_PER_CORE, |launch| gathered(context, launch))
    }
}

fn dealt(context: &Context, launch: &Launch<'_>) -> Result<Vec<Edit>, String> {
    let mut edits = to_all_cores(context, launch, SCALARS_PER_CORE)?;
    for file in device_files(context) {
        let copies =
            |call: &&Call| is_copy(&call.name) || matches!(call.name.as_str(), "InitGlobalMemory" | "InitOutput");
        if let Some(call) = file.calls().iter().find(copies) {
            return Err(format!("{}:{}: {} is no scalar's", file.name(), file.line(call.span.start), call.name));
        }
    }
    let kernels: Vec<&Kernel> = context.facts.kernels.values().filter(|kernel| !kernel.globals.is_empty()).collect();
    if kernels.is_empty() {
        return Err("no class has global tensors".to_owned());
    }
    for kernel in kernels {
        edits.extend(Scalars::of(context, kernel)?.edits()?);
    }
    Ok(edits)
}

/// A kernel that reads and writes global memory by scalars.
struct Scalars<'a> {
    context: &'a Context,
    kernel: &'a Kernel,
    /// Loops to deal, with the function of each and the element types that it writes.
    loops: Vec<Dealt<'a>>,
}

/// A loop that writes.
struct Dealt<'a> {
    file: &'a SyntaxFile,
    function: &'a Function,
    repetition: &'a Loop,
    /// Types of the elements that it writes, as the kernel calls them.
    elements: BTreeSet<&'a str>,
}

impl<'a> Scalars<'a> {
    fn of(context: &'a Context, kernel: &'a Kernel) -> Result<Self, String> {
        if kernel.has_base() || !context.facts.derived(&kernel.name).is_empty() {
            return Err(format!("{} has a base class or is one", kernel.name));
        }
        let mut scalars = Self { context, kernel, loops: Vec::new() };
        scalars.uses_scalars_alone()?;
        for (file, function) in functions_of(context, kernel) {
            for call in file.calls_in(function.body.clone()).filter(|call| call.name == "SetValue") {
                scalars.add(file, function, call)?;
            }
        }
        if scalars.loops.is_empty() {
            return Err(format!("{} writes nothing by scalars", kernel.name));
        }
        for dealt in &scalars.loops {
            scalars.independent(dealt)?;
        }
        Ok(scalars)
    }

    /// Proves that global tensors are asked for elements alone, that none is both read and written, and that there are no others.
    fn uses_scalars_alone(&self) -> Result<(), String> {
        let globals = &self.kernel.globals;
        let mut uses: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (file, function) in functions_of(self.context, self.kernel) {
            for call in file.calls_in(function.body.clone()) {
                let object = object_name(call);
                let at = || format!("{}:{}", file.name(), file.line(call.span.start));
                match (call.name.as_str(), globals.get_key_value(object)) {
                    (name, Some((object, _))) if OF_SCALARS.contains(&name) => {
                        uses.entry(object).or_default().insert(name);
                    }
                    ("GetValue" | "SetValue", _) => return Err(format!("{}: {object} is no global tensor", at())),
                    ("Get" | "AllocTensor" | "DeQue", _) => {
                        return Err(format!("{}: {} takes a tensor of the unified buffer", at(), call.name));
                    }
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
                let is_declared = globals
                    .get(word)
                    .is_some_and(|(_, place)| place.file == file.name() && place.span().contains(&byte));
                if token.kind == PieceKind::Word && globals.contains_key(word) && !is_declared {
                    let asked = follows(1) == "." && OF_SCALARS.contains(&follows(2));
                    if !asked {
                        return Err(format!("{}:{}: {word} is used as a whole", file.name(), file.line(byte)));
                    }
                }
            }
        }
        match uses.iter().find(|(_, names)| names.contains("GetValue") && names.contains("SetValue")) {
            Some((global, _)) => Err(format!("{global} is read and written")),
            None => Ok(()),
        }
    }

    /// The loop around a write is one to deal.
    fn add(&mut self, file: &'a SyntaxFile, function: &'a Function, call: &'a Call) -> Result<(), String> {
        let at = || format!("{}:{}", file.name(), file.line(call.span.start));
        let object = object_name(call);
        let element = self.kernel.globals.get(object).map_or("", |(element, _)| element.as_str());
        let Some(repetition) = loops_around(file, function, call.span.start).last().copied() else {
            return Err(format!("{}: {object} is written in no loop", at()));
        };
        let (counter, _) = counted(file, repetition).map_err(|reason| format!("{}: {reason}", at()))?;
        let index = call.arguments.first().ok_or_else(|| format!("{}: SetValue without an index", at()))?;
        let values = Values::of(file, function);
        let names = values.behind(index);
        if !names.contains(counter.as_str()) {
            return Err(format!("{}: where {object} is written does not follow {counter}", at()));
        }
        for span in values.spans_behind(index) {
            if let Some(reads) = self.reading(file, &span) {
                return Err(format!("{}: where {object} is written follows {}", at(), reads));
            }
        }
        match self
            .loops
            .iter_mut()
            .find(|dealt| dealt.file.name() == file.name() && dealt.repetition.span == repetition.span)
        {
            Some(dealt) => {
                dealt.elements.insert(element);
            }
            None => self.loops.push(Dealt { file, function, repetition, elements: BTreeSet::from([element]) }),
        }
        Ok(())
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

    /// Proves that a round gets nothing from the one before it, that the loop runs once, and that nothing leaves it early.
    fn independent(&self, dealt: &Dealt<'a>) -> Result<(), String> {
        let Dealt { file, function, repetition, .. } = dealt;
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
            if *name == counter || self.kernel.globals.contains_key(*name) || values.is_set_first(name, body) {
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
        let classes = self.context.forest.iter().flat_map(SyntaxFile::classes);
        classes.filter(|class| class.name == self.kernel.name).flat_map(|class| &class.members)
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

    fn edits(&self) -> Result<Vec<Edit>, String> {
        let mut edits = Vec::new();
        let mut taken = 0;
        for dealt in &self.loops {
            edits.extend(self.range(dealt, &mut taken)?);
        }
        Ok(edits)
    }

    /// Makes a loop one over the range of its core.
    fn range(&self, dealt: &Dealt<'a>, taken: &mut usize) -> Result<Vec<Edit>, String> {
        let Dealt { file, repetition, elements, .. } = dealt;
        let line = file.line(repetition.span.start);
        let whole =
            file.whole_lines(&repetition.span).ok_or_else(|| format!("line {line}: the loop shares its lines"))?;
        let (Some(initializer), Some(condition)) = (&repetition.initializer, &repetition.condition) else {
            return Err(format!("line {line}: the loop has no range"));
        };
        let (zero, bound) = header(file, initializer, condition)
            .ok_or_else(|| format!("line {line}: the loop does not count from 0 while less"))?;
        let text = words(file.text());
        while NAMES.iter().any(|name| text.contains(&numbered(name, *taken).as_str())) {
            *taken += 1;
        }
        let [rounds, line_rounds, share, first, last] = NAMES.map(|name| numbered(name, *taken));
        *taken += 1;
        let api = scope(file);
        // Of several types the shortest elements need most rounds.
        let of_line = match elements.iter().next() {
            Some(element) if elements.len() == 1 && !element.is_empty() => format!("{LINE_BYTES} / sizeof({element})"),
            _ => LINE_BYTES.to_string(),
        };
        let cores = format!("{api}GetBlockNum()");
        let lines = [
            format!("const int64_t {rounds} = {};", file.slice(&bound)),
            format!("const int64_t {line_rounds} = {of_line}; {COMMENT}"),
            format!(
                "const int64_t {share} = ({rounds} + {line_rounds} * {cores} - 1) / ({line_rounds} * {cores}) * {line_rounds};"
            ),
            format!("const int64_t {first} = {share} * {api}GetBlockIdx();"),
            format!("const int64_t {last} = {first} + {share} < {rounds} ? {first} + {share} : {rounds};"),
        ];
        let indentation = file.indentation(repetition.span.start);
        let before: String = lines.iter().map(|line| format!("{indentation}{line}\n")).collect();
        Ok(vec![edit(file, whole.start..whole.start, before), edit(file, zero, first), edit(file, bound, last)])
    }
}

/// Names that a dealt loop needs.
const NAMES: [&str; 5] = ["rounds", "lineRounds", "share", "first", "last"];
/// Why a share is what it is.
const COMMENT: &str = "// no line of the data cache is written by two cores";

/// The name of a later loop.
fn numbered(name: &str, number: usize) -> String {
    if number == 0 { name.to_owned() } else { format!("{name}{}", number + 1) }
}

/// The zero that a loop counts from and the bound that its counter stays below, as bytes.
fn header(
    file: &SyntaxFile,
    initializer: &Range<usize>,
    condition: &Range<usize>,
) -> Option<(Range<usize>, Range<usize>)> {
    let trimmed = |text: &str, start: usize| {
        let from = start + (text.len() - text.trim_start().len());
        from..from + text.trim().len()
    };
    let text = file.slice(initializer).trim_end_matches(';');
    let at = text.find('=')? + 1;
    let zero = trimmed(&text[at..], initializer.start + at);
    let text = file.slice(condition);
    let at = text.find('<')? + 1;
    let bound = trimmed(&text[at..], condition.start + at);
    (file.slice(&zero) == "0").then_some((zero, bound))
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

/// Makes one core do what was dealt as this motif does it.
fn gathered(context: &Context, launch: &Launch<'_>) -> Result<Vec<Edit>, String> {
    let mut edits = vec![to_one_core(launch)?];
    let before = edits.len();
    for file in device_files(context) {
        let text = file.text();
        for local in file.locals().iter().filter(|local| local.alone) {
            let Some(number) = local.name.strip_prefix(NAMES[0]) else { continue };
            let names = NAMES.map(|name| format!("{name}{number}"));
            let own = |name: &String| {
                let mut locals = file.locals().iter();
                locals
                    .find(|other| other.name == *name && other.span.start >= local.span.start)
                    .map(|other| &other.span)
            };
            let (Some(value), Some(last)) = (&local.value, own(&names[4])) else { continue };
            let (Some(start), Some(end)) = (file.whole_lines(&local.span), file.whole_lines(last)) else { continue };
            let lines: Vec<&str> = text[start.start..end.end].lines().collect();
            if lines.len() != NAMES.len() || !lines[1].ends_with(COMMENT) {
                continue;
            }
            let Some(repetition) = file.loops().iter().find(|repetition| repetition.span.start >= end.end) else {
                continue;
            };
            let (Some(initializer), Some(condition)) = (&repetition.initializer, &repetition.condition) else {
                continue;
            };
            let place = |span: &Range<usize>, name: &str| {
                file.slice(span).rfind(name).map(|at| span.start + at..span.start + at + name.len())
            };
            let (Some(first), Some(last)) = (place(initializer, &names[3]), place(condition, &names[4])) else {
                continue;
            };
            edits.push(edit(file, start.start..end.end, ""));
            edits.push(edit(file, first, "0"));
            edits.push(edit(file, last, file.slice(value)));
        }
    }
    if edits.len() == before { Err("no loop is dealt".to_owned()) } else { Ok(edits) }
}
