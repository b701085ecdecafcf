use std::path::{Path, PathBuf};

use super::super::environment::Environment;
use super::{FoundBy, Toolkit, ToolkitError};

/// A folder with parts of a toolkit.
fn install(home: &Path, files: &[(&str, &str)]) {
    for folder in ["opp", "compiler", "x86_64-linux", "lib64", "bin"] {
        fs_err::create_dir_all(home.join(folder)).unwrap();
    }
    for (file, text) in files {
        let path = home.join(file);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }
}

fn machine(root: &Path, uid: u32) -> Environment {
    Environment { home: Some(root.join("home/u")), uid, system: root.join("system"), ..Environment::default() }
}

fn set(environment: &mut Environment, name: &str, value: &Path) {
    environment.variables.insert(name.to_owned(), value.display().to_string());
}

#[test]
fn places_are_looked_at_in_their_order() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| {
        let home = root.path().join(name);
        install(&home, &[]);
        home
    };
    let (named, package, home, toolkit, above) = (at("a"), at("b"), at("c"), at("d"), at("e"));
    let usual = at("system/cann");
    let mut environment = machine(root.path(), 0);
    let find = |environment: &Environment, explicit: Option<&Path>| Toolkit::find(explicit, environment).unwrap();
    assert_eq!(find(&environment, None).home, usual);
    assert_eq!(find(&environment, None).found_by, FoundBy::Default);
    let older = at("system/ascend-toolkit/latest");
    assert_eq!(find(&environment, None).home, older);
    for (name, value, expected) in [
        ("ASCEND_OPP_PATH", above.join("opp"), &above),
        ("ASCEND_TOOLKIT_HOME", toolkit.clone(), &toolkit),
        ("ASCEND_HOME_PATH", home.clone(), &home),
        ("ASCEND_CANN_PACKAGE_PATH", package.clone(), &package),
    ] {
        set(&mut environment, name, &value);
        let found = find(&environment, None);
        assert_eq!((&found.home, found.found_by), (expected, FoundBy::Variable(name)));
    }
    assert_eq!(find(&environment, Some(&named)).found_by, FoundBy::Named);
    // A variable that leads nowhere is passed over.
    set(&mut environment, "ASCEND_CANN_PACKAGE_PATH", &root.path().join("gone"));
    assert_eq!(find(&environment, None).home, home);
}

#[test]
fn root_and_users_do_not_take_each_others() {
    let root = tempfile::tempdir().unwrap();
    let system = root.path().join("system/ascend-toolkit/latest");
    install(&system, &[]);
    let error = Toolkit::find(None, &machine(root.path(), 1000)).unwrap_err();
    let ToolkitError::NotFound { looked, elsewhere } = &error else { panic!("{error}") };
    assert_eq!(elsewhere.as_deref(), Some(system.as_path()));
    assert_eq!(looked.len(), 7, "{error}");
    let text = error.to_string();
    for word in ["ASCEND_HOME_PATH: not set", "home/u/Ascend/cann", "set_env.sh", "not taken silently"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert_eq!(Toolkit::find(None, &machine(root.path(), 0)).unwrap().home, system);
    let own = root.path().join("home/u/Ascend/latest");
    install(&own, &[]);
    assert_eq!(Toolkit::find(None, &machine(root.path(), 1000)).unwrap().home, own);
}

#[test]
fn the_newest_of_several_versions_is_taken() {
    let root = tempfile::tempdir().unwrap();
    for version in ["8.1.RC1", "8.3.RC2", "8.3.RC1"] {
        install(&root.path().join("system/ascend-toolkit").join(version), &[]);
    }
    let found = Toolkit::find(None, &machine(root.path(), 0)).unwrap();
    assert_eq!(found.version.unwrap().0, "8.3.RC2");
    for version in ["8.5.0", "9.0.0-beta.2", "9.0.0-beta.10"] {
        install(&root.path().join("system").join(format!("cann-{version}")), &[]);
    }
    let found = Toolkit::find(None, &machine(root.path(), 0)).unwrap();
    assert_eq!(found.version.unwrap().0, "9.0.0-beta.10");
}

#[test]
fn what_is_named_and_is_none_is_told() {
    let root = tempfile::tempdir().unwrap();
    let environment = machine(root.path(), 0);
    let gone = Toolkit::find(Some(&root.path().join("gone")), &environment).unwrap_err().to_string();
    assert!(gone.contains("gone is no toolkit: not there"), "{gone}");
    let empty = Toolkit::find(Some(root.path()), &environment).unwrap_err().to_string();
    assert!(empty.contains("opp/ and compiler/"), "{empty}");
    // The folder that installers ask for holds the root.
    install(&root.path().join("Ascend/ascend-toolkit/latest"), &[]);
    let found = Toolkit::find(Some(&root.path().join("Ascend")), &environment).unwrap();
    assert!(found.home.ends_with("ascend-toolkit/latest"));
}

#[test]
fn versions_are_read_from_whatever_says_them() {
    type Case<'text> = (&'text [(&'text str, &'text str)], Option<&'text str>, Option<&'text str>);
    let cases: [Case<'_>; 7] = [
        (
            &[(
                "x86_64-linux/ascend_toolkit_install.info",
                "package_name=Ascend-cann-toolkit\nversion=8.1.RC1\ninnerversion=V100R001\n",
            )],
            Some("8.1.RC1"),
            None,
        ),
        (
            &[("compiler/version.info", "Version=7.7.0.1.238\nversion_dir=8.1.RC1\ntimestamp=1\n")],
            Some("8.1.RC1"),
            Some("7.7.0.1.238"),
        ),
        (&[("opp/version.info", "version=\"9.0.0-beta.2\"\n")], Some("9.0.0-beta.2"), None),
        (
            &[(
                "../latest/version.cfg",
                "# a\nopp_running_version=[7.7:8.2.RC1]\ncompiler_running_version=[7.8.1:8.3.RC2]\n",
            )],
            Some("8.3.RC2"),
            Some("7.8.1"),
        ),
        (
            &[(
                "x86_64-linux/include/version/cann_version.h",
                "#define CANN_VERSION 90100000\n#define CANN_VERSION_STR \"9.1.0-beta.3\"\n",
            )],
            Some("9.1.0-beta.3"),
            None,
        ),
        (&[("compiler/version.info", "Version=nightly of some day\n")], Some("nightly of some day"), None),
        (&[], None, None),
    ];
    for (files, version, inner) in cases {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().join("latest");
        install(&home, files);
        let found = Toolkit::find(Some(&home), &machine(root.path(), 0)).unwrap();
        assert_eq!(found.version.as_ref().map(|version| version.0.as_str()), version, "{files:?}");
        assert_eq!(found.inner_version.as_deref(), inner, "{files:?}");
    }
}

#[test]
fn children_are_given_the_toolkits_own() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    let home = root.path().join("t");
    install(
        &home,
        &[
            ("compiler/ccec_compiler/bin/bisheng", ""),
            ("python/site-packages/acl.py", ""),
            ("x86_64-linux/data/platform_config/a.ini", ""),
            ("x86_64-linux/lib64/cmake/asc-config.cmake", ""),
            ("include/acl/acl.h", ""),
        ],
    );
    let mut environment = machine(root.path(), 0);
    environment.variables.insert("PATH".to_owned(), "/usr/bin".to_owned());
    environment.variables.insert("LD_LIBRARY_PATH".to_owned(), "/usr/local/Ascend/driver/lib64".to_owned());
    let toolkit = Toolkit::find(Some(&home), &environment).unwrap();
    let given = toolkit.environment();
    let text = |path: &str| home.join(path).display().to_string();
    assert_eq!(given["ASCEND_HOME_PATH"], text("").trim_end_matches('/'));
    assert_eq!(given["ASCEND_OPP_PATH"], text("opp"));
    assert_eq!(given["TOOLCHAIN_HOME"], text("toolkit"));
    assert_eq!(given["PATH"], format!("{}:{}:/usr/bin", text("bin"), text("compiler/ccec_compiler/bin")));
    assert_eq!(given["LD_LIBRARY_PATH"], format!("{}:/usr/local/Ascend/driver/lib64", text("lib64")));
    assert_eq!(given["PYTHONPATH"], text("python/site-packages"));

    let bisheng = home.join("compiler/ccec_compiler/bin/bisheng");
    assert_eq!(toolkit.program("bisheng"), None, "it cannot be executed");
    fs_err::set_permissions(&bisheng, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(toolkit.program("bisheng"), Some(bisheng));
    assert_eq!(toolkit.program("sh"), Some(PathBuf::from("/usr/bin/sh")), "and PATH is looked at last");
    assert_eq!(toolkit.program("msprof"), None);
    assert_eq!(toolkit.platform_folder(), Some(home.join("x86_64-linux/data/platform_config")));
    assert_eq!(toolkit.cmake_folder(), Some(home.join("x86_64-linux/lib64/cmake")));
    assert_eq!(toolkit.include_folders(), [home.join("include")]);
    assert_eq!(toolkit.arch(), home.join("x86_64-linux"));
}
