//! Loops over rows: `for (i = 0; i < n; i++)` around calls whose operands step by a constant pitch.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::analysis::code::{block_of, is_name, squash, words};
use crate::analysis::flow::changes::changes_name;
use crate::analysis::flow::effects::invariant;
use crate::analysis::linear::{Linear, linear};
use crate::analysis::loops::counted;
use crate::analysis::round_names::BETWEEN;
use source::facts::api::{Shape, vector_shape};
use source::facts::{KnownValues, TensorFacts};
use source::parse::{Call, Function, Loop, SyntaxFile};

/// A loop over rows whose body consists of calls.
pub(crate) struct RowLoop<'a> {
    pub(crate) file: &'a SyntaxFile,
    pub(crate) repetition: &'a Loop,
    pub(crate) counter: String,
    /// Number of rows as written.
    pub(crate) rows: String,
    /// The calls in order.
    pub(crate) calls: Vec<&'a Call>,
    /// Offsets that the body declares before the calls.
    offsets: Vec<(&'a str, &'a str)>,
}

/// `start + row * pitch`, as text; the start is empty where it is 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stepped {
    pub(crate) start: String,
    pub(crate) pitch: String,
}

/// An operand of a call in a loop over rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    /// `t`, the same in every row.
    Same(String),
    /// `t[start + row * pitch]`.
    Row(String, Stepped),
}

impl Operand {
    /// Name of the tensor.
    pub(crate) fn tensor(&self) -> &str {
        match self {
            Operand::Same(name) | Operand::Row(name, _) => name,
        }
    }

    /// The operand in the first row.
    pub(crate) fn first(&self) -> String {
        match self {
            Operand::Row(name, stepped) if !stepped.start.is_empty() => format!("{name}[{}]", stepped.start),
            _ => self.tensor().to_owned(),
        }
    }
}

impl<'a> RowLoop<'a> {
    /// The loop as one over rows, if its body holds nothing but calls that are statements of their own.
    pub(crate) fn of(file: &'a SyntaxFile, repetition: &'a Loop) -> Option<Result<Self, String>> {
        let (counter, rows) = counted(file, repetition).ok()?;
        let body = file.node_at(&repetition.body)?;
        let mut cursor = body.walk();
        let statements: Vec<Range<usize>> = if body.kind() == "compound_statement" {
            body.named_children(&mut cursor)
                .filter(|node| node.kind() != "comment")
                .map(|node| node.byte_range())
                .collect()
        } else {
            vec![repetition.body.clone()]
        };
        let offsets: Vec<(&str, &str)> = statements.iter().map_while(|span| offset(file, repetition, span)).collect();
        // Parameters of a copy that are made up anew in every row: whoever replaces the copy reads their fields.
        let parameters = |statement: &&Range<usize>| {
            let local = file.locals().iter().find(|local| local.span == **statement && local.alone);
            local.is_some_and(|local| local.type_text.contains("DataCopy") && local.type_text.contains("Params"))
        };
        let calls: Option<Vec<&Call>> = statements
            .iter()
            .skip(offsets.len())
            .skip_while(parameters)
            .map(|statement| file.calls().iter().find(|call| call.statement.as_ref() == Some(statement)))
            .collect();
        let calls = calls.filter(|calls| !calls.is_empty())?;
        if !invariant(&rows, file, &repetition.span) {
            return Some(Err(format!("the number of rows {rows} may change in the loop")));
        }
        Some(Ok(Self { file, repetition, counter, rows, calls, offsets }))
    }

    /// The loop whatever its body holds, without calls; `None` where it does not count rows.
    pub(crate) fn around(file: &'a SyntaxFile, repetition: &'a Loop) -> Option<Self> {
        let (counter, rows) = counted(file, repetition).ok()?;
        let body = file.node_at(&repetition.body).filter(|body| body.kind() == "compound_statement")?;
        let mut cursor = body.walk();
        let statements = body.named_children(&mut cursor).filter(|node| node.kind() != "comment");
        let offsets = statements.map_while(|node| offset(file, repetition, &node.byte_range())).collect();
        let fixed = invariant(&rows, file, &repetition.span);
        fixed.then_some(Self { file, repetition, counter, rows, calls: Vec::new(), offsets })
    }

    /// How many statements at the beginning of the body declare offsets.
    pub(crate) fn offsets_len(&self) -> usize {
        self.offsets.len()
    }

    /// Whether an expression is the same in every row.
    pub(crate) fn same(&self, expression: &str) -> bool {
        let named = words(expression);
        !named.contains(&self.counter.as_str())
            && self.offsets.iter().all(|(name, _)| !named.contains(name))
            && invariant(expression, self.file, &self.repetition.span)
    }

    /// An operand taken apart.
    pub(crate) fn operand(&self, text: &str) -> Result<Operand, String> {
        let text = text.trim();
        let Some((name, index)) = text.split_once('[') else {
            return if is_name(text) {
                Ok(Operand::Same(text.to_owned()))
            } else {
                Err(format!("{text} is not a tensor"))
            };
        };
        let index = index.strip_suffix(']').ok_or_else(|| format!("{text} is not one index of a tensor"))?;
        if !is_name(name.trim()) {
            return Err(format!("{text} is not one index of a tensor"));
        }
        let stepped = self.stepped(index).ok_or_else(|| format!("{index} is not start + {} * pitch", self.counter))?;
        Ok(Operand::Row(name.trim().to_owned(), stepped))
    }

    /// `start + counter * pitch` and what is equal to it by distribution.
    pub(crate) fn stepped(&self, index: &str) -> Option<Stepped> {
        self.distributed(index).or_else(|| self.grown(index))
    }

    /// The same for any nesting of sums, products and casts.
    fn grown(&self, index: &str) -> Option<Stepped> {
        let mut names = BTreeMap::from([(self.counter.clone(), Linear::new("", "1"))]);
        for (name, value) in &self.offsets {
            let grows = linear(value, &names)?;
            names.insert((*name).to_owned(), grows);
        }
        let Linear { start, step } = linear(index, &names)?;
        (!step.is_empty() && self.same(&start) && self.same(&step)).then_some(Stepped { start, pitch: step })
    }

    fn distributed(&self, index: &str) -> Option<Stepped> {
        let (mut start, mut pitch) = (Vec::new(), None);
        let mut terms = split(index, '+')?;
        // Twice: an offset may rest on another one.
        for _ in 0..2 {
            let mut spelled = Vec::new();
            for term in terms {
                match self.offsets.iter().find(|(name, _)| *name == term.trim()) {
                    Some((_, value)) => spelled.extend(split(value, '+')?),
                    None => spelled.push(term),
                }
            }
            terms = spelled;
        }
        for term in terms {
            let counted = words(term).iter().filter(|word| **word == self.counter).count();
            if counted == 0 {
                start.push(term.trim().to_owned());
                continue;
            }
            if counted > 1 || pitch.is_some() {
                return None;
            }
            let factors = split(term, '*')?;
            let (with, without): (Vec<&str>, Vec<&str>) = factors
                .iter()
                .map(|factor| factor.trim())
                .partition(|factor| words(factor).contains(&self.counter.as_str()));
            let step = if without.is_empty() { "1".to_owned() } else { without.join(" * ") };
            // A cast keeps products of large numbers exact: it stays with what is left of its operand.
            let (cast, with) = cast_of(with.first()?);
            if with != self.counter && with.strip_prefix('(')?.strip_suffix(')')?.trim() != self.counter {
                let inner = with.strip_prefix('(')?.strip_suffix(')')?;
                let parts = split(inner, '+')?;
                let rest: Vec<&str> =
                    parts.iter().map(|part| part.trim()).filter(|part| *part != self.counter).collect();
                if rest.len() + 1 != parts.len() || rest.is_empty() {
                    return None;
                }
                let rest = rest.join(" + ");
                let rest = if is_name(&rest) && cast.is_empty() { rest } else { format!("{cast}({rest})") };
                start.push(if without.is_empty() { rest } else { format!("{rest} * {step}") });
            }
            pitch = Some(step);
        }
        let pitch = pitch?;
        let start = start.join(" + ");
        (self.same(&start) && self.same(&pitch)).then_some(Stepped { start, pitch })
    }

    /// Edit span of the loop: whole, so that what replaces it starts where it starts.
    pub(crate) fn span(&self) -> Range<usize> {
        self.repetition.span.clone()
    }

    /// Lines in place of the loop.
    pub(crate) fn replaced(&self, lines: &[String]) -> String {
        lines.join(&format!("\n{}", self.file.indentation(self.repetition.span.start)))
    }

    /// Whether the loop ends with a barrier that keeps its rows apart.
    pub(crate) fn ends_between_rows(&self) -> bool {
        let text = self.file.slice(&self.repetition.body);
        text.trim_end_matches('}').trim_end().ends_with(BETWEEN.trim())
    }

    /// Why the loop can't be replaced by several statements, if so.
    pub(crate) fn replaceable(&self) -> Result<(), String> {
        let text = self.file.slice(&self.repetition.span);
        if text.lines().any(|line| line.trim_start().starts_with('#')) {
            return Err("a directive stands in the loop".to_owned());
        }
        let text = text.replace(BETWEEN, "");
        if text.contains("//") || text.contains("/*") {
            return Err("a comment would be lost with the loop".to_owned());
        }
        block_of(self.file, &self.repetition.span)
            .map(|_| ())
            .ok_or_else(|| "the loop is the only statement of an if or a loop".to_owned())
    }
}

/// An offset that a statement of the body declares and nothing changes, with its value.
fn offset<'a>(file: &'a SyntaxFile, repetition: &Loop, statement: &Range<usize>) -> Option<(&'a str, &'a str)> {
    let local = file.locals().iter().find(|local| local.span == *statement && local.alone)?;
    let value = local.value.as_ref()?;
    let changed = changes_name(file, &(statement.end..repetition.span.end), &local.name);
    (is_integer(&local.type_text) && !changed).then(|| (local.name.as_str(), file.slice(value).trim()))
}

/// Parts at the top level of one operator; `None` where another operator than `+` and `*` stands there.
fn split(text: &str, operator: char) -> Option<Vec<&str>> {
    let (mut depth, mut from, mut parts) = (0i32, 0, Vec::new());
    let mut before = ' ';
    let mut cast = false;
    for (at, character) in text.char_indices() {
        let arrow = std::mem::replace(&mut before, character) == '-' && character == '>';
        match character {
            '<' if text[..at].ends_with("static_cast") => cast = true,
            '>' if cast => cast = false,
            _ if cast => {}
            '-' if text[at..].starts_with("->") => {}
            _ if arrow => {}
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ if depth > 0 => {}
            '-' | '/' | '%' | '<' | '>' | '?' | '&' | '|' | '^' | '~' | '!' | '=' | ',' => return None,
            _ if character == operator => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    (depth == 0 && parts.iter().all(|part| !part.trim().is_empty())).then_some(parts)
}

/// A cast before a factor, with its angle brackets, and the factor.
fn cast_of(factor: &str) -> (&str, &str) {
    let end = factor.strip_prefix("static_cast<").and_then(|rest| rest.find('>')).map(|end| "static_cast<".len() + end);
    end.map_or(("", factor), |end| (&factor[..=end], factor[end + 1..].trim()))
}

/// `a * b`, factors in parentheses where they are not names.
pub(crate) fn product(left: &str, right: &str) -> String {
    let part = |text: &str| if is_name(text) { text.to_owned() } else { format!("({text})") };
    format!("{} * {}", part(left), part(right))
}

/// The two factors of a product of names.
pub(crate) fn factors(text: &str) -> Option<(&str, &str)> {
    let (left, right) = text.split_once('*')?;
    let (left, right) = (left.trim(), right.trim());
    (is_name(left) && is_name(right)).then_some((left, right))
}

/// A vector call in count form inside a loop over rows.
pub(crate) struct RowCall<'a> {
    pub(crate) call: &'a Call,
    /// Destination, then sources.
    pub(crate) operands: Vec<Operand>,
    /// Arguments between the sources and the count.
    pub(crate) middle: Vec<&'a str>,
    /// Elements of a row as written.
    pub(crate) width: &'a str,
}

impl<'a> RowCall<'a> {
    /// Takes a call apart; only operands that are tensors of the function.
    pub(crate) fn of(rows: &RowLoop<'a>, call: &'a Call, tensors: &TensorFacts) -> Result<Self, String> {
        let unclear = || format!("{} is not a vector instruction with a count", call.name);
        if call.object.is_some() || call.template_arguments.is_some() || !matches!(call.scope.as_str(), "" | "AscendC")
        {
            return Err(unclear());
        }
        let (operands, middle) = match (call.name.as_str(), vector_shape(&call.name)) {
            ("Duplicate", _) => (1, 1),
            ("Cast", _) | ("Axpy", _) => (2, 1),
            ("MulAddDst" | "FusedMulAdd", _) | (_, Some(Shape::Binary)) => (3, 0),
            (_, Some(Shape::Unary)) => (2, 0),
            (_, Some(Shape::Scalar)) => (2, 1),
            _ => return Err(unclear()),
        };
        if call.arguments.len() != operands + middle + 1 {
            return Err(unclear());
        }
        let argument = |index: usize| rows.file.slice(&call.arguments[index]).trim();
        let operands: Vec<Operand> =
            (0..operands).map(|index| rows.operand(argument(index))).collect::<Result<_, _>>()?;
        if let Some(unknown) = operands.iter().find(|operand| !tensors.tensors.contains_key(operand.tensor())) {
            return Err(format!("{} is not a tensor of the function", unknown.tensor()));
        }
        let middle: Vec<&str> = (operands.len()..operands.len() + middle).map(argument).collect();
        let width = argument(call.arguments.len() - 1);
        if let Some(changing) = middle.iter().chain([&width]).find(|text| !(rows.same(text) || is_mode(text))) {
            return Err(format!("{changing} may differ from row to row"));
        }
        Ok(Self { call, operands, middle, width })
    }

    /// Proves that every operand that steps does so by one row.
    pub(crate) fn packed(&self) -> Result<(), String> {
        for operand in &self.operands {
            if let Operand::Row(name, stepped) = operand
                && squash(&stepped.pitch) != squash(self.width)
            {
                return Err(format!("rows of {name} are {} apart, not {}", stepped.pitch, self.width));
            }
        }
        Ok(())
    }
}

/// A type that an offset may have.
fn is_integer(type_text: &str) -> bool {
    type_text.split(' ').all(|word| {
        matches!(
            word,
            "const" | "auto" | "int" | "unsigned" | "size_t" | "int32_t" | "uint32_t" | "int64_t" | "uint64_t"
        )
    })
}

/// A rounding mode, which is a name with a scope.
fn is_mode(text: &str) -> bool {
    text.contains("RoundMode::")
}

/// Conditions under which calls of a loop may be done one after the other for all rows: no row touches another's memory.
pub(crate) fn apart(tensors: &TensorFacts, calls: &[RowCall<'_>]) -> Result<Vec<String>, String> {
    let mut conditions = Vec::new();
    let operands: Vec<&Operand> = calls.iter().flat_map(|call| &call.operands).collect();
    let written: Vec<&Operand> = calls.iter().filter_map(|call| call.operands.first()).collect();
    for target in &written {
        for operand in &operands {
            let (left, right) = (target.tensor(), operand.tensor());
            if left == right && target != operand {
                return Err(format!("{left} is used at different places of the same row"));
            }
            if left != right && !tensors.disjoint(left, right) {
                let (left, right) = if left < right { (left, right) } else { (right, left) };
                let condition = format!("{left} and {right} do not overlap");
                if !conditions.contains(&condition) {
                    conditions.push(condition);
                }
            }
        }
    }
    Ok(conditions)
}

/// Loops over rows in a function.
pub(crate) fn row_loops<'a>(file: &'a SyntaxFile, function: &Function) -> Vec<Result<RowLoop<'a>, String>> {
    let body = function.body.clone();
    let inside = file.loops().iter().filter(|repetition| body.contains(&repetition.span.start));
    inside.filter_map(|repetition| RowLoop::of(file, repetition)).collect()
}

/// The loop with its calls, where all of them are vector calls.
pub(crate) fn vector_rows<'a>(
    rows: Result<RowLoop<'a>, String>,
    tensors: &TensorFacts,
) -> Option<(Vec<RowCall<'a>>, RowLoop<'a>)> {
    let rows = rows.ok()?;
    let calls: Result<Vec<RowCall<'a>>, String> =
        rows.calls.iter().map(|call| RowCall::of(&rows, call, tensors)).collect();
    Some((calls.ok()?, rows))
}

/// Whether an expression is known to be positive.
pub(crate) fn at_least_one(known: &KnownValues, expression: &str) -> bool {
    known.value(expression).is_some_and(|value| value >= 1)
}
