//! Configurations that are tried before a search begins: winners of before, and what the bank knows of others.

use super::candidate::Candidate;
use super::run_options::RunOptions;
use super::settings::expected_settings;
use super::trialled::Trialled;
use super::workspace::Workspace;
use backend::longest;
use experience::{Bank, Query, Shingles, features_of, symptoms_of};
use motif::Context;
use source::facts::KnownValues;
use source::tunable::{SiteForm, locate};
use space::{Binding, Configuration, NO_LIMIT, SearchSpace, Tunable, Value, domain_values};

/// Winners of before as configurations of this space: what they do not say stays as it is.
pub(super) fn earlier_winners(options: &RunOptions, baseline: &Candidate, space: &SearchSpace) -> Vec<Configuration> {
    let merged = options.earlier_winners.iter().map(|winner| {
        let mut configuration = baseline.configuration.clone();
        for tunable in space.tunables() {
            if let Some(value) = winner.get(&tunable.name) {
                configuration.set(&tunable.name, value.clone());
            }
        }
        configuration
    });
    let possible = merged.filter(|configuration| {
        *configuration != baseline.configuration
            && space.point(configuration).is_some()
            && space.check(configuration).is_ok()
    });
    possible.collect()
}

/// Rules for all sizes that the sources do not have yet: all together, since one decides on the cores of the shortest work and another on
/// the tiles of what is longer, then each alone. A search that draws rarely meets them without anything beside them.
pub(super) fn rules(space: &SearchSpace, baseline: &Candidate) -> Vec<Configuration> {
    let mut alone = Vec::new();
    let mut together = baseline.configuration.clone();
    for tunable in space.tunables() {
        let values = domain_values(tunable).unwrap_or_default();
        let first: Vec<Value> = match tunable.binding {
            // Some four and some two tiles of a core's work where four tensors of 32 bits are planned with.
            Binding::Portion { .. } => {
                [4, 2].map(Value::Int).into_iter().filter(|value| values.contains(value)).collect()
            }
            Binding::Share { .. } => values.get(values.len() / 2).cloned().into_iter().collect(),
            _ => continue,
        };
        if baseline.configuration.get(&tunable.name) != Some(&NO_LIMIT) {
            continue;
        }
        if let Some(value) = first.first() {
            together.set(&tunable.name, value.clone());
        }
        alone.extend(first.into_iter().map(|value| {
            let mut configuration = baseline.configuration.clone();
            configuration.set(&tunable.name, value);
            configuration
        }));
    }
    let mut found: Vec<Configuration> = Vec::new();
    for configuration in std::iter::once(together).chain(alone) {
        if configuration != baseline.configuration
            && !found.contains(&configuration)
            && space.check(&configuration).is_ok()
        {
            found.push(configuration);
        }
    }
    found
}

/// Configurations that the settings of operators in the bank make of this one.
pub(super) fn settings_of_others(
    workspace: &Workspace,
    bank: &Bank,
    space: &SearchSpace,
    baseline: &Candidate,
    reference: &Trialled,
) -> Vec<Configuration> {
    let launches = || reference.profiles.values().flatten();
    let symptoms = longest(launches()).map(|launch| symptoms_of(&launch.profile)).unwrap_or_default();
    let context = Context::new(baseline.sources.clone(), KnownValues::default(), None);
    let query = Query { symptoms, features: features_of(&context), shingles: Shingles::default() };
    let filled_bytes = launches().map(|launch| launch.profile.buffers_end_bytes).max().unwrap_or(0);
    let asks = |tunable: &&Tunable| {
        let sites = locate(&baseline.sources, &tunable.binding).unwrap_or_default();
        sites.iter().any(|site| matches!(site.form, SiteForm::Asked { .. }))
    };
    let asked = workspace.tunables().iter().filter(asks).map(|tunable| tunable.name.as_str()).collect();
    expected_settings(space, bank, &query, &baseline.configuration, &asked, filled_bytes, &workspace.machine)
}
