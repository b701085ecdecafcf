//! The search space: indexable domains, constraints over all cases, sampling and neighbours.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::expression::{Environment, EvaluationError, Expression, Symbol};
use super::{Binding, CaseFacts, Configuration, Domain, MOST_PERMUTED, Tunable, Value};

/// The value that stands for "no limit" in a cap.
pub const NO_LIMIT: Value = Value::Int(0);

/// Positions of the values in their domains, one per tunable in the order of names.
pub type Point = Vec<u32>;

/// Why a space cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpaceError {
    /// Two tunables have one name.
    #[error("tunable `{name}` is defined twice")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// A domain without values, or with bounds that make no sense.
    #[error("tunable `{name}`: {message}")]
    BadDomain {
        /// The tunable.
        name: String,
        /// What is wrong and what would be right.
        message: String,
    },
    /// A constraint that cannot be read.
    #[error("constraint `{text}`: {message}")]
    BadConstraint {
        /// The constraint.
        text: String,
        /// What is wrong.
        message: String,
        /// Bytes of the manifest at fault.
        span: Range<usize>,
    },
    /// A value fixed from outside that the tunable cannot take.
    #[error("`{name}` cannot be {value}: {message}")]
    BadValue {
        /// The tunable.
        name: String,
        /// The value asked for.
        value: Value,
        /// What would be right.
        message: String,
    },
}

/// The first constraint that a configuration breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A tunable has no value or one outside its domain.
    #[error("{name} has no value of its domain")]
    OutsideDomain {
        /// The tunable.
        name: String,
    },
    /// A constraint does not hold.
    #[error("constraint `{text}` does not hold{case}")]
    Constraint {
        /// The constraint.
        text: String,
        /// ` for case NAME`, or nothing when no case is involved.
        case: String,
    },
    /// A constraint has no value.
    #[error("constraint `{text}`{case}: {error}")]
    Evaluation {
        /// The constraint.
        text: String,
        /// ` for case NAME`, or nothing when no case is involved.
        case: String,
        /// Why.
        error: EvaluationError,
    },
}

#[derive(Clone, Debug)]
struct Constraint {
    text: String,
    rule: Rule,
    tunables: Vec<usize>,
    per_case: bool,
}

/// What a constraint asks.
#[derive(Clone, Debug)]
enum Rule {
    /// What someone wrote.
    Expression(Expression),
    /// What was found out about the operator.
    Bound(Bound),
}

/// A [`LinearBound`] by position.
#[derive(Clone, Debug)]
struct Bound {
    weights: Vec<(usize, i128)>,
    most: i128,
    /// Dimensions that are not weighed, with the position from which on the bound is known to hold.
    from: Vec<(usize, u32)>,
}

/// What tunables with a weight may add up to, where all others lie at or beyond those of a configuration (in domains without an
/// order: at the same value). What several of them take of one memory is such a sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearBound {
    /// Names of tunables with integer values, each with what one of its units takes.
    pub weights: BTreeMap<String, u64>,
    /// What is there to be taken.
    pub most: u64,
    /// Where this is known.
    pub from: Configuration,
}

#[derive(Clone, Debug)]
struct Dimension {
    tunable: Tunable,
    values: Vec<Value>,
    /// Integer view of the values; 0 for texts.
    integers: Vec<i128>,
    ordered: bool,
}

/// A tunable that only matters where a condition holds.
#[derive(Clone, Debug)]
struct Conditional {
    dimension: usize,
    /// Position of the default, which it keeps elsewhere.
    settled: u32,
    condition: Constraint,
}

/// Tunables, constraints and the facts of all cases. A configuration is valid if every constraint holds for every case.
#[derive(Clone, Debug)]
pub struct SearchSpace {
    dimensions: Vec<Dimension>,
    constraints: Vec<Constraint>,
    conditionals: Vec<Conditional>,
    cases: Vec<String>,
    /// Facts per case, in the order of the fact positions.
    facts: Vec<Vec<i128>>,
    /// The only points there are, where they were listed rather than described.
    listed: Option<Arc<HashSet<Point>>>,
    /// All valid points, found out at most once; clones share them.
    valid: Arc<OnceLock<Option<Arc<[Point]>>>>,
}

/// Values of a domain in order; a cap without a default may also have no limit, which is its largest value.
pub fn domain_values(tunable: &Tunable) -> Result<Vec<Value>, String> {
    /// More values than this in one tunable is taken for a mistake.
    const MOST: i64 = 1 << 20;
    let mut values: Vec<Value> = match &tunable.domain {
        Domain::Bool => vec![Value::Bool(false), Value::Bool(true)],
        Domain::Permutation { items } => {
            let mut sorted = items.clone();
            sorted.sort();
            sorted.dedup();
            if items.len() > MOST_PERMUTED || sorted.len() != items.len() {
                return Err(format!("a permutation is of at most {MOST_PERMUTED} different items"));
            }
            permutations(items).into_iter().map(|order| Value::Text(order.join(","))).collect()
        }
        Domain::List { values, .. } => {
            let mut seen = values.clone();
            seen.sort();
            if seen.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err("a value is listed twice".to_owned());
            }
            values.clone()
        }
        Domain::PowerOfTwo { min, max } => {
            let is_power = |value: i64| value > 0 && value & (value - 1) == 0;
            if !is_power(*min) || !is_power(*max) || min > max {
                return Err(format!("[{min}, {max}] are not two powers of two in ascending order"));
            }
            (min.trailing_zeros()..=max.trailing_zeros()).map(|exponent| Value::Int(1 << exponent)).collect()
        }
        Domain::Range { min, max, step } => {
            if *step < 1 || min > max {
                return Err(format!("[{min}, {max}, {step}] is not [smallest, largest, step of at least 1]"));
            }
            let count = max.checked_sub(*min).map(|extent| extent / step + 1).filter(|count| *count <= MOST);
            let Some(count) = count else {
                return Err(format!("[{min}, {max}, {step}] has more than {MOST} values: take a larger step"));
            };
            (0..count).map(|position| Value::Int(min + position * step)).collect()
        }
    };
    if values.is_empty() {
        return Err("the domain has no value".to_owned());
    }
    if matches!(tunable.binding, Binding::Cap { .. })
        && tunable.default.as_ref().is_none_or(|value| *value == NO_LIMIT)
        && !values.contains(&NO_LIMIT)
    {
        values.push(NO_LIMIT);
    }
    Ok(values)
}

/// All orders of the items, the given one first.
fn permutations(items: &[String]) -> Vec<Vec<String>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut found = Vec::new();
    for (position, first) in items.iter().enumerate() {
        let mut rest = items.to_vec();
        rest.remove(position);
        for mut order in permutations(&rest) {
            order.insert(0, first.clone());
            found.push(order);
        }
    }
    found
}

impl Bound {
    /// Takes note that a tunable stays at a position, which is the only one of its domain from then on. `false` where the bound says
    /// nothing about that position.
    fn keep_fixed(&mut self, dimension: usize, index: u32, ordered: bool) -> bool {
        let Some((_, least)) = self.from.iter_mut().find(|(known, _)| *known == dimension) else { return true };
        let applies = if ordered { index >= *least } else { index == *least };
        *least = 0;
        applies
    }

    fn holds(&self, view: &View<'_>) -> Result<bool, EvaluationError> {
        let applies = self.from.iter().all(|&(dimension, least)| {
            let here = view.point[dimension];
            if view.space.is_ordered(dimension) { here >= least } else { here == least }
        });
        let add = |sum: i128, &(dimension, weight): &(usize, i128)| {
            let product = view.integer(dimension).checked_mul(weight)?;
            sum.checked_add(product)
        };
        let sum = self.weights.iter().try_fold(0, add).ok_or(EvaluationError::Overflow)?;
        Ok(!applies || sum <= self.most)
    }
}

impl Constraint {
    fn holds(&self, view: &View<'_>) -> Result<bool, EvaluationError> {
        match &self.rule {
            Rule::Expression(expression) => expression.holds(view),
            Rule::Bound(bound) => bound.holds(view),
        }
    }

    /// Tunables that mend it. Where a bound is not known any more, it is not known to be kept either.
    fn movable(&self) -> Box<dyn Iterator<Item = usize> + '_> {
        match &self.rule {
            Rule::Expression(_) => Box::new(self.tunables.iter().copied()),
            Rule::Bound(bound) => Box::new(bound.weights.iter().map(|(dimension, _)| *dimension)),
        }
    }
}

struct View<'a> {
    space: &'a SearchSpace,
    point: &'a [u32],
    facts: &'a [i128],
}

impl Environment for View<'_> {
    fn integer(&self, tunable: usize) -> i128 {
        self.space.dimensions[tunable].integers[self.point[tunable] as usize]
    }

    fn text(&self, tunable: usize) -> &str {
        match &self.space.dimensions[tunable].values[self.point[tunable] as usize] {
            Value::Text(text) => text,
            Value::Int(_) | Value::Bool(_) => "",
        }
    }

    fn fact(&self, fact: usize) -> i128 {
        self.facts[fact]
    }
}

impl SearchSpace {
    /// Builds a space; all mistakes are reported together. A constraint may name the facts that every case has.
    pub fn new(
        tunables: &[Tunable],
        constraints: &[(String, Range<usize>)],
        cases: &[CaseFacts],
    ) -> Result<Self, Vec<SpaceError>> {
        let mut errors = Vec::new();
        let mut by_name: BTreeMap<&str, &Tunable> = BTreeMap::new();
        for tunable in tunables {
            if by_name.insert(&tunable.name, tunable).is_some() {
                errors.push(SpaceError::Duplicate { name: tunable.name.clone() });
            }
        }
        let mut dimensions = Vec::new();
        for tunable in by_name.into_values() {
            match domain_values(tunable) {
                Ok(values) => dimensions.push(Dimension {
                    tunable: tunable.clone(),
                    integers: values.iter().map(|value| i128::from(value.as_int().unwrap_or(0))).collect(),
                    ordered: tunable.domain.is_ordered(),
                    values,
                }),
                Err(message) => errors.push(SpaceError::BadDomain { name: tunable.name.clone(), message }),
            }
        }
        let mut fact_names: Vec<&String> = cases.first().map(|case| case.values.keys().collect()).unwrap_or_default();
        fact_names.retain(|name| cases.iter().all(|case| case.values.contains_key(*name)));
        let facts = cases
            .iter()
            .map(|case| fact_names.iter().map(|name| case.values.get(*name).copied().unwrap_or(0).into()).collect())
            .collect();

        let resolve = |name: &str| {
            if let Some(position) = dimensions.iter().position(|dimension| dimension.tunable.name == name) {
                let text = dimensions[position].values.iter().any(|value| matches!(value, Value::Text(_)));
                return Some(if text { Symbol::TextTunable(position) } else { Symbol::Tunable(position) });
            }
            fact_names.iter().position(|fact| *fact == name).map(Symbol::Fact)
        };
        let mut parse = |text: &str, span: &Range<usize>| match Expression::parse(text, &resolve) {
            Ok(expression) => Some(Constraint {
                text: text.to_owned(),
                tunables: expression.tunables(),
                per_case: expression.depends_on_case(),
                rule: Rule::Expression(expression),
            }),
            Err(error) => {
                let span = constraint_span(span, text, &error.span);
                errors.push(SpaceError::BadConstraint { text: text.to_owned(), span, message: error.message });
                None
            }
        };
        let parsed: Vec<Constraint> = constraints.iter().filter_map(|(text, span)| parse(text, span)).collect();
        let mut conditionals = Vec::new();
        for (position, dimension) in dimensions.iter().enumerate() {
            let Some(condition) = &dimension.tunable.when else { continue };
            let settled = dimension.tunable.default.as_ref().unwrap_or(&NO_LIMIT);
            let settled = dimension.values.iter().position(|known| known == settled);
            if let (Some(settled), Some(parsed)) = (settled, parse(&condition.text, &condition.span)) {
                conditionals.push(Conditional { dimension: position, settled: settled as u32, condition: parsed });
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let cases = cases.iter().map(|case| case.case.clone()).collect();
        Ok(Self { dimensions, constraints: parsed, conditionals, cases, facts, listed: None, valid: Arc::default() })
    }

    /// The same space with only the points of a list (a recording that says which configurations there are, but not why).
    pub fn with_listed(mut self, points: impl IntoIterator<Item = Point>) -> Self {
        self.listed = Some(Arc::new(points.into_iter().collect()));
        self.valid = Arc::default();
        self
    }

    /// The same space with bounds that were found out. A bound that names what the space does not have says nothing about it.
    #[must_use]
    pub fn with_bounds(mut self, bounds: &[LinearBound]) -> Self {
        let found: Vec<Constraint> = bounds.iter().filter_map(|bound| self.resolve(bound)).collect();
        self.constraints.extend(found);
        self.valid = Arc::default();
        self
    }

    fn resolve(&self, bound: &LinearBound) -> Option<Constraint> {
        let position = |name: &String| self.dimensions.iter().position(|dimension| dimension.tunable.name == *name);
        let weights = bound.weights.iter().map(|(name, weight)| Some((position(name)?, i128::from(*weight))));
        let weights: Vec<(usize, i128)> = weights.collect::<Option<_>>()?;
        let weighed = |dimension: &usize| weights.iter().any(|(known, _)| known == dimension);
        let here = self.point(&bound.from)?;
        let from = here.into_iter().enumerate().filter(|(dimension, _)| !weighed(dimension)).collect();
        let sum: Vec<String> = bound.weights.iter().map(|(name, weight)| format!("{weight} * {name}")).collect();
        Some(Constraint {
            text: format!("{} <= {}", sum.join(" + "), bound.most),
            // Whether it applies is decided by the others.
            tunables: (0..self.dimensions.len()).collect(),
            rule: Rule::Bound(Bound { weights, most: bound.most.into(), from }),
            per_case: false,
        })
    }

    /// The same space with some tunables fixed (`--set NAME=VALUE`).
    pub fn with_fixed(mut self, fixed: &Configuration) -> Result<Self, Vec<SpaceError>> {
        let mut errors = Vec::new();
        for (name, value) in fixed.iter() {
            let bad = |message: String| SpaceError::BadValue { name: name.to_owned(), value: value.clone(), message };
            let known: Vec<&str> = self.dimensions.iter().map(|dimension| dimension.tunable.name.as_str()).collect();
            let Some(position) = known.iter().position(|known| *known == name) else {
                errors.push(bad(format!("there is no such tunable, only: {}", known.join(", "))));
                continue;
            };
            let dimension = &mut self.dimensions[position];
            let Some(index) = dimension.values.iter().position(|known| known == value) else {
                let values: Vec<String> = dimension.values.iter().take(12).map(ToString::to_string).collect();
                let more = if dimension.values.len() > 12 { ", .." } else { "" };
                errors.push(bad(format!("it can be {}{more}", values.join(", "))));
                continue;
            };
            dimension.values = vec![dimension.values[index].clone()];
            dimension.integers = vec![dimension.integers[index]];
            let ordered = dimension.ordered;
            self.constraints.retain_mut(|constraint| match &mut constraint.rule {
                Rule::Bound(bound) => bound.keep_fixed(position, index as u32, ordered),
                Rule::Expression(_) => true,
            });
            // What is fixed from outside stays, whether it matters or not.
            self.conditionals.retain(|conditional| conditional.dimension != position);
        }
        // Positions in the fixed domains are others now.
        self.valid = Arc::default();
        if errors.is_empty() { Ok(self) } else { Err(errors) }
    }

    /// Number of tunables.
    pub fn dimensions(&self) -> usize {
        self.dimensions.len()
    }

    /// The tunables in the order of a point's positions.
    pub fn tunables(&self) -> impl Iterator<Item = &Tunable> {
        self.dimensions.iter().map(|dimension| &dimension.tunable)
    }

    /// Number of values of a tunable.
    pub fn domain_len(&self, dimension: usize) -> u32 {
        u32::try_from(self.dimensions[dimension].values.len()).unwrap_or(u32::MAX)
    }

    /// Whether neighbours in a tunable's domain are alike.
    pub fn is_ordered(&self, dimension: usize) -> bool {
        self.dimensions[dimension].ordered
    }

    /// Whether two points plan memory alike: they differ at most in least shares of a core, which decide on cores and not on
    /// what a core holds at a time.
    pub fn plans_alike(&self, point: &[u32], other: &[u32]) -> bool {
        let is_share = |dimension: usize| {
            let binding = &self.dimensions[dimension].tunable.binding;
            matches!(binding, Binding::Share { .. })
        };
        point.iter().zip(other).enumerate().all(|(dimension, (here, there))| here == there || is_share(dimension))
    }

    /// Whether `point` lies at or beyond `other` in every ordered tunable, upwards or downwards, and equals it in the others.
    pub fn is_beyond(&self, point: &[u32], other: &[u32], up: bool) -> bool {
        point.iter().zip(other).enumerate().all(|(dimension, (here, there))| match (self.is_ordered(dimension), up) {
            (false, _) => here == there,
            (true, true) => here >= there,
            (true, false) => here <= there,
        })
    }

    /// The value at a position of a tunable's domain.
    pub fn value(&self, dimension: usize, index: u32) -> Option<&Value> {
        self.dimensions[dimension].values.get(index as usize)
    }

    /// Points before constraints; saturates.
    pub fn size(&self) -> u64 {
        self.dimensions.iter().fold(1, |product: u64, dimension| product.saturating_mul(dimension.values.len() as u64))
    }

    /// The configuration of a point.
    pub fn configuration(&self, point: &[u32]) -> Configuration {
        let named = self.dimensions.iter().zip(point).filter_map(|(dimension, index)| {
            dimension.values.get(*index as usize).map(|value| (dimension.tunable.name.clone(), value.clone()))
        });
        named.collect()
    }

    /// The point of a configuration, if every tunable has a value of its domain.
    pub fn point(&self, configuration: &Configuration) -> Option<Point> {
        let position = |dimension: &Dimension| {
            let value = configuration.get(&dimension.tunable.name)?;
            dimension.values.iter().position(|known| known == value).map(|index| index as u32)
        };
        self.dimensions.iter().map(position).collect()
    }

    /// The project's present configuration, if it lies within the domains. It may break constraints.
    pub fn present(&self) -> Option<Point> {
        let position = |dimension: &Dimension| {
            if dimension.values.len() == 1 {
                return Some(0);
            }
            let default = dimension.tunable.default.as_ref().unwrap_or(&NO_LIMIT);
            dimension.values.iter().position(|known| known == default).map(|index| index as u32)
        };
        self.dimensions.iter().map(position).collect()
    }

    /// The first thing wrong with a configuration.
    pub fn check(&self, configuration: &Configuration) -> Result<(), Violation> {
        for dimension in &self.dimensions {
            let value = configuration.get(&dimension.tunable.name);
            if !value.is_some_and(|value| dimension.values.contains(value)) {
                return Err(Violation::OutsideDomain { name: dimension.tunable.name.clone() });
            }
        }
        let point = self.point(configuration).unwrap_or_default();
        if let Some(conditional) = self.conditionals.iter().find(|conditional| !self.is_settled(conditional, &point)) {
            let name = &self.dimensions[conditional.dimension].tunable.name;
            let text = format!("{name} keeps its default unless {}", conditional.condition.text);
            return Err(Violation::Constraint { text, case: String::new() });
        }
        for constraint in &self.constraints {
            for (case, facts) in self.cases_of(constraint) {
                let case = case.map_or_else(String::new, |case| format!(" for case {case}"));
                let view = View { space: self, point: &point, facts };
                match constraint.holds(&view) {
                    Ok(true) => {}
                    Ok(false) => return Err(Violation::Constraint { text: constraint.text.clone(), case }),
                    Err(error) => return Err(Violation::Evaluation { text: constraint.text.clone(), case, error }),
                }
            }
        }
        Ok(())
    }

    /// Whether a point satisfies every constraint for every case.
    pub fn allows(&self, point: &[u32]) -> bool {
        self.constraints.iter().all(|constraint| self.satisfied(constraint, point))
            && self.conditionals.iter().all(|conditional| self.is_settled(conditional, point))
            && self.listed.as_ref().is_none_or(|listed| listed.contains(point))
    }

    /// Whether a conditional tunable matters, or has the value that it keeps where it does not. It matters where its
    /// condition holds for any case.
    fn is_settled(&self, conditional: &Conditional, point: &[u32]) -> bool {
        point[conditional.dimension] == conditional.settled || self.matters(conditional, point)
    }

    fn matters(&self, conditional: &Conditional, point: &[u32]) -> bool {
        let condition = &conditional.condition;
        let holds = |facts: &[i128]| condition.holds(&View { space: self, point, facts }) == Ok(true);
        if condition.per_case { self.facts.iter().any(|facts| holds(facts)) } else { holds(&[]) }
    }

    /// Gives tunables that do not matter at a point the value that they keep there.
    pub fn settle(&self, point: &mut Point) {
        // A condition may hang on another conditional tunable: as many rounds as there are of them settle every chain.
        for _ in 0..self.conditionals.len() {
            let unsettled = self.conditionals.iter().find(|conditional| !self.is_settled(conditional, point));
            let Some(conditional) = unsettled else { break };
            point[conditional.dimension] = conditional.settled;
        }
    }

    fn cases_of<'a>(&'a self, constraint: &Constraint) -> Vec<(Option<&'a str>, &'a [i128])> {
        if constraint.per_case {
            return self
                .cases
                .iter()
                .zip(&self.facts)
                .map(|(case, facts)| (Some(case.as_str()), facts.as_slice()))
                .collect();
        }
        vec![(None, &[])]
    }

    fn satisfied(&self, constraint: &Constraint, point: &[u32]) -> bool {
        let holds = |facts: &[i128]| constraint.holds(&View { space: self, point, facts }) == Ok(true);
        if constraint.per_case { self.facts.iter().all(|facts| holds(facts)) } else { holds(&[]) }
    }

    /// All valid points in order, where the space is small enough to be searched through; found out once.
    pub fn enumerate(&self) -> Option<Arc<[Point]>> {
        self.valid.get_or_init(|| enumeration::valid_points(self).map(Arc::from)).clone()
    }

    fn uniform(&self, random: &mut impl Rng) -> Point {
        let mut point: Point =
            (0..self.dimensions.len()).map(|dimension| random.random_range(0..self.domain_len(dimension))).collect();
        self.settle(&mut point);
        point
    }

    /// A valid point drawn at random, or `None` when none was found. Every valid point is equally likely where the space
    /// can be enumerated; elsewhere points that mend an invalid draw are likelier.
    pub fn sample(&self, random: &mut impl Rng) -> Option<Point> {
        const ATTEMPTS: usize = 24;
        if let Some(points) = self.enumerate() {
            return (!points.is_empty()).then(|| points[random.random_range(0..points.len())].clone());
        }
        for _ in 0..ATTEMPTS {
            let mut point = self.uniform(random);
            // Redrawn until it fits, it would nearly always lie where nothing is known of what fits.
            if self.allows(&point) || (self.breaks_bounds_alone(&point) && self.repair(&mut point, random)) {
                return Some(point);
            }
        }
        (0..ATTEMPTS).find_map(|_| {
            let mut point = self.uniform(random);
            self.repair(&mut point, random).then_some(point)
        })
    }

    fn breaks_bounds_alone(&self, point: &[u32]) -> bool {
        let mut expressions = self.constraints.iter().filter(|one| matches!(one.rule, Rule::Expression(_)));
        expressions.all(|constraint| self.satisfied(constraint, point))
    }

    /// Changes a point, as little as it can, until it is valid: takes a broken constraint and moves one of its tunables
    /// to the nearest value that mends it and leaves the fewest others broken. `false` when it gave up.
    pub fn repair(&self, point: &mut Point, random: &mut impl Rng) -> bool {
        const ROUNDS: usize = 24;
        for _ in 0..ROUNDS {
            self.settle(point);
            let broken: Vec<&Constraint> =
                self.constraints.iter().filter(|constraint| !self.satisfied(constraint, point)).collect();
            if broken.is_empty() {
                return self.allows(point);
            }
            let constraint = broken[random.random_range(0..broken.len())];
            let mut movable: Vec<usize> =
                constraint.movable().filter(|position| self.domain_len(*position) > 1).collect();
            if movable.is_empty() {
                return false;
            }
            movable.shuffle(random);
            let mut best: Option<(usize, usize, u32)> = None;
            for position in movable.iter().copied() {
                let kept = point[position];
                // What does not mention the tunable stays broken, or whole, whatever the value.
                let mentions = |constraint: &&Constraint| constraint.tunables.contains(&position);
                let mentioning: Vec<&Constraint> = self.constraints.iter().filter(mentions).collect();
                let elsewhere = broken.iter().filter(|constraint| !mentions(constraint)).count();
                for index in self.by_distance(position, kept) {
                    point[position] = index;
                    if !self.satisfied(constraint, point) {
                        continue;
                    }
                    let left =
                        elsewhere + mentioning.iter().filter(|constraint| !self.satisfied(constraint, point)).count();
                    if best.is_none_or(|(fewest, _, _)| left < fewest) {
                        best = Some((left, position, index));
                    }
                    if left == 0 && self.allows(point) {
                        return true;
                    }
                }
                point[position] = kept;
            }
            match best {
                // No single step mends it, or only at the price of others: a random step leaves the plateau.
                Some((left, position, index)) if left < broken.len() || random.random_bool(0.7) => {
                    point[position] = index;
                }
                None if self.relieve(constraint, point, &movable) => {}
                _ => point[movable[0]] = random.random_range(0..self.domain_len(movable[0])),
            }
        }
        self.allows(point)
    }

    /// Takes as much as one tunable can give from a sum that no single step brings within its bound. `false` where none can.
    fn relieve(&self, constraint: &Constraint, point: &mut Point, movable: &[usize]) -> bool {
        if matches!(constraint.rule, Rule::Expression(_)) {
            return false;
        }
        for &dimension in movable {
            let integers = &self.dimensions[dimension].integers;
            let least = integers.iter().enumerate().min_by_key(|(_, integer)| **integer).map_or(0, |(index, _)| index);
            if integers[least] < integers[point[dimension] as usize] {
                point[dimension] = least as u32;
                return true;
            }
        }
        false
    }

    /// Other positions of a domain, nearest first; all of a domain that can be scanned in passing, else exponentially
    /// thinned out.
    fn by_distance(&self, dimension: usize, from: u32) -> Vec<u32> {
        const SCANNED: u32 = 4096;
        let length = self.domain_len(dimension);
        let mut found = Vec::new();
        let mut distance = 1;
        while distance < length {
            found.extend(from.checked_sub(distance));
            found.extend(from.checked_add(distance).filter(|index| *index < length));
            distance += if length > SCANNED { (distance / 16).max(1) } else { 1 };
        }
        if length > SCANNED {
            found.extend([0, length - 1]);
        }
        found
    }

    /// Valid points that differ in one tunable: by one step where the domain is ordered, in any way where it is not.
    pub fn neighbours(&self, point: &[u32]) -> Vec<Point> {
        let mut found = Vec::new();
        for dimension in 0..self.dimensions.len() {
            let here = point[dimension];
            let length = self.domain_len(dimension);
            let others: Vec<u32> = if self.is_ordered(dimension) {
                here.checked_sub(1).into_iter().chain(here.checked_add(1)).filter(|index| *index < length).collect()
            } else {
                (0..length).filter(|index| *index != here).collect()
            };
            for index in others {
                let mut neighbour = point.to_vec();
                neighbour[dimension] = index;
                self.settle(&mut neighbour);
                if neighbour != point && self.allows(&neighbour) {
                    found.push(neighbour);
                }
            }
        }
        found
    }
}

/// Bytes of the manifest for a span of the constraint's text. Where the literal in the file is the text in simple quotes
/// the mapping is exact, else the whole literal is meant.
fn constraint_span(literal: &Range<usize>, text: &str, within: &Range<usize>) -> Range<usize> {
    if literal.len() == text.len() + 2 {
        let start = literal.start + 1;
        return start + within.start..start + within.end.max(within.start);
    }
    literal.clone()
}

mod enumeration;
#[cfg(test)]
mod tests;
