//! Queues and buffers.

use super::*;

#[test]
fn y06_takes_depth_1_where_a_queue_never_holds_two() {
    let slow = computing(EXP).replace("BUFFER_NUM = 1", "BUFFER_NUM = 2");
    let fast = round_trip("Y06", &slow);
    assert!(fast.contains("TQue<AscendC::TPosition::VECIN, 1> inQueue"), "{fast}");
    assert!(fast.contains("InitBuffer(inQueue, BUFFER_NUM,"), "{fast}");
    let ahead = slow
        .replace("        for (uint32_t tile = 0", "        CopyIn(0, TILE);\n        for (uint32_t tile = 0")
        .replace("            Compute(TILE);\n", "            CopyIn(tile, TILE);\n            Compute(TILE);\n");
    let found = motif("Y06").find(&context(&ahead));
    assert!(found.refused[0].reason.contains("inQueue may hold a tensor already"), "{found:?}");
    assert_eq!(found.sites.len(), 1);
    let left = slow.replace(
        "            Compute(TILE);\n",
        "            if (tile == 3) {\n                return;\n            }\n            Compute(TILE);\n",
    );
    assert!(motif("Y06").find(&context(&left)).refused[0].reason.contains("left early"));
    let handed = slow.replace("        inQueue.EnQue(xLocal);", "        Give(inQueue, xLocal);");
    assert!(motif("Y06").find(&context(&handed)).refused[0].reason.contains("handed on"));
    let kept = slow.replace("            CopyOut(tile * TILE, TILE);\n", "");
    assert!(motif("Y06").find(&context(&kept)).refused[0].reason.contains("outQueue"));
    assert!(reasons("Y06", &computing(EXP)).is_empty());
}
