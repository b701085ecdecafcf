//! Arithmetic of the scalar unit. It runs in registers, where no access to memory announces it: the compiler is told to announce every
//! basic block, and here, between compiler and assembler, a block's announcement gets the numbers of operations in it, of floating-point
//! numbers and of integers. Blocks with next to none announce nothing. What the headers of the API compute is the simulator's doing and
//! does not count.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// What the compiler calls at the beginning of every basic block.
const ANNOUNCED: &str = "__sanitizer_cov_trace_pc";
/// What is called in its place, with the numbers of operations (`sdk/src/toolkit/scalar_access.cpp`).
const COUNTED: &str = "ascend_sim_arithmetic";

/// Words that have basic blocks announced; none on processors whose assembly is not known here, where arithmetic costs nothing.
pub(crate) fn announcing_words() -> &'static [&'static str] {
    if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) { &["-fsanitize-coverage=trace-pc"] } else { &[] }
}

/// Functions of the C library that are an instruction or two on a device, each with its operations; also with `f` and `l` at the end.
const FUNCTIONS: [(&str, u32); 16] = [
    ("ceil", 1),
    ("copysign", 1),
    ("fdim", 2),
    ("floor", 1),
    ("fma", 2),
    ("fmax", 1),
    ("fmin", 1),
    ("frexp", 1),
    ("ldexp", 1),
    ("modf", 2),
    ("nearbyint", 1),
    ("remainder", 3),
    ("rint", 1),
    ("round", 1),
    ("sqrt", 1),
    ("trunc", 1),
];

/// Assembly of a compiler with the announcements of its blocks counted. `is_headers` tells files whose lines do not count.
pub(crate) fn counted(assembly: &str, is_headers: &dyn Fn(&str) -> bool) -> String {
    let mut lines: Vec<Cow<'_, str>> = Vec::new();
    let mut files: BTreeMap<&str, bool> = BTreeMap::new();
    let mut counts = true;
    let mut block: Option<Block> = None;
    for line in assembly.lines() {
        let text = line.trim_start();
        let mut words = text.split_whitespace();
        match words.next().unwrap_or_default() {
            ".file" => {
                if let Some(number) = words.next().filter(|word| !word.starts_with('"')) {
                    files.insert(number, !is_headers(&file_name(text)));
                }
            }
            ".loc" => counts = words.next().and_then(|number| files.get(number)).is_none_or(|counts| *counts),
            ".cfi_endproc" => close(&mut block, &mut lines),
            instruction if text.contains(ANNOUNCED) && is_call(instruction) => {
                close(&mut block, &mut lines);
                block = Some(Block { at: lines.len(), floats: 0, integers: 0 });
            }
            instruction => {
                if let Some(block) = block.as_mut().filter(|_| counts) {
                    block.floats += operations_of(instruction, text);
                    block.integers += integers_of(instruction, text);
                }
            }
        }
        lines.push(line.into());
    }
    close(&mut block, &mut lines);
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

/// A basic block: the line of its announcement, and the operations in it so far.
struct Block {
    at: usize,
    floats: u32,
    integers: u32,
}

/// A block with fewer operations on integers, and none on floating-point numbers, is not announced: a step of a loop has as many.
const FEW_INTEGERS: u32 = 3;

/// Puts the counts of a block into its announcement.
fn close(block: &mut Option<Block>, lines: &mut [Cow<'_, str>]) {
    let Some(Block { at, floats, integers }) = block.take() else { return };
    let announcement = lines[at].trim_start();
    lines[at] = match () {
        () if floats > 0 || integers >= FEW_INTEGERS => {
            format!("{}\n{}", arguments(floats, integers), lines[at].replace(ANNOUNCED, COUNTED)).into()
        }
        // A function that does nothing else ends with the announcement of its only block.
        () if announcement.starts_with(['j', 'b']) && !announcement.starts_with("bl") => "\tret".into(),
        () => "".into(),
    };
}

/// The instructions that pass two numbers to a function.
fn arguments(floats: u32, integers: u32) -> String {
    let [floats, integers] = [floats, integers].map(|number| number.min(u32::from(u16::MAX)));
    if cfg!(target_arch = "aarch64") {
        format!("\tmov\tw0, {floats}\n\tmov\tw1, {integers}")
    } else {
        format!("\tmovl\t${floats}, %edi\n\tmovl\t${integers}, %esi")
    }
}

/// Path that a `.file` names: one string, or a folder and a name below it.
fn file_name(directive: &str) -> String {
    let strings: Vec<&str> = directive.split('"').skip(1).step_by(2).collect();
    match strings.as_slice() {
        [folder, name, ..] if !name.starts_with('/') => format!("{folder}/{name}"),
        [.., name] => (*name).to_owned(),
        [] => String::new(),
    }
}

fn is_call(instruction: &str) -> bool {
    matches!(instruction, "call" | "callq" | "bl" | "jmp" | "b")
}

/// Floating-point operations of one instruction of the processors that this tool runs on.
fn operations_of(instruction: &str, text: &str) -> u32 {
    if is_call(instruction) {
        let target = text.split_whitespace().nth(1).unwrap_or_default().trim_start_matches('*');
        let name = target.split('@').next().unwrap_or_default();
        let known = |name: &str| FUNCTIONS.iter().find(|(function, _)| *function == name).map(|(_, count)| *count);
        let of_compiler = u32::from(is_of_a_compiler(name));
        return known(name).or_else(|| known(name.strip_suffix(['f', 'l'])?)).unwrap_or(of_compiler);
    }
    let of_processor = if cfg!(target_arch = "aarch64") { of_arm } else { of_x86 };
    of_processor(instruction, text).unwrap_or(0)
}

/// Operations on integers of one instruction: what computes, not what compares, moves or makes an address. A division is several.
fn integers_of(instruction: &str, text: &str) -> u32 {
    const DIVISION: u32 = 8;
    // The stack is not the kernel's arithmetic.
    if text.contains("%rsp") || text.contains("sp,") {
        return 0;
    }
    if cfg!(target_arch = "aarch64") {
        return match instruction {
            "sdiv" | "udiv" => DIVISION,
            "add" | "adds" | "sub" | "subs" | "mul" | "and" | "ands" | "orr" | "eor" | "bic" | "lsl" | "lsr"
            | "asr" | "ror" | "clz" | "rbit" | "ubfx" | "sbfx" | "ubfiz" | "sbfiz" => {
                u32::from(!text.contains(".2") && !text.contains(".4"))
            }
            "madd" | "msub" | "umull" | "smull" => 2,
            _ => 0,
        };
    }
    const ONE: [&str; 20] = [
        "add", "sub", "imul", "mul", "and", "or", "xor", "shl", "shr", "sar", "sal", "rol", "ror", "not", "neg", "adc",
        "sbb", "bsr", "bsf", "inc",
    ];
    let bare = instruction.strip_suffix(['b', 'w', 'l', 'q']).unwrap_or(instruction);
    match bare {
        "div" | "idiv" => DIVISION,
        // `mul` itself ends with a letter of a width.
        _ if ONE.contains(&bare) || ONE.contains(&instruction) => 1,
        _ => 0,
    }
}

/// Whether a function is of the library that compilers bring for numbers that the processor does not know: `__multf3`,
/// `__extendhfsf2`, `__muldc3`.
fn is_of_a_compiler(name: &str) -> bool {
    const VERBS: [&str; 18] = [
        "add", "cmp", "div", "eq", "extend", "fix", "float", "ge", "gt", "le", "lt", "mul", "ne", "neg", "pow", "sub",
        "trunc", "unord",
    ];
    let Some(bare) = name.strip_prefix("__") else { return false };
    let of_numbers = ["tf", "hf", "bf", "xf", "df", "sf", "td", "dd", "sd", "hc", "sc", "dc", "xc", "tc"];
    bare.ends_with(['2', '3', 'i', 'f'])
        && VERBS.iter().any(|verb| {
            bare.strip_prefix(verb)
                .is_some_and(|rest| of_numbers.iter().any(|kind| rest.contains(kind)) && rest.len() < 9)
        })
}

/// `mulss`, `vfmadd213ps`, `cvtsi2sdq`, `fdivp` and their like.
fn of_x86(instruction: &str, text: &str) -> Option<u32> {
    const ARITHMETIC: [&str; 8] = ["add", "sub", "mul", "div", "sqrt", "min", "max", "round"];
    let bare = instruction.strip_prefix('v').unwrap_or(instruction);
    if bare.starts_with("cvt") || bare.starts_with("ucomis") || bare.starts_with("comis") {
        return Some(1);
    }
    // Beside the registers of vectors there are those of an older unit, for `long double`.
    if let Some(old) = instruction.strip_prefix('f') {
        return ARITHMETIC[..5].iter().any(|name| old.starts_with(name)).then_some(1);
    }
    let bits = match () {
        () if text.contains("%zmm") => 512,
        () if text.contains("%ymm") => 256,
        () => 128,
    };
    let (name, lanes) =
        match bare.len().checked_sub(2).and_then(|at| bare.is_char_boundary(at).then(|| bare.split_at(at)))? {
            (name, "ss" | "sd") => (name, 1),
            (name, "ps") => (name, bits / 32),
            (name, "pd") => (name, bits / 64),
            _ => return None,
        };
    if name.starts_with("fmadd")
        || name.starts_with("fmsub")
        || name.starts_with("fnmadd")
        || name.starts_with("fnmsub")
    {
        return Some(2 * lanes);
    }
    ARITHMETIC.contains(&name).then_some(lanes)
}

/// `fmul s0, s1, s2`, `fmadd`, `scvtf` and their like.
fn of_arm(instruction: &str, text: &str) -> Option<u32> {
    const ONE: [&str; 14] = [
        "fadd", "fsub", "fmul", "fnmul", "fdiv", "fsqrt", "fmax", "fmin", "fmaxnm", "fminnm", "fcmp", "fcmpe", "scvtf",
        "ucvtf",
    ];
    const TWO: [&str; 6] = ["fmadd", "fmsub", "fnmadd", "fnmsub", "fmla", "fmls"];
    let lanes = match () {
        () if text.contains(".4s") => 4,
        () if text.contains(".2s") || text.contains(".2d") => 2,
        () => 1,
    };
    let each = match () {
        () if ONE.contains(&instruction) || instruction.starts_with("fcvt") || instruction.starts_with("frint") => 1,
        () if TWO.contains(&instruction) => 2,
        () => return None,
    };
    Some(each * lanes)
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    const LOOP: &str = "\t.file 1 \"/sdk/include/tensor.h\"\n\t.file 2 \"op_kernel\" \"k.cpp\"\n\t.loc 2 5 1\n\
        .L3:\n\tcall\t__sanitizer_cov_trace_pc@PLT\n\tmulss\t%xmm1, %xmm0\n\t.loc 1 9 1\n\taddss\t%xmm1, %xmm0\n\
        \t.loc 2 6 1\n\tdivss\t%xmm2, %xmm0\n\tjne\t.L3\n\tcall\t__sanitizer_cov_trace_pc@PLT\n\tmovss\t%xmm0, (%rax)\n\
        \t.cfi_endproc\n";

    fn of_headers(path: &str) -> bool {
        path.starts_with("/sdk")
    }

    #[test]
    fn blocks_announce_what_they_compute_outside_of_headers() {
        let counted = counted(LOOP, &of_headers);
        assert!(
            counted.contains("\tmovl\t$2, %edi\n\tmovl\t$0, %esi\n\tcall\tascend_sim_arithmetic@PLT\n\tmulss"),
            "{counted}"
        );
        assert_eq!(counted.matches("call").count(), 1, "the second block computes nothing: {counted}");
    }

    #[test]
    fn blocks_end_with_their_function() {
        let two = format!("{LOOP}\t.cfi_startproc\n\tmulss\t%xmm1, %xmm0\n\t.cfi_endproc\n");
        assert_eq!(counted(&two, &of_headers).matches("$2").count(), 1);
    }

    #[test]
    fn many_integers_are_announced_and_few_are_not() {
        let block = |body: &str| format!("\tcall\t__sanitizer_cov_trace_pc@PLT\n{body}\t.cfi_endproc\n");
        let step = block("\taddl\t$1, %eax\n\tcmpl\t%ebx, %eax\n\tjne\t.L3\n");
        assert!(!counted(&step, &of_headers).contains("call"));
        let many = block("\tshrl\t$23, %eax\n\tandl\t$255, %eax\n\timull\t%ecx, %eax\n\tsubq\t$8, %rsp\n");
        assert!(counted(&many, &of_headers).contains("\tmovl\t$3, %esi\n\tcall\tascend_sim_arithmetic@PLT"));
        assert_eq!(integers_of("idivl", "idivl %ecx"), 8);
        assert_eq!(integers_of("mulss", "mulss %xmm0, %xmm1"), 0);
        assert_eq!(integers_of("mulq", "mulq %rcx"), 1);
        assert_eq!(integers_of("leaq", "leaq 8(%rax), %rax"), 0);
    }

    #[test]
    fn a_function_of_one_empty_block_returns() {
        let empty = "\t.cfi_startproc\n\tjmp\t__sanitizer_cov_trace_pc@PLT\n\t.cfi_endproc\n";
        assert_eq!(counted(empty, &of_headers), "\t.cfi_startproc\n\tret\n\t.cfi_endproc\n");
    }

    #[test]
    fn operations_of_instructions() {
        for (line, count) in [
            ("addss %xmm1, %xmm0", 1),
            ("vdivsd %xmm1, %xmm0, %xmm0", 1),
            ("mulps %xmm1, %xmm0", 4),
            ("vmulpd %ymm1, %ymm0, %ymm2", 4),
            ("vfmadd213ss %xmm1, %xmm0, %xmm2", 2),
            ("cvttss2sil %xmm0, %eax", 1),
            ("fmulp %st, %st(1)", 1),
            ("call fmaf@PLT", 2),
            ("call floor@PLT", 1),
            ("call *sqrtf@GOTPCREL(%rip)", 1),
            ("movss %xmm0, %xmm1", 0),
            ("addl $1, %eax", 0),
            ("psadbw %xmm0, %xmm1", 0),
            ("call __multf3@PLT", 1),
            ("call __extendhfsf2@PLT", 1),
            ("call __floatsitf@PLT", 1),
            ("call __muldc3@PLT", 1),
            ("call __tsan_read4@PLT", 0),
            ("ps", 0),
        ] {
            let instruction = line.split(' ').next().unwrap_or_default();
            assert_eq!(operations_of(instruction, line), count, "{line}");
        }
    }
}
