//! What a rewrite must not pass over: counts and scalars that change in between, other names of a tensor, ways out.

use super::*;

const MULS_ADD: [&str; 2] =
    ["        AscendC::Muls(poly, x, scale_, count);\n", "        AscendC::Add(y, poly, y, count);\n"];

/// A kernel with more functions before the pipe and a member `scale_`.
fn with_functions(functions: &str, compute: &str) -> String {
    let members = "    float scale_ = 2.0f;\n    uint32_t valid_ = 8;\n    AscendC::LocalTensor<float> kept_;\n";
    let text = kernel(members, "", compute);
    text.replace("    AscendC::TPipe pipe;\n", &format!("{functions}\n    AscendC::TPipe pipe;\n"))
}

const NEXT: &str = "    __aicore__ inline void Next()\n    {\n        scale_ <<= 1;\n    }\n";

#[test]
fn a_call_that_changes_the_scalar_is_seen() {
    let split = |between: &str| format!("{}{between}{}", MULS_ADD[0], MULS_ADD[1]);
    assert_eq!(motif("V02").find(&context(&with_functions(NEXT, &split("")))).sites.len(), 1);
    for (functions, between) in [
        (NEXT, "        Next();\n"),
        (NEXT, "        this->Next();\n"),
        ("", "        scale_ >>= 1;\n"),
        ("", "        Step(scale_);\n"),
        ("", "        auto &part = scale_;\n        part = 1.0f;\n"),
        ("#define STEP scale_ *= 2\n", "        STEP;\n"),
        ("#define STEP() scale_ *= 2\n#define OUTER() STEP()\n", "        OUTER();\n"),
    ] {
        refuses("V02", &with_functions(functions, &split(between)), "may change");
    }
    let fill = |between: &str| {
        format!("        AscendC::Duplicate(poly, scale_, count);\n{between}        AscendC::Add(y, x, poly, count);\n")
    };
    refuses("V06", &with_functions(NEXT, &fill("        Next();\n")), "Next may change scale_");
    // A function outside of the class that changes what stands outside too.
    let outside = with_functions("", &split("        Grow();\n"))
        .replace("scale_, count", "growth, count")
        .replace("class Kernel {", "float growth = 1.0f;\nvoid Grow()\n{\n    growth += 1.0f;\n}\nclass Kernel {");
    refuses("V02", &outside, "Grow may change growth");
}

#[test]
fn other_ways_to_a_scalar_are_seen() {
    let split = |before: &str, between: &str| format!("{before}{}{between}{}", MULS_ADD[0], MULS_ADD[1]);
    let clip = "    __aicore__ inline void Clip(float &value)\n    {\n        value *= 2;\n    }\n";
    let through = "    __aicore__ inline void Through(float *value)\n    {\n        Clip(*value);\n    }\n";
    let lambda = "        auto step = [&]() { scale_ = 1.0f; };\n";
    for (functions, before, between) in [
        // An out-parameter of a function of the class, and one that is handed on.
        (clip.to_owned(), "", "        Clip(scale_);\n"),
        (format!("{clip}{through}"), "", "        Through(&scale_);\n"),
        // Names that were made before the two instructions.
        (String::new(), "        auto &part = scale_;\n", "        part = 1.0f;\n"),
        (String::new(), "        float *place = &scale_;\n", "        *place = 1.0f;\n"),
        (String::new(), "        float *place = &scale_;\n        auto same = place;\n", "        same[0] = 1.0f;\n"),
        (clip.to_owned(), "        auto &part = scale_;\n        auto &more = part;\n", "        Clip(more);\n"),
        (String::new(), lambda, "        step();\n"),
    ] {
        refuses("V02", &with_functions(&functions, &split(before, between)), "may change");
    }
    // A parameter that stands for a member.
    let text = with_functions(NEXT, &split("", "        Next();\n"))
        .replace("Compute(uint32_t count)", "Compute(uint32_t count, const float &scale)")
        .replace("Compute(TILE)", "Compute(TILE, scale_)")
        .replace("x, scale_, count", "x, scale, count");
    refuses("V02", &text, "Next may change");
    // Another variable of the same name, and a copy that is handed over.
    let own = "    __aicore__ inline void Own(uint32_t start)\n    {\n        uint32_t count = start;\n        count++;\n    }\n";
    let copied = "    __aicore__ inline void Copied(float value)\n    {\n        value = 0;\n    }\n";
    for (functions, between) in [(own, "        Own(3);\n"), (copied, "        Copied(scale_);\n")] {
        let found = motif("V02").find(&context(&with_functions(functions, &split("", between))));
        assert_eq!(found.sites.len(), 1, "{between}{found:?}");
    }
}

#[test]
fn what_a_tensor_holds_is_followed_along_every_way() {
    let around = |before: &str, after: &str| with_functions("", &format!("{before}{ADD_RELU}{after}"));
    let read = "AscendC::Mul(y, y, poly, count);";
    for (before, after) in [
        // The next round reads what this one leaves.
        (format!("        for (uint32_t i = 0; i < 4; i++) {{\n        {read}\n"), "        }\n".to_owned()),
        (format!("        do {{\n        if (count > 8) {{ {read} }}\n"), "        } while (count > 64);\n".to_owned()),
        // One case falls through into another.
        (
            "        switch (count) {\n        case 1: {\n".to_owned(),
            format!("        }}\n        case 2: {read}\n        }}\n"),
        ),
        (String::new(), format!("        if (count > 8) {{ AscendC::Exp(poly, x, count); }}\n        {read}\n")),
        (String::new(), format!("        CHECK(count, {{ {read} }});\n")),
        // Of a jump it is not known what runs next.
        (String::new(), "        goto out;\n        out: AscendC::Exp(y, x, count);\n".to_owned()),
    ] {
        let found = motif("V04").find(&context(&around(&before, &after)));
        assert!(found.sites.is_empty() && found.refused.len() == 1, "{before}{after}{found:?}");
    }
    for (before, after) in [
        (
            "        switch (count) {\n        case 1: {\n",
            "        break;\n        }\n        default: AscendC::Exp(y, x, count);\n        }\n",
        ),
        ("        for (uint32_t i = 0; i < 4; i++) {\n", "        if (i == valid_) { break; }\n        }\n"),
        (
            "",
            "        if (count > 8) {\n            AscendC::Exp(poly, x, count);\n        } else {\n            AscendC::Abs(poly, x, count);\n        }\n        AscendC::Mul(y, y, poly, count);\n",
        ),
    ] {
        assert_eq!(motif("V04").find(&context(&around(before, after))).sites.len(), 1, "{before}{after}");
    }
}

#[test]
fn an_operand_with_an_effect_is_not_moved() {
    let text = with_functions(
        NEXT,
        "        AscendC::Muls(poly, x, scale_, count++);\n        AscendC::Add(y, poly, y, count++);\n",
    );
    refuses("V02", &text, "may change");
    let text = with_functions(
        NEXT,
        "        AscendC::Muls(poly, x, Take(), count);\n        AscendC::Add(y, poly, y, count);\n",
    );
    refuses("V02", &text, "Take() may change");
}

#[test]
fn a_count_that_changes_is_another_count() {
    let filled = |between: &str| {
        format!(
            "        AscendC::Duplicate(y, 0.0f, count);\n{between}        AscendC::Exp(y, x, count);\n        AscendC::Abs(y, y, TILE);\n"
        )
    };
    assert_eq!(motif("D15").find(&context(&with_functions(NEXT, &filled("")))).sites.len(), 1);
    for between in [
        "        count = valid_;\n",
        "        count >>= 1;\n",
        "        count -= 1;\n",
        "        std::swap(count, valid_);\n",
        "        Clip(count);\n",
    ] {
        let text = with_functions(NEXT, &filled(between));
        assert!(motif("D15").find(&context(&text)).sites.is_empty(), "{between}");
    }
}

#[test]
fn a_way_out_before_the_overwrite_keeps_the_fill() {
    for leave in ["break", "continue", "return"] {
        let text = with_functions(
            NEXT,
            &format!(
                "        for (uint32_t i = 0; i < 4; i++) {{\n            AscendC::Duplicate(y, 0.0f, count);\n            if (i == valid_) {{\n                \
                 {leave};\n            }}\n            AscendC::Exp(y, x, count);\n        }}\n"
            ),
        );
        assert!(motif("D15").find(&context(&text)).sites.is_empty(), "{leave}");
    }
    // Two arms are not one after the other.
    let text = computing(
        "        if (count > 8)\n            AscendC::Duplicate(y, 0.0f, count);\n        else\n            AscendC::Exp(y, x, count);\n",
    );
    assert!(motif("D15").find(&context(&text)).sites.is_empty());
}

const ADD_RELU: &str = "        AscendC::Add(poly, x, ones, count);\n        AscendC::Relu(y, poly, count);\n";

#[test]
fn another_name_of_a_tensor_reads_it() {
    assert_eq!(motif("V04").find(&context(&computing(ADD_RELU))).sites.len(), 1);
    for (before, after) in [
        ("        AscendC::LocalTensor<float> view = poly[0];\n", "        AscendC::Mul(y, y, view, count);\n"),
        ("        auto view = poly[0];\n", "        AscendC::Mul(y, y, view, count);\n"),
        ("        auto &view = poly;\n", "        AscendC::Mul(y, y, view, count);\n"),
        ("        auto view = poly.ReinterpretCast<float>();\n", "        AscendC::Mul(y, y, view, count);\n"),
        ("        auto view = poly[0];\n        auto part = view[8];\n", "        AscendC::Mul(y, y, part, count);\n"),
        (
            "        AscendC::LocalTensor<float> view;\n        view = poly[0];\n",
            "        AscendC::Mul(y, y, view, count);\n",
        ),
        ("        auto later = [&]() { AscendC::Mul(y, y, poly, count); };\n", "        later();\n"),
        ("        kept_ = poly[0];\n", "        Finish(y);\n"),
        (
            "        AscendC::LocalTensor<float> again = polyBuf.Get<float>();\n",
            "        AscendC::Mul(y, y, again, count);\n",
        ),
    ] {
        let text = with_functions("", &format!("{before}{ADD_RELU}{after}"));
        let found = motif("V04").find(&context(&text));
        assert!(found.sites.is_empty() && found.refused.len() == 1, "{before}{after}{found:?}");
    }
    // Numbers that were asked of it are no other names.
    let text = computing(&format!(
        "        float first = ones.GetValue(0);\n{ADD_RELU}        AscendC::Adds(y, y, first, count);\n"
    ));
    assert_eq!(motif("V04").find(&context(&text)).sites.len(), 1);
}

#[test]
fn a_tensor_that_is_filled_under_a_condition_may_keep_what_it_held() {
    let text = computing(
        "        if (count > 8) {\n            AscendC::Duplicate(poly, 0.0f, count);\n        }\n        AscendC::Mul(y, poly, x, count);\n        \
         AscendC::Add(poly, x, ones, count);\n        AscendC::Relu(y, poly, count);\n",
    );
    refuses("V04", &text, "may be read before it is written");
}

#[test]
fn a_fill_is_not_hoisted_over_what_changes_its_length() {
    let text = |step: &str| {
        with_functions(
            NEXT,
            &format!(
                "        for (uint32_t i = 0; i < 4; i++) {{\n            AscendC::Duplicate(ones, 1.0f, valid_);\n            \
                 AscendC::Add(y, x, ones, valid_);\n{step}        }}\n"
            ),
        )
    };
    assert_eq!(motif("V26").find(&context(&text(""))).sites.len(), 1);
    for step in ["valid_ <<= 1;", "valid_ >>= 1;", "this->valid_ += 8;", "Widen(valid_);", "std::swap(valid_, i);"] {
        let found = motif("V26").find(&context(&text(&format!("            {step}\n"))));
        assert!(found.sites.is_empty(), "{step}");
    }
    let grown = text("            Next();\n").replace("scale_ <<= 1", "valid_ <<= 1");
    refuses("V26", &grown, "Next may change valid_");
}

#[test]
fn a_name_that_begins_like_a_type_is_a_name() {
    let text = |index: &str| {
        with_functions(
            "",
            &format!(
                "        uint32_t voidIdx = 0;\n        uint32_t uint8_tIdx = 0;\n        for (uint32_t i = 0; i < 4; i++) {{\n            \
                 AscendC::ListTensorDesc list((__gm__ void *)(table + {index}));\n            uint64_t size = list.GetSize();\n            \
                 {index} += size;\n        }}\n"
            ),
        )
    };
    for index in ["voidIdx", "uint8_tIdx"] {
        refuses("S13", &text(index), "may change");
    }
    let steady = text("voidIdx").replace("            voidIdx += size;\n", "            valid_ += size;\n");
    assert_eq!(motif("S13").find(&context(&steady)).sites.len(), 1);
}

#[test]
fn global_memory_is_known_by_its_address_and_not_by_a_name() {
    let rounds = "        AscendC::ReduceSum(poly, x, ones, count);\n        float sum = poly.GetValue(0);\n        AscendC::Muls(y, x, sum, count);\n";
    let text = computing(rounds)
        .replace("            AscendC::PipeBarrier<PIPE_ALL>();\n", "")
        .replace("BUFFER_NUM = 1", "BUFFER_NUM = 2");
    assert_eq!(motif("D23").find(&context(&text)).sites.len(), 1);
    // The result goes where the input comes from.
    refuses(
        "D23",
        &text.replace("(__gm__ float *)y", "(__gm__ float *)x + 8"),
        "yGm is written and starts where xGm does, at x",
    );
    // So it does by way of a local, of a caller, and of a name that says it.
    let local = text
        .replace("        xGm.Set", "        auto *from = (__gm__ float *)y;\n        xGm.Set")
        .replace("(__gm__ float *)x", "from");
    refuses("D23", &local, "starts where xGm does, at y");
    let entry = format!(
        "{text}extern \"C\" __global__ __aicore__ void entry(GM_ADDR both, uint32_t length)\n{{\n    Kernel op;\n    op.Init(both, both, length);\n    op.Process(4);\n}}\n"
    );
    refuses("D23", &entry, "starts where xGm does, at both");
    let named = text.replace("GM_ADDR y", "GM_ADDR x_ref").replace("(__gm__ float *)y", "(__gm__ float *)x_ref");
    refuses("D23", &named, "starts where xGm does, at x");
    // An operator whose definition gives one name to an input and an output writes its input.
    let mut tree = SourceTree::new();
    tree.insert("k.h", text.as_str());
    tree.insert(
        "op_host/k.cpp",
        "class K : public OpDef {\n    K() { this->Input(\"var\"); this->Output(\"var\"); }\n};\n",
    );
    let found = motif("D23").find(&Context::new(tree, KnownValues::default(), None));
    assert!(found.refused.iter().any(|refused| refused.reason.contains("writes its input \"var\"")), "{found:?}");
}
