//! Every motif on a realistic kernel: it finds and edits, it refuses, and both directions undo each other byte for byte.

mod batch;
mod carried;
mod counting;
mod coverage;
mod dealing;
mod dealt_rounds;
mod fused;
mod global_fill;
mod hoist;
mod holes;
mod keep;
mod kept_elements;
mod launch;
mod masks;
mod movement;
mod order;
mod queue_for_buffer;
mod queue_for_flags;
mod queues;
mod room;
mod row_scalars;
mod rows;
mod running;
mod scalar;
mod search;
mod tiles;
mod tiling_fields;
mod transpose;
mod vector;

use super::{Context, Motif, Site, by_id};
use source::facts::KnownValues;
use source::{Patch, SourceTree};

/// A kernel class around a body of `Compute`, more members and more `Init` lines.
fn kernel(members: &str, init: &str, compute: &str) -> String {
    format!(
        r#"#include "kernel_operator.h"
constexpr int32_t BUFFER_NUM = 1;
constexpr float CUBIC = 0.044715f;
class Kernel {{
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t length)
    {{
        xGm.SetGlobalBuffer((__gm__ float *)x, length);
        yGm.SetGlobalBuffer((__gm__ float *)y, length);
        pipe.InitBuffer(inQueue, BUFFER_NUM, TILE * sizeof(float));
        pipe.InitBuffer(outQueue, BUFFER_NUM, TILE * sizeof(float));
        pipe.InitBuffer(polyBuf, TILE * sizeof(float));
        pipe.InitBuffer(onesBuf, TILE * sizeof(float));
{init}    }}
    __aicore__ inline void Process(uint32_t tiles)
    {{
        for (uint32_t tile = 0; tile < tiles; tile++) {{
            CopyIn(tile * TILE, TILE);
            AscendC::PipeBarrier<PIPE_ALL>();
            Compute(TILE);
            CopyOut(tile * TILE, TILE);
        }}
    }}

private:
    __aicore__ inline void CopyIn(uint32_t start, uint32_t count)
    {{
        AscendC::LocalTensor<float> xLocal = inQueue.AllocTensor<float>();
        AscendC::DataCopyPad(xLocal, xGm[start], AscendC::DataCopyExtParams{{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0}}, AscendC::DataCopyPadExtParams<float>{{false, 0, 0, 0}});
        inQueue.EnQue(xLocal);
    }}
    __aicore__ inline void Compute(uint32_t count)
    {{
        AscendC::LocalTensor<float> x = inQueue.DeQue<float>();
        AscendC::LocalTensor<float> y = outQueue.AllocTensor<float>();
        AscendC::LocalTensor<float> poly = polyBuf.Get<float>();
        AscendC::LocalTensor<float> ones = onesBuf.Get<float>();
{compute}        outQueue.EnQue(y);
        inQueue.FreeTensor(x);
    }}
    __aicore__ inline void CopyOut(uint32_t start, uint32_t count)
    {{
        AscendC::LocalTensor<float> yLocal = outQueue.DeQue<float>();
        AscendC::DataCopyExtParams params{{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0}};
        AscendC::DataCopyPad(yGm[start], yLocal, params);
        outQueue.FreeTensor(yLocal);
    }}

    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, BUFFER_NUM> inQueue;
    AscendC::TQue<AscendC::TPosition::VECOUT, BUFFER_NUM> outQueue;
    AscendC::TBuf<AscendC::TPosition::VECCALC> polyBuf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> onesBuf;
{members}    AscendC::GlobalTensor<float> xGm;
    AscendC::GlobalTensor<float> yGm;
}};
"#
    )
}

fn computing(compute: &str) -> String {
    kernel("", "", compute)
}

fn context(text: &str) -> Context {
    let mut tree = SourceTree::new();
    tree.insert("k.h", text);
    Context::new(tree, KnownValues::default(), None)
}

fn motif(id: &str) -> &'static dyn Motif {
    by_id(id.parse().unwrap())
}

fn patched(context: &Context, patch: &Patch) -> Context {
    context.after(context.tree.apply(patch).unwrap())
}

fn apply(id: &str, text: &str) -> (Site, String) {
    let context = context(text);
    let findings = motif(id).find(&context);
    let site = findings.sites.first().unwrap_or_else(|| panic!("{id}: {:?}", findings.refused)).clone();
    let patch = motif(id).apply(&context, &site).unwrap();
    let text = patched(&context, &patch).tree.text("k.h").unwrap().to_owned();
    (site, text)
}

fn rewound(id: &str, text: &str, wanted: &str) -> bool {
    let context = context(text);
    let sites = motif(id).rewind_sites(&context).sites;
    sites
        .iter()
        .any(|site| patched(&context, &motif(id).rewind(&context, site).unwrap()).tree.text("k.h") == Some(wanted))
}

/// Apply gives a text that one rewind turns back, and applying again gives the same.
fn round_trip(id: &str, slow: &str) -> String {
    let (_, fast) = apply(id, slow);
    assert_ne!(slow, fast);
    assert!(rewound(id, &fast, slow), "{id}: no rewind gives the original back from\n{fast}");
    assert_eq!(apply(id, slow).1, fast);
    fast
}

fn reasons(id: &str, text: &str) -> Vec<String> {
    let findings = motif(id).find(&context(text));
    assert!(findings.sites.is_empty(), "{id}: {:?}", findings.sites);
    findings.refused.into_iter().map(|refused| refused.reason).collect()
}

fn refuses(id: &str, text: &str, reason: &str) {
    let reasons = reasons(id, text);
    assert!(reasons.iter().any(|found| found.contains(reason)), "{id}: {reasons:?}");
}

const EXP: &str = "        AscendC::Exp(y, x, count);\n";

#[test]
fn a_site_of_other_sources_is_not_applied() {
    let (site, fast) = apply("Y01", &computing(EXP));
    assert!(motif("Y01").apply(&context(&fast), &site).is_err());
}
