//! Queues and buffers.

use super::*;

/// The kernel with a queue around work in its computation.
fn with_scratch_queue(position: &str) -> String {
    kernel(
        &format!("    AscendC::TQue<AscendC::TPosition::{position}, 1> tmpQueue;\n"),
        "        pipe.InitBuffer(tmpQueue, 1, TILE * sizeof(float));\n",
        "        AscendC::LocalTensor<float> tmp = tmpQueue.AllocTensor<float>();\n        AscendC::Exp(tmp, x, count);\n        AscendC::Add(y, tmp, x, count);\n        tmpQueue.FreeTensor(tmp);\n",
    )
}

#[test]
fn y05_makes_a_buffer_of_a_queue_that_no_copy_touches() {
    for position in ["VECCALC", "VECIN"] {
        let fast = round_trip("Y05", &with_scratch_queue(position));
        for part in [
            "    AscendC::TBuf<AscendC::TPosition::VECCALC> tmpQueue;\n",
            "pipe.InitBuffer(tmpQueue, TILE * sizeof(float));\n",
            "tmp = tmpQueue.Get<float>();\n",
        ] {
            assert!(fast.contains(part), "{part}\n{fast}");
        }
        assert!(!fast.contains("tmpQueue.FreeTensor"));
    }
    let slow = with_scratch_queue("VECCALC");
    let handed = "        tmpQueue.EnQue(tmp);\n        AscendC::LocalTensor<float> later = tmpQueue.DeQue<float>();\n        AscendC::Add(y, later, x, count);\n        tmpQueue.FreeTensor(later);\n";
    let handed = slow.replace("        AscendC::Add(y, tmp, x, count);\n        tmpQueue.FreeTensor(tmp);\n", handed);
    assert!(apply("Y05", &handed).1.contains("later = tmpQueue.Get<float>();\n        AscendC::Add(y, later"));
    refuses("Y05", &slow.replace("tmpQueue, 1,", "tmpQueue, 2,"), "has 2 buffers");
    refuses("Y05", &slow.replace("Exp(tmp, x", "Mystery(tmp, x"), "not analysed");
    refuses(
        "Y05",
        &slow.replace(
            "        tmpQueue.FreeTensor(tmp)",
            "        if (tmpQueue.HasIdleBuffer()) {\n        }\n        tmpQueue.FreeTensor(tmp)",
        ),
        "needs a queue",
    );
    let copied = slow.replace("        AscendC::Exp(tmp, x, count);", "        AscendC::DataCopy(tmp, xGm, count);");
    assert!(reasons("Y05", &copied).is_empty());
}

#[test]
fn y05_gives_a_tensor_back_in_front_of_a_way_out_only() {
    let last = "        AscendC::Add(y, tmp, x, count);\n";
    let slow = with_scratch_queue("VECCALC").replace("        tmpQueue.FreeTensor(tmp);\n", "");
    let fast = slow
        .replace("tmpQueue, 1, ", "tmpQueue, ")
        .replace("TQue<AscendC::TPosition::VECCALC, 1> tmp", "TBuf<AscendC::TPosition::VECCALC> tmp")
        .replace("tmpQueue.AllocTensor", "tmpQueue.Get");
    let places = |text: &str| motif("Y05").rewind_sites(&context(text)).sites.len();
    let out = "        if (count == 0) {\n            return;\n        }\n";
    assert!(places(&fast) > 3, "{:?}", motif("Y05").rewind_sites(&context(&fast)));
    // Behind the last use alone, one for each position of the queue.
    assert_eq!(places(&fast.replace(last, &format!("{last}{out}"))), 3);
    assert_eq!(places(&fast.replace(last, &format!("{out}{last}"))), 0);
}

#[test]
fn d08_binds_the_queues_of_a_pure_copy() {
    let pass = "        AscendC::LocalTensor<float> xLocalIn = inQueue.DeQue<float>();\n        AscendC::LocalTensor<float> xLocalCopy = outQueueCopy.AllocTensor<float>();\n        AscendC::DataCopy(xLocalCopy, xLocalIn, count);\n        outQueueCopy.EnQue(xLocalCopy);\n        inQueue.FreeTensor(xLocalIn);\n";
    let plain = computing("");
    let compute = plain.find("    __aicore__ inline void Compute").unwrap();
    let out = plain.find("    __aicore__ inline void CopyOut").unwrap();
    let inits = "        pipe.InitBuffer(inQueue, BUFFER_NUM, TILE * sizeof(float));\n        pipe.InitBuffer(outQueueCopy, BUFFER_NUM, TILE * sizeof(float));\n";
    let members = "TPosition::VECIN, BUFFER_NUM> inQueue;\n    AscendC::TQue<AscendC::TPosition::VECOUT, BUFFER_NUM> outQueueCopy;\n";
    let slow = format!("{}{}", &plain[..compute], &plain[out..])
        .replace("            Compute(TILE);\n", "")
        .replace("outQueue", "outQueueCopy")
        .replace("        inQueue.EnQue(xLocal);\n", &format!("        inQueue.EnQue(xLocal);\n{pass}"));
    let at = slow.find("        AscendC::DataCopyPad(xLocal, ").unwrap();
    let end = slow[at..].find('\n').unwrap() + at;
    let slow = format!("{}        AscendC::DataCopy(xLocal, xGm[start], count);{}", &slow[..at], &slow[end..]);
    assert!(slow.contains(inits) && slow.contains(members));
    let fast = round_trip("D08", &slow);
    assert!(
        fast.contains(
            "    AscendC::TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT, BUFFER_NUM> inQueue;\n"
        ),
        "{fast}"
    );
    assert!(fast.contains("yLocal = inQueue.DeQue<float>();") && !fast.contains("outQueueCopy"), "{fast}");
    assert!(fast.contains("        inQueue.EnQue(xLocal);\n    }\n"), "{fast}");
    refuses(
        "D08",
        &slow.replace(
            "        outQueueCopy.EnQue(xLocalCopy)",
            "        AscendC::Exp(xLocalCopy, xLocalCopy, count);\n        outQueueCopy.EnQue(xLocalCopy)",
        ),
        "is used at line",
    );
    // A fill in front of the copy has no order with the copy out of the round before.
    let filled =
        "        AscendC::Duplicate(xLocal, 0.0f, count);\n        AscendC::DataCopy(xLocal, xGm[start], count);";
    refuses(
        "D08",
        &slow.replace("        AscendC::DataCopy(xLocal, xGm[start], count);", filled),
        "is not only copied",
    );
    refuses("D08", &slow.replace("xLocalCopy, xLocalIn, count)", "xLocalCopy, xLocalIn, {1, 8, 0, 0})"), "count form");
    refuses("D08", &slow.replace("    __aicore__ inline void CopyOut", "    __aicore__ inline void More()\n    {\n        outQueueCopy.EnQue(other);\n    }\n    __aicore__ inline void CopyOut"), "happens elsewhere too");
    let in_compute = computing("        AscendC::DataCopy(y, x, count);\n");
    assert!(apply("D08", &in_compute).1.contains("yLocal = inQueue.DeQue<float>();"));
}
