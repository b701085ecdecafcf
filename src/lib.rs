//! Autotuner for Ascend C operators.
//!
//! The crate is one library and one thin binary. Modules, from the edge inwards:
//!
//! * [`cli`]: arguments, one file per subcommand, exit codes.
//! * [`tuner`]: the episodes; who gets the next evaluation and when to stop.
//! * [`proposer`], [`experience`], [`motif`], [`source`]: the kernel stage.
//! * [`search`], [`space`]: the host stage; [`replay`]: its strategies on recorded spaces.
//! * [`verify`], [`backend`], [`build`], [`project`], [`manifest`]: from sources to a verdict.
//! * [`aicore`]: the AI Core model: machine descriptions, instruction streams, timing, hazards.
//! * [`fidelity`]: the model beside published measurements, and its constants fitted to them.
//! * [`soundness`]: motifs on generated kernels, both versions run and compared.
//! * [`ablation`]: what each part of the tuner is worth, over many operators.
//! * [`events`]: everything that a command can say, as plain data; [`report`] shows it.
//! * [`lock`], [`report`]: what stays behind after a run.

pub use discovery::{cases, init, oracle};
pub use studies::{ablation, fidelity, replay, soundness, survey};
pub use {
    aicore, backend, build, confinement, events, experience, lock, manifest, motif, project, proposer, report, search,
    source, space, tuner, verify,
};

pub mod cli;
pub mod doctor;
