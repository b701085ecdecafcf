//! A model that takes optimisations out, asked over HTTP.

use super::*;
use crate::testing::{ScriptedServer, Step};
use proposer::Rewinder;

const SLOW: &str = "TITLE: one pass over the row\nCOUNTER: vec_us\n<<<<<<< SEARCH op_kernel/add.cpp\n        AscendC::Adds(y, x, 1.0f, count);\n=======\n        AscendC::Adds(y, x, 0.0f, count);\n        AscendC::PipeBarrier<PIPE_V>();\n        AscendC::Adds(y, y, 1.0f, count);\n>>>>>>> REPLACE\n";

fn rewinder(server: &ScriptedServer, structured: bool, most: u32) -> ModelRewinder {
    let settings = Settings { structured, ..settings(&server.endpoint()) };
    let consent = Consent::given(settings.host());
    let client = Client::new(&settings, None, &consent).unwrap();
    ModelRewinder::new(subject(), settings, Templates::default(), Box::new(client), most)
}

#[test]
fn it_says_what_goes_and_what_rises_and_hears_what_became_of_it() {
    let json = serde_json::json!({
        "title": "two copies in one", "counter": "mte2_us",
        "edits": [{ "file": KERNEL, "function": "", "search": "        inQueueX.FreeTensor(x);", "replace": "        inQueueX.FreeTensor( x );" }],
    });
    let without = SLOW.replace("COUNTER: vec_us\n", "COUNTER: speed\n");
    let server =
        ScriptedServer::start([SLOW.to_owned(), without, json.to_string(), "NOTHING".to_owned()].map(Step::Say));
    let server = server.unwrap();
    let (context, bank, history) = (context(KERNEL_TEXT), Bank::new(), History::default());
    let asked = asked(&context, &bank, &history, 0);
    let rewinder = rewinder(&server, true, 9);
    let first = rewinder.next(&asked).unwrap().unwrap();
    assert_eq!((first.title.as_str(), first.relieves.name()), ("one pass over the row", "vec_us"));
    assert!(context.admit(&source::difference(&context.tree, &first.wanted, "", "")).is_ok());
    rewinder.hear("1.42x as long without it; kept: vec_us from 9.00 to 7.50 us");
    // An answer that names no counter is none: the model is told, and asked again.
    let second = rewinder.next(&asked).unwrap().unwrap();
    assert_eq!((second.title.as_str(), second.relieves.name()), ("two copies in one", "mte2_us"));
    let notes = rewinder.notes();
    assert!(notes[0].message.contains("\"speed\", and there are scalar_us, vec_us"), "{notes:?}");
    rewinder.hear("not right");
    assert_eq!(rewinder.next(&asked), Ok(None), "it has nothing left");
    let received = server.received();
    assert_eq!((received.len(), rewinder.spent().answers), (4, 4));
    let format = &received[0].body["response_format"]["json_schema"]["schema"];
    assert_eq!(format["properties"]["counter"]["enum"][1], "vec_us");
    let last = received[3].question();
    for told in
        ["one pass over the row: 1.42x as long without it", "behind COUNTER: stands", "two copies in one: not right"]
    {
        assert!(last.contains(told), "{told}\n{last}");
    }
    assert!(!last.contains("/home/me"), "folders stay here");
}

#[test]
fn it_is_asked_as_often_as_was_agreed_and_not_where_its_budget_is_spent() {
    let server = ScriptedServer::start([Step::Say(SLOW.to_owned())]).unwrap();
    let (context, bank, history) = (context(KERNEL_TEXT), Bank::new(), History::default());
    let asked = asked(&context, &bank, &history, 0);
    let once = rewinder(&server, false, 1);
    assert!(once.next(&asked).unwrap().is_some() && once.next(&asked).unwrap().is_none());
    assert_eq!(server.received().len(), 1);
    let settings =
        Settings { budget: Budget { tokens: Some(10), ..Budget::default() }, ..settings(&server.endpoint()) };
    let client = Client::new(&settings, None, &Consent::given(settings.host())).unwrap();
    let poor = ModelRewinder::new(subject(), settings, Templates::default(), Box::new(client), 3);
    assert_eq!(poor.next(&asked), Ok(None));
    assert!(poor.over().is_some() && poor.notes().iter().any(|note| note.code == "proposer-ended"));
    assert_eq!(server.received().len(), 1, "nothing was asked");
}
