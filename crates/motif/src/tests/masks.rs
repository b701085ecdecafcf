//! Masks and banks.

use super::*;
use crate::CutLines;

#[test]
fn v17_puts_a_gap_between_operands() {
    let slow = computing("        AscendC::Add(y, poly, ones, count);\n");
    let fast = round_trip("V17", &slow);
    assert!(
        fast.contains("        pipe.InitBuffer(polyBuf, TILE * sizeof(float));\n        pipe.InitBuffer(gapBuf, 256); // keeps polyBuf and onesBuf in different banks\n        pipe.InitBuffer(onesBuf"),
        "{fast}"
    );
    assert!(fast.contains("    AscendC::TBuf<AscendC::TPosition::VECCALC> gapBuf;\n"));
    // As the author writes, whatever would do.
    let with =
        |line: &str, text: &str| format!("using namespace AscendC;\n{}", text.replace("AscendC::TPosition", line));
    let qualified = round_trip("V17", &with("AscendC::QuePosition", &slow));
    assert!(qualified.contains("    AscendC::TBuf<AscendC::QuePosition::VECCALC> gapBuf;\n"), "{qualified}");
    let bare = round_trip("V17", &with("TPosition", &slow.replace("AscendC::T", "T")).replace("AscendC::T", "T"));
    assert!(bare.contains("    TBuf<TPosition::VECCALC> gapBuf;\n"), "{bare}");
    let known = |bytes: &str| slow.replace("(polyBuf, TILE * sizeof(float))", &format!("(polyBuf, {bytes})"));
    assert_eq!(motif("V17").find(&context(&known("4096"))).sites.len(), 1);
    refuses("V17", &known("4096 + 256"), "256 bytes apart");
    refuses("V17", &fast, "gap gapBuf already");
    assert!(reasons("V17", &computing("        AscendC::Add(y, poly, poly, count);\n")).is_empty());
}

/// Notes of V17's sites.
fn gaps(context: &Context) -> Vec<String> {
    motif("V17").find(context).sites.into_iter().map(|site| site.note).collect()
}

#[test]
fn v17_sees_through_other_names_of_a_tensor() {
    let with = |sources: &str| {
        computing(&format!(
            "        const AscendC::LocalTensor<float>& square = poly;\n        const AscendC::LocalTensor<float>& root = square;\n        AscendC::Add(y, {sources}, count);\n"
        ))
    };
    assert_eq!(gaps(&context(&with("root, ones"))), ["a gap before onesBuf"]);
    round_trip("V17", &with("root, ones"));
    assert!(gaps(&context(&with("root, poly"))).is_empty(), "one buffer by two names");
}

#[test]
fn v17_puts_several_gaps_where_one_leaves_operands_together() {
    let chain = "        AscendC::Add(y, x, poly, count);\n        AscendC::Add(y, poly, ones, count);\n";
    let slow = computing(chain);
    let context = context(&slow);
    let sites = motif("V17").find(&context).sites;
    let site = sites.iter().find(|site| site.note == "gaps before polyBuf and onesBuf").expect("both");
    let fast = patched(&context, &motif("V17").apply(&context, site).unwrap());
    let text = fast.tree.text("k.h").unwrap();
    for part in [
        "        pipe.InitBuffer(gapBuf, 256); // keeps outQueue and polyBuf in different banks\n        pipe.InitBuffer(polyBuf,",
        "        pipe.InitBuffer(gapBuf2, 256); // keeps polyBuf and onesBuf in different banks\n        pipe.InitBuffer(onesBuf,",
        "    AscendC::TBuf<AscendC::TPosition::VECCALC> gapBuf;\n    AscendC::TBuf<AscendC::TPosition::VECCALC> gapBuf2;\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(gaps(&fast).is_empty(), "{:?}", gaps(&fast));
    // Taken out one by one, they leave the original.
    let rewound = |context: &Context| {
        let site = motif("V17").rewind_sites(context).sites.pop().expect("a gap");
        patched(context, &motif("V17").rewind(context, &site).unwrap())
    };
    assert_eq!(rewound(&rewound(&fast)).tree.text("k.h"), Some(slow.as_str()));
    // One gap is enough for both of these, and nothing is said where sizes are known not to be whole periods.
    let star = computing("        AscendC::Add(y, x, poly, count);\n        AscendC::Add(y, x, ones, count);\n");
    assert_eq!(gaps(&super::context(&star)), ["a gap before polyBuf", "a gap before onesBuf"]);
    let uneven = slow.replace("(polyBuf, TILE * sizeof(float))", "(polyBuf, 4096 + 64)");
    assert_eq!(gaps(&super::context(&uneven)), ["a gap before polyBuf"]);
}

#[test]
fn v17_makes_room_for_its_gap_where_a_launch_filled_the_unified_buffer() {
    let slow = computing("        AscendC::Add(y, poly, ones, count);\n");
    let mut tree = SourceTree::new();
    tree.insert("k.h", slow.as_str());
    let alone = tree.clone();
    tree.insert(
        "host.cpp",
        "void Parse() {\n    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, info->ubSize);\n}\n",
    );
    let found = |tree: &SourceTree, end_bytes: u64| {
        let context =
            Context::new(tree.clone(), KnownValues::default(), None).with_buffers(&CutLines::new(), end_bytes);
        let sites = motif("V17").find(&context).sites;
        sites.first().map(|site| tree.apply(&motif("V17").apply(&context, site).unwrap()).unwrap())
    };
    let host = |end_bytes| found(&tree, end_bytes).unwrap().text("host.cpp").unwrap().to_owned();
    assert!(host(196_608).contains("info->ubSize = info->ubSize < 131072 ? info->ubSize : 131072;"));
    assert!(!host(196_608 - 256).contains("131072"), "there is room as it is");
    assert!(found(&alone, 196_608).is_none(), "nobody asks for the size");
}

#[test]
fn v11_sets_the_mask_before_the_loop() {
    let slow = computing(
        "        for (uint32_t row = 0; row < 4; row++) {\n            AscendC::Mul(y[row * 512], x[row * 512], ones, 64, 8, params);\n            AscendC::Adds(y[row * 512], y[row * 512], CUBIC, 64, 8, unary);\n        }\n",
    );
    let fast = round_trip("V11", &slow);
    for part in [
        "        AscendC::SetVectorMask<float>(static_cast<int32_t>(64));\n        for (uint32_t row",
        "AscendC::Mul<float, false>(y[row * 512], x[row * 512], ones, AscendC::MASK_PLACEHOLDER, 8, params);",
        "        }\n        AscendC::ResetMask();\n",
    ] {
        assert!(fast.contains(part), "{part}\n{fast}");
    }
    refuses("V11", &slow.replace("CUBIC, 64", "CUBIC, 32"), "another mask");
    refuses(
        "V11",
        &slow.replace(
            "            AscendC::Adds",
            "            AscendC::Exp(poly, x, count);\n            AscendC::Adds",
        ),
        "may set a mask of its own",
    );
    refuses("V11", &slow.replace(", 64, 8", ", row, 8"), "may change in the loop");
    let bits = slow
        .replace(", 64, 8", ", mask, 8")
        .replace("        for (uint32_t row", "        uint64_t mask[2] = {1, 0};\n        for (uint32_t row");
    refuses("V11", &bits, "bit by bit");
}
