//! The kernel code that an operator's entries reach through quoted includes, in the source tree or in the flattened tree
//! that its repository builds from, and what that code says about the cores it needs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use events::survey::Class;
use source::arch::TARGET;
use source::lex::{TokenKind, tokens};

/// Kernel folders of a repository by the name that they have after flattening: the operator's directory.
pub type KernelFolders = BTreeMap<String, PathBuf>;

/// Names that only code for cube cores calls, and macros that ask for such cores.
const CUBE_NAMES: [&str; 14] = [
    "REGIST_MATMUL_OBJ",
    "MatmulImpl",
    "Matmul",
    "Mmad",
    "LoadData",
    "Fixpipe",
    "KERNEL_TYPE_MIX_AIC_1_1",
    "KERNEL_TYPE_MIX_AIC_1_2",
    "KERNEL_TYPE_MIX_AIC_1_0",
    "KERNEL_TYPE_AIC_ONLY",
    "BatchMatmul",
    "MatmulWithScale",
    "LoadDataWithTranspose",
    "__mix__",
];

/// Files reached from the entries, the entries included.
pub fn reached(entries: &[PathBuf], kernel_folder: &Path, folders: &KernelFolders) -> Vec<(PathBuf, String)> {
    let mut seen = BTreeSet::new();
    let mut queue: Vec<PathBuf> = entries.to_vec();
    let mut result = Vec::new();
    while let Some(file) = queue.pop() {
        let Ok(file) = file.canonicalize() else { continue };
        if !seen.insert(file.clone()) || is_foreign(&file) {
            continue;
        }
        let Ok(bytes) = std::fs::read(&file) else { continue };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let folder = file.parent().unwrap_or(kernel_folder).to_owned();
        for name in includes(&text) {
            let near = [folder.join(name), kernel_folder.join(name)];
            match near.iter().find(|path| path.is_file()) {
                Some(path) => queue.push(path.clone()),
                None => queue.extend(flattened(name, folders)),
            }
        }
        result.push((file, text));
    }
    result
}

/// Which cores the reached code needs.
pub fn class(files: &[(PathBuf, String)]) -> Class {
    let cube = files.iter().any(|(_, text)| needs_cube(text));
    if cube { Class::Mix } else { Class::Vector }
}

fn needs_cube(text: &str) -> bool {
    if text.contains("catlass") {
        return true;
    }
    if !CUBE_NAMES.iter().any(|name| text.contains(name)) {
        return false;
    }
    let all = tokens(text);
    all.iter().enumerate().any(|(index, token)| {
        if token.kind != TokenKind::Identifier || !CUBE_NAMES.contains(&token.text(text)) {
            return false;
        }
        let word = token.text(text);
        let next = all.get(index + 1).map(|next| next.text(text)).unwrap_or_default();
        let previous = index.checked_sub(1).map(|at| all[at].text(text)).unwrap_or_default();
        // `Matmul` is also a common word; as a template it is the object. A function of somebody's own may be called
        // like an instruction, but is then reached through an object.
        let called = matches!(next, "(" | "<") && !matches!(previous, "." | "void" | "class" | "struct");
        word.starts_with("KERNEL_TYPE") || matches!(word, "REGIST_MATMUL_OBJ" | "__mix__") || called
    })
}

/// Names in `#include "..."`.
fn includes(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
        rest.strip_prefix('"')?.split('"').next()
    })
}

/// `../other/x.h` as the flattened tree has it.
fn flattened(name: &str, folders: &KernelFolders) -> Option<PathBuf> {
    let name = name.trim_start_matches("./");
    let inside = name.strip_prefix("../")?.trim_start_matches("../");
    let (operator, rest) = inside.split_once('/')?;
    let folder = folders.get(operator)?;
    [folder.join(rest), folder.join(rest.trim_start_matches("op_kernel/"))].into_iter().find(|path| path.is_file())
}

/// Code for another chip family, by the last folders of its path: what lies above them was not named by the operator's authors.
pub fn is_foreign(file: &Path) -> bool {
    let parts: Vec<_> = file.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    TARGET.is_foreign(&parts[parts.len().saturating_sub(4)..].join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_code_is_told_from_words() {
        for (text, cube) in [
            ("Matmul<A, B, C> mm;", true),
            ("// Matmul<A>\nint x;", false),
            ("AscendC::Mmad(c, a, b, p);", true),
            ("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);", true),
            ("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);", false),
            ("this.LoadData(x); class K { void LoadData(int x); };", false),
        ] {
            assert_eq!(needs_cube(text), cube, "{text}");
        }
    }
}
