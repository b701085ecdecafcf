//! S14, the fields of the tiling structure that are in use.

use crate::catalogue::by_id;
use crate::{Context, Id, Motif};
use source::SourceTree;
use source::facts::KnownValues;

const HOST: &str = "BEGIN_TILING_DATA_DEF(ListTilingData)
        TILING_DATA_FIELD_DEF(uint64_t, bytes);
        TILING_DATA_FIELD_DEF_ARR(int64_t, 50, counts);
        TILING_DATA_FIELD_DEF_ARR(uint16_t, 64, firsts);
        TILING_DATA_FIELD_DEF(uint32_t, spare);
        TILING_DATA_FIELD_DEF_STRUCT(TCubeTiling, cube);
        END_TILING_DATA_DEF;
        REGISTER_TILING_DATA_CLASS(ListScale, ListTilingData)
        REGISTER_TILING_DATA_CLASS(ListShift, ListTilingData)\n";
const SHARED: &str = "#pragma once
        template <typename T> class Base {
            void Init(const ListTilingData* tilingData) {
                block = GetBlockIdx();
                Parse(tilingData);
            }
            void Parse(const ListTilingData *tilingData) {
                bytes = tilingData->bytes;
                counts = tilingData->counts;
                first = tilingData->firsts[block];
            }
            int64_t block = 0;
            uint64_t bytes = 0;
            const int64_t* counts = nullptr;
            uint16_t first = 0;
        };\n";
const KERNEL: &str = "#include \"kernel_operator.h\"
#include \"list_base.h\"
extern \"C\" __global__ __aicore__ void list_scale(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    Base<half> op;
    op.Init(&data);
}
";

fn motif() -> &'static dyn Motif {
    by_id(Id::S14)
}

fn context(kernel: &str, shared: &str) -> Context {
    let own: SourceTree = [("op_kernel/list_scale.cpp", kernel)].into_iter().collect();
    let beside = [("../common/list_base.h", shared), ("../common/list_tiling.h", HOST)].into_iter().collect();
    Context::new(own, KnownValues::default(), None).with_beside(std::sync::Arc::new(beside))
}

/// With a number that is another one where that of the block is not taken.
fn context_of_three(to: &str) -> Context {
    context(KERNEL, &SHARED.replace("block = GetBlockIdx();", to).replace("int64_t block = 0;", "int64_t block = 3;"))
}

fn refused(kernel: &str, shared: &str) -> String {
    let found = motif().find(&context(kernel, shared));
    assert!(found.sites.is_empty(), "{:?}", found.sites);
    found.refused.first().map_or_else(String::new, |refused| refused.reason.clone())
}

#[test]
fn fields_in_use_are_read_and_of_the_blocks_own_element_no_more() {
    let before = context(KERNEL, SHARED);
    let sites = motif().find(&before).sites;
    let patch = motif().apply(&before, &sites[0]).unwrap();
    let after = before.tree.apply(&patch).unwrap();
    let text = after.text("op_kernel/list_scale.cpp").unwrap();
    let expected =
        "    // Only what is used of data: each line of the structure is a trip of the scalar unit to global memory.
    ListTilingData data;
    {
        AscendC::GlobalTensor<uint64_t> bytesStored;
        bytesStored.SetGlobalBuffer((__gm__ uint64_t *)(tiling + __builtin_offsetof(ListTilingData, bytes)));
        data.bytes = bytesStored.GetValue(0);
        AscendC::GlobalTensor<int64_t> countsStored;
        countsStored.SetGlobalBuffer((__gm__ int64_t *)(tiling + __builtin_offsetof(ListTilingData, counts)));
        for (uint32_t i = 0; i < sizeof(data.counts) / sizeof(int64_t); i++) {
            data.counts[i] = countsStored.GetValue(i);
        }
        AscendC::GlobalTensor<uint16_t> firstsStored;
        firstsStored.SetGlobalBuffer((__gm__ uint16_t *)(tiling + __builtin_offsetof(ListTilingData, firsts)));
        data.firsts[AscendC::GetBlockIdx()] = firstsStored.GetValue(AscendC::GetBlockIdx());
    }
    Base<half> op;";
    assert!(text.contains(expected), "{text}");
    let after = before.after(after);
    let back = motif().rewind_sites(&after).sites;
    let patch = motif().rewind(&after, &back[0]).unwrap();
    assert_eq!(after.tree.apply(&patch).unwrap(), before.tree);
}

#[test]
fn uses_that_do_not_tell_what_is_read_are_refused() {
    let changed = |from: &str, to: &str| {
        assert!(SHARED.contains(from), "{from}");
        refused(KERNEL, &SHARED.replace(from, to))
    };
    for (from, to, because) in [
        ("Parse(tilingData);", "Parse(tilingData); Copy(reinterpret_cast<const uint64_t*>(tilingData));", "cast"),
        ("Parse(tilingData);", "Parse(tilingData); Copy((const uint64_t *)tilingData);", "cast"),
        ("Parse(tilingData);", "Parse(tilingData); auto kept = tilingData;", "kept under another name"),
        ("Parse(tilingData);", "Parse(tilingData); Copy(sizeof(ListTilingData));", "other than as a variable's type"),
        ("Parse(tilingData);", "Parse(tilingData + 1);", "used other than by its fields"),
        ("Parse(tilingData);", "Parse(tilingData); const auto all = *tilingData;", "not only passed on"),
        ("#pragma once", "#define SPARE(data) ListTilingData* spare = data", "a directive mentions"),
        ("#pragma once", "#include \"other.h\"", "includes other.h, which is not known"),
        ("bytes = tilingData->bytes;", "bytes = tilingData->cube.baseM;", "a structure itself"),
        ("#pragma once", "#include <other.h>", "includes other.h, which is not known"),
        ("#pragma once", "#include WHAT", "includes what a macro names"),
        ("Parse(tilingData);", "Parse(tilingData); memcpy(&other, tilingData, 8);", "used by its bytes"),
        ("Parse(tilingData);", "Parse(tilingData); Copy(sizeof(*tilingData));", "used by its bytes"),
        ("Parse(tilingData);", "Parse(tilingData); const auto [a, b] = tilingData;", "kept under another name"),
        ("#pragma once", "using Field = decltype(&ListTilingData::bytes);", "other than as a variable's type"),
        ("#pragma once", "template <typename D> auto Bytes() { return &D::bytes; }", "named as a member"),
    ] {
        let reason = changed(from, to);
        assert!(reason.contains(because), "{to}: {reason}");
    }
}

#[test]
fn an_element_is_the_blocks_own_only_where_its_number_is() {
    let all = |from: &str, to: &str| {
        assert!(SHARED.contains(from), "{from}");
        let context = context(KERNEL, &SHARED.replace(from, to));
        let sites = motif().find(&context).sites;
        let patch = motif().apply(&context, &sites[0]).unwrap();
        patch.edits[0].replacement.contains("data.firsts[i] =")
    };
    for (from, to) in [
        ("block = GetBlockIdx();", "block = GetBlockIdx() / 2;"),
        ("block = GetBlockIdx();", "block = GetBlockIdx(); block++;"),
        ("block = GetBlockIdx();", "block = GetBlockIdx(); block -= 1;"),
        ("block = GetBlockIdx();", "block = GetBlockIdx(); Change(&block);"),
        ("block = GetBlockIdx();", "block = GetBlockNum();"),
        ("int64_t block = 0;", "int64_t block = 3;"),
        ("firsts[block];", "firsts[block]; last = tilingData->firsts[block + 1];"),
        ("tilingData->firsts[block]", "*(&tilingData->firsts[block] + 1)"),
        ("tilingData->firsts[block]", "*(&(tilingData->firsts[block]) + 1)"),
        ("#pragma once", "#define FIRST(data) data->firsts[0]"),
        ("void Parse(const", "void Parse(int64_t block, const"),
    ] {
        assert!(all(from, to), "{to}");
    }
    assert!(!all("firsts[block]", "firsts[GetBlockIdx()]"));
    // Where it is not taken the number stays what it was before.
    for to in [
        "if (many) block = GetBlockIdx();",
        "if (many) { block = GetBlockIdx(); }",
        "if (many) { { block = GetBlockIdx(); } }",
        "switch (many) { case 1: { block = GetBlockIdx(); } }",
        "if (few) { return; } block = GetBlockIdx();",
        "if (many) Base<T>::block = GetBlockIdx();",
        "switch (many) { case 1: Base::block = GetBlockIdx(); }",
    ] {
        let context = context(KERNEL, &SHARED.replace("block = GetBlockIdx();", to));
        let patch = motif().apply(&context, &motif().find(&context).sites[0]).unwrap();
        let first = "data.firsts[0] = firstsStored.GetValue(0);\n        data.firsts[AscendC::GetBlockIdx()] =";
        assert!(patch.edits[0].replacement.contains(first), "{to}: {patch:?}");
        let other = context_of_three(to);
        assert!(
            motif().apply(&other, &motif().find(&other).sites[0]).unwrap().edits[0]
                .replacement
                .contains("data.firsts[i] =")
        );
    }
    // Whose member it is may be said.
    for qualified in ["this->block", "Base::block", "Kernel::Base::block"] {
        assert!(!all("block = GetBlockIdx();", &format!("{qualified} = GetBlockIdx();")), "{qualified}");
    }
}

#[test]
fn what_is_read_whole_or_otherwise_stays() {
    let whole = HOST
        .replace("TILING_DATA_FIELD_DEF(uint32_t, spare);", "")
        .replace("TILING_DATA_FIELD_DEF_STRUCT(TCubeTiling, cube);", "");
    let own: SourceTree = [("op_kernel/list_scale.cpp", KERNEL)].into_iter().collect();
    let shared = SHARED.replace("firsts[block]", "firsts[0]");
    let beside =
        [("../common/list_base.h", shared.as_str()), ("../common/list_tiling.h", whole.as_str())].into_iter().collect();
    let found = motif().find(&Context::new(own, KnownValues::default(), None).with_beside(std::sync::Arc::new(beside)));
    assert!(found.refused[0].reason.contains("all of ListTilingData is read"), "{:?}", found);
    let other = KERNEL.replace("list_scale(", "other(");
    assert!(refused(&other, SHARED).contains("0 structures are registered for other"));
    let place = KERNEL.replace("GET_TILING_DATA(data, tiling)", "GET_TILING_DATA(data, tiling + 8)");
    assert!(refused(&place, SHARED).contains("no names"));
    let taken = KERNEL.replace("Base<half> op;", "Base<half> op; int bytesStored;");
    assert!(refused(&taken, SHARED).contains("another meaning"));
}

#[test]
fn a_structure_that_both_sides_share_is_read_by_its_fields_too() {
    let shared = "struct ScaleTilingData {
    int64_t length = 0;
    std::uint32_t starts[48];
    uint32_t unused;
};\n";
    let kernel = "#include \"kernel_operator.h\"
#include \"scale_tiling.h\"
extern \"C\" __global__ __aicore__ void scale(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    REGISTER_TILING_DEFAULT(ScaleTilingData);
    GET_TILING_DATA_WITH_STRUCT(ScaleTilingData, data, tiling);
    Scale op;
    op.Init(x, y, data.length, data.starts[GetBlockIdx()]);
}
";
    let of = |shared: &str, kernel: &str| {
        let own = [("op_kernel/scale.cpp", kernel), ("op_kernel/scale_tiling.h", shared)].into_iter().collect();
        Context::new(own, KnownValues::default(), None)
    };
    let before = of(shared, kernel);
    let sites = motif().find(&before).sites;
    let patch = motif().apply(&before, &sites[0]).unwrap();
    let after = before.tree.apply(&patch).unwrap();
    let text = after.text("op_kernel/scale.cpp").unwrap();
    assert!(text.contains("    ScaleTilingData data;\n    {\n"), "{text}");
    assert!(text.contains("data.starts[AscendC::GetBlockIdx()] = startsStored.GetValue"), "{text}");
    assert!(text.contains("data.length = lengthStored.GetValue(0);") && !text.contains("unused"), "{text}");
    let after = before.after(after);
    let patch = motif().rewind(&after, &motif().rewind_sites(&after).sites[0]).unwrap();
    assert_eq!(after.tree.apply(&patch).unwrap(), before.tree);
    for (from, to, because) in [
        ("uint32_t unused;", "uint32_t unused; int64_t Whole() { return length; }", "more than fields"),
        ("uint32_t unused;", "uint32_t unused, more;", "more than fields"),
        ("struct ScaleTilingData {", "struct Other {", "0 definitions"),
    ] {
        let found = motif().find(&of(&shared.replace(from, to), kernel));
        assert!(found.sites.is_empty() && found.refused[0].reason.contains(because), "{to}: {found:?}");
    }
}

/// The same with an array of which a block takes the elements between two others of its own.
const RANGED: &str = "#pragma once
        template <typename T> class Base {
            void Init(const ListTilingData* tilingData) {
                block = GetBlockIdx();
                Parse(tilingData);
            }
            void Parse(const ListTilingData *tilingData) {
                bytes = tilingData->bytes;
                counts = tilingData->counts;
                first = tilingData->firsts[block];
                last = tilingData->lasts[block];
            }
            void Process() {
                for (uint16_t i = Base::first; i <= this->last; i++) {
                    int64_t count = Base::counts[i] - 1;
                    if (i == last) {
                        count = Take(i, count);
                    }
                }
            }
            int64_t Take(uint32_t index, int64_t count) { return count; }
            int64_t block = 0;
            uint64_t bytes = 0;
            const int64_t* counts = nullptr;
            uint16_t first = 0;
            uint16_t last = 0;
        };\n";

fn ranged(shared: &str) -> Context {
    let host = HOST.replace(
        "TILING_DATA_FIELD_DEF(uint32_t, spare);",
        "TILING_DATA_FIELD_DEF_ARR(uint16_t, 64, lasts);
        TILING_DATA_FIELD_DEF(uint32_t, spare);",
    );
    let own: SourceTree = [("op_kernel/list_scale.cpp", KERNEL)].into_iter().collect();
    let beside = [("../common/list_base.h", shared), ("../common/list_tiling.h", host.as_str())].into_iter().collect();
    Context::new(own, KnownValues::default(), None).with_beside(std::sync::Arc::new(beside))
}

#[test]
fn of_an_array_that_a_loop_goes_through_only_its_part_is_read() {
    let before = ranged(RANGED);
    let patch = motif().apply(&before, &motif().find(&before).sites[0]).unwrap();
    let after = before.tree.apply(&patch).unwrap();
    let text = after.text("op_kernel/list_scale.cpp").unwrap();
    let expected = "
        for (int64_t i = data.firsts[AscendC::GetBlockIdx()]; i <= data.lasts[AscendC::GetBlockIdx()]; i++) {
            data.counts[i] = countsStored.GetValue(i);
        }
    }
    Base<half> op;";
    assert!(text.contains(expected), "{text}");
    let ends = text.find("data.lasts[AscendC::GetBlockIdx()] = lastsStored").unwrap();
    assert!(ends < text.find("countsStored;").unwrap(), "{text}");
    let after = before.after(after);
    let patch = motif().rewind(&after, &motif().rewind_sites(&after).sites[0]).unwrap();
    assert_eq!(after.tree.apply(&patch).unwrap(), before.tree);
    let braced = ranged(&RANGED.replace("uint16_t last = 0;", "uint16_t last = {0};"));
    assert_eq!(
        motif().apply(&braced, &motif().find(&braced).sites[0]).unwrap(),
        motif().apply(&before, &motif().find(&before).sites[0]).unwrap()
    );
    // Without the last one where the loop leaves it out.
    let short = ranged(&RANGED.replace("i <= this->last;", "i < last;").replace("i++)", "++i)"));
    let patch = motif().apply(&short, &motif().find(&short).sites[0]).unwrap();
    assert!(patch.edits[0].replacement.contains("i < data.lasts[AscendC::GetBlockIdx()];"), "{patch:?}");
}

#[test]
fn an_array_of_which_more_may_be_asked_for_is_read_whole() {
    let process = "void Process() {";
    let line = "int64_t count = Base::counts[i] - 1;";
    for (from, to) in [
        ("Base::counts[i]", "Base::counts[i + 1]"),
        ("Base::counts[i]", "Base::counts[0]"),
        ("Base::counts[i]", "*(counts + i)"),
        (line, "int64_t count = counts[i]; Use(counts);"),
        (line, "int64_t count = counts[i]; const int64_t* other = counts;"),
        (line, "int64_t count = counts[i]; other.counts = counts;"),
        (line, "i++; int64_t count = counts[i];"),
        (line, "i = 3; int64_t count = counts[i];"),
        (line, "i += block; int64_t count = counts[i];"),
        (line, "Move(&i); int64_t count = counts[i];"),
        (line, "uint16_t& j = i; j = 40; int64_t count = counts[i];"),
        (line, "auto& j(i); j = 40; int64_t count = counts[i];"),
        (line, "auto& j{i}; j = 40; int64_t count = counts[i];"),
        (line, "auto j = std::ref(i); j.get() = 40; int64_t count = counts[i];"),
        (line, "int64_t count = 0; { uint16_t i = 40; count = counts[i]; }"),
        (line, "auto at = [&](int i) { return counts[i]; }; int64_t count = at(40);"),
        ("uint32_t index, int64_t count) {", "uint16_t& index, int64_t count) { index = 40;"),
        ("for (uint16_t i = Base::first;", "for (uint16_t i = 0;"),
        ("i <= this->last;", "i <= this->last + 1;"),
        ("i <= this->last;", "i <= 49;"),
        ("i <= this->last; i++)", "i <= this->last; i += 2)"),
        ("i <= this->last;", "i != this->last;"),
        (process, "int64_t Any(int i) { return counts[i]; } void Process() {"),
        (process, "void Later() { last++; } void Process() {"),
        (process, "void Later() { last = 40; } void Process() {"),
        (process, "void Later(Base& other) { Change(&last); } void Process() {"),
        ("last = tilingData->lasts[block];", "last = tilingData->lasts[block] + 1;"),
        ("last = tilingData->lasts[block];", "if (many) { last = tilingData->lasts[block]; }"),
        ("last = tilingData->lasts[block];", "last = tilingData->lasts[block + 1];"),
        (
            "last = tilingData->lasts[block];",
            "last = tilingData->lasts[block]; const auto all = tilingData->counts[3];",
        ),
        ("last = tilingData->lasts[block];", "last = tilingData->lasts[0];"),
        ("#pragma once", "#define COUNT(i) counts[i]"),
        ("#pragma once", "#define NEXT last++"),
        ("#pragma once", "#define NEXT block++"),
        ("uint16_t last = 0;", "uint16_t last = 40;"),
        ("uint16_t last = 0;", "uint16_t last = {40};"),
    ] {
        assert!(RANGED.contains(from), "{from}");
        let context = ranged(&RANGED.replacen(from, to, 1));
        let sites = motif().find(&context).sites;
        let patch = motif().apply(&context, &sites[0]).unwrap();
        assert!(patch.edits[0].replacement.contains("i < sizeof(data.counts) /"), "{to}");
    }
}
