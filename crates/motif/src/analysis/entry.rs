//! The files of the half that runs on the device.

use crate::context::Context;
use source::facts::is_host;
use source::parse::SyntaxFile;

/// Files that are compiled for the device.
pub(crate) fn device_files(context: &Context) -> impl Iterator<Item = &SyntaxFile> {
    context.forest.iter().filter(|file| !is_host(file.name()))
}
