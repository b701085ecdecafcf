//! Masks and banks.

use super::*;

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
