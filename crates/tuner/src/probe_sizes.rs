//! How large probes are: what the operator gets through in the time there is, and whether that is enough to tell.

use super::{CaseTime, Workspace};
use discovery::cases::{Candidate as CaseCandidate, Origin, traffic_bytes};
use manifest::Case;

/// Bytes of all tensors that no probe goes beyond.
pub(super) const MOST_BYTES: u64 = 256 << 20;
/// Unified buffers that a probe may fill however slow the cases are for their size.
const SOME_TILES: u64 = 4;
/// Modelled time that a probe takes at most, in microseconds, or twice as long as the longest case: what takes longer takes minutes
/// to simulate.
const MOST_US: f64 = 5_000.0;

/// Bytes of all tensors of a case.
pub(super) fn case_bytes(case: &Case) -> u64 {
    traffic_bytes(&candidate_of(case))
}

/// A case of the manifest as what probes are drawn from.
pub(super) fn candidate_of(case: &Case) -> CaseCandidate {
    CaseCandidate {
        origin: Origin::Guess,
        place: case.name.clone(),
        inputs: case.inputs.clone(),
        outputs: case.outputs.clone(),
        output_shapes: case.outputs.iter().filter_map(|output| output.shape.clone()).collect(),
        attributes: case.attributes.clone(),
        data: None,
        resized: false,
        assumed: false,
    }
}

/// Modelled time that a probe takes at most, in microseconds.
pub(super) fn most_us(times: &[CaseTime]) -> f64 {
    times.iter().map(|time| 2.0 * time.task_us).fold(MOST_US, f64::max)
}

/// Bytes that were seen, where a tile of one core may hold them all and more was tried in vain.
pub(super) fn unreached(seen_bytes: Option<u64>, tried_bytes: Option<u64>, ub_bytes: u64) -> Option<u64> {
    seen_bytes.filter(|seen| *seen < ub_bytes && tried_bytes.is_some_and(|tried| tried > *seen))
}

/// Bytes of all tensors of a probe that the operator as it is should get through in that time, going by its fastest case. Where all
/// cases are a few elements that says nothing, for launch is all that takes time: what fills a unified buffer some times is
/// always tried.
pub(super) fn affordable_bytes(workspace: &Workspace, times: &[CaseTime]) -> u64 {
    let cases = times.iter().filter_map(|time| {
        let case = workspace.manifest.cases.iter().find(|case| case.name == time.name)?;
        Some(time.task_us / case_bytes(case).max(1) as f64)
    });
    let least_us = cases.fold(f64::INFINITY, f64::min);
    if !least_us.is_finite() {
        return MOST_BYTES;
    }
    let some_tiles = SOME_TILES * workspace.machine.parameters.ub_bytes as u64;
    ((most_us(times) / least_us) as u64).clamp(some_tiles, MOST_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_tile_holds_says_nothing_of_a_second_one() {
        const UB: u64 = 196_608;
        assert_eq!(unreached(Some(4_096), Some(500_000), UB), Some(4_096));
        assert_eq!(unreached(Some(UB), Some(500_000), UB), None, "a second tile was seen");
        assert_eq!(unreached(Some(4_096), Some(4_096), UB), None, "the operator takes nothing larger");
        assert_eq!(unreached(Some(4_096), None, UB), None);
    }
}
