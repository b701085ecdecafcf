//! What is asked of the stand-in alone: a file of lines `name=value` in its tree.

use std::path::{Path, PathBuf};

/// The file of a tree.
#[derive(Clone, Debug)]
pub struct Knobs {
    file: PathBuf,
}

impl Knobs {
    /// Those in the stand-in's own folder of a tree.
    pub fn of(own: &Path) -> Self {
        Self { file: own.join("knobs") }
    }

    /// A value, where the knob is set.
    pub fn get(&self, name: &str) -> Option<String> {
        let text = fs_err::read_to_string(&self.file).unwrap_or_default();
        // The last line counts.
        text.lines().rev().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
    }

    /// A number, or what holds where the knob is not set.
    pub fn number(&self, name: &str, otherwise: f64) -> f64 {
        self.get(name).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text}")))
    }

    /// Turns a knob. Programs that run see either the old or the new value.
    pub fn set(&self, name: &str, value: &str) {
        let mut text = fs_err::read_to_string(&self.file).unwrap_or_default();
        text.push_str(&format!("{name}={value}\n"));
        let new = self.file.with_extension("new");
        fs_err::write(&new, text).expect("a knob");
        fs_err::rename(&new, &self.file).expect("a knob");
    }
}
