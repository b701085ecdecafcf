//! As many buffers and rows a round as there is room for, after the motifs that want more of them.

use super::*;
use crate::by_room;

/// Rows of a length that the host tells, one at a time.
fn of_rows(init: &str) -> String {
    format!(
        r#"#include "kernel_operator.h"
constexpr int32_t BUFFER_NUM = 1;
class Rows {{
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t rows, uint32_t length)
    {{
        this->rows = rows;
        this->length = length;
        xGm.SetGlobalBuffer((__gm__ float *)x);
        yGm.SetGlobalBuffer((__gm__ float *)y);
        pipe.InitBuffer(inQueue, BUFFER_NUM, this->length * sizeof(float));
{init}        pipe.InitBuffer(outQueue, BUFFER_NUM, this->length * sizeof(float));
        pipe.InitBuffer(halfBuf, 64);
    }}
    __aicore__ inline void Process()
    {{
        for (uint32_t row = 0; row < this->rows; row++) {{
            AscendC::LocalTensor<float> x = inQueue.AllocTensor<float>();
            AscendC::DataCopy(x, xGm[row * this->length], this->length);
            inQueue.EnQue(x);
            AscendC::LocalTensor<float> loaded = inQueue.DeQue<float>();
            AscendC::LocalTensor<float> y = outQueue.AllocTensor<float>();
            AscendC::Muls(y, loaded, 2.0f, this->length);
            outQueue.EnQue(y);
            inQueue.FreeTensor(loaded);
            AscendC::LocalTensor<float> computed = outQueue.DeQue<float>();
            AscendC::DataCopy(yGm[row * this->length], computed, this->length);
            outQueue.FreeTensor(computed);
        }}
    }}

private:
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, BUFFER_NUM> inQueue;
    AscendC::TQue<AscendC::TPosition::VECOUT, BUFFER_NUM> outQueue;
    AscendC::TBuf<AscendC::TPosition::VECCALC> halfBuf;
    AscendC::GlobalTensor<float> xGm;
    AscendC::GlobalTensor<float> yGm;
    uint32_t rows;
    uint32_t length;
}};
"#
    )
}

fn after(id: &str, context: &Context) -> Context {
    let findings = motif(id).find(context);
    let site = findings.sites.first().unwrap_or_else(|| panic!("{id}: {:?}", findings.refused));
    patched(context, &motif(id).apply(context, site).unwrap())
}

#[test]
fn buffers_are_as_many_as_before_where_there_is_no_room_for_more() {
    let before = context(&of_rows(""));
    assert!(by_room(&before, &before).is_none(), "nothing has more than it had");
    let doubled = after("D01", &before);
    let room = patched(&doubled, &by_room(&before, &doubled).unwrap());
    let text = room.tree.text("k.h").unwrap();
    let asked = "        const uint64_t takenBytes = BUFFER_NUM * (static_cast<uint64_t>(this->length * sizeof(float)) + 32)\n            \
                 + BUFFER_NUM * (static_cast<uint64_t>(this->length * sizeof(float)) + 32)\n            \
                 + (static_cast<uint64_t>(64) + 32);\n        \
                 const bool hasRoom = takenBytes <= 196608;\n        \
                 pipe.InitBuffer(inQueue, hasRoom ? BUFFER_NUM : 1, this->length * sizeof(float));\n";
    assert!(text.contains(asked) && text.contains("InitBuffer(outQueue, hasRoom ? BUFFER_NUM : 1,"), "{text}");
    assert!(by_room(&before, &room).is_none(), "once is enough: {text}");
}

#[test]
fn rows_of_a_round_are_as_many_as_there_is_room_for() {
    let before = context(&of_rows(""));
    let batched = after("D07", &before);
    let room = patched(&batched, &by_room(&before, &batched).unwrap());
    let text = room.tree.text("k.h").unwrap();
    assert!(
        text.contains("while (takenBytes > 196608 && this->rowsOfRound > 1) {\n            this->rowsOfRound /= 2;"),
        "{text}"
    );
    assert!(text.contains("    uint32_t rowsOfRound;\n"), "{text}");
    // The constant is where it is defined, and where the member gets it.
    assert_eq!(text.matches("ROWS_PER_ROUND").count(), 2, "{text}");
    assert!(!text.contains("hasRoom"), "buffers are as many as before: {text}");
    let both = after("D01", &batched);
    let room = patched(&both, &by_room(&before, &both).unwrap());
    let text = room.tree.text("k.h").unwrap();
    assert!(text.contains("        }\n        const bool hasRoom = takenBytes <= 196608;\n"), "{text}");
}

#[test]
fn there_is_no_gap_where_there_is_no_room_for_one() {
    let before = context(&of_rows(""));
    let with_gap = of_rows("        pipe.InitBuffer(gapBuf, 256); // keeps inQueue and outQueue in different banks\n").replace(
        "    AscendC::TBuf<AscendC::TPosition::VECCALC> halfBuf;\n",
        "    AscendC::TBuf<AscendC::TPosition::VECCALC> halfBuf;\n    AscendC::TBuf<AscendC::TPosition::VECCALC> gapBuf;\n",
    );
    let gap = context(&with_gap);
    assert!(by_room(&gap, &gap).is_none(), "the operator has it");
    let room = patched(&gap, &by_room(&before, &gap).unwrap());
    let text = room.tree.text("k.h").unwrap();
    let asked =
        "        if (hasRoom) { pipe.InitBuffer(gapBuf, 256); } // keeps inQueue and outQueue in different banks\n";
    assert!(text.contains(asked) && text.contains("+ (static_cast<uint64_t>(256) + 32)"), "{text}");
}

#[test]
fn what_sizes_follow_from_is_known_before_the_first_buffer() {
    for init in [
        "        this->length = this->length / 2;\n",
        "        Plan();\n",
        "        if (rows > 4) {\n            this->length++;\n        }\n",
    ] {
        let before = context(&of_rows(init));
        let doubled = after("D01", &before);
        assert!(by_room(&before, &doubled).is_none(), "{init}");
    }
    let multiple = of_rows("").replace("halfBuf, 64", "halfBuf, BUFFER_NUM * this->length");
    let before = context(&multiple);
    assert!(by_room(&before, &after("D01", &before)).is_none(), "another buffer takes more with the number, too");
    let taken = of_rows("").replace("uint32_t rows;", "uint32_t rows;\n    bool hasRoom;");
    let before = context(&taken);
    assert!(by_room(&before, &after("D01", &before)).is_none(), "the name is taken");
}
