//! Compiler, linker and CMake output as typed findings.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Weight of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Stops the build.
    Error,
    /// Does not.
    Warning,
    /// Explains the finding before it.
    Note,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// File, relative to the operator's root where it belongs to the project; empty if the tool named none.
    pub file: String,
    /// Line from 1; 0 if unknown.
    pub line: u32,
    /// Column from 1; 0 if unknown.
    pub column: u32,
    /// Weight.
    pub severity: Severity,
    /// The message, one line.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            write!(formatter, "{}:", self.file)?;
            if self.line > 0 {
                write!(formatter, "{}:", self.line)?;
            }
            if self.column > 0 {
                write!(formatter, "{}:", self.column)?;
            }
            formatter.write_str(" ")?;
        }
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        write!(formatter, "{severity}: {}", self.message)
    }
}

/// Findings in the output of g++, clang++ and ld; `map` turns a path of the build into one of the project.
pub fn parse_compiler_output(output: &str, map: &dyn Fn(&str) -> String) -> Vec<Diagnostic> {
    output
        .lines()
        .filter_map(|line| parse_compiler_line(line).or_else(|| parse_linker_line(line)))
        .map(|mut found| {
            if !found.file.is_empty() {
                found.file = map(&found.file);
            }
            found
        })
        .collect()
}

fn parse_compiler_line(line: &str) -> Option<Diagnostic> {
    for (word, severity) in [
        (": fatal error: ", Severity::Error),
        (": error: ", Severity::Error),
        (": warning: ", Severity::Warning),
        (": note: ", Severity::Note),
    ] {
        let Some((place, message)) = line.split_once(word) else { continue };
        let mut parts = place.rsplitn(3, ':');
        let (Some(column), Some(row), Some(file)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let (Ok(column), Ok(row)) = (column.trim().parse(), row.trim().parse()) else { continue };
        return Some(Diagnostic {
            file: file.trim().to_owned(),
            line: row,
            column,
            severity,
            message: message.trim().to_owned(),
        });
    }
    // Errors of the driver itself carry no place: `g++: fatal error: no input files`.
    let (_, message) = line.split_once("fatal error: ")?;
    Some(Diagnostic {
        file: String::new(),
        line: 0,
        column: 0,
        severity: Severity::Error,
        message: message.trim().to_owned(),
    })
}

/// `ld: x.o: in function ..`, `path:line: undefined reference to `f'`.
fn parse_linker_line(line: &str) -> Option<Diagnostic> {
    let (place, symbol) = line.split_once(": undefined reference to ")?;
    let symbol = symbol.trim_matches(['`', '\'', '"', ' ']);
    let place = place.rsplit_once("ld: ").map_or(place, |(_, rest)| rest);
    let (file, row) = match place.rsplit_once(':') {
        Some((file, row)) if row.bytes().all(|byte| byte.is_ascii_digit()) => {
            (file.to_owned(), row.parse().unwrap_or(0))
        }
        _ => (String::new(), 0),
    };
    Some(Diagnostic {
        file,
        line: row,
        column: 0,
        severity: Severity::Error,
        message: format!("`{symbol}` is declared but the SDK does not define it"),
    })
}

/// Findings in CMake's output; `map` turns a path into one relative to the project.
pub fn parse_cmake_output(output: &str, map: &dyn Fn(&str) -> String) -> Vec<Diagnostic> {
    let lines: Vec<&str> = output.lines().collect();
    let mut result = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(rest) = line.strip_prefix("CMake Error") else { continue };
        let (mut file, mut row) = match rest.strip_prefix(" at ").or_else(|| rest.strip_prefix(" in ")) {
            Some(place) => cmake_place(place, map),
            None => (String::new(), 0),
        };
        // An error raised inside the SDK or a module belongs to the project's line that called it.
        if file.starts_with('/') {
            let caller = lines[index + 1..]
                .iter()
                .skip_while(|line| !line.starts_with("Call Stack"))
                .skip(1)
                .take_while(|line| line.starts_with("  "))
                .map(|line| cmake_place(line.trim(), map))
                .find(|(file, _)| !file.starts_with('/'));
            if let Some((caller, line)) = caller {
                (file, row) = (caller, line);
            }
        }
        // The message is the indented paragraph that follows, with what it announces by a colon, or what stands on the same line.
        let mut words: Vec<&str> = Vec::new();
        if let Some(inline) = rest.strip_prefix(": ") {
            words.push(inline.trim());
        }
        for follow in &lines[index + 1..] {
            if follow.starts_with("  ") {
                words.push(follow.trim());
            } else if !follow.trim().is_empty() || words.last().is_some_and(|last| !last.ends_with(':')) {
                break;
            }
        }
        // The tool wraps `include()`, and nobody knows the name that CMake gives what is wrapped.
        let message = words.join(" ").replace("_include could not find", "include could not find");
        result.push(Diagnostic { file, line: row, column: 0, severity: Severity::Error, message });
    }
    result
}

/// `path:line (command):`.
fn cmake_place(place: &str, map: &dyn Fn(&str) -> String) -> (String, u32) {
    let place = place.split(" (").next().unwrap_or(place).trim_end_matches(':');
    match place.rsplit_once(':') {
        Some((file, row)) if row.parse::<u32>().is_ok() => (map(file), row.parse().unwrap_or(0)),
        _ => (map(place), 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(path: &str) -> String {
        path.trim_start_matches("/tmp/overlay/").to_owned()
    }

    #[test]
    fn compiler_and_linker_lines() {
        let output = "\
In file included from wrapper.cpp:3:
/tmp/overlay/op_kernel/add.h:12:5: error: 'Foo' was not declared in this scope; did you mean 'Bar'?
   12 |     Foo();
/tmp/overlay/op_kernel/add.h:10:1: note: declared here
op_kernel/add.cpp:3:10: fatal error: missing.h: No such file or directory
/usr/bin/ld: /tmp/x.o: in function `k(unsigned char*)':
/tmp/overlay/op_kernel/add.h:20: undefined reference to `vfancy(float*)'
collect2: error: ld returned 1 exit status
";
        let found = parse_compiler_output(output, &keep);
        let text: Vec<String> = found.iter().map(Diagnostic::to_string).collect();
        assert_eq!(
            text,
            [
                "op_kernel/add.h:12:5: error: 'Foo' was not declared in this scope; did you mean 'Bar'?",
                "op_kernel/add.h:10:1: note: declared here",
                "op_kernel/add.cpp:3:10: error: missing.h: No such file or directory",
                "op_kernel/add.h:20: error: `vfancy(float*)` is declared but the SDK does not define it",
            ]
        );
    }

    #[test]
    fn cmake_errors_keep_file_and_line() {
        let output = "\
-- Configuring
CMake Error at op_host/CMakeLists.txt:7 (opbuild):
  Unknown CMake command \"opbuild\".


CMake Error at /sdk/cmake/package_functions.cmake:99 (message):
  no file x.cpp
Call Stack (most recent call first):
  /sdk/cmake/inner.cmake:3 (inner)
  op_kernel/CMakeLists.txt:2 (npu_op_kernel_library)


CMake Error at CMakeLists.txt:4 (_include):
  _include could not find requested file:

    cmake/own.cmake


CMake Error: The source directory does not exist.
-- Configuring incomplete, errors occurred!
";
        let text: Vec<String> = parse_cmake_output(output, &keep).iter().map(Diagnostic::to_string).collect();
        assert_eq!(
            text,
            [
                "op_host/CMakeLists.txt:7: error: Unknown CMake command \"opbuild\".",
                "op_kernel/CMakeLists.txt:2: error: no file x.cpp",
                "CMakeLists.txt:4: error: include could not find requested file: cmake/own.cmake",
                "error: The source directory does not exist."
            ]
        );
    }
}
