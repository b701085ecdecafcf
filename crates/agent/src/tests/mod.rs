//! The crate as a whole: what a model is told, what becomes of its answers, and what the client does with servers of all kinds.

mod attacks;
mod client;
mod conversation;
mod local;
mod program;
mod prompts;
mod recordings;
mod rewinding;
mod tools;

use super::*;
use aicore::{Limiter, PathPart, PathStep, PipeTimes, Profile, Stall};
use experience::Bank;
use manifest::ModelSettings;
use motif::Context;
use proposer::{Asked, History, Standing};
use source::SourceTree;
use source::facts::KnownValues;

const KERNEL: &str = "op_kernel/add.cpp";
const HOST: &str = "op_host/add.cpp";

const KERNEL_TEXT: &str = r"class KernelAdd {
    __aicore__ inline void Compute(uint32_t count) {
        AscendC::LocalTensor<float> x = inQueueX.DeQue<float>();
        AscendC::LocalTensor<float> y = outQueueY.AllocTensor<float>();

        AscendC::Adds(y, x, 1.0f, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Adds(y, y, 1.0f, count);
        outQueueY.EnQue(y);
        inQueueX.FreeTensor(x);
    }
};
";
const HOST_TEXT: &str = "// What a core takes at once, chosen so that two buffers of it fit beside what the operator needs for itself.\n\
                         // ascend-tune: tiling begin\nconstexpr uint32_t TILE = 128;\n// ascend-tune: tiling end\n";

fn sources() -> SourceTree {
    [(KERNEL, KERNEL_TEXT), (HOST, HOST_TEXT)].into_iter().collect()
}

fn subject() -> Subject {
    Subject {
        operator: "Add".to_owned(),
        machine: vec!["48 vector cores".to_owned()],
        cases: vec!["large: x float32 4096x4096".to_owned()],
        hazards: vec!["race at /home/me/op/op_kernel/add.cpp:6".to_owned()],
        costs: aicore::Machine::named("ascend910b2").ok().map(std::sync::Arc::new),
    }
}

fn profile() -> Profile {
    let pipes = PipeTimes { scalar_us: 1.0, vec_us: 7.5, mte2_us: 3.0, ..PipeTimes::default() };
    let path = |opcode: &str, time_us: f64| PathStep {
        pipe: "v".to_owned(),
        part: PathPart::Instruction,
        opcode: opcode.to_owned(),
        time_us,
        count: 8,
        via: String::new(),
        site: 0,
    };
    Profile {
        kernel: "add".to_owned(),
        task_us: 20.5,
        bound_us: 8.25,
        fixed_us: 2.0,
        limiter: Limiter::Memory,
        pipes,
        units: Vec::new(),
        cores: 40,
        longest_core_us: 18.0,
        shortest_core_us: 17.0,
        gm_read_bytes: 4096,
        gm_write_bytes: 2048,
        stalls: vec![Stall { pipe: "v".to_owned(), reason: "barrier all".to_owned(), time_us: 5.0, site: 0 }],
        timeline: Vec::new(),
        critical_path: vec![path("vadds", 9.0), path("vmuls", 1.0)],
        buffers: Vec::new(),
        buffers_end_bytes: 0,
        counters: std::collections::BTreeMap::new(),
    }
}

fn context(text: &str) -> Context {
    let mut tree = sources();
    tree.insert(KERNEL, text);
    let hot = [((KERNEL.to_owned(), 7), 0.5), ((KERNEL.to_owned(), 6), 0.25)].into();
    Context::new(tree, KnownValues::default(), Some(profile())).with_hot_lines(hot)
}

fn settings(endpoint: &str) -> Settings {
    let table = ModelSettings {
        endpoint: Some(endpoint.to_owned()),
        name: Some("m".to_owned()),
        timeout_s: Some(2.0),
        ..ModelSettings::default()
    };
    Settings::of(&table)
}

/// Asks about sources in a run that has made so many evaluations.
fn asked<'a>(context: &'a Context, bank: &'a Bank, history: &'a History, evaluations: u64) -> Asked<'a> {
    let standing = Standing { evaluations, ..Standing::default() };
    Asked { context, profile: None, bank, history, keep_constants: false, unlikely: false, standing }
}

/// An answer that changes some lines of the kernel.
fn edit(old: &str, new: &str) -> String {
    format!("TITLE: less\n<<<<<<< SEARCH {KERNEL}\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n")
}
