//! Local motifs: stated by a model of what was kept, and made again without one.

use super::*;
use experience::local_name;
use motif::{Counter, LocalForm, LocalMotif, LocalRecord};
use proposer::{Heard, Proposer};

const BARRIER: &str = "        AscendC::PipeBarrier<PIPE_ALL>();";
const NARROW: &str = "        AscendC::PipeBarrier<PIPE_V>();";
const STATED: &str = "Here it is.\n<<<<<<< MOTIF narrow the barrier\n@PipeBarrier<PIPE_ALL>();\n=======\n@PipeBarrier<PIPE_V>();\n>>>>>>> END\n";

fn after() -> SourceTree {
    let mut after = sources();
    after.insert(KERNEL, KERNEL_TEXT.replace(BARRIER, NARROW).as_str());
    after
}

fn form() -> LocalForm {
    crate::local::stated(STATED).unwrap().unwrap()
}

#[test]
fn an_answer_is_read_with_its_guards() {
    let answer = format!("{STATED}TENSORS: x y : float half\nAPART: x y\nFRESH: work more\nRELIEVES: stall_us\n");
    let form = crate::local::stated(&answer).unwrap().unwrap();
    assert_eq!((form.title.as_str(), form.fast.as_str()), ("narrow the barrier", "@PipeBarrier<PIPE_V>();"));
    assert_eq!((form.tensors[0].holes.len(), form.tensors[0].elements.join(" ")), (2, "float half".to_owned()));
    assert_eq!((form.apart.len(), form.fresh.join(" ")), (1, "work more".to_owned()));
    assert_eq!(form.relieves, Some(Counter::StallUs));
    assert_eq!(crate::local::stated("NOTHING"), Ok(None));
    assert!(crate::local::stated(&format!("{STATED}RELIEVES: time")).unwrap_err().contains("none of scalar_us"));
    assert!(crate::local::stated("A rule.").unwrap_err().contains("no line"));
    assert!(crate::local::stated("<<<<<<< MOTIF x\na").unwrap_err().contains("no `=======`"));
    assert!(crate::local::stated(&format!("{STATED}APART: x")).unwrap_err().contains("two holes"));
}

#[test]
fn it_holds_where_it_makes_what_was_kept_and_nothing_else() {
    assert_eq!(crate::local::holds(&form(), &sources(), &after()), Ok(1));
    let twice = |barrier: &str| {
        let text = KERNEL_TEXT.replace(BARRIER, &format!("{barrier}\n        count++;\n{barrier}"));
        [(KERNEL, text.as_str())].into_iter().collect::<SourceTree>()
    };
    let (before, narrow) = (twice(BARRIER), twice(NARROW));
    let record = crate::local::with_places(form(), &before, &narrow).unwrap().record;
    assert_eq!((record.places, record.gained), (2, 1), "it occurs twice");
    assert!(before.digest().starts_with(&record.from[0]));
    let other = LocalForm { fast: "@PipeBarrier<PIPE_MTE2>();".to_owned(), ..form() };
    assert!(crate::local::holds(&other, &sources(), &after()).unwrap_err().contains("not what was kept"));
    let nowhere = LocalForm { slow: "@PipeBarrier<PIPE_S>();".to_owned(), ..form() };
    assert!(crate::local::holds(&nowhere, &sources(), &after()).unwrap_err().contains("does not apply"));
    let unsound = LocalForm { fast: "@PipeBarrier<$p>();".to_owned(), ..form() };
    assert!(crate::local::holds(&unsound, &sources(), &after()).unwrap_err().contains("the hole \"p\""));
}

#[test]
fn what_it_relieves_has_to_show_in_the_profiles() {
    let of = |counters: &[(&str, [f64; 2])]| {
        let form = LocalForm { relieves: Some(Counter::VecUs), ..form() };
        let counters = counters.iter().map(|(name, both)| ((*name).to_owned(), *both)).collect();
        crate::local::disagrees(&form, &counters)
    };
    assert_eq!(of(&[("vec_us", [2.0, 1.0]), ("stall_us", [1.0, 2.0])]), None);
    assert!(of(&[("vec_us", [2.0, 2.0])]).unwrap().contains("from 2.000 us to 2.000 us"));
    assert!(of(&[("vec_us", [0.0, 0.0])]).is_some(), "what is not there cannot be relieved");
    assert!(of(&[("stall_us", [2.0, 1.0])]).unwrap().contains("nothing is known of vec_us"));
    assert_eq!(crate::local::disagrees(&form(), &std::collections::BTreeMap::new()), None, "nobody has said anything");
}

#[test]
fn a_bank_proposes_it_without_a_model_until_it_does_not_hold() {
    let name = local_name(&form());
    let engine = LocalMotifs::new(vec![(name.clone(), LocalMotif::new(form()).unwrap())]);
    let (context, bank, history) = (context(KERNEL_TEXT), Bank::new(), History::default());
    let proposals = engine.propose(&asked(&context, &bank, &history, 0));
    let [proposal] = &proposals[..] else { panic!("{proposals:?}") };
    assert_eq!(context.admit(&proposal.patch).unwrap(), after());
    assert_eq!(proposal.motifs.join("+"), name);
    assert!(proposal.why.contains("narrow the barrier, at op_kernel/add.cpp:7"), "{}", proposal.why);
    let record = |engine: &LocalMotifs| {
        let records = engine.records();
        let (of, LocalRecord { searched, matched, held, gained, .. }) = &records[0];
        assert_eq!(*of, name);
        [*searched, *matched, *held, *gained]
    };
    assert_eq!(record(&engine), [1, 1, 0, 0]);
    engine.hear(proposal, &Heard::Right { gain: 1.0, taken: false });
    assert_eq!(record(&engine), [1, 1, 1, 0]);
    engine.hear(proposal, &Heard::Right { gain: 1.2, taken: true });
    assert_eq!(record(&engine), [1, 1, 1, 1], "the same operator counts once");
    assert_eq!(engine.propose(&asked(&context, &bank, &history, 0)).len(), 1);
    engine.hear_taken_back("D01", "worth nothing");
    assert!(engine.refused().is_empty());
    engine.hear(proposal, &Heard::Rejected("hazard: race".to_owned()));
    assert!(engine.propose(&asked(&context, &bank, &history, 0)).is_empty());
    assert_eq!(engine.refused(), [name]);
}
