//! The table `[model]`: a language model that proposes rewrites, and what it may cost.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// Environment variable that holds the key of an endpoint, unless the manifest names another.
pub const MODEL_KEY_VARIABLE: &str = "ASCEND_TUNE_MODEL_KEY";

/// What the manifest says of a language model. Without an endpoint there is none.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ModelSettings {
    /// Address of a server that answers `POST ENDPOINT/chat/completions` as OpenAI's does.
    pub endpoint: Option<String>,
    /// Name of the model, as the server knows it.
    pub name: Option<String>,
    /// Other models for some roles: `diagnose`, `plan`, `propose`, `repair`, `evolve`, `distil`, `motif`, `rewind`.
    #[serde(default)]
    pub roles: BTreeMap<String, String>,
    /// Environment variable that holds the key; none is sent where it is not set.
    pub key_env: Option<String>,
    /// Temperature of sampling.
    pub temperature: Option<f64>,
    /// Tokens that a prompt may have, by the tool's estimate.
    pub prompt_tokens: Option<u32>,
    /// Tokens that an answer may have.
    pub answer_tokens: Option<u32>,
    /// Seconds to wait for an answer.
    pub timeout_s: Option<f64>,
    /// Tokens of prompts and answers that a run may take.
    pub budget_tokens: Option<u64>,
    /// Money that a run may take, in the currency of the prices.
    pub budget_money: Option<f64>,
    /// Seconds of answering that a run may take.
    pub budget_s: Option<f64>,
    /// Price of a million tokens of prompts.
    pub price_prompt: Option<f64>,
    /// Price of a million tokens of answers.
    pub price_answer: Option<f64>,
    /// Whether answers are asked for as they come into being, as server-sent events.
    pub stream: Option<bool>,
    /// Whether answers are asked for as JSON by a schema.
    pub structured: Option<bool>,
    /// Tools that the model may call: `compile`, `profile`, `hazards`, `lookup-api`, `search-bank`, `read-file`.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Calls of tools for one answer, at most.
    pub tool_calls: Option<u32>,
    /// Seconds that one call of a tool may take.
    pub tool_s: Option<f64>,
    /// Answers in which the tiling function may be evolved; none without.
    pub evolve: Option<u32>,
    /// Islands of the population that it evolves in.
    pub islands: Option<u32>,
    /// Whether what was learned of the model's proposals goes into the project's bank, in its words.
    pub distil: Option<bool>,
    /// Whether the model states what was kept of its proposals as local motifs, for the project's bank.
    pub local_motifs: Option<bool>,
    /// Places at which such a motif has to have occurred before it is kept.
    pub motif_places: Option<u32>,
    /// Optimisations that `rewind` asks the model to take out of the operator; none without.
    pub rewind: Option<u32>,
    /// Answers that mend a proposal which was refused, at most.
    pub repairs: Option<u32>,
    /// Share of the other evaluations that proposals may take before they have brought anything; 1 for no limit.
    pub share: Option<f64>,
    /// Directory of templates that stand in for the tool's own, relative to the manifest.
    pub prompts: Option<String>,
    /// Whether sources may be sent to the endpoint without asking.
    pub consent: Option<bool>,
}

impl ModelSettings {
    /// Roles that are asked.
    fn asked(&self) -> impl Iterator<Item = &'static str> {
        let (evolve, distil) = (self.evolve.is_some_and(|answers| answers > 0), self.distil == Some(true));
        let (motif, rewind) = (self.local_motifs == Some(true), self.rewind.is_some_and(|answers| answers > 0));
        MODEL_ROLES.into_iter().filter(move |role| match *role {
            "evolve" => evolve,
            "distil" => distil,
            "motif" => motif,
            "rewind" => rewind,
            _ => true,
        })
    }

    /// Environment variable that holds the key.
    pub fn key_variable(&self) -> &str {
        self.key_env.as_deref().unwrap_or(MODEL_KEY_VARIABLE)
    }
}

/// The table `[proposer]`: a program that proposes rewrites, and what it may take.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ProposerSettings {
    /// The program and its arguments.
    #[serde(default)]
    pub command: Vec<String>,
    /// Seconds to wait for an answer.
    pub timeout_s: Option<f64>,
    /// Answers that mend a proposal which was refused, at most.
    pub repairs: Option<u32>,
    /// Share of the other evaluations that proposals may take before they have brought anything; 1 for no limit.
    pub share: Option<f64>,
}

/// What is wrong with a `[proposer]`: the finding, and what to write.
pub(super) fn program_findings(settings: &ProposerSettings) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if settings.command.first().is_none_or(String::is_empty) {
        found.push(("[proposer] has no `command`".to_owned(), "write command = [\"program\", ..]".to_owned()));
    }
    found.extend(out_of_range(&[
        ("timeout-s", settings.timeout_s, 0.1, 86_400.0),
        ("repairs", settings.repairs.map(f64::from), 0.0, 10.0),
        ("share", settings.share, 0.0, 1.0),
    ]));
    found
}

/// Numbers that lie outside of their range.
fn out_of_range(numbers: &[(&str, Option<f64>, f64, f64)]) -> Vec<(String, String)> {
    let outside = |&(name, value, least, most): &(&str, Option<f64>, f64, f64)| {
        let value = value.filter(|value| !(least..=most).contains(value))?;
        Some((format!("`{name}` is {value}"), format!("it must be from {least} to {most}")))
    };
    numbers.iter().filter_map(outside).collect()
}

/// Roles that can have a model of their own.
pub const MODEL_ROLES: [&str; 8] = ["diagnose", "plan", "propose", "repair", "evolve", "distil", "motif", "rewind"];

/// Tools that a model can be given.
pub const MODEL_TOOLS: [&str; 6] = ["compile", "profile", "hazards", "lookup-api", "search-bank", "read-file"];

/// What is wrong with it: the finding, and what to write.
pub(super) fn findings(settings: &ModelSettings) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut find = |message: String, help: &str| found.push((message, help.to_owned()));
    match settings.endpoint.as_deref() {
        None => find("[model] has no `endpoint`".to_owned(), "write the address of a server, or remove the table"),
        Some(endpoint) => {
            if let Err(help) = host_of(endpoint) {
                find(format!("`endpoint` is {endpoint:?}"), help);
            }
        }
    }
    if settings.name.as_deref().is_none_or(|name| name.trim().is_empty())
        && !settings.asked().all(|role| settings.roles.contains_key(role))
    {
        find("[model] has no `name`".to_owned(), "write the model's name as the server knows it");
    }
    for role in settings.roles.keys().filter(|role| !MODEL_ROLES.contains(&role.as_str())) {
        find(format!("`roles` names {role:?}"), &format!("roles are {}", MODEL_ROLES.join(", ")));
    }
    for tool in settings.tools.iter().filter(|tool| !MODEL_TOOLS.contains(&tool.as_str())) {
        find(format!("`tools` names {tool:?}"), &format!("tools are {}", MODEL_TOOLS.join(", ")));
    }
    let variable =
        |name: &str| !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if let Some(name) = settings.key_env.as_deref().filter(|name| !variable(name)) {
        // Perhaps the key itself: it is not said again.
        let what = format!("`key-env` is no name of an environment variable ({} bytes)", name.len());
        find(what, "write the variable's name; the key itself belongs in no file");
    }
    let numbers = out_of_range(&[
        ("temperature", settings.temperature, 0.0, 2.0),
        ("timeout-s", settings.timeout_s, 0.1, 3600.0),
        ("budget-money", settings.budget_money, 0.0, 1e6),
        ("budget-s", settings.budget_s, 0.0, 86_400.0),
        ("price-prompt", settings.price_prompt, 0.0, 1e6),
        ("price-answer", settings.price_answer, 0.0, 1e6),
        ("share", settings.share, 0.0, 1.0),
        ("prompt-tokens", settings.prompt_tokens.map(f64::from), 500.0, 2e6),
        ("answer-tokens", settings.answer_tokens.map(f64::from), 100.0, 2e6),
        ("repairs", settings.repairs.map(f64::from), 0.0, 10.0),
        ("tool-calls", settings.tool_calls.map(f64::from), 1.0, 100.0),
        ("tool-s", settings.tool_s, 0.1, 3600.0),
        ("evolve", settings.evolve.map(f64::from), 0.0, 1000.0),
        ("rewind", settings.rewind.map(f64::from), 0.0, 1000.0),
        ("islands", settings.islands.map(f64::from), 1.0, 16.0),
        ("motif-places", settings.motif_places.map(f64::from), 1.0, 100.0),
    ]);
    numbers.iter().for_each(|(message, help)| find(message.clone(), help));
    if settings.budget_money.is_some() && (settings.price_prompt.is_none() || settings.price_answer.is_none()) {
        find(
            "`budget-money` is there without prices".to_owned(),
            "write `price-prompt` and `price-answer`, for a million tokens",
        );
    }
    found
}

/// The host that an endpoint names, with its port; otherwise what an endpoint has to be like.
pub fn host_of(endpoint: &str) -> Result<&str, &'static str> {
    const FORM: &str =
        "write http:// or https://, a host, and the path before /chat/completions, such as http://localhost:8000/v1";
    let rest = endpoint.strip_prefix("http://").or_else(|| endpoint.strip_prefix("https://")).ok_or(FORM)?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.contains('@') || endpoint.contains(['?', '#']) {
        return Err(
            "no user name, password or query belongs there; the key comes from the variable that `key-env` names",
        );
    }
    let sound = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_' | ':' | '[' | ']');
    let plain = endpoint.chars().all(|letter| letter.is_ascii_graphic());
    if host.is_empty() || host.starts_with(':') || !host.chars().all(sound) || !plain {
        return Err(FORM);
    }
    Ok(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = "endpoint = \"http://localhost:8000/v1\"\nname = \"m\"\n";

    fn found(text: &str) -> Vec<String> {
        let settings: ModelSettings = toml::from_str(text).unwrap();
        findings(&settings).into_iter().map(|(message, _)| message).collect()
    }

    #[test]
    fn an_endpoint_is_an_address_without_secrets() {
        assert_eq!(host_of("https://models.example:8443/v1"), Ok("models.example:8443"));
        assert_eq!(host_of("http://[::1]:8000/v1"), Ok("[::1]:8000"));
        for endpoint in ["models.example/v1", "http:///v1", "ftp://a/v1", "http://a b/v1", "http://:80/v1"] {
            assert!(host_of(endpoint).unwrap_err().contains("such as"), "{endpoint}");
        }
        for endpoint in ["http://me:secret@models.example/v1", "http://models.example/v1?key=secret"] {
            assert!(host_of(endpoint).unwrap_err().contains("key-env"), "{endpoint}");
        }
    }

    #[test]
    fn findings_name_the_key() {
        assert!(found(SOUND).is_empty());
        assert_eq!(found(""), ["[model] has no `endpoint`", "[model] has no `name`"]);
        assert_eq!(found(&format!("{SOUND}share = 1.5\nrepairs = 99")), ["`share` is 1.5", "`repairs` is 99"]);
        assert_eq!(found(&format!("{SOUND}budget-money = 1.0")), ["`budget-money` is there without prices"]);
        assert_eq!(found(&format!("{SOUND}roles.judge = \"m\"")), ["`roles` names \"judge\""]);
        let roles = "roles = { diagnose = \"a\", plan = \"a\", propose = \"b\", repair = \"b\" }";
        assert!(found(&format!("endpoint = \"http://h/v1\"\n{roles}")).is_empty());
        let evolves = format!("endpoint = \"http://h/v1\"\nevolve = 3\n{roles}");
        assert_eq!(found(&evolves), ["[model] has no `name`"], "nobody would be asked for that");
        assert_eq!(
            found(&format!("{SOUND}tools = [\"shell\"]\ntool-calls = 0")),
            ["`tools` names \"shell\"", "`tool-calls` is 0"]
        );
    }

    #[test]
    fn a_program_has_a_command() {
        let found = |text: &str| {
            let settings: ProposerSettings = toml::from_str(text).unwrap();
            program_findings(&settings).into_iter().map(|(message, _)| message).collect::<Vec<_>>()
        };
        assert!(found("command = [\"agent\", \"--quiet\"]").is_empty());
        assert_eq!(found("timeout-s = 0.0"), ["[proposer] has no `command`", "`timeout-s` is 0"]);
    }

    #[test]
    fn a_key_in_the_place_of_its_variable_is_not_said_again() {
        let messages = found(&format!("{SOUND}key-env = \"sk-very-secret\""));
        assert_eq!(messages, ["`key-env` is no name of an environment variable (14 bytes)"]);
    }
}
