//! Sizes at which two tiling functions part: where one begins to launch more cores than the other, or stops to launch fewer.
//!
//! A rule that lowers the number of cores for little work is at its worst where it ends: one core less of eight is an eighth more work
//! for each, and hardly less to launch. Such a size is a narrow place, and probes drawn at random miss it. The tiling functions are
//! cheap to ask, so it is looked for.

use std::cmp::Ordering;

use super::rescale::{leading_shape, traffic_bytes, with_length};
use super::{Accepted, Candidate, Finder, Refusal};

/// Lengths that are asked for between the smallest and the largest case, each the same factor from the next.
const SAMPLES: u32 = 18;
/// How far below the smallest and above the largest case: a rule that none of them sees the end of has one all the same.
const BEYOND: u64 = 8;
/// Edges that are looked at; each is two sizes.
const MOST_EDGES: usize = 3;

/// Two tiling functions of one operator.
pub struct Edges<'a> {
    /// As it was.
    pub before: Finder<'a>,
    /// As it is now.
    pub now: Finder<'a>,
}

/// A size that both accept, and whether more or fewer cores take part now.
#[derive(Clone)]
struct Asked {
    length: u64,
    change: Ordering,
    before: Accepted,
}

impl Edges<'_> {
    /// Cases on both sides of every edge along the first axis, from a fraction of the smallest case to a multiple of the largest one.
    ///
    /// # Errors
    /// Where data for a question cannot be written.
    pub async fn between(&self, smallest: &Candidate, largest: &Candidate) -> Result<Vec<Accepted>, std::io::Error> {
        let length = |case: &Candidate| leading_shape(case).and_then(|shape| shape.first().copied()).unwrap_or(1);
        let first = length(smallest);
        let factor = traffic_bytes(largest).max(1) as f64 / traffic_bytes(smallest).max(1) as f64;
        let (low, high) = ((first / BEYOND).max(1), (first as f64 * factor.max(1.0)) as u64 * BEYOND);
        let mut sampled: Vec<Asked> = Vec::new();
        for length in lengths(low, high) {
            if sampled.last().is_none_or(|last| last.length < length) {
                sampled.extend(self.ask(smallest, length).await?);
            }
        }
        let mut found = Vec::new();
        let parts: Vec<(Asked, Asked)> = sampled
            .windows(2)
            .filter(|pair| pair[0].change != pair[1].change)
            .map(|pair| (pair[0].clone(), pair[1].clone()))
            .take(MOST_EDGES)
            .collect();
        for (mut left, mut right) in parts {
            while right.length - left.length > 1 {
                let Some(middle) = self.ask(smallest, left.length.midpoint(right.length)).await? else { break };
                if middle.change == left.change { left = middle } else { right = middle }
            }
            found.extend([left.before, right.before]);
        }
        Ok(found)
    }

    /// Both tiling functions on a case of another length; `None` where one of them refuses it.
    async fn ask(&self, case: &Candidate, length: u64) -> Result<Option<Asked>, std::io::Error> {
        let resized = with_length(case, 0, length).unwrap_or_else(|| case.clone());
        let mut answers = Vec::new();
        for finder in [&self.before, &self.now] {
            match finder.ask(&resized).await {
                Ok(accepted) => answers.push(accepted),
                Err(Refusal::Io(error)) => return Err(error),
                Err(_) => return Ok(None),
            }
        }
        let [before, now] = <[Accepted; 2]>::try_from(answers).unwrap_or_else(|_| unreachable!("one each"));
        let change = now.block_dim.cmp(&before.block_dim);
        Ok(Some(Asked { length, change, before }))
    }
}

/// Lengths from `low` to `high`, both included, each the same factor from the next.
fn lengths(low: u64, high: u64) -> impl Iterator<Item = u64> {
    let factor = (high.max(low) as f64 / low as f64).powf(1.0 / f64::from(SAMPLES - 1));
    (0..SAMPLES).map(move |step| (low as f64 * factor.powi(step.cast_signed())).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_reach_from_the_smallest_to_the_largest() {
        let all: Vec<u64> = lengths(4, 1 << 20).collect();
        assert_eq!((all.first(), all.last(), all.len()), (Some(&4), Some(&(1 << 20)), SAMPLES as usize));
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(lengths(7, 7).all(|length| length == 7));
    }
}
