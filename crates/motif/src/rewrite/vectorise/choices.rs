//! Choices between two values in a scalar loop that vector instructions make without a branch.

use tree_sitter::Node;

use crate::rewrite::vectorise::{Kind, Reader};

/// What a comparison leaves open.
pub(crate) const NAN_CONDITION: &str = "NaN is chosen like the vector instruction does";

impl Reader<'_> {
    /// `if (..) { v = ..; }`, and a store to the same place in both branches.
    pub(crate) fn choice(&mut self, node: Node<'_>, unknown: &str) -> Result<(), String> {
        let part = |field: &str| node.child_by_field_name(field).ok_or_else(|| unknown.to_owned());
        let condition = part("condition")?;
        let yes = only_statement(part("consequence")?).ok_or("a branch of several statements")?;
        let no = node.child_by_field_name("alternative");
        let (variables, overridden, stores) = (self.variables.clone(), self.overridden.clone(), self.stores.len());
        self.statement(yes)?;
        if self.stores.len() == stores && no.is_none() {
            let changed: Vec<String> = self
                .variables
                .iter()
                .filter(|(name, value)| variables.get(*name).is_some_and(|old| old != *value))
                .map(|(name, _)| name.clone())
                .collect();
            let [name] = changed.as_slice() else { return Err(unknown.to_owned()) };
            let (new, old) = (self.variables[name], variables[name]);
            // The condition is about the value before.
            self.variables = variables;
            let value = self.chosen(condition, new, old)?;
            let value = self.convert(value, self.values[old].element)?;
            self.variables.insert(name.clone(), value);
            return Ok(());
        }
        let (Some(no), 1) = (no, self.stores.len() - stores) else { return Err(unknown.to_owned()) };
        let (target, element, yes) = self.stores.remove(stores);
        self.variables.clone_from(&variables);
        self.overridden.clone_from(&overridden);
        let no = if no.kind() == "else_clause" { no.named_child(0).ok_or("an empty else")? } else { no };
        self.statement(only_statement(no).ok_or("a branch of several statements")?)?;
        let Some((other, _, no)) = self.stores.get(stores).cloned() else { return Err(unknown.to_owned()) };
        if other != target {
            return Err(format!("one branch writes {target}, the other {other}"));
        }
        self.stores.truncate(stores);
        self.variables = variables;
        self.overridden = overridden;
        let value = self.chosen(condition, yes, no)?;
        self.put(target, element, value)
    }

    /// The larger or the smaller of two values, or the absolute value, from a comparison and what it chooses between.
    pub(crate) fn chosen(&mut self, condition: Node<'_>, yes: usize, no: usize) -> Result<usize, String> {
        let mut condition = condition;
        while matches!(condition.kind(), "parenthesized_expression" | "condition_clause") {
            condition = condition.named_child(0).ok_or("an empty condition")?;
        }
        let unclear = || "a choice that is neither the larger nor the smaller of the values compared".to_owned();
        if condition.kind() != "binary_expression" {
            return Err(unclear());
        }
        let part = |field: &str| condition.child_by_field_name(field).ok_or("an incomplete condition");
        let operator = self.text(part("operator")?).to_owned();
        let larger = match operator.as_str() {
            ">" | ">=" => true,
            "<" | "<=" => false,
            _ => return Err(unclear()),
        };
        let left = self.expression(part("left")?, 1)?;
        let right = self.expression(part("right")?, 1)?;
        self.conditions.push(NAN_CONDITION.to_owned());
        if self.alike(yes, left) && self.alike(no, right) {
            return self.binary(if larger { "max" } else { "min" }, left, right);
        }
        if self.alike(yes, right) && self.alike(no, left) {
            return self.binary(if larger { "min" } else { "max" }, left, right);
        }
        // v < 0 ? -v : v, and the other way round.
        let (kept, turned) = if larger { (yes, no) } else { (no, yes) };
        let zero = matches!(&self.values[right].kind, Kind::Scalar { text, .. } if number(text) == Some(0.0));
        let negated = matches!(self.values[turned].kind, Kind::Unary("-", of) if self.alike(of, left));
        if zero && negated && self.alike(kept, left) {
            let element = self.values[left].element;
            return Ok(self.push(Kind::Unary("Abs", left), element));
        }
        Err(unclear())
    }

    /// Whether two values are computed alike.
    fn alike(&self, left: usize, right: usize) -> bool {
        let number_of = |value: usize| match &self.values[value].kind {
            Kind::Scalar { text, .. } => number(text),
            _ => None,
        };
        match (&self.values[left].kind, &self.values[right].kind) {
            (Kind::Scalar { text: a, .. }, Kind::Scalar { text: b, .. }) => {
                a == b || (number_of(left).is_some() && number_of(left) == number_of(right))
            }
            (Kind::Tensor(a), Kind::Tensor(b)) => a == b,
            (Kind::Binary(a, a1, a2), Kind::Binary(b, b1, b2)) => {
                a == b && self.alike(*a1, *b1) && self.alike(*a2, *b2)
            }
            (Kind::Unary(a, a1), Kind::Unary(b, b1)) => a == b && self.alike(*a1, *b1),
            (Kind::Convert(a), Kind::Convert(b)) => {
                self.values[left].element == self.values[right].element && self.alike(*a, *b)
            }
            _ => false,
        }
    }
}

/// Value of a literal.
fn number(text: &str) -> Option<f64> {
    let signed = text.trim();
    let plain = signed.strip_prefix('-').unwrap_or(signed);
    let value = source::constant::literal(plain.trim_start())?.number();
    Some(if plain == signed { value } else { -value })
}

/// The statement of a branch, braces or not.
fn only_statement(node: Node<'_>) -> Option<Node<'_>> {
    if node.kind() != "compound_statement" {
        return Some(node);
    }
    let mut cursor = node.walk();
    let mut inner = node.named_children(&mut cursor).filter(|child| child.kind() != "comment");
    let only = inner.next()?;
    inner.next().is_none().then_some(only)
}
