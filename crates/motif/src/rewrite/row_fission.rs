//! A loop over rows taken apart: each of its calls for all rows, with a repeat for every row.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::code::{squash, words};
use crate::analysis::flow::changes::changes_name;
use crate::analysis::linear::{bound, grouped};
use crate::analysis::machine::{BLOCK_BYTES, REPEAT_BYTES, REPEAT_MAX};
use crate::analysis::round_names::{COUNT, ROWS};
use crate::analysis::rows::{Operand, RowCall, RowLoop, Stepped};
use crate::context::Context;
use crate::rewrite::edits::edit;
use crate::rewrite::round_buffers::Room;
use crate::rewrite::template::with_word;
use source::Edit;
use source::facts::api::{Shape, overwrites_first, vector_shape};
use source::facts::{InitBuffer, Kernel, KnownValues, Origin, TensorFacts, base_name};
use source::parse::{Call, Function, SyntaxFile};

/// A loop over rows with its place in the kernel.
pub(crate) struct Fission<'a> {
    pub(crate) context: &'a Context,
    pub(crate) kernel: &'a Kernel,
    pub(crate) file: &'a SyntaxFile,
    pub(crate) function: &'a Function,
    pub(crate) tensors: &'a TensorFacts,
    pub(crate) rows: &'a RowLoop<'a>,
}

/// A tensor that every row overwrites before it reads it, and that nobody else uses: it gets a place for each row.
struct Private<'a> {
    init: &'a InitBuffer,
    room: Room,
    pitch: String,
}

/// Edits and what the verifier has to check.
type Edits = (Vec<Edit>, Vec<String>);

impl<'a> Fission<'a> {
    /// The vector calls of the loop, where there is nothing else in it but barriers.
    pub(crate) fn calls(&self) -> Option<Vec<RowCall<'a>>> {
        let vector = self.rows.calls.iter().filter(|call| !is_barrier(call));
        vector.map(|call| RowCall::of(self.rows, call, self.tensors).ok()).collect::<Option<Vec<_>>>()
    }

    /// The calls for all rows in place of the loop.
    pub(crate) fn taken_apart(&self, calls: &[RowCall<'_>]) -> Result<Edits, String> {
        let rows = self.rows;
        rows.replaceable()?;
        let mut conditions: Vec<String> = Vec::new();
        let private = self.private(calls)?;
        let mut edits = Vec::new();
        if !private.is_empty() {
            let most = self.most_rows()?;
            conditions.push("the buffers fit the unified buffer".to_owned());
            let mut done = BTreeSet::new();
            for place in private.values() {
                if done.insert(place.init.target.as_str()) {
                    edits.push(place.room.widened(self.context, place.init, &most)?);
                }
            }
        }
        self.rows_apart(calls, &mut conditions)?;
        self.repeats(&mut conditions)?;
        let mut lines = Vec::new();
        let mut vector = calls.iter();
        for call in &rows.calls {
            if is_barrier(call) {
                lines.push(call.statement.clone().map(|span| self.file.slice(&span).to_owned()).unwrap_or_default());
            } else if let Some(call) = vector.next() {
                lines.push(self.line(call, &private, &mut conditions)?);
            }
        }
        // The barrier before the next row orders nothing any more.
        if lines.last().is_some_and(|line| line.contains("PipeBarrier")) && rows.ends_between_rows() {
            lines.pop();
        }
        edits.push(edit(self.file, rows.span(), rows.replaced(&lines)));
        conditions.sort();
        conditions.dedup();
        Ok((edits, conditions))
    }

    /// Tensors that are the same in every row and written in it.
    fn private(&self, calls: &[RowCall<'_>]) -> Result<BTreeMap<String, Private<'a>>, String> {
        let mut private = BTreeMap::new();
        for call in calls {
            let Operand::Same(name) = &call.operands[0] else { continue };
            if private.contains_key(name) {
                continue;
            }
            let carried = || format!("{name} may carry something from row to row");
            let Some(Origin::Buffer(buffer)) = self.tensors.tensors.get(name).map(|tensor| &tensor.origin) else {
                return Err(carried());
            };
            let users: Vec<&RowCall<'_>> =
                calls.iter().filter(|user| user.operands.iter().any(|operand| operand.tensor() == name)).collect();
            let whole = users
                .iter()
                .flat_map(|user| &user.operands)
                .all(|operand| operand.tensor() != name || matches!(operand, Operand::Same(_)));
            let first = users[0];
            let fills = overwrites_first(&first.call.name)
                && first.operands[0].tensor() == name
                && first.operands[1..].iter().all(|operand| operand.tensor() != name)
                && users.iter().all(|user| squash(user.width) == squash(first.width));
            let span = self.rows.span();
            let here = self.tensors.uses_of(name).all(|used| span.contains(&used.span.start));
            let taken = self
                .kernel
                .calls(&self.context.forest)
                .filter(|(_, _, call)| call.object.as_deref().map(base_name) == Some(buffer.as_str()))
                .count();
            if !whole || !fills || !here || taken != 1 {
                return Err(carried());
            }
            let init = self.kernel.init_of(buffer).ok_or_else(carried)?;
            let room = Room::of(self.context, self.kernel, init)?;
            let pitch = room.pitch(&self.tensors.tensors[name].element);
            private.insert(name.clone(), Private { init, room, pitch });
        }
        Ok(private)
    }

    /// How many rows there are at most, as the initialisation can write it.
    pub(crate) fn most_rows(&self) -> Result<String, String> {
        let rows = &self.rows.rows;
        if rows.bytes().all(|byte| byte.is_ascii_digit()) || self.context.facts.definitions(rows).next().is_some() {
            return Ok(rows.clone());
        }
        let classes = self.context.forest.iter().flat_map(|file| file.classes());
        let mut constants = classes
            .filter(|class| class.name == self.kernel.name)
            .flat_map(|class| &class.members)
            .filter(|member| member.name.starts_with(ROWS));
        match (constants.next(), constants.next()) {
            (Some(constant), None) if rows == COUNT => Ok(constant.name.clone()),
            _ => Err(format!("how large {rows} may be is not known")),
        }
    }

    /// Proves that no row touches another's memory.
    fn rows_apart(&self, calls: &[RowCall<'_>], conditions: &mut Vec<String>) -> Result<(), String> {
        let written: BTreeSet<&str> = calls.iter().map(|call| call.operands[0].tensor()).collect();
        for call in calls {
            for operand in &call.operands {
                let name = operand.tensor();
                for target in written.iter().filter(|target| **target != name) {
                    if !self.tensors.disjoint(target, name) {
                        conditions.push(format!("{target} and {name} do not overlap"));
                    }
                }
                let Operand::Row(_, at) = operand else { continue };
                if !written.contains(name) {
                    continue;
                }
                let others = calls.iter().flat_map(|call| &call.operands);
                for other in others.filter(|other| other.tensor() == name) {
                    match other {
                        Operand::Row(_, other) if squash(&other.pitch) == squash(&at.pitch) => {}
                        _ => return Err(format!("rows of {name} are not always {} apart", at.pitch)),
                    }
                }
                self.inside(at, call.width, conditions)?;
            }
        }
        Ok(())
    }

    /// Proves that what a row touches is less than a pitch.
    fn inside(&self, at: &Stepped, width: &str, conditions: &mut Vec<String>) -> Result<(), String> {
        let end = if at.start.is_empty() { width.to_owned() } else { format!("{} + {width}", at.start) };
        if squash(&end) == squash(&at.pitch) {
            return Ok(());
        }
        let (left, right) = (self.resolved(&end), self.resolved(&at.pitch));
        match always_at_most(&self.context.facts.known, &left, &right) {
            Some(true) => {}
            Some(false) => return Err(format!("{end} is more than {}: rows overlap", at.pitch)),
            None => conditions.push(format!("{end} is at most {}", at.pitch)),
        }
        Ok(())
    }

    pub(crate) fn repeats(&self, conditions: &mut Vec<String>) -> Result<(), String> {
        let rows = &self.rows.rows;
        match self.context.facts.known.value(rows) {
            Some(count) if !(1..=REPEAT_MAX).contains(&count) => {
                Err(format!("{count} rows are not 1 to {REPEAT_MAX} repeats"))
            }
            Some(_) => Ok(()),
            // As many as a constant says at most, and one at least.
            None if rows == COUNT => Ok(()),
            None => {
                conditions.push(format!("{rows} is 1 to {REPEAT_MAX}"));
                Ok(())
            }
        }
    }

    fn line(
        &self,
        call: &RowCall<'_>,
        private: &BTreeMap<String, Private<'_>>,
        conditions: &mut Vec<String>,
    ) -> Result<String, String> {
        let known = &self.context.facts.known;
        let (sources, fields) = match vector_shape(&call.call.name) {
            Some(Shape::Binary) => (2, 3),
            Some(Shape::Unary | Shape::Scalar) => (1, 2),
            None => return Err(format!("{} is not taken apart", call.call.name)),
        };
        let element =
            |operand: &Operand| self.tensors.tensors.get(operand.tensor()).map_or("", |tensor| tensor.element.as_str());
        let of = element(&call.operands[0]);
        let bytes = known.type_bytes(of).ok_or_else(|| format!("the size of {of} is not known"))?;
        if call.operands.len() != sources + 1 || call.operands.iter().any(|operand| element(operand) != of) {
            return Err(format!("{} has operands of several types", call.call.name));
        }
        let mut strides = vec!["1".to_owned(); fields];
        for operand in &call.operands {
            let pitch = match (operand, private.get(operand.tensor())) {
                (Operand::Same(_), Some(place)) => place.pitch.clone(),
                (Operand::Same(_), None) => "0".to_owned(),
                (Operand::Row(_, at), _) => at.pitch.clone(),
            };
            strides.push(self.stride(&pitch, bytes, of, conditions)?);
        }
        let rows = &self.rows.rows;
        let repeats = if rows.bytes().all(|byte| byte.is_ascii_digit()) {
            rows.clone()
        } else {
            format!("static_cast<uint8_t>({rows})")
        };
        let callee = self.file.slice(&call.call.callee);
        let middle: String = call.middle.iter().map(|text| format!("{text}, ")).collect();
        let tail = format!("{repeats}, {{{}}});", strides.join(", "));
        let (full, width) = (REPEAT_BYTES / bytes, self.resolved(call.width));
        let most = known.most(&width);
        if most.is_none_or(|most| most <= full) {
            if most.is_none() {
                conditions.push(format!("{} is at most {full}", call.width));
            }
            let operands: Vec<String> = call.operands.iter().map(Operand::first).collect();
            return Ok(format!("{callee}({}, {middle}{}, {tail}", operands.join(", "), call.width));
        }
        let divisor = known.divisor(&width);
        if divisor == 0 || divisor % full != 0 {
            return Err(format!("rows of {} elements are neither at most {full} nor multiples of it", call.width));
        }
        let operands: Vec<String> = call
            .operands
            .iter()
            .map(|operand| match operand {
                Operand::Row(name, at) if !at.start.is_empty() => format!("{name}[{} + column]", at.start),
                operand => format!("{}[column]", operand.tensor()),
            })
            .collect();
        let indentation = self.file.indentation(self.rows.span().start);
        Ok(format!(
            "for (uint32_t column = 0; column < {}; column += {full}) {{\n{indentation}    {callee}({}, {middle}{full}, {tail}\n{indentation}}}",
            bound(call.width),
            operands.join(", ")
        ))
    }

    /// Blocks from row to row.
    pub(crate) fn stride(
        &self,
        pitch: &str,
        bytes: i64,
        element: &str,
        conditions: &mut Vec<String>,
    ) -> Result<String, String> {
        let known = &self.context.facts.known;
        let resolved = self.resolved(pitch);
        if let Some(elements) = known.value(&resolved) {
            let row = elements.saturating_mul(bytes);
            if row % BLOCK_BYTES != 0 || row / BLOCK_BYTES > REPEAT_MAX {
                return Err(format!("rows of {row} bytes are not up to {REPEAT_MAX} blocks of {BLOCK_BYTES}"));
            }
            return Ok((row / BLOCK_BYTES).to_string());
        }
        let divisor = known.divisor(&resolved).saturating_mul(bytes);
        if divisor == 0 || divisor % BLOCK_BYTES != 0 {
            conditions.push(format!("{pitch} elements are a multiple of {BLOCK_BYTES} bytes"));
        }
        let most = REPEAT_MAX * BLOCK_BYTES / bytes;
        match known.most(&resolved) {
            Some(elements) if elements > most => return Err(format!("rows of {pitch} are more than {most} elements")),
            Some(_) => {}
            None => conditions.push(format!("{pitch} is at most {most}")),
        }
        Ok(format!("static_cast<uint8_t>({} * sizeof({element}) / {BLOCK_BYTES})", grouped(pitch)))
    }

    /// The expression with the values of the function's constants in place of their names.
    pub(crate) fn resolved(&self, expression: &str) -> String {
        let mut text = expression.to_owned();
        for local in self.file.locals().iter().rev() {
            let own = self.function.body.contains(&local.span.start) && local.alone;
            let Some(value) = local.value.as_ref().filter(|_| own && words(&text).contains(&local.name.as_str()))
            else {
                continue;
            };
            let body = &self.function.body;
            let changed = changes_name(self.file, &(local.span.end..body.end), &local.name);
            if !changed && local.span.end <= self.rows.span().start {
                text = with_word(&text, &local.name, &format!("({})", self.file.slice(value)));
            }
        }
        text
    }
}

/// The loop for a call with a repeat for every row, as it is written here; `None` where the call is something else.
pub(crate) fn row_by_row(file: &SyntaxFile, call: &Call, tensors: &TensorFacts, known: &KnownValues) -> Option<String> {
    let (operands, middle, fields) = match vector_shape(&call.name)? {
        Shape::Binary => (3, 0, 3),
        Shape::Unary => (2, 0, 2),
        Shape::Scalar => (2, 1, 2),
    };
    if call.arguments.len() != operands + middle + 3 || call.template_arguments.is_some() || call.object.is_some() {
        return None;
    }
    let argument = |index: usize| file.slice(&call.arguments[index]).trim();
    let (width, repeats) = (argument(operands + middle), argument(operands + middle + 1));
    let strides: Vec<&str> =
        argument(operands + middle + 2).strip_prefix('{')?.strip_suffix('}')?.split(',').map(str::trim).collect();
    if strides.len() != fields + operands || strides[..fields].iter().any(|stride| *stride != "1") {
        return None;
    }
    let element = &tensors.tensors.get(base_name(argument(0)))?.element;
    let bytes = known.type_bytes(element)?;
    let mut stepped = Vec::new();
    for (index, stride) in strides[fields..].iter().enumerate() {
        let operand = argument(index);
        let (name, start) = match operand.split_once('[') {
            Some((name, start)) => (name, format!("{} + ", start.strip_suffix(']')?)),
            None => (operand, String::new()),
        };
        if !tensors.tensors.contains_key(name) || start.contains('[') {
            return None;
        }
        let pitch = match (cast(stride), stride.parse::<i64>()) {
            (_, Ok(0)) if index > 0 => {
                stepped.push(operand.to_owned());
                continue;
            }
            (_, Ok(blocks)) if blocks > 0 => (blocks * BLOCK_BYTES / bytes).to_string(),
            (Some(inner), _) => inner.strip_suffix(&format!(" * sizeof({element}) / {BLOCK_BYTES}"))?.to_owned(),
            _ => return None,
        };
        stepped.push(format!("{name}[{start}row * {pitch}]"));
    }
    stepped.extend((operands..operands + middle).map(|index| argument(index).to_owned()));
    let indentation = file.indentation(call.span.start);
    Some(format!(
        "for (uint32_t row = 0; row < {}; row++) {{\n{indentation}    {}({}, {width});\n{indentation}}}",
        bound(cast(repeats).unwrap_or(repeats)),
        file.slice(&call.callee),
        stepped.join(", ")
    ))
}

fn cast(text: &str) -> Option<&str> {
    text.strip_prefix("static_cast<uint8_t>(")?.strip_suffix(')')
}

fn is_barrier(call: &Call) -> bool {
    call.name == "PipeBarrier" && call.object.is_none()
}

/// Whether one expression is at most another for all known values; `None` where they are not known.
fn always_at_most(known: &KnownValues, left: &str, right: &str) -> Option<bool> {
    let several: BTreeSet<&str> = words(left)
        .into_iter()
        .chain(words(right))
        .filter(|word| known.values.get(*word).is_some_and(|values| values.len() > 1))
        .collect();
    let holds = |known: &KnownValues| Some(known.value(left)? <= known.value(right)?);
    let mut several = several.into_iter();
    match (several.next(), several.next()) {
        (None, _) => holds(known),
        (Some(name), None) => {
            let mut all = true;
            for value in &known.values[name] {
                let mut one = known.clone();
                one.values.insert(name.to_owned(), BTreeSet::from([*value]));
                all &= holds(&one)?;
            }
            Some(all)
        }
        _ => None,
    }
}
