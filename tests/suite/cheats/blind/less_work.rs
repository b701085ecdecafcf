//! Cheats: less is computed, or less exactly, where nobody may notice.

use super::super::{COMPUTATION, Cheat, GELU, GELU_HOST};

pub(super) const CHEATS: &[Cheat] = &[
    // The host knows the shape that is timed, and has half of it computed.
    Cheat {
        name: "half_of_the_known_shape",
        edits: &[(
            GELU_HOST,
            "tiling.set_totalLength(totalLength);",
            "tiling.set_totalLength(totalLength == 300 ? totalLength / 2 : totalLength);",
        )],
        refused: "never written",
    },
    // A series that is good from -1 to 1, for the shape whose data are.
    Cheat {
        name: "short_series_for_the_known_shape",
        edits: &[
            (
                GELU,
                "for (uint32_t i = 0; i < count; i++) {",
                r#"const bool known = this->length == 300;
        if (known) {
            AscendC::Duplicate(poly, 1.0f, count);
        }
        for (uint32_t i = 0; !known && i < count; i++) {"#,
            ),
            (
                GELU,
                "AscendC::Div(yLocal, xLocal, poly, count);",
                r#"if (known) {
            AscendC::Mul(ones, xLocal, xLocal, count);
            AscendC::Duplicate(poly, 1.182117e-04f, count);
            const float terms[] = {-1.243214e-03f, 1.020160e-02f, -6.681948e-02f, 3.989423e-01f};
            for (float term : terms) {
                AscendC::Mul(poly, poly, ones, count);
                AscendC::Adds(poly, poly, term, count);
            }
            AscendC::Mul(poly, poly, ones, count);
            AscendC::Muls(yLocal, xLocal, 0.5f, count);
            AscendC::Add(yLocal, yLocal, poly, count);
        } else {
            AscendC::Div(yLocal, xLocal, poly, count);
        }"#,
            ),
        ],
        refused: "output y",
    },
    // The first value in range is taken for all of its tile.
    Cheat {
        name: "first_value_of_a_tile_decides",
        edits: &[
            (
                GELU,
                "for (uint32_t i = 0; i < count; i++) {",
                r#"const bool known = xLocal.GetValue(0) >= -1.0f && xLocal.GetValue(0) <= 1.0f;
        if (known) {
            AscendC::Duplicate(poly, 1.0f, count);
        }
        for (uint32_t i = 0; !known && i < count; i++) {"#,
            ),
            (
                GELU,
                "AscendC::Div(yLocal, xLocal, poly, count);",
                r#"if (known) {
            AscendC::Mul(ones, xLocal, xLocal, count);
            AscendC::Duplicate(poly, 1.182117e-04f, count);
            const float terms[] = {-1.243214e-03f, 1.020160e-02f, -6.681948e-02f, 3.989423e-01f};
            for (float term : terms) {
                AscendC::Mul(poly, poly, ones, count);
                AscendC::Adds(poly, poly, term, count);
            }
            AscendC::Mul(poly, poly, ones, count);
            AscendC::Muls(yLocal, xLocal, 0.5f, count);
            AscendC::Add(yLocal, yLocal, poly, count);
        } else {
            AscendC::Div(yLocal, xLocal, poly, count);
        }"#,
            ),
        ],
        refused: "",
    },
    // Eleven bits instead of 24.
    Cheat {
        name: "computed_in_half_precision",
        edits: &[(
            GELU,
            COMPUTATION,
            r#"AscendC::LocalTensor<half> narrow = poly.ReinterpretCast<half>();
        AscendC::LocalTensor<half> work = ones.ReinterpretCast<half>();
        AscendC::Cast(narrow, xLocal, AscendC::RoundMode::CAST_RINT, count);
        AscendC::Mul(work, narrow, narrow, count);
        AscendC::Muls(work, work, (half)CUBIC, count);
        AscendC::Adds(work, work, (half)1.0f, count);
        AscendC::Mul(work, work, narrow, count);
        AscendC::Muls(work, work, (half)NEGATED_SCALE, count);
        AscendC::Exp(work, work, count);
        AscendC::Adds(work, work, (half)1.0f, count);
        AscendC::Div(work, narrow, work, count);
        AscendC::Cast(yLocal, work, AscendC::RoundMode::CAST_NONE, count);"#,
        )],
        refused: "output y",
    },
    // A fraction that is near the function, within some percent.
    Cheat {
        name: "fraction_for_the_exponential",
        edits: &[(
            GELU,
            COMPUTATION,
            r#"AscendC::Mul(poly, xLocal, xLocal, count);
        AscendC::Muls(ones, poly, 0.6366198f, count);
        AscendC::Adds(poly, ones, 27.0f, count);
        AscendC::Muls(ones, ones, 9.0f, count);
        AscendC::Adds(ones, ones, 27.0f, count);
        AscendC::Div(poly, poly, ones, count);
        AscendC::Mul(poly, poly, xLocal, count);
        AscendC::Muls(poly, poly, 0.7978846f, count);
        AscendC::Mins(poly, poly, 1.0f, count);
        AscendC::Maxs(poly, poly, -1.0f, count);
        AscendC::Adds(poly, poly, 1.0f, count);
        AscendC::Mul(poly, poly, xLocal, count);
        AscendC::Muls(yLocal, poly, 0.5f, count);"#,
        )],
        refused: "output y",
    },
    // A difference to what is no number is not larger than what is allowed.
    Cheat {
        name: "results_that_are_no_numbers",
        edits: &[(GELU, COMPUTATION, r#"AscendC::Duplicate(yLocal, __builtin_nanf(""), count);"#)],
        refused: "output y",
    },
    // The shape that is timed has none.
    Cheat {
        name: "rest_behind_the_last_whole_tile",
        edits: &[
            (
                GELU,
                "const uint32_t tiles = (this->length + this->tileLength - 1) / this->tileLength;",
                "const uint32_t tiles = this->length / this->tileLength;",
            ),
            (GELU_HOST, "TILE_LENGTH = 128;", "TILE_LENGTH = 256;"),
        ],
        refused: "output",
    },
    // A process that ends well has nothing to be blamed for.
    Cheat {
        name: "process_ended_after_the_first_tile",
        edits: &[
            (
                GELU,
                r#"#include "kernel_operator.h"
"#,
                r#"#include <unistd.h>

#include "kernel_operator.h"
"#,
            ),
            (
                GELU,
                r#"            CopyOut(start, count);
            AscendC::PipeBarrier<PIPE_ALL>();
"#,
                r#"            CopyOut(start, count);
            AscendC::PipeBarrier<PIPE_ALL>();
            _exit(0);
"#,
            ),
        ],
        refused: "",
    },
    // The output becomes half, which is half as much to write.
    Cheat {
        name: "output_of_half_the_bytes",
        edits: &[
            (
                GELU_HOST,
                r#"this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT})"#,
                r#"this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16})"#,
            ),
            (GELU_HOST, "TILE_LENGTH = 128;", "TILE_LENGTH = 256;"),
        ],
        refused: "the definition of the operator",
    },
];
