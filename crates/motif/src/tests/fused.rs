//! Several instructions or a scalar loop in one instruction.

use super::*;

/// The kernel with another element type on one line of `Compute`.
fn typed(text: &str, name: &str, element: &str) -> String {
    text.replace(&format!("LocalTensor<float> {name} ="), &format!("LocalTensor<{element}> {name} ="))
}

#[test]
fn v05_casts_in_the_instruction_before() {
    let slow = computing(
        "        AscendC::AddRelu(poly, x, ones, count);\n        AscendC::Cast(y, poly, AscendC::RoundMode::CAST_RINT, count);\n",
    );
    let slow = typed(&slow, "y", "half");
    let fast = round_trip("V05", &slow);
    assert!(fast.contains("        AscendC::AddReluCast(y, x, ones, count);\n") && !fast.contains("::Cast("), "{fast}");
    assert!(apply("V05", &slow.replace("CAST_RINT", "CAST_NONE")).1.contains("AddReluCast"));
    refuses("V05", &slow.replace("CAST_RINT", "CAST_FLOOR"), "does not round like CAST_FLOOR");
    refuses("V05", &slow.replace("AddRelu(", "Mul("), "no form from float to half");
    refuses("V05", &typed(&slow.replace("half> y", "float> y"), "y", "bfloat16_t"), "no form from float to bfloat16_t");
    let read = slow.replace("        outQueue.EnQue", "        AscendC::Exp(x, poly, count);\n        outQueue.EnQue");
    refuses("V05", &read, "used again");
}

#[test]
fn v14_stays_in_float() {
    let casts = |back: &str, between: &str| {
        let text = format!(
            "        AscendC::Exp(x, x, count);\n        AscendC::Cast(poly, x, AscendC::RoundMode::CAST_RINT, count);\n        \
             AscendC::Cast({back}, poly, AscendC::RoundMode::CAST_NONE, count);\n        AscendC::Add(y, x, ones, count);\n"
        );
        typed(&computing(&text), "poly", between)
    };
    let slow = casts("x", "half");
    let fast = round_trip("V14", &slow);
    assert!(fast.contains("Exp(x, x, count);\n        AscendC::Add(y") && apply("V14", &slow).0.rounding, "{fast}");
    let other = casts("ones", "half");
    assert!(round_trip("V14", &other).contains("        AscendC::Muls(ones, x, 1.0f, count);\n"));
    // Integers are there for their rounding.
    let floor = casts("ones", "int32_t").replace("CAST_RINT", "CAST_FLOOR");
    let fast = round_trip("V14", &floor);
    assert!(fast.contains("        AscendC::Cast(ones, x, AscendC::RoundMode::CAST_FLOOR, count);\n"), "{fast}");
    let site = apply("V14", &floor).0;
    assert!(!site.rounding && site.conditions[0].contains("fit int32_t"));

    let read = floor.replace(
        "Add(y, x, ones",
        "Cast(y, poly, AscendC::RoundMode::CAST_NONE, count);\n        AscendC::Add(y, y, ones",
    );
    refuses("V14", &read, "used again");
    refuses("V14", &floor.replace("RoundMode::CAST_FLOOR", "mode"), "does not say how to round");
    let changed = other.replace("AscendC::Cast(ones", "AscendC::Exp(x, x, count);\n        AscendC::Cast(ones");
    refuses("V14", &changed, "may change x");
    assert!(reasons("V14", &casts("ones", "int16_t")).is_empty());
}

#[test]
fn v21_negates_inside_another_instruction() {
    let slow =
        computing("        AscendC::Muls(poly, x, -1.0f, count);\n        AscendC::Add(y, ones, poly, count);\n");
    let fast = round_trip("V21", &slow);
    assert!(fast.contains("        AscendC::Sub(y, ones, x, count);\n") && !fast.contains("Muls"), "{fast}");
    let sum = slow.replace("::Add(", "::Sub(");
    assert!(round_trip("V21", &sum).contains("AscendC::Add(y, ones, x, count);"));
    let absolute = slow.replace("Add(y, ones, poly", "Max(y, x, poly");
    assert!(round_trip("V21", &absolute).contains("AscendC::Abs(y, x, count);"));
    assert!(apply("V21", &absolute).0.conditions[0].contains("zeros"));
    refuses("V21", &slow.replace("float>", "int16_t>"), "not known to be the same for int16_t");
    refuses(
        "V21",
        &slow.replace("        AscendC::Add(", "        AscendC::Exp(x, x, count);\n        AscendC::Add("),
        "may change x",
    );
    assert!(reasons("V21", &slow.replace("-1.0f", "-2.0f")).is_empty());
    assert!(reasons("V21", &sum.replace("(y, ones, poly", "(y, poly, ones")).is_empty());
}

#[test]
fn v34_makes_numbers_in_equal_steps() {
    let slow = computing(
        "        for (uint32_t i = 0; i < count; i++) {\n            y.SetValue(i, static_cast<int32_t>(i));\n        }\n",
    )
    .replace("float>", "int32_t>");
    let fast = round_trip("V34", &slow);
    assert!(fast.contains("        AscendC::CreateVecIndex(y, static_cast<int32_t>(0), count);\n"), "{fast}");
    let offsets = typed(&slow, "y", "uint32_t").replace("LocalTensor<int32_t> y", "LocalTensor<uint32_t> y");
    let offsets =
        offsets.replace("SetValue(i, static_cast<int32_t>(i))", "SetValue(i, static_cast<uint32_t>(first + i * 4))");
    let offsets = offsets.replace("        for (", "        const uint32_t first = count / 2;\n        for (");
    let fast = round_trip("V34", &offsets);
    assert!(
        fast.contains("AscendC::ArithProgression(y.ReinterpretCast<int32_t>(), static_cast<int32_t>(first), static_cast<int32_t>(4), static_cast<int32_t>(count));"),
        "{fast}"
    );
    let part = slow.replace("SetValue(i, ", "SetValue(64 + i, ");
    let (site, fast) = apply("V34", &part);
    assert!(fast.contains("CreateVecIndex(y[64], "), "{fast}");
    assert!(site.conditions.iter().any(|condition| condition.contains("32 bytes")));
    refuses("V34", &slow.replace("SetValue(i, ", "SetValue(i * 8, "), "are 8 apart");
    refuses(
        "V34",
        &slow.replace("LocalTensor<int32_t> y", "LocalTensor<int64_t> y").replace("static_cast<int32_t>(i)", "i"),
        "int64_t",
    );
    assert!(reasons("V34", &slow.replace("<int32_t>(i)", "<int32_t>(i * i)")).is_empty());
}

#[test]
fn v34_makes_numbers_of_a_member() {
    let slow = computing(
        "        for (uint32_t i = 0; i < count; i++) {\n            numbers.SetValue(i, static_cast<float>(i));\n        }\n",
    )
    .replace(" polyBuf", " polyBuf;\n    AscendC::LocalTensor<float> numbers");
    let fast = round_trip("V34", &slow);
    assert!(fast.contains("        AscendC::CreateVecIndex(numbers, static_cast<float>(0), count);\n"), "{fast}");
    let cast = slow.replace("static_cast<float>(i)", "(float)i");
    assert!(apply("V34", &cast).1.contains("CreateVecIndex(numbers, "));
    // Nothing waits for the vector unit there.
    let copied = slow.replace("        for (", "        AscendC::DataCopy(yGm[0], numbers, 8);\n        for (");
    refuses("V34", &copied, "DataCopy touches numbers");
    let queued = slow.replace("        for (", "        outQueue.EnQue(numbers);\n        for (");
    refuses("V34", &queued, "goes through a queue");
    refuses("V34", &slow.replace("LocalTensor<float> numbers", "LocalTensor<T> numbers"), "numbers of type T");
}

#[test]
fn v34_rewind_leaves_numbers_alone_that_a_cast_around_the_sum_changes() {
    let found = |call: &str, element: &str| {
        let text = computing(&format!("        AscendC::{call};\n")).replace("float>", &format!("{element}>"));
        motif("V34").rewind_sites(&context(&text))
    };
    let taken = |call: &str, element: &str| found(call, element).sites.len();
    assert_eq!(taken("CreateVecIndex(y, static_cast<int32_t>(count), count)", "int32_t"), 1);
    assert_eq!(taken("CreateVecIndex(y, static_cast<int32_t>(-3), count)", "int32_t"), 1);
    // The cast cuts the fraction off the start, not off each sum; a negative number and an unsigned counter make a large one.
    let cut = found("CreateVecIndex(y, static_cast<int32_t>(-2.5f), count)", "int32_t");
    assert!(cut.refused.iter().any(|refused| refused.reason.contains("2.5f in -2.5f is not known")), "{cut:?}");
    assert_eq!(taken("CreateVecIndex(y, static_cast<float>(-3), count)", "float"), 0);
    assert_eq!(taken("CreateVecIndex(y, static_cast<float>(3), count)", "float"), 1);
    assert_eq!(taken("CreateVecIndex(y, static_cast<int32_t>(unknown), count)", "int32_t"), 0);
}

#[test]
fn v22_gathers_what_scalars_fetched() {
    let slow = computing(
        "        for (uint32_t i = 0; i < count; i++) {\n            y.SetValue(i, x.GetValue(poly.GetValue(i)));\n        }\n",
    );
    let slow = typed(&slow, "poly", "int32_t").replace("polyBuf.Get<float>", "polyBuf.Get<int32_t>");
    let fast = round_trip("V22", &slow);
    for part in [
        "        pipe.InitBuffer(gatherBuf, TILE * sizeof(float));\n",
        "        AscendC::Muls(gatherOffsets, poly, static_cast<int32_t>(sizeof(float)), count);\n        AscendC::Gather(y, x, gatherOffsets.ReinterpretCast<uint32_t>(), 0, count);\n",
    ] {
        assert!(fast.contains(part), "{part}\n{fast}");
    }
    let named = slow.replace(
        "y.SetValue(i, x.GetValue(poly.GetValue(i)));",
        "int32_t place = poly.GetValue(i);\n            y.SetValue(i, x.GetValue(place));",
    );
    assert_eq!(apply("V22", &named).1, fast);
    refuses("V22", &typed(&slow, "x", "int64_t"), "elements of 16 or 32 bits of one type");
    refuses(
        "V22",
        &slow.replace("GetValue(poly", "GetValue(x").replace("x.GetValue(x.", "poly.GetValue(x."),
        "from int32_t to float",
    );
    refuses("V22", &slow.replace("y.SetValue(i, x.", "x.SetValue(i, x."), "may share memory");
}
