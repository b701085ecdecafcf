//! The class around a computation, and its entry function.

use super::super::draw::Draw;
use super::super::launch::Element;
use super::body::Body;
use super::flags::{Style, moves};
use super::process::{Rounds, process};
use super::{fast, fused, loops, rows};

/// What brings tensors to the computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Movement {
    /// Queues.
    Queues,
    /// Buffers, ordered by full barriers.
    Barriers,
    /// Buffers, ordered by flags that are set and awaited at once.
    Flags(Style),
}

/// What was drawn of a class before its text.
#[derive(Clone, Debug)]
pub(super) struct Class {
    element: Element,
    /// Whether lengths are whole tiles.
    pub(super) whole: bool,
    movement: Movement,
    rounds: Rounds,
    /// A second input that every round loads again.
    weights: Option<Weights>,
    /// The computation only copies.
    pure_copy: bool,
}

/// Which elements of the second input a round loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weights {
    /// The same in every round.
    Same,
    /// As many as the tile has.
    Tile,
    /// Where an index in global memory says.
    Index,
}

impl Class {
    pub(super) fn draw(draw: &mut Draw, element: Element) -> Self {
        let whole = draw.percent(45);
        let movement = match draw.below(100) {
            0..78 => Movement::Queues,
            78..85 => Movement::Flags(Style::draw(draw)),
            _ => Movement::Barriers,
        };
        let rounds = match draw.below(9) {
            0..2 => Rounds::Stepped,
            2..4 => Rounds::Choice,
            4..6 => Rounds::Tail,
            6 if whole => Rounds::Turns,
            7 if element == Element::Float => Rounds::Passes,
            _ => Rounds::Stepped,
        };
        let weights = match draw.below(9) {
            0 | 1 => Some(Weights::Same),
            2 => Some(Weights::Tile),
            3 => Some(Weights::Index),
            _ => None,
        };
        let weights = weights.filter(|_| movement == Movement::Queues && rounds != Rounds::Turns);
        let chance = match movement {
            Movement::Queues => 4,
            Movement::Flags(_) => 60,
            Movement::Barriers => 0,
        };
        let pure_copy = weights.is_none() && rounds != Rounds::Passes && chance > 0 && draw.percent(chance);
        Self { element, whole, movement, rounds, weights, pure_copy }
    }

    /// The source.
    pub(super) fn text(&self, draw: &mut Draw) -> String {
        let body = self.computation(draw);
        let (class, name) = self.class(draw, &body);
        let constants =
            format!("constexpr int32_t BUFFER_NUM = {};\nconstexpr uint32_t TILE_STEP = 64;\n", draw.one(&[1, 1, 2]));
        let fields = "struct KernelTilingData {\n    uint64_t length;\n    uint32_t tile;\n    uint32_t tiles;\n    uint32_t tail;\n    uint32_t mode;\n    uint32_t valid;\n    uint64_t rounds;\n    uint32_t divisor;\n    float scale;\n    float bias;\n};\n";
        let using = if draw.percent(60) { "using namespace AscendC;\n" } else { "" };
        let entry = entry(draw, &name);
        format!("#include \"kernel_operator.h\"\n{using}{constants}{fields}{class}{entry}")
    }

    /// Statements between taking `x` and `y` and handing them on.
    fn computation(&self, draw: &mut Draw) -> String {
        if self.pure_copy && self.movement != Movement::Queues {
            return String::new();
        }
        if self.pure_copy {
            return "        AscendC::DataCopy(y, x, COPIED);\n"
                .replace("COPIED", if self.whole { "count" } else { "tile_" });
        }
        let phrases = 4 + draw.below(5);
        let mut body = Body::new(draw, self.element, self.whole);
        if self.weights.is_some() {
            let to = body.target(&[]);
            body.line(&format!("AscendC::Add({to}, x, w, count);"));
            body.set(&to);
        }
        for _ in 0..phrases {
            match body.draw.below(12) {
                0..5 => fused::phrase(&mut body),
                5..8 => loops::phrase(&mut body),
                8..11 => rows::phrase(&mut body),
                _ => fast::phrase(&mut body),
            }
        }
        if !body.is_ready("y") || body.draw.percent(35) {
            let (p, r) = (body.source(), body.source());
            body.line(&format!("AscendC::Add(y, {p}, {r}, count);"));
        }
        body.finish()
    }

    fn class(&self, draw: &mut Draw, body: &str) -> (String, String) {
        let element = self.element.name();
        let mut members = Members::default();
        let mut compute = String::new();
        let (input, output) = match self.movement {
            Movement::Queues => {
                members.queue("inQueue", "VECIN", "BUFFER_NUM", draw.one(&["BUFFER_NUM", "BUFFER_NUM", "1"]), "tile_");
                members.queue("outQueue", "VECOUT", "BUFFER_NUM", draw.one(&["BUFFER_NUM", "1"]), "tile_");
                ("inQueue.DeQue<T>()", "outQueue.AllocTensor<T>()")
            }
            Movement::Barriers | Movement::Flags(_) => {
                members.buffer("inBuf", "T", "tile_");
                members.buffer("outBuf", "T", "tile_");
                ("inBuf.Get<T>()", "outBuf.Get<T>()")
            }
        };
        let declare = |name: &str, from: &str| format!("        AscendC::LocalTensor<T> {name} = {from};\n");
        compute.push_str(&declare("x", input));
        if self.weights.is_some() {
            members.queue("weightQueue", "VECIN", "1", "1", "tile_");
            compute.push_str(&declare("w", "weightQueue.DeQue<T>()"));
        }
        compute.push_str(&declare("y", output));
        for name in ["a", "b", "c"] {
            let view = format!("{name}View");
            if mentions(body, name) || mentions(body, &view) {
                let buffer = format!("{name}Buf");
                if draw.percent(8) {
                    // A queue that only the vector unit touches.
                    members.queue(&buffer, "VECCALC", "1", "1", "tile_");
                    compute.push_str(&declare(name, &format!("{buffer}.AllocTensor<T>()")));
                    members.given_back.push(format!("        {buffer}.FreeTensor({name});\n"));
                } else {
                    members.buffer(&buffer, "T", "tile_");
                    compute.push_str(&declare(name, &format!("{buffer}.Get<T>()")));
                }
            }
            if mentions(body, &view) {
                compute.push_str(&declare(&view, &format!("{name}[0]")));
            }
        }
        for (name, kind) in [("work", "T"), ("halves", "half"), ("numbers", "int32_t")] {
            if mentions(body, name) {
                members.buffer(&format!("{name}Buf"), kind, "tile_");
                compute.push_str(&format!("        AscendC::LocalTensor<{kind}> {name} = {name}Buf.Get<{kind}>();\n"));
            }
        }
        if mentions(body, "n") {
            compute.push_str("        uint32_t n = count;\n");
        }
        if mentions(body, "s") {
            let declared = match self.element {
                Element::Float | Element::Half => "float s = scale_;",
                _ => "int32_t s = 3;",
            };
            let declared = if self.rounds == Rounds::Passes { "float s = sum_ * 0.01f;" } else { declared };
            compute.push_str(&format!("        {declared}\n"));
        }
        compute.push_str(body);
        let mut ends = match self.movement {
            Movement::Queues => {
                vec!["        outQueue.EnQue(y);\n".to_owned(), "        inQueue.FreeTensor(x);\n".to_owned()]
            }
            Movement::Barriers | Movement::Flags(_) => Vec::new(),
        };
        if self.weights.is_some() {
            ends.push("        weightQueue.FreeTensor(w);\n".to_owned());
        }
        ends.extend(std::mem::take(&mut members.given_back));
        compute.push_str(&ends.concat());
        let copies = self.copies(draw);
        let compute = match self.movement {
            Movement::Flags(style) if self.pure_copy => moves(draw, style, self.whole),
            _ => format!("    __aicore__ inline void Compute(uint32_t count)\n    {{\n{compute}    }}\n"),
        };
        let flags = match self.movement {
            Movement::Flags(style) => style.function(),
            _ => "",
        };
        let helpers = helpers(draw, body);
        let process = self.process(draw);
        let init = self.init(draw);
        let first_pass = if self.rounds == Rounds::Passes { sum_of(&mut members) } else { String::new() };
        // The sum's buffer is made behind the others.
        let init = init.replace("        // buffers\n", &members.made());
        let class = format!(
            "class Kernel {{\npublic:\n{init}    __aicore__ inline void Process()\n    {{\n{process}    }}\n\nprivate:\n{copies}{compute}{flags}{first_pass}{helpers}\n    AscendC::TPipe pipe;\n{}    AscendC::GlobalTensor<T> xGm;\n    AscendC::GlobalTensor<T> yGm;\n    AscendC::GlobalTensor<T> zGm;\n    AscendC::GlobalTensor<int32_t> indexGm;\n    uint64_t length_;\n    uint32_t tile_;\n    uint32_t tiles_;\n    uint32_t tail_;\n    uint32_t mode_;\n    uint32_t valid_;\n    uint32_t rounds_;\n    uint32_t divisor_;\n    uint32_t first_;\n    uint32_t rows64_;\n    uint32_t rows128_;\n    float scale_;\n    float bias_;\n    float factor_;\n    float sum_;\n}};\n",
            members.declared()
        );
        templated(draw, &class, element)
    }

    fn init(&self, draw: &mut Draw) -> String {
        let offset = match self.rounds {
            Rounds::Turns => "",
            _ => " + AscendC::GetBlockIdx() * data.length",
        };
        let names = "        length_ = data.length;\n        tile_ = data.tile;\n        tiles_ = data.tiles;\n        tail_ = data.tail;\n        mode_ = data.mode;\n        valid_ = data.valid;\n        rounds_ = data.rounds;\n        divisor_ = data.divisor;\n        first_ = data.divisor;\n        rows64_ = data.tile / 64;\n        rows128_ = data.tile / 128;\n        scale_ = data.scale;\n        bias_ = data.bias;\n        factor_ = 1.5f;\n        sum_ = 0;\n";
        let tensors = format!(
            "        xGm.SetGlobalBuffer((__gm__ T *)x{offset});\n        yGm.SetGlobalBuffer((__gm__ T *)y{offset});\n        zGm.SetGlobalBuffer((__gm__ T *)z{offset});\n        indexGm.SetGlobalBuffer((__gm__ int32_t *)indices);\n"
        );
        let hints =
            if draw.percent(12) { "        xGm.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);\n" } else { "" };
        let tensors = format!("{tensors}{hints}");
        let order = draw.percent(50);
        let body = if order {
            format!("{names}{tensors}        // buffers\n")
        } else {
            format!("{tensors}{names}        // buffers\n")
        };
        format!(
            "    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR indices, GM_ADDR z, const KernelTilingData &data)\n    {{\n{body}    }}\n"
        )
    }

    fn process(&self, draw: &mut Draw) -> String {
        let barriers = self.movement == Movement::Barriers;
        let mut steps = vec!["CopyIn(START, COUNT);".to_owned()];
        if let Some(weights) = self.weights {
            let call = match weights {
                Weights::Same => "Weights(tile_);",
                Weights::Tile => "WeightsAt(START, COUNT);",
                Weights::Index => "WeightsOf(first_ + START / tile_, COUNT);",
            };
            steps.push(call.to_owned());
        }
        steps.extend(["Compute(COUNT);".to_owned(), "CopyOut(START, COUNT);".to_owned()]);
        if let Movement::Flags(style) = self.movement {
            return self.flagged(draw, style);
        }
        let mut with = Vec::new();
        for step in steps {
            with.push(step);
            if barriers || draw.percent(12) {
                with.push("AscendC::PipeBarrier<PIPE_ALL>();".to_owned());
            }
        }
        let first_pass = ["CopyIn(START, COUNT);".to_owned(), "sum_ += SumOf(COUNT);".to_owned()];
        let first_pass = if barriers {
            let barrier = "AscendC::PipeBarrier<PIPE_ALL>();".to_owned();
            vec![first_pass[0].clone(), barrier.clone(), first_pass[1].clone(), barrier]
        } else {
            first_pass.to_vec()
        };
        process(draw, self.rounds, &with, &first_pass)
    }

    /// The same where flags stand behind each step.
    fn flagged(&self, draw: &mut Draw, style: Style) -> String {
        if self.pure_copy {
            return process(draw, self.rounds, &["Move(START, COUNT);".to_owned()], &[]);
        }
        let step = |call: &str, events: &[&str]| [vec![call.to_owned()], style.waits(events)].concat();
        let filled = step("CopyIn(START, COUNT);", &["MTE2_V", "MTE2_S"]);
        let computed = step("Compute(COUNT);", &["V_MTE3", "S_MTE3", "V_MTE2", "S_MTE2"]);
        let stored = step("CopyOut(START, COUNT);", &["MTE3_V", "MTE3_S", "MTE3_MTE2"]);
        let summed = step("sum_ += SumOf(COUNT);", &["V_MTE2", "S_MTE2"]);
        let first_pass = [filled.clone(), summed].concat();
        process(draw, self.rounds, &[filled, computed, stored].concat(), &first_pass)
    }

    /// CopyIn, CopyOut, and what loads weights.
    fn copies(&self, draw: &mut Draw) -> String {
        if self.pure_copy && self.movement != Movement::Queues {
            return String::new();
        }
        let bytes = "static_cast<uint32_t>(count * sizeof(T))";
        let (taken, given) = match self.movement {
            Movement::Queues => ("inQueue.AllocTensor<T>()", "        inQueue.EnQue(xLocal);\n"),
            Movement::Barriers | Movement::Flags(_) => ("inBuf.Get<T>()", ""),
        };
        let padded = format!(
            "        AscendC::DataCopyPad(xLocal, xGm[start], AscendC::DataCopyExtParams{{1, {bytes}, 0, 0, 0}}, AscendC::DataCopyPadExtParams<T>{{false, 0, 0, 0}});\n"
        );
        let plain = "        AscendC::DataCopy(xLocal, xGm[start], count);\n".to_owned();
        let by_rows = "        for (uint32_t row = 0; row < count / TILE_STEP; row++) {\n            AscendC::DataCopy(xLocal[row * TILE_STEP], xGm[start + row * TILE_STEP], TILE_STEP);\n        }\n".to_owned();
        let copy = if self.whole { draw.one(&[padded, plain.clone(), plain, by_rows]) } else { padded };
        let fill = if self.movement == Movement::Queues && draw.percent(12) {
            let barrier = draw.one(&["        AscendC::PipeBarrier<PIPE_ALL>();\n", "        AscendC::TEventID filled = AscendC::GetTPipePtr()->FetchEventID(AscendC::HardEvent::V_MTE2);\n        AscendC::SetFlag<AscendC::HardEvent::V_MTE2>(filled);\n        AscendC::WaitFlag<AscendC::HardEvent::V_MTE2>(filled);\n"]);
            format!("        AscendC::Duplicate(xLocal, static_cast<T>(0), tile_);\n{barrier}")
        } else {
            String::new()
        };
        let mut text = format!(
            "    __aicore__ inline void CopyIn(uint32_t start, uint32_t count)\n    {{\n        AscendC::LocalTensor<T> xLocal = {taken};\n{fill}{copy}{given}    }}\n"
        );
        let (taken, given) = match self.movement {
            Movement::Queues => ("outQueue.DeQue<T>()", "        outQueue.FreeTensor(yLocal);\n"),
            Movement::Barriers | Movement::Flags(_) => ("outBuf.Get<T>()", ""),
        };
        let named = format!(
            "        AscendC::DataCopyExtParams params{{1, {bytes}, 0, 0, 0}};\n        AscendC::DataCopyPad(zGm[start], yLocal, params);\n"
        );
        let plain = "        AscendC::DataCopy(zGm[start], yLocal, count);\n".to_owned();
        let out = if self.whole { draw.one(&[named, plain]) } else { named };
        text.push_str(&format!("    __aicore__ inline void CopyOut(uint32_t start, uint32_t count)\n    {{\n        AscendC::LocalTensor<T> yLocal = {taken};\n{out}{given}    }}\n"));
        let load = |head: &str, before: &str, from: &str| {
            format!(
                "    __aicore__ inline void {head}\n    {{\n{before}        AscendC::LocalTensor<T> wLocal = weightQueue.AllocTensor<T>();\n        AscendC::DataCopyPad(wLocal, {from}, AscendC::DataCopyExtParams{{1, {bytes}, 0, 0, 0}}, AscendC::DataCopyPadExtParams<T>{{false, 0, 0, 0}});\n        weightQueue.EnQue(wLocal);\n    }}\n"
            )
        };
        match self.weights {
            Some(Weights::Same) => {
                let from = draw.one(&["yGm", "yGm[valid_ % 8]", "xGm[0]"]);
                // The first input may be shorter than a tile.
                let from = if from == "xGm[0]" && !self.whole { "yGm[1]" } else { from };
                text.push_str(&load("Weights(uint32_t count)", "", from));
            }
            Some(Weights::Tile) => text.push_str(&load("WeightsAt(uint32_t start, uint32_t count)", "", "yGm[start]")),
            Some(Weights::Index) => {
                let before = "        int32_t index = indexGm.GetValue(place);\n";
                text.push_str(&load("WeightsOf(uint32_t place, uint32_t count)", before, "yGm[index]"));
            }
            None => {}
        }
        if self.rounds == Rounds::Passes {
            text.push_str("    __aicore__ inline uint32_t CountOf(uint32_t start)\n    {\n        return length_ - start < tile_ ? length_ - start : tile_;\n    }\n");
        }
        text
    }
}

/// The first pass of two.
fn sum_of(members: &mut Members) -> String {
    members.buffer("sumBuf", "T", "tile_");
    let (taken, given) = match members.text.contains("inQueue") {
        true => ("inQueue.DeQue<T>()", "        inQueue.FreeTensor(x);\n"),
        false => ("inBuf.Get<T>()", ""),
    };
    format!(
        "    __aicore__ inline float SumOf(uint32_t count)\n    {{\n        AscendC::LocalTensor<T> x = {taken};\n        AscendC::LocalTensor<T> sums = sumBuf.Get<T>();\n        AscendC::ReduceSum(sums, x, sums, count);\n{given}        return sums.GetValue(0);\n    }}\n"
    )
}

/// Helpers that the computation calls.
fn helpers(draw: &mut Draw, body: &str) -> String {
    let mut text = String::new();
    if mentions(body, "Next") {
        let changes = [
            "        factor_ = factor_ * 0.5f + 1.0f;\n",
            "        scale_ += 0.25f;\n",
            "        bias_ = -bias_;\n",
            "        valid_ >>= 1;\n        valid_ += 1;\n",
            "        divisor_ += 1;\n",
            "        mode_ = (mode_ + 1) % 3;\n",
            "        Deeper();\n",
        ];
        let count = 1 + draw.below(2);
        let chosen = draw.some(&changes, count).concat();
        text.push_str(&format!("    __aicore__ inline void Next()\n    {{\n{chosen}    }}\n"));
        if chosen.contains("Deeper") {
            let change =
                draw.one(&["factor_ *= 0.5f;", "scale_ = scale_ + 1.0f;", "valid_ = valid_ > 1 ? valid_ - 1 : 1;"]);
            text.push_str(&format!("    __aicore__ inline void Deeper()\n    {{\n        {change}\n    }}\n"));
        }
    }
    let parameter =
        draw.one(&["AscendC::LocalTensor<T> &to", "AscendC::LocalTensor<T> to", "const AscendC::LocalTensor<T> &to"]);
    if mentions(body, "Touch") {
        text.push_str(&format!("    __aicore__ inline void Touch({parameter}, uint32_t count)\n    {{\n        AscendC::Adds(to, to, static_cast<T>(1), count);\n    }}\n"));
    }
    if mentions(body, "TouchView") {
        text.push_str("    __aicore__ inline void TouchView(const AscendC::LocalTensor<T> &to, uint32_t count)\n    {\n        AscendC::Muls(to, to, static_cast<T>(2), count);\n    }\n");
    }
    text
}

fn entry(draw: &mut Draw, class: &str) -> String {
    let mut before = String::new();
    if draw.percent(15) {
        before.push_str("    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);\n");
    }
    if draw.percent(15) {
        before.push_str("    if (workspace == nullptr) {\n        return;\n    }\n    SetSysWorkspace(workspace);\n    GM_ADDR userWS = GetUserWorkspace(workspace);\n    if (userWS == nullptr) {\n        return;\n    }\n");
        before = before.replace("SetSys", "AscendC::SetSys").replace("GetUser", "AscendC::GetUser");
    }
    format!(
        "extern \"C\" __global__ __aicore__ void probe_kernel(GM_ADDR x, GM_ADDR y, GM_ADDR indices, GM_ADDR z, GM_ADDR extra, GM_ADDR workspace, GM_ADDR tiling)\n{{\n{before}    GET_TILING_DATA(data, tiling);\n    {class} op;\n    op.Init(x, y, indices, z, data);\n    op.Process();\n}}\n"
    )
}

/// Members for buffers and queues.
#[derive(Default)]
struct Members {
    text: String,
    made: String,
    given_back: Vec<String>,
}

impl Members {
    fn queue(&mut self, name: &str, position: &str, depth: &str, number: &str, length: &str) {
        self.text.push_str(&format!("    AscendC::TQue<AscendC::TPosition::{position}, {depth}> {name};\n"));
        self.made.push_str(&format!("        pipe.InitBuffer({name}, {number}, {length} * sizeof(T));\n"));
    }

    fn buffer(&mut self, name: &str, kind: &str, length: &str) {
        self.text.push_str(&format!("    AscendC::TBuf<AscendC::TPosition::VECCALC> {name};\n"));
        self.made.push_str(&format!("        pipe.InitBuffer({name}, {length} * sizeof({kind}));\n"));
    }

    fn declared(&self) -> &str {
        &self.text
    }

    fn made(&self) -> String {
        self.made.clone()
    }
}

/// A class with the element type in place of its parameter.
fn spelled(class: &str, element: &str) -> String {
    ["<T>", "(T)", "T *)"]
        .iter()
        .fold(class.to_owned(), |text, pattern| text.replace(pattern, &pattern.replace('T', element)))
}

/// Whether a text has a word.
fn mentions(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let bytes = text.as_bytes();
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        !is_part(before) && !is_part(bytes.get(at + word.len()))
    })
}

/// The class as a template or not, and how it is named where it is used.
fn templated(draw: &mut Draw, class: &str, element: &str) -> (String, String) {
    let constant = mentions(class, "LEVEL") || mentions(class, "FLAG");
    let (parameters, arguments) = match (draw.percent(30), constant) {
        (true, true) => (
            "typename T, uint32_t LEVEL, bool FLAG".to_owned(),
            format!("{element}, {}, {}", draw.below(4), draw.percent(50)),
        ),
        (true, false) => ("typename T".to_owned(), element.to_owned()),
        (false, true) => ("uint32_t LEVEL, bool FLAG".to_owned(), format!("{}, {}", draw.below(4), draw.percent(50))),
        (false, false) => (String::new(), String::new()),
    };
    let class = if parameters.contains("typename T") {
        class
            .replace("DeQue<T>", "template DeQue<T>")
            .replace("AllocTensor<T>", "template AllocTensor<T>")
            .replace("Get<T>", "template Get<T>")
    } else {
        spelled(class, element)
    };
    if parameters.is_empty() {
        return (class, "Kernel".to_owned());
    }
    (format!("template <{parameters}>\n{class}"), format!("Kernel<{arguments}>"))
}
