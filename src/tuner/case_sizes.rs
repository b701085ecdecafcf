//! Sizes that say something: what operators bring to show how they are called is mostly too small to say anything about speed.

use super::TunerError;
use super::case_trial::CaseTrial;
use crate::cases::{Accepted, Finder, Refusal, resized, traffic_bytes};

/// A size that an operator is timed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// What fixed costs decide: start-up, and how many cores are worth starting.
    Small,
    /// A few tiles for every core.
    Middle,
    /// What bandwidth and throughput decide.
    Large,
}

impl Size {
    /// All of them, in the order in which they are looked for.
    pub const ALL: [Size; 3] = [Size::Large, Size::Middle, Size::Small];

    /// Bytes of all tensors together.
    fn bytes(self) -> u64 {
        match self {
            Size::Small => 64 << 10,
            Size::Middle => 4 << 20,
            Size::Large => 64 << 20,
        }
    }

    /// Smaller sizes that stand in where the axes or the memory forbid this one.
    fn alternatives(self) -> &'static [u64] {
        match self {
            Size::Small => &[64 << 10, 128 << 10, 32 << 10],
            Size::Middle => &[4 << 20, 2 << 20],
            Size::Large => &[64 << 20, 32 << 20, 16 << 20],
        }
    }

    /// The word in comments.
    pub fn word(self) -> &'static str {
        match self {
            Size::Small => "small",
            Size::Middle => "middle",
            Size::Large => "large",
        }
    }
}

/// What finds sizes of a case.
pub(super) struct CaseSizes<'call> {
    pub finder: &'call Finder<'call>,
    pub trial: &'call CaseTrial<'call>,
}

impl CaseSizes<'_> {
    /// The case at this size, if the tiling function takes one and the operator runs on it without a fault.
    pub async fn at(&self, base: &Accepted, size: Size) -> Result<Option<Accepted>, TunerError> {
        let present = traffic_bytes(&base.candidate);
        if (size.bytes() / 2..=size.bytes() * 2).contains(&present) {
            return Ok(Some(base.clone()));
        }
        for &wanted in size.alternatives() {
            for mut way in resized(&base.candidate, wanted) {
                // A size that is hardly another one tells nothing more.
                if !(wanted / 2..=wanted * 2).contains(&traffic_bytes(&way)) {
                    continue;
                }
                let place = std::mem::take(&mut way.place);
                let from = if place.is_empty() { "guessed".to_owned() } else { place };
                way.place = format!("{from}, made {} ({} of traffic)", size.word(), amount(wanted));
                match self.finder.ask(&way).await {
                    Ok(accepted) if self.trial.is_fine(&accepted).await? => return Ok(Some(accepted)),
                    Ok(_) => {}
                    Err(Refusal::Io(error)) => return Err(error.into()),
                    Err(refusal) if refusal.is_endless() => return Ok(None),
                    Err(_) => {}
                }
            }
        }
        Ok(None)
    }
}

fn amount(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{} KiB", bytes >> 10) }
}
