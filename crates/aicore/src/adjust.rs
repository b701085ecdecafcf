//! Machines whose constants are moved, for fitting.

use std::collections::BTreeMap;

use super::constant::Confidence;
use super::machine::Machine;

impl Confidence {
    /// Whether fitting may move a constant that is known in this way. What the vendor states or somebody measured stays.
    pub fn may_be_fitted(self) -> bool {
        matches!(self, Confidence::Inferred | Confidence::Fitted)
    }
}

impl Machine {
    /// The same machine with other values of some constants; names that it does not have are passed over.
    pub fn with_values(&self, values: &BTreeMap<String, f64>) -> Self {
        let mut machine = self.clone();
        for (name, value) in values {
            if let Some(constant) = machine.constants.get_mut(name) {
                constant.value = *value;
            }
        }
        machine.refresh();
        machine
    }

    /// Values of `values` that this machine shares with `base`, as it would if its description extends that of `base`
    /// and does not state them itself.
    pub fn inherited(&self, base: &Self, values: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
        let value = |machine: &Self, name: &str| machine.constants.get(name).map(|constant| constant.value);
        let shared = values.iter().filter(|(name, _)| value(self, name) == value(base, name));
        shared.map(|(name, value)| (name.clone(), *value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_constants_reach_the_parameters_and_only_where_they_are_inherited() {
        let base = Machine::named("ascend910b2").unwrap();
        let faster = Machine::named("ascend910b1").unwrap();
        let values = BTreeMap::from([("clock_mhz".to_owned(), 1000.0), ("flag_cycles".to_owned(), 7.0)]);
        let moved = faster.with_values(&faster.inherited(&base, &values));
        assert_eq!(moved.parameters.flag_cycles, 7.0);
        assert_eq!(moved.parameters.clock_mhz, faster.parameters.clock_mhz);
        assert_ne!(moved.digest(), faster.digest());
    }
}
