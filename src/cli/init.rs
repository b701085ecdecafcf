//! `init`: reads the sources and writes a commented manifest.

use super::args::{Common, InitArgs};
use super::output::{Output, start_event};
use super::target::{processors, runtime, worker_exe};
use super::{Exit, ci, installed};
use build::sdk::SdkOptions;
use events::{Event, Init, Progress, Warning};
use manifest::{FILE_NAME, Manifest, ManifestError};
use project::OperatorProject;
use tuner::{FaultyCase, InventOptions, TunerError, invent};

/// Faulty cases that are told one by one.
const TOLD_FAULTS: usize = 5;

/// Executes the command.
pub fn execute(common: &Common, arguments: &InitArgs, output: &mut Output) -> Result<Exit, TunerError> {
    if let Some(system) = arguments.ci {
        return ci::execute(common, arguments, system, output);
    }
    match (arguments.cmake, arguments.hook) {
        (true, _) => return installed::cmake_module(common, arguments, output),
        (_, true) => return installed::hook(common, arguments, output),
        (false, false) => {}
    }
    output.emit(&Event::Start(start_event("init", common)));
    let project = OperatorProject::find(&common.project)?;
    let path = project.root.join(FILE_NAME);
    if path.exists() && !arguments.force && !arguments.dry_run {
        let message = format!(
            "{} is there already; give --force to replace it, or --dry-run to see what it would be",
            path.display()
        );
        return Err(TunerError::Usage(message));
    }
    let options = InventOptions {
        worker_exe: worker_exe()?,
        sdk: SdkOptions { jobs: processors(), ..SdkOptions::from_environment() },
        python: arguments.python.clone(),
        most_cases: arguments.cases.0,
        cmake: arguments.definitions.iter().map(|entry| (entry.name.clone(), entry.value.clone())).collect(),
    };
    let mut on_step = |step: &str| output.emit(&Event::Progress(Progress { step: step.to_owned() }));
    let invented = runtime()?.block_on(invent(&project, &options, &mut on_step))?;
    let text = invented.text;
    // What init writes must be usable as it stands; anything else is our bug, found here and not by the next command.
    let manifest = Manifest::parse(&text, &path).map_err(ManifestError::from)?;
    if arguments.dry_run {
        if !output.json {
            use std::io::Write as _;
            std::io::stdout().write_all(text.as_bytes())?;
        }
    } else {
        let temporary = path.with_extension("toml.tmp");
        fs_err::write(&temporary, &text)?;
        fs_err::rename(&temporary, &path)?;
    }
    if let Some(reason) = &invented.unasked {
        output.emit(&Event::Warning(Warning {
            code: "unasked-cases".to_owned(),
            message: format!("the tiling function could not be asked about the cases: {reason}"),
            help: Some("correct shapes and dtypes in ascend.toml yourself".to_owned()),
        }));
    }
    if let Some(reason) = &invented.unrun {
        output.emit(&Event::Warning(Warning {
            code: "unrun-cases".to_owned(),
            message: reason.clone(),
            help: Some("`cargo ascend-tune profile` says whether the operator is right at them".to_owned()),
        }));
    }
    if let Some(first) = invented.refused.first().filter(|_| invented.accepted == 0) {
        output.emit(&Event::Warning(Warning {
            code: "no-case-accepted".to_owned(),
            message: format!(
                "the tiling function takes none of the {} cases that were tried: {first}",
                invented.refused.len()
            ),
            help: Some(
                "what is written is a guess: put in a case that it takes; `cargo ascend-tune profile` says so"
                    .to_owned(),
            ),
        }));
    }
    // The rest is counted below.
    for FaultyCase { text, doubt } in invented.faults.iter().take(TOLD_FAULTS) {
        let (code, message) = match doubt {
            None => ("faulty-case", format!("the operator is at fault with {text}")),
            Some(why) => ("doubtful-case", format!("left out, since it or the operator is at fault ({why}): {text}")),
        };
        output.emit(&Event::Warning(Warning { code: code.to_owned(), message, help: None }));
    }
    if invented.all_at_fault {
        output.emit(&Event::Warning(Warning {
            code: "no-case-right".to_owned(),
            message: "no case that was tried is right: those that are written say nothing of the operator".to_owned(),
            help: Some(
                "put in shapes, values and attributes that it is made for; `cargo ascend-tune profile` says whether it is right at them"
                    .to_owned(),
            ),
        }));
    }
    let (doubtful, faults): (Vec<FaultyCase>, Vec<FaultyCase>) =
        invented.faults.into_iter().partition(|fault| fault.doubt.is_some());
    let texts = |faults: Vec<FaultyCase>| faults.into_iter().map(|fault| fault.text).collect();
    output.emit(&Event::Init(Init {
        operator: manifest.operator.clone(),
        layout: manifest.layout.words().to_owned(),
        manifest: path.display().to_string(),
        written: !arguments.dry_run,
        cases: manifest.cases.iter().map(|case| case.name.clone()).collect(),
        tunables: manifest.tunables.iter().map(|tunable| tunable.name.clone()).collect(),
        more_cases: invented.left_out,
        refused: invented.refused,
        faults: texts(faults),
        doubtful: texts(doubtful),
    }));
    Ok(Exit::Fine)
}
