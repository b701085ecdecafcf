//! What a device computes otherwise than the simulator: a report for whoever maintains this tool, with all that is needed to see it
//! again and nothing else.

use std::fmt::Write;
use std::path::Path;

use super::contradictions::Contradictions;
use super::evaluator::Evaluator;
use super::plan::Plan;
use super::workload::Trial;
use backend::Execution;
use manifest::{Case, TensorSpec};
use verify::{DataKind, Rejection};

/// Outputs longer than this, in bytes, are named and not kept.
const MOST_OUTPUT_BYTES: usize = 4 << 20;

/// A trial on which a device was wrong and the simulator right.
pub(super) struct Contradiction<'a> {
    pub plan: &'a Plan,
    pub trial: &'a Trial,
    /// What is wrong with the device's outputs.
    pub rejection: &'a Rejection,
    pub measured: &'a Execution,
    pub modelled: &'a Execution,
    pub expected: &'a [Vec<u8>],
}

impl Evaluator {
    /// Writes the report of a contradiction. Where that fails the candidate is refused all the same, and the warning says so.
    pub(super) async fn report(&self, contradictions: &Contradictions, what: &Contradiction<'_>) {
        let Some(folder) = contradictions.claim(&what.plan.digest, &what.rejection.to_string()) else { return };
        let case = &self.manifest.cases[what.trial.case];
        let text = text_of(&self.manifest.operator, contradictions.environment(), case, what);
        if let Err(error) = write(&folder, &text, what, case) {
            contradictions.failed(&folder, &error);
            return;
        }
        let mut tracing = self.clone();
        tracing.backend = self.backend.keeping_trace(folder.join("trace"));
        tracing.model_alone = true;
        // Without it the report is worth less, and no less true.
        let _ = tracing.run_trial(what.plan, what.trial, false).await;
    }
}

fn write(folder: &Path, text: &str, what: &Contradiction<'_>, case: &Case) -> std::io::Result<()> {
    fs_err::create_dir_all(folder.join("outputs"))?;
    for (file, text) in what.plan.written.as_ref().unwrap_or(&what.plan.sources).iter() {
        // Names that lead out of the operator's folder would lead out of the report too.
        let inside = Path::new(file).components().all(|part| matches!(part, std::path::Component::Normal(_)));
        if inside {
            let path = folder.join("sources").join(file);
            fs_err::create_dir_all(path.parent().unwrap_or(folder))?;
            fs_err::write(path, text)?;
        }
    }
    let kinds =
        [("measured", &what.measured.outputs[..]), ("modelled", &what.modelled.outputs), ("expected", what.expected)];
    for (kind, outputs) in kinds {
        for (place, bytes) in outputs.iter().enumerate().filter(|(_, bytes)| bytes.len() <= MOST_OUTPUT_BYTES) {
            let name = case.outputs.get(place).map_or_else(|| place.to_string(), |output| output.name.clone());
            fs_err::write(folder.join("outputs").join(format!("{name}.{kind}.bin")), bytes)?;
        }
    }
    // Last, so that what has it is whole.
    fs_err::write(folder.join("report.md"), text)
}

/// The page that is read first.
fn text_of(operator: &str, environment: &[(&str, String)], case: &Case, what: &Contradiction<'_>) -> String {
    let mut text = format!("# {operator}: a device contradicts the simulator\n\n");
    let _ = writeln!(
        text,
        "The simulator ran this candidate on this case without a hazard and with right outputs. The device's outputs are not right:\n\n> {}\n",
        what.rejection
    );
    for (name, value) in environment {
        let _ = writeln!(text, "- {name}: {value}");
    }
    let _ = writeln!(
        text,
        "- data: {}, seed {} of the case, drawn from {}",
        data_words(what.trial.data),
        what.trial.seed,
        what.trial.data_seed
    );
    let tiling = &what.measured.tiling;
    let _ = writeln!(
        text,
        "- tiling: key {}, {} blocks, {} bytes of workspace, data {}",
        tiling.tiling_key, tiling.block_dim, tiling.workspace_bytes, tiling.tiling_hex
    );
    let _ = writeln!(text, "\n## Case {}\n", case.name);
    for (kind, list) in [("input", &case.inputs), ("output", &case.outputs)] {
        for tensor in list {
            let _ = writeln!(text, "- {kind} {}", tensor_words(tensor));
        }
    }
    for attribute in &case.attributes {
        let _ = writeln!(text, "- attribute {} ({}) = {}", attribute.name, attribute.kind, attribute.value);
    }
    for (name, value) in &what.plan.knobs {
        let _ = writeln!(text, "- tunable {name} = {value}");
    }
    text.push_str(
        "\n## What is here\n\n- `sources/`: the candidate, as it would have been written back\n- `outputs/`: raw elements, measured, \
         modelled and expected, of outputs up to 4 MiB\n- `trace`: what the simulator recorded of its own run\n\nNothing of the machine \
         but what stands above was taken. Look through `sources/` before you send them: they are yours.\n",
    );
    text
}

fn data_words(data: DataKind) -> &'static str {
    match data {
        DataKind::Random => "uniform in the case's range",
        DataKind::Hostile => "hostile values",
        DataKind::Zeros => "zeros",
    }
}

fn tensor_words(tensor: &TensorSpec) -> String {
    let shape = tensor.shape.as_ref().map_or_else(|| "as inferred".to_owned(), |shape| format!("{shape:?}"));
    format!("{}: {} {shape} {}", tensor.name, tensor.dtype, tensor.format)
}
