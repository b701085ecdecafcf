//! The table `[cann]`: a toolkit, its devices, and how times are taken on them.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

/// What the manifest says of devices; what it leaves open is `None`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DeviceSettings {
    /// The toolkit's folder; where it is left out, that of the environment or an installed one.
    pub toolkit: Option<PathBuf>,
    /// Full name of the chip, where the driver tells no more than its family.
    pub soc: Option<String>,
    /// Numbers of the devices to use, as the driver counts them; all that are free where there are none.
    #[serde(default)]
    pub devices: Vec<u32>,
    /// Launches before the first that counts.
    pub warm_up: Option<u32>,
    /// Microseconds that these take at least.
    pub warm_up_us: Option<u32>,
    /// Launches that count, at least.
    pub launches: Option<u32>,
    /// Launches that count, at most.
    pub most_launches: Option<u32>,
    /// Whether the L2 cache is emptied before every launch.
    pub flush_l2: Option<bool>,
    /// Copies of the tensors that launches take turns through.
    pub rotate: Option<u32>,
}

/// What is wrong with it: the finding, and what to write.
pub(super) fn findings(settings: &DeviceSettings) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut between = |name: &str, value: Option<u32>, range: std::ops::RangeInclusive<u32>, help: &'static str| {
        if let Some(value) = value.filter(|value| !range.contains(value)) {
            found.push((format!("`{name}` is {value}"), help.to_owned()));
        }
    };
    between("warm-up", settings.warm_up, 0..=500, "it must be from 0 to 500");
    between("warm-up-us", settings.warm_up_us, 0..=1_000_000, "it must be from 0 to 1000000");
    between("launches", settings.launches, 3..=1000, "it must be from 3 to 1000");
    between("most-launches", settings.most_launches, 3..=5000, "it must be from 3 to 5000");
    between("rotate", settings.rotate, 1..=64, "it must be from 1 to 64");
    if let (Some(least), Some(most)) = (settings.launches, settings.most_launches)
        && most < least
    {
        found.push((format!("`most-launches` is {most}"), "it must not be below `launches`".to_owned()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_ranges() {
        let found = |text: &str| {
            let settings: DeviceSettings = toml::from_str(text).unwrap();
            findings(&settings).into_iter().map(|(message, _)| message).collect::<Vec<_>>()
        };
        assert!(found("toolkit = \"/opt/cann\"\ndevices = [0, 3]\nflush-l2 = true").is_empty());
        assert_eq!(
            found("launches = 2\nrotate = 0\nwarm-up = 501"),
            ["`warm-up` is 501", "`launches` is 2", "`rotate` is 0"]
        );
        assert_eq!(found("launches = 20\nmost-launches = 10"), ["`most-launches` is 10"]);
        assert!(toml::from_str::<DeviceSettings>("device = 1").is_err());
    }
}
