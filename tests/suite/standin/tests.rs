//! The stand-in by hand: what the documents say is what it does.

mod build;
mod devices;
mod layout;
mod profile;
mod replay;
mod scale_add;
