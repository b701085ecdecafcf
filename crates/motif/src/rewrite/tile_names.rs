//! Names of what a loop over tiles declares for the global tensors of the loop over elements that it was.

use std::collections::BTreeSet;

use crate::analysis::code::words;
use crate::context::Context;

/// Names of what a loop over tiles declares.
pub(crate) struct Tensors {
    /// Behind every name, so that none is there yet.
    behind: String,
}

impl Tensors {
    /// Where nothing else has these names.
    pub(crate) fn plain() -> Self {
        Self { behind: String::new() }
    }

    /// Names that no source has yet.
    pub(crate) fn of<'b>(context: &Context, globals: impl Iterator<Item = &'b str>) -> Self {
        let taken: BTreeSet<&str> = context.tree.iter().flat_map(|(_, text)| words(text)).collect();
        let globals: Vec<&str> = globals.collect();
        let mut names = Self::plain();
        for number in 2..100 {
            let of_global = |global: &&str| {
                let queues = [names.queue_in(global), names.queue_out(global)];
                let tensors = [names.filled(global), names.read(global), names.written(global), names.done(global)];
                queues.into_iter().chain(tensors).any(|name| taken.contains(name.as_str()))
            };
            let is_free = ![names.tile(), names.count()].iter().any(|name| taken.contains(name.as_str()));
            if is_free && !globals.iter().any(of_global) {
                break;
            }
            names.behind = number.to_string();
        }
        names
    }

    /// Where the tile begins.
    pub(crate) fn tile(&self) -> String {
        format!("tile{}", self.behind)
    }

    /// How many elements it has.
    pub(crate) fn count(&self) -> String {
        format!("count{}", self.behind)
    }

    pub(crate) fn queue_in(&self, global: &str) -> String {
        format!("{}In{}", stem(global), self.behind)
    }

    pub(crate) fn queue_out(&self, global: &str) -> String {
        format!("{}Out{}", stem(global), self.behind)
    }

    pub(crate) fn filled(&self, global: &str) -> String {
        format!("{}Filled{}", stem(global), self.behind)
    }

    pub(crate) fn read(&self, global: &str) -> String {
        format!("{}Tile{}", stem(global), self.behind)
    }

    pub(crate) fn written(&self, global: &str) -> String {
        format!("{}Made{}", stem(global), self.behind)
    }

    pub(crate) fn done(&self, global: &str) -> String {
        format!("{}Done{}", stem(global), self.behind)
    }
}

/// The name of a global tensor without what says that it is one.
fn stem(global: &str) -> &str {
    let ends = ["GlobalTensor", "Global", "_gm", "Gm", "GM"];
    ends.iter().find_map(|end| global.strip_suffix(end)).filter(|stem| !stem.is_empty()).unwrap_or(global)
}
