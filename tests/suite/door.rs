//! The second door: kernels against the headers of a toolkit. The headers here are a few of our own in the same shape.

use crate::support::{Project, require_tools, root};

fn toolkit() -> String {
    root().join("tests/suite/data/toolkit").display().to_string()
}

fn project() -> Project {
    let project = Project::fixture("add_custom");
    let kernel = fs_err::read_to_string(root().join("tests/suite/data/toolkit/add_custom.cpp")).expect("the kernel");
    project.write("op_kernel/add_custom.cpp", &kernel);
    project
}

/// An array of 8 x 2048 halves of one value, as NumPy writes it.
fn npy(half: u16) -> Vec<u8> {
    let mut header = "{'descr': '<f2', 'fortran_order': False, 'shape': (8, 2048), }".to_owned();
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).expect("a short header").to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(std::iter::repeat_n(half.to_le_bytes(), 8 * 2048).flatten());
    bytes
}

#[test]
fn a_kernel_builds_and_runs_on_a_toolkits_headers() {
    require_tools!();
    let project = project();
    let manifest =
        project.read("ascend.toml").replace("reference = \"baseline\"", "reference = \"npy\"\ngolden = \"golden\"");
    project.write("ascend.toml", &manifest);
    fs_err::create_dir_all(project.path().join("golden/8x2048")).expect("a directory");
    for (name, half) in [("x", 0x3C00), ("y", 0x4000), ("z", 0x4200)] {
        fs_err::write(project.path().join(format!("golden/8x2048/{name}.npy")), npy(half)).expect("a file");
    }
    let ended = project.run(&["profile", "--sdk-headers", &toolkit()]).expect(0);
    let profile = ended.named("profile")[0];
    assert_eq!(profile["correct"], true, "{profile}");
    assert_eq!(profile["hazards"], serde_json::json!([]), "{profile}");
    // The API is inlined, so that the kernel's own line waits.
    assert!(profile.to_string().contains("op_kernel/add_custom.cpp"), "{profile}");
}

#[test]
fn the_manifest_chooses_the_headers_and_the_command_line_overrules_it() {
    require_tools!();
    let project = project();
    let own = project.run(&["profile"]).expect(4);
    assert!(format!("{:?}", own.events).contains("Tile"), "{own:?}");
    let manifest = project.read("ascend.toml");
    project.write("ascend.toml", &format!("{manifest}\n[sdk]\nheaders = \"toolkit\"\ntoolkit = {:?}\n", toolkit()));
    project.run(&["profile"]).expect(0);
    project.run(&["profile", "--sdk-headers", "own"]).expect(4);
    let nothing = project.path().join("op_host").display().to_string();
    let ended = project.run(&["profile", "--sdk-headers", &nothing]).expect(3);
    assert!(format!("{:?}", ended.events).contains("kernel_operator.h was not found"), "{ended:?}");
}
