//! Replacing literals by knobs that are read at run time.
//!
//! `ascend_tune_knob(name, fallback)` of the simulator returns the value for this run or the fallback. A constant that is
//! a knob is no longer a constant expression, so `constexpr` becomes `const` (for a class member `inline static const`).
//! Whether the result compiles is the test of whether the tunable can be injected.

use std::collections::BTreeSet;

use crate::{Edit, Patch, SourceTree};
use space::Tunable;

use super::locate::locate;
use super::realize::{includes, is_constant};
use super::statement::has_side_effects;
use super::{SiteForm, TunableError};

/// The edits that turn every given tunable into a knob of its name. CMake entries are left alone. `all` tunables say what constants
/// were in the sources as they were.
pub fn instrument(tree: &SourceTree, tunables: &[Tunable], all: &[Tunable]) -> Result<Patch, TunableError> {
    let mut patch = Patch { title: "knobs".to_owned(), ..Patch::default() };
    let mut touched: BTreeSet<String> = BTreeSet::new();
    let mut capped: BTreeSet<String> = BTreeSet::new();
    for tunable in tunables {
        let name = &tunable.name;
        for site in locate(tree, &tunable.binding)? {
            let text = tree.text(&site.file).unwrap_or_default();
            let literal = &site.text;
            let knob = format!("ascend_tune_knob(\"{name}\", {literal})");
            let replacement = match &site.form {
                SiteForm::Declaration(declaration) => {
                    let mut edit = |span: std::ops::Range<usize>, words: &str| {
                        patch.edits.push(Edit { file: site.file.clone(), span, replacement: words.to_owned() });
                    };
                    if let Some(span) = &declaration.constexpr {
                        edit(span.clone(), "const");
                    }
                    if declaration.member
                        && let Some(span) = &declaration.storage
                    {
                        edit(span.clone(), "inline static");
                    }
                    let named = !declaration.kind.is_empty() && declaration.kind != "auto";
                    let kind = if named { declaration.kind.clone() } else { format!("decltype({literal})") };
                    format!("static_cast<{kind}>({knob})")
                }
                // The literal's own type keeps overloads and deductions as they were.
                SiteForm::Define => format!("(static_cast<decltype({literal})>({knob}))"),
                SiteForm::Argument => format!("static_cast<decltype({literal})>({knob})"),
                // An enumerator must be constant: this fails to compile, which is the answer.
                SiteForm::Enumerator => knob,
                SiteForm::Share(rule) => {
                    let fallback = site.value.as_ref().and_then(space::Value::as_int).unwrap_or(0);
                    let least = format!("static_cast<{}>(ascend_tune_knob(\"{name}\", {fallback}))", rule.kind);
                    capped.insert(site.file.clone());
                    let cores = all.iter().find(|tunable| is_constant(tunable, &site.file, &rule.cores));
                    rule.knob(&least, cores.and_then(|tunable| tunable.default.as_ref()?.as_int()))
                }
                SiteForm::Shared { variable, .. } => variable.clone(),
                SiteForm::Portion(rule) => {
                    let fallback = site.value.as_ref().and_then(space::Value::as_int).unwrap_or(0);
                    capped.insert(site.file.clone());
                    rule.knob(&format!("static_cast<uint64_t>(ascend_tune_knob(\"{name}\", {fallback}))"))
                }
                SiteForm::Asked { variable, .. } => {
                    let fallback = site.value.as_ref().and_then(space::Value::as_int).unwrap_or(0);
                    let limit = format!("static_cast<uint64_t>(ascend_tune_knob(\"{name}\", {fallback}))");
                    format!(" if ({limit} > 0 && {variable} > {limit}) {{ {variable} = {limit}; }}")
                }
                SiteForm::Assigned { inner, device, .. } => {
                    let expression = text.get(inner.clone()).unwrap_or_default();
                    let fallback = site.value.as_ref().and_then(space::Value::as_int).unwrap_or(0);
                    let limit = format!("ascend_tune_knob(\"{name}\", {fallback})");
                    let limit = format!("({limit} > 0 ? {limit} : 0x7fffffffffffffffLL)");
                    if *device && has_side_effects(expression) {
                        return Err(TunableError::BadValue {
                            file: site.file.clone(),
                            line: site.line,
                            name: name.clone(),
                            value: fallback.into(),
                            message: "the expression would be evaluated twice and changes something".to_owned(),
                        });
                    }
                    if *device {
                        // The plus makes a value of what may be a reference.
                        let expression_type = format!("static_cast<decltype(+({expression}))>");
                        let signed = format!("static_cast<long long>({expression})");
                        format!("({signed} < {limit} ? ({expression}) : {expression_type}({limit}))")
                    } else {
                        capped.insert(site.file.clone());
                        format!("std::min<int64_t>({expression}, {limit})")
                    }
                }
            };
            touched.insert(site.file.clone());
            patch.edits.push(Edit { file: site.file, span: site.span, replacement });
        }
    }
    for file in touched {
        let text = tree.text(&file).unwrap_or_default();
        let algorithm =
            if capped.contains(&file) && !includes(text, "algorithm") { "#include <algorithm>\n" } else { "" };
        // Lines keep their numbers in messages and in debug information.
        let replacement = format!("#include \"ascendsim/knob.h\"\n{algorithm}#line 1\n");
        patch.edits.push(Edit { file, span: 0..0, replacement });
    }
    Ok(patch)
}
