//! What the tool, its model and its motifs are worth.
//!
//! [`survey`] takes the operators of a tree through all steps. [`fidelity`] holds the model beside published figures and fits its
//! constants to them. [`soundness`] applies every motif to generated kernels, runs both versions and compares. [`ablation`] says what
//! each part of the tuner brings, and [`replay`] runs its strategies on recorded spaces beside other tuners.

pub mod ablation;
pub mod fidelity;
pub mod replay;
pub mod soundness;
pub mod survey;
