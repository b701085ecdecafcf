//! What a run may ask of a model: the manifest's table with its defaults.

use std::collections::BTreeMap;
use std::time::Duration;

use manifest::{ModelSettings, host_of};

use super::role::Role;

/// What a run may ask of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Address before `/chat/completions`, without a slash at its end.
    pub endpoint: String,
    /// Model by role.
    pub models: BTreeMap<Role, String>,
    /// Environment variable that holds the key.
    pub key_variable: String,
    /// Temperature of sampling.
    pub temperature: f64,
    /// Tokens that a prompt may have, by an estimate of three bytes a token.
    pub prompt_tokens: u64,
    /// Tokens that an answer may have.
    pub answer_tokens: u64,
    /// How long to wait for an answer.
    pub timeout: Duration,
    /// What may be spent.
    pub budget: Budget,
    /// Whether answers are asked for piece by piece, as they come into being.
    pub stream: bool,
    /// Whether answers are asked for as JSON by a schema.
    pub structured: bool,
    /// Names of tools that the model may call.
    pub tools: Vec<String>,
    /// Calls of tools for one answer, at most.
    pub tool_calls: u32,
    /// How long one call may take.
    pub tool_limit: Duration,
    /// Answers in which the tiling function may be evolved.
    pub evolve: u32,
    /// Islands of its population.
    pub islands: usize,
    /// Whether the model is asked in the end what was learned.
    pub distil: bool,
    /// Whether it states what was kept as local motifs.
    pub local_motifs: bool,
    /// Optimisations that `rewind` asks it to take out.
    pub rewind: u32,
    /// Answers that mend one refused proposal, at most.
    pub repairs: u32,
    /// Share of the other evaluations that proposals may take before they have brought anything; 1 for no limit.
    pub share: f64,
    /// Proposals that come of one conversation, at most.
    pub at_once: usize,
}

/// What a run may spend on a model; `None` for no limit of the kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// Tokens of prompts and answers.
    pub tokens: Option<u64>,
    /// Money, in the currency of the prices.
    pub money: Option<f64>,
    /// Seconds of answering.
    pub seconds: Option<f64>,
    /// Price of a token of a prompt.
    pub per_prompt_token: f64,
    /// Price of a token of an answer.
    pub per_answer_token: f64,
}

/// Tokens of a run where the manifest sets no limit of them.
const TOKENS: u64 = 200_000;
/// As many as a plan has ideas: one more evaluation of a batch is left for others.
pub(super) const AT_ONCE: usize = 3;
/// Prices are given for so many tokens.
const PRICED: f64 = 1e6;

impl Settings {
    /// Of a table that the manifest found sound.
    pub fn of(table: &ModelSettings) -> Self {
        let name = table.name.clone().unwrap_or_default();
        let model = |role: Role| (role, table.roles.get(role.name()).unwrap_or(&name).clone());
        let seconds = table.timeout_s.unwrap_or(120.0);
        Self {
            endpoint: table.endpoint.clone().unwrap_or_default().trim_end_matches('/').to_owned(),
            models: Role::ALL.map(model).into(),
            key_variable: table.key_variable().to_owned(),
            temperature: table.temperature.unwrap_or(0.2),
            prompt_tokens: table.prompt_tokens.unwrap_or(16_000).into(),
            answer_tokens: table.answer_tokens.unwrap_or(4_000).into(),
            timeout: Duration::from_secs_f64(seconds),
            budget: Budget {
                tokens: Some(table.budget_tokens.unwrap_or(TOKENS)),
                money: table.budget_money,
                seconds: table.budget_s,
                per_prompt_token: table.price_prompt.unwrap_or(0.0) / PRICED,
                per_answer_token: table.price_answer.unwrap_or(0.0) / PRICED,
            },
            stream: table.stream.unwrap_or(true),
            structured: table.structured.unwrap_or(false),
            tools: table.tools.clone(),
            tool_calls: table.tool_calls.unwrap_or(6),
            tool_limit: Duration::from_secs_f64(table.tool_s.unwrap_or(60.0)),
            evolve: table.evolve.unwrap_or(0),
            islands: table.islands.unwrap_or(2) as usize,
            distil: table.distil.unwrap_or(false),
            local_motifs: table.local_motifs.unwrap_or(false),
            rewind: table.rewind.unwrap_or(0),
            repairs: table.repairs.unwrap_or(2),
            share: table.share.unwrap_or(0.1),
            at_once: AT_ONCE,
        }
    }

    /// Where requests go, with the port where one is written.
    pub fn host(&self) -> &str {
        host_of(&self.endpoint).unwrap_or_default()
    }

    /// The model for a role.
    pub fn model(&self, role: Role) -> &str {
        self.models.get(&role).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_has_a_default_and_every_role_a_model() {
        let table = ModelSettings {
            endpoint: Some("http://localhost:8000/v1/".to_owned()),
            name: Some("small".to_owned()),
            roles: [("propose".to_owned(), "large".to_owned())].into(),
            price_answer: Some(2.0),
            ..ModelSettings::default()
        };
        let settings = Settings::of(&table);
        assert_eq!((settings.endpoint.as_str(), settings.host()), ("http://localhost:8000/v1", "localhost:8000"));
        assert_eq!(
            Role::ALL.map(|role| settings.model(role)),
            ["small", "small", "large", "small", "small", "small", "small", "small"]
        );
        assert_eq!(settings.key_variable, "ASCEND_TUNE_MODEL_KEY");
        assert_eq!((settings.budget.tokens, settings.budget.money), (Some(TOKENS), None));
        assert!((settings.budget.per_answer_token - 2e-6).abs() < 1e-12);
    }
}
