//! Vector instructions.

use super::*;

#[test]
fn v01_keeps_the_order_of_operations_of_a_polynomial() {
    let slow = computing(
        "        for (uint32_t i = 0; i < count; i++) {\n            float v = x.GetValue(i);\n            float cube = v * v * v; // third power\n            poly.SetValue(i, v + CUBIC * cube);\n        }\n",
    );
    let (site, fast) = apply("V01", &slow);
    let expected = "        // third power\n        AscendC::Mul(poly, x, x, count);\n        AscendC::Mul(poly, poly, x, count);\n        AscendC::Muls(poly, poly, CUBIC, count);\n        AscendC::Add(poly, x, poly, count);\n";
    assert!(fast.contains(expected), "{fast}");
    assert!(!site.rounding);
}

#[test]
fn v01_rewind_puts_brackets_around_what_is_no_single_operand() {
    let loops = |call: &str| {
        let text = computing(&format!("        AscendC::{call};\n"));
        let context = context(&text);
        let found = motif("V01").rewind_sites(&context);
        let one = |site: &Site| {
            let patch = motif("V01").rewind(&context, site).unwrap();
            patched(&context, &patch).tree.text("k.h").unwrap().to_owned()
        };
        found.sites.iter().map(one).collect::<String>()
    };
    assert!(loops("Add(y, x, poly, count)").contains("i < count; i++"));
    let chosen = loops("Add(y, x, poly, count > 8 ? 8 : count)");
    assert!(chosen.contains("for (uint32_t i = 0; i < (count > 8 ? 8 : count); i++) {"), "{chosen}");
    let sum = loops("Muls(y, x, CUBIC + 1.0f, count)");
    assert!(sum.contains("x.GetValue(i) * (CUBIC + 1.0f));"), "{sum}");
    // These are other numbers in a loop: the first changes with its rounds, the second is a double.
    assert_eq!(loops("Muls(y, x, y.GetValue(0), count)"), "");
    assert_eq!(loops("Muls(y, x, 0.1, count)"), "");
}

#[test]
fn v01_round_trip_of_one_instruction() {
    round_trip(
        "V01",
        &computing(
            "        for (uint32_t i = 0; i < count; i++) {\n            y.SetValue(i, x.GetValue(i) * poly.GetValue(i));\n        }\n",
        ),
    );
}

#[test]
fn v01_makes_temporaries_in_member_init_and_use() {
    let slow = computing(
        "        for (uint32_t i = 0; i < count; ++i) {\n            y.SetValue(i, (x.GetValue(i) + 1.0f) * (poly.GetValue(i) - x.GetValue(i)));\n        }\n        AscendC::Exp(ones, y, count);\n",
    );
    let fast = apply("V01", &slow).1;
    for part in [
        "    AscendC::TBuf<AscendC::TPosition::VECCALC> vecTmp0Buf;\n",
        "        pipe.InitBuffer(vecTmp0Buf, TILE * sizeof(float));\n",
        "        AscendC::LocalTensor<float> vecTmp0 = vecTmp0Buf.Get<float>();\n",
        "        AscendC::Adds(y, x, 1.0f, count);\n        AscendC::Sub(vecTmp0, poly, x, count);\n        AscendC::Mul(y, y, vecTmp0, count);\n",
    ] {
        assert!(fast.contains(part), "{part}\n{fast}");
    }
    // With an unused scratch tensor of the same size nothing new is declared.
    let scratch = slow.replace("        AscendC::Exp(ones, y, count);\n", "");
    let fast = apply("V01", &scratch).1;
    assert!(fast.contains("AscendC::Sub(ones, poly, x, count);") && !fast.contains("vecTmp"), "{fast}");
}

#[test]
fn v01_computes_half_in_float_when_the_loop_does() {
    let loop_text = "        for (uint32_t i = 0; i < count; i++) {\n            float v = (float)x.GetValue(i);\n            y.SetValue(i, (half)(v * v * v * 0.044715f + v));\n        }\n";
    let slow = computing(loop_text).replace("float>", "half>").replace("sizeof(float)", "sizeof(half)");
    let fast = apply("V01", &slow).1;
    assert!(fast.contains("pipe.InitBuffer(vecTmp0Buf, (TILE * sizeof(half)) * 2);"), "{fast}");
    assert!(fast.contains("AscendC::Cast(vecTmp0, x, AscendC::RoundMode::CAST_NONE, count);"), "{fast}");
    assert!(fast.contains("AscendC::Cast(y, vecTmp0, AscendC::RoundMode::CAST_RINT, count);"), "{fast}");
}

#[test]
fn v20_takes_the_larger_and_the_smaller_without_a_branch() {
    let body = |text: &str| {
        computing(&format!("        for (uint32_t i = 0; i < count; i++) {{\n            {text}\n        }}\n"))
    };
    let fast = round_trip("V20", &body("y.SetValue(i, x.GetValue(i) > 0.0f ? x.GetValue(i) : 0.0f);"));
    assert!(fast.contains("        AscendC::Maxs(y, x, 0.0f, count);\n"), "{fast}");
    let clamp = body(
        "float v = x.GetValue(i);\n            if (v > 6.0f) {\n                v = 6.0f;\n            }\n            v = v < 0.0f ? 0.0f : v;\n            y.SetValue(i, v * CUBIC);",
    );
    let (site, fast) = apply("V20", &clamp);
    let lines = "        AscendC::Mins(y, x, 6.0f, count);\n        AscendC::Maxs(y, y, 0.0f, count);\n        AscendC::Muls(y, y, CUBIC, count);\n";
    assert!(fast.contains(lines), "{fast}");
    assert!(site.conditions.iter().any(|condition| condition.contains("NaN")), "{:?}", site.conditions);
    let branches = body(
        "if (x.GetValue(i) >= ones.GetValue(i)) {\n                y.SetValue(i, ones.GetValue(i));\n            } else {\n                y.SetValue(i, x.GetValue(i));\n            }",
    );
    assert!(apply("V20", &branches).1.contains("AscendC::Min(y, x, ones, count);"));
    let absolute = body("float v = x.GetValue(i);\n            y.SetValue(i, v < 0 ? -v : v);");
    assert!(apply("V20", &absolute).1.contains("AscendC::Abs(y, x, count);"));
    refuses("V20", &body("y.SetValue(i, x.GetValue(i) > 0.0f ? 1.0f : 0.0f);"), "neither the larger nor the smaller");
    refuses(
        "V20",
        &body("y.SetValue(i, x.GetValue(i) == 0.0f ? 1.0f : x.GetValue(i));"),
        "neither the larger nor the smaller",
    );
    let places = "if (x.GetValue(i) > 1.0f) {\n                y.SetValue(i, 1.0f);\n            } else {\n                ones.SetValue(i, x.GetValue(i));\n            }";
    refuses("V20", &body(places), "one branch writes y");
}

#[test]
fn v20_rewind_names_what_a_comparison_leaves_open() {
    let text = |call: &str| computing(&format!("        AscendC::{call};\n"));
    let sites = |call: &str| motif("V20").rewind_sites(&context(&text(call))).sites;
    let found = sites("Maxs(y, x, CUBIC, count)");
    assert!(found[0].conditions.iter().any(|condition| condition.contains("NaN")), "{found:?}");
    assert!(sites("Maxs(y, x, y.GetValue(0), count)").is_empty());
    let context = context(&text("Mins(y, x, CUBIC + 1.0f, count > 8 ? 8 : count)"));
    let site = &motif("V20").rewind_sites(&context).sites[0];
    let loops = patched(&context, &motif("V20").rewind(&context, site).unwrap());
    let loops = loops.tree.text("k.h").unwrap();
    let part = "i < (count > 8 ? 8 : count); i++) {\n            y.SetValue(i, x.GetValue(i) < (CUBIC + 1.0f) ? x.GetValue(i) : (CUBIC + 1.0f));";
    assert!(loops.contains(part), "{loops}");
}

#[test]
fn v01_refuses_what_has_no_vector_form() {
    let body = |text: &str| {
        computing(&format!(
            "        float sum = 0.0f;\n        for (uint32_t i = 0; i < count; i++) {{\n            {text}\n        }}\n"
        ))
    };
    refuses("V01", &body("sum += x.GetValue(i);"), "rounds depend on each other");
    refuses("V01", &body("y.SetValue(i, x.GetValue(i + 1));"), "another index");
    refuses("V01", &body("y.SetValue(i + 1, x.GetValue(i));"), "another index");
    // Loops with branches are V20's.
    assert!(reasons("V01", &body("y.SetValue(i, x.GetValue(i) > 0 ? x.GetValue(i) : 0);")).is_empty());
    refuses("V20", &body("if (i > 3) { y.SetValue(i, x.GetValue(i)); }"), "if statement");
    refuses("V01", &body("y.SetValue(i, x.GetValue(i) * i);"), "differs from round to round");
    refuses("V01", &body("y.SetValue(i, tanh(x.GetValue(i)));"), "tanh has no vector form");
    refuses("V01", &body("y.SetValue(i, x.GetValue(i) * unknown);"), "type of unknown");
    let from_one = computing(
        "        for (uint32_t i = 1; i < count; i++) {\n            y.SetValue(i, x.GetValue(i));\n        }\n",
    );
    refuses("V01", &from_one, "counts from 0");
}

#[test]
fn v02_and_v03_fuse_and_unfuse() {
    let fast = round_trip(
        "V02",
        &computing("        AscendC::Muls(poly, x, CUBIC, count);\n        AscendC::Add(y, y, poly, count);\n"),
    );
    assert!(fast.contains("AscendC::Axpy(y, x, CUBIC, count);"));
    let fast = round_trip(
        "V03",
        &computing("        AscendC::Mul(y, y, x, count);\n        AscendC::Add(y, y, ones, count);\n"),
    );
    assert!(fast.contains("AscendC::FusedMulAdd(y, x, ones, count);"));
    let fast = round_trip(
        "V03",
        &computing("        AscendC::Mul(poly, x, ones, count);\n        AscendC::Add(y, y, poly, count);\n")
            .replace("(poly, x, ones", "(poly, x, x"),
    );
    assert!(fast.contains("AscendC::MulAddDst(y, x, x, count);"));
}

#[test]
fn v02_and_v03_refuse_temporaries_that_live_on_and_inputs_that_change() {
    let tail = "        AscendC::Add(y, y, poly, count);\n        AscendC::Exp(y, poly, count);\n";
    refuses("V02", &computing(&format!("        AscendC::Muls(poly, x, CUBIC, count);\n{tail}")), "used again");
    refuses("V03", &computing(&format!("        AscendC::Mul(poly, x, ones, count);\n{tail}")), "used again");
    let changed = computing(
        "        AscendC::Muls(poly, x, CUBIC, count);\n        AscendC::Exp(x, x, count);\n        AscendC::Add(y, y, poly, count);\n",
    );
    refuses("V02", &changed, "may change x");
    let counts = computing("        AscendC::Muls(poly, x, CUBIC, 64);\n        AscendC::Add(y, y, poly, count);\n");
    refuses("V02", &counts, "counts differ");
    let integers = computing("        AscendC::Mul(y, y, x, count);\n        AscendC::Add(y, y, ones, count);\n")
        .replace("float>", "int32_t>");
    refuses("V03", &integers, "no form for int32_t");
}

#[test]
fn v06_takes_the_scalar_and_frees_the_tensor() {
    let slow = computing(
        "        AscendC::Duplicate(ones, 1.0f, count);\n        AscendC::Add(poly, x, ones, count);\n        AscendC::Div(y, x, poly, count);\n",
    );
    let fast = round_trip("V06", &slow);
    assert!(fast.contains("AscendC::Adds(poly, x, 1.0f, count);") && !fast.contains("Duplicate"));
    let barrier = slow.replace(
        "count);\n        AscendC::Add",
        "count);\n        AscendC::PipeBarrier<PIPE_ALL>();\n        AscendC::Add",
    );
    assert!(apply("V06", &barrier).1.contains("Adds(poly"));
    refuses("V06", &slow.replace("Add(poly, x, ones", "Div(poly, x, ones"), "rounds differently");
    refuses("V06", &slow.replace("AscendC::Div(y, x, poly", "AscendC::Div(y, ones, poly"), "used again");
}

#[test]
fn v26_hoists_a_constant_fill() {
    let slow = computing(
        "        for (uint32_t row = 0; row < 4; row++) {\n            AscendC::Duplicate(ones, 1.0f, count);\n            AscendC::Add(y, x, ones, count);\n        }\n",
    );
    let fast = round_trip("V26", &slow);
    assert!(fast.contains("        AscendC::Duplicate(ones, 1.0f, count);\n        for (uint32_t row"), "{fast}");
    refuses("V26", &slow.replace("ones, 1.0f", "ones, 1.0f * row"), "declared in the loop");
    refuses("V26", &slow.replace("AscendC::Add(y, x, ones", "AscendC::Add(ones, x, ones"), "written elsewhere");
}

#[test]
fn v04_rectifies_in_the_same_instruction() {
    let slow = computing("        AscendC::Add(y, x, ones, count);\n        AscendC::Relu(y, y, count);\n");
    let fast = round_trip("V04", &slow);
    assert!(fast.contains("        AscendC::AddRelu(y, x, ones, count);\n") && !fast.contains("::Relu"));
    let other = slow.replace("Add(y, x, ones", "Sub(poly, x, ones").replace("Relu(y, y", "Relu(y, poly");
    assert!(apply("V04", &other).1.contains("AscendC::SubRelu(y, x, ones, count);"));
    let read =
        other.replace("        outQueue.EnQue", "        AscendC::Exp(ones, poly, count);\n        outQueue.EnQue");
    refuses("V04", &read, "used again");
    refuses("V04", &slow.replace("float>", "int32_t>"), "no form for int32_t");
    refuses("V04", &slow.replace("Relu(y, y, count", "Relu(y, y, 64"), "counts differ");
}

#[test]
fn v28_multiplies_by_the_reciprocal_when_rounding_is_allowed() {
    let slow = computing("        AscendC::Duplicate(ones, CUBIC, count);\n        AscendC::Div(y, x, ones, count);\n");
    let fast = round_trip("V28", &slow);
    assert!(fast.contains("AscendC::Muls(y, x, 1.0f / CUBIC, count);") && !fast.contains("Duplicate"));
    assert!(apply("V28", &slow).0.rounding);
    let sum = apply("V28", &slow.replace("ones, CUBIC", "ones, CUBIC + 1.0f")).1;
    assert!(sum.contains("1.0f / (CUBIC + 1.0f), count"), "{sum}");
    refuses("V28", &slow.replace("float>", "half>"), "short float");
    refuses("V28", &slow.replace("ones, CUBIC", "ones, 3"), "integer constant");
    assert!(reasons("V28", &slow.replace("Div(y, x, ones", "Div(y, ones, x")).is_empty());
}

/// A loop over rows around statements.

#[test]
fn v33_combines_scalars_when_rounding_is_allowed() {
    let slow = computing("        AscendC::Muls(y, x, CUBIC, count);\n        AscendC::Muls(y, y, SCALE, count);\n");
    let fast = round_trip("V33", &slow);
    assert!(fast.contains("        AscendC::Muls(y, x, CUBIC * SCALE, count);\n"), "{fast}");
    assert!(apply("V33", &slow).0.rounding);
    let sum = apply("V33", &slow.replace("Muls", "Adds").replace("SCALE", "-1.0f - SCALE")).1;
    assert!(sum.contains("AscendC::Adds(y, x, CUBIC + (-1.0f - SCALE), count);"), "{sum}");
    refuses("V33", &slow.replace("float>", "half>"), "round each step");
    let read = slow.replace("Muls(y, x", "Muls(poly, x").replace("Muls(y, y", "Muls(y, poly");
    assert_eq!(motif("V33").find(&context(&read)).sites.len(), 1);
    let kept =
        read.replace("        outQueue.EnQue", "        AscendC::Exp(ones, poly, count);\n        outQueue.EnQue");
    refuses("V33", &kept, "used again");
    assert!(reasons("V33", &slow.replace("Muls(y, x", "Adds(y, x")).is_empty());
}
