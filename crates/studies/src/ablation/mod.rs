//! What each part of the tuner is worth: the same operators tuned with parts taken out, at equal budgets and over several
//! seeds. Here are the sums and the tables; what is said of a run is [`events::ablation`], running trials is the command's.

mod markdown;
mod summary;

pub use markdown::render;
pub use summary::summarise;

#[cfg(test)]
mod tests;
