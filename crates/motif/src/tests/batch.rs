//! Several rows a round.

use super::*;

/// The kernel with a constant for the length of a row.
fn rows(compute: &str) -> String {
    computing(compute).replace("constexpr float CUBIC", "constexpr uint32_t TILE = 64;\nconstexpr float CUBIC")
}

#[test]
fn d07_takes_several_rows_a_round() {
    let slow = rows(EXP);
    let fast = round_trip("D07", &slow);
    for part in [
        "pipe.InitBuffer(inQueue, BUFFER_NUM, ROWS_PER_ROUND * TILE * sizeof(float));\n",
        "pipe.InitBuffer(polyBuf, TILE * sizeof(float));\n",
        "    static constexpr uint32_t ROWS_PER_ROUND = 8;\n",
        r"        for (uint32_t tile = 0; tile < tiles; tile += ROWS_PER_ROUND) {
            const uint32_t roundRows = tiles - tile < ROWS_PER_ROUND ? tiles - tile : ROWS_PER_ROUND;
            CopyIn(tile * TILE, TILE, roundRows);
            AscendC::PipeBarrier<PIPE_ALL>();
            Compute(TILE, roundRows);
            CopyOut(tile * TILE, TILE, roundRows);
        }
",
        r"CopyIn(uint32_t firstStart, uint32_t count, uint32_t roundRows)
    {
        AscendC::LocalTensor<float> xLocal = inQueue.AllocTensor<float>();
        for (uint32_t roundRow = 0; roundRow < roundRows; roundRow++) {
            const uint32_t start = firstStart + roundRow * TILE;
            AscendC::DataCopyPad(xLocal[roundRow * TILE], xGm[start],",
        r"        for (uint32_t roundRow = 0; roundRow < roundRows; roundRow++) {
            AscendC::Exp(y[roundRow * TILE], x[roundRow * TILE], count);
        }
        outQueue.EnQue(y);
        inQueue.FreeTensor(x);
",
    ] {
        assert!(fast.contains(part), "{part}\n{fast}");
    }
    let notes: Vec<String> = motif("D07").find(&context(&slow)).sites.into_iter().map(|site| site.note).collect();
    assert_eq!(notes.len(), 5);
    assert!(notes[0].starts_with("eight rows"), "{notes:?}");
}

#[test]
fn d07_leaves_what_one_row_hands_to_the_next_in_its_order() {
    let carried = "        AscendC::Add(poly, poly, x, count);\n        AscendC::Adds(y, poly, 0.0f, count);\n";
    let fast = round_trip("D07", &rows(carried));
    let part = r"            AscendC::Add(poly, poly, x[roundRow * TILE], count);
            AscendC::Adds(y[roundRow * TILE], poly, 0.0f, count);
            AscendC::PipeBarrier<PIPE_V>(); // before the next row
        }
";
    assert!(fast.contains(part), "{fast}");
    let elements =
        "        float first = x.GetValue(0);\n        y.SetValue(3, first);\n        AscendC::Exp(y, x[8], count);\n";
    let fast = round_trip("D07", &rows(elements));
    for part in ["x.GetValue(roundRow * TILE);", "y.SetValue(roundRow * TILE + 3, first);", "x[roundRow * TILE + 8]"] {
        assert!(fast.contains(part), "{part}\n{fast}");
    }
}

#[test]
fn d07_rounds_rows_to_blocks_and_spells_sizes_in_members() {
    let slow = rows(EXP)
        .replace(
            "uint32_t length)\n    {\n",
            "uint32_t length)\n    {\n        width = length;\n        uint32_t bytes = length * sizeof(float);\n",
        )
        .replace("inQueue, BUFFER_NUM, TILE * sizeof(float)", "inQueue, BUFFER_NUM, bytes")
        .replace("    AscendC::TPipe pipe;\n", "    uint32_t width;\n    AscendC::TPipe pipe;\n");
    let fast = round_trip("D07", &slow);
    assert!(fast.contains("inQueue, BUFFER_NUM, ROWS_PER_ROUND * ((bytes + 31) / 32 * 32));"), "{fast}");
    assert!(fast.contains("x[roundRow * ((width + 7) / 8 * 8)]"), "{fast}");
    let changing =
        slow.replace("            Compute(TILE);\n", "            width = tile;\n            Compute(TILE);\n");
    refuses("D07", &changing, "width changes in Process");
}

#[test]
fn d07_follows_base_classes_and_the_order_of_the_initialisation() {
    let slow = rows(EXP)
        .replace("class Kernel {", "class Lengths {\nprotected:\n    __aicore__ inline void SetWidth(uint32_t length)\n    {\n        width = length;\n    }\n    uint32_t width;\n};\nclass Kernel : public Lengths {")
        .replace("uint32_t length)\n    {\n        xGm", "uint32_t length)\n    {\n        SetWidth(length);\n        xGm")
        .replace("inQueue, BUFFER_NUM, TILE * sizeof(float)", "inQueue, BUFFER_NUM, width * sizeof(float)");
    let fast = round_trip("D07", &slow);
    assert!(fast.contains("x[roundRow * ((width + 7) / 8 * 8)]"), "{fast}");
    let later =
        slow.replace("            Compute(TILE);\n", "            SetWidth(tile);\n            Compute(TILE);\n");
    refuses("D07", &later, "width changes in SetWidth");
    let unknown = slow.replace("public Lengths", "public Elsewhere");
    refuses("D07", &unknown, "a base class that these sources do not define");
    let derived = format!(
        "{slow}class Other : public Kernel {{\npublic:\n    __aicore__ inline void Run() {{ Process(3); }}\n}};\n"
    );
    refuses("D07", &derived, "Other inherits from Kernel");
    let constant = slow.replace("CopyIn(uint32_t start", "CopyIn(const uint32_t &start");
    assert!(round_trip("D07", &constant).contains("const uint32_t start = firstStart + roundRow * TILE;"));
}

#[test]
fn d07_brings_what_is_the_same_for_all_rows_once() {
    let slow = kernel(
        "    AscendC::TQue<AscendC::TPosition::VECIN, 1> angles;\n    AscendC::GlobalTensor<float> zGm;\n",
        "        pipe.InitBuffer(angles, 1, TILE * sizeof(float));\n",
        "        AscendC::LocalTensor<float> z = angles.DeQue<float>();\n        AscendC::Mul(y, x, z, count);\n        angles.FreeTensor(z);\n",
    )
    .replace("constexpr float CUBIC", "constexpr uint32_t TILE = 64;\nconstexpr float CUBIC")
    .replace(
        "        inQueue.EnQue(xLocal);\n",
        "        inQueue.EnQue(xLocal);\n        AscendC::LocalTensor<float> zLocal = angles.AllocTensor<float>();\n        AscendC::DataCopy(zLocal, zGm[count], count);\n        angles.EnQue(zLocal);\n",
    );
    let fast = apply("D07", &slow).1;
    for part in [
        "InitBuffer(angles, 1, TILE * sizeof(float));",
        "        AscendC::DataCopy(zLocal, zGm[count], count);\n        angles",
        "x[roundRow * TILE], z, count",
    ] {
        assert!(fast.contains(part), "{part}\n{fast}");
    }
    // What is written later differs from row to row.
    let fast = apply("D07", &slow.replace("AscendC::Mul(y, x, z, count)", "AscendC::Mul(z, x, z, count)")).1;
    assert!(fast.contains("InitBuffer(angles, 1, ROWS_PER_ROUND * TILE * sizeof(float));"), "{fast}");
}

#[test]
fn d07_refuses_what_a_round_would_change() {
    let slow = rows(EXP);
    refuses("D07", &slow.replace("CopyIn(tile * TILE, TILE)", "CopyIn(tile / 2 * TILE, TILE)"), "no equal steps");
    refuses(
        "D07",
        &slow.replace(
            "            Compute(TILE);\n",
            "            if (tile > 1) {\n                Compute(TILE);\n            }\n",
        ),
        "inside of a statement",
    );
    refuses(
        "D07",
        &slow.replace(
            "            Compute(TILE);\n",
            "            if (tile > 1) {\n                break;\n            }\n            Compute(TILE);\n",
        ),
        "leaves the round",
    );
    refuses(
        "D07",
        &slow.replace("        inQueue.EnQue(xLocal);", "        Give(inQueue, xLocal);"),
        "inQueue is used inside of a statement",
    );
    refuses(
        "D07",
        &slow.replace("        AscendC::Exp(y, x, count);\n", "        Use(x.GetSize());\n"),
        "GetSize of x",
    );
    let shared = slow
        .replace(
            "        outQueue.FreeTensor(yLocal);\n",
            "        AscendC::Exp(polyBuf.Get<float>(), yLocal, count);\n        outQueue.FreeTensor(yLocal);\n",
        )
        .replace("AscendC::Exp(y, x, count)", "AscendC::Exp(poly, x, count)");
    refuses("D07", &shared, "polyBuf carries data of a row");
    let counting = slow
        .replace(
            "        AscendC::DataCopyPad(xLocal, xGm[start]",
            "        done = done + count;\n        AscendC::DataCopyPad(xLocal, xGm[start]",
        )
        .replace("AscendC::Exp(y, x, count)", "AscendC::Adds(y, x, done, count)")
        .replace("    AscendC::TPipe pipe;\n", "    float done;\n    AscendC::TPipe pipe;\n");
    refuses("D07", &counting, "done is set");
    let by_reference = slow
        .replace("AscendC::Exp(y, x, count)", "Grow(y, x, count)")
        .replace("private:\n", "private:\n    __aicore__ inline void Grow(AscendC::LocalTensor<float> &to, const AscendC::LocalTensor<float> &from, uint32_t count)\n    {\n        AscendC::Exp(to, from, count);\n    }\n");
    refuses("D07", &by_reference, "Grow takes y by reference");
    let ahead = slow.replace(
        "            Compute(TILE);\n",
        "            CopyIn(tile * TILE, TILE);\n            Compute(TILE);\n",
    );
    refuses("D07", &ahead, "CopyIn is called twice");
}

#[test]
fn d07_takes_no_more_rows_than_a_launch_left_room_for() {
    // Sizes that only run-time values decide.
    let text = rows(EXP).replace("TILE * sizeof(float)", "tileLength * sizeof(float)");
    let context = context(&text);
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| line.contains("InitBuffer(inQueue") || line.contains("InitBuffer(outQueue"));
    // Two queues of 10000 bytes each and as much for something else.
    let cuts = lines.map(|(line, _)| (("k.h".to_owned(), line as u32 + 1), 10_000)).collect();
    let offered = |context: &Context| -> Vec<String> {
        let notes = motif("D07").find(context).sites.into_iter().map(|site| site.note);
        notes.map(|note| note.split(' ').next().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(offered(&context), ["eight", "four", "sixteen", "thirty-two", "two"]);
    assert_eq!(offered(&context.clone().with_buffers(&cuts, 40_000)), ["eight", "four", "two"]);
    assert_eq!(offered(&context.with_buffers(&cuts, 150_000)), ["two"]);
}

#[test]
fn d07_changes_the_number_of_rows_where_there_are_several() {
    let (_, eight) = apply("D07", &rows(EXP));
    assert!(motif("D07").find(&context(&eight)).sites.is_empty(), "it has not run with eight");
    // Two queues of 10000 bytes for eight rows, and something else.
    let lines = eight
        .lines()
        .enumerate()
        .filter(|(_, line)| line.contains("InitBuffer(inQueue") || line.contains("InitBuffer(outQueue"));
    let cuts = lines.map(|(line, _)| (("k.h".to_owned(), line as u32 + 1), 10_000)).collect();
    let launched = |top: u64| context(&eight).with_buffers(&cuts, top);
    let offered = |top: u64| motif("D07").find(&launched(top)).sites.len();
    assert_eq!([offered(20_000), offered(150_000), offered(190_000)], [2, 1, 0]);
    let context = launched(20_000);
    let site = &motif("D07").find(&context).sites[0];
    let sixteen = patched(&context, &motif("D07").apply(&context, site).unwrap());
    let text = sixteen.tree.text("k.h").unwrap();
    assert_eq!(text, eight.replace("ROWS_PER_ROUND = 8;", "ROWS_PER_ROUND = 16;"));
    assert!(motif("D07").find(&sixteen).sites.is_empty(), "it has not run with sixteen");
    assert!(rewound("D07", text, &eight));
}
