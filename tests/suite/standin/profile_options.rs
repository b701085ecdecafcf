//! The command line of `msprof op`.

use std::path::PathBuf;

/// What `msprof op` was asked for.
#[derive(Debug)]
pub struct ProfileOptions {
    /// Program and arguments, where there are any.
    pub application: Vec<String>,
    /// Description of a kernel object to replay.
    pub config: Option<PathBuf>,
    /// Patterns of kernels; empty where only the first operator is taken.
    pub kernels: String,
    /// Launches to look at.
    pub count: u32,
    /// Matching launches to leave out first.
    pub skip: u32,
    /// Launches before the first that counts.
    pub warm_up: u32,
    /// Groups of counters.
    pub metrics: Vec<String>,
    /// Whether the program ends once the count is reached.
    pub kill: bool,
    /// Where results go.
    pub output: PathBuf,
}

impl ProfileOptions {
    /// Reads the words after `op`.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let mut options = Self {
            application: Vec::new(),
            config: None,
            kernels: String::new(),
            count: 1,
            skip: 0,
            warm_up: 5,
            metrics: vec!["Default".to_owned()],
            kill: false,
            output: PathBuf::from("."),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let Some(flag) = word.strip_prefix("--") else {
                options.application = std::iter::once(word).chain(words).cloned().collect();
                break;
            };
            let (name, value) = match flag.split_once('=') {
                Some((name, value)) => (name, value.to_owned()),
                None => (flag, words.next().cloned().ok_or(format!("--{flag} needs a value"))?),
            };
            let number = |least: u32, most: u32| {
                let parsed = value.parse().ok().filter(|number| (least..=most).contains(number));
                parsed.ok_or(format!("--{name}={value} is out of the range [{least}, {most}]"))
            };
            match name {
                "application" => options.application = value.split_whitespace().map(str::to_owned).collect(),
                "config" => options.config = Some(PathBuf::from(value)),
                "kernel-name" => options.kernels = value,
                "launch-count" => options.count = number(1, 5000)?,
                "launch-skip-before-match" => options.skip = number(0, 1000)?,
                "warm-up" => options.warm_up = number(0, 500)?,
                "aic-metrics" => options.metrics = value.split(',').map(str::to_owned).collect(),
                "kill" => options.kill = value == "on",
                "output" => options.output = PathBuf::from(value),
                "mstx" | "mstx-include" | "replay-mode" | "dump" | "core-id" => {}
                _ => return Err(format!("unknown option --{name}")),
            }
        }
        options.check()?;
        Ok(options)
    }

    fn check(&self) -> Result<(), String> {
        const METRICS: [&str; 15] = [
            "Default",
            "ArithmeticUtilization",
            "L2Cache",
            "Memory",
            "MemoryL0",
            "MemoryUB",
            "PipeUtilization",
            "ResourceConflictRatio",
            "MemoryDetail",
            "Roofline",
            "Occupancy",
            "TimelineDetail",
            "Source",
            "KernelScale",
            "BasicInfo",
        ];
        if let Some(unknown) = self.metrics.iter().find(|metric| !METRICS.contains(&metric.as_str())) {
            return Err(format!("--aic-metrics has no {unknown}"));
        }
        if !self.kernels.is_empty() && self.config.is_some() {
            return Err("--kernel-name goes with an application only".to_owned());
        }
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "_|*".contains(letter);
        if self.kernels.len() > 1024 || !self.kernels.chars().all(fits) {
            return Err(format!("--kernel-name={} is not of letters, digits, _, | and *", self.kernels));
        }
        match (&self.config, self.application.is_empty()) {
            (Some(_), false) => Err("--config and an application exclude each other".to_owned()),
            (None, true) => Err("there is no application and no --config".to_owned()),
            _ => Ok(()),
        }
    }
}
