//! The client and servers of all kinds, over HTTP.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::*;
use crate::testing::{ANSWER_TOKENS, PROMPT_TOKENS, ScriptedServer, Step};

const KEY: &str = "sk-a-secret-that-nobody-sees";

fn request() -> Request {
    let prompt = Prompt { role: Role::Propose, system: "Be brief.".to_owned(), user: "What now?".to_owned() };
    Request::new(&prompt, "m", 0.2, 500)
}

/// What a client makes of a server, with the waits that it took.
fn ask(steps: &[Step]) -> (Result<Reply, CallError>, Vec<u64>, ScriptedServer) {
    let server = ScriptedServer::start(steps.iter().cloned()).unwrap();
    let settings = Settings { timeout: Duration::from_millis(500), ..settings(&server.endpoint()) };
    let client = Client::new(&settings, Key::new(KEY), &Consent::given(settings.host())).unwrap();
    let waits: Arc<Mutex<Vec<u64>>> = Arc::default();
    let noted = Arc::clone(&waits);
    let mut client = client.pausing(move |wait| noted.lock().unwrap().push(wait.as_secs()));
    assert!(!format!("{client:?}").contains(KEY));
    let result = client.ask(&request());
    if let Err(error) = &result {
        assert!(!format!("{error} {error:?}").contains(KEY), "{error}");
    }
    let waits = waits.lock().unwrap().clone();
    (result, waits, server)
}

#[test]
fn a_question_is_sent_with_the_key_and_its_answer_read_with_its_price() {
    let (reply, waits, server) = ask(&[Step::Say("Less.".to_owned())]);
    let reply = reply.unwrap();
    let usage = Usage { prompt_tokens: PROMPT_TOKENS, answer_tokens: ANSWER_TOKENS };
    assert_eq!((reply.text.as_str(), reply.usage, waits.len()), ("Less.", usage, 0));
    let received = &server.received()[0];
    assert!(received.head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{}", received.head);
    assert!(received.head.contains(&format!("Bearer {KEY}")) && received.question() == "What now?");
    let mut sent = request().body;
    (sent["stream"], sent["stream_options"]) = (true.into(), serde_json::json!({ "include_usage": true }));
    assert_eq!(received.body, sent);
}

#[test]
fn a_server_in_trouble_is_asked_again_after_as_long_as_it_wants() {
    let good = Step::Say("x".to_owned());
    let (reply, waits, _server) = ask(&[Step::later(429, "7"), Step::status(503, "busy"), Step::status(500, ""), good]);
    assert!(reply.is_ok(), "{reply:?}");
    assert_eq!(waits, [7, 2, 4], "what it says, else a second, doubled each time");
    let (reply, waits, server) = ask(&vec![Step::status(500, "no luck"); 9]);
    assert!(reply.unwrap_err().to_string().ends_with("answers with status 500 after 4 tries: no luck"));
    assert_eq!((waits, server.received().len()), (vec![1, 2, 4], 4));
    let (reply, waits, _server) = ask(&[Step::later(429, "3600")]);
    assert!(reply.is_err() && waits.is_empty(), "an hour is too long");
    let (reply, waits, _server) = ask(&[Step::later(503, "Fri, 31 Dec 1999 23:59:59 GMT"), Step::Say("x".to_owned())]);
    assert_eq!((reply.is_ok(), waits), (true, vec![1]));
}

#[test]
fn a_refusal_is_final_and_the_key_that_it_repeats_is_not_passed_on() {
    let (reply, waits, server) = ask(&[Step::status(401, &format!("Incorrect API key provided: {KEY}."))]);
    let message = reply.unwrap_err().to_string();
    assert!(message.ends_with("answers with status 401: Incorrect API key provided: [key]."), "{message}");
    assert_eq!((waits.len(), server.received().len()), (0, 1));
    let (reply, ..) =
        ask(&[Step::Send { status: 302, headers: vec!["location: /elsewhere".to_owned()], body: String::new() }]);
    assert!(reply.unwrap_err().to_string().contains("status 302"), "nobody agreed to go elsewhere");
    let (reply, ..) = ask(&[Step::Say(format!("Your key is {KEY}."))]);
    assert_eq!(reply.unwrap().text, "Your key is [key].");
}

#[test]
fn what_is_no_answer_is_an_error_that_says_why() {
    let said = |step: Step| ask(&[step]).0.unwrap_err().to_string();
    assert!(said(Step::body("<html>")).contains("is no chat completion"));
    assert!(said(Step::body("{\"choices\":[{\"message\":{\"content\":\"x")).contains("is no chat completion"));
    let refusal =
        "{\"choices\":[{\"message\":{\"content\":null,\"refusal\":\"I cannot.\"},\"finish_reason\":\"stop\"}]}";
    assert!(said(Step::body(refusal)).contains("refuses to answer for propose: I cannot."));
    let cut = "{\"choices\":[{\"message\":{\"content\":\"TITLE\"},\"finish_reason\":\"length\"}]}";
    assert!(said(Step::body(cut)).contains("raise `answer-tokens`"));
}

#[test]
fn a_connection_that_breaks_is_tried_again_and_one_that_hangs_is_not() {
    let (reply, waits, _server) = ask(&[Step::Cut("half".to_owned()), Step::Say("whole".to_owned())]);
    assert_eq!((reply.unwrap().text.as_str(), waits), ("whole", vec![1]));
    let (reply, waits, _server) = ask(&[Step::Slow(Duration::from_secs(2), "late".to_owned())]);
    assert!(reply.unwrap_err().to_string().contains("gave no answer within 500 ms"));
    assert!(waits.is_empty());
    let settings = settings("http://127.0.0.1:9/v1");
    let client = Client::new(&settings, None, &Consent::given(settings.host())).unwrap();
    let error = client.pausing(|_| ()).ask(&request()).unwrap_err().to_string();
    assert!(error.starts_with("127.0.0.1:9 cannot be reached"), "{error}");
}

#[test]
fn an_answer_is_read_as_it_comes_into_being() {
    let pieces = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let (reply, ..) = ask(&[Step::Stream(pieces(&["Le", "ss: ", KEY, "."]))]);
    let reply = reply.unwrap();
    assert_eq!((reply.text.as_str(), reply.usage.answer_tokens), ("Less: [key].", ANSWER_TOKENS));
    let (reply, waits, _server) = ask(&[Step::Broken(pieces(&["Less", " and"]))]);
    let error = reply.unwrap_err();
    assert!(matches!(error, CallError::Cut { .. }) && error.to_string().contains("breaks off"), "{error}");
    assert!(error.usage().answer_tokens > 0 && error.usage().prompt_tokens > 0 && waits.is_empty());
    // Nothing had come of it: the connection is tried again.
    let (reply, waits, _server) = ask(&[Step::Broken(Vec::new()), Step::Stream(pieces(&["x"]))]);
    assert_eq!((reply.unwrap().text.as_str(), waits), ("x", vec![1]));
    let server = ScriptedServer::start([Step::Stream(pieces(&["one two", " three four"]))]).unwrap();
    let settings = settings(&server.endpoint());
    let heard: Arc<Mutex<Vec<u64>>> = Arc::default();
    let noted = Arc::clone(&heard);
    let client = Client::new(&settings, None, &Consent::given(settings.host())).unwrap();
    client.watching(move |state| noted.lock().unwrap().push(state.tokens)).ask(&request()).unwrap();
    let heard = heard.lock().unwrap().clone();
    assert!(heard.is_sorted() && heard.contains(&3) && heard.last() == Some(&ANSWER_TOKENS), "{heard:?}");
}

#[test]
fn a_server_that_knows_no_streams_is_asked_without() {
    let (reply, _, server) = ask(&[Step::status(400, "stream_options is unknown"), Step::Say("x".to_owned())]);
    let asked: Vec<bool> = server.received().iter().map(|received| received.body["stream"] == true).collect();
    assert_eq!((reply.unwrap().text.as_str(), asked), ("x", vec![true, false]));
    let (reply, _, server) = ask(&[Step::status(400, "too long"), Step::status(400, "too long")]);
    assert!(reply.unwrap_err().is_about_the_request() && server.received().len() == 2);
}

#[test]
fn there_is_no_client_for_a_host_that_nobody_agreed_to() {
    let refused = |endpoint: &str, agreed: &str, key: &str| {
        Client::new(&settings(endpoint), Key::new(key), &Consent::given(agreed)).unwrap_err().to_string()
    };
    assert_eq!(refused("http://a.example/v1", "b.example", ""), "sources may go to b.example, not to a.example");
    if !cfg!(feature = "https") {
        assert!(refused("https://a.example/v1", "a.example", "").contains("--features https"));
    }
    let key = refused("http://a.example/v1", "a.example", "se\ncret");
    assert!(key.contains("ASCEND_TUNE_MODEL_KEY") && !key.contains("cret"), "{key}");
}
