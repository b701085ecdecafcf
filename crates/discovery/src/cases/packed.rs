//! The folder `templates/definitions`, as the build script packed it.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::LazyLock;

/// Texts by file name.
static FILES: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    unpack(include_bytes!(concat!(env!("OUT_DIR"), "/definitions.tar.gz"))).expect("packed by build.rs")
});

/// What is asked of the definitions: in Python, with the table of who defines what.
pub(super) fn programs() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().map(|(name, text)| (name.as_str(), text.as_str())).filter(|(name, _)| *name != "examples.json")
}

/// A file of the folder.
pub(super) fn text(name: &str) -> &'static str {
    FILES.get(name).map_or("", String::as_str)
}

fn unpack(packed: &[u8]) -> std::io::Result<BTreeMap<String, String>> {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(packed));
    let entries = archive.entries()?.map(|entry| {
        let mut entry = entry?;
        let name = entry.path()?.display().to_string();
        let mut text = String::new();
        entry.read_to_string(&mut text)?;
        Ok((name, text))
    });
    entries.collect()
}
