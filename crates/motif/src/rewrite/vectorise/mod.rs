//! Turns the body of an elementwise scalar loop into a chain of vector calls, in the same order of operations.

mod chain;
pub(crate) mod choices;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tree_sitter::Node;

use crate::analysis::code::words;
use crate::analysis::flow::effects::invariant;
use crate::analysis::loops::counted;
use source::parse::{Loop, SyntaxFile};

/// Element types that the chain can compute in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Element {
    Float,
    Half,
    Int32,
}

impl Element {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Element::Float => "float",
            Element::Half => "half",
            Element::Int32 => "int32_t",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name.trim().trim_start_matches("const ").trim() {
            "float" | "float32_t" => Some(Element::Float),
            "half" | "float16_t" => Some(Element::Half),
            "int32_t" | "int" => Some(Element::Int32),
            _ => None,
        }
    }
}

/// What the names of the surrounding code mean.
pub(crate) trait Names {
    /// Element type of a local tensor, if it is one and its type is known.
    fn tensor(&self, name: &str) -> Option<Result<Element, String>>;
    /// Type of a scalar variable or constant as written.
    fn scalar_type(&self, name: &str) -> Option<String>;
    /// Meaning of a type's name.
    fn element(&self, type_name: &str) -> Option<Element>;
}

/// A chain of vector calls. Temporaries are written `@0`, `@1`, ...
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    pub(crate) lines: Vec<String>,
    pub(crate) temporaries: Vec<Element>,
    /// Tensors written, in order.
    pub(crate) stored: Vec<String>,
    /// All tensors touched.
    pub(crate) touched: BTreeSet<String>,
    pub(crate) rounding: bool,
    pub(crate) conditions: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Tensor(String),
    Scalar { text: String, floating: bool, double: bool },
    Binary(&'static str, usize, usize),
    Unary(&'static str, usize),
    Convert(usize),
}

#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) kind: Kind,
    pub(crate) element: Element,
}

/// How a chain may be built.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Destinations may hold intermediates.
    pub(crate) scratch_free: bool,
    /// `if` and `?:` that choose the larger, the smaller or the absolute value are understood.
    pub(crate) choices: bool,
}

/// Builds the chain, or says why the loop is left alone.
pub(crate) fn vectorise(
    file: &SyntaxFile,
    repetition: &Loop,
    names: &dyn Names,
    prefix: &str,
    manner: Manner,
) -> Result<Chain, String> {
    let (counter, count) = counted(file, repetition)?;
    if !invariant(&count, file, &repetition.span) {
        return Err(format!("the count {count} may change in the loop"));
    }
    let mut reader = Reader {
        file,
        names,
        counter,
        span: &repetition.span,
        values: Vec::new(),
        variables: BTreeMap::new(),
        overridden: BTreeMap::new(),
        stores: Vec::new(),
        rounding: false,
        choices: manner.choices,
        conditions: vec![format!("{count} is at least 1")],
    };
    reader.body(repetition)?;
    let mut chain = chain::emit(&reader, &count, prefix, manner.scratch_free)?;
    chain.rounding |= reader.rounding;
    Ok(chain)
}

pub(crate) struct Reader<'a> {
    file: &'a SyntaxFile,
    names: &'a dyn Names,
    counter: String,
    span: &'a Range<usize>,
    pub(crate) values: Vec<Value>,
    pub(crate) variables: BTreeMap<String, usize>,
    pub(crate) overridden: BTreeMap<String, usize>,
    pub(crate) stores: Vec<(String, Element, usize)>,
    rounding: bool,
    choices: bool,
    pub(crate) conditions: Vec<String>,
}

impl Reader<'_> {
    pub(crate) fn text(&self, node: Node<'_>) -> &str {
        self.file.slice(&node.byte_range())
    }

    fn body(&mut self, repetition: &Loop) -> Result<(), String> {
        let node = self.file.node_at(&repetition.body).ok_or("the body is empty")?;
        let mut cursor = node.walk();
        let statements: Vec<Node<'_>> =
            if node.kind() == "compound_statement" { node.named_children(&mut cursor).collect() } else { vec![node] };
        for statement in statements.iter().filter(|statement| statement.kind() != "comment") {
            self.statement(*statement)?;
        }
        if self.stores.is_empty() { Err("the loop stores nothing with SetValue".to_owned()) } else { Ok(()) }
    }

    pub(crate) fn statement(&mut self, node: Node<'_>) -> Result<(), String> {
        let unknown =
            format!("line {}: {} in the loop", self.file.line(node.start_byte()), node.kind().replace('_', " "));
        match node.kind() {
            "declaration" => {
                let declarator = node
                    .child_by_field_name("declarator")
                    .filter(|declarator| declarator.kind() == "init_declarator")
                    .ok_or(unknown.clone())?;
                let name = declarator
                    .child_by_field_name("declarator")
                    .filter(|name| name.kind() == "identifier")
                    .ok_or(unknown.clone())?;
                let mut cursor = node.walk();
                if node.children_by_field_name("declarator", &mut cursor).count() != 1 {
                    return Err(unknown);
                }
                let type_name = node.child_by_field_name("type").map(|of| self.text(of).to_owned()).unwrap_or_default();
                let mut value = self.expression(declarator.child_by_field_name("value").ok_or(unknown)?, 0)?;
                if type_name != "auto" {
                    let element = self
                        .names
                        .element(&type_name)
                        .ok_or(format!("variables of type {type_name} have no vector form"))?;
                    value = self.convert(value, element)?;
                }
                let name = self.text(name).to_owned();
                self.variables.insert(name, value);
                Ok(())
            }
            "expression_statement" => {
                let inner = node.named_child(0).ok_or(unknown.clone())?;
                match inner.kind() {
                    "call_expression" => self.store(inner),
                    "assignment_expression" => self.assignment(inner),
                    _ => Err(unknown),
                }
            }
            "if_statement" if self.choices => self.choice(node, &unknown),
            _ => Err(unknown),
        }
    }

    pub(crate) fn assignment(&mut self, node: Node<'_>) -> Result<(), String> {
        let part = |field: &str| node.child_by_field_name(field).ok_or("an incomplete assignment");
        let (left, right, operator) = (part("left")?, part("right")?, part("operator")?);
        let name = self.text(left).to_owned();
        let Some(old) = self.variables.get(&name).copied() else {
            return Err(format!(
                "{name} is assigned in the loop and lives outside it: the rounds depend on each other"
            ));
        };
        let value = self.expression(right, 0)?;
        let element = self.values[old].element;
        let value = match self.text(operator).trim_end_matches('=') {
            "" => value,
            operator => self.binary(operator.to_owned().as_str(), old, value)?,
        };
        let value = self.convert(value, element)?;
        self.variables.insert(name, value);
        Ok(())
    }

    fn store(&mut self, node: Node<'_>) -> Result<(), String> {
        let call = self
            .file
            .calls()
            .iter()
            .find(|call| call.span == node.byte_range())
            .ok_or("a call that is not understood")?;
        let tensor = call.object.clone().filter(|_| call.name == "SetValue" && call.arguments.len() == 2);
        let Some(tensor) = tensor else { return Err(format!("{} has no vector form", call.name)) };
        let element = self.names.tensor(&tensor).ok_or(format!("{tensor} is not a local tensor of the function"))??;
        if self.file.argument(call, 0).map(str::trim) != Some(self.counter.as_str()) {
            return Err(format!("{tensor} is written at another index than {}", self.counter));
        }
        let node = node.child_by_field_name("arguments").and_then(|list| {
            let mut cursor = list.walk();
            list.named_children(&mut cursor).find(|child| child.byte_range() == call.arguments[1])
        });
        let value = self.expression(node.ok_or("a store without value")?, 0)?;
        self.put(tensor, element, value)
    }

    pub(crate) fn put(&mut self, tensor: String, element: Element, value: usize) -> Result<(), String> {
        let value = self.convert(value, element)?;
        if self.stores.iter().any(|(stored, _, _)| *stored == tensor) {
            return Err(format!("{tensor} is written twice"));
        }
        self.overridden.insert(tensor.clone(), value);
        self.stores.push((tensor, element, value));
        Ok(())
    }

    pub(crate) fn push(&mut self, kind: Kind, element: Element) -> usize {
        self.values.push(Value { kind, element });
        self.values.len() - 1
    }

    pub(crate) fn is_scalar(&self, value: usize) -> bool {
        matches!(self.values[value].kind, Kind::Scalar { .. })
    }

    pub(crate) fn convert(&mut self, value: usize, element: Element) -> Result<usize, String> {
        let from = self.values[value].element;
        if let Kind::Scalar { floating, double, .. } = &self.values[value].kind {
            if element == Element::Int32 && *floating {
                return Err("a floating-point constant becomes an integer".to_owned());
            }
            self.rounding |= *double;
            let kind = self.values[value].kind.clone();
            return Ok(self.push(kind, element));
        }
        if let (Element::Half, Kind::Binary(name, left, right)) = (element, self.values[value].kind.clone())
            && let (Kind::Convert(left), Kind::Convert(right)) = (&self.values[left].kind, &self.values[right].kind)
        {
            // One operation in float on two halves, rounded to half, is the half operation: 24 bits are enough for that.
            let kind = Kind::Binary(name, *left, *right);
            return Ok(self.push(kind, Element::Half));
        }
        match (from, element) {
            (from, to) if from == to => Ok(value),
            (Element::Half, Element::Float) | (Element::Float, Element::Half) => {
                Ok(self.push(Kind::Convert(value), element))
            }
            (from, to) => Err(format!("a conversion from {} to {}", from.name(), to.name())),
        }
    }

    pub(crate) fn expression(&mut self, node: Node<'_>, depth: usize) -> Result<usize, String> {
        let text = self.text(node).to_owned();
        if depth > 64 {
            return Err("an expression that is too deep".to_owned());
        }
        if self.is_invariant(&text) {
            return self.scalar(&text);
        }
        match node.kind() {
            "parenthesized_expression" => self.expression(node.named_child(0).ok_or("empty parentheses")?, depth + 1),
            "identifier" => self
                .variables
                .get(&text)
                .copied()
                .ok_or_else(|| format!("the value of {text} differs from round to round")),
            "binary_expression" => {
                let part = |field: &str| node.child_by_field_name(field).ok_or("an incomplete expression");
                let left = self.expression(part("left")?, depth + 1)?;
                let right = self.expression(part("right")?, depth + 1)?;
                let operator = self.text(part("operator")?).to_owned();
                self.binary(&operator, left, right)
            }
            "unary_expression" => {
                let operator =
                    node.child_by_field_name("operator").map(|operator| self.text(operator)).unwrap_or_default();
                if operator != "-" {
                    return Err(format!("the operator {operator} has no vector form here"));
                }
                let value = self
                    .expression(node.child_by_field_name("argument").ok_or("an incomplete expression")?, depth + 1)?;
                let element = self.values[value].element;
                Ok(self.push(Kind::Unary("-", value), element))
            }
            "cast_expression" => {
                let type_name = node.child_by_field_name("type").map(|of| self.text(of).to_owned()).unwrap_or_default();
                let value =
                    self.expression(node.child_by_field_name("value").ok_or("an incomplete cast")?, depth + 1)?;
                self.cast(&type_name, value)
            }
            "call_expression" => self.call(node, depth),
            "conditional_expression" if self.choices => {
                let part = |field: &str| node.child_by_field_name(field).ok_or("an incomplete choice");
                let yes = self.expression(part("consequence")?, depth + 1)?;
                let no = self.expression(part("alternative")?, depth + 1)?;
                self.chosen(part("condition")?, yes, no)
            }
            other => Err(format!(
                "line {}: {} has no vector form here",
                self.file.line(node.start_byte()),
                other.replace('_', " ")
            )),
        }
    }

    fn cast(&mut self, type_name: &str, value: usize) -> Result<usize, String> {
        let element = self.names.element(type_name).ok_or(format!("a cast to {type_name}"))?;
        self.convert(value, element)
    }

    fn call(&mut self, node: Node<'_>, depth: usize) -> Result<usize, String> {
        let list = node.child_by_field_name("arguments").ok_or("a call without arguments")?;
        let mut cursor = list.walk();
        let arguments: Vec<Node<'_>> =
            list.named_children(&mut cursor).filter(|node| node.kind() != "comment").collect();
        let Some(call) = self.file.calls().iter().find(|call| call.span == node.byte_range()) else {
            // `float(x)` and `(half)(x)`: the callee is a type.
            let callee = node.child_by_field_name("function").map(|of| self.text(of).to_owned()).unwrap_or_default();
            let type_name = callee.trim_matches(['(', ')']).trim().to_owned();
            let [argument] = arguments.as_slice() else { return Err(format!("{type_name} has no vector form")) };
            let value = self.expression(*argument, depth + 1)?;
            return self.cast(&type_name, value);
        };
        let name = call.name.as_str();
        if let Some(tensor) = &call.object {
            let element =
                self.names.tensor(tensor).ok_or(format!("{tensor} is not a local tensor of the function"))??;
            if name != "GetValue" || arguments.len() != 1 {
                return Err(format!("{tensor}.{name} has no vector form"));
            }
            if self.text(arguments[0]).trim() != self.counter {
                return Err(format!("{tensor} is read at another index than {}", self.counter));
            }
            if let Some(value) = self.overridden.get(tensor) {
                return Ok(*value);
            }
            let kind = Kind::Tensor(tensor.clone());
            let known = self.values.iter().position(|value| value.kind == kind);
            return Ok(known.unwrap_or_else(|| self.push(kind, element)));
        }
        if name == "static_cast" {
            let type_name = call.template_arguments.clone().unwrap_or_default();
            let [argument] = arguments.as_slice() else { return Err("a cast of several values".to_owned()) };
            let value = self.expression(*argument, depth + 1)?;
            return self.cast(&type_name, value);
        }
        let unary = match name {
            "exp" | "expf" => Some("Exp"),
            "sqrt" | "sqrtf" => Some("Sqrt"),
            "abs" | "fabs" | "fabsf" => Some("Abs"),
            _ => None,
        };
        match (unary, arguments.as_slice()) {
            (Some(instruction), [argument]) => {
                let value = self.expression(*argument, depth + 1)?;
                let element = self.values[value].element;
                if element == Element::Int32 {
                    return Err(format!("{name} of integers has no vector form"));
                }
                self.rounding |= instruction != "Abs";
                Ok(self.push(Kind::Unary(instruction, value), element))
            }
            (None, [left, right]) if matches!(name, "max" | "min" | "fmax" | "fmin" | "fmaxf" | "fminf") => {
                let left = self.expression(*left, depth + 1)?;
                let right = self.expression(*right, depth + 1)?;
                self.conditions.push(format!("{name} treats NaN like the vector instruction"));
                self.binary(if name.contains("max") { "max" } else { "min" }, left, right)
            }
            _ => {
                if let (Some(element), [argument]) = (self.names.element(name), arguments.as_slice()) {
                    let value = self.expression(*argument, depth + 1)?;
                    return self.convert(value, element);
                }
                Err(format!("{name} has no vector form"))
            }
        }
    }

    /// Whether the text has the same value in every round.
    fn is_invariant(&self, text: &str) -> bool {
        let names = words(text);
        let local = names.iter().any(|name| self.variables.contains_key(*name) || *name == self.counter);
        !local && !text.contains("GetValue") && invariant(text, self.file, self.span)
    }

    fn scalar(&mut self, text: &str) -> Result<usize, String> {
        let (mut floating, mut double) = (false, false);
        for token in source::lex::pieces(text) {
            let word = &text[token.span.clone()];
            match token.kind {
                source::lex::PieceKind::Number => {
                    let is_float = !word.starts_with("0x") && word.contains(['.', 'e', 'f', 'F']);
                    floating |= is_float;
                    double |= is_float && !word.ends_with(['f', 'F']);
                }
                source::lex::PieceKind::Word if !matches!(word, "static_cast" | "this" | "sizeof" | "const") => {
                    if text[..token.span.start].ends_with("->") && !text[..token.span.start].ends_with("this->") {
                        return Err(format!("the type of {text} is not known"));
                    }
                    if self.names.element(word).is_some() {
                        floating |= self.names.element(word) != Some(Element::Int32);
                        continue;
                    }
                    let type_name = self.names.scalar_type(word).ok_or(format!("the type of {word} is not known"))?;
                    let has = |name: &str| {
                        type_name.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|part| part == name)
                    };
                    floating |= has("float") || has("half") || has("double");
                    double |= has("double");
                }
                _ => {}
            }
        }
        let element = if floating { Element::Float } else { Element::Int32 };
        Ok(self.push(Kind::Scalar { text: text.trim().to_owned(), floating, double }, element))
    }

    pub(crate) fn binary(&mut self, operator: &str, left: usize, right: usize) -> Result<usize, String> {
        let instruction = match operator {
            "+" => "Add",
            "-" => "Sub",
            "*" => "Mul",
            "/" => "Div",
            "max" => "Max",
            "min" => "Min",
            _ => return Err(format!("the operator {operator} has no vector form here")),
        };
        let (left_element, right_element) = (self.values[left].element, self.values[right].element);
        let element = match (self.is_scalar(left), self.is_scalar(right)) {
            // A constant adapts to the tensor, except that float constants widen half tensors.
            (true, false) => widened(right_element, left_element),
            (false, true) => widened(left_element, right_element),
            _ if left_element == right_element => left_element,
            _ if left_element == Element::Int32 || right_element == Element::Int32 => {
                return Err("integers and floating point are mixed".to_owned());
            }
            _ => Element::Float,
        };
        let (left, right) = (self.convert(left, element)?, self.convert(right, element)?);
        if element == Element::Int32 && instruction == "Div" {
            return Err("integer division has no vector form".to_owned());
        }
        if element == Element::Half
            && self.values.iter().any(|value| matches!(value.kind, Kind::Binary(..)) && value.element == Element::Half)
        {
            // One operation on half rounds the same either way; a chain may have been computed in float before.
            self.rounding = true;
        }
        Ok(self.push(Kind::Binary(instruction, left, right), element))
    }
}

/// Element type of a tensor operand combined with a constant.
fn widened(tensor: Element, scalar: Element) -> Element {
    if tensor == Element::Half && scalar == Element::Float { Element::Float } else { tensor }
}
