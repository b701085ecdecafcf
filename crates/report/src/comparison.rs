//! Two records side by side: what differs, and what can be said of it.

use std::collections::BTreeSet;

use aicore::Origin;
use events::{ComparedCase, ComparedHazard, ComparedStep, ComparedTunable, RunComparison, RunFacts, Status};

use super::html::setting;
use super::record::{CaseRecord, ChangeRecord, RunRecord};

/// Compares two runs, each with the name of its record; the other one first.
pub fn compare_runs(other: (&str, &RunRecord), this: (&str, &RunRecord)) -> RunComparison {
    let both = [other.1, this.1];
    let incomparable = incomparable(both);
    let cases = cases(both, incomparable.is_empty());
    let ratios: Vec<f64> = cases.iter().filter_map(|case| case.ratio).collect();
    RunComparison {
        runs: [facts(other), facts(this)],
        exact: incomparable.is_empty() && this.1.origin == Origin::Modelled,
        ratio: (!ratios.is_empty())
            .then(|| (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()),
        incomparable,
        cases,
        steps: steps(both),
        tunables: tunables(both),
        hazards: hazards(both),
        page: None,
    }
}

fn facts((name, record): (&str, &RunRecord)) -> RunFacts {
    RunFacts {
        record: name.to_owned(),
        operator: record.operator.clone(),
        tool: record.tool.clone(),
        origin: record.origin,
        machine: record.machine.name.clone(),
        machine_version: record.machine.version.clone(),
        seed: record.seed,
        budget: record.budget,
        evaluations: record.evaluations.len() as u64,
        rejected: record.evaluations.iter().filter(|one| one.status != Status::Valid).count() as u64,
        speedup: record.speedup,
        claimed: record.claimed,
        wall_s: record.wall_s,
    }
}

/// Latencies are compared where the same thing says the same of the same operator.
fn incomparable([other, this]: [&RunRecord; 2]) -> Vec<String> {
    let mut reasons = Vec::new();
    let mut differ = |what: &str, one: &str, two: &str| {
        if one != two {
            reasons.push(format!("{what} are not the same: {one} and {two}"));
        }
    };
    differ("operators", &other.operator, &this.operator);
    differ("origins", other.origin.word(), this.origin.word());
    let machine = |record: &RunRecord| format!("{} version {}", record.machine.name, record.machine.version);
    differ("machine descriptions", &machine(other), &machine(this));
    if machine(other) == machine(this) {
        // One that somebody has edited without another version.
        differ("digests of the machine description", &other.machine.digest, &this.machine.digest);
    }
    reasons
}

fn cases([other, this]: [&RunRecord; 2], comparable: bool) -> Vec<ComparedCase> {
    let find = |record: &RunRecord, name: &str| record.cases.iter().find(|case| case.name == name).cloned();
    let names = in_order(this.cases.iter().chain(&other.cases).map(|case| case.name.clone()));
    names
        .into_iter()
        .map(|name| {
            let both = [find(other, &name), find(this, &name)];
            let times = |time: fn(&CaseRecord) -> Option<f64>| both.each_ref().map(|case| case.as_ref().and_then(time));
            let differs = match &both {
                [Some(one), Some(two)] => one.description != two.description,
                _ => false,
            };
            let best_us = times(|case| case.best_us);
            let ratio = match best_us {
                [Some(one), Some(two)] if comparable && !differs && one > 0.0 && two > 0.0 => Some(one / two),
                _ => None,
            };
            ComparedCase { name, baseline_us: times(|case| case.baseline_us), best_us, ratio, differs }
        })
        .collect()
}

/// The same step in both is one row; what one winner does twice has two.
fn steps([other, this]: [&RunRecord; 2]) -> Vec<ComparedStep> {
    let step = |change: &ChangeRecord, gains: [Option<f64>; 2]| ComparedStep {
        title: change.title.clone(),
        stage: change.stage,
        motif: change.motif.clone(),
        gains,
    };
    let mut steps: Vec<ComparedStep> =
        this.changes.iter().map(|change| step(change, [None, Some(change.gain)])).collect();
    for change in &other.changes {
        let is_same = |one: &&mut ComparedStep| {
            one.gains[0].is_none()
                && (&one.title, one.stage, &one.motif) == (&change.title, change.stage, &change.motif)
        };
        match steps.iter_mut().find(is_same) {
            Some(same) => same.gains[0] = Some(change.gain),
            None => steps.push(step(change, [Some(change.gain), None])),
        }
    }
    steps
}

fn tunables(both: [&RunRecord; 2]) -> Vec<ComparedTunable> {
    let of = |record: &RunRecord| {
        let all = record.configuration.iter().chain(record.baseline_configuration.iter());
        all.map(|(name, _)| name.to_owned()).collect::<BTreeSet<String>>()
    };
    let known = both.map(of);
    let names: BTreeSet<&String> = known.iter().flatten().collect();
    let value =
        |run: usize, name: &str| known[run].contains(name).then(|| setting(both[run], name, &both[run].configuration));
    names
        .into_iter()
        .map(|name| ComparedTunable { name: name.clone(), values: [value(0, name), value(1, name)] })
        .collect()
}

fn hazards([other, this]: [&RunRecord; 2]) -> Vec<ComparedHazard> {
    let texts = |record: &RunRecord| record.known.iter().map(ToString::to_string).collect::<Vec<_>>();
    let both = [texts(other), texts(this)];
    let names = in_order(both[1].iter().chain(&both[0]).cloned());
    names
        .into_iter()
        .map(|text| ComparedHazard { known: both.each_ref().map(|list| list.contains(&text)), text })
        .collect()
}

/// Each once, where it comes first.
fn in_order(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names.filter(|name| seen.insert(name.clone())).collect()
}
