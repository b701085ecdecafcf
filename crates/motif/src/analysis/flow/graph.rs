//! The statements of a function and what may run after each.

use std::collections::BTreeSet;
use std::ops::Range;

use tree_sitter::Node;

use crate::analysis::code::words;
use source::parse::{Function, SyntaxFile};

/// Statements are nested in each other so deep.
const DEPTH_MAX: usize = 64;

/// A statement, or the head of one that others stand in.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    /// Its bytes; empty for the function's entry and exit.
    pub(crate) span: Range<usize>,
    /// What may run next.
    pub(crate) next: Vec<usize>,
    /// What may have run before.
    pub(crate) before: Vec<usize>,
}

/// Control flow of a function. The first step is its entry, the second its exit.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    steps: Vec<Statement>,
}

/// Index of the function's entry.
pub(crate) const ENTRY: usize = 0;
/// Index of the function's exit.
pub(crate) const EXIT: usize = 1;

impl Graph {
    /// Control flow of a function; `leaving` are macros that may leave it, a loop or a switch. `Err` says what is not understood.
    pub(crate) fn of(file: &SyntaxFile, function: &Function, leaving: &BTreeSet<&str>) -> Result<Self, String> {
        let body = file.node_at(&function.body).ok_or("the function is not understood")?;
        let step = |span: Range<usize>| Statement { span, next: Vec::new(), before: Vec::new() };
        let (start, end) = (function.body.start, function.body.end);
        let steps = vec![step(start..start), step(end..end)];
        let mut builder = Builder { file, leaving, steps, targets: Vec::new(), depth: 0 };
        let last = builder.statement(body, vec![ENTRY])?;
        builder.lead(&last, EXIT);
        Ok(Self { steps: builder.steps })
    }

    /// The step that a byte is in.
    pub(crate) fn at(&self, byte: usize) -> Option<usize> {
        let inside = self.steps.iter().enumerate().filter(|(_, step)| step.span.contains(&byte));
        inside.min_by_key(|(_, step)| step.span.len()).map(|(index, _)| index)
    }

    /// A step.
    pub(crate) fn step(&self, index: usize) -> &Statement {
        &self.steps[index]
    }

    /// Steps that may run after `from` and before `to` runs for the next time or `from` does once more.
    pub(crate) fn between(&self, from: usize, to: usize) -> Vec<usize> {
        let after = self.reach(&self.steps[from].next, &[from, to], |step| &step.next);
        let before = self.reach(&self.steps[to].before, &[from, to], |step| &step.before);
        after.intersection(&before).copied().filter(|step| *step != from && *step != to).collect()
    }

    /// Steps that may run after `from` and before `to`, where some way leads to the function's end or to `from` again without `to`.
    /// `None` where `to` runs after every run of `from`.
    pub(crate) fn ways_out(&self, from: usize, to: usize) -> Option<BTreeSet<usize>> {
        let after = self.reach(&self.steps[from].next, &[to, from, EXIT], |step| &step.next);
        (after.contains(&EXIT) || after.contains(&from)).then_some(after)
    }

    /// Whether `from` runs before every run of `to`, and that runs once for it.
    pub(crate) fn is_preceded(&self, from: usize, to: usize) -> bool {
        let before = self.reach(&self.steps[to].before, &[from], |step| &step.before);
        !before.contains(&ENTRY) && !before.contains(&to)
    }

    /// Steps that are met from some, which count too, without going through others, where the walk ends.
    fn reach(&self, from: &[usize], stops: &[usize], next: impl Fn(&Statement) -> &Vec<usize>) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut open = from.to_vec();
        while let Some(index) = open.pop() {
            if seen.insert(index) && !stops.contains(&index) {
                open.extend(next(&self.steps[index]));
            }
        }
        seen
    }
}

/// Where `break` and `continue` go to: the steps that leave so are collected for what comes behind.
#[derive(Default)]
struct Target {
    breaks: Vec<usize>,
    /// `None` for a switch, which `continue` passes over.
    continues: Option<Vec<usize>>,
}

struct Builder<'a> {
    file: &'a SyntaxFile,
    leaving: &'a BTreeSet<&'a str>,
    steps: Vec<Statement>,
    targets: Vec<Target>,
    depth: usize,
}

impl<'a> Builder<'a> {
    fn lead(&mut self, from: &[usize], to: usize) {
        for &index in from {
            if !self.steps[index].next.contains(&to) {
                self.steps[index].next.push(to);
                self.steps[to].before.push(index);
            }
        }
    }

    /// A step behind others.
    fn push(&mut self, span: Range<usize>, from: &[usize]) -> usize {
        self.steps.push(Statement { span, next: Vec::new(), before: Vec::new() });
        let index = self.steps.len() - 1;
        self.lead(from, index);
        index
    }

    /// A step that holds code of its own, which may leave where a macro or what it is handed does.
    fn code(&mut self, node: Node<'a>, from: &[usize]) -> usize {
        let index = self.push(node.byte_range(), from);
        if self.may_leave(node) {
            self.leave(index);
        }
        index
    }

    /// A way out of everything that the step stands in.
    fn leave(&mut self, index: usize) {
        self.lead(&[index], EXIT);
        for target in &mut self.targets {
            target.breaks.push(index);
            target.continues.iter_mut().for_each(|continues| continues.push(index));
        }
    }

    fn may_leave(&self, node: Node<'a>) -> bool {
        let text = self.file.slice(&node.byte_range());
        let leaves = |word: &&str| {
            matches!(*word, "break" | "continue" | "return" | "goto" | "throw") || self.leaving.contains(word)
        };
        let found: Vec<&str> = words(text).into_iter().filter(leaves).collect();
        if found.is_empty() {
            return false;
        }
        // The words of a lambda leave the lambda.
        let lambdas = lambdas_in(node);
        found.into_iter().any(|word| {
            let at = word.as_ptr() as usize - text.as_ptr() as usize + node.start_byte();
            !lambdas.iter().any(|lambda| lambda.contains(&at))
        })
    }

    fn unclear(&self, node: Node<'a>) -> String {
        let kind = if node.is_error() { "code that does not parse".to_owned() } else { node.kind().replace('_', " ") };
        format!("line {}: {kind}, of which it is not known what runs next", self.file.line(node.start_byte()))
    }

    fn block(&mut self, nodes: Vec<Node<'a>>, mut from: Vec<usize>) -> Result<Vec<usize>, String> {
        for node in nodes {
            from = self.statement(node, from)?;
        }
        Ok(from)
    }

    /// Adds a statement behind some steps; the steps that go on behind it.
    fn statement(&mut self, node: Node<'a>, from: Vec<usize>) -> Result<Vec<usize>, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err("statements are nested too deeply".to_owned());
        }
        let last = self.understood(node, from);
        self.depth -= 1;
        last
    }

    fn understood(&mut self, node: Node<'a>, from: Vec<usize>) -> Result<Vec<usize>, String> {
        let field = |name: &str| node.child_by_field_name(name);
        let part = |name: &str| field(name).ok_or_else(|| self.unclear(node));
        Ok(match node.kind() {
            "comment" | ";" => from,
            "compound_statement" | "else_clause" | "attributed_statement" => {
                let statements = children(node, &["attribute_declaration"]);
                self.block(statements, from)?
            }
            "expression_statement"
            | "declaration"
            | "using_declaration"
            | "alias_declaration"
            | "type_definition"
            | "static_assert_declaration"
            | "preproc_def"
            | "preproc_function_def"
            | "preproc_call"
            | "preproc_include" => vec![self.code(node, &from)],
            "return_statement" => {
                let index = self.push(node.byte_range(), &from);
                self.lead(&[index], EXIT);
                Vec::new()
            }
            "throw_statement" => {
                let index = self.push(node.byte_range(), &from);
                self.leave(index);
                Vec::new()
            }
            "break_statement" => {
                let index = self.push(node.byte_range(), &from);
                let target = self.targets.last_mut().ok_or("a break outside of everything")?;
                target.breaks.push(index);
                Vec::new()
            }
            "continue_statement" => {
                let index = self.push(node.byte_range(), &from);
                let mut targets = self.targets.iter_mut().rev();
                let continues =
                    targets.find_map(|target| target.continues.as_mut()).ok_or("a continue outside of loops")?;
                continues.push(index);
                Vec::new()
            }
            "if_statement" => {
                let (condition, consequence) = (part("condition")?, part("consequence")?);
                let head = self.code(condition, &from);
                let mut last = self.statement(consequence, vec![head])?;
                last.extend(match field("alternative") {
                    Some(alternative) => self.statement(alternative, vec![head])?,
                    None => vec![head],
                });
                last
            }
            "while_statement" | "for_range_loop" => {
                let body = part("body")?;
                let head = match field("condition") {
                    Some(condition) => self.code(condition, &from),
                    None => self.push(node.start_byte()..body.start_byte(), &from),
                };
                let (last, target) = self.round(body, head)?;
                self.lead(&last, head);
                self.lead(&target.continues.unwrap_or_default(), head);
                [vec![head], target.breaks].concat()
            }
            "do_statement" => {
                let (body, condition) = (part("body")?, part("condition")?);
                let top = self.push(node.start_byte()..body.start_byte(), &from);
                let (last, target) = self.round(body, top)?;
                let head = self.code(condition, &last);
                self.lead(&target.continues.unwrap_or_default(), head);
                self.lead(&[head], top);
                [vec![head], target.breaks].concat()
            }
            "for_statement" => {
                let body = part("body")?;
                let from = match field("initializer") {
                    Some(initializer) => vec![self.code(initializer, &from)],
                    None => from,
                };
                let head = match field("condition") {
                    Some(condition) => self.code(condition, &from),
                    None => self.push(body.start_byte()..body.start_byte(), &from),
                };
                let (mut last, target) = self.round(body, head)?;
                last.extend(target.continues.unwrap_or_default());
                if let Some(update) = field("update") {
                    last = vec![self.code(update, &last)];
                }
                self.lead(&last, head);
                let ends = field("condition").map(|_| head);
                ends.into_iter().chain(target.breaks).collect()
            }
            "switch_statement" => self.switch(part("condition")?, part("body")?, &from)?,
            "preproc_if" | "preproc_ifdef" | "preproc_elif" | "preproc_elifdef" => {
                let condition = field("condition").or(field("name")).ok_or_else(|| self.unclear(node))?;
                let head = self.code(condition, &from);
                let others: Vec<usize> =
                    [Some(condition), field("alternative")].iter().flatten().map(Node::id).collect();
                let statements =
                    children(node, &[]).into_iter().filter(|child| !others.contains(&child.id())).collect();
                let mut last = self.block(statements, vec![head])?;
                last.extend(match field("alternative") {
                    Some(alternative) => self.statement(alternative, vec![head])?,
                    None => vec![head],
                });
                last
            }
            "preproc_else" => self.block(children(node, &[]), from)?,
            _ => return Err(self.unclear(node)),
        })
    }

    /// The body of a loop behind its head: the steps that end it, and those that leave it.
    fn round(&mut self, body: Node<'a>, head: usize) -> Result<(Vec<usize>, Target), String> {
        self.targets.push(Target { breaks: Vec::new(), continues: Some(Vec::new()) });
        let last = self.statement(body, vec![head])?;
        Ok((last, self.targets.pop().unwrap_or_default()))
    }

    fn switch(&mut self, condition: Node<'a>, body: Node<'a>, from: &[usize]) -> Result<Vec<usize>, String> {
        let head = self.code(condition, from);
        self.targets.push(Target::default());
        let (mut last, mut default) = (Vec::new(), false);
        for case in children(body, &[]).into_iter().filter(|case| case.kind() != "comment") {
            if case.kind() != "case_statement" {
                return Err(self.unclear(case));
            }
            let value = case.child_by_field_name("value");
            default |= value.is_none();
            let statements =
                children(case, &[]).into_iter().filter(|child| Some(child.id()) != value.map(|value| value.id()));
            // What the case before leaves goes on here.
            last = self.block(statements.collect(), [vec![head], last].concat())?;
        }
        let target = self.targets.pop().unwrap_or_default();
        last.extend(target.breaks);
        last.extend((!default).then_some(head));
        Ok(last)
    }
}

/// Named children but for some kinds.
fn children<'a>(node: Node<'a>, without: &[&str]) -> Vec<Node<'a>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| !without.contains(&child.kind())).collect()
}

/// Lambdas in a piece of code.
fn lambdas_in(node: Node<'_>) -> Vec<Range<usize>> {
    let (mut found, mut open) = (Vec::new(), vec![node]);
    while let Some(node) = open.pop() {
        if node.kind() == "lambda_expression" {
            found.push(node.byte_range());
            continue;
        }
        let mut cursor = node.walk();
        open.extend(node.named_children(&mut cursor));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::parse::MacroNames;

    /// Asks of the steps of `A();` and `B();` in a body: whether B follows always, whether A precedes always, and the calls between.
    fn asked(code: &str) -> (bool, bool, String) {
        let text = format!("void F(int n) {{ {code} }}\n");
        let file = SyntaxFile::parse("k.h", &text, &MacroNames::default()).unwrap();
        let graph = Graph::of(&file, &file.functions()[0], &BTreeSet::from(["LEAVE"])).unwrap();
        let at = |name: &str| graph.at(text.find(name).unwrap()).unwrap();
        let (a, b) = (at("A()"), at("B()"));
        let mut between: Vec<&str> =
            graph.between(a, b).iter().map(|step| file.slice(&graph.step(*step).span)).collect();
        between.retain(|text| text.ends_with("();"));
        between.sort_unstable();
        (graph.ways_out(a, b).is_none(), graph.is_preceded(a, b), between.concat())
    }

    #[test]
    fn ways_out_are_ways() {
        let table: [(&str, bool, bool, &str); 25] = [
            ("A(); C(); B();", true, true, "C();"),
            ("A(); if (n) { return; } B();", false, true, ""),
            ("A(); if (n) { C(); } B();", true, true, "C();"),
            ("A(); if (n) { C(); } else { D(); } B();", true, true, "C();D();"),
            ("if (n) { A(); } B();", true, false, ""),
            ("if (n) { A(); } else { B(); }", false, false, ""),
            ("A(); while (n) { C(); } B();", true, true, "C();"),
            ("A(); while (n) { B(); }", false, false, ""),
            ("while (n) { A(); C(); B(); D(); }", true, true, "C();"),
            ("while (n) { B(); C(); A(); D(); }", false, false, "D();"),
            ("while (n) { A(); if (n) { continue; } B(); }", false, true, ""),
            ("while (n) { A(); if (n) { break; } B(); }", false, true, ""),
            ("A(); while (n) { if (n) { break; } C(); } B();", true, true, "C();"),
            ("for (;;) { A(); C(); } B();", false, true, ""),
            ("for (int i = 0; i < n; i++) { A(); if (i) continue; C(); } B();", false, false, "C();"),
            ("do { A(); C(); } while (n); B();", false, true, "C();"),
            ("A(); do { C(); if (n) { continue; } D(); } while (n); B();", true, true, "C();D();"),
            ("switch (n) { case 1: A(); case 2: B(); }", true, false, ""),
            ("switch (n) { case 1: A(); break; case 2: B(); }", false, false, ""),
            ("A(); switch (n) { case 1: C(); break; default: D(); } B();", true, true, "C();D();"),
            ("A(); switch (n) { case 1: return; default: D(); } B();", false, true, "D();"),
            ("A(); CHECK(n, return); B();", false, true, ""),
            ("while (n) { A(); LEAVE(n); B(); }", false, true, ""),
            ("A(); auto f = [&]() { return n; }; B();", true, true, ""),
            ("A();\n#if N\nreturn;\n#else\nC();\n#endif\nB();", false, true, "C();"),
        ];
        for (code, followed, preceded, between) in table {
            assert_eq!(asked(code), (followed, preceded, between.to_owned()), "{code}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for code in [
            "A(); again: B(); goto again;",
            "try { A(); } catch (...) { B(); }",
            "switch (n) { case 1: while (n) { case 2: A(); } }",
            "switch (n) { A(); case 1: B(); }",
        ] {
            let text = format!("void F(int n) {{ {code} }}\n");
            let file = SyntaxFile::parse("k.h", &text, &MacroNames::default()).unwrap();
            assert!(Graph::of(&file, &file.functions()[0], &BTreeSet::new()).is_err(), "{code}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_and_takes_no_stack() {
        let text = format!("void F() {{ {}A();{} }}\n", "{".repeat(5000), "}".repeat(5000));
        let file = SyntaxFile::parse("k.h", &text, &MacroNames::default()).unwrap();
        assert!(Graph::of(&file, &file.functions()[0], &BTreeSet::new()).is_err());
    }
}
