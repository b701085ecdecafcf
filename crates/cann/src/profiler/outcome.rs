//! A run of `msprof op`: whether it counts, and what it says of each launch.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::error::ProfilerError;
use super::folder::newest;
use super::metrics::{BasicInfo, CoreCounters, CorePipes, CoreUnit};
use super::table::Table;

/// What the profiler says when everything ran.
pub const SUCCESS_LINE: &str = "Profiling running finished. All task success.";

/// Characters of output that an error quotes.
const QUOTED: usize = 2000;

/// Files beside the basic one and the pipes'.
const OTHERS: [&str; 6] =
    ["ArithmeticUtilization", "L2Cache", "Memory", "MemoryL0", "MemoryUB", "ResourceConflictRatio"];

/// One launch of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelLaunch {
    /// The basic file.
    pub basic: BasicInfo,
    /// Cores, where the file is there.
    pub cores: Vec<CorePipes>,
    /// Other files by name.
    pub counters: BTreeMap<String, Vec<CoreCounters>>,
}

impl KernelLaunch {
    /// The longest time of a core in microseconds: the kernel alone, from passes of its own.
    pub fn longest_core_us(&self) -> Option<f64> {
        self.cores.iter().map(|core| core.time_us).max_by(f64::total_cmp)
    }

    /// Mean busy time of a pipe over the cores of a kind.
    pub fn pipe_us(&self, unit: CoreUnit, pipe: &str) -> Option<f64> {
        let of_unit = self.cores.iter().filter(|core| core.unit == unit);
        let times: Vec<f64> = of_unit.filter_map(|core| Some(core.pipes.get(pipe)?.us)).collect();
        (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
    }
}

/// All launches of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct OpProfile {
    /// In the order of their folders.
    pub launches: Vec<KernelLaunch>,
}

impl OpProfile {
    /// Reads what a run left. It counts if it ended well, says so, and left its files: each of the three happens without the others.
    ///
    /// # Errors
    /// Where it does not count, or its files are not as they are known.
    pub fn of(code: i32, output: &str, folder: &Path) -> Result<Self, ProfilerError> {
        let end = || {
            let text = output.trim();
            let from = text.char_indices().rev().nth(QUOTED).map_or(0, |(at, _)| at);
            text[from..].to_owned()
        };
        if code != 0 {
            return Err(ProfilerError::ExitStatus { code, output: end() });
        }
        if !output.contains(SUCCESS_LINE) {
            return Err(ProfilerError::NoSuccess { output: end() });
        }
        let mut folders = Vec::new();
        collect(folder, &mut folders, 0);
        if folders.is_empty() {
            return Err(ProfilerError::NoFile { folder: folder.to_owned(), file: "OpBasicInfo_*.csv".to_owned() });
        }
        let mut launches = Vec::new();
        for folder in folders {
            let Some(file) = newest(&folder, "OpBasicInfo") else { continue };
            let rows = BasicInfo::of(&Table::read(&file)?)?;
            let cores = match newest(&folder, "PipeUtilization") {
                Some(file) => CorePipes::of(&Table::read(&file)?)?,
                None => Vec::new(),
            };
            let mut counters = BTreeMap::new();
            for name in OTHERS {
                if let Some(file) = newest(&folder, name) {
                    counters.insert(name.to_owned(), CoreCounters::of(&Table::read(&file)?)?);
                }
            }
            for basic in rows {
                launches.push(KernelLaunch { basic, cores: cores.clone(), counters: counters.clone() });
            }
        }
        Ok(Self { launches })
    }

    /// Launches of a kernel: one that was asked for by a program comes with others around it.
    ///
    /// # Errors
    /// Where there are none.
    pub fn of_kernel(&self, kernel: &str, folder: &Path) -> Result<Vec<&KernelLaunch>, ProfilerError> {
        let found: Vec<&KernelLaunch> =
            self.launches.iter().filter(|launch| is_kernel(&launch.basic.name, kernel)).collect();
        if found.is_empty() {
            let mut names: Vec<&str> = self.launches.iter().map(|launch| launch.basic.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            return Err(ProfilerError::OtherKernels {
                folder: folder.to_owned(),
                kernel: kernel.to_owned(),
                found: names.join(", "),
            });
        }
        Ok(found)
    }
}

/// Whether a launch's name is that of a kernel: profilers add the tiling key, the kind of core or a number, and a kernel without C linkage
/// may have the compiler's name, in which its own stands behind its length.
pub fn is_kernel(name: &str, kernel: &str) -> bool {
    if let Some(mangled) = name.strip_prefix("_Z") {
        let own = format!("{}{kernel}", kernel.len());
        return mangled.match_indices(&own).any(|(at, _)| !mangled[..at].ends_with(|one: char| one.is_ascii_digit()));
    }
    let Some(rest) = name.strip_prefix(kernel) else { return false };
    let added = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit()) || matches!(word, "mix" | "aic" | "aiv");
    rest.is_empty() || rest.strip_prefix('_').is_some_and(|rest| rest.split('_').all(added))
}

/// Folders that hold the files of a launch: the output itself, one a kernel and launch, or one a device.
fn collect(folder: &Path, found: &mut Vec<PathBuf>, depth: u32) {
    const DEEPEST: u32 = 6;
    if newest(folder, "OpBasicInfo").is_some() {
        found.push(folder.to_owned());
    }
    if depth == DEEPEST {
        return;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut folders: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    // Launches are numbered: 10 comes behind 9.
    folders.sort_by_key(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name.parse::<u64>().unwrap_or(u64::MAX), name)
    });
    for inner in folders.into_iter().filter(|path| path.is_dir() && !path.is_symlink()) {
        collect(&inner, found, depth + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_profilers_are_told_apart() {
        for (name, is_one) in [
            ("scale", true),
            ("scale_3_mix_aiv", true),
            ("scale_bias", false),
            ("_ZN7scaling5scaleIfEEvPhS1_j", true),
            ("_Z5scalePh", true),
            ("_ZN7scaling15scaleIfEEvPhS1_j", false),
            ("_Z9downscalePh", false),
        ] {
            assert_eq!(is_kernel(name, "scale"), is_one, "{name}");
        }
    }

    const OUTPUT: &str = "[INFO] Profiling running finished. All task success.\n";

    fn write(folder: &Path, name: &str, us: f64) {
        fs_err::create_dir_all(folder).unwrap();
        let header = "Op Name,Op Type,Task Duration(us),Block Dim,Mix Block Dim,Device Id,Pid,Current Freq,Rated Freq";
        fs_err::write(
            folder.join("OpBasicInfo_20250101123045123.csv"),
            format!("{header}\n{name},vector,{us},40,N/A,0,1,1800,1800\n"),
        )
        .unwrap();
    }

    #[test]
    fn each_of_three_signs_has_to_be_there() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "scale_add", 9.5);
        assert_eq!(OpProfile::of(0, OUTPUT, folder.path()).unwrap().launches.len(), 1);
        let status = OpProfile::of(1, OUTPUT, folder.path()).unwrap_err();
        assert!(matches!(status, ProfilerError::ExitStatus { code: 1, .. }), "{status}");
        let line = OpProfile::of(0, "[ERROR] the device is busy", folder.path()).unwrap_err().to_string();
        assert!(line.contains("does not say that all tasks succeeded: [ERROR] the device is busy"), "{line}");
        let empty = tempfile::tempdir().unwrap();
        let files = OpProfile::of(0, OUTPUT, empty.path()).unwrap_err();
        assert!(matches!(files, ProfilerError::NoFile { .. }), "{files}");
    }

    #[test]
    fn launches_are_found_in_every_layout_and_told_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("OPPROF_20250101_abc/device0");
        for launch in [0, 1, 10, 2] {
            write(&inside.join(format!("scale_add_1/{launch}")), "scale_add_1", 10.0 + f64::from(launch));
        }
        write(&inside.join("TransData/0"), "TransData", 99.0);
        let profile = OpProfile::of(0, OUTPUT, folder.path()).unwrap();
        let times = profile.of_kernel("scale_add", folder.path()).unwrap();
        let times: Vec<_> = times.iter().map(|launch| launch.basic.task_us.unwrap()).collect();
        assert_eq!(times, [10.0, 11.0, 12.0, 20.0]);
        let other = profile.of_kernel("scale", folder.path()).unwrap_err();
        assert!(other.to_string().contains("no launch of kernel scale;"), "{other}");
        assert!(other.to_string().contains("TransData, scale_add_1"), "{other}");
    }

    #[test]
    fn pipes_are_means_over_cores_of_a_kind() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "k", 9.5);
        let text = "block_id,sub_block_id,aiv_time(us),aiv_vec_time(us),aiv_mte2_time(us)\n0,vector0,8,2,NA\n1,vector0,6,4,NA\n";
        fs_err::write(folder.path().join("PipeUtilization_1.csv"), text).unwrap();
        let profile = OpProfile::of(0, OUTPUT, folder.path()).unwrap();
        let launch = &profile.launches[0];
        assert_eq!((launch.longest_core_us(), launch.pipe_us(CoreUnit::Vector, "vec")), (Some(8.0), Some(3.0)));
        assert_eq!((launch.pipe_us(CoreUnit::Vector, "mte2"), launch.pipe_us(CoreUnit::Cube, "cube")), (None, None));
    }
}
