//! Headers that only forward to another one. The SDK's tree has a table of them in place of a file for each name under which
//! kernels and host code find one header; the files are written where the tree is unpacked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use serde::Deserialize;
use toml::Spanned;

/// The table's path in the SDK's tree.
pub(crate) const TABLE: &str = "forwards.toml";

/// The folder that every compilation looks for headers in.
const SEARCHED: &str = "include";

/// What is wrong with the table of forwarding headers.
#[derive(Debug, thiserror::Error)]
pub enum ForwardsError {
    /// It is no TOML, or has other keys than a table of forwards.
    #[error("sdk/{TABLE}: {message}")]
    Syntax {
        /// What the reader of TOML says, with line and column.
        message: String,
    },
    /// A name that does not stay in its folder.
    #[error("sdk/{TABLE}:{line}: `{name}` is no plain path; write the path inside the section's folder, with `/`")]
    Path {
        /// Line of the name.
        line: usize,
        /// The name.
        name: String,
    },
    /// A target that nobody wrote.
    #[error("sdk/{TABLE}:{line}: there is no `{target}` to forward to; name a header that is a file of the tree")]
    NoTarget {
        /// Line of the target.
        line: usize,
        /// The target's path in the tree.
        target: String,
    },
    /// A name that a file of the tree has.
    #[error("sdk/{TABLE}:{line}: `{name}` is a file of the tree too; remove the one or the other")]
    AlsoFile {
        /// Line of the name.
        line: usize,
        /// The name's path in the tree.
        name: String,
    },
    /// A name that forwards twice.
    #[error("sdk/{TABLE}:{line}: `{name}` forwards already; a header forwards to one other")]
    Twice {
        /// Line of the second mention.
        line: usize,
        /// The name's path in the tree.
        name: String,
    },
}

type Names = BTreeMap<Spanned<String>, Vec<Spanned<String>>>;

/// The forwarding headers of one folder, by how they name their targets.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    /// As below `include/`: the compiler looks for the target, so a project's or a toolkit's header of its name comes first.
    #[serde(default)]
    by_name: Names,
    /// By the way inside the folder, which leads to this SDK's own header.
    #[serde(default)]
    by_place: Names,
}

/// A header to be written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Forward {
    /// Its path in the SDK's tree.
    pub path: String,
    /// The path of the header that it leads to.
    pub target: String,
    /// Its text.
    pub text: String,
}

/// The headers that a table describes, in the order of its folders and targets. `files` are the paths of the tree.
pub(crate) fn forwards(table: &str, files: &BTreeSet<&str>) -> Result<Vec<Forward>, ForwardsError> {
    let sections: BTreeMap<Spanned<String>, Section> =
        toml::from_str(table).map_err(|error| ForwardsError::Syntax { message: error.to_string() })?;
    let line = |name: &Spanned<String>| table[..name.span().start].matches('\n').count() + 1;
    let mut result = Vec::new();
    let mut seen = BTreeSet::new();
    for (folder, section) in &sections {
        if !is_plain(folder.get_ref()) {
            return Err(ForwardsError::Path { line: line(folder), name: folder.get_ref().clone() });
        }
        let folder = folder.get_ref();
        for (names, is_by_name) in [(&section.by_name, true), (&section.by_place, false)] {
            for (target, forwarding) in names {
                for name in std::iter::once(target).chain(forwarding) {
                    if !is_plain(name.get_ref()) {
                        return Err(ForwardsError::Path { line: line(name), name: name.get_ref().clone() });
                    }
                }
                let target_path = format!("{}/{}", if is_by_name { SEARCHED } else { folder }, target.get_ref());
                if !files.contains(target_path.as_str()) {
                    return Err(ForwardsError::NoTarget { line: line(target), target: target_path });
                }
                for name in forwarding {
                    let path = format!("{folder}/{}", name.get_ref());
                    if files.contains(path.as_str()) {
                        return Err(ForwardsError::AlsoFile { line: line(name), name: path });
                    }
                    if !seen.insert(path.clone()) {
                        return Err(ForwardsError::Twice { line: line(name), name: path });
                    }
                    let include =
                        if is_by_name { target.get_ref().clone() } else { way(name.get_ref(), target.get_ref()) };
                    let text = format!(
                        "// Generated from {TABLE}: forwards to {target_path}.\n#pragma once\n#include \"{include}\"\n"
                    );
                    result.push(Forward { path, target: target_path.clone(), text });
                }
            }
        }
    }
    Ok(result)
}

/// Whether a name is a path that goes down only, spelt in the one way by which names are compared.
fn is_plain(name: &str) -> bool {
    let parts: Vec<_> = Path::new(name).components().collect();
    let is_down = parts.iter().all(|part| matches!(part, Component::Normal(_)));
    is_down && !name.contains(['"', '\\', '\n']) && name.split('/').count() == parts.len()
}

/// The way from one file to another inside the same folder.
fn way(from: &str, to: &str) -> String {
    let (from, to): (Vec<&str>, Vec<&str>) = (from.split('/').collect(), to.split('/').collect());
    // The last part of either is a file.
    let folders = from.len().min(to.len()) - 1;
    let shared = from.iter().zip(&to).take(folders).take_while(|(one, other)| one == other).count();
    let up = std::iter::repeat_n("..", from.len() - 1 - shared);
    up.chain(to[shared..].iter().copied()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(table: &str) -> Result<Vec<Forward>, String> {
        let files = ["include/a/x.h", "include/a/b/y.h", "test/t.h"];
        forwards(table, &files.into_iter().collect()).map_err(|error| error.to_string())
    }

    #[test]
    fn targets_are_named_as_the_compiler_finds_them_or_by_the_way_there() {
        let made = made(
            "[include.by_name]\n\"a/x.h\" = [\"old/x.h\"]\n[include.by_place]\n\"a/b/y.h\" = [\"a/c/d/y.h\", \"a/b/z.h\", \"y.h\"]\n\
             [test.by_name]\n\"a/x.h\" = [\"x.h\"]\n[test.by_place]\n\"t.h\" = [\"ut/t.h\"]\n",
        )
        .unwrap();
        let lines: Vec<String> = made
            .iter()
            .map(|forward| format!("{} {}", forward.path, forward.text.lines().last().unwrap_or_default()))
            .collect();
        assert_eq!(
            lines,
            [
                "include/old/x.h #include \"a/x.h\"",
                "include/a/c/d/y.h #include \"../../b/y.h\"",
                "include/a/b/z.h #include \"y.h\"",
                "include/y.h #include \"a/b/y.h\"",
                "test/x.h #include \"a/x.h\"",
                "test/ut/t.h #include \"../t.h\"",
            ]
        );
        assert_eq!(
            made[0].text,
            "// Generated from forwards.toml: forwards to include/a/x.h.\n#pragma once\n#include \"a/x.h\"\n"
        );
    }

    #[test]
    fn a_table_that_cannot_be_followed_is_refused_with_its_line() {
        for (table, expected) in [
            ("[include.by_name]\n\"a/x.h\" = [\"../x.h\"]\n", "forwards.toml:2: `../x.h` is no plain path"),
            ("[include.by_name]\n\"a/x.h\" = [\n  \"b//x.h\"]\n", "forwards.toml:3: `b//x.h` is no plain path"),
            ("[\"../include\".by_name]\n", "forwards.toml:1: `../include` is no plain path"),
            ("[include.by_name]\n\"/x.h\" = []\n", "forwards.toml:2: `/x.h` is no plain path"),
            ("[include.by_name]\n\n\"a/z.h\" = [\"z.h\"]\n", "forwards.toml:3: there is no `include/a/z.h`"),
            // What a header of another folder is by place cannot be said.
            ("[test.by_place]\n\"a/x.h\" = [\"x.h\"]\n", "forwards.toml:2: there is no `test/a/x.h`"),
            // A forward is no target: the table says where a name leads in the end.
            ("[include.by_name]\n\"a/x.h\" = [\"x.h\"]\n\"x.h\" = [\"z.h\"]\n", "there is no `include/x.h`"),
            ("[include.by_name]\n\"a/x.h\" = [\"a/b/y.h\"]\n", "`include/a/b/y.h` is a file of the tree too"),
            (
                "[include.by_name]\n\"a/x.h\" = [\"x.h\"]\n[include.by_place]\n\"a/b/y.h\" = [\"x.h\"]\n",
                "forwards.toml:4: `include/x.h` forwards already",
            ),
            ("[include.by_names]\n", "unknown field `by_names`"),
            ("[include.by_name]\n\"a/x.h\" = [\"x.h\"\n", "line 2"),
        ] {
            let error = made(table).unwrap_err();
            assert!(error.starts_with("sdk/forwards.toml:") && error.contains(expected), "{table}\n{error}");
        }
    }
}
