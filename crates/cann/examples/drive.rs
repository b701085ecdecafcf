//! Builds a project with a toolkit, by hand: `cargo run -p ascend-tune-cann --example drive -- TOOLKIT PROJECT SOC [FILE=TEXT-FILE ..]`.
//!
//! Says which style the project has, what was run for it and what it left; the second and later builds show what is built again.
//! A `FILE=TEXT-FILE` puts another text in place of a file of the project, as a candidate does.

use std::path::Path;
use std::time::Instant;

use cann::{Environment, Flow, FlowOptions, Soc, Toolkit};
use project::OperatorProject;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [toolkit, directory, soc, edits @ ..] = words.as_slice() else {
        return Err("usage: drive TOOLKIT PROJECT SOC [FILE=TEXT-FILE ..]".into());
    };
    let toolkit = Toolkit::find(Some(Path::new(toolkit)), &Environment::of_this_process())?;
    println!("toolkit: {toolkit}");
    let soc = Soc::named(soc, toolkit.platform_folder().as_deref())?;
    let project = OperatorProject::find(Path::new(directory))?;
    let mut tree = project.load_sources()?;
    for (file, text) in edits.iter().filter_map(|edit| edit.split_once('=')) {
        tree.insert(file, std::fs::read_to_string(text)?);
    }
    let work = project.work_directory().join("cann");
    let flow = Flow::new(project, toolkit, soc, FlowOptions::new(work))?;
    println!("style: {}", flow.style());
    for step in flow.steps() {
        println!("  {step}");
    }
    let started = Instant::now();
    match flow.build(&tree) {
        Ok(built) => {
            println!("built in {:.1} s: {:?}", started.elapsed().as_secs_f64(), built.ran);
            for (op_type, objects) in &built.objects {
                for object in objects {
                    println!("  {op_type}: {} ({} bytes of tiling)", object.path.display(), object.tiling_bytes);
                }
            }
            let others =
                built.package.iter().map(|package| &package.vendor).chain(&built.program).chain(&built.libraries);
            for path in others {
                println!("  {}", path.display());
            }
            Ok(())
        }
        Err(error) => {
            for finding in error.findings() {
                println!("  {finding}");
            }
            Err(error.into())
        }
    }
}
