//! Two neighbouring vector calls for one, and one for two, from the same declaration.
//!
//! A [`Rule`] names both forms as calls over variables, such as `Muls(t, a, s, n); Add(y, y, t, n)` and `Axpy(y, a, s, n)`. The first
//! variable of the long form is the *temporary*: what the first call puts there, the second takes. A motif of such rules finds the
//! long form and proves its guards one after the other, and finds the short form to take it apart again.

use std::collections::BTreeMap;

use crate::analysis::code::{VectorCall, functions, is_float, unused_scratch, vector_calls};
use crate::context::Context;
use crate::rewrite::edits::{edit, with_each_scratch};
use crate::rewrite::pairs::{Pair, each_pair, renamed};
use crate::site::Candidate;
use source::Edit;
use source::facts::TensorFacts;
use source::parse::SyntaxFile;

/// Two calls and the one that does the same.
#[derive(Clone, Copy)]
pub(crate) struct Rule {
    /// The two calls. A variable stands for one text wherever it is written, but for the count, which is what
    /// [`Guard::SameCount`] proves. Operands of sums, products, maxima and minima are found in either order.
    long: [&'static str; 2],
    /// The one call; may have a variable that `made` gives. Empty where nothing is left to do.
    short: &'static str,
    /// A variable of the short form that is computed from the long one.
    made: Option<Made>,
    /// What has to hold, proved in this order: the first that does not is the reason.
    guards: &'static [Guard],
    /// What the site says, with variables in braces.
    note: &'static str,
    /// Whether results may differ in rounding.
    rounding: bool,
    /// What is left to the verifier.
    condition: Condition,
    /// How the short form is taken apart; `None` where it is not.
    undo: Option<Undo>,
}

impl Rule {
    /// Two calls, the one that does the same, and what has to hold; never taken apart.
    pub(crate) const fn new(
        long: [&'static str; 2],
        short: &'static str,
        note: &'static str,
        guards: &'static [Guard],
    ) -> Self {
        Self { long, short, made: None, guards, note, rounding: false, condition: Condition::None, undo: None }
    }

    /// A form that there is not, which says so.
    pub(crate) const fn never(long: [&'static str; 2], note: &'static str, guards: &'static [Guard]) -> Self {
        Self::new(long, "", note, guards)
    }

    /// Results may differ in rounding.
    pub(crate) const fn rounding(self) -> Self {
        Self { rounding: true, ..self }
    }

    /// Leaves something to the verifier.
    pub(crate) const fn on_condition(self, condition: Condition) -> Self {
        Self { condition, ..self }
    }

    /// A variable of the short form is computed.
    pub(crate) const fn made(self, variable: &'static str, text: fn(&Bound<'_>) -> String) -> Self {
        Self { made: Some(Made { variable, text }), ..self }
    }

    /// The short form is taken apart as the long one stands there.
    pub(crate) const fn undone(self, note: &'static str, through: Through) -> Self {
        self.undone_with(note, through, |_| Some(Vec::new()))
    }

    /// The same with texts of variables that only the long form has; `None` where the call is something else.
    pub(crate) const fn undone_with(self, note: &'static str, through: Through, parts: Parts) -> Self {
        Self { undo: Some(Undo { note, through, parts }), ..self }
    }
}

/// Texts of variables.
pub(crate) type Texts = Vec<(&'static str, String)>;

/// How a call is told apart into variables.
type Parts = fn(&Bound<'_>) -> Option<Texts>;

/// A variable whose text is computed.
#[derive(Clone, Copy)]
struct Made {
    /// Its name.
    variable: &'static str,
    /// Its text.
    text: fn(&Bound<'_>) -> String,
}

/// What the source has to prove before two calls become one.
#[derive(Clone, Copy)]
pub(crate) enum Guard {
    /// The first instruction can be done at the second's place instead and its result be thrown away: all of the next three, and
    /// temporary and result are in different memory or the same tensor.
    Mergeable,
    /// Both cover the same elements.
    SameCount,
    /// Nothing that the first call reads changes before the second, which follows on all paths.
    Unchanged,
    /// Nobody reads the temporary afterwards, unless the second call overwrites it.
    Dead,
    /// Two variables are in different memory.
    Apart(&'static str, &'static str),
    /// Two variables are in different memory or the same tensor.
    SameOrApart(&'static str, &'static str),
    /// Tensors are of the result's type.
    Typed(&'static [&'static str]),
    /// The short form has the result's type: floats, those that are not known, and these.
    HasForm(&'static [&'static str]),
    /// The short form casts from the temporary's type to the result's: those that it knows.
    Casts(&'static [(&'static str, &'static str)]),
    /// What only this rule asks.
    Holds(fn(&Bound<'_>) -> Result<(), String>),
    /// Where it does not hold the place does not even resemble the pattern.
    Resembles(fn(&Bound<'_>) -> bool),
    /// There is no such form, for this reason.
    Never(&'static str),
}

/// What a rule leaves to the verifier.
#[derive(Clone, Copy)]
pub(crate) enum Condition {
    /// Nothing.
    None,
    /// This.
    Always(&'static str),
    /// This where the element type is a template parameter.
    UnknownElement(&'static str),
}

/// How a call is taken apart.
#[derive(Clone, Copy)]
struct Undo {
    /// What the site says, with variables in braces.
    note: &'static str,
    /// What becomes the temporary.
    through: Through,
    /// Texts of variables that only the long form has; `None` where the call is something else.
    parts: Parts,
}

/// What becomes the temporary of calls that one is taken apart into.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Through {
    /// The result.
    InPlace,
    /// Each unused tensor of the operands' type.
    Scratch,
    /// Each unused tensor of the type of this operand, which need not be the result's.
    ScratchLike(&'static str),
    /// Each unused tensor of this type.
    ScratchOf(&'static str),
}

/// Texts that variables stand for at a place.
pub(crate) struct Bound<'a> {
    texts: BTreeMap<&'static str, String>,
    tensors: &'a TensorFacts,
    file: &'a SyntaxFile,
    /// The call that names are written like.
    pub(crate) call: &'a VectorCall<'a>,
}

impl Bound<'_> {
    /// The text of a variable; empty if it has none.
    pub(crate) fn text(&self, variable: &str) -> &str {
        self.texts.get(variable).map_or("", String::as_str)
    }

    /// Element type of a tensor.
    pub(crate) fn element(&self, variable: &str) -> &str {
        self.element_of(self.text(variable))
    }

    /// Element type of a tensor by its name.
    pub(crate) fn element_of(&self, tensor: &str) -> &str {
        self.tensors.tensors.get(tensor).map_or("", |tensor| tensor.element.as_str())
    }

    /// Operands of the second call as they are written.
    pub(crate) fn operands(&self) -> &[&str] {
        &self.call.sources
    }

    /// A name with the scope that names have here.
    pub(crate) fn scoped(&self, name: &str) -> String {
        renamed(self.file, self.call, name)
    }

    /// A text with variables in braces.
    fn filled(&self, text: &str) -> String {
        self.texts.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
    }

    /// The same with more variables.
    fn with(&self, more: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        let mut texts = self.texts.clone();
        texts.extend(more);
        Self { texts, ..*self }
    }

    /// A call written out.
    fn written(&self, call: &'static str) -> String {
        let (name, variables) = parts(call);
        let texts: Vec<&str> = variables.iter().map(|variable| self.text(variable)).collect();
        format!("{}({})", self.scoped(name), texts.join(", "))
    }

    /// Binds the variables of a call; `false` where it does not fit. The count is what the last call that is bound has.
    fn bind(&mut self, call: &'static str, found: &VectorCall<'_>, swapped: bool) -> bool {
        let (name, variables) = parts(call);
        let mut texts = vec![found.destination];
        texts.extend(&found.sources);
        if swapped {
            texts.swap(1, 2);
        }
        texts.extend(found.scalar);
        if name != found.name || variables.len() != texts.len() + 1 {
            return false;
        }
        self.texts.insert(variables[texts.len()], found.count.to_owned());
        variables.into_iter().zip(texts).all(|(variable, text)| {
            let known = self.texts.entry(variable).or_insert_with(|| text.to_owned());
            known == text
        })
    }
}

/// Name and variables of a call in a rule.
fn parts(call: &'static str) -> (&'static str, Vec<&'static str>) {
    let (name, rest) = call.split_once('(').unwrap_or((call, ""));
    (name, rest.trim_end_matches(')').split(", ").collect())
}

/// Whether the operands of an instruction may change places.
fn commutes(name: &str) -> bool {
    matches!(name, "Add" | "Mul" | "Max" | "Min")
}

/// Places of the long forms.
pub(crate) fn fused(context: &Context, rules: &[Rule]) -> Vec<Candidate> {
    let first_names: Vec<&str> = rules.iter().map(|rule| parts(rule.long[0]).0).collect();
    each_pair(context, &first_names, |pair| {
        let (rule, bound) = rules.iter().find_map(|rule| Some((rule, matched(rule, pair)?)))?;
        let note = bound.filled(rule.note);
        let candidate = Candidate::new(pair.file, &pair.second.call.span, note, together(rule, pair, &bound));
        let candidate = candidate.with_rounding(rule.rounding);
        Some(match rule.condition {
            Condition::Always(condition) => candidate.on_condition(condition),
            Condition::UnknownElement(condition) if is_float(pair.element()).is_none() => {
                candidate.on_condition(condition)
            }
            Condition::None | Condition::UnknownElement(_) => candidate,
        })
    })
}

/// The variables of a rule at a pair that looks like its long form.
fn matched<'a>(rule: &Rule, pair: &'a Pair<'a>) -> Option<Bound<'a>> {
    let [first, second] = rule.long;
    let temporary = parts(first).1[0];
    let orders = |call: &VectorCall<'_>| if commutes(call.name) { vec![false, true] } else { vec![false] };
    for swapped in orders(pair.first) {
        for swapped_next in orders(pair.second) {
            let mut bound = Bound { texts: BTreeMap::new(), tensors: pair.tensors, file: pair.file, call: pair.second };
            if !bound.bind(first, pair.first, swapped) || !bound.bind(second, pair.second, swapped_next) {
                continue;
            }
            // Only the operand that is meant to be the temporary is it.
            let others = parts(second).1.into_iter().skip(1).filter(|variable| *variable != temporary);
            let only = others.take(pair.second.sources.len()).all(|variable| bound.text(variable) != pair.temporary());
            let resembles = rule.guards.iter().all(|guard| match guard {
                Guard::Resembles(asked) => asked(&bound),
                _ => true,
            });
            if only && resembles {
                return Some(bound);
            }
        }
    }
    None
}

/// The short form in place of the long one, where all guards hold.
fn together(rule: &Rule, pair: &Pair<'_>, bound: &Bound<'_>) -> Result<Vec<Edit>, String> {
    let (name, temporary) = (parts(rule.short).0, parts(rule.long[0]).1[0]);
    for guard in rule.guards {
        match guard {
            Guard::Mergeable => pair.can_merge()?,
            Guard::SameCount => pair.same_count()?,
            Guard::Unchanged => pair.inputs_unchanged()?,
            Guard::Dead if pair.temporary() == pair.second.destination => {}
            Guard::Dead => pair.dead()?,
            Guard::SameOrApart(left, right) if bound.text(left) == bound.text(right) => {}
            Guard::Apart(left, right) | Guard::SameOrApart(left, right) => {
                let (left, right) = (bound.text(left), bound.text(right));
                if !pair.tensors.disjoint(left, right) {
                    return Err(format!("{left} and {right} may share memory"));
                }
            }
            Guard::Typed(operands) => {
                if operands.iter().any(|operand| bound.element(operand) != pair.element()) {
                    return Err("the operands have different element types".to_owned());
                }
            }
            Guard::HasForm(besides) => {
                let element = pair.element();
                if is_float(element) == Some(false) && !besides.contains(&element) {
                    return Err(format!("{name} has no form for {element}"));
                }
            }
            Guard::Casts(known) => {
                let (wide, narrow) = (bound.element(temporary), pair.element());
                if !known.contains(&(wide, narrow)) {
                    return Err(format!("{name} has no form from {wide} to {narrow}"));
                }
            }
            Guard::Holds(proof) => proof(bound)?,
            Guard::Resembles(_) => {}
            Guard::Never(reason) => return Err((*reason).to_owned()),
        }
    }
    let made = rule.made.map(|made| (made.variable, (made.text)(bound)));
    let removed = |call: &VectorCall<'_>| edit(pair.file, pair.file.removal_span(&call.statement), "");
    let second = match rule.short {
        "" => removed(pair.second),
        short => edit(pair.file, pair.second.call.span.clone(), bound.with(made).written(short)),
    };
    Ok(vec![removed(pair.first), second])
}

/// Places of the short forms, taken apart.
pub(crate) fn split(context: &Context, rules: &[Rule]) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (file, function, _, tensors) in functions(context) {
        for call in vector_calls(file, function, &tensors) {
            for rule in rules {
                let Some(undo) = rule.undo else { continue };
                let mut bound = Bound { texts: BTreeMap::new(), tensors: &tensors, file, call: &call };
                // Nothing can stand behind any call, on what that has written.
                if rule.short.is_empty() {
                    let last = parts(rule.long[1]).1;
                    bound.texts.insert(last[0], call.destination.to_owned());
                    bound.texts.insert(last[last.len() - 1], call.count.to_owned());
                } else if !bound.bind(rule.short, &call, false) {
                    continue;
                }
                let Some(parts) = (undo.parts)(&bound) else { continue };
                let candidates = apart(rule, &undo, &bound.with(parts));
                found.extend(candidates.into_iter().map(|candidate| candidate.with_rounding(rule.rounding)));
            }
        }
    }
    found
}

/// The long form in place of the short one, through everything that can be the temporary.
fn apart(rule: &Rule, undo: &Undo, bound: &Bound<'_>) -> Vec<Candidate> {
    let Bound { tensors, file, call, .. } = *bound;
    let [first, second] = rule.long;
    let temporary = parts(first).1[0];
    let text = |through: &str| {
        let bound = bound.with([(temporary, through.to_owned())]);
        format!("{};\n{}{}", bound.written(first), file.indentation(call.statement.start), bound.written(second))
    };
    let candidate = |note: String, through: &str| {
        let change = if rule.short.is_empty() {
            let end = call.statement.end;
            edit(file, end..end, format!("\n{}{};", file.indentation(call.statement.start), text(through)))
        } else {
            edit(file, call.call.span.clone(), text(through))
        };
        Candidate::new(file, &call.call.span, note, Ok(vec![change]))
    };
    let note = bound.filled(undo.note);
    let each = |element: &str| {
        let scratches = unused_scratch(tensors, element).into_iter();
        scratches.map(|scratch| candidate(format!("{note} through {scratch}"), scratch)).collect()
    };
    match undo.through {
        Through::InPlace => vec![candidate(note, call.destination)],
        Through::Scratch => with_each_scratch(file, call, tensors, &note, text),
        Through::ScratchLike(operand) => each(bound.element(operand)),
        Through::ScratchOf(element) => each(element),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::SourceTree;
    use source::facts::KnownValues;

    const RULE: Rule = Rule::new(
        ["Muls(t, a, s, n)", "Add(y, b, t, n)"],
        "Both(y, a, r, n)",
        "{b} and {a} into {y}",
        &[Guard::Resembles(|bound| bound.text("s") != "0"), Guard::Mergeable, Guard::Apart("a", "y")],
    )
    .made("r", |bound| format!("{}:{}", bound.text("b"), bound.text("s")));

    const APART: Rule = Rule::new(["Muls(t, a, s, n)", "Add(y, y, t, n)"], "Axpy(y, a, s, n)", "", &[Guard::Mergeable])
        .undone("apart", Through::Scratch);

    fn context(compute: &str) -> Context {
        let text = format!(
            "class Kernel {{\npublic:\n    __aicore__ inline void Compute(uint32_t n)\n    {{\n\
                     LocalTensor<float> x = xBuf.Get<float>();\n        LocalTensor<float> y = yBuf.Get<float>();\n\
                     LocalTensor<float> z = zBuf.Get<float>();\n        LocalTensor<float> w = wBuf.Get<float>();\n\
             {compute}    }}\n    TBuf<TPosition::VECCALC> xBuf;\n    TBuf<TPosition::VECCALC> yBuf;\n\
                 TBuf<TPosition::VECCALC> zBuf;\n    TBuf<TPosition::VECCALC> wBuf;\n}};\n"
        );
        let mut tree = SourceTree::new();
        tree.insert("k.h", text);
        Context::new(tree, KnownValues::default(), None)
    }

    fn answers(compute: &str) -> Vec<Result<String, String>> {
        let context = context(compute);
        let texts = |edits: Vec<Edit>| edits.last().map_or_else(String::new, |edit| edit.replacement.clone());
        let found = fused(&context, &[RULE]).into_iter();
        found
            .map(|candidate| candidate.edits.map(|edits| format!("{}: {}", candidate.site.note, texts(edits))))
            .collect()
    }

    #[test]
    fn operands_of_a_sum_are_found_in_either_order() {
        let expected = vec![Ok("w and x into y: Both(y, x, w:k, n)".to_owned())];
        assert_eq!(answers("Muls(z, x, k, n);\nAdd(y, w, z, n);\n"), expected);
        assert_eq!(answers("Muls(z, x, k, n);\nAdd(y, z, w, n);\n"), expected);
    }

    #[test]
    fn what_does_not_resemble_the_form_is_no_refusal() {
        for other in [
            "Muls(z, x, k, n);\nAdd(y, z, z, n);\n",
            "Muls(z, x, 0, n);\nAdd(y, w, z, n);\n",
            "Muls(z, x, k, n);\nSub(y, w, z, n);\n",
            "Adds(z, x, k, n);\nAdd(y, w, z, n);\n",
        ] {
            assert_eq!(answers(other), [], "{other}");
        }
    }

    #[test]
    fn the_first_guard_that_does_not_hold_is_the_reason() {
        for (text, reason) in [
            ("Muls(z, y, k, n);\nAdd(y, w, z, m);\n", "the counts differ: n and m"),
            ("Muls(z, y, k, n);\nAdd(y, w, z, n);\nAbs(x, z, n);\n", "z is used again"),
            ("Muls(z, y, k, n);\nif (n > 4) { return; }\nAdd(y, w, z, n);\n", "return may leave"),
            ("Muls(z, y, k, n);\nk <<= 1;\nAdd(y, w, z, n);\n", "k may change"),
            ("Muls(z, y, k, n);\nAdd(y, w, z, n);\n", "y and y may share memory"),
        ] {
            let answers = answers(text);
            let named = |answer: &Result<String, String>| answer.as_ref().is_err_and(|said| said.contains(reason));
            assert!(answers.len() == 1 && named(&answers[0]), "{text}: {answers:?}");
        }
    }

    #[test]
    fn both_directions_come_from_one_rule() {
        let context = context("Axpy(y, x, k, n);\n");
        let candidates = split(&context, &[APART]);
        let notes: Vec<&str> = candidates.iter().map(|candidate| candidate.site.note.as_str()).collect();
        assert_eq!(notes, ["apart through w", "apart through z"]);
        let edits = candidates[0].edits.clone().unwrap();
        let patch = source::Patch { title: String::new(), motif: String::new(), edits };
        let slow = context.after(context.tree.apply(&patch).unwrap());
        assert!(slow.tree.text("k.h").unwrap().contains("Muls(w, x, k, n);\nAdd(y, y, w, n);\n"));
        let edits = fused(&slow, &[APART]).remove(0).edits.unwrap();
        let patch = source::Patch { title: String::new(), motif: String::new(), edits };
        assert_eq!(slow.tree.apply(&patch).unwrap(), context.tree);
    }
}
