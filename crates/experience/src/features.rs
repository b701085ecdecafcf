//! The shape of a kernel and the symptoms of a profile, in words that do not depend on names.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use aicore::Profile;
use motif::Context;
use source::lex::{PieceKind, pieces};

/// Code-shape features of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Features {
    /// Element types of global tensors, sorted.
    pub dtypes: Vec<String>,
    /// Input queues.
    pub input_queues: u32,
    /// Output queues.
    pub output_queues: u32,
    /// Scratch buffers.
    pub scratch_buffers: u32,
    /// Largest number of buffers of a queue, 0 if unknown.
    pub buffers: u32,
    /// Loops with scalar element access.
    pub scalar_loops: u32,
    /// Full barriers.
    pub full_barriers: u32,
    /// Vector instructions.
    pub vector_calls: u32,
    /// Copies between memories.
    pub copies: u32,
}

impl Features {
    /// Name and value pairs for comparison; counts in powers of two, because 6 and 7 barriers are alike.
    pub fn tokens(&self) -> Vec<(&'static str, String)> {
        let bucket = |count: u32| (u32::BITS - count.leading_zeros()).to_string();
        let mut tokens = vec![
            ("buffers", self.buffers.to_string()),
            ("input-queues", bucket(self.input_queues)),
            ("output-queues", bucket(self.output_queues)),
            ("scratch-buffers", bucket(self.scratch_buffers)),
            ("scalar-loops", bucket(self.scalar_loops)),
            ("full-barriers", bucket(self.full_barriers)),
            ("vector-calls", bucket(self.vector_calls)),
            ("copies", bucket(self.copies)),
        ];
        tokens.extend(self.dtypes.iter().map(|dtype| ("dtype", dtype.clone())));
        tokens
    }

    /// Likeness between 0 and 1: shared tokens over all tokens.
    pub fn likeness(&self, other: &Features) -> f64 {
        let left: BTreeSet<_> = self.tokens().into_iter().collect();
        let right: BTreeSet<_> = other.tokens().into_iter().collect();
        let shared = left.intersection(&right).count();
        shared as f64 / (left.len() + right.len() - shared).max(1) as f64
    }
}

/// The features of all kernels of a source tree together.
pub fn features_of(context: &Context) -> Features {
    let mut features = Features::default();
    let mut dtypes = BTreeSet::new();
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    for kernel in context.facts.kernels.values() {
        dtypes.extend(kernel.globals.values().map(|(element, _)| element.clone()));
        features.input_queues +=
            count(kernel.queues.values().filter(|queue| queue.position.starts_with("VECIN")).count());
        features.output_queues += count(kernel.queues.values().filter(|queue| queue.position == "VECOUT").count());
        features.scratch_buffers += count(kernel.buffers.len());
        for place in kernel.init_buffers.iter().filter_map(|init| init.number.as_ref()) {
            let text = context.forest.get(&place.file).map(|file| file.slice(&place.span())).unwrap_or_default();
            let number = context.facts.known.value(text).and_then(|number| u32::try_from(number).ok()).unwrap_or(0);
            features.buffers = features.buffers.max(number);
        }
    }
    for file in context.forest.iter() {
        for call in file.calls() {
            let vector = source::facts::api::vector_shape(&call.name).is_some() && call.object.is_none();
            features.vector_calls += u32::from(vector);
            features.copies += u32::from(source::facts::api::is_copy(&call.name));
            features.full_barriers +=
                u32::from(call.name == "PipeBarrier" && call.template_arguments.as_deref() == Some("PIPE_ALL"));
        }
        let scalar = |span: &std::ops::Range<usize>| {
            file.calls_in(span.clone()).any(|call| call.name == "SetValue" || call.name == "GetValue")
        };
        features.scalar_loops += count(file.loops().iter().filter(|repetition| scalar(&repetition.body)).count());
    }
    features.dtypes = dtypes.into_iter().collect();
    features
}

/// Symptoms of a profile: the rows of the catalogue's table from symptom to motif. The thresholds are seeds for calibration.
pub fn symptoms_of(profile: &Profile) -> Vec<String> {
    let core = profile.longest_core_us.max(f64::MIN_POSITIVE);
    let pipes = &profile.pipes;
    let highest = [pipes.scalar_us, pipes.vec_us, pipes.mte2_us, pipes.mte3_us].into_iter().fold(0.0, f64::max);
    let stalls: f64 = profile.stalls.iter().map(|stall| stall.time_us).sum();
    let barriers: f64 =
        profile.stalls.iter().filter(|stall| stall.reason.contains("barrier")).map(|stall| stall.time_us).sum();
    let rows = [
        ("scalar-bound", pipes.scalar_us > 0.4 * core),
        ("vector-bound", pipes.vec_us > 0.7 * core),
        ("mte2-bound", pipes.mte2_us > 0.8 * core),
        ("mte3-bound", pipes.mte3_us > 0.8 * core),
        ("no-pipe-busy", highest < 0.6 * core),
        ("waits", stalls > 0.3 * core),
        ("barrier-waits", barriers > 0.05 * core),
        ("launch-bound", profile.task_us - profile.longest_core_us > 0.3 * profile.task_us),
        ("core-imbalance", profile.longest_core_us - profile.shortest_core_us > 0.1 * core),
    ];
    rows.into_iter().filter(|(_, shown)| *shown).map(|(name, _)| name.to_owned()).collect()
}

/// Code with its own names replaced in order of appearance and without comments: equal shapes give equal texts.
pub fn normalise(code: &str) -> String {
    const KEPT: &[&str] = &[
        "for",
        "if",
        "else",
        "while",
        "return",
        "const",
        "constexpr",
        "auto",
        "float",
        "half",
        "int32_t",
        "uint32_t",
        "int64_t",
        "uint64_t",
        "static_cast",
        "sizeof",
        "AscendC",
        "PIPE_ALL",
        "PIPE_V",
    ];
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    let mut lines: Vec<String> = vec![String::new()];
    let mut end = 0;
    for token in pieces(code).into_iter().filter(|token| token.kind != PieceKind::Comment) {
        lines.extend(code[end..token.span.start].matches('\n').map(|_| String::new()));
        end = token.span.end;
        let word = &code[token.span];
        let api = word.starts_with(|first: char| first.is_ascii_uppercase())
            && word.contains(|c: char| c.is_ascii_lowercase());
        let text = if token.kind != PieceKind::Word || KEPT.contains(&word) || api {
            word.to_owned()
        } else {
            let next = format!("v{}", names.len());
            names.entry(word).or_insert(next).clone()
        };
        if let Some(line) = lines.last_mut() {
            let joined = line.is_empty()
                || !line.ends_with(|c: char| c.is_alphanumeric() || c == '_')
                || !text.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            if !joined {
                line.push(' ');
            }
            line.push_str(&text);
        }
    }
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}
