//! Configurations that are tried before a search begins: winners of before, and what the bank knows of others.

use super::candidate::Candidate;
use super::run_options::RunOptions;
use super::settings::expected_settings;
use super::trialled::Trialled;
use super::workspace::Workspace;
use backend::{VECTOR_CORES, longest};
use experience::{Bank, Query, Shingles, features_of, symptoms_of};
use motif::Context;
use source::SourceTree;
use source::facts::KnownValues;
use source::tunable::{Meaning, SiteForm, locate};
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
/// the tiles of what is longer, then each alone. A search that draws rarely meets them without anything beside them. Where the sources
/// start fewer cores than there are, all of them is the first such rule: nothing else is worth as much, and it is one evaluation. Cores that
/// wait for one another must all run at once, so there it is as many as every chip of the family has.
pub(super) fn rules(space: &SearchSpace, baseline: &Candidate) -> Vec<Configuration> {
    let mut alone = Vec::new();
    let mut together = baseline.configuration.clone();
    let most = if cores_meet(&baseline.sources) { VECTOR_CORES[0] as i64 } else { i64::MAX };
    for tunable in space.tunables().filter(|tunable| Meaning::of(tunable) == Some(Meaning::Cores)) {
        let present = baseline.configuration.get(&tunable.name).and_then(Value::as_int);
        let possible = domain_values(tunable).unwrap_or_default();
        let all = possible.iter().filter_map(Value::as_int).filter(|cores| *cores <= most).max();
        if let (Some(all), Some(1..)) = (all, present)
            && present < Some(all)
        {
            together.set(&tunable.name, Value::Int(all));
        }
    }
    let all_cores = together.clone();
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
    for configuration in [all_cores, together].into_iter().chain(alone) {
        if configuration != baseline.configuration
            && !found.contains(&configuration)
            && space.check(&configuration).is_ok()
        {
            found.push(configuration);
        }
    }
    found
}

/// Whether a source calls what makes cores wait for others.
fn cores_meet(sources: &SourceTree) -> bool {
    const MEETINGS: [&str; 4] = ["SyncAll", "CrossCoreWaitFlag", "IBWait", "WaitPreBlock"];
    let mut texts = sources.iter().map(|(_, text)| text);
    texts.any(|text| MEETINGS.iter().any(|name| text.contains(name)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use space::Domain;

    fn tunable(name: &str, domain: Domain, default: i64, binding: Binding) -> Tunable {
        let default = Some(Value::Int(default));
        Tunable { name: name.to_owned(), domain, default, binding, reason: String::new(), when: None }
    }

    fn constant(name: &str, most: i64, default: i64) -> Tunable {
        let binding = Binding::Constant { file: "h.cpp".to_owned(), name: name.to_owned(), also: Vec::new() };
        tunable(name, Domain::Range { min: 1, max: most, step: 1 }, default, binding)
    }

    fn rules_of(tunables: Vec<Tunable>, kernel: &str) -> Vec<Configuration> {
        let configuration = tunables.iter().map(|it| (it.name.clone(), it.default.clone().unwrap())).collect();
        let space = SearchSpace::new(&tunables, &[], &[]).unwrap();
        let sources = [("op_kernel/x.cpp".to_owned(), kernel.to_owned())].into_iter().collect();
        rules(&space, &Candidate { sources, configuration, patches: Vec::new() })
    }

    fn value(configuration: &Configuration, name: &str) -> i64 {
        configuration.get(name).and_then(Value::as_int).unwrap()
    }

    #[test]
    fn all_cores_come_first_where_the_sources_start_fewer() {
        let share = Binding::Share { file: "h.cpp".to_owned(), cores: "BLOCK_DIM".to_owned(), of: "rows".to_owned() };
        let shares = Domain::List { values: [0, 2, 4, 8].map(Value::Int).to_vec(), ordered: true };
        let of_kernel = |cores, kernel| {
            let tunables = vec![
                constant("BLOCK_DIM", 48, cores),
                constant("BUFFER_NUM", 3, 2),
                tunable("BLOCK_DIM_share", shares.clone(), 0, share.clone()),
            ];
            rules_of(tunables, kernel)
        };
        let of = |cores| of_kernel(cores, "Add(z, x, y, n);");
        let found = of(8);
        assert_eq!([value(&found[0], "BLOCK_DIM"), value(&found[0], "BLOCK_DIM_share")], [48, 0]);
        assert_eq!([value(&found[1], "BLOCK_DIM"), value(&found[1], "BLOCK_DIM_share")], [48, 4], "and with the rule");
        assert_eq!(value(&found[2], "BLOCK_DIM"), 8, "which is tried alone too");
        assert!(found.iter().all(|it| value(it, "BUFFER_NUM") == 2));
        assert!(of(48).iter().all(|it| value(it, "BLOCK_DIM_share") != 0), "nothing to say of cores");
        let waiting = of_kernel(8, "Add(z, x, y, n);\nSyncAll();");
        assert_eq!(value(&waiting[0], "BLOCK_DIM"), 40, "some chips have no more, and 48 would wait there for ever");
    }
}
