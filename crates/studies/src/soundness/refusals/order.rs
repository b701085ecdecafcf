//! Preconditions of the motifs about flags, barriers and queues.

use motif::Id;

use super::kernels::{class, computing};
use super::{Violation, of};

const CALL: &str = "            Compute(TILE);\n";

fn barrier() -> String {
    computing("AscendC::Exp(z, x, count);")
        .replace(CALL, "            AscendC::PipeBarrier<PIPE_ALL>();\n            Compute(TILE);\n")
}
fn vector_barrier() -> String {
    computing("AscendC::Exp(z, x, count);\nAscendC::PipeBarrier<PIPE_V>();\nAscendC::Abs(z, z, count);")
}
fn fill_and_barrier() -> String {
    computing("AscendC::Exp(z, x, count);").replace(
        "        AscendC::DataCopy(xLocal",
        "        AscendC::Duplicate(xLocal, 0.0f, TILE);\n        AscendC::PipeBarrier<PIPE_ALL>();\n        AscendC::DataCopy(xLocal",
    )
}
fn scratch_queue() -> String {
    class(
        "    AscendC::TQue<AscendC::TPosition::VECCALC, 1> tQueue;\n",
        "        pipe.InitBuffer(tQueue, 1, TILE * sizeof(float));\n",
        "AscendC::LocalTensor<float> t = tQueue.AllocTensor<float>();\nAscendC::Exp(t, x, count);\nAscendC::Add(z, t, x, count);\ntQueue.FreeTensor(t);",
    )
}
fn barriers_in_a_loop() -> String {
    computing(
        "for (uint32_t row = 0; row < 4; row++) {\n    AscendC::Exp(z[row * 64], x[row * 64], 64);\n    AscendC::PipeBarrier<PIPE_ALL>();\n}",
    )
}

/// More rows moved through a buffer that flags order, before the rest of the computation.
fn moved_rows() -> String {
    class(
        "    AscendC::TBuf<AscendC::TPosition::VECCALC> rowBuf;\n",
        "        pipe.InitBuffer(rowBuf, TILE * sizeof(float));\n",
        "for (uint32_t row = 0; row < 4; row++) {
    AscendC::LocalTensor<float> moved = rowBuf.Get<float>();
    AscendC::DataCopy(moved, xGm[row * TILE], TILE);
    AscendC::TEventID filled = AscendC::GetTPipePtr()->FetchEventID(AscendC::HardEvent::MTE2_MTE3);
    AscendC::SetFlag<AscendC::HardEvent::MTE2_MTE3>(filled);
    AscendC::WaitFlag<AscendC::HardEvent::MTE2_MTE3>(filled);
    AscendC::DataCopy(zGm[row * TILE], moved, TILE);
    AscendC::TEventID emptied = AscendC::GetTPipePtr()->FetchEventID(AscendC::HardEvent::MTE3_MTE2);
    AscendC::SetFlag<AscendC::HardEvent::MTE3_MTE2>(emptied);
    AscendC::WaitFlag<AscendC::HardEvent::MTE3_MTE2>(emptied);
}
AscendC::Exp(z, x, count);",
    )
}
const FILL: &str = "            AscendC::DataCopy(moved, xGm[row * TILE], TILE);\n";
const STORE: &str = "            AscendC::DataCopy(zGm[row * TILE], moved, TILE);\n";

pub(super) const VIOLATIONS: &[Violation] = &[
    of(
        Id::Y01,
        "no TBuf that copies touch on both sides",
        barrier,
        &[
            ("xLocal = inQueue.AllocTensor<float>()", "xLocal = aBuf.Get<float>()"),
            ("        inQueue.EnQue(xLocal);\n", ""),
            ("x = inQueue.DeQue<float>()", "x = aBuf.Get<float>()"),
            ("        inQueue.FreeTensor(x);\n", ""),
        ],
        "TBuf that a copy touches",
    ),
    of(
        Id::Y01,
        "queues are used in order",
        barrier,
        &[(
            "        inQueue.EnQue(xLocal);",
            "        AscendC::Exp(xLocal, xLocal, count);\n        inQueue.EnQue(xLocal);",
        )],
        "nothing else orders MTE2",
    ),
    of(
        Id::Y01,
        "no global tensor both read and written",
        barrier,
        &[("DataCopy(zGm[start]", "DataCopy(xGm[start]")],
        "both read and written",
    ),
    of(
        Id::Y01,
        "no protocol between cores",
        barrier,
        &[(
            "            AscendC::PipeBarrier<PIPE_ALL>();\n",
            "            AscendC::PipeBarrier<PIPE_ALL>();\n            AscendC::SyncAll();\n",
        )],
        "protocol",
    ),
    of(
        Id::Y01,
        "every call is understood",
        barrier,
        &[("        AscendC::Exp(z, x, count);", "        Mystery(z, x);")],
        "not analysed",
    ),
    of(
        Id::Y02,
        "no pointer style",
        vector_barrier,
        &[("AscendC::Exp(z, x, count);", "vadd(z, x, x);")],
        "pointer style",
    ),
    of(
        Id::Y03,
        "the name of the flag is free",
        fill_and_barrier,
        &[("TILE);\n        AscendC::Pipe", "TILE);\n        const float eventVToMte2 = 0;\n        AscendC::Pipe")],
        "is taken",
    ),
    of(Id::Y05, "one buffer", scratch_queue, &[("tQueue, 1,", "tQueue, 2,")], "has 2 buffers"),
    of(Id::Y05, "every use is understood", scratch_queue, &[("Exp(t, x", "Mystery(t, x")], "not analysed"),
    of(
        Id::Y05,
        "no copy touches it",
        scratch_queue,
        &[("AscendC::Exp(t, x, count)", "AscendC::DataCopy(t, xGm, count)")],
        "",
    ),
    of(
        Id::Y07,
        "only vector work",
        barriers_in_a_loop,
        &[("    AscendC::PipeBarrier", "    AscendC::DataCopy(zGm[row], z, 64);\n            AscendC::PipeBarrier")],
        "is not vector work",
    ),
    of(
        Id::Y07,
        "no way out",
        barriers_in_a_loop,
        &[("    AscendC::PipeBarrier", "    if (row > 2) { return; }\n            AscendC::PipeBarrier")],
        "return stands",
    ),
    of(
        Id::Y13,
        "every round fills the buffer",
        moved_rows,
        &[(
            FILL,
            "            if (row == 0) {\n                AscendC::DataCopy(moved, xGm[row * TILE], TILE);\n            }\n",
        )],
        "only some rounds write this part",
    ),
    of(
        Id::Y13,
        "nothing leaves a round",
        moved_rows,
        &[(
            STORE,
            "            if (row == 2) {\n                continue;\n            }\n            AscendC::DataCopy(zGm[row * TILE], moved, TILE);\n",
        )],
        "may not take turns",
    ),
    of(
        Id::Y13,
        "filled once in a block",
        moved_rows,
        &[(
            STORE,
            "            AscendC::DataCopy(zGm[row * TILE], moved, TILE);\n            AscendC::DataCopy(moved, xGm, TILE);\n",
        )],
        "filled again behind a copy out",
    ),
    of(Id::Y13, "all of a buffer", moved_rows, &[("rowBuf.Get<float>()", "rowBuf.Get<float>(TILE)")], "is not all of"),
    of(
        Id::Y13,
        "no other name for the tensor",
        moved_rows,
        &[(
            FILL,
            "            AscendC::LocalTensor<float> part = moved[8];\n            AscendC::DataCopy(part, xGm[row * TILE], 8);\n            AscendC::DataCopy(moved, xGm[row * TILE], TILE);\n",
        )],
        "is made of moved",
    ),
    of(
        Id::Y13,
        "what the scalar unit reads is there",
        moved_rows,
        &[(
            STORE,
            "            if (moved.GetValue(0) > 0) {\n                done_ += 1;\n            }\n            AscendC::DataCopy(zGm[row * TILE], moved, TILE);\n",
        )],
        "nothing orders MTE2",
    ),
    of(
        Id::Y13,
        "global memory stays ordered",
        moved_rows,
        &[("DataCopy(moved, xGm[row", "DataCopy(moved, zGm[row")],
        "the same global memory",
    ),
    of(
        Id::Y13,
        "ids are asked for",
        moved_rows,
        &[(
            FILL,
            "            AscendC::SetFlag<AscendC::HardEvent::MTE3_MTE2>(EVENT_ID1);\n            AscendC::Abs(a, a, 8);\n            AscendC::WaitFlag<AscendC::HardEvent::MTE3_MTE2>(EVENT_ID1);\n            AscendC::DataCopy(moved, xGm[row * TILE], TILE);\n",
        )],
        "a queue may have the id EVENT_ID1",
    ),
    of(
        Id::Y13,
        "no protocol between cores",
        moved_rows,
        &[(FILL, "            AscendC::SyncAll();\n            AscendC::DataCopy(moved, xGm[row * TILE], TILE);\n")],
        "protocol",
    ),
    of(
        Id::Y13,
        "every call on a tensor is understood",
        moved_rows,
        &[(FILL, "            moved.SetBufferLen(8);\n            AscendC::DataCopy(moved, xGm[row * TILE], TILE);\n")],
        "is not understood",
    ),
    of(
        Id::Y13,
        "no class inherits it",
        moved_rows,
        &[(
            "extern \"C\"",
            "class Other : public Kernel {\npublic:\n    void Run() { this->Process(4); }\n};\nextern \"C\"",
        )],
        "other classes inherit",
    ),
];
