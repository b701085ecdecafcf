//! The CMake project that the tool writes around one operator of a repository.

use source::normal;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::error::BuildError;
use super::sdk::Sdk;
use project::OperatorProject;

/// Writes the wrapper project; returns its directory.
pub(super) fn wrapper_project(
    project: &OperatorProject,
    operator: &Path,
    sdk: &Sdk,
    work_directory: &Path,
) -> Result<PathBuf, BuildError> {
    let wrapper = work_directory.join("wrapper");
    fs_err::create_dir_all(&wrapper).map_err(BuildError::io(&wrapper))?;
    let includes: Vec<String> =
        project.repository_includes.iter().map(|path| format!("\"{}\"", path.display())).collect();
    let mut text = format!(
        "# Written by cargo ascend-tune: one operator taken out of its repository.\n\
         cmake_minimum_required(VERSION 3.16)\n\
         project(ascend_tune_operator LANGUAGES C CXX)\n\
         include(\"{sdk}/asc-config.cmake\")\n\
         include(\"{sdk}/in_tree_functions.cmake\")\n\
         set(ASCEND_TUNE_REPOSITORY_INCLUDES {includes})\n\
         _ascend_tune_repository_targets(\"${{CMAKE_BINARY_DIR}}\")\n\
         include(\"{sdk}/tolerant_targets.cmake\")\n",
        sdk = sdk.cmake().display(),
        includes = includes.join(" "),
    );
    for (name, path) in repository_variables(operator, &project.repository_root) {
        let _ = writeln!(text, "set({name} \"{}\")", path.display());
    }
    // Steps of the repository that the SDK does not know have no bearing on host and kernel code.
    for command in commands_below(operator) {
        let _ = writeln!(text, "if(NOT COMMAND {command})\n  function({command})\n  endfunction()\nendif()");
    }
    let operator = operator.display();
    let _ = write!(
        text,
        "set(CMAKE_SOURCE_DIR \"{}\")\n\
         set(PROJECT_SOURCE_DIR \"{}\")\n\
         if(EXISTS \"{operator}/CMakeLists.txt\")\n\
         \x20 add_subdirectory(\"{operator}\" operator)\n\
         endif()\n\
         _ascend_tune_operator(\"{operator}\")\n",
        project.repository_root.display(),
        project.repository_root.display(),
    );
    let path = wrapper.join("CMakeLists.txt");
    if std::fs::read_to_string(&path).ok().as_deref() != Some(text.as_str()) {
        std::fs::write(&path, text).map_err(BuildError::io(&path))?;
    }
    Ok(wrapper)
}

/// Commands that the CMake files of an operator call, apart from those that the language itself must see.
fn commands_below(operator: &Path) -> BTreeSet<String> {
    let mut result = BTreeSet::new();
    let files = walkdir::WalkDir::new(operator).max_depth(4).into_iter().filter_map(Result::ok);
    for file in files.filter(|entry| entry.file_name() == "CMakeLists.txt") {
        let Ok(bytes) = std::fs::read(file.path()) else { continue };
        for line in String::from_utf8_lossy(&bytes).lines() {
            let Some((name, _)) = line.split_once('(') else { continue };
            let name = name.trim();
            let is_word = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
            if is_word && name.contains('_') {
                result.insert(name.to_owned());
            }
        }
    }
    result
}

/// Variables that CMake files above the operator set to folders of the repository: an operator's directory counts on them.
fn repository_variables(operator: &Path, top: &Path) -> BTreeMap<String, PathBuf> {
    let mut result = BTreeMap::new();
    let above: Vec<&Path> = operator.ancestors().skip(1).take_while(|folder| folder.starts_with(top)).collect();
    // What is set further down wins.
    for folder in above.into_iter().rev() {
        let mut files = vec![folder.join("CMakeLists.txt")];
        if let Ok(entries) = std::fs::read_dir(folder.join("cmake")) {
            let mut scripts: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            scripts.retain(|path| path.extension().is_some_and(|extension| extension == "cmake"));
            scripts.sort();
            files.extend(scripts);
        }
        for file in files {
            let Ok(bytes) = std::fs::read(&file) else { continue };
            for line in String::from_utf8_lossy(&bytes).lines() {
                if let Some((name, path)) = folder_setting(line, folder, &result) {
                    result.insert(name, path);
                }
            }
        }
    }
    result
}

/// `set(NAME ${CMAKE_SOURCE_DIR}/some/folder)` with a folder that exists.
fn folder_setting(line: &str, folder: &Path, known: &BTreeMap<String, PathBuf>) -> Option<(String, PathBuf)> {
    let inside = line.trim().strip_prefix("set(").or_else(|| line.trim().strip_prefix("SET("))?;
    let inside = inside.split(')').next()?;
    let mut words = inside.split_whitespace();
    let (name, value) = (words.next()?, words.next()?.trim_matches('"'));
    if name.starts_with("CMAKE_") || name.contains('$') {
        return None;
    }
    let (variable, rest) = value.strip_prefix("${")?.split_once('}')?;
    let base = match variable {
        "CMAKE_SOURCE_DIR" | "CMAKE_CURRENT_SOURCE_DIR" | "PROJECT_SOURCE_DIR" | "CMAKE_CURRENT_LIST_DIR" => folder,
        other => known.get(other)?,
    };
    let path = normal(&base.join(rest.trim_start_matches('/')));
    (!rest.contains('$') && path.is_dir()).then(|| (name.to_owned(), path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_a_repository_names_are_known_to_its_operators() {
        let temporary = tempfile::tempdir().unwrap();
        let base = temporary.path();
        let operator = base.join("src/math/add");
        std::fs::create_dir_all(&operator).unwrap();
        std::fs::create_dir_all(base.join("src/common/inc")).unwrap();
        std::fs::create_dir_all(base.join("cmake")).unwrap();
        std::fs::write(base.join("CMakeLists.txt"), "project(x)\nset(OP_DIR ${CMAKE_SOURCE_DIR}/src)\nset(N 3)\n")
            .unwrap();
        std::fs::write(base.join("cmake/variables.cmake"), "set(OP_COMMON \"${OP_DIR}/common\" CACHE PATH \"\")\n")
            .unwrap();
        std::fs::write(operator.join("CMakeLists.txt"), "if(A)\n  add_far_things(x)\nendif()\n# no_call (\n").unwrap();
        assert_eq!(commands_below(&operator).into_iter().collect::<Vec<_>>(), ["add_far_things"]);
        let found = repository_variables(&operator, base);
        let expected = [("OP_COMMON", base.join("src/common")), ("OP_DIR", base.join("src"))];
        assert_eq!(found, expected.into_iter().map(|(name, path)| (name.to_owned(), path)).collect());
    }
}
