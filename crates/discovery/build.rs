//! Packs the definitions of operators that go into the command, anew when a file of them changes.

use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

const DEFINITIONS: &str = "../../templates/definitions";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={DEFINITIONS}");
    pack(&PathBuf::from(std::env::var("OUT_DIR")?).join("definitions.tar.gz"))
}

/// Packs contents and names alone, without what an interpreter leaves beside them.
fn pack(target: &Path) -> Result<(), Box<dyn Error>> {
    let mut archive = tar::Builder::new(GzEncoder::new(File::create(target)?, Compression::best()));
    archive.mode(tar::HeaderMode::Deterministic);
    let entries = std::fs::read_dir(DEFINITIONS)?.collect::<Result<Vec<_>, _>>()?;
    let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    for file in files {
        archive.append_path_with_name(&file, file.strip_prefix(DEFINITIONS)?)?;
    }
    archive.into_inner()?.finish()?;
    Ok(())
}
