//! Micro-kernels of our own: programs that say on a device what no public source does, and the rows that their launches are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use super::cases::{Case, Unit};
use aicore::{Machine, Warmth};
use events::fidelity::{Level, Metric, Role};
use source::arch::TARGET;

const ROWS: &str = include_str!("../../../../templates/calibration/rows.csv");
const HEADERS: [(&str, &str); 2] = [
    ("device.h", include_str!("../../../../templates/calibration/device.h")),
    ("busy.h", include_str!("../../../../templates/calibration/busy.h")),
];
/// Launches of a program before its rows (`Device::WARM_UP_LAUNCHES`), and how often each row is launched, of which the last counts.
const WARM_UP_LAUNCHES: usize = 8;
const LAUNCHES_OF_ROW: usize = 2;
/// Programs by their names in the rows.
const PROGRAMS: [(&str, &str); 7] = [
    ("launches", include_str!("../../../../templates/calibration/launches.asc")),
    ("order", include_str!("../../../../templates/calibration/order.asc")),
    ("copies", include_str!("../../../../templates/calibration/copies.asc")),
    ("memory", include_str!("../../../../templates/calibration/memory.asc")),
    ("cores", include_str!("../../../../templates/calibration/cores.asc")),
    ("cube", include_str!("../../../../templates/calibration/cube.asc")),
    ("scalar", include_str!("../../../../templates/calibration/scalar.asc")),
];

/// One launch of a program, of those that count.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MicroRow {
    /// What it does.
    pub case: String,
    /// The program that launches it.
    pub program: String,
    /// Which of the program's rows it is, from 0.
    row: usize,
    /// Constants that it is there for.
    constants: String,
}

impl MicroRow {
    /// Which of the program's launches it is, from 0.
    pub fn launch(&self) -> usize {
        WARM_UP_LAUNCHES + LAUNCHES_OF_ROW * self.row + LAUNCHES_OF_ROW - 1
    }
}

/// Duration of one launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MicroTime {
    /// Median in microseconds.
    pub task_us: f64,
    /// Standard deviation of one measurement as a share of it.
    pub spread: f64,
    /// Measurements; 0 where the model says it.
    pub count: u32,
}

impl MicroTime {
    fn in_words(&self) -> String {
        match self.count {
            0 => "modelled, not measured".to_owned(),
            count => format!("measured {count} times, spread {:.1} %", 100.0 * self.spread),
        }
    }
}

/// Names of the programs, in the order in which they are to be run.
pub fn micro_programs() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|(name, _)| *name)
}

/// All rows.
pub fn micro_rows() -> Vec<MicroRow> {
    let mut reader = csv::Reader::from_reader(ROWS.as_bytes());
    reader.deserialize().map(|row| row.expect("the embedded table is valid: its test reads it")).collect()
}

/// Constants that the rows are there for and that may move on this machine: never what is documented or measured.
pub fn micro_constants(base: &Machine, rows: &[MicroRow]) -> Vec<String> {
    let names: BTreeSet<&str> = rows.iter().flat_map(|row| row.constants.split_whitespace()).collect();
    let movable = |name: &&str| base.constants.get(*name).is_some_and(|constant| constant.confidence.may_be_fitted());
    names.into_iter().filter(movable).map(str::to_owned).collect()
}

/// Writes a program as a project of its own, which builds by CMake as any program in the language ASC does.
///
/// # Errors
/// Where the folder cannot be written.
pub fn write_micro_project(program: &str, machine: &Machine, folder: &Path) -> std::io::Result<()> {
    let (name, text) = PROGRAMS.iter().find(|(name, _)| *name == program).ok_or(std::io::ErrorKind::NotFound)?;
    fs_err::create_dir_all(folder)?;
    write_headers(folder)?;
    fs_err::write(folder.join(file_of(name)), text)?;
    let cmake = format!(
        "cmake_minimum_required(VERSION 3.16)\nset(CMAKE_ASC_ARCHITECTURES \"dav-{}\" CACHE STRING \"NPU architecture\")\n\
         find_package(ASC REQUIRED)\nproject({name} LANGUAGES ASC CXX)\nadd_executable({name} {name}.asc)\n\
         target_compile_options({name} PRIVATE $<$<COMPILE_LANGUAGE:ASC>:--npu-arch=${{CMAKE_ASC_ARCHITECTURES}}>)\n",
        TARGET.number
    );
    fs_err::write(folder.join("CMakeLists.txt"), cmake)?;
    let [vectors, cubes] = micro_arguments(machine);
    let manifest = format!(
        "[operator]\nname = \"{name}\"\nlayout = \"direct-launch\"\nkernel = \"{}\"\ntiling = \"\"\nsources = [\"{name}.asc\"]\n\n\
         [direct]\narguments = [\"{vectors}\", \"{cubes}\"]\n\n[[case]]\nname = \"default\"\n",
        first_kernel(text)
    );
    fs_err::write(folder.join("ascend.toml"), manifest)
}

fn write_headers(folder: &Path) -> std::io::Result<()> {
    HEADERS.iter().try_for_each(|(name, text)| fs_err::write(folder.join(name), text))
}

/// File that a program is in.
fn file_of(program: &str) -> String {
    format!("{program}.asc")
}

/// Name of the first kernel of a program.
fn first_kernel(text: &str) -> &str {
    let after = text.split_once("__global__").map_or("", |(_, after)| after);
    let after = after.split_once(" void ").map_or("", |(_, after)| after);
    after.split('(').next().unwrap_or_default()
}

/// Arguments of every program: how many cores of each kind it uses.
fn micro_arguments(machine: &Machine) -> [String; 2] {
    [machine.parameters.aiv_cores, machine.parameters.aic_cores].map(|cores| cores.to_string())
}

/// The rows as cases of a table, each with what was measured of it. Launches that were not measured are left out.
pub fn micro_cases(machine: &Machine, measured: &BTreeMap<(String, usize), MicroTime>) -> Vec<Case> {
    let case = |row: MicroRow| {
        let time = measured.get(&(row.program.clone(), row.launch()))?;
        Some(Case {
            kernel: format!("{} {}", row.program, row.row),
            launch: Some(row.launch()),
            case: row.case,
            level: Level::Kernel,
            category: row.program.clone(),
            role: Role::Headline,
            program: file_of(&row.program),
            defines: Vec::new(),
            arguments: micro_arguments(machine).to_vec(),
            minus: None,
            warmth: Warmth::Kept,
            machine: machine.name.to_lowercase(),
            metric: Metric::Task,
            scale: 1.0,
            published: time.task_us,
            unit: Unit::Microseconds,
            fit: true,
            compare: None,
            note: time.in_words(),
            line: 0,
        })
    };
    micro_rows().into_iter().filter_map(case).collect()
}

/// What was measured as a table that `calibrate --cases` and `fidelity` read, beside the programs.
pub fn micro_table(cases: &[Case]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = ["case", "kernel", "category", "program", "arguments", "launch", "warm", "machine", "metric"];
    let header = header.into_iter().chain(["published", "unit", "fit", "note"]);
    // Writing to memory cannot fail.
    let _ = writer.write_record(header);
    for case in cases {
        let launch = case.launch.map_or_else(String::new, |launch| launch.to_string());
        let published = case.published.to_string();
        let arguments = case.arguments.join(" ");
        let record =
            [&case.case, &case.kernel, &case.category, &case.program, &arguments, &launch, "yes", &case.machine];
        let record = record.into_iter().chain(["task", &published, "us", "yes", &case.note]);
        let _ = writer.write_record(record);
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// Writes the sources of all programs into a folder: where the table's programs are looked for.
///
/// # Errors
/// Where the folder cannot be written.
pub fn write_micro_sources(folder: &Path) -> std::io::Result<()> {
    fs_err::create_dir_all(folder)?;
    write_headers(folder)?;
    PROGRAMS.iter().try_for_each(|(name, text)| fs_err::write(folder.join(file_of(name)), text))
}

#[cfg(test)]
mod tests {
    use super::super::Table;
    use super::*;

    #[test]
    fn rows_name_programs_and_constants_that_exist() {
        let machine = Machine::named("ascend910b2").unwrap();
        let rows = micro_rows();
        let mut seen = BTreeSet::new();
        for row in &rows {
            assert!(micro_programs().any(|name| name == row.program), "{row:?}");
            assert!(seen.insert((row.program.clone(), row.row)), "twice: {row:?}");
            for name in row.constants.split_whitespace() {
                assert!(machine.constants.contains_key(name), "{name}");
            }
        }
        for (_, text) in PROGRAMS {
            assert!(!first_kernel(text).is_empty());
        }
        let constants = micro_constants(&machine, &rows);
        assert!(constants.len() >= 12, "{constants:?}");
        // Known better than by fitting.
        assert!(constants.iter().all(|name| machine.constants[name].confidence.may_be_fitted()));
    }

    #[test]
    fn launches_are_counted_as_the_programs_make_them() {
        let header = HEADERS[0].1;
        assert!(header.contains(&format!("WARM_UP_LAUNCHES = {WARM_UP_LAUNCHES};")), "{header}");
        assert!(header.contains(&format!("time < {LAUNCHES_OF_ROW};")), "{header}");
        assert!(PROGRAMS.iter().all(|(_, text)| text.matches("device.WarmUp(").count() == 1));
    }

    #[test]
    fn what_was_measured_is_a_table_that_can_be_read_again() {
        let machine = Machine::named("ascend910b2").unwrap();
        let time = MicroTime { task_us: 12.5, spread: 0.01, count: 5 };
        let measured = BTreeMap::from([(("order".to_owned(), 15), time), (("cube".to_owned(), 9), time)]);
        let cases = micro_cases(&machine, &measured);
        assert_eq!(cases.len(), 2);
        let table = Table::parse("t.csv", &micro_table(&cases)).unwrap();
        let without_lines: Vec<Case> = table.cases.into_iter().map(|case| Case { line: 0, ..case }).collect();
        assert_eq!(without_lines, cases);
    }
}
