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
