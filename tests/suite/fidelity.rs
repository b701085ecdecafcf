//! Tables of published figures: programs are built and run once, and stand beside the figures.

use std::path::Path;

use crate::support::{Ended, cache, require_tools, root, tool};

const TABLE: &str = "\
case,kernel,program,arguments,minus,machine,metric,published,unit,compare,note
mask,,mask_reuse.asc,0,1,ascend910b2,task,720,cycles,,
short,add,vector_call.asc,0 2 100 0 0,,ascend910b2,vec,5000,cycles,,
long,add,vector_call.asc,0 64 100 0 0,,ascend910b2,vec,16000,cycles,short,
gone,,no_such.asc,,,ascend910b2,task,1,us,,
closed,,,,,,,,,,nobody may read it
";

fn run(directory: &Path, only: &str) -> Ended {
    let table = directory.join("cases.csv");
    fs_err::write(&table, TABLE).expect("a table");
    let output = tool()
        .args(["fidelity", "--message-format", "json", "--only", only, "--cases"])
        .arg(&table)
        .arg("--sources")
        .arg(root().join("benches/fidelity"))
        .arg("--markdown")
        .arg(directory.join("fidelity.md"))
        .env("ASCEND_TUNE_CACHE", cache())
        .output()
        .expect("the tool starts");
    Ended::new(&output)
}

#[test]
fn figures_stand_beside_the_published_ones() {
    require_tools!();
    let directory = tempfile::tempdir().expect("a directory");
    let ended = run(directory.path(), "").expect(5);
    let report = ended.named("fidelity")[0].clone();
    let rows = report["rows"].as_array().expect("rows");
    let modelled = |index: usize| rows[index]["modelled"].as_f64();
    // The guide's figure: four mask calls of one cycle in each of 180 rounds.
    assert!((modelled(0).expect("a figure") - 720.0).abs() < 20.0, "{report}");
    assert!(modelled(1) < modelled(2), "{report}");
    assert_eq!(report["orders"][0]["tau"], 1.0, "{report}");
    assert_eq!((modelled(3), report["left_out"][0]["case"].as_str()), (None, Some("closed")));
    assert!(rows[3]["note"].as_str().expect("a reason").contains("no_such.asc"), "{report}");
    assert_eq!(report["machines"][0]["version"].as_str().map(str::is_empty), Some(false));
    let text = fs_err::read_to_string(directory.path().join("fidelity.md")).expect("a page");
    assert!(text.contains("| mask | task | cycles | 720.0 |") && text.contains("nobody may read it"), "{text}");
}
