//! The language model of a run, and the user's program that proposes: whether there are such, who agreed to give them sources, and what the
//! model has cost.

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Exit;
use super::args::{ModelArgs, ResumeMode, RunArgs, StageChoice};
use super::bank::own_bank;
use super::bench::ModelBench;
use super::corpus::Corpus;
use super::output::Output;
use agent::{
    Bench, Chat, Client, Collaborator, Consent, Fate, Kept, Key, Learned, LocalMotifs, Member, Program,
    ProgramSettings, Prompt, Recorder, Role, Rule, Settings, State, Subject, Templates, Toolbox, disagrees,
    open_recording,
};
use events::{Event, ModelUse, TilingVersion, Warning};
use experience::{
    Bank, BankError, OF_A_MODEL, Record, Stated, Verdict, add_to_local_motif, drop_local_motif, keep_stated,
    local_motifs, local_name, refused_local_motif,
};
use manifest::{FILE_NAME, ModelSettings};
use motif::{Counter, LocalForm, LocalMotif, LocalRecord};
use proposer::{Asked, History, Proposer, Standing};
use tuner::{Surveyed, TunerError, Workspace};

/// Where a run keeps what it was answered, for when it is taken up again.
const KEPT: &str = "model.jsonl";
/// Places at which a rule has to have occurred, where the manifest does not say.
const PLACES: u32 = 2;

/// Who proposes in a run beside the catalogue.
#[derive(Debug, Default)]
pub struct Further {
    model: Option<(Arc<Collaborator>, String)>,
    program: Option<Arc<Collaborator>>,
    local: Option<Arc<LocalMotifs>>,
    /// What a run depends on of them.
    pub digest: String,
}

impl Further {
    /// All of them.
    pub fn proposers(&self) -> Vec<Arc<dyn Proposer>> {
        let model = self.model.iter().map(|(model, _)| model);
        let asked = model.chain(&self.program).map(|proposer| Arc::clone(proposer) as Arc<dyn Proposer>);
        self.local.iter().map(|local| Arc::clone(local) as Arc<dyn Proposer>).chain(asked).collect()
    }

    /// Tiling functions that the model wrote, a JSON object a line, each with its text.
    pub fn lineage(&self) -> String {
        let members = self.model.iter().flat_map(|(model, _)| model.population());
        let line = |member: Member| {
            let text = member.text.clone();
            let mut value = serde_json::to_value(&member).unwrap_or_default();
            value["text"] = text.into();
            format!("{value}\n")
        };
        members.map(line).collect()
    }

    /// Rules that the model states in the end, with what becomes of them on the operators of the corpus. Nothing is kept yet: a run that is
    /// interrupted here goes on as one that was interrupted before. What the run recorded of its proposals tells what they relieved.
    pub fn rules(
        &self,
        workspace: &Workspace,
        corpus: &[PathBuf],
        records: &[Record],
        output: &mut Output,
    ) -> Vec<TriedRule> {
        let Some((model, _)) = &self.model else { return Vec::new() };
        let stated = model.state_motifs();
        for note in model.notes() {
            output.emit(&warning(note.code, note.message, note.help));
        }
        if stated.is_empty() {
            return Vec::new();
        }
        let bank = own_bank(workspace);
        let tried = Corpus::beside(workspace, corpus).and_then(|mut corpus| {
            let tried = stated.into_iter().map(|rule| {
                let record = records.iter().find(|record| record.motif == rule.of);
                tried(&bank, sound(rule, record, output), &mut corpus, output)
            });
            tried.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()
        });
        tried.unwrap_or_else(|error| {
            told(Err::<(), _>(error), output);
            Vec::new()
        })
    }

    /// Keeps those of the rules that have recurred and that no operator of the corpus refutes, and drops what did not hold.
    pub fn keep_local_motifs(&self, workspace: &Workspace, rules: Vec<TriedRule>, output: &mut Output) {
        let bank = own_bank(workspace);
        if let Some(local) = &self.local {
            for name in local.refused() {
                told(drop_local_motif(&bank, &name), output);
            }
            for (name, record) in local.records() {
                told(add_to_local_motif(&bank, &name, &record), output);
            }
        }
        let places = workspace.manifest.model.as_ref().and_then(|model| model.motif_places).unwrap_or(PLACES);
        for rule in rules {
            told(keep(&bank, places, rule, output), output);
        }
    }

    /// Records of what the catalogue did, and, where the model says in the end what was learned of its own proposals, of these in its words.
    pub fn records(&self, records: &[Record], output: &mut Output) -> Vec<Record> {
        let Some((model, _)) = &self.model else { return records.to_vec() };
        let (own, mut kept): (Vec<Record>, Vec<Record>) =
            records.iter().cloned().partition(|record| record.motif.starts_with("model-"));
        let learned = model.distil();
        for note in model.notes() {
            output.emit(&warning(note.code, note.message, note.help));
        }
        for record in own {
            let Some(Learned { what, needs, avoid, taken_back, .. }) =
                learned.iter().find(|one| one.name == record.motif)
            else {
                continue;
            };
            let verdict = if taken_back.is_some() { Verdict::Rejected } else { record.verdict };
            let mut avoid_when = [record.avoid_when.clone(), avoid.clone()].concat();
            avoid_when.extend(taken_back.clone());
            let conditions = [record.conditions.clone(), needs.clone()].concat();
            kept.push(Record { motif: format!("{OF_A_MODEL}{what}"), verdict, avoid_when, conditions, ..record });
        }
        kept
    }

    /// What the model was asked, and what that cost.
    pub fn used(&self) -> Option<ModelUse> {
        let (model, asked) = self.model.as_ref()?;
        let used = model.used();
        Some(ModelUse {
            asked: asked.clone(),
            answers: used.spent.answers,
            failures: used.spent.failures,
            prompt_tokens: used.spent.prompt_tokens,
            answer_tokens: used.spent.answer_tokens,
            seconds: used.spent.seconds,
            money: used.spent.money,
            evaluations: used.evaluations,
            ended: used.over,
            lineage: model.population().iter().map(version).collect(),
        })
    }
}

/// A rule that says what it relieves only where the profiles of the proposal that it comes from say so too.
fn sound(rule: Rule, record: Option<&Record>, output: &mut Output) -> LocalForm {
    let counters = record.map(|record| record.counters.clone()).unwrap_or_default();
    let Some(why) = disagrees(&rule.form, &counters) else { return rule.form };
    let said = rule.form.relieves.map_or("", Counter::name);
    let message = format!("{}: that it relieves {said} is left out: {why}", rule.form.title);
    output.emit(&warning("local-motif-without-mechanism", message, None));
    LocalForm { relieves: None, ..rule.form }
}

/// A rule, and what became of it elsewhere.
#[derive(Debug)]
pub struct TriedRule {
    form: LocalForm,
    elsewhere: LocalRecord,
}

/// That a rule is not kept, and why.
fn not_kept(title: &str, why: &str) -> Event {
    warning("local-motif-not-kept", format!("{title}: {why}"), None)
}

/// A rule with what becomes of it on the corpus; nothing where it is known not to hold.
fn tried(
    bank: &Path,
    form: LocalForm,
    corpus: &mut Corpus,
    output: &mut Output,
) -> Result<Option<TriedRule>, TunerError> {
    if let Some(refused) = refused_local_motif(bank, &local_name(&form)) {
        output.emit(&not_kept(&form.title, &format!("it is known not to hold on {refused}")));
        return Ok(None);
    }
    let elsewhere = corpus.record(&form)?;
    Ok(Some(TriedRule { form, elsewhere }))
}

/// Keeps a local motif with what became of it on the corpus, aside where it has not occurred at enough places: one that broke an operator is
/// kept as refused, so that it is not tried again.
fn keep(bank: &Path, wanted: u32, rule: TriedRule, output: &mut Output) -> Result<(), BankError> {
    let TriedRule { mut form, elsewhere: record } = rule;
    let (title, name) = (form.title.clone(), local_name(&form));
    let elsewhere = format!("{} of {} other operators have a place for it", record.matched, record.searched);
    let tried = format!("{elsewhere}, {} were run with it and right, {} of them faster", record.held, record.gained);
    form.record.add(&record);
    output.emit(&match keep_stated(bank, form, record.gained, wanted)? {
        Stated::Kept(form) if form.record.refused.is_empty() => {
            let what =
                format!("{name} is kept in the project's bank: later runs make it without a model: {title}; {tried}");
            warning("local-motif-kept", what, None)
        }
        Stated::Kept(form) => {
            not_kept(&title, &format!("although its guards hold it is not right on {}", form.record.refused))
        }
        Stated::Aside(form) => {
            let places = form.record.places;
            let help =
                "it lies in the folder motifs/aside of the project's bank; `motif-places = 1` keeps what occurred once";
            let why = format!("{name} has occurred at {places} of {wanted} places; {tried}");
            warning("local-motif-not-kept", format!("{title}: {why}"), Some(help.to_owned()))
        }
    });
    Ok(())
}

/// What keeps experience from being kept is said, and ends nothing.
fn told(kept: Result<(), impl std::fmt::Display>, output: &mut Output) {
    if let Err(error) = kept {
        output.emit(&warning("experience-not-kept", error.to_string(), None));
    }
}

/// Who may be asked: nothing is sent, and nothing started, before somebody agreed.
#[derive(Debug, Default)]
pub struct Invited {
    model: Option<InvitedModel>,
    program: Option<ProgramSettings>,
    local: LocalMotifs,
}

/// A model that may be asked.
#[derive(Debug)]
pub(super) struct InvitedModel {
    /// What may be asked of it.
    pub settings: Settings,
    /// What it is asked with.
    pub templates: Templates,
    /// What asks it.
    pub chat: Box<dyn Chat>,
    /// Host, or name of a recording.
    pub asked: String,
}

/// How a command asks for a model.
pub(super) struct Asking<'a> {
    /// What the command line says of it.
    pub options: &'a ModelArgs,
    /// The file where answers are kept for when the command is taken up again.
    pub kept: &'static str,
    /// Whether that is forgotten.
    pub again: bool,
    /// Whether the command line wants one to be asked.
    pub wanted: bool,
}

impl Invited {
    /// The same in a run of an operator that was looked at.
    pub fn take_part(self, workspace: &Workspace, surveyed: &Surveyed) -> Result<Further, TunerError> {
        let mut further = Further { digest: self.local.digest(), ..Further::default() };
        further.local = (!self.local.is_empty()).then(|| Arc::new(self.local));
        if let Some(InvitedModel { settings, templates, chat, asked }) = self.model {
            // Where it is asked, and how that is carried, does not matter to what is proposed; what it is asked does.
            let of_settings = Settings { endpoint: String::new(), stream: false, ..settings.clone() };
            further.digest.push_str(&format!("{of_settings:?} {}", templates.digest()));
            let toolbox = toolbox(&settings, workspace, surveyed)?;
            let subject = subject(workspace, surveyed);
            let model = Collaborator::model_with_tools(subject, settings, templates, chat, toolbox);
            further.model = Some((Arc::new(model), asked));
        }
        if let Some(settings) = self.program {
            further.digest.push_str(&format!("{settings:?}"));
            let name = settings.command.first().cloned().unwrap_or_default();
            let secret = workspace.manifest.model_key_variable();
            let program = Program::start(settings, &workspace.project.root, secret);
            let program = program.map_err(|error| usage(format!("[proposer] {name}: {error}")))?;
            further.program = Some(Arc::new(Collaborator::program(subject(workspace, surveyed), program)));
        }
        Ok(further)
    }
}

/// Who takes part in a run beside the catalogue.
pub fn invite(arguments: &RunArgs, workspace: &Workspace, output: &mut Output) -> Result<Invited, TunerError> {
    let ModelArgs { no_model, show_prompt, .. } = &arguments.model;
    if show_prompt.is_some() || arguments.stage == StageChoice::Host {
        return Ok(Invited::default());
    }
    // What a model has stated once needs none any more.
    let local = local(arguments, workspace)?;
    if *no_model {
        return Ok(Invited { local, ..Invited::default() });
    }
    let again = arguments.resume_mode() == ResumeMode::Never;
    let asking = Asking { options: &arguments.model, kept: KEPT, again, wanted: false };
    Ok(Invited { model: model(&asking, workspace, output)?, program: program(arguments, workspace, output)?, local })
}

/// Local motifs of the project's own bank, and of the one that is given.
fn local(arguments: &RunArgs, workspace: &Workspace) -> Result<LocalMotifs, TunerError> {
    let mut motifs: Vec<(String, LocalMotif)> = Vec::new();
    for bank in std::iter::once(own_bank(workspace)).chain(arguments.bank.clone()) {
        for (name, motif) in local_motifs(&bank).map_err(usage)? {
            if motifs.iter().all(|(known, _)| *known != name) {
                motifs.push((name, motif));
            }
        }
    }
    Ok(LocalMotifs::new(motifs))
}

/// The model of ascend.toml, if there is one and somebody agreed.
pub(super) fn model(
    asking: &Asking<'_>,
    workspace: &Workspace,
    output: &mut Output,
) -> Result<Option<InvitedModel>, TunerError> {
    let ModelArgs { offline, record, replay, .. } = asking.options;
    let Some(table) = &workspace.manifest.model else {
        let named = asking.wanted || record.is_some() || replay.is_some();
        return if named { Err(no_table()) } else { Ok(None) };
    };
    if *offline && replay.is_none() {
        output.emit(&warning("model-off", "--offline: the model of ascend.toml is not asked".to_owned(), None));
        return Ok(None);
    }
    let settings = Settings::of(table);
    let templates = templates(workspace, table)?;
    let (chat, asked) = match replay {
        Some(path) => open_recording(path).map_err(usage)?,
        None => (connected(asking, workspace, table, &settings, output)?, settings.host().to_owned()),
    };
    let chat = match record {
        Some(path) => Box::new(Recorder::create(path, chat).map_err(usage)?),
        None => chat,
    };
    Ok(Some(InvitedModel { settings, templates, chat, asked }))
}

fn program(
    arguments: &RunArgs,
    workspace: &Workspace,
    output: &mut Output,
) -> Result<Option<ProgramSettings>, TunerError> {
    let Some(settings) = workspace.manifest.proposer.as_ref().map(ProgramSettings::of) else { return Ok(None) };
    let name = settings.command.first().cloned().unwrap_or_default();
    if arguments.model.offline {
        let message = format!("--offline: {name}, which [proposer] of ascend.toml names, is not started");
        output.emit(&warning("proposer-off", message, None));
        return Ok(None);
    }
    let what = format!("{} is given to {name}, which nothing holds back", sources(workspace));
    // The manifest may have come with the sources: what it starts, somebody else has to agree to.
    let help = "give --yes, or leave the program out with --no-model";
    agreed(arguments.model.yes, what, help, output)?;
    Ok(Some(settings))
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
    let state = State::of(&subject(workspace, surveyed), &asked, &[]).with_tiling_of(&context.tree);
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
    asking: &Asking<'_>,
    workspace: &Workspace,
    table: &ModelSettings,
    settings: &Settings,
    output: &mut Output,
) -> Result<Box<dyn Chat>, TunerError> {
    let host = settings.host();
    let given = asking.options.yes || table.consent == Some(true);
    let help =
        format!("give --yes, write consent = true into [model] of {FILE_NAME}, or leave the model out with --no-model");
    agreed(given, format!("{} goes to {host}", sources(workspace)), &help, output)?;
    let consent = Consent::given(host);
    let key = std::env::var(&settings.key_variable).ok().and_then(|text| Key::new(&text));
    let client = Client::new(settings, key, &consent).map_err(usage)?;
    let client =
        client.watching(|answer| tracing::debug!(role = %answer.role, tokens = answer.tokens, "the model answers"));
    let path = workspace.work_directory.join(asking.kept);
    Ok(Box::new(Kept::open(&path, asking.again, Box::new(client)).map_err(usage)?))
}

/// What whoever proposes is told.
fn sources(workspace: &Workspace) -> String {
    let files: Vec<&str> = workspace.sources.iter().map(|(file, _)| file).collect();
    let known = "and what is known of it (profile, cases, messages of compiler and verifier),";
    format!("the text of {}, {known}", files.join(", "))
}

/// Says what is about to happen, and asks unless that is `given`. `Err` where nobody agrees.
fn agreed(given: bool, what: String, help: &str, output: &mut Output) -> Result<(), TunerError> {
    if given {
        output.emit(&warning("sources-leave", what, Some("--no-model or --offline keeps it here".to_owned())));
        return Ok(());
    }
    let refused = || TunerError::Usage(format!("{what}: nobody agreed to that; {help}"));
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Err(refused());
    }
    let mut terminal = std::io::stderr();
    write!(terminal, "{}{}. Go on? [y/N] ", what[..1].to_uppercase(), &what[1..])?;
    terminal.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    if matches!(answer.trim(), "y" | "Y" | "yes") { Ok(()) } else { Err(refused()) }
}

fn templates(workspace: &Workspace, table: &ModelSettings) -> Result<Templates, TunerError> {
    match &table.prompts {
        Some(folder) => Templates::with(&workspace.project.root.join(folder)).map_err(usage),
        None => Ok(Templates::default()),
    }
}

/// Tools that the manifest gives the model.
fn toolbox(settings: &Settings, workspace: &Workspace, surveyed: &Surveyed) -> Result<Toolbox, TunerError> {
    if settings.tools.is_empty() {
        return Ok(Toolbox::empty());
    }
    let mut bank = Bank::shipped();
    let own = own_bank(workspace);
    if own.is_dir() {
        bank.merge(super::bank::load(&own)?);
    }
    let bench: Box<dyn Bench> = Box::new(ModelBench::new(workspace, surveyed)?);
    let bounds = (settings.tool_calls, settings.tool_limit);
    Ok(Toolbox::new(&settings.tools, bounds, &workspace.machine, Arc::new(bank), Some(bench)))
}

/// What prompts say of an operator whatever its sources are.
pub(super) fn subject(workspace: &Workspace, surveyed: &Surveyed) -> Subject {
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
        costs: Some(Arc::clone(&workspace.machine)),
    }
}

/// A tiling function as events and reports have it.
fn version(member: &Member) -> TilingVersion {
    let (speedup, outcome) = match &member.fate {
        Fate::Open => (None, "not tried".to_owned()),
        Fate::Right { speedup } => (Some(*speedup), "right".to_owned()),
        Fate::Refused { why } => (None, format!("refused: {why}")),
    };
    TilingVersion {
        name: member.name.clone(),
        title: member.title.clone(),
        parent: member.parent.clone(),
        island: u32::try_from(member.island).unwrap_or(u32::MAX),
        generation: member.generation,
        speedup,
        outcome,
    }
}

fn no_table() -> TunerError {
    let options = "--model, --record, --replay and --show-prompt";
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
