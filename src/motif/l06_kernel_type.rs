//! L06: a kernel that uses vector cores alone is not launched as a mixed one.

use super::code::edit;
use super::context::{Candidate, Context, Counter, Family, Motif};
use super::entry::{device_files, foreign_header, mention};
use crate::source::Edit;
use crate::source::parse::{Call, SyntaxFile};

/// What needs the cube core, or talks to another core.
const NEEDS_MIX: &[&str] = &[
    "Mmad",
    "Matmul",
    "MatmulImpl",
    "REGIST_MATMUL_OBJ",
    "Fixpipe",
    "LoadData",
    "LoadData2D",
    "SyncAll",
    "CrossCoreSetFlag",
    "CrossCoreWaitFlag",
    "IBSet",
    "IBWait",
    "NotifyNextBlock",
    "WaitPreBlock",
    "InitDetermineComputeWorkspace",
    "ASCEND_IS_AIC",
    "ASCEND_IS_AIV",
    "g_coreType",
    "__cube__",
    "__mix__",
    "GetSubBlockIdx",
    "GetSubBlockNum",
    "GetTaskRation",
    "TSCM",
    "A1",
    "B1",
    "CO1",
];

const VECTOR_ONLY: &str = "KERNEL_TYPE_AIV_ONLY";
/// Mixed types with as many vector cores as blocks.
const MIXED: [&str; 2] = ["KERNEL_TYPE_MIX_AIV_1_0", "KERNEL_TYPE_MIX_AIC_1_1"];

/// The motif.
pub struct KernelType;

impl Motif for KernelType {
    fn id(&self) -> &'static str {
        "L06"
    }
    fn title(&self) -> &'static str {
        "vector-only kernel type"
    }
    fn family(&self) -> Family {
        Family::Launch
    }
    fn precondition(&self) -> &'static str {
        "KERNEL_TASK_TYPE_DEFAULT names a mixed type with one vector core a block; nothing in the device sources uses the cube core, synchronises cores \
         or asks for sub-blocks, and every header is one of the operator's or of the basic API"
    }
    fn cost(&self) -> &'static str {
        "synchronisation of all cores is no longer possible"
    }
    fn undoing(&self) -> &'static str {
        "mixed type with no cube core a vector core"
    }
    fn seen_by_model(&self) -> bool {
        false
    }
    fn relieves(&self) -> &'static [Counter] {
        &[Counter::ScalarUs]
    }
    fn prior_gain(&self) -> f64 {
        1.03
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, call, kind) in task_types(context) {
            if kind == "KERNEL_TYPE_MIX_AIC_1_2" {
                let reason = "two vector cores a block: without the cube core the same blocks would be half the cores";
                found.push(Candidate::new(file, &call.span, "vector cores alone", Err(reason.to_owned())));
            }
            if MIXED.contains(&kind) {
                let edits = vector_only(context).map(|()| renamed(file, call, VECTOR_ONLY));
                found.push(Candidate::new(file, &call.span, "vector cores alone", edits));
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, call, _) in task_types(context).into_iter().filter(|(_, _, kind)| *kind == VECTOR_ONLY) {
            for kind in MIXED {
                let edits = vector_only(context).map(|()| renamed(file, call, kind));
                found.push(Candidate::new(file, &call.span, format!("mixed cores: {kind}"), edits));
            }
        }
        found
    }
}

fn task_types(context: &Context) -> Vec<(&SyntaxFile, &Call, &str)> {
    device_files(context)
        .flat_map(|file| file.calls_named("KERNEL_TASK_TYPE_DEFAULT").map(move |call| (file, call)))
        .filter_map(|(file, call)| Some((file, call, file.argument(call, 0)?.trim())))
        .collect()
}

fn renamed(file: &SyntaxFile, call: &Call, kind: &str) -> Vec<Edit> {
    vec![edit(file, call.arguments[0].clone(), kind)]
}

/// Proves that the kernels need nothing but vector cores that do not wait for each other.
fn vector_only(context: &Context) -> Result<(), String> {
    if let Some((word, place)) = mention(context, NEEDS_MIX) {
        return Err(format!("{place}: {word} needs other cores"));
    }
    match foreign_header(context) {
        Some(header) => Err(format!("{header} is not part of these sources and may need other cores")),
        None => Ok(()),
    }
}
