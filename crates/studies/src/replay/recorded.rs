//! A recorded space: every configuration with what became of it.

use std::collections::HashMap;

use search::{InfeasibleClass, Observation};
use space::{Binding, Configuration, Domain, Point, SearchSpace, Tunable, Value};

/// What a recording says of one configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Recorded {
    /// Its time, in the unit of the recording.
    Objective(f64),
    /// It has no time.
    Infeasible(InfeasibleClass),
}

impl Recorded {
    /// The outcome that a strategy is told.
    pub fn outcome(self) -> Observation {
        match self {
            Recorded::Objective(value) => Observation::Objective(value),
            Recorded::Infeasible(class) => Observation::Infeasible { class },
        }
    }
}

/// One tunable of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedTunable {
    /// Its name.
    pub name: String,
    /// Its values; in ascending order where they are ordered.
    pub values: Vec<Value>,
    /// Whether neighbouring values are alike (a size or a count), or merely different (a method).
    pub ordered: bool,
}

/// A recording as read from a file, before it is a space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedTable {
    /// Name of the space.
    pub name: String,
    /// What was measured where, for people.
    pub about: String,
    /// Unit of the times.
    pub unit: String,
    /// The tunables, in the order of the values of a row.
    pub tunables: Vec<RecordedTunable>,
    /// Constraints in the language of [`space`]; empty where the recording has none or they could not be translated.
    pub constraints: Vec<String>,
    /// Configurations with what became of them.
    pub rows: Vec<(Vec<Value>, Recorded)>,
}

/// A recording ready to be searched.
#[derive(Clone, Debug)]
pub struct RecordedSpace {
    /// Name of the space.
    pub name: String,
    /// What was measured where.
    pub about: String,
    /// Unit of the times.
    pub unit: String,
    /// The space that strategies see.
    pub space: SearchSpace,
    rows: HashMap<Point, Recorded>,
    /// Times of the feasible rows, ascending.
    times: Vec<f64>,
}

impl RecordedSpace {
    /// Builds the space of a table. Where the constraints do not give exactly the rows, the rows themselves are the space.
    /// The error is a sentence without the file's name.
    pub fn new(table: RecordedTable) -> Result<Self, String> {
        let tunables: Vec<Tunable> = table.tunables.iter().map(tunable).collect();
        let constraints: Vec<_> = table.constraints.iter().map(|text| (text.clone(), 0..text.len())).collect();
        let described = SearchSpace::new(&tunables, &constraints, &[]);
        let space = match described {
            Ok(space) => space,
            Err(_) => SearchSpace::new(&tunables, &[], &[]).map_err(|errors| errors[0].to_string())?,
        };
        let mut rows = HashMap::with_capacity(table.rows.len());
        for (number, (values, recorded)) in table.rows.into_iter().enumerate() {
            let named = table.tunables.iter().map(|tunable| tunable.name.clone()).zip(values);
            let configuration: Configuration = named.collect();
            let Some(point) = space.point(&configuration) else {
                return Err(format!("row {}: {configuration} has a value that its tunable does not list", number + 1));
            };
            if rows.insert(point, recorded).is_some() {
                return Err(format!("row {}: {configuration} is there twice", number + 1));
            }
        }
        let mut times: Vec<f64> = rows
            .values()
            .filter_map(|recorded| match recorded {
                Recorded::Objective(value) => Some(*value),
                Recorded::Infeasible(_) => None,
            })
            .collect();
        if let Some(bad) = times.iter().find(|time| !time.is_finite() || **time <= 0.0) {
            return Err(format!("{bad} is no time: times are finite and above zero"));
        }
        if times.is_empty() {
            return Err("no configuration has a time".to_owned());
        }
        times.sort_by(f64::total_cmp);
        let exact = space
            .enumerate()
            .is_some_and(|points| points.len() == rows.len() && points.iter().all(|point| rows.contains_key(point)));
        let space = if exact { space } else { space.with_listed(rows.keys().cloned()) };
        Ok(Self { name: table.name, about: table.about, unit: table.unit, space, rows, times })
    }

    /// What the recording says of a configuration; `None` where it is not in the space.
    pub fn look_up(&self, configuration: &Configuration) -> Option<Recorded> {
        self.rows.get(&self.space.point(configuration)?).copied()
    }

    /// All configurations in order.
    pub fn rows(&self) -> Vec<(Point, Recorded)> {
        let mut rows: Vec<(Point, Recorded)> = self.rows.iter().map(|(point, row)| (point.clone(), *row)).collect();
        rows.sort_by(|left, right| left.0.cmp(&right.0));
        rows
    }

    /// Number of configurations.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no configuration; a recording without a time is refused, so this is never so.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Times of the feasible configurations, ascending, in the unit of the recording.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The least time.
    pub fn optimum(&self) -> f64 {
        self.times[0]
    }

    /// The largest time: what a run counts that found nothing feasible.
    pub fn worst(&self) -> f64 {
        self.times[self.times.len() - 1]
    }
}

fn tunable(recorded: &RecordedTunable) -> Tunable {
    Tunable {
        name: recorded.name.clone(),
        domain: Domain::List { values: recorded.values.clone(), ordered: recorded.ordered },
        default: None,
        binding: Binding::Recorded,
        reason: String::new(),
        when: None,
    }
}
