//! What evaluations cost, by whether they needed a rebuild: learned from the seconds of this run.

use std::collections::BTreeSet;

use super::injection::Injection;
use super::plan::Plan;
use search::Prices;

/// Evaluations of each kind from which a price is believed.
const BELIEVED: u32 = 3;

/// Mean of the seconds of a kind of evaluations.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    count: u32,
}

/// The seconds of evaluations, and what was built so far.
#[derive(Clone, Debug, Default)]
pub struct PriceBook {
    built: BTreeSet<String>,
    rebuilt: Mean,
    reused: Mean,
}

impl PriceBook {
    /// Whether this plan needs a build that none before it had. Takes note of it.
    pub fn needs_build(&mut self, plan: &Plan) -> bool {
        self.built.insert(format!("{} {:?}", plan.sources.digest(), plan.cmake))
    }

    /// Takes note of what an evaluation took.
    pub fn note(&mut self, rebuilt: bool, seconds: f64) {
        let mean = if rebuilt { &mut self.rebuilt } else { &mut self.reused };
        mean.sum += seconds;
        mean.count += 1;
    }

    /// Seconds of all evaluations.
    pub fn seconds(&self) -> f64 {
        self.rebuilt.sum + self.reused.sum
    }

    /// The prices for a strategy; `None` as long as too little is known, or where a rebuild is no dearer.
    pub fn prices(&self, injection: &Injection) -> Option<Prices> {
        let (rebuilt, reused) = (self.rebuilt, self.reused);
        if rebuilt.count < BELIEVED || reused.count < BELIEVED {
            return None;
        }
        let mean = |mean: Mean| mean.sum / f64::from(mean.count);
        let rebuild = mean(rebuilt) / mean(reused).max(1e-6);
        let compiled_in = injection.compiled_in.iter().map(|(name, _)| name.clone()).collect();
        (rebuild > 1.0).then_some(Prices { compiled_in, rebuild })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::SourceTree;

    #[test]
    fn a_rebuild_costs_what_it_took() {
        let mut book = PriceBook::default();
        let plan = |text: &str| {
            let mut sources = SourceTree::new();
            sources.insert("a.h", text);
            Plan { sources, ..Plan::default() }
        };
        let mut injection = Injection::none();
        injection.compiled_in.push(("TILE".to_owned(), "a template parameter".to_owned()));
        for (text, seconds) in [("1", 4.0), ("1", 1.0), ("2", 6.0), ("1", 1.0), ("2", 1.0)] {
            let build = book.needs_build(&plan(text));
            book.note(build, seconds);
            assert_eq!(book.prices(&injection), None, "two rebuilds are too few");
        }
        let build = book.needs_build(&plan("3"));
        book.note(build, 5.0);
        let prices = book.prices(&injection).expect("prices");
        assert_eq!((prices.compiled_in, prices.rebuild), (vec!["TILE".to_owned()], 5.0));
    }
}
