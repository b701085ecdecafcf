//! Items of a syntax tree as plain data with byte spans: calls, functions, classes, loops, local variables.

use std::ops::Range;

use tree_sitter::{Node, Tree};

/// A call with its name taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Name without scope, object and template arguments: `DataCopy`, `InitBuffer`.
    pub name: String,
    /// Scope as written: `AscendC`, empty if there is none.
    pub scope: String,
    /// Object of a member call as written: `pipe`, `this->queue`; `None` for a free function.
    pub object: Option<String>,
    /// Text between the angle brackets, if there are any.
    pub template_arguments: Option<String>,
    /// The whole call expression.
    pub span: Range<usize>,
    /// The callee, up to the opening parenthesis.
    pub callee: Range<usize>,
    /// Each argument.
    pub arguments: Vec<Range<usize>>,
    /// The statement that consists of nothing but this call, with its semicolon.
    pub statement: Option<Range<usize>>,
}

impl Call {
    /// Whether it is a call of a free function or of a member function of the object itself.
    pub fn is_own(&self) -> bool {
        self.object.as_deref().is_none_or(|object| object == "this") && matches!(self.scope.as_str(), "" | "this")
    }
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name, empty if it has none.
    pub name: String,
    /// Type as written, without the name.
    pub type_text: String,
}

/// A function or method with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Name without scope.
    pub name: String,
    /// Class it belongs to, without template arguments; `None` for a free function.
    pub class: Option<String>,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// The whole definition.
    pub span: Range<usize>,
    /// The body with its braces.
    pub body: Range<usize>,
}

/// A data member of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Name.
    pub name: String,
    /// Type as written.
    pub type_text: String,
    /// Initialiser expression, if any.
    pub value: Option<Range<usize>>,
    /// The declaration with its semicolon.
    pub span: Range<usize>,
}

/// A class or struct with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// Name without template arguments.
    pub name: String,
    /// Base classes, without scope and template arguments.
    pub bases: Vec<String>,
    /// The whole specifier.
    pub span: Range<usize>,
    /// The body with its braces.
    pub body: Range<usize>,
    /// Data members in order.
    pub members: Vec<Member>,
}

/// A loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// `for_statement`, `while_statement`, `do_statement` or `for_range_loop`.
    pub kind: String,
    /// The whole statement.
    pub span: Range<usize>,
    /// The body, with its braces if it has any.
    pub body: Range<usize>,
    /// First part of a `for`, with its semicolon if it is a declaration.
    pub initializer: Option<Range<usize>>,
    /// Condition.
    pub condition: Option<Range<usize>>,
    /// Update of a `for`.
    pub update: Option<Range<usize>>,
}

/// A local variable, or a constant at namespace level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Name.
    pub name: String,
    /// Type as written, with `const` and `constexpr`.
    pub type_text: String,
    /// Initialiser expression or list, if any.
    pub value: Option<Range<usize>>,
    /// The declaration with its semicolon.
    pub span: Range<usize>,
    /// Whether the declaration declares nothing else.
    pub alone: bool,
}

/// Everything collected from one tree, each list in text order.
#[derive(Clone, Debug, Default)]
pub struct Items {
    pub calls: Vec<Call>,
    pub functions: Vec<Function>,
    pub classes: Vec<Class>,
    pub loops: Vec<Loop>,
    pub locals: Vec<Local>,
    pub errors: Vec<Unread>,
}

/// A place that the grammar did not understand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Where; empty for something that is missing.
    pub span: Range<usize>,
    /// What stands there, blanks collapsed, or what is missing behind what.
    pub what: String,
    /// Name of the call in whose arguments it stands, or behind which something is missing: a macro takes more than expressions.
    pub within: Option<String>,
}

impl Unread {
    /// Whether it belongs to a macro, by the way in which macros are written.
    pub(super) fn in_macro(&self) -> bool {
        let is_macro =
            |name: &String| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        self.within.as_ref().is_some_and(is_macro)
    }
}

/// Walks the tree once, without recursion: hostile input may be nested deeper than the stack.
pub fn collect(tree: &Tree, text: &str, blanked: &str) -> Items {
    let reader = Reader { text, blanked };
    let mut items = Items::default();
    let mut cursor = tree.walk();
    let mut class_stack: Vec<(Range<usize>, usize)> = Vec::new();
    loop {
        let node = cursor.node();
        while class_stack.last().is_some_and(|(span, _)| node.start_byte() >= span.end) {
            class_stack.pop();
        }
        if node.is_error() || node.is_missing() {
            items.errors.push(reader.unread(node));
        }
        match node.kind() {
            "call_expression" => items.calls.extend(reader.call(node)),
            "function_definition" => {
                let inside = class_stack.last().map(|(_, index)| items.classes[*index].name.clone());
                items.functions.extend(reader.function(node, inside));
            }
            "class_specifier" | "struct_specifier" => {
                if let Some(class) = reader.class(node) {
                    class_stack.push((class.body.clone(), items.classes.len()));
                    items.classes.push(class);
                }
            }
            "field_declaration" => {
                if let Some((span, index)) = class_stack.last()
                    && span.contains(&node.start_byte())
                {
                    let members = reader.members(node);
                    items.classes[*index].members.extend(members);
                }
            }
            "for_statement" | "while_statement" | "do_statement" | "for_range_loop" => {
                items.loops.extend(reader.repetition(node))
            }
            "declaration" => items.locals.extend(reader.locals(node)),
            _ => {}
        }
        if cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if !cursor.goto_parent() {
                return items;
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    blanked: &'a str,
}

impl Reader<'_> {
    fn original(&self, node: Node<'_>) -> &str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// Text without device qualifiers, blanks collapsed.
    fn plain(&self, span: Range<usize>) -> String {
        self.blanked.get(span).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn unread(&self, node: Node<'_>) -> Unread {
        let before = node.prev_sibling().filter(|_| node.is_missing());
        // Of a macro that stands where a statement ends, the name: what it is given may be edited.
        let head = before.map(|before| self.plain(before.byte_range()));
        let head = head.as_deref().and_then(|text| text.split('(').next()).unwrap_or_default();
        let what = match node.is_missing() {
            true => format!("no {} behind {head}", node.kind()),
            false => self.plain(node.byte_range()),
        };
        let arguments = std::iter::successors(node.parent(), Node::parent).find(|node| node.kind() == "argument_list");
        let called = before.and_then(|before| before.child_by_field_name("arguments"));
        let call = called.or(arguments).and_then(|arguments| self.call(arguments.parent()?));
        Unread { span: node.byte_range(), what, within: call.map(|call| call.name) }
    }

    fn call(&self, node: Node<'_>) -> Option<Call> {
        let callee = node.child_by_field_name("function")?;
        let list = node.child_by_field_name("arguments")?;
        let mut call = Call {
            name: String::new(),
            scope: String::new(),
            object: None,
            template_arguments: None,
            span: node.byte_range(),
            callee: callee.byte_range(),
            arguments: Vec::new(),
            statement: None,
        };
        let mut name = callee;
        loop {
            match name.kind() {
                "qualified_identifier" => {
                    if let Some(scope) = name.child_by_field_name("scope") {
                        if !call.scope.is_empty() {
                            call.scope.push_str("::");
                        }
                        call.scope.push_str(self.original(scope));
                    }
                    name = name.child_by_field_name("name")?;
                }
                "field_expression" => {
                    call.object = Some(self.original(name.child_by_field_name("argument")?).to_owned());
                    name = name.child_by_field_name("field")?;
                }
                "template_function" | "template_method" | "template_type" => {
                    let arguments = name.child_by_field_name("arguments")?;
                    let whole = self.original(arguments);
                    call.template_arguments =
                        Some(whole.get(1..whole.len().max(2) - 1).unwrap_or_default().trim().to_owned());
                    name = name.child_by_field_name("name")?;
                }
                "dependent_name" => name = name.named_child(0)?,
                "identifier" | "field_identifier" | "type_identifier" => break,
                _ => return None,
            }
        }
        call.name = self.original(name).to_owned();
        let mut cursor = list.walk();
        call.arguments = list
            .named_children(&mut cursor)
            .filter(|argument| argument.kind() != "comment")
            .map(|argument| argument.byte_range())
            .collect();
        call.statement = node
            .parent()
            .filter(|parent| parent.kind() == "expression_statement" && parent.start_byte() == node.start_byte())
            .map(|parent| parent.byte_range());
        Some(call)
    }

    fn function(&self, node: Node<'_>, inside: Option<String>) -> Option<Function> {
        let body = node.child_by_field_name("body")?;
        let mut declarator = node.child_by_field_name("declarator")?;
        while declarator.kind() != "function_declarator" {
            declarator = declarator.child_by_field_name("declarator").or_else(|| declarator.named_child(0))?;
        }
        let mut name = declarator.child_by_field_name("declarator")?;
        let mut class = inside;
        while name.kind() == "qualified_identifier" {
            if let Some(scope) = name.child_by_field_name("scope") {
                let scope_name =
                    if scope.kind() == "template_type" { scope.child_by_field_name("name")? } else { scope };
                class = Some(self.original(scope_name).to_owned());
            }
            name = name.child_by_field_name("name")?;
        }
        let list = declarator.child_by_field_name("parameters")?;
        let mut cursor = list.walk();
        let parameters = list
            .named_children(&mut cursor)
            .filter(|parameter| matches!(parameter.kind(), "parameter_declaration" | "optional_parameter_declaration"))
            .map(|parameter| self.parameter(parameter))
            .collect();
        Some(Function {
            name: self.original(name).to_owned(),
            class,
            parameters,
            span: node.byte_range(),
            body: body.byte_range(),
        })
    }

    fn parameter(&self, node: Node<'_>) -> Parameter {
        let end = node.child_by_field_name("default_value").map_or(node.end_byte(), |value| value.start_byte());
        let name = node.child_by_field_name("declarator").and_then(innermost);
        match name {
            Some(name) => Parameter {
                name: self.original(name).to_owned(),
                type_text: self.plain(node.start_byte()..name.start_byte()),
            },
            None => Parameter { name: String::new(), type_text: self.plain(node.start_byte()..end) },
        }
    }

    fn class(&self, node: Node<'_>) -> Option<Class> {
        let body = node.child_by_field_name("body")?;
        let name = node.child_by_field_name("name")?;
        let name = if name.kind() == "template_type" { name.child_by_field_name("name")? } else { name };
        let mut cursor = node.walk();
        let clause = node.children(&mut cursor).find(|child| child.kind() == "base_class_clause");
        let bases = clause.map(|clause| self.bases(clause)).unwrap_or_default();
        Some(Class {
            name: self.original(name).to_owned(),
            bases,
            span: node.byte_range(),
            body: body.byte_range(),
            members: Vec::new(),
        })
    }

    /// Names in `: public scope::Base<T>, private Other`.
    fn bases(&self, clause: Node<'_>) -> Vec<String> {
        let mut cursor = clause.walk();
        let types = clause.named_children(&mut cursor);
        types
            .filter(|node| matches!(node.kind(), "type_identifier" | "qualified_identifier" | "template_type"))
            .map(|node| {
                let mut name = node;
                while matches!(name.kind(), "qualified_identifier" | "template_type") {
                    let Some(inner) = name.child_by_field_name("name") else { break };
                    name = inner;
                }
                self.original(name).to_owned()
            })
            .collect()
    }

    fn members(&self, node: Node<'_>) -> Vec<Member> {
        let mut cursor = node.walk();
        let Some(first) = node.child_by_field_name("declarator") else { return Vec::new() };
        let type_text = self.plain(node.start_byte()..first.start_byte());
        node.children_by_field_name("declarator", &mut cursor)
            .filter_map(|declarator| {
                let name = innermost(declarator)?;
                (name.kind() == "field_identifier" && !declares_function(declarator)).then(|| Member {
                    name: self.original(name).to_owned(),
                    type_text: type_text.clone(),
                    value: node.child_by_field_name("default_value").map(|value| value.byte_range()),
                    span: node.byte_range(),
                })
            })
            .collect()
    }

    fn repetition(&self, node: Node<'_>) -> Option<Loop> {
        let part = |field: &str| node.child_by_field_name(field).map(|part| part.byte_range());
        Some(Loop {
            kind: node.kind().to_owned(),
            span: node.byte_range(),
            body: node.child_by_field_name("body")?.byte_range(),
            initializer: part("initializer"),
            condition: part("condition"),
            update: part("update"),
        })
    }

    fn locals(&self, node: Node<'_>) -> Vec<Local> {
        let mut cursor = node.walk();
        let Some(first) = node.child_by_field_name("declarator") else { return Vec::new() };
        let type_text = self.plain(node.start_byte()..first.start_byte());
        let declarators: Vec<Node<'_>> = node.children_by_field_name("declarator", &mut cursor).collect();
        let alone = declarators.len() == 1;
        declarators
            .into_iter()
            .filter_map(|declarator| {
                let name = innermost(declarator)?;
                (name.kind() == "identifier" && !declares_function(declarator)).then(|| Local {
                    name: self.original(name).to_owned(),
                    type_text: type_text.clone(),
                    value: declarator.child_by_field_name("value").map(|value| value.byte_range()),
                    span: node.byte_range(),
                    alone,
                })
            })
            .collect()
    }
}

/// Whether a declarator declares a function rather than a variable.
fn declares_function(mut node: Node<'_>) -> bool {
    loop {
        match (node.kind(), node.child_by_field_name("declarator").or_else(|| node.named_child(0))) {
            ("function_declarator", _) => return true,
            ("identifier" | "field_identifier" | "init_declarator", _) | (_, None) => return false,
            (_, Some(inner)) => node = inner,
        }
    }
}

/// The identifier inside a declarator.
fn innermost(mut node: Node<'_>) -> Option<Node<'_>> {
    loop {
        match node.kind() {
            "identifier" | "field_identifier" => return Some(node),
            "parameter_list" | "argument_list" => return None,
            _ => node = node.child_by_field_name("declarator").or_else(|| node.named_child(0))?,
        }
    }
}
