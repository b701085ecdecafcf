//! Recordings: what was exchanged, without a key, answers again in the same order.

use std::collections::VecDeque;

use super::*;

/// Answers in order.
#[derive(Debug)]
pub(super) struct Script(pub VecDeque<Result<String, CallError>>);

impl Chat for Script {
    fn ask(&mut self, request: &Request) -> Result<Reply, CallError> {
        let refused = CallError::Refused { role: request.role, message: "the script has ended".to_owned() };
        let text = self.0.pop_front().unwrap_or(Err(refused))?;
        Ok(Reply { text, usage: Usage { prompt_tokens: 10, answer_tokens: 5 }, seconds: 0.5, calls: Vec::new() })
    }
}

pub(super) fn script(answers: &[&str]) -> Box<dyn Chat> {
    Box::new(Script(answers.iter().map(|answer| Ok((*answer).to_owned())).collect()))
}

fn request(role: Role, question: &str) -> Request {
    let prompt = Prompt { role, system: "Be brief.".to_owned(), user: question.to_owned() };
    Request::new(&prompt, "m", 0.2, 500)
}

#[test]
fn a_recording_answers_as_the_model_did_and_says_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.jsonl");
    let (first, second) = (request(Role::Diagnose, "a\nb"), request(Role::Plan, "c"));
    let mut recorder = Recorder::create(&path, script(&["slow"])).unwrap();
    assert_eq!(recorder.ask(&first).unwrap().text, "slow");
    let error = recorder.ask(&second).unwrap_err();
    drop(recorder);

    let mut replay = Replay::open(&path).unwrap();
    assert_eq!(replay.ask(&first).unwrap().text, "slow");
    assert_eq!(replay.ask(&second).unwrap_err(), error, "what failed fails again");
    let ended = replay.ask(&second).unwrap_err();
    let message = ended.to_string();
    assert!(ended.is_fatal() && message.starts_with("model.jsonl: question 3 of this run, for plan ("), "{message}");
    assert!(message.ends_with("was not recorded: the recording ends before it"), "{message}");

    let differs = |asked: &Request| Replay::open(&path).unwrap().ask(asked).unwrap_err().to_string();
    let other = differs(&request(Role::Diagnose, "a\nB"));
    assert!(other.contains("line 2 of the question was \"b\", and is \"B\""), "{other}");
    let prompt = Prompt { role: Role::Diagnose, system: "Be brief.".to_owned(), user: "a\nb".to_owned() };
    let other = differs(&Request::new(&prompt, "n", 0.2, 500));
    assert!(other.contains("the model was \"m\", and is \"n\"") && other.contains(&first.digest()), "{other}");
    assert!(differs(&request(Role::Plan, "a\nb")).contains("for plan ("), "another role");
}

#[test]
fn what_is_no_recording_is_an_error_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.jsonl");
    let mut recorder = Recorder::create(&path, script(&["slow", "fast"])).unwrap();
    for question in ["a", "b"] {
        recorder.ask(&request(Role::Diagnose, question)).unwrap();
    }
    drop(recorder);
    let text = fs_err::read_to_string(&path).unwrap();
    let reads = |text: &str| {
        fs_err::write(&path, text).unwrap();
        Replay::open(&path).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(reads(&text[..text.len() - 5]), Ok(()), "a last line that was cut off");
    assert!(reads(&text.replace("\"a\"", "\"x\"")).unwrap_err().contains("model.jsonl:1: the request for diagnose"));
    assert!(reads(&format!("{text}{{}}\n")).unwrap_err().contains("model.jsonl:3: no exchange with a model"));
    assert!(Replay::open(&folder.path().join("absent")).is_err());
}

#[test]
fn a_run_that_is_taken_up_asks_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.jsonl");
    let asked = request(Role::Diagnose, "a");
    let texts = |again: bool, answers: &[&str]| {
        let mut kept = Kept::open(&path, again, script(answers)).unwrap();
        [(); 2].map(|()| kept.ask(&asked).unwrap().text)
    };
    assert_eq!(texts(false, &["one", "two"]), ["one", "two"], "the same question twice is asked twice");
    // The run was stopped while it wrote.
    let text = fs_err::read_to_string(&path).unwrap();
    fs_err::write(&path, &text[..text.len() - 3]).unwrap();
    assert_eq!(texts(false, &["three"]), ["one", "three"]);
    assert_eq!(texts(false, &[]), ["one", "three"]);
    assert_eq!(texts(true, &["four", "five"]), ["four", "five"]);
}

#[test]
fn answers_by_hand_come_by_role_and_in_order_whatever_the_question() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gelu.jsonl");
    let head = r#"{"by-hand": "two plans"}"#;
    let open = |lines: &[&str]| {
        fs_err::write(&path, lines.join("\n") + "\n").unwrap();
        open_recording(&path).map_err(|error| error.to_string())
    };
    let of = |role: &str, line: &str| format!(r#"{{"role": "{role}", "answer": ["{line}", "b"]}}"#);
    let (first, second, diagnosis) = (of("plan", "one"), of("plan", "two"), of("diagnose", "slow"));
    let (mut chat, name) = open(&[head, "", &first, &diagnosis, &second]).unwrap();
    assert_eq!(name, "gelu.jsonl, written by hand");
    let mut say = |role: Role| chat.ask(&request(role, "abcdef")).unwrap();
    assert_eq!(say(Role::Diagnose).text, "slow\nb");
    assert_eq!(say(Role::Plan).text, "one\nb");
    let reply = say(Role::Plan);
    assert_eq!((reply.text.as_str(), reply.seconds), ("two\nb", 0.0));
    assert_eq!(reply.usage, Usage { prompt_tokens: tokens("Be brief.") + 2, answer_tokens: tokens("two\nb") });
    assert_eq!(say(Role::Plan).text, "NOTHING");
    assert_eq!(say(Role::Propose).text, "NOTHING");

    let wrong = open(&[head, &first, "{\"role\": \"poet\", \"answer\": []}"]).unwrap_err();
    assert!(wrong.contains("gelu.jsonl:3: no exchange with a model: nor an answer by hand"), "{wrong}");
    let wrong = open(&[r#"{"by-hand": "x", "model": "m"}"#]).unwrap_err();
    assert!(wrong.contains("gelu.jsonl:1:") && wrong.contains("model"), "{wrong}");
    assert!(open(&[&first]).unwrap_err().contains("gelu.jsonl:1:"), "a recording has questions");
}
