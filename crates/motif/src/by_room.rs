//! As many buffers and rows a round as there is room for.
//!
//! Two buffers (D01), several rows a round (D07) and gaps between buffers (V17) are right for the rows of the cases. Where a row is as long as
//! the operator had room for once, they are too much. The sizes of buffers are known before they are made, so the kernel can ask: where
//! all do not fit there are fewer rows, and then as many buffers as before and no gaps.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::analysis::code::{block_of, words};
use crate::analysis::machine::BLOCK_BYTES;
use crate::analysis::round_names::ROWS;
use crate::context::Context;
use crate::context::unified_buffer::UNIFIED_BUFFER_BYTES;
use crate::rewrite::buffers::{GAP, number_of_buffers};
use crate::rewrite::edits::{edit, insert_after};
use source::facts::{InitBuffer, Kernel};
use source::lex::{PieceKind, pieces};
use source::parse::{Function, SyntaxFile};
use source::{Edit, Patch};

/// What the step is called beside the ids of motifs.
pub const BY_ROOM: &str = "by-room";
/// Names that are written into the sources.
const HAS_ROOM: &str = "hasRoom";
const TAKEN_BYTES: &str = "takenBytes";
const MEMBER: &str = "rowsOfRound";

/// The patch after which kernels choose numbers of buffers and of rows by the room that there is. `before` is the operator as it was, whose
/// numbers of buffers are those where there is none. `None` where nothing has more of either than it had, or where what buffers
/// take is not known before the first of them is made.
pub fn by_room(before: &Context, now: &Context) -> Option<Patch> {
    let mut edits = Vec::new();
    for kernel in now.facts.kernels.values() {
        let Some(was) = before.facts.kernels.get(&kernel.name) else { continue };
        edits.extend(Room::of(now, kernel, (before, was)).and_then(|room| room.edits()).unwrap_or_default());
    }
    let title = "as many buffers and rows a round as there is room for".to_owned();
    (!edits.is_empty()).then(|| Patch { title, motif: BY_ROOM.to_owned(), edits })
}

/// Numbers of buffers by queue, as far as they are known.
fn numbers(context: &Context, kernel: &Kernel) -> BTreeMap<String, i64> {
    let number =
        |init: &InitBuffer| Some((init.target.clone(), number_of_buffers(context, number_text(context, init)?)?));
    kernel.init_buffers.iter().filter_map(number).collect()
}

fn number_text<'a>(context: &'a Context, init: &InitBuffer) -> Option<&'a str> {
    context.text_of(init.number.as_ref()?)
}

fn words_of_sizes(kernel: &Kernel) -> Vec<&str> {
    kernel.init_buffers.iter().flat_map(|init| words(&init.size)).collect()
}

/// A class whose buffers are made in a row, by one function.
struct Room<'a> {
    context: &'a Context,
    kernel: &'a Kernel,
    file: &'a SyntaxFile,
    function: &'a Function,
    /// Queues that have more buffers than before, with the number that they had.
    more: BTreeMap<&'a str, i64>,
    /// Constants that are numbers of rows, of which sizes are multiples.
    rows: Vec<&'a str>,
    /// Gaps that the operator did not have.
    gaps: Vec<&'a InitBuffer>,
}

impl<'a> Room<'a> {
    fn of(context: &'a Context, kernel: &'a Kernel, (before, was): (&Context, &Kernel)) -> Option<Self> {
        let numbers_before = numbers(before, was);
        let first = kernel.init_buffers.first()?;
        let file = context.forest.get(&first.statement.file)?;
        let function = file.enclosing_function(first.statement.start)?;
        let sizes = words_of_sizes(kernel);
        let more = kernel.init_buffers.iter().filter_map(|init| {
            let number = number_text(context, init)?;
            let (was, now) = (*numbers_before.get(&init.target)?, number_of_buffers(context, number)?);
            // What a size is a multiple of as well takes its bytes whatever the queue has.
            let is_of_sizes = words(number).iter().any(|word| sizes.contains(word));
            (now > was && !is_of_sizes).then_some((init.target.as_str(), was))
        });
        let mut rows: Vec<&str> = sizes.iter().copied().filter(|word| word.starts_with(ROWS)).collect();
        rows.sort_unstable();
        rows.dedup();
        let had = |init: &InitBuffer| was.init_buffers.iter().any(|before| before.target == init.target);
        let gaps = kernel.init_buffers.iter().filter(|init| init.target.starts_with(GAP) && !had(init)).collect();
        let room = Room { context, kernel, file, function, more: more.collect(), rows, gaps };
        let is_asked = !room.more.is_empty() || !room.rows.is_empty() || !room.gaps.is_empty();
        (is_asked && room.is_known_before()).then_some(room)
    }

    /// Whether all buffers are made by this function, one after the other, and nothing that their sizes are computed from changes from the
    /// first of them on.
    fn is_known_before(&self) -> bool {
        let (file, body) = (self.file, &self.function.body);
        let inits = &self.kernel.init_buffers;
        let (Some(first), Some(last)) = (inits.first(), inits.last()) else { return false };
        let in_order = inits.windows(2).all(|pair| pair[0].statement.start < pair[1].statement.start);
        let here = inits.iter().all(|init| init.statement.file == file.name() && body.contains(&init.statement.start));
        let straight = block_of(file, &first.statement.span()).is_some_and(|block| block.start == body.start)
            && !file
                .loops()
                .iter()
                .any(|repetition| inits.iter().any(|init| repetition.span.contains(&init.statement.start)));
        let between = first.statement.start..last.statement.end;
        let of_init = |at: usize| inits.iter().any(|init| init.statement.span().contains(&at));
        let only_inits = file.calls_in(between).all(|call| of_init(call.span.start));
        in_order && here && straight && only_inits && !self.sizes_change(first.statement.start..body.end)
    }

    fn sizes_change(&self, span: Range<usize>) -> bool {
        let (file, text) = (self.file, self.file.slice(&span));
        let of_sizes = words_of_sizes(self.kernel);
        let is_of_sizes = |name: &str| of_sizes.contains(&name);
        file.locals().iter().any(|local| is_of_sizes(&local.name) && span.contains(&local.span.start))
            || pieces(text).iter().any(|token| {
                let rest = text[token.span.end..].trim_start();
                let assigned = rest.starts_with('=') && !rest.starts_with("==");
                let changed = ["+=", "-=", "*=", "/=", "<<=", ">>=", "++", "--"].iter().any(|by| rest.starts_with(by));
                token.kind == PieceKind::Word && is_of_sizes(&text[token.span.clone()]) && (assigned || changed)
            })
    }

    /// All edits; `None` where a name is taken, or a number of rows stands where only a constant may.
    fn edits(&self) -> Option<Vec<Edit>> {
        let file = self.file;
        let taken = words(file.text());
        if [HAS_ROOM, TAKEN_BYTES, MEMBER].iter().any(|name| taken.contains(name)) {
            return None;
        }
        let constant = match self.rows[..] {
            [] => None,
            [constant] => Some(constant),
            _ => return None,
        };
        let mut edits = Vec::new();
        if let Some(constant) = constant {
            edits.extend(self.through_member(constant)?);
        }
        for init in &self.kernel.init_buffers {
            if let (Some(was), Some(number)) = (self.more.get(init.target.as_str()), &init.number) {
                let text = format!("{HAS_ROOM} ? {} : {was}", file.slice(&number.span()));
                edits.push(edit(file, number.span(), text));
            }
        }
        for gap in &self.gaps {
            let span = gap.statement.span();
            edits.push(edit(file, span.start..span.start, format!("if ({HAS_ROOM}) {{ ")));
            edits.push(edit(file, span.end..span.end, " }"));
        }
        edits.push(self.question(constant)?);
        Some(edits)
    }

    /// The lines before the first buffer.
    fn question(&self, constant: Option<&str>) -> Option<Edit> {
        let first = self.kernel.init_buffers.first()?;
        let before = &self.file.text()[..first.statement.start];
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        if !before[start..].trim().is_empty() {
            return None;
        }
        let indentation = self.file.indentation(first.statement.start);
        let terms = self.kernel.init_buffers.iter().map(|init| {
            let size = constant.map_or(init.size.clone(), |constant| renamed(&init.size, constant));
            let number = number_text(self.context, init).map_or(String::new(), |number| format!("{number} * "));
            format!("{number}(static_cast<uint64_t>({size}) + {BLOCK_BYTES})")
        });
        let sum = terms.collect::<Vec<_>>().join(&format!("\n{indentation}    + "));
        let mut lines = Vec::new();
        if let Some(constant) = constant {
            lines.push(format!("// As many rows a round as there is room for in {UNIFIED_BUFFER_BYTES} bytes."));
            lines.push(format!("this->{MEMBER} = {constant};"));
            lines.push(format!("uint64_t {TAKEN_BYTES} = {sum};"));
            lines.push(format!("while ({TAKEN_BYTES} > {UNIFIED_BUFFER_BYTES} && this->{MEMBER} > 1) {{"));
            lines.push(format!("    this->{MEMBER} /= 2;"));
            lines.push(format!("    {TAKEN_BYTES} = {sum};"));
            lines.push("}".to_owned());
        } else {
            lines.push(format!("// More of it where there is room for that in {UNIFIED_BUFFER_BYTES} bytes."));
            lines.push(format!("const uint64_t {TAKEN_BYTES} = {sum};"));
        }
        if !self.more.is_empty() || !self.gaps.is_empty() {
            lines.push(format!("const bool {HAS_ROOM} = {TAKEN_BYTES} <= {UNIFIED_BUFFER_BYTES};"));
        }
        let text: String = lines.iter().map(|line| format!("{indentation}{line}\n")).collect();
        Some(edit(self.file, start..start, text))
    }

    /// A member in place of the constant, in all functions of the class.
    fn through_member(&self, constant: &str) -> Option<Vec<Edit>> {
        let file = self.file;
        let class = file.classes().iter().find(|class| class.name == self.kernel.name)?;
        let beside = self
            .kernel
            .queues
            .values()
            .map(|queue| &queue.declaration)
            .find(|declaration| declaration.file == file.name() && class.span.contains(&declaration.start))?;
        let mut edits = vec![insert_after(file, &beside.span(), &[format!("uint32_t {MEMBER};")])?];
        let of_class = |function: &&Function| function.class.as_deref().is_some_and(|class| class == self.kernel.name);
        for function in file.functions().iter().filter(of_class) {
            for token in pieces(file.slice(&function.body)) {
                let span = function.body.start + token.span.start..function.body.start + token.span.end;
                if token.kind != PieceKind::Word || file.slice(&span) != constant {
                    continue;
                }
                // An argument of a template, or the length of an array. What compares stands between blanks.
                if file.text()[..span.start].ends_with(['<', '[']) || file.text()[span.end..].starts_with('>') {
                    return None;
                }
                edits.push(edit(file, span, format!("this->{MEMBER}")));
            }
        }
        // Beside its definition it is used by functions of the class, and by nobody else.
        let mentions = words(file.text()).into_iter().filter(|word| *word == constant).count();
        (mentions == edits.len()).then_some(edits)
    }
}

/// The text with the member in place of the constant.
fn renamed(text: &str, constant: &str) -> String {
    let mut renamed = String::new();
    let mut done = 0;
    for token in pieces(text).into_iter().filter(|token| token.kind == PieceKind::Word) {
        if &text[token.span.clone()] == constant {
            renamed += &text[done..token.span.start];
            renamed += &format!("this->{MEMBER}");
            done = token.span.end;
        }
    }
    renamed + &text[done..]
}
