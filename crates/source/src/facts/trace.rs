//! The calls of a kernel in the order in which they run: functions of the class inlined, loops and branches as structure.

use std::ops::Range;

use tree_sitter::Node;

use super::kernel::Kernel;
use crate::parse::{Call, Function, SyntaxFile, SyntaxForest};

/// Functions are inlined to this depth; deeper code is not understood.
const DEPTH: usize = 8;

/// A part of a run.
#[derive(Clone, Debug)]
pub enum RunPart<'a> {
    /// A call that is not one of the class.
    Call(&'a SyntaxFile, &'a Call),
    /// A function of the class, called by `call`.
    Own(&'a SyntaxFile, &'a Call, Vec<RunPart<'a>>),
    /// Any number of rounds.
    Loop(Vec<RunPart<'a>>),
    /// One of these.
    Branch(Vec<Vec<RunPart<'a>>>),
    /// The function or the round is left.
    Leave,
    /// Code that is not understood.
    Unknown(&'a SyntaxFile, Range<usize>),
}

/// Runs of the functions of a kernel that no other function of it calls, by name.
pub fn roots<'a>(forest: &'a SyntaxForest, kernel: &'a Kernel) -> Vec<(&'a str, Vec<RunPart<'a>>)> {
    let functions: Vec<(&SyntaxFile, &Function)> = kernel
        .functions
        .iter()
        .filter_map(|(file, index)| {
            let file = forest.get(file)?;
            Some((file, file.functions().get(*index)?))
        })
        .collect();
    let called: Vec<&str> =
        kernel.calls(forest).filter(|(_, _, call)| is_own(call)).map(|(_, _, call)| call.name.as_str()).collect();
    let builder = Builder { functions: &functions };
    functions
        .iter()
        .filter(|(_, function)| !called.contains(&function.name.as_str()))
        .map(|(file, function)| (function.name.as_str(), builder.function(file, function, 0)))
        .collect()
}

/// Whether a call may be one of the object's own functions.
fn is_own(call: &Call) -> bool {
    call.object.as_deref().is_none_or(|object| object == "this") && call.scope.is_empty()
}

struct Builder<'a, 'b> {
    functions: &'b [(&'a SyntaxFile, &'a Function)],
}

impl<'a> Builder<'a, '_> {
    fn function(&self, file: &'a SyntaxFile, function: &'a Function, depth: usize) -> Vec<RunPart<'a>> {
        let mut steps = Vec::new();
        match file.node_at(&function.body) {
            Some(body) => self.walk(file, body, depth, 0, &mut steps),
            None => steps.push(RunPart::Unknown(file, function.body.clone())),
        }
        steps
    }

    fn walk(&self, file: &'a SyntaxFile, node: Node<'_>, depth: usize, nested: usize, steps: &mut Vec<RunPart<'a>>) {
        if nested > 256 || node.is_error() {
            steps.push(RunPart::Unknown(file, node.byte_range()));
            return;
        }
        let inner = |node: Option<Node<'_>>| {
            let mut steps = Vec::new();
            if let Some(node) = node {
                self.walk(file, node, depth, nested + 1, &mut steps);
            }
            steps
        };
        match node.kind() {
            "for_statement" | "while_statement" | "do_statement" | "for_range_loop" => {
                steps.extend(inner(node.child_by_field_name("initializer")));
                let mut round = inner(node.child_by_field_name("condition"));
                round.extend(inner(node.child_by_field_name("body")));
                round.extend(inner(node.child_by_field_name("update")));
                steps.push(RunPart::Loop(round));
            }
            "if_statement" | "conditional_expression" => {
                steps.extend(inner(node.child_by_field_name("condition")));
                let arms = vec![
                    inner(node.child_by_field_name("consequence")),
                    inner(node.child_by_field_name("alternative")),
                ];
                if arms.iter().any(|arm| !arm.is_empty()) {
                    steps.push(RunPart::Branch(arms));
                }
            }
            "switch_statement" => {
                steps.extend(inner(node.child_by_field_name("condition")));
                // A case may fall through: each stretch of cases from one on is an arm.
                let mut arms = vec![Vec::new()];
                if let Some(body) = node.child_by_field_name("body") {
                    let mut cursor = body.walk();
                    let cases: Vec<Vec<RunPart<'a>>> =
                        body.named_children(&mut cursor).map(|case| inner(Some(case))).collect();
                    arms.extend((0..cases.len()).map(|from| cases[from..].concat()));
                }
                steps.push(RunPart::Branch(arms));
            }
            "preproc_if" | "preproc_ifdef" | "preproc_elif" => {
                let mut cursor = node.walk();
                let mut arms = vec![Vec::new(), Vec::new()];
                for child in node.named_children(&mut cursor) {
                    let other = matches!(child.kind(), "preproc_else" | "preproc_elif");
                    arms[usize::from(other)].extend(inner(Some(child)));
                }
                steps.push(RunPart::Branch(arms));
            }
            "return_statement" => {
                self.children(file, node, depth, nested, steps);
                steps.push(RunPart::Leave);
            }
            "break_statement" | "continue_statement" => steps.push(RunPart::Leave),
            "goto_statement" | "lambda_expression" | "preproc_call" => {
                steps.push(RunPart::Unknown(file, node.byte_range()));
            }
            "call_expression" => {
                self.children(file, node, depth, nested, steps);
                let Some(call) = file.calls().iter().find(|call| call.span == node.byte_range()) else {
                    steps.push(RunPart::Unknown(file, node.byte_range()));
                    return;
                };
                let mut own: Vec<Vec<RunPart<'a>>> = Vec::new();
                if is_own(call) {
                    let may_be = |function: &Function| {
                        let pack = function.parameters.iter().any(|parameter| parameter.type_text.contains("..."));
                        function.name == call.name && (pack || call.arguments.len() <= function.parameters.len())
                    };
                    for (file, function) in self.functions.iter().filter(|(_, function)| may_be(function)) {
                        own.push(if depth < DEPTH {
                            self.function(file, function, depth + 1)
                        } else {
                            vec![RunPart::Unknown(file, function.span.clone())]
                        });
                    }
                }
                match own.len() {
                    0 => steps.push(RunPart::Call(file, call)),
                    1 => steps.push(RunPart::Own(file, call, own.swap_remove(0))),
                    _ => steps.push(RunPart::Own(file, call, vec![RunPart::Branch(own)])),
                }
            }
            _ => self.children(file, node, depth, nested, steps),
        }
    }

    fn children(
        &self,
        file: &'a SyntaxFile,
        node: Node<'_>,
        depth: usize,
        nested: usize,
        steps: &mut Vec<RunPart<'a>>,
    ) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.walk(file, child, depth, nested + 1, steps);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SourceTree;
    use crate::facts::{Facts, KnownValues};

    fn print(steps: &[RunPart<'_>]) -> String {
        let one = |step: &RunPart<'_>| match step {
            RunPart::Call(_, call) => call.name.clone(),
            RunPart::Own(_, call, inner) => format!("{}({})", call.name, print(inner)),
            RunPart::Loop(inner) => format!("loop({})", print(inner)),
            RunPart::Branch(arms) => {
                format!("[{}]", arms.iter().map(|arm| print(arm)).collect::<Vec<_>>().join("|"))
            }
            RunPart::Leave => "leave".to_owned(),
            RunPart::Unknown(..) => "?".to_owned(),
        };
        steps.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    fn printed(class_body: &str) -> String {
        let mut tree = SourceTree::new();
        tree.insert("k.h", format!("class K {{\n{class_body}\n}};\n"));
        let forest = SyntaxForest::parse(&tree);
        let facts = Facts::collect(&forest, &KnownValues::default());
        let roots = roots(&forest, &facts.kernels["K"]);
        roots.iter().map(|(name, steps)| format!("{name}: {}", print(steps))).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn functions_of_the_class_are_inlined_where_they_are_called() {
        let text = "void Process() { for (int i = 0; i < N(); i++) { In(i, F()); if (i > 0) { this->Out(); } else { return; } } End(); }\n\
                    void In(int i, int n) { q.EnQue(x); }\n void Out() { Add(q.DeQue<T>(), 1); }";
        assert_eq!(printed(text), "Process: loop(N F In(EnQue) [Out(DeQue Add)|leave]) End");
    }

    #[test]
    fn cases_may_fall_through_and_directives_are_branches() {
        let text = "void P() { switch (A()) { case 1: B(); case 2: C(); break; }\n#if X\n D();\n#else\n E();\n#endif\n auto f = [] { G(); }; P2(); }\n\
                    void P2() { P2(); }";
        let printed = printed(text);
        assert!(printed.starts_with("P: A [|B C leave|C leave] [D|E] ? P2("), "{printed}");
        assert!(printed.contains('?'), "{printed}");
    }
}
