//! Where places of a candidate are in the baseline: by line, and where lines were moved or broken elsewhere, by statement.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use backend::Place;
use source::SourceTree;
use source::parse::{SyntaxFile, SyntaxForest, statements};

/// A place of a candidate as lines of the baseline.
pub(super) struct Origin {
    file: String,
    lines: RangeInclusive<u32>,
    /// Whether it is a line that only others were put around, not a statement that was moved.
    pub by_line: bool,
}

impl Origin {
    fn line(place: &Place) -> Self {
        Self { file: place.file.clone(), lines: place.line..=place.line, by_line: true }
    }

    /// Whether it is this place of the baseline.
    pub fn has(&self, place: &Place) -> bool {
        self.file == place.file && self.lines.contains(&place.line)
    }
}

/// Places of a candidate as places of the baseline.
pub(super) struct Origins<'trees> {
    before: &'trees SourceTree,
    after: &'trees SourceTree,
    files: BTreeMap<String, FileOrigins>,
    /// Both trees parsed, where a line is no longer what it was.
    forests: OnceCell<(SyntaxForest, SyntaxForest)>,
}

/// What is known of a file.
struct FileOrigins {
    /// The baseline's line, from 1, of each of the candidate's lines.
    lines: Vec<Option<u32>>,
    /// Lines of statements that were moved, candidate's and baseline's; `None` until somebody asks.
    statements: Option<Vec<(RangeInclusive<u32>, RangeInclusive<u32>)>>,
}

impl<'trees> Origins<'trees> {
    pub fn new(before: &'trees SourceTree, after: &'trees SourceTree) -> Self {
        Self { before, after, files: BTreeMap::new(), forests: OnceCell::new() }
    }

    /// Where a place of the candidate is in the baseline; `None` for what the candidate has added.
    pub fn of(&mut self, place: &Place) -> Option<Origin> {
        let (Some(before), Some(after)) = (self.before.text(&place.file), self.after.text(&place.file)) else {
            // Nobody edits what is outside of the tree.
            let outside = self.before.text(&place.file).is_none() && self.after.text(&place.file).is_none();
            return outside.then(|| Origin::line(place));
        };
        if before == after || place.line == 0 {
            return Some(Origin::line(place));
        }
        let fresh = || FileOrigins { lines: line_map(before, after), statements: None };
        let known = self.files.entry(place.file.clone()).or_insert_with(fresh);
        if let Some(line) = *known.lines.get(place.line as usize - 1)? {
            return Some(Origin::line(&Place { file: place.file.clone(), line }));
        }
        let forests = &self.forests;
        let pairs = known.statements.get_or_insert_with(|| {
            let (old, new) =
                forests.get_or_init(|| (SyntaxForest::parse(self.before), SyntaxForest::parse(self.after)));
            let files = old.get(&place.file).zip(new.get(&place.file));
            files.map_or_else(Vec::new, |(old, new)| paired(&spots(old), &spots(new), &known.lines))
        });
        // Two statements in one line cannot be told apart.
        let mut here = pairs.iter().filter(|(new, _)| new.contains(&place.line));
        let (_, lines) = here.next().filter(|_| here.next().is_none())?;
        Some(Origin { file: place.file.clone(), lines: lines.clone(), by_line: false })
    }
}

/// For each line of `after` the line of `before`, from 1, that it is.
fn line_map(before: &str, after: &str) -> Vec<Option<u32>> {
    let skeletons = |text: &str| text.lines().map(skeleton).collect::<Vec<_>>();
    let (old, new) = (skeletons(before), skeletons(after));
    let mut map = vec![None; new.len()];
    let old: Vec<&str> = old.iter().map(String::as_str).collect();
    let new: Vec<&str> = new.iter().map(String::as_str).collect();
    for run in source::lines::anchored_runs(&old, &new).into_iter().filter(|run| run.same) {
        for (old, new) in run.old.zip(run.new) {
            map[new] = u32::try_from(old + 1).ok();
        }
    }
    map
}

/// A statement as it is compared.
struct Spot {
    lines: RangeInclusive<u32>,
    /// What heads the blocks around it.
    within: Vec<String>,
    text: String,
}

/// The statements of a file that share no line with another, in blocks that no other block is headed like.
fn spots(file: &SyntaxFile) -> Vec<Spot> {
    let line = |byte: usize| u32::try_from(file.line(byte)).unwrap_or(u32::MAX);
    let all = statements(file);
    let spots = all.iter().map(|statement| Spot {
        lines: line(statement.span.start)..=line(statement.span.end.saturating_sub(1)),
        within: statement.within.iter().map(|head| skeleton(head)).collect(),
        text: skeleton(file.slice(&statement.span)),
    });
    let spots: Vec<Spot> = spots.collect();
    let mut blocks: BTreeMap<Vec<String>, BTreeSet<usize>> = BTreeMap::new();
    for (spot, statement) in spots.iter().zip(&all) {
        blocks.entry(spot.within.clone()).or_default().insert(statement.block);
    }
    let mut on_line: BTreeMap<u32, usize> = BTreeMap::new();
    for line in spots.iter().flat_map(|spot| spot.lines.clone()) {
        *on_line.entry(line).or_default() += 1;
    }
    let is_alone = |spot: &Spot| spot.lines.clone().all(|line| on_line[&line] == 1) && blocks[&spot.within].len() == 1;
    spots.into_iter().filter(is_alone).collect()
}

/// Lines of statements that changed their place within their block, or their lines, the candidate's and the baseline's. Each is one
/// of each: where two could be meant, none is.
fn paired(old: &[Spot], new: &[Spot], lines: &[Option<u32>]) -> Vec<(RangeInclusive<u32>, RangeInclusive<u32>)> {
    let origin = |line: u32| lines.get(line as usize - 1).copied().flatten();
    let kept: BTreeMap<u32, u32> = (1..).zip(lines).filter_map(|(line, origin)| Some(((*origin)?, line))).collect();
    // Lines of one that are known may be known as the other's only.
    let fits = |old: &Spot, new: &Spot| {
        old.within == new.within
            && new.lines.clone().filter_map(origin).all(|line| old.lines.contains(&line))
            && old.lines.clone().filter_map(|line| kept.get(&line)).all(|line| new.lines.contains(line))
    };
    let open_new: Vec<usize> = open(new, |line| origin(line).is_some());
    let open_old: Vec<usize> = open(old, |line| kept.contains_key(&line));
    let pair = |at_new: usize| {
        let is =
            |at_old: usize, at_new: usize| old[at_old].text == new[at_new].text && fits(&old[at_old], &new[at_new]);
        let at_old = only(open_old.iter().copied().filter(|at| is(*at, at_new)))?;
        only(open_new.iter().filter(|at| is(at_old, **at)))?;
        Some((new[at_new].lines.clone(), old[at_old].lines.clone()))
    };
    open_new.iter().filter_map(|at| pair(*at)).collect()
}

/// Statements of which a line is not known.
fn open(spots: &[Spot], is_known: impl Fn(u32) -> bool) -> Vec<usize> {
    let is_open = |at: &usize| !spots[*at].lines.clone().all(&is_known);
    (0..spots.len()).filter(is_open).collect()
}

/// The one item, where there is just one.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

/// A line without blanks, with its numbers, and the calls that read them at run time, made equal: a place with another value is
/// the same place. Nor does it count whether an object is held or pointed to.
fn skeleton(line: &str) -> String {
    const KNOB: &str = "ascend_tune_knob(";
    let mut skeleton = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(next) = rest.chars().next() {
        let in_name = skeleton.ends_with(|before: char| before.is_ascii_alphanumeric() || before == '_');
        if next.is_ascii_digit() && !in_name {
            let digit = |at: char| at.is_ascii_alphanumeric() || at == '\'' || at == '.';
            rest = rest.trim_start_matches(digit);
            skeleton.push('#');
        } else if let Some(call) = rest.strip_prefix(KNOB).filter(|_| !in_name) {
            rest = call.split_once(')').map_or("", |(_, rest)| rest);
            skeleton.push('#');
        } else {
            if !next.is_whitespace() {
                skeleton.push(next);
            }
            rest = &rest[next.len_utf8()..];
        }
    }
    skeleton.replace("static_cast<decltype(#)>(#)", "#").replace("->", ".")
}
