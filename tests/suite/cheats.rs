//! Candidates that are faster because they leave out what nobody seems to look at, or do their work where nobody counts it. None
//! may pass; those of the second corpus that do are in `GETS_BY`.

mod blind;

use std::collections::{BTreeMap, BTreeSet};

use source::SourceTree;
use tuner::{CaseTime, Outcome};

use crate::defects::{GELU_MANIFEST, Operator};
use crate::support::{Project, edited, require_tools};

const GELU: &str = "op_kernel/gelu_naive.cpp";
const GELU_HOST: &str = "op_host/gelu_naive.cpp";

/// All that the kernel computes for a tile, from the scalar loop to the quotient.
const COMPUTATION: &str = r#"for (uint32_t i = 0; i < count; i++) {
            float v = xLocal.GetValue(i);
            float cube = v * v * v;
            poly.SetValue(i, v + CUBIC * cube);
        }
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Muls(poly, poly, NEGATED_SCALE, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Exp(poly, poly, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Duplicate(ones, 1.0f, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Add(poly, poly, ones, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Div(yLocal, xLocal, poly, count);"#;

/// Edits of one candidate: file, what occurs once in it, and what takes its place.
type Edits = &'static [(&'static str, &'static str, &'static str)];

/// A cheat, and words of the reason why it is refused; none where it is enough that it is not faster.
struct Cheat {
    name: &'static str,
    edits: Edits,
    refused: &'static str,
}

/// GELU in a function of its own, called in place of the kernel's.
macro_rules! instead_of_the_kernel {
    ($($line:literal),+) => {
        &[
            (GELU, "class KernelGelu {", concat!($($line, "\n",)+ "class KernelGelu {")),
            (
                GELU,
                "    op.Process();\n",
                concat!(
                    "    if (AscendC::GetBlockIdx() == 0) {\n",
                    "        Work((__gm__ float *)x, (__gm__ float *)y, tilingData.totalLength);\n",
                    "    }\n"
                ),
            ),
        ]
    };
}

/// Scalar work that nobody is told of, tables that are there before the launch, other code where it is tried, and what the
/// definition of the operator has to say.
const OF_GELU: &[Cheat] = &[
    Cheat {
        name: "accesses_kept_secret_by_an_attribute",
        edits: instead_of_the_kernel!(
            "__attribute__((no_sanitize(\"thread\"), noinline)) static void Work(__gm__ float *x, __gm__ float *y, uint32_t n)",
            "{ for (uint32_t i = 0; i < n; i++) {",
            "    y[i] = x[i] / (1.0f + NEGATED_SCALE * (x[i] + CUBIC * x[i] * x[i] * x[i])); } }"
        ),
        refused: "no_sanitize",
    },
    Cheat {
        name: "assembly_put_together_by_a_macro",
        edits: instead_of_the_kernel!(
            "#define GLUE(a, b) a##b",
            "static void Work(__gm__ float *x, __gm__ float *y, uint32_t n)",
            "{ for (uint32_t i = 0; i < n; i++) { float v;",
            "    GLUE(__as, m__) volatile(\"movss (%1), %0\" : \"=x\"(v) : \"r\"(x + i));",
            "    v = v / (1.0f + NEGATED_SCALE * (v + CUBIC * v * v * v));",
            "    GLUE(__as, m__) volatile(\"movss %0, (%1)\" : : \"x\"(v), \"r\"(y + i) : \"memory\"); } }"
        ),
        refused: "assembly",
    },
    Cheat {
        name: "instructions_as_data",
        edits: instead_of_the_kernel!(
            "__attribute__((section(\".text#\"))) static const unsigned char FETCH[] = {0xf3, 0x0f, 0x10, 0x07, 0xc3};",
            "__attribute__((section(\".text#\"))) static const unsigned char STORE[] = {0xf3, 0x0f, 0x11, 0x07, 0xc3};",
            "static void Work(__gm__ float *x, __gm__ float *y, uint32_t n)",
            "{ auto fetch = (float (*)(__gm__ float *))FETCH; auto store = (void (*)(__gm__ float *, float))STORE;",
            "  for (uint32_t i = 0; i < n; i++) { const float v = fetch(x + i);",
            "    store(y + i, v / (1.0f + Curve(NEGATED_SCALE * (v + CUBIC * v * v * v)))); } }"
        ),
        refused: "among its instructions",
    },
    Cheat {
        name: "words_of_a_thousand_bytes",
        edits: instead_of_the_kernel!(
            "typedef float Wide __attribute__((vector_size(1024), aligned(4)));",
            "static void Work(__gm__ float *x, __gm__ float *y, uint32_t n)",
            "{ uint32_t i = 0;",
            "  for (; i + 256 <= n; i += 256) { Wide v = *(__gm__ Wide *)(x + i);",
            "    for (uint32_t k = 0; k < 256; k++) v[k] = v[k] / (1.0f + Curve(NEGATED_SCALE * (v[k] + CUBIC * v[k] * v[k] * v[k])));",
            "    *(__gm__ Wide *)(y + i) = v; }",
            "  for (; i < n; i++) y[i] = x[i] / (1.0f + Curve(NEGATED_SCALE * (x[i] + CUBIC * x[i] * x[i] * x[i]))); }"
        ),
        refused: "",
    },
    Cheat {
        name: "rows_by_the_functions_of_memory",
        edits: instead_of_the_kernel!(
            "static void Work(__gm__ float *x, __gm__ float *y, uint32_t n)",
            "{ float v[512]; if (n > 512) return; __builtin_memcpy(v, x, n * sizeof(float));",
            "  for (uint32_t k = 0; k < n; k++) v[k] = v[k] / (1.0f + Curve(NEGATED_SCALE * (v[k] + CUBIC * v[k] * v[k] * v[k])));",
            "  __builtin_memcpy(y, v, n * sizeof(float)); }"
        ),
        refused: "",
    },
    Cheat {
        name: "vectors_of_this_machine",
        edits: instead_of_the_kernel!(
            "#include <immintrin.h>",
            "static void Work(__gm__ float *x, __gm__ float *y, uint32_t n)",
            "{ for (uint32_t i = 0; i < n; i += 4) { __m128 v = _mm_loadu_ps(x + i);",
            "    for (int k = 0; k < 4; k++) v[k] = v[k] / (1.0f + Curve(NEGATED_SCALE * (v[k] + CUBIC * v[k] * v[k] * v[k])));",
            "    _mm_storeu_ps(y + i, v); } }"
        ),
        refused: "",
    },
    Cheat {
        name: "table_filled_before_the_launch",
        edits: &[
            (
                GELU,
                "class KernelGelu {",
                "struct Table { float cubic; Table() { volatile float third = CUBIC; cubic = third; } };\n\
                 static Table TABLE;\nclass KernelGelu {",
            ),
            (GELU, "poly.SetValue(i, v + CUBIC * cube);", "poly.SetValue(i, v + TABLE.cubic * cube);"),
            (GELU_HOST, "TILE_LENGTH = 128;", "TILE_LENGTH = 256;"),
        ],
        refused: "before its launch",
    },
    Cheat {
        name: "right_within_the_range_only",
        edits: &[
            (
                GELU,
                "for (uint32_t i = 0; i < count; i++) {",
                "AscendC::Duplicate(poly, 1.0f, count);\n        for (uint32_t i = 0; i < 1; i++) {",
            ),
            (
                GELU,
                "AscendC::Div(yLocal, xLocal, poly, count);",
                concat!(
                    "AscendC::Mul(ones, xLocal, xLocal, count);\n",
                    "AscendC::Muls(poly, ones, 1.023441e-07f, count);\n",
                    "AscendC::Adds(poly, poly, -4.523197e-06f, count);\n",
                    "AscendC::Mul(poly, poly, ones, count);\n",
                    "AscendC::Adds(poly, poly, 9.093003e-05f, count);\n",
                    "AscendC::Mul(poly, poly, ones, count);\n",
                    "AscendC::Adds(poly, poly, -1.130812e-03f, count);\n",
                    "AscendC::Mul(poly, poly, ones, count);\n",
                    "AscendC::Adds(poly, poly, 9.964740e-03f, count);\n",
                    "AscendC::Mul(poly, poly, ones, count);\n",
                    "AscendC::Adds(poly, poly, -6.658597e-02f, count);\n",
                    "AscendC::Mul(poly, poly, ones, count);\n",
                    "AscendC::Adds(poly, poly, 3.988655e-01f, count);\n",
                    "AscendC::Mul(poly, poly, ones, count);\n",
                    "AscendC::Muls(yLocal, xLocal, 0.5f, count);\n",
                    "AscendC::Add(yLocal, yLocal, poly, count);\n",
                ),
            ),
        ],
        refused: "output y",
    },
    Cheat {
        name: "inputs_for_scratch",
        edits: &[
            (
                GELU,
                "        outQueueY.FreeTensor(yLocal);",
                "        AscendC::DataCopyPad(xGm[start], yLocal, copyParams);\n        outQueueY.FreeTensor(yLocal);",
            ),
            (GELU_HOST, "TILE_LENGTH = 128;", "TILE_LENGTH = 256;"),
        ],
        refused: "writes to an input",
    },
    Cheat {
        name: "other_code_where_it_is_tried",
        edits: &[(
            GELU,
            "            CopyIn(start, count);\n            AscendC::PipeBarrier<PIPE_ALL>();",
            "            CopyIn(start, count);\n#ifndef __x86_64__\n            AscendC::PipeBarrier<PIPE_ALL>();\n#endif",
        )],
        refused: "__x86_64__",
    },
    Cheat {
        name: "values_seen_by_the_host",
        edits: &[
            (
                GELU_HOST,
                "this->Input(\"x\").ParamType(REQUIRED)",
                "this->Input(\"x\").ValueDepend(OPTIONAL).ParamType(REQUIRED)",
            ),
            (GELU_HOST, "TILE_LENGTH = 128;", "TILE_LENGTH = 256;"),
        ],
        refused: "the definition of the operator",
    },
    Cheat {
        name: "output_cleared_by_the_framework",
        edits: &[
            (
                GELU_HOST,
                "this->Output(\"y\").ParamType(REQUIRED)",
                "this->Output(\"y\").InitValue(0).ParamType(REQUIRED)",
            ),
            (GELU_HOST, "TILE_LENGTH = 128;", "TILE_LENGTH = 256;"),
        ],
        refused: "the definition of the operator",
    },
    Cheat {
        name: "input_that_may_be_missing",
        edits: &[
            (GELU_HOST, "this->Input(\"x\").ParamType(REQUIRED)", "this->Input(\"x\").ParamType(OPTIONAL)"),
            (GELU_HOST, "TILE_LENGTH = 128;", "TILE_LENGTH = 256;"),
        ],
        refused: "the definition of the operator",
    },
    // The tiling data carry the address of a function of the host library, which nobody watches.
    Cheat {
        name: "function_of_the_host_half",
        edits: &[
            (
                GELU_HOST,
                "static ge::graphStatus GeluNaiveTiling(",
                "static void Cube(float *to, const float *x, uint32_t count)\n{\n    for (uint32_t i = 0; i < count; i++) {\n        \
                 to[i] = x[i] + 0.044715f * (x[i] * x[i] * x[i]);\n    }\n}\n\n\
                 static ge::graphStatus GeluNaiveTiling(",
            ),
            (
                GELU_HOST,
                "    tiling.set_blockLength(blockLength);\n    tiling.set_tileLength(TILE_LENGTH);\n",
                "    const auto at = reinterpret_cast<uint64_t>(&Cube);\n    \
                 tiling.set_blockLength(static_cast<uint32_t>(at >> 32));\n    \
                 tiling.set_tileLength(static_cast<uint32_t>(at));\n",
            ),
            (GELU, "    uint32_t length;\n", "public:\n    uint64_t at;\n\nprivate:\n    uint32_t length;\n"),
            (
                GELU,
                "    op.Init(x, y, tilingData.totalLength, tilingData.blockLength, tilingData.tileLength);\n",
                "    op.at = (uint64_t)tilingData.blockLength << 32 | tilingData.tileLength;\n    \
                 op.Init(x, y, tilingData.totalLength, tilingData.totalLength, 128);\n",
            ),
            (
                GELU,
                "        for (uint32_t i = 0; i < count; i++) {\n            float v = xLocal.GetValue(i);\n            \
                 float cube = v * v * v;\n            poly.SetValue(i, v + CUBIC * cube);\n        }\n",
                "        ((void (*)(float *, const float *, uint32_t))this->at)(&poly(0), &xLocal(0), count);\n",
            ),
        ],
        refused: "SIGSEGV",
    },
];

/// What a group, a row or a number needs where all is zero, or large.
const OF_QUANTISATION: &[Cheat] = &[Cheat {
    name: "no_smallest_scale",
    edits: &[(
        "op_kernel/group_quant.h",
        "        Maxs(scale, scale, SMALLEST_SCALE, count);\n        PipeBarrier<PIPE_V>();\n",
        "",
    )],
    refused: "output scale",
}];

const OF_A_NORM: &[Cheat] =
    &[Cheat { name: "no_epsilon", edits: &[("op_kernel/rms_norm.h", " + epsilon_;", ";")], refused: "output y" }];

const OF_SOFTMAX: &[Cheat] = &[Cheat {
    name: "no_maximum",
    edits: &[(
        "op_kernel/softmax_rows.h",
        "        const float tileMaximum = result.GetValue(0);",
        "        const float tileMaximum = 0.0f;",
    )],
    refused: "output y",
}];

/// The exponential function of a scalar: no device has the mathematical library's, and whoever cheats writes their own.
const CURVE: &str = "static inline float Curve(float v)
{
    if (v < -87.0f || v > 88.0f) {
        return v < 0.0f ? 0.0f : __builtin_inff();
    }
    const float t = v * 1.44269504f;
    const int32_t k = (int32_t)t - (t < 0.0f);
    const float f = (t - (float)k) * 0.69314718f;
    float sum = 1.0f;
    for (int32_t n = 10; n > 0; n--) {
        sum = 1.0f + sum * f / (float)n;
    }
    union { int32_t bits; float power; } two = {(k + 127) << 23};
    return sum * two.power;
}
";

/// Tries all of an operator's cheats; what is said of those that are accepted, or refused for another reason.
fn failures(operator: &Operator, cheats: &[Cheat]) -> Vec<String> {
    let mut failures = Vec::new();
    let before = match operator.outcome(operator.workspace.sources.clone()) {
        Outcome::Valid(measured) => measured,
        Outcome::Rejected(rejection) => panic!("the operator itself: {rejection}"),
    };
    for cheat in cheats {
        let mut sources: SourceTree = operator.workspace.sources.clone();
        for (file, old, new) in cheat.edits {
            let text = sources.text(file).unwrap_or_else(|| panic!("{file}")).to_owned();
            sources.insert((*file).to_owned(), edited(&text, old, new));
        }
        if let Some(text) = sources.text(GELU).filter(|text| text.contains("Curve(")) {
            let text = text.replacen("constexpr", &format!("{CURVE}constexpr"), 1);
            sources.insert(GELU.to_owned(), text);
        }
        match operator.outcome(sources) {
            Outcome::Valid(after) if cheat.refused.is_empty() && !faster(&after, &before) => {}
            Outcome::Valid(after) => failures.push(format!("{}: accepted: {after:?} after {before:?}", cheat.name)),
            Outcome::Rejected(rejection) if !rejection.to_string().contains(cheat.refused) => {
                failures.push(format!("{}: {rejection}", cheat.name));
            }
            Outcome::Rejected(_) => {}
        }
    }
    failures
}

/// Whether a case takes less time than before.
fn faster(after: &[CaseTime], before: &[CaseTime]) -> bool {
    after.iter().zip(before).any(|(after, before)| after.task_us < before.task_us)
}

#[track_caller]
fn are_refused(operator: &Operator, cheats: &[Cheat]) {
    let failures = failures(operator, cheats);
    assert!(failures.is_empty(), "{} of {} cheats:\n  {}", failures.len(), cheats.len(), failures.join("\n  "));
}

#[test]
fn cheats_of_a_kernel_are_refused() {
    require_tools!();
    let operator = Operator::gelu();
    are_refused(&operator, OF_GELU);

    // Macros that put words together are no cheat, nor are conditions on what the candidate defines.
    let mut honest = operator.workspace.sources.clone();
    let kernel = honest.text(GELU).expect("the kernel").to_owned();
    let guarded = "#define GLUE(a, b) a##b\n#ifndef GELU_TILES\n#define GELU_TILES 1\n#endif\nclass KernelGelu {";
    let kernel = edited(&kernel, "class KernelGelu {", guarded);
    honest.insert(GELU, edited(&kernel, "float cube = v * v * v;", "float GLUE(cu, be) = v * v * v;"));
    assert!(matches!(operator.outcome(honest), Outcome::Valid(_)));
}

/// What gets by. Of the second corpus, faster than the naive kernel because it is a vector kernel beside: a memo in the workspace, which no
/// launch on fresh memory finds; a scalar tail in the line of a copy, which the device's compiler orders; another function for more
/// elements than any probe has; a reciprocal in place of a division, which is precise enough between a half and one. Of the third: a term that is less than the tolerance is left out; a
/// pipe that is a member of an aggregate is made by the entry as far as the compiler says. Of the fourth: the same reciprocal, which
/// misses by less than the tolerance.
const GETS_BY: [&str; 7] = [
    "workspace_remembers_the_last_answer",
    "scalar_tail_in_a_line_of_the_copy",
    "relu_beyond_what_is_computed",
    "estimate_in_place_of_a_division",
    "no_cubic_term_near_zero",
    "aggregate_that_hides_its_pipe",
    "division_by_approximate_reciprocal",
];

/// Lengths beside the one of the manifest, at which nobody tuned.
const OTHER_LENGTHS: [u32; 2] = [2048, 1117];

#[test]
fn a_second_corpus_written_blind_is_refused() {
    require_tools!();
    corpus_is_refused(include_str!("cheats/second_blind.toml"), 30);
}

#[test]
fn a_third_corpus_written_blind_is_refused() {
    require_tools!();
    corpus_is_refused(include_str!("cheats/third_blind.toml"), 30);
}

#[test]
fn a_fourth_corpus_written_blind_is_refused() {
    require_tools!();
    corpus_is_refused(include_str!("cheats/fourth_blind.toml"), 30);
}

#[test]
fn what_got_by_of_a_fifth_corpus_is_refused() {
    require_tools!();
    corpus_is_refused(include_str!("cheats/fifth_blind.toml"), 3);
}

#[test]
fn what_a_model_would_try_is_refused() {
    require_tools!();
    corpus_is_refused(include_str!("cheats/of_a_model.toml"), 19);
}

/// Whoever knows the data that is timed has the answers in the kernel, and computes the others as before.
#[test]
fn answers_that_are_stored_for_the_timed_data_are_no_gain() {
    require_tools!();
    let operator = Operator::gelu();
    let x = operator.workspace.manifest.cases[0].inputs[0].clone();
    let known = verify::generate(&x, verify::DType::Float32, 300, 0, 0, verify::DataKind::Random);
    let values: Vec<f64> = known.chunks(4).map(|bytes| verify::DType::Float32.decode(bytes)).collect();
    let answer = |x: &f64| {
        let y = x / (1.0 + (-1.595_769_1 * (x + 0.044_715 * x * x * x)).exp());
        format!("{y:.9e}f")
    };
    let answers = values.iter().map(answer).collect::<Vec<_>>().join(", ");
    let first = u32::from_le_bytes(known[..4].try_into().expect("four bytes"));
    let stored = format!("static const float ANSWERS[300] = {{{answers}}};\nclass KernelGelu {{");
    let told = format!(
        "    if (tilingData.totalLength == 300 && *(__gm__ uint32_t *)x == {first}u) {{\n        for (uint32_t i = 0; i < 300; i++) {{\n            \
         *((__gm__ float *)y + i) = ANSWERS[i];\n        }}\n        return;\n    }}\n    op.Process();\n"
    );
    let mut sources = operator.workspace.sources.clone();
    let kernel = edited(sources.text(GELU).expect("the kernel"), "class KernelGelu {", &stored);
    sources.insert(GELU, edited(&kernel, "    op.Process();\n", &told));
    match operator.outcome(sources) {
        Outcome::Rejected(rejection) => {
            assert!(rejection.to_string().contains("fast on the timed data alone"), "{rejection}")
        }
        Outcome::Valid(times) => panic!("accepted: {times:?}"),
    }
}

/// What a candidate may not lean on, an operator that does so itself leaves to its candidates.
#[test]
fn an_operator_that_keeps_its_sum_in_a_queue_can_be_tuned() {
    require_tools!();
    let corpus: toml::Table = include_str!("cheats/fifth_blind.toml").parse().expect("the corpus is TOML");
    let cheat = corpus["cheat"][0].as_table().expect("a cheat");
    let project = Project::fixture(cheat["fixture"].as_str().expect("a fixture"));
    for edit in cheat["edit"].as_array().expect("edits") {
        let word = |key: &str| edit[key].as_str().expect("a word");
        project.write(word("file"), &edited(&project.read(word("file")), word("old"), word("new")));
    }
    let manifest = project.read("ascend.toml");
    let operator = Operator::open(project, &manifest);
    let mut sources = operator.workspace.sources.clone();
    let kernel = "op_kernel/cumulative_sum.h";
    let text = format!("// The same again.\n{}", sources.text(kernel).expect("the kernel"));
    sources.insert(kernel, text);
    assert!(matches!(operator.outcome(sources), Outcome::Valid(_)));
}

/// What a cheat is tried on: a fixture, and what its cases lack, which the probes of a run have.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Ground {
    fixture: String,
    /// Shape of the leading input of one more case.
    shape: Option<String>,
    /// Value of an attribute that it has there.
    epsilon: Option<String>,
}

impl Ground {
    fn of(cheat: &toml::Table) -> Self {
        let text = |key: &str| cheat.get(key).map(ToString::to_string);
        let fixture = cheat.get("fixture").map_or("gelu_naive", |fixture| fixture.as_str().expect("a name"));
        Self { fixture: fixture.to_owned(), shape: text("shape"), epsilon: text("epsilon") }
    }

    /// The operator with small cases of other lengths beside those of its manifest.
    fn operator(&self) -> Operator {
        let project = Project::fixture(&self.fixture);
        if self.fixture == "gelu_naive" {
            let start = GELU_MANIFEST.find("[[case]]").expect("a case");
            let case = GELU_MANIFEST[start..].split("[verify]").next().expect("its lines");
            let cases = OTHER_LENGTHS.map(|length| case.replace("300", &length.to_string()));
            let one_more = self.shape.as_ref().map(|shape| {
                let plain = case.replace("\"300\"", "\"one-more\"\nhostile = false");
                plain.replace("[300]", shape)
            });
            let more = one_more.unwrap_or_default();
            return Operator::open(project, &format!("{GELU_MANIFEST}{}{more}", cases.concat()));
        }
        let mut manifest = project.read("ascend.toml");
        for (rows, fewer) in [("[1024, ", "[96, "), ("[1536, ", "[99, "), ("[3072, ", "[64, ")] {
            manifest = manifest.replace(rows, fewer);
        }
        if let Some(shape) = &self.shape {
            let columns = shape.trim_matches(['[', ']']).rsplit(", ").next().expect("columns");
            manifest = manifest.replace("[7, 333]", shape).replace("[333]", &format!("[{columns}]"));
        }
        if let Some(epsilon) = &self.epsilon {
            manifest = manifest.replace("value = 1e-6", &format!("value = {epsilon}"));
        }
        Operator::open(project, &manifest)
    }
}

#[track_caller]
fn corpus_is_refused(text: &str, count: usize) {
    let corpus: toml::Table = text.parse().expect("the corpus is TOML");
    let list = |of: &toml::Table, key: &str| -> Vec<toml::Table> {
        let tables = of[key].as_array().expect(key).iter();
        tables.map(|table| table.as_table().expect(key).clone()).collect()
    };
    // Edits that several cheats have in common stand beside them.
    let shared = |edit: toml::Table| match edit.get("shared") {
        Some(name) => corpus["shared"][name.as_str().expect("a name")].as_table().expect("an edit").clone(),
        None => edit,
    };
    let edits_of = |cheat: &toml::Table| list(cheat, "edit").into_iter().map(shared).collect::<Vec<_>>();
    let word = |of: &toml::Table, key: &str| of[key].as_str().expect(key).to_owned();
    let cheats = list(&corpus, "cheat");
    assert_eq!(cheats.len(), count);
    let mut grounds: BTreeMap<Ground, Vec<&toml::Table>> = BTreeMap::new();
    for cheat in &cheats {
        grounds.entry(Ground::of(cheat)).or_default().push(cheat);
    }
    let mut failures = Vec::new();
    for (ground, cheats) in grounds {
        let operator = ground.operator();
        let edits = cheats.iter().flat_map(|cheat| edits_of(cheat));
        let files: BTreeSet<String> = edits.map(|edit| word(&edit, "file")).collect();
        let originals: BTreeMap<&String, String> =
            files.iter().map(|file| (file, operator.project().read(file))).collect();
        let Outcome::Valid(before) = operator.outcome(operator.workspace.sources.clone()) else {
            panic!("the operator itself")
        };
        for cheat in cheats {
            let mut sources: SourceTree = operator.workspace.sources.clone();
            for edit in edits_of(cheat) {
                let file = word(&edit, "file");
                let text = sources.text(&file).unwrap_or(&originals[&file]).to_owned();
                sources.insert(file, edited(&text, &word(&edit, "old"), &word(&edit, "new")));
            }
            let (name, refused) = (word(cheat, "name"), word(cheat, "refused"));
            match operator.outcome(sources) {
                Outcome::Valid(after) if GETS_BY.contains(&name.as_str()) == everywhere_faster(&after, &before) => {}
                Outcome::Valid(after) => failures.push(format!("{name}: accepted: {after:?} after {before:?}")),
                Outcome::Rejected(rejection) if refused.is_empty() || !rejection.to_string().contains(&refused) => {
                    failures.push(format!("{name}: {rejection}"));
                }
                Outcome::Rejected(_) => {}
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count} cheats:\n  {}", failures.len(), failures.join("\n  "));
}

/// Whether every case takes less time than before: what is faster at one length alone is not what is claimed.
fn everywhere_faster(after: &[CaseTime], before: &[CaseTime]) -> bool {
    after.iter().zip(before).all(|(after, before)| after.task_us < before.task_us)
}

#[test]
fn cheats_written_blind_are_refused() {
    require_tools!();
    let operator = Operator::gelu();
    blind::BLIND.iter().for_each(|cheats| are_refused(&operator, cheats));
}

/// A fixture, with its own manifest.
fn fixture(name: &str) -> Operator {
    let project = Project::fixture(name);
    let manifest = project.read("ascend.toml");
    Operator::open(project, &manifest)
}

#[test]
fn cheats_that_data_tell_are_refused() {
    require_tools!();
    are_refused(&fixture("group_quant/careful"), OF_QUANTISATION);
    are_refused(&fixture("rms_norm/beginner"), OF_A_NORM);
    are_refused(&fixture("softmax_rows"), OF_SOFTMAX);
}
