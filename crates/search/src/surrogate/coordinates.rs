//! Points as vectors of numbers between which distances mean something.

use super::numeric::logarithm;
use space::{Domain, SearchSpace, Value};

/// The map from points to vectors. Columns form groups; each group has one length scale.
///
/// * An ordered tunable has one column: where the value lies in its domain.
/// * An ordered tunable of integers that are not merely doubled from one to the next has a second group: how often two
///   divides the value. Alignment, bank conflicts and even splits hang on that, and not on the size.
/// * An unordered tunable has one column per value, in one group.
#[derive(Clone, Debug)]
pub struct Coordinates {
    /// Per tunable, per position in its domain: the entries of its columns.
    tables: Vec<Vec<Vec<f64>>>,
    /// Group of each column.
    owners: Vec<usize>,
}

/// Domains that span at least this factor are measured by their logarithm.
const WIDE: f64 = 7.9;

/// Shorter domains say too little about divisibility.
const SHORTEST_DIVISIBLE: usize = 5;

impl Coordinates {
    /// The map of a space.
    pub fn new(space: &SearchSpace) -> Self {
        let mut tables = Vec::new();
        let mut owners = Vec::new();
        let mut group = 0;
        for dimension in 0..space.dimensions() {
            let length = space.domain_len(dimension) as usize;
            let mut table = vec![Vec::new(); length];
            if length < 2 {
                tables.push(table);
                continue;
            }
            if let Some(places) = places(space, dimension) {
                owners.extend(std::iter::repeat_n(group, places[0].len()));
                table = places;
            } else if space.is_ordered(dimension) || length == 2 {
                push_column(&mut table, ordered(space, dimension));
                owners.push(group);
                if let Some(powers) = powers_of_two(space, dimension) {
                    group += 1;
                    push_column(&mut table, powers);
                    owners.push(group);
                }
            } else {
                // Two different values are as far apart as the two ends of an ordered tunable.
                for (position, row) in table.iter_mut().enumerate() {
                    *row = vec![0.0; length];
                    row[position] = std::f64::consts::FRAC_1_SQRT_2;
                }
                owners.extend(std::iter::repeat_n(group, length));
            }
            group += 1;
            tables.push(table);
        }
        Self { tables, owners }
    }

    /// Group of each column.
    pub fn owners(&self) -> &[usize] {
        &self.owners
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.owners.last().map_or(0, |last| last + 1)
    }

    /// The vector of a point.
    pub fn of(&self, point: &[u32]) -> Vec<f64> {
        let mut vector = Vec::with_capacity(self.owners.len());
        for (table, position) in self.tables.iter().zip(point) {
            vector.extend_from_slice(&table[*position as usize]);
        }
        vector
    }
}

fn push_column(table: &mut [Vec<f64>], column: Vec<f64>) {
    for (row, entry) in table.iter_mut().zip(column) {
        row.push(entry);
    }
}

/// Place of each item in each order of a permutation, scaled so that swapping two neighbours is a short step.
fn places(space: &SearchSpace, dimension: usize) -> Option<Vec<Vec<f64>>> {
    let Domain::Permutation { items } = &space.tunables().nth(dimension)?.domain else { return None };
    let scale = 1.0 / items.len().max(1) as f64;
    let place = |order: &str, item: &String| {
        order.split(',').position(|other| other == item).map_or(0.0, |place| place as f64 * scale)
    };
    (0..space.domain_len(dimension))
        .map(|index| match space.value(dimension, index) {
            Some(Value::Text(order)) => Some(items.iter().map(|item| place(order, item)).collect()),
            _ => None,
        })
        .collect()
}

/// Positions in an ordered domain on a scale from 0 to 1: half by rank, half by value (its logarithm where the domain is
/// wide), so that neither a long tail of values nor a dense cluster is lost.
fn ordered(space: &SearchSpace, dimension: usize) -> Vec<f64> {
    let length = space.domain_len(dimension);
    let numbers: Vec<f64> = (0..length)
        .map(|index| match space.value(dimension, index) {
            Some(Value::Int(value)) => *value as f64,
            Some(Value::Bool(value)) => f64::from(u8::from(*value)),
            Some(Value::Text(_)) | None => f64::from(index),
        })
        .collect();
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let wide = least > 0.0 && largest / least > WIDE;
    let scale = |number: f64| if wide { logarithm(number) } else { number };
    let (low, high) = (scale(least), scale(largest));
    let last = f64::from(length - 1);
    let position = |(index, number): (usize, &f64)| {
        let rank = index as f64 / last;
        let value = if high > low { (scale(*number) - low) / (high - low) } else { rank };
        0.5 * (rank + value)
    };
    numbers.iter().enumerate().map(position).collect()
}

/// How often two divides each value, from 0 to 1; `None` where the order of the domain says so already. "No limit" (0)
/// is divided as often as the best.
fn powers_of_two(space: &SearchSpace, dimension: usize) -> Option<Vec<f64>> {
    let powers: Vec<u32> = (0..space.domain_len(dimension))
        .map(|index| match space.value(dimension, index) {
            Some(Value::Int(value)) if *value >= 0 => Some(value.trailing_zeros()),
            _ => None,
        })
        .collect::<Option<_>>()?;
    if powers.len() < SHORTEST_DIVISIBLE || powers.windows(2).all(|pair| pair[0] <= pair[1]) {
        return None;
    }
    let least = *powers.iter().min()?;
    let most = powers.iter().copied().filter(|power| *power < i64::BITS).max()?;
    let share = |power: &u32| f64::from((*power).min(most) - least) / f64::from(most - least);
    (most > least).then(|| powers.iter().map(share).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::{Binding, Tunable};

    fn space(domains: &[Domain]) -> SearchSpace {
        let tunables: Vec<Tunable> = domains
            .iter()
            .enumerate()
            .map(|(position, domain)| Tunable {
                name: format!("T{position}"),
                domain: domain.clone(),
                default: None,
                binding: Binding::Recorded,
                reason: String::new(),
                when: None,
            })
            .collect();
        SearchSpace::new(&tunables, &[], &[]).expect("space")
    }

    #[test]
    fn divisibility_is_a_group_of_its_own() {
        let multiples = Domain::Range { min: 16, max: 128, step: 16 };
        let coordinates = Coordinates::new(&space(&[multiples, Domain::PowerOfTwo { min: 1, max: 64 }]));
        assert_eq!(coordinates.owners(), [0, 1, 2], "doubled values say it by their order");
        let power = |index: u32| coordinates.of(&[index, 0])[1];
        assert_eq!((power(0), power(3), power(7)), (0.0, 2.0 / 3.0, 1.0), "16, 64, 128");
    }

    #[test]
    fn unordered_values_are_equally_far_apart() {
        let values = ["a", "b", "c"].map(|text| Value::Text(text.to_owned())).to_vec();
        let coordinates = Coordinates::new(&space(&[Domain::List { values, ordered: false }]));
        let apart = |a: u32, b: u32| {
            let (a, b) = (coordinates.of(&[a]), coordinates.of(&[b]));
            a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()
        };
        assert!((apart(0, 1) - 1.0).abs() < 1e-12 && (apart(0, 2) - apart(0, 1)).abs() < 1e-12);
        assert_eq!(coordinates.groups(), 1);
    }
}
