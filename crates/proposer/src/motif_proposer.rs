//! Proposals from the motif engine: single sites, all sites of a motif, motifs that belong together, and everything at once.

use std::collections::BTreeSet;

use super::applied::{Applied, site_text, surroundings};
use super::gain::Oracle;
use super::history::Seen;
use super::seam::{Asked, Proposer};
use super::workers::in_order;
use super::{History, Part, Proposal};
use motif::{Combination, Context, Family, Id, Motif, Site, all, by_id, named};
use source::SourceTree;

/// In this order: vector forms make barriers and buffers superfluous, and copies are arranged last.
const FAMILIES: &[Family] = &[Family::Vector, Family::Scalar, Family::Synchronisation, Family::DataMovement];

/// What promises less is not worth an evaluation. The host stage stops asking at the same gain.
const WORTH_PROPOSING: f64 = 1.0005;
/// Sites beyond this number are proposed only all together.
const SINGLE_SITES: usize = 12;
/// One motif may open sites of another that came before it.
const PASSES: usize = 2;

/// How far proposals may reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Single motifs, motifs that belong together, and everything at once.
    #[default]
    Together,
    /// Single motifs only.
    Single,
}

/// Proposes patches from the catalogue of motifs.
#[derive(Clone, Copy, Debug, Default)]
pub struct MotifProposer {
    /// Whether motifs that change rounding may be proposed.
    pub allow_rounding: bool,
    /// How far proposals may reach.
    pub reach: Reach,
    /// How many threads look for sites; proposals are the same for any number.
    pub at_once: usize,
}

/// Which sites a patch of several motifs takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// All.
    All,
    /// Those whose precondition the source proves.
    Proved,
}

impl Proposer for MotifProposer {
    fn propose(&self, asked: &Asked<'_>) -> Vec<Proposal> {
        let Asked { context, bank, history, .. } = *asked;
        let profile = asked.profile.or(context.profile.as_ref());
        let oracle = Oracle::new(context, bank, history, profile);
        let base = context.tree.digest();
        let errands = self.errands(&oracle, asked);
        let run = |errand: &Errand| match errand {
            Errand::Alone(motif) => self.alone(context, &base, *motif, &oracle),
            Errand::Together(motifs, taken) => {
                self.together(context, &base, motifs, *taken, &oracle).into_iter().collect()
            }
        };
        let mut proposals: Vec<Proposal> = in_order(&errands, self.at_once, run).into_iter().flatten().collect();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut texts: BTreeSet<String> = BTreeSet::new();
        proposals.sort_by(|left, right| {
            right.expected_gain.total_cmp(&left.expected_gain).then_with(|| left.key.cmp(&right.key))
        });
        proposals.retain(|proposal| {
            let result = context.tree.apply(&proposal.patch).map(|tree| tree.digest()).unwrap_or_default();
            (proposal.expected_gain >= WORTH_PROPOSING || is_untried(proposal, asked))
                && !history.contains(&proposal.key)
                && seen.insert(proposal.key.clone())
                && texts.insert(result)
        });
        proposals
    }

    /// What was taken greedily may have closed the way for something better: everything at once but one motif, and the motifs
    /// that led to the best candidate, in their order, but that one.
    fn without(&self, asked: &Asked<'_>, taken: &[&str], left_out: &str) -> Vec<Proposal> {
        let Asked { context, bank, history, .. } = *asked;
        let oracle = Oracle::new(context, bank, history, context.profile.as_ref());
        let everything = everything(&oracle, asked);
        let again: Vec<&dyn Motif> = taken.iter().filter_map(|id| named(id)).collect();
        let base = context.tree.digest();
        let of = |motifs: Vec<&'static dyn Motif>| {
            let rest: Vec<_> = motifs.iter().copied().filter(|motif| motif.id().name() != left_out).collect();
            let held = rest.len() < motifs.len();
            held.then(|| self.together(context, &base, &rest, Taken::All, &oracle)).flatten()
        };
        [again, everything].into_iter().filter_map(of).collect()
    }
}

/// Work that is done on its own, for one proposal or those of one motif.
enum Errand {
    /// A motif at each of its sites, and at all of them.
    Alone(&'static dyn Motif),
    /// Several motifs in one patch.
    Together(Vec<&'static dyn Motif>, Taken),
}

impl MotifProposer {
    /// All that there is to try.
    fn errands(&self, oracle: &Oracle<'_>, asked: &Asked<'_>) -> Vec<Errand> {
        let mut errands: Vec<Errand> = motifs(asked.keep_constants).map(Errand::Alone).collect();
        if self.reach == Reach::Together {
            for combination in combinations() {
                let motifs = combination.motifs.iter().map(|id| by_id(*id)).collect();
                errands.push(Errand::Together(motifs, Taken::All));
            }
            let everything = everything(oracle, asked);
            errands.extend([Taken::All, Taken::Proved].map(|taken| Errand::Together(everything.clone(), taken)));
            // Should one motif spoil everything, the other families are still tried at once.
            errands.extend(FAMILIES.iter().map(|family| {
                let of_family = everything.iter().copied().filter(|motif| motif.metadata().family == *family);
                Errand::Together(of_family.collect(), Taken::All)
            }));
        }
        errands
    }

    /// A motif at all its sites together, and at each of the first of them.
    fn alone(&self, context: &Context, base: &str, motif: &'static dyn Motif, oracle: &Oracle<'_>) -> Vec<Proposal> {
        let wanted = |site: &Site, tree: &SourceTree| self.wants(motif, site, tree, oracle.history());
        let found = motif.find(context).sites.into_iter();
        let sites: Vec<Site> = found.filter(|site| wanted(site, &context.tree)).collect();
        if sites.is_empty() {
            return Vec::new();
        }
        let code: Vec<String> = sites.iter().map(|site| site_text(&context.tree, site)).collect();
        let expected = oracle.expect(motif, &code.join("\n"));
        let mut proposals = Vec::new();
        if sites.len() > 1 {
            let mut applied = Applied::start(context);
            applied.add(motif, &wanted);
            let expected = std::slice::from_ref(&expected);
            proposals.extend(Proposal::several(context, base, &[motif], &applied, expected));
        }
        let shares = shares(context, &sites);
        for (site, share) in sites.iter().zip(shares).take(SINGLE_SITES) {
            proposals.extend(Proposal::single(context, base, motif, site, &expected, share));
        }
        proposals
    }

    /// Whether a site may be taken, and was not refused before.
    fn wants(&self, motif: &dyn Motif, site: &Site, tree: &SourceTree, history: &History) -> bool {
        (self.allow_rounding || !site.rounding) && !history.refused(motif.id().name(), &surroundings(tree, site))
    }

    /// Applies the motifs one after the other, each at all its sites; `None` unless at least two of them apply.
    fn together(
        &self,
        context: &Context,
        base: &str,
        wanted: &[&'static dyn Motif],
        taken: Taken,
        oracle: &Oracle<'_>,
    ) -> Option<Proposal> {
        let mut applied = Applied::start(context);
        let mut motifs: Vec<&dyn Motif> = Vec::new();
        let mut expected = Vec::new();
        let mut parts = Vec::new();
        for pass in 0..PASSES {
            for motif in wanted {
                let before = applied.texts.len();
                let proved = taken == Taken::Proved || motif.metadata().company.proved_only;
                let wanted = |site: &Site, tree: &SourceTree| {
                    (!proved || site.conditions.is_empty()) && self.wants(*motif, site, tree, oracle.history())
                };
                let added = applied.add(*motif, &wanted);
                if added > 0 {
                    let title = title(*motif, added, pass > 0);
                    let before = parts.last().map_or(&context.tree, |part: &Part| &part.after).clone();
                    let after = applied.context.tree.clone();
                    parts.push(Part { motif: motif.id().to_string(), title, before, after });
                }
                if added > 0 && motifs.iter().all(|known| known.id() != motif.id()) {
                    motifs.push(*motif);
                    expected.push(oracle.expect(*motif, &applied.texts[before..].join("\n")));
                }
            }
        }
        if motifs.len() < 2 {
            return None;
        }
        Some(Proposal::several(context, base, &motifs, &applied, &expected)?.of_parts(parts))
    }
}

/// What a motif did at so many of its sites, perhaps a second time, one line.
fn title(motif: &dyn Motif, sites: usize, again: bool) -> String {
    let places = if sites == 1 { String::new() } else { format!(", at {sites} sites") };
    format!("{}{places}{}", motif.metadata().title, if again { ", once more" } else { "" })
}

/// Whether a proposal shows what a motif is worth here of which nothing is known yet, and that is wanted.
fn is_untried(proposal: &Proposal, asked: &Asked<'_>) -> bool {
    let [motif] = proposal.motifs.as_slice() else { return false };
    asked.unlikely && asked.history.seen(motif).is_none()
}

/// Motifs that may be used now.
fn motifs(keep_constants: bool) -> impl Iterator<Item = &'static dyn Motif> {
    all().iter().copied().filter(move |motif| !(keep_constants && motif.metadata().replaces_constants))
}

/// The motifs of a patch of everything, those that promise something, family by family.
fn everything(oracle: &Oracle<'_>, asked: &Asked<'_>) -> Vec<&'static dyn Motif> {
    let mut motifs: Vec<(&'static dyn Motif, f64)> = motifs(asked.keep_constants)
        .map(|motif| (motif, oracle.expect(motif, "").gain))
        .filter(|(motif, gain)| {
            let doubtful = |seen: &Seen| seen.rejected_at_several > 0 || seen.suspicion >= 0.5;
            let refused = asked.history.seen(motif.id().name()).is_some_and(doubtful);
            *gain > 1.0 && !refused
        })
        .collect();
    let gain_of = |id: Id| motifs.iter().find(|(motif, _)| motif.id() == id).map_or(0.0, |(_, gain)| *gain);
    // Of motifs that undo each other or want the same place only the one that promises more is used at once.
    let weaker: Vec<Id> = all()
        .iter()
        .flat_map(|motif| motif.metadata().company.prevails_over.iter().map(|other| (motif.id(), *other)))
        .map(|(left, right)| if gain_of(left) >= gain_of(right) { right } else { left })
        .collect();
    motifs.retain(|(motif, _)| !weaker.contains(&motif.id()));
    let rank = |family: Family| FAMILIES.iter().position(|other| *other == family);
    motifs.sort_by_key(|(motif, _)| {
        let known = motif.metadata();
        (known.company.turn, rank(known.family), known.id)
    });
    motifs.into_iter().map(|(motif, _)| motif).collect()
}

/// Motifs that pay together although single steps may not, in the order in which they are proposed.
fn combinations() -> Vec<&'static Combination> {
    let mut found: Vec<&Combination> = all().iter().flat_map(|motif| motif.metadata().company.leads).collect();
    found.sort_by_key(|combination| combination.rank);
    found
}

/// How the gain of a motif at all its sites is shared out: by what its lines hold of the critical path, as far as some do.
fn shares(context: &Context, sites: &[Site]) -> Vec<f64> {
    let held: Vec<f64> = sites.iter().map(|site| context.path_share(site)).collect();
    let whole: f64 = held.iter().sum();
    let even = 1.0 / sites.len().max(1) as f64;
    // Half of it evenly: a wait stands at another line than what it delays.
    held.into_iter().map(|held| if whole > 0.0 { 0.5 * even + 0.5 * held / whole } else { even }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Standing;
    use super::*;
    use experience::Bank;

    #[test]
    fn combinations_are_proposed_in_this_order() {
        let found: Vec<String> = combinations()
            .iter()
            .map(|combination| combination.motifs.iter().map(|id| id.name()).collect::<Vec<_>>().join(" "))
            .collect();
        let expected = [
            "Y01 D01",
            "Y04 Y01",
            "Y04 Y01 D01",
            "D01 D23",
            "Y01 Y02",
            "D16 Y12",
            "D21 D07",
            "D07 D04",
            "D07 D04 Y01 V09",
            "V01 V06",
            "V01 Y01 Y02",
            "Y07 Y01 Y11 V20",
            "Y07 Y01 Y11 V20 D01",
            "V06 D07 D04 V37 D01",
            "D24 V01",
            "D24 V01 Y01 D01",
            "L15 D24 V01",
            "L15 D24 V01 Y01 D01",
            "Y13 D01",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_takes_loops_apart_comes_last_and_one_of_two_opposites_gives_way() {
        let context = Context::new(SourceTree::new(), source::facts::KnownValues::default(), None);
        let (bank, history) = (Bank::new(), History::default());
        let oracle = Oracle::new(&context, &bank, &history, None);
        let asked = Asked {
            context: &context,
            profile: None,
            bank: &bank,
            history: &history,
            keep_constants: false,
            unlikely: false,
            standing: Standing::default(),
        };
        let motifs = everything(&oracle, &asked);
        let ids: Vec<Id> = motifs.iter().map(|motif| motif.id()).collect();
        assert_eq!(ids[ids.len() - 2..], [Id::D07, Id::D16]);
        let gives_way = |id: Id| !ids.contains(&id);
        assert!(gives_way(Id::V10) != gives_way(Id::V11) && gives_way(Id::L01) != gives_way(Id::L02), "{ids:?}");
        assert!(ids.contains(&Id::V07));
    }
}
