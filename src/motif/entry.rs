//! Kernel entry functions, and what a kernel's sources mention.

use super::context::Context;
use crate::source::facts::is_host;
use crate::source::parse::{Function, SyntaxFile, TokenKind, lex};

/// Files that are compiled for the device.
pub(super) fn device_files(context: &Context) -> impl Iterator<Item = &SyntaxFile> {
    context.forest.iter().filter(|file| !is_host(file.name()))
}

/// Kernel entry functions with their files.
pub(super) fn entries(context: &Context) -> Vec<(&SyntaxFile, &Function)> {
    let mut found = Vec::new();
    for file in device_files(context) {
        for function in file.functions().iter().filter(|function| function.class.is_none()) {
            let head = &file.text()[..function.body.start];
            let start = head.rfind([';', '}']).map_or(0, |end| end + 1);
            if file.slice(&(start..function.body.start)).contains("__global__") {
                found.push((file, function));
            }
        }
    }
    found
}

/// The first of the words that the device sources mention, directives included, with `file:line`.
pub(super) fn mention(context: &Context, named: &[&str]) -> Option<(String, String)> {
    device_files(context).find_map(|file| mention_in(file, named).map(|(word, place)| (word.to_owned(), place)))
}

fn mention_in<'a>(file: &SyntaxFile, named: &[&'a str]) -> Option<(&'a str, String)> {
    for token in lex(file.text()) {
        let text = file.slice(&token.span);
        let hit = match token.kind {
            TokenKind::Word => named.iter().find(|word| **word == text),
            TokenKind::Directive => named.iter().find(|word| {
                lex(text.trim_start_matches('#'))
                    .iter()
                    .any(|part| &text.trim_start_matches('#')[part.span.clone()] == **word)
            }),
            _ => None,
        };
        if let Some(word) = hit {
            return Some((word, format!("{}:{}", file.name(), file.line(token.span.start))));
        }
    }
    None
}

/// A header that the device sources include and that is neither one of them nor one of the device library's own.
pub(super) fn foreign_header(context: &Context) -> Option<String> {
    for file in device_files(context) {
        for line in file.text().lines().map(str::trim).filter(|line| line.starts_with('#') && line.contains("include"))
        {
            let Some(name) = line.split(['"', '<', '>']).nth(1) else { continue };
            let short = name.rsplit('/').next().unwrap_or(name);
            let ours = device_files(context).any(|file| file.name().rsplit('/').next() == Some(short));
            let standard = !short.contains('.')
                || matches!(short, "stdint.h" | "stddef.h" | "math.h")
                || short.starts_with("kernel_operator")
                || short.starts_with("kernel_tiling")
                || short.contains("tiling");
            if !ours && !standard {
                return Some(name.to_owned());
            }
        }
    }
    None
}
