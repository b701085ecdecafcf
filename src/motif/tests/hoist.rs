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
    let twice =
        slow.replace("            Compute(TILE);\n", "            Compute(TILE);\n            Compute(TILE);\n");
    assert!(reasons("V26", &twice).is_empty());
}
