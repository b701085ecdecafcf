//! Sizes that say something: what operators bring to show how they are called is mostly too small to say anything about speed.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Duration;

use super::TunerError;
use super::case_trial::CaseTrial;
use aicore::HazardKind;
use discovery::cases::{Accepted, Candidate, Finder, Refusal, Sense, resized, traffic_bytes, wider};

/// Modelled time that a case should take at most, in microseconds. Bandwidth moves a large case in a tenth of it; what takes longer
/// is decided by something else, which shorter tensors show as well, and every evaluation would take seconds to simulate.
const MOST_US: f64 = 1000.0;
/// Bytes below which no case is made to save time.
const LEAST_BYTES: u64 = 16 << 10;
/// How many times the bytes that were asked for a case may have once it is known what comes out.
const MOST_OVER: u64 = 4;

/// Hazards of an operator's bookkeeping, with which it may run in production for years.
const BOOKKEEPING: [HazardKind; 4] =
    [HazardKind::QueueMisuse, HazardKind::FlagMisuse, HazardKind::WriteInPadding, HazardKind::UnwrittenOutput];

/// A size that an operator is timed at. From one to the next it is about ten times as much: a rule with a threshold that is good
/// at few sizes is good between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// What fixed costs decide: start-up, and how many cores are worth starting.
    Small,
    /// Where that begins not to matter.
    Medium,
    /// A few tiles for every core.
    Middle,
    /// What bandwidth and throughput decide.
    Large,
}

impl Size {
    /// All of them, in the order in which they are looked for.
    pub const ALL: [Size; 4] = [Size::Large, Size::Middle, Size::Medium, Size::Small];

    /// Bytes of all tensors together.
    fn bytes(self) -> u64 {
        match self {
            Size::Small => 64 << 10,
            Size::Medium => 512 << 10,
            Size::Middle => 4 << 20,
            Size::Large => 64 << 20,
        }
    }

    /// Smaller sizes that stand in where the axes or the memory forbid this one.
    fn alternatives(self) -> &'static [u64] {
        match self {
            Size::Small => &[64 << 10, 128 << 10, 32 << 10],
            Size::Medium => &[512 << 10, 768 << 10],
            Size::Middle => &[4 << 20, 2 << 20],
            Size::Large => &[64 << 20, 32 << 20, 16 << 20],
        }
    }

    /// The word in comments.
    pub fn word(self) -> &'static str {
        match self {
            Size::Small => "small",
            Size::Medium => "medium",
            Size::Middle => "middle",
            Size::Large => "large",
        }
    }
}

/// What finds sizes of a case.
pub(super) struct CaseSizes<'call> {
    pub finder: &'call Finder<'call>,
    pub trial: &'call CaseTrial<'call>,
    /// Processor time of the trial's meter at which to be content with what was found.
    pub until: Duration,
}

impl CaseSizes<'_> {
    /// Whether no further size is tried.
    pub fn is_spent(&self) -> bool {
        self.trial.meter.spent() > self.until
    }

    /// The case with rows or planes as they are in use, of the middle size; `None` where they are so already, or where the definition of the
    /// operator's type does not say that it has such: a last axis of three may be one of coordinates.
    pub async fn of_use(&self, base: &Accepted, known: &BTreeSet<HazardKind>) -> Result<Option<Accepted>, TunerError> {
        let middle = Size::Middle.bytes();
        for wide in wider(&base.candidate) {
            let ways = if is_about(traffic_bytes(&wide), middle) { vec![wide] } else { resized(&wide, middle) };
            for way in ways {
                let accepted = match self.ask(&way).await? {
                    ControlFlow::Break(()) => return Ok(None),
                    ControlFlow::Continue(None) => continue,
                    ControlFlow::Continue(Some(accepted)) => accepted,
                };
                let holds = self.trial.meter.measure(self.finder.sense(&accepted)).await == Sense::Holds;
                if holds && self.trial.time_us(&accepted, known).await?.is_some() {
                    return Ok(Some(accepted));
                }
            }
        }
        Ok(None)
    }

    /// The case as the tiling function accepts it, or nothing; a break where no further one is to be tried.
    async fn ask(&self, way: &Candidate) -> Result<ControlFlow<(), Option<Accepted>>, TunerError> {
        if self.is_spent() {
            return Ok(ControlFlow::Break(()));
        }
        match self.trial.meter.measure(self.finder.ask(way)).await {
            // What comes out may be far larger than was thought.
            Ok(accepted) if accepted.bytes() > 4 * Size::Large.bytes() => Ok(ControlFlow::Continue(None)),
            Ok(accepted) => Ok(ControlFlow::Continue(Some(accepted))),
            Err(Refusal::Io(error)) => Err(error.into()),
            Err(refusal) if refusal.is_endless() => Ok(ControlFlow::Break(())),
            Err(_) => Ok(ControlFlow::Continue(None)),
        }
    }

    /// The case at this size, if the tiling function takes one and the operator runs on it without a fault; a shorter one where
    /// that takes too long to be simulated again and again.
    pub async fn at(
        &self,
        base: &Accepted,
        size: Size,
        known: &BTreeSet<HazardKind>,
    ) -> Result<Option<Accepted>, TunerError> {
        let clean = self.at_with(base, size, known).await?;
        if clean.is_some() {
            return Ok(clean);
        }
        // A size with faults that leave its results alone says more than none: `run` shows and keeps them.
        let tolerated = known.iter().copied().chain(BOOKKEEPING).collect();
        self.at_with(base, size, &tolerated).await
    }

    async fn at_with(
        &self,
        base: &Accepted,
        size: Size,
        known: &BTreeSet<HazardKind>,
    ) -> Result<Option<Accepted>, TunerError> {
        if self.is_spent() {
            return Ok(None);
        }
        let present = traffic_bytes(&base.candidate);
        let mut found = None;
        if is_about(present, size.bytes()) {
            found = self.trial.time_us(base, known).await?.map(|us| (base.clone(), us));
        }
        if found.is_none() {
            for &wanted in size.alternatives() {
                found = self.made(base, (size, wanted), known).await?;
                if found.is_some() {
                    break;
                }
            }
        }
        let mut wanted = size.bytes();
        while let Some((case, us)) = &found {
            if *us <= MOST_US {
                break;
            }
            // Time goes with the bytes, or nearly so.
            let bytes = traffic_bytes(&case.candidate);
            wanted = ((bytes as f64 * MOST_US / us) as u64).min(wanted / 2);
            found = if wanted < LEAST_BYTES { None } else { self.made(base, (size, wanted), known).await? };
        }
        Ok(found.map(|(case, _)| case))
    }

    /// The case made as long as wanted, with its modelled time in microseconds.
    async fn made(
        &self,
        base: &Accepted,
        (size, wanted): (Size, u64),
        known: &BTreeSet<HazardKind>,
    ) -> Result<Option<(Accepted, f64)>, TunerError> {
        for mut way in resized(&base.candidate, wanted) {
            // A size that is hardly another one tells nothing more.
            if !is_about(traffic_bytes(&way), wanted) {
                continue;
            }
            let place = std::mem::take(&mut way.place);
            // How long an intermediate case was made says nothing of this one.
            let source = place.split(", dimension ").next().unwrap_or_default();
            let from = if source.is_empty() { "guessed" } else { source };
            match self.ask(&way).await? {
                ControlFlow::Break(()) => return Ok(None),
                ControlFlow::Continue(None) => {}
                // What was asked for by an attribute or a value that says something else.
                ControlFlow::Continue(Some(accepted)) if !is_about(traffic_bytes(&accepted.candidate), wanted) => {}
                // Outputs that grow with more than one axis.
                ControlFlow::Continue(Some(accepted)) if accepted.bytes() > wanted.saturating_mul(MOST_OVER) => {}
                ControlFlow::Continue(Some(mut accepted)) => {
                    let bytes = amount(accepted.bytes());
                    accepted.candidate.place = format!("{from}, made {} ({bytes} of traffic)", size.word());
                    if let Some(us) = self.trial.time_us(&accepted, known).await? {
                        return Ok(Some((accepted, us)));
                    }
                }
            }
        }
        Ok(None)
    }
}

/// Whether two cases are of one size.
pub(super) fn is_about(bytes: u64, wanted: u64) -> bool {
    (wanted / 2..=wanted * 2).contains(&bytes)
}

/// In the larger unit in which it is not less than one, to the nearest.
fn amount(bytes: u64) -> String {
    let to_nearest = |shift: u32| (bytes + (1 << (shift - 1))) >> shift;
    if to_nearest(10) >= 1 << 10 { format!("{} MiB", to_nearest(20)) } else { format!("{} KiB", to_nearest(10)) }
}

#[cfg(test)]
mod tests {
    use super::amount;

    #[test]
    fn amounts_are_to_the_nearest() {
        assert_eq!(amount(64 << 10), "64 KiB");
        assert_eq!(amount((4 << 20) - 20), "4 MiB");
        assert_eq!(amount(2_883_584), "3 MiB");
        assert_eq!(amount(1_047_000), "1022 KiB");
    }
}
