//! A made-up run of a made-up operator.

use std::collections::BTreeMap;

use aicore::{HazardKind, Interval, Limiter, Origin, PathPart, PipeTimes, Profile, Severity, Stall};
use events::*;
use space::{Configuration, Value};

use crate::{CaseRecord, ChangeRecord, EvaluationRecord, FileDiff, MachineRecord, RECORD_FORMAT, RunRecord};

pub(super) fn configuration(tile: i64, buffers: i64, cores: i64) -> Configuration {
    [("TILE_LENGTH", tile), ("BUFFER_NUM", buffers), ("BLOCK_DIM", cores)]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), Value::Int(value)))
        .collect()
}

pub(super) fn start() -> Event {
    Event::Start(Start {
        operator: Some("GeluNaive".into()),
        project: Some("fixtures/gelu_naive".into()),
        backend: Some("sim".into()),
        machine: Some("ascend910b2".into()),
        machine_version: Some("3".into()),
        origin: Some(Origin::Modelled),
        seed: Some(1),
        budget: Some(100),
        resumed: Some(12),
        ..Start::new("run")
    })
}

fn evaluation(index: u64, stage: Stage, status: Status, objective_us: Option<f64>) -> Evaluation {
    Evaluation {
        index,
        candidate: format!("{index:08x}"),
        stage,
        configuration: configuration(512 * index as i64, 2, 24),
        motif: (stage == Stage::Kernel).then(|| "A03".to_owned()),
        status,
        reason: (status != Status::Valid).then(|| "gelu_naive.cpp:41: race between mte2 and v".to_owned()),
        cases: objective_us.map(|us| CaseTime { name: "large".into(), us }).into_iter().collect(),
        objective_us,
        error: None,
        speedup: 2.0,
        cached: index == 14,
        estimated: false,
        blocks: Vec::new(),
    }
}

pub(super) fn run_events() -> Vec<Event> {
    vec![
        start(),
        Event::Sdk(Sdk {
            status: SdkStatus::Built,
            path: "/cache/sdk".into(),
            compiler: "g++ 12.2.0".into(),
            wall_s: 21.4,
        }),
        Event::Baseline(Baseline {
            operator: "GeluNaive".into(),
            cases: vec![BaselineCase { name: "large".into(), us: 1234.5, bound_us: 18.25, limiter: Limiter::Memory }],
            objective_us: 1234.5,
        }),
        Event::Evaluation(evaluation(13, Stage::Host, Status::Valid, Some(617.25))),
        Event::Evaluation(evaluation(14, Stage::Host, Status::Valid, Some(800.0))),
        Event::Evaluation(evaluation(15, Stage::Kernel, Status::Hazard, None)),
        Event::Improvement(Improvement {
            index: 13,
            candidate: "0000000d".into(),
            stage: Stage::Host,
            objective_us: 617.25,
            speedup: 2.0,
            change: "BLOCK_DIM 1 -> 24".into(),
        }),
        Event::Progress(Progress { step: "for sizes that say something".into() }),
        Event::StageSwitch(StageSwitch {
            from: Some(Stage::Host),
            to: Stage::Kernel,
            reason: "no improvement in 20 evaluations".into(),
        }),
        Event::Summary(Box::new(summary())),
    ]
}

pub(super) fn other_events() -> Vec<Event> {
    vec![
        Event::Warning(Warning {
            code: "unused-tunable".into(),
            message: "tunable STRIDE has no effect on any case".into(),
            help: Some("remove it from ascend.toml".into()),
        }),
        Event::Error(Failure {
            message: "fixtures/x/ascend.toml: there is no manifest".into(),
            help: Some("`cargo ascend-tune init` writes one".into()),
            exit: 2,
        }),
        Event::Build(Build {
            operator: "GeluNaive".into(),
            artifacts: vec!["build/libcust_opapi.so".into()],
            configuration: configuration(8192, 2, 40),
            locked: true,
            wall_s: 0.25,
        }),
        Event::Init(Init {
            operator: "GeluNaive".into(),
            layout: "msopgen".into(),
            manifest: "ascend.toml".into(),
            written: false,
            cases: vec!["large".into()],
            tunables: vec!["TILE_LENGTH".into(), "BUFFER_NUM".into()],
            more_cases: 0,
            refused: Vec::new(),
            faults: Vec::new(),
            doubtful: Vec::new(),
        }),
        Event::Doctor(Doctor {
            ok: false,
            checks: vec![DoctorCheck {
                name: "cmake".into(),
                state: CheckState::Missing,
                detail: "`cmake --version` does not run".into(),
                fix: Some("install CMake".into()),
            }],
        }),
        Event::Rewind(Rewind {
            operator: "SoftmaxRows".into(),
            steps: vec![
                RewindStep {
                    motif: "D01".into(),
                    site: "op_kernel/softmax_rows.h:31".into(),
                    missing: Vec::new(),
                    gain: Some(1.42),
                    kept: true,
                    detail: "D01-softmax-rows-3f2a".into(),
                },
                RewindStep {
                    motif: "A03".into(),
                    site: "op_kernel/softmax_rows.h:77".into(),
                    missing: vec!["D01".into()],
                    gain: None,
                    kept: false,
                    detail: "the kernel does not build without it".into(),
                },
            ],
            yields: vec![RewindYield { motif: "D01".into(), tried: 1, right: 1, kept: 1, most: 1.42 }],
            model: None,
            bank: "bank".into(),
            origin: Origin::Modelled,
            machine: "ascend910b2".into(),
        }),
        Event::KernelTest(Box::new(KernelTest {
            name: "softmax_rows_test.float16".into(),
            verdict: TestVerdict::Wrong { what: "compare_data.py: FAILED! (y)".into() },
            hazards: vec![],
        })),
        Event::KernelTestSummary(KernelTestSummary {
            operator: "softmax_rows".into(),
            right: 2,
            wrong: 1,
            ..KernelTestSummary::default()
        }),
        Event::Bank(Bank {
            path: "bank".into(),
            records: vec![BankRecord {
                id: "D01-softmax-rows-3f2a".into(),
                motif: "D01".into(),
                operator: "SoftmaxRows".into(),
                gain: 1.42,
                summary: "double buffering where MTE2 and vector take equally long".into(),
            }],
            added: Some(1),
            removed: None,
            motifs: Vec::new(),
        }),
    ]
}

pub(super) fn events() -> Vec<Event> {
    let mut events = run_events();
    events.extend(other_events());
    events.push(Event::Surveyed(Box::new(surveyed())));
    events.push(Event::Survey(survey_of_one()));
    events.push(Event::Profile(Box::new(profile_event())));
    events.push(Event::Check(check()));
    events
}

pub(crate) fn summary() -> Summary {
    Summary {
        operator: "GeluNaive".into(),
        cases: vec![
            SummaryCase {
                name: "large".into(),
                baseline_us: 1234.5,
                best_us: 20.5,
                speedup: 60.25,
                bound_us: Some(18.25),
                limiter: Some(Limiter::Memory),
            },
            SummaryCase {
                name: "odd".into(),
                baseline_us: 8.5,
                best_us: 4.25,
                speedup: 2.0,
                bound_us: None,
                limiter: None,
            },
        ],
        speedup: 10.5,
        claimed: 4.243,
        error: None,
        evaluations: 100,
        rejected: 23,
        wall_s: 83.0,
        origin: Origin::Modelled,
        machine: "ascend910b2".into(),
        machine_version: "3".into(),
        stages: Stages {
            host: StageSummary { evaluations: 70, gain: 4.2 },
            kernel: StageSummary { evaluations: 30, gain: 2.5 },
        },
        lock: Some("ascend.lock".into()),
        report: Some("target/ascend-tune/report.html".into()),
        configuration: configuration(8192, 2, 40),
        motifs: vec!["S01".into(), "A03".into()],
        sampled: Vec::new(),
        known: Vec::new(),
        rejections: BTreeMap::from([("hazard".to_owned(), 3), ("infeasible".to_owned(), 20)]),
        generalisation: Some(Generalisation {
            seed: 1,
            probes: vec![
                ProbeResult { name: "larger-float16-8192x1024".into(), speedup: 12.0, compared: false },
                ProbeResult { name: "smaller-float16-7".into(), speedup: 1.5, compared: true },
            ],
            speedup: 4.243,
            unconfirmed: false,
            at_fault: 0,
            faulty: Vec::new(),
            joined: vec!["smaller-float16-7".into()],
            representing: vec!["larger-float16-8192x1024".into()],
        }),
        taken_back: vec![TakenBack { step: "BLOCK_DIM 48 -> 8".into(), why: "worth nothing".into() }],
        beyond: 7,
        model: None,
    }
}

pub(super) fn check() -> Check {
    let case = |name: &str, locked_us: Option<f64>, now_us: Option<f64>, verdict| CheckCase {
        name: name.into(),
        locked_us,
        now_us,
        ratio: locked_us.zip(now_us).map(|(locked, now)| now / locked),
        pairs: None,
        verdict,
    };
    Check {
        verdict: CheckVerdict::Regressed,
        cases: vec![
            case("large", Some(20.0), Some(25.0), CaseVerdict::Regressed),
            case("odd", Some(4.0), Some(4.0), CaseVerdict::Ok),
            case("new", None, Some(2.0), CaseVerdict::Missing),
        ],
        drift: Vec::new(),
        differences: Vec::new(),
        findings: Vec::new(),
        remembered: false,
        tolerance: 1.03,
        claimed: Some(1.31),
        timed: None,
        origin: Origin::Modelled,
        machine: "ascend910b2".into(),
        machine_version: "3".into(),
    }
}

pub(super) fn profile_event() -> ProfileEvent {
    ProfileEvent {
        operator: "AddCustom".into(),
        case: "large".into(),
        kernel: "add_custom".into(),
        launch: 0,
        task_us: 20.5,
        count: None,
        spread: None,
        bound_us: Some(19.0),
        limiter: Some(Limiter::Mte2),
        pipes: Some(PipeTimes { scalar_us: 2.0, vec_us: 5.5, mte2_us: 16.25, mte3_us: 9.0, ..PipeTimes::default() }),
        cores: 40,
        longest_core_us: Some(18.0),
        gm_read_bytes: 64 << 20,
        gm_write_bytes: 32 << 20,
        stalls: vec![
            StallReport {
                pipe: "v".into(),
                reason: "flag mte2->v".into(),
                time_us: 10.5,
                file: "op_kernel/add_custom.cpp".into(),
                line: 41,
            },
            StallReport {
                pipe: "mte3".into(),
                reason: "flag v->mte3".into(),
                time_us: 0.25,
                file: String::new(),
                line: 0,
            },
        ],
        critical_path: vec![
            PathReport {
                pipe: "mte2".into(),
                part: PathPart::Bytes,
                opcode: "copy_gm_to_ubuf".into(),
                time_us: 11.16,
                share: 0.62,
                count: 16,
                via: "flag mte2->v".into(),
                file: "op_kernel/add_custom.cpp".into(),
                line: 41,
            },
            PathReport {
                pipe: "s".into(),
                part: PathPart::Start,
                opcode: String::new(),
                time_us: 0.5,
                share: 0.028,
                count: 1,
                via: "issue to mte2".into(),
                file: String::new(),
                line: 0,
            },
        ],
        hazards: vec![HazardReport {
            kind: HazardKind::Race,
            file: "op_kernel/add_custom.cpp".into(),
            line: 44,
            message: "v reads 1024 bytes of UB that mte2 writes; a flag mte2->v would order them".into(),
            severity: Severity::Error,
        }],
        correct: Some(true),
        wrong: String::new(),
        checked: String::new(),
        timing_only: false,
        published_us: Some(21.0),
        origin: Origin::Modelled,
        machine: "ascend910b2".into(),
        machine_version: "3".into(),
    }
}

/// A profile of `tiles` tiles; with two buffers the pipes overlap.
fn profile(tiles: u32, tile_us: f64, overlapped: bool, cores: u32) -> Profile {
    let mut timeline = Vec::new();
    let [copy_in, compute, copy_out] = [0.5, 0.2, 0.3].map(|share| share * tile_us);
    let mut at = 0.0;
    for tile in 0..tiles {
        let mut add = |pipe: &str, opcode: &str, start_us: f64, length_us: f64, site| {
            timeline.push(Interval {
                pipe: pipe.into(),
                opcode: opcode.into(),
                start_us,
                end_us: start_us + length_us,
                site,
            });
        };
        add("s", "scalar", at, tile_us * 0.04, 0);
        add("mte2", "copy_gm_to_ubuf_align_b16", at + tile_us * 0.04, copy_in, 7);
        for part in 0..4 {
            add("v", "vmul", at + tile_us * 0.06 + copy_in + f64::from(part) * compute / 4.0, compute / 4.5, 8);
        }
        add("mte3", "copy_ubuf_to_gm_align_b16", at + tile_us * 0.08 + copy_in + compute, copy_out, u64::from(tile));
        at += if overlapped { copy_in * 1.08 } else { tile_us * 1.12 };
    }
    let longest = timeline.iter().map(|one| one.end_us).fold(0.0, f64::max);
    let busy = |share: f64| f64::from(tiles) * tile_us * share;
    Profile {
        kernel: "gelu_naive".into(),
        task_us: longest + 3.2,
        bound_us: 18.25,
        fixed_us: 2.5,
        limiter: Limiter::Memory,
        pipes: PipeTimes {
            scalar_us: busy(0.04),
            vec_us: busy(0.18),
            mte2_us: busy(0.5),
            mte3_us: busy(0.3),
            ..PipeTimes::default()
        },
        units: Vec::new(),
        critical_path: Vec::new(),
        buffers: Vec::new(),
        buffers_end_bytes: 0,
        cores,
        longest_core_us: longest,
        shortest_core_us: longest * 0.97,
        gm_read_bytes: 8 << 20,
        gm_write_bytes: 8 << 20,
        stalls: [
            ("v", "flag mte2->v", 0.5),
            ("mte3", "flag v->mte3", 0.2),
            ("mte2", "flag v->mte2", 0.3),
            ("s", "barrier all", 0.9),
        ]
        .into_iter()
        .filter(|(_, reason, _)| !overlapped || *reason != "barrier all")
        .map(|(pipe, reason, share)| Stall {
            pipe: pipe.into(),
            reason: reason.into(),
            time_us: busy(share) * if overlapped { 0.4 } else { 1.0 },
            site: 8,
        })
        .collect(),
        timeline,
        counters: BTreeMap::new(),
    }
}

const KERNEL_BEFORE: &str = "\
class Gelu {
  void Process() {
    for (int32_t i = 0; i < tiles; ++i) {
      LocalTensor<half> x = inQueue.DeQue<half>();
      for (int32_t j = 0; j < TILE_LENGTH; ++j) {
        y.SetValue(j, Scale(x.GetValue(j)));
      }
      PipeBarrier<PIPE_ALL>();
    }
  }
};
";

const KERNEL_AFTER: &str = "\
class Gelu {
  void Process() {
    for (int32_t i = 0; i < tiles; ++i) {
      LocalTensor<half> x = inQueue.DeQue<half>();
      Muls(y, x, scale, TILE_LENGTH);
    }
  }
};
";

/// A hundred evaluations on the way from one time to the other.
fn evaluations(baseline_us: f64, best_us: f64) -> Vec<EvaluationRecord> {
    // Sources of a little arithmetic disorder, the same in every run.
    let mut state = 12345_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1 << 31)
    };
    (1..=100_u64)
        .map(|index| {
            let stage = if (index / 20) % 2 == 0 { Stage::Host } else { Stage::Kernel };
            let status = match index % 9 {
                0 => Status::Infeasible,
                4 => Status::Hazard,
                7 if stage == Stage::Kernel => Status::BuildFailed,
                _ => Status::Valid,
            };
            let floor = best_us * (baseline_us / best_us).powf((1.0 - index as f64 / 85.0).max(0.0));
            let objective_us = (status == Status::Valid)
                .then(|| if index == 88 { best_us } else { floor * (1.0 + 1.5 * random() * random()) });
            EvaluationRecord {
                index,
                candidate: format!("{index:016x}"),
                stage,
                configuration: configuration(
                    128 * (index as i64 % 40 + 1),
                    index as i64 % 2 + 1,
                    8 * (index as i64 % 6),
                ),
                motif: (stage == Stage::Kernel).then(|| "A03".to_owned()),
                status,
                reason: (status != Status::Valid).then(|| match status {
                    Status::Infeasible => {
                        "tiling function: 230400 bytes of unified buffer, there are 196352".to_owned()
                    }
                    Status::BuildFailed => {
                        "op_kernel/gelu_naive.cpp:44:12: error: no matching function for call to 'Muls'".to_owned()
                    }
                    _ => "op_kernel/gelu_naive.cpp:41: race: v reads what mte2 writes; a flag mte2->v would order them"
                        .to_owned(),
                }),
                cases: objective_us.map(|us| CaseTime { name: "large".into(), us }).into_iter().collect(),
                objective_us,
                cached: false,
            }
        })
        .collect()
}

pub(super) fn record() -> RunRecord {
    let (before, after) = (profile(40, 7.5, false, 1), profile(8, 4.5, true, 40));
    let (baseline_us, best_us) = (before.task_us, after.task_us);
    let evaluations = evaluations(baseline_us, best_us);
    let kernel = FileDiff::between("op_kernel/gelu_naive.cpp", KERNEL_BEFORE, KERNEL_AFTER);
    let tiling = FileDiff::between(
        "op_host/gelu_naive.cpp",
        "constexpr uint32_t TILE_LENGTH = 128;\nconstexpr uint32_t BLOCK_DIM = 1;\n",
        "constexpr uint32_t TILE_LENGTH = 8192;\nconstexpr uint32_t BLOCK_DIM = 40;\n",
    );
    let change = |stage, title: &str, motif: Option<&str>, effect: &str, gain, diff: &Option<FileDiff>| ChangeRecord {
        stage,
        title: title.into(),
        motif: motif.map(str::to_owned),
        effect: effect.into(),
        gain,
        diffs: diff.iter().cloned().collect(),
    };
    RunRecord {
        generalisation: summary().generalisation,
        taken_back: summary().taken_back,
        lineage: Vec::new(),
        known: Vec::new(),
        format: RECORD_FORMAT,
        tool: "0.1.0".into(),
        operator: "GeluNaive".into(),
        kernel: "gelu_naive".into(),
        layout: "msopgen project".into(),
        backend: "sim".into(),
        origin: Origin::Modelled,
        machine: MachineRecord {
            name: "ascend910b2".into(),
            version: "3".into(),
            digest: "5d1c2a9f77f04e1b".into(),
            facts: BTreeMap::from([
                ("vector cores".to_owned(), "48".to_owned()),
                ("unified buffer".to_owned(), "192 KiB".to_owned()),
            ]),
        },
        environment: BTreeMap::from([
            ("compiler".to_owned(), "g++ 12.2.0".to_owned()),
            ("cmake".to_owned(), "3.25.1".to_owned()),
        ]),
        seed: 1,
        budget: 100,
        wall_s: 83.0,
        speedup: baseline_us / best_us,
        claimed: (baseline_us / best_us).min(4.243),
        baseline_objective_us: baseline_us,
        bound_objective_us: Some(18.25),
        stages: summary().stages,
        baseline_configuration: configuration(128, 1, 1),
        caps: ["BLOCK_DIM".to_owned()].into(),
        configuration: configuration(8192, 1, 40),
        cases: vec![
            CaseRecord {
                name: "large".into(),
                description: "x float16 [2048, 2048]".into(),
                weight: 1.0,
                baseline_us: Some(baseline_us),
                best_us: Some(best_us),
                published_us: Some(351.0),
                before: Some(before),
                after: Some(after),
                path_before: profile_event().critical_path,
                path_after: profile_event().critical_path[..1].to_vec(),
            },
            CaseRecord {
                name: "odd".into(),
                description: "x float16 [1, 4097]".into(),
                weight: 0.0,
                baseline_us: None,
                best_us: None,
                published_us: None,
                before: None,
                after: None,
                path_before: Vec::new(),
                path_after: Vec::new(),
            },
        ],
        evaluations,
        changes: vec![
            change(
                Stage::Host,
                "larger tiles on more cores",
                None,
                "Forty cores share the rows, and each copy moves 16 KiB instead of 256 B: start-up no longer dominates MTE2.",
                6.4,
                &tiling,
            ),
            change(
                Stage::Kernel,
                "scalar loop to Muls",
                Some("A03"),
                "The vector unit does in 64 instructions what took 8192 scalar accesses; the barrier guarded nothing that the queue does not order.",
                2.45,
                &kernel,
            ),
        ],
        diffs: [tiling.clone(), kernel.clone()].into_iter().flatten().collect(),
        sites: BTreeMap::from([
            (7, "op_kernel/gelu_naive.cpp:31".to_owned()),
            (8, "op_kernel/gelu_naive.cpp:44".to_owned()),
        ]),
    }
}

/// An operator that got as far as its kernel.
pub fn surveyed() -> survey::Surveyed {
    use events::survey::{Cause, CauseKind, Class, Shape, State, StepOutcome, SurveyStep};
    let step =
        |step, state, cause, detail: &str| StepOutcome { step, state, wall_s: 0.5, cause, detail: detail.into() };
    survey::Surveyed {
        repository: "ops".into(),
        operator: "math/add".into(),
        shape: Shape::Framework,
        class: Class::Vector,
        op_type: "Add".into(),
        case: "32x128 float32".into(),
        steps: vec![
            step(SurveyStep::Host, State::Passed, None, ""),
            step(
                SurveyStep::Kernel,
                State::Failed,
                Some(Cause::new(CauseKind::MissingName, "Foo")),
                "op_kernel/add.cpp:3: Foo",
            ),
        ],
        witnesses: Vec::new(),
        tiling_tests: None,
        kernel_tests: None,
        wall_s: 1.5,
    }
}

/// The survey that found nothing but [`surveyed`].
fn survey_of_one() -> survey::Summary {
    use events::survey::{Cause, CauseKind, Class, Group, Row, SurveyStep};
    let row = Row {
        repository: "ops".into(),
        class: Class::Vector.word().into(),
        operators: 1,
        passed: BTreeMap::from([(SurveyStep::Host.word().into(), 1)]),
        ..Row::default()
    };
    let group = Group {
        step: SurveyStep::Kernel,
        cause: Cause::new(CauseKind::MissingName, "Foo"),
        passed_then: false,
        example: "op_kernel/add.cpp:3: Foo".into(),
        operators: vec!["ops/math/add".into()],
    };
    survey::Summary {
        rows: vec![row],
        groups: vec![group],
        left_out: 3,
        headers: "own".into(),
        ..survey::Summary::default()
    }
}
