//! `survey`: how much of a tree of operators this tool can build, run and judge, and what stops it where it cannot.
//!
//! [`discover`] finds operators; [`trial`] takes one through the steps, in a process of its own; [`pool`] runs many of
//! those with a time limit each; [`journal`] remembers outcomes, so that a survey that was stopped goes on; [`summary`]
//! counts and groups by cause. What is said about an operator is one [`events::survey::Surveyed`].

mod case;
pub mod cause;
pub mod discover;
mod html;
pub mod journal;
mod judge;
mod markdown;
mod own_tests;
pub mod pool;
mod reach;
mod second_try;
mod stop;
pub mod summary;
#[cfg(test)]
mod tests;
pub mod trial;

pub use html::render_html;
pub use markdown::{Section, render_markdown};
pub use own_tests::OwnTests;
