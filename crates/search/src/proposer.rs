//! What strategies share: asking one point at a time, and keeping what was told.

use super::archive::Archive;
use super::{Observation, Prices, Strategy};
use space::{Configuration, Point, SearchSpace};

/// A strategy that says which single point comes next; batches, bookkeeping and telling follow from that.
pub(super) trait Proposer {
    /// Name for reports.
    fn label(&self) -> &'static str;

    /// The space and what is known of it.
    fn state(&mut self) -> (&SearchSpace, &mut Archive);

    /// The next point, one that the archive does not contain; `None` when none is left or none was found.
    fn next_point(&mut self) -> Option<Point>;

    /// See [`Strategy::set_prices`].
    fn take_prices(&mut self, _prices: Option<Prices>) {}

    /// See [`Strategy::expected_gain`].
    fn promise(&self) -> Option<f64> {
        None
    }
}

impl<P: Proposer> Strategy for P {
    fn ask(&mut self, count: usize) -> Vec<Configuration> {
        let mut asked = Vec::new();
        while asked.len() < count {
            let Some(point) = self.next_point() else { break };
            let (space, archive) = self.state();
            asked.push(space.configuration(&point));
            archive.ask(point);
        }
        asked
    }

    fn tell(&mut self, configuration: &Configuration, outcome: &Observation) {
        let (space, archive) = self.state();
        if let Some(point) = space.point(configuration) {
            archive.tell(point, outcome);
        }
    }

    fn set_prices(&mut self, prices: Option<Prices>) {
        self.take_prices(prices);
    }

    fn name(&self) -> &'static str {
        self.label()
    }

    fn expected_gain(&self) -> Option<f64> {
        self.promise()
    }
}
