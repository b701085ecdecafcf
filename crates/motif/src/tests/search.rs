//! Searching, gathering and staging.

use super::*;

const SEARCH: &str = "        for (uint32_t i = 0; i < k; i++) {\n            AscendC::ReduceMax(poly, x, ones, count, true);\n            float value = poly.GetValue(0);\n            int32_t place = poly.ReinterpretCast<int32_t>().GetValue(1);\n            y.SetValue(i, value);\n            places.SetValue(i, place);\n            x.SetValue(place, LOWEST);\n        }\n";

/// A kernel with a third queue for the places.
fn searching(compute: &str) -> String {
    let alloc = "        AscendC::LocalTensor<int32_t> places = placeQueue.AllocTensor<int32_t>();\n";
    kernel(
        "    AscendC::TQue<AscendC::TPosition::VECOUT, BUFFER_NUM> placeQueue;\n",
        "        pipe.InitBuffer(placeQueue, BUFFER_NUM, 64 * sizeof(int32_t));\n",
        &format!("{alloc}{compute}        placeQueue.EnQue(places);\n"),
    )
}

#[test]
fn v24_sorts_once_instead_of_searching_again_and_again() {
    let slow = searching(SEARCH);
    let fast = round_trip("V24", &slow);
    for part in [
        "        for (uint32_t i = count; i < sorted; i++) {\n            x.SetValue(i, LOWEST);\n",
        "        AscendC::Sort<float, true>(sortRecords, x, sortPlaces.ReinterpretCast<uint32_t>(), sortMerged, static_cast<int32_t>(sorted / 32));\n",
        "        AscendC::Extract(y, places.ReinterpretCast<uint32_t>(), sortRecords, static_cast<int32_t>((k + 31) / 32));\n",
        "pipe.InitBuffer(placeQueue, BUFFER_NUM, (64 * sizeof(int32_t) + 127) / 128 * 128);",
        "pipe.InitBuffer(sortMergedBuf, (TILE * sizeof(float) + 127) / 128 * 128 * 2);",
    ] {
        assert!(fast.contains(part), "{part}\n{fast}");
    }
    assert_eq!(apply("V24", &slow).0.conditions.len(), 3);
    let barriers = slow.replace(", true);\n", ", true);\n            AscendC::PipeBarrier<PIPE_ALL>();\n");
    assert_eq!(apply("V24", &barriers).1, fast);
    // What the search leaves behind must not be asked for.
    let later = |text: &str| slow.replace("        placeQueue.EnQue", &format!("{text}        placeQueue.EnQue"));
    refuses("V24", &later("        AscendC::Exp(y, x, count);\n"), "x is used again");
    refuses("V24", &later("        AscendC::Exp(y, poly, count);\n"), "poly is used again");
    refuses("V24", &slow.replace("LocalTensor<float> x =", "LocalTensor<half> x ="), "not a local tensor of float");
}

/// A kernel that reads an index from global memory in a function of its own, once a round.
fn reading(call: &str, read: &str) -> String {
    let text =
        kernel("    AscendC::GlobalTensor<int32_t> indexGm;\n    uint32_t first;\n    uint32_t rows;\n", "", EXP);
    text.replace(
        "        xGm.Set",
        "        indexGm.SetGlobalBuffer((__gm__ int32_t *)index, length);\n        this->first = length * AscendC::GetBlockIdx();\n        this->rows = length;\n        xGm.Set",
    )
    .replace("GM_ADDR y, uint32_t length", "GM_ADDR y, GM_ADDR index, uint32_t length")
    .replace("tile < tiles; tile++", "tile < this->rows; tile++")
    .replace("            CopyIn(tile * TILE, TILE);", &format!("            CopyIn({call}, TILE);"))
    .replace(
        "        AscendC::LocalTensor<float> xLocal = inQueue.A",
        &format!("        int32_t index = {read};\n        AscendC::LocalTensor<float> xLocal = inQueue.A"),
    )
    .replace("xGm[start]", "xGm[index * TILE]")
}

#[test]
fn d21_loads_indices_before_the_loop() {
    let slow = reading("this->first + tile", "indexGm.GetValue(start)");
    let fast = round_trip("D21", &slow);
    for part in [
        "        pipe.InitBuffer(stagedBuf, (this->rows * sizeof(int32_t) + 31) / 32 * 32);\n",
        "        AscendC::DataCopyPad(staged, indexGm[this->first], AscendC::DataCopyExtParams{1, static_cast<uint32_t>(this->rows * sizeof(int32_t)), 0, 0, 0}, AscendC::DataCopyPadExtParams<int32_t>{false, 0, 0, 0});\n",
        "        AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(stagedEvent);\n        for (uint32_t tile",
        "        int32_t index = stagedBuf.Get<int32_t>().GetValue(start - this->first);\n",
    ] {
        assert!(fast.contains(part), "{part}\n{fast}");
    }
    // The flag orders the copy: full barriers may go as before.
    assert!(!motif("Y01").find(&context(&fast)).sites.is_empty());
    let unflagged = fast.replace("        AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(stagedEvent);\n", "");
    refuses("Y01", &unflagged, "only the barrier orders it");
    let plain = round_trip("D21", &reading("tile", "indexGm.GetValue(start)"));
    assert!(plain.contains("AscendC::DataCopyPad(staged, indexGm, ") && plain.contains(".GetValue(start);"), "{plain}");
    refuses("D21", &slow.replace("tile < this->rows", "tile < tiles"), "tiles is not a member");
    refuses(
        "D21",
        &slow.replace("            Compute(TILE);", "            this->rows -= 1;\n            Compute(TILE);"),
        "rows is set at another place",
    );
    refuses(
        "D21",
        &slow.replace("        AscendC::Exp(", "        indexGm.SetValue(0, 1);\n        AscendC::Exp("),
        "not only read",
    );
    refuses("D21", &reading("this->first * tile", "indexGm.GetValue(start)"), "is not a name + tile");
}
