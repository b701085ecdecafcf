//! Whether a project tells the device compiler to insert no synchronisation into an operator's kernels.
//!
//! The compiler orders vector instructions among themselves, and the scalar unit with all pipes, unless `--cce-auto-sync=off`
//! stands among its options or `AUTO_SYNC false` beside the kernel's sources. Then every barrier of the kernel counts.

use std::path::Path;

use walkdir::WalkDir;

use super::detect::is_skipped;
use super::without_cmake_comments;

/// Where automatic synchronisation is switched off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutoSyncOff {
    /// File below the project's root, with `/` between folders.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
}

impl std::fmt::Display for AutoSyncOff {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)
    }
}

/// Folders below the root that are looked through.
const DEPTH: usize = 5;

/// The first place in the CMake files below `root` that switches it off for the operator `kind` or for all operators, on the chip `soc` or
/// on all chips. Files that cannot be read say nothing.
pub fn auto_sync_off(root: &Path, kind: &str, soc: &str) -> Option<AutoSyncOff> {
    let walk = WalkDir::new(root).max_depth(DEPTH).sort_by_file_name().into_iter();
    let files = walk.filter_entry(|entry| entry.depth() == 0 || !is_skipped(entry)).filter_map(Result::ok);
    for entry in files.filter(|entry| entry.file_type().is_file()) {
        let name = entry.file_name().to_string_lossy();
        let Some(relative) = entry.path().strip_prefix(root).ok().filter(|_| is_cmake(&name)) else { continue };
        let Ok(bytes) = std::fs::read(entry.path()) else { continue };
        if let Some(line) = line_that_switches_off(&String::from_utf8_lossy(&bytes), kind, soc) {
            let parts = relative.components().map(|part| part.as_os_str().to_string_lossy());
            return Some(AutoSyncOff { file: parts.collect::<Vec<_>>().join("/"), line });
        }
    }
    None
}

fn is_cmake(name: &str) -> bool {
    name == "CMakeLists.txt" || name.ends_with(".cmake")
}

fn line_that_switches_off(text: &str, kind: &str, soc: &str) -> Option<usize> {
    let text = without_cmake_comments(text);
    let mut begun = 0;
    // What stands between two closing parentheses ends with one command, whose arguments follow its last opening one.
    for (end, _) in text.match_indices(')').chain([(text.len(), "")]) {
        let piece = &text[begun..end];
        let command = piece.rfind('(').map_or(piece, |open| &piece[open + 1..]);
        let first = end - command.len();
        begun = (end + 1).min(text.len());
        let words: Vec<(usize, &str)> = command
            .split_whitespace()
            .map(|word| (first + (word.as_ptr() as usize - command.as_ptr() as usize), word.trim_matches('"')))
            .collect();
        if let Some(place) = words.iter().position(|(_, word)| switches_off(word)).or_else(|| named_off(&words))
            && is_for(&words[..place], kind)
            && is_for_chip(&words, soc)
        {
            return Some(text[..words[place].0].matches('\n').count() + 1);
        }
    }
    None
}

fn switches_off(word: &str) -> bool {
    word.contains("-cce-auto-sync=off")
}

/// `AUTO_SYNC false`, as one of the words.
fn named_off(words: &[(usize, &str)]) -> Option<usize> {
    let is_off = |word: &str| matches!(word.to_ascii_lowercase().as_str(), "false" | "off" | "0" | "no");
    words.windows(2).position(|pair| pair[0].1 == "AUTO_SYNC" && is_off(pair[1].1))
}

/// Whether a command is for a chip: it names its compute unit (`ascend910b` of Ascend910B2), or none. Operators of several chips are
/// compiled from other sources, with other options, for each.
fn is_for_chip(words: &[(usize, &str)], soc: &str) -> bool {
    let soc = soc.to_ascii_lowercase();
    // A machine of the user's own may have any name.
    if !soc.starts_with("ascend") {
        return true;
    }
    let is_unit = |word: &str| {
        let number = ["ascend", "kirin", "mc"].iter().find_map(|family| word.strip_prefix(family));
        number.is_some_and(|number| number.starts_with(|letter: char| letter.is_ascii_digit()))
    };
    let all = words.iter().flat_map(|(_, word)| word.split(';'));
    let mut units = all.filter(|word| !word.contains(['/', '.']) && is_unit(word)).peekable();
    units.peek().is_none() || units.any(|unit| soc.starts_with(unit))
}

/// Whether a command is for the operator: it names it, or all, or none.
fn is_for(words: &[(usize, &str)], kind: &str) -> bool {
    let plain = |word: &str| word.chars().filter(|letter| *letter != '_').collect::<String>().to_ascii_lowercase();
    let names = words.iter().map(|(_, word)| *word).filter(|word| {
        let kind_like = word.starts_with(|letter: char| letter.is_ascii_uppercase())
            && word.contains(|letter: char| letter.is_ascii_lowercase())
            && word.chars().all(|letter| letter.is_ascii_alphanumeric());
        kind_like && *word != "Release" && *word != "Debug"
    });
    let names: Vec<&str> = names.collect();
    names.is_empty() || names.iter().any(|name| plain(name) == plain(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operator_all_of_them_or_nobody_in_particular() {
        for (text, line) in [
            (
                "add_ops_compile_options(\n  OP_NAME ScaleCustom\n  OPTIONS --cce-auto-sync=off\n          -Werror\n)\n",
                Some(3),
            ),
            ("add_ops_compile_options(ALL OPTIONS -g --cce-auto-sync=off)", Some(1)),
            ("npu_op_kernel_options(kernels ScaleCustom OPTIONS --cce-auto-sync=off)", Some(1)),
            ("npu_op_kernel_options(kernels Other OPTIONS --cce-auto-sync=off)", None),
            ("set(FLAGS \"--cce-auto-sync=off\")", Some(1)),
            ("ascendc_compile_options(k PRIVATE\n\n -cce-auto-sync=off)", Some(3)),
            ("add_kernel_sources(KERNEL_SRC scale.cpp AUTO_SYNC false)", Some(1)),
            ("add_kernel_sources(KERNEL_SRC scale.cpp AUTO_SYNC true)", None),
            ("add_ops_compile_options(ALL OPTIONS --cce-auto-sync=on)", None),
            ("# add_ops_compile_options(ALL OPTIONS --cce-auto-sync=off)\n", None),
            ("target_compile_options(t PRIVATE $<BUILD_INTERFACE:-g> --cce-auto-sync=off)", Some(1)),
        ] {
            assert_eq!(line_that_switches_off(text, "ScaleCustom", "Ascend910B2"), line, "{text}");
        }
    }

    #[test]
    fn what_is_said_of_another_chip_does_not_count() {
        let text = "add_kernel_sources(\n  COMPUTE_UNITS ascend910b ascend910_93\n)\nadd_kernel_sources(\n  KERNEL_SRC arch35/scale.cpp\n  \
                    COMPUTE_UNITS ascend950\n  AUTO_SYNC false\n)\n";
        let line = |soc| line_that_switches_off(text, "ScaleCustom", soc);
        assert_eq!([line("Ascend910B2"), line("Ascend910_9381"), line("Ascend950")], [None, None, Some(7)]);
        let both = "add_kernel_sources(COMPUTE_UNITS \"ascend910b;ascend950\" AUTO_SYNC false)";
        assert_eq!(line_that_switches_off(both, "ScaleCustom", "Ascend910B2"), Some(1));
        assert_eq!(line_that_switches_off(both, "ScaleCustom", "Ascend910_9381"), None);
    }
}
