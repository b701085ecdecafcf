//! `mcp`: serves what this tool knows and finds out to coding agents, over standard input and output.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use super::Exit;
use super::args::{Common, McpArgs};
use super::bank;
use super::target::worker_exe;
use agent::mcp::{Answer, Description, Offer, Turn, serve};
use agent::{api_facts, clipped, search_bank};
use experience::Bank;
use manifest::{FILE_NAME, Manifest};
use motif::Context;
use project::{OperatorProject, load_machine};
use source::facts::KnownValues;
use tuner::TunerError;

/// Executes the command: until its input ends.
pub fn execute(common: &Common, arguments: &McpArgs) -> Result<Exit, TunerError> {
    let desk = Desk { common: common.clone(), arguments: arguments.clone() };
    serve(Arc::new(desk), std::io::stdin().lock(), std::io::stdout())?;
    Ok(Exit::Fine)
}

/// What is offered about one project.
struct Desk {
    common: Common,
    arguments: McpArgs,
}

/// Bytes of a result.
const MOST_BYTES: usize = 64 << 10;
/// Places of one motif that are named, and refusals of all.
const MOST_PLACES: usize = 12;
/// How often a command that runs is looked after.
const GLANCE: Duration = Duration::from_millis(50);

impl Offer for Desk {
    fn name(&self) -> (&str, &str) {
        ("cargo-ascend-tune", env!("CARGO_PKG_VERSION"))
    }

    fn instructions(&self) -> String {
        let running = if self.arguments.allow_run {
            "profile, hazards and verify build the operator's code and run it on a model of the chip; all times are modelled."
        } else {
            "Nothing is built or run: profile, hazards and verify are there when the server is started with --allow-run."
        };
        format!(
            "About an Ascend C operator, as its files are at the moment of a call. No tool writes a source file. {running}"
        )
    }

    fn tools(&self) -> Vec<Description> {
        let text = |what: &str| json!({ "type": "string", "description": what });
        let object = |properties: Value, required: &[&str]| json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
        let tool = |name, description, schema, read_only| Description { name, description, schema, read_only };
        let mut tools = vec![
            tool(
                "lookup-api",
                "Signatures, dtypes, operands and modelled cost of a function of the Ascend C API.",
                object(json!({ "name": text("Name of the function, such as DataCopyPad") }), &["name"]),
                true,
            ),
            tool(
                "search-bank",
                "Records of what made kernels faster, or did not, in which all of some words occur.",
                object(json!({ "words": text("Words, such as a motif's id, a symptom or an operator") }), &["words"]),
                true,
            ),
            tool(
                "survey-motifs",
                "Known optimisations that could be applied to the operator's sources, where, and why not elsewhere.",
                object(json!({ "motif": text("Only this motif, by its id") }), &[]),
                true,
            ),
        ];
        if self.arguments.allow_run {
            let cases = json!({ "type": "array", "items": { "type": "string" }, "description": "Cases of ascend.toml; all without" });
            tools.extend([
                tool(
                    "profile",
                    "Builds the operator, runs its cases, and says where the time goes: pipes, waits and critical path by line.",
                    object(json!({ "cases": cases }), &[]),
                    false,
                ),
                tool(
                    "hazards",
                    "Builds the operator, runs its cases, and names races, reads of unwritten memory and accesses out of bounds.",
                    object(json!({ "cases": cases }), &[]),
                    false,
                ),
                tool(
                    "verify",
                    "Compares the operator with an earlier state of it on cases that nobody tuned on, or, without one, with ascend.lock: \
                     outputs, hazards and times.",
                    object(json!({ "against": text("Revision of git, or a directory") }), &[]),
                    false,
                ),
            ]);
        }
        tools
    }

    fn call(&self, tool: &str, arguments: &Value, turn: &Turn) -> Result<Answer, String> {
        let text = |name: &str| match arguments.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_str().map(Some).ok_or_else(|| format!("`{name}` is no text")),
        };
        let needed = |name: &str| text(name)?.ok_or_else(|| format!("`{name}` is missing"));
        Ok(match tool {
            "lookup-api" => said(needed("name").and_then(|name| api_facts(name, self.machine().as_ref()))),
            "search-bank" => said(self.bank().and_then(|bank| search_bank(&bank, needed("words")?))),
            "survey-motifs" => self.survey(text("motif")?).map_or_else(
                |message| failed(&message),
                |(text, data)| Answer { text: clipped(&text, MOST_BYTES), data: Some(data), is_error: false },
            ),
            "profile" | "hazards" => {
                let mut words = vec!["profile".to_owned()];
                for case in cases(arguments)? {
                    // A word that begins like an option is one to nobody.
                    words.push(format!("--case={case}"));
                }
                self.run(&words, turn, tool == "hazards")
            }
            "verify" => {
                let words = match text("against")? {
                    Some(against) if against.starts_with('-') => {
                        return Err("`against` begins like an option".to_owned());
                    }
                    Some(against) => vec!["compare".to_owned(), format!("--against={against}")],
                    None => vec!["check".to_owned()],
                };
                self.run(&words, turn, false)
            }
            other => failed(&format!("there is no tool {other:?}")),
        })
    }
}

fn cases(arguments: &Value) -> Result<Vec<String>, String> {
    let Some(cases) = arguments.get("cases").filter(|cases| !cases.is_null()) else { return Ok(Vec::new()) };
    let names = cases.as_array().map(|cases| cases.iter().map(|case| case.as_str().map(str::to_owned)).collect());
    names.flatten().ok_or_else(|| "`cases` is no list of texts".to_owned())
}

fn failed(message: &str) -> Answer {
    Answer { text: clipped(message, MOST_BYTES), data: None, is_error: true }
}

fn said(result: Result<String, String>) -> Answer {
    result.map_or_else(
        |message| failed(&message),
        |text| Answer { text: clipped(&text, MOST_BYTES), data: None, is_error: false },
    )
}

impl Desk {
    fn project(&self) -> Result<OperatorProject, String> {
        OperatorProject::find(&self.common.project).map_err(|error| error.to_string())
    }

    /// The machine that the project's manifest names: without one nothing is known of costs.
    fn machine(&self) -> Option<aicore::Machine> {
        let project = self.project().ok()?;
        let manifest = Manifest::load(&project.root.join(FILE_NAME)).ok()?;
        load_machine(&manifest.machine, &project.root).ok()
    }

    fn bank(&self) -> Result<Bank, String> {
        let mut all = Bank::shipped();
        if let Some(directory) = bank::project_bank(&self.common) {
            all.merge(bank::load(&directory).map_err(|error| error.to_string())?);
        }
        Ok(all)
    }

    fn survey(&self, only: Option<&str>) -> Result<(String, Value), String> {
        let sources = self.project()?.load_sources().map_err(|error| error.to_string())?;
        let motifs: Vec<&dyn motif::Motif> = match only {
            Some(id) => vec![motif::named(id).ok_or_else(|| format!("no motif is called {id:?}"))?],
            None => motif::all().to_vec(),
        };
        let context = Context::new(sources, KnownValues::default(), None);
        let (mut text, mut found, mut refused) = (String::new(), Vec::new(), Vec::new());
        for motif in motifs {
            let (id, title) = (motif.id().name(), motif.metadata().title);
            let findings = motif.find(&context);
            for site in findings.sites.iter().take(MOST_PLACES) {
                text.push_str(&format!("{id} {title} at {}:{}: {}\n", site.file, site.line, site.note));
                found.push(json!({ "motif": id, "title": title, "file": site.file, "line": site.line, "note": site.note, "conditions": site.conditions }));
            }
            for refusal in findings.refused.iter().take(MOST_PLACES) {
                refused
                    .push(json!({ "motif": id, "file": refusal.file, "line": refusal.line, "reason": refusal.reason }));
            }
        }
        if found.is_empty() {
            text.push_str("No motif applies to the sources as they are.\n");
        }
        for one in refused.iter().take(MOST_PLACES) {
            let of = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
            text.push_str(&format!("not {} at {}:{}: {}\n", of("motif"), of("file"), one["line"], of("reason")));
        }
        Ok((text, json!({ "sites": found, "refused": refused })))
    }

    /// Runs a command of this program about the project: in a process of its own, so that it can be given up.
    fn run(&self, words: &[String], turn: &Turn, hazards_only: bool) -> Answer {
        let started = Instant::now();
        let mut command = match worker_exe() {
            Ok(exe) => Command::new(exe),
            Err(error) => return failed(&error.to_string()),
        };
        command.args(words).arg("--project").arg(&self.common.project).args(["--message-format", "json"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let mut child = match command.spawn() {
            Ok(child) => Reaped(child),
            Err(error) => return failed(&error.to_string()),
        };
        let Some(output) = child.0.stdout.take() else { return failed("the command has no output") };
        let (send, lines) = channel();
        std::thread::spawn(move || {
            // More than a report has is no report.
            let lines = BufReader::new(output.take(64 << 20)).lines().map_while(Result::ok);
            lines.map(|line| send.send(line)).take_while(Result::is_ok).for_each(drop);
        });
        let limit = Duration::from_secs_f64(self.arguments.limit_s);
        let mut events: Vec<Value> = Vec::new();
        loop {
            match lines.recv_timeout(GLANCE) {
                Ok(line) => {
                    let event: Value = serde_json::from_str(&line).unwrap_or_default();
                    turn.step(event["event"].as_str().unwrap_or_default());
                    events.push(event);
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if turn.is_cancelled() {
                return failed("it was cancelled");
            }
            if started.elapsed() > limit {
                return failed(&format!("it was not done within {} s (--limit-s)", limit.as_secs_f64()));
            }
        }
        let status = child.0.wait().ok().and_then(|status| status.code());
        let told = |event: &Value| !matches!(event["event"].as_str(), None | Some("start" | "sdk" | "progress"));
        let events: Vec<Value> =
            events.into_iter().filter(told).map(|event| if hazards_only { of_hazards(event) } else { event }).collect();
        let text: String = events.iter().map(|event| format!("{event}\n")).collect();
        let whole = text.len() <= MOST_BYTES;
        let data = whole.then(|| json!({ "exit": status, "events": events }));
        let is_error = events.iter().any(|event| event["event"] == "error") || status.is_none();
        Answer { text: clipped(&text, MOST_BYTES), data, is_error }
    }
}

/// A profile without what says nothing of hazards.
fn of_hazards(event: Value) -> Value {
    if event["event"] != "profile" {
        return event;
    }
    let of = |name: &str| event.get(name).cloned().unwrap_or_default();
    json!({
        "event": "profile", "case": of("case"), "kernel": of("kernel"), "launch": of("launch"), "hazards": of("hazards"),
        "correct": of("correct"), "checked": of("checked"),
    })
}

/// Ends with what it is about.
struct Reaped(Child);

impl Drop for Reaped {
    fn drop(&mut self) {
        // With what it has started; it may have ended by itself.
        if let Some(group) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.0.wait();
    }
}
