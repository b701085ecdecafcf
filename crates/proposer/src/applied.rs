//! A motif applied wherever it applies.

use motif::{Context, Motif, Site};
use source::SourceTree;

/// Rounds of find and apply until a motif has no site left.
const ROUNDS: usize = 64;

/// Sources after some motifs, with the sites that they were applied at.
#[derive(Clone)]
pub(super) struct Applied {
    pub(super) context: Context,
    pub(super) sites: Vec<Site>,
    pub(super) texts: Vec<String>,
    pub(super) surroundings: Vec<String>,
}

impl Applied {
    /// Nothing applied yet.
    pub(super) fn start(context: &Context) -> Self {
        Self { context: context.clone(), sites: Vec::new(), texts: Vec::new(), surroundings: Vec::new() }
    }

    /// The motif at all its sites that are `wanted`: found anew after each edit, so that edits never rest on stale facts.
    /// `wanted` is asked with the sources that a site is in. Returns how many sites there were.
    pub(super) fn add(&mut self, motif: &dyn Motif, wanted: &dyn Fn(&Site, &SourceTree) -> bool) -> usize {
        let before = self.sites.len();
        for _ in 0..ROUNDS {
            let here = &self.context;
            let is_wanted = |site: &Site| wanted(site, &here.tree);
            let sites: Vec<Site> = motif.find(here).sites.into_iter().filter(is_wanted).collect();
            let next = sites.into_iter().find_map(|site| {
                let patch = motif.apply(here, &site).ok()?;
                let tree = here.tree.apply(&patch).ok()?;
                Some((site, tree))
            });
            let Some((site, tree)) = next else { break };
            self.texts.push(site_text(&here.tree, &site));
            self.surroundings.push(surroundings(&here.tree, &site));
            self.sites.push(site);
            self.context = here.after(tree);
        }
        self.sites.len() - before
    }
}

/// The code at a site.
pub(super) fn site_text(tree: &SourceTree, site: &Site) -> String {
    tree.text(&site.file).and_then(|text| text.get(site.span.clone())).unwrap_or_default().to_owned()
}

/// The code at a site with the line before and the one behind it: what tells it from its likes and outlives edits elsewhere.
pub(super) fn surroundings(tree: &SourceTree, site: &Site) -> String {
    let Some(text) = tree.text(&site.file) else { return String::new() };
    let (Some(before), Some(behind)) = (text.get(..site.span.start), text.get(site.span.end..)) else {
        return String::new();
    };
    let begin = before.rmatch_indices('\n').nth(1).map_or(0, |(at, _)| at);
    let end = behind.match_indices('\n').nth(1).map_or(text.len(), |(at, _)| site.span.end + at);
    text[begin..end].split_whitespace().collect::<Vec<_>>().join(" ")
}
