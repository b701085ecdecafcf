//! What an operator says of itself before anybody tunes it.
//!
//! Upwards: [`oracle`] runs what its authors wrote to test it, [`cases`] finds or makes inputs that its tiling function accepts,
//! and [`init`] writes the manifest that follows from both and from its sources.

pub mod cases;
pub mod init;
pub mod oracle;
