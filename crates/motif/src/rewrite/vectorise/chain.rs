//! Emits the vector calls of a chain: one call per operation, intermediates in the destination while it is free, else in temporaries.

use std::collections::{BTreeMap, BTreeSet};

use crate::rewrite::vectorise::{Chain, Element, Kind, Reader, Value};

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

pub(crate) fn emit(reader: &Reader<'_>, count: &str, prefix: &str, scratch_free: bool) -> Result<Chain, String> {
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
