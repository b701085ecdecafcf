//! D21: elements that the scalar unit reads one by one from global memory come into the unified buffer by one copy first.

use crate::analysis::code::{block_of, functions, is_name, scope, words};
use crate::analysis::flow::changes::changes_name;
use crate::analysis::global_memory::never_written;
use crate::analysis::loops::counted;
use crate::rewrite::buffers::{added, free_name, removed};
use crate::rewrite::edits::edit;
use crate::rewrite::template::{Found, fill, find};
use crate::{Candidate, Combination, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::api::is_copy;
use source::facts::{Kernel, base_name, fixed_type_bytes};
use source::parse::{Call, Function, Loop, SyntaxFile};

/// The motif.
pub struct StageScalars;

/// The copy, and the scalar unit's wait for it.
const STAGE: &str = "@LocalTensor<$$e> staged = $$b.Get<$$e>();
@DataCopyPad(staged, $from, @DataCopyExtParams{1, static_cast<uint32_t>($n * sizeof($$e)), 0, 0, 0}, @DataCopyPadExtParams<$$e>{false, 0, 0, 0});
const event_t stagedEvent = static_cast<event_t>(GetTPipePtr()->FetchEventID(@HardEvent::MTE2_S));
@SetFlag<@HardEvent::MTE2_S>(stagedEvent);
@WaitFlag<@HardEvent::MTE2_S>(stagedEvent);";

const METADATA: Metadata = Metadata {
    id: Id::D21,
    title: "scalars of global memory through the unified buffer",
    family: Family::DataMovement,
    precondition: "a global tensor that the kernel only reads, with one GetValue at start + counter of a loop from 0 in steps of 1, in the loop or in a function \
     that it calls with that as an argument; start and number of rounds are members that only the initialisation sets",
    left_to_verifier: "the elements fit the unified buffer; the loop runs",
    relieves: &[Counter::ScalarUs],
    prior_gain: 1.3,
    cost: "bytes for all elements of the loop, one copy and one wait",
    tunables: "takes bytes of the unified buffer",
    undoing: "element by element from global memory",
    rounding_changes: false,
    replaces_constants: false,
    company: Company { leads: &[Combination { rank: 7, motifs: &[Id::D21, Id::D07] }], ..Company::ANY },
};

impl Motif for StageScalars {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for kernel in context.facts.kernels.values() {
            for (file, _, call) in kernel.calls(&context.forest).filter(|(_, _, call)| call.name == "GetValue") {
                let Some(global) = call.object.as_deref().map(base_name) else { continue };
                let Some((element, _)) = kernel.globals.get(global) else { continue };
                let Some(function) = file.enclosing_function(call.span.start) else { continue };
                let read = Read { context, kernel, file, function, call, global, element };
                // Reads outside of any loop are few.
                let Some(walk) = read.walk() else { continue };
                let edits = walk.and_then(|walk| read.staged(&walk));
                let note = format!("copy {global} into the unified buffer first");
                found.push(
                    Candidate::new(file, &call.span, note, edits)
                        .on_condition(format!("what a core reads of {global} fits the unified buffer"))
                        .on_condition("the loop runs at least once"),
                );
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, _) in functions(context) {
            for place in find(file, &function.body, STAGE) {
                let edits = unstaged(context, kernel, file, function, &place);
                let note = format!("read {} element by element", base_name(place.hole("from")));
                found.push(Candidate::new(file, &place.span, note, edits));
            }
        }
        found
    }
}

struct Read<'a> {
    context: &'a Context,
    kernel: &'a Kernel,
    file: &'a SyntaxFile,
    function: &'a Function,
    call: &'a Call,
    global: &'a str,
    element: &'a str,
}

/// The loop behind a read.
struct Walk<'a> {
    file: &'a SyntaxFile,
    repetition: &'a Loop,
    counter: String,
    rounds: String,
    /// Where the first element is; empty for 0.
    start: String,
    /// Whether the read is in a function that the loop calls.
    called: bool,
}

impl<'a> Read<'a> {
    /// The loop that reads one element a round; `None` where there is no loop.
    fn walk(&self) -> Option<Result<Walk<'a>, String>> {
        let index = self.file.argument(self.call, 0)?.trim();
        let parameter = self.function.parameters.iter().position(|parameter| parameter.name == index);
        let Some(position) = parameter else {
            let repetition = self.file.enclosing_loop(self.call.span.start)?;
            return self
                .function
                .body
                .contains(&repetition.span.start)
                .then(|| walk_of(self.file, repetition, index, false));
        };
        if changes_name(self.file, &self.function.body, index) {
            return Some(Err(format!("{index} changes in {}", self.function.name)));
        }
        let mut callers = self.kernel.calls(&self.context.forest).filter(|(_, _, call)| {
            call.name == self.function.name && call.object.as_deref().is_none_or(|object| object == "this")
        });
        let ((file, _, caller), None) = (callers.next()?, callers.next()) else {
            return Some(Err(format!("{} is called at several places", self.function.name)));
        };
        let repetition = file.enclosing_loop(caller.span.start)?;
        let inside = file.enclosing_function(caller.span.start)?.body.contains(&repetition.span.start);
        let argument = file.argument(caller, position)?.trim();
        inside.then(|| walk_of(file, repetition, argument, true))
    }

    fn staged(&self, walk: &Walk<'_>) -> Result<Vec<Edit>, String> {
        fixed_type_bytes(self.element).ok_or(format!("the size of {} is not known", self.element))?;
        self.only_read()?;
        let near = self.kernel.init_buffers.last().ok_or("the class makes no buffers")?;
        for word in words(&walk.rounds).into_iter().chain(words(&walk.start)).filter(|word| *word != "this") {
            self.set_before(word, near)?;
        }
        let changes = |word: &&str| changes_name(walk.file, &walk.repetition.span, word);
        if let Some(word) = words(&walk.rounds).into_iter().find(changes) {
            return Err(format!("{word} changes in the loop"));
        }
        block_of(walk.file, &walk.repetition.span).ok_or("the loop is the only statement of an if or a loop")?;
        let at = walk.repetition.span.start;
        let line = walk.file.text()[..at].rfind('\n').map_or(0, |end| end + 1);
        if !walk.file.text()[line..at].trim().is_empty() {
            return Err("the loop shares its line".to_owned());
        }
        let body = walk.file.enclosing_function(at).map(|function| walk.file.slice(&function.body)).unwrap_or_default();
        if words(body).into_iter().any(|word| matches!(word, "staged" | "stagedEvent")) {
            return Err("the name staged is taken in the function".to_owned());
        }
        let buffer = free_name(self.context, "stagedBuf");
        let (element, rounds) = (self.element, &walk.rounds);
        let factor = if is_name(rounds) { rounds.clone() } else { format!("({rounds})") };
        let size = format!("({factor} * sizeof({element}) + 31) / 32 * 32");
        let from =
            if walk.start.is_empty() { self.global.to_owned() } else { format!("{}[{}]", self.global, walk.start) };
        let indentation = walk.file.indentation(at);
        let holes = [("e", element), ("b", buffer.as_str()), ("from", from.as_str()), ("n", factor.as_str())];
        let text = fill(STAGE, &holes, scope(walk.file), indentation);
        let mut edits = added(self.context, self.kernel, near, &[(buffer.clone(), size)], &[])?;
        edits.push(edit(walk.file, line..line, format!("{indentation}{text}\n")));
        let index = self.file.argument(self.call, 0).unwrap_or_default().trim();
        let value = match (walk.called, walk.start.is_empty()) {
            (false, _) => format!("staged.GetValue({})", walk.counter),
            (true, true) => format!("{buffer}.Get<{element}>().GetValue({index})"),
            (true, false) => format!("{buffer}.Get<{element}>().GetValue({index} - {})", walk.start),
        };
        edits.push(edit(self.file, self.call.span.clone(), value));
        Ok(edits)
    }

    /// Proves that the tensor is read alone, and by scalars only here.
    fn only_read(&self) -> Result<(), String> {
        if self.kernel.has_base() {
            return Err("a base class may write the tensor".to_owned());
        }
        let (mut reads, mut known, mut mentions) = (0, 0, 0);
        for (file, _, call) in self.kernel.calls(&self.context.forest) {
            let object = call.object.as_deref().map(base_name) == Some(self.global);
            reads += usize::from(object && call.name == "GetValue");
            let harmless = object && matches!(call.name.as_str(), "GetValue" | "SetGlobalBuffer" | "SetL2CacheHint");
            let source = is_copy(&call.name) && file.argument(call, 1).map(base_name) == Some(self.global);
            known += usize::from(harmless) + usize::from(source);
        }
        for (name, index) in &self.kernel.functions {
            let Some(file) = self.context.forest.get(name) else { continue };
            let Some(function) = file.functions().get(*index) else { continue };
            mentions += words(file.slice(&function.body)).into_iter().filter(|word| *word == self.global).count();
        }
        match (reads, mentions == known) {
            (1, true) => never_written(self.context, self.kernel, self.global),
            (1, false) => Err(format!("{} is not only read by the kernel", self.global)),
            _ => Err(format!("{} is read at {reads} places", self.global)),
        }
    }

    /// Proves that a name is a constant, or a member that is set before a statement of the initialisation and never again.
    fn set_before(&self, word: &str, near: &source::facts::InitBuffer) -> Result<(), String> {
        if self.context.facts.definitions(word).next().is_some() || word.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(());
        }
        let mut classes = self.context.forest.iter().flat_map(|file| file.classes());
        let member = classes
            .any(|class| class.name == self.kernel.name && class.members.iter().any(|member| member.name == word));
        if !member {
            return Err(format!("{word} is not a member of the class"));
        }
        for (name, index) in &self.kernel.functions {
            let Some(file) = self.context.forest.get(name) else { continue };
            let Some(function) = file.functions().get(*index) else { continue };
            let body = &function.body;
            let own = *name == near.statement.file && body.contains(&near.statement.start);
            let unset = if own { near.statement.start..body.end } else { body.clone() };
            if changes_name(file, &unset, word) {
                return Err(format!("{word} is set at another place than before the buffers"));
            }
        }
        Ok(())
    }
}

/// The loop and the place of its elements, from the index of a round.
fn walk_of<'a>(file: &'a SyntaxFile, repetition: &'a Loop, index: &str, called: bool) -> Result<Walk<'a>, String> {
    let (counter, rounds) = counted(file, repetition)?;
    let start = match index.split_once('+').map(|(left, right)| (left.trim(), right.trim())) {
        None if index == counter => String::new(),
        Some((start, last)) if last == counter && is_name(start) => start.to_owned(),
        _ => return Err(format!("{index} is not a name + {counter}")),
    };
    Ok(Walk { file, repetition, counter, rounds, start, called })
}

fn unstaged(
    context: &Context,
    kernel: &Kernel,
    file: &SyntaxFile,
    function: &Function,
    place: &Found,
) -> Result<Vec<Edit>, String> {
    if place.commented {
        return Err("a comment or a directive would be lost".to_owned());
    }
    let buffer = place.hole("b");
    let (global, start) = match place.hole("from").split_once('[') {
        Some((global, start)) => (global.trim(), start.trim_end_matches(']').trim()),
        None => (place.hole("from"), ""),
    };
    let mut reads = Vec::new();
    for (name, index) in &kernel.functions {
        let Some(other) = context.forest.get(name) else { continue };
        let Some(body) = other.functions().get(*index).map(|function| function.body.clone()) else { continue };
        for read in find(other, &body, &format!("{buffer}.Get<$$e>().GetValue($i)")) {
            let index = read.hole("i");
            let index = if start.is_empty() { Some(index) } else { index.strip_suffix(&format!(" - {start}")) };
            let index = index.ok_or("an element is read at another place than the loop says")?;
            reads.push(edit(other, read.span.clone(), format!("{global}.GetValue({index})")));
        }
    }
    let mut edits = removed(context, kernel, buffer, 1 + reads.len())?;
    for read in find(file, &function.body, "staged.GetValue($i)") {
        let index = read.hole("i");
        let index = if start.is_empty() { index.to_owned() } else { format!("{start} + {index}") };
        reads.push(edit(file, read.span.clone(), format!("{global}.GetValue({index})")));
    }
    let inner = words(file.slice(&place.span)).into_iter().filter(|word| *word == "staged").count();
    let all = words(file.slice(&function.body)).into_iter().filter(|word| *word == "staged").count();
    if reads.len() != 1 || all - inner > 1 {
        return Err("the elements are used elsewhere too".to_owned());
    }
    edits.extend(reads);
    let lines = file.whole_lines(&place.span).ok_or("the copy shares its lines")?;
    edits.push(edit(file, lines, ""));
    Ok(edits)
}
