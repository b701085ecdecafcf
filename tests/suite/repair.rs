//! Operators that are wrong as they stand: what mends them is told, and made where the user wants it.

use std::path::PathBuf;
use std::sync::Arc;

use backend::SimBackend;
use tuner::{Surveyed, find_repair};

use crate::faults::{open, runtime};
use crate::support::{Ended, Project, edited, python_has_numpy, require_tools};

const GELU: &str = "op_kernel/gelu_naive.cpp";
const SOFTMAX: &str = "op_kernel/softmax_v2.h";
const RUN: [&str; 9] = ["run", "--budget", "2", "--stage", "host", "--jobs", "1", "--seed", "1"];

fn change(project: &Project, file: &str, from: &str, to: &str) {
    project.write(file, &edited(&project.read(file), from, to));
}

fn run(project: &Project, further: &[&str]) -> Ended {
    project.run(&[&RUN[..], further].concat())
}

/// Messages of warnings that tell what `--repair` would do.
fn told(ended: &Ended) -> Vec<String> {
    let warnings = ended.named("warning").into_iter().filter(|warning| warning["code"] == "repair-found");
    warnings.map(|warning| warning["message"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Line of the first occurrence, from 1.
fn line_of(text: &str, what: &str) -> usize {
    let at = text.find(what).unwrap_or_else(|| panic!("{what} is not there"));
    text[..at].matches('\n').count() + 1
}

/// A small GeluNaive whose compiler orders nothing by itself.
fn without_automatic_order() -> Project {
    let project = crate::cli::small_gelu();
    let cmake = project.read("op_kernel/CMakeLists.txt");
    let option = "npu_op_kernel_options(gelu_naive_kernels ALL OPTIONS --cce-auto-sync=off)\n";
    project.write("op_kernel/CMakeLists.txt", &format!("{cmake}{option}"));
    project
}

/// The same without a barrier that it needs.
fn racing() -> Project {
    let project = without_automatic_order();
    let barrier = "        AscendC::PipeBarrier<PIPE_ALL>();\n        AscendC::Exp";
    change(&project, GELU, barrier, "        AscendC::Exp");
    project
}

#[test]
fn a_barrier_that_is_missing_is_told_and_put_in_where_that_is_wanted() {
    require_tools!();
    let whole = without_automatic_order();
    let right = run(&whole, &["--dry-run"]).expect(0);
    let (kernel, project) = (whole.read(GELU), racing());
    let faulty = project.read(GELU);
    let place = format!("{GELU}:{}", line_of(&faulty, "AscendC::Exp"));

    let ended = run(&project, &[]).expect(5);
    let messages = told(&ended);
    assert!(messages.len() == 1 && messages[0].contains(&place) && messages[0].contains("all that is"), "{messages:?}");
    assert_eq!((project.read(GELU), ended.named("repair").len()), (faulty.clone(), 0));

    let ended = run(&project, &["--repair", "--dry-run"]).expect(0);
    assert_eq!(ended.named("repair")[0]["written"], false);
    assert_eq!(project.read(GELU), faulty);
    run(&project, &["--repair", "--locked"]).expect(1);
    assert_eq!(project.read(GELU), faulty, "the lock would have to change");

    let ended = run(&project, &["--repair", "--set", "BLOCK_DIM=1", "--set", "TILE_LENGTH=128"]).expect(0);
    let [repair] = ended.named("repair")[..] else { panic!("{:?}", ended.events) };
    assert_eq!((&repair["written"], &repair["after"], &repair["file"]), (&true.into(), &0.into(), &GELU.into()));
    assert_eq!(format!("{GELU}:{}", repair["line"]), place);
    assert!(
        repair["diff"].as_str().is_some_and(|diff| diff.contains("\n+        AscendC::PipeBarrier<PIPE_ALL>();\n"))
    );
    assert_eq!(project.read(GELU), kernel, "it is the barrier that was taken out");
    // What is gained is told against the repaired operator.
    assert_eq!(ended.named("baseline")[0]["cases"], right.named("baseline")[0]["cases"]);
    project.run(&["check"]).expect(0);
    let ended = run(&project, &["--repair", "--dry-run"]).expect(0);
    assert_eq!((told(&ended).len(), ended.named("repair").len()), (0, 0), "nothing is left to repair");
}

#[test]
fn a_tensor_that_is_given_back_too_early_is_given_back_later() {
    require_tools!();
    let project = crate::cli::small_gelu();
    change(&project, "ascend.toml", "hazards = \"errors\"", "hazards = \"known\"");
    let (free, last) =
        ("        inQueueX.FreeTensor(xLocal);\n", "        AscendC::Div(yLocal, xLocal, poly, count);\n");
    change(&project, GELU, free, "");
    change(&project, GELU, last, &format!("{free}{last}"));
    let faulty = project.read(GELU);
    let ended = run(&project, &["--dry-run"]).expect(0);
    let place = format!("{GELU}:{}: give xLocal back behind its last use", line_of(&faulty, free));
    assert!(told(&ended)[0].contains(&place), "{:?}", told(&ended));
    run(&project, &["--repair", "--set", "BLOCK_DIM=1", "--set", "TILE_LENGTH=128", "--set", "BUFFER_NUM=1"]).expect(0);
    assert_eq!(project.read(GELU), edited(&faulty, &format!("{free}{last}"), &format!("{last}{free}")));
}

/// Softmax whose sum is told how many times to repeat, where it wants to know how many elements there are.
fn summing_one_element() -> Project {
    let project = Project::renamed("softmax_rows", [("SoftmaxRows", "SoftmaxV2"), ("softmax_rows", "softmax_v2")]);
    change(&project, "ascend.toml", "shape = [1024, 1024]", "shape = [64, 1024]");
    let mask = "AscendCUtils::SetMaskCount<float>();\n        SetVectorMask<float>(0, count);\n        ";
    let sum = format!("{mask}ReduceSum(result, shifted, work, 1);\n        SetMaskNorm();\n");
    change(&project, SOFTMAX, "ReduceSum(result, shifted, work, static_cast<int32_t>(count));\n", &sum);
    project
}

#[test]
fn a_sum_of_one_element_becomes_one_of_all_where_a_definition_says_so() {
    require_tools!();
    if !python_has_numpy() {
        return;
    }
    let project = summing_one_element();
    let faulty = project.read(SOFTMAX);
    // Nobody says that anything is wrong with it.
    let ended = run(&project, &["--repair", "--dry-run"]).expect(0);
    assert_eq!((told(&ended).len(), ended.named("repair").len()), (0, 0));

    change(&project, "ascend.toml", "reference = \"baseline\"", "reference = \"definition\"");
    let place = format!("{SOFTMAX}:{}: ReduceSum of count elements, not of 1", line_of(&faulty, "ReduceSum("));
    let ended = run(&project, &["--dry-run"]).expect(0);
    assert!(told(&ended).len() == 1 && told(&ended)[0].contains(&place), "{:?}", told(&ended));
    assert_eq!(project.read(SOFTMAX), faulty);
    let ended = run(&project, &["--repair"]).expect(0);
    assert_eq!(ended.named("repair")[0]["after"], 0);
    assert!(project.read(SOFTMAX).contains("ReduceSum(result, shifted, work, count);"));
    assert!(!project.read("ascend.lock").contains("[[departure]]"));
}

/// A tensor of one number.
fn npy(shape: &str, elements: usize, number: f32) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape}), }}");
    let padded = format!("{header:<117}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((padded.len() as u16).to_le_bytes());
    file.extend(padded.bytes());
    file.extend(std::iter::repeat_n(number.to_le_bytes(), elements).flatten());
    file
}

#[test]
fn right_answers_of_the_user_tell_what_is_mended_and_what_is_not() {
    require_tools!();
    let project = summing_one_element();
    change(&project, "ascend.toml", "reference = \"baseline\"", "reference = \"npy\"\ngolden = \"golden\"");
    let case = |name: &str, rows: usize, columns: usize, right: f32| {
        let (folder, shape) = (project.path().join("golden").join(name), format!("{rows}, {columns}"));
        fs_err::create_dir_all(&folder).expect("a directory");
        for (tensor, number) in [("x", 0.0), ("y", right)] {
            let file = npy(&shape, rows * columns, number);
            fs_err::write(folder.join(format!("{tensor}.npy")), file).expect("a file");
        }
    };
    case("1024x1024", 64, 1024, 1.0 / 1024.0);
    case("odd-7x333", 7, 333, 0.5);
    let faulty = project.read(SOFTMAX);
    // One of two cases is right then; the other has a right answer that no operator gives.
    let ended = run(&project, &["--repair", "--dry-run"]).expect(5);
    assert_eq!((&ended.named("repair")[0]["before"], &ended.named("repair")[0]["after"]), (&2.into(), &1.into()));
    assert!(ended.named("warning").iter().any(|warning| warning["code"] == "repaired-in-part"));
    case("odd-7x333", 7, 333, 1.0 / 333.0);
    let ended = run(&project, &[]).expect(5);
    assert!(told(&ended)[0].contains("all that is wrong"), "{:?}", told(&ended));
    assert_eq!(project.read(SOFTMAX), faulty);
    let ended = run(&project, &["--repair"]).expect(0);
    assert_eq!(ended.named("repair")[0]["after"], 0);
    assert_ne!(project.read(SOFTMAX), faulty);
}

/// The barrier that would order the accesses moves a line whose number is computed with.
#[test]
fn what_silences_a_hazard_and_changes_results_is_not_kept() {
    require_tools!();
    let project = racing();
    change(&project, "ascend.toml", "hazards = \"errors\"", "hazards = \"known\"");
    change(&project, GELU, "Duplicate(ones, 1.0f, count)", "Duplicate(ones, static_cast<float>(__LINE__), count)");
    let faulty = project.read(GELU);
    for further in [&["--repair"][..], &[]] {
        let ended = run(&project, &[further, &["--dry-run"]].concat()).expect(0);
        assert_eq!((told(&ended).len(), ended.named("repair").len()), (0, 0), "{further:?}");
        assert!(ended.named("warning").iter().any(|warning| warning["code"] == "known-hazard"));
    }
    let fixed = ["--repair", "--set", "BLOCK_DIM=1", "--set", "TILE_LENGTH=128", "--set", "BUFFER_NUM=1"];
    run(&project, &fixed).expect(0);
    assert_eq!(project.read(GELU), faulty, "nothing is written");
}

#[test]
fn nothing_is_tried_of_an_operator_that_is_right() {
    require_tools!();
    let project = crate::cli::small_gelu();
    let (runtime, mut workspace) = (runtime(), open(&project));
    let surveyed = runtime.block_on(Surveyed::of(&workspace));
    assert!(surveyed.is_ok());
    // Whatever ran now would end in an error.
    let broken = SimBackend { runner: PathBuf::from("/nonexistent/runner"), ..workspace.simulator() };
    workspace.evaluator.backend = Arc::new(broken);
    let found = runtime.block_on(find_repair(&workspace, &surveyed, tuner::Tries::Asked, None));
    assert!(matches!(found, Ok(None)), "{found:?}");
}
