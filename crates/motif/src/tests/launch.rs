//! Launch and set-up.

use super::*;

/// The kernel class with an entry function around statements.
fn entry(statements: &str) -> String {
    format!(
        "{}\nextern \"C\" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)\n{{\n{statements}    GET_TILING_DATA(data, tiling);\n    Kernel op;\n    op.Init(x, y, data.length);\n    op.Process(data.tiles);\n}}\n",
        computing(EXP)
    )
}

#[test]
fn l08_makes_the_pipe_a_variable_of_the_entry() {
    let slow = entry("");
    let fast = round_trip("L08", &slow);
    for part in [
        "    AscendC::TPipe *pipe;\n",
        "Init(AscendC::TPipe *pipeIn, GM_ADDR x, GM_ADDR y, uint32_t length)\n    {\n        pipe = pipeIn;\n",
        "        pipe->InitBuffer(inQueue, BUFFER_NUM",
        "    AscendC::TPipe pipe;\n    Kernel op;\n    op.Init(&pipe, x, y, data.length);\n",
    ] {
        assert!(fast.contains(part), "{part}\n{fast}");
    }
    // A template whose functions are defined outside the class, and two objects.
    let outside = slow
        .replace("class Kernel {", "template <typename T>\nclass Kernel {")
        .replace("    Kernel op;\n", "    if (TILING_KEY_IS(1)) {\n        Kernel<half> op;\n        op.Init(x, y, 1);\n    }\n    Kernel<float> op;\n");
    let fast = apply("L08", &outside).1;
    assert!(
        fast.contains("        AscendC::TPipe pipe;\n        Kernel<half> op;\n        op.Init(&pipe, x, y, 1);"),
        "{fast}"
    );
    // A comment behind the object stays with it.
    let told = round_trip("L08", &slow.replace("    Kernel op;\n", "    Kernel op; // the operator\n"));
    assert!(told.contains("    AscendC::TPipe pipe;\n    Kernel op; // the operator\n    op.Init(&pipe, x,"), "{told}");
    refuses("L08", &slow.replace("    Kernel op;", "    int other; Kernel op;"), "something stands before the object");
    // The same name for a namespace, and for the operator.
    let named = slow.replace("class Kernel {", "namespace Kernel {\nASCENDC_TPL_ARGS_DECL(Kernel, 1);\nclass Kernel {");
    let named = named
        .replace("\nextern \"C\"", "\n} // namespace Kernel\nextern \"C\"")
        .replace("    Kernel op;", "    Kernel::Kernel op;");
    assert!(round_trip("L08", &named).contains("    AscendC::TPipe pipe;\n    Kernel::Kernel op;"));
    refuses("L08", &slow.replace("    Kernel op;", "    Other(Kernel, 1);\n    Kernel op;"), "mentioned other than");
    // Lines of another system, and blanks at their ends.
    let told = round_trip("L08", &slow.replace('\n', "\r\n"));
    assert!(
        told.contains("    {\r\n        pipe = pipeIn;\r\n") && told.contains("    AscendC::TPipe pipe;\r\n"),
        "{told}"
    );
    let blanks = slow.replace("uint32_t length)\n    {\n", "uint32_t length)\n    {  // begins\n");
    assert!(round_trip("L08", &blanks).contains("    {  // begins\n        pipe = pipeIn;\n"));
    refuses("L08", &slow.replace("class Kernel {", "class Kernel : public Base {"), "base class");
    refuses(
        "L08",
        &slow.replace("class Kernel", "#define RUN Kernel op; op.Init(x, y, 1)\nclass Kernel"),
        "directive mentions",
    );
    refuses("L08", &slow.replace("    op.Init(x", "    Start(&op);\n    op.Start(x"), "Init is not called once");
    refuses("L08", &slow.replace("    Kernel op;", "    float pipe = 1;\n    Kernel op;"), "something named pipe");
    refuses("L08", &slow.replace("Compute(TILE);", "Compute(TILE);\n            other = pipe;"), "not understood");
}

/// A host file with its tiling function.
fn host(constant: &str, statements: &str) -> String {
    format!(
        "#include \"register/op_def_registry.h\"\n#include \"tiling/platform/platform_ascendc.h\"\nnamespace optiling {{\n{constant}static ge::graphStatus Tiling(gert::TilingContext *context)\n{{\n{statements}    return ge::GRAPH_SUCCESS;\n}}\n}}\n"
    )
}

/// As [`apply`], for a file of the host.
fn applied_on_host(id: &str, text: &str) -> Result<(Context, Site, Context), String> {
    let mut tree = SourceTree::new();
    tree.insert("op_host/k.cpp", text);
    tree.insert("op_kernel/k.cpp", entry("").as_str());
    let before = Context::new(tree, KnownValues::default(), None);
    let findings = motif(id).find(&before);
    let site = findings.sites.first().ok_or_else(|| format!("{:?}", findings.refused))?.clone();
    let after = patched(&before, &motif(id).apply(&before, &site).unwrap());
    Ok((before, site, after))
}

#[test]
fn l01_asks_how_many_cores_there_are() {
    let statements = "    const uint32_t cores = 16;\n    const uint32_t share = (blocks + cores - 1) / cores;\n    tiling.set_share(share);\n    context->SetBlockDim((blocks + share - 1) / share);\n";
    let (before, site, after) = applied_on_host("L01", &host("", statements)).unwrap();
    let fast = after.tree.text("op_host/k.cpp").unwrap();
    let question =
        "    const uint32_t cores = platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAiv();\n";
    assert!(fast.contains(question), "{fast}");
    assert_eq!(site.conditions.len(), 1);
    let back = motif("L01").rewind_sites(&after).sites;
    assert!(back.iter().any(|site| patched(&after, &motif("L01").rewind(&after, site).unwrap()).tree == before.tree));

    let named = host(
        "constexpr uint32_t CORE_NUM = 16; // cores that take part\n",
        "    tiling->share = blocks / CORE_NUM;\n    context->SetBlockDim(CORE_NUM);\n",
    );
    let (_, _, after) =
        applied_on_host("L01", &named.replace("#include \"tiling/platform/platform_ascendc.h\"\n", "")).unwrap();
    let fast = after.tree.text("op_host/k.cpp").unwrap();
    assert!(fast.contains("registry.h\"\n#include \"tiling/platform/platform_ascendc.h\"\n"), "{fast}");
    assert!(
        fast.contains("    tiling->share = blocks / availableCores;\n    context->SetBlockDim(availableCores);"),
        "{fast}"
    );
    assert!(!fast.contains("CORE_NUM"), "{fast}");

    let refused = |text: &str| applied_on_host("L01", text).err().unwrap();
    let other = named.replace("static ge", "uint32_t Other()\n{\n    return CORE_NUM;\n}\nstatic ge");
    assert!(refused(&other).contains("outside of Tiling"));
    let fixed = named.replace("    tiling->share", "    constexpr uint32_t twice = 2 * CORE_NUM;\n    tiling->share");
    assert!(refused(&fixed).contains("constant expression"));
    // One core: the kernel is not split at all.
    assert_eq!(refused(&named.replace("= 16;", "= 1;")), "[]");
}

#[test]
fn l01_takes_one_core_for_a_constant_where_the_kernel_has_shares() {
    let statements = "    constexpr int CORES = 1;\n    if (blocks > 64) {\n        int coreNum = blocks < CORES ? blocks : CORES;\n        context->SetBlockDim(coreNum);\n    } else {\n        context->SetBlockDim(1);\n    }\n";
    let with = |statements: &str, kernel: &str| {
        let mut tree = SourceTree::new();
        tree.insert("op_host/k.cpp", host("", statements));
        tree.insert("op_kernel/k.cpp", kernel);
        Context::new(tree, KnownValues::default(), None)
    };
    let split = "class Part {\n    void Init()\n    {\n        first = GetBlockIdx() * (blocks / GetBlockNum());\n    }\n    int first, blocks;\n};\n";
    let before = with(statements, split);
    let site = motif("L01").find(&before).sites.first().unwrap().clone();
    let after = patched(&before, &motif("L01").apply(&before, &site).unwrap());
    let fast = after.tree.text("op_host/k.cpp").unwrap();
    assert!(
        fast.contains(
            "    const int CORES = platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAiv();\n"
        ),
        "{fast}"
    );
    assert!(fast.contains("        context->SetBlockDim(1);\n"), "{fast}");
    // Nothing that is one core's alone.
    for kernel in [split.replace("GetBlockIdx() * ", "").as_str(), "void k()\n{\n    ASSERT(GetBlockIdx() == 0);\n}\n"]
    {
        assert!(motif("L01").find(&with(statements, kernel)).sites.is_empty(), "{kernel}");
    }
    // A constant that has to be one.
    for use_of_it in [
        "int shares[CORES];",
        "constexpr int twice = CORES * 2;",
        "std::array<int, CORES> shares;",
        "Plan<CORES>(blocks);",
        "static_assert(CORES > 0, \"\");",
    ] {
        let fixed = statements.replace("    if (blocks", &format!("    {use_of_it}\n    if (blocks"));
        let findings = motif("L01").find(&with(&fixed, split));
        assert!(findings.sites.is_empty(), "{use_of_it}");
        assert!(findings.refused.iter().any(|refused| refused.reason.contains("constant expression")), "{use_of_it}");
    }
}

#[test]
fn l02_starts_no_core_without_work() {
    let statements = "    const uint32_t blocks = context->GetInputShape(0)->GetStorageShape().GetShapeSize() / 8;\n    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());\n    uint32_t cores = platform.GetCoreNumAiv();\n    const uint32_t share = (blocks + cores - 1) / cores;\n    tiling.set_share(share);\n    context->SetBlockDim((blocks + share - 1) / share);\n";
    let slow = host("", statements);
    let (before, site, after) = applied_on_host("L02", &slow).unwrap();
    let fast = after.tree.text("op_host/k.cpp").unwrap();
    let capped = "    uint32_t cores = std::min<uint32_t>(platform.GetCoreNumAiv(), static_cast<uint32_t>(1 + context->GetInputShape(0)->GetStorageShape().GetShapeSize() / 4096));\n";
    assert!(fast.contains(capped), "{fast}");
    assert!(fast.contains("platform_ascendc.h\"\n#include <algorithm>\n"), "{fast}");
    assert_eq!(site.conditions.len(), 2);
    let restored = |after: &Context| -> Vec<SourceTree> {
        let sites = motif("L02").rewind_sites(after).sites;
        sites.iter().map(|site| patched(after, &motif("L02").rewind(after, site).unwrap()).tree).collect()
    };
    assert!(restored(&after).contains(&before.tree));
    // A header that was there stays there, and a cap is not capped again.
    let with = slow.replace("namespace optiling", "#include <algorithm>\nnamespace optiling");
    let (before, _, after) = applied_on_host("L02", &with).unwrap();
    assert!(restored(&after).contains(&before.tree));
    assert!(motif("L02").find(&after).sites.is_empty());
    // What the block dimension does not follow from, and other functions, are left alone.
    let other = slow.replace("(blocks + share - 1) / share", "8");
    assert!(applied_on_host("L02", &other).is_err());
    let apart = slow.replace(
        "    tiling.set_share",
        "    return share;\n}\nvoid Launch(gert::TilingContext *context)\n{\n    tiling.set_share",
    );
    assert!(applied_on_host("L02", &apart).is_err());
    let doubled = slow.replace("GetCoreNumAiv();", "GetCoreNumAiv() * 2;");
    assert!(applied_on_host("L02", &doubled).is_err());
    let shapeless = slow.replace("GetInputShape(0)", "GetOptionalInputShape(0)");
    assert!(applied_on_host("L02", &shapeless).err().unwrap().contains("asks for the shape of the first input"));
    let by_value = slow.replace("context->SetBlockDim", "context.SetBlockDim");
    assert!(applied_on_host("L02", &by_value).err().unwrap().contains("pointer to a context"));
}

/// A tiling function of one core.
const ONE_CORE: &str = "    const uint32_t length = context->GetInputShape(0)->GetStorageShape().GetShapeSize();\n    tiling.set_length(length);\n    tiling.set_tiles((length + 255) / 256);\n    context->SetBlockDim(1);\n";

/// Host and kernel with L14 applied, or why it is not.
pub(super) fn dealt(host: &str, kernel: &str) -> Result<(Context, Context), String> {
    let mut tree = SourceTree::new();
    tree.insert("op_host/k.cpp", host);
    tree.insert("op_kernel/k.cpp", kernel);
    let before = Context::new(tree, KnownValues::default(), None);
    let findings = motif("L14").find(&before);
    let site = findings.sites.first().ok_or_else(|| format!("{:?}", findings.refused))?.clone();
    assert_eq!(site.conditions.len(), 2);
    let after = patched(&before, &motif("L14").apply(&before, &site).unwrap());
    Ok((before, after))
}

#[test]
fn l14_deals_the_rounds_of_one_core() {
    let (host, kernel) = (host("", ONE_CORE), entry(""));
    let (before, after) = dealt(&host, &kernel).unwrap();
    let fast = after.tree.text("op_host/k.cpp").unwrap();
    let blocks = "    context->SetBlockDim(std::min<uint32_t>(platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAiv(), static_cast<uint32_t>(1 + context->GetInputShape(0)->GetStorageShape().GetShapeSize() / 4096)));\n";
    assert!(fast.contains(blocks) && fast.contains("#include <algorithm>\n"), "{fast}");
    let fast = after.tree.text("op_kernel/k.cpp").unwrap();
    let round = "            if (round++ == turn) {\n                turn += AscendC::GetBlockNum();\n                CopyIn(tile * TILE, TILE);\n                AscendC::PipeBarrier<PIPE_ALL>();\n                Compute(TILE);\n                CopyOut(tile * TILE, TILE);\n            }\n";
    assert!(fast.contains(round), "{fast}");
    assert!(
        fast.contains(
            "    uint32_t round = 0; // of all cores\n    uint32_t turn = AscendC::GetBlockIdx(); // of this core\n};"
        ),
        "{fast}"
    );
    let back = motif("L14").rewind_sites(&after).sites;
    let restored = |site: &Site| patched(&after, &motif("L14").rewind(&after, site).unwrap()).tree;
    let kernel_back = back.iter().map(restored).next().expect("a way back");
    assert_eq!(kernel_back.text("op_kernel/k.cpp"), before.tree.text("op_kernel/k.cpp"));

    // Several runs of rounds, a number that is set for the last one, and what dealt nothing before.
    let more = kernel
        .replace(
            "            CopyIn(tile * TILE, TILE);\n",
            "            if (tile == tiles - 1) {\n                last = 7;\n            }\n            CopyIn(tile * TILE, TILE);\n",
        )
        .replace(
            "        xGm.SetGlobalBuffer((__gm__ float *)x, length);",
            "        xGm.SetGlobalBuffer((__gm__ float *)x + length * AscendC::GetBlockIdx(), length);",
        )
        .replace("};\n", "    uint32_t last = 0;\n};\n");
    let (_, after) = dealt(&host, &more).unwrap();
    let fast = after.tree.text("op_kernel/k.cpp").unwrap();
    assert!(
        fast.contains("(__gm__ float *)x, length);")
            && fast.contains("last = 7;\n            }\n            if (round++"),
        "{fast}"
    );
    // A constant that is 1.
    let named = host
        .replace("SetBlockDim(1)", "SetBlockDim(CORES)")
        .replace("namespace optiling {\n", "namespace optiling {\nconstexpr uint32_t CORES = 1;\n");
    assert!(dealt(&named, &kernel).is_ok());

    let refused = |host: &str, kernel: &str| dealt(host, kernel).expect_err("refused");
    assert_eq!(refused(&host.replace("SetBlockDim(1)", "SetBlockDim(8)"), &kernel), "[]");
    for (host, kernel, why) in [
        (
            host.replace(
                "    tiling.set_length",
                "    uint32_t cores = context->GetBlockDim();\n    tiling.set_cores(cores);\n    tiling.set_length",
            ),
            kernel.clone(),
            "asks for the block dimension",
        ),
        (
            host.replace(
                "static ge",
                "void Other(gert::TilingContext *context)\n{\n    context->SetBlockDim(4);\n}\nstatic ge",
            ),
            kernel.clone(),
            "set at 2 places",
        ),
        (host.replace("GetInputShape(0)", "GetOptionalInputShape(0)"), kernel.clone(), "shape of the first input"),
        (host.clone(), kernel.replace("class Kernel {", "class Kernel : public Base {"), "base class"),
        (
            host.clone(),
            kernel.replace(
                "            CopyOut(tile * TILE, TILE);\n",
                "            CopyOut(tile * TILE, TILE);\n            yGm.SetValue(tile, 1.0f);\n",
            ),
            "outside of a round",
        ),
        (host.clone(), kernel.replace("            CopyOut(tile * TILE, TILE);\n", ""), "alone"),
        (
            host.clone(),
            kernel.replace(
                "            CopyIn(tile * TILE, TILE);\n",
                "            CopyIn(tile * TILE, TILE);\n            AscendC::SyncAll();\n",
            ),
            "SyncAll ties cores together",
        ),
        (host.clone(), kernel.replace("private:", "    uint32_t round;\nprivate:"), "a round of its own"),
        (
            host.clone(),
            kernel
                .replace("        inQueue.EnQue", "        seen = start;\n        inQueue.EnQue")
                .replace("};\n", "    int32_t seen = 0;\n};\n"),
            "sets seen",
        ),
        (
            host.clone(),
            kernel.replace(
                "CopyOut(uint32_t start, uint32_t count)\n    {",
                "CopyOut(uint32_t &start, uint32_t count)\n    {\n        start += count;",
            ),
            "sets start",
        ),
        (
            host.clone(),
            kernel.replace(
                "        pipe.InitBuffer(polyBuf",
                "        CopyIn(0, TILE);\n        pipe.InitBuffer(polyBuf",
            ),
            "CopyIn is called outside of a round",
        ),
        (
            host.clone(),
            kernel.replace("    Kernel op;\n", "    AscendC::DataCopy(first, second, 8);\n    Kernel op;\n"),
            "DataCopy in no class",
        ),
        (
            host.clone(),
            kernel.replace(
                "        outQueue.FreeTensor(yLocal);",
                "        AscendC::SetAtomicAdd<float>();\n        outQueue.FreeTensor(yLocal);",
            ),
            "SetAtomicAdd ties",
        ),
        (
            host.clone(),
            kernel.replace("class Kernel {", "#define CORE AscendC::GetBlockIdx()\nclass Kernel {"),
            "the macro CORE asks",
        ),
    ] {
        let said = refused(&host, &kernel);
        assert!(said.contains(why), "{why}: {said}\n{kernel}");
    }
}
