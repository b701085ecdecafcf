//! Sizes at which two tiling functions part: where one begins to launch more cores than the other, or stops to launch fewer.
//!
//! A rule that lowers the number of cores for little work is at its worst where it ends: one core less of eight is an eighth more work
//! for each, and hardly less to launch. Such a size is a narrow place, and probes drawn at random miss it. Where it has begun and not
//! yet come to all cores, work is divided among any number of them, which no size on either side shows: an odd share is ragged for
//! every core. The tiling functions are cheap to ask, so both are looked for.
//!
//! How much work a share is, is no matter of its number alone: what was little at short rows is much at long ones, and a rule that counts
//! rows keeps cores away from either. So the sizes at which it takes most of them away are looked at once more with longer rows.

use std::cmp::Ordering;

use super::proportion::of_length;
use super::rescale::{leading_shape, traffic_bytes};
use super::{Accepted, Candidate, Finder, Refusal};

/// Lengths that are asked for between the smallest and the largest case, each the same factor from the next.
const SAMPLES: u32 = 18;
/// How far below the smallest and above the largest case: a rule that none of them sees the end of has one all the same.
const BEYOND: u64 = 8;
/// Edges that are looked at; each is two sizes.
const MOST_EDGES: usize = 3;
/// Sizes that are looked at between them, where the number of cores is on its way.
const ON_THE_WAY: u32 = 4;
/// How many times as long rows are where cores were taken away.
const LONGER_ROWS: [u64; 3] = [4, 13, 32];
/// Bytes of all tensors of a case with longer rows, such that it runs with data.
const LONGER_ROWS_BYTES: u64 = 12 << 20;

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
    cores: u32,
    before: Accepted,
}

impl Asked {
    /// How many times as many cores took part before.
    fn lowered(&self) -> f64 {
        f64::from(self.before.block_dim) / f64::from(self.cores.max(1))
    }
}

/// A length, whether more or fewer cores take part at it now, and how many.
type Sample = (u64, Ordering, u32);

impl Edges<'_> {
    /// Cases on both sides of every edge along the first axis, from a fraction of the smallest case to a multiple of the largest one, and
    /// some where the number of cores is on its way.
    ///
    /// # Errors
    /// Where data for a question cannot be written.
    pub async fn between(&self, smallest: &Candidate, largest: &Candidate) -> Result<Vec<Accepted>, std::io::Error> {
        let length = |case: &Candidate| leading_shape(case).and_then(|shape| shape.first().copied()).unwrap_or(1);
        let first = length(smallest);
        let factor = traffic_bytes(largest).max(1) as f64 / traffic_bytes(smallest).max(1) as f64;
        let (low, high) = ((first / BEYOND).max(1), (first as f64 * factor.max(1.0)) as u64 * BEYOND);
        let mut lengths: Vec<u64> = lengths(low, high).collect();
        lengths.dedup();
        let samples: Vec<Candidate> = lengths.iter().map(|length| of_length(smallest, 0, *length)).collect();
        self.before.foresee(&samples).await;
        self.now.foresee(&samples).await;
        let mut sampled: Vec<Asked> = Vec::new();
        for length in lengths {
            sampled.extend(self.ask(smallest, length).await?);
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
        let samples: Vec<Sample> = sampled.iter().map(|asked| (asked.length, asked.change, asked.cores)).collect();
        for length in on_the_way(&samples) {
            let asked = self.ask(smallest, length).await?;
            found.extend(asked.filter(|asked| asked.change != Ordering::Equal).map(|asked| asked.before));
        }
        // Where they were taken away most, and where they were taken away last.
        let fewer = || sampled.iter().filter(|asked| asked.change == Ordering::Less);
        let most = fewer().max_by(|one, other| one.lowered().total_cmp(&other.lowered()));
        let mut lengths: Vec<u64> = most.into_iter().chain(fewer().next_back()).map(|asked| asked.length).collect();
        lengths.dedup();
        for length in lengths {
            found.extend(self.with_longer_rows(smallest, length).await?);
        }
        Ok(found)
    }

    /// Cases of this length whose rows are longer, as far as both accept them and fewer cores take part in them now.
    async fn with_longer_rows(&self, case: &Candidate, length: u64) -> Result<Vec<Accepted>, std::io::Error> {
        let shape = leading_shape(case).unwrap_or_default();
        let (Some(axis), Some(row)) = (shape.len().checked_sub(1).filter(|axis| *axis > 0), shape.last()) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for times in LONGER_ROWS {
            let longer = of_length(case, axis, row * times);
            if traffic_bytes(&of_length(&longer, 0, length)) > LONGER_ROWS_BYTES {
                break;
            }
            let asked = self.ask(&longer, length).await?;
            found.extend(asked.filter(|asked| asked.change == Ordering::Less).map(|asked| asked.before));
        }
        Ok(found)
    }

    /// Both tiling functions on a case of another length; `None` where one of them refuses it.
    async fn ask(&self, case: &Candidate, length: u64) -> Result<Option<Asked>, std::io::Error> {
        let resized = of_length(case, 0, length);
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
        Ok(Some(Asked { length, change, cores: now.block_dim, before }))
    }
}

/// Odd lengths, spread over those at which another number of cores takes part than before and not yet the most.
fn on_the_way(samples: &[Sample]) -> Vec<u64> {
    let most = samples.iter().map(|(_, _, cores)| *cores).max();
    let is_on_its_way = |(_, change, cores): &Sample| *change != Ordering::Equal && Some(*cores) < most;
    let (Some(first), Some(last)) = (samples.iter().position(is_on_its_way), samples.iter().rposition(is_on_its_way))
    else {
        return Vec::new();
    };
    let (low, high) = (samples[first].0, samples.get(last + 1).unwrap_or(&samples[last]).0);
    let factor = high as f64 / low as f64;
    let at = |place: u32| (low as f64 * factor.powf(f64::from(place) / f64::from(ON_THE_WAY + 1))) as u64 | 1;
    let mut lengths: Vec<u64> = (1..=ON_THE_WAY).map(at).collect();
    lengths.dedup();
    lengths
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

    #[test]
    fn numbers_on_their_way_are_tried_at_odd_lengths_between_old_and_all_cores() {
        use Ordering::{Equal, Greater, Less};
        let raised =
            [(256, Equal, 8), (512, Greater, 9), (1024, Greater, 16), (2048, Greater, 32), (4096, Greater, 32)];
        let found = on_the_way(&raised);
        assert_eq!(found.len(), 4);
        assert!(found.iter().all(|length| (512..2048).contains(length) && length % 2 == 1), "{found:?}");
        let lowered = [(1, Less, 1), (64, Less, 12), (256, Equal, 48)];
        assert!(on_the_way(&lowered).iter().all(|length| (1..=256).contains(length)));
        let at_once = [(256, Equal, 8), (512, Greater, 32), (1024, Greater, 32)];
        assert!(on_the_way(&at_once).is_empty(), "nothing lies between");
    }
}
