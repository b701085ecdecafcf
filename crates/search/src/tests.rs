//! Strategies on synthetic spaces.

use std::collections::BTreeSet;

use super::*;
use space::{Binding, Domain, SearchSpace, Tunable, Value};

fn tunable(name: &str, domain: Domain, default: i64) -> Tunable {
    let binding = Binding::Constant { file: "a.h".to_owned(), name: name.to_owned(), also: Vec::new() };
    Tunable {
        name: name.to_owned(),
        domain,
        default: Some(Value::Int(default)),
        binding,
        reason: String::new(),
        when: None,
    }
}

/// A space like that of an element-wise operator, in four tunables.
fn tiling_space() -> SearchSpace {
    let tunables = [
        tunable("TILE", Domain::Range { min: 256, max: 32_768, step: 256 }, 256),
        tunable("DEPTH", Domain::Range { min: 1, max: 4, step: 1 }, 1),
        tunable("CORES", Domain::Range { min: 1, max: 48, step: 1 }, 1),
        tunable("SPLIT", Domain::PowerOfTwo { min: 1, max: 64 }, 1),
    ];
    SearchSpace::new(&tunables, &[("TILE * DEPTH <= 65536".to_owned(), 0..23)], &[]).expect("space")
}

fn get(configuration: &Configuration, name: &str) -> f64 {
    configuration.get(name).and_then(Value::as_int).map_or(0.0, |value| value as f64)
}

/// Start-up cost per tile, overlap by depth, share by cores; too large a tile does not fit.
fn tiling_objective(configuration: &Configuration) -> Observation {
    let (tile, depth) = (get(configuration, "TILE"), get(configuration, "DEPTH"));
    let (cores, split) = (get(configuration, "CORES"), get(configuration, "SPLIT"));
    if tile * depth * 12.0 > 196_608.0 {
        return Observation::Infeasible { class: InfeasibleClass::Resource };
    }
    let work = 1_048_576.0 / cores;
    let transfer = work / tile * (300.0 + tile / 16.0);
    let compute = work / tile * (60.0 + tile / 64.0);
    let overlapped = if depth > 1.0 { transfer.max(compute) + compute * 0.1 } else { transfer + compute };
    Observation::Objective(overlapped + cores * 20.0 + (split - 8.0).abs() * 40.0)
}

/// Two valleys, the wider one not the deeper one.
fn valleys(configuration: &Configuration) -> Observation {
    let (tile, cores) = (get(configuration, "TILE") / 32_768.0, get(configuration, "CORES") / 48.0);
    let wide = ((tile - 0.2).powi(2) + (cores - 0.3).powi(2)) + 0.05;
    let deep = 4.0 * ((tile - 0.8).powi(2) + (cores - 0.9).powi(2));
    Observation::Objective(wide.min(deep) + 0.02 * get(configuration, "DEPTH") + 0.001 * get(configuration, "SPLIT"))
}

fn best_after(
    strategy: &mut dyn Strategy,
    evaluate: fn(&Configuration) -> Observation,
    budget: usize,
    batch: usize,
) -> f64 {
    let space = tiling_space();
    let mut seen = BTreeSet::new();
    let mut best = f64::INFINITY;
    while seen.len() < budget {
        let asked = strategy.ask(batch.min(budget - seen.len()));
        assert!(!asked.is_empty());
        for configuration in &asked {
            assert!(seen.insert(configuration.clone()), "{configuration} was asked twice");
            assert_eq!(space.check(configuration), Ok(()));
            let outcome = evaluate(configuration);
            if let Observation::Objective(value) = outcome {
                best = best.min(value);
            }
            strategy.tell(configuration, &outcome);
        }
    }
    best
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
fn evolution_beats_random_at_fifty_evaluations() {
    for evaluate in [tiling_objective, valleys] {
        let mut evolved = Vec::new();
        let mut random = Vec::new();
        for seed in 0..20 {
            let mut strategy = Evolutionary::new(tiling_space(), seed, EvolutionaryOptions::default());
            evolved.push(best_after(&mut strategy, evaluate, 50, 2));
            random.push(best_after(&mut UniformRandom::new(tiling_space(), seed), evaluate, 50, 2));
        }
        let (evolved, random) = (median(evolved), median(random));
        assert!(evolved < random, "evolutionary {evolved}, random {random}");
    }
}

#[test]
fn the_present_configuration_comes_first() {
    let mut strategy = Evolutionary::new(tiling_space(), 7, EvolutionaryOptions::default());
    assert_eq!(strategy.ask(1)[0].to_string(), "CORES=1 DEPTH=1 SPLIT=1 TILE=256");
    let mut strategy = Evolutionary::new(tiling_space(), 7, EvolutionaryOptions::default());
    let present: Configuration = tiling_space().configuration(&tiling_space().present().expect("valid"));
    strategy.tell(&present, &Observation::Objective(1.0));
    assert_ne!(strategy.ask(1)[0], present, "what is known is not asked");
}

#[test]
fn the_order_of_telling_does_not_matter() {
    let run = |reverse: bool| {
        let mut strategy = Evolutionary::new(tiling_space(), 3, EvolutionaryOptions::default());
        let mut all = Vec::new();
        for _ in 0..30 {
            let mut batch = strategy.ask(4);
            all.extend(batch.clone());
            if reverse {
                batch.reverse();
            }
            for configuration in &batch {
                strategy.tell(configuration, &tiling_objective(configuration));
            }
        }
        all
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn an_exhausted_space_gives_fewer() {
    let tunables = [
        tunable("A", Domain::Range { min: 1, max: 5, step: 1 }, 1),
        tunable("B", Domain::Range { min: 1, max: 5, step: 1 }, 1),
    ];
    let space = SearchSpace::new(&tunables, &[("A + B <= 6".to_owned(), 0..12)], &[]).expect("space");
    let mut strategies: [Box<dyn Strategy>; 2] = [
        Box::new(Evolutionary::new(space.clone(), 1, EvolutionaryOptions::default())),
        Box::new(UniformRandom::new(space, 1)),
    ];
    for strategy in &mut strategies {
        let mut seen = BTreeSet::new();
        loop {
            let asked = strategy.ask(4);
            if asked.is_empty() {
                break;
            }
            for configuration in asked {
                strategy.tell(&configuration, &Observation::Objective(get(&configuration, "A")));
                assert!(seen.insert(configuration));
            }
        }
        assert_eq!(seen.len(), 15, "{}", strategy.name());
    }
}

#[test]
fn stagnation_restarts() {
    let mut strategy = Evolutionary::new(tiling_space(), 5, EvolutionaryOptions::default());
    best_after(&mut strategy, |_| Observation::Objective(1.0), 150, 1);
    assert!(strategy.restarts() >= 2, "{} restarts", strategy.restarts());
}

#[test]
fn infeasible_regions_are_learned() {
    let failures = |strategy: &mut dyn Strategy| {
        let mut failed = 0;
        for _ in 0..100 {
            for configuration in strategy.ask(1) {
                let outcome = tiling_objective(&configuration);
                failed += u32::from(matches!(outcome, Observation::Infeasible { .. }));
                strategy.tell(&configuration, &outcome);
            }
        }
        failed
    };
    let learned = failures(&mut Evolutionary::new(tiling_space(), 1, EvolutionaryOptions::default()));
    let blind = failures(&mut UniformRandom::new(tiling_space(), 1));
    assert!(learned * 3 < blind, "{learned} against {blind}");
}

#[test]
fn everything_infeasible_goes_on() {
    let mut strategy = Evolutionary::new(tiling_space(), 9, EvolutionaryOptions::default());
    let failing: fn(&Configuration) -> Observation = |_| Observation::Infeasible { class: InfeasibleClass::Build };
    assert_eq!(best_after(&mut strategy, failing, 60, 3), f64::INFINITY);
}

/// A space with every kind of difficulty: constraints, an unordered tunable, a conditional one.
fn awkward_space() -> SearchSpace {
    let method =
        Domain::List { values: ["a", "b", "c"].map(|text| Value::Text(text.to_owned())).to_vec(), ordered: false };
    let mut how = tunable("HOW", method, 0);
    how.default = Some(Value::Text("a".to_owned()));
    let mut depth = tunable("DEPTH", Domain::Range { min: 1, max: 4, step: 1 }, 1);
    depth.when = Some(space::Condition { text: "HOW != 'a'".to_owned(), span: 0..10 });
    let tunables = [tunable("TILE", Domain::Range { min: 16, max: 1024, step: 16 }, 16), depth, how];
    SearchSpace::new(&tunables, &[("TILE * DEPTH <= 2048".to_owned(), 0..20)], &[]).expect("space")
}

fn awkward_objective(configuration: &Configuration) -> Observation {
    let (tile, depth) = (get(configuration, "TILE"), get(configuration, "DEPTH"));
    if tile % 64.0 == 0.0 && depth == 3.0 {
        return Observation::Infeasible { class: InfeasibleClass::Run };
    }
    let text = |name: &str| configuration.get(name).is_some_and(|value| *value == Value::Text("b".to_owned()));
    Observation::Objective(
        1.0 + (tile - 500.0).abs() / 100.0 + if text("HOW") { 0.0 } else { 2.0 } + (depth - 2.0).abs(),
    )
}

#[test]
fn what_is_known_without_having_been_asked_shortens_the_start() {
    let space = awkward_space();
    let known = space.enumerate().expect("small").iter().take(40).step_by(10).cloned().collect::<Vec<_>>();
    let expects = |told: usize| {
        let mut strategy = StrategyKind::Hybrid.build(&space, 3);
        for point in known.iter().take(told) {
            let configuration = space.configuration(point);
            strategy.tell(&configuration, &awkward_objective(&configuration));
        }
        assert_eq!(strategy.ask(1).len(), 1);
        strategy.expected_gain().is_some()
    };
    assert!(!expects(3), "the start has four points");
    assert!(expects(4), "from there on the model is asked");
}

#[test]
fn every_strategy_keeps_to_the_space_and_never_asks_twice() {
    let space = awkward_space();
    let all = space.enumerate().expect("small").len();
    for kind in StrategyKind::ALL {
        for batch in [1, 3] {
            let mut strategy = kind.build(&space, 5);
            let mut seen = BTreeSet::new();
            loop {
                let asked = strategy.ask(batch);
                assert!(asked.len() <= batch);
                if asked.is_empty() {
                    break;
                }
                // Told in the opposite order, the last one of a batch late.
                for configuration in asked.iter().rev() {
                    assert_eq!(space.check(configuration), Ok(()), "{kind}");
                    assert!(seen.insert(configuration.clone()), "{kind} asked {configuration} twice");
                    strategy.tell(configuration, &awkward_objective(configuration));
                }
            }
            assert_eq!(seen.len(), all, "{kind} with {batch} in flight gave up early");
        }
    }
}

#[test]
fn every_strategy_beats_random_and_repeats_itself() {
    let run = |kind: StrategyKind, seed: u64| {
        let mut strategy = kind.build(&tiling_space(), seed);
        let mut asked = Vec::new();
        let mut best = f64::INFINITY;
        for _ in 0..60 {
            for configuration in strategy.ask(1) {
                let outcome = tiling_objective(&configuration);
                if let Observation::Objective(value) = outcome {
                    best = best.min(value);
                }
                strategy.tell(&configuration, &outcome);
                asked.push(configuration);
            }
        }
        (best, asked)
    };
    // What asks a model takes most of the time, and beats chance by more.
    let seeds = |kind: StrategyKind| match kind {
        StrategyKind::Hybrid | StrategyKind::Surrogate => 0..6,
        _ => 0..16,
    };
    let runs = |kind: StrategyKind| seeds(kind).map(|seed| run(kind, seed)).collect::<Vec<_>>();
    let typical = |runs: &[(f64, Vec<Configuration>)]| runs.iter().map(|run| run.0).sum::<f64>() / runs.len() as f64;
    let random = typical(&runs(StrategyKind::Random));
    for kind in StrategyKind::ALL.into_iter().filter(|kind| *kind != StrategyKind::Random) {
        let runs = runs(kind);
        let best = typical(&runs);
        assert!(best < random, "{kind}: {best}, random: {random}");
        assert_eq!(runs[3], run(kind, 3), "{kind}");
    }
}

#[test]
fn the_default_expects_less_and_less() {
    let mut strategy = StrategyKind::default().build(&tiling_space(), 2);
    assert_eq!(strategy.expected_gain(), None, "nothing is known yet");
    let mut gains = Vec::new();
    for _ in 0..60 {
        for configuration in strategy.ask(1) {
            strategy.tell(&configuration, &tiling_objective(&configuration));
        }
        gains.extend(strategy.expected_gain());
    }
    let mean = |gains: &[f64]| gains.iter().sum::<f64>() / gains.len() as f64;
    assert!(mean(&gains[gains.len() - 10..]) < 0.2 * mean(&gains[..10]), "{gains:?}");
}

/// Best time within 300 seconds and how many evaluations that were, where two tunables are compiled in and a rebuild takes
/// 20 seconds, anything else one.
fn within_a_time(seed: u64, told: bool) -> (f64, usize) {
    let space = tiling_space();
    let compiled_in = ["DEPTH", "SPLIT"];
    let mut strategy = StrategyKind::Hybrid.build(&space, seed);
    let prices = Prices { compiled_in: compiled_in.map(str::to_owned).to_vec(), rebuild: 20.0 };
    strategy.set_prices(told.then_some(prices));
    let (mut built, mut seconds, mut best, mut evaluations) = (BTreeSet::new(), 0.0, f64::INFINITY, 0);
    while seconds < 300.0 {
        let configuration = strategy.ask(1).pop().expect("a large space");
        let rebuilt = built.insert(compiled_in.map(|name| get(&configuration, name) as u32));
        seconds += if rebuilt { 20.0 } else { 1.0 };
        let outcome = tiling_objective(&configuration);
        if let Observation::Objective(time) = outcome {
            best = best.min(time);
        }
        strategy.tell(&configuration, &outcome);
        evaluations += 1;
    }
    (best, evaluations)
}

#[test]
fn where_time_is_scarce_rebuilds_are_asked_for_less_often() {
    let run = |told: bool| {
        let runs: Vec<(f64, usize)> = (0..7).map(|seed| within_a_time(seed, told)).collect();
        let best = median(runs.iter().map(|run| run.0).collect());
        (best, runs.iter().map(|run| run.1).sum::<usize>())
    };
    let (blind, priced) = (run(false), run(true));
    assert!(priced.1 > blind.1 * 3 / 2, "{priced:?} after {blind:?}: more evaluations in the same time");
    assert!(priced.0 <= blind.0 * 1.05, "{priced:?} after {blind:?}: and little lost by that in the worst case");
}
