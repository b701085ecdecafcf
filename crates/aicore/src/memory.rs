//! Transfers of all cores sharing HBM and the L2 port.
//!
//! A transfer is a flow of bytes. Flows of equal demand form a class and get equal rates at any moment, so a class
//! keeps one running total of bytes served per flow and a sorted list of the totals at which its flows end. A change of rates
//! costs O(classes with flows). Dirty lines that L2 gives up go to HBM as flows of their own:
//! no copy waits for them, but they take their share. Flows that want the same addresses at the same time are served by
//! one part of the memory and share its rate. Rates are max-min fair, reads before writes, under the per-core limits, the
//! HBM ceiling and the L2 port.

use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use super::agenda::Agenda;
use super::copy::{Copy, CopyShape};
use super::kernel_type::Unit;
use super::key_hasher::ByKey;
use super::l2::{L2, Traffic};
use super::machine::Parameters;
use super::record::PIPE_COUNT;

/// A time or byte total that orders by value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ordered(pub(crate) f64);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Shares of a demand are rounded to this, which bounds the number of classes.
const DEMAND_STEPS: f64 = 16.0;
/// Bytes below which a flow counts as finished; far below one cycle's worth.
const FINISHED_BYTES: f64 = 1e-3;

/// What a flow asks of the memory system, per byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Demand {
    write: bool,
    /// HBM bytes per byte, in steps.
    hbm: u32,
    /// Share of the bytes that misses, in steps; it decides the rate limit of a reading core.
    miss: u32,
    /// A cube core's: its paths have other rates.
    cube: bool,
    /// Lines that L2 gives up.
    background: bool,
    /// Address that several flows of this class want at the same time, plus one; zero for none.
    address: u64,
}

/// Owner of flows that nobody waits for.
const NOBODY: u32 = u32::MAX;
/// No address.
const NOWHERE: u64 = u64::MAX;

struct Class {
    limit: f64,
    /// Growth relative to other flows while a shared resource is divided.
    weight: f64,
    hbm: f64,
    port: f64,
    served: f64,
    rate: f64,
    ends: Agenda<(Ordered, u32, u8)>,
    /// All flows want the same address.
    same_address: bool,
}

/// Bytes moved between global memory and the cores.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct MemoryTotals {
    pub(crate) read: u64,
    pub(crate) written: u64,
    pub(crate) read_hits: u64,
    pub(crate) hbm_read: u64,
    pub(crate) hbm_written: u64,
}

/// The memory system.
pub(crate) struct Memory {
    pub(crate) l2: L2,
    now: f64,
    hbm_bytes_per_cycle: f64,
    hbm_write_weight: f64,
    port_read: f64,
    port_write: f64,
    read_priority: f64,
    read_limit_hbm: [f64; 2],
    read_limit_l2: [f64; 2],
    write_limit: [f64; 2],
    /// Bytes per cycle that all readers of one address get together.
    same_address: f64,
    classes: Vec<Class>,
    by_demand: BTreeMap<Demand, usize>,
    /// The latest demand for no address in particular, and its class.
    latest: Option<(Demand, usize)>,
    /// Classes that have flows, in order.
    busy: Vec<usize>,
    /// Classes of flows that want one address, which can be taken for another when they are empty.
    idle: Vec<usize>,
    /// Classes whose rates are not settled yet while they are shared out.
    growing: Vec<usize>,
    /// Addresses that reading flows in flight start at, and how many of them.
    wanted: HashMap<u64, u32, ByKey>,
    /// The address of each reading flow in flight, by core and pipe; [`NOWHERE`] for others.
    starts: Vec<[u64; PIPE_COUNT]>,
    stale: bool,
    pub(crate) totals: MemoryTotals,
}

/// Bytes per cycle that one core reads from HBM when as many of each kind run: vector cores, cube cores.
pub(crate) fn core_read_limits(parameters: &Parameters, cores: [usize; 2]) -> [f64; 2] {
    let shared = ((cores[0] + cores[1]).clamp(1, 4) - 1) as f64 / 3.0;
    let mix = |alone: f64, many: f64| alone * (1.0 - shared) + many * shared;
    [
        mix(parameters.core_read_hbm_alone, parameters.core_read_hbm_shared),
        mix(parameters.cube_read_hbm_alone, parameters.cube_read_hbm_shared),
    ]
}

/// GB/s at the machine's clock as bytes per cycle.
pub(crate) fn bytes_per_cycle(parameters: &Parameters, gbps: f64) -> f64 {
    gbps * 1e3 / parameters.clock_mhz
}

impl Memory {
    pub(crate) fn new(parameters: &Parameters, cores: [usize; 2], l2: L2) -> Self {
        Self {
            l2,
            now: 0.0,
            hbm_bytes_per_cycle: bytes_per_cycle(parameters, parameters.hbm_read_gbps),
            hbm_write_weight: parameters.hbm_write_weight,
            port_read: 1.0 / bytes_per_cycle(parameters, parameters.l2_read_gbps),
            port_write: 1.0 / bytes_per_cycle(parameters, parameters.l2_write_gbps),
            read_priority: parameters.read_priority,
            read_limit_hbm: core_read_limits(parameters, cores),
            read_limit_l2: [parameters.core_read_l2, parameters.cube_read_l2],
            write_limit: [parameters.core_write, parameters.fixpipe_write],
            same_address: bytes_per_cycle(parameters, parameters.same_address_gbps),
            classes: Vec::new(),
            by_demand: BTreeMap::new(),
            latest: None,
            busy: Vec::new(),
            idle: Vec::new(),
            growing: Vec::new(),
            wanted: HashMap::default(),
            starts: Vec::new(),
            stale: false,
            totals: MemoryTotals::default(),
        }
    }

    /// Start a transfer of `operand`'s bytes at the current time, `shape.effective_bytes` long as far as time goes.
    ///
    /// `crowd` says that other copies of the same address start now. Returns the cycles that it would take alone.
    pub(crate) fn start(&mut self, copy: &Copy, shape: &CopyShape, unit: Unit, owner: (u32, u8), crowd: bool) -> f64 {
        let Copy { gm: operand, write, bypass, .. } = copy;
        let (write, bypass) = (*write, *bypass);
        let mut traffic = Traffic::default();
        for (address, len) in operand.pieces() {
            self.l2.access(address, len, write, bypass, &mut traffic);
        }
        let bytes = (traffic.hit + traffic.miss).max(1);
        if write {
            self.totals.written += bytes;
            self.totals.hbm_written += traffic.moved + traffic.written_back;
        } else {
            self.totals.read += bytes;
            self.totals.read_hits += traffic.hit;
            self.totals.hbm_read += traffic.moved;
            self.totals.hbm_written += traffic.written_back;
        }
        let whole = bytes as f64;
        let miss = traffic.miss as f64 / whole;
        let moved = traffic.moved as f64 / whole;
        let hbm = if write { moved * self.hbm_write_weight } else { moved };
        let at = operand.addr;
        let crowded = !write && (crowd || self.wanted.get(&at).is_some_and(|count| *count > 0));
        let demand = Demand {
            write,
            hbm: steps(hbm),
            miss: if write { 0 } else { steps(miss) },
            cube: unit == Unit::Cube,
            background: false,
            address: if crowded { at + 1 } else { 0 },
        };
        if !write {
            *self.wanted.entry(at).or_default() += 1;
            let core = owner.0 as usize;
            if self.starts.len() <= core {
                self.starts.resize(core + 1, [NOWHERE; PIPE_COUNT]);
            }
            self.starts[core][usize::from(owner.1)] = at;
        }
        let effective = shape.effective_bytes.max(1.0);
        let index = self.class(demand);
        self.flow(index, effective, owner);
        let alone = effective / self.classes[index].limit;
        if traffic.written_back > 0 {
            let demand = Demand { write: true, hbm: 0, miss: 0, cube: false, background: true, address: 0 };
            let index = self.class(demand);
            self.flow(index, traffic.written_back as f64, (NOBODY, 0));
        }
        self.stale = true;
        alone
    }

    /// A flow of so many bytes joins a class.
    fn flow(&mut self, index: usize, bytes: f64, (core, pipe): (u32, u8)) {
        let class = &mut self.classes[index];
        if class.ends.is_empty() {
            let at = self.busy.partition_point(|busy| *busy < index);
            self.busy.insert(at, index);
        }
        class.ends.add((Ordered(class.served + bytes), core, pipe));
    }

    fn class(&mut self, demand: Demand) -> usize {
        if let Some((latest, index)) = self.latest
            && latest == demand
        {
            return index;
        }
        let index = self.class_of(demand);
        // A class of an address can become another's.
        if demand.address == 0 {
            self.latest = Some((demand, index));
        }
        index
    }

    fn class_of(&mut self, demand: Demand) -> usize {
        if let Some(index) = self.by_demand.get(&demand).copied() {
            if demand.address != 0 {
                self.idle.retain(|idle| *idle != index);
            }
            return index;
        }
        let miss = f64::from(demand.miss) / DEMAND_STEPS;
        let unit = usize::from(demand.cube);
        let limit = if demand.write {
            self.write_limit[unit]
        } else {
            1.0 / (miss / self.read_limit_hbm[unit] + (1.0 - miss) / self.read_limit_l2[unit])
        };
        let class = Class {
            limit,
            weight: if demand.write { 1.0 } else { self.read_priority },
            hbm: if demand.background {
                self.hbm_write_weight / self.hbm_bytes_per_cycle
            } else {
                f64::from(demand.hbm) / DEMAND_STEPS / self.hbm_bytes_per_cycle
            },
            port: match (demand.background, demand.write) {
                (true, _) => 0.0,
                (_, true) => self.port_write,
                (_, false) => self.port_read,
            },
            served: 0.0,
            rate: 0.0,
            ends: Agenda::default(),
            same_address: demand.address != 0,
        };
        let free = if demand.address != 0 { self.idle.pop() } else { None };
        let index = match free {
            Some(index) => {
                self.by_demand.retain(|_, known| *known != index);
                self.classes[index] = class;
                index
            }
            None => {
                self.classes.push(class);
                self.classes.len() - 1
            }
        };
        self.by_demand.insert(demand, index);
        index
    }

    /// When the next flow ends, if one runs.
    pub(crate) fn next_end(&mut self) -> Option<f64> {
        if self.stale {
            self.share();
            self.stale = false;
        }
        let ends = self.busy.iter().filter_map(|index| {
            let class = &self.classes[*index];
            let (end, _, _) = class.ends.first()?;
            Some(self.now + ((end.0 - class.served) / class.rate).max(0.0))
        });
        ends.min_by(f64::total_cmp)
    }

    /// Move on to `time`; flows that have ended by then go to `ended` in order of class, core and pipe.
    pub(crate) fn advance(&mut self, time: f64, ended: &mut Vec<(u32, u8)>) {
        let elapsed = (time - self.now).max(0.0);
        self.now = time.max(self.now);
        let (classes, idle) = (&mut self.classes, &mut self.idle);
        self.busy.retain(|index| {
            let class = &mut classes[*index];
            class.served += class.rate * elapsed;
            while let Some((end, core, pipe)) = class.ends.first().copied() {
                if end.0 > class.served + FINISHED_BYTES {
                    break;
                }
                class.ends.take_first();
                self.stale = true;
                if core == NOBODY {
                    continue;
                }
                let start = self.starts.get_mut(core as usize).map(|starts| &mut starts[usize::from(pipe)]);
                let at = start.map_or(NOWHERE, |start| std::mem::replace(start, NOWHERE));
                if at != NOWHERE
                    && let Entry::Occupied(mut count) = self.wanted.entry(at)
                {
                    *count.get_mut() -= 1;
                    if *count.get() == 0 {
                        count.remove();
                    }
                }
                ended.push((core, pipe));
            }
            let empty = class.ends.is_empty();
            if empty {
                class.served = 0.0;
                if class.same_address {
                    idle.push(*index);
                }
            }
            !empty
        });
    }

    /// Weighted max-min fair rates: all flows grow together until their own limit or a shared one stops them.
    fn share(&mut self) {
        let Self { growing, busy, classes, .. } = self;
        growing.clone_from(busy);
        let (mut hbm_left, mut port_left) = (1.0_f64, 1.0_f64);
        let same_address = self.same_address;
        let limit = |class: &Class| match class.same_address {
            true => class.limit.min(same_address / class.ends.len().max(1) as f64),
            false => class.limit,
        };
        while !growing.is_empty() {
            let (mut hbm, mut port, mut least) = (0.0, 0.0, f64::INFINITY);
            for class in growing.iter().map(|index| &classes[*index]) {
                let weight = class.ends.len() as f64 * class.weight;
                hbm += weight * class.hbm;
                port += weight * class.port;
                least = f64::min(least, limit(class) / class.weight);
            }
            let by_hbm = if hbm > 0.0 { hbm_left / hbm } else { f64::INFINITY };
            let by_port = if port > 0.0 { port_left / port } else { f64::INFINITY };
            let level = by_hbm.min(by_port).min(least).max(f64::MIN_POSITIVE);
            let mut stop = |class: &mut Class| {
                class.rate = level * class.weight;
                hbm_left = (hbm_left - class.rate * class.hbm * class.ends.len() as f64).max(0.0);
                port_left = (port_left - class.rate * class.port * class.ends.len() as f64).max(0.0);
            };
            let before = growing.len();
            growing.retain(|index| {
                let class = &mut classes[*index];
                let stops = limit(class) <= level * class.weight
                    || (by_port <= level && class.port > 0.0)
                    || (by_hbm <= level && class.hbm > 0.0);
                if stops {
                    stop(class);
                }
                !stops
            });
            if growing.len() == before {
                // Rounding put the level a hair below every limit; this is the last step.
                for index in growing.drain(..) {
                    stop(&mut classes[index]);
                }
            }
        }
    }
}

/// A share in steps, rounded half up.
fn steps(share: f64) -> u32 {
    let exact = share * DEMAND_STEPS;
    let whole = exact as u32;
    whole + u32::from(exact - f64::from(whole) >= 0.5)
}

#[cfg(test)]
mod tests {
    use super::super::machine::Machine;
    use super::super::operand::{Operand, Space};
    use super::super::record::StreamPosition;
    use super::*;

    fn gm(addr: u64, len: u32) -> Operand {
        Operand::rows(Space::Gm, addr, len, 1, 0)
    }

    fn time_of(cores: u32, write: bool) -> f64 {
        let parameters = Machine::named("ascend910b2").unwrap().parameters;
        let mut memory = Memory::new(&parameters, [cores as usize, 0], L2::new(parameters.l2_bytes as u64));
        for core in 0..cores {
            let operand = gm(u64::from(core) << 20, 1 << 16);
            let shape = CopyShape { bytes: 1 << 16, effective_bytes: 65536.0, bursts: 1 };
            memory.start(
                &Copy { gm: operand, place: StreamPosition::default(), write, bypass: false },
                &shape,
                Unit::Vector,
                (core, 2),
                false,
            );
        }
        let mut ended = Vec::new();
        let end = memory.next_end().unwrap();
        memory.advance(end, &mut ended);
        assert_eq!(ended.len(), cores as usize);
        assert_eq!(memory.next_end(), None);
        end
    }

    #[test]
    fn one_core_is_limited_by_its_own_rate_and_all_cores_by_hbm() {
        assert!((time_of(1, false) - 65536.0 / 55.0).abs() < 1e-6);
        let all = time_of(48, false);
        assert!((all - 48.0 * 65536.0 / (1540.0 / 1.8)).abs() < 1e-3, "{all}");
    }

    #[test]
    fn writes_that_stay_in_the_cache_do_not_use_hbm() {
        let all = time_of(48, true);
        assert!((all - 48.0 * 65536.0 / (2300.0 / 1.8)).abs() < 1e-3, "{all}");
    }
}
