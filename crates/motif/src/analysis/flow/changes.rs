//! What a piece of code changes by itself, read from its syntax tree: names that it assigns to, steps, declares, or makes references
//! and pointers to. What its calls change is asked of [`super::effects`].

use std::collections::BTreeSet;
use std::ops::Range;

use tree_sitter::Node;

use source::parse::SyntaxFile;

/// Member functions of queues, buffers and tensors, which leave the object what it is; what they do to data is asked elsewhere.
const OF_OBJECTS: &[&str] = &[
    "AllocTensor",
    "FreeTensor",
    "EnQue",
    "DeQue",
    "Get",
    "GetWithOffset",
    "GetValue",
    "SetValue",
    "GetSize",
    "GetLength",
    "GetPhyAddr",
    "GetShapeInfo",
    "GetBufferAddr",
    "GetPosition",
    "ReinterpretCast",
    "InitBuffer",
    "SetFlag",
    "WaitFlag",
    "GetDataPtr",
    "GetDesc",
    "GetShape",
    "GetDim",
    "template",
    "HasTensorInQue",
    "VacantInQue",
    "GetTensorCountInQue",
];

/// Functions that change what they are handed.
const SWAPS: &[&str] = &["swap", "tie", "exchange", "Swap"];

/// How a name is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// It is declared, without a value.
    Declared,
    /// It has another value, or a part of it has.
    Changed,
    /// Another name or a pointer stands for it from here on.
    Bound,
}

/// A name that code changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'a> {
    /// The name: a variable, or a field on the way to what is changed.
    pub(crate) name: &'a str,
    /// How.
    pub(crate) how: How,
}

/// All changes of a span, lambdas in it included.
pub(crate) fn changes<'a>(file: &'a SyntaxFile, span: &Range<usize>) -> Vec<Change<'a>> {
    let mut found = Vec::new();
    let mut open: Vec<Node<'a>> = file.root().descendant_for_byte_range(span.start, span.end).into_iter().collect();
    while let Some(node) = open.pop() {
        if node.end_byte() <= span.start || node.start_byte() >= span.end {
            continue;
        }
        let mut add = |nodes: Vec<Node<'a>>, how: How| {
            let names = nodes.into_iter().filter(|name| span.contains(&name.start_byte()));
            found.extend(names.map(|name| Change { name: file.slice(&name.byte_range()), how }));
        };
        let field = |name: &str| node.child_by_field_name(name);
        match node.kind() {
            "assignment_expression" => add(field("left").map(path).unwrap_or_default(), How::Changed),
            "update_expression" => add(field("argument").map(path).unwrap_or_default(), How::Changed),
            "pointer_expression" if node.child(0).is_some_and(|sign| sign.kind() == "&") => {
                add(field("argument").map(path).unwrap_or_default(), How::Bound);
            }
            "declaration" => {
                let mut cursor = node.walk();
                for declarator in node.children_by_field_name("declarator", &mut cursor) {
                    match declarator.kind() {
                        "init_declarator" => {}
                        // `auto &part(whole);` looks like a function.
                        "reference_declarator" | "function_declarator" => add(names(declarator), How::Bound),
                        _ => add(declared(declarator), How::Declared),
                    }
                }
            }
            "init_declarator" => {
                let declarator = field("declarator");
                add(declarator.map(declared).unwrap_or_default(), How::Changed);
                if declarator.is_some_and(is_reference) {
                    add(field("value").map(path).unwrap_or_default(), How::Bound);
                }
            }
            "for_range_loop" => {
                let declarator = field("declarator");
                add(declarator.map(declared).unwrap_or_default(), How::Changed);
                if declarator.is_some_and(is_reference) {
                    add(field("right").map(path).unwrap_or_default(), How::Bound);
                }
            }
            "lambda_capture_initializer" => add(names(node), How::Bound),
            "call_expression" => {
                let callee = field("function");
                let object = callee
                    .filter(|callee| callee.kind() == "field_expression")
                    .filter(|callee| !OF_OBJECTS.contains(&called_name(file, *callee)))
                    .and_then(|callee| callee.child_by_field_name("argument"));
                // A member function of the object itself is asked what it changes.
                if let Some(object) = object.filter(|object| object.kind() != "this") {
                    add(path(object), How::Changed);
                }
                if callee.is_some_and(|callee| SWAPS.contains(&called_name(file, callee))) {
                    add(field("arguments").map(names).unwrap_or_default(), How::Changed);
                }
            }
            // What decides which code there is may hide changes, and what is not understood may be one.
            "preproc_if" | "preproc_elif" => add(field("condition").map(names).unwrap_or_default(), How::Changed),
            "preproc_ifdef" | "preproc_elifdef" => add(field("name").into_iter().collect(), How::Changed),
            "preproc_def" | "preproc_function_def" | "preproc_call" => {
                let text = file.slice(&node.byte_range());
                found.extend(
                    crate::analysis::code::words(text.trim_start_matches('#'))
                        .into_iter()
                        .map(|name| Change { name, how: How::Changed }),
                );
                continue;
            }
            "ERROR" | "gnu_asm_expression" => add(names(node), How::Changed),
            _ => {}
        }
        let mut cursor = node.walk();
        open.extend(node.children(&mut cursor));
    }
    found
}

/// Names that a span gives other values, or to which it makes references or pointers.
pub(crate) fn changed_names<'a>(file: &'a SyntaxFile, span: &Range<usize>) -> BTreeSet<&'a str> {
    let changed = changes(file, span).into_iter().filter(|change| change.how != How::Declared);
    changed.map(|change| change.name).collect()
}

/// Whether a span changes a name or a part of it, or makes a reference or a pointer to it.
pub(crate) fn changes_name(file: &SyntaxFile, span: &Range<usize>, name: &str) -> bool {
    // Most spans do not even mention it.
    file.slice(span).contains(name) && changed_names(file, span).contains(name)
}

/// Name of what is called.
fn called_name<'a>(file: &'a SyntaxFile, mut callee: Node<'a>) -> &'a str {
    loop {
        let next = match callee.kind() {
            "field_expression" => callee.child_by_field_name("field"),
            "qualified_identifier" | "template_function" | "template_method" => callee.child_by_field_name("name"),
            "dependent_name" => callee.named_child(0),
            _ => None,
        };
        match next {
            Some(inner) => callee = inner,
            None => return file.slice(&callee.byte_range()),
        }
    }
}

/// Names on the way to what an expression stands for: `a` and `b` of `this->a[i].b`. Where that is not a plain way, all names.
pub(crate) fn path(node: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        let field = |name: &str| node.child_by_field_name(name);
        match node.kind() {
            "identifier" | "field_identifier" => found.push(node),
            "this" | "number_literal" | "string_literal" | "comment" => {}
            "field_expression" => open.extend([field("argument"), field("field")].into_iter().flatten()),
            "subscript_expression" | "pointer_expression" | "update_expression" => open.extend(field("argument")),
            "cast_expression" => open.extend(field("value")),
            "assignment_expression" => open.extend(field("left")),
            "conditional_expression" => open.extend([field("consequence"), field("alternative")].into_iter().flatten()),
            "comma_expression" => open.extend(field("right")),
            "qualified_identifier" | "template_function" | "template_method" => open.extend(field("name")),
            "parenthesized_expression" | "dependent_name" | "argument_list" | "initializer_list" => {
                let mut cursor = node.walk();
                open.extend(node.named_children(&mut cursor));
            }
            _ => found.extend(names(node)),
        }
    }
    found
}

/// All names in a piece of code.
fn names(node: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if matches!(node.kind(), "identifier" | "field_identifier" | "type_identifier") {
            found.push(node);
        }
        let mut cursor = node.walk();
        open.extend(node.named_children(&mut cursor));
    }
    found
}

/// Names that a declarator declares.
pub(crate) fn declared(declarator: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut open = vec![declarator];
    while let Some(node) = open.pop() {
        match node.kind() {
            "identifier" => found.push(node),
            "array_declarator" | "pointer_declarator" => open.extend(node.child_by_field_name("declarator")),
            "reference_declarator" | "structured_binding_declarator" | "parenthesized_declarator" => {
                let mut cursor = node.walk();
                open.extend(node.named_children(&mut cursor));
            }
            _ => {}
        }
    }
    found
}

/// Whether a declarator makes another name of what it is given.
pub(crate) fn is_reference(mut declarator: Node<'_>) -> bool {
    loop {
        match (declarator.kind(), declarator.child_by_field_name("declarator").or_else(|| declarator.named_child(0))) {
            ("reference_declarator", _) => return true,
            ("pointer_declarator" | "array_declarator" | "parenthesized_declarator", Some(inner)) => declarator = inner,
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::parse::MacroNames;

    fn changed(code: &str) -> bool {
        let text = format!("void F() {{ {code} }}\n");
        let file = SyntaxFile::parse("k.h", &text, &MacroNames::default()).unwrap();
        let start = text.find('{').unwrap();
        changes_name(&file, &(start..text.len()), "n")
    }

    #[test]
    fn every_way_to_change_a_name_is_seen() {
        for code in [
            "n = 1;",
            "n += 1;",
            "n <<= 1;",
            "n >>= 1;",
            "n %= k;",
            "n++;",
            "--n;",
            "--this->n;",
            "++(n);",
            "(n) = 2;",
            "this->n = 2;",
            "n.rows = 2;",
            "n->rows = 2;",
            "n[3] = 2;",
            "n[a[3]].rows = 2;",
            "n.rows[k] += 2;",
            "*n = 2;",
            "*(n + 1) = 2;",
            "(k ? n : a) = 2;",
            "(k, n) = 2;",
            "a = n = 2;",
            "if ((n = k) > 2) {}",
            "while (k < n--) {}",
            "k = a[n++];",
            "n.Next();",
            "n.Step<2>();",
            "n.rows.Next();",
            "f(&n);",
            "f(k, &this->n);",
            "f(k, &n[2]);",
            "k = a + *(&n);",
            "auto &part = n;",
            "auto &&part = n;",
            "auto &part{n};",
            "auto &part(n);",
            "auto &part = k ? n : a;",
            "auto &part = n.rows[2];",
            "uint32_t &part = this->n;",
            "const T<U> &part = n;",
            "int *place = &n;",
            "std::swap(k, n);",
            "std::tie(k, n) = f();",
            "return &n;",
            "for (auto &part : n) {}",
            "for (int n = 0; n < 3; k++) {}",
            "for (k = 0; k < 3; n++) {}",
            "auto f = [&]() { n = 2; };",
            "auto f = [&part = n]() { part = 2; };",
            "uint32_t n = 3;",
            "uint32_t n{3};",
            "auto [n, m] = f();",
            "\n#define STEP n = 2\n",
            "\n#if n > 2\nk = 2;\n#endif\n",
            "switch (k) { case 1: n = 2; }",
            "do { n = 2; } while (k);",
        ] {
            assert!(changed(code), "{code}");
        }
    }

    #[test]
    fn what_only_reads_a_name_changes_nothing() {
        for code in [
            "k = n;",
            "k = n == 2;",
            "k = n << 2;",
            "k = n >> 2;",
            "if (n <= 2 && n >= 1) {}",
            "k = a & n;",
            "k = a && n;",
            "k = (a + b) & n;",
            "f(n);",
            "k = n + +1;",
            "n.GetValue(0);",
            "n.template DeQue<float>();",
            "this->n.GetValue(0);",
            "k = n < a;",
            "for (uint32_t i = 0; i < n; i++) {}",
            "for (auto part : n) {}",
            "const uint32_t k = n;",
            "k[n] = 2;",
            "k[n]++;",
            "auto &part = k[n];",
            "// n = 2\n",
            "/* n++ */",
            "k = \"n = 2\";",
        ] {
            assert!(!changed(code), "{code}");
        }
    }
}
