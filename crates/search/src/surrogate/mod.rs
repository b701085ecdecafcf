//! Search guided by a Gaussian process over the points of a space.

mod coordinates;
mod factor;
mod fit;
mod gaussian;
mod kernel;
mod model;
mod numeric;
mod pool;
mod targets;

pub(super) use coordinates::Coordinates;
pub(super) use model::Model;
pub use model::ModelOptions;
