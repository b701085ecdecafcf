use std::ffi::OsString;

use clap::{CommandFactory, Parser};

use super::args::{BankAction, Cli, Command, MessageFormat, ResumeMode, normalise};
use super::exit::Exit;
use super::value::{Assignment, Definition, duration};
use space::Value;

fn parse(words: &[&str]) -> Result<Cli, clap::Error> {
    let words = std::iter::once("cargo-ascend-tune").chain(words.iter().copied()).map(OsString::from);
    Cli::try_parse_from(normalise(words))
}

fn refusal(words: &[&str]) -> String {
    let error = parse(words).unwrap_err();
    assert_eq!(error.exit_code(), i32::from(Exit::Usage.code()));
    let text = error.render().to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn the_definition_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn the_leading_word_of_cargo_is_optional() {
    for words in [&["run", "--seed", "7"][..], &["ascend-tune", "run", "--seed", "7"]] {
        let Command::Run(run) = parse(words).unwrap().command else { panic!("not run") };
        assert_eq!((run.target.seed, run.budget), (7, 100));
    }
    // Only the first word is cargo's: a project may be called like that.
    let cli = parse(&["doctor", "--project", "ascend-tune"]).unwrap();
    assert_eq!(cli.common.project.to_str(), Some("ascend-tune"));
}

#[test]
fn common_options_stand_before_or_after_the_command() {
    for words in [["--message-format", "json", "check"], ["check", "--message-format", "json"]] {
        assert_eq!(parse(&words).unwrap().common.message_format, MessageFormat::Json);
    }
    assert_eq!(parse(&["-vv", "doctor"]).unwrap().common.verbose, 2);
}

#[test]
fn repeatable_options_collect() {
    let cli = parse(&[
        "profile",
        "-DA=1",
        "-D",
        "B:BOOL=ON",
        "--set",
        "TILE=-64",
        "--set=MODE=wide",
        "--set",
        "DB=true",
        "--case",
        "x",
        "--case=y",
    ])
    .unwrap();
    let Command::Profile(profile) = cli.command else { panic!("not profile") };
    assert_eq!(profile.target.cases, ["x", "y"]);
    let definition = |name: &str, value: &str| Definition { name: name.into(), value: value.into() };
    assert_eq!(profile.target.definitions, [definition("A", "1"), definition("B", "ON")]);
    let assignment = |name: &str, value: Value| Assignment { name: name.into(), value };
    assert_eq!(
        profile.target.assignments,
        [
            assignment("TILE", Value::Int(-64)),
            assignment("MODE", Value::Text("wide".into())),
            assignment("DB", Value::Bool(true)),
        ]
    );
}

#[test]
fn the_later_of_resume_and_no_resume_wins() {
    let mode = |words: &[&str]| match parse(words).unwrap().command {
        Command::Run(run) => run.resume_mode(),
        _ => panic!("not run"),
    };
    assert_eq!(mode(&["run"]), ResumeMode::Auto);
    assert_eq!(mode(&["run", "--no-resume", "--resume"]), ResumeMode::Require);
    assert_eq!(mode(&["run", "--resume", "--no-resume"]), ResumeMode::Never);
}

#[test]
fn bank_has_three_actions() {
    let Command::Bank(bank) = parse(&["bank", "merge", "a", "b", "--bank", "c"]).unwrap().command else {
        panic!("not bank")
    };
    assert_eq!(bank.bank.unwrap().to_str(), Some("c"));
    assert!(matches!(bank.action, BankAction::Merge { sources, dry_run: false } if sources.len() == 2));
}

#[test]
fn refusals_say_what_to_write() {
    let cases: [&[&str]; 15] = [
        &["run", "--set", "TILE"],
        &["run", "--set", "=3"],
        &["run", "--set", "TILE="],
        &["run", "--set", "TI LE=3"],
        &["run", "--set", "TILE=99999999999999999999"],
        &["run", "-D", "A"],
        &["run", "-D", "A:INT=3"],
        &["run", "--budget", "0"],
        &["run", "--jobs", "0"],
        &["run", "--seed", "-1"],
        &["run", "--time-limit", "soon"],
        &["check", "--tolerance", "0.9"],
        &["run", "--backend", "npu"],
        &["-q", "-v", "doctor"],
        &["tune"],
    ];
    insta::assert_snapshot!(cases.map(refusal).join("\n"), @"
    error: invalid value 'TILE' for '--set <NAME=VALUE>': `=` is missing, write NAME=VALUE
    error: invalid value '=3' for '--set <NAME=VALUE>': the name before `=` is missing, write NAME=VALUE
    error: invalid value 'TILE=' for '--set <NAME=VALUE>': the value of TILE is missing, write TILE=VALUE
    error: invalid value 'TI LE=3' for '--set <NAME=VALUE>': ` ` cannot be part of a name
    error: invalid value 'TILE=99999999999999999999' for '--set <NAME=VALUE>': 99999999999999999999 is outside the range of 64-bit integers
    error: invalid value 'A' for '-D <NAME=VALUE>': `=` is missing, write NAME=VALUE
    error: invalid value 'A:INT=3' for '-D <NAME=VALUE>': `INT` is no type of a CMake cache entry; there are BOOL, FILEPATH, PATH, STRING and INTERNAL
    error: invalid value '0' for '--budget <N>': 0 is not in 1..=10000000
    error: invalid value '0' for '--jobs <N>': 0 is not in 1..=4096
    error: unexpected argument '-1' found
    error: invalid value 'soon' for '--time-limit <TIME>': not a duration; write a number with s, m or h, such as 90s, 15m or 1.5h
    error: invalid value '0.9' for '--tolerance <RATIO>': not a ratio of at least 1, such as 1.03 for 3 %
    error: invalid value 'npu' for '--backend <NAME>'
    error: the argument '--quiet' cannot be used with '--verbose...'
    error: unrecognized subcommand 'tune'
    ");
}

#[test]
fn durations_have_units() {
    for (text, seconds) in [("90", 90.0), ("90s", 90.0), ("15m", 900.0), ("1.5h", 5400.0), (" 2 m ", 120.0)] {
        assert_eq!(duration(text).unwrap().as_secs_f64(), seconds, "{text}");
    }
    for text in ["", "s", "0", "-1s", "nan", "inf", "1e99h", "5d", "µ"] {
        assert!(duration(text).is_err(), "{text}");
    }
}

#[test]
fn exit_statuses_are_a_contract() {
    insta::assert_snapshot!(Exit::help(), @"
    Exit status:
        0  fine
        1  a check failed: a case regressed, an output changed, or ascend.lock is stale
        2  wrong arguments, or ascend.toml is missing or invalid
        3  something on this machine is missing; `doctor` says what
        4  the project does not build as it is
        5  the unmodified operator is wrong, or nothing valid was found
      101  a bug in cargo-ascend-tune
    ");
    assert!(Cli::command().render_long_help().to_string().contains("101  a bug"));
}
