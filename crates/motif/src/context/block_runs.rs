//! Which blocks of a kernel ran, from the lines that its instructions left.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::context::blocks::Block;
use crate::context::visited::VisitedLines;
use source::facts::api::{Access, argument_access, is_copy};
use source::facts::{base_name, is_host};
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Function, SyntaxFile, SyntaxForest};

/// Rounds in which what is known of functions and of blocks that call them settles.
const ROUNDS_MAX: usize = 8;

/// A part of a file that no case is known to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Silent {
    pub(crate) span: Range<usize>,
    /// What it is: a class, a function, a block at a line.
    pub(crate) what: String,
    /// Whether it certainly did not run.
    pub(crate) certain: bool,
}

/// Whether a block or a function ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ran {
    Yes,
    No,
    /// It only calls what others call too.
    Unknown,
    /// It leaves no trace whether it runs or not.
    Traceless,
}

/// Parts of each file that no case is known to run, outer before inner.
pub(crate) fn silent_blocks<'a>(
    forest: &'a SyntaxForest,
    visited: &VisitedLines,
) -> Vec<(&'a SyntaxFile, Vec<Silent>)> {
    let mut judge = Judge::new(forest, visited);
    judge.settle();
    (0..judge.files.len()).map(|index| (judge.files[index].file, judge.silent(index))).collect()
}

/// A file with what is asked of it again and again.
struct Source<'a> {
    file: &'a SyntaxFile,
    /// First byte of each line.
    lines: Vec<usize>,
    /// Lines that instructions left, from 1, with the most that one core left there.
    visited: BTreeMap<usize, u64>,
    /// Blocks of each function.
    blocks: Vec<Block>,
}

/// A call of functions of the operator.
struct Site {
    file: usize,
    at: usize,
    /// Files and indices of the functions it may mean.
    callees: Vec<(usize, usize)>,
}

struct Judge<'a> {
    files: Vec<Source<'a>>,
    sites: Vec<Site>,
    /// Whether a function ran, by file and index.
    functions: BTreeMap<(usize, usize), Ran>,
    /// Parts that certainly did not run, by file.
    dead: Vec<(usize, Range<usize>)>,
}

impl<'a> Judge<'a> {
    fn new(forest: &'a SyntaxForest, visited: &VisitedLines) -> Self {
        let files: Vec<Source<'a>> = forest
            .iter()
            .filter(|file| !is_host(file.name()))
            .map(|file| Source {
                file,
                lines: std::iter::once(0).chain(file.text().match_indices('\n').map(|(at, _)| at + 1)).collect(),
                visited: visited
                    .range((file.name().to_owned(), 0)..=(file.name().to_owned(), u32::MAX))
                    .map(|((_, line), count)| (*line as usize, *count))
                    .collect(),
                blocks: file.functions().iter().map(|function| Block::of(file, function)).collect(),
            })
            .collect();
        let sites = sites(&files);
        let mut judge = Self { files, sites, functions: BTreeMap::new(), dead: Vec::new() };
        for (index, source) in judge.files.iter().enumerate() {
            for (number, block) in source.blocks.iter().enumerate() {
                let ran = judge.by_lines(source, &block.span);
                judge.functions.insert((index, number), ran);
            }
        }
        judge
    }

    /// What lines alone tell of a part of a file.
    fn by_lines(&self, source: &Source<'a>, span: &Range<usize>) -> Ran {
        if source.left_line(span) {
            Ran::Yes
        } else if source.file.calls_in(span.clone()).any(leaves_line) {
            Ran::No
        } else {
            Ran::Traceless
        }
    }

    /// Follows calls until nothing more is learned: what only calls ran if something ran that is called nowhere else, and did not if
    /// it would have run something that did not; nor did what only such blocks call.
    fn settle(&mut self) {
        for _ in 0..ROUNDS_MAX {
            let mut dead: Vec<(usize, Range<usize>)> = Vec::new();
            let mut functions = self.functions.clone();
            for (index, source) in self.files.iter().enumerate() {
                for (number, block) in source.blocks.iter().enumerate() {
                    let ran = match self.block(index, block) {
                        Ran::Unknown | Ran::Traceless if self.is_called_by_the_dead((index, number)) => Ran::No,
                        ran => ran,
                    };
                    functions.insert((index, number), ran);
                    block.walk(&mut |block| {
                        if self.block(index, block) == Ran::No {
                            dead.push((index, block.span.clone()));
                        }
                    });
                }
            }
            if functions == self.functions && dead.len() == self.dead.len() {
                return;
            }
            (self.functions, self.dead) = (functions, dead);
        }
    }

    fn block(&self, index: usize, block: &Block) -> Ran {
        let known = self.by_lines(&self.files[index], &block.span);
        if known != Ran::Traceless {
            return known;
        }
        let mut found = Ran::Traceless;
        for site in self.sites.iter().filter(|site| site.file == index && block.span.contains(&site.at)) {
            let callees: Vec<Ran> = site.callees.iter().map(|callee| self.functions[callee]).collect();
            if callees.iter().all(|ran| *ran == Ran::No) && block.owns(site.at) {
                return Ran::No;
            }
            let needed = |callee: &(usize, usize)| {
                self.functions[callee] == Ran::Yes
                    && (self.only_in(*callee, index, block) || self.ran_more_often(*callee, index, block))
            };
            if site.callees.iter().any(needed) {
                found = Ran::Yes;
            } else if found == Ran::Traceless && callees.iter().any(|ran| matches!(ran, Ran::Yes | Ran::Unknown)) {
                found = Ran::Unknown;
            }
        }
        found
    }

    /// Whether a function is called, and by nothing but what certainly did not run.
    fn is_called_by_the_dead(&self, callee: (usize, usize)) -> bool {
        let mut calls = self.sites.iter().filter(|site| site.callees.contains(&callee)).peekable();
        let dead = |site: &Site| self.dead.iter().any(|(file, span)| *file == site.file && span.contains(&site.at));
        calls.peek().is_some() && calls.all(dead)
    }

    /// Whether all calls of a function that may have run stand in a block.
    fn only_in(&self, callee: (usize, usize), index: usize, block: &Block) -> bool {
        let dead = |site: &&Site| !self.dead.iter().any(|(file, span)| *file == site.file && span.contains(&site.at));
        let calls = self.sites.iter().filter(|site| site.callees.contains(&callee));
        calls.filter(dead).all(|site| site.file == index && block.span.contains(&site.at))
    }

    /// Whether a function ran more often on one core than its calls outside of a block account for: none of them stands in a
    /// loop, and each of its copies leaves one record.
    fn ran_more_often(&self, callee: (usize, usize), index: usize, block: &Block) -> bool {
        let source = &self.files[callee.0];
        let body = &source.blocks[callee.1];
        let copies = source.file.calls_in(body.span.clone()).filter(|call| {
            call.object.is_none() && is_copy(&call.name) && body.owns(call.span.start) && call.statement.is_some()
        });
        let lines =
            copies.flat_map(|call| source.visited.range(source.line(call.span.start)..=source.line(call.span.end)));
        let most = lines.map(|(_, count)| *count).max().unwrap_or(0);
        let alive = |site: &&Site| !self.dead.iter().any(|(file, span)| *file == site.file && span.contains(&site.at));
        let calls = self.sites.iter().filter(|site| site.callees.contains(&callee)).filter(alive);
        let outside: Vec<&Site> = calls.filter(|site| site.file != index || !block.span.contains(&site.at)).collect();
        most > outside.len() as u64 && outside.iter().all(|site| self.once(site, ROUNDS_MAX))
    }

    /// Whether a call is made once a launch at most: in no loop, by a function that is called once.
    fn once(&self, site: &Site, depth: usize) -> bool {
        let file = self.files[site.file].file;
        if depth == 0 || file.enclosing_loop(site.at).is_some() {
            return false;
        }
        let functions = file.functions();
        let Some(number) = functions.iter().rposition(|function| function.span.contains(&site.at)) else {
            return false;
        };
        let mut callers = self.sites.iter().filter(|caller| caller.callees.contains(&(site.file, number)));
        match (callers.next(), callers.next()) {
            (None, _) => true,
            (Some(caller), None) => self.once(caller, depth - 1),
            _ => false,
        }
    }

    /// Parts of a file that no case is known to run.
    fn silent(&self, index: usize) -> Vec<Silent> {
        let source = &self.files[index];
        let mut found = self.silent_classes(index);
        for (number, (function, block)) in source.file.functions().iter().zip(&source.blocks).enumerate() {
            let ran = self.functions[&(index, number)];
            if ran == Ran::No {
                found.push(Silent { span: function.span.clone(), what: function.name.clone(), certain: true });
                continue;
            }
            block.walk(&mut |inner| {
                let ran = self.block(index, inner);
                if inner.span != block.span && matches!(ran, Ran::No | Ran::Unknown) {
                    let line = source.line(inner.span.start);
                    let what = format!("the block of {} at line {line}", function.name);
                    found.push(Silent { span: inner.span.clone(), what, certain: ran == Ran::No });
                }
            });
        }
        found
    }

    /// Classes with instructions none of which ran, and their functions that stand elsewhere in the file.
    fn silent_classes(&self, index: usize) -> Vec<Silent> {
        let file = self.files[index].file;
        let mut classes: BTreeMap<&str, Vec<Ran>> = BTreeMap::new();
        for (number, function) in file.functions().iter().enumerate() {
            if let Some(class) = &function.class {
                classes.entry(class).or_default().push(self.functions[&(index, number)]);
            }
        }
        classes
            .retain(|_, ran| ran.contains(&Ran::No) && !ran.iter().any(|ran| matches!(ran, Ran::Yes | Ran::Unknown)));
        let bodies = file.classes().iter().filter(|class| classes.contains_key(class.name.as_str()));
        let functions =
            file.functions().iter().filter_map(|function| Some((function.class.as_deref()?, &function.span)));
        let silent =
            |name: &str, span: &Range<usize>| Silent { span: span.clone(), what: name.to_owned(), certain: true };
        bodies
            .map(|class| silent(&class.name, &class.span))
            .chain(functions.filter(|(class, _)| classes.contains_key(class)).map(|(class, span)| silent(class, span)))
            .collect()
    }
}

impl Source<'_> {
    fn line(&self, byte: usize) -> usize {
        self.lines.partition_point(|start| *start <= byte)
    }

    /// Whether an instruction left a line of a part of the file that no call outside of it shares.
    fn left_line(&self, span: &Range<usize>) -> bool {
        let (first, last) = (self.line(span.start), self.line(span.end.saturating_sub(1)));
        let shared = |line: usize| {
            let bytes = self.lines[line - 1]..self.lines.get(line).copied().unwrap_or(self.file.text().len());
            self.file.calls().iter().any(|call| {
                let outside = call.span.end <= span.start || span.end <= call.span.start;
                outside && call.span.start < bytes.end && bytes.start < call.span.end && may_leave_line(call)
            })
        };
        self.visited.range(first..=last).any(|(line, _)| !shared(*line))
    }
}

/// Whether a call certainly leaves its line where it runs.
fn leaves_line(call: &Call) -> bool {
    let written = matches!(argument_access(&call.name, 0), Access::Write | Access::ReadWrite);
    call.object.is_none() && (written || is_copy(&call.name))
}

/// Whether a call could leave its line where it runs.
fn may_leave_line(call: &Call) -> bool {
    const SCALAR: &[&str] =
        &["static_cast", "reinterpret_cast", "GetBlockIdx", "GetBlockNum", "min", "max", "sizeof", "GetSize"];
    !SCALAR.contains(&call.name.as_str())
}

/// All calls of functions of the operator.
fn sites(files: &[Source<'_>]) -> Vec<Site> {
    let mut by_name: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
    for (index, source) in files.iter().enumerate() {
        for (number, function) in source.file.functions().iter().enumerate() {
            by_name.entry(&function.name).or_default().push((index, number));
        }
    }
    let of = |callee: &(usize, usize)| &files[callee.0].file.functions()[callee.1];
    let mut sites = Vec::new();
    for (index, source) in files.iter().enumerate() {
        for call in source.file.calls().iter().filter(|call| call.scope != "AscendC") {
            let Some(all) = by_name.get(call.name.as_str()) else { continue };
            let around = source.file.enclosing_function(call.span.start);
            let classes = classes_meant(source.file, around, call);
            // The nearest that fit: of this file and class, of the class, or else any of the name.
            let of_class =
                |callee: &&(usize, usize)| of(callee).class.as_deref().is_some_and(|class| classes.contains(&class));
            let here = all.iter().filter(|callee| callee.0 == index).filter(of_class).copied().collect::<Vec<_>>();
            let anywhere = all.iter().filter(of_class).copied().collect::<Vec<_>>();
            let nearest = [here, anywhere].into_iter().find(|found| !found.is_empty());
            sites.push(Site { file: index, at: call.span.start, callees: nearest.unwrap_or_else(|| all.clone()) });
        }
    }
    sites
}

/// Names among which the class of a call's function is: of the caller, or in the type of the object.
fn classes_meant<'a>(file: &'a SyntaxFile, around: Option<&'a Function>, call: &Call) -> Vec<&'a str> {
    if call.is_own() {
        return around.and_then(|function| function.class.as_deref()).into_iter().collect();
    }
    let object = call.object.as_deref().map(base_name).unwrap_or_default();
    let body = around.map(|function| function.body.clone()).unwrap_or_default();
    let declared = file.locals().iter().filter(|local| local.name == object && body.contains(&local.span.start));
    let words = |text: &'a str| {
        pieces(text)
            .into_iter()
            .filter(|token| token.kind == PieceKind::Word)
            .map(|token| &text[token.span])
            .collect::<Vec<_>>()
    };
    declared.flat_map(|local| words(local.type_text.as_str())).collect()
}
