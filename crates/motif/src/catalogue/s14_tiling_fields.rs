//! S14: of the structure that the host writes only those fields are read that the kernel uses, and of arrays with an element for each
//! block only the block's own. The whole structure is a trip to global memory for every line of it, before anything else can begin.

use crate::analysis::code::{scope, words};
use crate::analysis::entry::device_files;
use crate::analysis::tiling_reads::{Field, Read, Sources, Structure};
use crate::rewrite::edits::edit;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::parse::{Call, SyntaxFile};

/// Reads the structure that the host registers for the operator: variable, address.
const BY_OPERATOR: &str = "GET_TILING_DATA";
/// Reads a structure: its type, variable, address.
const BY_NAME: &str = "GET_TILING_DATA_WITH_STRUCT";
/// What the tensor through which a field is read is called.
const STORED: &str = "Stored";

/// The motif.
pub struct TilingFields;

const METADATA: Metadata = Metadata {
    id: Id::S14,
    title: "read only the tiling fields in use",
    family: Family::Scalar,
    precondition: "a GET_TILING_DATA of the structure that the host registers for the operator, or GET_TILING_DATA_WITH_STRUCT of one that has fields alone; in all that the kernel includes it is used by its fields, passed on whole by \
     its address or name, never cast, measured, or kept under another name; some field is not used, or only at the number of the block, and every field in use is a number \
     or an array of numbers",
    left_to_verifier: "nothing",
    relieves: &[Counter::ScalarUs],
    prior_gain: 1.15,
    cost: "nothing",
    tunables: "none",
    undoing: "the whole structure",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for TilingFields {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for file in device_files(context) {
            for call in file.calls().iter().filter(|call| call.name == BY_OPERATOR || call.name == BY_NAME) {
                let edits = by_fields(context, file, call).map(|text| {
                    let statement = call.statement.clone().unwrap_or_else(|| call.span.clone());
                    vec![edit(file, statement, text)]
                });
                found.push(Candidate::new(file, &call.span, "fields instead of the structure", edits));
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for file in device_files(context) {
            for local in file.locals().iter().filter(|local| local.value.is_none() && local.alone) {
                let Some((end, from)) = block_of_reads(file, local.span.end, &local.type_text, &local.name) else {
                    continue;
                };
                let kind = local.type_text.as_str();
                let of_operator = |sources: &Sources<'_>| {
                    let function = file.enclosing_function(local.span.start).map_or("", |function| &function.name);
                    sources.structure_of(context, function).is_ok_and(|structure| structure.name == kind)
                };
                let whole = if !Sources::of(context).is_ok_and(|sources| of_operator(&sources)) {
                    format!("{BY_NAME}({kind}, {}, {from});", local.name)
                } else {
                    format!("{BY_OPERATOR}({}, {from});", local.name)
                };
                let edits = Ok(vec![edit(file, with_reason(file, local.span.start)..end, whole)]);
                found.push(Candidate::new(file, &local.span, "the whole structure", edits));
            }
        }
        found
    }
}

/// The statements that stand for a `GET_TILING_DATA`.
fn by_fields(context: &Context, file: &SyntaxFile, call: &Call) -> Result<String, String> {
    let function = file.enclosing_function(call.span.start).ok_or("it stands in no function")?;
    let statement = call.statement.as_ref().ok_or("it is no statement of its own")?;
    let arguments: Vec<&str> = call.arguments.iter().map(|argument| file.slice(argument)).collect();
    let (kind, name, from) = match arguments.as_slice() {
        [name, from] if call.name == BY_OPERATOR => (None, *name, *from),
        [kind, name, from] if call.name == BY_NAME => (Some(*kind), *name, *from),
        _ => return Err("it has another number of arguments".to_owned()),
    };
    let plain = |text: &str| words(text).len() == 1 && words(text).first() == Some(&text);
    if !plain(name) || !plain(from) {
        return Err("its arguments are no names".to_owned());
    }
    let is_address = |parameter: &&source::parse::Parameter| parameter.name == from;
    let address = function.parameters.iter().find(is_address).ok_or_else(|| format!("{from} is no parameter"))?;
    if address.type_text.trim() != "GM_ADDR" {
        return Err(format!("{from} is no GM_ADDR"));
    }
    let sources = Sources::of(context)?;
    let structure = match kind {
        Some(kind) => sources.named_structure(context, kind)?,
        None => sources.structure_of(context, &function.name)?,
    };
    let reads = sources.reads(&structure)?;
    if reads.iter().all(|read| *read == Read::All) {
        return Err(format!("all of {} is read", structure.name));
    }
    let used: Vec<(&Field, Read)> =
        structure.fields.iter().zip(reads).filter(|(_, read)| *read != Read::Nothing).collect();
    let body = words(file.slice(&function.body));
    if let Some((field, _)) = used.iter().find(|(field, _)| body.contains(&format!("{}{STORED}", field.name).as_str()))
    {
        return Err(format!("{}{STORED} has another meaning here", field.name));
    }
    let indentation = file.indentation(statement.start);
    let why = format!(
        "// Only what is used of {name}: each line of the structure is a trip of the scalar unit to global memory."
    );
    let mut lines = vec![why, format!("{} {name};", structure.name), "{".to_owned()];
    for (field, read) in used {
        lines.extend(reading(file, &structure, field, read, name, from).into_iter().map(|line| format!("    {line}")));
    }
    lines.push("}".to_owned());
    Ok(lines.join(&format!("\n{indentation}")))
}

/// Statements that read a field.
fn reading(file: &SyntaxFile, structure: &Structure, field: &Field, read: Read, name: &str, from: &str) -> Vec<String> {
    let (scope, of) = (scope(file), field.name.as_str());
    let number = field.number.unwrap_or_default();
    let stored = format!("{of}{STORED}");
    let mut lines = vec![
        format!("{scope}GlobalTensor<{number}> {stored};"),
        format!(
            "{stored}.SetGlobalBuffer((__gm__ {number} *)({from} + __builtin_offsetof({}, {of})));",
            structure.name
        ),
    ];
    match read {
        Read::OfBlock => {
            lines.push(format!("{name}.{of}[{scope}GetBlockIdx()] = {stored}.GetValue({scope}GetBlockIdx());"));
        }
        _ if field.is_array => {
            lines.push(format!("for (uint32_t i = 0; i < sizeof({name}.{of}) / sizeof({number}); i++) {{"));
            lines.push(format!("    {name}.{of}[i] = {stored}.GetValue(i);"));
            lines.push("}".to_owned());
        }
        _ => lines.push(format!("{name}.{of} = {stored}.GetValue(0);")),
    }
    lines
}

/// Where a declaration begins with the line above that says why it is there.
fn with_reason(file: &SyntaxFile, start: usize) -> usize {
    let above = file.text()[..start].trim_end();
    let line = above.rfind('\n').map_or(0, |end| end + 1);
    let reason = above[line..].trim_start();
    if reason.starts_with("// Only what is used of ") { above.len() - reason.len() } else { start }
}

/// End of the block behind a declaration that reads fields of a structure as this motif writes it, and where it reads them from.
fn block_of_reads<'a>(file: &'a SyntaxFile, from: usize, kind: &str, name: &str) -> Option<(usize, &'a str)> {
    let text = file.text();
    let rest = text[from..].trim_start();
    let start = text.len() - rest.len();
    let block = rest.strip_prefix("{\n")?;
    let indentation = file.indentation(start);
    let close = format!("\n{indentation}}}");
    let inside = &block[..block.find(&close)?];
    let offset = format!(" + __builtin_offsetof({kind}, ");
    let mut place = None;
    for line in inside.lines().map(str::trim) {
        if let Some((before, _)) = line.split_once(&offset) {
            place = before.rsplit('(').next();
        } else if !(line.contains("GlobalTensor<")
            || line.starts_with(&format!("{name}."))
            || line.starts_with("for (uint32_t i = 0; i < sizeof(")
            || line == "}")
        {
            return None;
        }
    }
    Some((start + 2 + inside.len() + close.len(), place?))
}

#[cfg(test)]
mod tests {
    use super::*;
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

    fn context(kernel: &str, shared: &str) -> Context {
        let own: SourceTree = [("op_kernel/list_scale.cpp", kernel)].into_iter().collect();
        let beside = [("../common/list_base.h", shared), ("../common/list_tiling.h", HOST)].into_iter().collect();
        Context::new(own, KnownValues::default(), None).with_beside(beside)
    }

    fn refused(kernel: &str, shared: &str) -> String {
        let found = TilingFields.find(&context(kernel, shared));
        assert!(found.sites.is_empty(), "{:?}", found.sites);
        found.refused.first().map_or_else(String::new, |refused| refused.reason.clone())
    }

    #[test]
    fn fields_in_use_are_read_and_of_the_blocks_own_element_no_more() {
        let before = context(KERNEL, SHARED);
        let sites = TilingFields.find(&before).sites;
        let patch = TilingFields.apply(&before, &sites[0]).unwrap();
        let after = before.tree.apply(&patch).unwrap();
        let text = after.text("op_kernel/list_scale.cpp").unwrap();
        let expected = "    // Only what is used of data: each line of the structure is a trip of the scalar unit to global memory.
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
        let back = TilingFields.rewind_sites(&after).sites;
        let patch = TilingFields.rewind(&after, &back[0]).unwrap();
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
            (
                "Parse(tilingData);",
                "Parse(tilingData); Copy(sizeof(ListTilingData));",
                "other than as a variable's type",
            ),
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
            let sites = TilingFields.find(&context).sites;
            let patch = TilingFields.apply(&context, &sites[0]).unwrap();
            patch.edits[0].replacement.contains("data.firsts[i] =")
        };
        for (from, to) in [
            ("block = GetBlockIdx();", "block = GetBlockIdx() / 2;"),
            ("block = GetBlockIdx();", "block = GetBlockIdx(); block++;"),
            ("block = GetBlockIdx();", "block = GetBlockIdx(); block -= 1;"),
            ("block = GetBlockIdx();", "block = GetBlockIdx(); Change(&block);"),
            ("block = GetBlockIdx();", "block = GetBlockNum();"),
            ("block = GetBlockIdx();", "if (many) block = GetBlockIdx();"),
            ("block = GetBlockIdx();", "if (many) { block = GetBlockIdx(); }"),
            ("block = GetBlockIdx();", "if (many) { { block = GetBlockIdx(); } }"),
            ("block = GetBlockIdx();", "switch (many) { case 1: { block = GetBlockIdx(); } }"),
            ("block = GetBlockIdx();", "if (few) { return; } block = GetBlockIdx();"),
            ("int64_t block = 0;", "int64_t block = 3;"),
            ("firsts[block];", "firsts[block]; last = tilingData->firsts[block + 1];"),
            ("tilingData->firsts[block]", "*(&tilingData->firsts[block] + 1)"),
            ("#pragma once", "#define FIRST(data) data->firsts[0]"),
            ("void Parse(const", "void Parse(int64_t block, const"),
        ] {
            assert!(all(from, to), "{to}");
        }
        assert!(!all("firsts[block]", "firsts[GetBlockIdx()]"));
    }

    #[test]
    fn what_is_read_whole_or_otherwise_stays() {
        let whole = HOST
            .replace("TILING_DATA_FIELD_DEF(uint32_t, spare);", "")
            .replace("TILING_DATA_FIELD_DEF_STRUCT(TCubeTiling, cube);", "");
        let own: SourceTree = [("op_kernel/list_scale.cpp", KERNEL)].into_iter().collect();
        let shared = SHARED.replace("firsts[block]", "firsts[0]");
        let beside = [("../common/list_base.h", shared.as_str()), ("../common/list_tiling.h", whole.as_str())]
            .into_iter()
            .collect();
        let found = TilingFields.find(&Context::new(own, KnownValues::default(), None).with_beside(beside));
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
        let sites = TilingFields.find(&before).sites;
        let patch = TilingFields.apply(&before, &sites[0]).unwrap();
        let after = before.tree.apply(&patch).unwrap();
        let text = after.text("op_kernel/scale.cpp").unwrap();
        assert!(text.contains("    ScaleTilingData data;\n    {\n"), "{text}");
        assert!(text.contains("data.starts[AscendC::GetBlockIdx()] = startsStored.GetValue"), "{text}");
        assert!(text.contains("data.length = lengthStored.GetValue(0);") && !text.contains("unused"), "{text}");
        let after = before.after(after);
        let patch = TilingFields.rewind(&after, &TilingFields.rewind_sites(&after).sites[0]).unwrap();
        assert_eq!(after.tree.apply(&patch).unwrap(), before.tree);
        for (from, to, because) in [
            ("uint32_t unused;", "uint32_t unused; int64_t Whole() { return length; }", "more than fields"),
            ("uint32_t unused;", "uint32_t unused, more;", "more than fields"),
            ("struct ScaleTilingData {", "struct Other {", "0 definitions"),
        ] {
            let found = TilingFields.find(&of(&shared.replace(from, to), kernel));
            assert!(found.sites.is_empty() && found.refused[0].reason.contains(because), "{to}: {found:?}");
        }
    }
}
