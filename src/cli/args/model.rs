//! Options of a run about the language model, and the program, that ascend.toml names.

use std::path::PathBuf;

use agent::Role;
use clap::Args;

/// What a run does with `[model]` and `[proposer]` of ascend.toml.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Language model ([model] and [proposer] in ascend.toml; docs/agent.md)")]
pub struct ModelArgs {
    /// Leave out the model and the program, although ascend.toml names them.
    #[arg(long)]
    pub no_model: bool,
    /// Open no connection and start no program: no model is asked, except out of a recording.
    #[arg(long)]
    pub offline: bool,
    /// Give the sources to the model's host, and to the program, without asking.
    #[arg(long)]
    pub yes: bool,
    /// Record everything that is exchanged with the model in this file, as JSON Lines.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Take the model's answers from a recording; a question that was not recorded is an error.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "no_model"])]
    pub replay: Option<PathBuf>,
    /// Print what the model would be told for a role (diagnose, plan, propose or repair) about the operator as it stands, ask nothing, and
    /// tune nothing. What only an answer could fill in stays empty.
    #[arg(long, value_name = "ROLE")]
    pub show_prompt: Option<Role>,
}
