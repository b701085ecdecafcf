//! What the cases run of a kernel, block by block. A change to anything else could be wrong without anybody noticing.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::context::block_runs::{Silent, silent_blocks};
use crate::context::visited::VisitedLines;
use source::lex::{PieceKind, pieces};
use source::lines::{lines, runs};
use source::parse::SyntaxForest;
use source::{Edit, SourceTree};

/// Blocks with instructions none of which ran, or of which nobody knows whether they ran.
///
/// A block is the body of a function, an arm of a branch or directive, the body of a loop, a case, or what follows an early
/// exit. An instruction in it, or in a block inside it, that left a line shows that it ran. Blocks without instructions say
/// nothing and go with what is around them. A block that only calls functions of the operator ran if one of them is called
/// nowhere else and ran, or ran more often than its other calls account for; it did not if none of them ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Blocks of each file that are not to be touched, in the text that stands in `sources`.
    silent: BTreeMap<String, Vec<Silent>>,
    /// The files that `silent` speaks of.
    sources: SourceTree,
    /// The same of the cases alone, where probes run more.
    of_cases: Option<Box<Coverage>>,
}

impl Coverage {
    /// From what ran of these sources. Where nothing is known to have run, nothing is known.
    pub fn of(forest: &SyntaxForest, visited: &VisitedLines) -> Self {
        let mut coverage = Self::default();
        if visited.is_empty() {
            return coverage;
        }
        for (file, silent) in silent_blocks(forest, visited).into_iter().filter(|(_, silent)| !silent.is_empty()) {
            coverage.sources.insert(file.name(), file.text());
            coverage.silent.insert(file.name().to_owned(), silent);
        }
        coverage
    }

    /// The same where other runs came through more lines than those of the cases.
    #[must_use]
    pub fn widened(self, forest: &SyntaxForest, visited: &VisitedLines) -> Self {
        Self { of_cases: Some(Box::new(self)), ..Self::of(forest, visited) }
    }

    /// What no case runs, as `file: name`, and as `file: what at line` for parts of functions.
    pub fn silent(&self) -> Vec<String> {
        let named = |(file, silent): (&String, &Vec<Silent>)| {
            silent.iter().map(|silent| format!("{file}: {}", silent.what)).collect::<Vec<_>>()
        };
        self.silent.iter().flat_map(named).collect()
    }

    /// Edits by which every block that nobody knows to have run leaves a line of its own where it does. They add no lines, and nothing
    /// that changes what the kernel computes: it is not fast by them.
    pub fn marks(&self) -> Vec<Edit> {
        let mut edits: Vec<Edit> = Vec::new();
        for (file, silent) in &self.silent {
            let text = self.sources.text(file).unwrap_or_default();
            for at in silent.iter().filter(|silent| !silent.certain).filter_map(|silent| first_statement(text, silent))
            {
                let mark = Edit { file: file.clone(), span: at..at, replacement: MARK.to_owned() };
                if !edits.contains(&mark) {
                    edits.push(mark);
                }
            }
        }
        edits
    }

    /// The same of what has become of the sources: what was left alone is where its lines are now.
    pub(crate) fn carried(&self, tree: &SourceTree) -> Self {
        let of_cases = self.of_cases.as_ref().map(|of_cases| Box::new(of_cases.carried(tree)));
        let mut carried = Self { of_cases, ..Self::default() };
        for (file, silent) in &self.silent {
            let (Some(old), Some(new)) = (self.sources.text(file), tree.text(file)) else { continue };
            let silent = if old == new { silent.clone() } else { moved(silent, old, new) };
            carried.sources.insert(file.as_str(), new);
            carried.silent.insert(file.clone(), silent);
        }
        carried
    }

    /// What no case runs, where all that differs between two versions of the sources lies in it for certain.
    pub fn silent_change(&self, before: &SourceTree, after: &SourceTree) -> Option<String> {
        let mut what = None;
        for (file, new) in after.iter() {
            let old = before.text(file)?;
            if old == new {
                continue;
            }
            let silent = self.silent.get(file).filter(|_| self.sources.text(file) == Some(old))?;
            let edit = Edit { file: file.to_owned(), span: 0..old.len(), replacement: new.to_owned() };
            for change in changed(old, &edit) {
                let holds = |silent: &&Silent| {
                    silent.certain && silent.span.start < change.start.max(1) && change.end <= silent.span.end
                };
                let block = silent.iter().find(holds)?;
                what.get_or_insert_with(|| block.what.clone());
            }
        }
        what
    }

    /// The same of a change that only the cases can vouch for.
    pub(crate) fn unverified_by_cases(&self, edit: &Edit) -> Option<String> {
        self.of_cases.as_deref().unwrap_or(self).unverified(edit)
    }

    /// Why a change would go unverified, if it would: it touches what no case runs, and no probe.
    pub(crate) fn unverified(&self, edit: &Edit) -> Option<String> {
        let silent = self.silent.get(&edit.file)?;
        let text = self.sources.text(&edit.file)?;
        let changes = changed(text, edit);
        // The outermost says most.
        let touched = silent.iter().find(|silent| changes.iter().any(|change| touches(&silent.span, change)))?;
        Some(if touched.certain {
            format!("no case runs {}: nothing would verify the change", touched.what)
        } else {
            format!("whether a case runs {} is not known: nothing may verify the change", touched.what)
        })
    }
}

/// An instruction of every core that does nothing where nothing is under way, and little elsewhere.
const MARK: &str = "::AscendC::PipeBarrier<PIPE_MTE2>(); ";

/// Where a statement may be put in front of those of a block; `None` where it would be another block's.
fn first_statement(text: &str, silent: &Silent) -> Option<usize> {
    let block = text.get(silent.span.clone())?;
    let tokens: Vec<_> = pieces(block).into_iter().filter(|token| token.kind != PieceKind::Comment).collect();
    let mut tokens = tokens.iter().skip_while(|token| &block[token.span.clone()] == "else");
    let first = tokens.next()?;
    if &block[first.span.clone()] == "{" {
        let inside = tokens.next().filter(|token| token.kind != PieceKind::Directive)?;
        return Some(silent.span.start + inside.span.start);
    }
    // What follows an early exit begins where a statement ends.
    let follows = first.span.start == 0 && text[..silent.span.start].trim_end().ends_with([';', '}']);
    let is_label = matches!(&block[first.span.clone()], "case" | "default");
    (follows && first.kind == PieceKind::Word && !is_label).then_some(silent.span.start)
}

/// Whether a change lies in a block; an insertion at its edges does not.
fn touches(block: &Range<usize>, change: &Range<usize>) -> bool {
    change.start < block.end
        && block.start < change.end.max(change.start + usize::from(change.is_empty()))
        && !(change.is_empty() && change.start <= block.start)
}

/// What an edit changes of a text but indentation: bytes of lines that are replaced or removed, and places of new lines.
fn changed(text: &str, edit: &Edit) -> Vec<Range<usize>> {
    let old = text.get(edit.span.clone()).unwrap_or_default();
    if !old.contains('\n') {
        return vec![edit.span.clone()];
    }
    let plain = |text: &str| text.split_inclusive('\n').map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    let lengths: Vec<usize> = old.split_inclusive('\n').map(str::len).collect();
    let starts: Vec<usize> = lengths
        .iter()
        .scan(edit.span.start, |at, length| {
            let start = *at;
            *at += length;
            Some(start)
        })
        .chain([edit.span.end])
        .collect();
    let (before, after) = (plain(old), plain(&edit.replacement));
    let before: Vec<&str> = before.iter().map(String::as_str).collect();
    let after: Vec<&str> = after.iter().map(String::as_str).collect();
    let changed = runs(&before, &after).into_iter().filter(|run| !run.same);
    changed.map(|run| starts[run.old.start]..starts[run.old.end]).collect()
}

/// Where parts of the old text are in the new one.
fn moved(silent: &[Silent], old: &str, new: &str) -> Vec<Silent> {
    let starts = |text: &str| -> Vec<usize> {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        std::iter::once(0).chain(ends).chain([text.len()]).collect()
    };
    let (old_starts, new_starts) = (starts(old), starts(new));
    let runs = runs(&lines(old), &lines(new));
    let at = |line: usize| new_starts[line.min(new_starts.len() - 1)];
    // The image of a byte; of a line that changed, the start or the end of what stands there now.
    let image = |byte: usize, is_end: bool| {
        let line = old_starts.partition_point(|start| *start <= byte).saturating_sub(1);
        match runs.iter().find(|run| run.old.contains(&line)) {
            Some(run) if run.same => at(run.new.start + line - run.old.start) + byte - old_starts[line],
            Some(run) if is_end => at(run.new.end),
            Some(run) => at(run.new.start),
            None => new.len(),
        }
    };
    let one = |silent: &Silent| {
        let start = image(silent.span.start, false);
        let last = silent.span.end.saturating_sub(1).max(silent.span.start);
        let end = (image(last, true) + 1).min(new.len()).max(start);
        Silent { span: start..end, ..silent.clone() }
    };
    silent.iter().map(one).collect()
}
