//! The statements of a kernel's computation: what is in scope, what holds values, and what may come in between.

use super::super::draw::Draw;
use super::super::launch::Element;

/// Tensors of buffers that every computation has besides its input `x` and its result `y`.
const SCRATCH: [&str; 3] = ["a", "b", "c"];

/// A computation that is being written.
pub(super) struct Body<'draw> {
    pub(super) draw: &'draw mut Draw,
    pub(super) element: Element,
    /// Whether every count is a whole tile.
    pub(super) whole: bool,
    lines: Vec<String>,
    depth: usize,
    /// Tensors whose first `count` elements hold something.
    ready: Vec<String>,
    fresh: usize,
    /// How often, in percent, something comes in between.
    restless: usize,
}

impl<'draw> Body<'draw> {
    pub(super) fn new(draw: &'draw mut Draw, element: Element, whole: bool) -> Self {
        let restless = draw.one(&[0, 15, 40]);
        Self { draw, element, whole, lines: Vec::new(), depth: 2, ready: vec!["x".to_owned()], fresh: 0, restless }
    }

    /// The text, each line with its indentation.
    pub(super) fn finish(self) -> String {
        self.lines.concat()
    }

    /// One line.
    pub(super) fn line(&mut self, text: &str) {
        let indentation = "    ".repeat(self.depth);
        self.lines.push(format!("{indentation}{text}\n"));
    }

    /// A block: its head, then what `inside` writes. What it makes ready is not ready behind it, because it may not run.
    pub(super) fn block(&mut self, head: &str, inside: impl FnOnce(&mut Self)) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        let ready = self.ready.clone();
        inside(self);
        self.ready = ready;
        self.depth -= 1;
        self.line("}");
    }

    /// A name that is not taken.
    pub(super) fn fresh(&mut self, stem: &str) -> String {
        self.fresh += 1;
        format!("{stem}{}", self.fresh)
    }

    pub(super) fn is_float(&self) -> bool {
        matches!(self.element, Element::Float | Element::Half)
    }

    /// Marks a tensor as holding `count` elements.
    pub(super) fn set(&mut self, tensor: &str) {
        if !self.is_ready(tensor) {
            self.ready.push(tensor.to_owned());
        }
    }

    pub(super) fn is_ready(&self, tensor: &str) -> bool {
        self.ready.iter().any(|ready| ready == tensor)
    }

    /// A tensor to read.
    pub(super) fn source(&mut self) -> String {
        // Mostly the input: what was computed is to be dead at times.
        if self.draw.percent(45) {
            return "x".to_owned();
        }
        let ready = self.ready.clone();
        self.draw.one(&ready)
    }

    /// A buffer to write, none of `taken`.
    pub(super) fn scratch(&mut self, taken: &[&str]) -> String {
        let free: Vec<&str> = SCRATCH.iter().copied().filter(|name| !taken.contains(name)).collect();
        // Where all are taken, something is overwritten that was to be kept: the kernel is what it is then, before and after.
        if free.is_empty() { SCRATCH[0].to_owned() } else { self.draw.one(&free).to_owned() }
    }

    /// A tensor to write: a buffer or the result.
    pub(super) fn target(&mut self, taken: &[&str]) -> String {
        if self.draw.percent(45) && !taken.contains(&"y") { "y".to_owned() } else { self.scratch(taken) }
    }

    /// A tensor that is ready and may be changed; makes one ready if there is none but the input.
    pub(super) fn changeable(&mut self, taken: &[&str]) -> String {
        let known: Vec<String> =
            self.ready.iter().filter(|name| *name != "x" && !taken.contains(&name.as_str())).cloned().collect();
        if !known.is_empty() && self.draw.percent(75) {
            return self.draw.one(&known);
        }
        let to = self.target(taken);
        let (from, scalar) = (self.source(), self.scalar());
        let call = self.draw.one(&["Adds", "Muls"]);
        self.line(&format!("AscendC::{call}({to}, {from}, {scalar}, count);"));
        self.set(&to);
        to
    }

    /// An expression as the element type.
    pub(super) fn typed(&self, expression: &str) -> String {
        match self.element {
            Element::Float => expression.to_owned(),
            _ => format!("static_cast<{}>({expression})", self.element.name()),
        }
    }

    /// A number as a literal of the element type.
    pub(super) fn literal(&self, number: &str) -> String {
        if self.is_float() { self.typed(number) } else { self.typed(&number.replace(".0f", "")) }
    }

    /// A scalar operand.
    pub(super) fn scalar(&mut self) -> String {
        let literal = self.draw.one(&["2.0f", "-1.0f", "3.0f", "1.0f"]);
        match self.draw.below(6) {
            0 => self.literal(literal),
            1 => self.typed("s"),
            2 => self.typed("factor_"),
            3 => self.typed("scale_"),
            4 if self.is_float() => self.typed("scale_ * 0.5f + bias_"),
            _ => self.typed("bias_"),
        }
    }

    /// How many elements an instruction works on: mostly all.
    pub(super) fn count(&mut self) -> &'static str {
        if self.draw.percent(82) { "count" } else { self.draw.one(&["n", "n", "valid_ < count ? valid_ : count"]) }
    }

    /// The name of a tensor, or of a view of all of it.
    pub(super) fn view_of(&mut self, tensor: &str) -> String {
        match self.draw.below(12) {
            0 if SCRATCH.contains(&tensor) => format!("{tensor}View"),
            1 => format!("{tensor}[0]"),
            _ => tensor.to_owned(),
        }
    }

    /// Perhaps something between the statements of a phrase that touches the tensors in `hot`.
    pub(super) fn gap(&mut self, hot: &[&str]) {
        if self.draw.percent(self.restless) {
            self.interfere(hot);
        }
    }

    /// Something that a rewrite across it has to see.
    fn interfere(&mut self, hot: &[&str]) {
        let hot: Vec<&str> = hot.iter().copied().filter(|name| self.is_ready(name)).collect();
        let two = self.literal("2.0f");
        let some = if hot.is_empty() { "x".to_owned() } else { self.draw.one(&hot).to_owned() };
        let other = self.scratch(&hot);
        let view = if SCRATCH.contains(&some.as_str()) { format!("{some}View") } else { format!("{some}[0]") };
        match self.draw.below(22) {
            0 => self.line("AscendC::PipeBarrier<PIPE_V>();"),
            1 => self.line("AscendC::PipeBarrier<PIPE_ALL>();"),
            2 => self.line("n = count < valid_ ? count : valid_;"),
            3 => self.line("n = n / 2 + 1 < count ? n / 2 + 1 : count;"),
            4 => {
                self.line("n >>= 1;");
                self.line("n += 1;");
                self.line("n = n < count ? n : count;");
            }
            5 => {
                let change = if self.is_float() { "s *= 2.0f;" } else { "s <<= 1;" };
                self.line(change);
            }
            6 | 7 => self.line("Next();"),
            8 => {
                self.line(&format!("AscendC::Adds({other}, {some}, {two}, count);"));
                self.set(&other);
            }
            9 => {
                self.line(&format!("AscendC::Muls({other}, {view}, {two}, count);"));
                self.set(&other);
            }
            10 => self.line(&format!("AscendC::Adds({some}, {some}, {two}, count);")),
            11 => self.line(&format!("AscendC::Adds({view}, {some}, {two}, n);")),
            12 => self.block("if (mode_ == 1)", |body| {
                body.line(&format!("AscendC::Muls({some}, {some}, {two}, count);"));
            }),
            13 => self.block("if (mode_ == 2)", |body| {
                body.line(&format!("AscendC::Adds({other}, {some}, {two}, count);"));
            }),
            14 => self.line(&format!("Touch({some}, count);")),
            15 => self.line(&format!("TouchView({view}, n);")),
            16 => {
                self.line(&format!("LocalTensor<{}> kept = {some};", self.element.name()).replace("kept", "kept0"));
                let name = self.fresh("kept");
                let last =
                    self.lines.pop().unwrap_or_default().replace("kept0", &name).replace("LocalT", "AscendC::LocalT");
                self.lines.push(last);
                self.line(&format!("AscendC::Adds({name}, {name}, {two}, n);"));
            }
            17 => self.line(&format!("{some}.SetValue(0, {two});")),
            18 => {
                self.line(&format!("s = static_cast<decltype(s)>({some}.GetValue(0));"));
            }
            19 => {
                let name = self.fresh("change");
                let change = if self.is_float() { "s += 1.0f;" } else { "s += 1;" };
                self.line(&format!("auto {name} = [&]() {{ {change} }};"));
                self.line(&format!("{name}();"));
            }
            20 => {
                let name = self.fresh("alias");
                self.line(&format!("uint32_t &{name} = n;"));
                self.line(&format!("{name} = count < valid_ ? count : valid_;"));
            }
            _ => {
                let name = self.fresh("alias");
                let change = if self.is_float() { "+= 0.5f" } else { "+= 3" };
                self.line(&format!("auto &{name} = s;"));
                self.line(&format!("{name} {change};"));
            }
        }
    }
}
