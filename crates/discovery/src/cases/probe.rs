//! Probes: cases at which a winner is tried before it is written back, and which the search never saw.
//!
//! From the cases of a run come larger and smaller ones, odd lengths, one that crosses every tile and core, every dtype of
//! the definition, other values of attributes, and tiling keys that no case takes. They are drawn by a seed. Nobody knows which of them the operator
//! takes, so each [`Wish`] has several ways to be met, and the tiling function is asked for each in turn.

use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::guess::combinations;
use super::proportion::{of_length, ways_of_length};
use super::rescale::{leading_shape, traffic_bytes};
use super::{Candidate, DescribedOp, DescribedTensor, value_range};
use manifest::{Attribute, TensorSpec};

/// What a probe is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeKind {
    /// Several times the size of the largest case.
    Larger,
    /// A fraction of the smallest case.
    Smaller,
    /// A size between those of the smallest and the largest case.
    Between,
    /// Lengths that no block, tile or core divides.
    Ragged,
    /// From less than what the unified buffers of all cores hold to several times that: every core goes through some tiles, of which
    /// the last is more or less full.
    Boundary,
    /// A dtype of the definition that no case has.
    OtherDtype,
    /// A tiling key that no case takes.
    OtherKey,
    /// A real number or a switch among the attributes that no case has: what computes with that of the cases whatever it is told
    /// shows.
    OtherAttribute,
    /// One axis as long as the operator takes it and the others short, for numbers of repeats and of bytes between rows have an end.
    Stretched,
    /// A list of more tensors than any case has.
    MoreTensors,
    /// A case on a chip of the family with another number of cores. Nobody tunes for it, so only what is wrong there counts.
    OtherCores,
    /// Where a winner begins to launch another number of cores than the operator as it was; looked for, not drawn ([`super::Edges`]).
    Edge,
}

impl ProbeKind {
    /// Whether it is one of a sample of sizes, which tells what a change gains on average: not where the worst was looked for, nor
    /// where the tensors are those of a case, nor where nobody would put the operator for its speed.
    pub fn is_of_the_sample(self) -> bool {
        !matches!(
            self,
            ProbeKind::Edge
                | ProbeKind::OtherAttribute
                | ProbeKind::OtherCores
                | ProbeKind::Stretched
                | ProbeKind::MoreTensors
        )
    }

    /// Whether its tensors are those of a case, so that it says nothing of other sizes.
    pub fn has_tensors_of_a_case(self) -> bool {
        matches!(self, ProbeKind::OtherAttribute | ProbeKind::OtherCores)
    }

    /// Whether it is there for code that no case runs.
    pub fn may_take_another_way(self) -> bool {
        matches!(self, ProbeKind::OtherDtype | ProbeKind::OtherKey | ProbeKind::OtherAttribute)
    }

    /// The word in names and messages.
    pub fn word(self) -> &'static str {
        match self {
            ProbeKind::Larger => "larger",
            ProbeKind::Smaller => "smaller",
            ProbeKind::Between => "between",
            ProbeKind::Ragged => "ragged",
            ProbeKind::Boundary => "boundary",
            ProbeKind::OtherDtype => "other-dtype",
            ProbeKind::OtherKey => "other-key",
            ProbeKind::OtherAttribute => "other-attribute",
            ProbeKind::Stretched => "stretched",
            ProbeKind::MoreTensors => "more-tensors",
            ProbeKind::OtherCores => "other-cores",
            ProbeKind::Edge => "edge",
        }
    }
}

/// A probe that is wanted, and ways to get it: the first that the tiling function accepts will do.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    /// What it is for.
    pub kind: ProbeKind,
    /// Ways, the best first.
    pub ways: Vec<Candidate>,
}

/// What probes are drawn from.
#[derive(Clone, Copy, Debug)]
pub struct ProbeDraw<'a> {
    /// Definition of the operator.
    pub op: &'a DescribedOp,
    /// Cases of the run.
    pub cases: &'a [Candidate],
    /// Cores that share the work.
    pub cores: u64,
    /// Bytes of the unified buffer of a core.
    pub ub_bytes: u64,
    /// Bytes of all tensors that no probe goes beyond.
    pub most_bytes: u64,
    /// Whether rows have lengths of whole blocks alone, since the operator takes no others.
    pub whole_blocks: bool,
    /// Seed.
    pub seed: u64,
}

/// Parts, each the same factor wide, into which the sizes from the smallest to the largest case are cut: one probe in each.
const STRATA: u32 = 5;
/// How often the unified buffers of all cores are filled at least: what a tile length gains depends on how full the last one is,
/// and so it comes and goes with the size.
const FILLED: [f64; 4] = [0.4, 0.8, 1.6, 3.2];
/// Ways to meet one wish; each costs a call of the tiling function.
const WAYS: usize = 6;
/// Rounds of further wishes after those that differ in kind.
const MORE_RAGGED: usize = 12;
/// Draws for a tiling key that no case takes.
const KEY_DRAWS: usize = 24;
/// Attributes of which another value is tried.
const CHANGED_ATTRIBUTES: usize = 3;
/// How many times as much another real number is, so that it shows beside whatever it is added to or multiplied with.
const OTHER_NUMBER: f64 = 8.0;
/// What a number that is zero in all cases is instead.
const NOT_ZERO: f64 = 0.25;
/// What is less is an epsilon.
const NOT_SMALL: f64 = 1e-3;
/// Tensors of a long list: the public operators on lists take fifty at a time (`MAX_TENSOR_CONT` of `foreach` in ops-nn), ours 32.
const MANY_TENSORS: [usize; 5] = [50, 32, 24, 17, 11];
/// Axes that are stretched, the last ones.
const STRETCHED_AXES: usize = 3;
/// What an instruction repeats at most.
const MOST_REPEATS: u64 = 255;
/// The longest length of an axis is looked for from here on.
const LEAST_LONG: u64 = 512;
/// Rows that follow each other in memory. More bytes than 65535 blocks of 32, which a field of sixteen bits counts.
const LONGEST_ROW: u64 = 4 << 20;
/// Of any other axis, where every step may be work of its own. More than sixteen bits count.
const MOST_ROWS: u64 = 1 << 16;
/// Bytes of all tensors of a stretched case: such that it runs with data.
const STRETCHED_BYTES: u64 = 12 << 20;
/// Elements of an axis that is as short as operators take that want a whole block.
const OF_A_BLOCK: u64 = 16;
/// A multiple of this is taken by operators that take no odd length.
pub const EVEN: u64 = 64;
/// Odd lengths that are drawn for each way to be short.
const ODD_DRAWS: usize = 2;

impl ProbeDraw<'_> {
    /// Wishes, the most telling first, so that the first few of them already differ in everything.
    pub fn wishes(&self) -> Vec<Wish> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed ^ seed_of(&self.op.kind));
        let groups = self.groups();
        let mut wishes = Vec::new();
        let other_dtypes = self.other_dtypes();
        for group in &groups {
            wishes.push(self.larger(group.largest, 8, &mut rng));
            wishes.push(self.ragged(group, &mut rng));
        }
        // A rule with a threshold that holds at the sizes of the cases may fail between them, wherever that is.
        if let Some(widest) = groups.iter().max_by_key(|group| group.range()) {
            wishes.extend((0..STRATA).filter_map(|stratum| self.between(widest, stratum, &mut rng)));
        }
        // Few cores are decided on at small sizes, dtype by dtype.
        let small = self.cases.iter().min_by_key(|case| traffic_bytes(case));
        let small: Vec<Candidate> = other_dtypes
            .iter()
            .map(|other| small.map_or_else(|| other.clone(), |small| in_dtypes_of(small, other)))
            .collect();
        for (other, small) in other_dtypes.iter().zip(&small) {
            let group = Group { smallest: small, largest: other };
            wishes.push(Wish { kind: ProbeKind::OtherDtype, ..self.ragged(&group, &mut rng) });
        }
        // A tile that holds all of a short tensor says nothing of the next one: every dtype goes through several.
        for other in &other_dtypes {
            wishes.push(Wish { kind: ProbeKind::OtherDtype, ..self.larger(other, 8, &mut rng) });
        }
        let of_all_dtypes: Vec<&Candidate> = groups.iter().map(|group| group.largest).chain(&other_dtypes).collect();
        for times in FILLED {
            if let Some(case) = of_all_dtypes.choose(&mut rng) {
                wishes.push(self.boundary(case, times, &mut rng));
            }
        }
        for group in &groups {
            wishes.push(self.smaller(group.smallest, 8, &mut rng));
        }
        wishes.push(self.other_keys(&other_dtypes, &mut rng));
        wishes.push(self.other_keys(&other_dtypes, &mut rng));
        wishes.extend(self.other_attributes());
        wishes.extend(self.more_tensors());
        let largest = self.cases.iter().max_by_key(|case| traffic_bytes(case));
        wishes.extend(largest.map(|case| Wish { kind: ProbeKind::OtherCores, ways: vec![case.clone()] }));
        wishes.extend(self.stretched(&mut rng));
        for group in &groups {
            wishes.push(self.larger(group.largest, 64, &mut rng));
            wishes.push(self.smaller(group.smallest, 64, &mut rng));
            wishes.push(self.ragged(group, &mut rng));
        }
        // Whoever wants more than these gets more of what costs least.
        for _ in 0..MORE_RAGGED {
            for group in &groups {
                wishes.push(self.ragged(group, &mut rng));
                wishes.push(Wish { kind: ProbeKind::Between, ..self.larger(group.smallest, 16, &mut rng) });
            }
        }
        wishes.retain(|wish| !wish.ways.is_empty());
        wishes
    }

    /// Ways to make an axis about so long.
    fn ways(&self, case: &Candidate, axis: usize, length: u64) -> Vec<Candidate> {
        let is_of_rows = leading_shape(case).is_some_and(|shape| axis + 1 == shape.len());
        let length = if self.whole_blocks && is_of_rows { length.next_multiple_of(EVEN) } else { length };
        ways_of_length(case, axis, length)
    }

    fn groups(&self) -> Vec<Group<'_>> {
        let pairs = smallest_and_largest(self.cases);
        pairs.into_iter().map(|(smallest, largest)| Group { smallest, largest }).collect()
    }

    /// The case of middle size in every dtype of the definition that no case has.
    fn other_dtypes(&self) -> Vec<Candidate> {
        let mut cases: Vec<&Candidate> = self.cases.iter().collect();
        cases.sort_by_key(|case| traffic_bytes(case));
        let Some(middle) = cases.get(cases.len() / 2) else { return Vec::new() };
        let mut found: Vec<Candidate> = Vec::new();
        for combination in combinations(self.op) {
            let other = in_dtypes(self.op, middle, combination);
            let same =
                |case: &Candidate| case.inputs.iter().zip(&other.inputs).all(|(known, new)| known.dtype == new.dtype);
            if self.op.private_formats(combination) == 0 && !self.cases.iter().chain(&found).any(same) {
                found.push(other);
            }
        }
        found
    }

    /// The case about `factor` times as large, along one axis or another; every other way with an odd rest.
    fn larger(&self, case: &Candidate, factor: u64, rng: &mut ChaCha8Rng) -> Wish {
        let mut ways = Vec::new();
        let most = self.most_bytes / traffic_bytes(case).max(1);
        let factor = factor.min(most);
        for (place, axis) in axes(case, rng).into_iter().enumerate() {
            let length = length_of(case, axis);
            let jittered = rng.random_range(factor.saturating_sub(factor / 4)..=factor).max(2);
            let rest = rng.random_range(1..=length.clamp(1, 31));
            let long = [length * jittered + rest, length * jittered];
            let order = if rng.random_range(0..2) == 0 || place > 0 { [1, 0] } else { [0, 1] };
            ways.extend(order.iter().flat_map(|&which| self.ways(case, axis, long[which])));
        }
        self.wish(ProbeKind::Larger, ways)
    }

    /// A size anywhere in one part of those between smallest and largest case, all orders of magnitude alike. `None` where the two
    /// are too close to each other.
    fn between(&self, group: &Group<'_>, stratum: u32, rng: &mut ChaCha8Rng) -> Option<Wish> {
        let range = group.range();
        let place = (f64::from(stratum) + rng.random_range(0.0..1.0)) / f64::from(STRATA);
        let factor = (range as f64).powf(place);
        let mut ways = Vec::new();
        for axis in axes(group.smallest, rng) {
            let length = (length_of(group.smallest, axis) as f64 * factor) as u64;
            let odd = rng.random_range(0..2) == 0;
            let order = if odd { [length | 1, length] } else { [length, length | 1] };
            ways.extend(order.into_iter().flat_map(|length| self.ways(group.smallest, axis, length)));
        }
        (range >= u64::from(2 * STRATA)).then(|| self.wish(ProbeKind::Between, ways))
    }

    fn smaller(&self, case: &Candidate, factor: u64, rng: &mut ChaCha8Rng) -> Wish {
        let mut ways = Vec::new();
        for axis in axes(case, rng) {
            let length = length_of(case, axis);
            ways.extend(self.ways(case, axis, length / factor));
            ways.extend(self.ways(case, axis, 1 + length / (2 * factor)));
        }
        self.wish(ProbeKind::Smaller, ways)
    }

    /// Odd lengths on every axis that takes them, at a size between a quarter of the smallest case and twice the largest.
    fn ragged(&self, group: &Group<'_>, rng: &mut ChaCha8Rng) -> Wish {
        let case = if rng.random_range(0..2) == 0 { group.smallest } else { group.largest };
        let all = axes(case, rng);
        let mut ways = Vec::new();
        // Two axes at once first, then one alone.
        if let [first, second, ..] = all[..]
            && let Some(once) = self.ways(case, first, odd_near(length_of(case, first), rng)).first()
        {
            ways.extend(self.ways(once, second, odd_near(length_of(once, second), rng)));
        }
        for axis in all {
            ways.extend(self.ways(case, axis, odd_near(length_of(case, axis), rng)));
        }
        self.wish(ProbeKind::Ragged, ways)
    }

    /// From so many times what the unified buffers of all cores hold to twice that, and a bit.
    fn boundary(&self, case: &Candidate, times: f64, rng: &mut ChaCha8Rng) -> Wish {
        let all_buffers = (self.cores * self.ub_bytes) as f64;
        let wanted = ((all_buffers * times * rng.random_range(1.0..2.0)) as u64).min(self.most_bytes);
        let bytes = traffic_bytes(case).max(1);
        let mut ways = Vec::new();
        for axis in axes(case, rng) {
            let length = length_of(case, axis);
            let long = (length as f64 * wanted as f64 / bytes as f64) as u64;
            if long > 2 {
                ways.extend(self.ways(case, axis, long - rng.random_range(1..=long.min(17) - 1)));
                ways.extend(self.ways(case, axis, long.next_multiple_of(length)));
            }
        }
        self.wish(ProbeKind::Boundary, ways)
    }

    /// Sizes and dtypes at random: one of them may take a key that nothing else takes.
    fn other_keys(&self, other_dtypes: &[Candidate], rng: &mut ChaCha8Rng) -> Wish {
        let bases: Vec<&Candidate> = self.cases.iter().chain(other_dtypes).collect();
        let mut ways = Vec::new();
        for _ in 0..KEY_DRAWS {
            let Some(base) = bases.get(rng.random_range(0..bases.len().max(1))) else { break };
            let mut changed = (*base).clone();
            for axis in axes(base, rng).into_iter().take(2) {
                let power = rng.random_range(0..14_u32);
                let length = (1_u64 << power) + [0, 0, 1, 3][rng.random_range(0..4)];
                changed = self.ways(&changed, axis, length).into_iter().next().unwrap_or(changed);
            }
            if !changed.same_call(base) {
                ways.push(changed);
            }
        }
        ways.retain(|way| traffic_bytes(way) <= self.most_bytes);
        Wish { kind: ProbeKind::OtherKey, ways }
    }

    /// The smallest case with one of its attributes changed, for each of the first few that say how much or whether. Whole numbers say
    /// which: axes, modes, sizes.
    fn other_attributes(&self) -> Vec<Wish> {
        let Some(smallest) = self.cases.iter().min_by_key(|case| traffic_bytes(case)) else { return Vec::new() };
        let changed = |place: usize, value: String| {
            let mut case = smallest.clone();
            case.attributes[place].value = value;
            case
        };
        let attributes = || smallest.attributes.iter().enumerate();
        let wish = |place, values: Vec<String>| {
            let ways = values.into_iter().map(|value| changed(place, value)).collect();
            self.wish(ProbeKind::OtherAttribute, ways)
        };
        let others = attributes().map(|(place, attribute)| wish(place, other_values(attribute)));
        let mut wishes: Vec<Wish> = others.filter(|wish| !wish.ways.is_empty()).take(CHANGED_ATTRIBUTES).collect();
        // What is nothing, and what turns round which of two is the larger.
        let special = attributes().find_map(|(place, attribute)| Some((place, special_values(attribute)?)));
        wishes.extend(special.into_iter().flat_map(|(place, values)| values.map(|value| wish(place, vec![value]))));
        wishes
    }

    /// Lists of more tensors than the longest of the cases has, the longest first. What is added is like the last tensor of the list.
    fn more_tensors(&self) -> Option<Wish> {
        let count = |case: &Candidate| {
            let name = &self.op.inputs.iter().find(|input| input.is_list())?.name;
            Some(case.inputs.iter().filter(|input| input.name == *name).count())
        };
        let most = self.cases.iter().filter_map(count).max()?;
        let smallest = self.cases.iter().min_by_key(|case| traffic_bytes(case))?;
        let own = count(smallest)?;
        let counts = MANY_TENSORS.into_iter().filter(|many| *many > most).chain([most + 1]);
        let ways = counts.map(|many| with_tensors(self.op, smallest, own, many)).collect();
        let wish = self.wish(ProbeKind::MoreTensors, ways);
        (own > 0).then_some(wish)
    }

    /// For each axis of the smallest case the longest power of two that the operator takes, an odd length little above a number of repeats,
    /// and one anywhere between; where it takes no odd ones, even ones in their place, for the longest may be one at which it fails. The other axes are as short as it takes them.
    fn stretched(&self, rng: &mut ChaCha8Rng) -> Vec<Wish> {
        let Some(smallest) = self.cases.iter().min_by_key(|case| traffic_bytes(case)) else { return Vec::new() };
        let rank = leading_shape(smallest).map_or(0, |shape| shape.len());
        // Of what breaks a winner the first joins the cases of the run, so the cheapest are in front.
        let mut wishes = [Vec::new(), Vec::new(), Vec::new()];
        for axis in (0..rank).rev().take(STRETCHED_AXES) {
            let longest = if axis + 1 == rank { LONGEST_ROW } else { MOST_ROWS };
            let mut short = shortened(smallest, axis, rank);
            if self.whole_blocks && axis + 1 < rank {
                short.retain(|case| length_of(case, rank - 1).is_multiple_of(OF_A_BLOCK));
            }
            let fits = |way: &Candidate| traffic_bytes(way) <= STRETCHED_BYTES.min(self.most_bytes);
            let long = |case: &Candidate, length: u64| self.ways(case, axis, length).into_iter().filter(fits);
            // Operators that take any length at all fail at the longest: one that isn't far beyond a number of repeats.
            for (place, (least, most)) in
                [(MOST_REPEATS + 1, LEAST_LONG), (LEAST_LONG, longest)].into_iter().enumerate()
            {
                let (mut ways, mut even) = (Vec::new(), Vec::new());
                for case in &short {
                    for _ in 0..ODD_DRAWS {
                        let factor = most as f64 / least as f64;
                        let length = (least as f64 * factor.powf(rng.random_range(0.0..1.0))) as u64 | 1;
                        ways.extend(long(case, length));
                        even.extend(long(case, length.next_multiple_of(EVEN)));
                    }
                }
                ways.extend(even);
                wishes[place].push(Wish { kind: ProbeKind::Stretched, ways });
            }
            let powers = (LEAST_LONG.ilog2()..=longest.ilog2()).rev().map(|power| 1_u64 << power);
            let powers: Vec<u64> = powers.collect();
            let ways = short.iter().flat_map(|case| powers.iter().flat_map(|power| long(case, *power))).collect();
            wishes[2].push(Wish { kind: ProbeKind::Stretched, ways });
        }
        wishes.concat()
    }

    fn wish(&self, kind: ProbeKind, mut ways: Vec<Candidate>) -> Wish {
        ways.retain(|way| traffic_bytes(way) <= self.most_bytes && !self.cases.iter().any(|case| case.same_call(way)));
        ways.truncate(WAYS);
        Wish { kind, ways }
    }
}

/// Values of a number that mean something: none at all, and the other sign. Not of one that is small beside what it is added to.
fn special_values(attribute: &Attribute) -> Option<[String; 2]> {
    let number =
        attribute.value.parse::<f64>().ok().filter(|number| number.is_finite() && number.abs() >= NOT_SMALL)?;
    (attribute.kind == "float").then(|| ["0".to_owned(), (-number / 2.0).to_string()])
}

/// A case whose other axes than this one are short, the shortest first: of one element, then one of them after the other of a block, then
/// all.
fn shortened(case: &Candidate, axis: usize, rank: usize) -> Vec<Candidate> {
    let others: Vec<usize> = (0..rank).filter(|other| *other != axis).collect();
    let with = |length_of: &dyn Fn(usize) -> u64| {
        others.iter().fold(case.clone(), |case, other| {
            let length = length_of(*other).min(self::length_of(&case, *other));
            of_length(&case, *other, length)
        })
    };
    let mut found = vec![with(&|_| 1)];
    found.extend(others.iter().map(|one| with(&|other| if other == *one { OF_A_BLOCK } else { 1 })));
    found.push(with(&|_| OF_A_BLOCK));
    found.dedup();
    found
}

/// A case whose lists have `many` tensors in place of `own`.
fn with_tensors(op: &DescribedOp, case: &Candidate, own: usize, many: usize) -> Candidate {
    let is_list =
        |described: &[DescribedTensor], name: &str| described.iter().any(|found| found.name == name && found.is_list());
    let grown = |described: &[DescribedTensor], specs: &[TensorSpec]| -> Vec<usize> {
        let mut places = Vec::new();
        let mut at = 0;
        while at < specs.len() {
            let run = specs[at..].iter().take_while(|spec| spec.name == specs[at].name).count();
            places.extend(at..at + run);
            if run == own && is_list(described, &specs[at].name) {
                places.extend(std::iter::repeat_n(at + run - 1, many - own));
            }
            at += run;
        }
        places
    };
    let mut changed = case.clone();
    let (inputs, outputs) = (grown(&op.inputs, &case.inputs), grown(&op.outputs, &case.outputs));
    changed.inputs = inputs.into_iter().map(|place| case.inputs[place].clone()).collect();
    if case.output_shapes.len() == case.outputs.len() {
        changed.output_shapes = outputs.iter().map(|place| case.output_shapes[*place].clone()).collect();
    }
    changed.outputs = outputs.into_iter().map(|place| case.outputs[place].clone()).collect();
    changed.data = None;
    changed.resized = true;
    changed
}

/// Values that an attribute might have as well, the best first: a number that is larger or smaller, the other state of a switch.
fn other_values(attribute: &Attribute) -> Vec<String> {
    match (attribute.kind.as_str(), attribute.value.parse::<f64>()) {
        ("float", Ok(0.0)) => vec![NOT_ZERO.to_string()],
        ("float", Ok(number)) if number.is_finite() => {
            vec![(number * OTHER_NUMBER).to_string(), (number / OTHER_NUMBER).to_string()]
        }
        ("bool", _) => match attribute.value.as_str() {
            "true" => vec!["false".to_owned()],
            "false" => vec!["true".to_owned()],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Smallest and largest case of each leading dtype.
pub fn smallest_and_largest(cases: &[Candidate]) -> Vec<(&Candidate, &Candidate)> {
    let mut groups: Vec<(&Candidate, &Candidate)> = Vec::new();
    let dtype = |case: &Candidate| case.inputs.first().map(|input| input.dtype.clone());
    for case in cases {
        match groups.iter_mut().find(|(_, largest)| dtype(largest) == dtype(case)) {
            Some((_, largest)) if traffic_bytes(case) > traffic_bytes(largest) => *largest = case,
            Some((smallest, _)) if traffic_bytes(case) < traffic_bytes(smallest) => *smallest = case,
            Some(_) => {}
            None => groups.push((case, case)),
        }
    }
    groups
}

/// Cases of one leading dtype.
#[derive(Clone, Copy)]
struct Group<'a> {
    smallest: &'a Candidate,
    largest: &'a Candidate,
}

impl Group<'_> {
    /// How many times as large as the smallest case the largest is.
    fn range(&self) -> u64 {
        traffic_bytes(self.largest) / traffic_bytes(self.smallest).max(1)
    }
}

/// Axes of the leading input in an order drawn, the first one mostly in front: it is the one that operators let grow.
fn axes(case: &Candidate, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let rank = leading_shape(case).map_or(0, |shape| shape.len());
    let mut axes: Vec<usize> = (0..rank).collect();
    if rng.random_range(0..3) == 0 {
        axes.shuffle(rng);
    } else if let Some(rest) = axes.get_mut(1..) {
        rest.shuffle(rng);
    }
    axes
}

fn length_of(case: &Candidate, axis: usize) -> u64 {
    leading_shape(case).and_then(|shape| shape.get(axis).copied()).unwrap_or(1)
}

/// An odd length from a quarter to twice of what there is.
fn odd_near(length: u64, rng: &mut ChaCha8Rng) -> u64 {
    let drawn = rng.random_range((length / 4).max(1)..=length.saturating_mul(2).max(7));
    drawn | 1
}

/// The case in another combination of dtypes and formats of the definition.
fn in_dtypes(op: &DescribedOp, case: &Candidate, combination: usize) -> Candidate {
    let mut other = case.clone();
    let described = |list: &[DescribedTensor], name: &str| list.iter().find(|found| found.name == name).cloned();
    for (list, specs) in [(&op.inputs, &mut other.inputs), (&op.outputs, &mut other.outputs)] {
        for spec in specs.iter_mut() {
            let Some(found) = described(list, &spec.name) else { continue };
            if let Some(dtype) = found.dtypes.get(combination).filter(|dtype| **dtype != spec.dtype) {
                spec.dtype.clone_from(dtype);
                spec.range = value_range(&spec.name, dtype);
            }
            if let Some(format) = found.formats.get(combination) {
                spec.format.clone_from(format);
            }
        }
    }
    other.data = None;
    other
}

/// The case in the dtypes and formats of another.
fn in_dtypes_of(case: &Candidate, other: &Candidate) -> Candidate {
    let mut changed = case.clone();
    let pairs = changed.inputs.iter_mut().zip(&other.inputs);
    for (spec, other) in pairs.chain(changed.outputs.iter_mut().zip(&other.outputs)) {
        if spec.name == other.name && spec.dtype != other.dtype {
            spec.range = value_range(&spec.name, &other.dtype);
            spec.dtype.clone_from(&other.dtype);
            spec.format.clone_from(&other.format);
        }
    }
    changed.data = None;
    changed
}

fn seed_of(kind: &str) -> u64 {
    let hash = blake3::hash(kind.as_bytes());
    hash.as_bytes()[..8].iter().fold(0, |seed, &byte| seed << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::{Origin, elements};

    fn op() -> DescribedOp {
        let tensor = |name: &str| {
            serde_json::json!({ "name": name, "param": "required",
                "dtypes": ["float16", "float32", "int32"], "formats": ["ND", "ND", "ND"] })
        };
        serde_json::from_value(serde_json::json!({
            "type": "Scale", "inputs": [tensor("x"), tensor("y")], "outputs": [tensor("z")], "attrs": [],
        }))
        .unwrap()
    }

    fn case(op: &DescribedOp, shape: &[u64]) -> Candidate {
        let spec = |found: &DescribedTensor| manifest::TensorSpec {
            shape: Some(shape.to_vec()),
            ..crate::cases::guess::tensor(found, 0)
        };
        Candidate {
            origin: Origin::Guess,
            place: String::new(),
            inputs: op.inputs.iter().map(spec).collect(),
            outputs: op.outputs.iter().map(|found| crate::cases::guess::tensor(found, 0)).collect(),
            output_shapes: Vec::new(),
            attributes: Vec::new(),
            data: None,
            resized: false,
            assumed: false,
        }
    }

    fn drawing<'a>(op: &'a DescribedOp, cases: &'a [Candidate], whole_blocks: bool, seed: u64) -> ProbeDraw<'a> {
        ProbeDraw { op, cases, cores: 48, ub_bytes: 192 << 10, most_bytes: 256 << 20, whole_blocks, seed }
    }

    fn draw(seed: u64) -> Vec<Wish> {
        let op = op();
        let cases = [case(&op, &[64, 1024]), case(&op, &[8, 16])];
        let draw = drawing(&op, &cases, false, seed);
        draw.wishes()
    }

    #[test]
    fn an_input_of_half_the_length_stays_half_where_that_is_taken() {
        let op = op();
        let of_half = |rows: u64, columns: u64| {
            let mut case = case(&op, &[rows, columns]);
            case.inputs[1].shape = Some(vec![rows, 2 * columns]);
            case
        };
        let cases = [of_half(64, 512), of_half(8, 16)];
        for seed in 0..8 {
            let draw = drawing(&op, &cases, false, seed);
            for wish in draw.wishes() {
                let [half, whole] = [0, 1].map(|place| wish.ways[0].inputs[place].shape.clone().unwrap());
                assert_eq!([half[0], 2 * half[1]], whole[..], "{:?}", wish.kind);
            }
        }
    }

    #[test]
    fn rows_are_whole_blocks_where_others_are_not_taken() {
        let op = op();
        let cases = [case(&op, &[64, 1024]), case(&op, &[8, 64])];
        for seed in 0..8 {
            let draw = drawing(&op, &cases, true, seed);
            let wishes = draw.wishes();
            for way in wishes.iter().flat_map(|wish| &wish.ways) {
                let shape = way.inputs[0].shape.clone().unwrap();
                assert!(shape[1].is_multiple_of(OF_A_BLOCK), "{shape:?}");
            }
            let odd = |wish: &Wish| wish.ways.iter().any(|way| way.inputs[0].shape.as_ref().unwrap()[0] % 2 == 1);
            assert!(
                wishes.iter().filter(|wish| wish.kind == ProbeKind::Ragged).any(odd),
                "rows are still odd in number"
            );
            let stretched = wishes.iter().filter(|wish| wish.kind == ProbeKind::Stretched);
            assert!(stretched.flat_map(|wish| &wish.ways).any(|way| way.inputs[0].shape.as_ref().unwrap()[1] > 1024));
        }
    }

    fn volume(candidate: &Candidate) -> u64 {
        elements(candidate.inputs[0].shape.as_deref().unwrap())
    }

    #[test]
    fn numbers_and_switches_among_the_attributes_get_another_value() {
        let op = op();
        let mut small = case(&op, &[8, 16]);
        let attribute = |name: &str, kind: &str, value: &str| Attribute {
            name: name.to_owned(),
            kind: kind.to_owned(),
            value: value.to_owned(),
        };
        small.attributes = vec![
            attribute("axis", "int", "1"),
            attribute("epsilon", "float", "1e-6"),
            attribute("keep", "bool", "true"),
            attribute("bias", "float", "0"),
        ];
        let cases = [case(&op, &[64, 1024]), small.clone()];
        let draw = drawing(&op, &cases, false, 1);
        let wishes = draw.wishes();
        let changed = wishes.iter().filter(|wish| wish.kind == ProbeKind::OtherAttribute).map(|wish| {
            let way = &wish.ways[0];
            assert!(way.same_tensors(&small));
            way.attributes.iter().map(|attribute| attribute.value.as_str()).collect::<Vec<_>>()
        });
        let wanted = [["1", "0.000008", "true", "0"], ["1", "1e-6", "false", "0"], ["1", "1e-6", "true", "0.25"]];
        assert_eq!(special_values(&attribute("epsilon", "float", "1e-6")), None);
        let of_a_slope = special_values(&attribute("slope", "float", "0.5"));
        assert_eq!(of_a_slope, Some(["0".to_owned(), "-0.25".to_owned()]));
        assert_eq!(changed.collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn every_axis_is_once_long_beside_short_ones() {
        let op = op();
        let case = case(&op, &[64, 8, 128]);
        let cases = [case];
        let draw = drawing(&op, &cases, false, 1);
        let stretched: Vec<Wish> = draw.wishes().into_iter().filter(|wish| wish.kind == ProbeKind::Stretched).collect();
        assert_eq!(stretched.len(), 9);
        let shape = |way: &Candidate| way.inputs[0].shape.clone().unwrap();
        let [near, far, powers] = [0, 3, 6].map(|from| &stretched[from..from + 3]);
        assert_eq!(shape(&powers[0].ways[0]), [1, 1, 1 << 21], "three tensors of two bytes an element");
        assert!(powers[0].ways.iter().any(|way| shape(way) == [1, 8, 8192]), "what takes no single head");
        assert!(powers[1].ways.iter().any(|way| shape(way) == [16, 4096, 16]), "nor single elements");
        let even = |way: &Candidate| shape(way)[2].is_multiple_of(2);
        assert!(!even(&far[0].ways[0]) && far[0].ways.iter().any(even), "odd lengths first, and what takes none");
        for (place, wishes) in [near, far, powers].into_iter().enumerate() {
            for (wish, axis) in wishes.iter().zip([2, 1, 0]) {
                assert!(wish.ways.iter().all(|way| {
                    let length = shape(way)[axis];
                    let drawn = (length % 2 == 1 || length % EVEN == 0) && (place > 0 || length <= LEAST_LONG);
                    traffic_bytes(way) <= STRETCHED_BYTES && length > MOST_REPEATS && (drawn || place == 2)
                }));
            }
        }
    }

    #[test]
    fn lists_get_longer_than_any_case_has_them() {
        let mut op = op();
        op.inputs.truncate(1);
        for tensor in op.inputs.iter_mut().chain(&mut op.outputs) {
            "dynamic".clone_into(&mut tensor.param);
        }
        let of = |shapes: &[&[u64]]| {
            let each = shapes.iter().map(|shape| case(&op, shape));
            let each: Vec<Candidate> = each.collect();
            Candidate {
                inputs: each.iter().flat_map(|case| case.inputs.clone()).collect(),
                outputs: each.iter().flat_map(|case| case.outputs.clone()).collect(),
                ..each[0].clone()
            }
        };
        let cases = [of(&[&[512, 1024], &[7], &[64, 64]]), of(&[&[8, 16], &[77]])];
        let draw = drawing(&op, &cases, false, 1);
        let wishes = draw.wishes();
        let more = wishes.iter().find(|wish| wish.kind == ProbeKind::MoreTensors).unwrap();
        let counts: Vec<usize> = more.ways.iter().map(|way| way.inputs.len()).collect();
        assert_eq!(counts, [50, 32, 24, 17, 11, 4]);
        let shapes: Vec<_> = more.ways[5].inputs.iter().filter_map(|input| input.shape.clone()).collect();
        assert_eq!(shapes, [vec![8, 16], vec![77], vec![77], vec![77]]);
        assert_eq!(more.ways[5].outputs.len(), 4);
    }

    #[test]
    fn wishes_reach_beyond_the_cases_on_every_side() {
        let wishes = draw(1);
        let of = |kind: ProbeKind| wishes.iter().filter(move |wish| wish.kind == kind).flat_map(|wish| &wish.ways);
        assert!(of(ProbeKind::Larger).all(|way| volume(way) >= 6 * 64 * 1024));
        assert!(of(ProbeKind::Larger).any(|way| volume(way) >= 40 * 64 * 1024));
        assert!(of(ProbeKind::Smaller).all(|way| volume(way) < 8 * 16));
        assert!(
            of(ProbeKind::Ragged).all(|way| way.inputs[0].shape.as_deref().unwrap().iter().any(|size| size % 2 == 1))
        );
        let all_buffers = 48 * (192 << 10);
        assert!(of(ProbeKind::Boundary).any(|way| traffic_bytes(way) > 3 * all_buffers));
        assert!(of(ProbeKind::Boundary).any(|way| traffic_bytes(way) < all_buffers));
        let mut dtypes: Vec<&str> = of(ProbeKind::OtherDtype).map(|way| way.inputs[1].dtype.as_str()).collect();
        dtypes.sort_unstable();
        dtypes.dedup();
        assert_eq!(dtypes, ["float32", "int32"]);
        assert!(of(ProbeKind::OtherKey).count() > KEY_DRAWS);
        assert!(wishes.iter().flat_map(|wish| &wish.ways).all(|way| traffic_bytes(way) <= 256 << 20));
    }

    #[test]
    fn every_order_of_magnitude_between_the_cases_has_a_probe_and_none_is_the_same_with_another_seed() {
        let sizes = |seed| -> Vec<u64> {
            let between = draw(seed).into_iter().filter(|wish| wish.kind == ProbeKind::Between);
            between.take(STRATA as usize).map(|wish| volume(&wish.ways[0])).collect()
        };
        // From 8x16 to 64x1024 there is a factor of 512: 3.5 for each part.
        for seed in 0..20 {
            let found = sizes(seed);
            assert_eq!(found.len(), STRATA as usize);
            for (part, size) in found.iter().enumerate() {
                let edge = |place: usize| 128.0 * 512.0_f64.powf(place as f64 / f64::from(STRATA));
                assert!((edge(part) * 0.8..edge(part + 1) * 1.2).contains(&(*size as f64)), "{found:?}");
            }
        }
        assert_ne!(sizes(1), sizes(2));
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }
}
