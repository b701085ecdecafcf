//! Variables of ours that foreign code is given: what compilers, loaders and interpreters need, and none of a CI's secrets.

/// Names that are kept.
const NAMES: [&str; 26] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "SOURCE_DATE_EPOCH",
    "VIRTUAL_ENV",
    "PKG_CONFIG_PATH",
    "MAKEFLAGS",
    "NINJA_STATUS",
    "SSL_CERT_FILE",
    "XDG_CACHE_HOME",
];

/// Beginnings of names that are kept.
const BEGINNINGS: [&str; 8] = ["LC_", "CMAKE_", "ASCEND_", "CCACHE_", "PYTHON", "PYENV_", "CONDA_", "CARGO_BIN_"];

/// Words in names that are never kept, whatever they begin with.
const SECRETS: [&str; 5] = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

/// Our environment without what nobody needs who builds or runs an operator.
pub fn kept_environment() -> impl Iterator<Item = (std::ffi::OsString, std::ffi::OsString)> {
    std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_kept))
}

fn is_kept(name: &str) -> bool {
    let known = NAMES.contains(&name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
    known && !SECRETS.iter().any(|secret| name.contains(secret))
}

#[cfg(test)]
mod tests {
    use super::is_kept;

    #[test]
    fn secrets_stay_here() {
        for kept in ["PATH", "LC_ALL", "ASCEND_HOME_PATH", "CMAKE_PREFIX_PATH", "PYTHONPATH"] {
            assert!(is_kept(kept), "{kept}");
        }
        for dropped in
            ["GITHUB_TOKEN", "AWS_ACCESS_KEY_ID", "SSH_AUTH_SOCK", "PYTHON_REGISTRY_PASSWORD", "ASCEND_TOKEN"]
        {
            assert!(!is_kept(dropped), "{dropped}");
        }
    }
}
