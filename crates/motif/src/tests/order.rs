//! Data movement and synchronisation.

use super::*;
use crate::CutLines;

#[test]
fn d01_doubles_every_queue_through_the_constant() {
    let fast = round_trip("D01", &computing(EXP));
    assert!(fast.contains("BUFFER_NUM = 2"));
}

#[test]
fn d01_refuses_a_queue_that_is_filled_once_and_too_many_buffers() {
    let once = computing(EXP).replace("for (uint32_t tile = 0; tile < tiles; tile++) {", "{ uint32_t tile = 0;");
    refuses("D01", &once, "filled once");
    let many: String = (0..7).map(|index| format!("        pipe.InitBuffer(q{index}, 1, 32);\n")).collect();
    let queues: String =
        (0..7).map(|index| format!("    AscendC::TQue<AscendC::TPosition::VECIN, 1> q{index};\n")).collect();
    refuses("D01", &kernel(&queues, &many, EXP), "event ids");
    let big = computing(EXP).replace("TILE * sizeof(float)", "20000 * sizeof(float)");
    refuses("D01", &big, "unified buffer has");
}

#[test]
fn d01_believes_what_a_launch_took_of_the_unified_buffer() {
    // Sizes that only run-time values decide.
    let text = computing(EXP).replace("TILE * sizeof(float)", "tileLength * sizeof(float)");
    let context = context(&text);
    let cuts = |bytes: u64| {
        let lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| line.contains("InitBuffer(inQueue") || line.contains("InitBuffer(outQueue"));
        lines.map(|(line, _)| (("k.h".to_owned(), line as u32 + 1), bytes)).collect()
    };
    let found = |bytes: u64| motif("D01").find(&context.clone().with_buffers(&cuts(bytes), 4 * bytes));
    assert_eq!(motif("D01").find(&context).sites.len(), 1, "nothing is measured");
    assert_eq!(found(32_000).sites.len(), 1, "six times 32000 bytes");
    let full = found(40_000);
    assert!(full.sites.is_empty());
    assert!(full.refused[0].reason.contains("240000 bytes of buffers"), "{:?}", full.refused);
}

#[test]
fn d01_plans_with_half_of_the_unified_buffer_where_second_buffers_do_not_fit() {
    let text = computing(EXP).replace("TILE * sizeof(float)", "tileLength * sizeof(float)");
    let host = "void Parse() {\n    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, info->ubSize);\n}\n";
    let mut tree = SourceTree::new();
    tree.insert("k.h", text.as_str());
    let alone = tree.clone();
    tree.insert("host.cpp", host);
    let lines = text.lines().enumerate().filter(|(_, line)| line.contains("InitBuffer("));
    let cuts: CutLines = lines.map(|(line, _)| (("k.h".to_owned(), line as u32 + 1), 48_000)).collect();
    let context = Context::new(tree.clone(), KnownValues::default(), None).with_buffers(&cuts, 192_000);
    let motif = motif("D01");
    let found = motif.find(&context).sites;
    assert_eq!(found.len(), 1, "{found:?}");
    let patch = motif.apply(&context, &found[0]).unwrap();
    let fast = tree.apply(&patch).unwrap();
    assert!(fast.text("k.h").unwrap().contains("BUFFER_NUM = 2"));
    assert!(fast.text("host.cpp").unwrap().contains("info->ubSize = info->ubSize < 98304 ? info->ubSize : 98304;"));

    let context = Context::new(fast.clone(), KnownValues::default(), None);
    let sites = motif.rewind_sites(&context).sites;
    let site = sites.iter().find(|site| site.note.contains("planned")).unwrap();
    assert_eq!(fast.apply(&motif.rewind(&context, site).unwrap()).unwrap(), tree);
    let plain = Context::new(alone, KnownValues::default(), None);
    assert!(motif.find(&plain.with_buffers(&cuts, 192_000)).sites.is_empty(), "nobody asks for the size");
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
    refuses("Y01", &skipped, "nothing else orders MTE2");
    let through_gm = computing(EXP).replace("AscendC::DataCopyPad(yGm[start]", "AscendC::DataCopyPad(xGm[start]");
    refuses("Y01", &through_gm, "both read and written");
    refuses("Y01", &computing("        AscendC::SyncAll();\n"), "protocol");
    refuses("Y01", &computing("        Helper(x, y);\n"), "not analysed");
}

#[test]
fn a_removed_barrier_takes_its_own_comments_along() {
    let barrier = "PipeBarrier<PIPE_ALL>();\n";
    let plain = computing(EXP);
    let said = plain.replacen(
        &format!("            AscendC::{barrier}"),
        &format!("            // wait for the copy\n            AscendC::{barrier}\n"),
        1,
    );
    assert_ne!(said, plain);
    let (_, fast) = apply("Y01", &said);
    assert!(!fast.contains("wait for the copy"), "{fast}");
    let behind =
        computing("        AscendC::Exp(y, x, count);\n        AscendC::PipeBarrier<PIPE_V>(); // y is read next\n");
    let (_, fast) = apply("Y02", &behind);
    assert!(fast.contains("        AscendC::Exp(y, x, count);\n") && !fast.contains("y is read next"), "{fast}");
    // What the comment is about may be the next statement too.
    let both = computing(
        "        // the product\n        AscendC::PipeBarrier<PIPE_V>();\n        AscendC::Exp(y, x, count);\n",
    );
    assert!(apply("Y02", &both).1.contains("        // the product\n        AscendC::Exp(y, x, count);\n"));
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
    // The store of the result is behind the load only by way of the wait in front of the EnQue.
    let unused = computing("        AscendC::Duplicate(y, CUBIC, count);\n");
    refuses("Y12", &unused, "stands in between: what it hands on comes after what x waits for");
}

/// A kernel that fills the input's tensor before the copy, with barriers.
fn filled_before_the_copy() -> String {
    computing(EXP).replace(
        "inQueue.AllocTensor<float>();\n",
        "inQueue.AllocTensor<float>();\n        AscendC::Duplicate(xLocal, 0.0f, TILE);\n        AscendC::PipeBarrier<PIPE_ALL>();\n",
    )
}

#[test]
fn y01_leaves_the_barrier_that_orders_a_fill_before_a_copy() {
    let slow = filled_before_the_copy();
    let found = motif("Y01").find(&context(&slow));
    assert_eq!((found.sites.len(), found.refused.len()), (1, 1), "{found:?}");
    assert!(found.refused[0].reason.contains("nothing else orders V"), "{found:?}");
    assert!(
        apply("Y01", &slow)
            .1
            .contains("TILE);\n        AscendC::PipeBarrier<PIPE_ALL>();\n        AscendC::DataCopyPad")
    );
    let bare = slow.replacen(
        "        AscendC::PipeBarrier<PIPE_ALL>();\n        AscendC::DataCopyPad",
        "        AscendC::DataCopyPad",
        1,
    );
    refuses("Y01", &bare, "nothing else orders V");
}

#[test]
fn y03_waits_for_one_pipe_where_the_barrier_stopped_all() {
    let slow = filled_before_the_copy();
    let fast = round_trip("Y03", &slow);
    let flag = "        const AscendC::TEventID eventVToMte2 = AscendC::GetTPipePtr()->FetchEventID(AscendC::HardEvent::V_MTE2);\n        AscendC::SetFlag<AscendC::HardEvent::V_MTE2>(eventVToMte2);\n        AscendC::WaitFlag<AscendC::HardEvent::V_MTE2>(eventVToMte2);\n        AscendC::DataCopyPad";
    assert!(fast.contains(flag), "{fast}");
    // The other barrier is none of this motif's business, and with the flag in place it can go.
    assert!(!apply("Y01", &fast).1.contains("PipeBarrier"));
    refuses(
        "Y03",
        &slow.replace(
            "TILE);\n        AscendC::Pipe",
            "TILE);\n        const float eventVToMte2 = 0;\n        AscendC::Pipe",
        ),
        "is taken",
    );
    let conditional =
        slow.replace("AscendC::DataCopyPad(xLocal", "if (count > 0)\n            AscendC::DataCopyPad(xLocal");
    assert!(reasons("Y03", &conditional).is_empty());
    assert!(reasons("Y03", &computing(EXP)).is_empty());
}

#[test]
fn y07_takes_barriers_out_of_a_loop_of_vector_work() {
    let slow = computing(
        "        for (uint32_t row = 0; row < 4; row++) {\n            AscendC::Exp(y[row * 64], x[row * 64], 64);\n            y.SetValue(row, 1.0f);\n            AscendC::PipeBarrier<PIPE_ALL>();\n        }\n",
    );
    let fast = round_trip("Y07", &slow);
    let around = "        AscendC::PipeBarrier<PIPE_ALL>();\n        for (uint32_t row = 0; row < 4; row++) {\n            AscendC::Exp(y[row * 64], x[row * 64], 64);\n            y.SetValue(row, 1.0f);\n        }\n        AscendC::PipeBarrier<PIPE_ALL>();\n";
    assert!(fast.contains(around), "{fast}");
    refuses(
        "Y07",
        &slow.replace("y.SetValue(row, 1.0f)", "AscendC::DataCopy(yGm[row], y, 64)"),
        "DataCopy is not vector work",
    );
    refuses("Y07", &slow.replace("y.SetValue(row, 1.0f)", "Helper(y)"), "Helper is not vector work");
    refuses("Y07", &slow.replace("y.SetValue(row, 1.0f)", "yGm.SetValue(row, 1.0f)"), "SetValue is not vector work");
    refuses(
        "Y07",
        &slow.replace("y.SetValue(row, 1.0f);", "if (row > 2) {\n                return;\n            }"),
        "return stands",
    );
    // The barrier between the steps of Process is no business of this motif: CopyIn is no vector work.
    refuses("Y07", &computing(EXP), "is not vector work");
}
