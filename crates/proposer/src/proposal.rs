//! One thing to try.

use super::applied::{Applied, site_text, surroundings};
use super::expectation::Expectation;
use motif::{Context, Motif, Site};
use source::{Patch, SourceTree, difference};

/// What one motif does in a patch of several.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Id of the motif.
    pub motif: String,
    /// What it does, one line.
    pub title: String,
    /// The sources that it was applied to: with the parts before it.
    pub before: SourceTree,
    /// The sources after it.
    pub after: SourceTree,
}

/// One thing to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The edits, against the sources of the context.
    pub patch: Patch,
    /// Ids of the motifs in it.
    pub motifs: Vec<String>,
    /// What each of several motifs does, in their order; empty for a single one.
    pub parts: Vec<Part>,
    /// Where.
    pub sites: Vec<Site>,
    /// The code there and around.
    pub surroundings: Vec<String>,
    /// Expected speed-up.
    pub expected_gain: f64,
    /// Why this, one sentence.
    pub why: String,
    /// Conditions that the verifier must check.
    pub conditions: Vec<String>,
    /// Whether results may differ in rounding.
    pub rounding: bool,
    /// Whether the user gave it, and is to hear what becomes of it.
    pub given: bool,
    /// Whether it may bring constants along that a search is to vary once it is taken over.
    pub brings_constants: bool,
    /// Identity of motifs, site texts and base sources.
    pub key: String,
}

impl Proposal {
    /// One motif at one site, which brings `share` of what it brings at all its sites.
    pub(super) fn single(
        context: &Context,
        base: &str,
        motif: &dyn Motif,
        site: &Site,
        expected: &Expectation,
        share: f64,
    ) -> Option<Self> {
        let patch = motif.apply(context, site).ok()?;
        let motifs = vec![motif.id().to_string()];
        let key = key_of(base, &motifs, std::slice::from_ref(site), &[site_text(&context.tree, site)]);
        Some(Self {
            why: format!("{} at {}:{}: {}; {}", motif.id(), site.file, site.line, site.note, expected.reason),
            expected_gain: 1.0 + (expected.gain - 1.0) * share,
            conditions: site.conditions.clone(),
            rounding: site.rounding,
            sites: vec![site.clone()],
            surroundings: vec![surroundings(&context.tree, site)],
            given: false,
            brings_constants: false,
            parts: Vec::new(),
            patch,
            motifs,
            key,
        })
    }

    /// Motifs that were applied one after the other.
    pub(super) fn several(
        context: &Context,
        base: &str,
        motifs: &[&dyn Motif],
        applied: &Applied,
        expected: &[Expectation],
    ) -> Option<Self> {
        if applied.sites.is_empty() {
            return None;
        }
        let ids: Vec<String> = motifs.iter().map(|motif| motif.id().to_string()).collect();
        let places =
            if applied.sites.len() == 1 { "1 site".to_owned() } else { format!("{} sites", applied.sites.len()) };
        let names: Vec<&str> = motifs.iter().map(|motif| motif.metadata().title).collect();
        let title = format!("{}, at {places}", names.join(" + "));
        let patch = difference(&context.tree, &applied.context.tree, &title, &ids.join("+"));
        context.admit(&patch).ok()?;
        let reasons: Vec<String> =
            ids.iter().zip(expected).map(|(id, expected)| format!("{id}: {}", expected.reason)).collect();
        let mut conditions: Vec<String> = applied.sites.iter().flat_map(|site| site.conditions.clone()).collect();
        conditions.sort();
        conditions.dedup();
        Some(Self {
            why: format!("{title}; {}", reasons.join("; ")),
            expected_gain: expected.iter().map(|expected| expected.gain).product(),
            rounding: applied.sites.iter().any(|site| site.rounding),
            key: key_of(base, &ids, &applied.sites, &applied.texts),
            sites: applied.sites.clone(),
            surroundings: applied.surroundings.clone(),
            given: false,
            brings_constants: false,
            motifs: ids,
            parts: Vec::new(),
            conditions,
            patch,
        })
    }

    /// A change that somebody wrote by the name `origin`: the sources of the context as they are `wanted`. `None` where they are like that
    /// already.
    pub fn written(
        context: &Context,
        wanted: &SourceTree,
        (origin, title): (&str, &str),
        why: String,
        expected_gain: f64,
    ) -> Option<Self> {
        let patch = difference(&context.tree, wanted, title, origin);
        let motifs = vec![origin.to_owned()];
        (!patch.edits.is_empty()).then(|| Self {
            key: key_of(&context.tree.digest(), &motifs, &[], &[wanted.digest()]),
            why,
            expected_gain,
            conditions: Vec::new(),
            rounding: false,
            sites: Vec::new(),
            surroundings: Vec::new(),
            given: false,
            brings_constants: false,
            parts: Vec::new(),
            patch,
            motifs,
        })
    }

    /// The same that knows what each of its motifs does.
    pub(super) fn of_parts(self, parts: Vec<Part>) -> Self {
        Self { parts, ..self }
    }
}

fn key_of(base: &str, motifs: &[String], sites: &[Site], texts: &[String]) -> String {
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
