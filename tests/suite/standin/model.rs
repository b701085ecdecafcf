//! The time of a launch: the AI Core model on its trace.

use std::fmt::Write;
use std::path::Path;

use aicore::{Machine, Profile, Recording, Warmth};

use super::program::Started;

/// `model TRACE ANSWER`: lines `name=value` about the trace's only launch.
pub fn run(started: &Started) -> i32 {
    let [trace, answer] = &started.words[..] else { return 2 };
    let soc = started.knobs().get("soc").unwrap_or_else(|| "Ascend910B2".to_owned());
    let machine = match started.knobs().get("constants") {
        Some(file) => Machine::parse(&file, &fs_err::read_to_string(&file).expect("a description")),
        None => Machine::named(&soc.to_lowercase()),
    };
    let machine = machine.unwrap_or_else(|error| panic!("{error}"));
    let bytes = fs_err::read(trace).expect("a trace");
    // Every launch is the first on its device, unless the device is asked to be one on which they follow each other.
    let warmth = if started.knobs().get("caches").is_some() { Warmth::Repeated } else { Warmth::Cold };
    let recording = Recording::of(&bytes).unwrap_or_else(|error| panic!("{error}"));
    let profiles = recording.profiles(&machine, &[0], warmth);
    let Some(profile) = profiles.get(&0) else { return 1 };
    fs_err::write(Path::new(answer), text(profile)).expect("an answer");
    0
}

fn text(profile: &Profile) -> String {
    let mut text = format!(
        "task_us={}\ncore_us={}\nshortest_us={}\ncores={}\nread_bytes={}\nwritten_bytes={}\n",
        profile.task_us,
        profile.longest_core_us,
        profile.shortest_core_us,
        profile.cores,
        profile.gm_read_bytes,
        profile.gm_write_bytes
    );
    for unit in &profile.units {
        let pipes = &unit.pipes;
        for (pipe, us) in [
            ("scalar", pipes.scalar_us),
            ("vec", pipes.vec_us),
            ("mte1", pipes.mte1_us),
            ("mte2", pipes.mte2_us),
            ("mte3", pipes.mte3_us),
            ("cube", pipes.cube_us),
            ("fixpipe", pipes.fixpipe_us),
        ] {
            let _ = writeln!(text, "{}_{pipe}={us}", unit.unit);
        }
    }
    text
}
