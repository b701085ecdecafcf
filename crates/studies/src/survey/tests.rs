use super::summary::summarise;
use super::*;
use events::survey::*;

fn step(step: SurveyStep, state: State, cause: Option<Cause>) -> StepOutcome {
    StepOutcome { step, state, wall_s: 0.5, cause, detail: format!("{step} <detail>") }
}

fn outcome(repository: &str, operator: &str, steps: Vec<StepOutcome>) -> Surveyed {
    Surveyed {
        repository: repository.into(),
        operator: operator.into(),
        shape: Shape::Framework,
        class: Class::Vector,
        op_type: "Op".into(),
        case: "4x2 float32".into(),
        steps,
        witnesses: Vec::new(),
        tiling_tests: None,
        kernel_tests: None,
        wall_s: 1.0,
    }
}

fn through(upto: SurveyStep) -> Vec<StepOutcome> {
    SurveyStep::ALL.into_iter().filter(|one| *one <= upto).map(|one| step(one, State::Passed, None)).collect()
}

fn sample() -> Vec<Surveyed> {
    let missing = || Cause::new(CauseKind::MissingName, "Foo");
    let mut unknown = through(SurveyStep::Run);
    unknown.push(step(SurveyStep::Verify, State::Unknown, Some(Cause::new(CauseKind::NoReference, ""))));
    unknown.push(step(SurveyStep::Hazards, State::Passed, None));
    let mut failed = through(SurveyStep::Tiling);
    failed.push(step(SurveyStep::Kernel, State::Failed, Some(missing())));
    vec![
        outcome("one", "math/a", through(SurveyStep::Hazards)),
        outcome("one", "math/b", unknown),
        outcome("one", "math/c", failed.clone()),
        Surveyed {
            tiling_tests: Some(TilingTestCounts {
                agree: 3,
                differ: 1,
                held_elsewhere: 5,
                ..TilingTestCounts::default()
            }),
            kernel_tests: Some(KernelTestCounts { right: 1, ran_only: 2, ..KernelTestCounts::default() }),
            ..outcome("two", "d", failed)
        },
    ]
}

#[test]
fn unknown_is_never_counted_as_right() {
    let summary = summarise(&sample());
    let one = &summary.rows[0];
    assert_eq!((one.repository.as_str(), one.operators, one.passed(SurveyStep::Run)), ("one", 3, 2));
    assert_eq!((one.right, one.wrong, one.unknown, one.clean), (1, 0, 1, 2));
    let all = &summary.rows[2];
    assert_eq!((all.repository.as_str(), all.operators, all.passed(SurveyStep::Kernel)), ("", 4, 2));
    // One operator has tests, it does not agree fully, and what holds elsewhere is no agreement.
    let tests = &all.tests;
    assert_eq!((tests.tiling_operators, tests.tiling_judged, tests.tiling_agreeing), (1, 1, 0));
    assert_eq!((tests.tiling.agree, tests.tiling.differ, tests.tiling.held_elsewhere), (3, 1, 5));
    assert_eq!((tests.kernel.right, tests.kernel.wrong, tests.kernel.ran_only), (1, 0, 2));
}

#[test]
fn verdicts_are_counted_by_witness() {
    let said = |pairs: &[(Witness, Says)]| {
        let testimony = |&(witness, says)| Testimony { witness, says, detail: String::new() };
        let witnesses = pairs.iter().map(testimony).collect();
        Surveyed { witnesses, ..outcome("one", "math/a", through(SurveyStep::Verify)) }
    };
    let outcomes = [
        said(&[(Witness::Authors, Says::Right), (Witness::Definition, Says::Right)]),
        said(&[(Witness::Authors, Says::Nothing), (Witness::Definition, Says::Right)]),
        said(&[(Witness::Authors, Says::Wrong), (Witness::Definition, Says::Right)]),
        said(&[(Witness::Authors, Says::Wrong), (Witness::Definition, Says::Wrong)]),
        said(&[]),
    ];
    let summary = summarise(&outcomes);
    assert_eq!(summary.rows[0].witnesses.cells().join(" "), "1 2 3 1 1 1");
    let text = render_markdown(&[Section { summary: &summary, outcomes: &outcomes }]);
    assert!(text.contains("| one | vector | 1 | 2 | 3 | 1 | 1 | 1 |"), "{text}");
}

#[test]
fn unwritten_bytes_are_neither_wrong_nor_right() {
    let stopped = |kind: CauseKind| {
        let mut steps = through(SurveyStep::Run);
        steps.push(step(SurveyStep::Verify, State::Failed, Some(Cause::new(kind, ""))));
        outcome("one", "math/a", steps)
    };
    let kinds = [CauseKind::UnwrittenOutput, CauseKind::UnstableResult, CauseKind::WrongResult, CauseKind::TimeOut];
    let row = &summarise(&kinds.map(stopped)).rows[0];
    assert_eq!((row.right, row.wrong, row.unwritten, row.unknown), (0, 1, 2, 1));
}

#[test]
fn operators_are_grouped_by_what_stopped_them() {
    let summary = summarise(&sample());
    assert_eq!(summary.groups.len(), 1);
    let group = &summary.groups[0];
    assert_eq!((group.step, group.cause.to_string().as_str()), (SurveyStep::Kernel, "unknown name: Foo"));
    assert_eq!(group.operators, ["one/math/c", "two/d"]);
}

#[test]
fn pages_name_repositories_and_causes() {
    let outcomes = sample();
    let summary = Summary { headers: "own".into(), machine: "ascend910b2".into(), ..summarise(&outcomes) };
    let html = render_html(&summary, &outcomes).unwrap();
    assert!(html.contains("unknown name: Foo") && html.contains("math&#x2f;b") && html.contains("&lt;detail&gt;"));
    let markdown = render_markdown(&[markdown::Section { summary: &summary, outcomes: &outcomes }]);
    assert!(
        markdown.contains("| one | vector | 3 | 3 (100 %) | 3 (100 %) | 2 (67 %) | 2 (67 %) | 1 | 0 | 0 | 1 | 2 |"),
        "{markdown}"
    );
    assert!(markdown.contains("| two | vector | 1 | 0 of 1 | 3 | 1 | 0 | 5 | 0 | 1 | 1 | 0 | 2 | 0 |"), "{markdown}");
    assert!(!markdown.contains("| one | vector | 0 |"), "{markdown}");
    assert!(html.contains("<th class=\"number\">hold only elsewhere</th>"));
    assert!(markdown.contains("| 2 | kernel | unknown name: Foo | one/math/c, two/d |"), "{markdown}");
}

#[test]
fn own_tests_are_beside_the_way() {
    let mut one = outcome("one", "math/a", vec![step(SurveyStep::Host, State::Passed, None)]);
    one.steps.push(step(SurveyStep::TilingTests, State::Failed, Some(Cause::new(CauseKind::TestDisagrees, "key"))));
    one.steps.push(step(SurveyStep::KernelTests, State::Passed, None));
    assert_eq!((one.failure(), one.reached()), (None, Some(SurveyStep::Host)));
    // What they disagree about is listed all the same.
    let summary = summarise(std::slice::from_ref(&one));
    assert_eq!(summary.groups[0].step, SurveyStep::TilingTests);
    // Where they were not run, no page has a table for them.
    let markdown = render_markdown(&[markdown::Section { summary: &summary, outcomes: &[one] }]);
    assert!(!markdown.contains("own unit tests"), "{markdown}");
}

#[test]
fn a_journal_survives_a_line_that_was_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let outcomes = sample();
    let mut journal = journal::Journal::open(&path, true).unwrap();
    journal.append("a", &outcomes[0]).unwrap();
    journal.append("b", &outcomes[1]).unwrap();
    drop(journal);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.len() - 20]).unwrap();
    let mut journal = journal::Journal::open(&path, true).unwrap();
    assert_eq!(journal.get("a"), Some(&outcomes[0]));
    assert_eq!(journal.get("b"), None);
    journal.append("b", &outcomes[1]).unwrap();
    drop(journal);
    assert_eq!(journal::Journal::open(&path, true).unwrap().get("b"), Some(&outcomes[1]));
    assert_eq!(journal::Journal::open(&path, false).unwrap().get("a"), None);
}

#[test]
fn what_the_machine_lacked_is_not_remembered_of_an_operator() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let mut outcome = sample().remove(0);
    let first = outcome.steps.first_mut().unwrap();
    first.cause = Some(Cause::new(CauseKind::Machine, "cmake was not found"));
    let mut journal = journal::Journal::open(&path, true).unwrap();
    journal.append("a", &outcome).unwrap();
    outcome.steps[0].cause = Some(Cause::new(CauseKind::Cmake, "a project that it refuses"));
    journal.append("b", &outcome).unwrap();
    drop(journal);
    let journal = journal::Journal::open(&path, true).unwrap();
    assert_eq!((journal.get("a"), journal.get("b")), (None, Some(&outcome)));
}
