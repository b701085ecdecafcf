//! Loops over rows and what does not change in them.

use super::*;

fn rows(statements: &str) -> String {
    format!("        for (uint32_t row = 0; row < 16; row++) {{\n{statements}        }}\n")
}

#[test]
fn v09_joins_rows_that_lie_behind_each_other() {
    let slow = computing(&rows("            AscendC::Add(y[row * 64], x[row * 64], ones[row * 64], 64);\n"));
    let fast = round_trip("V09", &slow);
    assert!(fast.contains("        AscendC::Add(y, x, ones, 16 * 64);\n"), "{fast}");
    assert!(apply("V09", &slow).0.conditions.is_empty());
    let two = computing(&rows(
        "            AscendC::Muls(poly[row * width], x[row * width], CUBIC, width);\n            AscendC::Exp(y[row * width], poly[width * row], width);\n",
    ));
    let (site, fast) = apply("V09", &two.replace("row < 16", "row < height + 1"));
    assert_eq!(site.conditions, ["height + 1 is at least 1"]);
    assert!(
        fast.contains(
            "Muls(poly, x, CUBIC, (height + 1) * width);\n        AscendC::Exp(y, poly, (height + 1) * width);\n"
        ),
        "{fast}"
    );
    let inner = slow.replace("x[row * 64]", "x[32 + row * 64]");
    assert!(apply("V09", &inner).1.contains("Add(y, x[32], ones, 16 * 64)"));
    let named = slow
        .replace("            AscendC::Add", "            const uint32_t at = row * 64;\n            AscendC::Add")
        .replace("x[row * 64]", "x[this->first + at]");
    assert!(apply("V09", &named).1.contains("        AscendC::Add(y, x[this->first], ones, 16 * 64);\n"));
    refuses("V09", &slow.replace("ones[row * 64]", "ones"), "the same in every row");
    refuses("V09", &slow.replace("x[row * 64]", "y[64 + row * 64]"), "different places");
    // What is not understood is not even looked at.
    for (from, to) in
        [("x[row * 64]", "x[row * row]"), ("row++", "row += 2"), ("64);\n", "64);\n            Helper(y);\n")]
    {
        assert!(reasons("V09", &slow.replace(from, to)).is_empty(), "{to}");
    }
}

#[test]
fn v09_takes_loops_over_rows_apart() {
    let gaps = computing(&rows("            AscendC::Muls(y[row * 64], x[8 + row * 64], CUBIC, 48);\n"));
    let fast = round_trip("V09", &gaps);
    assert!(fast.contains("        AscendC::Muls(y, x[8], CUBIC, 48, 16, {1, 1, 8, 8});\n"), "{fast}");
    let named = gaps.replace("row * 64", "row * width").replace("CUBIC, 48", "CUBIC, count");
    let (site, fast) = apply("V09", &named);
    assert!(fast.contains("CUBIC, count, 16, {1, 1, static_cast<uint8_t>(width * sizeof(float) / 32), "), "{fast}");
    for condition in ["count is at most 64", "count is at most width", "width elements are a multiple of 32 bytes"] {
        assert!(site.conditions.contains(&condition.to_owned()), "{:?}", site.conditions);
    }
    // Halves of a row, a shared operand, and a temporary that gets a place for each row.
    let halves = "            AscendC::Mul(poly, x[row * 128 + 64], ones, 64);\n            AscendC::PipeBarrier<PIPE_V>();\n            AscendC::Sub(y[row * 128], x[row * 128], poly, 64);\n";
    let halves = computing(&rows(halves))
        .replace("constexpr float CUBIC", "constexpr uint32_t TILE = 64;\nconstexpr float CUBIC");
    let fast = apply("V09", &halves).1;
    for part in [
        "pipe.InitBuffer(polyBuf, 16 * TILE * sizeof(float));\n",
        "        AscendC::Mul(poly, x[64], ones, 64, 16, {1, 1, 1, 8, 16, 0});\n        AscendC::PipeBarrier<PIPE_V>();\n        AscendC::Sub(y, x, poly, 64, 16, {1, 1, 1, 16, 16, 8});\n",
    ] {
        assert!(fast.contains(part), "{part}\n{fast}");
    }
    let wide = halves.replace(", 64);", ", 192);").replace("128 + 64", "384 + 192").replace("row * 128", "row * 384");
    assert!(apply("V09", &wide).1.contains("column += 64) {\n            AscendC::Mul(poly[column], x[192 + column], ones[column], 64, 16, {1, 1, 1, 8, 48, 0});\n"));
    refuses("V09", &halves.replace("Mul(poly, x", "Axpy(poly, x").replace("ones, 64", "CUBIC, 64"), "carry something");
    refuses("V09", &halves.replace("Mul(poly, x[row * 128 + 64]", "Mul(poly, poly"), "carry something");
    refuses("V09", &halves.replace("row < 16", "row < height"), "how large height may be");
    refuses("V09", &gaps.replace("CUBIC, 48", "CUBIC, 72"), "rows overlap");
}

#[test]
fn v07_repeats_rows_with_a_shared_operand() {
    let slow = computing(&rows("            AscendC::Mul(y[row * 64], x[row * 64], ones, 64);\n"));
    let fast = round_trip("V07", &slow);
    assert!(fast.contains("        AscendC::Mul(y, x, ones, 64, 16, {1, 1, 1, 8, 8, 0});\n"), "{fast}");
    let wide = apply("V07", &slow.replace("row * 64", "row * 256").replace("ones, 64)", "ones, 256)")).1;
    assert!(wide.contains("        for (uint32_t column = 0; column < 256; column += 64) {\n            AscendC::Mul(y[column], x[column], ones[column], 64, 16, {1, 1, 1, 32, 32, 0});\n        }\n"), "{wide}");
    let (site, named) = apply("V07", &slow.replace("row < 16", "row < height"));
    assert_eq!(site.conditions, ["height is 1 to 255"]);
    assert!(named.contains("static_cast<uint8_t>(height)"));
    refuses("V07", &slow.replace("row < 16", "row < 256"), "more than 255");
    refuses("V07", &slow.replace("row * 64", "row * width").replace("ones, 64)", "ones, width)"), "is not known");
    refuses("V07", &slow.replace("row * 64", "row * 72").replace("ones, 64)", "ones, 72)"), "whole repeats");
    refuses("V07", &slow.replace("y[row * 64]", "ones[row * 64]"), "different places");
}

#[test]
fn d04_copies_rows_with_one_instruction() {
    let copy = |text: &str| {
        let one = "        AscendC::DataCopyPad(xLocal, xGm[start], AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0}, AscendC::DataCopyPadExtParams<float>{false, 0, 0, 0});\n";
        computing(EXP).replace(one, &rows(&format!("            {text}\n")))
    };
    let slow = copy("AscendC::DataCopy(xLocal[row * 64], xGm[start + row * STRIDE], 64);");
    let fast = round_trip("D04", &slow);
    let strided = "AscendC::DataCopyPad(xLocal, xGm[start], AscendC::DataCopyExtParams{static_cast<uint16_t>(16), static_cast<uint32_t>(64 * sizeof(float)), static_cast<uint32_t>((STRIDE - 64) * sizeof(float)), 0, 0}, AscendC::DataCopyPadExtParams<float>{false, 0, 0, 0});";
    assert!(fast.contains(strided), "{fast}");
    assert_eq!(apply("D04", &slow).0.conditions, ["STRIDE is at least 64"]);
    let dense = copy("AscendC::DataCopy(xLocal[row * 64], xGm[start + row * 64], 64);");
    assert!(round_trip("D04", &dense).contains("        AscendC::DataCopy(xLocal, xGm[start], 16 * 64);\n"));
    let offset = copy("AscendC::DataCopy(xLocal[row * 64], xGm[(first + row) * 64], 64);");
    assert!(apply("D04", &offset).1.contains("DataCopy(xLocal, xGm[first * 64], 16 * 64);"));
    refuses("D04", &copy("AscendC::DataCopy(xLocal[row * 32], xGm[start + row * 64], 64);"), "rows of xLocal overlap");
    refuses("D04", &copy("AscendC::DataCopy(xLocal[row * 64], xGm[start], 64);"), "start is not start + row * pitch");
    refuses("D04", &slow.replace("row < 16", "row < 5000"), "5000 rows");
    refuses("D04", &copy("AscendC::DataCopy(xLocal[row * 64], xGm[start + row * 32], 64);"), "overlap");
    refuses("D04", &copy("AscendC::DataCopy(xLocal[row * 64], xGm[Offset(row)], 64);"), "pitch");
}

#[test]
fn v12_reduces_in_two_steps() {
    let slow = computing("        AscendC::ReduceMax(y, x, poly, 2048);\n");
    let fast = round_trip("V12", &slow);
    assert!(fast.contains("        AscendC::WholeReduceMax(poly, x, 64, 2048 / 64, 1, 1, 8, AscendC::ReduceOrder::ORDER_ONLY_VALUE);\n        AscendC::WholeReduceMax(y, poly, 2048 / 64, 1, 1, 1, 8, AscendC::ReduceOrder::ORDER_ONLY_VALUE);\n"), "{fast}");
    let site = apply("V12", &slow).0;
    assert!(site.conditions.is_empty() && !site.rounding);
    let sum = slow.replace("ReduceMax", "ReduceSum").replace("2048", "static_cast<int32_t>(count)");
    let (site, fast) = apply("V12", &sum);
    assert!(site.rounding && site.conditions[0].contains("a multiple of 64 and at most 4096"), "{:?}", site.conditions);
    assert!(fast.contains("WholeReduceSum(poly, x, 64, static_cast<int32_t>(count) / 64, 1, 1, 8);"), "{fast}");
    assert!(rewound("V12", &fast, &sum));
    let onto_itself = slow.replace("(y, x, poly", "(x, x, poly");
    assert!(apply("V12", &onto_itself).1.contains("WholeReduceMax(x, poly, 2048 / 64"));
    refuses("V12", &slow.replace("(y, x, poly", "(y, poly, poly"), "work tensor");
    refuses("V12", &slow.replace("2048", "100"), "not whole repeats of 64");
    refuses("V12", &slow.replace("2048", "8192"), "more than 4096");
    refuses("V12", &slow.replace("(y, x, poly", "(y, Other(), poly"), "not a tensor");
    assert!(
        round_trip("V12", &slow.replace("(y, x, poly", "(y, x[64], poly")).contains("WholeReduceMax(poly, x[64], 64")
    );
    refuses("V12", &slow.replace("float>", "int32_t>"), "not half or float");
    assert!(reasons("V12", &slow.replace("2048", "2048, true")).is_empty());
    let typed = slow.replace("ReduceMax(y, x, poly, 2048", "ReduceMin<float>(y, x, poly, 2048, false");
    let fast = round_trip("V12", &typed);
    assert!(
        fast.contains("        AscendC::WholeReduceMin<float>(y, poly, 2048 / 64, 1, 1, 1, 8, AscendC::"),
        "{fast}"
    );
    assert!(reasons("V12", &typed.replace("Min<float>", "Min<float, true>")).is_empty());
}

#[test]
fn v38_reduces_blocks_first() {
    let slow = computing("        AscendC::ReduceSum(y, x, poly, 2048);\n");
    let fast = round_trip("V38", &slow);
    let text = "        AscendC::BlockReduceSum(poly, x, 2048 / 64, 64, 1, 1, 8);\n        AscendC::ReduceSum(y, poly, poly[2048 / 8], 2048 / 8);\n";
    assert!(fast.contains(text), "{fast}");
    let site = apply("V38", &slow).0;
    assert!(site.rounding && site.conditions.len() == 1 && site.conditions[0].contains("poly holds"), "{site:?}");
    assert!(!apply("V38", &slow.replace("ReduceSum", "ReduceMax")).0.rounding);
    // What is left is a reduction like any other.
    let (_, steps) = apply("V12", &fast);
    assert!(steps.contains("WholeReduceSum(poly[2048 / 8], poly, 64, (2048 / 8) / 64, 1, 1, 8);"), "{steps}");
    // Any other number is a count in the mask.
    let unknown = slow.replace("2048", "static_cast<int32_t>(count - 1)");
    let fast = round_trip("V38", &unknown);
    for line in [
        "SetVectorMask<float, AscendC::MaskMode::COUNTER>(0, static_cast<int32_t>(count - 1));",
        "BlockReduceSum<float, false>(poly, x, 1, AscendC::MASK_PLACEHOLDER, 1, 1, 8);",
        "ReduceSum(y, poly, poly[(static_cast<int32_t>(count - 1) + 63) / 64 * 8], (static_cast<int32_t>(count - 1) + 7) / 8);",
    ] {
        assert!(fast.contains(line), "{fast}");
    }
    assert!(round_trip("V38", &slow.replace("2048", "1000")).contains("(0, 1000)"));
    let typed = slow.replace("ReduceSum(y, x, poly, 2048", "ReduceMax<float>(y, x, y, count, false");
    let fast = round_trip("V38", &typed);
    assert!(fast.contains("ReduceMax<float>(y, y, y[(count + 63) / 64 * 8], (count + 7) / 8, false);"), "{fast}");
    assert!(reasons("V38", &typed.replace(", false)", ", true)")).is_empty());
    let sum = slow.replace("2048", "static_cast<int32_t>(count) + 64");
    assert!(round_trip("V38", &sum).contains("((static_cast<int32_t>(count) + 64) + 7) / 8"));
    assert!(round_trip("V12", &sum).contains(" (static_cast<int32_t>(count) + 64) / 64, 1, 1, 8"));
    refuses("V38", &slow.replace("2048", "128"), "fewer than 256");
    refuses("V38", &slow.replace("(y, x, poly", "(poly[8], x, poly"), "no tensor of its own");
    refuses("V38", &slow.replace("(y, x, poly", "(y, x[8], x"), "no tensor of its own");
    refuses("V38", &slow.replace("float>", "half>"), "half");
}

#[test]
fn v38_reduces_in_place_what_nobody_reads_again() {
    let slow = computing(
        "        for (uint32_t row = 0; row < 16; row++) {
            AscendC::Mul(poly, x, x, count);
            AscendC::ReduceSum(poly, poly, poly, count);
            const float sum = poly.GetValue(0);
            AscendC::Muls(y, x, sum, count);
        }
",
    );
    let fast = round_trip("V38", &slow);
    for line in [
        "            AscendC::BlockReduceSum<float, false>(poly, poly, 1, AscendC::MASK_PLACEHOLDER, 1, 1, 8);\n",
        "            AscendC::ReduceSum(poly, poly, poly[(count + 63) / 64 * 8], (count + 7) / 8);\n",
    ] {
        assert!(fast.contains(line), "{fast}");
    }
    round_trip("V38", &slow.replace("Mul(poly, x, x, count)", "Mul(poly, x[8], ones, count)"));
    // Its first element is the result, also as an operand of one element.
    round_trip("V38", &slow.replace("const float sum", "AscendC::Sqrt(poly, poly, 1);\n            const float sum"));
    round_trip("V38", &slow.replace("(poly, poly, poly, count", "(y, poly, poly, count").replace("poly.Get", "y.Get"));
    for (from, to) in [
        // Another element, the old numbers, some of them after a shorter overwrite, or the next round's.
        ("poly.GetValue(0)", "poly.GetValue(1)"),
        ("Muls(y, x, sum", "Muls(y, poly, sum"),
        ("AscendC::Muls(y, x, sum", "AscendC::Exp(poly, x, 8);\n            AscendC::Muls(y, poly, sum"),
        ("AscendC::Mul(poly, x, x", "AscendC::Mul(poly, poly, x"),
        (
            "AscendC::Mul(poly, x, x, count)",
            "if (row == 0) {\n                AscendC::Mul(poly, x, x, count);\n            }",
        ),
        ("AscendC::Mul(poly, x, x, count", "AscendC::Mul<float, false>(poly, x, x, count"),
        ("(poly, poly, poly, count", "(y, poly, poly, count"),
    ] {
        refuses("V38", &slow.replace(from, to), "more of poly than its first element may be read");
    }
    refuses("V38", &slow.replace("Muls(y, x, sum", "Help(poly);\n            Muls(y, x, sum"), "not analysed");
    refuses("V38", &slow.replace("(poly, poly, poly,", "(poly[8], poly[8], poly[8],"), "no tensor of its own");
    let twice =
        kernel("", "", "        AscendC::ReduceSum(x, x, x, count);\n        AscendC::Adds(y, x, x.GetValue(0), 1);\n");
    assert!(round_trip("V38", &twice).contains("BlockReduceSum<float, false>(x, x, 1"));
}

#[test]
fn v13_reduces_short_rows_together() {
    let slow = computing(&rows("            AscendC::ReduceSum(y[row * 8], x[row * 64], poly, 64);\n"));
    let fast = round_trip("V13", &slow);
    assert!(fast.contains("        AscendC::WholeReduceSum(y, x, 64, 16, 8, 1, 8);\n"), "{fast}");
    let max = apply("V13", &slow.replace("ReduceSum", "ReduceMax")).1;
    assert!(max.contains("WholeReduceMax(y, x, 64, 16, 8, 1, 8, AscendC::ReduceOrder::ORDER_ONLY_VALUE);"), "{max}");
    refuses("V13", &slow.replace("row * 64", "row * 128").replace("poly, 64", "poly, 128"), "within one repeat");
    refuses("V13", &slow.replace("row < 16", "row < 300"), "300 rows");
    refuses("V13", &slow.replace("y[row * 8]", "poly[row * 8]"), "share memory");
    let read = slow.replace("        outQueue.EnQue", "        AscendC::Exp(y, poly, count);\n        outQueue.EnQue");
    refuses("V13", &read, "something else");
}

#[test]
fn s03_reads_an_element_once() {
    let slow = computing(&rows(
        "            const float scale = xGm.GetValue(0);\n            AscendC::Muls(y[row * 64], x[row * 128], scale, 64);\n",
    ));
    let fast = round_trip("S03", &slow);
    assert!(fast.contains("        const float scale = xGm.GetValue(0);\n        for (uint32_t row"), "{fast}");
    assert_eq!(apply("S03", &slow).0.conditions, ["no other tensor writes the memory of xGm"]);
    let local = slow.replace("xGm.GetValue(0)", "poly.GetValue(first)").replace("row < 16", "row < height");
    assert_eq!(apply("S03", &local).0.conditions, ["the loop runs at least once"]);
    refuses("S03", &local.replace("y[row * 64]", "poly[row * 64]"), "poly may be changed");
    refuses("S03", &slow.replace("GetValue(0)", "GetValue(row)"), "row is declared in the loop");
    refuses("S03", &slow.replace("xGm.GetValue", "yGm.GetValue"), "not only read");
    refuses(
        "S03",
        &slow
            .replace("const float scale", "float scale")
            .replace("AscendC::Muls", "scale += 1.0f;\n            AscendC::Muls"),
        "assigned again",
    );
    refuses("S03", &slow.replace("GetValue(0)", "GetValue(Next())"), "may change");
    refuses(
        "S03",
        &local.replace("AscendC::Muls", "CopyIn(0, 64);\n            AscendC::Muls"),
        "CopyIn may change poly.GetValue(first)",
    );
}

#[test]
fn rewinds_keep_a_number_of_rows_that_is_a_choice() {
    let slow = computing(
        "        AscendC::WholeReduceMax(y, x, 64, count > 8 ? 8 : count, 1, 1, 8, AscendC::ReduceOrder::ORDER_ONLY_VALUE);\n",
    );
    let context = context(&slow);
    let sites = motif("V13").rewind_sites(&context).sites;
    assert!(!sites.is_empty());
    let loops = patched(&context, &motif("V13").rewind(&context, &sites[0]).unwrap());
    let loops = loops.tree.text("k.h").unwrap();
    assert!(loops.contains("row < (count > 8 ? 8 : count); row++"), "{loops}");
}
