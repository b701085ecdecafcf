//! Two forms of the same code, and the way from each to the other: what a motif writes when it is made is what it looks for when it
//! is unmade.
//!
//! An [`Exchange`] names both forms, code by example ([`template`](super::template)) or a place where nothing stands yet, and for each
//! direction a [`Way`]: what the site says, which guards the source has to prove, which holes of the other form are computed. How a
//! motif is written with it is told in `docs/extending.md`.

use std::ops::Range;

use tree_sitter::Node;

use crate::analysis::code::{Surroundings, functions, scope, words};
use crate::context::Context;
use crate::rewrite::edits::{deleted, edit, insert_after};
use crate::rewrite::template::{Found, Holes, fill, find, find_past_barriers};
use crate::site::Candidate;
use source::Edit;
use source::facts::Kernel;
use source::parse::{Call, Function, SyntaxFile};

/// Two forms of the same code.
pub(crate) struct Exchange {
    /// What is looked for when the motif is made, and written when it is unmade.
    pub(crate) slow: Form,
    /// What is written when the motif is made, and looked for when it is unmade.
    pub(crate) fast: Form,
    /// From the slow form to the fast one.
    pub(crate) make: Way,
    /// From the fast form to the slow one; `None` where it is not unmade.
    pub(crate) unmake: Option<Way>,
}

/// One of the two forms.
pub(crate) enum Form {
    /// Code by example.
    Code(&'static str),
    /// The same, also in functions that are no kernel's.
    Anywhere(&'static str),
    /// The same, whatever barriers stand between its tokens.
    PastBarriers(&'static str),
    /// Statements that an example cannot tell, found by asking, and the example that is written for them.
    Asked(fn(&Surroundings<'_>) -> Vec<Spot>, &'static str),
    /// Nothing, behind each of these statements.
    Behind(fn(&Surroundings<'_>) -> Vec<Spot>),
    /// Nothing, before each of these statements.
    Before(fn(&Surroundings<'_>) -> Vec<Spot>),
}

impl Form {
    /// Its places in a function.
    fn spots(&self, around: &Surroundings<'_>) -> Vec<Spot> {
        let body = &around.function.body;
        let spots = |found: Vec<Found>| found.into_iter().map(|found| Spot::of(around.file, found)).collect();
        match self {
            Self::Code(example) | Self::Anywhere(example) => spots(find(around.file, body, example)),
            Self::PastBarriers(example) => spots(find_past_barriers(around.file, body, example)),
            Self::Asked(asked, _) | Self::Behind(asked) | Self::Before(asked) => asked(around),
        }
    }

    /// The example that is written for it; `None` where nothing is.
    fn written(&self) -> Option<&'static str> {
        match self {
            Self::Code(example) | Self::Anywhere(example) | Self::PastBarriers(example) | Self::Asked(_, example) => {
                Some(example)
            }
            Self::Behind(_) | Self::Before(_) => None,
        }
    }
}

/// A place of a form in a function.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    /// What is replaced, or beside which something is put.
    pub(crate) span: Range<usize>,
    /// What the site shows.
    pub(crate) shown: Range<usize>,
    /// Texts of holes.
    holes: Holes,
    /// The scope of names, as written; the file's where nothing is.
    scope: String,
    /// Whether a comment or a directive lies in it.
    commented: bool,
    /// Whether a directive does.
    directed: bool,
}

impl Spot {
    /// A statement or an expression with texts of holes.
    pub(crate) fn new(file: &SyntaxFile, span: &Range<usize>, holes: &[(&str, &str)]) -> Self {
        let holes = holes.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let scope = scope(file).to_owned();
        Self { span: span.clone(), shown: span.clone(), holes, scope, commented: false, directed: false }
    }

    /// The same where the site shows something else.
    pub(crate) fn shown(self, shown: &Range<usize>) -> Self {
        Self { shown: shown.clone(), ..self }
    }

    /// The same where names are written with this scope.
    pub(crate) fn scoped(self, scope: &str) -> Self {
        Self { scope: scope.to_owned(), ..self }
    }

    fn of(file: &SyntaxFile, found: Found) -> Self {
        let Found { span, holes, scope: written, commented, directed } = found;
        let end = span.start + file.slice(&span).trim_end_matches(';').len();
        let scope = if written.is_empty() { scope(file).to_owned() } else { written };
        Self { shown: span.start..end, span, holes, scope, commented, directed }
    }
}

/// One direction between two forms.
pub(crate) struct Way {
    note: &'static str,
    resembles: fn(&FoundForm<'_>) -> bool,
    choices: fn(&FoundForm<'_>) -> Vec<Texts>,
    guards: &'static [Guard],
    parts: fn(&mut FoundForm<'_>) -> Result<Vec<Edit>, String>,
    conditions: fn(&FoundForm<'_>) -> Vec<String>,
    rounding: fn(&FoundForm<'_>) -> bool,
    loses_comments: bool,
}

/// Texts of holes.
pub(crate) type Texts = Vec<(&'static str, String)>;

impl Way {
    /// A way with what its sites say, holes in it, and what has to be proved, in this order: the first guard that does not hold is
    /// the reason.
    pub(crate) const fn new(note: &'static str, guards: &'static [Guard]) -> Self {
        Self {
            note,
            resembles: |_| true,
            choices: |_| vec![Vec::new()],
            guards,
            parts: |_| Ok(Vec::new()),
            conditions: |_| Vec::new(),
            rounding: |_| false,
            loses_comments: false,
        }
    }

    /// Where this does not hold the code does not even resemble the form: that is no refusal.
    pub(crate) const fn resembling(self, resembles: fn(&FoundForm<'_>) -> bool) -> Self {
        Self { resembles, ..self }
    }

    /// A site for each choice of more holes; none where there is no choice.
    pub(crate) const fn choosing(self, choices: fn(&FoundForm<'_>) -> Vec<Texts>) -> Self {
        Self { choices, ..self }
    }

    /// Holes of the other form that are computed, with edits at other places.
    pub(crate) const fn with(self, parts: fn(&mut FoundForm<'_>) -> Result<Vec<Edit>, String>) -> Self {
        Self { parts, ..self }
    }

    /// Conditions that are left to the verifier.
    pub(crate) const fn on_conditions(self, conditions: fn(&FoundForm<'_>) -> Vec<String>) -> Self {
        Self { conditions, ..self }
    }

    /// Whether results may differ in rounding.
    pub(crate) const fn rounding(self, rounding: fn(&FoundForm<'_>) -> bool) -> Self {
        Self { rounding, ..self }
    }

    /// Comments in the code are about what is replaced, and go with it.
    pub(crate) const fn with_its_comments(self) -> Self {
        Self { loses_comments: true, ..self }
    }
}

/// What the source has to prove before one form takes the place of the other.
pub(crate) enum Guard {
    /// Holes are local tensors of one of these element types.
    Tensors(&'static [&'static str], &'static [&'static str]),
    /// Two holes are tensors in different memory.
    Apart(&'static str, &'static str),
    /// Names that the other form declares mean nothing in the function yet.
    Fresh(&'static [&'static str]),
    /// A name that the form declares is mentioned this often in the function, which is how often the form itself does.
    Mentioned(&'static str, usize),
    /// What only this exchange asks.
    Holds(fn(&FoundForm<'_>) -> Result<(), String>),
}

/// A form found in a function.
pub(crate) struct FoundForm<'a> {
    /// The function.
    pub(crate) around: Surroundings<'a>,
    spot: Spot,
}

impl<'a> FoundForm<'a> {
    /// The text of a hole; empty if it has none.
    pub(crate) fn hole(&self, name: &str) -> &str {
        self.spot.holes.get(name).map_or("", String::as_str)
    }

    /// Fills a hole.
    pub(crate) fn fill(&mut self, name: &str, text: impl Into<String>) {
        self.spot.holes.insert(name.to_owned(), text.into());
    }

    /// What is replaced, or beside which something is put.
    pub(crate) fn span(&self) -> &Range<usize> {
        &self.spot.span
    }

    /// The scope of names, as they are written here.
    pub(crate) fn scope(&self) -> &str {
        &self.spot.scope
    }

    /// How often the function mentions the name that a hole has.
    pub(crate) fn mentions(&self, hole: &str) -> usize {
        let text = self.around.file.slice(&self.around.function.span);
        words(text).into_iter().filter(|word| *word == self.hole(hole)).count()
    }

    /// Element type of a tensor.
    pub(crate) fn element(&self, hole: &str) -> &str {
        self.around.tensors.tensors.get(self.hole(hole)).map_or("", |tensor| tensor.element.as_str())
    }

    /// The first call of the code, which is a statement of its own or the code itself.
    pub(crate) fn call(&self) -> Result<&'a Call, String> {
        let span = &self.spot.span;
        let mut calls = self.around.file.calls_in(span.clone());
        calls.find(|call| call.span.start == span.start).ok_or_else(|| "it is not a call of its own".to_owned())
    }

    fn filled(&self, example: &str, indentation: &str) -> String {
        let holes: Vec<(&str, &str)> =
            self.spot.holes.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        fill(example, &holes, &self.spot.scope, indentation)
    }

    fn prove(&self, guard: &Guard) -> Result<(), String> {
        let Surroundings { file, function, tensors, .. } = self.around;
        let mentioned = |name: &str| words(file.slice(&function.span)).into_iter().filter(|word| *word == name).count();
        match guard {
            Guard::Tensors(holes, elements) => {
                match holes.iter().find(|hole| !elements.contains(&self.element(hole))) {
                    Some(hole) => {
                        Err(format!("{} is not a local tensor of {}", self.hole(hole), elements.join(" or ")))
                    }
                    None => Ok(()),
                }
            }
            Guard::Apart(left, right) => {
                let (left, right) = (self.hole(left), self.hole(right));
                let apart = tensors.disjoint(left, right);
                if apart { Ok(()) } else { Err(format!("{left} and {right} may share memory")) }
            }
            Guard::Fresh(names) => match names.iter().find(|name| mentioned(name) > 0) {
                Some(name) => Err(format!("the name {name} is taken in the function")),
                None => Ok(()),
            },
            Guard::Mentioned(name, times) => {
                if mentioned(name) == *times {
                    Ok(())
                } else {
                    Err(format!("{name} is used elsewhere too"))
                }
            }
            Guard::Holds(proof) => proof(self),
        }
    }
}

/// Places where the motif of these exchanges can be made. Where several fit, the first is taken.
pub(crate) fn made(context: &Context, exchanges: &[Exchange]) -> Vec<Candidate> {
    let ways: Vec<_> = exchanges.iter().map(|exchange| (&exchange.slow, &exchange.fast, &exchange.make)).collect();
    exchanged(context, &ways)
}

/// Places where it can be unmade.
pub(crate) fn unmade(context: &Context, exchanges: &[Exchange]) -> Vec<Candidate> {
    let ways =
        exchanges.iter().filter_map(|exchange| Some((&exchange.fast, &exchange.slow, exchange.unmake.as_ref()?)));
    exchanged(context, &ways.collect::<Vec<_>>())
}

fn exchanged(context: &Context, ways: &[(&Form, &Form, &Way)]) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (file, function, kernel, tensors) in functions(context) {
        exchanged_in(&Surroundings { context, file, function, kernel, tensors: &tensors }, ways, &mut found);
    }
    let ways: Vec<_> = ways.iter().filter(|(from, ..)| matches!(from, Form::Anywhere(_))).copied().collect();
    if ways.is_empty() {
        return found;
    }
    let kernel = Kernel::default();
    for file in context.forest.iter() {
        let named = |function: &Function| function.class.as_deref().unwrap_or(&function.name).to_owned();
        for function in file.functions().iter().filter(|other| !context.facts.kernels.contains_key(&named(other))) {
            let tensors = context.functions.tensors(file, function);
            exchanged_in(
                &Surroundings { context, file, function, kernel: &kernel, tensors: &tensors },
                &ways,
                &mut found,
            );
        }
    }
    found
}

fn exchanged_in(around: &Surroundings<'_>, ways: &[(&Form, &Form, &Way)], found: &mut Vec<Candidate>) {
    let mut taken: Vec<usize> = Vec::new();
    for (from, to, way) in ways {
        for spot in from.spots(around) {
            if taken.contains(&spot.span.start) {
                continue;
            }
            let (start, place) = (spot.span.start, FoundForm { around: *around, spot });
            let choices = if (way.resembles)(&place) { (way.choices)(&place) } else { Vec::new() };
            if !choices.is_empty() && !matches!(from, Form::Behind(_) | Form::Before(_)) {
                taken.push(start);
            }
            for choice in choices {
                let mut spot = place.spot.clone();
                spot.holes.extend(choice.into_iter().map(|(name, text)| (name.to_owned(), text)));
                found.push(candidate(FoundForm { around: *around, spot }, from, to, way));
            }
        }
    }
}

fn candidate(mut place: FoundForm<'_>, from: &Form, to: &Form, way: &Way) -> Candidate {
    let (note, shown) = (place.filled(way.note, ""), place.spot.shown.clone());
    let (conditions, rounding) = ((way.conditions)(&place), (way.rounding)(&place));
    let edits = edits(&mut place, from, to, way);
    let mut candidate = Candidate::new(place.around.file, &shown, note, edits).with_rounding(rounding);
    candidate.site.conditions = conditions;
    candidate
}

/// One form in the place of the other, where all guards hold.
fn edits(place: &mut FoundForm<'_>, from: &Form, to: &Form, way: &Way) -> Result<Vec<Edit>, String> {
    let file = place.around.file;
    let span = place.spot.span.clone();
    let statements = file.slice(&span).ends_with([';', '}']);
    if statements && from.written().is_some() && !are_statements(file, &span) {
        return Err("it is the only statement of an if or a loop, or a part of another".to_owned());
    }
    if to.written().is_some() && (place.spot.directed || (place.spot.commented && !way.loses_comments)) {
        return Err("a comment or a directive would be lost".to_owned());
    }
    for guard in way.guards {
        place.prove(guard)?;
    }
    let mut edits = (way.parts)(place)?;
    let text = to.written().map(|example| place.filled(example, file.indentation(span.start)));
    edits.push(match (from, text) {
        (_, None) => deleted(file, &span),
        (Form::Behind(_), Some(_)) => {
            let lines = to.written().map(|example| place.filled(example, "")).unwrap_or_default();
            let lines: Vec<String> = lines.lines().map(str::to_owned).collect();
            insert_after(file, &span, &lines).ok_or("the statement shares its line")?
        }
        (Form::Before(_), Some(text)) => {
            let line = file.whole_lines(&span).ok_or("the statement shares its line")?.start;
            edit(file, line..line, format!("{}{text}\n", file.indentation(span.start)))
        }
        (_, Some(text)) => edit(file, span, text),
    });
    Ok(edits)
}

/// Whether a span is one or more whole statements that stand directly in one block.
fn are_statements(file: &SyntaxFile, span: &Range<usize>) -> bool {
    let Some(mut node) = file.node_at(span) else { return false };
    let same = |node: &Node<'_>| node.byte_range() == *span;
    while same(&node) || node.byte_range().len() < span.len() {
        let Some(parent) = node.parent() else { return false };
        node = parent;
    }
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
    let starts = children.iter().any(|child| child.start_byte() == span.start);
    let ends = children.iter().any(|child| child.end_byte() == span.end);
    node.kind() == "compound_statement" && starts && ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::code::squash;
    use source::facts::KnownValues;
    use source::{Patch, SourceTree};

    const TWICE: Exchange = Exchange {
        slow: Form::Code("@Muls($$y, $$x, $two{2.0f|2}, $n);"),
        fast: Form::Code("@Add($$y, $$x, $$x, $n);"),
        make: Way::new("add $x to itself", &[Guard::Tensors(&["x", "y"], &["float"])]),
        unmake: Some(
            Way::new("twice $x", &[Guard::Tensors(&["x", "y"], &["float"])])
                .choosing(|_| vec![vec![("two", "2.0f".to_owned())]]),
        ),
    };

    /// A mark that stands behind every Exp, and declares a name.
    const MARKED: Exchange = Exchange {
        slow: Form::Behind(|around| {
            let calls = around.file.calls_in(around.function.body.clone()).filter(|call| call.name == "Exp");
            let statements = calls.filter_map(|call| call.statement.as_ref());
            statements.map(|statement| Spot::new(around.file, statement, &[("of", "exp")])).collect()
        }),
        fast: Form::Code("int mark = 0;\nuse(mark, $$of);"),
        make: Way::new("mark $of", &[Guard::Fresh(&["mark"])]),
        unmake: Some(Way::new("no mark", &[Guard::Mentioned("mark", 2)])),
    };

    fn context(compute: &str) -> Context {
        let text = format!(
            "using namespace AscendC;\nclass Kernel {{\npublic:\n    __aicore__ inline void Compute(uint32_t n)\n    {{\n\
             {compute}    }}\n    TBuf<TPosition::VECCALC> xBuf;\n    TBuf<TPosition::VECCALC> yBuf;\n}};\n"
        );
        let mut tree = SourceTree::new();
        tree.insert("k.h", text);
        Context::new(tree, KnownValues::default(), None)
    }

    const TENSORS: &str = "        LocalTensor<float> x = xBuf.Get<float>();\n        LocalTensor<float> y = yBuf.Get<float>();\n\
         \x20       LocalTensor<half> h = zBuf.Get<half>();\n";

    /// The text that the only candidate leaves, or its reason.
    fn only(context: &Context, candidates: &[Candidate]) -> Result<String, String> {
        let [candidate] = candidates else { return Err(format!("{} candidates", candidates.len())) };
        let patch = Patch { title: String::new(), motif: String::new(), edits: candidate.edits.clone()? };
        Ok(context.tree.apply(&patch).unwrap().text("k.h").unwrap().to_owned())
    }

    fn refused(exchange: Exchange, compute: &str, reason: &str) {
        let context = context(&format!("{TENSORS}{compute}"));
        let said = only(&context, &made(&context, &[exchange]));
        assert!(said.as_ref().is_err_and(|said| said.contains(reason)), "{compute}: {said:?}");
    }

    #[test]
    fn both_ways_come_from_one_declaration() {
        let slow = context(&format!("{TENSORS}        AscendC::Muls(y, x, 2.0f, n);\n"));
        let fast = only(&slow, &made(&slow, &[TWICE])).unwrap();
        assert!(fast.contains("        AscendC::Add(y, x, x, n);\n"), "{fast}");
        let mut tree = SourceTree::new();
        tree.insert("k.h", fast);
        let fast = Context::new(tree, KnownValues::default(), None);
        assert_eq!(only(&fast, &unmade(&fast, &[TWICE])).as_deref(), Ok(slow.tree.text("k.h").unwrap()));
    }

    #[test]
    fn the_page_shows_the_exchange_that_is_tried_here() {
        let page = include_str!("../../../../docs/extending.md");
        let (_, shown) = page.split_once("const TWICE").unwrap();
        let (shown, _) = shown.split_once("```").unwrap();
        assert!(squash(include_str!("exchange.rs")).contains(&squash(shown)), "docs/extending.md shows another TWICE");
    }

    #[test]
    fn what_is_not_whole_statements_of_a_block_is_refused() {
        refused(TWICE, "        if (n > 4) Muls(y, x, 2.0f, n);\n", "only statement");
        refused(TWICE, "        Muls(y, x, // twice\n            2, n);\n", "a comment or a directive would be lost");
        refused(TWICE, "        Muls(h, h, 2, n);\n", "h is not a local tensor of float");
    }

    #[test]
    fn nothing_is_a_form_too() {
        let slow = context(&format!("{TENSORS}        Exp(y, x, n);\n        Exp(x, y, n);\n"));
        let candidates = made(&slow, &[MARKED]);
        assert_eq!(candidates.len(), 2);
        let marked = only(&slow, &candidates[1..]).unwrap();
        assert!(marked.contains("        Exp(x, y, n);\n        int mark = 0;\n        use(mark, exp);\n"), "{marked}");
        let mut tree = SourceTree::new();
        tree.insert("k.h", marked);
        let fast = Context::new(tree, KnownValues::default(), None);
        let again = made(&fast, &[MARKED]);
        assert!(
            again.iter().all(|candidate| candidate.edits == Err("the name mark is taken in the function".to_owned()))
        );
        assert_eq!(only(&fast, &unmade(&fast, &[MARKED])).as_deref(), Ok(slow.tree.text("k.h").unwrap()));
        let elsewhere = "        int mark = 0;\n        use(mark, exp);\n        use(mark, n);\n";
        let used = context(elsewhere);
        assert_eq!(only(&used, &unmade(&used, &[MARKED])), Err("mark is used elsewhere too".to_owned()));
    }

    #[test]
    fn the_first_exchange_takes_the_place() {
        const ANY: Exchange = Exchange {
            slow: Form::Code("@Muls($$y, $$x, $s, $n);"),
            make: Way::new("any", &[]),
            unmake: None,
            ..TWICE
        };
        let context = context(&format!("{TENSORS}        Muls(y, x, 2, n);\n        Muls(y, x, 3, n);\n"));
        let notes = |exchanges: &[Exchange]| -> Vec<String> {
            made(&context, exchanges).into_iter().map(|candidate| candidate.site.note).collect()
        };
        assert_eq!(notes(&[TWICE, ANY]), ["add x to itself", "any"]);
        assert_eq!(notes(&[ANY, TWICE]), ["any", "any"]);
    }
}
