//! Buffers that copies touch, as queues.

use super::*;

/// A kernel in which barriers order buffers.
fn kernel_of(process: &str, functions: &str) -> String {
    format!(
        r#"#include "kernel_operator.h"
class Kernel {{
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y)
    {{
        xGm.SetGlobalBuffer((__gm__ float *)x);
        yGm.SetGlobalBuffer((__gm__ float *)y);
        pipe.InitBuffer(inBuf, TILE * sizeof(float));
        pipe.InitBuffer(outBuf, TILE * sizeof(float));
    }}
    __aicore__ inline void Process(uint32_t tiles)
    {{
{process}    }}

private:
{functions}    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> inBuf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> outBuf;
    AscendC::GlobalTensor<float> xGm;
    AscendC::GlobalTensor<float> yGm;
}};
"#
    )
}

const BARRIER: &str = "            AscendC::PipeBarrier<PIPE_ALL>();\n";

/// All in one round of a loop.
fn in_one_block() -> String {
    let round = [
        "            AscendC::LocalTensor<float> x = inBuf.Get<float>();\n",
        "            AscendC::DataCopy(x, xGm[tile * TILE], TILE);\n",
        BARRIER,
        "            AscendC::LocalTensor<float> y = outBuf.Get<float>();\n",
        "            AscendC::Exp(y, x, TILE);\n",
        "            AscendC::Add(y, y, x, TILE);\n",
        BARRIER,
        "            AscendC::DataCopy(yGm[tile * TILE], y, TILE);\n",
        BARRIER,
    ];
    let process = format!("        for (uint32_t tile = 0; tile < tiles; tile++) {{\n{}        }}\n", round.concat());
    kernel_of(&process, "")
}

/// A function for each step.
fn in_steps() -> String {
    let function = |head: &str, body: &str| format!("    __aicore__ inline void {head}\n    {{\n{body}    }}\n");
    let functions = [
        function(
            "CopyIn(uint32_t tile)",
            "        AscendC::LocalTensor<float> x = inBuf.Get<float>();\n        AscendC::DataCopy(x, xGm[tile * TILE], TILE / 2);\n        AscendC::DataCopy(x[TILE / 2], xGm[tile * TILE + TILE / 2], TILE / 2);\n",
        ),
        function(
            "Compute()",
            "        AscendC::LocalTensor<float> x = inBuf.Get<float>();\n        AscendC::LocalTensor<float> y = outBuf.Get<float>();\n        AscendC::Exp(y, x, TILE);\n",
        ),
        function(
            "CopyOut(uint32_t tile)",
            "        AscendC::LocalTensor<float> y = outBuf.Get<float>();\n        AscendC::DataCopy(yGm[tile * TILE], y, TILE);\n",
        ),
    ];
    let process = format!(
        "        for (uint32_t tile = 0; tile < tiles; tile++) {{\n            CopyIn(tile);\n{BARRIER}            Compute();\n{BARRIER}            CopyOut(tile);\n{BARRIER}        }}\n"
    );
    kernel_of(&process, &functions.concat())
}

/// All sites one after the other.
fn all_sites(id: &str, text: &str) -> Context {
    let mut current = context(text);
    while let Some(site) = motif(id).find(&current).sites.first().cloned() {
        current = patched(&current, &motif(id).apply(&current, &site).unwrap());
    }
    current
}

#[test]
fn y04_takes_a_queue_where_filling_and_using_take_turns() {
    let slow = in_steps();
    let fast = round_trip("Y04", &slow);
    for part in [
        "    AscendC::TQue<AscendC::TPosition::VECIN, 1> inBuf;\n",
        "        pipe.InitBuffer(inBuf, 1, TILE * sizeof(float));\n",
        "x = inBuf.AllocTensor<float>();\n        AscendC::DataCopy(x, ",
        "TILE / 2], TILE / 2);\n        inBuf.EnQue(x);\n    }\n",
        "x = inBuf.DeQue<float>();\n",
        "        AscendC::Exp(y, x, TILE);\n        inBuf.FreeTensor(x);\n    }\n",
    ] {
        assert!(fast.contains(part), "{part}\n{fast}");
    }
    // Results go the other way, and then no barrier is needed any more.
    let both = all_sites("Y04", &slow);
    let text = both.tree.text("k.h").unwrap();
    for part in [
        "    AscendC::TQue<AscendC::TPosition::VECOUT, 1> outBuf;\n",
        "        AscendC::Exp(y, x, TILE);\n        outBuf.EnQue(y);\n",
        "        AscendC::DataCopy(yGm[tile * TILE], y, TILE);\n        outBuf.FreeTensor(y);\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(motif("Y01").find(&context(&slow)).sites.len(), 0);
    assert_eq!(motif("Y01").find(&both).sites.len(), 3, "{:?}", motif("Y01").find(&both).refused);
    assert!(!all_sites("Y01", text).tree.text("k.h").unwrap().contains("PipeBarrier"));
}

#[test]
fn y04_gives_the_copies_their_side_of_a_tensor_in_one_block() {
    let slow = in_one_block();
    let fast = round_trip("Y04", &slow);
    let part = "            AscendC::LocalTensor<float> xIncoming = inBuf.AllocTensor<float>();\n            AscendC::DataCopy(xIncoming, xGm[tile * TILE], TILE);\n            inBuf.EnQue(xIncoming);\n            AscendC::LocalTensor<float> x = inBuf.DeQue<float>();\n";
    assert!(fast.contains(part), "{fast}");
    assert!(fast.contains("            AscendC::Add(y, y, x, TILE);\n            inBuf.FreeTensor(x);\n"), "{fast}");
    let both = all_sites("Y04", &slow);
    let text = both.tree.text("k.h").unwrap();
    let part =
        "            outBuf.EnQue(y);\n            AscendC::LocalTensor<float> yOutgoing = outBuf.DeQue<float>();\n";
    assert!(text.contains(part), "{text}");
    assert!(
        text.contains("(yGm[tile * TILE], yOutgoing, TILE);\n            outBuf.FreeTensor(yOutgoing);\n"),
        "{text}"
    );
    assert_eq!(motif("Y01").find(&both).sites.len(), 3, "{:?}", motif("Y01").find(&both).refused);
    // Both are taken back one by one.
    let back = context(text);
    let sites = motif("Y04").rewind_sites(&back).sites;
    let one = patched(&back, &motif("Y04").rewind(&back, &sites[0]).unwrap());
    assert!(rewound("Y04", one.tree.text("k.h").unwrap(), &slow));
    // A tensor declared once for all rounds is taken in each of them.
    let line = "            AscendC::LocalTensor<float> x = inBuf.Get<float>();\n";
    let outside = slow.replace(line, "").replace("        for (", &format!("{}        for (", &line[4..]));
    assert_eq!(apply("Y04", &outside).1, fast);
}

#[test]
fn y04_leaves_buffers_alone_that_a_queue_does_not_fit() {
    let first = |text: &str| motif("Y04").find(&context(text)).refused.first().map(|refused| refused.reason.clone());
    let refuses = |text: &str, reason: &str| {
        let found = motif("Y04").find(&context(text));
        assert!(found.refused.iter().any(|refused| refused.reason.contains(reason)), "{reason}: {found:?}");
    };
    let steps = in_steps();
    assert_eq!(first(&steps), None);
    // Filled once and used in every round; used by two functions; left full.
    refuses(
        &steps.replace("            CopyIn(tile);\n", "").replace("        for (", "        CopyIn(0);\n        for ("),
        "otherwise than it found it",
    );
    refuses(
        &steps.replace("            Compute();\n", "            Compute();\n            Compute();\n"),
        "not be filled anew",
    );
    refuses(
        &steps.replace("            CopyIn(tile);\n", "            CopyIn(tile);\n            CopyIn(tile);\n"),
        "full already",
    );
    refuses(&steps.replace("            CopyOut(tile);\n", ""), "otherwise than it found it");
    refuses(
        &steps.replace(
            "            Compute();\n",
            "            if (tile == 3) {\n                return;\n            }\n            Compute();\n",
        ),
        "left early",
    );
    refuses(&steps.replace("Exp(y, x, TILE)", "Help(y, x, TILE)"), "not analysed");
    refuses(
        &steps.replace("Exp(y, x, TILE);", "Exp(y, x, TILE);\n        AscendC::DataCopy(yGm, x, 8);"),
        "both fill and empty",
    );
    // A part of a buffer is not followed.
    let part = motif("Y04").find(&context(&steps.replace("inBuf.Get<float>()", "inBuf.Get<float>(TILE)")));
    assert!(part.sites.iter().all(|site| site.note.starts_with("outBuf")), "{part:?}");
    let block = in_one_block();
    let late = block.replace(
        "            AscendC::Add(y, y, x, TILE);\n",
        "            AscendC::Add(y, y, x, TILE);\n            AscendC::DataCopy(x, xGm[tile * TILE], 8);\n",
    );
    refuses(&late, "used before all of it is there");
    refuses(
        &block.replace(
            "            AscendC::Exp(",
            "            if (tile == 7) {\n                continue;\n            }\n            AscendC::Exp(",
        ),
        "continue stands",
    );
    refuses(
        &block.replace("float> y = ", "float> xIncoming = yGm;\n            AscendC::LocalTensor<float> y = "),
        "xIncoming is taken",
    );
    // Flags order it already, or nothing does.
    assert!(motif("Y04").find(&context(&block.replace(BARRIER, ""))).sites.is_empty());
    let flags = block.replacen(BARRIER, "            AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(EVENT_ID0);\n            AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(EVENT_ID0);\n", 1);
    assert!(motif("Y04").find(&context(&flags)).sites.is_empty());
    // Scratch is no copy's.
    let scratch = "            AscendC::DataCopy(yGm[tile * TILE], y, TILE);\n";
    assert_eq!(motif("Y04").find(&context(&block.replace(scratch, ""))).sites.len(), 1);
}

#[test]
fn y04_takes_no_queue_back_where_barriers_do_not_order_all_of_its_accesses() {
    let queues = all_sites("Y04", &in_steps());
    let text = queues.tree.text("k.h").unwrap();
    let back = |text: &str| motif("Y04").rewind_sites(&context(text));
    assert_eq!(back(text).sites.len(), 2, "{:?}", back(text).refused);
    let step = "            Compute();\n";
    let open = text.replace(&format!("{step}{BARRIER}"), step);
    let found = back(&open);
    assert_eq!(found.sites.len(), 1, "{found:?}");
    assert!(found.sites[0].note.starts_with("inBuf"), "{found:?}");
    let named = found.refused.iter().any(|refused| refused.reason.contains("only outBuf orders DataCopy"));
    assert!(named, "{found:?}");
    // A barrier in one arm is none on the other path; one in a step is as good as one beside it.
    let sometimes = format!("{step}            if (tile > 0) {{\n    {BARRIER}            }}\n");
    assert_eq!(back(&open.replace(step, &sometimes)).sites.len(), 1);
    let head = "CopyOut(uint32_t tile)\n    {\n";
    assert_eq!(back(&open.replace(head, &format!("{head}{BARRIER}"))).sites.len(), 2);
    // Nor is one on a path that leaves the function before it.
    let leaves = format!("{head}        if (tile > 0) {{\n            return;\n        }}\n{BARRIER}");
    let twice = open
        .replace(head, &leaves)
        .replace("            CopyOut(tile);\n", "            CopyOut(tile);\n            Drain(tile);\n");
    let drain = "    __aicore__ inline void Drain(uint32_t tile)\n    {\n        AscendC::LocalTensor<float> y = outBuf.DeQue<float>();\n        AscendC::DataCopy(yGm[tile * TILE], y, TILE);\n    }\n";
    let twice =
        twice.replace("    __aicore__ inline void CopyOut(", &format!("{drain}    __aicore__ inline void CopyOut("));
    let found = back(&twice);
    assert!(found.sites.iter().all(|site| site.note.starts_with("inBuf")), "{found:?}");
    // Rounds follow each other: without these two the copy of the next round comes while this one works.
    let last = format!("            CopyOut(tile);\n{BARRIER}");
    let rounds = open.replace(&last, "            CopyOut(tile);\n");
    let found = back(&rounds);
    assert!(found.refused.iter().any(|refused| refused.reason.contains("only inBuf orders DataCopy")), "{found:?}");
}
