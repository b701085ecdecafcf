//! Search spaces: tunables with their domains, configurations, and constraints between them.

mod tunable;
mod value;

pub use tunable::{Binding, Domain, Tunable};
pub use value::{Configuration, Value};
