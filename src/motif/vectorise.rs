//! Turns the body of an elementwise scalar loop into a chain of vector calls, in the same order of operations.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::code::{invariant, squash, words};
use crate::source::parse::{Loop, SyntaxFile};

/// Element types that the chain can compute in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Element {
    Float,
    Half,
    Int32,
}

impl Element {
    pub(super) fn name(self) -> &'static str {
        match self {
            Element::Float => "float",
            Element::Half => "half",
            Element::Int32 => "int32_t",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        match name.trim().trim_start_matches("const ").trim() {
            "float" | "float32_t" => Some(Element::Float),
            "half" | "float16_t" => Some(Element::Half),
            "int32_t" | "int" => Some(Element::Int32),
            _ => None,
        }
    }
}

/// What the names of the surrounding code mean.
pub(super) trait Names {
    /// Element type of a local tensor, if it is one and its type is known.
    fn tensor(&self, name: &str) -> Option<Result<Element, String>>;
    /// Type of a scalar variable or constant as written.
    fn scalar_type(&self, name: &str) -> Option<String>;
    /// Meaning of a type's name.
    fn element(&self, type_name: &str) -> Option<Element>;
}

/// A chain of vector calls. Temporaries are written `@0`, `@1`, ...
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    pub(super) lines: Vec<String>,
    pub(super) temporaries: Vec<Element>,
    /// Tensors written, in order.
    pub(super) stored: Vec<String>,
    /// All tensors touched.
    pub(super) touched: BTreeSet<String>,
    pub(super) rounding: bool,
    pub(super) conditions: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Tensor(String),
    Scalar { text: String, floating: bool, double: bool },
    Binary(&'static str, usize, usize),
    Unary(&'static str, usize),
    Convert(usize),
}

#[derive(Clone, Debug)]
struct Value {
    kind: Kind,
    element: Element,
}

/// Builds the chain, or says why the loop is left alone. `scratch_free` allows using a destination for intermediates.
pub(super) fn vectorise(
    file: &SyntaxFile,
    repetition: &Loop,
    names: &dyn Names,
    prefix: &str,
    scratch_free: bool,
) -> Result<Chain, String> {
    let (counter, count) = counted(file, repetition)?;
    let whole = file.slice(&repetition.span);
    if !invariant(&count, whole) {
        return Err(format!("the count {count} may change in the loop"));
    }
    let mut reader = Reader {
        file,
        names,
        counter,
        whole,
        values: Vec::new(),
        variables: BTreeMap::new(),
        overridden: BTreeMap::new(),
        stores: Vec::new(),
        rounding: false,
        conditions: vec![format!("{count} is at least 1")],
    };
    reader.body(repetition)?;
    let mut chain = emit(&reader, &count, prefix, scratch_free)?;
    chain.rounding |= reader.rounding;
    Ok(chain)
}

/// Counter and bound of `for (T i = 0; i < n; i++)`.
fn counted(file: &SyntaxFile, repetition: &Loop) -> Result<(String, String), String> {
    let shape = || "not a loop that counts from 0 in steps of 1".to_owned();
    let (Some(initializer), Some(condition), Some(update)) =
        (&repetition.initializer, &repetition.condition, &repetition.update)
    else {
        return Err(shape());
    };
    let initializer = squash_spaces(file.slice(initializer));
    let (declared, zero) = initializer.trim_end_matches(';').split_once('=').ok_or_else(shape)?;
    let counter = declared.split_whitespace().last().ok_or_else(shape)?.to_owned();
    if declared.contains(',')
        || !matches!(zero.trim(), "0" | "0u" | "0U" | "0UL" | "0ul")
        || declared.split_whitespace().count() < 2
    {
        return Err(shape());
    }
    let condition = file.slice(condition);
    let bound = condition
        .trim()
        .strip_prefix(&counter)
        .map(str::trim_start)
        .and_then(|rest| rest.strip_prefix("!=").or_else(|| rest.strip_prefix('<')));
    let bound = bound.filter(|bound| !bound.starts_with(['=', '<'])).map(str::trim).ok_or_else(shape)?;
    if words(bound).contains(&counter.as_str()) || bound.contains("&&") || bound.contains("||") || bound.contains('?') {
        return Err(shape());
    }
    let update = squash(file.slice(update));
    if ![format!("{counter}++"), format!("++{counter}"), format!("{counter}+=1")].contains(&update) {
        return Err(shape());
    }
    Ok((counter, bound.to_owned()))
}

fn squash_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

struct Reader<'a> {
    file: &'a SyntaxFile,
    names: &'a dyn Names,
    counter: String,
    whole: &'a str,
    values: Vec<Value>,
    variables: BTreeMap<String, usize>,
    overridden: BTreeMap<String, usize>,
    stores: Vec<(String, Element, usize)>,
    rounding: bool,
    conditions: Vec<String>,
}

impl Reader<'_> {
    fn text(&self, node: Node<'_>) -> &str {
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

    fn statement(&mut self, node: Node<'_>) -> Result<(), String> {
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
            _ => Err(unknown),
        }
    }

    fn assignment(&mut self, node: Node<'_>) -> Result<(), String> {
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
        let value = self.convert(value, element)?;
        if self.stores.iter().any(|(stored, _, _)| *stored == tensor) {
            return Err(format!("{tensor} is written twice"));
        }
        self.overridden.insert(tensor.clone(), value);
        self.stores.push((tensor, element, value));
        Ok(())
    }

    fn push(&mut self, kind: Kind, element: Element) -> usize {
        self.values.push(Value { kind, element });
        self.values.len() - 1
    }

    fn is_scalar(&self, value: usize) -> bool {
        matches!(self.values[value].kind, Kind::Scalar { .. })
    }

    fn convert(&mut self, value: usize, element: Element) -> Result<usize, String> {
        let from = self.values[value].element;
        if let Kind::Scalar { floating, double, .. } = &self.values[value].kind {
            if element == Element::Int32 && *floating {
                return Err("a floating-point constant becomes an integer".to_owned());
            }
            self.rounding |= *double;
            let kind = self.values[value].kind.clone();
            return Ok(self.push(kind, element));
        }
        match (from, element) {
            (from, to) if from == to => Ok(value),
            (Element::Half, Element::Float) | (Element::Float, Element::Half) => {
                Ok(self.push(Kind::Convert(value), element))
            }
            (from, to) => Err(format!("a conversion from {} to {}", from.name(), to.name())),
        }
    }

    fn expression(&mut self, node: Node<'_>, depth: usize) -> Result<usize, String> {
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
        !local && !text.contains("GetValue") && invariant(text, self.whole)
    }

    fn scalar(&mut self, text: &str) -> Result<usize, String> {
        let (mut floating, mut double) = (false, false);
        for token in crate::source::parse::lex(text) {
            let word = &text[token.span.clone()];
            match token.kind {
                crate::source::parse::TokenKind::Number => {
                    let is_float = !word.starts_with("0x") && word.contains(['.', 'e', 'f', 'F']);
                    floating |= is_float;
                    double |= is_float && !word.ends_with(['f', 'F']);
                }
                crate::source::parse::TokenKind::Word
                    if !matches!(word, "static_cast" | "this" | "sizeof" | "const") =>
                {
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

    fn binary(&mut self, operator: &str, left: usize, right: usize) -> Result<usize, String> {
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

struct Emitter<'a> {
    reader: &'a Reader<'a>,
    prefix: &'a str,
    count: &'a str,
    scratch_free: bool,
    uses: Vec<usize>,
    places: BTreeMap<usize, String>,
    temporaries: Vec<Element>,
    free: BTreeSet<usize>,
    lines: Vec<String>,
}

fn emit(reader: &Reader<'_>, count: &str, prefix: &str, scratch_free: bool) -> Result<Chain, String> {
    if !scratch_free && reader.stores.len() > 1 {
        return Err("several tensors are written and they may share memory".to_owned());
    }
    let mut needed = vec![false; reader.values.len()];
    let mut uses = vec![0usize; reader.values.len()];
    let mut pending: Vec<usize> = reader.stores.iter().map(|(_, _, value)| *value).collect();
    for value in &pending {
        uses[*value] += 1;
    }
    while let Some(value) = pending.pop() {
        if std::mem::replace(&mut needed[value], true) {
            continue;
        }
        for operand in operands(&reader.values[value].kind) {
            uses[operand] += 1;
            pending.push(operand);
        }
    }
    let places = BTreeMap::new();
    let (temporaries, free, lines) = (Vec::new(), BTreeSet::new(), Vec::new());
    let mut emitter = Emitter { reader, prefix, count, scratch_free, uses, places, temporaries, free, lines };
    for (target, _, root) in &reader.stores {
        emitter.store(target, *root)?;
    }
    let tensors =
        reader.values.iter().zip(&needed).filter(|(_, needed)| **needed).filter_map(|(value, _)| match &value.kind {
            Kind::Tensor(name) => Some(name.clone()),
            _ => None,
        });
    let stored: Vec<String> = reader.stores.iter().map(|(target, _, _)| target.clone()).collect();
    let touched = tensors.chain(stored.iter().cloned()).collect();
    let Emitter { lines, temporaries, .. } = emitter;
    Ok(Chain { lines, temporaries, stored, touched, rounding: false, conditions: reader.conditions.clone() })
}

fn operands(kind: &Kind) -> Vec<usize> {
    match kind {
        Kind::Tensor(_) | Kind::Scalar { .. } => Vec::new(),
        Kind::Binary(_, left, right) => vec![*left, *right],
        Kind::Unary(_, value) | Kind::Convert(value) => vec![*value],
    }
}

impl Emitter<'_> {
    fn store(&mut self, target: &str, root: usize) -> Result<(), String> {
        let mut order = Vec::new();
        self.order(root, &mut order);
        for value in order {
            self.compute(value, target, root)?;
        }
        let value = &self.reader.values[root];
        match &value.kind {
            Kind::Scalar { .. } => self.line("Duplicate", &[target.to_owned(), self.scalar(root)]),
            _ if self.places.get(&root).is_some_and(|place| place == target) => {}
            _ => {
                // A copy within the unified buffer that works for every length: times one is exact.
                let source = self.place(root)?;
                if source != target {
                    let one = match value.element {
                        Element::Float => "1.0f".to_owned(),
                        element => format!("static_cast<{}>(1)", element.name()),
                    };
                    self.line("Muls", &[target.to_owned(), source, one]);
                }
            }
        }
        self.release(root);
        let overwritten =
            self.reader.values.iter().enumerate().any(|(index, value)| {
                matches!(&value.kind, Kind::Tensor(name) if name == target) && self.uses[index] > 0
            });
        if overwritten { Err(format!("the old value of {target} is needed after it is overwritten")) } else { Ok(()) }
    }

    /// Values not computed yet, operands first, left before right.
    fn order(&self, value: usize, order: &mut Vec<usize>) {
        let kind = &self.reader.values[value].kind;
        if matches!(kind, Kind::Tensor(_) | Kind::Scalar { .. })
            || self.places.contains_key(&value)
            || order.contains(&value)
        {
            return;
        }
        for operand in operands(kind) {
            self.order(operand, order);
        }
        order.push(value);
    }

    fn compute(&mut self, value: usize, target: &str, root: usize) -> Result<(), String> {
        let Value { kind, element } = self.reader.values[value].clone();
        let is_scalar = |operand: usize| self.reader.is_scalar(operand);
        match kind {
            Kind::Binary(name, left, right) if is_scalar(left) && !is_scalar(right) => match name {
                "Add" | "Mul" | "Max" | "Min" => {
                    let source = self.place(right)?;
                    let scalar = self.scalar(left);
                    self.release(right);
                    let place = self.choose(value, target, root, None);
                    self.line(&format!("{name}s"), &[place, source, scalar]);
                }
                "Sub" => {
                    // c - x = (-x) + c, exact.
                    let source = self.place(right)?;
                    let scalar = self.scalar(left);
                    self.release(right);
                    let place = self.choose(value, target, root, None);
                    self.line("Muls", &[place.clone(), source, self.constant(element, "-1")]);
                    self.line("Adds", &[place.clone(), place, scalar]);
                }
                _ => {
                    let source = self.place(right)?;
                    let scalar = self.scalar(left);
                    let place = self.choose(value, target, root, Some(&source));
                    self.line("Duplicate", &[place.clone(), scalar]);
                    self.line("Div", &[place.clone(), place, source]);
                    self.release(right);
                }
            },
            Kind::Binary(name, left, right) if is_scalar(right) => {
                let source = self.place(left)?;
                let scalar = self.scalar(right);
                match name {
                    "Sub" => {
                        self.release(left);
                        let place = self.choose(value, target, root, None);
                        let negated = match element {
                            Element::Half => format!("static_cast<half>(-static_cast<float>({scalar}))"),
                            _ => format!("-({scalar})"),
                        };
                        self.line("Adds", &[place, source, negated]);
                    }
                    "Div" => {
                        let place = self.choose(value, target, root, Some(&source));
                        self.line("Duplicate", &[place.clone(), scalar]);
                        self.line("Div", &[place.clone(), source, place]);
                        self.release(left);
                    }
                    _ => {
                        self.release(left);
                        let place = self.choose(value, target, root, None);
                        self.line(&format!("{name}s"), &[place, source, scalar]);
                    }
                }
            }
            Kind::Binary(name, left, right) => {
                let sources = (self.place(left)?, self.place(right)?);
                self.release(left);
                self.release(right);
                let place = self.choose(value, target, root, None);
                self.line(name, &[place, sources.0, sources.1]);
            }
            Kind::Unary(name, operand) => {
                if is_scalar(operand) {
                    return Err("a function of a constant in the loop".to_owned());
                }
                let source = self.place(operand)?;
                self.release(operand);
                let place = self.choose(value, target, root, None);
                match name {
                    "-" => self.line("Muls", &[place, source, self.constant(element, "-1")]),
                    name => self.line(name, &[place, source]),
                }
            }
            Kind::Convert(operand) => {
                let source = self.place(operand)?;
                // Source and destination differ in width: never in place.
                let place = self.choose(value, target, root, Some(&source));
                let mode = if element == Element::Float { "CAST_NONE" } else { "CAST_RINT" };
                self.line("Cast", &[place, source, format!("{}RoundMode::{mode}", self.prefix)]);
                self.release(operand);
            }
            Kind::Tensor(_) | Kind::Scalar { .. } => {}
        }
        Ok(())
    }

    fn constant(&self, element: Element, integer: &str) -> String {
        match element {
            Element::Float => format!("{integer}.0f"),
            Element::Half => format!("static_cast<half>({integer})"),
            Element::Int32 => integer.to_owned(),
        }
    }

    fn scalar(&self, value: usize) -> String {
        let Value { kind: Kind::Scalar { text, floating, double }, element } = &self.reader.values[value] else {
            return String::new();
        };
        let whole = text.bytes().all(|byte| byte.is_ascii_digit());
        match element {
            Element::Float if *floating && !*double => text.clone(),
            Element::Float if whole => format!("{text}.0f"),
            Element::Int32 if whole => text.clone(),
            element => format!("static_cast<{}>({text})", element.name()),
        }
    }

    fn place(&self, value: usize) -> Result<String, String> {
        match &self.reader.values[value].kind {
            Kind::Tensor(name) => Ok(name.clone()),
            _ => self.places.get(&value).cloned().ok_or_else(|| "a constant where a tensor is needed".to_owned()),
        }
    }

    /// Takes one use off a value; its temporary becomes free with the last.
    fn release(&mut self, value: usize) {
        self.uses[value] = self.uses[value].saturating_sub(1);
        if self.uses[value] == 0
            && let Some(index) =
                self.places.get(&value).and_then(|place| place.strip_prefix('@')).and_then(|index| index.parse().ok())
        {
            self.free.insert(index);
        }
    }

    /// Where the value is computed: the destination for the root or while it is free, else a temporary.
    fn choose(&mut self, value: usize, target: &str, root: usize, not: Option<&str>) -> String {
        let element = self.reader.values[value].element;
        let target_element =
            self.reader.stores.iter().find(|(name, _, _)| name == target).map(|(_, element, _)| *element);
        let holds_live = |place: &str| self.places.iter().any(|(other, at)| at == place && self.uses[*other] > 0);
        let read_later =
            self.reader.values.iter().enumerate().any(|(index, other)| {
                matches!(&other.kind, Kind::Tensor(name) if name == target) && self.uses[index] > 0
            });
        let fits = target_element == Some(element) && not != Some(target);
        let place = if fits && !read_later && !holds_live(target) && (value == root || self.scratch_free) {
            target.to_owned()
        } else {
            let reusable = self
                .free
                .iter()
                .copied()
                .find(|index| self.temporaries[*index] == element && not != Some(format!("@{index}").as_str()));
            let index = reusable.unwrap_or_else(|| {
                self.temporaries.push(element);
                self.temporaries.len() - 1
            });
            self.free.remove(&index);
            format!("@{index}")
        };
        self.places.insert(value, place.clone());
        place
    }

    fn line(&mut self, name: &str, operands: &[String]) {
        self.lines.push(format!("{}{name}({}, {});", self.prefix, operands.join(", "), self.count));
    }
}
