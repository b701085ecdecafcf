//! Cheats of one kernel by somebody who knew the rules of the game and not the judge, by what they live on.

use super::Cheat;

mod earlier_results;
mod less_work;
mod unseen_work;
mod who_looks;
mod work_elsewhere;

/// All of them.
pub(super) const BLIND: &[&[Cheat]] =
    &[earlier_results::CHEATS, less_work::CHEATS, unseen_work::CHEATS, who_looks::CHEATS, work_elsewhere::CHEATS];
