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
