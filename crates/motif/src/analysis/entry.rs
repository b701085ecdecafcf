//! The files of the half that runs on the device.

use std::collections::BTreeSet;

use crate::analysis::code::block_of;
use crate::context::Context;
use source::facts::{base_name, is_host};
use source::lex::{PieceKind, pieces};
use source::parse::SyntaxFile;

/// Files that are compiled for the device.
pub(crate) fn device_files(context: &Context) -> impl Iterator<Item = &SyntaxFile> {
    context.forest.iter().filter(|file| !is_host(file.name()))
}

/// Whether an object of a kernel class runs in one block with another, which may read what it writes.
pub(crate) fn objects_in_a_row(context: &Context, class: &str) -> bool {
    let of_class = |type_text: &str, wanted: &str| {
        let kind = type_text.split('<').next().unwrap_or_default();
        kind.rsplit("::").next().unwrap_or_default().trim() == wanted
    };
    let is_kernel = |type_text: &str| context.facts.kernels.keys().any(|name| of_class(type_text, name));
    for file in device_files(context) {
        let macros = pieces(file.text()).into_iter().filter(|token| token.kind == PieceKind::Directive);
        if macros.into_iter().any(|token| file.text()[token.span].matches("Process(").count() > 1) {
            return true;
        }
        for function in file.functions().iter().filter(|function| function.class.is_none()) {
            let inside = |local: &&source::parse::Local| function.body.contains(&local.span.start);
            let locals: Vec<_> = file.locals().iter().filter(inside).collect();
            if !locals.iter().any(|local| of_class(&local.type_text, class)) {
                continue;
            }
            let objects: BTreeSet<&str> =
                locals.iter().filter(|local| is_kernel(&local.type_text)).map(|local| local.name.as_str()).collect();
            let mut seen = BTreeSet::new();
            for call in file.calls_in(function.body.clone()).filter(|call| call.name != "Init") {
                let object = call.object.as_deref().map(base_name).filter(|object| objects.contains(object));
                let block = call.statement.as_ref().and_then(|statement| block_of(file, statement));
                if let (Some(object), Some(block)) = (object, block) {
                    seen.insert((block.start, object));
                }
            }
            let blocks: BTreeSet<usize> = seen.iter().map(|(block, _)| *block).collect();
            if blocks.len() < seen.len() {
                return true;
            }
        }
    }
    false
}
