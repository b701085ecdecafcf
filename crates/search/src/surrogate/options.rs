//! Settings of the model.

/// Settings of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelOptions {
    /// Candidates kept. Spaces of at most this many points are looked at as a whole.
    pub pool: usize,
    /// Random points that join the pool at every question.
    pub fresh: usize,
    /// Children of the best points that join the pool at every question.
    pub offspring: usize,
    /// Best points whose neighbours are candidates.
    pub elite: usize,
    /// Steps of every fit of the scales.
    pub fit_steps: usize,
    /// Length scale expected of each group of coordinates, in domains, where there are two of them.
    pub prior_length: f64,
    /// Logarithm of the noise expected over the signal variance.
    pub prior_noise: f64,
    /// Times beyond the median by this multiple of the distance from the best to the median count as alike.
    pub cap: f64,
    /// Observations that a fit takes at most: the best half, and an even choice of the others.
    pub window: usize,
    /// Processes with scales of their own at most, between which few times cannot decide.
    pub processes: usize,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self {
            pool: 1000,
            fresh: 32,
            offspring: 0,
            elite: 4,
            fit_steps: 12,
            prior_length: 0.9,
            prior_noise: -8.0,
            cap: 2.0,
            window: 256,
            processes: 8,
        }
    }
}
