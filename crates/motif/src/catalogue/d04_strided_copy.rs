//! D04: a loop of copies of one row each becomes one copy with a stride.

use crate::analysis::code::{functions, scope, squash};
use crate::analysis::copies::{braced, fields_of, without_size};
use crate::analysis::linear::bound;
use crate::analysis::machine::BLOCK_BYTES;
use crate::analysis::rows::{Operand, RowLoop, factors, product, row_loops};
use crate::rewrite::edits::edit;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::{Kernel, KnownValues, TensorFacts, base_name};
use source::parse::{Call, SyntaxFile};

/// Blocks of one copy: the field is 12 bits wide.
const COUNT_MAX: i64 = 4095;

/// The motif.
pub struct StridedCopy;

const METADATA: Metadata = Metadata {
    id: Id::D04,
    title: "loop of copies to one strided copy",
    family: Family::DataMovement,
    precondition: "a loop from 0 in steps of 1 around one copy between global and local memory, in count form or in the Pad form with one block and no padding; \
     both sides at start + row * pitch; at most 4095 rows; the local pitch is whole blocks",
    left_to_verifier: "number of rows, pitch and row length, where they are not known",
    relieves: &[Counter::Mte2Us, Counter::Mte3Us, Counter::ScalarUs],
    prior_gain: 1.3,
    cost: "nothing",
    tunables: "none",
    undoing: "a copy for each row",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for StridedCopy {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let known = &context.facts.known;
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            for rows in row_loops(file, function) {
                let Ok(rows) = rows else { continue };
                let [call] = rows.calls[..] else { continue };
                if !matches!(call.name.as_str(), "DataCopy" | "DataCopyPad") || call.object.is_some() {
                    continue;
                }
                let judged = Row::of(&rows, call, kernel, &tensors).and_then(|row| row.strided(known, &rows));
                let conditions = judged.as_ref().map(|(_, conditions)| conditions.clone()).unwrap_or_default();
                let note = format!("one copy of {} rows", rows.rows);
                let mut candidate = Candidate::new(file, &rows.span(), note, judged.map(|(edits, _)| edits));
                candidate.site.conditions = conditions;
                found.push(candidate);
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            for call in file.calls_in(function.body.clone()) {
                let Some(statement) = &call.statement else { continue };
                let Some(text) = row_by_row(file, call, kernel, &tensors) else { continue };
                let edits = Ok(vec![edit(file, statement.clone(), text)]);
                found.push(Candidate::new(file, statement, "a copy for each row", edits));
            }
        }
        found
    }
}

/// The copy of one row.
struct Row<'a> {
    call: &'a Call,
    element: String,
    loads: bool,
    local: Operand,
    global: Operand,
    /// Elements.
    width: String,
    /// Whether the Pad form stands there, which allows rows of any length.
    pads: bool,
}

/// Element type of a global operand.
fn global_element<'a>(kernel: &'a Kernel, text: &str) -> Option<&'a str> {
    kernel.globals.get(base_name(text)).map(|(element, _)| element.as_str())
}

impl<'a> Row<'a> {
    fn of(rows: &RowLoop<'a>, call: &'a Call, kernel: &Kernel, tensors: &TensorFacts) -> Result<Self, String> {
        let argument = |index: usize| rows.file.argument(call, index).unwrap_or_default();
        let element = (global_element(kernel, argument(0)), global_element(kernel, argument(1)));
        let (element, loads) = match element {
            (Some(element), None) => (element.to_owned(), false),
            (None, Some(element)) => (element.to_owned(), true),
            _ => return Err("the copy is not between a global tensor of the class and a local one".to_owned()),
        };
        let (local, global) = if loads { (0, 1) } else { (1, 0) };
        let (local, global) = (rows.operand(argument(local))?, rows.operand(argument(global))?);
        if tensors.tensors.get(local.tensor()).is_none_or(|tensor| tensor.element != element) {
            return Err(format!("{} is not a local tensor of {element}", local.tensor()));
        }
        let pads = call.name == "DataCopyPad";
        let width = if pads {
            if call.arguments.len() != if loads { 4 } else { 3 } || call.template_arguments.is_some() {
                return Err("not the form with copy parameters".to_owned());
            }
            let fields = fields_of(rows.file, call, 2)?;
            let field = |index: usize| fields.get(index).map(|text| squash(text)).unwrap_or_else(|| "0".to_owned());
            if field(0) != "1" || field(2) != "0" || field(3) != "0" {
                return Err("the copy has several blocks or gaps".to_owned());
            }
            if loads
                && fields_of(rows.file, call, 3)?
                    .first()
                    .is_none_or(|first| !matches!(squash(first).as_str(), "false" | "0"))
            {
                return Err("the copy pads".to_owned());
            }
            let length = fields.get(1).ok_or("the length is not set")?;
            without_size(length, &element)
                .ok_or_else(|| format!("the length {length} is not count * sizeof({element})"))?
        } else {
            if call.arguments.len() != 3 || call.template_arguments.is_some() || braced(argument(2)).is_some() {
                return Err("not the form with an element count".to_owned());
            }
            if argument(2).to_ascii_lowercase().contains("param") {
                return Err("not the form with an element count".to_owned());
            }
            argument(2).trim().to_owned()
        };
        if !rows.same(&width) {
            return Err(format!("the length {width} may differ from row to row"));
        }
        Ok(Self { call, element, loads, local, global, width, pads })
    }

    fn strided(&self, known: &KnownValues, rows: &RowLoop<'_>) -> Result<(Vec<Edit>, Vec<String>), String> {
        rows.replaceable()?;
        let (Operand::Row(local, at), Operand::Row(_, from)) = (&self.local, &self.global) else {
            return Err("one side of the copy is the same in every row".to_owned());
        };
        let mut conditions = Vec::new();
        match known.value(&rows.rows) {
            Some(count) if !(1..=COUNT_MAX).contains(&count) => {
                return Err(format!("{count} rows are not 1 to {COUNT_MAX} blocks of a copy"));
            }
            Some(_) => {}
            None => conditions.push(format!("{} is 1 to {COUNT_MAX}", rows.rows)),
        }
        let bytes = known.type_bytes(&self.element).unwrap_or(1);
        // Rows lie close together in local memory, or there is room behind each.
        let close = squash(&at.pitch) == squash(&self.width);
        let divisor = known.divisor(&at.pitch).saturating_mul(bytes);
        // Without the Pad form the row is a whole number of blocks already.
        if (self.pads || !close) && (divisor == 0 || divisor % BLOCK_BYTES != 0) {
            if known.value(&at.pitch).is_some() && known.type_bytes(&self.element).is_some() {
                return Err(format!("rows of {} elements are not whole blocks of {BLOCK_BYTES} bytes", at.pitch));
            }
            conditions.push(format!("{} elements are a multiple of 32 bytes", at.pitch));
        }
        if !close {
            match (known.value(&at.pitch), known.value(&self.width)) {
                (Some(pitch), Some(width)) if pitch < width => return Err(format!("rows of {local} overlap")),
                (Some(_), Some(_)) => {}
                _ => conditions.push(format!("{} is at least {}", at.pitch, self.width)),
            }
        }
        let callee = rows.file.slice(&self.call.callee);
        let operands = if self.loads {
            format!("{}, {}", self.local.first(), self.global.first())
        } else {
            format!("{}, {}", self.global.first(), self.local.first())
        };
        let dense = squash(&from.pitch) == squash(&self.width);
        if dense && close && !self.pads {
            let text = format!("{callee}({operands}, {});", product(&rows.rows, &self.width));
            return Ok((vec![edit(rows.file, rows.span(), text)], conditions));
        }
        if !dense {
            match (known.value(&from.pitch), known.value(&self.width)) {
                (Some(pitch), Some(width)) if pitch < width => return Err("rows overlap in global memory".to_owned()),
                (Some(_), Some(_)) => {}
                _ => conditions.push(format!("{} is at least {}", from.pitch, self.width)),
            }
        }
        let (prefix, element) = (scope(rows.file), &self.element);
        let length = product(&self.width, &format!("sizeof({element})"))
            .replace(&format!("(sizeof({element}))"), &format!("sizeof({element})"));
        let gap = if dense {
            "0".to_owned()
        } else {
            format!("static_cast<uint32_t>(({} - {}) * sizeof({element}))", from.pitch, self.width)
        };
        let room = if close {
            "0".to_owned()
        } else {
            format!("static_cast<uint32_t>(({} - {}) * sizeof({element}) / {BLOCK_BYTES})", at.pitch, self.width)
        };
        let gaps = if self.loads { format!("{gap}, {room}") } else { format!("{room}, {gap}") };
        let padding = if self.loads {
            format!(", {prefix}DataCopyPadExtParams<{element}>{{false, 0, 0, 0}}")
        } else {
            String::new()
        };
        let name = if self.pads { callee.to_owned() } else { format!("{callee}Pad") };
        let text = format!(
            "{name}({operands}, {prefix}DataCopyExtParams{{static_cast<uint16_t>({}), static_cast<uint32_t>({length}), {gaps}, 0}}{padding});",
            rows.rows
        );
        Ok((vec![edit(rows.file, rows.span(), text)], conditions))
    }
}

/// The loop for a copy of a product of names, or of a strided copy as this motif writes it; `None` for anything else.
fn row_by_row(file: &SyntaxFile, call: &Call, kernel: &Kernel, tensors: &TensorFacts) -> Option<String> {
    let argument = |index: usize| file.argument(call, index).unwrap_or_default().trim();
    let (left, right) = (argument(0), argument(1));
    let (element, loads) = match (global_element(kernel, left), global_element(kernel, right)) {
        (Some(element), None) => (element, false),
        (None, Some(element)) => (element, true),
        _ => return None,
    };
    let (local, global) = if loads { (left, right) } else { (right, left) };
    if !tensors.tensors.contains_key(local) || call.object.is_some() || call.template_arguments.is_some() {
        return None;
    }
    let (rows, width, pitch, room) = match call.name.as_str() {
        "DataCopy" if call.arguments.len() == 3 => {
            let (rows, width) = factors(argument(2))?;
            (rows.to_owned(), width.to_owned(), width.to_owned(), width.to_owned())
        }
        "DataCopyPad" if call.arguments.len() == if loads { 4 } else { 3 } => {
            let fields = braced(argument(2))?;
            let rows = cast_of(fields.first()?, "uint16_t")?;
            let width = without_size(fields.get(1)?, element)?;
            let (gap, none) = if loads { (fields.get(2)?, fields.get(3)?) } else { (fields.get(3)?, fields.get(2)?) };
            let pitch_of = |gap: &str| {
                let distance = without_size(gap, element)?;
                let (pitch, less) = distance.strip_prefix('(')?.strip_suffix(')')?.split_once(" - ")?;
                (squash(less) == squash(&width)).then(|| pitch.to_owned())
            };
            let room = if none == "0" {
                width.clone()
            } else {
                pitch_of(&none.replacen(&format!(" / {BLOCK_BYTES})"), ")", 1))?
            };
            let pitch = if gap == "0" && none != "0" { width.clone() } else { pitch_of(gap)? };
            (rows.to_owned(), width, pitch, room)
        }
        _ => return None,
    };
    let at = match global.split_once('[') {
        Some((name, index)) => format!("{name}[{} + row * {pitch}]", index.strip_suffix(']')?),
        None => format!("{global}[row * {pitch}]"),
    };
    let pads = squash(&room) != squash(&width);
    let local = format!("{local}[row * {room}]");
    let operands = if loads { format!("{local}, {at}") } else { format!("{at}, {local}") };
    let callee = file.slice(&call.callee);
    let indentation = file.indentation(call.span.start);
    let copy = if pads {
        // Nothing says that the row is whole blocks: it stays with the form that does not need it.
        let (prefix, tail) = (scope(file), if loads { format!(", {}", argument(3)) } else { String::new() });
        let length = product(&width, &format!("sizeof({element})"))
            .replace(&format!("(sizeof({element}))"), &format!("sizeof({element})"));
        format!("{callee}({operands}, {prefix}DataCopyExtParams{{1, static_cast<uint32_t>({length}), 0, 0, 0}}{tail})")
    } else {
        format!("{}({operands}, {width})", callee.strip_suffix("Pad").unwrap_or(callee))
    };
    let rows = bound(&rows);
    Some(format!("for (uint32_t row = 0; row < {rows}; row++) {{\n{indentation}    {copy};\n{indentation}}}"))
}

fn cast_of<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.strip_prefix("static_cast<")?.strip_prefix(name)?.strip_prefix(">(")?.strip_suffix(')')
}
