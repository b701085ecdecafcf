//! Tests of domains, constraints and sampling.

use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::super::Condition;
use super::*;

fn tunable(name: &str, domain: Domain) -> Tunable {
    let binding = Binding::Constant { file: "a.h".to_owned(), name: name.to_owned(), also: Vec::new() };
    Tunable { name: name.to_owned(), domain, default: Some(Value::Int(2)), binding, reason: String::new(), when: None }
}

fn constraints(texts: &[&str]) -> Vec<(String, Range<usize>)> {
    texts.iter().map(|text| ((*text).to_owned(), 100..102 + text.len())).collect()
}

fn facts() -> Vec<CaseFacts> {
    ["small", "large"]
        .iter()
        .zip([4, 2])
        .map(|(name, dtype_bytes)| CaseFacts::of_machine(*name, 48, 196_608).with_tensor(&[1024, 1024], dtype_bytes))
        .collect()
}

#[test]
fn constraints_hold_for_all_cases() {
    let tunables = [
        tunable("TILE", Domain::PowerOfTwo { min: 64, max: 65_536 }),
        tunable("DEPTH", Domain::Range { min: 1, max: 4, step: 1 }),
    ];
    let space = SearchSpace::new(&tunables, &constraints(&["TILE * DEPTH * 3 * dtype_bytes <= ub_bytes"]), &facts())
        .expect("space");
    assert_eq!(space.size(), 44);
    let points = space.enumerate().expect("small");
    // With four-byte elements the first case is the narrow one: TILE * DEPTH <= 16384.
    let products = |point: &Point| match (space.value(0, point[0]), space.value(1, point[1])) {
        (Some(Value::Int(depth)), Some(Value::Int(tile))) => depth * tile,
        _ => 0,
    };
    assert!(points.iter().all(|point| products(point) <= 16_384));
    assert_eq!(points.len(), 9 + 8 + 7 + 7, "fitting tile lengths for one to four buffers");
    let bad = space.configuration(&[3, 10]);
    let violation = space.check(&bad).expect_err("too large");
    assert_eq!(
        violation.to_string(),
        "constraint `TILE * DEPTH * 3 * dtype_bytes <= ub_bytes` does not hold for case small"
    );
}

/// Fourteen queues of three sizes beside a limit of the tile: what two of them may have says little about all together.
fn queues(depths: usize) -> (SearchSpace, LinearBound) {
    let mut tunables: Vec<Tunable> =
        (0..depths).map(|queue| tunable(&format!("Q{queue:02}"), Domain::Range { min: 1, max: 3, step: 1 })).collect();
    let values = [64, 128, 256].map(Value::Int).to_vec();
    let binding = Binding::Cap { file: "a.cpp".to_owned(), target: "tile".to_owned() };
    let default = None;
    tunables.push(Tunable { binding, default, ..tunable("TILE", Domain::List { values, ordered: true }) });
    let space = SearchSpace::new(&tunables, &[], &[]).expect("space");
    let weights = (0..depths).map(|queue| (format!("Q{queue:02}"), 1 + queue as u64 % 3)).collect();
    let mut from: Configuration = (0..depths).map(|queue| (format!("Q{queue:02}"), Value::Int(1))).collect();
    from.set("TILE", Value::Int(128));
    (space, LinearBound { weights, most: 27 + 4, from })
}

#[test]
fn a_bound_on_a_sum_holds_from_where_it_is_known() {
    let (space, bound) = queues(14);
    let bounded = space.clone().with_bounds(std::slice::from_ref(&bound));
    let point = |larger: usize, tile: u32| {
        let mut point = vec![0; 14];
        point[..larger].fill(1);
        point.push(tile);
        point
    };
    // One, two and three more units fit into four, six do not; shorter tiles and no limit are on either side of what is known.
    assert!(bounded.allows(&point(1, 1)) && bounded.allows(&point(2, 1)) && !bounded.allows(&point(3, 1)));
    assert!(!bounded.allows(&point(3, 2)) && !bounded.allows(&point(3, 3)));
    assert!(bounded.allows(&point(14, 0)));
    let violation = bounded.check(&space.configuration(&point(3, 1))).expect_err("too much").to_string();
    assert!(violation.contains("1 * Q00 + 2 * Q01 + 3 * Q02") && violation.contains("<= 31"), "{violation}");
    // Of the space without the bound hardly any point would fit.
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut long = 0;
    for _ in 0..64 {
        let drawn = bounded.sample(&mut random).expect("some fit");
        let taken: u64 = (0..14).map(|queue| (1 + queue as u64 % 3) * u64::from(drawn[queue] + 1)).sum();
        assert!(taken <= 31 || drawn[14] == 0, "{drawn:?}");
        long += usize::from(drawn[14] > 0);
    }
    assert!(long > 16, "long tiles are drawn too: {long} of 64");
    assert!(bounded.neighbours(&point(2, 3)).iter().all(|neighbour| bounded.allows(neighbour)));
}

#[test]
fn a_bound_follows_fixed_values_and_says_nothing_of_other_spaces() {
    let (space, bound) = queues(3);
    let fixed = |tile: i64| {
        let configuration: Configuration = [("TILE".to_owned(), Value::Int(tile))].into_iter().collect();
        let bounds = LinearBound { most: 8, ..bound.clone() };
        space.clone().with_bounds(&[bounds]).with_fixed(&configuration).expect("a value of its domain")
    };
    let allowed = |space: &SearchSpace| space.enumerate().expect("small").len();
    assert_eq!((allowed(&fixed(64)), allowed(&fixed(128)), allowed(&fixed(0))), (27, 4, 4));
    let (other, _) = queues(2);
    assert_eq!(allowed(&other.clone().with_bounds(&[bound])), allowed(&other));
}

#[test]
fn mistakes_are_collected() {
    let tunables = [
        tunable("A", Domain::Range { min: 4, max: 1, step: 1 }),
        tunable("B", Domain::PowerOfTwo { min: 3, max: 8 }),
        tunable("C", Domain::Bool),
        tunable("C", Domain::Bool),
    ];
    let errors = SearchSpace::new(&tunables, &constraints(&["C && unknown > 1"]), &facts()).expect_err("four mistakes");
    assert_eq!(errors.len(), 4);
    let SpaceError::BadConstraint { span, .. } = &errors[3] else { panic!("{errors:?}") };
    assert_eq!(*span, 106..113, "the name inside the quotes");
}

#[test]
fn no_limit_is_the_largest_value_of_a_cap() {
    let mut cap = tunable("CAP", Domain::PowerOfTwo { min: 32, max: 128 });
    cap.binding = Binding::Cap { file: "t.cpp".to_owned(), target: "ubFactor".to_owned() };
    cap.default = None;
    let space = SearchSpace::new(&[cap], &[], &[]).expect("space");
    assert_eq!(space.value(0, 3), Some(&NO_LIMIT));
    assert_eq!(space.present(), Some(vec![3]));
}

#[test]
fn fixed_values_leave_one_choice() {
    let tunables = [tunable("A", Domain::Range { min: 1, max: 4, step: 1 }), tunable("B", Domain::Bool)];
    let space = SearchSpace::new(&tunables, &[], &[]).expect("space");
    let fixed = |value: i64| [("A".to_owned(), Value::Int(value))].into_iter().collect::<Configuration>();
    let narrowed = space.clone().with_fixed(&fixed(3)).expect("in the domain");
    assert_eq!(narrowed.size(), 2);
    let error = space.with_fixed(&fixed(9)).expect_err("outside");
    assert_eq!(error[0].to_string(), "`A` cannot be 9: it can be 1, 2, 3, 4");
}

#[test]
fn huge_and_narrow_spaces_are_sampled() {
    let mut tunables: Vec<Tunable> =
        (0..8).map(|position| tunable(&format!("T{position}"), Domain::Range { min: 1, max: 1000, step: 1 })).collect();
    tunables.push(tunable("SUM", Domain::Range { min: 1, max: 4000, step: 1 }));
    let texts = ["T0 + T1 == SUM", "T2 % 32 == 0 && T3 % 32 == 0", "T4 * T5 <= 2000", "T6 == T7"];
    let space = SearchSpace::new(&tunables, &constraints(&texts), &[]).expect("space");
    assert_eq!(space.size(), u64::MAX);
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let found = (0..50).filter_map(|_| space.sample(&mut random)).filter(|point| space.allows(point)).count();
    assert!(found >= 48, "{found} of 50 draws were repaired");
}

proptest! {
    #[test]
    fn samples_and_neighbours_are_valid(
        seed in any::<u64>(),
        lengths in proptest::collection::vec(1i64..40, 2..5),
        limit in 1i64..200,
    ) {
        let tunables: Vec<Tunable> = lengths
            .iter()
            .enumerate()
            .map(|(position, max)| tunable(&format!("T{position}"), Domain::Range { min: 1, max: *max, step: 1 }))
            .collect();
        let texts = [format!("T0 * T1 <= {limit}"), "T0 <= T1 || T0 % 2 == 0".to_owned()];
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let space = SearchSpace::new(&tunables, &constraints(&texts), &[]).expect("space");
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for _ in 0..20 {
            if let Some(point) = space.sample(&mut random) {
                prop_assert!(space.check(&space.configuration(&point)).is_ok());
                for neighbour in space.neighbours(&point) {
                    prop_assert!(space.allows(&neighbour));
                    prop_assert_eq!(neighbour.iter().zip(&point).filter(|(a, b)| a != b).count(), 1);
                }
                prop_assert_eq!(space.point(&space.configuration(&point)), Some(point));
            }
        }
    }
}

#[test]
fn a_conditional_tunable_keeps_its_default_where_it_does_not_matter() {
    let mut depth = tunable("DEPTH", Domain::Range { min: 1, max: 4, step: 1 });
    depth.when = Some(Condition { text: "SPLIT == 1".to_owned(), span: 10..22 });
    let split = tunable("SPLIT", Domain::Bool);
    let space = SearchSpace::new(&[depth.clone(), split.clone()], &[], &[]).expect("space");
    let (off, on) = (0, 1);
    assert_eq!(space.enumerate().map(|points| points.len()), Some(5), "one point without, four with");
    let mut random = ChaCha8Rng::seed_from_u64(1);
    assert!((0..50).filter_map(|_| space.sample(&mut random)).all(|point| point[1] == on || point[0] == 1));
    assert!(space.neighbours(&[3, on]).contains(&vec![1, off]), "switching off settles what hangs on it");
    let broken: Configuration = [("DEPTH", Value::Int(4)), ("SPLIT", Value::Bool(false))]
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect();
    let violation = space.check(&broken).expect_err("unsettled").to_string();
    assert!(violation.contains("DEPTH keeps its default unless SPLIT == 1"), "{violation}");
    let fixed = space.with_fixed(&[("DEPTH".to_owned(), Value::Int(4))].into_iter().collect()).expect("fixed");
    assert_eq!(fixed.enumerate().map(|points| points.len()), Some(2), "what is fixed from outside stays");

    depth.when = Some(Condition { text: "SPLITT == 1".to_owned(), span: 10..23 });
    let errors = SearchSpace::new(&[depth, split], &[], &[]).expect_err("unknown name");
    assert!(matches!(&errors[0], SpaceError::BadConstraint { span, .. } if *span == (11..17)), "{errors:?}");
}

#[test]
fn permutations_are_all_orders() {
    let items = ["b", "h", "w"].map(str::to_owned).to_vec();
    let mut order = tunable("ORDER", Domain::Permutation { items });
    order.default = Some(Value::Text("b,h,w".to_owned()));
    let space = SearchSpace::new(&[order.clone()], &constraints(&["ORDER != 'w,h,b'"]), &[]).expect("space");
    assert_eq!(space.enumerate().map(|points| points.len()), Some(5));
    assert_eq!(space.present(), Some(vec![0]));
    order.domain = Domain::Permutation { items: vec!["a".to_owned(), "a".to_owned()] };
    assert!(SearchSpace::new(&[order], &[], &[]).is_err(), "an item twice");
}

#[test]
fn a_space_of_a_trillion_points_is_sampled_and_not_enumerated() {
    let tunables: Vec<Tunable> =
        (0..6).map(|at| tunable(&format!("T{at}"), Domain::Range { min: 1, max: 128, step: 1 })).collect();
    let texts = ["T0 * T1 <= 256", "T2 % T3 == 0", "T4 + T5 == 100"];
    let space = SearchSpace::new(&tunables, &constraints(&texts), &[]).expect("space");
    assert!(space.size() > 1_000_000_000_000 && space.enumerate().is_none());
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let found = (0..50).filter_map(|_| space.sample(&mut random)).filter(|point| space.allows(point)).count();
    assert!(found >= 40, "{found} of 50");
}
