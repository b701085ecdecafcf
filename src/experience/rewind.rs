//! Making experience: take an optimisation out of a strong kernel and judge what that did. Building and measuring is the caller's.

use crate::aicore::Profile;
use crate::motif::{Context, Motif, Site};
use crate::source::Patch;

use super::Verdict;

/// A patch that takes one motif out at one site.
#[derive(Clone, Debug, PartialEq)]
pub struct RewoundPatch {
    /// The motif taken out.
    pub motif: String,
    /// Where.
    pub site: Site,
    /// The edits from the strong kernel to the slower one.
    pub patch: Patch,
}

/// All rewinds of the motifs in these sources that a motif can undo exactly: only those re-create the original text.
pub fn rewound_patches(context: &Context, motifs: &[&dyn Motif]) -> Vec<RewoundPatch> {
    let mut found = Vec::new();
    for motif in motifs {
        for site in motif.rewind_sites(context).sites {
            let Ok(patch) = motif.rewind(context, &site) else { continue };
            let Ok(slow_tree) = context.tree.apply(&patch) else { continue };
            let slow = context.after(slow_tree);
            let restored = motif.find(&slow).sites.iter().any(|site| {
                motif
                    .apply(&slow, site)
                    .ok()
                    .and_then(|patch| slow.tree.apply(&patch).ok())
                    .is_some_and(|tree| tree == context.tree)
            });
            if restored {
                found.push(RewoundPatch { motif: motif.id().to_owned(), site, patch });
            }
        }
    }
    found
}

/// What a rewind taught.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Verdict for the record.
    pub verdict: Verdict,
    /// Speed-up from slow to fast.
    pub gain: f64,
    /// Why.
    pub reason: String,
}

/// Judges a pair of profiles: it has to be faster beyond the noise, and the motif's first counter that moved has to have gone down.
pub fn judge(slow: &Profile, fast: &Profile, motif: &dyn Motif) -> Judgement {
    /// Below this the difference may be noise.
    const NOISE: f64 = 0.005;
    let gain = if fast.task_us > 0.0 { slow.task_us / fast.task_us } else { 1.0 };
    if gain <= 1.0 + NOISE {
        let reason = format!("{:.2} us without it, {:.2} us with it: no gain", slow.task_us, fast.task_us);
        return Judgement { verdict: Verdict::NoGain, gain, reason };
    }
    let moved = motif.relieves().iter().find(|counter| {
        let (before, after) = (counter.read(slow), counter.read(fast));
        before > 0.0 && after < before * (1.0 - NOISE)
    });
    match moved {
        Some(counter) => {
            let reason = format!("{} from {:.2} to {:.2} us", counter.name(), counter.read(slow), counter.read(fast));
            Judgement { verdict: Verdict::Kept, gain, reason }
        }
        None => {
            let names: Vec<&str> = motif.relieves().iter().map(|counter| counter.name()).collect();
            let reason = format!("faster, but {} did not go down", names.join(" and "));
            Judgement { verdict: Verdict::EffectWithoutMechanism, gain, reason }
        }
    }
}
