//! Length scales and noise of a process, and what is expected of them.

use rand_chacha::ChaCha8Rng;

use super::numeric::{logarithm, normal};
use super::options::ModelOptions;

/// Length scales and noise of a process. The signal variance follows from the targets in closed form.
#[derive(Clone, Debug, PartialEq)]
pub struct Scales {
    /// Logarithm of the inverse length scale of each group of coordinates.
    pub inverse: Vec<f64>,
    /// Logarithm of the noise variance over the signal variance.
    pub noise: f64,
}

/// What is expected of the scales before anything is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior {
    /// Logarithm of the inverse length scale of each group.
    pub(super) inverse: Vec<f64>,
    /// Logarithm of the noise ratio.
    pub(super) noise: f64,
}

/// Width of the prior of the logarithm of inverse length scales.
pub(super) const PRIOR_WIDTH: f64 = 1.0;
/// Width of the prior of the logarithm of the noise ratio.
pub(super) const PRIOR_NOISE_WIDTH: f64 = 1.5;

impl Prior {
    /// The prior for so many groups: the more there are, the longer each scale, so that two random points are about as
    /// much alike in every space.
    pub fn new(groups: usize, options: &ModelOptions) -> Self {
        let length = options.prior_length * libm::sqrt(groups.max(1) as f64 / 2.0);
        Self { inverse: vec![-logarithm(length); groups], noise: options.prior_noise }
    }

    /// A prior of the same width with a centre drawn from this one.
    pub fn drawn(&self, random: &mut ChaCha8Rng) -> Self {
        let mut inverse = Vec::with_capacity(self.inverse.len());
        for centre in &self.inverse {
            inverse.push(centre + PRIOR_WIDTH * normal(random));
        }
        Self { inverse, noise: self.noise + PRIOR_NOISE_WIDTH * normal(random) }
    }
}

impl Scales {
    /// Where fitting starts: the centre of the prior.
    pub fn initial(prior: &Prior) -> Self {
        Self { inverse: prior.inverse.clone(), noise: prior.noise }
    }
}
