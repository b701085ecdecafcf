//! Tools that a model may call before it answers: each bounded, and none that writes anything but a candidate of its own.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{change, one_line};
use super::api::api_facts;
use super::chat::ToolCall;
use super::scrub::without_folders;
use aicore::Machine;
use experience::{Bank, Record};
use source::SourceTree;

/// What a candidate is tried for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Try {
    /// Whether it compiles.
    Compile,
    /// How long it takes, and where that goes.
    Profile,
    /// Whether it is free of races, unwritten memory and the like.
    Hazards,
}

/// Tries sources as a run does, beside it. What it builds lies where candidates lie.
pub trait Bench: Debug + Send {
    /// What comes of it, several lines; `Err` says why nothing did.
    fn try_out(&mut self, what: Try, sources: &SourceTree, limit: Duration) -> Result<String, String>;
}

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// Tries a candidate.
    Try(Try),
    /// Says what is known of a function of the API.
    LookUpApi,
    /// Finds records of what helped other kernels.
    SearchBank,
    /// Shows a file of the operator.
    ReadFile,
}

impl Tool {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Try(Try::Compile),
        Self::Try(Try::Profile),
        Self::Try(Try::Hazards),
        Self::LookUpApi,
        Self::SearchBank,
        Self::ReadFile,
    ];

    /// The word in manifests, and for the model.
    pub fn name(self) -> &'static str {
        match self {
            Self::Try(Try::Compile) => "compile",
            Self::Try(Try::Profile) => "profile",
            Self::Try(Try::Hazards) => "hazards",
            Self::LookUpApi => "lookup-api",
            Self::SearchBank => "search-bank",
            Self::ReadFile => "read-file",
        }
    }

    fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    fn does(self) -> &'static str {
        match self {
            Self::Try(Try::Compile) => "Compiles the sources with your edits and says what the compiler says.",
            Self::Try(Try::Profile) => {
                "Runs the timed cases on the model of the chip with your edits: whether results are right, times, busy and waiting pipes."
            }
            Self::Try(Try::Hazards) => {
                "Runs the timed cases with your edits and names races, reads of unwritten memory and accesses out of bounds."
            }
            Self::LookUpApi => "Signatures, dtypes, operands and cost of a function of the Ascend C API.",
            Self::SearchBank => {
                "What helped other kernels, or did not, by words such as a motif, a symptom or an operator."
            }
            Self::ReadFile => "Lines of one of the operator's source files as they are now.",
        }
    }

    /// As a request lists it.
    pub(super) fn listed(self) -> Value {
        let text = |what: &str| json!({ "type": "string", "description": what });
        let (properties, required) = match self {
            Self::Try(_) => (
                json!({ "edits": text("Edits in the form of the answer, or nothing for the sources as they are") }),
                vec!["edits"],
            ),
            Self::LookUpApi => (json!({ "name": text("Name of the function") }), vec!["name"]),
            Self::SearchBank => (json!({ "words": text("Words that all have to occur") }), vec!["words"]),
            Self::ReadFile => {
                let line = json!({ "type": "integer", "minimum": 1 });
                (json!({ "path": text("Path of the file"), "from": line, "to": line }), vec!["path"])
            }
        };
        let parameters =
            json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
        json!({ "type": "function", "function": { "name": self.name(), "description": self.does(), "parameters": parameters } })
    }
}

/// What tools work on, and how much they may be used.
#[derive(Debug)]
pub struct Toolbox {
    tools: Vec<Tool>,
    bench: Option<Box<dyn Bench>>,
    machine: Option<Machine>,
    bank: Arc<Bank>,
    /// Calls for one answer, at most.
    pub(super) most_calls: u32,
    limit: Duration,
}

/// Bytes of a result that a model gets to see.
const MOST_BYTES: usize = 8 << 10;
/// Records of a search.
const MOST_RECORDS: usize = 6;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edits {
    edits: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Name {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    words: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lines {
    path: String,
    from: Option<usize>,
    to: Option<usize>,
}

impl Toolbox {
    /// Nothing in it.
    pub fn empty() -> Self {
        let (tools, bank, limit) = (Vec::new(), Arc::default(), Duration::ZERO);
        Self { tools, bench: None, machine: None, bank, most_calls: 0, limit }
    }

    /// The tools of these names. Those that try candidates need a `bench`; without one they are not there.
    pub fn new(
        names: &[String],
        (most_calls, limit): (u32, Duration),
        machine: &Machine,
        bank: Arc<Bank>,
        bench: Option<Box<dyn Bench>>,
    ) -> Self {
        let there = |tool: &Tool| bench.is_some() || !matches!(tool, Tool::Try(_));
        let tools = names.iter().filter_map(|name| Tool::by_name(name)).filter(there).collect();
        Self { tools, bench, machine: Some(machine.clone()), bank, most_calls, limit }
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// As a request lists them.
    pub(super) fn listed(&self) -> Value {
        self.tools.iter().map(|tool| tool.listed()).collect()
    }

    /// What a call brings about these sources. What went wrong is a result too: the model can call again.
    pub(super) fn used(&mut self, call: &ToolCall, sources: &SourceTree) -> String {
        let tool = Tool::by_name(&call.name).filter(|tool| self.tools.contains(tool));
        let result = match tool {
            Some(tool) => self.result(tool, &call.arguments, sources),
            None => {
                let names: Vec<&str> = self.tools.iter().map(|tool| tool.name()).collect();
                Err(format!("there is no tool {:?}; there are {}", one_line(&call.name), names.join(", ")))
            }
        };
        let text = result.unwrap_or_else(|message| format!("Error: {message}"));
        clipped(&without_folders(&text), MOST_BYTES)
    }

    fn result(&mut self, tool: Tool, arguments: &str, sources: &SourceTree) -> Result<String, String> {
        match tool {
            Tool::Try(what) => {
                let Edits { edits } = read(arguments)?;
                let wanted = if edits.trim().is_empty() {
                    sources.clone()
                } else {
                    change(&edits, sources).map_err(|error| error.to_string())?.wanted
                };
                let bench = self.bench.as_mut().ok_or("nothing can be tried here")?;
                bench.try_out(what, &wanted, self.limit)
            }
            Tool::LookUpApi => api_facts(&read::<Name>(arguments)?.name, self.machine.as_ref()),
            Tool::SearchBank => search_bank(&self.bank, &read::<Words>(arguments)?.words),
            Tool::ReadFile => {
                let Lines { path, from, to } = read(arguments)?;
                lines(sources, &path, from.unwrap_or(1), to.unwrap_or(usize::MAX))
            }
        }
    }
}

fn read<'a, Arguments: Deserialize<'a>>(arguments: &'a str) -> Result<Arguments, String> {
    serde_json::from_str(arguments).map_err(|error| format!("the arguments are none of this tool: {error}"))
}

fn lines(sources: &SourceTree, path: &str, from: usize, to: usize) -> Result<String, String> {
    let Some(text) = sources.text(path.trim()) else {
        let known: Vec<&str> = sources.iter().map(|(file, _)| file).collect();
        return Err(format!("{} is none of the operator's sources: {}", one_line(path), known.join(", ")));
    };
    let count = text.lines().count();
    let (first, last) = (from.max(1), to.min(count));
    if first > last {
        return Err(format!("there are no lines from {from} to {to}: the file has {count}"));
    }
    let shown: Vec<&str> = text.lines().skip(first - 1).take(last + 1 - first).collect();
    Ok(format!("lines {first} to {last} of {count}\n{}", shown.join("\n")))
}

/// Records of a bank in which all words occur, those with the largest gain first.
pub fn search_bank(bank: &Bank, words: &str) -> Result<String, String> {
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    if words.is_empty() {
        return Err("there are no words to search for".to_owned());
    }
    let mut found: Vec<(String, &Record)> = bank
        .iter()
        .map(|(id, record)| (said(id, record), record))
        .filter(|(said, _)| words.iter().all(|word| said.to_lowercase().contains(word)))
        .collect();
    // The bank's own order decides between equals.
    found.sort_by(|left, right| right.1.gain().total_cmp(&left.1.gain()));
    if found.is_empty() {
        return Ok("no record has all of these words".to_owned());
    }
    let count = found.len();
    let mut text: Vec<String> = found.into_iter().take(MOST_RECORDS).map(|(said, _)| said).collect();
    if count > MOST_RECORDS {
        text.push(format!("and {} more", count - MOST_RECORDS));
    }
    Ok(text.join("\n"))
}

fn said(id: &str, record: &Record) -> String {
    let title = motif::named(&record.motif).map_or("", |motif| motif.metadata().title);
    let verdict = serde_json::to_value(record.verdict).ok();
    let verdict = verdict.as_ref().and_then(Value::as_str).unwrap_or_default();
    let list = |name: &str, items: &[String]| {
        if items.is_empty() { String::new() } else { format!("; {name}: {}", items.join(", ")) }
    };
    format!(
        "{id}: {} {title}: {verdict}, {:.2}x ({} us to {} us){}{}{}",
        record.motif,
        record.gain(),
        record.before_us,
        record.after_us,
        list("symptoms", &record.symptoms),
        list("needs", &record.conditions),
        list("not when", &record.avoid_when)
    )
}

/// As much of a text as has at most so many bytes, and how much more there is.
pub fn clipped(text: &str, most_bytes: usize) -> String {
    let (shown, rest) = text.split_at(beginning(text, most_bytes));
    if rest.is_empty() { text.to_owned() } else { format!("{shown}\n.. ({} bytes more)", rest.len()) }
}

/// Where a text is cut to have at most so many bytes.
pub(super) fn beginning(text: &str, most_bytes: usize) -> usize {
    (0..=most_bytes.min(text.len())).rfind(|end| text.is_char_boundary(*end)).unwrap_or(0)
}
