//! The whole tool from outside: seeded defects, the SDK's own programs, the published ladder.

mod bad_input;
mod cli;
mod corpus;
mod defects;
mod device_only;
mod door;
mod experience;
mod faults;
mod fidelity;
mod fuzz;
mod hostile;
mod house;
mod kernel_tests;
mod ladder;
mod mix;
mod operators;
mod probes;
mod python_calls;
mod replay;
mod resume;
mod sampled_blocks;
mod sdk;
mod soundness;
mod support;
mod survey;
mod timing_only;
