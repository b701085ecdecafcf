//! A language model as one more proposer of rewrites. What it says is a patch like any other: it goes through the same gate, the same
//! verification, and the same probes.
//!
//! Prompts are a pure function of [`State`], [`Templates`] and [`Role`]; answers become changes of the sources by [`change`]. Only
//! [`Client`] opens connections, and only with a [`Consent`].

mod answer;
mod api;
mod by_hand;
mod cassette;
mod chat;
mod client;
mod collaborator;
mod completion;
mod evidence;
mod ledger;
mod lessons;
mod local;
pub mod mcp;
mod mind;
mod onto;
mod population;
mod program;
mod prompt;
mod removal;
mod rewinder;
mod role;
mod scrub;
mod settings;
mod state;
mod structured;
mod talk;
mod templates;
#[doc(hidden)]
pub mod testing;
#[cfg(test)]
mod tests;
mod tiling;
mod tokens;
mod tools;

pub use answer::{AnswerError, Change, change};
pub use api::api_facts;
pub use by_hand::open_recording;
pub use cassette::{CassetteError, Kept, Recorder, Replay};
pub use chat::{CallError, Chat, Reply, Request, ToolCall, Tries};
pub use client::{Client, ClientError, Consent, Streaming};
pub use collaborator::{Collaborator, Used};
pub use ledger::{Spent, Usage};
pub use lessons::Learned;
pub use local::{LocalMotifs, Rule, disagrees};
pub use population::{Fate, Member};
pub use program::{Program, ProgramSettings};
pub use prompt::{Prompt, PromptError};
pub use rewinder::ModelRewinder;
pub use role::Role;
pub use scrub::{Key, without_folders};
pub use settings::{Budget, Settings};
pub use state::{Failed, State, Subject};
pub use templates::{TemplateError, Templates};
pub use tokens::tokens;
pub use tools::{Bench, Tool, Toolbox, Try, clipped, search_bank};
