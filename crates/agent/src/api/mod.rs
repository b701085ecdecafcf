//! What is known of the functions of the Ascend C API that kernels call: signatures and dtypes as the embedded SDK has them, operands, and
//! costs by a machine description.

mod headers;
mod scan;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use self::headers::HEADERS;
use self::scan::{Declared, declared};
use aicore::{Machine, VectorClass};
use source::facts::api::{Access, argument_access, is_copy};

/// Signatures of one function that are told.
const MOST_SIGNATURES: usize = 8;
/// Names that are told in place of one that there is not.
const MOST_NAMES: usize = 12;

static FUNCTIONS: LazyLock<BTreeMap<String, Vec<Declared>>> = LazyLock::new(|| {
    let mut functions: BTreeMap<String, Vec<Declared>> = BTreeMap::new();
    for one in HEADERS.iter().flat_map(|text| declared(text)) {
        let known = functions.entry(one.name.clone()).or_default();
        if known.iter().all(|other| other.signature != one.signature) {
            known.push(one);
        }
    }
    functions
});

/// What is known of a function, several lines; otherwise names that are like it. `machine` says what it costs.
pub fn api_facts(name: &str, machine: Option<&Machine>) -> Result<String, String> {
    let plain = name.trim().rsplit("::").next().unwrap_or_default();
    let Some(known) = FUNCTIONS.get(plain) else { return Err(unknown(plain)) };
    let mut lines: Vec<String> = Vec::new();
    for one in known.iter().take(MOST_SIGNATURES) {
        let within = if one.class.is_empty() { String::new() } else { format!(" (of {})", one.class) };
        let dtypes = if one.dtypes.is_empty() { String::new() } else { format!("  for {}", one.dtypes.join(", ")) };
        lines.push(format!("{}{within}{dtypes}", one.signature));
    }
    if known.len() > MOST_SIGNATURES {
        lines.push(format!("and {} more", known.len() - MOST_SIGNATURES));
    }
    let mut notes: Vec<&str> = known.iter().map(|one| one.note.as_str()).filter(|note| !note.is_empty()).collect();
    notes.dedup();
    lines.extend(notes.into_iter().map(|note| format!("note: {note}")));
    lines.extend(operands(plain));
    lines.extend(machine.into_iter().flat_map(|machine| costs(plain, known, machine)));
    Ok(lines.join("\n"))
}

/// The same in a few words behind a call: dtypes and the first cost; empty where neither is known.
pub fn api_brief(name: &str, machine: Option<&Machine>) -> String {
    let known = FUNCTIONS.get(name).map_or(&[][..], Vec::as_slice);
    let dtypes = known.iter().find(|one| !one.dtypes.is_empty()).map(|one| format!("for {}", one.dtypes.join(", ")));
    let cost = machine.and_then(|machine| costs(name, known, machine).into_iter().next());
    let facts: Vec<String> = dtypes.into_iter().chain(cost).collect();
    if facts.is_empty() { String::new() } else { format!(": {}", facts.join("; ")) }
}

fn unknown(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let alike = |known: &&String| {
        let known = known.to_ascii_lowercase();
        !lower.is_empty() && (known.contains(&lower) || lower.contains(&known))
    };
    let names: Vec<&str> = FUNCTIONS.keys().filter(alike).take(MOST_NAMES).map(String::as_str).collect();
    let name = super::answer::one_line(name);
    if names.is_empty() {
        format!("the embedded SDK has no function {name:?}")
    } else {
        format!("the embedded SDK has no function {name:?}; there are {}", names.join(", "))
    }
}

/// Which operands a call reads and writes, where that is known.
fn operands(name: &str) -> Option<String> {
    let word = |index: usize| match argument_access(name, index) {
        Access::Write => Some(format!("writes operand {}", index + 1)),
        Access::Read => Some(format!("reads operand {}", index + 1)),
        Access::ReadWrite => Some(format!("reads and writes operand {}", index + 1)),
        Access::Release | Access::None | Access::Escape => None,
    };
    let words: Vec<String> = (0..6).map_while(word).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn costs(name: &str, known: &[Declared], machine: &Machine) -> Vec<String> {
    let of = &machine.parameters;
    let mut lines = Vec::new();
    for opcode in known.iter().flat_map(|one| &one.opcodes) {
        if let Some(class) = class_of(machine, opcode) {
            let half = class.per_repeat_16bit.as_ref();
            let half = half.map(|half| format!(" ({} of 16-bit data)", half.value)).unwrap_or_default();
            let line = format!(
                "cost: {} cycles of the vector pipe and {}{half} for each repeat of 256 bytes",
                class.fixed.value, class.per_repeat.value
            );
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    if is_copy(name) {
        lines.push(format!(
            "cost: start-up of {} cycles into the unified buffer and {} out of it, at least {} for each row; a core alone reads {} \
             bytes a cycle and writes {}; addresses in global memory that are no multiple of {} bytes cost {} times that",
            of.mte2_startup_cycles,
            of.mte3_startup_cycles,
            of.dma_burst_cycles,
            of.core_read_hbm_alone,
            of.core_write,
            of.dma_alignment_bytes,
            of.dma_misaligned_factor
        ));
    }
    match name {
        "PipeBarrier" => lines.push(format!("cost: {} cycles beyond what it waits for", of.barrier_cycles)),
        "SetFlag" | "WaitFlag" => lines.push(format!("cost: {} cycles where its condition holds", of.flag_cycles)),
        "SyncAll" => lines.push(format!("cost: {} cycles beyond the arrival of the last core", of.sync_all_cycles)),
        "GetValue" | "SetValue" => lines.push(format!(
            "cost: {} cycles of the scalar unit in the unified buffer, {} in global memory and {} where the line is not in its cache",
            of.scalar_ub_access_cycles, of.scalar_gm_access_cycles, of.scalar_gm_miss_cycles
        )),
        _ => {}
    }
    lines
}

/// The class of a vector instruction: the one that names it, else the one that knows most letters of its beginning.
fn class_of<'a>(machine: &'a Machine, opcode: &str) -> Option<&'a VectorClass> {
    let likeness = |known: &String| match known.strip_suffix('*') {
        Some(beginning) if opcode.starts_with(beginning) => Some(beginning.len()),
        None if known == opcode => Some(usize::MAX),
        _ => None,
    };
    let best = |class: &'a VectorClass| Some((class.opcodes.iter().filter_map(likeness).max()?, class));
    machine.vector.values().filter_map(best).max_by_key(|(likeness, _)| *likeness).map(|(_, class)| class)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(name: &str) -> String {
        api_facts(name, Some(&Machine::named("ascend910b2").unwrap())).unwrap()
    }

    #[test]
    fn a_function_has_signatures_dtypes_operands_and_a_cost() {
        let add = facts("AscendC::Add");
        for said in [
            "const LocalTensor<T>& src1, const int32_t& count)  for half, float, int16_t, int32_t",
            "writes operand 1, reads operand 2, reads operand 3",
            "cost: 22 cycles of the vector pipe and 1 for each repeat of 256 bytes",
        ] {
            assert!(add.contains(said), "{said}\n{add}");
        }
        assert!(!add.contains("ASC_API") && !add.contains('\\') && !add.contains("#"), "{add}");
        assert!(facts("Exp").contains("2 (4 of 16-bit data) for each repeat"));
        assert!(facts("Muls").contains("cost: 25 cycles"), "{}", facts("Muls"));
        let machine = Machine::named("ascend910b2").unwrap();
        let brief = api_brief("Exp", Some(&machine));
        assert!(brief.starts_with(": for half, float; cost: 29 cycles"), "{brief}");
        assert_eq!(api_brief("Unheard", Some(&machine)), "");
        assert!(facts("ReduceSum").contains("template"), "{}", facts("ReduceSum"));
    }

    #[test]
    fn copies_flags_and_methods_are_known_too() {
        let copy = facts("DataCopyPad");
        assert!(copy.contains("start-up of 195 cycles") && copy.contains("GlobalTensor<T>"), "{copy}");
        assert!(facts("SetValue").contains("(of LocalTensor)"), "{}", facts("SetValue"));
        assert!(facts("PipeBarrier").contains("beyond what it waits for"));
        assert!(facts("EnQue").contains("EnQue("));
        assert!(!facts("Cast").is_empty());
    }

    #[test]
    fn what_there_is_not_is_said_with_names_like_it() {
        assert!(api_facts("DataCop", None).unwrap_err().contains("there are DataCopy, DataCopyPad"));
        assert_eq!(api_facts("Zz", None).unwrap_err(), "the embedded SDK has no function \"Zz\"");
        assert!(api_facts("SetMaskFor\u{1b}", None).unwrap_err().chars().all(|letter| !letter.is_control()));
        assert!(api_facts("CopyFromL1", None).is_err(), "what is internal is none of the API");
    }
}
