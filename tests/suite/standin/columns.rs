//! Tables of `msprof op`: columns of each generation, and what the model can say of them.

use std::collections::BTreeMap;

/// What is known of one launch: lines of the device library.
#[derive(Clone, Debug)]
pub struct Launch {
    values: BTreeMap<String, String>,
}

impl Launch {
    /// Reads `name=value` lines.
    pub fn parse(text: &str) -> Self {
        let values = text.lines().filter_map(|line| line.split_once('=')).map(|(a, b)| (a.to_owned(), b.to_owned()));
        Self { values: values.collect() }
    }

    /// A text.
    pub fn text(&self, name: &str) -> &str {
        self.values.get(name).map_or("", String::as_str)
    }

    /// A number; zero where there is none.
    pub fn number(&self, name: &str) -> f64 {
        self.text(name).parse().unwrap_or(0.0)
    }

    /// Microseconds as this launch took them, of what the model says at the rated clock.
    pub fn us(&self, name: &str) -> f64 {
        self.number(name) * self.number("factor")
    }
}

/// Header of `OpBasicInfo` in a spelling.
pub fn basic_header(spelling: &str) -> &'static str {
    match spelling {
        "documents" => {
            "Op Name,Op Type,Task Duration(us),Block Dim,Mix Block Dim,Device ID,PID,Current Freq,Rated Freq"
        }
        "310p" => "Op Name,Op Type,Task Duration(us),Block Dim,Device Id,Pid,Current Freq,Rated Freq",
        "block-num" => {
            "Op Name,Op Type,Task Duration(us),Block Num,Mix Block Num,Device Id,Pid,Current Freq,Rated Freq"
        }
        _ => "Op Name,Op Type,Task Duration(us),Block Dim,Mix Block Dim,Device Id,Pid,Current Freq,Rated Freq",
    }
}

/// The row under it.
pub fn basic_row(header: &str, launch: &Launch, missing: &str) -> String {
    let values = header.split(',').map(|column| match column {
        "Op Name" => launch.text("kernel").to_owned(),
        "Op Type" => "vector".to_owned(),
        "Task Duration(us)" => decimal(launch.us("task_us")),
        "Block Dim" | "Block Num" => launch.text("blocks").to_owned(),
        "Device Id" | "Device ID" => launch.text("device").to_owned(),
        "Pid" | "PID" => launch.text("pid").to_owned(),
        "Current Freq" => launch.text("clock_mhz").to_owned(),
        "Rated Freq" => launch.text("rated_mhz").to_owned(),
        _ => missing.to_owned(),
    });
    values.collect::<Vec<_>>().join(",")
}

/// Columns of the tables about cores that the stand-in fills in; others of the same tables are `NA` to it, as they are on cores
/// that have no such counter.
pub fn tables(spelling: &str) -> Vec<(&'static str, String)> {
    let head = "block_id,sub_block_id,aic_time(us),aic_total_cycles,";
    // What older tools lack.
    let broken_down = if spelling == "older" {
        ""
    } else {
        ",aiv_scalar_single_time(us),aiv_scalar_dual_time(us),aiv_scalar_mte2_stall_time(us),aiv_scalar_mte3_stall_time(us),\
         aiv_scalar_stall_by_ub_time(us),aiv_scalar_vector_stall_time(us),aiv_scalar_wait_ib_time(us),aiv_scalar_wait_time(us)"
    };
    let table = |rest: &str| format!("{head}{rest}");
    vec![
        (
            "ArithmeticUtilization",
            table(
                "aic_cube_ratio,aic_cube_fp16_ratio,aic_cube_int8_ratio,aic_cube_fops,aiv_time(us),aiv_total_cycles,aiv_vec_ratio,aiv_vec_fp32_ratio,aiv_vec_fp16_ratio,aiv_vec_int32_ratio,aiv_vec_misc_ratio,aiv_vec_fops",
            ),
        ),
        (
            "PipeUtilization",
            table(
                "aic_cube_time(us),aic_cube_ratio,aic_mte1_time(us),aic_mte1_ratio,aic_mte2_time(us),aic_mte2_ratio,aic_mte3_time(us),aic_mte3_ratio,aic_fixpipe_time(us),aic_fixpipe_ratio,aic_icache_miss_rate,aic_scalar_time(us),aic_scalar_ratio,aiv_time(us),aiv_total_cycles,aiv_vec_time(us),aiv_vec_ratio,aiv_mte2_time(us),aiv_mte2_ratio,aiv_mte2_active_bw(GB/s),aiv_mte3_time(us),aiv_mte3_ratio,aiv_mte3_active_bw(GB/s),aiv_icache_miss_rate,aiv_scalar_time(us),aiv_scalar_ratio",
            ) + broken_down,
        ),
        (
            "ResourceConflictRatio",
            table(
                "aic_cube_wait_ratio,aic_mte1_wait_ratio,aic_mte2_wait_ratio,aic_mte3_wait_ratio,aiv_time(us),aiv_total_cycles,aiv_vec_total_cflt_ratio,aiv_vec_bankgroup_cflt_ratio,aiv_vec_bank_cflt_ratio,aiv_vec_resc_cflt_ratio,aiv_vec_mte_cflt_ratio,aiv_vec_wait_ratio,aiv_mte2_wait_ratio,aiv_mte3_wait_ratio",
            ),
        ),
        (
            "Memory",
            table(
                "aic_main_mem_read_bw(GB/s),aic_main_mem_write_bw(GB/s),aiv_time(us),aiv_total_cycles,aiv_ub_to_gm_bw(GB/s),aiv_gm_to_ub_bw(GB/s),aiv_main_mem_read_bw(GB/s),aiv_main_mem_write_bw(GB/s),aiv_mte2_ratio,aiv_mte3_ratio,read_main_memory_datas(KB),write_main_memory_datas(KB),GM_to_UB_datas(KB),UB_to_GM_datas(KB)",
            ),
        ),
        ("MemoryL0", table("aic_l0a_read_bw(GB/s),aic_l0a_write_bw(GB/s),aiv_time(us),aiv_total_cycles")),
        (
            "MemoryUB",
            table(
                "aiv_time(us),aiv_total_cycles,aiv_ub_read_bw_vector(GB/s),aiv_ub_write_bw_vector(GB/s),aiv_ub_read_bw_scalar(GB/s),aiv_ub_write_bw_scalar(GB/s)",
            ),
        ),
        (
            "L2Cache",
            table(
                "aic_write_cache_hit,aic_total_hit_rate(%),aiv_time(us),aiv_total_cycles,aiv_write_cache_hit,aiv_write_cache_miss_allocate,aiv_total_hit_rate(%)",
            ),
        ),
    ]
}

/// One row for each block of a launch on vector cores.
pub fn core_rows(header: &str, launch: &Launch, missing: &str) -> Vec<String> {
    let blocks = launch.number("blocks") as u32;
    let cores = launch.number("cores").max(1.0);
    let core_us = launch.us("core_us");
    let pipe = |name: &str| launch.us(&format!("aiv_{name}"));
    (0..blocks)
        .map(|block| {
            let values = header.split(',').map(|column| match column {
                "block_id" => block.to_string(),
                "sub_block_id" => "vector0".to_owned(),
                "aiv_time(us)" => decimal(core_us),
                "aiv_total_cycles" => format!("{:.0}", core_us * launch.number("clock_mhz")),
                "read_main_memory_datas(KB)" | "GM_to_UB_datas(KB)" => {
                    decimal(launch.number("read_bytes") / 1024.0 / cores)
                }
                "write_main_memory_datas(KB)" | "UB_to_GM_datas(KB)" => {
                    decimal(launch.number("written_bytes") / 1024.0 / cores)
                }
                _ => ["vec", "mte2", "mte3", "scalar"]
                    .into_iter()
                    .find_map(|name| {
                        if column == format!("aiv_{name}_time(us)") {
                            Some(decimal(pipe(name)))
                        } else if column == format!("aiv_{name}_ratio") {
                            Some(decimal(pipe(name) / core_us))
                        } else {
                            None
                        }
                    })
                    .unwrap_or_else(|| missing.to_owned()),
            });
            values.collect::<Vec<_>>().join(",")
        })
        .collect()
}

/// Six digits behind the point, of a single-precision number.
pub fn decimal(value: f64) -> String {
    format!("{:.6}", value as f32)
}
