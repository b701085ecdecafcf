//! Tunables of code that no case runs. Whatever value they had, no evaluation would be another, and nothing would verify it.

use std::collections::BTreeMap;

use events::{Event, Warning};
use motif::Coverage;
use source::SourceTree;
use source::tunable::realize;
use space::{SearchSpace, Tunable, domain_values};

/// Names in one sentence; there may be one for every variant of a kernel.
const NAMED: usize = 4;

/// Names of the tunables of a space whose other values change nothing but what no case runs, by what that is.
pub(super) fn unreached(
    space: &SearchSpace,
    sources: &SourceTree,
    coverage: &Coverage,
) -> BTreeMap<String, Vec<String>> {
    let mut unreached: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for tunable in space.tunables() {
        if let Some(what) = other_values(tunable, sources).and_then(|changed| coverage.silent_change(sources, &changed))
        {
            unreached.entry(what).or_default().push(tunable.name.clone());
        }
    }
    unreached
}

/// The sources with another value of a tunable than they have; `None` where no value changes them.
fn other_values(tunable: &Tunable, sources: &SourceTree) -> Option<SourceTree> {
    let others = domain_values(tunable).ok()?.into_iter().filter(|value| Some(value) != tunable.default.as_ref());
    let mut changed = others.filter_map(|value| {
        let patch = realize(sources, &[(tunable.clone(), value)]).ok()?;
        sources.apply(&patch).ok().filter(|changed| changed != sources)
    });
    changed.next()
}

/// What is said of them.
pub(super) fn not_searched(unreached: &BTreeMap<String, Vec<String>>) -> Option<Event> {
    let names: Vec<&str> = unreached.values().flatten().map(String::as_str).collect();
    let what = unreached.keys().next()?;
    let and_more = |all: usize, named: usize| match all.saturating_sub(named) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!(
        "no case runs {what}{}: {}{} {}",
        and_more(unreached.len(), 1),
        names[..names.len().min(NAMED)].join(", "),
        and_more(names.len(), NAMED),
        if names.len() == 1 { "stays as it is" } else { "stay as they are" },
    );
    let help = "a case that runs it (another dtype, shape or tiling key) makes them worth searching";
    Some(Event::Warning(Warning { code: "not-searched".to_owned(), message, help: Some(help.to_owned()) }))
}

#[cfg(test)]
mod tests {
    use motif::VisitedLines;
    use source::parse::SyntaxForest;
    use space::{Binding, Domain, Value};

    use super::*;

    const KERNEL: &str = "\
class First {
    __aicore__ inline void Init()
    {
        pipe.InitBuffer(queueFirst, 1, 256);
        AscendC::DataCopy(x, y, 64);
    }
};
class Second {
    __aicore__ inline void Init()
    {
        pipe.InitBuffer(queueSecond, 1, 256);
        AscendC::Muls(x, y, 2.0f, 64);
    }
};
";

    fn depth_of(queue: &str) -> Tunable {
        let (file, call) = ("k.h".to_owned(), "InitBuffer".to_owned());
        Tunable {
            name: queue.to_owned(),
            domain: Domain::Range { min: 1, max: 2, step: 1 },
            default: Some(Value::Int(1)),
            binding: Binding::Argument { file, call, first: queue.to_owned(), index: 1 },
            reason: String::new(),
            when: None,
        }
    }

    #[test]
    fn queues_of_a_class_that_no_case_runs_are_told_from_others() {
        let mut sources = SourceTree::new();
        sources.insert("k.h", KERNEL);
        let space = SearchSpace::new(&[depth_of("queueFirst"), depth_of("queueSecond")], &[], &[]).unwrap();
        let ran: VisitedLines = [(("k.h".to_owned(), 5), 1)].into();
        let of = |visited: &VisitedLines| {
            unreached(&space, &sources, &Coverage::of(&SyntaxForest::parse(&sources), visited))
        };
        let found: Vec<Vec<String>> = of(&ran).into_values().collect();
        assert_eq!(found, [["queueSecond"]]);
        assert!(of(&VisitedLines::default()).is_empty(), "nothing is known without a run");
    }

    #[test]
    fn what_is_not_searched_is_said_in_one_sentence() {
        let of = |what: &str, names: &[&str]| (what.to_owned(), names.iter().map(|name| (*name).to_owned()).collect());
        let said = |unreached: &[(String, Vec<String>)]| match not_searched(&unreached.iter().cloned().collect()) {
            Some(Event::Warning(warning)) => warning.message,
            other => format!("{other:?}"),
        };
        assert_eq!(said(&[]), "None");
        assert_eq!(said(&[of("A", &["depth"])]), "no case runs A: depth stays as it is");
        let two = [of("A", &["a", "b", "c"]), of("B", &["d", "e"])];
        assert_eq!(said(&two), "no case runs A and 1 more: a, b, c, d and 1 more stay as they are");
    }
}
