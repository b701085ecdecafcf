//! Copies and what orders them: barriers in classes with bases and helpers, copies ahead, loads out of loops.

use super::*;

#[test]
fn y01_follows_base_classes_and_tensors_passed_to_functions() {
    let plain = computing(EXP);
    let base = "class Base {\nprotected:\n    AscendC::TBuf<AscendC::TPosition::VECCALC> moreBuf;\n};\nclass Kernel : public Base {";
    assert!(!round_trip("Y01", &plain.replace("class Kernel {", base)).contains("PipeBarrier"));
    refuses("Y01", &plain.replace("class Kernel {", "class Kernel : public Base {"), "Base is not among the sources");
    // A barrier of a base class must be needless in everything that inherits it.
    let derived =
        "class More : public Kernel {\npublic:\n    __aicore__ inline void Extra() { AscendC::SyncAll(); }\n};\n";
    refuses("Y01", &format!("{plain}{derived}"), "SyncAll is part of a protocol");
    let load = "        Load(inQueue, xGm, start);\n    }\n    __aicore__ inline void Load(AscendC::TQue<AscendC::TPosition::VECIN, BUFFER_NUM> &queue, AscendC::GlobalTensor<float> &gm, uint32_t start)\n    {\n        AscendC::LocalTensor<float> local = queue.AllocTensor<float>();\n        AscendC::DataCopy(local, gm[start], TILE);\n        queue.EnQue(local);\n";
    let from = plain.find("        AscendC::LocalTensor<float> xLocal = inQueue").unwrap();
    let to = plain.find("        inQueue.EnQue(xLocal);\n").unwrap() + "        inQueue.EnQue(xLocal);\n".len();
    let helper = format!("{}{load}{}", &plain[..from], &plain[to..]);
    assert!(!round_trip("Y01", &helper).contains("PipeBarrier"));
    refuses("Y01", &helper.replace("Load(inQueue, xGm", "Load(outQueue, xGm"), "used by another pipe");
}

#[test]
fn y01_looks_as_far_as_the_next_barriers_where_something_is_not_ordered() {
    let slow = kernel(
        "",
        "",
        "        AscendC::PipeBarrier<PIPE_ALL>();\n        AscendC::Exp(y, x, count);\n        AscendC::PipeBarrier<PIPE_ALL>();\n        AscendC::Muls(y, y, CUBIC, count);\n        AscendC::DataCopy(ones, xGm, 8);\n        AscendC::PipeBarrier<PIPE_ALL>();\n        AscendC::Mul(y, y, ones, 8);\n",
    );
    // Only the barrier between two vector instructions orders nothing of the TBuf.
    let context = context(&slow);
    let findings = motif("Y01").find(&context);
    let line = |site: &Site| slow.lines().nth(site.line).unwrap().trim().to_owned();
    assert_eq!(
        findings.sites.iter().map(line).collect::<Vec<_>>(),
        ["AscendC::Exp(y, x, count);", "AscendC::Muls(y, y, CUBIC, count);"]
    );
    assert!(findings.refused.iter().any(|refused| refused.reason.contains("onesBuf is a TBuf that a copy touches")));
    let leaves = slow.replace(
        "        AscendC::Muls(y, y, CUBIC",
        "        if (count == 0) { return; }\n        AscendC::Muls(y, y, CUBIC",
    );
    refuses("Y01", &leaves, "leaves early");
}

/// The kernel with a scalar read in each round, two buffers and no barrier.
fn waiting() -> String {
    let compute =
        "        AscendC::ReduceSum(poly, x, ones, count);\n        AscendC::Muls(y, x, poly.GetValue(0), count);\n";
    computing(compute)
        .replace("BUFFER_NUM = 1", "BUFFER_NUM = 2")
        .replace("            AscendC::PipeBarrier<PIPE_ALL>();\n", "")
}

#[test]
fn d23_copies_the_next_tile_in_before_computing_this_one() {
    let slow = waiting();
    let fast = round_trip("D23", &slow);
    let loop_text = "        if (0 < tiles) {\n            CopyIn(0 * TILE, TILE);\n        }\n        for (uint32_t tile = 0; tile < tiles; tile++) {\n            if (tile + 1 < tiles) {\n                CopyIn((tile + 1) * TILE, TILE);\n            }\n            Compute(TILE);\n";
    assert!(fast.contains(loop_text), "{fast}");
    let named = slow.replace(
        "            CopyIn(tile * TILE, TILE);\n",
        "            const uint32_t size = tile == tiles - 1 ? 8 : TILE;\n            CopyIn(tile * TILE, size);\n",
    );
    let fast = round_trip("D23", &named);
    assert!(fast.contains("            if (tile + 1 < tiles) {\n                const uint32_t size = (tile + 1) == tiles - 1 ? 8 : TILE;\n                CopyIn((tile + 1) * TILE, size);\n            }\n            const uint32_t size = tile == tiles - 1 ? 8 : TILE;\n            Compute"), "{fast}");
    let stepped =
        slow.replace("tile < tiles; tile++", "tile < tiles; tile += step").replace("CopyIn(tile * TILE", "CopyIn(tile");
    assert!(
        round_trip("D23", &stepped).contains("if (tile + step < tiles) {\n                CopyIn(tile + step, TILE);")
    );
    refuses("D23", &slow.replace("BUFFER_NUM = 2", "BUFFER_NUM = 1"), "has 1 buffer");
    let unknown = slow.replace("InitBuffer(inQueue, BUFFER_NUM", "InitBuffer(inQueue, length");
    assert_eq!(apply("D23", &unknown).0.conditions, ["inQueue has 2 buffers at least (length)"]);
    refuses(
        "D23",
        &slow.replace("poly.GetValue(0)", "CUBIC").replace("ReduceSum(poly, x, ones, count)", "Exp(poly, x, count)"),
        "makes the scalar unit wait",
    );
    // The queue of the vector unit is full of this round when the next one begins.
    let many = "Exp(poly, x, count);\n        AscendC::".repeat(15);
    let busy = slow
        .replace("poly.GetValue(0)", "CUBIC")
        .replace("ReduceSum(poly, x, ones, count)", &format!("{many}Exp(poly, x, count)"));
    assert!(round_trip("D23", &busy).contains("if (tile + 1 < tiles) {\n                CopyIn("), "{busy}");
    let looped = slow.replace("poly.GetValue(0)", "CUBIC").replace("AscendC::ReduceSum(poly, x, ones, count)", "for (uint32_t i = 0; i < 4; i++) {\n            AscendC::Exp(poly, x, count);\n        }\n        AscendC::Exp(poly, x, count)");
    assert!(round_trip("D23", &looped).contains("if (tile + 1 < tiles) {\n                CopyIn("), "{looped}");
    refuses(
        "D23",
        &slow.replace(
            "            Compute(TILE);\n",
            "            if (tile == 3) {\n                break;\n            }\n            Compute(TILE);\n",
        ),
        "break stands",
    );
    refuses(
        "D23",
        &slow.replace("            Compute(TILE);\n", "            tiles -= 1;\n            Compute(TILE);\n"),
        "tiles may change",
    );
    refuses("D23", &slow.replace("DataCopyPad(yGm[start]", "DataCopyPad(xGm[start]"), "xGm is written");
    refuses("D23", &computing("        AscendC::ReduceSum(poly, x, ones, count);\n"), "full barrier");
}

#[test]
fn d23_takes_what_copies_in_from_the_loop_itself() {
    let call = "            CopyIn(tile * TILE, TILE);\n";
    let written = "            AscendC::LocalTensor<float> next = inQueue.AllocTensor<float>();\n            // whole tiles\n            AscendC::DataCopy(next, xGm[tile * TILE],\n                              TILE);\n            inQueue.EnQue(next);\n";
    let slow = waiting().replace(call, written);
    let fast = round_trip("D23", &slow);
    let before = "        if (0 < tiles) {\n            AscendC::LocalTensor<float> next = inQueue.AllocTensor<float>();\n            // whole tiles\n            AscendC::DataCopy(next, xGm[0 * TILE],\n                              TILE);\n            inQueue.EnQue(next);\n        }\n        for (";
    assert!(fast.contains(before), "{fast}");
    let inside = "            if (tile + 1 < tiles) {\n                AscendC::LocalTensor<float> next = inQueue.AllocTensor<float>();\n                // whole tiles\n                AscendC::DataCopy(next, xGm[(tile + 1) * TILE],\n                                  TILE);\n                inQueue.EnQue(next);\n            }\n            Compute(TILE);\n";
    assert!(fast.contains(inside), "{fast}");
    let kept = slow.replace("            Compute(TILE);\n", "            Compute(TILE + next.GetSize());\n");
    refuses("D23", &kept, "next is used after");
    let twice = slow.replace(written, &format!("{call}            CopyIn(tile, TILE);\n"));
    refuses("D23", &twice, "inQueue is filled more than once a round");
    // Several calls that fill move together.
    let more = "    __aicore__ inline void CopyMore(uint32_t start)\n    {\n        AscendC::LocalTensor<float> more = moreQueue.AllocTensor<float>();\n        AscendC::DataCopy(more, xGm[start], TILE);\n        moreQueue.EnQue(more);\n    }\n    __aicore__ inline void Compute(";
    let two = slow
        .replace(written, &format!("{call}            CopyMore(tile);\n"))
        .replace("    __aicore__ inline void Compute(", more)
        .replace("x = inQueue.DeQue<float>();\n", "x = inQueue.DeQue<float>();\n        AscendC::LocalTensor<float> added = moreQueue.DeQue<float>();\n        moreQueue.FreeTensor(added);\n")
        .replace("    AscendC::TQue<AscendC::TPosition::VECIN, BUFFER_NUM> inQueue;\n", "    AscendC::TQue<AscendC::TPosition::VECIN, BUFFER_NUM> inQueue;\n    AscendC::TQue<AscendC::TPosition::VECIN, BUFFER_NUM> moreQueue;\n")
        .replace("        pipe.InitBuffer(inQueue,", "        pipe.InitBuffer(moreQueue, 2, TILE * sizeof(float));\n        pipe.InitBuffer(inQueue,");
    let fast = round_trip("D23", &two);
    assert!(
        fast.contains(
            "CopyIn((tile + 1) * TILE, TILE);\n                CopyMore(tile + 1);\n            }\n            Compute"
        ),
        "{fast}"
    );
}

#[test]
fn d23_lets_a_queue_hold_two_tensors() {
    let shallow = waiting().replace("VECIN, BUFFER_NUM>", "VECIN, 1>");
    let fast = round_trip("D23", &shallow);
    assert!(fast.contains("VECIN, 2> inQueue"), "{fast}");
    let unknown = waiting().replace("VECIN, BUFFER_NUM>", "VECIN, kDepth>");
    assert!(apply("D23", &unknown).0.conditions.contains(&"inQueue may hold two tensors (kDepth)".to_owned()));
}

/// The kernel with a second input that every round loads again.
fn reloading() -> String {
    let init = "        weightGm.SetGlobalBuffer((__gm__ float *)x, TILE);\n        pipe.InitBuffer(weightQueue, 1, TILE * sizeof(float));\n";
    let members =
        "    AscendC::TQue<AscendC::TPosition::VECIN, 1> weightQueue;\n    AscendC::GlobalTensor<float> weightGm;\n";
    kernel(members, init, "        AscendC::Mul(y, x, weight, count);\n")
        .replace("        inQueue.EnQue(xLocal);\n", "        inQueue.EnQue(xLocal);\n        uint32_t rows = TILE / 8;\n        AscendC::LocalTensor<float> weight = weightQueue.AllocTensor<float>();\n        AscendC::DataCopy(weight, weightGm, rows * 8);\n        weightQueue.EnQue(weight);\n")
        .replace("        AscendC::LocalTensor<float> y = outQueue", "        AscendC::LocalTensor<float> weight = weightQueue.DeQue<float>();\n        AscendC::LocalTensor<float> y = outQueue")
        .replace("        inQueue.FreeTensor(x);\n", "        inQueue.FreeTensor(x);\n        weightQueue.FreeTensor(weight);\n")
}

#[test]
fn d13_loads_once_what_every_round_loads_again() {
    let slow = reloading();
    let fast = round_trip("D13", &slow);
    let before = "        uint32_t rows = TILE / 8;\n        AscendC::LocalTensor<float> weightLoaded = weightQueue.AllocTensor<float>();\n        AscendC::DataCopy(weightLoaded, weightGm, rows * 8);\n        weightQueue.EnQue(weightLoaded);\n        AscendC::LocalTensor<float> weight = weightQueue.DeQue<float>();\n        for (uint32_t tile = 0;";
    assert!(fast.contains(before), "{fast}");
    assert!(fast.contains("Compute(TILE, weight);"), "{fast}");
    assert!(fast.contains("Compute(uint32_t count, const AscendC::LocalTensor<float> &weight)"), "{fast}");
    assert!(fast.contains("        }\n        weightQueue.FreeTensor(weight);\n    }\n"), "{fast}");
    assert_eq!(fast.matches("weightQueue.").count(), 4);
    // Barriers stay needless with the tensor handed over as a parameter.
    assert!(!apply("Y01", &fast).1.contains("PipeBarrier"));
    refuses("D13", &slow.replace("weightGm, rows", "weightGm[start], rows"), "start may change");
    refuses("D13", &slow.replace("DataCopyPad(yGm[start]", "DataCopyPad(weightGm[start]"), "weightGm may be written");
    refuses("D13", &slow.replace("Mul(y, x, weight, count)", "Mul(weight, x, x, count)"), "weight may be changed");
    refuses(
        "D13",
        &slow.replace(
            "            Compute(TILE);\n",
            "            if (tile > 0) {\n                Compute(TILE);\n            }\n",
        ),
        "not called in every round",
    );
    refuses(
        "D13",
        &slow.replace(
            "            Compute(TILE);\n",
            "            if (tile > 9) {\n                return;\n            }\n            Compute(TILE);\n",
        ),
        "return stands",
    );
}

#[test]
fn v36_does_once_what_every_round_does_to_an_unchanged_tensor() {
    let weights = reloading().replace(
        "        AscendC::Mul(y, x, weight, count);\n",
        "        AscendC::Muls(ones, weight, CUBIC, TILE);\n        AscendC::Mul(y, x, ones, count);\n",
    );
    // Where the function takes the tensor itself there is nothing to see: D13 comes first.
    assert!(reasons("V36", &weights).is_empty());
    let slow = apply("D13", &weights).1;
    let fast = round_trip("V36", &slow);
    let before = "weightQueue.DeQue<float>();\n        AscendC::LocalTensor<float> ones = onesBuf.Get<float>();\n        AscendC::Muls(ones, weight, CUBIC, TILE);\n        for (";
    assert!(fast.contains(before), "{fast}");
    assert!(fast.contains("onesBuf.Get<float>();\n        AscendC::Mul(y, x, ones, count);\n"), "{fast}");
    refuses("V36", &slow.replace("CUBIC, TILE)", "CUBIC, count)"), "count may change");
    refuses("V36", &slow.replace("Mul(y, x, ones, count)", "Mul(ones, x, ones, count)"), "written at line");
    refuses("V36", &slow.replace("Mul(y, x, ones, count)", "Mul(weight, x, ones, count)"), "weight may be changed");
}

#[test]
fn v28_knows_that_a_reduction_does_not_read_its_scratch_tensor() {
    let slow = computing(
        "        AscendC::ReduceSum(y, x, poly, count);\n        float sum = y.GetValue(0);\n        AscendC::Duplicate(poly, sum, count);\n        AscendC::Div(y, x, poly, count);\n",
    );
    assert!(apply("V28", &slow).1.contains("GetValue(0);\n        AscendC::Muls(y, x, 1.0f / sum, count);\n"));
    // A buffer that another function takes too: it must fill it before it reads, and no more than it filled.
    let again = slow.replace(
        "    AscendC::TPipe pipe;",
        "    __aicore__ inline void Other(uint32_t some)\n    {\n        AscendC::LocalTensor<float> other = polyBuf.Get<float>();\n        AscendC::Duplicate(other, CUBIC, some);\n        AscendC::Exp(other, other, some);\n    }\n\n    AscendC::TPipe pipe;",
    );
    assert!(apply("V28", &again).1.contains("1.0f / sum"));
    refuses("V28", &again.replace("Exp(other, other, some)", "Exp(other, other, TILE)"), "more than one place");
    refuses("V28", &again.replace("        AscendC::Duplicate(other, CUBIC, some);\n", ""), "more than one place");
    refuses(
        "V28",
        &slow.replace("ReduceSum(y, x, poly, count)", "Add(y, x, poly, count)"),
        "read before it is written",
    );
}

#[test]
fn v35_takes_the_root_of_one_number_with_the_scalar_unit() {
    let slow = computing(
        "        AscendC::Duplicate(poly, CUBIC + 1.0f, count);\n        AscendC::Sqrt(poly, poly, count);\n        AscendC::Div(y, x, poly, count);\n",
    );
    let fast = round_trip("V35", &slow);
    assert!(
        fast.contains("        AscendC::Duplicate(poly, sqrt(CUBIC + 1.0f), count);\n        AscendC::Div"),
        "{fast}"
    );
    assert!(apply("V35", &slow).0.rounding);
    refuses("V35", &slow.replace("Sqrt(poly, poly, count)", "Sqrt(poly, poly, 8)"), "the counts differ");
    let trip = computing(
        "        AscendC::ReduceSum(poly, x, ones, count);\n        float mean = poly.GetValue(0) * CUBIC;\n        poly.SetValue(0, mean + 1.0f);\n        AscendC::Sqrt(poly, poly, 1);\n        float root = poly.GetValue(0);\n        AscendC::Muls(y, x, root, count);\n",
    );
    let fast = round_trip("V35", &trip);
    assert!(fast.contains("* CUBIC;\n        float root = sqrt(mean + 1.0f);\n        AscendC::Muls"), "{fast}");
    refuses("V35", &trip.replace("Muls(y, x, root, count)", "Mul(y, x, poly, count)"), "used again");
    refuses(
        "V35",
        &trip.replace("        AscendC::ReduceSum(poly, x, ones, count);\n", ""),
        "read before it is written",
    );
    refuses(
        "V35",
        &trip.replace("LocalTensor<float> poly = polyBuf.Get<float>()", "LocalTensor<half> poly = polyBuf.Get<half>()"),
        "not of half",
    );
}
