//! `__worker`: limits itself, then becomes the program it is given.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use super::Exit;
use backend::worker::{Limits, Role, become_worker, end_as};
use backend::{NOT_STARTED, NOT_STARTED_SIGN};

/// Reads `[--role=R] --cpu-s=N --memory-bytes=N --file-bytes=N --writable DIR [--readable PATH].. -- PROGRAM ARGS`.
pub fn execute(arguments: &[OsString]) -> ExitCode {
    let role =
        [Role::Outer, Role::First].into_iter().find(|role| arguments.first().is_some_and(|word| word == role.word()));
    let own = if role.is_some() { &arguments[1..] } else { arguments };
    let Some((limits, program)) = parse(own) else {
        eprintln!("__worker is started by cargo-ascend-tune itself");
        return Exit::Usage.into();
    };
    match become_worker(&limits, role.unwrap_or_default(), own, &program) {
        Ok(code) => {
            if role.is_none() {
                end_as(code);
            }
            u8::try_from(code).map_or(Exit::Environment.into(), ExitCode::from)
        }
        Err(error) => {
            let name = program.first().map(|word| word.to_string_lossy()).unwrap_or_default();
            eprintln!("{NOT_STARTED_SIGN} {name}: {error}");
            // Not one of the codes that the programs give a meaning to.
            u8::try_from(NOT_STARTED).map_or(Exit::Environment.into(), ExitCode::from)
        }
    }
}

fn parse(arguments: &[OsString]) -> Option<(Limits, Vec<OsString>)> {
    let split = arguments.iter().position(|word| word == "--")?;
    let (options, program) = (&arguments[..split], arguments[split + 1..].to_vec());
    let number = |name: &str| {
        options.iter().find_map(|word| word.to_str()?.strip_prefix(name)?.strip_prefix('=')?.parse::<u64>().ok())
    };
    let paths = |name: &str| {
        let given = options.windows(2).filter(|pair| pair[0] == name);
        given.map(|pair| PathBuf::from(&pair[1])).collect::<Vec<_>>()
    };
    let readable = paths("--readable");
    let limits = Limits {
        cpu_s: number("--cpu-s")?,
        memory_bytes: number("--memory-bytes")?,
        file_bytes: number("--file-bytes")?,
        writable: paths("--writable").pop()?,
        readable: (!readable.is_empty()).then_some(readable),
    };
    Some((limits, program))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn limits_and_program_are_told_apart() {
        let (limits, program) = parse(&words(
            "--cpu-s=3 --memory-bytes=4096 --file-bytes=9 --writable /tmp/x --readable /a -- run --cpu-s=7",
        ))
        .unwrap();
        assert_eq!((limits.cpu_s, limits.memory_bytes, limits.file_bytes), (3, 4096, 9));
        assert_eq!(limits.writable, PathBuf::from("/tmp/x"));
        assert_eq!(limits.readable, Some(vec![PathBuf::from("/a")]));
        assert_eq!(program, words("run --cpu-s=7"));
    }

    #[test]
    fn a_missing_limit_is_refused() {
        assert!(parse(&words("--cpu-s=3 -- run")).is_none());
    }
}
