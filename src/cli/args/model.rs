//! Options of a run about the language model, and the program, that ascend.toml names.

use std::path::PathBuf;

use agent::Role;
use clap::Args;

/// What a command does with `[model]` and `[proposer]` of ascend.toml.
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
    /// Print what the model would be told for a role (diagnose, plan, propose, repair, evolve, distil, motif or rewind) about the operator as it stands, ask nothing, and
    /// tune nothing. What only an answer could fill in stays empty.
    #[arg(long, value_name = "ROLE")]
    pub show_prompt: Option<Role>,
}

/// `mcp`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    cargo ascend-tune mcp --project norm/rms_norm\n  \
    cargo ascend-tune mcp --allow-run --limit-s 120\n\n\
    Speaks the Model Context Protocol (JSON-RPC 2.0, a message a line): see docs/agent.md. It ends with its input.")]
pub struct McpArgs {
    /// Offer what builds the operator and runs it, as well: profile, hazards and verify. No source file is written.
    #[arg(long)]
    pub allow_run: bool,
    /// Seconds that one call may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0, value_parser = seconds)]
    pub limit_s: f64,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(seconds) if (0.1..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("not a number of seconds from 0.1 to 86400".to_owned()),
    }
}
