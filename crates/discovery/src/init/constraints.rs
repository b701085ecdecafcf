//! What the kernels' buffers ask of every configuration, as far as it can be read: event ids of queues and bytes of the unified
//! buffer.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use source::SourceTree;
use source::arch::TARGET;
use source::constant::fixed_type_bytes;
use source::tunable::lexer::{Kind, Tokens};
use source::tunable::{Flow, asked_size, constants_in, literal};
use space::{Binding, Tunable, Value, domain_values};

/// Event ids from one pipe to another. Every buffer of a queue holds one while its next user waits for it.
const EVENT_IDS: i64 = TARGET.vector.event_ids;

/// A sum of products of an amount and a tunable, or of an amount alone, by what stands in a constraint.
type Sum = BTreeMap<String, i64>;

/// What a queue feeds or takes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    In,
    Out,
}

/// Number of buffers of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Number {
    Fixed(i64),
    /// A tunable's name and present value.
    Tunable(String, i64),
    Unknown,
}

/// One `InitBuffer`.
#[derive(Clone, Debug)]
struct Buffer {
    name: String,
    number: Number,
    length: Option<Length>,
}

/// Length of a buffer: bytes, times a variable where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Length {
    variable: Option<String>,
    /// Product of numbers, tunables and `dtype_bytes`; empty for 1.
    factor: String,
    /// The same with the present values of the tunables.
    present: String,
}

/// Conditions that a search space needs, each once.
pub(super) fn find(tree: &SourceTree, sources: &[String], flow: &Flow, tunables: &[Tunable]) -> Vec<String> {
    let positions = queue_positions(tree, sources);
    let limit = planned_with(tree, sources, tunables);
    let mut found: Vec<String> = Vec::new();
    let known = Known::of(tree, sources, tunables);
    for file in sources {
        for buffers in blocks(file, &Tokens::of(tree.text(file).unwrap_or_default()), &known) {
            let events =
                [Position::In, Position::Out].map(|position| event_ids(&buffers, &positions, position, tunables));
            let planned = limit.iter().flat_map(|limit| planned_bytes(&buffers, flow, limit));
            let bytes = planned.chain(fixed_bytes(&buffers));
            for constraint in events.into_iter().flatten().chain(bytes) {
                if !found.contains(&constraint) {
                    found.push(constraint);
                }
            }
        }
    }
    found
}

/// The tunable that limits the size of the unified buffer that the tiling function plans with, if there is one alone.
fn planned_with(tree: &SourceTree, sources: &[String], tunables: &[Tunable]) -> Option<String> {
    let mut limits = tunables.iter().filter(|tunable| {
        let Binding::Cap { file, target } = &tunable.binding else { return false };
        let tokens = Tokens::of(tree.text(file).unwrap_or_default());
        sources.contains(file)
            && (0..tokens.tokens.len())
                .any(|position| asked_size(file, &tokens, position).is_some_and(|asked| asked.name == *target))
    });
    let limit = limits.next()?;
    limits.next().is_none().then(|| limit.name.clone())
}

/// Names of queues with what they feed; those of the same name that differ are left out.
fn queue_positions(tree: &SourceTree, sources: &[String]) -> BTreeMap<String, Position> {
    let mut found: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for file in sources {
        let tokens = Tokens::of(tree.text(file).unwrap_or_default());
        for position in 0..tokens.tokens.len() {
            if tokens.get(position) != "TQue" || tokens.get(position + 1) != "<" {
                continue;
            }
            let Some(close) = tokens.closing_angle(position + 1) else { continue };
            let word = ["VECIN", "VECOUT"].into_iter().find(|word| (position..close).any(|at| tokens.get(at) == *word));
            let Some(word) = word else { continue };
            let end = tokens.expression_end(close + 1, false);
            for at in (close + 1..end).filter(|at| tokens.kind(*at) == Some(Kind::Identifier)) {
                found.entry(tokens.get(at).to_owned()).or_default().insert(word);
            }
        }
    }
    let one = found.into_iter().filter(|(_, words)| words.len() == 1);
    one.map(|(name, words)| (name, if words.contains("VECIN") { Position::In } else { Position::Out })).collect()
}

/// Buffers of a file that exist together: those of one block.
fn blocks(file: &str, tokens: &Tokens<'_>, known: &Known<'_>) -> Vec<Vec<Buffer>> {
    let mut found: BTreeMap<Option<usize>, Vec<Buffer>> = BTreeMap::new();
    for position in 0..tokens.tokens.len() {
        if tokens.get(position) != "InitBuffer" || tokens.get(position + 1) != "(" {
            continue;
        }
        let Some(arguments) = tokens.arguments(position + 1) else { continue };
        let (name, number, length) = match arguments.as_slice() {
            [queue, number, length] => {
                let name = tokens.compact(queue.clone());
                let number = number_of(file, tokens, &name, number.clone(), known);
                (name, number, length)
            }
            [buffer, length] => (tokens.compact(buffer.clone()), Number::Fixed(1), length),
            _ => continue,
        };
        let length = length_of(file, tokens, length.clone(), known);
        let name = name.rsplit(['.', '>']).next().unwrap_or_default().to_owned();
        let name = name.split('[').next().unwrap_or_default().to_owned();
        found.entry(tokens.enclosing(position)).or_default().push(Buffer { name, number, length });
    }
    found.into_values().collect()
}

fn number_of(file: &str, tokens: &Tokens<'_>, queue: &str, range: Range<usize>, known: &Known<'_>) -> Number {
    let words: Vec<&str> = range.map(|at| tokens.get(at)).collect();
    let argument = known.tunables.iter().find(|tunable| {
        matches!(&tunable.binding, Binding::Argument { file: own, call, first, .. }
            if own == file && call == "InitBuffer" && first == queue)
    });
    if let Some(Tunable { name, default: Some(Value::Int(present)), .. }) = argument {
        return Number::Tunable(name.clone(), *present);
    }
    if let Some(number) = literal::constant_expression(&words) {
        return Number::Fixed(number);
    }
    let name = words.last().copied().filter(|_| words.len() <= 3).unwrap_or_default();
    match (known.tuned(name), known.constant(file, name)) {
        (Some((tunable, present)), _) => Number::Tunable(tunable.to_owned(), present),
        (None, Some(number)) => Number::Fixed(number),
        (None, None) => Number::Unknown,
    }
}

/// What names stand for.
struct Known<'a> {
    tunables: &'a [Tunable],
    /// Values of constants by file and name, where there is one alone.
    constants: BTreeMap<(String, String), Option<i64>>,
}

impl<'a> Known<'a> {
    fn of(tree: &SourceTree, sources: &[String], tunables: &'a [Tunable]) -> Self {
        let mut constants = BTreeMap::new();
        for file in sources {
            for constant in constants_in(file, tree.text(file).unwrap_or_default()) {
                let value = constant.site.value.as_ref().and_then(Value::as_int);
                let known = constants.entry((file.clone(), constant.name)).or_insert(value);
                *known = (*known).filter(|known| Some(*known) == value);
            }
        }
        Self { tunables, constants }
    }

    /// The tunable that is the constant of this name, with its present value.
    fn tuned(&self, name: &str) -> Option<(&'a str, i64)> {
        let mut found = self.tunables.iter().filter_map(|tunable| match (&tunable.binding, &tunable.default) {
            (Binding::Constant { name: own, .. }, Some(Value::Int(value))) if own == name => {
                Some((tunable.name.as_str(), *value))
            }
            _ => None,
        });
        found.next()
    }

    fn constant(&self, file: &str, name: &str) -> Option<i64> {
        self.constants.get(&(file.to_owned(), name.to_owned())).copied().flatten()
    }
}

/// A product of at most one variable with sizes of types, numbers and constants.
fn length_of(file: &str, tokens: &Tokens<'_>, range: Range<usize>, known: &Known<'_>) -> Option<Length> {
    let mut variable = None;
    let (mut factors, mut present): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut at = range.start;
    while at < range.end {
        let end = (at..range.end).find(|end| tokens.get(*end) == "*").unwrap_or(range.end);
        let words: Vec<&str> = (at..end).map(|at| tokens.get(at)).collect();
        let path = words
            .iter()
            .all(|word| matches!(*word, "." | "->") || !word.contains(['(', '[', '+', '-', '/', '%', '<', '?']));
        let name = words.last().copied().filter(|_| path && tokens.kind(end - 1) == Some(Kind::Identifier));
        if let ["sizeof", "(", kind, ")"] = words.as_slice() {
            let bytes = fixed_type_bytes(kind).map_or("dtype_bytes".to_owned(), |bytes| bytes.to_string());
            factors.push(bytes.clone());
            present.push(bytes);
        } else if let Some(number) = literal::constant_expression(&words) {
            factors.push(number.to_string());
            present.push(number.to_string());
        } else if let Some((tunable, value)) = name.and_then(|name| known.tuned(name)) {
            factors.push(tunable.to_owned());
            present.push(value.to_string());
        } else if let Some(number) = name.and_then(|name| known.constant(file, name)) {
            factors.push(number.to_string());
            present.push(number.to_string());
        } else if variable.is_none() {
            variable = Some(name?.to_owned());
        } else {
            return None;
        }
        at = end + 1;
    }
    let product = |mut factors: Vec<String>| {
        factors.retain(|factor| factor != "1");
        factors.sort();
        factors.join(" * ")
    };
    Some(Length { variable, factor: product(factors), present: product(present) })
}

fn add(sum: &mut Sum, factor: &str, amount: i64) {
    *sum.entry(factor.to_owned()).or_default() += amount;
}

fn shown(sum: &Sum) -> String {
    let term = |(factor, amount): (&String, &i64)| match (factor.as_str(), amount) {
        ("", amount) => amount.to_string(),
        (factor, 1) => factor.to_owned(),
        (factor, amount) => format!("{amount} * {factor}"),
    };
    sum.iter().filter(|(_, amount)| **amount != 0).map(term).collect::<Vec<_>>().join(" + ")
}

/// That the queues of a position do not hold more event ids than there are, where a configuration could.
fn event_ids(
    buffers: &[Buffer],
    positions: &BTreeMap<String, Position>,
    position: Position,
    tunables: &[Tunable],
) -> Option<String> {
    let mut sum = Sum::new();
    let (mut present, mut most) = (0, 0);
    for buffer in buffers.iter().filter(|buffer| positions.get(&buffer.name) == Some(&position)) {
        match &buffer.number {
            Number::Tunable(name, value) => {
                add(&mut sum, name, 1);
                present += value;
                let tunable = tunables.iter().find(|tunable| tunable.name == *name)?;
                most += domain_values(tunable).ok()?.iter().filter_map(Value::as_int).max().unwrap_or(*value);
            }
            // What is not known is at least one.
            Number::Fixed(_) | Number::Unknown => {
                let number = if let Number::Fixed(number) = buffer.number { number } else { 1 };
                add(&mut sum, "", number);
                present += number;
                most += number;
            }
        }
    }
    // Queues that are used one after the other may have more together; then the sum says nothing.
    (present <= EVENT_IDS && most > EVENT_IDS).then(|| format!("{} <= {EVENT_IDS}", shown(&sum)))
}

/// Bytes of some buffers, as a configuration has it and as it is now; whether a tunable takes part that the tiling function does
/// not reckon with.
fn bytes<'a>(buffers: impl Iterator<Item = (&'a Number, &'a Length)>, flow: &Flow) -> Option<(String, String, bool)> {
    let (mut sum, mut present) = (Sum::new(), Sum::new());
    let mut tuned = false;
    let times = |left: &str, right: &str| {
        let parts: Vec<&str> = [left, right].into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(" * ")
    };
    for (number, length) in buffers {
        tuned |= length.factor != length.present;
        match number {
            Number::Fixed(number) => {
                add(&mut sum, &length.factor, *number);
                add(&mut present, &length.present, *number);
            }
            Number::Tunable(name, value) => {
                tuned |= !flow.divides_unified_buffer(name);
                add(&mut sum, &times(name, &length.factor), 1);
                add(&mut present, &length.present, *value);
            }
            Number::Unknown => return None,
        }
    }
    Some((shown(&sum), shown(&present), tuned))
}

/// That more buffers than now come with a smaller share of the unified buffer to plan with, where tiles are cut from that and the
/// tiling function does not know how many buffers there are.
fn planned_bytes(buffers: &[Buffer], flow: &Flow, limit: &str) -> Vec<String> {
    let with_variable = buffers.iter().filter_map(|buffer| buffer.length.as_ref()?.variable.as_ref());
    let variables: BTreeSet<&String> = with_variable.filter(|variable| flow.is_of_unified_buffer(variable)).collect();
    let condition = |variable: &String| {
        let measured = buffers.iter().filter_map(|buffer| Some((&buffer.number, buffer.length.as_ref()?)));
        let cut = measured.filter(|(_, length)| length.variable.as_ref() == Some(variable));
        let (sum, present, tuned) = bytes(cut, flow)?;
        let reckoned = buffers
            .iter()
            .any(|buffer| matches!(&buffer.number, Number::Tunable(name, _) if flow.divides_unified_buffer(name)));
        let fits = format!("{sum} <= {present} || {limit} > 0 && ({sum}) * {limit} <= ({present}) * ub_bytes");
        (tuned && !reckoned).then_some(fits)
    };
    variables.into_iter().filter_map(condition).collect()
}

/// That buffers of known lengths fit, unless they are no larger than now.
fn fixed_bytes(buffers: &[Buffer]) -> Option<String> {
    let nothing = Flow::default();
    let measured = buffers.iter().filter_map(|buffer| Some((&buffer.number, buffer.length.as_ref()?)));
    let fixed = measured.filter(|(number, length)| length.variable.is_none() && **number != Number::Unknown);
    let (sum, present, tuned) = bytes(fixed, &nothing)?;
    tuned.then(|| format!("{sum} <= max({present}, ub_bytes)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::{CaseFacts, Configuration, SearchSpace};

    const KERNEL: &str = "constexpr int32_t BUFFER_NUM = 2;\n\
        extern \"C\" __global__ __aicore__ void mix(GM_ADDR x) { int id = GetBlockIdx(); }\n\
        class K {\n  void Init(uint32_t length) {\n    this->length = length;\n    \
            pipe.InitBuffer(a, BUFFER_NUM, this->length * sizeof(DTYPE_X));\n    \
            pipe.InitBuffer(b, BUFFER_NUM, this->length * sizeof(DTYPE_X));\n    \
            pipe.InitBuffer(c, BUFFER_NUM, this->length * sizeof(DTYPE_X));\n    \
            pipe.InitBuffer(y, BUFFER_NUM, this->length * sizeof(DTYPE_X));\n    \
            pipe.InitBuffer(tmp, this->length * sizeof(float));\n  }\n  \
            TQue<QuePosition::VECIN, BUFFER_NUM> a, b, c;\n  TQue<QuePosition::VECOUT, BUFFER_NUM> y;\n  \
            TBuf<QuePosition::VECCALC> tmp;\n};\n";
    const HOST: &str = "void Tiling() {\n  platform.GetCoreMemSize(CoreMemType::UB, ubSize);\n  \
        tiling.set_length(ubSize / 16 / 2);\n  context->SetBlockDim(1);\n}\n";

    fn found(host: &str) -> (Vec<Tunable>, Vec<String>) {
        let mut tree = SourceTree::new();
        tree.insert("op_host/mix.cpp", host);
        tree.insert("op_kernel/mix.cpp", KERNEL);
        let sources = ["op_host/mix.cpp".to_owned(), "op_kernel/mix.cpp".to_owned()];
        let found = super::super::tunables::find(&tree, &sources, manifest::Layout::InTree);
        (found.tunables, found.constraints)
    }

    #[test]
    fn queues_hold_no_more_event_ids_than_there_are() {
        let (_, constraints) = found("void Tiling() { context->SetBlockDim(1); }");
        assert_eq!(constraints, ["3 * BUFFER_NUM <= 8"]);
    }

    #[test]
    fn more_buffers_come_with_a_smaller_share_of_the_unified_buffer() {
        let (tunables, constraints) = found(HOST);
        assert_eq!(
            constraints,
            [
                "3 * BUFFER_NUM <= 8",
                "4 + 4 * BUFFER_NUM * dtype_bytes <= 4 + 8 * dtype_bytes || ubSize_limit > 0 && \
                 (4 + 4 * BUFFER_NUM * dtype_bytes) * ubSize_limit <= (4 + 8 * dtype_bytes) * ub_bytes"
            ]
        );
        let facts = CaseFacts::of_machine("all", 48, 196_608).with_tensor(&[1024], 2);
        let constraints: Vec<(String, Range<usize>)> = constraints.into_iter().map(|text| (text, 0..0)).collect();
        let space = SearchSpace::new(&tunables, &constraints, &[facts]).unwrap();
        let fits = |buffers: i64, limit: i64| {
            let values = [("BUFFER_NUM", buffers), ("ubSize_limit", limit), ("block_dim", 1)];
            let configuration: Configuration =
                values.into_iter().map(|(name, value)| (name.to_owned(), Value::Int(value))).collect();
            space.check(&configuration).is_ok()
        };
        assert!(fits(1, 0) && fits(2, 0) && fits(2, 131_072));
        assert!(space.present().is_some_and(|present| space.allows(&present)), "what stands in the sources");
        assert!(!fits(3, 0) && !fits(4, 16_384), "neither bytes nor event ids allow it");
    }

    #[test]
    fn buffers_of_known_lengths_fit() {
        let mut tree = SourceTree::new();
        let kernel = "constexpr int32_t PIECE = 6144;\nclass K {\n  void Init() {\n    \
            pipe.InitBuffer(a, 2, 2 * PIECE * sizeof(float));\n    pipe.InitBuffer(y, 1, PIECE * sizeof(float));\n    \
            pipe.InitBuffer(tmp, PIECE * sizeof(float));\n    pipe.InitBuffer(rest, length);\n  }\n};\n";
        tree.insert("op_kernel/a.h", kernel);
        let found = super::super::tunables::find(&tree, &["op_kernel/a.h".to_owned()], manifest::Layout::InTree);
        assert_eq!(
            found.constraints,
            [
                "4 * 6144 + a_buffers * 2 * 4 * 6144 + y_buffers * 4 * 6144 <= max(2 * 2 * 4 * 6144 + 2 * 4 * 6144, ub_bytes)"
            ]
        );
    }

    #[test]
    fn a_tiling_function_that_knows_the_number_of_buffers_needs_no_condition() {
        let host = format!("constexpr int32_t BUFFER_NUM = 2;\n{}", HOST.replace("/ 2)", "/ BUFFER_NUM)"));
        assert_eq!(found(&host).1, ["3 * BUFFER_NUM <= 8"]);
    }
}
