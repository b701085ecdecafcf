//! V36: a vector instruction whose operands are the same in every round is done once before the loop.

use crate::analysis::code::{block_of, functions, words};
use crate::analysis::flow::effects::{own_functions, steady};
use crate::analysis::siblings::siblings;
use crate::rewrite::edits::edit;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::api::{Access, Shape, vector_shape};
use source::facts::{Kernel, Origin, TensorFacts, base_name};
use source::parse::{Call, Function, Local, Loop, SyntaxFile};

/// The motif.
pub struct HoistVector;

const METADATA: Metadata = Metadata {
    id: Id::V36,
    title: "hoist a vector instruction with unchanged operands",
    family: Family::Vector,
    precondition: "a Cast or another instruction in count form in a function that is called at one place, in a loop; its destination a TBuf tensor taken at one \
     place and written by nothing else; its source a parameter that is only read, for which the loop always passes the same tensor, taken before \
     the loop; scalars and count the same in every round",
    left_to_verifier: "nothing",
    relieves: &[Counter::VecUs],
    prior_gain: 1.05,
    cost: "nothing",
    tunables: "none",
    undoing: "into the function, before its first statement",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for HoistVector {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            for call in file.calls_in(function.body.clone()) {
                let Some((source, others)) = operands(file, call) else { continue };
                let parameter = tensors.tensors.get(source).is_some_and(|tensor| tensor.origin == Origin::Parameter);
                let Some(caller) = Caller::of(context, kernel, file, function).filter(|_| parameter) else { continue };
                let place = Vicinity { context, file, function, kernel, tensors: &tensors };
                let target = file.argument(call, 0).unwrap_or_default();
                let note = format!("{} into {target} before the loop", call.name);
                found.push(Candidate::new(file, &call.span, note, place.hoisted(call, source, &others, &caller)));
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            let Some(caller) = Caller::of(context, kernel, file, function) else { continue };
            let before = siblings(caller.file, &caller.repetition.span);
            let Some(at) = before.iter().position(|span| *span == caller.repetition.span) else { continue };
            let Some([taken, done]) = at.checked_sub(2).map(|first| [&before[first], &before[first + 1]]) else {
                continue;
            };
            let Some(call) = caller.file.calls().iter().find(|call| call.statement.as_ref() == Some(done)) else {
                continue;
            };
            let Some((source, _)) = operands(caller.file, call) else { continue };
            let target = caller.file.argument(call, 0).unwrap_or_default();
            let Some(own) = tensors.tensors.get(target).filter(|tensor| matches!(tensor.origin, Origin::Buffer(_)))
            else {
                continue;
            };
            if file.slice(&own.declaration) != caller.file.slice(taken) {
                continue;
            }
            let position = caller.call.arguments.iter().position(|argument| caller.file.slice(argument) == source);
            let Some(parameter) = position.and_then(|index| function.parameters.get(index)) else { continue };
            let text = caller.file.slice(done).replacen(source, &parameter.name, 1);
            let is_declaration = |span: &std::ops::Range<usize>| file.locals().iter().any(|local| local.span == *span);
            let inside = siblings(file, &own.declaration);
            let Some(first) = inside.iter().find(|span| !is_declaration(span)) else { continue };
            let (Some(line), Some(from), Some(to)) =
                (file.whole_lines(first), caller.file.whole_lines(taken), caller.file.whole_lines(done))
            else {
                continue;
            };
            let edits = vec![
                edit(caller.file, from.start..to.end, ""),
                edit(file, line.start..line.start, format!("{}{text}\n", file.indentation(first.start))),
            ];
            found.push(Candidate::new(file, first, format!("{} into {target} in every round", call.name), Ok(edits)));
        }
        found
    }
}

/// Source and the arguments behind it of an instruction with one source.
fn operands<'a>(file: &'a SyntaxFile, call: &'a Call) -> Option<(&'a str, Vec<&'a str>)> {
    let behind = match (call.name.as_str(), vector_shape(&call.name)) {
        ("Cast", _) | (_, Some(Shape::Scalar)) => 2,
        (_, Some(Shape::Unary)) => 1,
        _ => return None,
    };
    let plain = call.object.is_none() && call.template_arguments.is_none() && call.statement.is_some();
    let source = file.argument(call, 1)?.trim();
    (plain && call.arguments.len() == 2 + behind)
        .then(|| (source, call.arguments[2..].iter().map(|argument| file.slice(argument).trim()).collect()))
}

/// The only call of a function, directly in a loop.
struct Caller<'a> {
    file: &'a SyntaxFile,
    outer: &'a Function,
    repetition: &'a Loop,
    call: &'a Call,
}

impl<'a> Caller<'a> {
    fn of(context: &'a Context, kernel: &'a Kernel, file: &SyntaxFile, function: &Function) -> Option<Self> {
        let mut calls =
            kernel.calls(&context.forest).filter(|(_, _, call)| call.is_own() && call.name == function.name);
        let (caller, _, call) = calls.next().filter(|_| calls.next().is_none())?;
        let own = own_functions(context, kernel, &function.name).count() == 1 && !kernel.has_base();
        let repetition = caller.enclosing_loop(call.span.start).filter(|_| own)?;
        let outer = caller.enclosing_function(repetition.span.start)?;
        let direct = block_of(caller, call.statement.as_ref()?) == Some(repetition.body.clone());
        let derived = !context.facts.derived(&kernel.name).is_empty();
        (direct && !derived && !(caller.name() == file.name() && outer.span == function.span)).then_some(Self {
            file: caller,
            outer,
            repetition,
            call,
        })
    }
}

struct Vicinity<'a> {
    context: &'a Context,
    file: &'a SyntaxFile,
    function: &'a Function,
    kernel: &'a Kernel,
    tensors: &'a TensorFacts,
}

impl Vicinity<'_> {
    fn hoisted(&self, call: &Call, source: &str, others: &[&str], caller: &Caller<'_>) -> Result<Vec<Edit>, String> {
        let Self { context, file, function, kernel, .. } = *self;
        let statement = call.statement.clone().ok_or("the instruction is not a statement of its own")?;
        if block_of(file, &statement) != Some(function.body.clone()) {
            return Err("the instruction is not done in every round".to_owned());
        }
        let target = file.argument(call, 0).unwrap_or_default().trim();
        let declaration = self.target(target, call)?;
        let position = function.parameters.iter().position(|parameter| parameter.name == source);
        let passed = position.and_then(|index| caller.file.argument(caller.call, index)).unwrap_or_default();
        self.only_read(source, passed, caller)?;
        for other in others {
            let parameter = words(other)
                .into_iter()
                .find(|word| function.parameters.iter().any(|parameter| parameter.name == *word));
            let local = words(other).into_iter().find(|word| {
                file.locals().iter().any(|local| local.name == *word && function.body.contains(&local.span.start))
            });
            if let Some(word) = parameter.or(local) {
                return Err(format!("{word} may change from round to round"));
            }
            if !other.contains("RoundMode::") {
                steady(context, caller.file, kernel, other, &caller.repetition.span)?;
            }
        }
        if words(caller.file.slice(&caller.outer.body)).contains(&target) {
            return Err(format!("{target} is a name of {} already", caller.outer.name));
        }
        block_of(caller.file, &caller.repetition.span).ok_or("the loop is the only statement of an if or a loop")?;
        let start = caller.file.text()[..caller.repetition.span.start].rfind('\n').map_or(0, |end| end + 1);
        let indentation = caller.file.indentation(caller.repetition.span.start);
        let rest = file.slice(&(call.arguments[1].end..statement.end));
        let head = file.slice(&(statement.start..call.arguments[1].start));
        let lines = format!("{indentation}{}\n{indentation}{head}{passed}{rest}\n", file.slice(&declaration.span));
        Ok(vec![edit(caller.file, start..start, lines), edit(file, file.removal_span(&statement), "")])
    }

    /// The destination: a buffer of its own that nothing else writes.
    fn target(&self, target: &str, call: &Call) -> Result<&Local, String> {
        let Self { context, file, kernel, tensors, .. } = *self;
        let Some(Origin::Buffer(buffer)) = tensors.tensors.get(target).map(|tensor| &tensor.origin) else {
            return Err(format!("{target} does not come from a TBuf"));
        };
        let gets =
            kernel.calls(&context.forest).filter(|(_, _, call)| call.object.as_deref().map(base_name) == Some(buffer));
        if gets.count() != 1 || !kernel.buffers.contains_key(buffer) {
            return Err(format!("{buffer} is handed out at more than one place"));
        }
        for used in tensors.uses_of(target).filter(|used| !call.span.contains(&used.span.start)) {
            if !matches!(used.access, Access::Read | Access::None) {
                return Err(format!("{target} is written at line {} too", file.line(used.span.start)));
            }
            if used.span.start < call.span.start {
                return Err(format!("{target} is read at line {} before", file.line(used.span.start)));
            }
        }
        let declared = &tensors.tensors[target].declaration;
        file.locals()
            .iter()
            .find(|local| local.span == *declared && local.alone)
            .ok_or_else(|| format!("{target} is not declared alone"))
    }

    /// The source: read only, and the same tensor in every round.
    fn only_read(&self, source: &str, passed: &str, caller: &Caller<'_>) -> Result<(), String> {
        let changed = |used: &&source::facts::TensorUse| !matches!(used.access, Access::Read | Access::None);
        if let Some(used) = self.tensors.uses_of(source).find(changed) {
            return Err(format!("{source} may be changed at line {}", self.file.line(used.span.start)));
        }
        let outer = TensorFacts::of(caller.file, caller.outer);
        let known =
            outer.tensors.get(passed).ok_or_else(|| format!("{passed} is not a tensor of {}", caller.outer.name))?;
        if known.declaration.start >= caller.repetition.span.start || known.origin == Origin::Unknown {
            return Err(format!("{passed} is not taken before the loop"));
        }
        let other = outer.uses_of(passed).find(|used| {
            caller.repetition.span.contains(&used.span.start) && !caller.call.span.contains(&used.span.start)
        });
        match other {
            Some(used) => Err(format!("{passed} is used at line {} too", caller.file.line(used.span.start))),
            None => Ok(()),
        }
    }
}
