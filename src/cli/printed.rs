//! What is printed for other programs, and no event: completions of shells, manual pages, schemas.

use std::io::{self, Write};

use clap::CommandFactory;

use super::args::{Cli, Command, CompletionsArgs, ManArgs, SchemaArgs, SchemaOf};
use tuner::TunerError;

/// Name of the program, as shells and `man` know it.
const PROGRAM: &str = "cargo-ascend-tune";

/// Prints what a command is for, if it is for nothing else.
pub(super) fn print(command: &Command, output: &mut dyn Write) -> Option<Result<(), TunerError>> {
    let printed = match command {
        Command::Completions(arguments) => completions(arguments, output),
        Command::Man(arguments) => man(arguments, output),
        Command::Schema(arguments) => schema(arguments, output),
        _ => return None,
    };
    // A reader that has seen enough is content.
    Some(match printed {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(TunerError::Io),
    })
}

fn completions(arguments: &CompletionsArgs, output: &mut dyn Write) -> io::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), PROGRAM, &mut script);
    output.write_all(&script)
}

fn man(arguments: &ManArgs, output: &mut dyn Write) -> io::Result<()> {
    let program = Cli::command().name(PROGRAM);
    match &arguments.out {
        Some(folder) => {
            fs_err::create_dir_all(folder)?;
            clap_mangen::generate_to(program, folder)
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(program).render(&mut page)?;
            output.write_all(&page)
        }
    }
}

fn schema(arguments: &SchemaArgs, output: &mut dyn Write) -> io::Result<()> {
    let schema = match arguments.of {
        SchemaOf::Manifest => manifest::schema(),
        SchemaOf::Lock => lock::schema(),
        SchemaOf::Events => events::schema(),
    };
    serde_json::to_writer_pretty(&mut *output, &schema)?;
    output.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    use clap::ValueEnum;
    use clap_complete::Shell;
    use events::{Event, LockDiff, LockDifference, LockTopic, RecordedStep, Restored, Start, Warning};
    use serde_json::Value;

    #[test]
    fn every_shell_completes_every_command() {
        for shell in Shell::value_variants() {
            let mut script = Vec::new();
            completions(&CompletionsArgs { shell: *shell }, &mut script).unwrap();
            let script = String::from_utf8(script).unwrap();
            for word in ["check", "changed-since", "doctor"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }

    #[test]
    fn there_is_a_page_for_each_command_that_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let mut page = Vec::new();
        man(&ManArgs { out: None }, &mut page).unwrap();
        assert!(String::from_utf8(page).unwrap().contains("Exit status"));
        man(&ManArgs { out: Some(folder.path().to_owned()) }, &mut Vec::new()).unwrap();
        let page = |name: &str| fs_err::read_to_string(folder.path().join(name)).unwrap();
        assert!(page("cargo-ascend-tune.1").starts_with(".ie"));
        assert!(page("cargo-ascend-tune-check.1").contains("changed\\-since"));
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            assert!(
                folder.path().join(format!("{PROGRAM}-{}.1", command.get_name())).exists(),
                "{}",
                command.get_name()
            );
        }
    }

    /// Whether a value is what a schema says, as far as our schemas go; the path of what is not.
    fn fits(value: &Value, schema: &Value, root: &Value, at: &str) -> Result<(), String> {
        let Some(rules) = schema.as_object() else {
            return if schema == &Value::Bool(false) { Err(at.into()) } else { Ok(()) };
        };
        for (rule, said) in rules {
            match rule.as_str() {
                "$ref" => {
                    let place = said.as_str().and_then(|text| text.strip_prefix('#')).expect("a place");
                    fits(value, root.pointer(place).expect("it is there"), root, at)?;
                }
                "anyOf" | "oneOf" => {
                    let any = said.as_array().expect("a list").iter().any(|one| fits(value, one, root, at).is_ok());
                    any.then_some(()).ok_or_else(|| format!("{at}: none of {said}"))?;
                }
                "type" => {
                    let is = |name: &Value| match name.as_str().expect("a name") {
                        "object" => value.is_object(),
                        "array" => value.is_array(),
                        "string" => value.is_string(),
                        "boolean" => value.is_boolean(),
                        "integer" => value.is_i64() || value.is_u64(),
                        "number" => value.is_number(),
                        "null" => value.is_null(),
                        other => panic!("{other}"),
                    };
                    let any = said.as_array().map_or_else(|| is(said), |names| names.iter().any(is));
                    any.then_some(()).ok_or_else(|| format!("{at}: not {said}"))?;
                }
                "const" => (value == said).then_some(()).ok_or_else(|| format!("{at}: not {said}"))?,
                "enum" => {
                    said.as_array().expect("a list").contains(value).then_some(()).ok_or_else(|| at.to_owned())?
                }
                "items" => {
                    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                        fits(item, said, root, &format!("{at}/{number}"))?;
                    }
                }
                "required" => {
                    for name in said.as_array().expect("a list") {
                        let missing = value
                            .as_object()
                            .is_some_and(|object| !object.contains_key(name.as_str().expect("a name")));
                        (!missing).then_some(()).ok_or_else(|| format!("{at}: no {name}"))?;
                    }
                }
                "additionalProperties" => {
                    let known = rules.get("properties").and_then(Value::as_object);
                    for (name, inner) in value.as_object().into_iter().flatten() {
                        if known.is_none_or(|known| !known.contains_key(name)) {
                            fits(inner, said, root, &format!("{at}/{name}"))?;
                        }
                    }
                }
                "properties" => {
                    for (name, inner) in said.as_object().expect("a table") {
                        let found = value.get(name);
                        found.map_or(Ok(()), |found| fits(found, inner, root, &format!("{at}/{name}")))?;
                    }
                }
                // Words for people, and bounds of numbers.
                "$defs" | "$schema" | "default" | "description" | "format" | "maximum" | "minimum" | "title" => {}
                other => panic!("{other} is not looked at"),
            }
        }
        Ok(())
    }

    fn schema_of(of: SchemaOf) -> Value {
        let mut text = Vec::new();
        schema(&SchemaArgs { of }, &mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    #[test]
    fn manifests_and_locks_fit_their_schemas_and_mistakes_do_not() {
        let manifest = schema_of(SchemaOf::Manifest);
        let mut looked_at = 0;
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        for entry in walkdir::WalkDir::new(root).into_iter().filter_map(Result::ok) {
            if entry.file_name() == "ascend.toml" {
                looked_at += 1;
                let text = fs_err::read_to_string(entry.path()).unwrap();
                let value: Value = toml::from_str(&text).unwrap();
                assert_eq!(fits(&value, &manifest, &manifest, ""), Ok(()), "{}", entry.path().display());
                for (right, wrong) in
                    [("[operator]", "[operater]"), ("seeds = 3", "seeds = \"3\""), ("layout = \"", "layout = \"x")]
                {
                    if text.contains(right) {
                        let value: Value = toml::from_str(&text.replace(right, wrong)).unwrap();
                        assert!(fits(&value, &manifest, &manifest, "").is_err(), "{wrong}");
                    }
                }
            }
        }
        assert!(looked_at > 10, "{looked_at}");
        let lock_schema = schema_of(SchemaOf::Lock);
        let text = lock::testing::sample().to_text().unwrap();
        let value: Value = toml::from_str(&text).unwrap();
        assert_eq!(fits(&value, &lock_schema, &lock_schema, ""), Ok(()));
        let value: Value = toml::from_str(&text.replace("tool = ", "tols = ")).unwrap();
        assert!(fits(&value, &lock_schema, &lock_schema, "").is_err());
        assert!(manifest["properties"]["operator"].to_string().contains("The operator and its sources"), "{manifest}");
    }

    #[test]
    fn events_fit_their_schema_and_what_is_none_does_not() {
        let schema = schema_of(SchemaOf::Events);
        let step = RecordedStep {
            number: 1,
            motif: None,
            title: "T 1 -> 2".into(),
            gain: Some(1.5),
            alone: true,
            applied: false,
        };
        let restored = Restored {
            action: "undo".into(),
            operator: "Op".into(),
            files: vec!["k.h".into()],
            removed: Vec::new(),
            written: true,
            steps: vec![step],
            next: None,
        };
        let difference = LockDifference {
            topic: LockTopic::Latency,
            name: "small".into(),
            before: Some("2.000 us".into()),
            after: None,
            ratio: None,
        };
        let diff = LockDiff { before: "HEAD".into(), after: "ascend.lock".into(), differences: vec![difference] };
        let warning = Warning { code: "drift".into(), message: "changed".into(), help: None };
        let said = [
            Event::Start(Start::new("undo")),
            Event::Restored(restored),
            Event::LockDiff(diff),
            Event::Warning(warning),
        ];
        for event in &said {
            let line = serde_json::to_value(event).unwrap();
            assert_eq!(fits(&line, &schema, &schema, ""), Ok(()), "{line}");
            let mut unknown = line.clone();
            unknown["event"] = "unheard-of".into();
            assert!(fits(&unknown, &schema, &schema, "").is_err(), "{unknown}");
            let mut less = line.as_object().unwrap().clone();
            let field = ["format", "steps", "differences", "message"]
                .into_iter()
                .find(|name| less.contains_key(*name))
                .unwrap();
            less.remove(field);
            assert!(fits(&less.into(), &schema, &schema, "").is_err(), "without {field}");
        }
    }
}
