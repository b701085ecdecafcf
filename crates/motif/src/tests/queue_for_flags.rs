//! Buffers that flags order by hand, as queues.

use super::*;

/// A kernel whose rounds are made of statements, with more functions of the class.
fn kernel_of(round: &[&str], functions: &str) -> String {
    let round: String = round.iter().map(|line| format!("            {line}\n")).collect();
    format!(
        r#"#include "kernel_operator.h"
using namespace AscendC;
class Mover {{
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y)
    {{
        xGm.SetGlobalBuffer((__gm__ float *)x);
        yGm.SetGlobalBuffer((__gm__ float *)y);
        pipe.InitBuffer(rowBuf, TILE * sizeof(float));
        pipe.InitBuffer(sumBuf, TILE * sizeof(float));
    }}
    __aicore__ inline void Process(uint32_t tiles)
    {{
        for (uint32_t tile = 0; tile < tiles; tile++) {{
{round}        }}
    }}

private:
{functions}    TPipe pipe;
    TBuf<TPosition::VECCALC> rowBuf;
    TBuf<> sumBuf;
    GlobalTensor<float> xGm;
    GlobalTensor<float> yGm;
}};
"#
    )
}

const GET: &str = "LocalTensor<float> row = rowBuf.Get<float>();";
const LOAD: &str = "DataCopy(row, xGm[tile * TILE], TILE);";
const STORE: &str = "DataCopy(yGm[tile * TILE], row, TILE);";

fn set(event: &str) -> String {
    format!("SetFlag<HardEvent::{event}>(EVENT_ID0);")
}

fn wait(event: &str) -> String {
    format!("WaitFlag<HardEvent::{event}>(EVENT_ID0);")
}

/// A pure copy, round by round.
fn moved() -> String {
    let flags = ["MTE2_MTE3", "MTE3_MTE2"].map(|event| [set(event), wait(event)]);
    kernel_of(&[GET, LOAD, &flags[0][0], &flags[0][1], STORE, &flags[1][0], &flags[1][1]], "")
}

fn pair(event: &str) -> String {
    let id = format!("id{}", event.replace('_', ""));
    format!(
        "event_t {id} = static_cast<event_t>(pipe.FetchEventID(HardEvent::{event}));\n            SetFlag<HardEvent::{event}>({id});\n            WaitFlag<HardEvent::{event}>({id});"
    )
}

/// A copy in, work in another buffer, and a copy out.
fn worked() -> String {
    kernel_of(
        &[
            GET,
            "LocalTensor<float> sum = sumBuf.Get<float>();",
            LOAD,
            &pair("MTE2_V"),
            "Exp(sum, row, TILE);",
            "Add(sum, sum, row, TILE);",
            &pair("V_MTE3"),
            "DataCopy(yGm[tile * TILE], sum, TILE);",
            &pair("MTE3_MTE2"),
        ],
        "",
    )
}

fn lines(text: &str, from: &str, to: &str) -> String {
    let start = text.find(from).unwrap_or_else(|| panic!("{from}\n{text}"));
    let end = text[start..].find(to).map_or(text.len(), |end| start + end);
    text[start..end].to_owned()
}

#[test]
fn y13_binds_a_queue_to_copies_in_and_out() {
    let fast = round_trip("Y13", &moved());
    println!("{}", lines(&fast, "            Local", "        }\n"));
    assert!(fast.contains("    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> rowBuf;\n"), "{fast}");
    assert!(fast.contains("pipe.InitBuffer(rowBuf, 1, TILE * sizeof(float));"), "{fast}");
}

#[test]
fn y13_takes_all_queues_that_a_round_needs() {
    let (_, fast) = apply("Y13", &worked());
    println!("{}", lines(&fast, "            Local", "        }\n"));
    assert!(fast.contains("    TQue<TPosition::VECIN, 1> rowBuf;\n    TQue<TPosition::VECOUT, 1> sumBuf;\n"), "{fast}");
}
