//! V23: a transposition of 16-bit elements by scalars, or by a table of offsets, is done in blocks by the instruction for it.

use std::ops::Range;

use crate::analysis::code::{Surroundings, block_of, functions, scope, words};
use crate::rewrite::buffers::{added, free_name, removed};
use crate::rewrite::edits::edit;
use crate::rewrite::template::{Found, fill, find};
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::{Origin, base_name};
use source::parse::SyntaxFile;

/// The motif.
pub struct BlockTranspose;

/// Element by element: `$x` has rows of `$p` elements, `$y` of `$q`.
const SCALAR: &str = "for (uint32_t $$i = 0; $$i < $r; $$i++) {
    for (uint32_t $$j = 0; $$j < $c; $$j++) {
        $$y.SetValue($$j * $q + $$i, $$x.GetValue($$i * $p + $$j));
    }
}";
/// A square tile by a table of the offsets in bytes.
const GATHER: &str = "Gather($$y, $$x, $$o, 0, $n * $n);";
/// The table.
const TABLE: &str = "for (uint32_t $$i = 0; $$i < $n; $$i++) {
    for (uint32_t $$j = 0; $$j < $n; $$j++) {
        $$o.SetValue($$i * $n + $$j, static_cast<uint32_t>(($$j * $n + $$i) * sizeof($e)));
    }
}";
/// Sixteen rows at a time; each repeat takes 16 columns more and makes 16 rows more.
const BLOCKS: &str = "@TransDataTo5HDParams blocks;
blocks.repeatTimes = static_cast<uint8_t>(($c + 15) / 16);
blocks.srcRepStride = $c > 16 ? 1 : 0;
blocks.dstRepStride = $c > 16 ? static_cast<uint16_t>($q) : 0;
for (uint32_t row = 0; row < $r; row += 16) {
    @LocalTensor<$e> from[16];
    @LocalTensor<$e> to[16];
    for (uint32_t i = 0; i < 16; i++) {
        from[i] = $$x[(row + i) * $p];
        to[i] = $$y[i * $q + row];
    }
    @TransDataTo5HD<$e>(to, from, blocks);
}";

const METADATA: Metadata = Metadata {
    id: Id::V23,
    title: "transposition by blocks of 16 x 16",
    family: Family::Vector,
    precondition: "elements of 16 bits; two nested loops of SetValue and GetValue at swapped places, or a Gather of a square tile by a table that the class fills \
     with the offsets of its transposition; the table goes if nothing else uses it",
    left_to_verifier: "rows lie a multiple of 16 elements apart, with room for whole blocks; at most 255 blocks in a row",
    relieves: &[Counter::VecUs, Counter::ScalarUs],
    prior_gain: 1.5,
    cost: "nothing; without the table its bytes become free",
    tunables: "the table's bytes become free for larger tiles; closes tiles that are not whole blocks",
    undoing: "a table of offsets and Gather for a square tile, scalar loops for others",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for BlockTranspose {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            let around = Surroundings { context, file, function, kernel, tensors: &tensors };
            for place in find(file, &function.body, &SCALAR.replace("uint32_t", "$$t")) {
                let (rows, columns) = (place.hole("r"), place.hole("c"));
                let edits = around.blocks(&place, rows, columns, place.hole("p"), place.hole("q"));
                let candidate = Candidate::new(file, &place.span, "transpose by blocks", edits);
                found.push(conditions(candidate, place.hole("p"), place.hole("q"), columns));
            }
            for place in find(file, &function.body, GATHER) {
                let size = place.hole("n");
                let Some(table) = around.table(&place) else { continue };
                let edits = table.and_then(|gone| Ok([around.blocks(&place, size, size, size, size)?, gone].concat()));
                let candidate = Candidate::new(file, &place.span, "transpose the tile by blocks", edits);
                found.push(conditions(candidate, size, size, size));
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            let around = Surroundings { context, file, function, kernel, tensors: &tensors };
            for place in find(file, &function.body, BLOCKS) {
                let hole = |name: &'static str| (name, place.hole(name));
                let square = ["c", "p", "q"].iter().all(|name| place.hole(name) == place.hole("r"));
                let scalar = fill(
                    SCALAR,
                    &[("i", "i"), ("j", "j"), hole("r"), hole("c"), hole("q"), hole("p"), hole("x"), hole("y")],
                    scope(file),
                    file.indentation(place.span.start),
                );
                let edits = uncommented(&place).map(|()| vec![edit(file, place.span.clone(), scalar)]);
                found.push(Candidate::new(file, &place.span, "transpose by scalars", edits));
                if square {
                    let edits = uncommented(&place).and_then(|()| around.tabled(&place));
                    found.push(Candidate::new(file, &place.span, "transpose by a table of offsets", edits));
                }
            }
        }
        found
    }
}

fn conditions(candidate: Candidate, source: &str, target: &str, columns: &str) -> Candidate {
    let candidate = candidate.on_condition(format!("{source} is a multiple of 16"));
    let candidate =
        if source == target { candidate } else { candidate.on_condition(format!("{target} is a multiple of 16")) };
    candidate.on_condition(format!("{columns} is at most 4080"))
}

/// Whether a place can be replaced as a whole by several statements.
fn untouched(file: &SyntaxFile, place: &Found) -> Result<(), String> {
    uncommented(place)?;
    block_of(file, &place.span)
        .map(|_| ())
        .ok_or_else(|| "the loop is the only statement of an if or a loop".to_owned())
}

fn uncommented(place: &Found) -> Result<(), String> {
    if place.commented { Err("a comment or a directive would be lost".to_owned()) } else { Ok(()) }
}

impl Surroundings<'_> {
    fn blocks(
        &self,
        place: &Found,
        rows: &str,
        columns: &str,
        source: &str,
        target: &str,
    ) -> Result<Vec<Edit>, String> {
        untouched(self.file, place)?;
        let element = |name: &str| self.tensors.tensors.get(place.hole(name)).map(|tensor| tensor.element.as_str());
        let (Some(from), Some(to)) = (element("x"), element("y")) else {
            return Err("not between local tensors of the function".to_owned());
        };
        if from != to || !matches!(from, "half" | "int16_t" | "uint16_t") {
            return Err(format!("{from} to {to}: blocks are of half, int16_t or uint16_t"));
        }
        if !self.tensors.disjoint(place.hole("x"), place.hole("y")) {
            return Err(format!("{} and {} may share memory", place.hole("x"), place.hole("y")));
        }
        let body = self.file.slice(&self.function.body);
        if let Some(taken) = ["blocks", "from", "to", "row"].into_iter().find(|name| {
            let own = |word: &&str| word == name;
            words(body).iter().any(own)
        }) {
            return Err(format!("the name {taken} is taken in the function"));
        }
        let holes = [
            ("e", from),
            ("x", place.hole("x")),
            ("y", place.hole("y")),
            ("r", rows),
            ("c", columns),
            ("p", source),
            ("q", target),
        ];
        let text = fill(BLOCKS, &holes, scope(self.file), self.file.indentation(place.span.start));
        Ok(vec![edit(self.file, place.span.clone(), text)])
    }

    /// Edits that take the table of offsets away; `None` if what is gathered by is not the table of a transposition.
    fn table(&self, place: &Found) -> Option<Result<Vec<Edit>, String>> {
        let known = self.tensors.tensors.get(place.hole("o"))?;
        let Origin::Buffer(buffer) = &known.origin else { return None };
        let size = place.hole("n");
        let gets: Vec<_> = self
            .kernel
            .calls(&self.context.forest)
            .filter(|(_, _, call)| call.name == "Get" && call.object.as_deref().map(base_name) == Some(buffer.as_str()))
            .collect();
        let mut filled = None;
        for (file, index) in &self.kernel.functions {
            let file = self.context.forest.get(file)?;
            for table in find(file, &file.functions().get(*index)?.body, &TABLE.replace("uint32_t $$", "$$t $$")) {
                let of_buffer = source::facts::TensorFacts::of(file, file.functions().get(*index)?)
                    .tensors
                    .get(table.hole("o"))
                    .is_some_and(|tensor| matches!(&tensor.origin, Origin::Buffer(of) if of == buffer));
                if of_buffer && table.hole("n") == size {
                    filled = Some((file, table));
                }
            }
        }
        let (file, table) = filled?;
        if table.hole("e") != self.tensors.tensors.get(place.hole("x"))?.element {
            return None;
        }
        Some(self.without_table(buffer, &gets, file, &table, place))
    }

    fn without_table(
        &self,
        buffer: &str,
        gets: &[(&SyntaxFile, usize, &source::parse::Call)],
        file: &SyntaxFile,
        table: &Found,
        place: &Found,
    ) -> Result<Vec<Edit>, String> {
        let mut edits = removed(self.context, self.kernel, buffer, gets.len())?;
        for (get_file, _, get) in gets {
            let local = get_file
                .locals()
                .iter()
                .find(|local| local.value.as_ref() == Some(&get.span) && local.alone)
                .ok_or_else(|| format!("{buffer} is handed out in an expression"))?;
            let function = get_file.enclosing_function(get.span.start).ok_or("a tensor outside of functions")?;
            // Its declaration, and the table or the Gather.
            let gone: &Range<usize> = if get_file.name() == file.name() && function.body.contains(&table.span.start) {
                &table.span
            } else {
                &place.span
            };
            let mentions = |span: &Range<usize>| {
                words(get_file.slice(span)).into_iter().filter(|word| *word == local.name).count()
            };
            if mentions(&function.body) != 1 + mentions(gone) {
                return Err(format!("{} is used for more than this", local.name));
            }
            edits.push(edit(get_file, get_file.removal_span(&local.span), ""));
        }
        edits.push(edit(file, file.removal_span(&table.span), ""));
        Ok(edits)
    }

    fn tabled(&self, place: &Found) -> Result<Vec<Edit>, String> {
        let size = place.hole("r");
        let target = self.tensors.tensors.get(place.hole("y")).map(|tensor| &tensor.origin);
        let (Some(Origin::Alloc(queue) | Origin::Buffer(queue)), Some(element)) =
            (target, self.tensors.tensors.get(place.hole("y")).map(|tensor| tensor.element.as_str()))
        else {
            return Err("the size of the result is not known".to_owned());
        };
        let init = self.kernel.init_of(queue).ok_or("the result's buffer is not initialised at exactly one place")?;
        let local = |word: &&str| self.file.locals().iter().any(|local| local.name == *word && local.span.start > 0);
        let parameter = |word: &&str| self.function.parameters.iter().any(|parameter| parameter.name == *word);
        if let Some(word) = words(size)
            .into_iter()
            .find(|word| (local(word) && self.context.facts.definitions(word).next().is_none()) || parameter(word))
        {
            return Err(format!("{word} is not known where the buffers are made"));
        }
        let prefix = scope(self.file);
        let (buffer, offsets) = (free_name(self.context, "offsetBuf"), "offsets");
        let get = format!("{prefix}LocalTensor<uint32_t> {offsets} = {buffer}.Get<uint32_t>();");
        let mut lines = vec![get.clone()];
        let table = fill(TABLE, &[("i", "i"), ("j", "j"), ("n", size), ("o", offsets), ("e", element)], "", "");
        lines.extend(table.lines().map(str::to_owned));
        let bytes = format!("{size} * {size} * sizeof(uint32_t)");
        let mut edits = added(self.context, self.kernel, init, &[(buffer, bytes)], &lines)?;
        let gather = fill(
            &format!("{get}\n{prefix}Gather($$y, $$x, {offsets}, 0, $n * $n);"),
            &[("y", place.hole("y")), ("x", place.hole("x")), ("n", size)],
            prefix,
            self.file.indentation(place.span.start),
        );
        edits.push(edit(self.file, place.span.clone(), gather));
        Ok(edits)
    }
}
