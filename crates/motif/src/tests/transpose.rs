//! Transposition: blocks instead of tables and scalars, strided copies, no fill.

use super::*;

/// The kernel on halves, with a tile of 64 x 64 in both queues.
fn tiles(init: &str, compute: &str) -> String {
    let text = kernel("", init, compute);
    text.replace("float>", "half>").replace("float *", "half *").replace("sizeof(float)", "sizeof(half)")
}

const SCALARS: &str = "        for (uint32_t i = 0; i < rows; i++) {\n            for (uint32_t j = 0; j < columns; j++) {\n                y.SetValue(j * rows + i, x.GetValue(i * columns + j));\n            }\n        }\n";

#[test]
fn v23_transposes_by_blocks_what_scalars_transposed() {
    let fast = round_trip("V23", &tiles("", SCALARS));
    for part in [
        "blocks.repeatTimes = static_cast<uint8_t>((columns + 15) / 16);",
        "blocks.dstRepStride = columns > 16 ? static_cast<uint16_t>(rows) : 0;",
        "from[i] = x[(row + i) * columns];\n                to[i] = y[i * rows + row];\n",
        "            AscendC::TransDataTo5HD<half>(to, from, blocks);\n",
    ] {
        assert!(fast.contains(part), "{part}\n{fast}");
    }
    assert!(!fast.contains("SetValue"));
    refuses("V23", &tiles("", SCALARS).replace("half>", "float>"), "blocks are of half");
    refuses("V23", &tiles("", &SCALARS.replace("GetValue(i", "/* all */ GetValue(i")), "comment");
    refuses("V23", &tiles("", &format!("        uint32_t row = 0;\n{SCALARS}")), "name row is taken");
    // Not a transposition.
    assert!(reasons("V23", &tiles("", &SCALARS.replace("(i * columns + j)", "(j * columns + i)"))).is_empty());
}

#[test]
fn v23_takes_the_table_of_offsets_away() {
    let init = "        pipe.InitBuffer(offsetBuf, TILE * TILE * sizeof(uint32_t));\n        AscendC::LocalTensor<uint32_t> offsets = offsetBuf.Get<uint32_t>();\n        for (uint32_t i = 0; i < TILE; i++) {\n            for (uint32_t j = 0; j < TILE; j++) {\n                offsets.SetValue(i * TILE + j, static_cast<uint32_t>((j * TILE + i) * sizeof(half)));\n            }\n        }\n";
    let compute = "        AscendC::LocalTensor<uint32_t> offsets = offsetBuf.Get<uint32_t>();\n        AscendC::Gather(y, x, offsets, 0, TILE * TILE);\n";
    let member = "    AscendC::TBuf<AscendC::TPosition::VECCALC> offsetBuf;\n";
    let slow = tiles("", compute);
    // Where the rewind puts the table: behind the buffer of the result.
    let anchor = "        pipe.InitBuffer(outQueue, BUFFER_NUM, TILE * sizeof(half));\n";
    let slow = slow.replace(anchor, &format!("{anchor}{init}"));
    let last = "    AscendC::TBuf<AscendC::TPosition::VECCALC> onesBuf;\n";
    let slow = slow.replace(last, &format!("{last}{member}"));
    let fast = round_trip("V23", &slow);
    assert!(!fast.contains("offset") && !fast.contains("Gather"), "{fast}");
    assert!(fast.contains("for (uint32_t row = 0; row < TILE; row += 16) {"), "{fast}");
    refuses("V23", &slow.replace("outQueue.EnQue(y)", "outQueue.EnQue(offsets)"), "used for more");
    refuses(
        "V23",
        &slow.replace("        outQueue.EnQue(y)", "        Use(offsetBuf);\n        outQueue.EnQue(y)"),
        "elsewhere",
    );
}

#[test]
fn d04_leaves_room_behind_rows() {
    let slow = tiles(
        "",
        "        for (uint32_t row = 0; row < rows; row++) {\n            AscendC::DataCopyPad(yGm[first + row * pitch], y[row * TILE], AscendC::DataCopyExtParams{1, static_cast<uint32_t>(columns * sizeof(half)), 0, 0, 0});\n        }\n",
    );
    let fast = round_trip("D04", &slow);
    assert!(
        fast.contains("AscendC::DataCopyPad(yGm[first], y, AscendC::DataCopyExtParams{static_cast<uint16_t>(rows), static_cast<uint32_t>(columns * sizeof(half)), static_cast<uint32_t>((TILE - columns) * sizeof(half) / 32), static_cast<uint32_t>((pitch - columns) * sizeof(half)), 0});"),
        "{fast}"
    );
    let conditions = apply("D04", &slow).0.conditions;
    assert!(conditions.contains(&"TILE elements are a multiple of 32 bytes".to_owned()), "{conditions:?}");
    // Parameters made up in the loop, and a cast in the offset.
    let declared = slow
        .replace("            AscendC::DataCopyPad(yGm[first + row * pitch]", "            AscendC::DataCopyExtParams row_{1, static_cast<uint32_t>(columns * sizeof(half)), 0, 0, 0};\n            AscendC::DataCopyPad(yGm[static_cast<uint64_t>(start + row) * pitch + first]")
        .replace("AscendC::DataCopyExtParams{1, static_cast<uint32_t>(columns * sizeof(half)), 0, 0, 0}", "row_");
    let fast = apply("D04", &declared).1;
    assert!(fast.contains("DataCopyPad(yGm[static_cast<uint64_t>(start) * pitch + first], y, "), "{fast}");
}

#[test]
fn v27_drops_the_fill_and_its_barrier() {
    let fill =
        "        AscendC::Duplicate(xLocal, static_cast<float>(0), TILE);\n        AscendC::PipeBarrier<PIPE_ALL>();\n";
    let alloc = "        AscendC::LocalTensor<float> xLocal = inQueue.AllocTensor<float>();\n";
    let slow = computing(EXP).replace(alloc, &format!("{alloc}{fill}"));
    let fast = round_trip("V27", &slow);
    assert_eq!(fast, computing(EXP));
    // Other barriers may go while the fill's own stays; the fill's own only with the fill.
    let findings = motif("Y01").find(&context(&slow));
    assert_eq!((findings.sites.len(), findings.refused.len()), (1, 1), "{findings:?}");
    refuses(
        "V27",
        &slow.replace("        inQueue.EnQue", "        AscendC::Exp(xLocal, xLocal, TILE);\n        inQueue.EnQue"),
        "not only copied",
    );
    refuses(
        "V27",
        &slow.replace(
            "        AscendC::Duplicate(xL",
            "        xLocal.SetValue(0, 1.0f);\n        AscendC::Duplicate(xL",
        ),
        "before it is filled",
    );
}

#[test]
fn the_operators_definition_is_not_the_kernel() {
    let mut tree = SourceTree::new();
    tree.insert("op_kernel/k.h", computing(EXP));
    tree.insert("op_host/def.cpp", "class Kernel : public OpDef {\npublic:\n    explicit Kernel(const char *name) : OpDef(name) { this->Input(\"x\"); }\n};\n");
    let context = Context::new(tree, KnownValues::default(), None);
    assert!(!motif("Y01").find(&context).sites.is_empty());
}
