//! Steps of several motifs, taken apart so that each motif has to show what it is worth, and put together again.
//!
//! A search tries motifs together, because one opens the way for another, or because everything at once costs one evaluation.
//! What of it is written has to be worth its lines motif by motif.

use std::sync::Arc;

use super::candidate::AppliedPatch;
use super::progress::{Milestone, Progress};
use events::Stage;
use proposer::Part;
use source::merged_trees;
use space::Tunable;

/// Makes a step of its own of every part. The best candidate stays what it is.
pub(super) fn take_apart(progress: &mut Progress, tunables: &[Tunable]) {
    for milestone in std::mem::take(&mut progress.milestones) {
        let parts = parts_of(&milestone, tunables);
        if parts.is_empty() {
            progress.milestones.push(milestone);
            continue;
        }
        replace(&mut progress.best.patches, milestone.after.patches.last().into_iter(), parts.iter().filter_map(patch));
        progress.milestones.extend(parts);
    }
}

/// Makes one step again of the parts that are left of each.
pub(super) fn put_together(progress: &mut Progress, tunables: &[Tunable]) {
    let mut milestones = std::mem::take(&mut progress.milestones).into_iter().peekable();
    while let Some(first) = milestones.next() {
        let Some(whole) = first.part_of.clone() else {
            progress.milestones.push(first);
            continue;
        };
        let mut parts = vec![first];
        let is_part = |next: &Milestone| next.part_of.as_ref().is_some_and(|of| Arc::ptr_eq(of, &whole));
        while let Some(next) = milestones.next_if(is_part) {
            parts.push(next);
        }
        if let Some(one) = fused(&whole, &parts, tunables) {
            replace(&mut progress.best.patches, parts.iter().filter_map(patch), patch(&one).into_iter());
            progress.milestones.push(one);
        } else {
            progress.milestones.extend(parts.into_iter().map(|part| Milestone { part_of: None, ..part }));
        }
    }
}

/// Takes note of what the best candidate gained or lost by the parts that it had before and has no more: the other parts of their
/// steps account for it.
pub(super) fn credit(progress: &mut Progress, before: &[Milestone], gain: f64) {
    let parts = |milestones: &[Milestone], of: &Arc<Milestone>| {
        let same = |milestone: &&Milestone| milestone.part_of.as_ref().is_some_and(|other| Arc::ptr_eq(other, of));
        milestones.iter().filter(same).count()
    };
    let mut wholes: Vec<&Arc<Milestone>> = before.iter().filter_map(|milestone| milestone.part_of.as_ref()).collect();
    wholes.dedup_by(|left, right| Arc::ptr_eq(left, right));
    wholes.retain(|of| (1..parts(before, of)).contains(&parts(&progress.milestones, of)));
    let gain = gain.powf(1.0 / wholes.len().max(1) as f64);
    for of in wholes {
        let same = |milestone: &&mut Milestone| milestone.part_of.as_ref().is_some_and(|other| Arc::ptr_eq(other, of));
        if let Some(first) = progress.milestones.iter_mut().find(same) {
            first.gain *= gain;
        }
    }
}

/// The rewrite that a step ended with.
fn patch(milestone: &Milestone) -> Option<&AppliedPatch> {
    milestone.after.patches.last()
}

/// Puts some patches in the place of others that follow each other.
fn replace<'a>(
    patches: &mut Vec<AppliedPatch>,
    gone: impl Iterator<Item = &'a AppliedPatch>,
    new: impl Iterator<Item = &'a AppliedPatch>,
) {
    let is_same = |one: &AppliedPatch, other: &AppliedPatch| one.motif == other.motif && one.title == other.title;
    let gone: Vec<&AppliedPatch> = gone.collect();
    let mut windows = patches.windows(gone.len().max(1));
    let place = windows.position(|window| window.iter().zip(&gone).all(|(one, other)| is_same(one, other)));
    if let Some(place) = place {
        patches.splice(place..place + gone.len(), new.cloned());
    }
}

/// What is said of one part while nobody has measured it.
fn share(gain: f64, parts: usize) -> f64 {
    gain.powf(1.0 / parts as f64)
}

/// A step for every part of a step; none where it has no parts.
fn parts_of(milestone: &Milestone, tunables: &[Tunable]) -> Vec<Milestone> {
    let Some((whole, others)) = milestone.after.patches.split_last() else { return Vec::new() };
    if milestone.stage != Stage::Kernel || whole.parts.len() < 2 {
        return Vec::new();
    }
    let of = Arc::new(milestone.clone());
    let gain = share(milestone.gain, whole.parts.len());
    let mut before = milestone.before.clone();
    let mut patches = others.to_vec();
    let mut steps = Vec::new();
    for part in &whole.parts {
        patches.push(AppliedPatch {
            motif: part.motif.clone(),
            title: part.title.clone(),
            why: whole.why.clone(),
            gain,
            parts: vec![part.clone()],
        });
        let after = milestone.after.with_sources(tunables, part.after.clone(), patches.clone());
        steps.push(Milestone {
            motif: part.motif.clone(),
            title: part.title.clone(),
            gain,
            before: std::mem::replace(&mut before, after.clone()),
            after,
            part_of: Some(Arc::clone(&of)),
            ..milestone.clone()
        });
    }
    steps
}

/// One step of some parts of another; `None` where a part does not stand without one that is gone.
fn fused(whole: &Milestone, steps: &[Milestone], tunables: &[Tunable]) -> Option<Milestone> {
    let (all, others) = whole.after.patches.split_last()?;
    if steps.len() == all.parts.len() {
        return Some(whole.clone());
    }
    let kept: Vec<&Part> = steps.iter().filter_map(patch).filter_map(|patch| patch.parts.first()).collect();
    let mut sources = all.parts.first()?.before.clone();
    let mut parts = Vec::new();
    for part in kept {
        let after = merged_trees(&part.before, &sources, &part.after)?;
        let before = std::mem::replace(&mut sources, after.clone());
        parts.push(Part { before, after, ..part.clone() });
    }
    let joined = |of: fn(&Part) -> &str, by: &str| parts.iter().map(of).collect::<Vec<_>>().join(by);
    let (motif, title) = (joined(|part| &part.motif, "+"), joined(|part| &part.title, " + "));
    // What the others have brought was shared evenly, and is what they brought together.
    let share = share(whole.gain, all.parts.len());
    let gain = steps.iter().map(|step| step.gain / share).product::<f64>() * whole.gain;
    let patch = AppliedPatch {
        motif: motif.clone(),
        title: title.clone(),
        gain,
        parts: if parts.len() > 1 { parts } else { Vec::new() },
        ..all.clone()
    };
    let patches = others.iter().cloned().chain([patch]).collect();
    let after = whole.after.with_sources(tunables, sources, patches);
    Some(Milestone { motif, title, gain, after, part_of: None, ..whole.clone() })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::candidate::Candidate;
    use crate::steps::Steps;
    use source::SourceTree;

    const BEFORE: &str =
        "void Copy() {\n    Load();\n    Wait();\n}\n\nvoid Add() {\n    Slow();\n}\n\nvoid Out() {\n    Free();\n}\n";

    fn sources(text: &str) -> SourceTree {
        let mut sources = SourceTree::new();
        sources.insert("k.h", text);
        sources
    }

    /// A run whose one step takes `Wait` away, makes `Slow` quick, and frees late.
    fn progress() -> (Candidate, Progress) {
        let texts = [
            BEFORE.to_owned(),
            BEFORE.replace("    Wait();\n", ""),
            BEFORE.replace("    Wait();\n", "").replace("Slow", "Quick"),
            BEFORE.replace("    Wait();\n", "").replace("Slow", "Quick").replace("Free", "FreeLate"),
        ];
        let part = |place: usize, motif: &str| Part {
            motif: motif.to_owned(),
            title: format!("title of {motif}"),
            before: sources(&texts[place]),
            after: sources(&texts[place + 1]),
        };
        let baseline = Candidate::baseline(sources(BEFORE), &[]);
        let patch = AppliedPatch {
            motif: "Y01+V01+D16".to_owned(),
            title: "all of them".to_owned(),
            why: String::new(),
            gain: 1.331,
            parts: vec![part(0, "Y01"), part(1, "V01"), part(2, "D16")],
        };
        let best = Candidate { patches: vec![patch], ..Candidate::baseline(sources(&texts[3]), &[]) };
        let mut progress = Progress::new(baseline.clone(), 1.331, Vec::new(), Vec::new());
        progress.milestones.push(Milestone {
            stage: Stage::Kernel,
            motif: "Y01+V01+D16".to_owned(),
            title: "all of them".to_owned(),
            why: String::new(),
            gain: 1.331,
            before: baseline.clone(),
            before_times: Vec::new(),
            after: best.clone(),
            part_of: None,
        });
        (progress.best, progress.best_us) = (best, 1.0);
        (baseline, progress)
    }

    fn titles(baseline: &Candidate, progress: &Progress) -> Vec<String> {
        let steps = Steps::of(baseline, &progress.best, &progress.milestones, &[]);
        (0..steps.list.len()).map(|place| steps.title(place)).collect()
    }

    #[test]
    fn what_is_taken_apart_and_kept_is_one_step_again() {
        let (baseline, mut progress) = progress();
        let (best, milestones) = (progress.best.clone(), progress.milestones.clone());
        take_apart(&mut progress, &[]);
        let parts = ["Y01 (title of Y01)", "V01 (title of V01)", "D16 (title of D16)"];
        assert_eq!(titles(&baseline, &progress), parts);
        assert_eq!(progress.best.sources, best.sources);
        put_together(&mut progress, &[]);
        assert_eq!((&progress.best, &progress.milestones), (&best, &milestones));
    }

    #[test]
    fn a_part_can_go_and_the_others_stay_one_step() {
        let (baseline, mut progress) = progress();
        take_apart(&mut progress, &[]);
        let (best, milestones) = (progress.best.clone(), progress.milestones.clone());
        let without = Steps::of(&baseline, &best, &milestones, &[]).without(&BTreeSet::from([1])).expect("it stands");
        let expected = BEFORE.replace("    Wait();\n", "").replace("Free", "FreeLate");
        assert_eq!(without.sources, sources(&expected));
        progress.settle(without, 1.1, Vec::new());
        credit(&mut progress, &milestones, 1.0 / 1.1);
        put_together(&mut progress, &[]);
        assert!((progress.milestones[0].gain - 1.21).abs() < 1e-9, "{}", progress.milestones[0].gain);
        assert_eq!(titles(&baseline, &progress), ["Y01+D16 (title of Y01 + title of D16)"]);
        assert_eq!(progress.best.patches.len(), 1);
        assert_eq!(progress.milestones[0].after.sources, sources(&expected));
        // And once more.
        take_apart(&mut progress, &[]);
        assert_eq!(titles(&baseline, &progress), ["Y01 (title of Y01)", "D16 (title of D16)"]);
        let (best, milestones) = (progress.best.clone(), progress.milestones.clone());
        let without = Steps::of(&baseline, &best, &milestones, &[]).without(&BTreeSet::from([0])).expect("it stands");
        progress.settle(without, 1.0, Vec::new());
        put_together(&mut progress, &[]);
        assert_eq!(titles(&baseline, &progress), ["D16 (title of D16)"]);
        assert_eq!(progress.best.sources, sources(&BEFORE.replace("Free", "FreeLate")));
    }
}
