//! Every motif on a realistic kernel: it finds and edits, it refuses, and both directions undo each other byte for byte.

use super::{Context, Motif, Site, by_id};
use crate::source::facts::KnownValues;
use crate::source::{Patch, SourceTree};

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
    by_id(id).unwrap()
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
fn d01_doubles_every_queue_through_the_constant() {
    let fast = round_trip("D01", &computing(EXP));
    assert!(fast.contains("BUFFER_NUM = 2"));
}

#[test]
fn d01_refuses_a_queue_that_is_filled_once_and_too_many_buffers() {
    let once = computing(EXP).replace("for (uint32_t tile = 0; tile < tiles; tile++) {", "{ uint32_t tile = 0;");
    refuses("D01", &once, "filled once");
    let many: String = (0..6).map(|index| format!("        pipe.InitBuffer(q{index}, 1, 32);\n")).collect();
    let queues: String =
        (0..6).map(|index| format!("    AscendC::TQue<AscendC::TPosition::VECIN, 1> q{index};\n")).collect();
    refuses("D01", &kernel(&queues, &many, EXP), "event ids");
    let big = computing(EXP).replace("TILE * sizeof(float)", "20000 * sizeof(float)");
    refuses("D01", &big, "unified buffer has");
}

#[test]
fn y01_removes_the_barrier_when_queues_order_everything() {
    let fast = round_trip("Y01", &computing(EXP));
    assert!(!fast.contains("PipeBarrier"));
}

#[test]
fn y01_refuses_copies_into_a_tbuf_and_skipped_queues() {
    let tbuf = computing(EXP).replace("xLocal = inQueue.AllocTensor<float>()", "xLocal = polyBuf.Get<float>()");
    refuses("Y01", &tbuf, "TBuf that a copy touches");
    let skipped =
        computing(EXP).replace("inQueue.EnQue(xLocal);", "AscendC::Exp(xLocal, xLocal, count); inQueue.EnQue(xLocal);");
    refuses("Y01", &skipped, "another pipe");
    let through_gm = computing(EXP).replace("AscendC::DataCopyPad(yGm[start]", "AscendC::DataCopyPad(xGm[start]");
    refuses("Y01", &through_gm, "both read and written");
    refuses("Y01", &computing("        AscendC::SyncAll();\n"), "protocol");
    refuses("Y01", &computing("        Helper(x, y);\n"), "not analysed");
}

#[test]
fn y02_removes_vector_barriers_but_not_in_pointer_style() {
    let slow = computing("        AscendC::Exp(y, x, count);\n        AscendC::PipeBarrier<PIPE_V>();\n");
    round_trip("Y02", &slow);
    let pointers = slow.replace("AscendC::Exp(y, x, count);", "vadd(a, b, c);");
    refuses("Y02", &pointers, "pointer style");
}

#[test]
fn d05_drops_padding_when_the_length_is_known_or_on_condition() {
    let slow = computing(EXP);
    let fast = round_trip("D05", &slow);
    assert!(fast.contains("AscendC::DataCopy(xLocal, xGm[start], count);"), "{fast}");
    assert_eq!(apply("D05", &slow).0.conditions.len(), 1);
    let mut known = KnownValues::default();
    known.add("count", 128);
    known.add("count", 64);
    let mut tree = SourceTree::new();
    tree.insert("k.h", slow.as_str());
    let sites = motif("D05").find(&Context::new(tree.clone(), known.clone(), None)).sites;
    assert_eq!(sites.len(), 2);
    assert!(sites.iter().all(|site| site.conditions.is_empty()));
    // An element of unknown size proves nothing.
    let generic = slow.replace("float>", "T>").replace("sizeof(float)", "sizeof(T)");
    assert!(motif("D05").find(&context(&generic)).sites.iter().all(|site| site.conditions.len() == 1));
    let mut odd = KnownValues::default();
    odd.add("count", 7);
    let findings = motif("D05").find(&Context::new(tree, odd, None));
    assert!(findings.sites.is_empty() && findings.refused[0].reason.contains("28 bytes"));
}

#[test]
fn d05_reads_fields_that_are_assigned_and_refuses_gaps_and_padding() {
    let fields = "AscendC::DataCopyExtParams params;\n        params.blockCount = 1;\n        params.blockLen = count * sizeof(float);\n        params.srcStride = 0;\n        params.dstStride = 0;";
    let slow = computing(EXP).replace(
        "AscendC::DataCopyExtParams params{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};",
        fields,
    );
    assert_eq!(motif("D05").find(&context(&slow)).sites.len(), 2);
    let gaps = computing(EXP).replace("sizeof(float)), 0, 0, 0}", "sizeof(float)), 1, 0, 0}");
    refuses("D05", &gaps, "gaps");
    let pads = computing(EXP).replace("{false, 0, 0, 0}", "{true, 0, 3, 0}");
    assert_eq!(motif("D05").find(&context(&pads)).refused[0].reason, "the copy pads");
    let sum = computing(EXP).replace("count * sizeof(float)", "4 + count * sizeof(float)");
    refuses("D05", &sum, "is not count * sizeof");
}

#[test]
fn d09_hints_tensors_that_stream_through_once() {
    let fast = round_trip("D09", &computing(EXP));
    assert!(fast.contains("        xGm.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);\n"));
    let twice = computing(EXP)
        .replace("Compute(TILE);", "Compute(TILE);\n            CopyIn(tile, TILE);\n            CopyOut(tile, TILE);");
    refuses("D09", &twice, "call paths");
}

#[test]
fn v01_keeps_the_order_of_operations_of_a_polynomial() {
    let slow = computing(
        "        for (uint32_t i = 0; i < count; i++) {\n            float v = x.GetValue(i);\n            float cube = v * v * v; // third power\n            poly.SetValue(i, v + CUBIC * cube);\n        }\n",
    );
    let (site, fast) = apply("V01", &slow);
    let expected = "        // third power\n        AscendC::Mul(poly, x, x, count);\n        AscendC::Mul(poly, poly, x, count);\n        AscendC::Muls(poly, poly, CUBIC, count);\n        AscendC::Add(poly, x, poly, count);\n";
    assert!(fast.contains(expected), "{fast}");
    assert!(!site.rounding);
}

#[test]
fn v01_round_trip_of_one_instruction() {
    round_trip(
        "V01",
        &computing(
            "        for (uint32_t i = 0; i < count; i++) {\n            y.SetValue(i, x.GetValue(i) * poly.GetValue(i));\n        }\n",
        ),
    );
}

#[test]
fn v01_makes_temporaries_in_member_init_and_use() {
    let slow = computing(
        "        for (uint32_t i = 0; i < count; ++i) {\n            y.SetValue(i, (x.GetValue(i) + 1.0f) * (poly.GetValue(i) - x.GetValue(i)));\n        }\n        AscendC::Exp(ones, y, count);\n",
    );
    let fast = apply("V01", &slow).1;
    for part in [
        "    AscendC::TBuf<AscendC::TPosition::VECCALC> vecTmp0Buf;\n",
        "        pipe.InitBuffer(vecTmp0Buf, TILE * sizeof(float));\n",
        "        AscendC::LocalTensor<float> vecTmp0 = vecTmp0Buf.Get<float>();\n",
        "        AscendC::Adds(y, x, 1.0f, count);\n        AscendC::Sub(vecTmp0, poly, x, count);\n        AscendC::Mul(y, y, vecTmp0, count);\n",
    ] {
        assert!(fast.contains(part), "{part}\n{fast}");
    }
    // With an unused scratch tensor of the same size nothing new is declared.
    let scratch = slow.replace("        AscendC::Exp(ones, y, count);\n", "");
    let fast = apply("V01", &scratch).1;
    assert!(fast.contains("AscendC::Sub(ones, poly, x, count);") && !fast.contains("vecTmp"), "{fast}");
}

#[test]
fn v01_computes_half_in_float_when_the_loop_does() {
    let loop_text = "        for (uint32_t i = 0; i < count; i++) {\n            float v = (float)x.GetValue(i);\n            y.SetValue(i, (half)(v * v * v * 0.044715f + v));\n        }\n";
    let slow = computing(loop_text).replace("float>", "half>").replace("sizeof(float)", "sizeof(half)");
    let fast = apply("V01", &slow).1;
    assert!(fast.contains("pipe.InitBuffer(vecTmp0Buf, (TILE * sizeof(half)) * 2);"), "{fast}");
    assert!(fast.contains("AscendC::Cast(vecTmp0, x, AscendC::RoundMode::CAST_NONE, count);"), "{fast}");
    assert!(fast.contains("AscendC::Cast(y, vecTmp0, AscendC::RoundMode::CAST_RINT, count);"), "{fast}");
}

#[test]
fn v01_refuses_what_has_no_vector_form() {
    let body = |text: &str| {
        computing(&format!(
            "        float sum = 0.0f;\n        for (uint32_t i = 0; i < count; i++) {{\n            {text}\n        }}\n"
        ))
    };
    refuses("V01", &body("sum += x.GetValue(i);"), "rounds depend on each other");
    refuses("V01", &body("y.SetValue(i, x.GetValue(i + 1));"), "another index");
    refuses("V01", &body("y.SetValue(i + 1, x.GetValue(i));"), "another index");
    refuses("V01", &body("y.SetValue(i, x.GetValue(i) > 0 ? x.GetValue(i) : 0);"), "conditional");
    refuses("V01", &body("if (i > 3) { y.SetValue(i, x.GetValue(i)); }"), "if statement");
    refuses("V01", &body("y.SetValue(i, x.GetValue(i) * i);"), "differs from round to round");
    refuses("V01", &body("y.SetValue(i, tanh(x.GetValue(i)));"), "tanh has no vector form");
    refuses("V01", &body("y.SetValue(i, x.GetValue(i) * unknown);"), "type of unknown");
    let from_one = computing(
        "        for (uint32_t i = 1; i < count; i++) {\n            y.SetValue(i, x.GetValue(i));\n        }\n",
    );
    refuses("V01", &from_one, "counts from 0");
}

#[test]
fn v02_and_v03_fuse_and_unfuse() {
    let fast = round_trip(
        "V02",
        &computing("        AscendC::Muls(poly, x, CUBIC, count);\n        AscendC::Add(y, y, poly, count);\n"),
    );
    assert!(fast.contains("AscendC::Axpy(y, x, CUBIC, count);"));
    let fast = round_trip(
        "V03",
        &computing("        AscendC::Mul(y, y, x, count);\n        AscendC::Add(y, y, ones, count);\n"),
    );
    assert!(fast.contains("AscendC::FusedMulAdd(y, x, ones, count);"));
    let fast = round_trip(
        "V03",
        &computing("        AscendC::Mul(poly, x, ones, count);\n        AscendC::Add(y, y, poly, count);\n")
            .replace("(poly, x, ones", "(poly, x, x"),
    );
    assert!(fast.contains("AscendC::MulAddDst(y, x, x, count);"));
}

#[test]
fn v02_and_v03_refuse_temporaries_that_live_on_and_inputs_that_change() {
    let tail = "        AscendC::Add(y, y, poly, count);\n        AscendC::Exp(y, poly, count);\n";
    refuses("V02", &computing(&format!("        AscendC::Muls(poly, x, CUBIC, count);\n{tail}")), "used again");
    refuses("V03", &computing(&format!("        AscendC::Mul(poly, x, ones, count);\n{tail}")), "used again");
    let changed = computing(
        "        AscendC::Muls(poly, x, CUBIC, count);\n        AscendC::Exp(x, x, count);\n        AscendC::Add(y, y, poly, count);\n",
    );
    refuses("V02", &changed, "may change x");
    let counts = computing("        AscendC::Muls(poly, x, CUBIC, 64);\n        AscendC::Add(y, y, poly, count);\n");
    refuses("V02", &counts, "counts differ");
    let integers = computing("        AscendC::Mul(y, y, x, count);\n        AscendC::Add(y, y, ones, count);\n")
        .replace("float>", "int32_t>");
    refuses("V03", &integers, "no form for int32_t");
}

#[test]
fn v06_takes_the_scalar_and_frees_the_tensor() {
    let slow = computing(
        "        AscendC::Duplicate(ones, 1.0f, count);\n        AscendC::Add(poly, x, ones, count);\n        AscendC::Div(y, x, poly, count);\n",
    );
    let fast = round_trip("V06", &slow);
    assert!(fast.contains("AscendC::Adds(poly, x, 1.0f, count);") && !fast.contains("Duplicate"));
    let barrier = slow.replace(
        "count);\n        AscendC::Add",
        "count);\n        AscendC::PipeBarrier<PIPE_ALL>();\n        AscendC::Add",
    );
    assert!(apply("V06", &barrier).1.contains("Adds(poly"));
    refuses("V06", &slow.replace("Add(poly, x, ones", "Div(poly, x, ones"), "rounds differently");
    refuses("V06", &slow.replace("AscendC::Div(y, x, poly", "AscendC::Div(y, ones, poly"), "used again");
}

#[test]
fn v26_hoists_a_constant_fill() {
    let slow = computing(
        "        for (uint32_t row = 0; row < 4; row++) {\n            AscendC::Duplicate(ones, 1.0f, count);\n            AscendC::Add(y, x, ones, count);\n        }\n",
    );
    let fast = round_trip("V26", &slow);
    assert!(fast.contains("        AscendC::Duplicate(ones, 1.0f, count);\n        for (uint32_t row"), "{fast}");
    refuses("V26", &slow.replace("ones, 1.0f", "ones, 1.0f * row"), "declared in the loop");
    refuses("V26", &slow.replace("AscendC::Add(y, x, ones", "AscendC::Add(ones, x, ones"), "written elsewhere");
}

#[test]
fn d16_gives_the_input_back_after_its_last_use() {
    let slow = computing(
        "        AscendC::Exp(y, x, count);\n        AscendC::Muls(y, y, CUBIC, count);\n        AscendC::Exp(y, y, count);\n",
    );
    let (site, fast) = apply("D16", &slow);
    assert!(fast.contains("Exp(y, x, count);\n        inQueue.FreeTensor(x);\n        AscendC::Muls"), "{fast}");
    assert!(site.conditions.is_empty() && !site.rounding);
    assert!(rewound("D16", &fast, &slow));
    let barrier = slow
        .replace("        AscendC::Muls(y, y,", "        AscendC::PipeBarrier<PIPE_V>();\n        AscendC::Muls(y, y,");
    assert!(apply("D16", &barrier).1.contains("inQueue.FreeTensor(x);\n        AscendC::PipeBarrier"));
    // With the last instruction reading it there is nothing to gain.
    assert!(motif("D16").find(&context(&computing(EXP))).sites.is_empty());
    let kept = slow.replace(
        "        AscendC::Exp(y, x, count);\n",
        "        auto part = x[64];\n        AscendC::Exp(y, x, count);\n",
    );
    refuses("D16", &kept, "handed on");
    let left =
        slow.replace("        AscendC::Muls(y, y,", "        if (count == 0) { return; }\n        AscendC::Muls(y, y,");
    refuses("D16", &left, "return stands in between");
    let queue = slow.replace(
        "        AscendC::Muls(y, y,",
        "        AscendC::LocalTensor<float> z = inQueue.DeQue<float>();\n        AscendC::Muls(y, y,",
    );
    refuses("D16", &queue, "inQueue is used at line");
    let helper = slow.replace("        AscendC::Muls(y, y,", "        Helper(y);\n        AscendC::Muls(y, y,");
    refuses("D16", &helper, "not analysed");
}

#[test]
fn y12_takes_the_output_when_it_is_needed() {
    let slow = computing(
        "        AscendC::Exp(poly, x, count);\n        AscendC::Muls(poly, poly, CUBIC, count);\n        AscendC::Exp(y, poly, count);\n",
    );
    let (site, fast) = apply("Y12", &slow);
    let taken = "CUBIC, count);\n        AscendC::LocalTensor<float> y = outQueue.AllocTensor<float>();\n        AscendC::Exp(y";
    assert!(fast.contains(taken), "{fast}");
    assert!(site.conditions.is_empty() && !site.rounding);
    assert!(rewound("Y12", &fast, &slow));
    assert!(motif("Y12").find(&context(&computing(EXP))).sites.is_empty());
    let order = slow.replace(
        "        AscendC::Muls(",
        "        AscendC::LocalTensor<float> z = outQueue.AllocTensor<float>();\n        AscendC::Muls(",
    );
    refuses("Y12", &order, "outQueue is used at line");
    let hidden = slow.replace(
        "        AscendC::Muls(",
        "#if DEBUG\n        AscendC::Exp(poly, poly, count);\n#endif\n        AscendC::Muls(",
    );
    refuses("Y12", &hidden, "#if DEBUG stands in between");
}

#[test]
fn v04_rectifies_in_the_same_instruction() {
    let slow = computing("        AscendC::Add(y, x, ones, count);\n        AscendC::Relu(y, y, count);\n");
    let fast = round_trip("V04", &slow);
    assert!(fast.contains("        AscendC::AddRelu(y, x, ones, count);\n") && !fast.contains("::Relu"));
    let other = slow.replace("Add(y, x, ones", "Sub(poly, x, ones").replace("Relu(y, y", "Relu(y, poly");
    assert!(apply("V04", &other).1.contains("AscendC::SubRelu(y, x, ones, count);"));
    let read =
        other.replace("        outQueue.EnQue", "        AscendC::Exp(ones, poly, count);\n        outQueue.EnQue");
    refuses("V04", &read, "used again");
    refuses("V04", &slow.replace("float>", "int32_t>"), "no form for int32_t");
    refuses("V04", &slow.replace("Relu(y, y, count", "Relu(y, y, 64"), "counts differ");
}

#[test]
fn v28_multiplies_by_the_reciprocal_when_rounding_is_allowed() {
    let slow = computing("        AscendC::Duplicate(ones, CUBIC, count);\n        AscendC::Div(y, x, ones, count);\n");
    let fast = round_trip("V28", &slow);
    assert!(fast.contains("AscendC::Muls(y, x, 1.0f / CUBIC, count);") && !fast.contains("Duplicate"));
    assert!(apply("V28", &slow).0.rounding);
    let sum = apply("V28", &slow.replace("ones, CUBIC", "ones, CUBIC + 1.0f")).1;
    assert!(sum.contains("1.0f / (CUBIC + 1.0f), count"), "{sum}");
    refuses("V28", &slow.replace("float>", "half>"), "short float");
    refuses("V28", &slow.replace("ones, CUBIC", "ones, 3"), "integer constant");
    assert!(reasons("V28", &slow.replace("Div(y, x, ones", "Div(y, ones, x")).is_empty());
}

/// A loop over rows around statements.
fn rows(statements: &str) -> String {
    format!("        for (uint32_t row = 0; row < 16; row++) {{\n{statements}        }}\n")
}

#[test]
fn v09_joins_rows_that_lie_behind_each_other() {
    let slow = computing(&rows("            AscendC::Add(y[row * 64], x[row * 64], ones[row * 64], 64);\n"));
    let fast = round_trip("V09", &slow);
    assert!(fast.contains("        AscendC::Add(y, x, ones, 16 * 64);\n"), "{fast}");
    assert!(apply("V09", &slow).0.conditions.is_empty());
    let two = computing(&rows(
        "            AscendC::Muls(poly[row * width], x[row * width], CUBIC, width);\n            AscendC::Exp(y[row * width], poly[width * row], width);\n",
    ));
    let (site, fast) = apply("V09", &two.replace("row < 16", "row < height + 1"));
    assert_eq!(site.conditions, ["height + 1 is at least 1"]);
    assert!(
        fast.contains(
            "Muls(poly, x, CUBIC, (height + 1) * width);\n        AscendC::Exp(y, poly, (height + 1) * width);\n"
        ),
        "{fast}"
    );
    let inner = slow.replace("x[row * 64]", "x[32 + row * 64]");
    assert!(apply("V09", &inner).1.contains("Add(y, x[32], ones, 16 * 64)"));
    let named = slow
        .replace("            AscendC::Add", "            const uint32_t at = row * 64;\n            AscendC::Add")
        .replace("x[row * 64]", "x[this->first + at]");
    assert!(apply("V09", &named).1.contains("        AscendC::Add(y, x[this->first], ones, 16 * 64);\n"));
    refuses("V09", &slow.replace("x[row * 64]", "x[row * 128]"), "128 apart");
    refuses("V09", &slow.replace("ones[row * 64]", "ones"), "the same in every row");
    refuses("V09", &slow.replace("x[row * 64]", "y[64 + row * 64]"), "different places");
    // What is not understood is not even looked at.
    for (from, to) in
        [("x[row * 64]", "x[row * row]"), ("row++", "row += 2"), ("64);\n", "64);\n            Helper(y);\n")]
    {
        assert!(reasons("V09", &slow.replace(from, to)).is_empty(), "{to}");
    }
}

#[test]
fn v07_repeats_rows_with_a_shared_operand() {
    let slow = computing(&rows("            AscendC::Mul(y[row * 64], x[row * 64], ones, 64);\n"));
    let fast = round_trip("V07", &slow);
    assert!(fast.contains("        AscendC::Mul(y, x, ones, 64, 16, {1, 1, 1, 8, 8, 0});\n"), "{fast}");
    let wide = apply("V07", &slow.replace("row * 64", "row * 256").replace("ones, 64)", "ones, 256)")).1;
    assert!(wide.contains("        for (uint32_t column = 0; column < 256; column += 64) {\n            AscendC::Mul(y[column], x[column], ones[column], 64, 16, {1, 1, 1, 32, 32, 0});\n        }\n"), "{wide}");
    let (site, named) = apply("V07", &slow.replace("row < 16", "row < height"));
    assert_eq!(site.conditions, ["height is 1 to 255"]);
    assert!(named.contains("static_cast<uint8_t>(height)"));
    refuses("V07", &slow.replace("row < 16", "row < 256"), "more than 255");
    refuses("V07", &slow.replace("row * 64", "row * width").replace("ones, 64)", "ones, width)"), "is not known");
    refuses("V07", &slow.replace("row * 64", "row * 72").replace("ones, 64)", "ones, 72)"), "whole repeats");
    refuses("V07", &slow.replace("y[row * 64]", "ones[row * 64]"), "different places");
}

#[test]
fn d04_copies_rows_with_one_instruction() {
    let copy = |text: &str| {
        let one = "        AscendC::DataCopyPad(xLocal, xGm[start], AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0}, AscendC::DataCopyPadExtParams<float>{false, 0, 0, 0});\n";
        computing(EXP).replace(one, &rows(&format!("            {text}\n")))
    };
    let slow = copy("AscendC::DataCopy(xLocal[row * 64], xGm[start + row * STRIDE], 64);");
    let fast = round_trip("D04", &slow);
    let strided = "AscendC::DataCopyPad(xLocal, xGm[start], AscendC::DataCopyExtParams{static_cast<uint16_t>(16), static_cast<uint32_t>(64 * sizeof(float)), static_cast<uint32_t>((STRIDE - 64) * sizeof(float)), 0, 0}, AscendC::DataCopyPadExtParams<float>{false, 0, 0, 0});";
    assert!(fast.contains(strided), "{fast}");
    assert_eq!(apply("D04", &slow).0.conditions, ["STRIDE is at least 64"]);
    let dense = copy("AscendC::DataCopy(xLocal[row * 64], xGm[start + row * 64], 64);");
    assert!(round_trip("D04", &dense).contains("        AscendC::DataCopy(xLocal, xGm[start], 16 * 64);\n"));
    let offset = copy("AscendC::DataCopy(xLocal[row * 64], xGm[(first + row) * 64], 64);");
    assert!(apply("D04", &offset).1.contains("DataCopy(xLocal, xGm[first * 64], 16 * 64);"));
    refuses("D04", &copy("AscendC::DataCopy(xLocal[row * 128], xGm[start + row * 64], 64);"), "128 apart");
    refuses("D04", &copy("AscendC::DataCopy(xLocal[row * 64], xGm[start], 64);"), "start is not start + row * pitch");
    refuses("D04", &slow.replace("row < 16", "row < 5000"), "5000 rows");
    refuses("D04", &copy("AscendC::DataCopy(xLocal[row * 64], xGm[start + row * 32], 64);"), "overlap");
    refuses("D04", &copy("AscendC::DataCopy(xLocal[row * 64], xGm[Offset(row)], 64);"), "pitch");
}

#[test]
fn v12_reduces_in_two_steps() {
    let slow = computing("        AscendC::ReduceMax(y, x, poly, 2048);\n");
    let fast = round_trip("V12", &slow);
    assert!(fast.contains("        AscendC::WholeReduceMax(poly, x, 64, 2048 / 64, 1, 1, 8, AscendC::ReduceOrder::ORDER_ONLY_VALUE);\n        AscendC::WholeReduceMax(y, poly, 2048 / 64, 1, 1, 1, 8, AscendC::ReduceOrder::ORDER_ONLY_VALUE);\n"), "{fast}");
    let site = apply("V12", &slow).0;
    assert!(site.conditions.is_empty() && !site.rounding);
    let sum = slow.replace("ReduceMax", "ReduceSum").replace("2048", "static_cast<int32_t>(count)");
    let (site, fast) = apply("V12", &sum);
    assert!(site.rounding && site.conditions[0].contains("a multiple of 64 and at most 4096"), "{:?}", site.conditions);
    assert!(fast.contains("WholeReduceSum(poly, x, 64, static_cast<int32_t>(count) / 64, 1, 1, 8);"), "{fast}");
    assert!(rewound("V12", &fast, &sum));
    let onto_itself = slow.replace("(y, x, poly", "(x, x, poly");
    assert!(apply("V12", &onto_itself).1.contains("WholeReduceMax(x, poly, 2048 / 64"));
    refuses("V12", &slow.replace("(y, x, poly", "(y, poly, poly"), "work tensor");
    refuses("V12", &slow.replace("2048", "100"), "not whole repeats of 64");
    refuses("V12", &slow.replace("2048", "8192"), "more than 4096");
    refuses("V12", &slow.replace("(y, x, poly", "(y, x[64], poly"), "not a tensor");
    refuses("V12", &slow.replace("float>", "int32_t>"), "not half or float");
    assert!(reasons("V12", &slow.replace("2048", "2048, true")).is_empty());
}

#[test]
fn v13_reduces_short_rows_together() {
    let slow = computing(&rows("            AscendC::ReduceSum(y[row * 8], x[row * 64], poly, 64);\n"));
    let fast = round_trip("V13", &slow);
    assert!(fast.contains("        AscendC::WholeReduceSum(y, x, 64, 16, 8, 1, 8);\n"), "{fast}");
    let max = apply("V13", &slow.replace("ReduceSum", "ReduceMax")).1;
    assert!(max.contains("WholeReduceMax(y, x, 64, 16, 8, 1, 8, AscendC::ReduceOrder::ORDER_ONLY_VALUE);"), "{max}");
    refuses("V13", &slow.replace("row * 64", "row * 128").replace("poly, 64", "poly, 128"), "within one repeat");
    refuses("V13", &slow.replace("row < 16", "row < 300"), "300 rows");
    refuses("V13", &slow.replace("y[row * 8]", "poly[row * 8]"), "share memory");
    let read = slow.replace("        outQueue.EnQue", "        AscendC::Exp(y, poly, count);\n        outQueue.EnQue");
    refuses("V13", &read, "something else");
}

#[test]
fn s03_reads_an_element_once() {
    let slow = computing(&rows(
        "            const float scale = xGm.GetValue(0);\n            AscendC::Muls(y[row * 64], x[row * 128], scale, 64);\n",
    ));
    let fast = round_trip("S03", &slow);
    assert!(fast.contains("        const float scale = xGm.GetValue(0);\n        for (uint32_t row"), "{fast}");
    assert_eq!(apply("S03", &slow).0.conditions, ["no other tensor writes the memory of xGm"]);
    let local = slow.replace("xGm.GetValue(0)", "poly.GetValue(first)").replace("row < 16", "row < height");
    assert_eq!(apply("S03", &local).0.conditions, ["the loop runs at least once"]);
    refuses("S03", &local.replace("y[row * 64]", "poly[row * 64]"), "poly may be changed");
    refuses("S03", &slow.replace("GetValue(0)", "GetValue(row)"), "row is declared in the loop");
    refuses("S03", &slow.replace("xGm.GetValue", "yGm.GetValue"), "not only read");
    refuses(
        "S03",
        &slow
            .replace("const float scale", "float scale")
            .replace("AscendC::Muls", "scale += 1.0f;\n            AscendC::Muls"),
        "assigned again",
    );
    refuses("S03", &slow.replace("GetValue(0)", "GetValue(Next())"), "may change");
    refuses(
        "S03",
        &local.replace("AscendC::Muls", "CopyIn(0, 64);\n            AscendC::Muls"),
        "CopyIn may change poly.GetValue(first)",
    );
}

#[test]
fn v33_combines_scalars_when_rounding_is_allowed() {
    let slow = computing("        AscendC::Muls(y, x, CUBIC, count);\n        AscendC::Muls(y, y, SCALE, count);\n");
    let fast = round_trip("V33", &slow);
    assert!(fast.contains("        AscendC::Muls(y, x, CUBIC * SCALE, count);\n"), "{fast}");
    assert!(apply("V33", &slow).0.rounding);
    let sum = apply("V33", &slow.replace("Muls", "Adds").replace("SCALE", "-1.0f - SCALE")).1;
    assert!(sum.contains("AscendC::Adds(y, x, CUBIC + (-1.0f - SCALE), count);"), "{sum}");
    refuses("V33", &slow.replace("float>", "half>"), "round each step");
    let read = slow.replace("Muls(y, x", "Muls(poly, x").replace("Muls(y, y", "Muls(y, poly");
    assert_eq!(motif("V33").find(&context(&read)).sites.len(), 1);
    let kept =
        read.replace("        outQueue.EnQue", "        AscendC::Exp(ones, poly, count);\n        outQueue.EnQue");
    refuses("V33", &kept, "used again");
    assert!(reasons("V33", &slow.replace("Muls(y, x", "Adds(y, x")).is_empty());
}

#[test]
fn a_site_of_other_sources_is_not_applied() {
    let (site, fast) = apply("Y01", &computing(EXP));
    assert!(motif("Y01").apply(&context(&fast), &site).is_err());
}
