//! How many evaluations proposals of a model may take: by what they have brought, beside what everybody else has.

use proposer::Standing;

/// What proposals have brought so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    evaluations: u64,
    /// Logarithm of the product of the gains that were taken over.
    gain: f64,
}

/// Evaluations at once of proposals that have proved better than others: half of a batch, so that both go on.
const PROVED: usize = 2;

impl Evidence {
    /// Takes note of an evaluation; `gain` is the ratio that it brought, 1 where it was not taken over.
    pub fn note(&mut self, gain: f64) {
        self.evaluations += 1;
        self.gain += gain.max(1.0).ln();
    }

    /// Evaluations that were made for it.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }

    /// Evaluations that may be made now. As long as nothing was gained these are a `share` of those of others, so that a run with a
    /// useless model needs no more than that beside what it would have needed; where it brings more for an evaluation than others, as
    /// many as may go on beside theirs; all where nobody else has anything left.
    pub fn allowed(&self, share: f64, standing: &Standing) -> usize {
        if share >= 1.0 || standing.last_resort {
            return usize::MAX;
        }
        let others = standing.evaluations.saturating_sub(self.evaluations);
        let others_gain = (standing.speedup.max(1.0).ln() - self.gain).max(0.0);
        let rate = |gain: f64, evaluations: u64| gain / evaluations.max(1) as f64;
        if self.gain > 0.0 && rate(self.gain, self.evaluations) >= rate(others_gain, others) {
            return PROVED;
        }
        let whole = (others as f64 * share) as u64;
        usize::try_from(whole.saturating_sub(self.evaluations)).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of batches of four in which the model gains `gain` with each of its evaluations and the others `other`.
    fn run(share: f64, gain: f64, other: f64, evaluations: u64) -> Evidence {
        let mut evidence = Evidence::default();
        let mut standing = Standing::default();
        while standing.evaluations < evaluations {
            let own = evidence.allowed(share, &standing).min(4);
            for place in 0..4 {
                standing.evaluations += 1;
                standing.speedup *= if place < own { gain } else { other };
                if place < own {
                    evidence.note(gain);
                }
            }
        }
        evidence
    }

    #[test]
    fn a_useless_model_takes_a_tenth_of_what_others_take() {
        for evaluations in 1..400 {
            let of_model = run(0.1, 1.0, 1.01, evaluations).evaluations();
            let others = evaluations.next_multiple_of(4) - of_model;
            assert!(of_model * 10 <= others, "{of_model} beside {others}");
        }
        assert!(run(0.1, 1.0, 1.01, 400).evaluations() >= 32, "but that it has");
        assert_eq!(run(0.0, 1.5, 1.0, 400).evaluations(), 0);
    }

    #[test]
    fn one_that_brings_more_for_an_evaluation_goes_on_beside_the_others() {
        let better = run(0.1, 1.05, 1.001, 100).evaluations();
        assert!((40..=52).contains(&better), "{better}");
        let worse = run(0.1, 1.001, 1.05, 100).evaluations();
        assert!(worse <= 10, "{worse}");
    }

    #[test]
    fn where_nobody_else_has_anything_left_there_is_no_limit() {
        let standing = Standing { evaluations: 3, speedup: 1.0, last_resort: true };
        assert_eq!(Evidence::default().allowed(0.1, &standing), usize::MAX);
        assert_eq!(Evidence::default().allowed(1.0, &Standing::default()), usize::MAX);
    }
}
