//! Cases that `init` is about to write, tried as every command after it begins: all seeds, hostile values, the limits of the manifest.

use std::collections::BTreeMap;
use std::time::Duration;

use super::baseline::try_baseline_by_case;
use super::workspace::{Workspace, WorkspaceOptions};

/// Time on the clock after which the cases are written as they are.
const PATIENCE: Duration = Duration::from_secs(120);

/// Cases of the manifest that a workspace would be opened with at which the operator as it stands does not count, with the reason; or why
/// nobody knows.
pub(super) async fn refused_cases(opening: WorkspaceOptions) -> Result<BTreeMap<String, String>, String> {
    let workspace = Workspace::open(opening, &mut |_| {}).map_err(|error| error.to_string())?;
    let baseline = workspace.baseline().map_err(|error| error.to_string())?;
    let tried = tokio::time::timeout(PATIENCE, try_baseline_by_case(&workspace, &baseline)).await;
    let tried = tried.map_err(|_| format!("they take more than {PATIENCE:?} together"))?;
    let rejected = tried.map_err(|error| error.to_string())?.rejected;
    Ok(rejected.into_iter().map(|(case, rejection)| (case, rejection.to_string())).collect())
}
