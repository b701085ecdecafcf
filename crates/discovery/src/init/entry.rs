//! Entry points: the kernel function, the tiling function, the program of a direct launch.

use source::SourceTree;
use source::arch::TARGET;
use source::tunable::lexer::{Kind, Tokens};

use project::snake_case;

/// Names of the programs that CMake builds, else of files with a `main`.
pub(super) fn program_names(tree: &SourceTree) -> Vec<String> {
    let mut names = Vec::new();
    if let Some(text) = tree.text("CMakeLists.txt") {
        for rest in text.split("add_executable").skip(1) {
            let inside = rest.trim_start().strip_prefix('(').unwrap_or_default();
            let name: String = inside
                .trim_start()
                .chars()
                .take_while(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.'))
                .collect();
            if !name.is_empty() {
                names.push(name);
            }
        }
    }
    if names.is_empty() {
        let with_main = tree.iter().filter(|(_, text)| text.contains("main(") && text.contains("<<<"));
        names.extend(with_main.map(|(file, _)| {
            let name = file.rsplit('/').next().unwrap_or(file);
            name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
        }));
    }
    names
}

/// Kernel entries: functions marked `__global__`, of which one named like the operator is preferred.
pub(super) fn kernel_entry(tree: &SourceTree, sources: &[String], operator: &str) -> Option<String> {
    let mut found: Vec<(bool, String)> = Vec::new();
    for file in sources {
        let Some(text) = tree.text(file).filter(|text| text.contains("__global__")) else { continue };
        let tokens = Tokens::of(text);
        let other_chip = TARGET.is_foreign(file);
        for position in (0..tokens.tokens.len()).filter(|position| tokens.get(*position) == "__global__") {
            let name = (position + 1..position + 24).find(|at| {
                tokens.get(at + 1) == "("
                    && tokens.kind(*at) == Some(Kind::Identifier)
                    && !tokens.get(*at).starts_with("__")
                    && tokens.get(*at) != "aicore"
            });
            if let Some(name) = name {
                found.push((other_chip, tokens.get(name).to_owned()));
            }
        }
    }
    let wanted = snake_case(operator);
    let exact = found.iter().find(|(_, name)| *name == wanted || name == operator);
    exact.or_else(|| found.iter().find(|(other_chip, _)| !other_chip)).or(found.first()).map(|(_, name)| name.clone())
}

/// The tiling function of an operator, from its registration.
pub(super) fn tiling_function(tree: &SourceTree, sources: &[String], operator: &str) -> Option<String> {
    let mut fallback = None;
    for text in sources.iter().filter_map(|file| tree.text(file)) {
        let tokens = Tokens::of(text);
        for position in 0..tokens.tokens.len() {
            let word = tokens.get(position);
            if !matches!(word, "Tiling" | "SetTiling")
                || tokens.get(position + 1) != "("
                || tokens.get(position.wrapping_sub(1)) != "."
            {
                continue;
            }
            let Some(close) = tokens.closing(position + 1) else { continue };
            // The last name of `optiling::TilingFunc`.
            let name = (position + 2..close).rev().map(|at| tokens.get(at)).next().unwrap_or_default().to_owned();
            let start = tokens.statement_start(position);
            if word == "SetTiling" || (start..position).any(|at| tokens.get(at) == operator) {
                return Some(name);
            }
            fallback.get_or_insert(name);
        }
    }
    fallback
}
