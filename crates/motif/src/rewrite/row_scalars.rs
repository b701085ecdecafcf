//! A loop over rows that fetches a number of each row from the vector unit and hands it back, taken apart: instructions for all
//! rows, the numbers of all rows beside each other, a block of each number where rows are combined with it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::analysis::code::{block_of, scope, squash, words, written_scope};
use crate::analysis::linear::{bound, grouped};
use crate::analysis::machine::{BLOCK_BYTES, REPEAT_BYTES, REPEAT_MAX};
use crate::analysis::rows::{Operand, RowCall, product};
use crate::rewrite::buffers::{added, free_name};
use crate::rewrite::edits::edit;
use crate::rewrite::round_buffers::{Room, at_init};
use crate::rewrite::row_fission::Fission;
use source::Edit;
use source::facts::api::{Shape, overwrites_first, vector_shape};
use source::facts::{InitBuffer, Origin, base_name};
use source::parse::Call;

/// Numbers that one repeat of `Brcb` spreads.
pub(crate) const SPREAD: i64 = 8;

/// A statement of the loop.
pub(crate) enum Part<'a> {
    /// A vector instruction.
    Vector(&'a Call),
    /// A reduction of a row to its first element: `Max`, `Min` or `Sum`.
    Reduce(&'a Call, &'a str),
    /// Work of the scalar unit.
    Scalar,
    /// Something that is the same in every row and done once for all of them.
    Once,
}

/// What the loop becomes.
pub(crate) struct Taken {
    pub(crate) edits: Vec<Edit>,
    pub(crate) conditions: Vec<String>,
    /// Whether sums are added up in another order.
    pub(crate) rounding: bool,
}

/// The loop while it is taken apart.
pub(crate) struct RowScalars<'a> {
    pub(crate) fission: &'a Fission<'a>,
    pub(crate) parts: Vec<(Range<usize>, Part<'a>)>,
    /// Elements of a row as written.
    pub(crate) width: String,
    pub(crate) lines: Vec<String>,
    pub(crate) conditions: Vec<String>,
    pub(crate) rounding: bool,
    /// New buffers: name, tensor, element type, bytes.
    pub(crate) buffers: Vec<(String, String, String, String)>,
    /// The tensor that holds a variable's numbers, beside each other.
    pub(crate) numbers: BTreeMap<String, String>,
    /// The tensor with a block for each number of a tensor.
    pub(crate) blocks: BTreeMap<String, String>,
    /// Tensors whose first element of each row lies in another one, beside each other.
    pub(crate) reduced: BTreeMap<String, String>,
    /// Tensors whose rows are filled with a variable.
    pub(crate) filled: BTreeMap<String, String>,
    /// Tensors that hold a row's work, and those that get a place for each row.
    pub(crate) defined: BTreeSet<String>,
    pub(crate) widened: BTreeSet<String>,
    pub(crate) pending: Vec<usize>,
    /// Tensors that the loop fills with numbers.
    pub(crate) kept: BTreeSet<String>,
}

impl<'a> RowScalars<'a> {
    /// The loop, if a number of each row goes from the vector unit to the scalar unit or back; `None` where it is another matter.
    pub(crate) fn of(fission: &'a Fission<'a>) -> Option<Self> {
        let file = fission.file;
        let body = file.node_at(&fission.rows.repetition.body).filter(|body| body.kind() == "compound_statement")?;
        let mut cursor = body.walk();
        let spans: Vec<Range<usize>> = body
            .named_children(&mut cursor)
            .filter(|node| node.kind() != "comment")
            .map(|node| node.byte_range())
            .collect();
        let mut parts = Vec::new();
        let mut width = None;
        for span in spans.into_iter().skip(fission.rows.offsets_len()) {
            let call = file.calls().iter().find(|call| call.statement.as_ref() == Some(&span));
            let part = match call {
                Some(call) => Self::part(fission, call)?,
                None => {
                    let kind = file.node_at(&span).map_or("", |node| node.kind());
                    let scalar = matches!(
                        kind,
                        "declaration" | "if_statement" | "expression_statement" | "assignment_expression"
                    );
                    if !scalar {
                        return None;
                    }
                    Part::Scalar
                }
            };
            if let (Part::Vector(call) | Part::Reduce(call, _), None) = (&part, &width) {
                width = call.arguments.last().map(|argument| file.slice(argument).trim().to_owned());
            }
            parts.push((span, part));
        }
        let scalar = parts.iter().any(|(_, part)| matches!(part, Part::Scalar));
        let fetches = |span: &Range<usize>| file.calls_in(span.clone()).any(|call| call.name == "GetValue");
        let fetched = parts.iter().any(|(span, part)| matches!(part, Part::Scalar) && fetches(span));
        (scalar && fetched).then_some(Self {
            fission,
            parts,
            width: width?,
            lines: Vec::new(),
            conditions: Vec::new(),
            rounding: false,
            buffers: Vec::new(),
            numbers: BTreeMap::new(),
            blocks: BTreeMap::new(),
            reduced: BTreeMap::new(),
            filled: BTreeMap::new(),
            defined: BTreeSet::new(),
            widened: BTreeSet::new(),
            pending: Vec::new(),
            kept: BTreeSet::new(),
        })
    }

    fn part(fission: &Fission<'_>, call: &'a Call) -> Option<Part<'a>> {
        let named = |name: &str| fission.tensors.tensors.contains_key(name);
        if let Some(object) = &call.object {
            return (call.name == "SetValue" && named(object)).then_some(Part::Scalar);
        }
        let reduces = call.name.strip_prefix("Reduce").filter(|kind| matches!(*kind, "Max" | "Min" | "Sum"));
        match (call.name.as_str(), reduces) {
            (_, Some(kind)) => (call.arguments.len() == 4).then_some(Part::Reduce(call, kind)),
            ("PipeBarrier" | "SetDeqScale", _) => {
                let same = call.arguments.iter().all(|argument| fission.rows.same(fission.file.slice(argument)));
                same.then_some(Part::Once)
            }
            ("Duplicate" | "Cast" | "Axpy" | "MulAddDst" | "FusedMulAdd", _) => Some(Part::Vector(call)),
            (name, _) => vector_shape(name).map(|_| Part::Vector(call)),
        }
    }

    /// Instructions for all rows in place of the loop.
    pub(crate) fn taken_apart(mut self) -> Result<Taken, String> {
        let rows = self.fission.rows;
        rows.replaceable()?;
        for index in 0..self.parts.len() {
            match self.parts[index].1 {
                Part::Scalar => self.pending.push(index),
                Part::Once => {
                    self.flush(index)?;
                    let text = self.fission.file.slice(&self.parts[index].0).to_owned();
                    self.lines.push(text);
                }
                Part::Vector(call) => {
                    self.flush(index)?;
                    self.vector(call)?;
                }
                Part::Reduce(call, kind) => {
                    self.flush(index)?;
                    self.reduce(index, call, kind)?;
                }
            }
        }
        self.flush(self.parts.len())?;
        if self.blocks.is_empty() && self.reduced.is_empty() {
            return Err("no row is combined with its number".to_owned());
        }
        self.fission.repeats(&mut self.conditions)?;
        self.apart()?;
        let mut edits = self.made_room()?;
        let prefix = scope(self.fission.file);
        let mut lines: Vec<String> = self
            .buffers
            .iter()
            .map(|(buffer, tensor, element, _)| {
                format!("{prefix}LocalTensor<{element}> {tensor} = {buffer}.Get<{element}>();")
            })
            .collect();
        // A repeat of Brcb reads whole blocks: what lies behind the last number is nobody's, but not left to chance.
        if self.fission.context.facts.known.divisor(&rows.rows) % SPREAD != 0 {
            for (numbers, blocks) in self.blocks.iter().filter(|(numbers, _)| self.kept.contains(*numbers)) {
                let element =
                    self.buffers.iter().find(|buffer| buffer.1 == *blocks).map_or("float", |buffer| &buffer.2);
                let count = format!("({} + {}) / {SPREAD} * {SPREAD}", rows.rows, SPREAD - 1);
                lines.push(format!("{prefix}Duplicate({numbers}, static_cast<{element}>(0), {count});"));
            }
        }
        lines.append(&mut self.lines);
        edits.push(edit(self.fission.file, rows.span(), rows.replaced(&lines)));
        self.conditions.sort();
        self.conditions.dedup();
        Ok(Taken { edits, conditions: self.conditions, rounding: self.rounding })
    }

    pub(crate) fn mentioned_from(&self, index: usize, name: &str) -> bool {
        self.parts[index..].iter().any(|(span, _)| words(self.fission.file.slice(span)).contains(&name))
    }

    pub(crate) fn element(&self, tensor: &str) -> String {
        self.fission.tensors.tensors.get(tensor).map_or_else(String::new, |tensor| tensor.element.clone())
    }

    fn bytes(&self, element: &str) -> Result<i64, String> {
        let known = self.fission.context.facts.known.type_bytes(element);
        known.ok_or_else(|| format!("the size of {element} is not known"))
    }

    /// A new buffer for numbers or blocks; its tensor's name.
    pub(crate) fn buffer(&mut self, wanted: &str, element: &str, bytes: &str) -> String {
        let number = self.buffers.len();
        let wanted = if number == 0 { wanted.to_owned() } else { format!("{wanted}{number}") };
        let context = self.fission.context;
        let (buffer, tensor) = (free_name(context, &format!("{wanted}Buf")), free_name(context, &wanted));
        self.buffers.push((buffer, tensor.clone(), element.to_owned(), bytes.to_owned()));
        tensor
    }

    /// Blocks of a variable's numbers.
    fn blocks(&mut self, name: &str) -> Result<String, String> {
        let numbers = self.numbers.get(name).cloned().ok_or_else(|| format!("{name} is not a number of the row"))?;
        if let Some(blocks) = self.blocks.get(&numbers) {
            return Ok(blocks.clone());
        }
        let element = if self.is_new(&numbers) { "float".to_owned() } else { self.element(&numbers) };
        let tensor = self.buffer("rowBlocks", &element, &BLOCK_BYTES.to_string());
        let prefix = scope(self.fission.file);
        let repeats = format!("static_cast<uint8_t>(({} + {}) / {SPREAD})", self.fission.rows.rows, SPREAD - 1);
        self.lines.push(format!("{prefix}Brcb({tensor}, {numbers}, {repeats}, {{1, {SPREAD}}});"));
        self.blocks.insert(numbers, tensor.clone());
        Ok(tensor)
    }

    fn operands(&self, call: &Call, number: usize) -> Result<Vec<Operand>, String> {
        let file = self.fission.file;
        let operands: Vec<Operand> = call.arguments[..number]
            .iter()
            .map(|argument| self.fission.rows.operand(file.slice(argument).trim()))
            .collect::<Result<_, _>>()?;
        match operands.iter().find(|operand| !self.fission.tensors.tensors.contains_key(operand.tensor())) {
            Some(unknown) => Err(format!("{} is not a tensor of the function", unknown.tensor())),
            None => Ok(operands),
        }
    }

    fn vector(&mut self, call: &Call) -> Result<(), String> {
        let file = self.fission.file;
        let argument = |index: usize| file.slice(&call.arguments[index]).trim();
        if squash(argument(call.arguments.len() - 1)) != squash(&self.width) {
            return Err(format!("{} is not made for {} elements", call.name, self.width));
        }
        if call.template_arguments.is_some() {
            return Err(format!("{} has a form of its own", call.name));
        }
        // A row that is filled with its number is a block in what follows.
        if call.name == "Duplicate" && call.arguments.len() == 3 && self.numbers.contains_key(argument(1)) {
            let Operand::Same(tensor) = self.fission.rows.operand(argument(0))? else {
                return Err("rows of a tensor are filled".to_owned());
            };
            self.own(&tensor)?;
            self.reduced.remove(&tensor);
            self.defined.remove(&tensor);
            self.filled.insert(tensor, argument(1).to_owned());
            return Ok(());
        }
        if vector_shape(&call.name) == Some(Shape::Scalar) && call.arguments.len() == 4 {
            let (number, name) = match (call.name.as_str(), argument(2)) {
                ("Adds", text) if text.starts_with('-') => (text[1..].trim(), "Sub"),
                ("Adds", text) => (text, "Add"),
                ("Muls", text) => (text, "Mul"),
                ("Maxs", text) => (text, "Max"),
                ("Mins", text) => (text, "Min"),
                (_, text) => (text, ""),
            };
            if self.numbers.contains_key(number) {
                if name.is_empty() {
                    return Err(format!("{} has no form for a number of each row", call.name));
                }
                let number = number.to_owned();
                let operands = self.operands(call, 2)?;
                let blocks = self.blocks(&number)?;
                return self.with_blocks(call, name, &operands, &blocks, 1);
            }
        }
        let row = RowCall::of(self.fission.rows, call, self.fission.tensors)?;
        let is_filled = |operand: &Operand| matches!(operand, Operand::Same(name) if self.filled.contains_key(name));
        let sources = &row.operands[1..];
        if let Some(at) = sources.iter().position(is_filled) {
            let binary = vector_shape(&call.name) == Some(Shape::Binary)
                && sources.iter().filter(|source| is_filled(source)).count() == 1;
            let number = self.filled.get(sources[at].tensor()).cloned().filter(|_| binary);
            let number = number.ok_or_else(|| format!("{} takes a filled row", call.name))?;
            let operands = vec![row.operands[0].clone(), sources[1 - at].clone()];
            let blocks = self.blocks(&number)?;
            return self.with_blocks(call, &call.name, &operands, &blocks, at);
        }
        row.packed()?;
        for source in sources {
            self.source(source)?;
        }
        let reads_first = !overwrites_first(&call.name);
        if reads_first {
            self.source(&row.operands[0])?;
        }
        self.target(&row.operands[0])?;
        let mut arguments: Vec<String> = row.operands.iter().map(Operand::first).collect();
        arguments.extend(row.middle.iter().map(|text| (*text).to_owned()));
        arguments.push(product(&self.fission.rows.rows, &self.width));
        self.lines.push(format!("{}({});", file.slice(&call.callee), arguments.join(", ")));
        Ok(())
    }

    /// An instruction with a repeat for every row, the blocks of numbers as source number `place`.
    fn with_blocks(
        &mut self,
        call: &Call,
        name: &str,
        operands: &[Operand],
        blocks: &str,
        place: usize,
    ) -> Result<(), String> {
        let element = self.element(operands[0].tensor());
        let bytes = self.bytes(&element)?;
        let of_blocks =
            self.buffers.iter().find(|(_, tensor, ..)| tensor == blocks).map(|(_, _, element, _)| element.clone());
        if operands.iter().any(|operand| self.element(operand.tensor()) != element)
            || of_blocks != Some(element.clone())
        {
            return Err(format!("{name} has operands of several types"));
        }
        self.packed(operands)?;
        self.source(&operands[1])?;
        self.target(&operands[0])?;
        let full = REPEAT_BYTES / bytes;
        let stride = self.fission.stride(&self.width, bytes, &element, &mut self.conditions)?;
        let width = self.known_width().ok();
        let (block_strides, repeat_strides) = if place == 1 {
            ("1, 1, 0", format!("{stride}, {stride}, 1"))
        } else {
            ("1, 0, 1", format!("{stride}, 1, {stride}"))
        };
        let rows = &self.fission.rows.rows;
        let tail = format!("static_cast<uint8_t>({rows}), {{{block_strides}, {repeat_strides}}});");
        let callee = format!("{}{name}", written_scope(self.fission.file, call));
        let listed = |target: String, source: String| {
            if place == 1 { format!("{target}, {source}, {blocks}") } else { format!("{target}, {blocks}, {source}") }
        };
        if width.is_some_and(|width| width <= full) {
            let list = listed(operands[0].first(), operands[1].first());
            self.lines.push(format!("{callee}({list}, {}, {tail}", self.width));
            return Ok(());
        }
        let resolved = self.fission.resolved(&self.width);
        let divisor = self.fission.context.facts.known.divisor(&resolved);
        let mask = if divisor != 0 && divisor % full == 0 {
            full.to_string()
        } else {
            format!("{0} - column < {full} ? {0} - column : {full}", grouped(&self.width))
        };
        let column = |operand: &Operand| match operand {
            Operand::Row(name, at) if !at.start.is_empty() => format!("{name}[{} + column]", at.start),
            operand => format!("{}[column]", operand.tensor()),
        };
        let list = listed(column(&operands[0]), column(&operands[1]));
        let indentation = self.fission.file.indentation(self.fission.rows.span().start);
        self.lines.push(format!(
            "for (uint32_t column = 0; column < {}; column += {full}) {{\n{indentation}    {callee}({list}, {mask}, {tail}\n{indentation}}}",
            bound(&self.width)
        ));
        Ok(())
    }

    fn known_width(&self) -> Result<i64, String> {
        let width = self.fission.resolved(&self.width);
        let known = self.fission.context.facts.known.value(&width).filter(|width| *width > 0);
        known.ok_or_else(|| format!("the width {} is not known", self.width))
    }

    fn packed(&self, operands: &[Operand]) -> Result<(), String> {
        for operand in operands {
            if let Operand::Row(name, at) = operand
                && squash(&at.pitch) != squash(&self.width)
            {
                return Err(format!("rows of {name} are {} apart, not {}", at.pitch, self.width));
            }
        }
        Ok(())
    }

    fn reduce(&mut self, index: usize, call: &Call, kind: &str) -> Result<(), String> {
        let file = self.fission.file;
        let operands = self.operands(call, 3)?;
        let count = file.slice(&call.arguments[3]).trim();
        if squash(count) != squash(&self.width) || call.template_arguments.is_some() {
            return Err(format!("{} is not made for {} elements", call.name, self.width));
        }
        let (target, source) = (&operands[0], &operands[1]);
        let Operand::Same(target_name) = target else { return Err("rows of a tensor take the results".to_owned()) };
        self.packed(std::slice::from_ref(source))?;
        self.source(source)?;
        self.own(target_name)?;
        self.own(operands[2].tensor())?;
        let element = self.element(source.tensor());
        if element != "float" || self.element(target_name) != element {
            return Err(format!("{} of {element}, not of floats", call.name));
        }
        let bytes = self.bytes(&element)?;
        let (full, width) = (REPEAT_BYTES / bytes, self.known_width()?);
        let stride = width.saturating_mul(bytes) / BLOCK_BYTES;
        let whole = (width * bytes) % BLOCK_BYTES == 0 && (width <= full || width % full == 0) && stride <= 255;
        if !whole {
            return Err(format!("rows of {width} elements are neither whole blocks of one repeat nor whole repeats"));
        }
        let rows = &self.fission.rows.rows;
        let prefix = written_scope(file, call);
        if width > full {
            let own = matches!(source, Operand::Same(_));
            if !own || (target_name != source.tensor() && self.mentioned_from(index + 1, source.tensor())) {
                return Err(format!("{} is still needed after it is folded to one repeat", source.tensor()));
            }
            let name = if kind == "Sum" { "Add" } else { kind };
            let tensor = source.tensor();
            let mut from = full;
            while from < width {
                self.lines.push(format!(
                    "{prefix}{name}({tensor}, {tensor}, {tensor}[{from}], {full}, static_cast<uint8_t>({rows}), {{1, 1, 1, {stride}, {stride}, {stride}}});"
                ));
                from += full;
            }
            self.defined.remove(tensor);
        }
        self.rounding |= kind == "Sum";
        let numbers = self.buffer("rowNumbers", "float", "sizeof(float)");
        let order = if kind == "Sum" { String::new() } else { format!(", {prefix}ReduceOrder::ORDER_ONLY_VALUE") };
        self.lines.push(format!(
            "{prefix}WholeReduce{kind}({numbers}, {}, {}, {rows}, 1, 1, {stride}{order});",
            source.first(),
            width.min(full)
        ));
        self.defined.remove(target_name);
        self.filled.remove(target_name);
        self.kept.insert(numbers.clone());
        self.reduced.insert(target_name.clone(), numbers);
        Ok(())
    }

    /// An operand that is read: rows of another tensor, or what this row has put there.
    fn source(&self, operand: &Operand) -> Result<(), String> {
        match operand {
            Operand::Same(name) if !self.defined.contains(name) => {
                Err(format!("{name} is the same in every row or carries something from row to row"))
            }
            _ => Ok(()),
        }
    }

    /// An operand that is overwritten.
    fn target(&mut self, operand: &Operand) -> Result<(), String> {
        if let Operand::Same(name) = operand {
            self.own(name)?;
            self.reduced.remove(name);
            self.filled.remove(name);
            self.defined.insert(name.clone());
            self.widened.insert(name.clone());
        }
        Ok(())
    }

    /// Proves that nobody else sees what a tensor holds.
    fn own(&self, name: &str) -> Result<(), String> {
        let Fission { context, kernel, tensors, rows, .. } = *self.fission;
        let seen = || format!("{name} is used outside of the loop too");
        let Some(Origin::Buffer(buffer)) = tensors.tensors.get(name).map(|tensor| &tensor.origin) else {
            return Err(seen());
        };
        let span = rows.span();
        let here = tensors.uses_of(name).all(|used| span.contains(&used.span.start));
        let taken = kernel
            .calls(&context.forest)
            .filter(|(_, _, call)| call.object.as_deref().map(base_name) == Some(buffer.as_str()));
        if here && taken.count() == 1 { Ok(()) } else { Err(seen()) }
    }

    /// Proves that no row touches another's memory.
    fn apart(&mut self) -> Result<(), String> {
        let file = self.fission.file;
        let mut all: Vec<(bool, Operand)> = Vec::new();
        for (span, part) in &self.parts {
            let (Part::Vector(call) | Part::Reduce(call, _)) = part else {
                let elements = file.calls_in(span.clone()).filter_map(|call| Some((call, call.object.as_deref()?)));
                let local = elements.filter(|(_, object)| self.fission.tensors.tensors.contains_key(*object));
                all.extend(local.map(|(call, object)| (call.name == "SetValue", Operand::Same(object.to_owned()))));
                continue;
            };
            for (position, argument) in call.arguments.iter().enumerate() {
                if let Ok(operand) = self.fission.rows.operand(file.slice(argument).trim())
                    && self.fission.tensors.tensors.contains_key(operand.tensor())
                {
                    all.push((position == 0, operand));
                }
            }
        }
        for (_, target) in all.iter().filter(|(written, _)| *written) {
            for (_, other) in &all {
                let (left, right) = (target.tensor(), other.tensor());
                if left == right && target != other {
                    return Err(format!("{left} is used at different places of the same row"));
                }
                if left != right && !self.fission.tensors.disjoint(left, right) {
                    let (left, right) = if left < right { (left, right) } else { (right, left) };
                    self.conditions.push(format!("{left} and {right} do not overlap"));
                }
            }
        }
        Ok(())
    }

    /// Edits that give temporaries a place for each row and make the new buffers.
    fn made_room(&mut self) -> Result<Vec<Edit>, String> {
        let Fission { context, kernel, tensors, rows, file, function, .. } = *self.fission;
        let init_of = |tensor: &str| -> Option<&InitBuffer> {
            match &tensors.tensors.get(tensor)?.origin {
                Origin::Buffer(name) | Origin::Alloc(name) | Origin::DeQue(name) => kernel.init_of(name),
                _ => None,
            }
        };
        // Names of the function mean nothing, or something else, where buffers are made.
        let own = |word: &str| {
            function.parameters.iter().any(|parameter| parameter.name == word)
                || file.locals().iter().any(|local| local.name == word && function.body.contains(&local.span.start))
        };
        let inner = words(&rows.rows).into_iter().any(own);
        let early = |init: &InitBuffer| match inner {
            true => Err(format!("{} is known to {} only", rows.rows, function.name)),
            false => at_init(context, kernel, init, &rows.rows),
        };
        let mut edits = Vec::new();
        let mut done = BTreeSet::new();
        for name in &self.widened {
            let init = init_of(name).ok_or_else(|| format!("{name} is not initialised at exactly one place"))?;
            let most = self.fission.most_rows().or_else(|_| early(init))?;
            if done.insert(init.target.as_str()) {
                edits.push(Room::of(context, kernel, init)?.widened(context, init, &most)?);
            }
        }
        if !self.buffers.is_empty() {
            // Only behind a buffer that is made on every path.
            let always = |init: &&InitBuffer| {
                let file = context.forest.get(&init.statement.file);
                let function = file.and_then(|file| Some((file, file.enclosing_function(init.statement.start)?)));
                function.is_some_and(|(file, function)| {
                    block_of(file, &init.statement.span()).as_ref() == Some(&function.body)
                })
            };
            let own = tensors.tensors.keys().filter_map(|tensor| init_of(tensor)).filter(always);
            let near = own.max_by_key(|init| init.statement.start).or_else(|| kernel.init_buffers.iter().rfind(always));
            let near = near.ok_or("no buffer of the class is made on every path")?;
            let most = self.fission.most_rows().or_else(|_| early(near));
            // Instructions take no more rows than that.
            let most = most.unwrap_or_else(|_| REPEAT_MAX.to_string());
            let size = |bytes: &str| format!("({most} + {}) / {SPREAD} * {SPREAD} * {bytes}", SPREAD - 1);
            let buffers: Vec<(String, String)> =
                self.buffers.iter().map(|(name, _, _, bytes)| (name.clone(), size(bytes))).collect();
            edits.extend(added(context, kernel, near, &buffers, &[])?);
            self.conditions.push("the buffers fit the unified buffer".to_owned());
        }
        Ok(edits)
    }
}
