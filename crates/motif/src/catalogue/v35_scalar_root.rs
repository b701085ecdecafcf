//! V35: the root of one number is taken by the scalar unit instead of a trip through the vector unit, or over a filled tensor.

use std::ops::Range;

use crate::analysis::code::{Surroundings, block_of, functions, scope};
use crate::analysis::flow::Flow;
use crate::analysis::flow::effects::steady;
use crate::analysis::loops::loops_around;
use crate::analysis::siblings::siblings;
use crate::rewrite::edits::edit;
use crate::rewrite::peephole::{Guard, Rule, Through, fused, split};
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::api::Access;
use source::facts::{Kernel, Origin, TensorFacts, base_name};
use source::parse::{Call, Function, SyntaxFile};

/// The motif.
pub struct ScalarRoot;

const METADATA: Metadata = Metadata {
    id: Id::V35,
    title: "Sqrt of one number to the scalar unit",
    family: Family::Vector,
    precondition: "Duplicate(t, s) then Sqrt(u, t) with the same count, t not read afterwards; or t.SetValue(0, s), Sqrt(t, t, 1), t.GetValue(0) in one block with \
     nothing else on t in between or afterwards, t taken from a TBuf at one place and overwritten first; float",
    left_to_verifier: "nothing",
    relieves: &[Counter::VecUs, Counter::StallUs],
    prior_gain: 1.1,
    cost: "other rounding: the scalar unit's root instead of the vector unit's",
    tunables: "opens V28: a filled tensor is left to divide by",
    undoing: "fill first, then Sqrt over all elements; or through the first element of a tensor that is not used any more",
    rounding_changes: true,
    replaces_constants: false,
    company: Company::ANY,
};

/// The root of what fills a tensor.
const FILLED: &[Rule] = &[Rule::new(
    ["Duplicate(t, s, n)", "Sqrt(y, t, n)"],
    "Duplicate(y, r, n)",
    "fill {y} with the root",
    &[Guard::Holds(|bound| single(bound.element("y"))), Guard::SameCount, Guard::Unchanged, Guard::Dead],
)
.rounding()
.made("r", |bound| format!("sqrt({})", bound.text("s")))
.undone_with("root of every element", Through::InPlace, |bound| {
    Some(vec![("s", root_of(bound.text("r"))?.to_owned())])
})];

impl Motif for ScalarRoot {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = fused(context, FILLED);
        for_each_trip(context, |trip| {
            let note = format!("root of {} without {}", trip.value, trip.tensor);
            found.push(Candidate::new(trip.file, &trip.root, note, trip.shortened(context)).with_rounding(true));
        });
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = split(context, FILLED);
        for (file, function, kernel, tensors) in functions(context) {
            for call in file.calls_in(function.body.clone()).filter(|call| call.name == "sqrt") {
                let Some(value) = file.argument(call, 0).filter(|_| call.object.is_none()) else { continue };
                let Some(local) = file.locals().iter().find(|local| local.value.as_ref() == Some(&call.span)) else {
                    continue;
                };
                let Some(lines) = file.whole_lines(&local.span) else { continue };
                for (name, tensor) in tensors.tensors.iter().filter(|(_, tensor)| tensor.element == "float") {
                    let place = (file, function, kernel);
                    if free_around(context, place, &tensors, name, &tensor.origin, &local.span).is_err() {
                        continue;
                    }
                    let indentation = file.indentation(local.span.start);
                    let scope = scope(file);
                    let text = format!(
                        "{indentation}{name}.SetValue(0, {value});\n{indentation}{scope}Sqrt({name}, {name}, 1);\n"
                    );
                    let edits = vec![
                        edit(file, lines.start..lines.start, text),
                        edit(file, call.span.clone(), format!("{name}.GetValue(0)")),
                    ];
                    found.push(
                        Candidate::new(file, &call.span, format!("root through {name}"), Ok(edits)).with_rounding(true),
                    );
                }
            }
        }
        found
    }
}

/// `s` of `sqrt(s)`.
fn root_of(scalar: &str) -> Option<&str> {
    let inner = scalar.strip_prefix("sqrt(")?.strip_suffix(')')?;
    let mut depth = 0i32;
    let closed_early = inner.chars().any(|character| {
        depth += i32::from(character == '(') - i32::from(character == ')');
        depth < 0
    });
    (!closed_early).then_some(inner)
}

fn single(element: &str) -> Result<(), String> {
    match element {
        "float" | "float32_t" => Ok(()),
        _ => Err(format!("the scalar unit's root is one of float, not of {element}")),
    }
}

/// `t.SetValue(0, s); Sqrt(t, t, 1); .. t.GetValue(0)`.
struct Trip<'a> {
    file: &'a SyntaxFile,
    function: &'a Function,
    kernel: &'a Kernel,
    tensors: &'a TensorFacts,
    tensor: &'a str,
    value: &'a str,
    set: Range<usize>,
    root: Range<usize>,
    get: &'a Call,
}

fn for_each_trip(context: &Context, mut judge: impl FnMut(&Trip<'_>)) {
    for (file, function, kernel, tensors) in functions(context) {
        let calls: Vec<&Call> = file.calls_in(function.body.clone()).collect();
        for (index, set) in
            calls.iter().enumerate().filter(|(_, call)| call.name == "SetValue" && call.arguments.len() == 2)
        {
            let tensor = set.object.as_deref().map(base_name).unwrap_or_default();
            let touches = |call: &&&Call| {
                call.object.as_deref().map(base_name) == Some(tensor)
                    || call.arguments.iter().any(|argument| base_name(file.slice(argument)) == tensor)
            };
            let mut next = calls[index + 1..].iter().filter(touches);
            let (Some(root), Some(get)) = (next.next(), next.next()) else { continue };
            let argument = |call: &Call, at: usize| call.arguments.get(at).map_or("", |span| file.slice(span).trim());
            let is_root = root.name == "Sqrt"
                && root.arguments.len() == 3
                && (argument(root, 0), argument(root, 1), argument(root, 2)) == (tensor, tensor, "1");
            let read = get.name == "GetValue" && argument(get, 0) == "0";
            let (Some(set_statement), Some(root_statement)) = (&set.statement, &root.statement) else { continue };
            if argument(set, 0) == "0" && is_root && read && tensors.tensors.contains_key(tensor) {
                let tensors = &tensors;
                let (set, root) = (set_statement.clone(), root_statement.clone());
                let value = argument(calls[index], 1);
                judge(&Trip { file, function, kernel, tensors, tensor, value, set, root, get });
            }
        }
    }
}

impl Trip<'_> {
    fn shortened(&self, context: &Context) -> Result<Vec<Edit>, String> {
        let Self { file, function, kernel, tensors, tensor, value, get, .. } = *self;
        let known = &tensors.tensors[tensor];
        single(&known.element)?;
        let block = block_of(file, &self.set);
        let statement = siblings(file, &self.set).into_iter().find(|statement| statement.contains(&get.span.start));
        let statement = statement.ok_or("the element is read in another block")?;
        let straight = block.is_some() && block_of(file, &self.root) == block && block_of(file, &statement) == block;
        if !straight
            || file
                .node_at(&statement)
                .is_some_and(|node| node.kind().ends_with("_statement") && node.kind() != "expression_statement")
        {
            return Err("the three steps do not stand in one block".to_owned());
        }
        let between = self.set.end..get.span.start;
        let around = Surroundings { context, file, function, kernel, tensors };
        Flow::of(&around)?.follows(&self.set, &statement)?;
        steady(context, file, kernel, value, &between)
            .map_err(|reason| format!("{value} changes in between: {reason}"))?;
        if file.calls_in(self.set.clone()).count() > 1
            && file.calls_in(self.set.clone()).any(|call| call.name == "GetValue")
        {
            return Err("the number is an element of a tensor".to_owned());
        }
        free_around(
            context,
            (file, function, kernel),
            tensors,
            tensor,
            &known.origin,
            &(self.set.start..statement.end),
        )?;
        Ok(vec![
            edit(file, file.removal_span(&self.set), ""),
            edit(file, file.removal_span(&self.root), ""),
            edit(file, get.span.clone(), format!("sqrt({value})")),
        ])
    }
}

/// Proves that a tensor's first element may be anything after the span: nobody reads it before it is overwritten.
fn free_around(
    context: &Context,
    (file, function, kernel): (&SyntaxFile, &Function, &Kernel),
    tensors: &TensorFacts,
    tensor: &str,
    origin: &Origin,
    span: &Range<usize>,
) -> Result<(), String> {
    let Origin::Buffer(buffer) = origin else { return Err(format!("{tensor} does not come from a TBuf")) };
    let gets =
        kernel.calls(&context.forest).filter(|(_, _, call)| call.object.as_deref().map(base_name) == Some(buffer));
    if gets.count() != 1 || kernel.has_base() {
        return Err(format!("{buffer} is handed out at more than one place"));
    }
    if let Some(later) = tensors.uses_of(tensor).find(|used| used.span.start >= span.end) {
        return Err(format!("{tensor} is used again at line {}", file.line(later.span.start)));
    }
    let overwritten = |from: usize| {
        let first = tensors.uses_of(tensor).find(|used| used.span.start >= from);
        first.is_some_and(|used| {
            used.access == Access::Write && used.argument == Some(0) && used.whole && used.span.start < span.start
        })
    };
    let rounds = loops_around(file, function, span.start);
    let starts = rounds.iter().map(|repetition| repetition.body.start).chain([function.body.start]);
    for start in starts {
        if !overwritten(start) {
            return Err(format!(
                "{tensor} is read before it is written, so its content may come from an earlier round"
            ));
        }
    }
    Ok(())
}
