//! The boxed table of `npu-smi info`: columns by their headers, whatever the width.

use std::fmt;

/// How a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// Nothing is wrong.
    Ok,
    /// Something is, and it works.
    Warning,
    /// It may not work.
    Alarm,
    /// It does not work.
    Critical,
    /// Whatever else is said, such as `UNKNOWN`.
    Other(String),
}

impl Health {
    /// The state that a word stands for.
    pub(super) fn of(word: &str) -> Health {
        match word.trim().to_ascii_lowercase().as_str() {
            "ok" => Health::Ok,
            "warning" => Health::Warning,
            "alarm" => Health::Alarm,
            "critical" => Health::Critical,
            _ => Health::Other(word.trim().to_owned()),
        }
    }

    /// Whether work may be given to it. A state with a word that nobody knows is no reason against it.
    pub fn is_fit(&self) -> bool {
        !matches!(self, Health::Alarm | Health::Critical)
    }
}

impl fmt::Display for Health {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Health::Ok => "OK",
            Health::Warning => "Warning",
            Health::Alarm => "Alarm",
            Health::Critical => "Critical",
            Health::Other(word) => word,
        })
    }
}

/// Somebody on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its name, as far as the column is wide.
    pub name: String,
    /// Device memory that it has.
    pub memory_mib: Option<u64>,
}

impl fmt::Display for Process {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "process {} ({})", self.pid, self.name)
    }
}

/// What the table says of a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chip {
    pub npu: u32,
    pub chip: u32,
    pub name: String,
    pub health: Health,
    pub bus: Option<String>,
    pub ai_core_percent: Option<u32>,
    pub memory_mib: Option<(u64, u64)>,
    pub processes: Vec<Process>,
}

#[derive(Debug, Default)]
pub(super) struct Table {
    pub driver: Option<String>,
    pub chips: Vec<Chip>,
    pub remarks: Vec<String>,
}

/// What the rows below a header are.
enum Below {
    Nothing,
    /// Rows in pairs; whether the next is the second of a pair, and what the first said.
    Chips(Option<(u32, String, Health)>),
    Processes,
}

/// Reads the table. What cannot be read is remarked on and passed over.
pub(super) fn read(text: &str) -> Table {
    let mut table = Table::default();
    let (mut first, mut second, mut third) = (Header::default(), Header::default(), Header::default());
    let mut below = Below::Nothing;
    for line in text.lines().map(str::trim).filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let header = Header::of(&cells);
        if let Some(version) = line.split_once("Version:") {
            table.driver = version.1.split(['|', ' ']).find(|word| !word.is_empty()).map(str::to_owned);
        } else if header.has("npu") && header.has("name") && header.has("health") {
            (first, below) = (header, Below::Nothing);
        } else if header.has("chip") && header.has("bus-id") {
            (second, below) = (header, Below::Chips(None));
        } else if header.has("npu") && header.has("process") {
            (third, below) = (header, Below::Processes);
        } else {
            let understood = match &mut below {
                Below::Nothing => true,
                Below::Chips(pending) => chip_row(&cells, &first, &second, pending, &mut table.chips),
                Below::Processes => process_row(&cells, &third, &mut table.chips),
            };
            if !understood && !line.to_ascii_lowercase().contains("no running process") {
                table.remarks.push(format!("a line of `npu-smi info` was not understood: {line}"));
            }
        }
    }
    table
}

fn chip_row(
    cells: &[&str],
    first: &Header,
    second: &Header,
    pending: &mut Option<(u32, String, Health)>,
    chips: &mut Vec<Chip>,
) -> bool {
    let bus = second.value(cells, "bus-id");
    let is_address = bus.as_deref().is_some_and(is_bus_address);
    match pending.take() {
        Some((npu, name, health)) if is_address || second.number(cells, "chip").is_some() => {
            let Some(chip) = second.number(cells, "chip") else { return false };
            let memory = |column: &str| {
                let text = second.value(cells, column)?;
                let (used, all) = text.split_once('/')?;
                let (used, all): (u64, u64) = (used.trim().parse().ok()?, all.trim().parse().ok()?);
                (all > 0).then_some((used, all))
            };
            chips.push(Chip {
                npu,
                chip,
                name,
                health,
                bus: bus.filter(|_| is_address),
                ai_core_percent: second.number(cells, "aicore"),
                memory_mib: memory("hbm-usage").or_else(|| memory("memory-usage")),
                processes: Vec::new(),
            });
            true
        }
        _ => {
            let health = first.value(cells, "health");
            if let (false, Some(npu), Some(name), Some(health)) =
                (is_address, first.number(cells, "npu"), first.value(cells, "name"), health)
            {
                *pending = Some((npu, name, Health::of(&health)));
                return true;
            }
            false
        }
    }
}

fn process_row(cells: &[&str], header: &Header, chips: &mut [Chip]) -> bool {
    let Some(npu) = header.number(cells, "npu") else { return false };
    let chip = header.number(cells, "chip").unwrap_or(0);
    let Some(pid) = header.number(cells, "process id") else { return false };
    let process = Process {
        pid,
        name: header.value(cells, "process name").unwrap_or_default(),
        memory_mib: header.number(cells, "process memory").map(u64::from),
    };
    match chips.iter_mut().find(|known| known.npu == npu && known.chip == chip) {
        Some(known) => known.processes.push(process),
        None => return false,
    }
    true
}

fn is_bus_address(text: &str) -> bool {
    let mut parts = text.split(':');
    let hex = |part: Option<&str>| {
        part.is_some_and(|part| !part.is_empty() && part.chars().all(|one| one.is_ascii_hexdigit() || one == '.'))
    };
    hex(parts.next()) && hex(parts.next()) && parts.all(|part| hex(Some(part)))
}

/// Columns by cell and place in the cell, names in lower case without their unit.
#[derive(Debug, Default)]
struct Header {
    columns: Vec<(usize, usize, String)>,
    /// How many columns each cell holds.
    counts: Vec<usize>,
}

impl Header {
    fn of(cells: &[&str]) -> Header {
        let mut header = Header::default();
        for (cell, text) in cells.iter().enumerate() {
            let lower = text.to_ascii_lowercase();
            // These names have two words; all others are one.
            let names: Vec<String> = match lower.starts_with("process") {
                true => vec![lower],
                false => lower.split_whitespace().map(str::to_owned).collect(),
            };
            header.counts.push(names.len());
            for (place, name) in names.into_iter().enumerate() {
                let name = name.split('(').next().unwrap_or_default().trim().to_owned();
                header.columns.push((cell, place, name));
            }
        }
        header
    }

    fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|(_, _, known)| known == name || known.split(' ').next() == Some(name))
    }

    fn value(&self, cells: &[&str], name: &str) -> Option<String> {
        let (cell, place, _) = self.columns.iter().find(|(_, _, known)| known == name)?;
        let text = cells.get(*cell)?;
        if self.counts.get(*cell) == Some(&1) {
            return (!text.is_empty()).then(|| (*text).to_owned());
        }
        // `3402 / 65536` is one value.
        let mut words: Vec<String> = Vec::new();
        let mut joins = false;
        for word in text.split_whitespace() {
            match words.last_mut().filter(|last| joins || word.starts_with('/') && !last.ends_with('/')) {
                Some(last) => last.push_str(word),
                None => words.push(word.to_owned()),
            }
            joins = word.ends_with('/');
        }
        words.get(*place).filter(|word| *word != "-" && !word.eq_ignore_ascii_case("na")).cloned()
    }

    fn number(&self, cells: &[&str], name: &str) -> Option<u32> {
        self.value(cells, name)?.trim().parse().ok()
    }
}
