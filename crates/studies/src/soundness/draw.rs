//! Draws that a seed alone decides.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A stream of draws.
#[derive(Clone, Debug)]
pub(super) struct Draw(ChaCha8Rng);

impl Draw {
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream);
        Self(generator)
    }

    /// A number below `end`; 0 where there is none.
    pub(super) fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { self.0.random_range(0..end) }
    }

    /// Whether something of so many percent happens.
    pub(super) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub(super) fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    /// Some of several, in their order.
    pub(super) fn some<T: Clone>(&mut self, of: &[T], count: usize) -> Vec<T> {
        let mut left = of.len();
        let mut wanted = count.min(left);
        let mut chosen = Vec::new();
        for item in of {
            if self.below(left) < wanted {
                chosen.push(item.clone());
                wanted -= 1;
            }
            left -= 1;
        }
        chosen
    }

    pub(super) fn number(&mut self) -> u32 {
        self.0.next_u32()
    }
}
