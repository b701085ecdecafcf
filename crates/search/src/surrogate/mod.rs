//! Search guided by a Gaussian process over the points of a space.

mod coordinates;
mod factor;
mod fit;
mod gaussian;
mod kernel;
mod model;
mod numeric;
mod options;
mod pool;
mod scales;
mod targets;

pub(super) use coordinates::Coordinates;
pub(super) use model::Model;
pub use options::ModelOptions;
