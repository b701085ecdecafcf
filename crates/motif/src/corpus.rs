//! Runs the finders over a directory of real operators, named by an environment variable; prints what they found.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{Candidate, Context, Id, all};
use source::SourceTree;
use source::facts::KnownValues;
use source::parse::SyntaxForest;

/// One source tree per operator: the directory that holds `op_kernel`.
fn operators(root: &Path) -> BTreeMap<String, SourceTree> {
    let mut trees: BTreeMap<String, SourceTree> = BTreeMap::new();
    for entry in walkdir::WalkDir::new(root).sort_by_file_name().into_iter().filter_map(Result::ok) {
        let path = entry.path().display().to_string();
        let kind = path.ends_with(".h") || path.ends_with(".cpp") || path.ends_with(".asc");
        let half = |folder: &str| Some((path.split_once(&format!("/{folder}/"))?, folder.to_owned()));
        let Some(((operator, file), folder)) =
            half("op_kernel").or_else(|| half("op_host")).filter(|_| kind && entry.file_type().is_file())
        else {
            continue;
        };
        if let Ok(text) = std::fs::read_to_string(entry.path()) {
            trees.entry(operator.to_owned()).or_default().insert(format!("{folder}/{file}"), text);
        }
    }
    trees
}

/// Whether the motif is to run: all do, unless ASCEND_TUNE_MOTIFS lists ids.
fn wanted(id: &str) -> bool {
    std::env::var("ASCEND_TUNE_MOTIFS").map_or(true, |ids| ids.split(',').any(|wanted| wanted == id))
}

#[derive(Default)]
struct Tally {
    sites: usize,
    proved: usize,
    refused: usize,
    applied: usize,
    failed: usize,
    rewinds: usize,
    rewound: usize,
    inverted: usize,
    reasons: BTreeMap<String, usize>,
    time: Duration,
}

/// Everything that the motifs say about an operator, one line a candidate: what two versions of a motif are compared by.
fn said(operator: &str, context: &Context) -> String {
    let mut lines = String::new();
    for motif in all().iter().filter(|motif| wanted(motif.id().name())) {
        for (direction, mut candidates) in
            [("apply", motif.candidates(context)), ("rewind", motif.rewind_candidates(context))]
        {
            let key = |candidate: &Candidate| {
                let site = &candidate.site;
                (site.file.clone(), site.span.start, site.note.clone())
            };
            candidates.sort_by_key(key);
            for candidate in candidates {
                let _ = writeln!(lines, "{} {direction} {operator} {candidate:?}", motif.id());
            }
        }
    }
    lines
}

/// Over the fixtures, or over any directory with operators that ASCEND_TUNE_CORPUS names. ASCEND_TUNE_CANDIDATES names a file for
/// all that the motifs say.
#[test]
fn finders_over_a_corpus() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures").to_owned();
    let root = std::env::var("ASCEND_TUNE_CORPUS").unwrap_or(fixtures);
    let trees = operators(Path::new(&root));
    let (mut files, mut clean, mut parse_time) = (0, 0, Duration::ZERO);
    let mut tallies: BTreeMap<Id, Tally> = BTreeMap::new();
    let mut dump = std::env::var_os("ASCEND_TUNE_CANDIDATES")
        .map(|path| std::fs::File::create(path).expect("the file of candidates is made"));
    for (operator, tree) in &trees {
        let start = Instant::now();
        let context = Context::new(tree.clone(), KnownValues::default(), None);
        parse_time += start.elapsed();
        files += context.forest.iter().count();
        if let Some(dump) = &mut dump {
            dump.write_all(said(operator, &context).as_bytes()).expect("the file of candidates is written");
        }
        clean += context.forest.iter().filter(|file| file.errors().is_empty()).count();
        for motif in all().iter().filter(|motif| wanted(motif.id().name())) {
            let tally = tallies.entry(motif.id()).or_default();
            let start = Instant::now();
            let findings = motif.find(&context);
            tally.time += start.elapsed();
            tally.sites += findings.sites.len();
            tally.proved += findings.sites.iter().filter(|site| site.conditions.is_empty()).count();
            tally.refused += findings.refused.len();
            for refused in &findings.refused {
                let shape: String = refused
                    .reason
                    .split(' ')
                    .filter(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()))
                    .take(9)
                    .collect::<Vec<_>>()
                    .join(" ");
                *tally.reasons.entry(shape).or_default() += 1;
            }
            for (rewind, sites) in [(false, findings.sites), (true, motif.rewind_sites(&context).sites)] {
                for site in sites.iter().take(2) {
                    let result = if rewind { motif.rewind(&context, site) } else { motif.apply(&context, site) };
                    let Ok(patch) = result else {
                        tally.failed += 1;
                        eprintln!(
                            "{} fails at {operator} {}:{}: {}",
                            motif.id(),
                            site.file,
                            site.line,
                            result.err().map(|error| error.to_string()).unwrap_or_default()
                        );
                        continue;
                    };
                    let after = context.tree.apply(&patch).expect("the patch fits");
                    let inverse = source::inverse(&context.tree, &patch).expect("the patch has an inverse");
                    assert_eq!(after.apply(&inverse).expect("the inverse fits"), context.tree);
                    tally.inverted += 1;
                    assert!(SyntaxForest::parse(tree).check_result(&patch, &after).is_ok());
                    if rewind {
                        tally.rewinds += 1;
                        let slow = context.after(after);
                        let back = motif.find(&slow).sites.iter().any(|site| {
                            motif
                                .apply(&slow, site)
                                .ok()
                                .and_then(|patch| slow.tree.apply(&patch).ok())
                                .is_some_and(|tree| tree == context.tree)
                        });
                        tally.rewound += usize::from(back);
                    } else {
                        tally.applied += 1;
                    }
                }
            }
        }
    }
    println!(
        "{} operators, {files} files, {clean} without error nodes, parsed with facts in {parse_time:?}",
        trees.len()
    );
    for (id, tally) in &tallies {
        println!(
            "{id}: sites {} (unconditional {}), refused {}, applied {}, failed {}, rewinds {} of which exact {}, inverses {}, find time {:?}",
            tally.sites,
            tally.proved,
            tally.refused,
            tally.applied,
            tally.failed,
            tally.rewinds,
            tally.rewound,
            tally.inverted,
            tally.time
        );
        let mut reasons: Vec<_> = tally.reasons.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (reason, count) in reasons.iter().take(6) {
            println!("    {count:5} {reason}");
        }
    }
}
