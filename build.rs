//! How the program is linked that tests start.
//!
//! A trial starts it two times, as a worker that limits itself. Unoptimised it has a hundred thousand addresses that the loader would write each
//! time, were it let lie anywhere in memory: a third of that start, where tests make ten thousand trials. What people install may lie anywhere.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    let unoptimised = std::env::var("OPT_LEVEL").is_ok_and(|level| level == "0");
    if unoptimised && target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
