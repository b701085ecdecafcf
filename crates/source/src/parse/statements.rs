//! Simple statements of a file with the blocks that each stands in.

use std::ops::Range;

use tree_sitter::Node;

use super::file::SyntaxFile;

/// A declaration or an expression that ends in a semicolon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Its bytes, with the semicolon.
    pub span: Range<usize>,
    /// Where the block begins that it stands in.
    pub block: usize,
    /// What heads the blocks around it, outermost first: classes, functions by name, loops and conditions with their text.
    pub within: Vec<String>,
}

/// All simple statements in the order of the text.
pub fn statements(file: &SyntaxFile) -> Vec<Statement> {
    let mut found = Vec::new();
    collect(file, file.root(), &mut Vec::new(), &mut found);
    found
}

fn collect(file: &SyntaxFile, node: Node<'_>, within: &mut Vec<String>, found: &mut Vec<Statement>) {
    if matches!(node.kind(), "expression_statement" | "declaration") {
        let block = node.parent().map_or(0, |parent| parent.start_byte());
        found.push(Statement { span: node.byte_range(), block, within: within.clone() });
        return;
    }
    let mut cursor = node.walk();
    // What a loop begins with is part of its head.
    let of_head = node.child_by_field_name("initializer").map(|initializer| initializer.id());
    for child in node.named_children(&mut cursor).filter(|child| Some(child.id()) != of_head) {
        let depth = within.len();
        within.extend(head(file, node, child));
        collect(file, child, within, found);
        within.truncate(depth);
    }
}

/// What `node` says of the block `child` that it heads; `None` where it heads none.
fn head(file: &SyntaxFile, node: Node<'_>, child: Node<'_>) -> Option<String> {
    let is = |name: &str| node.child_by_field_name(name).is_some_and(|field| field.id() == child.id());
    let before = |end: usize| file.slice(&(node.start_byte()..end)).to_owned();
    match node.kind() {
        // The other branch is not what heads this one.
        "if_statement" => {
            let condition = node.child_by_field_name("condition").map(|condition| condition.byte_range())?;
            let branch = if is("alternative") { "else" } else { "if" };
            Some(format!("{branch} {}", file.slice(&condition)))
        }
        // A rewrite may hand one argument more to a function.
        "function_definition" => before(child.start_byte()).split('(').next().map(str::to_owned),
        "case_statement" => before(node.child_by_field_name("value")?.end_byte()).into(),
        _ if is("body") => Some(before(child.start_byte())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::MacroNames;

    #[test]
    fn statements_know_the_blocks_around_them() {
        let text = "class K {\n    void Run(int n)\n    {\n        int a = 1;\n        for (int i = 0; i < n; i++) {\n            if (i < 2) {\n                Add(x);\n            } else {\n                Sub(x);\n            }\n        }\n    }\n};\n";
        let file = SyntaxFile::parse("k.cpp", text, &MacroNames::default()).unwrap();
        let found: Vec<String> = statements(&file)
            .iter()
            .map(|one| {
                let within = one.within.iter().map(|head| head.trim()).collect::<Vec<_>>().join(" > ");
                format!("{within} > {}", file.slice(&one.span))
            })
            .collect();
        let looped = "class K > void Run > for (int i = 0; i < n; i++)";
        let expected = [
            "class K > void Run > int a = 1;".to_owned(),
            format!("{looped} > if (i < 2) > Add(x);"),
            format!("{looped} > else (i < 2) > Sub(x);"),
        ];
        assert_eq!(found, expected);
    }
}
