//! The manifest's text.

use minijinja::{Environment, UndefinedBehavior, context};

use manifest::{Attribute, Case, DTYPE_NAMES, Layout, TensorSpec};
use space::{Binding, Domain, Tunable, Value};

use super::{Discovery, FoundCase, FoundReference, InitError};

/// The template, also the reference of all keys.
pub(super) const TEMPLATE: &str = include_str!("../../../../templates/ascend.toml");

/// What no manifest can say is no fault of the manifest.
fn statable(discovery: &Discovery) -> Result<(), InitError> {
    let operator = || discovery.operator.clone();
    for FoundCase { case, .. } in discovery.cases.iter().filter(|_| discovery.layout != Layout::DirectLaunch) {
        if case.outputs.is_empty() {
            return Err(InitError::NoOutput { operator: operator() });
        }
        let mut tensors = case.inputs.iter().chain(&case.outputs);
        if let Some(spec) = tensors.find(|spec| !DTYPE_NAMES.contains(&spec.dtype.as_str())) {
            let (tensor, dtype) = (spec.name.clone(), spec.dtype.clone());
            return Err(InitError::DType { operator: operator(), tensor, dtype, known: DTYPE_NAMES.to_vec() });
        }
    }
    Ok(())
}

/// The word of a layout in the manifest.
fn layout_key(layout: Layout) -> &'static str {
    match layout {
        Layout::Msopgen => "msopgen",
        Layout::InTree => "in-tree",
        Layout::DirectLaunch => "direct-launch",
    }
}

/// The commented `ascend.toml` of a discovery.
pub fn render(discovery: &Discovery) -> Result<String, InitError> {
    statable(discovery)?;
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let mut case_notes = discovery.case_notes.clone();
    if discovery.operators.len() > 1 {
        let others = discovery.operators.iter().filter(|name| **name != discovery.operator);
        let others: Vec<&str> = others.map(String::as_str).collect();
        case_notes.push(format!("The sources define more operators: {}.", others.join(", ")));
    }
    // A definition may say which of them change; then these alone are compared.
    let compares_all = |FoundCase { case, .. }: &FoundCase| {
        case.outputs.iter().map(|spec| &spec.name).eq(case.inputs.iter().map(|spec| &spec.name))
    };
    let changes_inputs = discovery.outputs.is_empty() && !discovery.inputs.is_empty();
    if changes_inputs && discovery.cases.iter().any(compares_all) {
        let operator = &discovery.operator;
        case_notes.push(format!(
            "{operator} defines no output: all its inputs are compared, those that it changes and those that it must leave alone."
        ));
    }
    let mut tunable_notes = discovery.tunable_notes.clone();
    if discovery.tunables.is_empty() {
        tunable_notes.push(
            "Nothing in the sources looked like a tuning decision: only kernel rewrites will be tried.".to_owned(),
        );
    }
    let (reference, script, python) = match &discovery.reference {
        None => ("baseline", None, None),
        Some(FoundReference::Script { script, python }) => ("script", Some(text(script)), Some(text(python))),
        Some(FoundReference::Definition { python }) => ("definition", None, Some(text(python))),
    };
    let lines = |notes: &[String]| notes.iter().map(|note| note.replace(['\n', '\r'], " ")).collect::<Vec<String>>();
    let rendered = environment.render_str(
        TEMPLATE,
        context! {
            operator => text(&discovery.operator),
            layout => text(layout_key(discovery.layout)),
            kernel => text(&discovery.kernel),
            tiling => text(&discovery.tiling),
            machine => text(super::MACHINE),
            direct => discovery.layout == Layout::DirectLaunch,
            sources => discovery.sources.iter().map(|source| text(source)).collect::<Vec<_>>(),
            cmake_notes => lines(&discovery.cmake_notes),
            case_notes => lines(&case_notes),
            tunable_notes => lines(&tunable_notes),
            reference => text(reference),
            script,
            python,
            reference_notes => lines(&discovery.reference_notes),
            cases => discovery.cases.iter().map(case).collect::<Vec<_>>(),
            constraints => discovery.constraints.iter().map(|constraint| text(constraint)).collect::<Vec<_>>(),
            tunables => discovery.tunables.iter().map(tunable).collect::<Vec<_>>(),
        },
    );
    let mut rendered = rendered.map_err(|error| InitError::Template { message: error.to_string() })?;
    if !rendered.ends_with('\n') {
        rendered.push('\n');
    }
    Ok(rendered)
}

/// A TOML string.
fn text(value: &str) -> String {
    toml::Value::String(value.to_owned()).to_string()
}

fn case(found: &FoundCase) -> String {
    let case: &Case = &found.case;
    let mut lines: Vec<String> = Vec::new();
    if !found.source.is_empty() {
        lines.push(format!("# {}", found.source.replace(['\n', '\r'], " ")));
    }
    lines.extend(["[[case]]".to_owned(), format!("name = {}", text(&case.name))]);
    // A program brings its own data.
    if !case.hostile && !case.outputs.is_empty() {
        lines.push("hostile = false".to_owned());
    }
    if case.verify_only {
        lines.push("verify-only = true".to_owned());
    }
    let mut list = |key: &str, items: Vec<String>| match items.as_slice() {
        [] => {}
        [one] => lines.push(format!("{key} = [{one}]")),
        many => {
            let rows: Vec<String> = many.iter().map(|item| format!("    {item},\n")).collect();
            lines.push(format!("{key} = [\n{}]", rows.concat()));
        }
    };
    list("inputs", case.inputs.iter().map(|spec| tensor(spec, true)).collect());
    list("outputs", case.outputs.iter().map(|spec| tensor(spec, false)).collect());
    list("attributes", case.attributes.iter().map(attribute).collect());
    lines.join("\n")
}

fn tensor(spec: &TensorSpec, input: bool) -> String {
    let mut parts = vec![format!("name = {}", text(&spec.name)), format!("dtype = {}", text(&spec.dtype))];
    if let Some(shape) = &spec.shape {
        parts.push(format!("shape = {shape:?}"));
    }
    if spec.format != "ND" {
        parts.push(format!("format = {}", text(&spec.format)));
    }
    if !spec.values.is_empty() {
        parts.push(format!("values = {:?}", spec.values));
    } else if input {
        parts.push(format!("range = [{:?}, {:?}]", spec.range.low, spec.range.high));
    }
    format!("{{ {} }}", parts.join(", "))
}

fn attribute(attribute: &Attribute) -> String {
    let value = match attribute.kind.as_str() {
        "string" | "list_list_int" => text(&attribute.value),
        "list_int" | "list_float" | "list_bool" => format!("[{}]", attribute.value),
        _ => attribute.value.clone(),
    };
    format!("{{ name = {}, type = {}, value = {value} }}", text(&attribute.name), text(&attribute.kind))
}

fn value(value: &Value) -> String {
    match value {
        Value::Text(name) => text(name),
        other => other.to_string(),
    }
}

fn tunable(tunable: &Tunable) -> String {
    let mut lines = vec![format!("[tunable.{}]", tunable.name)];
    match &tunable.binding {
        Binding::Constant { file, name, also } => {
            lines.push(format!("file = {}", text(file)));
            lines.push(format!("constant = {}", text(name)));
            if !also.is_empty() {
                let files: Vec<String> = also.iter().map(|file| text(file)).collect();
                lines.push(format!("also = [{}]", files.join(", ")));
            }
        }
        Binding::Argument { file, call, first, index } => {
            lines.push(format!("file = {}", text(file)));
            lines.push(format!("call = {}", text(call)));
            if !first.is_empty() {
                lines.push(format!("first = {}", text(first)));
            }
            lines.push(format!("index = {index}"));
        }
        Binding::Cap { file, target } => {
            lines.push(format!("file = {}", text(file)));
            lines.push(format!("cap = {}", text(target)));
        }
        Binding::Share { file, cores, of } => {
            lines.push(format!("file = {}", text(file)));
            lines.push(format!("share = {}", text(cores)));
            lines.push(format!("of = {}", text(of)));
        }
        Binding::Portion { file, target } => {
            lines.push(format!("file = {}", text(file)));
            lines.push(format!("portion = {}", text(target)));
        }
        Binding::Cmake { variable } => lines.push(format!("cmake = {}", text(variable))),
        // Spaces that were recorded elsewhere are never written into a manifest.
        Binding::Recorded => {}
    }
    lines.push(match &tunable.domain {
        Domain::Range { min, max, step } => format!("domain = {{ range = [{min}, {max}, {step}] }}"),
        Domain::PowerOfTwo { min, max } => format!("domain = {{ power-of-two = [{min}, {max}] }}"),
        Domain::List { values, ordered } => {
            let values: Vec<String> = values.iter().map(value).collect();
            format!("domain = {{ values = [{}], ordered = {ordered} }}", values.join(", "))
        }
        Domain::Bool => "domain = { bool = true }".to_owned(),
        Domain::Permutation { items } => {
            let items: Vec<String> = items.iter().map(|item| text(item)).collect();
            format!("domain = {{ permutation = [{}] }}", items.join(", "))
        }
    });
    if let Some(default) = &tunable.default {
        lines.push(format!("default = {}", value(default)));
    }
    if let Some(condition) = &tunable.when {
        lines.push(format!("when = {}", text(&condition.text)));
    }
    lines.push(format!("reason = {}", text(&tunable.reason)));
    lines.join("\n")
}
