//! The simulator's answers, each recorded once, with noise laid on their times: a rehearsal of measured tuning.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::execution::{Execution, RunFailure, Tiled};
use super::job::{Description, KernelJob, ProgramJob};
use super::seam::{Answer, Backend, Capabilities, ToCome};
use super::sim::SimBackend;
use super::tape::{Tape, question, question_of_program};
use aicore::Origin;

/// Answers from a recording that grows as it is asked.
#[derive(Clone, Debug)]
pub struct Recorded {
    simulator: SimBackend,
    /// Standard deviation of the noise, as a share of a time.
    noise: f64,
    seed: u64,
    tape: Arc<Tape>,
    /// How often each was asked for: every answer has noise of its own.
    asked: Arc<Mutex<BTreeMap<String, u64>>>,
}

impl Recorded {
    /// A recording of what this simulator answers, with noise of this standard deviation, drawn by `seed`.
    pub fn new(simulator: SimBackend, noise: f64, seed: u64) -> Self {
        Self { simulator, noise, seed, tape: Arc::default(), asked: Arc::default() }
    }

    async fn played(
        &self,
        key: String,
        run: impl Future<Output = Result<Execution, RunFailure>>,
    ) -> Result<Execution, RunFailure> {
        let mut execution = self.tape.answer(&key, run).await?;
        let count = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            let asked = asked.entry(key.clone()).or_default();
            *asked += 1;
            *asked
        };
        let factor = factor(self.noise, self.seed, &key, count);
        for launch in &mut execution.launches {
            launch.profile.task_us *= factor;
        }
        Ok(execution)
    }
}

/// What the `count`-th answer to a question is multiplied by: the same for the same seed, whatever runs beside it.
fn factor(noise: f64, seed: u64, key: &str, count: u64) -> f64 {
    let digest = blake3::hash(format!("{seed} {key} {count}").as_bytes());
    let mut rng = ChaCha8Rng::from_seed(*digest.as_bytes());
    let (first, second): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
    let normal = (-2.0 * first.ln()).sqrt() * (std::f64::consts::TAU * second).cos();
    (noise * normal).exp()
}

impl Backend for Recorded {
    fn capabilities(&self) -> Capabilities {
        Capabilities { origin: Origin::Modelled, exact: self.noise == 0.0, devices: 0 }
    }

    fn run_operator<'a>(&'a self, job: &'a KernelJob) -> Answer<'a, Execution> {
        let key = question(job, self.simulator.critical_path);
        Box::pin(self.played(key, self.simulator.run_operator(job)))
    }

    fn tile<'a>(&'a self, job: &'a KernelJob) -> Answer<'a, Tiled> {
        Box::pin(self.simulator.tile(job))
    }

    fn foresee<'a>(&'a self, jobs: &'a [KernelJob]) -> ToCome<'a, ()> {
        Box::pin(self.simulator.foresee(jobs))
    }

    fn describe<'a>(&'a self, host: &'a Path) -> Answer<'a, Description> {
        Box::pin(self.simulator.describe(host))
    }

    fn run_program<'a>(&'a self, job: &'a ProgramJob<'a>) -> Answer<'a, Execution> {
        let key = question_of_program(job, self.simulator.critical_path);
        Box::pin(self.played(key, self.simulator.run_program(job)))
    }

    fn following(&self) -> Arc<dyn Backend> {
        Arc::new(Self { simulator: SimBackend { critical_path: true, ..self.simulator.clone() }, ..self.clone() })
    }

    fn keeping_trace(&self, file: PathBuf) -> Arc<dyn Backend> {
        self.simulator.keeping_trace(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_has_the_deviation_that_was_asked_for_and_no_bias() {
        let logarithms: Vec<f64> = (0..4000).map(|count| factor(0.05, 7, "a job", count).ln()).collect();
        let mean = logarithms.iter().sum::<f64>() / 4000.0;
        let deviation = (logarithms.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 3999.0).sqrt();
        assert!(mean.abs() < 0.003 && (deviation - 0.05).abs() < 0.003, "{mean} {deviation}");
        assert_eq!(factor(0.05, 7, "a job", 3).to_bits(), factor(0.05, 7, "a job", 3).to_bits());
        assert_ne!(factor(0.05, 7, "a job", 3).to_bits(), factor(0.05, 8, "a job", 3).to_bits());
    }
}
