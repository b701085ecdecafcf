//! Prompts: a pure function of templates, role and state, under a limit of tokens.

use super::role::Role;
use super::state::State;
use super::templates::{TemplateError, Templates};
use super::tokens::tokens;

/// What a model is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// For what.
    pub role: Role,
    /// Instructions.
    pub system: String,
    /// The question.
    pub user: String,
}

/// Why there is no prompt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// A template is at fault.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// It does not fit.
    #[error(
        "the prompt for {role} has about {tokens} tokens with nothing left that could go, and `prompt-tokens` is {limit}"
    )]
    TooLong {
        /// For what.
        role: Role,
        /// How long it is.
        tokens: u64,
        /// How long it may be.
        limit: u64,
    },
}

impl Prompt {
    /// The prompt for a role. What tells least is left out until it has no more than `limit` tokens.
    pub fn build(templates: &Templates, role: Role, state: &State, limit: u64) -> Result<Self, PromptError> {
        let mut state = state.clone();
        loop {
            let (system, user) = templates.render(role, &state)?;
            let prompt = Self { role, system, user };
            if prompt.tokens() <= limit {
                return Ok(prompt);
            }
            let tokens = prompt.tokens();
            state = state.smaller().ok_or(PromptError::TooLong { role, tokens, limit })?;
        }
    }

    /// About how long it is.
    pub fn tokens(&self) -> u64 {
        tokens(&self.system) + tokens(&self.user)
    }

    /// As `--show-prompt` prints it.
    pub fn text(&self) -> String {
        format!("{}\n\n{}\n\n{}\n", self.system, super::templates::DIVIDER, self.user)
    }
}
