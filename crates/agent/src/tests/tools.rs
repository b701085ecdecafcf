//! Tools that a model calls: what they bring, what bounds them, and that a recording has them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::*;
use crate::testing::{ScriptedServer, Step};
use aicore::Machine;
use proposer::Proposer;
use serde_json::{Value, json};

/// Sources that were tried, and for what.
type Tried = Arc<Mutex<Vec<(Try, String)>>>;

/// Tries nothing, and remembers what it was given.
#[derive(Debug)]
struct Notebook(Tried);

impl Bench for Notebook {
    fn try_out(&mut self, what: Try, sources: &SourceTree, limit: Duration) -> Result<String, String> {
        assert_eq!(limit, Duration::from_secs(5));
        self.0.lock().unwrap().push((what, sources.text(KERNEL).unwrap().to_owned()));
        match what {
            Try::Compile => Err("/tmp/x/op_kernel/add.cpp:7: no PIPE_W".to_owned()),
            _ => Ok("9".repeat(20_000)),
        }
    }
}

fn toolbox(tried: &Tried, names: &[&str]) -> Toolbox {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let machine = Machine::named("ascend910b2").unwrap();
    let bench = Box::new(Notebook(Arc::clone(tried)));
    Toolbox::new(&names, (3, Duration::from_secs(5)), &machine, Arc::new(Bank::shipped()), Some(bench))
}

fn all(tried: &Tried) -> Toolbox {
    toolbox(tried, &Tool::ALL.map(Tool::name))
}

fn call(name: &str, arguments: &Value) -> ToolCall {
    ToolCall { id: "1".to_owned(), name: name.to_owned(), arguments: arguments.to_string() }
}

fn used(toolbox: &mut Toolbox, name: &str, arguments: &Value) -> String {
    toolbox.used(&call(name, arguments), &sources())
}

const BARRIER: &str = "        AscendC::PipeBarrier<PIPE_ALL>();";

#[test]
fn every_tool_is_listed_with_a_schema_and_does_what_it_says() {
    let tried = Tried::default();
    let mut tools = all(&tried);
    let listed = tools.listed();
    assert_eq!(listed.as_array().unwrap().len(), 6);
    assert_eq!(manifest::MODEL_TOOLS, Tool::ALL.map(Tool::name));
    assert!(listed[5]["function"]["parameters"]["properties"]["path"].is_object());

    let edits = edit(BARRIER, "        AscendC::PipeBarrier<PIPE_W>();");
    let compiled = used(&mut tools, "compile", &json!({ "edits": edits }));
    assert_eq!(compiled, "Error: add.cpp:7: no PIPE_W", "folders stay here");
    assert!(tried.lock().unwrap()[0].1.contains("PIPE_W"));
    let profile = used(&mut tools, "profile", &json!({ "edits": "" }));
    assert!(profile.len() < 9000 && profile.ends_with("bytes more)"), "{}", profile.len());
    assert_eq!(tried.lock().unwrap()[1], (Try::Profile, KERNEL_TEXT.to_owned()), "without edits, as it stands");
    assert!(used(&mut tools, "lookup-api", &json!({ "name": "Adds" })).contains("cost: 25 cycles"));
    assert!(used(&mut tools, "read-file", &json!({ "path": KERNEL, "from": 6, "to": 7 })).ends_with(BARRIER));
    let found = used(&mut tools, "search-bank", &json!({ "words": "D01" }));
    assert!(found.contains("D01 ") && found.lines().count() <= 7, "{found}");
}

#[test]
fn tools_reach_nothing_but_the_sources() {
    let tried = Tried::default();
    let mut tools = all(&tried);
    for path in ["ascend.toml", "/etc/passwd", "../op_kernel/add.cpp", "op_kernel/../op_host/add.cpp", ""] {
        let said = used(&mut tools, "read-file", &json!({ "path": path }));
        assert!(said.starts_with("Error: ") && said.contains("none of the operator's sources"), "{path}: {said}");
        let edits = format!("<<<<<<< SEARCH {path}\nx\n=======\ny\n>>>>>>> REPLACE");
        let said = used(&mut tools, "profile", &json!({ "edits": edits }));
        assert!(said.starts_with("Error: "), "{path}: {said}");
    }
    assert!(tried.lock().unwrap().is_empty());
    assert!(used(&mut tools, "read-file", &json!({ "path": KERNEL, "from": 99 })).contains("the file has 12"));
    assert!(used(&mut tools, "read-file", &json!({ "path": KERNEL, "mode": "w" })).contains("unknown field"));
    assert!(used(&mut tools, "shell", &json!({})).contains("there is no tool \"shell\"; there are compile, profile"));
    assert!(used(&mut tools, "search-bank", &json!({ "words": " " })).contains("no words"));
    let mut few = toolbox(&tried, &["read-file"]);
    assert!(used(&mut few, "compile", &json!({ "edits": "" })).contains("no tool \"compile\""), "it was not given");
    let machine = Machine::named("ascend910b2").unwrap();
    let names = ["compile".to_owned()];
    assert!(Toolbox::new(&names, (3, Duration::ZERO), &machine, Arc::default(), None).is_empty());
}

/// A conversation in which a model calls tools, over HTTP; what it proposes, and what the server heard.
fn conversation(
    chat: impl FnOnce(Client) -> Box<dyn Chat>,
    steps: Vec<Step>,
) -> (Vec<String>, ScriptedServer, Vec<String>) {
    let server = ScriptedServer::start(steps).unwrap();
    let settings = Settings { share: 1.0, at_once: 1, ..settings(&server.endpoint()) };
    let client = Client::new(&settings, None, &Consent::given(settings.host())).unwrap();
    let toolbox = all(&Tried::default());
    let model = Collaborator::model_with_tools(subject(), settings, Templates::default(), chat(client), toolbox);
    let (context, bank, history) = (context(KERNEL_TEXT), Bank::new(), History::default());
    let mut proposed = Vec::new();
    loop {
        let offers = model.propose(&asked(&context, &bank, &history, 0));
        proposed.extend(offers.iter().map(|offer| offer.patch.title.clone()));
        if !offers.is_empty() || !model.is_at_work() {
            let codes = model.notes().iter().map(|note| format!("{}: {}", note.code, note.message)).collect();
            return (proposed, server, [codes, model.failure().into_iter().collect::<Vec<_>>()].concat());
        }
    }
}

fn script() -> Vec<Step> {
    let say = |text: &str| Step::Say(text.to_owned());
    let read = || Step::Call("read-file".to_owned(), json!({ "path": KERNEL, "from": 6, "to": 6 }));
    let good = edit(BARRIER, "        AscendC::PipeBarrier<PIPE_V>();");
    vec![say("d"), read(), read(), read(), read(), say("- i"), say(&good)]
}

#[test]
fn calls_are_answered_and_bounded() {
    let mut steps = script();
    // The fourth call is one too many: the question says so, and what is called all the same is no answer.
    steps.remove(4);
    let (proposed, server, notes) = conversation(|client| Box::new(client), steps);
    assert_eq!((proposed.as_slice(), notes.len()), (&["less".to_owned()][..], 0));
    let received = server.received();
    assert_eq!(received.len(), 6);
    assert_eq!(
        received[2].body["messages"][3]["content"],
        format!("lines 6 to 6 of 12\n{}", KERNEL_TEXT.lines().nth(5).unwrap())
    );
    assert_eq!(received[2].body["messages"][3]["tool_call_id"], "call-1");
    let choices: Vec<&str> = received.iter().map(|one| one.body["tool_choice"].as_str().unwrap()).collect();
    assert_eq!(choices, ["auto", "auto", "auto", "auto", "none", "auto"]);
}

#[test]
fn a_server_without_tools_is_asked_without_them() {
    let steps = [Step::status(400, "tools"), Step::status(400, "tools")];
    let steps = steps.into_iter().chain(script().into_iter().filter(|step| !matches!(step, Step::Call(..))));
    let (proposed, server, notes) = conversation(|client| Box::new(client), steps.collect());
    assert_eq!(proposed, ["less"]);
    assert!(notes[0].starts_with("model-without-tools") && server.received()[2].body.get("tools").is_none());
}

#[test]
fn what_tools_brought_is_recorded_and_comes_out_of_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.jsonl");
    let mut steps = script();
    steps.remove(4);
    let (recorded, ..) = conversation(|client| Box::new(Recorder::create(&path, Box::new(client)).unwrap()), steps);
    let text = fs_err::read_to_string(&path).unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("{\"tool\"")).count(), 3);
    // What the tool would bring now does not matter.
    let of_tool = |line: &str| line.starts_with("{\"tool\"");
    let changed = |line: &str| if of_tool(line) { line.replace("of 12", "of 99") } else { line.to_owned() };
    let other: String = text.lines().map(|line| format!("{}\n", changed(line))).collect();
    let replay = |text: &str| {
        fs_err::write(&path, text).unwrap();
        conversation(|_| Box::new(Replay::open(&path).unwrap()), Vec::new())
    };
    let (again, server, notes) = replay(&text);
    assert_eq!((again, server.received().len(), notes.len()), (recorded, 0, 0));
    let (_, _, notes) = replay(&other);
    assert!(notes[0].contains("line 1 of the message 3 was"), "{notes:?}");
    let without: String =
        text.lines().filter(|line| !line.starts_with("{\"tool\"")).map(|line| format!("{line}\n")).collect();
    let (_, _, notes) = replay(&without);
    assert!(
        notes[0].contains("the use of the tool \"read-file\" after question 2 of this run was not recorded"),
        "{notes:?}"
    );
}
