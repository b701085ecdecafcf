//! A sample of what `cargo ascend-tune soundness` runs at length: motifs on generated kernels, before and after.

use aicore::Machine;
use motif::Id;
use studies::soundness::bench::{Job, Ran, Wanted};
use studies::soundness::generator::kernel;
use studies::soundness::judge::difference;
use studies::soundness::{Bench, Plan, run};

use crate::support::{TOOL, require_tools, sdk};

fn bench(scratch: &std::path::Path) -> Bench {
    let machine = Machine::named("ascend910b2").expect("a machine");
    Bench::new(sdk().clone(), machine, TOOL.into(), scratch.to_owned())
}

#[test]
fn motifs_that_only_order_or_move_calls_change_no_result() {
    require_tools!();
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let motifs = vec![Id::D16, Id::Y02, Id::Y12];
    let plan = Plan { pairs: 30, seed: 5, motifs, sites: 1, jobs: 2 };
    let tally = run(&bench(scratch.path()), &plan, &|_| ()).unwrap_or_else(|error| panic!("{error}"));
    let misses: Vec<String> = tally.misses.iter().map(studies::soundness::report::describe).collect();
    assert!(misses.is_empty(), "{}", misses.join("\n\n"));
    assert!(tally.pairs() >= 30 && tally.runs() > tally.pairs(), "{} pairs, {} runs", tally.pairs(), tally.runs());
    assert!(tally.kernels > 0 && tally.discarded <= tally.kernels, "{:?}", tally.reasons);
}

#[test]
fn a_wrong_rewrite_is_seen_in_results_hazards_and_the_compiler() {
    require_tools!();
    let scratch = tempfile::tempdir().expect("a temporary directory");
    // A kernel with queues and a result in a step that can be broken.
    let mut numbers = 0..40;
    let kernel = numbers
        .find_map(|number| {
            let kernel = kernel(1, number);
            let text = &kernel.text;
            let floats = kernel.element == studies::soundness::launch::Element::Float;
            (floats && text.contains("inQueue.EnQue(xLocal)") && text.contains("outQueue.EnQue(y);")).then_some(kernel)
        })
        .expect("one of forty kernels has queues");
    let element = kernel.element;
    let broken = [
        kernel.text.replace("        outQueue.EnQue(y);", "        y.SetValue(0, 77);\n        outQueue.EnQue(y);"),
        kernel.text.replace("        inQueue.EnQue(xLocal);", ""),
        kernel.text.replace("        outQueue.EnQue(y);", "        outQueue.EnQue(nothing);"),
    ];
    let texts: Vec<&str> = std::iter::once(kernel.text.as_str()).chain(broken.iter().map(String::as_str)).collect();
    let jobs: Vec<Job<'_>> = texts.iter().map(|text| Job { text, element, launches: &kernel.cases }).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let ran = runtime.block_on(bench(scratch.path()).run(&jobs, Wanted::Results)).expect("the batch runs");
    let [Ran::Launched(before), Ran::Launched(other), Ran::Launched(unqueued), Ran::NotCompiled(log)] = &ran[..] else {
        panic!("{ran:?}");
    };
    assert_eq!(difference(&before[0], &before[0], element, false), None);
    let seen = |after| difference(&before[0], after, element, false).map(|found| found.text()).unwrap_or_default();
    assert!(seen(&other[0]).contains("other result"), "{}", seen(&other[0]));
    let unqueued = seen(&unqueued[0]);
    assert!(unqueued.contains("hazard") || unqueued.contains("fault"), "{unqueued}");
    assert!(log.contains("nothing"), "{log}");
}
