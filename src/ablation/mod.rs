//! What each part of the tuner is worth: the same operators tuned with parts taken out, at equal budgets and over several
//! seeds. Here are the variants, one trial's result, and the tables; running trials is the command's.

mod markdown;
mod summary;
mod trial;
mod variant;

pub use markdown::render;
pub use summary::{AblationReport, Reached, THRESHOLDS, VariantSummary, summarise};
pub use trial::{Finished, Step, Trial};
pub use variant::Variant;

#[cfg(test)]
mod tests;
