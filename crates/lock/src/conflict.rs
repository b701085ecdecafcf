//! Marks that a merge leaves in a file.

/// A file with both sides of a merge in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Conflict {
    /// Line of the first mark, from 1.
    pub(super) line: usize,
    /// What the side that was there is called.
    pub(super) ours: String,
    /// What the side that came in is called.
    pub(super) theirs: String,
}

impl Conflict {
    /// The conflict in a text; `None` where there is none.
    pub(super) fn of(text: &str) -> Option<Self> {
        let named = |mark: &str, unnamed: &str| {
            let name = text.lines().find_map(|line| line.strip_prefix(mark)).map(str::trim).unwrap_or_default();
            if name.is_empty() { unnamed.to_owned() } else { name.to_owned() }
        };
        let line = text.lines().position(|line| line.starts_with(OURS))? + 1;
        Some(Self { line, ours: named(OURS, "ours"), theirs: named(THEIRS, "theirs") })
    }
}

const OURS: &str = "<<<<<<<";
const BASE: &str = "|||||||";
const BETWEEN: &str = "=======";
const THEIRS: &str = ">>>>>>>";

/// The sides of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The one that was there.
    Ours,
    /// The one that came in.
    Theirs,
}

/// The text with every conflict decided for one side. A text without conflicts stays as it is.
pub fn decided_for(side: Side, text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut inside: Option<bool> = None;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end();
        match inside {
            None if line.starts_with(OURS) => inside = Some(side == Side::Ours),
            Some(_) if line.starts_with(BASE) => inside = Some(false),
            Some(_) if content == BETWEEN => inside = Some(side == Side::Theirs),
            Some(_) if line.starts_with(THEIRS) => inside = None,
            Some(false) => {}
            _ => kept.push_str(line),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_notations_of_git_are_known() {
        let merge = "a = 1\n<<<<<<< HEAD\nb = 1\n=======\nb = 2\n>>>>>>> faster\nc = 3\n";
        let with_base = "a = 1\n<<<<<<< HEAD\nb = 1\n||||||| 1a2b3c\nb = 0\n=======\nb = 2\n>>>>>>> faster\nc = 3\n";
        for text in [merge, with_base] {
            let conflict = Conflict::of(text).unwrap();
            assert_eq!((conflict.line, conflict.ours.as_str(), conflict.theirs.as_str()), (2, "HEAD", "faster"));
            assert_eq!(decided_for(Side::Ours, text), "a = 1\nb = 1\nc = 3\n");
            assert_eq!(decided_for(Side::Theirs, text), "a = 1\nb = 2\nc = 3\n");
        }
        assert_eq!(Conflict::of("a = 1\n"), None);
        assert_eq!(decided_for(Side::Ours, "a = 1\n"), "a = 1\n");
        assert_eq!(Conflict::of("<<<<<<<\n").unwrap().ours, "ours");
    }
}
