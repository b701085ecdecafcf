//! Numbers of rows that stay in the vector unit.

use super::*;

fn rows(compute: &str) -> String {
    let text = kernel("    uint32_t rows_;\n", "", compute);
    text.replace("        pipe.InitBuffer(inQueue", "        rows_ = length / 64;\n        pipe.InitBuffer(inQueue")
}

fn numbered(compute: &str) -> String {
    rows(compute).replace(
        "        pipe.InitBuffer(onesBuf, TILE * sizeof(float));\n",
        "        pipe.InitBuffer(onesBuf, TILE * sizeof(float));\n        pipe.InitBuffer(numberBuf, TILE * sizeof(float));\n",
    )
    .replace("    uint32_t rows_;\n", "    uint32_t rows_;\n    AscendC::TBuf<AscendC::TPosition::VECCALC> numberBuf;\n")
    .replace(
        "        AscendC::LocalTensor<float> ones =",
        "        AscendC::LocalTensor<float> numbers = numberBuf.Get<float>();\n        AscendC::LocalTensor<float> ones =",
    )
}

#[test]
fn y11_combines_rows_with_blocks_of_their_numbers() {
    for (width, wanted) in [
        ("64", "        AscendC::Mul(y, x, rowBlocks, 64, static_cast<uint8_t>(rows_), {1, 1, 0, 8, 8, 1});\n"),
        (
            "128",
            "        for (uint32_t column = 0; column < 128; column += 64) {\n            AscendC::Mul(y[column], x[column], rowBlocks, 64, static_cast<uint8_t>(rows_), {1, 1, 0, 16, 16, 1});\n        }\n",
        ),
    ] {
        let slow = rows(&format!(
            "        for (uint32_t row = 0; row < rows_; row++) {{\n            float number = poly.GetValue(row);\n            AscendC::Muls(y[row * {width}], x[row * {width}], number, {width});\n        }}\n"
        ));
        let fast = round_trip("Y11", &slow);
        for part in [
            "        AscendC::LocalTensor<float> rowBlocks = rowBlocksBuf.Get<float>();\n        AscendC::Brcb(rowBlocks, poly, static_cast<uint8_t>((rows_ + 7) / 8), {1, 8});\n",
            "        pipe.InitBuffer(rowBlocksBuf, (rows_ + 7) / 8 * 8 * 32);\n",
            "    AscendC::TBuf<AscendC::TPosition::VECCALC> rowBlocksBuf;\n",
            wanted,
        ] {
            assert!(fast.contains(part), "{part}\n{fast}");
        }
    }
}

#[test]
fn y11_asks_for_the_length_of_a_row_where_it_is_not_known() {
    let slow = rows(
        "        for (uint32_t row = 0; row < rows_; row++) {\n            const float number = poly.GetValue(row);\n            AscendC::Adds(y[row * width], x[row * width], -number, width);\n        }\n",
    );
    let (site, fast) = apply("Y11", &slow);
    let wanted = "        for (uint32_t column = 0; column < width; column += 64) {\n            AscendC::Sub(y[column], x[column], rowBlocks, width - column < 64 ? width - column : 64, static_cast<uint8_t>(rows_), {1, 1, 0, static_cast<uint8_t>(width * sizeof(float) / 32), static_cast<uint8_t>(width * sizeof(float) / 32), 1});\n        }\n";
    assert!(fast.contains(wanted), "{fast}");
    for condition in ["width elements are a multiple of 32 bytes", "width is at most 2040", "rows_ is 1 to 255"] {
        assert!(site.conditions.iter().any(|own| own == condition), "{condition}: {:?}", site.conditions);
    }
}

#[test]
fn y11_makes_room_for_all_repeats_where_the_number_of_rows_is_not_known_early() {
    let slow = rows(
        "        for (uint32_t row = 0; row < count / 64; row++) {\n            float number = poly.GetValue(row);\n            AscendC::Muls(y[row * 64], x[row * 64], number, 64);\n        }\n",
    );
    let fast = apply("Y11", &slow).1;
    assert!(fast.contains("pipe.InitBuffer(rowBlocksBuf, (255 + 7) / 8 * 8 * 32);"), "{fast}");
}

const QUANTISED: &str = "        for (uint32_t row = 0; row < rows_; row++) {
            AscendC::Adds(poly, x[row * 128], CUBIC, 128);
            AscendC::Abs(ones, poly, 128);
            AscendC::ReduceMax(ones, ones, work, 128);
            float scale = ones.GetValue(0) * CUBIC;
            if (scale < CUBIC) {
                scale = CUBIC;
            }
            numbers.SetValue(row, scale);
            AscendC::Duplicate(ones, scale, 128);
            AscendC::Div(poly, poly, ones, 128);
            AscendC::Exp(y[row * 128], poly, 128);
        }
";

fn quantised() -> String {
    numbered(QUANTISED)
        .replace("        pipe.InitBuffer(numberBuf", "        pipe.InitBuffer(workBuf, 512);\n        pipe.InitBuffer(numberBuf")
        .replace("    uint32_t rows_;\n", "    uint32_t rows_;\n    AscendC::TBuf<AscendC::TPosition::VECCALC> workBuf;\n")
        .replace(
            "        AscendC::LocalTensor<float> ones =",
            "        AscendC::LocalTensor<float> work = workBuf.Get<float>();\n        AscendC::LocalTensor<float> ones =",
        )
}

#[test]
fn y11_reduces_all_rows_at_once() {
    let (site, fast) = apply("Y11", &quantised());
    let wanted = "        AscendC::LocalTensor<float> rowNumbers = rowNumbersBuf.Get<float>();
        AscendC::LocalTensor<float> rowBlocks1 = rowBlocks1Buf.Get<float>();
        AscendC::Duplicate(numbers, static_cast<float>(0), (rows_ + 7) / 8 * 8);
        AscendC::Adds(poly, x, CUBIC, rows_ * 128);
        AscendC::Abs(ones, poly, rows_ * 128);
        AscendC::Max(ones, ones, ones[64], 64, static_cast<uint8_t>(rows_), {1, 1, 1, 16, 16, 16});
        AscendC::WholeReduceMax(rowNumbers, ones, 64, rows_, 1, 1, 16, AscendC::ReduceOrder::ORDER_ONLY_VALUE);
        for (uint32_t row = 0; row < rows_; row++) {
            float scale = rowNumbers.GetValue(row) * CUBIC;
            if (scale < CUBIC) {
                scale = CUBIC;
            }
            numbers.SetValue(row, scale);
        }
        AscendC::Brcb(rowBlocks1, numbers, static_cast<uint8_t>((rows_ + 7) / 8), {1, 8});
        for (uint32_t column = 0; column < 128; column += 64) {
            AscendC::Div(poly[column], poly[column], rowBlocks1, 64, static_cast<uint8_t>(rows_), {1, 1, 0, 16, 16, 1});
        }
        AscendC::Exp(y, poly, rows_ * 128);
        outQueue";
    assert!(fast.contains(wanted), "{fast}");
    for part in [
        "pipe.InitBuffer(polyBuf, rows_ * ((TILE * sizeof(float) + 31) / 32 * 32));",
        "pipe.InitBuffer(rowNumbersBuf, (rows_ + 7) / 8 * 8 * sizeof(float));",
        "pipe.InitBuffer(workBuf, 512);",
    ] {
        assert!(fast.contains(part), "{part}\n{fast}");
    }
    assert!(!site.rounding);
    assert!(site.conditions.contains(&"the buffers fit the unified buffer".to_owned()));
    // What the scalar unit is left with is another motif's.
    assert!(apply("V20", &fast).1.contains("AscendC::Maxs(numbers"), "{}", apply("V20", &fast).1);
    assert!(apply("Y11", &quantised().replace("ReduceMax", "ReduceSum")).0.rounding);
}

#[test]
fn y11_refuses_what_rows_share() {
    let slow = quantised();
    let carried =
        slow.replace("        outQueue.EnQue(y);", "        AscendC::Exp(y, ones, count);\n        outQueue.EnQue(y);");
    refuses("Y11", &carried, "used outside of the loop");
    refuses(
        "Y11",
        &slow.replace("Adds(poly, x[row * 128], CUBIC", "Add(poly, x[row * 128], poly"),
        "carries something",
    );
    refuses("Y11", &slow.replace("x[row * 128]", "x[row * 256]"), "256 apart");
    refuses("Y11", &slow.replace("128)", "100)").replace("* 128", "* 100"), "whole repeats");
    let long = "        for (uint32_t row = 0; row < rows_; row++) {\n            float number = poly.GetValue(row);\n            AscendC::Muls(y[row * 2048], x[row * 2048], number, 2048);\n        }\n";
    refuses("Y11", &rows(long), "up to 255 blocks");
    let branch = rows(&long.replace("2048", "64"))
        .replace("        pipe.InitBuffer(inQueue", "        if (length > 8) {\n        pipe.InitBuffer(inQueue")
        .replace("(onesBuf, TILE * sizeof(float));", "(onesBuf, TILE * sizeof(float));\n        }");
    refuses("Y11", &branch, "made on every path");
    refuses("Y11", &slow.replace("128)", "width)").replace("* 128", "* width"), "the width width is not known");
    refuses("Y11", &slow.replace("numbers.SetValue(row, scale)", "numbers.SetValue(0, scale)"), "not the row's own");
    let again = slow.replace("            AscendC::Exp(y[", "            float other = scale + 1.0f;\n            AscendC::Adds(poly, poly, other, 128);\n            AscendC::Exp(y[");
    refuses("Y11", &again, "used by the scalar unit again");
    refuses(
        "Y11",
        &slow
            .replace("rows_ = length / 64;", "")
            .replace("        inQueue.FreeTensor(x);", "        inQueue.FreeTensor(x);\n        rows_ = count;"),
        "changes in",
    );
}

#[test]
fn v37_carries_in_the_results() {
    let slow = computing(
        "        for (uint32_t row = 0; row < rows; row++) {\n            AscendC::Add(poly, poly, x[row * pitch], count);\n            AscendC::Adds(y[row * pitch], poly, 0.0f, count);\n        }\n",
    );
    let fast = round_trip("V37", &slow);
    let wanted = "        AscendC::Add(y, poly, x, count);
        for (uint32_t row = 1; row < rows; row++) {
            AscendC::Add(y[row * pitch], y[(row - 1) * pitch], x[row * pitch], count);
        }
        AscendC::Adds(poly, y[(rows - 1) * pitch], 0.0f, count);
        outQueue";
    assert!(fast.contains(wanted), "{fast}");
    let conditions = ["count is at most pitch", "rows is at least 1", "the sign of a zero does not matter"];
    assert_eq!(apply("V37", &slow).0.conditions, conditions);
    // The other operand first, barriers, and a copy that keeps the sign of zeros.
    let barriers = slow
        .replace("Add(poly, poly, x[row * pitch]", "Max(poly, x[row * pitch], poly")
        .replace(
            "poly, 0.0f, count);\n",
            "poly, static_cast<float>(1), count);\n            AscendC::PipeBarrier<PIPE_V>();\n",
        )
        .replace("AscendC::Adds(", "AscendC::Muls(");
    let fast = round_trip("V37", &barriers);
    assert!(fast.contains("AscendC::Max(y[row * pitch], x[row * pitch], y[(row - 1) * pitch], count);"), "{fast}");
    assert!(!apply("V37", &barriers).0.conditions.iter().any(|condition| condition.contains("zero")));
    refuses("V37", &slow.replace("Adds(y[row * pitch]", "Adds(x[row * pitch]"), "is read and written");
    refuses("V37", &slow.replace("y = outQueue.AllocTensor<float>()", "y = Other()"), "is not known");
    // More than a copy, another count, and no row of results.
    assert!(reasons("V37", &slow.replace("0.0f", "0.5f")).is_empty());
    assert!(reasons("V37", &slow.replace("0.0f, count", "0.0f, 8")).is_empty());
    assert!(reasons("V37", &slow.replace("Adds(y[row * pitch]", "Adds(y")).is_empty());
}
