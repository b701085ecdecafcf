//! Which cores a kernel runs on, and who a core is.

use serde::{Deserialize, Serialize};

use super::trace::Launch;

/// Cores of a launch: vector cores, cube cores, or groups of one cube core with 0, 1 or 2 vector cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum KernelType {
    /// Vector cores alone.
    #[default]
    #[serde(rename = "aiv")]
    Aiv,
    /// Cube cores alone.
    #[serde(rename = "aic")]
    Aic,
    /// A cube core in a mixed launch without vector cores.
    #[serde(rename = "mix_1_0")]
    Mix10,
    /// A cube core and a vector core.
    #[serde(rename = "mix_1_1")]
    Mix11,
    /// A cube core and two vector cores.
    #[serde(rename = "mix_1_2")]
    Mix12,
}

impl KernelType {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Aiv, Self::Aic, Self::Mix10, Self::Mix11, Self::Mix12];

    /// Name in jobs and traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aiv => "aiv",
            Self::Aic => "aic",
            Self::Mix10 => "mix_1_0",
            Self::Mix11 => "mix_1_1",
            Self::Mix12 => "mix_1_2",
        }
    }

    /// By its name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether cube cores take part.
    pub fn has_cube(self) -> bool {
        self != Self::Aiv
    }

    /// Vector cores of a group.
    pub fn vectors(self) -> usize {
        match self {
            Self::Aiv | Self::Mix11 => 1,
            Self::Aic | Self::Mix10 => 0,
            Self::Mix12 => 2,
        }
    }

    /// Whether cores are numbered by group in the trace.
    pub fn is_mixed(self) -> bool {
        !matches!(self, Self::Aiv | Self::Aic)
    }
}

/// Kind of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unit {
    Vector,
    Cube,
}

/// Who a core is: its kind and the group (block) that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CoreName {
    pub(crate) unit: Unit,
    pub(crate) group: u32,
}

impl Launch<'_> {
    /// Kind of the launch; traces of an unknown kind are taken for vector launches.
    pub(crate) fn kernel_type(&self) -> KernelType {
        self.info.get("kernel_type").and_then(|name| KernelType::parse(name)).unwrap_or_default()
    }

    /// Who the core with a number in the trace is.
    pub(crate) fn core_name(&self, core: u32) -> CoreName {
        let kind = self.kernel_type();
        match kind {
            KernelType::Aiv => CoreName { unit: Unit::Vector, group: core },
            KernelType::Aic => CoreName { unit: Unit::Cube, group: core },
            _ if core.is_multiple_of(3) => CoreName { unit: Unit::Cube, group: core / 3 },
            _ => CoreName { unit: Unit::Vector, group: core / 3 },
        }
    }

    /// How messages name a core.
    pub(crate) fn core_text(&self, core: u32) -> String {
        let name = self.core_name(core);
        match (self.kernel_type().is_mixed(), name.unit) {
            (false, _) => format!("block {core}"),
            (true, Unit::Cube) => format!("block {} AIC", name.group),
            (true, Unit::Vector) => format!("block {} AIV{}", name.group, core % 3 - 1),
        }
    }
}
