//! The files of `msprof op`, as plain data.

use std::collections::BTreeMap;

use super::error::ProfilerError;
use super::table::{Table, Unit};

/// The clock that a launch ran at, beside the one that the chip is rated for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Megahertz while it ran.
    pub current_mhz: f64,
    /// Megahertz that the chip is rated for.
    pub rated_mhz: f64,
}

impl Clock {
    /// Whether they differ by more than rounding: a time at another clock is none of this chip.
    pub fn is_off(&self) -> bool {
        (self.current_mhz - self.rated_mhz).abs() > 0.005 * self.rated_mhz
    }
}

/// A row of `OpBasicInfo`.
#[derive(Clone, Debug, PartialEq)]
pub struct BasicInfo {
    /// Name of the kernel.
    pub name: String,
    /// From the task's begin to its end in the task scheduler's clock, with dispatch and completion. `None` where it was not
    /// measured.
    pub task_us: Option<f64>,
    /// Cores; cube cores of a mixed kernel.
    pub blocks: Option<u32>,
    /// Vector cores of a mixed kernel.
    pub mixed_blocks: Option<u32>,
    /// Device.
    pub device: Option<u32>,
    /// Clock, where the profiler tells it.
    pub clock: Option<Clock>,
}

impl BasicInfo {
    /// Rows of the file.
    ///
    /// # Errors
    /// Where a column that is needed is missing or in another unit.
    pub fn of(table: &Table) -> Result<Vec<Self>, ProfilerError> {
        let name = table.need(&["Op Name", "Kernel Name"], Unit::None)?;
        let duration = table.need(&["Task Duration"], Unit::Us)?;
        let blocks = table.find(&["Block Dim", "Block Num"], Unit::None)?;
        let mixed = table.find(&["Mix Block Dim", "Mix Block Num"], Unit::None)?;
        let device = table.find(&["Device Id"], Unit::None)?;
        let current = table.find(&["Current Freq"], Unit::None)?;
        let rated = table.find(&["Rated Freq"], Unit::None)?;
        (0..table.len())
            .map(|row| {
                let number = |column: Option<usize>| column.map_or(Ok(None), |column| table.number(row, column));
                let whole = |column| Ok::<_, ProfilerError>(number(column)?.map(|value| value as u32));
                let clock = match (number(current)?, number(rated)?) {
                    (Some(current_mhz), Some(rated_mhz)) if rated_mhz > 0.0 => Some(Clock { current_mhz, rated_mhz }),
                    _ => None,
                };
                Ok(Self {
                    name: table.text(row, name).unwrap_or_default().to_owned(),
                    task_us: number(Some(duration))?.filter(|us| *us > 0.0),
                    blocks: whole(blocks)?,
                    mixed_blocks: whole(mixed)?,
                    device: whole(device)?,
                    clock,
                })
            })
            .collect()
    }
}

/// Kinds of cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CoreUnit {
    /// Cube cores.
    Cube,
    /// Vector cores.
    Vector,
}

impl CoreUnit {
    const ALL: [CoreUnit; 2] = [CoreUnit::Cube, CoreUnit::Vector];

    /// The profiler's prefix.
    pub fn prefix(self) -> &'static str {
        match self {
            CoreUnit::Cube => "aic",
            CoreUnit::Vector => "aiv",
        }
    }
}

/// How long a pipe worked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PipeBusy {
    /// Microseconds.
    pub us: f64,
    /// Share of the core's time, where the file has it.
    pub ratio: Option<f64>,
}

/// A core's row of `PipeUtilization`.
#[derive(Clone, Debug, PartialEq)]
pub struct CorePipes {
    /// Block.
    pub block: u32,
    /// Kind of core.
    pub unit: CoreUnit,
    /// The kernel's time on this core, without dispatch. From passes of its own.
    pub time_us: f64,
    /// Pipes by name: `scalar`, `vec`, `mte1`, `mte2`, `mte3`, `cube`, `fixpipe`. Those that have no time are left out.
    pub pipes: BTreeMap<String, PipeBusy>,
}

/// Pipes, each with the names that versions have for it.
const PIPES: [(&str, &[&str]); 7] = [
    ("scalar", &["scalar"]),
    ("vec", &["vec"]),
    ("mte1", &["mte1"]),
    ("mte2", &["mte2"]),
    ("mte3", &["mte3"]),
    ("cube", &["cube", "mac"]),
    ("fixpipe", &["fixpipe"]),
];

impl CorePipes {
    /// Rows of the file, one a core. A mixed kernel's cube columns are not available in rows of vector cores, and the other way
    /// round.
    ///
    /// # Errors
    /// Where there is no core time, or a column is in another unit.
    pub fn of(table: &Table) -> Result<Vec<Self>, ProfilerError> {
        let block = table.find(&["block_id"], Unit::None)?;
        let mut cores = Vec::new();
        let mut known = false;
        for unit in CoreUnit::ALL {
            let prefix = unit.prefix();
            let names = [format!("{prefix}_time"), format!("{}core_time", &prefix[..2])];
            let names = if unit == CoreUnit::Cube { &names[..] } else { &names[..1] };
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let Some(time) = table.find(&names, Unit::Us)? else { continue };
            known = true;
            let mut columns = Vec::new();
            for (pipe, spellings) in PIPES {
                let named =
                    |what: &str| spellings.iter().map(|name| format!("{prefix}_{name}_{what}")).collect::<Vec<_>>();
                let (times, ratios) = (named("time"), named("ratio"));
                let refer = |names: &[String]| names.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
                let (times, ratios) = (refer(&times), refer(&ratios));
                let times: Vec<&str> = times.lines().collect();
                let ratios: Vec<&str> = ratios.lines().collect();
                columns.push((pipe, table.find(&times, Unit::Us)?, table.find(&ratios, Unit::None)?));
            }
            for row in 0..table.len() {
                let Some(time_us) = table.number(row, time)?.filter(|us| *us > 0.0) else { continue };
                let number = |column: Option<usize>| column.map_or(Ok(None), |column| table.number(row, column));
                let mut pipes = BTreeMap::new();
                for (pipe, time, ratio) in &columns {
                    if let Some(us) = number(*time)? {
                        pipes.insert((*pipe).to_owned(), PipeBusy { us, ratio: number(*ratio)? });
                    }
                }
                let block = number(block)?.map_or(row as u32, |block| block as u32);
                cores.push(Self { block, unit, time_us, pipes });
            }
        }
        if !known {
            table.need(&["aiv_time"], Unit::Us)?;
        }
        Ok(cores)
    }
}

/// Numbers of one core out of any of the other files, by the names that the file has.
#[derive(Clone, Debug, PartialEq)]
pub struct CoreCounters {
    /// Block.
    pub block: u32,
    /// Which of the block's cores: `vector0`, `cube0`; empty where the file does not say.
    pub core: String,
    /// The numbers.
    pub values: BTreeMap<String, f64>,
}

impl CoreCounters {
    /// Rows of a file such as `ResourceConflictRatio`, `Memory` or `L2Cache`.
    ///
    /// # Errors
    /// Where the block is no number.
    pub fn of(table: &Table) -> Result<Vec<Self>, ProfilerError> {
        let block = table.find(&["block_id"], Unit::None)?;
        let core = table.find(&["sub_block_id"], Unit::None)?;
        (0..table.len())
            .map(|row| {
                let number = block.map_or(Ok(None), |column| table.number(row, column))?;
                let is_key = |name: &str| matches!(name, "block_id" | "sub_block_id");
                let values = table.counters(row).filter(|(name, _)| !is_key(name));
                Ok(Self {
                    block: number.map_or(row as u32, |block| block as u32),
                    core: core.and_then(|column| table.text(row, column)).unwrap_or_default().to_owned(),
                    values: values.map(|(name, value)| (name.to_owned(), value)).collect(),
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn table(text: &str) -> Table {
        Table::parse(Path::new("x.csv"), text.as_bytes()).unwrap()
    }

    const NAMES: &str =
        "Op Name,Op Type,Task Duration(us),Block Dim,Mix Block Dim,Device Id,Pid,Current Freq,Rated Freq";

    #[test]
    fn both_spellings_of_the_basic_file_say_the_same() {
        let old = table(&format!("{NAMES}\nscale_add_0,vector,23.439999,40,N/A,0,12345,1800,1800\n"));
        let new = table(
            "Pid,Rated Freq,Op Name,Device ID,Block Num,Task Duration(us),Current Freq\n\
             12345,1800,scale_add_0,0,40,23.439999,1800\n",
        );
        assert_eq!(BasicInfo::of(&old).unwrap(), BasicInfo::of(&new).unwrap());
        let [info] = &BasicInfo::of(&old).unwrap()[..] else { panic!("one row") };
        assert_eq!((info.task_us, info.blocks, info.mixed_blocks), (Some(23.439999), Some(40), None));
        assert!(!info.clock.unwrap().is_off());
    }

    #[test]
    fn a_clock_that_is_not_the_rated_one_is_seen_and_one_that_is_not_told_is_not_made_up() {
        let read = |row: &str| BasicInfo::of(&table(&format!("{NAMES}\n{row}\n"))).unwrap().remove(0);
        assert!(read("k,vector,9.1,40,N/A,0,1,800,1800").clock.unwrap().is_off());
        assert!(read("k,vector,9.1,40,N/A,0,1,1650,1800").clock.unwrap().is_off());
        assert_eq!(read("k,vector,9.1,40,N/A,0,1,NA,1800").clock, None);
        assert_eq!(read("k,vector,NA,40,N/A,0,1,NA,1800").task_us, None);
        assert_eq!(read("k,vector,0.000000,40,N/A,0,1,NA,1800").task_us, None, "a time of nothing was not measured");
    }

    #[test]
    fn rows_of_mixed_kernels_belong_to_one_kind_of_core() {
        let text = "block_id,sub_block_id,aic_time(us),aic_cube_time(us),aic_cube_ratio,aiv_time(us),aiv_vec_time(us),\
                    aiv_vec_ratio,aiv_mte2_time(us),aiv_mte2_active_bw(GB/s)\n\
                    0,cube0,20.5,10.25,0.5,NA,NA,NA,NA,NA\n0,vector0,NA,NA,NA,18.0,9.0,0.5,NA,3.5\n";
        let cores = CorePipes::of(&table(text)).unwrap();
        assert_eq!(cores.len(), 2);
        assert_eq!((cores[0].unit, cores[0].time_us), (CoreUnit::Cube, 20.5));
        assert_eq!(cores[0].pipes, BTreeMap::from([("cube".to_owned(), PipeBusy { us: 10.25, ratio: Some(0.5) })]));
        assert_eq!(
            (cores[1].unit, cores[1].pipes.keys().map(String::as_str).collect::<Vec<_>>()),
            (CoreUnit::Vector, vec!["vec"])
        );
        // At task level the cube pipe is called after its multiply-accumulate units.
        let other = CorePipes::of(&table("aicore_time(us),aic_mac_time(us)\n20.5,10.25\n")).unwrap();
        assert_eq!(other[0].pipes["cube"].us, 10.25);
        assert!(
            CorePipes::of(&table("block_id,aic_cube_time(us)\n0,1\n")).unwrap_err().to_string().contains("aiv_time")
        );
        let other = CorePipes::of(&table("aiv_time(us),aiv_vec_time(ns)\n1,1\n")).unwrap_err().to_string();
        assert!(other.contains("is in ns, not in us"), "{other}");
    }

    #[test]
    fn other_files_are_numbers_by_name() {
        let text = "block_id,sub_block_id,aiv_time(us),aiv_total_cycles,aiv_vec_bank_cflt_ratio,aiv_vec_wait_ratio\n\
                    3,vector1,21.559999,38808,0.011000,NA\n";
        let [core] = &CoreCounters::of(&table(text)).unwrap()[..] else { panic!("one row") };
        assert_eq!((core.block, core.core.as_str()), (3, "vector1"));
        assert_eq!(core.values["aiv_vec_bank_cflt_ratio"], 0.011);
        assert!(!core.values.contains_key("aiv_vec_wait_ratio"));
    }
}
