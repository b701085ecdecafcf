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
    let round = "            LocalTensor<float> row = rowBuf.AllocTensor<float>();
            DataCopy(row, xGm[tile * TILE], TILE);
            rowBuf.EnQue(row);
            row = rowBuf.DeQue<float>();
            DataCopy(yGm[tile * TILE], row, TILE);
            rowBuf.FreeTensor(row);
";
    assert_eq!(lines(&fast, "            Local", "        }\n"), round);
    assert!(fast.contains("    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> rowBuf;\n"), "{fast}");
    assert!(fast.contains("pipe.InitBuffer(rowBuf, 1, TILE * sizeof(float));"), "{fast}");
    // The older form, and one that asks for the id.
    let older = |event: &str| {
        let (from, to) = event.split_once('_').unwrap();
        ["set", "wait"].map(|kind| format!("{kind}_flag(PIPE_{from}, PIPE_{to}, EVENT_ID0);"))
    };
    let (mut by_pipes, mut asked) = (moved(), moved());
    for event in ["MTE2_MTE3", "MTE3_MTE2"] {
        let [first, second] = older(event);
        by_pipes = by_pipes.replace(&set(event), &first).replace(&wait(event), &second);
        asked = asked.replace(&format!("{}\n            {}", set(event), wait(event)), &pair(event));
    }
    assert_eq!(apply("Y13", &by_pipes).1, fast);
    assert_eq!(apply("Y13", &asked).1, fast);
}

#[test]
fn y13_takes_all_queues_that_a_round_needs() {
    let (_, fast) = apply("Y13", &worked());
    let round = "            LocalTensor<float> row = rowBuf.AllocTensor<float>();
            LocalTensor<float> sum = sumBuf.AllocTensor<float>();
            DataCopy(row, xGm[tile * TILE], TILE);
            rowBuf.EnQue(row);
            row = rowBuf.DeQue<float>();
            Exp(sum, row, TILE);
            Add(sum, sum, row, TILE);
            rowBuf.FreeTensor(row);
            sumBuf.EnQue(sum);
            sum = sumBuf.DeQue<float>();
            DataCopy(yGm[tile * TILE], sum, TILE);
            sumBuf.FreeTensor(sum);
";
    assert_eq!(lines(&fast, "            Local", "        }\n"), round);
    assert!(fast.contains("    TQue<TPosition::VECIN, 1> rowBuf;\n    TQue<TPosition::VECOUT, 1> sumBuf;\n"), "{fast}");
}

#[test]
fn y13_leaves_flags_of_work_between_the_copies() {
    let [to_work, to_store, back] = ["MTE2_V", "V_MTE3", "MTE3_MTE2"].map(pair);
    let slow = kernel_of(&[GET, LOAD, &to_work, "Abs(row, row, TILE);", &to_store, STORE, &back], "");
    let (_, fast) = apply("Y13", &slow);
    for stays in ["MTE2_V", "V_MTE3"] {
        assert!(fast.contains(&pair(stays)), "{stays}\n{fast}");
    }
    assert!(!fast.contains("MTE3_MTE2"), "{fast}");
    assert!(fast.contains("TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> rowBuf;"), "{fast}");
}

#[test]
fn y13_takes_the_ids_of_each_arm_along() {
    let arm = |copy: &str| {
        let [out, back] = ["MTE2_MTE3", "MTE3_MTE2"].map(pair);
        format!(
            "{GET}\n            DataCopy(row, xGm[tile * TILE], {copy});\n            {out}\n            DataCopy(yGm[tile * TILE], row, {copy});\n            {back}\n"
        )
    };
    let round = format!(
        "if constexpr (WIDE) {{\n            {}            }} else {{\n            {}            }}",
        arm("TILE"),
        arm("TILE / 2")
    );
    let (_, fast) = apply("Y13", &kernel_of(&[&round], ""));
    for gone in ["FetchEventID", "Flag<", "Get<"] {
        assert!(!fast.contains(gone), "{gone}\n{fast}");
    }
    assert_eq!(fast.matches("row = rowBuf.DeQue<float>();").count(), 2);
}

/// A tensor that is a member, a function for each step, and functions for flags.
fn in_steps() -> String {
    let functions = r"    __aicore__ inline void CopyIn(uint32_t tile)
    {
        DataCopy(this->row, xGm[tile * TILE], TILE);
    }
    __aicore__ inline void CopyOut(uint32_t tile)
    {
        DataCopy(yGm[tile * TILE], this->row, TILE);
    }
    template <HardEvent event>
    __aicore__ inline void Wait()
    {
        event_t id = static_cast<event_t>(pipe.FetchEventID(event));
        SetFlag<event>(id);
        WaitFlag<event>(id);
    }
    LocalTensor<float> row;
";
    let round = ["CopyIn(tile);", "Wait<HardEvent::MTE2_MTE3>();", "CopyOut(tile);", "Wait<HardEvent::MTE3_MTE2>();"];
    let init = "        pipe.InitBuffer(sumBuf, TILE * sizeof(float));\n";
    kernel_of(&round, functions).replace(init, &format!("{init}        this->row = rowBuf.Get<float>();\n"))
}

#[test]
fn y13_takes_a_member_anew_in_every_round() {
    let (_, fast) = apply("Y13", &in_steps());
    let round = "            this->row = rowBuf.AllocTensor<float>();
            CopyIn(tile);
            rowBuf.EnQue(this->row);
            this->row = rowBuf.DeQue<float>();
            CopyOut(tile);
            rowBuf.FreeTensor(this->row);
";
    assert_eq!(lines(&fast, "            this->row = ", "        }\n"), round);
    assert!(!fast.contains("Get<float>"), "{fast}");
}

#[test]
fn y13_drops_flags_beside_queues_that_do_the_same() {
    let fast = apply("Y13", &worked()).1;
    let store = "            DataCopy(yGm[tile * TILE], sum, TILE);\n";
    let slow = fast.replace(store, &format!("            {}\n{store}            {}\n", pair("V_MTE3"), pair("MTE3_V")));
    let (site, again) = apply("Y13", &slow);
    assert_eq!(again, fast);
    assert_eq!(site.note, "fewer flags in Mover");
    // A queue of copies in is bound where copies out are all that uses it.
    let bound = apply("Y13", &moved()).1;
    let unbound = bound.replace("TQueBind<TPosition::VECIN, TPosition::VECOUT, 1>", "TQue<TPosition::VECIN, 1>");
    let unbound = unbound
        .replace("            DataCopy(yGm", &format!("            {}\n            DataCopy(yGm", pair("MTE2_MTE3")));
    let free = "            rowBuf.FreeTensor(row);\n";
    let unbound = unbound.replace(free, &format!("            {}\n{free}", pair("MTE3_MTE2")));
    assert_eq!(apply("Y13", &unbound).1, bound);
}

#[test]
fn y13_refuses_what_queues_would_not_order() {
    let round = |from: &str, to: &str, reason: &str| {
        let slow = moved();
        assert!(slow.contains(from), "{from}\n{slow}");
        refuses("Y13", &slow.replace(from, to), reason);
    };
    let store = &format!("            {STORE}\n");
    let load = &format!("            {LOAD}\n");
    // Some rounds keep what an earlier one had, or part of it.
    round(
        load,
        &format!("            if (tile == 0) {{\n    {load}            }}\n"),
        "only some rounds write this part",
    );
    let pad = "            if (tile == 0) {\n                Duplicate(row, 0.0f, 8);\n            }\n";
    let between = format!("{pad}            {}\n            {}\n{load}", pair("V_MTE2"), pair("V_MTE3"));
    round(load, &between, "only some rounds write this part");
    // Left in the middle, used outside, filled again.
    let leave = "            if (tile == 3) {\n                continue;\n            }\n";
    round(store, &format!("{leave}{store}"), "may not take turns");
    let declared = format!("            {GET}\n");
    let outside = moved()
        .replace(&declared, "")
        .replace("        for (", &format!("        {GET}\n        {LOAD}\n        for ("))
        .replace("[tile * TILE], TILE);\n        for", "[0], TILE);\n        for");
    refuses("Y13", &outside, "is filled again behind a copy out");
    round(store, &format!("{store}{load}"), "is filled again behind a copy out");
    // Parts of a buffer, other names for it, functions that nobody knows.
    round("rowBuf.Get<float>()", "rowBuf.Get<float>(TILE)", "is not all of rowBuf");
    round(load, &format!("            LocalTensor<float> part = row[8];\n{load}"), "part is made of row");
    round(load, &format!("            Consume(pipe, row);\n{load}"), "read before this round fills it");
    round(load, &format!("            row.Mystery();\n{load}"), "is not understood");
    // What flags do not order now nobody orders then.
    round(store, &format!("            float first = row.GetValue(0);\n{store}"), "nothing orders MTE2");
    let unflagged = moved().replace(&set("MTE2_MTE3"), "").replace(&wait("MTE2_MTE3"), "");
    let work = unflagged.replace(load, &format!("{load}            Abs(row, row, TILE);\n"));
    refuses("Y13", &work, "nothing orders MTE2");
    // Global memory.
    round("DataCopy(yGm[", "DataCopy(xGm[", "the same global memory");
    // Protocols, directives, other classes.
    round(load, &format!("            SyncAll();\n{load}"), "protocol");
    round(load, &format!("{load}#ifdef SOME\n            Relu(row, row, 8);\n#endif\n"), "a directive stands");
    let derived = format!("{}class Other : public Mover {{\n    void Go() {{ this->Process(4); }}\n}};\n", moved());
    refuses("Y13", &derived, "other classes inherit Mover");
    let whole = format!("{}class Whole {{\n    void Go() {{ mover.Process(4); }}\n    Mover mover;\n}};\n", moved());
    refuses("Y13", &whole, "Whole has an object of Mover");
    // What comes next may read what the last round wrote.
    let entry = "extern \"C\" __global__ __aicore__ void both(GM_ADDR x, GM_ADDR y, GM_ADDR w, GM_ADDR z)\n{\n    Mover first;\n    first.Init(x, y);\n    first.Process(4);\n    Mover second;\n    second.Init(w, z);\n    second.Process(4);\n}\n";
    refuses("Y13", &format!("{}{entry}", moved()), "may be read by the object that runs next");
    let one = entry.replace("    second.Init(w, z);\n    second.Process(4);\n", "");
    assert_eq!(motif("Y13").find(&context(&format!("{}{one}", moved()))).sites.len(), 1);
    // A macro is what it stands for.
    let copies = "#define LOAD(to) DataCopy(to, xGm, TILE)\n";
    let hidden = moved()
        .replace("class Mover", &format!("{copies}class Mover"))
        .replace(load, &format!("            LOAD(row);\n{load}"));
    refuses("Y13", &hidden, "the macro LOAD has Copy in it");
    // Nothing waits for a round, or all of it is ordered otherwise.
    let forward = moved().replace(&set("MTE3_MTE2"), "PipeBarrier<PIPE_ALL>();").replace(&wait("MTE3_MTE2"), "");
    assert_eq!(reasons("Y13", &forward), Vec::<String>::new());
}

#[test]
fn y13_takes_no_flag_from_a_base_class() {
    // The flags of the base order what others make of it, too.
    let base = moved().replace("class Mover {", "class Base {").replace("private:\n", "protected:\n");
    let queue = "public:\n    void Go() {\n        this->Process(4);\n        LocalTensor<float> t = own.AllocTensor<float>();\n        own.FreeTensor(t);\n    }\n    TQue<TPosition::VECIN, 1> own;\n";
    let text = format!("{base}class One : public Base {{\n{queue}}};\nclass Two : public Base {{\n{queue}}};\n");
    let found = motif("Y13").find(&context(&text));
    assert!(found.sites.is_empty(), "{found:?}");
}

#[test]
fn y13_refuses_where_a_flag_that_stays_may_have_the_id() {
    let other = format!(
        "            {}\n            Abs(sumBuf.Get<float>(), sumBuf.Get<float>(), 8);\n            {}\n",
        set("MTE3_MTE2"),
        wait("MTE3_MTE2")
    );
    let slow = moved().replace(&format!("            {LOAD}\n"), &format!("{other}            {LOAD}\n"));
    refuses("Y13", &slow, "a queue may have the id EVENT_ID0 of MTE3_MTE2 too");
}

#[test]
fn y13_opens_two_buffers_where_a_constant_takes_all_of_the_memory() {
    let moved = moved()
        .replace("using namespace AscendC;\n", "using namespace AscendC;\nconstexpr uint32_t ALL_BYTES = 195584;\n")
        .replace("rowBuf, TILE * sizeof(float)", "rowBuf, ALL_BYTES")
        .replace(
            "        pipe.InitBuffer(rowBuf",
            "        chunk_ = ALL_BYTES / sizeof(float);\n        pipe.InitBuffer(rowBuf",
        )
        .replace("    TPipe pipe;\n", "    TPipe pipe;\n    uint32_t chunk_;\n")
        .replace("        pipe.InitBuffer(sumBuf, TILE * sizeof(float));\n", "");
    let queue = apply("Y13", &moved).1;
    let (site, fast) = apply("D01", &queue);
    assert_eq!(site.note, "2 buffers for rowBuf, half as long");
    assert!(fast.contains("ALL_BYTES = 97792;") && fast.contains("InitBuffer(rowBuf, 2, ALL_BYTES)"), "{fast}");
    assert!(rewound("D01", &fast, &queue));
    let asked = queue
        .replace("        chunk_ =", "        if (ALL_BYTES < 7) {\n            return;\n        }\n        chunk_ =");
    assert!(motif("D01").find(&context(&asked)).sites.is_empty());
}
