//! Versions in whatever form a toolkit has them: kept as text, ordered only for "at least".

use std::cmp::Ordering;
use std::fmt;

/// A version as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version(pub String);

/// How far a version is from its release, by the words in use; a version with none of them is the release.
const STAGES: [(&str, u32); 3] = [("alpha", 0), ("beta", 1), ("rc", 2)];
const RELEASE: u32 = 3;

impl Version {
    /// Whether it is this one or a later one; `None` where one of the two has a form that cannot be ordered.
    pub fn at_least(&self, other: &str) -> Option<bool> {
        Some(rank(&self.0)?.cmp(&rank(other)?) != Ordering::Less)
    }

    /// For choosing among several: versions of unknown form come first.
    pub(crate) fn order(&self, other: &Version) -> Ordering {
        rank(&self.0).cmp(&rank(&other.0)).then_with(|| self.0.cmp(&other.0))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// `8.1.RC1` is `([8, 1, 0, 0, 0], 2, 1)`, `9.0.0-beta.2` is `([9, 0, 0, 0, 0], 1, 2)`.
fn rank(text: &str) -> Option<([u64; 5], u32, u64)> {
    let lower = text.trim().trim_start_matches(['v', 'V']).to_ascii_lowercase();
    let (numbers, stage, rest) = match STAGES.iter().find_map(|(word, stage)| Some((lower.find(word)?, *word, *stage)))
    {
        Some((at, word, stage)) => (&lower[..at], stage, &lower[at + word.len()..]),
        None => (lower.as_str(), RELEASE, ""),
    };
    let mut parts = [0; 5];
    let mut seen = false;
    for (place, word) in numbers.split(['.', '-', '_']).filter(|word| !word.is_empty()).enumerate() {
        let number = word.parse().ok()?;
        if let Some(part) = parts.get_mut(place) {
            (*part, seen) = (number, true);
        }
    }
    let digits: String =
        rest.chars().skip_while(|one| !one.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    seen.then(|| (parts, stage, digits.parse().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn forms_mix() {
        let ordered = [
            "7.0.0",
            "8.0.0.alpha001",
            "8.0.RC3",
            "8.0.0",
            "8.1.RC1",
            "8.1.RC2",
            "8.3.RC2",
            "8.5.0",
            "9.0.0-beta.2",
            "9.0.0-beta.10",
            "9.0.0",
            "9.1.0-beta.3",
        ];
        for (at, low) in ordered.iter().enumerate() {
            for high in &ordered[at..] {
                assert_eq!(Version((*high).to_owned()).at_least(low), Some(true), "{high} {low}");
            }
            for high in &ordered[at + 1..] {
                assert_eq!(Version((*low).to_owned()).at_least(high), Some(false), "{low} {high}");
            }
        }
    }

    #[test]
    fn an_unknown_form_is_kept_and_not_ordered() {
        let odd = Version("master_20260101".to_owned());
        assert_eq!(odd.to_string(), "master_20260101");
        assert_eq!(odd.at_least("8.0"), None);
        assert_eq!(Version("V100R001C21SPC001B238".to_owned()).at_least("8.0"), None);
    }
}
