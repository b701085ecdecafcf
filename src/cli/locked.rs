//! What `check`, `build` and `lock` ask of a lock: what drifted, which outputs differ, which hazards are new.

use std::collections::BTreeMap;
use std::path::Path;

use super::entries::as_built;
use aicore::{Machine, Origin};
use events::KnownHazard;
use lock::{
    Current, Drift, Lock, LockedDeparture, LockedDevice, LockedFinding, LockedMachine, LockedMeasurement, MeasuredCase,
    Picoseconds, drift, manifest_digest,
};
use source::SourceTree;
use space::{Binding, Tunable};
use tuner::{Candidate, CaseTime, KnownFindings, References, Workspace};

/// A machine as the lock names it.
pub fn locked_machine(machine: &Machine) -> LockedMachine {
    LockedMachine { name: machine.name.clone(), version: machine.version.clone(), digest: machine.digest() }
}

/// What was measured on, as the lock names it; nothing where times are modelled.
pub fn locked_device(workspace: &Workspace) -> Option<LockedDevice> {
    let attached = workspace.attached.as_ref()?;
    let parameters = &workspace.machine.parameters;
    Some(LockedDevice {
        soc: attached.soc.clone(),
        cube_cores: parameters.aic_cores as u32,
        vector_cores: parameters.aiv_cores as u32,
        toolkit: attached.toolkit.clone(),
    })
}

/// How a time was measured, as the lock keeps it.
pub fn locked_measurement(time: &CaseTime) -> Option<LockedMeasurement> {
    let measured = time.measured?;
    Some(LockedMeasurement {
        spread_permille: (measured.spread * 1000.0).round() as u64,
        launches: measured.count.into(),
    })
}

/// Why times of a lock cannot be compared with those of this workspace; `None` where they can.
pub fn not_comparable(workspace: &Workspace, locked: &Lock) -> Option<String> {
    let now = locked_device(workspace);
    match (&locked.device, &now) {
        _ if locked.origin != workspace.origin() => Some(format!(
            "ascend.lock holds {} latencies, and this command has {} ones: they are not compared; {}",
            locked.origin.word(),
            workspace.origin().word(),
            match locked.origin {
                Origin::Measured => "check with --backend cann on a machine with such a device",
                Origin::Modelled => "check with --backend sim, or run with --backend cann to lock measured ones",
            }
        )),
        (Some(then), Some(now)) if then.soc != now.soc => Some(format!(
            "ascend.lock was measured on {}, and this is {}: latencies of different chips are not compared",
            then.soc, now.soc
        )),
        (Some(then), Some(now)) if (then.cube_cores, then.vector_cores) != (now.cube_cores, now.vector_cores) => {
            Some(format!(
                "ascend.lock was measured on {} with {} cube and {} vector cores, and this one has {} and {}: their latencies are not compared",
                then.soc, then.cube_cores, then.vector_cores, now.cube_cores, now.vector_cores
            ))
        }
        (Some(then), Some(_)) if locked.machine != locked_machine(&workspace.machine) => Some(format!(
            "ascend.lock was measured on {} with another description of it than version {} that is here: the tiling function may decide \
             otherwise, and latencies are not compared; run again to lock them",
            then.soc, workspace.machine.version
        )),
        (Some(then), Some(now)) if then.toolkit != now.toolkit => Some(format!(
            "ascend.lock was measured with toolkit {}, and this is {}: another compiler makes other kernels; run again to lock \
             their latencies, or name the toolkit with --toolkit",
            then.toolkit, now.toolkit
        )),
        _ => None,
    }
}

/// CMake cache entries that are tunables.
pub fn cmake_entries(tunables: &[Tunable]) -> BTreeMap<String, String> {
    let entry = |tunable: &Tunable| match &tunable.binding {
        Binding::Cmake { variable } => Some((variable.clone(), tunable.name.clone())),
        _ => None,
    };
    tunables.iter().filter_map(entry).collect()
}

/// Digests of the bytes of manifest, sources and what these include. Sources may be those that are about to be written.
pub fn locked_files(root: &Path, sources: &SourceTree, included: &SourceTree) -> BTreeMap<String, String> {
    let beside = included.iter().map(|(file, _)| file);
    let mut files = lock::file_digests(root, beside.chain([manifest::FILE_NAME]));
    files.extend(sources.iter().map(|(file, text)| (file.to_owned(), lock::bytes_digest(text.as_bytes()))));
    files
}

/// Digest of the manifest as the lock has it.
pub fn locked_manifest(workspace: &Workspace) -> String {
    manifest_digest(&workspace.manifest_text)
}

/// Differences between the project and an entry of its lock.
pub fn drift_of(workspace: &Workspace, (whole, entry): (&Lock, &Lock), candidate: &Candidate) -> Vec<Drift> {
    drift_with(workspace, (whole, entry), candidate, None)
}

/// The same, and whether another version of the tool wrote the lock.
pub fn drift_with_tool(workspace: &Workspace, (whole, entry): (&Lock, &Lock), candidate: &Candidate) -> Vec<Drift> {
    drift_with(workspace, (whole, entry), candidate, Some(env!("CARGO_PKG_VERSION")))
}

fn drift_with(
    workspace: &Workspace,
    (whole, entry): (&Lock, &Lock),
    candidate: &Candidate,
    tool: Option<&str>,
) -> Vec<Drift> {
    // Where the sources hold the values of another chip, what was locked is these sources with the entry's own.
    let is_beside = entry.key() != whole.key();
    let built = is_beside.then(|| as_built(&workspace.sources, workspace.tunables(), &entry.configuration));
    drift(
        entry,
        &Current {
            operator: &workspace.manifest.operator,
            sources: built.as_ref().map_or(&workspace.sources, |built| &built.sources),
            included: &workspace.included_beside(),
            manifest: &workspace.manifest_text,
            machine: &locked_machine(&workspace.machine),
            tool,
            configuration: Some(built.as_ref().map_or(&candidate.configuration, |built| &built.configuration)),
        },
    )
}

/// Times as the lock has them.
pub fn measured(times: &[CaseTime]) -> Vec<MeasuredCase> {
    let one = |time: &CaseTime| {
        let (name, measured) = (time.name.clone(), locked_measurement(time));
        Some(MeasuredCase { name, time: Picoseconds::from_us(time.task_us)?, measured })
    };
    times.iter().filter_map(one).collect()
}

/// Known hazards as the lock has them.
pub fn locked_findings(known: &KnownFindings) -> Vec<LockedFinding> {
    let locked = |known: KnownHazard| LockedFinding {
        kind: known.kind,
        file: known.file,
        statement: known.statement,
        output: known.output,
        cases: known.cases,
        reason: known.allowed,
    };
    known.by_place().into_iter().map(locked).collect()
}

/// Outputs that are not as defined, as the lock has them.
pub fn locked_departures(known: &KnownFindings) -> Vec<LockedDeparture> {
    let mut locked: Vec<LockedDeparture> = Vec::new();
    for found in &known.departures {
        match locked.iter_mut().find(|one| one.output == found.output && one.definition == found.definition) {
            Some(one) if one.cases.contains(&found.case) => {}
            Some(one) => one.cases.push(found.case.clone()),
            None => locked.push(LockedDeparture {
                output: found.output.clone(),
                definition: found.definition.clone(),
                cases: vec![found.case.clone()],
            }),
        }
    }
    locked
}

/// Hazards that the lock does not know. Lines move, so a place is told by its statement.
pub fn new_findings(locked: &Lock, known: &KnownFindings) -> Vec<KnownHazard> {
    let is_locked = |found: &KnownHazard| {
        locked.known.iter().any(|locked| {
            let output = locked.output.is_some() && locked.output == found.output;
            let place = locked.file == found.file && locked.statement == found.statement;
            locked.kind == found.kind && (output || place) && found.cases.iter().all(|case| locked.cases.contains(case))
        })
    };
    known.by_place().into_iter().filter(|found| !is_locked(found)).collect()
}

/// Outputs that are not the ones that were locked, one sentence each. Other data or another machine give others by right, so then
/// nothing is compared.
pub fn changed_outputs(workspace: &Workspace, locked: &Lock, drifted: &[Drift], outputs: &References) -> Vec<String> {
    let comparable = |drift: &Drift| matches!(drift, Drift::Source { .. } | Drift::Tunable { .. } | Drift::Tool { .. });
    if !drifted.iter().all(comparable) {
        return Vec::new();
    }
    let (now, by_output) = (workspace.verification_digests(outputs), workspace.output_digests(outputs));
    let mut sentences = Vec::new();
    for case in &locked.cases {
        let Some(digest) = now.get(&case.name).filter(|now| **now != case.verification) else { continue };
        let differing: Vec<&str> = by_output
            .get(&case.name)
            .into_iter()
            .flatten()
            .filter(|(name, digest)| case.outputs.get(*name).is_some_and(|locked| locked != *digest))
            .map(|(name, _)| name.as_str())
            .collect();
        let kept = workspace.differences(&case.name, &case.verification, outputs).unwrap_or_default();
        let said = sentences.len();
        for (name, difference) in kept {
            if let Some(difference) = difference {
                sentences.push(format!("case {}: output {name}: {difference}", case.name));
            }
        }
        if sentences.len() > said {
            continue;
        }
        let which = match differing.as_slice() {
            [] => "the outputs are".to_owned(),
            [one] => format!("output {one} is"),
            several => format!("outputs {} are", several.join(", ")),
        };
        let (locked, digest) = (short(&case.verification), short(digest));
        sentences.push(format!("case {}: {which} not what was locked (digest {digest}, locked {locked})", case.name));
    }
    sentences
}

fn short(digest: &str) -> &str {
    digest.get(..8).unwrap_or(digest)
}
