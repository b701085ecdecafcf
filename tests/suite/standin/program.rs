//! The test program as a program of the stand-in: what a script of the tree starts.

use std::io::Write;
use std::path::PathBuf;

use super::knobs::Knobs;
use super::{model, msprof, npu_smi, object};

/// What a program was started with, and what it prints to.
pub struct Started {
    /// The stand-in's own folder of its tree.
    pub own: PathBuf,
    /// Its arguments.
    pub words: Vec<String>,
    /// Standard output of whoever started it.
    pub out: std::fs::File,
}

impl Started {
    /// Prints a line.
    pub fn say(&mut self, line: &str) {
        // Nobody may be listening any more.
        let _ = writeln!(self.out, "{line}");
    }

    /// Knobs of its tree.
    pub fn knobs(&self) -> Knobs {
        Knobs::of(&self.own)
    }

    /// The toolkit's root.
    pub fn home(&self) -> PathBuf {
        self.own.parent().expect("a tree").to_owned()
    }
}

/// Not a test unless a script of a tree asks: then it is that program, and ends with its status.
#[test]
fn one() {
    let Some(program) = std::env::var_os("STANDIN_PROGRAM") else { return };
    let own = PathBuf::from(std::env::var_os("STANDIN_OWN").expect("a script started this"));
    let words = std::env::var("STANDIN_WORDS").unwrap_or_default();
    let words = words.split_terminator('\u{1f}').map(str::to_owned).collect();
    let out = std::fs::OpenOptions::new().append(true).open("/proc/self/fd/3").expect("the caller's output");
    let started = Started { own, words, out };
    let code = match program.to_str().expect("a name") {
        "npu-smi" => npu_smi::run(started),
        "msprof" => msprof::run(started),
        "model" => model::run(&started),
        "bisheng" => object::bisheng(&started),
        "opc" => object::opc(started),
        "op_build" => object::op_build(started),
        other => panic!("the stand-in has no {other}"),
    };
    std::process::exit(code);
}
