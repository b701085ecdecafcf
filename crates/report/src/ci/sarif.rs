//! Static analysis results, version 2.1.0, as far as a check has something to say in them.

use serde::Serialize;

use super::{Placed, Places, placed};
use events::{CheckSummary, Verdict};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    column_kind: &'static str,
    results: Vec<Finding>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
struct Driver {
    name: &'static str,
    version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Text,
    default_configuration: Configuration,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct Text {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Text,
    locations: [Location; 1],
    partial_fingerprints: Fingerprints,
}

#[derive(Serialize)]
struct Fingerprints {
    #[serde(rename = "ascendTune/v1")]
    ours: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: PhysicalLocation,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    region: Region,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactLocation {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_base_id: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
}

/// A log with one run.
pub(super) fn sarif(summary: &CheckSummary, places: &Places) -> Result<String, serde_json::Error> {
    let rule = |verdict: Verdict| Rule {
        id: verdict.rule(),
        short_description: Text { text: format!("{}.", verdict.meaning()) },
        default_configuration: Configuration { level: level(verdict) },
    };
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Driver {
                    name: "cargo-ascend-tune",
                    version: env!("CARGO_PKG_VERSION"),
                    rules: Verdict::ALL.into_iter().map(rule).collect(),
                },
            },
            column_kind: "unicodeCodePoints",
            results: placed(summary, places).map(|found| finding(&found)).collect(),
        }],
    };
    Ok(serde_json::to_string_pretty(&log)? + "\n")
}

fn finding(found: &Placed<'_>) -> Finding {
    let verdict = found.finding.verdict;
    Finding {
        rule_id: verdict.rule(),
        rule_index: Verdict::ALL.iter().position(|known| *known == verdict).unwrap_or(0),
        level: level(verdict),
        message: Text { text: format!("{}: {}", found.operator.operator, found.finding.message) },
        locations: [Location {
            physical_location: PhysicalLocation {
                artifact_location: ArtifactLocation {
                    uri: uri(&found.file),
                    uri_base_id: (!found.file.starts_with('/')).then_some("%SRCROOT%"),
                },
                region: Region { start_line: found.line },
            },
        }],
        partial_fingerprints: Fingerprints { ours: found.fingerprint() },
    }
}

fn level(verdict: Verdict) -> &'static str {
    if verdict.passes() { "note" } else { "error" }
}

/// A path as a reference: what means something in one, or is none of its letters, is written in percent form.
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    path.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
