//! Scalar work, and writes that nobody reads.

use super::*;

const LOOP: &str = "        for (uint32_t tile = AscendC::GetBlockIdx(); tile < this->tiles; tile += AscendC::GetBlockNum()) {\n            AscendC::Exp(y, x, this->tiles);\n        }\n";

fn member(compute: &str) -> String {
    kernel("    uint32_t tiles;\n", "        this->tiles = length;\n", compute)
}

#[test]
fn s08_reads_members_into_locals() {
    let slow = member(LOOP);
    let fast = round_trip("S08", &slow);
    assert!(
        fast.contains("        const uint32_t tilesLocal = this->tiles;\n        for (uint32_t tile = AscendC::GetBlockIdx(); tile < tilesLocal; "),
        "{fast}"
    );
    let set = slow.replace("        outQueue.EnQue(y);", "        this->tiles -= 1;\n        outQueue.EnQue(y);");
    assert!(reasons("S08", &set).is_empty());
    let again = slow
        .replace("            Compute(TILE);", "            Init(nullptr, nullptr, 1);\n            Compute(TILE);");
    assert!(reasons("S08", &again).is_empty());
    refuses("S08", &slow.replace("(y, x, this->tiles)", "(y, x, tiles)"), "several ways");
    refuses(
        "S08",
        &slow.replace(
            "        AscendC::LocalTensor<float> ones",
            "        uint32_t tilesLocal = 0;\n        AscendC::LocalTensor<float> ones",
        ),
        "is taken",
    );
}

#[test]
fn s12_asks_for_the_number_of_cores_once() {
    let slow = member(LOOP);
    let fast = round_trip("S12", &slow);
    assert!(
        fast.contains("        const auto blockCount = AscendC::GetBlockNum();\n        for (uint32_t tile = AscendC::GetBlockIdx(); tile < this->tiles; tile += blockCount) {\n"),
        "{fast}"
    );
    refuses(
        "S12",
        &slow.replace("AscendC::Exp(y, x, this->tiles)", "AscendC::Exp(y, x, GetBlockNum())"),
        "several ways",
    );
    refuses("S12", &slow.replace("LocalTensor<float> ones", "LocalTensor<float> blockCount"), "is taken");
    // The first part of the head runs once.
    assert!(reasons("S12", &slow.replace("tile += AscendC::GetBlockNum()", "tile++")).is_empty());
}

#[test]
fn s09_decides_at_compile_time() {
    let slow = computing("        if (BUFFER_NUM > 1) {\n            AscendC::Exp(y, x, count);\n        }\n");
    let fast = round_trip("S09", &slow);
    assert!(fast.contains("        if constexpr (BUFFER_NUM > 1) {\n"), "{fast}");
    let flag = slow
        .replace("BUFFER_NUM > 1", "LAST")
        .replace("class Kernel {", "template <typename T, bool LAST = false>\nclass Kernel {");
    assert!(apply("S09", &flag).1.contains("if constexpr (LAST) {"));
    let types = flag.replace("(LAST)", "(std::is_same<T, half>::value && !LAST)");
    assert!(apply("S09", &types).1.contains("if constexpr (std::is_same<T, half>::value && !LAST) {"));
    // Known at run time, hidden by a variable, or a number.
    for other in ["count > 1", "BUFFER_NUM > count", "BUFFER_NUM", "flag"] {
        assert!(reasons("S09", &slow.replace("BUFFER_NUM > 1", other)).is_empty(), "{other}");
    }
    let hidden = slow.replace("        if (BUFFER", "        int BUFFER_NUM = 3;\n        if (BUFFER");
    assert!(reasons("S09", &hidden).is_empty());
}

#[test]
fn d15_drops_what_is_overwritten() {
    let slow =
        computing("        AscendC::Duplicate(y, static_cast<float>(0), count);\n        AscendC::Exp(y, x, count);\n");
    let fast = round_trip("D15", &slow);
    assert!(!fast.contains("Duplicate") && fast.contains("AscendC::Exp(y, x, count);"), "{fast}");
    // Read, not all of it, and read later.
    assert!(reasons("D15", &slow.replace("Exp(y, x", "Add(y, y, x")).is_empty());
    assert!(reasons("D15", &slow.replace("Exp(y, x, count)", "Exp(y, x, 64)")).is_empty());
    assert!(reasons("D15", &slow.replace("        AscendC::Exp(y, x, count);\n", "")).is_empty());
}
