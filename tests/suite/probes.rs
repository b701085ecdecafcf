//! What is right for the one case that a search sees, and wrong, or slow, elsewhere: none of it is written back.

use serde_json::Value;

use crate::support::{Ended, Project, edited, require_tools, root};

/// One trap of the operator: a constant, the case that tempts, the values, and the one that stands in the sources.
struct Trap {
    constant: &'static str,
    elements: u64,
    values: [u32; 2],
    present: u32,
    probes: u32,
}

/// Fewer cores are quicker on little data, and slower on more.
const CORES: Trap = Trap { constant: "CORES", elements: 65_536, values: [8, 48], present: 48, probes: 5 };

impl Trap {
    fn project(&self) -> Project {
        let project = Project::copy_of(&root().join("tests/suite/data/shape_traps"));
        let manifest = project.read("ascend.toml");
        let [first, second] = self.values;
        let manifest = manifest
            .replace("LENGTH]", &format!("{}]", self.elements))
            .replace("CONSTANT", self.constant)
            .replace("VALUES", &format!("{first}, {second}"))
            .replace("DEFAULT", &self.present.to_string())
            .replace("seeds = 1", &format!("seeds = 1\nprobes = {}", self.probes));
        project.write("ascend.toml", &manifest);
        project
    }

    fn tuned(&self, project: &Project) -> Ended {
        project.run(&["run", "--budget", "8", "--seed", "1", "--stage", "host"]).expect(0)
    }

    /// Tunes, and expects the tempting value to be found, refused for a probe of this kind, and not written.
    fn is_refused(&self, kind: &str, why: &str) {
        self.is_refused_in(&self.project(), kind, why);
    }

    /// The same in a project whose sources were changed.
    fn is_refused_in(&self, project: &Project, kind: &str, why: &str) {
        let before = project.read("op_host/shape_traps.cpp");
        let ended = self.tuned(project);
        let improved = ended.events.iter().any(|event| event["event"] == "improvement");
        assert!(improved, "{}: it is no trap if it does not tempt", self.constant);
        let summary = ended.events.last().expect("a summary");
        let taken: Vec<(&str, &str)> = summary["taken_back"]
            .as_array()
            .expect("steps")
            .iter()
            .filter_map(|step| Some((step["step"].as_str()?, step["why"].as_str()?)))
            .collect();
        let refused = taken
            .iter()
            .any(|(step, reason)| step.starts_with(self.constant) && reason.contains(kind) && reason.contains(why));
        assert!(refused, "{taken:?}");
        assert_eq!(project.read("op_host/shape_traps.cpp"), before);
        assert_eq!(summary["speedup"], 1.0);
    }
}

/// Whether the number of cores was taken back for this reason.
fn took_back_cores(summary: &Value, why: &str) -> bool {
    let of_cores = |step: &Value| {
        let says = |key: &str, what: &str| step[key].as_str().is_some_and(|text| text.contains(what));
        says("step", "CORES") && says("why", why)
    };
    summary["taken_back"].as_array().is_some_and(|steps| steps.iter().any(of_cores))
}

/// Fewer cores are quicker on little data; written as a constant they are slower on more.
#[test]
fn fewer_cores_for_one_size_are_not_written() {
    require_tools!();
    CORES.is_refused("", "slower than the operator as it was");
}

/// An operator that moves whole blocks alone says nothing at other lengths, and is tried at whole ones all the same.
#[test]
fn fewer_cores_are_not_written_where_only_whole_blocks_are_moved() {
    require_tools!();
    let (project, kernel) = (CORES.project(), "op_kernel/shape_traps.cpp");
    let mut text = project.read(kernel);
    let padded = "AscendC::DataCopyPad(slot, xGm[from], copy, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});";
    for (from, to) in [
        (padded, "AscendC::DataCopy(slot, xGm[from], count);"),
        ("AscendC::DataCopyPad(yGm[from], slot, copy);", "AscendC::DataCopy(yGm[from], slot, count);"),
    ] {
        text = edited(&text, from, to);
    }
    project.write(kernel, &text);
    let before = project.read("op_host/shape_traps.cpp");
    let ended = CORES.tuned(&project);
    let summary = ended.events.last().expect("a summary");
    assert!(took_back_cores(summary, "slower than the operator as it was"), "{summary}");
    let probes = summary["generalisation"].to_string();
    assert!(!probes.contains("no whole blocks"), "{probes}");
    assert_eq!(project.read("op_host/shape_traps.cpp"), before);
}

/// The same trap with values between: the probe that was the trap's end is heeded from then on, and what is found then holds.
#[test]
fn a_run_goes_on_with_the_probe_that_it_broke_on() {
    require_tools!();
    let project = CORES.project();
    let manifest = project.read("ascend.toml");
    project
        .write("ascend.toml", &manifest.replace("values = [8, 48]", "values = [2, 4, 8, 12, 16, 20, 24, 32, 40, 48]"));
    let run = ["run", "--budget", "24", "--seed", "1", "--stage", "host", "--dry-run"];
    let first = project.run(&run).expect(0);
    let summary = first.events.last().expect("a summary");
    let found = &summary["generalisation"];
    let joined = |summary: &Value| summary["generalisation"]["joined"].as_array().cloned().unwrap_or_default();
    let refused = joined(summary).first().cloned().unwrap_or_else(|| panic!("no probe refused anything: {summary}"));
    assert!(summary["speedup"].as_f64().is_some_and(|speedup| speedup > 1.03), "{summary}");
    let speedups = found["probes"].as_array().into_iter().flatten().filter_map(|probe| probe["speedup"].as_f64());
    assert!(speedups.fold(f64::INFINITY, f64::min) > 0.99, "{found}");

    // What a probe said is not asked again when the run is: an edited journal is believed.
    let journal = project.read("target/ascend-tune/probes.jsonl");
    assert!(journal.contains("\"slower\":"), "{journal}");
    project.write("target/ascend-tune/probes.jsonl", &journal.replace("\"slower\":", "\"held\":"));
    let second = project.run(&run).expect(0);
    let summary = second.events.last().expect("a summary");
    assert!(!joined(summary).contains(&refused), "{summary}");
}

/// All cores for much work and few for little, from a size on that is too small for that: a larger one holds, and the gain stays.
#[test]
fn a_share_that_is_too_small_for_some_size_is_made_larger() {
    require_tools!();
    let project = Trap { constant: "CORES", elements: 1_048_576, values: [4, 48], present: 4, probes: 6 }.project();
    let (host, kernel) = ("op_host/shape_traps.cpp", "op_kernel/shape_traps.cpp");
    let text = edited(&project.read(host), "CORES = 48; ", "CORES = 4; ");
    let launch = "context->SetBlockDim((rows + rowsOfCore - 1) / rowsOfCore);";
    project.write(host, &edited(&text, launch, "context->SetBlockDim(CORES);"));
    let length = "this->length = total - first < share ? total - first : share;";
    let idle = format!("if (first >= total) {{ total = first; }}\n        {length}");
    project.write(kernel, &edited(&project.read(kernel), length, &idle));
    let share = "\n[tunable.SHARE]\nfile = \"op_host/shape_traps.cpp\"\nshare = \"CORES\"\nof = \"rows\"\n\
        domain = { values = [1, 64], ordered = true }\ndefault = 1\nreason = \"rows of a core\"\n";
    let case = |name: &str, elements: u32| {
        format!(
            "[[case]]\nname = \"{name}\"\ninputs = [{{ name = \"x\", dtype = \"float16\", shape = [{elements}], range = [-2.0, \
             2.0] }}]\noutputs = [{{ name = \"y\", dtype = \"float16\" }}]\n\n"
        )
    };
    // In the middle the smaller share is the better one; where it begins it is not.
    let more = case("little", 10_240) + &case("middle", 256_000);
    let manifest = project.read("ascend.toml");
    let manifest = manifest.replace("\n[verify]", &format!("{share}\n[verify]"));
    project.write("ascend.toml", &manifest.replace("[[case]]\n", &format!("{more}[[case]]\n")));
    let ended = project.run(&["run", "--budget", "8", "--seed", "5", "--stage", "host"]).expect(0);
    let summary = ended.events.last().expect("a summary");
    let taken: Vec<&str> =
        summary["taken_back"].as_array().into_iter().flatten().filter_map(|step| step["step"].as_str()).collect();
    assert!(taken.iter().any(|step| step.starts_with("SHARE ") && step.contains("(now ")), "{summary}");
    assert!(summary["speedup"].as_f64().is_some_and(|speedup| speedup > 1.2), "{summary}");
    let written = project.read(host);
    assert!(written.contains("CORES = 48;") && written.contains("< CORES ? 4 : CORES;"), "{written}");
}

/// A rule that gains at the sizes of the cases and is nothing elsewhere: what is claimed is what probes confirm.
#[test]
fn no_more_is_claimed_than_probes_confirm() {
    require_tools!();
    let project = CORES.project();
    let host = "op_host/shape_traps.cpp";
    let by_platform = |project: &Project| {
        let include = "#include \"register/op_def_registry.h\"";
        let with_platform = format!("#include <algorithm>\n{include}\n#include \"tiling/platform/platform_ascendc.h\"");
        let by_constant = "    const uint32_t rowsOfCore = (rows + CORES - 1) / CORES;";
        let divided = "    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());\n    \
            uint32_t coreNum = platform.GetCoreNumAiv();\n    \
            const uint32_t rowsOfCore = rows / coreNum + (rows % coreNum == 0 ? 0 : 1);";
        let text = edited(&project.read(host), include, &with_platform);
        project.write(host, &edited(&text, by_constant, divided));
    };
    by_platform(&project);
    let manifest = project.read("ascend.toml");
    let rule = manifest
        .replace("constant = \"CORES\"", "share = \"coreNum\"\nof = \"rows\"")
        .replace("values = [8, 48]", "values = [0, 32]")
        .replace("default = 48", "default = 0")
        .replace("probes = 5", "probes = 16");
    assert_ne!(rule, manifest);
    project.write("ascend.toml", &rule);
    let run = ["run", "--budget", "16", "--seed", "1", "--stage", "host"];
    let ended = project.run(&run).expect(0);
    let summary = ended.events.last().expect("a summary");
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{summary}"));
    let (on_cases, on_probes) = (number(&summary["speedup"]), number(&summary["generalisation"]["speedup"]));
    assert!(on_cases > 1.03 && on_probes.ln() < on_cases.ln() * 2.0 / 3.0, "{summary}");
    assert_eq!(number(&summary["claimed"]), on_probes);
    let named = |event: &Value| event["code"] == "cases-flatter";
    assert!(ended.events.iter().any(named), "nobody is told that the cases flatter");
    let representing = summary["generalisation"]["representing"].as_array().map_or(0, Vec::len);
    assert!((1..=3).contains(&representing), "{summary}");
    // Where its rule ends is looked for, on both sides, and no sample of anything.
    let probes: Vec<&Value> = summary["generalisation"]["probes"].as_array().into_iter().flatten().collect();
    let is_of = |probe: &Value, kind: &str| probe["name"].as_str().is_some_and(|name| name.starts_with(kind));
    assert!(probes.iter().filter(|probe| is_of(probe, "edge-")).count() >= 2, "{summary}");
    let apart = ["edge-", "other-cores-", "stretched-"];
    let is_drawn = |probe: &&&Value| !apart.iter().any(|kind| is_of(probe, kind));
    let drawn: Vec<f64> = probes.iter().filter(is_drawn).map(|probe| number(&probe["speedup"])).collect();
    let mean = (drawn.iter().map(|speedup| speedup.ln()).sum::<f64>() / drawn.len() as f64).exp();
    assert!((mean - on_probes).abs() < 1e-6, "{summary}");
    let lock = project.read("ascend.lock");
    let permille = (on_probes * 1000.0).round();
    assert!(lock.contains(&format!("\nspeedup_permille = {permille}\n")), "{lock}");
    let check = project.run(&["check"]).expect(0);
    let check = check.events.last().expect("a check");
    assert!((number(&check["claimed"]) - on_probes).abs() < 0.001, "{check}");

    // What other probes say is what was claimed, or nearly so.
    let before = CORES.project();
    by_platform(&before);
    let against = before.path().to_str().expect("a path");
    let compared = project.run(&["compare", "--against", against, "--seed", "77", "--probes", "16"]).expect(0);
    let compared = compared.events.last().expect("a comparison");
    let ratios: Vec<f64> = compared["probes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|probe| probe["of_the_sample"] == true)
        .map(|probe| number(&probe["before_us"]) / number(&probe["now_us"]))
        .collect();
    let logarithms = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
    assert!(logarithms >= on_probes.ln() * 2.0 / 3.0 - 0.002, "{logarithms} {on_probes} {compared}");
}

/// What the tiling function decides holds for every dtype of the definition; of one that no case can have nothing is known.
#[test]
fn values_for_a_dtype_that_nobody_can_try_are_not_written() {
    require_tools!();
    let project = CORES.project();
    let host = "op_host/shape_traps.cpp";
    let before = project.read(host);
    let with_complex = before.replace("ge::DT_FLOAT16, ", "ge::DT_COMPLEX128, ge::DT_FLOAT16, ");
    let with_formats = with_complex.replace("ge::FORMAT_ND, ", "ge::FORMAT_ND, ge::FORMAT_ND, ");
    assert_ne!(with_complex, before);
    project.write(host, &with_formats);
    let ended = CORES.tuned(&project);
    let summary = ended.events.last().expect("a summary");
    let taken = summary["taken_back"].to_string();
    assert!(taken.to_lowercase().contains("complex128"), "{summary}");
    assert_eq!(project.read(host), with_formats);
}

/// Where something else than shapes decides how much there is to do, no probe tells what fewer cores would mean for more work.
#[test]
fn values_of_which_no_probe_tells_anything_are_not_written() {
    require_tools!();
    let project = CORES.project();
    let host = project.read("op_host/shape_traps.cpp");
    let (from, to) =
        ("    if (total == 0) {", "    const uint32_t total = given < 65536 ? given : 65536;\n    if (total == 0) {");
    assert!(host.contains(from), "{host}");
    let host = host.replacen("uint32_t total =", "uint32_t given =", 1).replacen(from, to, 1);
    project.write("op_host/shape_traps.cpp", &host);
    let ended = CORES.tuned(&project);
    let summary = ended.events.last().expect("a summary");
    assert!(took_back_cores(summary, "larger tensors are no more work"), "{summary}");
    assert_eq!(project.read("op_host/shape_traps.cpp"), host);
}

/// Where the operator does nothing at other sizes nobody can say what fewer cores would do there.
#[test]
fn values_are_not_written_where_every_probe_is_at_fault() {
    require_tools!();
    let project = CORES.project();
    let (host, kernel) = ("op_host/shape_traps.cpp", "op_kernel/shape_traps.cpp");
    let before = project.read(host);
    let init = "        pipe.InitBuffer(";
    let nothing = format!("        if (total != {}) {{ this->length = 0; }}\n{init}", CORES.elements);
    project.write(kernel, &edited(&project.read(kernel), init, &nothing));
    let ended = CORES.tuned(&project);
    let summary = ended.events.last().expect("a summary");
    assert!(took_back_cores(summary, "is not right at any"), "{summary}");
    assert_eq!(project.read(host), before);
}

/// As long as every core has one tile nobody sees that two tiles would be in one place at once.
#[test]
fn a_race_that_no_case_shows_is_not_written() {
    require_tools!();
    let trap = Trap { constant: "SLOTS", elements: 393_216, values: [1, 2], present: 2, probes: 3 };
    trap.is_refused("", "without an order between them");
}

/// What fits for half does not fit for float, which the operator takes as well.
#[test]
fn an_overflow_in_another_dtype_is_not_written() {
    require_tools!();
    let trap = Trap { constant: "SLOT_LENGTH", elements: 1 << 23, values: [8192, 32_768], present: 8192, probes: 4 };
    trap.is_refused("other-dtype-float32", "InitBuffer");
}

/// Nor for complex numbers, which a kernel takes as pairs of floats.
#[test]
fn an_overflow_with_complex_numbers_is_not_written() {
    require_tools!();
    let trap = Trap { constant: "SLOT_LENGTH", elements: 1 << 23, values: [8192, 32_768], present: 8192, probes: 4 };
    let project = trap.project();
    let (host, kernel) = ("op_host/shape_traps.cpp", "op_kernel/shape_traps.cpp");
    project.write(host, &project.read(host).replace("ge::DT_FLOAT}", "ge::DT_COMPLEX64}"));
    let call = "KernelShapeTraps<DTYPE_X> op;";
    let pairs = "KernelShapeTraps<float> op;\n    tilingData.total *= 2;\n    tilingData.share *= 2;";
    let either = format!("#if ORIG_DTYPE_X == DT_COMPLEX64\n    {pairs}\n#else\n    {call}\n#endif");
    project.write(kernel, &edited(&project.read(kernel), call, &either));
    trap.is_refused_in(&project, "other-dtype-complex64", "InitBuffer");
}

/// An operator with a way of its own for each dtype, both of which wait for all pipes without need; its cases take one of them.
fn of_two_ways(probes: u32) -> Project {
    let project = Project::fixture("add_custom");
    let (host, kernel) = ("op_host/add_custom.cpp", "op_kernel/add_custom.cpp");
    let both = project.read(host).replace("{ge::DT_FLOAT16}", "{ge::DT_FLOAT16, ge::DT_FLOAT}");
    project.write(host, &both.replace("{ge::FORMAT_ND}", "{ge::FORMAT_ND, ge::FORMAT_ND}"));
    let (add, barrier) = ("        AscendC::Add(zLocal, xLocal, yLocal, this->tileLength);\n", BARRIER);
    let way = format!("{barrier}    {add}{barrier}");
    let ways = format!("        if constexpr (sizeof(DTYPE_X) == 2) {{\n{way}        }} else {{\n{way}        }}\n");
    project.write(kernel, &edited(&project.read(kernel), add, &ways).replace("half", "DTYPE_X"));
    let manifest = project.read("ascend.toml");
    project.write("ascend.toml", &edited(&manifest, "probes = 1", &format!("probes = {probes}")));
    project
}

const BARRIER: &str = "            AscendC::PipeBarrier<PIPE_ALL>();\n";

/// Tunes with a patch that makes this of the kernel.
fn with_patch(project: &Project, after: &str) -> Ended {
    let kernel = "op_kernel/add_custom.cpp";
    let patch = diffy::create_patch(&project.read(kernel), after).to_string();
    let named = [("--- original", format!("--- a/{kernel}")), ("+++ modified", format!("+++ b/{kernel}"))];
    let patch = named.iter().fold(patch, |patch, (from, to)| patch.replace(from, to));
    project.write("change.diff", &patch);
    let file = project.path().join("change.diff").display().to_string();
    let arguments = ["--budget", "1", "--seed", "1", "--stage", "kernel", "--no-bank", "--allow-dirty", "--patch"];
    project.run(&[&["run"], &arguments[..], &[&file]].concat()).expect(0)
}

/// Code for a dtype that no case has may be changed where a probe has that dtype, for every winner is tried on it.
#[test]
fn what_a_probe_runs_may_be_changed() {
    require_tools!();
    for (probes, left) in [(0, 4), (10, 0)] {
        let (project, kernel) = (of_two_ways(probes), "op_kernel/add_custom.cpp");
        with_patch(&project, &project.read(kernel).replace(BARRIER, ""));
        assert_eq!(project.read(kernel).matches(BARRIER.trim()).count(), left, "{probes} probes");
    }
}

/// And what is wrong for that dtype alone is not written.
#[test]
fn a_patch_that_is_wrong_for_the_dtype_of_a_probe_is_not_written() {
    require_tools!();
    let (project, kernel) = (of_two_ways(10), "op_kernel/add_custom.cpp");
    let before = project.read(kernel);
    let (of_half, of_float) = before.split_at(before.find("} else {").expect("two ways"));
    let ended =
        with_patch(&project, &(of_half.replace(BARRIER, "") + &of_float.replacen("AscendC::Add(", "AscendC::Sub(", 1)));
    let taken = ended.events.last().expect("a summary")["taken_back"].to_string();
    assert!(taken.contains("other-dtype-float32"), "{taken}");
    assert_eq!(project.read(kernel), before);
}

/// A gain of less than a percent is not worth a change of somebody's sources.
#[test]
fn a_small_gain_leaves_the_sources_as_they_were() {
    require_tools!();
    let trap = Trap { constant: "SLOTS", elements: 393_216, values: [1, 2], present: 2, probes: 0 };
    let project = trap.project();
    let before = project.read("op_host/shape_traps.cpp");
    let ended = trap.tuned(&project);
    let summary = ended.events.last().expect("a summary");
    let last = summary["taken_back"].as_array().and_then(|steps| steps.last()).expect("a step");
    assert_eq!(last["step"], "everything", "{summary}");
    assert!(last["why"].as_str().is_some_and(|why| why.starts_with("the gain is 0.")), "{last}");
    assert_eq!(project.read("op_host/shape_traps.cpp"), before);
    assert_eq!(summary["generalisation"], Value::Null, "no probe was asked for");
}

/// `compare` sees the same with probes of its own, whoever made the change.
#[test]
fn a_change_is_compared_with_what_it_replaced() {
    require_tools!();
    let trap = Trap { constant: "SLOTS", elements: 393_216, values: [1, 2], present: 2, probes: 0 };
    let (before, project) = (trap.project(), trap.project());
    let against = before.path().to_str().expect("a path");
    let compare = ["compare", "--against", against, "--seed", "77", "--probes", "3"];
    let same = project.run(&compare).expect(0);
    let same = same.events.last().expect("a comparison");
    assert_eq!(same["event"], "comparison");
    let probes = same["probes"].as_array().expect("probes");
    assert_eq!(probes.len(), 3);
    assert!(probes.iter().all(|probe| probe["holds"] == true && probe["before_us"] == probe["now_us"]), "{same}");

    let text = project.read("op_host/shape_traps.cpp");
    project.write("op_host/shape_traps.cpp", &text.replace("SLOTS = 2;", "SLOTS = 1;"));
    let changed = project.run(&compare).expect(1);
    let changed = changed.events.last().expect("a comparison");
    let wrong = |probe: &Value| probe["wrong"].as_str().is_some_and(|why| why.contains("without an order"));
    assert!(changed["probes"].as_array().is_some_and(|probes| probes.iter().any(wrong)), "{changed}");

    let nowhere = project.run(&["compare", "--against", "no-such-revision"]);
    assert_eq!(nowhere.code, 2, "{}", nowhere.stderr);
}

/// The sizes and dtypes of probes say nothing of an attribute that became a constant of the kernel.
#[test]
fn an_attribute_that_became_a_constant_is_told() {
    require_tools!();
    let (honest, project) = (Project::fixture("rms_norm/beginner"), Project::fixture("rms_norm/beginner"));
    for operator in [&honest, &project] {
        let manifest = operator.read("ascend.toml").replace("[1536, ", "[96, ").replace("[3072, ", "[64, ");
        operator.write("ascend.toml", &manifest);
    }
    let file = "op_kernel/rms_norm.h";
    let folded = edited(
        &project.read(file),
        "static_cast<float>(columns_) + epsilon_;",
        "static_cast<float>(columns_) + 1e-6f;",
    );
    project.write(file, &folded);
    let against = honest.path().display().to_string();
    let ended = project.run(&["compare", "--against", &against, "--seed", "5", "--probes", "16"]).expect(1);
    let comparison = ended.named("comparison")[0];
    let probes = comparison["probes"].as_array().expect("probes");
    let wrong = probes.iter().filter(|probe| probe["wrong"].is_string());
    let wrong: Vec<(&str, bool)> =
        wrong.map(|probe| (probe["name"].as_str().expect("a name"), probe["of_the_sample"] == true)).collect();
    assert_eq!(wrong.len(), 1, "{comparison}");
    assert!(wrong[0].0.starts_with("other-attribute-") && !wrong[0].1, "{comparison}");
}

/// A share counts rows, and how much work a row is it does not know.
#[test]
fn fewer_cores_for_few_rows_are_tried_with_longer_ones() {
    require_tools!();
    let (before, project) = (Project::fixture("softmax_rows"), Project::fixture("softmax_rows"));
    for operator in [&before, &project] {
        operator.write("ascend.toml", &edited(&operator.read("ascend.toml"), "[1024, 1024]", "[96, 32]"));
    }
    let host = "op_host/softmax_rows_tiling.cpp";
    let limit = "const int64_t coreLimit = available < MAX_CORES ? available : MAX_CORES;";
    let by_rows = "const int64_t most = available < MAX_CORES ? available : MAX_CORES;\n    \
        const int64_t coreLimit = (rows + 23) / 24 < most ? (rows + 23) / 24 : most;";
    project.write(host, &edited(&project.read(host), limit, by_rows));
    let against = before.path().display().to_string();
    let ended = project.run(&["compare", "--against", &against, "--seed", "5", "--probes", "1"]).expect(1);
    let comparison = ended.named("comparison")[0];
    // The cases have rows of 32.
    let longer = |probe: &&Value| {
        let name = probe["name"].as_str().and_then(|name| name.strip_prefix("edge-float32-")).unwrap_or_default();
        let row = name.split('x').nth(1).and_then(|row| row.split('-').next()?.parse::<u64>().ok());
        row.is_some_and(|row| row > 32)
    };
    let probes = comparison["probes"].as_array().expect("probes").iter();
    let slower: Vec<bool> = probes.filter(longer).map(|probe| probe["holds"] == false).collect();
    assert!(slower.len() >= 3 && slower.contains(&true), "{comparison}");
}

/// An operator that is slow with one buffer, and has room for two as long as rows are no longer than its cases have them.
fn slow_with_one_buffer() -> (Project, String) {
    let project = Project::fixture("rms_norm/beginner");
    let kernel = "op_kernel/rms_norm.h";
    let mut text = project.read(kernel);
    let cast = "Cast(gammaFloat, gamma, RoundMode::CAST_NONE, columns_);\n        PipeBarrier<PIPE_ALL>();\n        ";
    let sum = "ReduceSum(sum, square, work, columns_);\n        PipeBarrier<PIPE_ALL>();\n\n        ";
    for (from, with) in [
        ("InitBuffer(inQueueX_, BUFFER_NUM, ", "InitBuffer(inQueueX_, 1, "),
        ("InitBuffer(inQueueGamma_, BUFFER_NUM, ", "InitBuffer(inQueueGamma_, 1, "),
        // So that rows of 8192 have room for a second buffer, and longer ones only for one.
        ("InitBuffer(gammaBuf_, padded * sizeof(float))", "InitBuffer(gammaBuf_, 32)"),
        ("gammaBuf_.Get<float>()", "squareBuf_.Get<float>()"),
        (cast, ""),
        // One buffer is slow.
        (
            sum,
            &format!(
                "for (int32_t slow = BUFFER_NUM; slow < 2; slow++) {{ Duplicate(work, 0.0f, columns_); PipeBarrier<PIPE_V>(); }}\n        {sum}{cast}"
            ),
        ),
    ] {
        text = edited(&text, from, with);
    }
    project.write(kernel, &text);
    // Nobody wrote down how long rows may be.
    let host = "op_host/rms_norm_tiling.cpp";
    project.write(host, &edited(&project.read(host), "MAX_COLUMNS = 8192;", "MAX_COLUMNS = 65536;"));
    let manifest = edited(&project.read("ascend.toml"), "range = [1, 48, 1]", "values = [16]");
    project.write("ascend.toml", &edited(&manifest, "range = [1, 4, 1]", "values = [1, 2]"));
    (project, text)
}

/// A second buffer takes room that the longest rows need, which no drawn length comes near: it wins on the cases, and is taken back.
#[test]
fn a_winner_has_room_for_the_longest_rows_that_there_was_room_for() {
    require_tools!();
    let ((project, text), kernel) = (slow_with_one_buffer(), "op_kernel/rms_norm.h");
    let ended = project.run(&["run", "--budget", "4", "--seed", "1", "--stage", "host"]).expect(0);
    let summary = ended.events.last().expect("a summary");
    let taken = summary["taken_back"].to_string();
    assert!(taken.contains("BUFFER_NUM") && taken.contains("edge-float16"), "{summary}");
    assert!(taken.contains("InitBuffer"), "{summary}");
    assert_eq!(project.read(kernel), text);

    // Whoever writes it by hand is told by a comparison.
    let before = Project::copy_of(project.path());
    project.write(kernel, &edited(&text, "BUFFER_NUM = 1;", "BUFFER_NUM = 2;"));
    let against = before.path().to_str().expect("a path");
    let compared = project.run(&["compare", "--against", against, "--probes", "2"]).expect(1);
    let probes = compared.events.last().expect("a comparison")["probes"].as_array().cloned().unwrap_or_default();
    let fails = |probe: &Value| probe["holds"] == false && probe["name"].to_string().contains("edge-float16");
    assert!(probes.len() > 2 && probes.iter().any(fails), "{probes:?}");
}

/// Where kernels may be rewritten it has two buffers where they fit, and one where they do not.
#[test]
fn a_kernel_asks_for_room_where_two_buffers_do_not_always_fit() {
    require_tools!();
    let ((project, text), kernel) = (slow_with_one_buffer(), "op_kernel/rms_norm.h");
    let before = Project::copy_of(project.path());
    let ended = project.run(&["run", "--budget", "24", "--seed", "1", "--no-bank"]).expect(0);
    let summary = ended.events.last().expect("a summary");
    let written = project.read(kernel);
    assert!(written.contains("hasRoom ? BUFFER_NUM : 1") && written != text, "{summary}\n{written}");
    let against = before.path().to_str().expect("a path");
    project.run(&["compare", "--against", against, "--probes", "3", "--seed", "77"]).expect(0);
}

/// What fails where one axis is long, where a list is, or where a number is nothing.
#[test]
fn what_only_a_probe_of_its_kind_shows_is_told() {
    require_tools!();
    let corpus: toml::Table = include_str!("cheats/sixth_blind.toml").parse().expect("the corpus is TOML");
    for cheat in corpus["cheat"].as_array().expect("cheats") {
        let word = |of: &toml::Value, key: &str| of[key].as_str().expect(key).to_owned();
        let (honest, project) = (Project::fixture(&word(cheat, "fixture")), Project::fixture(&word(cheat, "fixture")));
        for edit in cheat["edit"].as_array().expect("edits") {
            let file = word(edit, "file");
            project.write(&file, &edited(&project.read(&file), &word(edit, "old"), &word(edit, "new")));
        }
        let against = honest.path().display().to_string();
        let ended = project.run(&["compare", "--against", &against, "--seed", "5", "--probes", "16"]).expect(1);
        let comparison = ended.named("comparison")[0];
        let probes = comparison["probes"].as_array().expect("probes");
        let wrong = probes.iter().filter(|probe| probe["wrong"].is_string());
        let wrong: Vec<&str> = wrong.map(|probe| probe["name"].as_str().expect("a name")).collect();
        let kind = word(cheat, "probe");
        assert!(!wrong.is_empty() && wrong.iter().all(|name| name.starts_with(&kind)), "{kind}: {comparison}");
    }
}
