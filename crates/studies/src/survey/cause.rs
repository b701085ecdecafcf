//! From messages to causes that can be counted: the same thing in the way gives the same name, whatever the operator.

use aicore::HazardKind;
use backend::{LocatedHazard, RunFailure};
use build::{BuildError, Diagnostic, Severity};
use events::survey::{Cause, CauseKind};

/// Longest name of a cause, in characters.
const LONGEST: usize = 110;

/// Cause of a failed build.
pub fn of_build(error: &BuildError) -> Cause {
    match error {
        BuildError::Compile(failure) => {
            let first = failure.diagnostics.iter().find(|found| found.severity == Severity::Error);
            first.map_or_else(
                || Cause::new(CauseKind::CompileError, general(failure.log.lines().next().unwrap_or_default())),
                of_diagnostic,
            )
        }
        BuildError::Cmake { diagnostics, log } => {
            let text = diagnostics.first().map_or_else(
                || log.lines().find(|line| !line.trim().is_empty()).unwrap_or_default(),
                |found| found.message.as_str(),
            );
            Cause::new(CauseKind::Cmake, general(text))
        }
        error => Cause::new(CauseKind::Machine, general(&error.to_string())),
    }
}

/// Words before a quoted name that is not declared, in the messages of g++ and clang++.
const UNDECLARED: [&str; 9] = [
    "was not declared in this scope",
    "has not been declared",
    "does not name a type",
    "use of undeclared identifier",
    "unknown type name",
    "no member named",
    "has no member named",
    "is not a member of",
    "no template named",
];

/// Cause of a compiler's message as text, `FILE:LINE:COLUMN: error: WORDS`.
pub fn of_message(text: &str) -> Cause {
    of_words(text.split_once("error: ").map_or(text, |(_, words)| words))
}

/// What a check says, without the `FILE:LINE: ` before it.
pub fn after_place(text: &str) -> &str {
    text.split_once(": ").filter(|(place, _)| !place.contains(' ')).map_or(text, |(_, words)| words)
}

fn of_diagnostic(found: &Diagnostic) -> Cause {
    of_words(&found.message)
}

fn of_words(message: &str) -> Cause {
    for ending in [": No such file or directory", "' file not found"] {
        if let Some(header) = message.strip_suffix(ending) {
            return Cause::new(CauseKind::MissingHeader, header.trim_start_matches('\''));
        }
    }
    if let Some(symbol) = message.strip_suffix(" is declared but the SDK does not define it") {
        return Cause::new(CauseKind::UndefinedSymbol, function_name(symbol.trim_matches('`')));
    }
    if UNDECLARED.iter().any(|words| message.contains(words)) {
        let names = quoted(message);
        let name = match () {
            // `'class A' has no member named 'B'`, `no member named 'B' in 'A'`, `'B' is not a member of 'A'`.
            () if message.contains("has no member named") => match names.as_slice() {
                [owner, member, ..] => format!("{}::{member}", bare(owner)),
                _ => general(message),
            },
            () if message.contains("is not a member of") || message.contains("no member named") => {
                match names.as_slice() {
                    [member, owner, ..] => format!("{}::{}", bare(owner), last_part(member)),
                    [member] => (*member).to_owned(),
                    [] => general(message),
                }
            }
            () => names.first().map_or_else(|| general(message), |name| bare(name)),
        };
        return Cause::new(CauseKind::MissingName, name);
    }
    if let Some(rest) = message.strip_prefix("no matching function for call to") {
        let called = quoted(rest).first().map(|call| function_name(call)).unwrap_or_default();
        return Cause::new(CauseKind::CompileError, format!("no matching function for {called}"));
    }
    Cause::new(CauseKind::CompileError, general(message))
}

/// Cause of a failed run.
pub fn of_run(failure: &RunFailure) -> Cause {
    match failure {
        RunFailure::Tiling(message) => Cause::new(CauseKind::TilingRefused, general(message)),
        RunFailure::KernelMissing(_) => Cause::new(CauseKind::Machine, "no kernel for the tiling key"),
        RunFailure::Crashed(message) => {
            let (signal, words) = message.split_once("; last words: ").unwrap_or((message, ""));
            let words = words.strip_prefix("ascend_sim_runner: crashed while ").unwrap_or_default();
            let name = if words.is_empty() { general(signal) } else { format!("{} while {words}", general(signal)) };
            Cause::new(CauseKind::Crash, name)
        }
        RunFailure::TilingTimedOut(_) => Cause::new(CauseKind::TimeOut, "the tiling function does not return"),
        RunFailure::TimedOut(_) | RunFailure::EndlessTrace { .. } => {
            Cause::new(CauseKind::TimeOut, "the kernel does not end")
        }
        RunFailure::OutOfMemory(_) => Cause::new(CauseKind::OutOfMemory, ""),
        RunFailure::Program { output, .. } => {
            Cause::new(CauseKind::ExitStatus, general(output.lines().last().unwrap_or_default()))
        }
        // No survey asks a device.
        RunFailure::NoDevice(message) | RunFailure::Build { message, .. } => {
            Cause::new(CauseKind::Machine, general(message))
        }
        RunFailure::Hopeless { .. } => Cause::new(CauseKind::Machine, failure.to_string()),
        RunFailure::NeedsData { reason, .. } => Cause::new(CauseKind::Machine, general(reason)),
        RunFailure::Misfit(message) | RunFailure::Refused(message) | RunFailure::Broken(message) => {
            Cause::new(CauseKind::Machine, general(message))
        }
    }
}

/// Whether a hazard is one that stops the machine, so that the run did not really end.
pub fn stops_the_run(hazard: &LocatedHazard) -> bool {
    hazard.kind == HazardKind::Unsupported || hazard.kind == HazardKind::Deadlock
}

/// Cause for a hazard that counts as an error.
pub fn of_hazard(hazard: &LocatedHazard) -> Cause {
    let kind =
        serde_json::to_value(hazard.kind).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default();
    let cause = if stops_the_run(hazard) { CauseKind::Fault } else { CauseKind::Hazard };
    Cause::new(cause, format!("{kind}: {}", general(&hazard.message)))
}

/// A message without what differs from operator to operator: numbers, places, addresses.
pub fn general(message: &str) -> String {
    let mut text = String::new();
    let mut word = String::new();
    for letter in message.trim().chars().chain(std::iter::once('\n')) {
        if letter.is_alphanumeric() || letter == '_' {
            word.push(letter);
            continue;
        }
        let number = word.starts_with(|first: char| first.is_ascii_digit());
        text.push_str(if number { "N" } else { &word });
        word.clear();
        text.push(if letter == '\n' { ' ' } else { letter });
    }
    let mut text = text.trim_end().to_owned();
    if text.chars().count() > LONGEST {
        text = text.chars().take(LONGEST).collect::<String>() + "…";
    }
    text
}

/// Texts in quotation marks of the compilers.
fn quoted(message: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = message;
    while let Some(open) = rest.find(['\'', '`', '‘']) {
        let start = open + rest[open..].chars().next().map_or(1, char::len_utf8);
        let Some(length) = rest[start..].find(['\'', '’']) else { break };
        found.push(&rest[start..start + length]);
        let end = start + length;
        rest = &rest[end + rest[end..].chars().next().map_or(1, char::len_utf8)..];
    }
    found
}

/// `class AscendC::LocalTensor<float>` to `AscendC::LocalTensor`.
fn bare(name: &str) -> String {
    let name = ["class ", "struct ", "union ", "enum ", "const ", "namespace "]
        .iter()
        .fold(name.trim(), |name, word| name.strip_prefix(word).unwrap_or(name));
    name.split(['<', '{']).next().unwrap_or(name).trim().trim_end_matches([' ', '*', '&']).to_owned()
}

fn last_part(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// `void AscendC::Foo<float>(AscendC::LocalTensor<float>&)` to `AscendC::Foo`.
fn function_name(signature: &str) -> String {
    let mut depth = 0_usize;
    let mut head = String::new();
    for letter in signature.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 => break,
            _ if depth == 0 => head.push(letter),
            _ => {}
        }
    }
    head.split_whitespace().last().unwrap_or(signature).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(message: &str) -> String {
        let found = Diagnostic {
            file: "op_kernel/a.cpp".into(),
            line: 3,
            column: 1,
            severity: Severity::Error,
            message: message.into(),
        };
        of_diagnostic(&found).to_string()
    }

    #[test]
    fn compilers_name_what_is_missing() {
        for (message, cause) in [
            ("lib/x.h: No such file or directory", "missing header: lib/x.h"),
            ("'lib/x.h' file not found", "missing header: lib/x.h"),
            ("'Foo' was not declared in this scope; did you mean 'For'?", "unknown name: Foo"),
            ("use of undeclared identifier 'Foo'", "unknown name: Foo"),
            ("'class AscendC::TPipe' has no member named 'Bar'", "unknown name: AscendC::TPipe::Bar"),
            ("'Foo' is not a member of 'AscendC'", "unknown name: AscendC::Foo"),
            ("no member named 'Foo' in namespace 'AscendC'", "unknown name: AscendC::Foo"),
            (
                "`void AscendC::Foo<float>(AscendC::LocalTensor<float> const&)` is declared but the SDK does not define it",
                "undefined symbol: AscendC::Foo",
            ),
            (
                "no matching function for call to 'Add(AscendC::LocalTensor<float>&, int)'",
                "compile error: no matching function for Add",
            ),
            ("static assertion failed: 12 is too much", "compile error: static assertion failed: N is too much"),
        ] {
            assert_eq!(of(message), cause, "{message}");
        }
    }

    #[test]
    fn numbers_do_not_split_groups() {
        assert_eq!(general("block 12 reads 4096 bytes of dav_c220"), "block N reads N bytes of dav_c220");
    }
}
