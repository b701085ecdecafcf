//! Which release a toolkit is: several files say it, in several forms, and none of them is there always.

use std::path::Path;

use super::super::version::Version;

#[derive(Default)]
pub(super) struct Release {
    pub(super) version: Option<Version>,
    pub(super) inner: Option<String>,
}

pub(super) fn read(home: &Path, processor: &str) -> Release {
    let arch = home.join(format!("{processor}-linux"));
    let mut release = Release::default();
    let mut learn = |version: Option<String>, inner: Option<String>| {
        let version = version.map(|text| Version(text.trim().to_owned())).filter(|version| !version.0.is_empty());
        release.version = release.version.take().or(version);
        release.inner = release.inner.take().or(inner);
    };
    for file in ["ascend_toolkit_install.info", "ascend_cann_toolkit_install.info"] {
        for folder in [arch.as_path(), home] {
            if let Some(text) = text_of(&folder.join(file)) {
                learn(value(&text, "version"), None);
            }
        }
    }
    for file in
        ["compiler/version.info", "opp/version.info", "runtime/version.info", "toolkit/version.info", "version.info"]
    {
        let Some(text) = text_of(&home.join(file)) else { continue };
        // `version_dir` is the release; `Version` alone is the number of a build in older trees, the release in newer ones.
        match value(&text, "version_dir") {
            Some(named) => learn(Some(named), value(&text, "version")),
            None => learn(value(&text, "version"), None),
        }
    }
    for file in [home.join("version.cfg"), home.join("../latest/version.cfg")] {
        if let Some((inner, version)) = text_of(&file).as_deref().and_then(running) {
            learn(Some(version), Some(inner));
        }
    }
    for folder in [arch.as_path(), home] {
        if let Some(text) = text_of(&folder.join("include/version/cann_version.h")) {
            let defined = |line: &str| {
                let rest = line.trim().strip_prefix("#define")?.trim().strip_prefix("CANN_VERSION_STR")?.trim();
                Some(rest.trim_matches('"').to_owned())
            };
            learn(text.lines().find_map(defined), None);
        }
    }
    // A folder is mostly named after what is in it.
    let real = fs_err::canonicalize(home).ok();
    let name = real.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let name = name.map(|name| name.trim_start_matches("cann-").to_owned());
    learn(name.filter(|name| name.starts_with(|one: char| one.is_ascii_digit())), None);
    release
}

fn text_of(file: &Path) -> Option<String> {
    fs_err::read(file).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// `key=value`, the key in whatever case, the value perhaps quoted.
fn value(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'', '[', ']']);
        (name.trim().eq_ignore_ascii_case(key) && !value.is_empty()).then(|| value.to_owned())
    })
}

/// `<package>_running_version=[7.7.0.1.238:8.1.RC1]`: the build and the release, of the compiler or whatever is named first.
fn running(text: &str) -> Option<(String, String)> {
    let lines = || text.lines().filter(|line| line.contains("_running_version"));
    let line = lines().find(|line| line.contains("compiler")).or_else(|| lines().next())?;
    let inside = line.split_once('[')?.1.split_once(']')?.0;
    let (inner, version) = inside.split_once(':')?;
    Some((inner.trim().to_owned(), version.trim().to_owned()))
}
