//! Initialisers of a kernel's constants, in its assembly.
//!
//! A device runs nothing before a launch, so a kernel must have no initialiser that computes. One that only stores constants is none in
//! truth: `const float lowest = *(float*)(&bits);` is a constant to the compilers of devices, and this one stores it when the library is
//! loaded, for the sake of the calls that announce accesses.

/// What may stand in an initialiser that stores constants beside moves of them: addresses, its frame, zeroed registers.
const OTHERS: [&str; 6] = ["lea", "push", "pop", "ret", "endbr64", "nop"];
const OF_FRAME: [&str; 4] = ["subq", "addq", "sub", "add"];
const ZEROES: [&str; 4] = ["xorl", "xorps", "pxor", "xorq"];
/// Calls that announce accesses and blocks.
const ANNOUNCES: [&str; 2] = ["__tsan_", "__sanitizer_cov_trace_pc"];

/// Whether every initialiser of an assembly only stores constants. One that cannot be found does not.
pub(super) fn only_store_constants(assembly: &str) -> bool {
    let lines: Vec<&str> = assembly.lines().map(str::trim).collect();
    let sections = lines.iter().enumerate().filter(|(_, line)| line.starts_with(".section\t.init_array"));
    let names = sections.flat_map(|(at, _)| {
        let entries = lines[at + 1..].iter().take_while(|line| line.starts_with(".align") || line.starts_with(".quad"));
        entries.filter_map(|line| line.strip_prefix(".quad")).map(str::trim)
    });
    let mut names = names.peekable();
    names.peek().is_none() || names.all(|name| stores_constants(&lines, name))
}

fn stores_constants(lines: &[&str], name: &str) -> bool {
    let label = format!("{name}:");
    let Some(start) = lines.iter().position(|line| *line == label) else { return false };
    let body = lines[start + 1..].iter().take_while(|line| !line.starts_with(".size"));
    body.filter(|line| !line.is_empty() && !line.starts_with(['.', '#'])).all(|line| is_harmless(line))
}

fn is_harmless(line: &str) -> bool {
    let (operation, operands) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match operation {
        "call" => ANNOUNCES.iter().any(|name| operands.starts_with(name)),
        _ if OF_FRAME.contains(&operation) => operands.starts_with('$') && operands.ends_with("%rsp"),
        _ if ZEROES.contains(&operation) => operands.split_once(", ").is_some_and(|(left, right)| left == right),
        _ if operation.starts_with("mov") => is_constant(operands),
        _ => OTHERS.iter().any(|start| operation.starts_with(start)),
    }
}

/// Whether what is moved is no more than a number, a register or one of the compiler's own constants: what is read back from memory may
/// be anything.
fn is_constant(operands: &str) -> bool {
    let source = operands.split(',').next().unwrap_or_default().trim();
    source.starts_with('$') || source.starts_with('%') || source.starts_with(".LC")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assembly(body: &str) -> String {
        format!(
            "_GLOBAL__sub_I_k.cpp:\n.LFB4:\n\tsubq\t$8, %rsp\n{body}\taddq\t$8, %rsp\n\tret\n\t.size\t_GLOBAL__sub_I_k.cpp, .-_GLOBAL__sub_I_k.cpp\n\
             \t.section\t.init_array,\"aw\"\n\t.align 8\n\t.quad\t_GLOBAL__sub_I_k.cpp\n"
        )
    }

    #[test]
    fn constants_are_stored_and_nothing_is_computed() {
        let store = "\tleaq\t_ZL3low(%rip), %rdi\n\tcall\t__tsan_write4@PLT\n\tcall\t__sanitizer_cov_trace_pc@PLT\n\tmovl\t$0xff800000, _ZL3low(%rip)\n";
        assert!(only_store_constants(&assembly(store)) && only_store_constants("f:\n\tret\n"));
        for computed in [
            "\tcall\t_Z5tablev\n",
            "\tmovl\t_ZL3low(%rip), %eax\n\taddl\t$1, %eax\n",
            "\tmovl\t$1, 4(%rsp)\n\tmovss\t4(%rsp), %xmm0\n\tmovss\t%xmm0, _ZL3low(%rip)\n",
            ".L3:\n\tmovl\t$1, (%rax)\n\tjne\t.L3\n",
            "\trep stosq\n",
        ] {
            assert!(!only_store_constants(&assembly(computed)), "{computed}");
        }
        assert!(!only_store_constants("\t.section\t.init_array,\"aw\"\n\t.quad\telsewhere\n"));
    }
}
