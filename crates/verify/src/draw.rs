//! What the seed of a run decides about its trials, so that no operator can know it beforehand.

use super::DataKind;

/// The draw of a run. The same seed draws the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Draw {
    seed: u64,
}

impl Draw {
    /// The draw of a run with this seed.
    pub fn of(seed: u64) -> Self {
        Self { seed }
    }

    /// Two bytes that unwritten memory is filled with: results that depend on it differ between the two. As half, single and
    /// integer each is a number of some size, so that it does not drown in a sum, and the two have different signs.
    pub fn garbage(self) -> (u8, u8) {
        let drawn = self.number("garbage");
        (0xC1 + (drawn % 46) as u8, 0x35 + (drawn / 46 % 58) as u8)
    }

    /// Seed of the data of a trial. What is timed is the same in every run, for times are compared; what is only checked
    /// is not.
    pub fn data_seed(self, kind: DataKind, seed: u32) -> u64 {
        match (kind, seed) {
            (DataKind::Random, 0) => 0,
            (DataKind::Random, _) => self.number("random").wrapping_add(seed.into()),
            (DataKind::Hostile, _) => self.number("hostile").wrapping_add(seed.into()),
            (DataKind::Zeros, _) => self.number("zeros").wrapping_add(seed.into()),
        }
    }

    fn number(self, what: &str) -> u64 {
        let hash = blake3::Hasher::new().update(&self.seed.to_le_bytes()).update(what.as_bytes()).finalize();
        let first = hash.as_bytes().first_chunk().copied().unwrap_or_default();
        u64::from_le_bytes(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    #[test]
    fn what_is_checked_differs_from_run_to_run_and_what_is_timed_does_not() {
        let seeds = |run| {
            let draw = Draw::of(run);
            [(DataKind::Random, 1), (DataKind::Random, 2), (DataKind::Hostile, 0)]
                .map(|(kind, seed)| draw.data_seed(kind, seed))
        };
        assert_eq!(seeds(4), seeds(4));
        assert!(seeds(4).iter().zip(seeds(5)).all(|(left, right)| *left != right));
        assert_eq!(Draw::of(4).data_seed(DataKind::Random, 0), Draw::of(5).data_seed(DataKind::Random, 0));
    }

    #[test]
    fn garbage_is_never_small_and_its_two_bytes_are_seldom_the_same_in_another_run() {
        let all: std::collections::BTreeSet<(u8, u8)> = (0..400).map(|run| Draw::of(run).garbage()).collect();
        assert!(all.len() > 350);
        for (first, second) in all {
            let half = |byte: u8| f16::from_bits(u16::from_le_bytes([byte; 2])).to_f32();
            assert!((-8e3..-2.0).contains(&half(first)) && (0.3..8e3).contains(&half(second)), "{first:x} {second:x}");
        }
    }
}
