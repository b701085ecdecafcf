//! Copies and what orders them: barriers in classes with bases and helpers, copies ahead, loads out of loops.

use super::*;

#[test]
fn y01_follows_base_classes_and_tensors_passed_to_functions() {
    let plain = computing(EXP);
    let base = "class Base {\nprotected:\n    AscendC::TBuf<AscendC::TPosition::VECCALC> moreBuf;\n};\nclass Kernel : public Base {";
    assert!(!round_trip("Y01", &plain.replace("class Kernel {", base)).contains("PipeBarrier"));
    refuses("Y01", &plain.replace("class Kernel {", "class Kernel : public Base {"), "Base is not among the sources");
    // A barrier of a base class must be needless in everything that inherits it.
    let derived = "class More : public Kernel {\npublic:\n    __aicore__ inline void Extra() { AscendC::SyncAll(); }\n};\n";
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
    assert_eq!(findings.sites.iter().map(line).collect::<Vec<_>>(), ["AscendC::Exp(y, x, count);", "AscendC::Muls(y, y, CUBIC, count);"]);
    assert!(findings.refused.iter().any(|refused| refused.reason.contains("onesBuf is a TBuf that a copy touches")));
    let leaves = slow.replace("        AscendC::Muls(y, y, CUBIC", "        if (count == 0) { return; }\n        AscendC::Muls(y, y, CUBIC");
    refuses("Y01", &leaves, "leaves early");
}
