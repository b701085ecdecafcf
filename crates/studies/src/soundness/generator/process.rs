//! How a kernel goes through its elements.

use super::super::draw::Draw;

/// Forms of the loop over tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounds {
    /// The counter is the first element.
    Stepped,
    /// The last round is shorter.
    Choice,
    /// What is left behind the whole tiles has a call of its own.
    Tail,
    /// Whole tiles, in turns with the other cores.
    Turns,
    /// One pass for a sum, one for the results.
    Passes,
}

/// The statements of `Process`, where each tile goes through `steps`: calls with START and COUNT in them.
pub(super) fn process(draw: &mut Draw, rounds: Rounds, steps: &[String], first_pass: &[String]) -> String {
    let at = |depth: usize, start: &str, count: &str, steps: &[String]| {
        let indentation = "    ".repeat(depth);
        steps
            .iter()
            .map(|step| format!("{indentation}{}\n", step.replace("START", start).replace("COUNT", count)))
            .collect::<String>()
    };
    let way_out = |draw: &mut Draw, counter: &str| {
        if draw.percent(7) {
            let word = draw.one(&["break", "return", "continue"]);
            format!("            if (mode_ == 3 && {counter} > 1) {{\n                {word};\n            }}\n")
        } else {
            String::new()
        }
    };
    match rounds {
        Rounds::Stepped => {
            let out = way_out(draw, "at");
            format!(
                "        for (uint32_t at = 0; at < length_; at += tile_) {{\n            const uint32_t count = length_ - at < tile_ ? length_ - at : tile_;\n{out}{}        }}\n",
                at(3, "at", "count", steps)
            )
        }
        Rounds::Choice => {
            let out = way_out(draw, "i");
            let kind = draw.one(&["uint32_t", "int32_t"]);
            format!(
                "        const {kind} all = tiles_ + (tail_ > 0 ? 1 : 0);\n        const uint32_t last = tail_ > 0 ? tail_ : tile_;\n        for ({kind} i = 0; i < all; i++) {{\n            const uint32_t count = i == all - 1 ? last : tile_;\n{out}{}        }}\n",
                at(3, "i * tile_", "count", steps)
            )
        }
        Rounds::Tail => {
            let out = way_out(draw, "i");
            format!(
                "        for (uint32_t i = 0; i < tiles_; i++) {{\n{out}{}        }}\n        if (tail_ > 0) {{\n{}        }}\n",
                at(3, "i * tile_", "tile_", steps),
                at(3, "tiles_ * tile_", "tail_", steps)
            )
        }
        Rounds::Turns => {
            let out = way_out(draw, "tile");
            format!(
                "        for (uint32_t tile = AscendC::GetBlockIdx(); tile < tiles_ * AscendC::GetBlockNum(); tile += AscendC::GetBlockNum()) {{\n{out}{}        }}\n",
                at(3, "tile * tile_", "tile_", steps)
            )
        }
        Rounds::Passes => format!(
            "        const uint32_t chunks = (length_ + tile_ - 1) / tile_;\n        for (uint32_t row = 0; row < divisor_; row++) {{\n            sum_ = 0;\n            for (uint32_t i = 0; i < chunks; i++) {{\n{}            }}\n            for (uint32_t j = 0; j < chunks; j++) {{\n{}            }}\n        }}\n",
            at(4, "i * tile_", "CountOf(i * tile_)", first_pass),
            at(4, "j * tile_", "CountOf(j * tile_)", steps)
        ),
    }
}
