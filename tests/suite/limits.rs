//! Limits that the tiling function never meets.

use std::collections::BTreeSet;

use tuner::Injection;

use crate::faults::{open, runtime};
use crate::support::{Project, require_tools};

/// A limit on the cores that share the rows of a case, beside the one of the fixture: on those that the platform has.
const SHARING: &str = r#"
[tunable.sharing_limit]
file = "op_host/softmax_rows_tiling.cpp"
cap = "coreLimit"
domain = { range = [2, 4, 2] }

[space]"#;

#[test]
fn a_limit_that_changes_no_decision_is_told_from_one_that_does() {
    require_tools!();
    let project = Project::fixture("softmax_rows");
    // Four rows are shared among four cores at most: so many there are in any case, but for who shares them among two.
    let manifest = project.read("ascend.toml").replace("[1024, 1024]", "[4, 64]").replacen("\n[space]", SHARING, 1);
    project.write("ascend.toml", &manifest);
    let workspace = open(&project);
    let baseline = workspace.baseline().expect("the operator as it is");
    let found = Injection::find_out(&workspace.evaluator, &baseline, workspace.tunables(), 1);
    let found = runtime().block_on(found).expect("what can be injected");
    assert!(found.names().contains(&"sharing_limit"), "{found:?}");
    assert_eq!(found.loose, BTreeSet::from(["available_limit".to_owned()]), "{found:?}");
    assert!(found.is_idle("available_limit") && !found.is_idle("sharing_limit"));
}
