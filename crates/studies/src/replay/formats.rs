//! Files that hold recorded spaces: CSV with a sidecar, Kernel Tuner's cache files, the community's T4 results, and records
//! of runs of ours.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value as Json;

use super::python::translate;
use super::recorded::{Recorded, RecordedSpace, RecordedTable, RecordedTunable};
use search::InfeasibleClass;
use space::Value;

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file cannot be read or unpacked.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The content is not a recording.
    #[error("{}: {message}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong and what would be right.
        message: String,
    },
}

/// Reads a recorded space: `NAME.csv`, `NAME.csv.gz` or `NAME.toml` for a table with its sidecar, or a JSON file of
/// Kernel Tuner (cache), in T4 form, or the record of a run of ours, packed with gzip or not.
pub fn load(path: &Path) -> Result<RecordedSpace, LoadError> {
    let content = |message: String| LoadError::Content { path: path.to_owned(), message };
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    let table = if let Some(stem) = plain.strip_suffix(".json") {
        json_table(stem, &read_text(path)?).map_err(content)?
    } else if let Some(stem) = plain.strip_suffix(".csv").or(plain.strip_suffix(".toml")) {
        let sidecar = path.with_file_name(format!("{stem}.toml"));
        let rows = [path.with_file_name(format!("{stem}.csv.gz")), path.with_file_name(format!("{stem}.csv"))];
        let rows = rows
            .iter()
            .find(|rows| rows.is_file())
            .ok_or_else(|| content(format!("there is neither {stem}.csv.gz nor {stem}.csv with the configurations")))?;
        csv_table(&read_text(&sidecar)?, &read_text(rows)?).map_err(content)?
    } else {
        return Err(content("a recorded space is a .csv, .csv.gz, .toml, .json or .json.gz file".to_owned()));
    };
    RecordedSpace::new(table).map_err(content)
}

fn read_text(path: &Path) -> std::io::Result<String> {
    let bytes = fs_err::read(path)?;
    let mut text = String::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text)?;
        return Ok(text);
    }
    String::from_utf8(bytes).map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))
}

/// The sidecar of a CSV recording.
#[derive(Deserialize)]
struct Sidecar {
    name: String,
    #[serde(default)]
    kernel: String,
    #[serde(default)]
    device: String,
    #[serde(default)]
    constraints: Vec<String>,
    #[serde(rename = "param")]
    parameters: Vec<SidecarParameter>,
}

#[derive(Deserialize)]
struct SidecarParameter {
    name: String,
    values: Vec<Value>,
    kind: SidecarKind,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum SidecarKind {
    Ordinal,
    Categorical,
}

fn csv_table(sidecar: &str, rows: &str) -> Result<RecordedTable, String> {
    let sidecar: Sidecar = toml::from_str(sidecar).map_err(|error| format!("sidecar: {error}"))?;
    let mut reader = csv::Reader::from_reader(rows.as_bytes());
    let headers = reader.headers().map_err(|error| error.to_string())?.clone();
    let column = |name: &str| {
        headers.iter().position(|header| header == name).ok_or_else(|| format!("there is no column `{name}`"))
    };
    let columns: Vec<usize> =
        sidecar.parameters.iter().map(|parameter| column(&parameter.name)).collect::<Result<_, _>>()?;
    let times = headers.iter().find(|header| header.starts_with("time_")).unwrap_or("time_ms");
    let (time, reason) = (column(times)?, column("reason")?);
    let mut table = RecordedTable {
        name: sidecar.name,
        about: [sidecar.kernel, sidecar.device].join(", "),
        unit: times.trim_start_matches("time_").to_owned(),
        tunables: sidecar.parameters.into_iter().map(recorded_tunable).collect(),
        constraints: translated(&sidecar.constraints),
        rows: Vec::new(),
    };
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let values = columns.iter().map(|column| scalar(&record[*column])).collect();
        let recorded = if &record[time] == "invalid" {
            Recorded::Infeasible(class_of(&record[reason]))
        } else {
            let line = record.position().map_or(0, csv::Position::line);
            Recorded::Objective(
                record[time].parse().map_err(|_| format!("line {line}: `{}` is no time", &record[time]))?,
            )
        };
        table.rows.push((values, recorded));
    }
    Ok(table)
}

fn recorded_tunable(parameter: SidecarParameter) -> RecordedTunable {
    let SidecarParameter { name, values, kind } = parameter;
    RecordedTunable { name, values, ordered: kind == SidecarKind::Ordinal }
}

/// All constraints, or none: with some of them missing the rows have to decide anyway.
fn translated(constraints: &[String]) -> Vec<String> {
    constraints.iter().map(|text| translate(text)).collect::<Option<_>>().unwrap_or_default()
}

fn scalar(text: &str) -> Value {
    match text {
        "true" | "True" => Value::Bool(true),
        "false" | "False" => Value::Bool(false),
        _ => text.parse().map_or_else(|_| Value::Text(text.to_owned()), Value::Int),
    }
}

/// The reasons of CSV recordings, of Kernel Tuner and of T4.
fn class_of(reason: &str) -> InfeasibleClass {
    match reason {
        "compile" | "CompilationFailedConfig" | "build-failed" | "patch-failed" => InfeasibleClass::Build,
        "constraints" | "InvalidConfig" | "tiling" | "infeasible" => InfeasibleClass::Tiling,
        "resource" | "limit-exceeded" => InfeasibleClass::Resource,
        "correctness" | "wrong" | "wrong-output" | "hazard" => InfeasibleClass::Wrong,
        _ => InfeasibleClass::Run,
    }
}

fn json_table(name: &str, text: &str) -> Result<RecordedTable, String> {
    // A cache that its tuner is still writing, or left behind, lacks the closing braces and may end with a comma.
    let parsed: Json = serde_json::from_str(text)
        .or_else(|error| {
            let open = text.trim_end().trim_end_matches(',');
            ["}}", "}"].iter().find_map(|end| serde_json::from_str(&format!("{open}{end}")).ok()).ok_or(error)
        })
        .map_err(|error| error.to_string())?;
    let mut table = if let Some(Json::Object(cache)) = parsed.get("cache") {
        kernel_tuner_rows(cache.values(), &parsed)?
    } else if let Some(Json::Array(results)) = parsed.get("results") {
        t4_rows(results)?
    } else if let Some(Json::Array(evaluations)) = parsed.get("evaluations") {
        return own_rows(evaluations, &parsed);
    } else {
        let kinds = "a Kernel Tuner cache (`cache`), T4 results (`results`) or the record of a run (`evaluations`)";
        return Err(format!("this is none of {kinds}"));
    };
    name.clone_into(&mut table.name);
    let word = |key: &str| parsed.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
    table.about = [word("kernel_name"), word("device_name")].join(", ");
    "ms".clone_into(&mut table.unit);
    Ok(table)
}

fn json_scalar(value: &Json) -> Value {
    match value {
        Json::Bool(value) => Value::Bool(*value),
        Json::String(text) => scalar(text),
        other => other.as_i64().map_or_else(|| Value::Text(other.to_string()), Value::Int),
    }
}

fn kernel_tuner_rows<'a>(entries: impl Iterator<Item = &'a Json>, file: &Json) -> Result<RecordedTable, String> {
    let keys = file.get("tune_params_keys").and_then(Json::as_array).ok_or("`tune_params_keys` is missing")?;
    let keys: Vec<&str> = keys.iter().filter_map(Json::as_str).collect();
    let objective = file.get("objective").and_then(Json::as_str).unwrap_or("time");
    let rows = entries
        .map(|entry| {
            let values = values_of(entry, &keys)?;
            let recorded = match entry.get(objective) {
                Some(Json::String(reason)) => Recorded::Infeasible(class_of(reason)),
                Some(Json::Number(time)) => Recorded::Objective(time.as_f64().unwrap_or(f64::NAN)),
                _ => return Err(format!("an entry of the cache has no `{objective}`")),
            };
            Ok((values, recorded))
        })
        .collect::<Result<_, _>>()?;
    Ok(with_tunables(&keys, rows))
}

fn t4_rows(results: &[Json]) -> Result<RecordedTable, String> {
    let first = results.first().and_then(|first| first.get("configuration")).and_then(Json::as_object);
    let keys: Vec<&str> = first.ok_or("the first result has no `configuration`")?.keys().map(String::as_str).collect();
    let rows = results
        .iter()
        .map(|result| {
            let values = values_of(result.get("configuration").unwrap_or(&Json::Null), &keys)?;
            let invalidity = result.get("invalidity").and_then(Json::as_str).unwrap_or("correct");
            if invalidity != "correct" {
                return Ok((values, Recorded::Infeasible(class_of(invalidity))));
            }
            let objective = result.get("objectives").and_then(|names| names.get(0)).and_then(Json::as_str);
            let measurements = result.get("measurements").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
            let measured = measurements.iter().find(|measurement| {
                measurement.get("name").and_then(Json::as_str) == Some(objective.unwrap_or("time"))
            });
            let time = measured.and_then(|measurement| measurement.get("value")?.as_f64());
            Ok((
                values,
                Recorded::Objective(time.or_else(|| mean_runtime(result)).ok_or("a correct result has no time")?),
            ))
        })
        .collect::<Result<_, String>>()?;
    Ok(with_tunables(&keys, rows))
}

/// The record of a run of ours: evaluations that the host stage made of one program, of that with the most of them. A rewrite
/// that was taken over makes another program: the same configuration is something else in it.
fn own_rows(evaluations: &[Json], record: &Json) -> Result<RecordedTable, String> {
    if evaluations.is_empty() {
        return Err("the run has no evaluation".to_owned());
    }
    let programs = host_evaluations(evaluations);
    let most = programs.iter().rev().max_by_key(|program| program.len()).map_or(&[][..], Vec::as_slice);
    let first = most.first().and_then(|first| first.get("configuration")).and_then(Json::as_object);
    let keys: Vec<&str> =
        first.ok_or("the run has no evaluation of the host stage")?.keys().map(String::as_str).collect();
    let mut rows: Vec<(Vec<Value>, Recorded)> = Vec::new();
    for evaluation in most {
        let values = values_of(evaluation.get("configuration").unwrap_or(&Json::Null), &keys)?;
        let recorded = match objective_us(evaluation) {
            Some(time) => Recorded::Objective(time),
            None => Recorded::Infeasible(class_of(word(evaluation, "status"))),
        };
        if !rows.iter().any(|(known, _)| *known == values) {
            rows.push((values, recorded));
        }
    }
    let mut table = with_tunables(&keys, rows);
    table.name = word(record, "operator").to_owned();
    table.about = format!("{}, {}", word(record, "kernel"), word(record.get("machine").unwrap_or(&Json::Null), "name"));
    "us".clone_into(&mut table.unit);
    Ok(table)
}

/// Evaluations of the host stage by program. A rewrite is taken over when it is the best so far.
fn host_evaluations(evaluations: &[Json]) -> Vec<Vec<&Json>> {
    let mut programs: Vec<Vec<&Json>> = vec![Vec::new()];
    let mut best_us = f64::INFINITY;
    for evaluation in evaluations {
        let improved = objective_us(evaluation).is_some_and(|us| us < best_us);
        if word(evaluation, "stage") == "host" {
            programs.last_mut().into_iter().for_each(|program| program.push(evaluation));
        } else if improved {
            programs.push(Vec::new());
        }
        best_us = best_us.min(objective_us(evaluation).unwrap_or(f64::INFINITY));
    }
    programs
}

fn objective_us(evaluation: &Json) -> Option<f64> {
    evaluation.get("objective_us").and_then(Json::as_f64)
}

fn word<'json>(json: &'json Json, key: &str) -> &'json str {
    json.get(key).and_then(Json::as_str).unwrap_or_default()
}

fn mean_runtime(result: &Json) -> Option<f64> {
    let runtimes = result.get("times")?.get("runtimes")?.as_array()?;
    let times: Vec<f64> = runtimes.iter().filter_map(Json::as_f64).collect();
    (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
}

fn values_of(object: &Json, keys: &[&str]) -> Result<Vec<Value>, String> {
    let value = |key: &&str| object.get(*key).map(json_scalar).ok_or_else(|| format!("a configuration has no `{key}`"));
    keys.iter().map(value).collect()
}

/// The tunables as the rows show them: numbers are ordered, words and truth values are not.
fn with_tunables(keys: &[&str], rows: Vec<(Vec<Value>, Recorded)>) -> RecordedTable {
    let mut tunables = Vec::new();
    for (position, key) in keys.iter().enumerate() {
        // Ordered by number first, so that 2.5 stands between 2 and 3.
        let mut values: BTreeMap<(u64, String), Value> = BTreeMap::new();
        let mut ordered = true;
        for (row, _) in &rows {
            let value = &row[position];
            let number = match value {
                Value::Int(value) => Some(*value as f64),
                Value::Text(text) => text.parse::<f64>().ok(),
                Value::Bool(_) => None,
            };
            ordered &= number.is_some();
            values.insert((sortable(number.unwrap_or(0.0)), value.to_string()), value.clone());
        }
        let values = values.into_values().collect();
        tunables.push(RecordedTunable { name: (*key).to_owned(), values, ordered });
    }
    RecordedTable { tunables, rows, ..RecordedTable::default() }
}

/// A number whose order as an integer is the order of the float.
fn sortable(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | (1 << 63) }
}

#[cfg(test)]
mod tests;
