//! Why a run can have nothing to rewrite: the kernel's work lies in headers that it does not edit.

use events::{Event, Warning};
use source::SourceTree;

/// Names of headers that a message gives.
const MOST_NAMED: usize = 3;
/// What moves a kernel's data. Code without any of it has little that could be rewritten.
const MOVES_DATA: [&str; 3] = ["DataCopy", "copy_gm_to_ubuf", "IterateAll"];

/// The warning where only the files that are included beside the sources move data, and none of these itself. `may_be_listed` says
/// which of them the manifest could name.
pub(super) fn nothing_to_rewrite(
    sources: &SourceTree,
    beside: &SourceTree,
    may_be_listed: impl Fn(&str) -> bool,
) -> Option<Event> {
    let moves = |text: &str| MOVES_DATA.iter().map(|word| text.matches(word).count()).sum::<usize>();
    if sources.iter().any(|(_, text)| moves(text) > 0) {
        return None;
    }
    let mut headers: Vec<(&str, usize)> = beside.iter().map(|(file, text)| (file, moves(text))).collect();
    headers.retain(|(_, moves)| *moves > 0);
    headers.sort_by_key(|(_, moves)| std::cmp::Reverse(*moves));
    let names: Vec<&str> = headers.into_iter().map(|(file, _)| file).collect();
    if names.is_empty() {
        return None;
    }
    let message = format!(
        "there was nothing to rewrite: what moves the kernel's data lies in files that are not among the `sources` of ascend.toml, and \
         a run edits no others: {}",
        listed(&names)
    );
    Some(Event::Warning(Warning {
        code: "kernel-left-alone".to_owned(),
        message,
        help: Some(help(&names, may_be_listed)),
    }))
}

/// What the user can do about it.
fn help(names: &[&str], may_be_listed: impl Fn(&str) -> bool) -> String {
    let (own, others): (Vec<&str>, Vec<&str>) = names.iter().copied().partition(|name| may_be_listed(name));
    if others.is_empty() {
        return format!(
            "add {} to `sources`, if no other operator includes {}",
            listed(&own),
            if own.len() == 1 { "it" } else { "them" }
        );
    }
    "other operators may include them too, and only files below op_host/ and op_kernel/ of the operator can be `sources`: to tune this \
     one apart from the others, copy what it needs into its op_kernel/, include the copies, and write `sources` anew with \
     `cargo ascend-tune init --force`"
        .to_owned()
}

fn listed(names: &[&str]) -> String {
    let named = names.iter().take(MOST_NAMED).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> SourceTree {
        files.iter().copied().collect()
    }

    fn told(sources: &SourceTree, beside: &SourceTree) -> Option<(String, String)> {
        let event = nothing_to_rewrite(sources, beside, |file| !file.starts_with("../"))?;
        let Event::Warning(warning) = event else { panic!("a warning") };
        Some((warning.message, warning.help.unwrap_or_default()))
    }

    #[test]
    fn headers_that_do_the_work_are_named() {
        let entry = tree(&[("op_kernel/sinh.cpp", "#include \"foreach.h\"\nvoid sinh() { Run(); }")]);
        let copies = "DataCopy(x, xGm, n);";
        let twice = copies.repeat(2);
        let beside = tree(&[
            ("../common/a.h", copies),
            ("../common/b.h", &twice),
            ("../common/c.h", copies),
            ("../common/d.h", copies),
            ("../common/tiling.h", "struct Tiling {};"),
        ]);
        let (message, help) = told(&entry, &beside).expect("a reason");
        assert!(message.ends_with(": ../common/b.h, ../common/a.h, ../common/c.h and 1 more"), "{message}");
        assert!(help.contains("init --force"), "{help}");
        let own = tree(&[("op_kernel/body.h", copies)]);
        let (_, help) = told(&entry, &own).expect("a reason");
        assert_eq!(help, "add op_kernel/body.h to `sources`, if no other operator includes it");
        let alone = tree(&[("op_kernel/sinh.cpp", copies)]);
        assert_eq!(told(&alone, &beside), None, "there is something of its own");
        assert_eq!(told(&entry, &tree(&[("../common/tiling.h", "struct Tiling {};")])), None);
    }
}
