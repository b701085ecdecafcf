//! A kernel and what a motif makes of it.

use motif::{Context, Id, Motif, Site, all};
use source::SourceTree;

use super::bench::FILE;
use super::draw::Draw;

/// Which way a motif is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// The optimisation is made.
    Apply,
    /// It is unmade.
    Rewind,
}

impl Direction {
    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Apply => "apply",
            Direction::Rewind => "rewind",
        }
    }
}

/// One application of one motif to one kernel.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Id of the motif.
    pub motif: Id,
    /// Which way.
    pub direction: Direction,
    /// Where, and what it leaves to the verifier.
    pub site: Site,
    /// The changed source.
    pub text: String,
}

/// What a motif said of one kernel.
#[derive(Clone, Debug, Default)]
pub struct Offered {
    /// Sites found, those that make no pair among them.
    pub sites: usize,
    /// Places that it looked at and left alone.
    pub refused: usize,
    /// Sites that it does not edit although it offered them, with its reason.
    pub broken: Vec<String>,
    /// Applications.
    pub pairs: Vec<Pair>,
    /// Applications of which some rewind gives the kernel back byte for byte.
    pub given_back: usize,
}

/// What every motif makes of a kernel, in the order of the catalogue; at most `most` applications of each in each direction.
pub(super) fn pairs(context: &Context, only: &[Id], most: usize, draw: &mut Draw) -> Vec<(Id, Direction, Offered)> {
    let mut found = Vec::new();
    for motif in all().iter().filter(|motif| only.is_empty() || only.contains(&motif.id())) {
        for direction in [Direction::Apply, Direction::Rewind] {
            found.push((motif.id(), direction, offered(*motif, direction, context, most, draw)));
        }
    }
    found
}

fn offered(
    motif: &'static dyn Motif,
    direction: Direction,
    context: &Context,
    most: usize,
    draw: &mut Draw,
) -> Offered {
    let findings = match direction {
        Direction::Apply => motif.find(context),
        Direction::Rewind => motif.rewind_sites(context),
    };
    let mut offered = Offered { sites: findings.sites.len(), refused: findings.refused.len(), ..Offered::default() };
    for site in draw.some(&findings.sites, most) {
        let patch = match direction {
            Direction::Apply => motif.apply(context, &site),
            Direction::Rewind => motif.rewind(context, &site),
        };
        let changed = patch
            .map_err(|refusal| refusal.to_string())
            .and_then(|patch| context.tree.apply(&patch).map_err(|error| error.to_string()));
        match changed {
            Ok(tree) => {
                let text = text_of(&tree);
                if direction == Direction::Apply {
                    let fast = context.after(tree);
                    let mut sites = motif.rewind_sites(&fast).sites.into_iter();
                    let gives_back = |site: Site| {
                        let back = motif.rewind(&fast, &site).ok().and_then(|patch| fast.tree.apply(&patch).ok());
                        back.is_some_and(|back| back == context.tree)
                    };
                    offered.given_back += usize::from(sites.any(gives_back));
                }
                offered.pairs.push(Pair { motif: motif.id(), direction, site, text });
            }
            Err(reason) => offered.broken.push(reason),
        }
    }
    offered
}

/// The kernel's text in a tree.
pub fn text_of(tree: &SourceTree) -> String {
    tree.text(FILE).unwrap_or_default().to_owned()
}

/// A tree of one kernel.
pub fn tree_of(text: &str) -> SourceTree {
    let mut tree = SourceTree::new();
    tree.insert(FILE, text);
    tree
}
