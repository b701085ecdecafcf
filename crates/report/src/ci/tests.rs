//! What is written is read again, by something that knows the form where there is one.

use serde_json::Value;

use super::*;
use aicore::Origin;
use events::{CaseVerdict, Check, CheckCase, CheckVerdict};

fn case(name: &str, now_us: f64, verdict: CaseVerdict) -> CheckCase {
    let (locked_us, ratio) = (Some(20.0), Some(now_us / 20.0));
    CheckCase { name: name.to_owned(), locked_us, now_us: Some(now_us), ratio, pairs: None, verdict }
}

fn operator(project: &str, verdict: Verdict, cases: Vec<CheckCase>, findings: Vec<CheckFinding>) -> CheckedOperator {
    let check = Check {
        verdict: CheckVerdict::Ok,
        cases,
        drift: Vec::new(),
        differences: Vec::new(),
        findings: Vec::new(),
        remembered: verdict == Verdict::Same,
        tolerance: 1.03,
        claimed: None,
        timed: None,
        origin: Origin::Modelled,
        machine: "ascend910b2".to_owned(),
        machine_version: "3".to_owned(),
    };
    let check = (verdict != Verdict::CannotTell).then_some(check);
    CheckedOperator {
        project: project.to_owned(),
        soc: String::new(),
        operator: "Gelu".to_owned(),
        verdict,
        findings,
        check,
        exit: u8::from(!verdict.passes()),
        wall_s: 1.5,
    }
}

fn finding(verdict: Verdict, case: Option<&str>, file: &str, line: u32, message: &str) -> CheckFinding {
    CheckFinding { verdict, case: case.map(str::to_owned), file: file.to_owned(), line, message: message.to_owned() }
}

fn summary() -> CheckSummary {
    let slow = "case large: 25.00 us, 20.00 us are locked (+25.0 %); v waits longest, 3.2 us for flag mte2->v";
    let slow = finding(Verdict::Slower, Some("large"), "op_kernel/gelu, fast.cpp", 41, slow);
    let drift = finding(Verdict::Drifted, None, "../common/cast.h", 0, "../common/cast.h was changed");
    let broken = finding(Verdict::CannotTell, None, "", 0, "the project does not build:\n<&\"> 100 % @all | `x`");
    let cases = vec![case("large", 25.0, CaseVerdict::Regressed), case("odd", 20.0, CaseVerdict::Ok)];
    CheckSummary {
        operators: vec![
            operator("ops/gelu", Verdict::Slower, cases, vec![slow, drift]),
            operator("ops/softmax", Verdict::Same, vec![case("large", 20.0, CaseVerdict::Ok)], Vec::new()),
            operator("ops/add", Verdict::CannotTell, Vec::new(), vec![broken]),
        ],
        drift_only: false,
        left_out: 0,
        wall_s: 4.5,
    }
}

fn rendered(format: CheckFormat) -> String {
    let places = Places { top: PathBuf::from("/repo"), start: PathBuf::from("/repo/csrc") };
    render_check(&summary(), format, &places).unwrap()
}

#[test]
fn junit_is_what_a_reader_of_it_reads() {
    let text = rendered(CheckFormat::Junit);
    let report = quick_junit::Report::deserialize_from_str(&text).unwrap();
    assert_eq!((report.tests, report.failures, report.errors), (6, 2, 1), "{text}");
    let names: Vec<&str> = report.test_suites.iter().map(|suite| suite.name.as_str()).collect();
    assert_eq!(names, ["ops/gelu", "ops/softmax", "ops/add"]);
    let quick_junit::TestCaseStatus::NonSuccess { kind, message, ty, .. } = &report.test_suites[0].test_cases[0].status
    else {
        panic!("{text}")
    };
    assert_eq!((*kind, ty.as_ref().unwrap().as_str()), (quick_junit::NonSuccessKind::Failure, "slower"));
    assert!(message.as_ref().unwrap().as_str().contains("gelu, fast.cpp:41: case large: 25.00 us"), "{message:?}");
    let output = report.test_suites[1].test_cases[0].system_out.as_ref().unwrap();
    assert_eq!(output.as_str(), "locked 20.00 us, now 20.00 us (modelled on ascend910b2 version 3)");
}

#[test]
fn sarif_names_a_rule_and_a_line_for_each_finding() {
    let text = rendered(CheckFormat::Sarif);
    let log: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    for result in results {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()));
    }
    let place = |at: usize| &results[at]["locations"][0]["physicalLocation"];
    assert_eq!(place(0)["artifactLocation"]["uri"], "csrc/ops/gelu/op_kernel/gelu%2C%20fast.cpp");
    assert_eq!(place(0)["region"]["startLine"], 41);
    assert_eq!(place(1)["artifactLocation"]["uri"], "csrc/ops/common/cast.h");
    assert_eq!(
        (&place(2)["artifactLocation"]["uri"], &place(2)["region"]["startLine"]),
        (&"csrc/ops/add/ascend.toml".into(), &1.into())
    );
}

/// A workflow command as GitHub's runner takes it apart.
fn command(line: &str) -> (String, Vec<(String, String)>, String) {
    let (head, message) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
    let (level, properties) = head.split_once(' ').unwrap();
    let plain = |text: &str| {
        let text = text.replace("%3A", ":").replace("%2C", ",").replace("%0D", "\r").replace("%0A", "\n");
        text.replace("%25", "%")
    };
    let properties = properties.split(',').map(|property| property.split_once('=').unwrap());
    let properties = properties.map(|(name, value)| (name.to_owned(), plain(value))).collect();
    (level.to_owned(), properties, plain(message))
}

#[test]
fn annotations_of_github_survive_every_letter() {
    let text = rendered(CheckFormat::Github);
    let commands: Vec<_> = text.lines().map(command).collect();
    assert_eq!(commands.len(), 3);
    let (level, properties, message) = &commands[0];
    assert_eq!(level, "error");
    let expected = [("file", "csrc/ops/gelu/op_kernel/gelu, fast.cpp"), ("line", "41"), ("title", "Gelu: slower")];
    assert!(properties.iter().map(|(name, value)| (name.as_str(), value.as_str())).eq(expected), "{properties:?}");
    assert!(message.contains("(+25.0 %); v waits longest"), "{message}");
    assert_eq!(commands[2].2, "the project does not build:\n<&\"> 100 % @all | `x`");
}

#[test]
fn the_code_quality_report_has_what_gitlab_asks_for() {
    let issues: Vec<Value> = serde_json::from_str(&rendered(CheckFormat::Gitlab)).unwrap();
    assert_eq!(issues.len(), 3);
    let mut fingerprints: Vec<&str> = issues.iter().map(|issue| issue["fingerprint"].as_str().unwrap()).collect();
    fingerprints.sort_unstable();
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), 3);
    for issue in &issues {
        assert!(["info", "minor", "major", "critical", "blocker"].contains(&issue["severity"].as_str().unwrap()));
        assert!(issue["location"]["lines"]["begin"].as_u64().unwrap() >= 1);
        assert!(!issue["location"]["path"].as_str().unwrap().starts_with('/'));
    }
    assert_eq!(issues[0]["check_name"], "ascend-tune/slower");
}

#[test]
fn the_page_says_why_and_has_no_markup_of_others() {
    insta::assert_snapshot!(rendered(CheckFormat::Markdown));
}

#[test]
fn what_was_gained_is_told_and_nothing_else() {
    let summary = crate::tests::sample::summary();
    let text = gained(&summary, "ops/gelu|<x>").unwrap();
    assert!(text.starts_with("### GeluNaive in "), "{text}");
    assert!(!text.contains("|<x>"), "{text}");
    for part in ["4.24x", "| large | ", "| 60.25x |", "Latencies are modelled on"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(gained(&events::Summary { claimed: 1.004, ..summary }, "ops/gelu"), None);
}
