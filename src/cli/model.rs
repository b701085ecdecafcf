//! The language model of a run: whether there is one, who agreed to send it sources, and what it has cost.

use std::io::{BufRead, IsTerminal, Write};
use std::sync::Arc;

use super::Exit;
use super::args::{ModelArgs, ResumeMode, RunArgs, StageChoice};
use super::output::Output;
use agent::{
    Chat, Client, Consent, Kept, Key, ModelProposer, Prompt, Recorder, Replay, Role, Settings, State, Subject,
    Templates,
};
use events::{Event, ModelUse, Warning};
use experience::Bank;
use manifest::{FILE_NAME, ModelSettings};
use proposer::{Asked, History, Proposer, Standing};
use tuner::{Surveyed, TunerError, Workspace};

/// Where a run keeps what it was answered, for when it is taken up again.
const KEPT: &str = "model.jsonl";

/// A model that takes part in a run.
#[derive(Debug)]
pub struct ModelOfRun {
    model: Arc<ModelProposer>,
    /// Host, or name of a recording.
    asked: String,
    /// What a run depends on of it.
    pub digest: String,
}

impl ModelOfRun {
    /// The one who proposes.
    pub fn proposer(&self) -> Arc<dyn Proposer> {
        Arc::clone(&self.model) as Arc<dyn Proposer>
    }

    /// What it was asked, and what that cost.
    pub fn used(&self) -> ModelUse {
        let used = self.model.used();
        ModelUse {
            asked: self.asked.clone(),
            answers: used.spent.answers,
            failures: used.spent.failures,
            prompt_tokens: used.spent.prompt_tokens,
            answer_tokens: used.spent.answer_tokens,
            seconds: used.spent.seconds,
            money: used.spent.money,
            evaluations: used.evaluations,
            ended: used.over,
        }
    }
}

/// A model that may be asked: its settings, and the way to it.
#[derive(Debug)]
pub struct Invited {
    settings: Settings,
    templates: Templates,
    chat: Box<dyn Chat>,
    asked: String,
}

impl Invited {
    /// The same in a run of an operator that was looked at.
    pub fn takes_part(self, workspace: &Workspace, surveyed: &Surveyed) -> ModelOfRun {
        let Self { settings, templates, chat, asked } = self;
        // Where it is asked does not matter to what is proposed; what it is asked does.
        let digest = format!("{:?} {}", Settings { endpoint: String::new(), ..settings.clone() }, templates.digest());
        let model = Arc::new(ModelProposer::new(subject(workspace, surveyed), settings, templates, chat));
        ModelOfRun { model, asked, digest }
    }
}

/// The model that takes part in a run, if one does. Nothing is sent before somebody agreed.
pub fn invite(arguments: &RunArgs, workspace: &Workspace, output: &mut Output) -> Result<Option<Invited>, TunerError> {
    let ModelArgs { no_model, offline, record, replay, show_prompt, .. } = &arguments.model;
    let Some(table) = &workspace.manifest.model else {
        let about = record.is_some() || replay.is_some() || show_prompt.is_some();
        return if about { Err(no_table()) } else { Ok(None) };
    };
    if *no_model || show_prompt.is_some() || arguments.stage == StageChoice::Host {
        return Ok(None);
    }
    if *offline && replay.is_none() {
        output.emit(&warning("model-off", "--offline: the model of ascend.toml is not asked".to_owned(), None));
        return Ok(None);
    }
    let settings = Settings::of(table);
    let templates = templates(workspace, table)?;
    let (chat, asked) = match replay {
        Some(path) => {
            let replay = Replay::open(path).map_err(usage)?;
            (Box::new(replay) as Box<dyn Chat>, path.file_name().unwrap_or_default().to_string_lossy().into_owned())
        }
        None => (connected(arguments, workspace, table, &settings, output)?, settings.host().to_owned()),
    };
    let chat = match record {
        Some(path) => Box::new(Recorder::create(path, chat).map_err(usage)?),
        None => chat,
    };
    Ok(Some(Invited { settings, templates, chat, asked }))
}

/// Prints what a model would be told for a role.
pub fn show_prompt(
    workspace: &Workspace,
    surveyed: &Surveyed,
    role: Role,
    output: &Output,
) -> Result<Exit, TunerError> {
    let table = workspace.manifest.model.as_ref().ok_or_else(no_table)?;
    let (settings, templates) = (Settings::of(table), templates(workspace, table)?);
    let (context, bank, history) = (surveyed.context(), Bank::shipped(), History::default());
    let asked = Asked {
        context: &context,
        profile: None,
        bank: &bank,
        history: &history,
        keep_constants: false,
        unlikely: false,
        standing: Standing::default(),
    };
    let state = State::of(&subject(workspace, surveyed), &asked, &[]);
    let prompt = Prompt::build(&templates, role, &state, settings.prompt_tokens).map_err(usage)?;
    let text = if output.json {
        let Prompt { role, system, user } = prompt;
        format!("{}\n", serde_json::json!({ "event": "prompt", "role": role.name(), "system": system, "user": user }))
    } else {
        prompt.text()
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(Exit::Fine)
}

/// A client that somebody agreed to, with what it was answered in an earlier run on the same questions.
fn connected(
    arguments: &RunArgs,
    workspace: &Workspace,
    table: &ModelSettings,
    settings: &Settings,
    output: &mut Output,
) -> Result<Box<dyn Chat>, TunerError> {
    let consent = consent(arguments.model.yes || table.consent == Some(true), workspace, settings, output)?;
    let key = std::env::var(&settings.key_variable).ok().and_then(|text| Key::new(&text));
    let client = Client::new(settings, key, &consent).map_err(usage)?;
    let path = workspace.work_directory.join(KEPT);
    let again = arguments.resume_mode() == ResumeMode::Never;
    Ok(Box::new(Kept::open(&path, again, Box::new(client)).map_err(usage)?))
}

/// Says which text goes where, and asks unless that is `given`.
fn consent(
    given: bool,
    workspace: &Workspace,
    settings: &Settings,
    output: &mut Output,
) -> Result<Consent, TunerError> {
    let files: Vec<&str> = workspace.sources.iter().map(|(file, _)| file).collect();
    let host = settings.host();
    let what = format!(
        "the text of {}, and what is known of it (profile, cases, messages of compiler and verifier), goes to {host}",
        files.join(", ")
    );
    if given {
        let help = "--no-model or --offline keeps it here".to_owned();
        output.emit(&warning("sources-leave", what, Some(help)));
        return Ok(Consent::given(host));
    }
    let refused = || {
        let message = format!(
            "{what}: nobody agreed to that; give --yes, write consent = true into [model] of {FILE_NAME}, or leave the model out with --no-model"
        );
        TunerError::Usage(message)
    };
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Err(refused());
    }
    let mut terminal = std::io::stderr();
    write!(terminal, "{}{}. Go on? [y/N] ", what[..1].to_uppercase(), &what[1..])?;
    terminal.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(Consent::given(host)),
        _ => Err(refused()),
    }
}

fn templates(workspace: &Workspace, table: &ModelSettings) -> Result<Templates, TunerError> {
    match &table.prompts {
        Some(folder) => Templates::with(&workspace.project.root.join(folder)).map_err(usage),
        None => Ok(Templates::default()),
    }
}

/// What prompts say of an operator whatever its sources are.
fn subject(workspace: &Workspace, surveyed: &Surveyed) -> Subject {
    let machine = &workspace.machine;
    let of = &machine.parameters;
    let machine = vec![
        machine.name.clone(),
        format!("{:.0} vector cores, {:.0} cube cores at {:.0} MHz", of.aiv_cores, of.aic_cores, of.clock_mhz),
        format!("{:.0} bytes of unified buffer in a vector core", of.ub_bytes),
        format!("{:.0} GB/s read from memory by all cores together", of.hbm_read_gbps),
    ];
    let timed = workspace.cases.iter().filter_map(|place| workspace.manifest.cases.get(*place));
    let cases = timed.filter(|case| !case.verify_only).map(|case| {
        let tensors = case.inputs.iter().map(|tensor| {
            let shape: Vec<String> = tensor.shape.iter().flatten().map(ToString::to_string).collect();
            format!("{} {} {}", tensor.name, tensor.dtype, shape.join("x"))
        });
        let attributes = case.attributes.iter().map(|attribute| format!("{} = {}", attribute.name, attribute.value));
        format!("{}: {}", case.name, tensors.chain(attributes).collect::<Vec<_>>().join(", "))
    });
    let hazards = surveyed.known().by_place().into_iter().map(|known| known.to_string());
    Subject {
        operator: workspace.manifest.operator.clone(),
        machine,
        cases: cases.collect(),
        hazards: hazards.collect(),
    }
}

fn no_table() -> TunerError {
    let options = "--record, --replay and --show-prompt";
    TunerError::Usage(format!(
        "{options} are about a language model, and {FILE_NAME} has no [model]; see docs/agent.md"
    ))
}

fn usage(error: impl std::fmt::Display) -> TunerError {
    TunerError::Usage(error.to_string())
}

fn warning(code: &str, message: String, help: Option<String>) -> Event {
    Event::Warning(Warning { code: code.to_owned(), message, help })
}
