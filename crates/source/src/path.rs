//! Paths as text, whatever lies on the disk.

use std::path::{Component, Path, PathBuf};

/// Path without `.` and `..`; links stay as they are.
pub fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if result.file_name().is_some() => {
                result.pop();
            }
            part => result.push(part),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_back_is_taken_out_where_there_is_something_to_leave() {
        let of = |path: &str| normal(Path::new(path)).display().to_string();
        assert_eq!(of("/a/./b/../c"), "/a/c");
        assert_eq!(of("a/../../b"), "../b");
        assert_eq!(of("./x"), "x");
    }
}
