//! Rebuilds the crate when a record of the shipped bank changes.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../../templates/bank");
}
