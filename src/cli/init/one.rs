//! `init` of one operator: reads its sources and makes a commented manifest.

use crate::cli::args::{Common, InitArgs};
use crate::cli::output::{Output, start_event, write_whole};
use crate::cli::target::{runtime, worker_exe};
use build::sdk::SdkOptions;
use events::{Event, Init, Progress, Warning};
use manifest::{FILE_NAME, Manifest, ManifestError};
use project::OperatorProject;
use tuner::{FaultyCase, InventOptions, TunerError, invent};

/// Faulty cases that are told one by one.
const TOLD_FAULTS: usize = 5;

/// A manifest that was made.
pub(super) struct Made {
    /// Its text.
    pub text: String,
    /// What was said of it.
    pub init: Init,
    /// How many things the user should know about it.
    pub remarks: u64,
}

/// Makes the manifest of the project of the common options, and writes it where it is not only to be shown.
pub(super) fn make(
    common: &Common,
    arguments: &InitArgs,
    jobs: usize,
    output: &mut Output,
) -> Result<Made, TunerError> {
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
        sdk: SdkOptions { jobs, ..SdkOptions::from_environment() },
        python: arguments.python.clone(),
        most_cases: arguments.cases.0,
        cmake: arguments.definitions.iter().map(|entry| (entry.name.clone(), entry.value.clone())).collect(),
    };
    let mut on_step = |step: &str| output.emit(&Event::Progress(Progress { step: step.to_owned() }));
    let invented = runtime()?.block_on(invent(&project, &options, &mut on_step))?;
    let text = invented.text;
    // What init writes must be usable as it stands; anything else is our bug, found here and not by the next command.
    let manifest = Manifest::parse(&text, &path).map_err(ManifestError::from)?;
    if !arguments.dry_run {
        write_whole(&path, &text)?;
    }
    let mut remarks = 0;
    let mut remark = |warning: Warning| {
        remarks += 1;
        output.emit(&Event::Warning(warning));
    };
    let missing = project.missing_modules();
    if !missing.is_empty() {
        remark(Warning {
            code: "missing-modules".to_owned(),
            message: format!("CMakeLists.txt includes {}, which is not there", missing.join(", ")),
            help: Some(
                "the embedded backend does without; for a toolkit put in what `msopgen gen` writes for a project"
                    .to_owned(),
            ),
        });
    }
    if let Some(reason) = &invented.unasked {
        remark(Warning {
            code: "unasked-cases".to_owned(),
            message: format!("the tiling function could not be asked about the cases: {reason}"),
            help: Some("correct shapes and dtypes in ascend.toml yourself".to_owned()),
        });
    }
    if let Some(reason) = &invented.unrun {
        remark(Warning {
            code: "unrun-cases".to_owned(),
            message: reason.clone(),
            help: Some("`cargo ascend-tune profile` says whether the operator is right at them".to_owned()),
        });
    }
    if let Some(first) = invented.refused.first().filter(|_| invented.accepted == 0) {
        remark(Warning {
            code: "no-case-accepted".to_owned(),
            message: format!(
                "the tiling function takes none of the {} cases that were tried: {first}",
                invented.refused.len()
            ),
            help: Some(
                "what is written is a guess: put in a case that it takes; `cargo ascend-tune profile` says so"
                    .to_owned(),
            ),
        });
    }
    // The rest is counted below.
    for FaultyCase { text, doubt } in invented.faults.iter().take(TOLD_FAULTS) {
        let (code, message) = match doubt {
            None => ("faulty-case", format!("the operator is at fault with {text}")),
            Some(why) => ("doubtful-case", format!("left out, since it or the operator is at fault ({why}): {text}")),
        };
        remark(Warning { code: code.to_owned(), message, help: None });
    }
    if invented.all_at_fault {
        remark(Warning {
            code: "no-case-right".to_owned(),
            message: "no case that was tried is right: those that are written say nothing of the operator".to_owned(),
            help: Some(
                "put in shapes, values and attributes that it is made for; `cargo ascend-tune profile` says whether it is right at them"
                    .to_owned(),
            ),
        });
    }
    let (doubtful, faults): (Vec<FaultyCase>, Vec<FaultyCase>) =
        invented.faults.into_iter().partition(|fault| fault.doubt.is_some());
    let texts = |faults: Vec<FaultyCase>| faults.into_iter().map(|fault| fault.text).collect();
    let init = Init {
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
    };
    output.emit(&Event::Init(init.clone()));
    Ok(Made { text, init, remarks })
}
