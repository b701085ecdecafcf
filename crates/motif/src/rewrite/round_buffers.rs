//! Buffers that hold several rows: what a row takes, in bytes where the buffer is made and in elements where it is used.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::analysis::code::is_name;
use crate::analysis::flow::changes::changes_name;
use crate::analysis::flow::effects::reached;
use crate::analysis::linear::{enclosed, grouped, parted};
use crate::analysis::machine::BLOCK_BYTES;
use crate::context::Context;
use crate::rewrite::edits::edit;
use source::Edit;
use source::facts::{Callers, InitBuffer, Kernel, fixed_type_bytes};
use source::lex::pieces;
use source::parse::{Function, SyntaxFile};

/// The room of one row in the buffers of a queue.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    /// Bytes as every function of the class can spell them.
    bytes: String,
    /// Whether they are whole blocks.
    whole: bool,
}

impl Room {
    /// The room of a row for a queue's one `InitBuffer`.
    pub(crate) fn of(context: &Context, kernel: &Kernel, init: &InitBuffer) -> Result<Self, String> {
        let file = context.forest.get(&init.statement.file).ok_or("the initialisation is not parsed")?;
        let function = file.enclosing_function(init.statement.start).ok_or("a buffer is made outside of a function")?;
        let spelling = Spelling { context, kernel, file, function, init };
        let bytes = spelling.members(&init.size, 0)?;
        let divisor = context.facts.known.divisor(&bytes);
        Ok(Self { whole: divisor != 0 && divisor % BLOCK_BYTES == 0, bytes })
    }

    /// From row to row, in elements of a type.
    pub(crate) fn pitch(&self, element: &str) -> String {
        let size = format!("sizeof({element})");
        let count = without_factor(&self.bytes, &size);
        match (count, self.whole, fixed_type_bytes(element)) {
            (Some(count), true, _) => count,
            (Some(count), false, Some(bytes)) if bytes < BLOCK_BYTES => {
                let block = BLOCK_BYTES / bytes;
                format!("(({} + {}) / {block} * {block})", count, block - 1)
            }
            (_, true, _) => format!("({} / {size})", grouped(&self.bytes)),
            _ => format!("(({} + {}) / {BLOCK_BYTES} * {BLOCK_BYTES} / {size})", self.bytes, BLOCK_BYTES - 1),
        }
    }

    /// Edit of the `InitBuffer`: `rows` times the size.
    pub(crate) fn widened(&self, context: &Context, init: &InitBuffer, rows: &str) -> Result<Edit, String> {
        let file = context.forest.get(&init.statement.file).ok_or("the initialisation is not parsed")?;
        let statement = init.statement.span();
        if crate::rewrite::counted_bytes::counts(file) {
            return Err("a buffer for kept chunks counts on the sizes of the others (D14)".to_owned());
        }
        let call = file.calls_in(statement).find(|call| call.name == "InitBuffer").ok_or("no InitBuffer")?;
        let span = call.arguments.last().ok_or("InitBuffer without a size")?.clone();
        let size = file.slice(&span).trim();
        let product = parted(size, &['*']).is_some()
            && parted(size, &['*', '/', '%', '+', '-'])
                .is_some_and(|parts| parts.iter().all(|(operator, _)| *operator == '*'));
        let text = match (self.whole, product) {
            (true, true) => format!("{rows} * {size}"),
            (true, false) => format!("{rows} * ({size})"),
            (false, _) => format!("{rows} * (({size} + {}) / {BLOCK_BYTES} * {BLOCK_BYTES})", BLOCK_BYTES - 1),
        };
        Ok(edit(file, span, text))
    }

    /// Bytes of a row with its rounding, for arithmetic on known values.
    pub(crate) fn rounded(&self) -> String {
        let more = if self.whole { 0 } else { BLOCK_BYTES - 1 };
        format!("(({} + {more}) / {BLOCK_BYTES} * {BLOCK_BYTES})", self.bytes)
    }
}

/// An expression as the function that makes a buffer can spell it, where it has the same value there as later.
pub(crate) fn at_init(
    context: &Context,
    kernel: &Kernel,
    init: &InitBuffer,
    expression: &str,
) -> Result<String, String> {
    let file = context.forest.get(&init.statement.file).ok_or("the initialisation is not parsed")?;
    let function = file.enclosing_function(init.statement.start).ok_or("a buffer is made outside of a function")?;
    Spelling { context, kernel, file, function, init }.members(expression, 0)
}

/// What `Room::widened` put in front of a size, taken off; `None` if something else stands there.
pub(crate) fn narrowed(text: &str, rows: &str) -> Option<String> {
    let size = text.trim().strip_prefix(rows)?.trim_start().strip_prefix('*')?.trim();
    let rounding = format!(" + {}) / {BLOCK_BYTES} * {BLOCK_BYTES}", BLOCK_BYTES - 1);
    let inner = enclosed(size);
    let rounded = inner.and_then(|inner| inner.strip_suffix(rounding.as_str())?.strip_prefix('('));
    Some(rounded.or(inner).unwrap_or(size).to_owned())
}

/// The expression without a factor at its beginning or end.
fn without_factor(text: &str, factor: &str) -> Option<String> {
    let text = text.trim();
    // `(n * sizeof(T))` and `static_cast<uint32_t>(n * sizeof(T))` are products too.
    if let Some(inner) = enclosed(text) {
        return without_factor(inner, factor);
    }
    if let Some(inner) = text.strip_prefix("static_cast<").and_then(|rest| rest.split_once('>')).map(|(_, rest)| rest)
        && let Some(inner) = enclosed(inner.trim())
    {
        return without_factor(inner, factor);
    }
    let terms = parted(text, &['+', '-'])?;
    if terms.len() != 1 {
        return None;
    }
    let count = match text.strip_suffix(factor).map(str::trim_end).and_then(|rest| rest.strip_suffix('*')) {
        Some(count) => count.trim(),
        None => text.strip_prefix(factor)?.trim_start().strip_prefix('*')?.trim(),
    };
    let divided = parted(count, &['/', '%'])?.len() > 1;
    let plain = is_name(count) || enclosed(count).is_some() || !divided;
    Some(if plain { count.to_owned() } else { format!("({count})") })
}

/// Spells an expression of the initialisation in members and constants.
struct Spelling<'a> {
    context: &'a Context,
    kernel: &'a Kernel,
    file: &'a SyntaxFile,
    function: &'a Function,
    init: &'a InitBuffer,
}

impl Spelling<'_> {
    fn members(&self, expression: &str, depth: usize) -> Result<String, String> {
        if depth > 8 {
            return Err(format!("{expression} is not understood"));
        }
        let tokens = pieces(expression);
        let word = |index: usize| tokens.get(index).map_or("", |token| &expression[token.span.clone()]);
        let (mut spelled, mut index, mut done) = (String::new(), 0, 0);
        while index < tokens.len() {
            let start = tokens[index].span.start;
            spelled.push_str(&expression[done..start]);
            let name = word(index);
            let mut end = index + 1;
            let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            match name {
                "static_cast" | "sizeof" => {
                    let (open, close) = if name == "sizeof" { ("(", ")") } else { ("<", ">") };
                    if word(end) != open {
                        return Err(format!("{expression} is not understood"));
                    }
                    while end < tokens.len() && word(end) != close {
                        end += 1;
                    }
                    end += 1;
                    let last = tokens.get(end - 1).ok_or_else(|| format!("{expression} is not understood"))?;
                    spelled.push_str(&expression[start..last.span.end]);
                }
                _ if is_word && fixed_type_bytes(name).is_none() => {
                    // The whole chain `a->b.c`, or `A::b`.
                    loop {
                        let skip = match (word(end), word(end + 1)) {
                            (".", _) => 1,
                            ("-", ">") | (":", ":") => 2,
                            _ => break,
                        };
                        end += skip + 1;
                    }
                    if word(end) == "(" || word(end) == "[" || end > tokens.len() {
                        return Err(format!("the size {expression} calls {name}"));
                    }
                    spelled.push_str(&self.leaf(&expression[start..tokens[end - 1].span.end], depth)?);
                }
                _ => spelled.push_str(name),
            }
            index = end;
            done = tokens[end - 1].span.end;
        }
        Ok(spelled)
    }

    fn leaf(&self, chain: &str, depth: usize) -> Result<String, String> {
        let name = chain.strip_prefix("this->").unwrap_or(chain).trim();
        let short = name.rsplit("::").next().unwrap_or(name);
        let qualified = chain.starts_with("this->");
        let own = |local: &&source::parse::Local| local.name == name && self.function.body.contains(&local.span.start);
        if !qualified && let Some(local) = self.file.locals().iter().find(own) {
            let value = local.value.as_ref().map(|value| self.file.slice(value)).unwrap_or_default();
            if value.is_empty()
                || value.trim_start().starts_with('{')
                || changes_name(self.file, &(local.span.end..self.function.body.end), name)
            {
                return self.assigned_to_member(chain);
            }
            let spelled =
                self.members(value, depth + 1).or_else(|reason| self.assigned_to_member(chain).map_err(|_| reason))?;
            return Ok(grouped(&spelled));
        }
        let parameter = self.function.parameters.iter().any(|parameter| parameter.name == name);
        if !parameter || qualified {
            if self.is_member(name) {
                self.set_before(name)?;
                return Ok(chain.to_owned());
            }
            // A constant, maybe of a header that is not part of these sources.
            if self.context.facts.definitions(short).next().is_some() || is_name(name) && !name.contains(['.', '>']) {
                return Ok(chain.to_owned());
            }
        }
        self.assigned_to_member(chain)
    }

    /// The member that keeps the value of an expression, which only the initialisation can spell.
    fn assigned_to_member(&self, chain: &str) -> Result<String, String> {
        let body = self.file.slice(&self.function.body);
        let plain: String = chain.split_whitespace().collect();
        for statement in body.split([';', '{', '}']) {
            let Some((left, right)) = statement.split_once('=') else { continue };
            let (left, right): (String, String) =
                (left.split_whitespace().collect(), right.split_whitespace().collect());
            let member = left.strip_prefix("this->").unwrap_or(&left);
            let value = right
                .strip_prefix("static_cast<")
                .and_then(|rest| rest.split_once('>'))
                .map_or(right.as_str(), |(_, rest)| rest);
            let value = enclosed(value).unwrap_or(value);
            if value == plain && is_name(member) && self.is_member(member) && !left.contains('.') {
                self.set_before(member)?;
                let hidden = self.function.parameters.iter().any(|parameter| parameter.name == member);
                let explicit = hidden || left.starts_with("this->");
                return Ok(if explicit { format!("this->{member}") } else { member.to_owned() });
            }
        }
        Err(format!("{chain} is known to the initialisation only"))
    }

    fn is_member(&self, name: &str) -> bool {
        let classes: BTreeSet<&str> = self
            .kernel
            .functions
            .iter()
            .filter_map(|(file, index)| self.context.forest.get(file)?.functions().get(*index)?.class.as_deref())
            .chain([self.kernel.name.as_str()])
            .collect();
        let mut all = self.context.forest.iter().flat_map(|file| file.classes());
        all.any(|class| classes.contains(class.name.as_str()) && class.members.iter().any(|member| member.name == name))
    }

    /// Proves that a member keeps its value once the buffer is made.
    fn set_before(&self, member: &str) -> Result<(), String> {
        let early = self.early();
        let before = |file: &str, byte: usize| early.iter().any(|(of, span)| *of == file && span.contains(&byte));
        for (name, index) in &self.kernel.functions {
            let Some(file) = self.context.forest.get(name) else { continue };
            let Some(function) = file.functions().get(*index) else { continue };
            if !changes_name(file, &function.body, member) {
                continue;
            }
            // What stands behind the early part of the function.
            let part = early.iter().filter(|(of, span)| of == name && function.body.contains(&span.start));
            let late = part.map(|(_, span)| span.end).max().unwrap_or(function.body.start)..function.body.end;
            let again = Callers::new(self.kernel, &self.context.forest).sites(function);
            let once = again.iter().all(|site| before(site.file.name(), site.call.span.start));
            // A function that is early as a whole must not run later too.
            if changes_name(file, &late, member) || (late.is_empty() && !once) {
                return Err(format!("{member} changes in {}", function.name));
            }
        }
        Ok(())
    }

    /// What runs before the buffer is made: the beginnings of its function and of those that call it, and functions that
    /// they call.
    fn early(&self) -> Vec<(String, Range<usize>)> {
        let callers = Callers::new(self.kernel, &self.context.forest);
        let mut found: Vec<(String, Range<usize>)> = Vec::new();
        let mut open = vec![(self.file, self.function, self.init.statement.start)];
        let mut seen: BTreeSet<(String, usize)> = BTreeSet::new();
        while let Some((file, function, until)) = open.pop() {
            if !seen.insert((file.name().to_owned(), function.body.start)) {
                continue;
            }
            let part = function.body.start..until;
            for (other, called) in reached(self.context, self.kernel, file, &part) {
                found.push((other.name().to_owned(), called.body.clone()));
            }
            found.push((file.name().to_owned(), part));
            open.extend(callers.sites(function).iter().map(|site| (site.file, site.function, site.call.span.start)));
        }
        found
    }
}
