//! Work taken out of loops.

use super::*;

#[test]
fn v26_sees_what_calls_in_the_loop_change() {
    let slow = computing(
        "        for (uint32_t row = 0; row < 4; row++) {\n            AscendC::Duplicate(ones, scale, count);\n            Next();\n            AscendC::Add(y, x, ones, count);\n        }\n",
    );
    let with = |body: &str| {
        slow.replace(
            "private:\n",
            &format!("private:\n    __aicore__ inline void Next()\n    {{\n        {body}\n    }}\n"),
        )
    };
    let fast = round_trip("V26", &with("rounds_++;"));
    assert!(fast.contains("        AscendC::Duplicate(ones, scale, count);\n        for (uint32_t row"), "{fast}");
    refuses("V26", &with("scale = scale * 2;"), "Next may change scale");
    refuses("V26", &with("Change(scale);"), "Change at line");
    refuses("V26", &with("AscendC::LocalTensor<float> other = onesBuf.Get<float>();"), "taken elsewhere");
    refuses("V26", &slow.replace("class Kernel {", "class Kernel : public Base {"), "Next at line");
}

#[test]
fn v26_fills_once_before_the_loop_of_the_caller() {
    let slow = computing(
        "        AscendC::Exp(y, x, count);\n        AscendC::Duplicate(ones, CUBIC, TILE);\n        AscendC::Add(y, y, ones, count);\n",
    );
    let fast = round_trip("V26", &slow);
    let before = "        AscendC::LocalTensor<float> ones = onesBuf.Get<float>();\n        AscendC::Duplicate(ones, CUBIC, TILE);\n        for (uint32_t tile";
    assert!(fast.contains(before) && fast.matches("Duplicate").count() == 1, "{fast}");
    refuses("V26", &slow.replace("CUBIC, TILE", "CUBIC, count"), "count is known in Compute alone");
    refuses("V26", &slow.replace("Add(y, y, ones", "Add(ones, y, ones"), "written elsewhere");
    refuses(
        "V26",
        &slow.replace("CUBIC, TILE", "scale_, TILE").replace("outQueue.EnQue", "scale_ += 1;\n        outQueue.EnQue"),
        "Compute may change scale_",
    );
    let anew = slow.replace("            Compute(TILE);\n", "            pipe.Reset();\n            Compute(TILE);\n");
    refuses("V26", &anew, "Reset at line");
    let twice =
        slow.replace("            Compute(TILE);\n", "            Compute(TILE);\n            Compute(TILE);\n");
    assert!(reasons("V26", &twice).is_empty());
}

/// The kernel with other text around the three steps of `Process`.
fn process(text: &str) -> String {
    let plain = computing(EXP);
    let start = plain.find("        for (uint32_t tile").unwrap();
    let end = plain[start..].find("\n        }\n").unwrap() + start + "\n        }\n".len();
    format!("{}{text}{}", &plain[..start], &plain[end..])
}

#[test]
fn s01_folds_the_tail_into_the_loop() {
    let slow = process(
        "        for (uint32_t i = 0; i < tiles; i++) {\n            CopyIn(i * TILE, TILE);\n            Compute(TILE);\n            CopyOut(i * TILE, TILE);\n        }\n        if (tail_ > 0) {\n            CopyIn(tiles * TILE, tail_);\n            Compute(tail_);\n            CopyOut(tiles * TILE, tail_);\n        }\n",
    );
    let fast = round_trip("S01", &slow);
    let folded = "        const uint32_t rounds = tiles + (tail_ > 0 ? 1 : 0);\n        for (uint32_t i = 0; i < rounds; i++) {\n            const auto extent = i < tiles ? TILE : tail_;\n            CopyIn(i * TILE, extent);\n            Compute(extent);\n            CopyOut(i * TILE, extent);\n        }\n    }\n";
    assert!(fast.contains(folded), "{fast}");
    assert!(apply("S01", &slow).0.conditions.is_empty());
    assert_eq!(apply("S01", &slow.replace("uint32_t i = 0", "int32_t i = 0")).0.conditions, ["tiles is not negative"]);
    refuses(
        "S01",
        &slow.replace("        outQueue.EnQue", "        tail_ = 0;\n        outQueue.EnQue"),
        "Compute may change tail_",
    );
    refuses("S01", &slow.replace("CopyOut(tiles * TILE, tail_)", "CopyOut(tiles * TILE, aligned_)"), "in another way");
    let taken = slow.replace("uint32_t tiles)\n    {\n", "uint32_t tiles)\n    {\n        uint32_t rounds = 0;\n");
    assert!(apply("S01", &taken).1.contains("i < rounds1; i++)"));
    // Two arguments differ.
    let two = slow
        .replace("            Compute(TILE);", "            Compute(FULL);")
        .replace("Compute(tail_)", "Compute(rest_)");
    let fast = round_trip("S01", &two);
    assert!(fast.contains("tail_;\n            const auto extentB = i < tiles ? FULL : rest_;\n            CopyIn(i * TILE, extent);\n            Compute(extentB);"), "{fast}");
    assert!(reasons("S01", &slow.replace("            Compute(tail_);\n", "")).is_empty());
}

#[test]
fn s02_peels_the_last_round() {
    let slow = process(
        "        for (uint32_t i = 0; i < tiles; i++) {\n            const uint32_t count = i == tiles - 1 ? tail_ : TILE;\n            CopyIn(i * TILE, count);\n            Compute(count);\n            CopyOut(i * TILE, count);\n        }\n",
    );
    let fast = round_trip("S02", &slow);
    let peeled = "i + 1 < tiles; i++) {\n            const uint32_t count = TILE;\n            CopyIn(i * TILE, count);\n            Compute(count);\n            CopyOut(i * TILE, count);\n        }\n        if (tiles > 0) {\n            const uint32_t i = tiles - 1;\n            const uint32_t count = tail_;\n            CopyIn(i * TILE, count);";
    assert!(fast.contains(peeled), "{fast}");
    refuses(
        "S02",
        &slow.replace(
            "            Compute(count);\n",
            "            if (count == 0) {\n                break;\n            }\n",
        ),
        "holds break",
    );
    refuses(
        "S02",
        &slow.replace("            Compute(count);\n", "            tiles--;\n            Compute(count);\n"),
        "may change",
    );
    refuses(
        "S02",
        &slow.replace("            Compute(count);\n", "            i++;\n            Compute(count);\n"),
        "changes i",
    );
    assert!(reasons("S02", &slow.replace("tiles - 1 ?", "tiles - 2 ?")).is_empty());
}

#[test]
fn s13_reads_the_descriptor_of_a_list_once() {
    let slow = process(
        "        for (uint32_t tile = 0; tile < tiles; tile++) {\n            ListTensorDesc list((__gm__ void *)x_);\n            xGm.SetGlobalBuffer(list.GetDataPtr<float>(tile));\n            CopyIn(0, TILE);\n            Compute(TILE);\n            CopyOut(0, TILE);\n        }\n",
    );
    let fast = round_trip("S13", &slow);
    assert!(fast.contains("        ListTensorDesc list((__gm__ void *)x_);\n        for (uint32_t tile"), "{fast}");
    assert_eq!(apply("S13", &slow).0.conditions, ["nothing writes the list of tensors"]);
    refuses(
        "S13",
        &slow.replace("        outQueue.EnQue", "        x_ = y_;\n        outQueue.EnQue"),
        "Compute may change x_",
    );
    refuses("S13", &slow.replace("void *)x_)", "void *)(x_ + tile))"), "is declared in the loop");
    refuses(
        "S13",
        &slow.replace("            CopyIn(0,", "            Use(list);\n            CopyIn(0,"),
        "not only asked",
    );
    refuses(
        "S13",
        &slow.replace(
            "            ListTensorDesc list((__gm__ void *)x_);\n",
            "            if (tile > 0) {\n                ListTensorDesc list((__gm__ void *)x_);\n            }\n",
        ),
        "under a condition",
    );
}
