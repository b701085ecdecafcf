//! S14: of the structure that the host writes only those fields are read that the kernel uses, and of arrays with an element for each
//! block only the block's own. The whole structure is a trip to global memory for every line of it, before anything else can begin.

use crate::analysis::code::{scope, words};
use crate::analysis::entry::device_files;
use crate::analysis::tiling_ranges::Range;
use crate::analysis::tiling_reads::{Read, Sources};
use crate::rewrite::edits::edit;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif, TilingMember, TilingStructure};
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
     its address or name, never cast, measured, or kept under another name; some field is not used, or only at the number of the block or at the variable of a loop between two such elements, and every field in use is a number \
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
    let mut used: Vec<(&TilingMember, Read)> =
        structure.fields.iter().zip(reads).filter(|(_, read)| *read != Read::Nothing).collect();
    // Ranges are read where their ends are known.
    used.sort_by_key(|(_, read)| matches!(read, Read::OfRange(_)));
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
fn reading(
    file: &SyntaxFile,
    structure: &TilingStructure,
    field: &TilingMember,
    read: Read,
    name: &str,
    from: &str,
) -> Vec<String> {
    let (scope, of) = (scope(file), field.name.as_str());
    let number = field.kind.as_str();
    let stored = format!("{of}{STORED}");
    let mut lines = vec![
        format!("{scope}GlobalTensor<{number}> {stored};"),
        format!(
            "{stored}.SetGlobalBuffer((__gm__ {number} *)({from} + __builtin_offsetof({}, {of})));",
            structure.name
        ),
    ];
    match read {
        Read::OfBlock | Read::OfBlockOrFirst => {
            if read == Read::OfBlockOrFirst {
                lines.push(format!("{name}.{of}[0] = {stored}.GetValue(0);"));
            }
            lines.push(format!("{name}.{of}[{scope}GetBlockIdx()] = {stored}.GetValue({scope}GetBlockIdx());"));
        }
        Read::OfRange(Range { first, last, through }) => {
            let [first, last] = [first, last].map(|place| &structure.fields[place].name);
            let block = format!("[{scope}GetBlockIdx()]");
            let within = if through { "<=" } else { "<" };
            lines.push(format!("for (int64_t i = {name}.{first}{block}; i {within} {name}.{last}{block}; i++) {{"));
            lines.push(format!("    {name}.{of}[i] = {stored}.GetValue(i);"));
            lines.push("}".to_owned());
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
            || line.starts_with(&format!("for (int64_t i = {name}."))
            || line == "}")
        {
            return None;
        }
    }
    Some((start + 2 + inside.len() + close.len(), place?))
}
