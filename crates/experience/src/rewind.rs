//! Making experience: take an optimisation out of a strong kernel and judge what that did. Building and measuring is the caller's.

use aicore::Profile;
use motif::{Context, Counter, Id, Motif, Site};
use source::Patch;

use super::Verdict;

/// A patch that takes one motif out at one site.
#[derive(Clone, Debug, PartialEq)]
pub struct RewoundPatch {
    /// The motif taken out.
    pub motif: Id,
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
                found.push(RewoundPatch { motif: motif.id(), site, patch });
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
    /// Why.
    pub reason: String,
}

/// Judges a pair by its gain over all cases and the profiles of the longest launches: it has to be faster beyond the noise, and one of
/// the counters that should be relieved has to have gone down.
pub fn judge(gain: f64, slow: &Profile, fast: &Profile, relieves: &[Counter]) -> Judgement {
    /// Below this the difference may be noise.
    const NOISE: f64 = 0.005;
    if gain <= 1.0 + NOISE {
        return Judgement { verdict: Verdict::NoGain, reason: format!("{gain:.3}x over all cases: no gain") };
    }
    let moved = relieves.iter().find(|counter| {
        let (before, after) = (counter.read(slow), counter.read(fast));
        before > 0.0 && after < before * (1.0 - NOISE)
    });
    match moved {
        Some(counter) => {
            let reason = format!("{} from {:.2} to {:.2} us", counter.name(), counter.read(slow), counter.read(fast));
            Judgement { verdict: Verdict::Kept, reason }
        }
        None => {
            let names: Vec<&str> = relieves.iter().map(|counter| counter.name()).collect();
            let reason = format!("faster, but {} did not go down", names.join(" and "));
            Judgement { verdict: Verdict::EffectWithoutMechanism, reason }
        }
    }
}
