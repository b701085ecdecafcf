//! Sizes that cases stand for: `stands-for = { elements = [1, 65536] }`.

use std::ops::Range;

use super::finding::Finding;
use super::spanned::Spanned;

/// Sizes that a case stands for, in elements of the first input, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SizeRange {
    /// The least.
    pub least: u64,
    /// The most.
    pub most: u64,
}

/// The range as it is written.
pub(super) fn size_range(written: &Spanned<Vec<i64>>) -> Result<SizeRange, Finding> {
    let found = |message: String| {
        let help = "write [least, most], elements of the first input, from 1 on".to_owned();
        Finding { span: written.span(), message, help }
    };
    let numbers = written.get_ref();
    let [least, most] = numbers.as_slice() else { return Err(found(format!("`elements` is {numbers:?}"))) };
    match (u64::try_from(*least), u64::try_from(*most)) {
        (Ok(least), Ok(most)) if least > 0 && least <= most => Ok(SizeRange { least, most }),
        _ => Err(found(format!("there is no size from {least} to {most}"))),
    }
}

/// The ranges of the cases so far.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    known: Vec<(String, SizeRange)>,
}

impl Ranges {
    /// What is wrong with the range of one more case, which is written at `span`; `own` are the case's elements, where it has such.
    pub fn note(
        &mut self,
        (name, own, is_timed): (&str, Option<u64>, bool),
        range: SizeRange,
        span: Range<usize>,
    ) -> Option<Finding> {
        let found = |message: String, help: &str| Some(Finding { span: span.clone(), message, help: help.to_owned() });
        let Some(own) = own else {
            let message = format!("case `{name}` has no first input with a shape");
            return found(message, "delete `stands-for`: nothing tells its size");
        };
        if !is_timed {
            let help = "only what is timed stands for other sizes; delete one of the two";
            return found(format!("case `{name}` is `verify-only`"), help);
        }
        let SizeRange { least, most } = range;
        if !(least..=most).contains(&own) {
            let message = format!("case `{name}` has {own} elements, which is not from {least} to {most}");
            return found(message, "a case stands for its own size too");
        }
        let overlaps =
            |(_, other): &&(String, SizeRange)| *other != range && other.least <= most && least <= other.most;
        let other = self.known.iter().find(overlaps).cloned();
        self.known.push((name.to_owned(), range));
        let (other, SizeRange { least: from, most: to }) = other?;
        let message = format!("{least} to {most} overlaps with {from} to {to} of case `{other}`");
        found(message, "cases of one class have the same range, all others none in common")
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Manifest;
    use crate::testing::SMALLEST;

    /// A manifest with cases of these sizes, each with what else is written of it.
    fn manifest(cases: &[(u64, &str)]) -> Result<Manifest, String> {
        let case = |(size, more): &(u64, &str)| {
            let inputs = format!("inputs = [{{ name = \"x\", dtype = \"float32\", shape = [{size}] }}]");
            format!(
                "[[case]]\nname = \"of-{size}\"\n{more}\n{inputs}\noutputs = [{{ name = \"z\", dtype = \"float32\" }}]\n"
            )
        };
        let (head, _) = SMALLEST.split_once("[[case]]").expect("cases");
        let text = format!("{head}{}", cases.iter().map(case).collect::<String>());
        Manifest::parse(&text, Path::new("ascend.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_case_stands_for_sizes_around_its_own() {
        let read = manifest(&[(64, "stands-for = { elements = [1, 1024] }"), (4096, "")]).expect("right");
        assert_eq!(read.cases[0].stands_for, Some(SizeRange { least: 1, most: 1024 }));
        assert_eq!((read.cases[1].stands_for, read.cases[1].elements(), read.dispatch), (None, Some(4096), true));
    }

    #[test]
    fn wrong_ranges_are_told_with_their_place() {
        let first = |cases: &[(u64, &str)]| manifest(cases).expect_err("wrong");
        let line = SMALLEST.lines().position(|line| line == "[[case]]").expect("cases") + 3;
        for (written, says) in [
            ("[1024, 1]", "there is no size from 1024 to 1; write [least, most]"),
            ("[0, 1024]", "there is no size from 0 to 1024"),
            ("[-4, -1]", "there is no size from -4 to -1"),
            ("[64]", "`elements` is [64]; write [least, most]"),
            (
                "[65, 1024]",
                "case `of-64` has 64 elements, which is not from 65 to 1024; a case stands for its own size too",
            ),
        ] {
            let found = first(&[(64, &format!("stands-for = {{ elements = {written} }}"))]);
            assert!(found.contains(says), "{found}");
            assert!(found.starts_with(&format!("ascend.toml:{line}:27: ")), "{found}");
        }
        let found = first(&[(64, "stands-for = { elements = [\"small\", 4] }")]);
        assert!(found.contains("expected i64"), "{found}");
        let found = first(&[(64, "stands-for = { n = [1, 64] }")]);
        assert!(found.contains("unknown key `n` in [case.stands-for]; there are: elements"), "{found}");
        let found = first(&[(64, "verify-only = true\nstands-for = { elements = [1, 64] }"), (65, "")]);
        assert!(found.contains("case `of-64` is `verify-only`"), "{found}");
    }

    #[test]
    fn ranges_are_the_same_or_have_nothing_in_common() {
        let of = |second: &str| {
            manifest(&[
                (64, "stands-for = { elements = [1, 100] }"),
                (90, &format!("stands-for = {{ elements = {second} }}")),
            ])
        };
        assert!(of("[1, 100]").is_ok(), "two cases of one class");
        let found = of("[90, 200]").expect_err("overlaps");
        assert!(
            found.contains("90 to 200 overlaps with 1 to 100 of case `of-64`; cases of one class have the same range"),
            "{found}"
        );
        assert!(of("[80, 95]").is_err(), "inside");
    }
}
