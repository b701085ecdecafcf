//! Where values go: from constants through assignments, fields, parameters and results to the calls that give them a meaning.
//!
//! Names of the same spelling are taken for the same thing in all files (a field that the host sets is the one that the kernel
//! reads), so that what is found may be too much, and a decision needs a chain that keeps its meaning: the number of buffers is
//! handed on unchanged, a length may be multiplied on its way.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::asked::asked_size;
use super::lexer::{Kind, Tokens};
use super::meaning::SETS_CORES;
use super::share::ASKS_CORES;
use super::words;
use crate::SourceTree;

/// What a value is used for in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sink {
    /// Number of buffers of a queue.
    Buffers,
    /// Number of cores of a launch.
    Cores,
    /// Length of a buffer or of a copy.
    Length,
    /// Bound of a loop.
    Loop,
}

/// What becomes of a value on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Link {
    /// Handed on, or one of several to choose from.
    Copied,
    /// Part of a sum or product.
    Computed,
    /// Something is divided by it.
    Divides,
}

/// Names of parameters or fields, by functions or structures of a name.
type Signatures = BTreeMap<String, Vec<Vec<String>>>;

/// The flow of all names of some files.
#[derive(Debug, Default)]
pub struct Flow {
    links: BTreeMap<String, BTreeSet<(Link, String)>>,
    sinks: BTreeMap<String, BTreeSet<(Link, Sink)>>,
    /// What is computed from the size of the unified buffer.
    of_unified_buffer: BTreeSet<String>,
    /// What is handed on from the platform's number of cores.
    of_platform_cores: BTreeSet<String>,
    /// Whether a kernel asks which core it runs on.
    pub splits_among_cores: bool,
}

impl Flow {
    /// Reads the files.
    pub fn of<'a>(tree: &SourceTree, files: impl IntoIterator<Item = &'a String>) -> Self {
        let texts: Vec<(&String, &str)> = files.into_iter().filter_map(|file| Some((file, tree.text(file)?))).collect();
        let all: Vec<(&String, Tokens<'_>)> = texts.iter().map(|(file, text)| (*file, Tokens::of(text))).collect();
        let mut functions = Signatures::new();
        let mut structures = Signatures::new();
        for (_, tokens) in &all {
            parameters_of_functions(tokens, &mut functions);
            fields_of_structures(tokens, &mut structures);
        }
        let mut flow = Self::default();
        for (file, tokens) in &all {
            for position in 0..tokens.tokens.len() {
                flow.see(file, tokens, position, &functions);
                flow.initialise(tokens, position, &structures);
            }
        }
        let sizes = std::mem::take(&mut flow.of_unified_buffer);
        flow.of_unified_buffer = flow.reached_from(sizes, |_| true);
        let asked = ASKS_CORES.iter().map(|call| (*call).to_owned()).collect();
        flow.of_platform_cores = flow.reached_from(asked, |link| link == Link::Copied);
        flow
    }

    /// Whether a name stands in the call itself.
    pub fn stands_in(&self, name: &str, sink: Sink) -> bool {
        self.sinks.get(plain(name)).is_some_and(|sinks| sinks.contains(&(Link::Copied, sink)))
    }

    /// Whether a value reaches a sink unchanged, or as one of several to choose from.
    pub fn is_handed_to(&self, name: &str, sink: Sink) -> bool {
        self.reaches(name, sink, |link| link == Link::Copied)
    }

    /// Whether a value reaches a sink, possibly as part of a sum or product.
    pub fn makes(&self, name: &str, sink: Sink) -> bool {
        self.reaches(name, sink, |link| link != Link::Divides)
    }

    /// Whether a value limits the platform's number of cores, or says how many are launched.
    pub fn is_number_of_cores(&self, name: &str) -> bool {
        let mut handed_on = self.links.get(plain(name)).into_iter().flatten().filter(|(link, _)| *link == Link::Copied);
        handed_on.any(|(_, to)| self.of_platform_cores.contains(to)) || self.is_handed_to(name, Sink::Cores)
    }

    /// Whether something other than a size of the unified buffer is divided by the value.
    pub fn divides_work(&self, name: &str) -> bool {
        let to = self.links.get(plain(name)).into_iter().flatten();
        let mut divided = to.filter(|(link, _)| *link == Link::Divides).peekable();
        divided.peek().is_some() && divided.any(|(_, quotient)| !self.of_unified_buffer.contains(quotient))
    }

    /// Whether a size of the unified buffer is divided by the value.
    pub fn divides_unified_buffer(&self, name: &str) -> bool {
        let to = self.links.get(plain(name)).into_iter().flatten();
        to.clone().any(|(link, quotient)| *link == Link::Divides && self.of_unified_buffer.contains(quotient))
    }

    /// Whether a value is computed from the size of the unified buffer.
    pub fn is_of_unified_buffer(&self, name: &str) -> bool {
        self.of_unified_buffer.contains(plain(name))
    }

    fn reaches(&self, name: &str, sink: Sink, keeps: impl Fn(Link) -> bool) -> bool {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut waiting = vec![plain(name)];
        while let Some(name) = waiting.pop() {
            if !seen.insert(name) {
                continue;
            }
            if self.sinks.get(name).is_some_and(|sinks| sinks.iter().any(|(link, to)| *to == sink && keeps(*link))) {
                return true;
            }
            let next = self.links.get(name).into_iter().flatten();
            waiting.extend(next.filter(|(link, _)| keeps(*link)).map(|(_, to)| to.as_str()));
        }
        false
    }

    fn see(&mut self, file: &str, tokens: &Tokens<'_>, position: usize, functions: &Signatures) {
        let word = tokens.get(position);
        if word == "<<" && tokens.get(position + 1) == "<" {
            self.launch(tokens, position, functions);
        }
        if tokens.kind(position) != Some(Kind::Identifier) {
            return;
        }
        if matches!(word, "GetBlockIdx" | "get_block_idx" | "block_idx") {
            self.splits_among_cores = true;
        }
        if let Some(asked) = asked_size(file, tokens, position) {
            self.of_unified_buffer.insert(plain(&asked.name).to_owned());
        }
        match tokens.get(position + 1) {
            "=" => self.assign(tokens, word, position + 2..tokens.expression_end(position + 2, true)),
            "{" if position > 0 && tokens.kind(position - 1) == Some(Kind::Identifier) => {
                if let Some(close) = tokens.closing(position + 1).filter(|close| tokens.get(close + 1) == ";") {
                    self.assign(tokens, word, position + 2..close);
                }
            }
            "+=" | "*=" => {
                let range = position + 2..tokens.expression_end(position + 2, true);
                for (name, _) in terms(tokens, range) {
                    self.link(name, Link::Computed, word);
                }
            }
            "<" if matches!(word, "TQue" | "TQueBind") => {
                if let Some(close) = tokens.closing_angle(position + 1)
                    && tokens.kind(close - 1) == Some(Kind::Identifier)
                {
                    self.sink(tokens.get(close - 1), Link::Copied, Sink::Buffers);
                }
            }
            "(" => self.call(tokens, position, functions),
            _ => {}
        }
        if word == "return" {
            self.result(tokens, position);
        }
        if word == "for" {
            self.head_of_loop(tokens, position);
        }
    }

    fn assign(&mut self, tokens: &Tokens<'_>, target: &str, range: Range<usize>) {
        for (name, link) in terms(tokens, range) {
            self.link(name, link, target);
        }
    }

    fn call(&mut self, tokens: &Tokens<'_>, position: usize, functions: &Signatures) {
        let word = tokens.get(position);
        let Some(arguments) = tokens.arguments(position + 1) else { return };
        let argument = |index: usize| arguments.get(index).cloned().unwrap_or(0..0);
        if let Some(field) = word.strip_prefix("set_") {
            self.assign(tokens, field, argument(0));
        } else if SETS_CORES.contains(&word) {
            self.sink_all(tokens, argument(0), Sink::Cores);
        } else if word == "InitBuffer" {
            if arguments.len() == 3 {
                self.sink_all(tokens, argument(1), Sink::Buffers);
            }
            self.sink_all(tokens, argument(arguments.len().saturating_sub(1)), Sink::Length);
        } else if word.starts_with("DataCopy") {
            self.sink_all(tokens, argument(2), Sink::Length);
        }
        self.pass(tokens, word, &arguments, functions);
    }

    /// `kernel<<<cores, ..>>>(arguments)`, with the first bracket at `position`.
    fn launch(&mut self, tokens: &Tokens<'_>, position: usize, functions: &Signatures) {
        let cores = position + 2..tokens.expression_end(position + 2, true);
        self.sink_all(tokens, cores, Sink::Cores);
        let end = tokens.expression_end(position + 2, false);
        let close = (position..end).find(|at| tokens.get(*at) == ">" && tokens.get(at + 1) == "(");
        let kernel = (position.saturating_sub(8)..position)
            .rev()
            .find(|at| tokens.kind(*at) == Some(Kind::Identifier) && matches!(tokens.get(at + 1), "<" | "<<"));
        if let (Some(close), Some(kernel)) = (close, kernel)
            && let Some(arguments) = tokens.arguments(close + 1)
        {
            self.pass(tokens, tokens.get(kernel), &arguments, functions);
        }
    }

    /// Arguments go to the parameters of the functions of this name.
    fn pass(&mut self, tokens: &Tokens<'_>, function: &str, arguments: &[Range<usize>], functions: &Signatures) {
        let known = functions.get(function).into_iter().flatten();
        for parameters in known.filter(|parameters| parameters.len() == arguments.len()) {
            for (parameter, argument) in parameters.iter().zip(arguments) {
                self.assign(tokens, parameter, argument.clone());
            }
        }
    }

    /// What a function returns goes where it is called.
    fn result(&mut self, tokens: &Tokens<'_>, position: usize) {
        let Some(body) = super::share::function_body(tokens, position) else { return };
        let head = tokens.statement_start(body.start)..body.start;
        let name = head.clone().find(|at| tokens.get(*at) == "(").filter(|open| *open > head.start);
        if let Some(name) = name.map(|open| tokens.get(open - 1)) {
            self.assign(tokens, name, position + 1..tokens.expression_end(position + 1, false));
        }
    }

    fn head_of_loop(&mut self, tokens: &Tokens<'_>, position: usize) {
        let Some(close) = tokens.closing(position + 1) else { return };
        let ends: Vec<usize> = (position + 2..close).filter(|at| tokens.get(*at) == ";").collect();
        if let [first, second] = ends.as_slice() {
            self.sink_all(tokens, first + 1..*second, Sink::Loop);
            self.sink_all(tokens, second + 1..close, Sink::Length);
        }
    }

    fn sink_all(&mut self, tokens: &Tokens<'_>, range: Range<usize>, sink: Sink) {
        for (name, link) in terms(tokens, range) {
            self.sink(name, link, sink);
        }
    }

    fn sink(&mut self, name: &str, link: Link, sink: Sink) {
        self.sinks.entry(plain(name).to_owned()).or_default().insert((link, sink));
    }

    fn link(&mut self, from: &str, link: Link, to: &str) {
        let (from, to) = (plain(from), plain(to));
        if from != to {
            self.links.entry(from.to_owned()).or_default().insert((link, to.to_owned()));
        }
    }

    fn reached_from(&self, names: BTreeSet<String>, follows: impl Fn(Link) -> bool) -> BTreeSet<String> {
        let mut waiting: Vec<String> = names.iter().cloned().collect();
        let mut reached = names;
        while let Some(name) = waiting.pop() {
            let next = self.links.get(&name).into_iter().flatten().filter(|(link, _)| follows(*link));
            for (_, to) in next {
                if reached.insert(to.clone()) {
                    waiting.push(to.clone());
                }
            }
        }
        reached
    }

    /// What stands in braces for the fields of a structure goes to these fields.
    fn initialise(&mut self, tokens: &Tokens<'_>, position: usize, structures: &Signatures) {
        let Some(fields) = structures.get(tokens.get(position)).and_then(|known| known.first()) else { return };
        let end = tokens.expression_end(position, false);
        let equals = (position..end).find(|at| tokens.get(*at) == "=" && tokens.get(at + 1) == "{");
        let Some(close) = equals.and_then(|equals| tokens.closing(equals + 1)) else { return };
        for open in (position..close).filter(|at| tokens.get(*at) == "{" && tokens.get(at + 1) != "{") {
            let elements = tokens.arguments(open).unwrap_or_default();
            for (field, element) in fields.iter().zip(elements) {
                self.assign(tokens, field, element);
            }
        }
    }
}

/// Names of fields and members without what marks them as such.
fn plain(name: &str) -> &str {
    name.strip_prefix("get_").unwrap_or(name).trim_end_matches('_')
}

/// Field names of the structures that a file defines.
fn fields_of_structures(tokens: &Tokens<'_>, structures: &mut Signatures) {
    for position in 0..tokens.tokens.len() {
        let Some(close) = tokens.closing(position + 2).filter(|_| tokens.get(position + 2) == "{") else { continue };
        if !matches!(tokens.get(position), "struct" | "class") {
            continue;
        }
        let ends =
            (position + 3..close).filter(|at| tokens.get(*at) == ";" && tokens.enclosing(*at) == Some(position + 2));
        let names = ends.map(|end| {
            let start = tokens.statement_start(end);
            let value = (start..end).find(|at| matches!(tokens.get(*at), "=" | "{" | "[")).unwrap_or(end);
            tokens.get(value.saturating_sub(1)).to_owned()
        });
        structures.entry(tokens.get(position + 1).to_owned()).or_default().push(names.collect());
    }
}

/// Parameter names of the functions that a file defines.
fn parameters_of_functions(tokens: &Tokens<'_>, functions: &mut Signatures) {
    for position in 0..tokens.tokens.len() {
        if tokens.kind(position) != Some(Kind::Identifier) || tokens.get(position + 1) != "(" {
            continue;
        }
        if matches!(tokens.get(position), "if" | "for" | "while" | "switch") {
            continue;
        }
        let Some(close) = tokens.closing(position + 1) else { continue };
        let defines = matches!(tokens.get(close + 1), "{" | "const" | "override" | ":");
        let Some(list) = tokens.arguments(position + 1).filter(|list| defines && !list.is_empty()) else { continue };
        let names = list.iter().map(|parameter| {
            let end = parameter.clone().find(|at| tokens.get(*at) == "=").unwrap_or(parameter.end);
            tokens.get(end.saturating_sub(1)).to_owned()
        });
        functions.entry(tokens.get(position).to_owned()).or_default().push(names.collect());
    }
}

/// Whether a function divides its first argument by the others.
fn divides(name: &str) -> bool {
    words(name).iter().any(|word| matches!(word.as_str(), "div" | "ceil" | "floor" | "align" | "round"))
}

/// Names that an expression is made of: the last of each path, and functions that are called.
fn terms<'a>(tokens: &Tokens<'a>, range: Range<usize>) -> Vec<(&'a str, Link)> {
    let mut found: Vec<(&'a str, bool)> = Vec::new();
    let mut computed = false;
    // Whether what is in each open bracket divides, and whether later arguments do.
    let mut open: Vec<(bool, bool)> = Vec::new();
    let mut after_division = false;
    let mut at = range.start;
    while at < range.end {
        let word = tokens.get(at);
        let dividing = after_division || open.last().is_some_and(|(dividing, _)| *dividing);
        match word {
            "(" | "[" | "{" => {
                let callee = at.checked_sub(1).map_or("", |before| tokens.get(before));
                open.push((dividing, word == "(" && divides(callee)));
                after_division = false;
            }
            ")" | "]" | "}" => {
                open.pop();
                after_division = false;
            }
            "," => {
                if let Some((dividing, later)) = open.last_mut() {
                    *dividing |= *later;
                }
                after_division = false;
            }
            "/" | "%" => {
                after_division = true;
                computed = true;
            }
            "+" | "-" | "*" | "<<" => {
                after_division = false;
                computed = true;
            }
            "static_cast" | "sizeof" if word == "sizeof" || tokens.get(at + 1) == "<" => {
                let end = if word == "sizeof" { tokens.closing(at + 1) } else { tokens.closing_angle(at + 1) };
                at = end.unwrap_or(at);
            }
            _ if tokens.kind(at) == Some(Kind::Identifier) => {
                let qualifies = matches!(tokens.get(at + 1), "." | "->" | "::");
                if !qualifies {
                    found.push((word, dividing));
                    if tokens.get(at + 1) != "(" {
                        after_division = false;
                    }
                }
            }
            _ if tokens.kind(at) == Some(Kind::Number) => after_division = false,
            _ => {}
        }
        at += 1;
    }
    let link = |dividing: bool| match (dividing, computed) {
        (true, _) => Link::Divides,
        (false, true) => Link::Computed,
        (false, false) => Link::Copied,
    };
    found.into_iter().map(|(name, dividing)| (name, link(dividing))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(files: &[(&str, &str)]) -> Flow {
        let mut tree = SourceTree::new();
        for (file, text) in files {
            tree.insert(*file, *text);
        }
        let names: Vec<String> = files.iter().map(|(file, _)| (*file).to_owned()).collect();
        Flow::of(&tree, &names)
    }

    #[test]
    fn values_are_followed_from_host_to_kernel() {
        let host = "constexpr int64_t CORES = 8;\nconstexpr int64_t ROW_TILE = 512;\nconstexpr int64_t SLOTS_PER_CORE = 10;\n\
                    constexpr int64_t ALIGN_TO = 32;\n\
                    void Tiling() { platform.GetCoreMemSize(CoreMemType::UB, ubSize);\n  \
                    each_ = ubSize / SLOTS_PER_CORE / sizeof(float) / ALIGN_TO * ALIGN_TO;\n  \
                    uint32_t used = std::min<uint32_t>(all, CORES);\n  context->SetBlockDim(used);\n  \
                    tiling.set_tile(ROW_TILE);\n  tiling.set_rounds(rows / ROW_TILE); }";
        let kernel = "constexpr int32_t DEPTH = 2;\nconstexpr int32_t ROUNDS = 8;\nconstexpr int32_t TENSORS = 3;\n\
                      void Run() { op.Init(data.tile); int id = GetBlockIdx(); }\nclass K {\n  void Init(uint32_t length) {\n    \
                      pipe.InitBuffer(in, DEPTH, length * sizeof(half));\n    piece = blockLength / ROUNDS;\n    \
                      for (int i = 0; i < ROUNDS * DEPTH; i++) {}\n    room = total / TENSORS;\n  }\n  \
                      TQue<QuePosition::VECIN, DEPTH> in;\n};";
        let flow = flow(&[("op_host/a.cpp", host), ("op_kernel/a.h", kernel)]);
        assert!(flow.is_number_of_cores("CORES") && !flow.is_number_of_cores("SLOTS_PER_CORE"));
        assert!(flow.is_handed_to("DEPTH", Sink::Buffers));
        assert!(flow.makes("ROW_TILE", Sink::Length) && flow.divides_work("ROW_TILE"));
        assert!(flow.makes("ROUNDS", Sink::Loop) && flow.divides_work("ROUNDS"));
        assert!(flow.splits_among_cores);
        for sink in [Sink::Buffers, Sink::Cores, Sink::Length, Sink::Loop] {
            assert!(!flow.makes("SLOTS_PER_CORE", sink), "{sink:?}");
        }
        assert!(!flow.divides_work("SLOTS_PER_CORE"), "it divides the unified buffer");
        assert!(!flow.is_handed_to("TENSORS", Sink::Buffers));
    }

    #[test]
    fn fields_of_structures_and_launches_are_followed() {
        let text = "constexpr uint32_t ALL = 48;\nconstexpr uint32_t PIECE = 4096;\nstruct Plan {\n  uint32_t cores;\n  \
                    uint32_t piece;\n  bool wide = false;\n};\nconstexpr Plan PLANS[] = {{1, PIECE, true}, {ALL, PIECE, false}};\n\
                    __global__ void add(GM_ADDR x, uint32_t length) {\n  DataCopy(local, x[GetBlockIdx()], length);\n}\n\
                    int main() {\n  Plan plan = PLANS[1];\n  add<<<plan.cores, nullptr, stream>>>(x, plan.piece);\n}\n";
        let flow = flow(&[("a.asc", text)]);
        assert!(flow.is_number_of_cores("ALL") && !flow.is_number_of_cores("PIECE"));
        assert!(flow.makes("PIECE", Sink::Length));
    }

    #[test]
    fn a_limit_on_what_the_platform_has_is_a_number_of_cores() {
        let text = "void Tiling() {\n  int64_t available = platform.GetCoreNumAiv();\n  \
                    const int64_t limit = available < MOST ? available : MOST;\n  each = (rows + limit - 1) / limit;\n  \
                    context->SetBlockDim((rows + each - 1) / each);\n}\n";
        assert!(flow(&[("a.cpp", text)]).is_number_of_cores("MOST"));
    }

    #[test]
    fn what_a_function_returns_goes_on() {
        let text = "uint32_t Pick(uint32_t most) {\n  if (most < MOST) {\n    return most;\n  }\n  return MOST;\n}\n\
                    void Tiling() {\n  cores_ = Pick(n);\n  context->SetBlockDim(cores_);\n}\n";
        let flow = flow(&[("a.cpp", text)]);
        assert!(flow.is_handed_to("MOST", Sink::Cores));
        assert!(!flow.splits_among_cores);
    }
}
