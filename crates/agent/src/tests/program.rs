//! Programs that propose, over standard input and output.

use std::time::Duration;

use super::*;
use manifest::MODEL_KEY_VARIABLE;
use proposer::{Heard, Proposal, Proposer};

/// A run with a program that is this shell script.
struct Run {
    proposer: Collaborator,
    folder: tempfile::TempDir,
    text: String,
}

impl Run {
    fn new(script: &str) -> Self {
        Self::of(script, KERNEL_TEXT)
    }

    /// The same for a kernel.
    fn of(script: &str, text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = ProgramSettings {
            command: ["sh", "-c", script].map(str::to_owned).to_vec(),
            timeout: Duration::from_millis(1500),
            repairs: 1,
            share: 1.0,
        };
        let program = Program::start(settings, folder.path(), MODEL_KEY_VARIABLE).unwrap();
        Self { proposer: Collaborator::program(subject(), program), folder, text: text.to_owned() }
    }

    fn next(&self) -> Vec<Proposal> {
        let (context, bank, history) = (context(&self.text), Bank::new(), History::default());
        loop {
            let proposals = self.proposer.propose(&asked(&context, &bank, &history, 0));
            if !proposals.is_empty() || !self.proposer.is_at_work() {
                return proposals;
            }
        }
    }

    fn said(&self) -> String {
        self.proposer.notes().iter().map(|note| format!("{}: {}\n", note.code, note.message)).collect()
    }
}

fn proposal(title: &str, edits: &str) -> String {
    serde_json::json!({ "proposals": [{ "title": title, "edits": edits }] }).to_string()
}

#[test]
fn a_program_is_asked_a_line_and_answers_a_line() {
    let change =
        proposal("less", &edit("        AscendC::PipeBarrier<PIPE_ALL>();", "        AscendC::PipeBarrier<PIPE_V>();"));
    // It keeps the questions, so that they can be looked at, and answers all of them alike.
    let run = Run::new(&format!(
        "while read -r line; do printf '%s\\n' \"$line\" >> asked; cat <<'END'\n{change}\nEND\ndone"
    ));
    let first = run.next().remove(0);
    assert_eq!((first.motifs.as_slice(), first.patch.title.as_str()), (&["proposer-1".to_owned()][..], "less"));
    assert_eq!(first.why, "proposed by the program sh: less");
    run.proposer.hear(&first, &Heard::Rejected("wrong result".to_owned()));
    let second = run.next().remove(0);
    assert_eq!(second.motifs, ["proposer-2"]);
    let asked = fs_err::read_to_string(run.folder.path().join("asked")).unwrap();
    let asked: Vec<serde_json::Value> = asked.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (&asked[0]["ask"], &asked[0]["most"], &asked[1]["ask"]),
        (&"propose".into(), &3.into(), &"repair".into())
    );
    assert_eq!(asked[0]["files"][1]["text"], KERNEL_TEXT.trim_end());
    assert!(asked[1]["failed"]["diff"].as_str().unwrap().contains("+        AscendC::PipeBarrier<PIPE_V>();"));
    assert_eq!(asked[1]["failed"]["message"], "wrong result");
}

#[test]
fn whole_files_are_a_change_too_and_only_those_that_may_be_changed() {
    let of = |file: &str| {
        let files = serde_json::json!({ file: "constexpr uint32_t TILE = 256;\n" });
        let answer = serde_json::json!({ "proposals": [{ "title": "tile", "why": "longer", "files": files }] });
        Run::new(&format!("while read -r line; do cat <<'END'\n{answer}\nEND\ndone"))
    };
    let own = of(HOST).next().remove(0);
    assert_eq!(own.why, "proposed by the program sh: longer");
    let others = of("ascend.toml");
    assert!(others.next().is_empty());
    let said = others.said();
    assert!(
        said.contains("proposer-answer-unusable: \"tile\": line 1 of the answer: ascend.toml cannot be changed"),
        "{said}"
    );
    assert!(
        said.contains("proposer-ended: the proposer is asked no further: 3 answers in a row had no change in them")
    );
}

#[test]
fn a_program_that_does_not_answer_ends_its_part() {
    let ends = |script: &str, why: &str| {
        let run = Run::new(script);
        assert!(run.next().is_empty());
        let said = run.said();
        assert!(said.contains(why) && said.contains("asked no further: it does not answer"), "{script}: {said}");
    };
    ends("exit 3", "it ");
    ends("while read -r line; do echo no JSON; done", "its answer is none: expected");
    ends(
        "while read -r line; do echo '{\"proposals\":[{\"title\":\"x\",\"votes\":9}]}'; done",
        "unknown field `votes`",
    );
    ends("read -r line; sleep 5", "it gave no answer within 1.5 s");
    // More than a pipe holds.
    let run = Run::of("sleep 5", &KERNEL_TEXT.repeat(300));
    assert!(run.next().is_empty() && run.said().contains("it gave no answer within 1.5 s"));
    let silent = Run::new("while read -r line; do echo '{\"proposals\":[]}'; done");
    assert!(silent.next().is_empty() && silent.next().is_empty() && silent.said().is_empty());
    assert_eq!(silent.proposer.used().spent.answers, 1, "it has nothing to say about these sources");
}
