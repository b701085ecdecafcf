//! Arguments of what is printed for other programs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `completions`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:\n  \
    cargo ascend-tune completions bash > ~/.local/share/bash-completion/completions/cargo-ascend-tune")]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// `man`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    cargo ascend-tune man | man -l -\n  \
    cargo ascend-tune man --out ~/.local/share/man/man1      (then `cargo help ascend-tune` shows it)")]
pub struct ManArgs {
    /// Write cargo-ascend-tune.1 and a page for each command into this directory.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// `schema`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:\n  \
    cargo ascend-tune schema manifest > ascend.schema.json\n\n\
    Editors that know TOML take it by a first line of ascend.toml such as `#:schema ascend.schema.json`.")]
pub struct SchemaArgs {
    /// Of what.
    #[arg(value_enum, value_name = "WHAT")]
    pub of: SchemaOf,
}

/// What has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// ascend.toml.
    Manifest,
    /// ascend.lock.
    Lock,
    /// A line of `--message-format json`.
    Events,
}
