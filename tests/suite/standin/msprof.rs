//! `msprof` of the stand-in: `msprof op` on an application or a kernel object, and task-level profiles.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::columns::{Launch, basic_header, basic_row, core_rows, decimal, tables};
use super::profile_options::ProfileOptions;
use super::program::Started;
use super::replay::Replay;

/// `msprof op ...`, or `msprof --application=...` for a task-level profile.
pub fn run(mut started: Started) -> i32 {
    let ended = match started.words.first().map(String::as_str) {
        Some("op") if started.words.get(1).is_some_and(|word| word == "simulator") => {
            Err("the stand-in has no simulator".to_owned())
        }
        Some("op") => ProfileOptions::parse(&started.words[1..]).and_then(|options| profile(&mut started, &options)),
        _ => tasks(&mut started),
    };
    match ended {
        Ok(()) => 0,
        Err(message) => {
            started.say(&format!("[ERROR] {message}"));
            1
        }
    }
}

/// Digits of the present moment, down to milliseconds.
fn stamp() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let (days, rest) = (now.as_secs() / 86_400, now.as_secs() % 86_400);
    // Days to a date of the Gregorian calendar, counted from 1 March 0000.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, year) = (if month < 10 { month + 3 } else { month - 9 }, year + era * 400);
    let year = if month <= 2 { year + 1 } else { year };
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}{:03}", now.subsec_millis())
}

/// Refuses a folder that is not the user's alone.
fn check_output(folder: &Path) -> Result<PathBuf, String> {
    let path = std::path::absolute(folder).map_err(|error| error.to_string())?;
    for place in [Some(path.as_path()), path.parent()].into_iter().flatten() {
        let found = match fs_err::symlink_metadata(place) {
            Ok(found) => found,
            Err(_) if place == path => continue,
            Err(error) => return Err(error.to_string()),
        };
        if found.file_type().is_symlink() {
            return Err(format!("the output path {} is a soft link", place.display()));
        }
        if found.mode() & 0o022 != 0 {
            return Err(format!("the output path {} is writable by group or others", place.display()));
        }
    }
    fs_err::create_dir_all(&path).map_err(|error| error.to_string())?;
    Ok(path)
}

fn profile(started: &mut Started, options: &ProfileOptions) -> Result<(), String> {
    let folder = check_output(&options.output)?;
    let lock = fs_err::File::create(started.own.join("state/profiling")).map_err(|error| error.to_string())?;
    if lock.file().try_lock().is_err() {
        return Err("another profiling job is running on the device".to_owned());
    }
    let results = folder.join(format!("OPPROF_{}_{}", stamp(), random_name()));
    let dump = results.join("dump");
    fs_err::create_dir_all(&dump).map_err(|error| error.to_string())?;
    let mut command = match &options.config {
        Some(config) => {
            let replay = Replay::read(config)?;
            fs_err::create_dir_all(&replay.outputs).map_err(|error| error.to_string())?;
            let flat = dump.join("launch.json");
            fs_err::write(&flat, replay.flat.to_string()).map_err(|error| error.to_string())?;
            let mut command = Command::new(started.home().join("tools/msopt/bin/kernel-launcher"));
            command.arg("-c").arg(flat);
            started.say(&format!("[INFO] Start profiling on device {}", replay.device));
            command
        }
        None => {
            let mut command = Command::new(&options.application[0]);
            command.args(&options.application[1..]);
            command
        }
    };
    command.env("STANDIN_PROFILE", &dump).env("STANDIN_PROFILE_KERNELS", &options.kernels);
    command.env("STANDIN_PROFILE_COUNT", options.count.to_string());
    command.env("STANDIN_PROFILE_SKIP", options.skip.to_string());
    command.env("STANDIN_PROFILE_WARM_UP", options.warm_up.to_string());
    command.env("STANDIN_PROFILE_KILL", if options.kill { "on" } else { "off" });
    let out = started.out.try_clone().map_err(|error| error.to_string())?;
    let status = command.stdin(Stdio::null()).stdout(out).status().map_err(|error| format!("cannot start: {error}"))?;
    if !status.success() {
        return Err(format!("the application ended with {status}"));
    }
    let launches = collected(&dump);
    if launches.is_empty() {
        // Nothing to show is no failure to this tool: it ends without the line of success.
        started.say("[WARN] No operator was profiled.");
        return Ok(());
    }
    write_results(started, options, &results, &launches)?;
    started.say(&format!("[INFO] Profiling data in: {}", results.display()));
    started.say("[INFO] Profiling running finished. All task success.");
    Ok(())
}

fn random_name() -> String {
    let digest = blake3::hash(format!("{}{:?}", std::process::id(), SystemTime::now()).as_bytes());
    digest.to_hex()[..16].to_uppercase()
}

/// What the device library left, in the order of launches.
fn collected(dump: &Path) -> Vec<Launch> {
    let mut launches: Vec<Launch> = Vec::new();
    for entry in fs_err::read_dir(dump).expect("a folder").filter_map(Result::ok) {
        if entry.path().extension().is_some_and(|extension| extension.to_string_lossy().parse::<u64>().is_ok()) {
            launches.push(Launch::parse(&fs_err::read_to_string(entry.path()).expect("a launch")));
            let _ = fs_err::remove_file(entry.path());
        }
    }
    launches.sort_by(|left, right| left.number("number").total_cmp(&right.number("number")));
    launches
}

fn write_results(
    started: &Started,
    options: &ProfileOptions,
    results: &Path,
    launches: &[Launch],
) -> Result<(), String> {
    let devices: std::collections::BTreeSet<&str> = launches.iter().map(|launch| launch.text("device")).collect();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for launch in launches {
        let mut folder = results.to_owned();
        if devices.len() > 1 {
            folder.push(format!("device{}", launch.text("device")));
        }
        if launches.len() > 1 {
            let number = seen.entry(format!("{} {}", launch.text("device"), launch.text("kernel"))).or_default();
            folder.push(format!("{}/{number}", launch.text("kernel")));
            *number += 1;
        }
        fs_err::create_dir_all(&folder).map_err(|error| error.to_string())?;
        write_launch(started, options, &folder, launch).map_err(|error| error.to_string())?;
    }
    fs_err::write(results.join("visualize_data.bin"), b"stand-in").map_err(|error| error.to_string())
}

fn write_launch(started: &Started, options: &ProfileOptions, folder: &Path, launch: &Launch) -> std::io::Result<()> {
    let knobs = started.knobs();
    let spelling = knobs.get("columns").unwrap_or_default();
    let missing = knobs.get("missing").unwrap_or_else(|| "NA".to_owned());
    let stamped = knobs.get("csv_stamp").as_deref() != Some("off");
    let now = stamp();
    let path = |name: &str| folder.join(if stamped { format!("{name}_{now}.csv") } else { format!("{name}.csv") });
    let header = basic_header(&spelling);
    // For a kernel that does not mix, this one column is always written so.
    let row = basic_row(header, launch, "N/A");
    fs_err::write(path("OpBasicInfo"), format!("{header}\n{row}\n"))?;
    if let Some(us) = knobs.get("stale_csv") {
        // An older file of the same name but for its time stamp.
        let stale = Launch::parse(&format!("kernel={}\ntask_us={us}\nfactor=1\nblocks=1", launch.text("kernel")));
        let row = basic_row(header, &stale, "N/A");
        fs_err::write(folder.join("OpBasicInfo_20200101000000000.csv"), format!("{header}\n{row}\n"))?;
    }
    for (name, header) in tables(&spelling) {
        if options.metrics.iter().any(|metric| metric == "Default" || metric == name) {
            let rows = core_rows(&header, launch, &missing);
            fs_err::write(path(name), format!("{header}\n{}\n", rows.join("\n")))?;
        }
    }
    Ok(())
}

/// Every launch of an application with its duration, as `op_summary`.
fn tasks(started: &mut Started) -> Result<(), String> {
    let value = |name: &str| {
        let flag = format!("--{name}=");
        started.words.iter().find_map(|word| word.strip_prefix(&flag)).map(str::to_owned)
    };
    let application = value("application").ok_or("there is no --application")?;
    let output = check_output(Path::new(&value("output").unwrap_or_else(|| ".".to_owned())))?;
    let results = output.join(format!("PROF_000001_{}_{}", stamp(), random_name())).join("mindstudio_profiler_output");
    let dump = started.own.join(format!("state/tasks.{}", std::process::id()));
    for folder in [&results, &dump] {
        fs_err::create_dir_all(folder).map_err(|error| error.to_string())?;
    }
    let mut words = application.split_whitespace();
    let mut command = Command::new(words.next().ok_or("the application is empty")?);
    command.args(words).env("STANDIN_PROFILE", &dump).env("STANDIN_PROFILE_KERNELS", "*");
    command.env("STANDIN_PROFILE_COUNT", "1000000").env("STANDIN_PROFILE_PASSES", "1");
    let out = started.out.try_clone().map_err(|error| error.to_string())?;
    let status = command.stdin(Stdio::null()).stdout(out).status().map_err(|error| error.to_string())?;
    let launches = collected(&dump);
    let _ = fs_err::remove_dir_all(&dump);
    if !status.success() {
        return Err(format!("the application ended with {status}"));
    }
    let block = if started.knobs().get("columns").as_deref() == Some("block-num") { "Block Num" } else { "Block Dim" };
    let mut text = format!(
        "Device_id,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),{block},Input Shapes,\
         Input Data Types,aicore_time(us),aic_mac_time(us),aiv_time(us),aiv_total_cycles,aiv_vec_time(us),aiv_mte2_time(us)\n"
    );
    let mut at = 1_700_000_000_000_000.0;
    for (task, launch) in launches.iter().enumerate() {
        let us = launch.us("task_us");
        text += &format!(
            "{},{task},3,{kernel},{kernel},AI_VECTOR_CORE,{at:.3},{},{},N/A,N/A,N/A,N/A,{},{:.0},{},{}\n",
            launch.text("device"),
            decimal(us),
            launch.text("blocks"),
            decimal(launch.us("core_us")),
            launch.us("core_us") * launch.number("clock_mhz"),
            decimal(launch.us("aiv_vec")),
            decimal(launch.us("aiv_mte2")),
            kernel = launch.text("kernel"),
        );
        at += us + 2.0;
    }
    fs_err::write(results.join(format!("op_summary_{}.csv", stamp())), text).map_err(|error| error.to_string())
}
