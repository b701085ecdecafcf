//! Conversations in a run: what is asked when, what is proposed, and what ends them.

use std::sync::{Arc, Mutex};

use super::recordings::{Script, script};
use super::*;
use proposer::{Heard, Proposal, Proposer};

/// What was asked, by role, with the question.
type Questions = Arc<Mutex<Vec<(Role, String)>>>;

/// Passes questions on and remembers them.
#[derive(Debug)]
struct Listening(Box<dyn Chat>, Questions, Arc<Mutex<Vec<bool>>>);

impl Chat for Listening {
    fn ask(&mut self, request: &Request) -> Result<Reply, CallError> {
        let question = request.body.pointer("/messages/1/content").and_then(|text| text.as_str()).unwrap_or_default();
        self.1.lock().unwrap().push((request.role, question.to_owned()));
        self.2.lock().unwrap().push(request.body.get("response_format").is_some());
        self.0.ask(request)
    }
}

/// A run with a model that gives these answers.
struct Run {
    proposer: Collaborator,
    heard: Questions,
    /// Whether an answer by a schema was wanted.
    formats: Arc<Mutex<Vec<bool>>>,
    history: History,
    text: String,
    evaluations: u64,
}

impl Run {
    fn new(change: impl Fn(&mut Settings), answers: &[&str]) -> Self {
        Self::with(change, answers.iter().map(|answer| Ok((*answer).to_owned())).collect())
    }

    fn with(change: impl Fn(&mut Settings), answers: Vec<Result<String, CallError>>) -> Self {
        let (heard, formats) = (Questions::default(), Arc::default());
        let mut settings = Settings { share: 1.0, at_once: 1, ..settings("http://h/v1") };
        change(&mut settings);
        let chat = Listening(Box::new(Script(answers.into())), Arc::clone(&heard), Arc::clone(&formats));
        let proposer = Collaborator::model(subject(), settings, Templates::default(), Box::new(chat));
        Self { proposer, heard, formats, history: History::default(), text: KERNEL_TEXT.to_owned(), evaluations: 0 }
    }

    /// Asks once, on the sources as they are.
    fn once(&self) -> Vec<Proposal> {
        let (context, bank) = (context(&self.text), Bank::new());
        self.proposer.propose(&asked(&context, &bank, &self.history, self.evaluations))
    }

    /// Asks until the model has said something.
    fn next(&self) -> Vec<Proposal> {
        let mut proposals = self.once();
        while proposals.is_empty() && self.proposer.is_at_work() {
            proposals = self.once();
        }
        proposals
    }

    /// Refuses whatever is proposed next.
    fn refuse_next(&self, why: &str) {
        for proposal in self.next() {
            self.proposer.hear(&proposal, &Heard::Rejected(why.to_owned()));
        }
    }

    fn roles(&self) -> Vec<Role> {
        self.heard.lock().unwrap().iter().map(|(role, _)| *role).collect()
    }

    fn last_question(&self) -> String {
        self.heard.lock().unwrap().last().unwrap().1.clone()
    }

    fn codes(&self) -> Vec<&'static str> {
        self.proposer.notes().iter().map(|note| note.code).collect()
    }
}

const BARRIER: &str = "        AscendC::PipeBarrier<PIPE_ALL>();";
const NARROW: &str = "        AscendC::PipeBarrier<PIPE_V>();";

fn good() -> String {
    edit(BARRIER, NARROW)
}

#[test]
fn a_model_is_asked_beside_the_evaluations_and_proposes_at_the_next_moment() {
    use Role::{Diagnose, Plan, Propose};
    let run = Run::new(|_| (), &["A barrier.", "- narrow the barrier\n- drop it", &good(), &edit(BARRIER, "")]);
    assert!(run.once().is_empty() && run.proposer.is_at_work());
    let proposals = run.once();
    let [proposal] = &proposals[..] else { panic!("{proposals:?}") };
    assert_eq!((proposal.motifs.as_slice(), proposal.patch.title.as_str()), (&["model-1".to_owned()][..], "less"));
    assert_eq!(proposal.why, "proposed by the model m: narrow the barrier");
    let context = context(&run.text);
    let patched = context.admit(&proposal.patch).unwrap();
    assert_eq!(patched.text(KERNEL).unwrap(), KERNEL_TEXT.replace(BARRIER, NARROW));
    assert_eq!(run.roles(), [Diagnose, Plan, Propose]);
    // Nothing more is asked until it is known what became of it; then the next idea follows, without a new diagnosis.
    assert!(!run.proposer.is_at_work());
    run.proposer.hear(proposal, &Heard::Right { gain: 1.0, taken: false });
    assert_eq!(run.next()[0].motifs, ["model-2"]);
    assert_eq!(run.roles(), [Diagnose, Plan, Propose, Propose]);
    assert!(run.last_question().contains("- less: right, 1.00x, not taken over"), "{}", run.last_question());
    assert!(run.last_question().ends_with("The idea: drop it"));
    let used = run.proposer.used();
    assert_eq!((used.spent.answers, used.spent.prompt_tokens, used.evaluations, used.over), (4, 40, 1, None));
}

#[test]
fn several_ideas_of_a_plan_are_tried_beside_each_other() {
    let answers = ["d", "- i\n- j\n- k", &good(), "no", &edit(BARRIER, ""), "NOTHING"];
    let run = Run::new(|settings| (settings.at_once, settings.repairs) = (3, 0), &answers);
    let names: Vec<String> = run.next().into_iter().flat_map(|proposal| proposal.motifs).collect();
    assert_eq!(names, ["model-1", "model-2"], "and what one of them lacks does not spoil the others");
}

#[test]
fn what_was_refused_is_mended_a_bounded_number_of_times() {
    use Role::{Diagnose, Plan, Propose, Repair};
    let run = Run::new(|settings| settings.repairs = 2, &["d", "- i", &good(), &good(), &good(), "NOTHING"]);
    run.refuse_next("does not build (/tmp/x/add.cpp:7): no PIPE_V");
    run.refuse_next("hazard: race");
    assert!(run.last_question().contains("+        AscendC::PipeBarrier<PIPE_V>();"), "{}", run.last_question());
    assert!(run.last_question().contains("It was refused: does not build (add.cpp:7): no PIPE_V"));
    run.refuse_next("wrong result");
    assert!(run.next().is_empty());
    assert_eq!(run.roles(), [Diagnose, Plan, Propose, Repair, Repair, Plan], "after two repairs it is given up");
}

#[test]
fn a_server_that_refuses_a_schema_is_asked_for_text_from_there_on() {
    let plan = r#"{"ideas":["narrow it"]}"#;
    let edits = serde_json::json!([{ "file": KERNEL, "function": "", "search": BARRIER, "replace": NARROW }]);
    let answer = serde_json::json!({ "title": "less", "edits": edits }).to_string();
    let run = Run::new(|settings| settings.structured = true, &["d", plan, &answer]);
    let proposal = run.next().remove(0);
    assert_eq!(proposal.why, "proposed by the model m: narrow it");
    assert!(run.formats.lock().unwrap().iter().skip(1).all(|wanted| *wanted) && !run.formats.lock().unwrap()[0]);
    let no = || {
        Err(CallError::Status { host: "h".to_owned(), status: 400, after: Tries(1), message: "no schema".to_owned() })
    };
    let said = |text: &str| Ok(text.to_owned());
    let run = Run::with(|settings| settings.structured = true, vec![said("d"), no(), said("- i"), said(&good())]);
    assert_eq!(run.next()[0].motifs, ["model-1"]);
    assert_eq!(*run.formats.lock().unwrap(), [false, true, false, false]);
    assert_eq!((run.codes(), run.proposer.used().spent.failures), (vec!["model-without-schema"], 0));
}

#[test]
fn an_answer_that_breaks_off_is_asked_for_again_and_paid_for() {
    let broken = || {
        let usage = Usage { prompt_tokens: 7, answer_tokens: 3 };
        Err(CallError::Cut { host: "h".to_owned(), message: "it ends".to_owned(), usage })
    };
    let said = |text: &str| Ok(text.to_owned());
    let run = Run::with(|_| (), vec![said("d"), broken(), said("- i"), broken(), broken(), said(&good())]);
    assert_eq!(run.next()[0].motifs, ["model-1"]);
    let spent = run.proposer.used().spent;
    assert_eq!((spent.answers, spent.failures, spent.prompt_tokens, spent.answer_tokens), (3, 3, 51, 24));
    let lost = Run::with(|_| (), (0..20).map(|_| broken()).collect());
    assert!(lost.next().is_empty());
    assert_eq!(lost.proposer.used().over.as_deref(), Some("3 questions in a row got no answer"));
    assert_eq!((lost.roles().len(), lost.proposer.used().spent.failures), (9, 9), "each was asked three times");
}

#[test]
fn a_step_that_is_taken_back_is_mended_too() {
    let run = Run::new(|_| (), &["d", "- i\n- j", &good(), &good()]);
    let proposal = run.next().remove(0);
    run.proposer.hear(&proposal, &Heard::Right { gain: 2.0, taken: true });
    run.proposer.hear_taken_back("model-1", "wrong on probe smaller-float16-7");
    run.proposer.hear_taken_back("D01", "worth nothing");
    assert_eq!(run.next()[0].motifs, ["model-2"]);
    assert!(run.last_question().contains("It was refused: wrong on probe smaller-float16-7"));
}

#[test]
fn an_answer_that_is_no_change_is_mended_at_once_and_the_user_hears_of_it() {
    use Role::{Diagnose, Plan, Propose, Repair};
    let run = Run::new(|_| (), &["d", "- i", "I would narrow the barrier.", &good()]);
    assert_eq!(run.next()[0].motifs, ["model-1"]);
    assert_eq!(run.roles(), [Diagnose, Plan, Propose, Repair]);
    assert!(run.last_question().contains("It was refused: the answer has no edit"));
    assert_eq!(run.codes(), ["model-answer-unusable"]);
}

#[test]
fn a_model_without_ideas_is_left_alone_until_the_sources_have_changed() {
    use Role::{Diagnose, Plan};
    let mut run = Run::new(|_| (), &["d", "NOTHING", "e", "NOTHING"]);
    assert!(run.next().is_empty() && run.next().is_empty());
    assert_eq!(run.roles(), [Diagnose, Plan]);
    run.text = KERNEL_TEXT.replace("1.0f", "2.0f");
    assert!(run.next().is_empty());
    assert_eq!(run.roles(), [Diagnose, Plan, Diagnose, Plan]);
}

#[test]
fn proposals_are_carried_over_to_sources_that_were_rewritten_since() {
    let mut run = Run::new(|_| (), &["d", "- i", &good(), "e", "NOTHING"]);
    assert!(run.once().is_empty());
    run.text = KERNEL_TEXT.replace("AllocTensor<float>()", "AllocTensor<float>(/* y */)");
    let proposal = run.once().remove(0);
    let patched = context(&run.text).admit(&proposal.patch).unwrap();
    assert_eq!(patched.text(KERNEL).unwrap(), run.text.replace(BARRIER, NARROW));
    // Somebody else rewrote the same line before it was tried.
    run.text = KERNEL_TEXT.replace(BARRIER, "");
    assert!(run.next().is_empty());
    assert!(run.last_question().contains("- less: not tried, the same or the same lines were rewritten since"));
}

#[test]
fn what_has_not_proved_itself_waits_for_its_share() {
    let mut run = Run::new(|settings| settings.share = 0.1, &["d", "- i", &good()]);
    assert!(run.next().is_empty() && run.roles().len() == 3, "it has an answer, and no evaluation for it");
    run.evaluations = 9;
    assert!(run.next().is_empty());
    run.evaluations = 10;
    assert_eq!(run.next().len(), 1);
}

#[test]
fn what_never_becomes_a_candidate_is_offered_no_more() {
    let mut run = Run::new(|_| (), &["d", "- i", &good(), "NOTHING"]);
    let proposal = run.next().remove(0);
    assert_eq!(run.once().len(), 1, "it did not fit into a batch");
    run.history.record(&proposal);
    assert!(run.next().is_empty(), "it led to sources that are known");
}

#[test]
fn budgets_and_silence_end_the_models_part() {
    let says = |over: &str, what: &str| assert!(over.contains(what), "{over}");
    let over = |change: fn(&mut Settings), answers: &[&str]| {
        let run = Run::new(change, answers);
        for _ in 0..12 {
            run.refuse_next("wrong result");
        }
        let notes = run.proposer.notes();
        assert_eq!(notes.iter().filter(|note| note.code == "proposer-ended").count(), 1, "{notes:?}");
        assert!(!run.proposer.is_at_work() && run.proposer.failure().is_none());
        run.proposer.used().over.unwrap()
    };
    says(&over(|settings| settings.budget.tokens = Some(1), &[]), "of 1 tokens are used up");
    says(&over(|settings| settings.budget.seconds = Some(0.5), &["d"]), "seconds are used up");
    says(&over(|_| (), &[]), "3 questions in a row got no answer");
    let of_a_plan = ["- i", "no", "no", "no"];
    let talk = [&["d"][..], &of_a_plan, &of_a_plan, &of_a_plan].concat();
    says(&over(|_| (), &talk), "3 conversations in a row led to no change");
    says(&over(|settings| settings.prompt_tokens = 10, &[]), "`prompt-tokens` is 10");
}

#[test]
fn a_recording_of_another_run_keeps_this_one_from_going_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.jsonl");
    fs_err::write(&path, "").unwrap();
    let chat = Box::new(Replay::open(&path).unwrap());
    let proposer = Collaborator::model(subject(), settings("http://h/v1"), Templates::default(), chat);
    let (context, bank, history) = (context(KERNEL_TEXT), Bank::new(), History::default());
    for _ in 0..2 {
        assert!(proposer.propose(&asked(&context, &bank, &history, 0)).is_empty());
    }
    let failure = proposer.failure().unwrap();
    assert!(failure.contains("question 1 of this run, for diagnose") && !proposer.is_at_work(), "{failure}");
}

#[test]
fn the_same_recording_gives_the_same_proposals() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.jsonl");
    let answers = ["d", "- i\n- j", &good(), "no change", &good(), "NOTHING"];
    let run = |chat: Box<dyn Chat>| {
        let settings = Settings { share: 1.0, at_once: 1, ..settings("http://h/v1") };
        let proposer = Collaborator::model(subject(), settings, Templates::default(), chat);
        let (context, bank, mut history) = (context(KERNEL_TEXT), Bank::new(), History::default());
        let mut proposed = Vec::new();
        for _ in 0..8 {
            for proposal in proposer.propose(&asked(&context, &bank, &history, 0)) {
                history.learn(&proposal, proposer::Effect::Rejected);
                proposer.hear(&proposal, &Heard::Rejected("wrong result".to_owned()));
                proposed.push((proposal.key.clone(), proposal.patch));
            }
        }
        (proposed, proposer.used())
    };
    let recorded = run(Box::new(Recorder::create(&path, script(&answers)).unwrap()));
    assert_eq!(run(Box::new(Replay::open(&path).unwrap())), recorded);
    assert!(!recorded.0.is_empty());
}

/// A tiling function with another length of tiles.
fn tiles(length: u32) -> String {
    format!("TITLE: tiles of {length}\n<<<<<<< TILING\nconstexpr uint32_t TILE = {length};\n>>>>>>> REPLACE")
}

#[test]
fn tiling_functions_evolve_between_their_markers_beside_ideas() {
    use Role::{Diagnose, Evolve, Plan};
    let answers = ["d", "NOTHING", &tiles(256), &tiles(512), &tiles(96), &tiles(64)];
    let run = Run::new(|settings| (settings.evolve, settings.islands) = (4, 2), &answers);
    let next = |heard: Heard| {
        let proposal = run.next().remove(0);
        let patched = context(&run.text).admit(&proposal.patch).unwrap();
        assert_eq!(patched.text(KERNEL).unwrap(), KERNEL_TEXT);
        run.proposer.hear(&proposal, &heard);
        patched.text(HOST).unwrap().to_owned()
    };
    let right = |gain| Heard::Right { gain, taken: false };
    assert_eq!(next(right(1.5)), HOST_TEXT.replace("128", "256"));
    assert!(run.last_question().contains("which stands in op_host/add.cpp:\n```cpp\nconstexpr uint32_t TILE = 128;"));
    next(Heard::Rejected("wrong result".to_owned()));
    next(right(1.2));
    assert!(run.last_question().contains("1/1.500 of its first time:\n```cpp\nconstexpr uint32_t TILE = 256;"));
    assert!(run.last_question().contains("What was refused:\n- tiles of 512: wrong result"), "{}", run.last_question());
    next(right(1.0));
    assert!(run.next().is_empty() && !run.proposer.is_at_work(), "four answers were to be had");
    assert_eq!(run.roles(), [Diagnose, Plan, Evolve, Evolve, Evolve, Evolve], "no repairs");
    run.proposer.hear_taken_back("model-1", "wrong on probe smaller-7");
    let of = |member: &Member| (member.name.clone(), member.parent.clone(), member.island, member.generation);
    let population = run.proposer.population();
    let name = |number: u32| format!("model-{number}");
    assert_eq!(of(&population[2]), (name(3), Some(name(1)), 0, 2));
    assert_eq!(of(&population[3]), (name(4), None, 1, 2), "its island had none that is right");
    assert!(matches!(&population[0].fate, Fate::Refused { why } if why.contains("probe smaller-7")));
}

#[test]
fn a_tiling_function_that_cannot_be_found_is_said_and_an_answer_without_one_too() {
    let run = Run::new(|settings| settings.evolve = 1, &["d", "NOTHING", "TITLE: x\nint y;"]);
    assert!(run.next().is_empty() && run.next().is_empty());
    assert_eq!(run.codes(), ["model-answer-unusable"]);
    assert_eq!(run.proposer.population(), []);
}

#[test]
fn what_was_learned_is_asked_for_in_the_end() {
    let record = "<<<<<<< RECORD model-1\nWHAT: a narrower barrier\nAVOID: other pipes wait for it\n>>>>>>> END";
    let run = Run::new(|settings| (settings.distil, settings.repairs) = (true, 0), &["d", "- i", &good(), record]);
    assert!(run.proposer.distil().is_empty() && run.roles().is_empty(), "nothing was tried");
    let proposal = run.next().remove(0);
    run.proposer.hear(&proposal, &Heard::Right { gain: 1.3, taken: true });
    run.proposer.hear_taken_back("model-1", "race on probe odd-3");
    let learned = run.proposer.distil();
    let expected = Learned {
        name: "model-1".to_owned(),
        what: "a narrower barrier".to_owned(),
        needs: Vec::new(),
        avoid: vec!["other pipes wait for it".to_owned()],
        taken_back: Some("race on probe odd-3".to_owned()),
    };
    assert_eq!(learned, [expected]);
    let question = run.last_question();
    assert!(question.contains("model-1, \"less\": taken back: race on probe odd-3"), "{question}");
    assert!(question.contains("+        AscendC::PipeBarrier<PIPE_V>();"));
    let silent = Run::new(|_| (), &["d", "- i", &good(), record]);
    silent.refuse_next("no");
    assert!(silent.proposer.distil().is_empty(), "nobody wants it");
}

#[test]
fn what_was_kept_is_stated_as_a_rule_that_has_to_make_just_that() {
    let stated = |fast: &str| format!("<<<<<<< MOTIF narrow\n@PipeBarrier<PIPE_ALL>();\n=======\n{fast}\n>>>>>>> END");
    let of = |rule: &str, wanted: bool, taken: bool| {
        let change = |settings: &mut Settings| (settings.local_motifs, settings.repairs) = (wanted, 0);
        let run = Run::new(change, &["d", "- i", &good(), rule]);
        let proposal = run.next().remove(0);
        run.proposer.hear(&proposal, &Heard::Right { gain: 1.3, taken });
        (run.proposer.state_motifs(), run)
    };
    let (forms, run) = of(&stated("@PipeBarrier<PIPE_V>();"), true, true);
    assert_eq!((forms.len(), forms[0].form.title.as_str(), forms[0].of.as_str()), (1, "narrow", "model-1"));
    assert_eq!((forms[0].form.record.places, forms[0].form.record.from.len()), (1, 1));
    assert!(run.last_question().contains("+        AscendC::PipeBarrier<PIPE_V>();"), "{}", run.last_question());
    run.proposer.hear_taken_back("model-1", "race on probe odd-3");
    assert!(run.proposer.state_motifs().is_empty(), "what was taken back is none");
    let (forms, run) = of(&stated("@PipeBarrier<PIPE_S>();"), true, true);
    assert_eq!((forms.len(), run.codes()), (0, vec!["local-motif-not-kept"]));
    assert!(of(&stated("@PipeBarrier<PIPE_V>();"), false, true).0.is_empty());
    assert!(of(&stated("@PipeBarrier<PIPE_V>();"), true, false).0.is_empty());
}
