//! The names of the motifs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Declares the ids: a variant is written, read and printed by its name.
macro_rules! ids {
    ($($id:ident),* $(,)?) => {
        /// Id of a motif in the catalogue.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Id {
            $(#[doc = concat!("The motif ", stringify!($id), ".")] $id,)*
        }

        impl Id {
            /// All of them, in the order of their names.
            pub const ALL: &'static [Self] = &[$(Self::$id),*];

            /// The id as it stands in journals, locks and banks.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$id => stringify!($id),)*
                }
            }
        }
    };
}

ids! {
    D01, D04, D05, D07, D08, D09, D13, D14, D15, D16, D21, D23, D24,
    L01, L02, L08, L14, L15,
    S03, S13, S14,
    V01, V02, V03, V04, V05, V06, V07, V09, V10, V11, V12, V13, V14, V17, V20, V21, V22, V23, V24, V26, V27, V28, V33, V34, V35, V36, V37, V38,
    Y01, Y02, Y03, Y04, Y05, Y07, Y11, Y12, Y13,
}

impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// A text that names no motif.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no motif {0}")]
pub struct UnknownId(String);

impl FromStr for Id {
    type Err = UnknownId;

    fn from_str(text: &str) -> Result<Self, UnknownId> {
        Self::ALL.iter().copied().find(|id| id.name() == text).ok_or_else(|| UnknownId(text.to_owned()))
    }
}
