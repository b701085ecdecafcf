//! Proposals from the motif engine: single sites, all sites of a motif, and motifs that belong together.

use std::collections::BTreeSet;

use super::gain::{Expectation, Oracle};
use crate::aicore::Profile;
use crate::experience::Bank;
use crate::motif::{Context, Motif, Site, all, by_id};
use crate::source::{Patch, SourceTree, difference};

/// Motifs that pay together although single steps may not, in the order in which they enable each other.
const TOGETHER: &[&[&str]] = &[
    &["Y01", "D01"],
    &["Y01", "Y02"],
    &["D16", "Y12"],
    &["V01", "V06"],
    &["V01", "Y01", "Y02"],
    &["V01", "V06", "V26", "Y01", "Y02"],
    &["V01", "V06", "V26", "Y01", "Y02", "D01"],
    &["V01", "V06", "V26", "Y01", "Y02", "D16", "Y12"],
    &["V01", "V06", "V26", "Y01", "Y02", "D01", "D05"],
    &["V01", "V06", "V26", "Y01", "Y02", "D01", "D09"],
];

/// Sites beyond this number are proposed only all together.
const SINGLE_SITES: usize = 12;
/// Rounds of find and apply until a motif has no site left.
const ROUNDS: usize = 64;

/// One thing to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The edits, against the sources of the context.
    pub patch: Patch,
    /// Ids of the motifs in it.
    pub motifs: Vec<String>,
    /// Where.
    pub sites: Vec<Site>,
    /// Expected speed-up.
    pub expected_gain: f64,
    /// Why this, one sentence.
    pub why: String,
    /// Conditions that the verifier must check.
    pub conditions: Vec<String>,
    /// Whether results may differ in rounding.
    pub rounding: bool,
    /// Identity of motifs, site texts and base sources.
    pub key: String,
}

/// What was proposed before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    tried: BTreeSet<String>,
}

impl History {
    /// Remembers a proposal as tried.
    pub fn record(&mut self, proposal: &Proposal) {
        self.tried.insert(proposal.key.clone());
    }

    /// Remembers a key, such as one read from a journal.
    pub fn record_key(&mut self, key: impl Into<String>) {
        self.tried.insert(key.into());
    }

    /// Whether a key was tried.
    pub fn contains(&self, key: &str) -> bool {
        self.tried.contains(key)
    }
}

/// Proposes patches from the catalogue of motifs.
#[derive(Clone, Copy, Debug, Default)]
pub struct MotifProposer {
    /// Whether motifs that change rounding may be proposed.
    pub allow_rounding: bool,
}

/// A motif applied at some sites.
struct Applied {
    context: Context,
    sites: Vec<Site>,
    texts: Vec<String>,
}

impl MotifProposer {
    /// All proposals that were not tried before, by expected gain, best first. The order is the same for the same inputs.
    pub fn propose(
        &self,
        context: &Context,
        bank: &Bank,
        profile: Option<&Profile>,
        history: &History,
    ) -> Vec<Proposal> {
        let profile = profile.or(context.profile.as_ref());
        let oracle = Oracle::new(context, bank, profile);
        let base = context.tree.digest();
        let mut proposals = Vec::new();
        for motif in all() {
            let sites: Vec<Site> = motif.find(context).sites.into_iter().filter(|site| self.allowed(site)).collect();
            let expected = oracle.expect(*motif);
            if sites.len() > 1 {
                let applied = self.apply_everywhere(context, *motif, false);
                proposals.extend(proposal(context, &base, &[*motif], &applied, std::slice::from_ref(&expected)));
            }
            let shares = shares(context, &sites);
            for (site, share) in sites.iter().zip(shares).take(SINGLE_SITES) {
                proposals.extend(single(context, &base, *motif, site, &expected, share));
            }
        }
        for ids in TOGETHER {
            proposals.extend(self.together(context, &base, ids, &oracle));
        }
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut texts: BTreeSet<String> = BTreeSet::new();
        proposals.sort_by(|left, right| {
            right.expected_gain.total_cmp(&left.expected_gain).then_with(|| left.key.cmp(&right.key))
        });
        proposals.retain(|proposal| {
            let result = context.tree.apply(&proposal.patch).map(|tree| tree.digest()).unwrap_or_default();
            !history.contains(&proposal.key) && seen.insert(proposal.key.clone()) && texts.insert(result)
        });
        proposals
    }

    fn allowed(&self, site: &Site) -> bool {
        self.allow_rounding || !site.rounding
    }

    /// Applies the motifs one after the other, each at all its sites; `None` unless at least two of them apply.
    fn together(&self, context: &Context, base: &str, ids: &[&str], oracle: &Oracle<'_>) -> Option<Proposal> {
        let mut applied = Applied { context: context.clone(), sites: Vec::new(), texts: Vec::new() };
        let mut motifs: Vec<&dyn Motif> = Vec::new();
        let mut expected = Vec::new();
        for motif in ids.iter().filter_map(|id| by_id(id)) {
            // A condition that only lengths decide must not spoil the rest of the patch.
            let next = self.apply_everywhere(&applied.context, motif, motif.id() == "D05");
            if next.sites.is_empty() {
                continue;
            }
            motifs.push(motif);
            expected.push(oracle.expect(motif));
            applied.context = next.context;
            applied.sites.extend(next.sites);
            applied.texts.extend(next.texts);
        }
        if motifs.len() < 2 {
            return None;
        }
        proposal(context, base, &motifs, &applied, &expected)
    }

    /// The motif at all its sites: found anew after each edit, so that edits never rest on stale facts.
    fn apply_everywhere(&self, context: &Context, motif: &dyn Motif, unconditional: bool) -> Applied {
        let mut applied = Applied { context: context.clone(), sites: Vec::new(), texts: Vec::new() };
        let wanted = |site: &Site| self.allowed(site) && (!unconditional || site.conditions.is_empty());
        for _ in 0..ROUNDS {
            let here = &applied.context;
            let sites: Vec<Site> = motif.find(here).sites.into_iter().filter(wanted).collect();
            let next = sites.into_iter().find_map(|site| {
                let patch = motif.apply(here, &site).ok()?;
                let tree = here.tree.apply(&patch).ok()?;
                Some((site, tree))
            });
            let Some((site, tree)) = next else { break };
            applied.texts.push(site_text(&here.tree, &site));
            applied.sites.push(site);
            applied.context = here.after(tree);
        }
        applied
    }
}

/// How the gain of a motif at all its sites is shared out: by what its lines hold of the critical path, as far as some do.
fn shares(context: &Context, sites: &[Site]) -> Vec<f64> {
    let held: Vec<f64> = sites.iter().map(|site| context.path_share(site)).collect();
    let whole: f64 = held.iter().sum();
    let even = 1.0 / sites.len().max(1) as f64;
    // Half of it evenly: a wait stands at another line than what it delays.
    held.into_iter().map(|held| if whole > 0.0 { 0.5 * even + 0.5 * held / whole } else { even }).collect()
}

fn site_text(tree: &SourceTree, site: &Site) -> String {
    tree.text(&site.file).and_then(|text| text.get(site.span.clone())).unwrap_or_default().to_owned()
}

fn key(base: &str, motifs: &[String], sites: &[Site], texts: &[String]) -> String {
    let mut hasher = blake3::Hasher::new();
    let places = sites.iter().map(|site| format!("{}@{}", site.file, site.span.start));
    for text in
        std::iter::once(base.to_owned()).chain(motifs.iter().cloned()).chain(places).chain(texts.iter().cloned())
    {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize().to_hex().as_str()[..24].to_owned()
}

fn single(
    context: &Context,
    base: &str,
    motif: &dyn Motif,
    site: &Site,
    expected: &Expectation,
    share: f64,
) -> Option<Proposal> {
    let patch = motif.apply(context, site).ok()?;
    let motifs = vec![motif.id().to_owned()];
    let key = key(base, &motifs, std::slice::from_ref(site), &[site_text(&context.tree, site)]);
    Some(Proposal {
        why: format!("{} at {}:{}: {}; {}", motif.id(), site.file, site.line, site.note, expected.reason),
        // One of several sites brings its share.
        expected_gain: 1.0 + (expected.gain - 1.0) * share,
        conditions: site.conditions.clone(),
        rounding: site.rounding,
        sites: vec![site.clone()],
        patch,
        motifs,
        key,
    })
}

fn proposal(
    context: &Context,
    base: &str,
    motifs: &[&dyn Motif],
    applied: &Applied,
    expected: &[Expectation],
) -> Option<Proposal> {
    if applied.sites.is_empty() {
        return None;
    }
    let ids: Vec<String> = motifs.iter().map(|motif| motif.id().to_owned()).collect();
    let places = if applied.sites.len() == 1 { "1 site".to_owned() } else { format!("{} sites", applied.sites.len()) };
    let names: Vec<&str> = motifs.iter().map(|motif| motif.title()).collect();
    let title = format!("{}, at {places}", names.join(" + "));
    let patch = difference(&context.tree, &applied.context.tree, &title, &ids.join("+"));
    context.forest.check_result(&patch, &applied.context.tree).ok()?;
    let reasons: Vec<String> =
        ids.iter().zip(expected).map(|(id, expected)| format!("{id}: {}", expected.reason)).collect();
    let mut conditions: Vec<String> = applied.sites.iter().flat_map(|site| site.conditions.clone()).collect();
    conditions.sort();
    conditions.dedup();
    Some(Proposal {
        why: format!("{title}; {}", reasons.join("; ")),
        expected_gain: expected.iter().map(|expected| expected.gain).product(),
        rounding: applied.sites.iter().any(|site| site.rounding),
        key: key(base, &ids, &applied.sites, &applied.texts),
        sites: applied.sites.clone(),
        motifs: ids,
        conditions,
        patch,
    })
}
