//! What is taken out.

use serde::{Deserialize, Serialize};

/// The tuner, whole or without a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// Both stages, the bank without records of the operator under test, motifs together.
    Full,
    /// No experience at all: seeds and profile only.
    NoBank,
    /// Host stage only.
    NoKernel,
    /// Kernel stage only.
    NoHost,
    /// Kernel stage only, every rewrite made of the operator as it was: the best of many, never two after each other.
    BestOfN,
    /// Both stages, one single motif at a time from the best candidate so far.
    Greedy,
}

impl Variant {
    /// All of them, the whole tuner first.
    pub const ALL: [Self; 6] = [Self::Full, Self::NoBank, Self::NoKernel, Self::NoHost, Self::BestOfN, Self::Greedy];

    /// Name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Full => "full",
            Variant::NoBank => "no-bank",
            Variant::NoKernel => "no-kernel",
            Variant::NoHost => "no-host",
            Variant::BestOfN => "best-of-n",
            Variant::Greedy => "greedy",
        }
    }
}

impl std::str::FromStr for Variant {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|variant| variant.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|variant| variant.name()).collect();
            format!("no such variant; there are {}", names.join(", "))
        })
    }
}
