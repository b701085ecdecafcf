//! What a command says and what stays behind: terminal, JSON lines, the HTML report, the timeline trace, and what CI systems show.
//!
//! Everything here is a rendering of typed data: [`events`] while a command runs, [`RunRecord`] afterwards. Nothing
//! here prints or writes files by itself; writers and draw targets are handed in.

pub mod ci;
mod comparison;
mod comparison_page;
mod html;
mod human;
mod record;
mod sink;
mod svg;
mod trace;
mod units;

#[cfg(test)]
mod tests;

pub use comparison::compare_runs;
pub use comparison_page::render_comparison;
pub use html::{RenderError, render_html};
pub use human::{Human, HumanOptions, Verbosity};
pub use record::{CaseRecord, ChangeRecord, EvaluationRecord, FileDiff, MachineRecord, RECORD_FORMAT, RunRecord};
pub use sink::{JsonLines, Silent, Sink};
pub use trace::chrome_trace;
pub use units::limiter as limiter_words;
