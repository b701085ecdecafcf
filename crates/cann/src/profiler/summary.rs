//! Files of `msprof` at task level: `op_summary`, and `task_time` where that is missing.

use std::collections::BTreeMap;
use std::path::Path;

use super::error::ProfilerError;
use super::folder::newest;
use super::outcome::is_kernel;
use super::table::{Table, Unit};

/// A task of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryRow {
    /// Name of the operator or kernel.
    pub name: String,
    /// Task duration in microseconds; `None` where it is not available.
    pub task_us: Option<f64>,
    /// Longest core time in microseconds.
    pub core_us: Option<f64>,
    /// Cores.
    pub blocks: Option<u32>,
    /// Begin in the profiler's clock.
    pub start_us: Option<f64>,
}

/// Tasks of a kernel together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KernelTime {
    /// How many there were.
    pub tasks: u64,
    /// Their durations in microseconds.
    pub total_us: f64,
}

/// Reads the newest `op_summary` below an output folder, or the newest `task_time`.
///
/// # Errors
/// Where there is neither, or a column is missing or in another unit.
pub fn read_summary(folder: &Path) -> Result<Vec<SummaryRow>, ProfilerError> {
    let mut open = vec![folder.to_owned()];
    let mut files = BTreeMap::new();
    while let Some(inner) = open.pop() {
        for name in ["op_summary", "task_time"] {
            if let Some(file) = newest(&inner, name) {
                files.entry(name).and_modify(|known| *known = file.clone().max(std::mem::take(known))).or_insert(file);
            }
        }
        let entries = std::fs::read_dir(&inner).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
        open.extend(entries.filter(|path| path.is_dir() && !path.is_symlink()));
    }
    let file = files.get("op_summary").or_else(|| files.get("task_time")).ok_or_else(|| ProfilerError::NoFile {
        folder: folder.to_owned(),
        file: "op_summary_*.csv or task_time_*.csv".to_owned(),
    })?;
    rows(&Table::read(file)?)
}

fn rows(table: &Table) -> Result<Vec<SummaryRow>, ProfilerError> {
    let name = table.need(&["Op Name", "Kernel Name"], Unit::None)?;
    let duration = table.need(&["Task Duration", "Task Time"], Unit::Us)?;
    let start = table.find(&["Task Start Time", "Task Start"], Unit::Us)?;
    let blocks = table.find(&["Block Dim", "Block Num"], Unit::None)?;
    let cube = table.find(&["aicore_time", "aic_time"], Unit::Us)?;
    let vector = table.find(&["aiv_time"], Unit::Us)?;
    (0..table.len())
        .map(|row| {
            let number = |column: Option<usize>| column.map_or(Ok(None), |column| table.number(row, column));
            let longest = [number(cube)?, number(vector)?].into_iter().flatten().filter(|us| *us > 0.0);
            Ok(SummaryRow {
                name: table.text(row, name).unwrap_or_default().to_owned(),
                task_us: number(Some(duration))?.filter(|us| *us > 0.0),
                core_us: longest.max_by(f64::total_cmp),
                blocks: number(blocks)?.map(|blocks| blocks as u32),
                start_us: number(start)?,
            })
        })
        .collect()
}

/// Durations of a kernel's tasks. One call may launch none, one or many: what counts is the name, never the place of a row.
pub fn by_kernel(rows: &[SummaryRow], kernel: &str) -> KernelTime {
    let mut sum = KernelTime::default();
    for us in rows.iter().filter(|row| is_kernel(&row.name, kernel)).filter_map(|row| row.task_us) {
        sum.tasks += 1;
        sum.total_us += us;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "Device_id,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),\
        Block Dim,Input Shapes,Input Data Types,aicore_time(us),aiv_time(us),aiv_total_cycles\n\
        0,7,3,ScaleAdd,ScaleAdd,AI_VECTOR_CORE,1700000000000000.120,18.34,40,\"\"\"8,4096\"\"\",FLOAT16,0,16.9,30420\n\
        0,8,3,Cast,Cast,AI_VECTOR_CORE,1700000000000100.120,3.0,40,N/A,N/A,N/A,2.0,30420\n\
        0,9,3,ScaleAdd,ScaleAdd,AI_VECTOR_CORE,1700000000000200.120,N/A,40,N/A,N/A,N/A,2.0,30420\n\
        0,9,3,ScaleAdd,ScaleAdd,AI_VECTOR_CORE,1700000000000200.120,20.0,40,N/A,N/A,N/A,2.0,30420\n";

    #[test]
    fn tasks_are_summed_by_kernel() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("PROF_000001_x/mindstudio_profiler_output");
        fs_err::create_dir_all(&inside).unwrap();
        fs_err::write(inside.join("op_summary_20250101.csv"), SAMPLE).unwrap();
        let rows = read_summary(folder.path()).unwrap();
        assert_eq!((rows[0].core_us, rows[0].blocks), (Some(16.9), Some(40)), "a cube core's zero is no time");
        assert_eq!(by_kernel(&rows, "ScaleAdd"), KernelTime { tasks: 2, total_us: 38.34 });
        assert_eq!(by_kernel(&rows, "Mul"), KernelTime::default());
    }

    #[test]
    fn task_times_stand_in_for_a_missing_summary() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read_summary(folder.path()).unwrap_err().to_string().contains("op_summary_*.csv or task_time_*.csv"));
        let text = "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)\n\
                    0,ScaleAdd,AI_VECTOR_CORE,3,7,18.34,1,2\n";
        fs_err::write(folder.path().join("task_time_1.csv"), text).unwrap();
        assert_eq!(by_kernel(&read_summary(folder.path()).unwrap(), "ScaleAdd").total_us, 18.34);
    }
}
