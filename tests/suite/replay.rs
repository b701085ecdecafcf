//! Strategies on recorded spaces, through the command.

use std::fmt::Write as _;

use crate::support::{Ended, tool};

/// A Kernel Tuner cache of 12 x 8 configurations with one valley; a tenth fails.
fn cache_file() -> String {
    let mut entries = String::new();
    for tile in 1..=12 {
        for depth in 1..=8 {
            let time = if tile * depth % 10 == 0 {
                "\"RuntimeFailedConfig\"".to_owned()
            } else {
                format!("{}", 1.0 + f64::from((tile - 9) * (tile - 9)) + 0.5 * f64::from((depth - 3) * (depth - 3)))
            };
            let comma = if entries.is_empty() { "" } else { "," };
            let _ = write!(
                entries,
                "{comma}\"{tile},{depth}\": {{\"tile\": {tile}, \"depth\": {depth}, \"time\": {time}}}"
            );
        }
    }
    format!("{{\"kernel_name\": \"k\", \"tune_params_keys\": [\"tile\", \"depth\"], \"cache\": {{{entries}}}}}")
}

fn replay(arguments: &[&str]) -> Ended {
    let output =
        tool().arg("replay").args(arguments).args(["--message-format", "json"]).output().expect("the tool runs");
    Ended::new(&output)
}

#[test]
fn a_replay_compares_with_peers_and_can_be_read_again() {
    let folder = tempfile::tempdir().expect("folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs_err::write(at("toy.json"), cache_file()).expect("written");
    let header = "space,engine,budget,repeats,median_ratio,mean_ratio,p90_ratio,hit1pct,score\n";
    fs_err::write(at("peers.csv"), format!("{header}toy,slow,20,4,9,9,9,0,-1\n")).expect("written");
    let (space, peers, out, page) = (at("toy.json"), at("peers.csv"), at("out.csv"), at("page.md"));
    let exported = at("exported");
    let mut arguments = vec!["--space", &space, "--peers", &peers, "--out", &out, "--markdown", &page];
    arguments.extend(["--export", &exported, "--strategy", "hybrid,random", "--budget", "10,20", "--seeds", "8"]);
    let ended = replay(&arguments).expect(0);
    let report = ended.named("replay")[0].clone();
    assert_eq!(report["spaces"][0]["configurations"], 96);
    let results = &report["spaces"][0]["strategies"][0]["results"];
    let ratio = |at: usize| results[at]["mean_ratio"].as_f64().expect("a number");
    assert!(ratio(1) <= ratio(0) && ratio(1) < 1.3, "{results}");
    let engines = report["engines"].as_array().expect("a list");
    let ours = engines.iter().find(|engine| engine["engine"] == "ascend-tune hybrid" && engine["budget"] == 20);
    assert_eq!(ours.expect("ours")["no_worse_than_best_peer"], 1);
    let rows = fs_err::read_to_string(&out).expect("rows");
    assert!(rows.starts_with(header) && rows.contains("toy,ascend-tune random,10,8,"), "{rows}");
    let text = fs_err::read_to_string(&page).expect("page");
    assert!(text.contains("| slow |") && text.contains("page.svg"), "{text}");
    assert!(fs_err::read_to_string(at("page.svg")).expect("plot").contains("<polyline"));

    // What was exported is the same space, and equal seeds give equal runs.
    let again =
        replay(&["--space", &exported, "--strategy", "hybrid", "--budget", "10,20", "--seeds", "8", "--jobs", "1"]);
    assert_eq!(again.expect(0).named("replay")[0]["spaces"][0]["strategies"][0]["results"], *results);
}

#[test]
fn noisy_times_are_measured_again_where_that_names_a_better_winner() {
    let folder = tempfile::tempdir().expect("folder");
    let space = folder.path().join("toy.json").display().to_string();
    // Many configurations that are nearly as good as the best.
    let flat = |at: u32| format!("\"{at}\": {{\"tile\": {at}, \"time\": {}}}", 1.0 + 0.005 * f64::from(at));
    let entries: Vec<String> = (1..=60).map(flat).collect();
    let text = format!("{{\"tune_params_keys\": [\"tile\"], \"cache\": {{{}}}}}", entries.join(","));
    fs_err::write(&space, text).expect("written");
    let strategy = |more: &[&str]| {
        let mut arguments = vec!["--space", &space, "--strategy", "random", "--budget", "40", "--seeds", "400"];
        arguments.extend_from_slice(more);
        replay(&arguments).expect(0).named("replay")[0]["spaces"][0]["strategies"][0].clone()
    };
    let ratio = |found: &serde_json::Value| found["results"][0]["mean_ratio"].as_f64().expect("a ratio");
    let again = |found: &serde_json::Value| found["again"].as_f64().expect("a count");
    let exact = strategy(&[]);
    assert_eq!(again(&exact), 0.0, "exact times are measured once");
    let once = strategy(&["--noise", "10", "--measure-once"]);
    let settled = strategy(&["--noise", "10"]);
    assert!(again(&once) == 0.0 && again(&settled) > 1.0 && again(&settled) <= 4.0, "{settled}");
    assert!(ratio(&settled) < ratio(&once) - 0.003, "{} instead of {}", ratio(&settled), ratio(&once));
    assert_eq!(strategy(&["--noise", "10"])["results"], settled["results"], "equal seeds give equal runs");
}

#[test]
fn what_is_no_space_is_named() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.json");
    fs_err::write(&path, "{\"tune\": 1}").expect("written");
    let ended = replay(&["--space", &path.display().to_string()]).expect(2);
    assert!(ended.named("error")[0]["message"].as_str().is_some_and(|text| text.contains("a.json: this is none of")));
    let ended = replay(&["--space", &folder.path().join("b.toml").display().to_string()]).expect(2);
    assert!(ended.named("error")[0]["message"].as_str().is_some_and(|text| text.contains("b.csv")));
}
