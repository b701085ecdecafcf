//! Search spaces: tunables with their domains, configurations, and constraints between them.

mod expression;
mod facts;
mod search_space;
mod tunable;
mod value;

pub use expression::{Environment, EvaluationError, Expression, ExpressionError, Symbol};
pub use facts::CaseFacts;
pub use search_space::{LinearBound, NO_LIMIT, Point, SearchSpace, SpaceError, Violation, domain_values};
pub use tunable::{Binding, Condition, Domain, MOST_PERMUTED, Tunable};
pub use value::{Configuration, Value};
