//! `check --drift`: digests of the lock against digests of what is there. Nothing is compiled, no kernel runs.

use std::path::Path;

use crate::cli::Exit;
use crate::cli::entries::{as_built, entry_named};
use crate::cli::locked::locked_machine;
use aicore::Origin;
use events::{CheckFinding, CheckedOperator, LockVerified, Verdict};
use lock::{self, Current, Drift, EntryName, LOCK_FILE, Lock, drift};
use source::SourceTree;
use tuner::{Candidate, Declared, TunerError};

/// What the digests say of an operator, or of an entry of its lock.
#[derive(Debug)]
pub(in crate::cli) struct Compared {
    /// The entry, where the lock has several.
    soc: String,
    operator: String,
    /// What was compared, in words.
    compared: String,
    differences: Vec<Drift>,
    /// Whether the lock names the headers that the sources include.
    knows_headers: bool,
}

/// What a command line names; nothing for all that the lock has.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cli) struct Named<'a> {
    /// An entry of the lock.
    pub soc: Option<&'a EntryName>,
    /// A machine description.
    pub machine: Option<&'a str>,
}

/// Compares an operator with its lock: with each entry, or with the one that is named.
pub(in crate::cli) fn compare(directory: &Path, named: &Named<'_>) -> Result<Vec<Compared>, TunerError> {
    let declared = Declared::read(directory, None, None)?;
    let path = declared.project.root.join(LOCK_FILE);
    let whole = lock::read(&path)?;
    if named.soc.is_some() || named.machine.is_some() {
        let entry = entry_named(&whole, named.soc, named.machine, None, &path)?;
        return Ok(vec![compare_entry(&declared, &whole, &entry, named.machine)?]);
    }
    whole.entries().iter().map(|entry| compare_entry(&declared, &whole, entry, None)).collect()
}

fn compare_entry(
    declared: &Declared,
    whole: &Lock,
    locked: &Lock,
    machine: Option<&str>,
) -> Result<Compared, TunerError> {
    let is_beside = locked.key() != whole.key();
    // A measured lock is of the device's chip, which nobody asks here; an entry beside another one is of its own.
    let of_entry = (is_beside || locked.origin == Origin::Measured).then(|| locked.machine.name.to_ascii_lowercase());
    let machine = declared.machine(machine.or(of_entry.as_deref()))?;
    let tunables = &declared.manifest.tunables;
    let built = match is_beside {
        true => as_built(&declared.sources, tunables, &locked.configuration),
        false => Candidate::baseline(declared.sources.clone(), tunables),
    };
    let differences = drift(
        locked,
        &Current {
            operator: &declared.manifest.operator,
            sources: &built.sources,
            included: &included(declared, locked),
            manifest: &declared.manifest_text,
            machine: &locked_machine(&machine),
            tool: Some(env!("CARGO_PKG_VERSION")),
            configuration: Some(&built.configuration),
        },
    );
    let headers = locked.included.as_ref().map_or(0, |included| included.len());
    let compared = format!(
        "digests of sources ({}), included headers ({headers}) and ascend.toml, the machine description ({} version {}), the version of the tool \
         and tunables ({})",
        locked.sources.len(),
        machine.name,
        machine.version,
        locked.configuration.len()
    );
    let knows_headers = locked.included.is_some();
    let soc = if whole.others.is_empty() { String::new() } else { locked.key().to_string() };
    Ok(Compared { soc, operator: declared.manifest.operator.clone(), compared, differences, knows_headers })
}

/// The headers that the lock names, as they are now. While no text that includes something has changed, there are no others, unless a
/// file came to be that is found first, or CMake files name other folders.
fn included(declared: &Declared, locked: &Lock) -> SourceTree {
    let mut tree = SourceTree::new();
    for name in locked.included.iter().flatten().map(|(name, _)| name) {
        if let Ok(bytes) = std::fs::read(declared.project.root.join(name)) {
            tree.insert(name.clone(), String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    tree
}

impl Compared {
    fn verdict(&self) -> Verdict {
        let is_of_tool = |drift: &Drift| matches!(drift, Drift::Tool { .. });
        if self.differences.iter().any(|drift| !is_of_tool(drift)) {
            Verdict::Drifted
        } else if !self.differences.is_empty() || !self.knows_headers {
            Verdict::CannotTell
        } else {
            Verdict::Same
        }
    }

    /// As `lock verify` has it.
    pub(in crate::cli) fn verified(self, path: &Path) -> LockVerified {
        let (verdict, findings) = (self.verdict(), self.findings());
        let proves = match verdict {
            Verdict::Same => format!("{} are those that were locked", self.compared),
            _ => format!("compared were {}", self.compared),
        };
        LockVerified {
            lock: path.display().to_string(),
            operator: if self.soc.is_empty() { self.operator } else { format!("{} ({})", self.operator, self.soc) },
            verdict,
            findings,
            proves,
            leaves_open: "outputs, times, hazards, CMake files, compilers and data; and who edits a source can edit its digest: `cargo \
                          ascend-tune check` builds and runs"
                .to_owned(),
        }
    }

    fn findings(&self) -> Vec<CheckFinding> {
        let mut findings: Vec<CheckFinding> = self.differences.iter().map(finding).collect();
        if !self.knows_headers {
            findings.push(CheckFinding {
                verdict: Verdict::CannotTell,
                case: None,
                file: LOCK_FILE.to_owned(),
                line: 0,
                message: "the lock does not say which headers the sources include: an earlier version wrote it; \
                          `cargo ascend-tune lock --accept` takes them up"
                    .to_owned(),
            });
        }
        findings
    }

    /// As the summary has it.
    pub(super) fn checked(self, project: &str, wall_s: f64) -> CheckedOperator {
        let (verdict, findings) = (self.verdict(), self.findings());
        let exit = if verdict.passes() { Exit::Fine } else { Exit::CheckFailed };
        CheckedOperator {
            project: project.to_owned(),
            soc: self.soc,
            operator: self.operator,
            verdict,
            findings,
            check: None,
            exit: exit.code(),
            wall_s,
        }
    }
}

/// A difference as a finding. Another version of the tool is no change of the project, and no digest tells what it makes of it.
pub(super) fn finding(drift: &Drift) -> CheckFinding {
    let (verdict, message) = match drift {
        Drift::Tool { .. } => (
            Verdict::CannotTell,
            format!(
                "{drift}: whether outputs and times are the same is found out by `check`, and locked by `lock --accept`"
            ),
        ),
        other => (Verdict::Drifted, other.to_string()),
    };
    CheckFinding { verdict, case: None, file: drift.file().to_owned(), line: 0, message }
}
