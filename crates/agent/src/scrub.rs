//! What leaves the machine, or stays in a file, without what nobody else is to know: folders of this machine, and the key.

/// A secret that no message shows: neither `{}` nor `{:?}` prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key; `None` for an empty one.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// The header that carries it.
    pub(super) fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// A text without it: servers like to repeat a key that they refuse.
    pub fn scrubbed(&self, text: &str) -> String {
        text.replace(&self.0, "[key]")
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Key(..)")
    }
}

/// A message without the folders of absolute paths: `/home/me/op/k.h:3: error` is `k.h:3: error`. What is no path, such as `a / b` or
/// `//`, stays.
pub fn without_folders(message: &str) -> String {
    let mut result = String::with_capacity(message.len());
    let mut rest = message;
    let part = |letter: char| letter.is_alphanumeric() || matches!(letter, '/' | '.' | '_' | '-' | '+' | '~' | '@');
    while let Some(at) = rest.find('/') {
        let (before, path) = rest.split_at(at);
        result.push_str(before);
        // Behind a letter it goes on with a relative path, or is a division.
        let begins = !result.chars().next_back().is_some_and(part);
        let end = path.find(|letter: char| !part(letter)).unwrap_or(path.len());
        let (path, behind) = path.split_at(end);
        let is_path = begins && path.trim_matches('/').contains('/') && !path.starts_with("//");
        result.push_str(if is_path { path.trim_end_matches('/').rsplit('/').next().unwrap_or_default() } else { path });
        rest = behind;
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_this_machine_go_and_everything_else_stays() {
        let message = "In /tmp/a-1/op_kernel/k.h:3:5: error: (/home/me/x.h) a / b, op_kernel/k.h, // and n/2 of /dev";
        let expected = "In k.h:3:5: error: (x.h) a / b, op_kernel/k.h, // and n/2 of /dev";
        assert_eq!(without_folders(message), expected);
        assert_eq!(without_folders("include \"/opt/cann/include/\""), "include \"include\"");
    }

    #[test]
    fn a_key_is_not_shown() {
        let key = Key::new(" sk-123\n").unwrap();
        assert_eq!(format!("{key:?}"), "Key(..)");
        assert_eq!(key.scrubbed("Incorrect key sk-123."), "Incorrect key [key].");
        assert_eq!(Key::new(" "), None);
    }
}
