//! Tells the crate the triple it is built for (the host compiler is looked up with it at run time) and rebuilds it when
//! a file of the embedded SDK changes.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../../sdk");
    println!("cargo:rustc-env=ASCEND_TUNE_TARGET={}", std::env::var("TARGET").unwrap_or_default());
}
