//! Random programs against a second opinion: happens-before as the transitive closure of a graph, by brute force.

use super::super::testing::{CoreBuilder, Part, TraceBuilder, pipe, region};
use super::super::{Hazard, HazardKind};
use super::report;
use pipe::{MTE2, MTE3, V};

/// A cell of the unified buffer that instructions touch.
const CELL: u32 = 32;
const CELLS: u32 = 6;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Item {
    /// Reads and writes stretches of cells: first cell and number of them.
    Instruction {
        pipe: u8,
        read: (u32, u32),
        write: (u32, u32),
    },
    Set {
        from: u8,
        to: u8,
        id: u32,
    },
    Wait {
        from: u8,
        to: u8,
        id: u32,
    },
    Barrier {
        pipe: u8,
    },
    BarrierAll,
}

impl Item {
    /// The pipe that executes it; a barrier for all is everywhere.
    fn pipe(self) -> Option<u8> {
        match self {
            Self::Instruction { pipe, .. } | Self::Barrier { pipe } => Some(pipe),
            Self::Set { from, .. } => Some(from),
            Self::Wait { to, .. } => Some(to),
            Self::BarrierAll => None,
        }
    }

    fn emit(self, core: &mut CoreBuilder, gm: u64) {
        let part = |(cell, count): (u32, u32), make: fn(u64, u32) -> Part| {
            (count > 0).then(|| make(u64::from(cell * CELL), count * CELL))
        };
        match self {
            Self::Instruction { pipe, read, write } => {
                let mut parts: Vec<Part> =
                    [part(read, Part::ub_read), part(write, Part::ub_write)].into_iter().flatten().collect();
                let name = match pipe {
                    MTE2 => {
                        parts.push(Part::gm_read(region(0) + gm, CELL));
                        "copy_gm_to_ubuf"
                    }
                    MTE3 => {
                        parts.push(Part::gm_write(region(1) + gm, CELL));
                        "copy_ubuf_to_gm"
                    }
                    _ => "vabs",
                };
                core.record(name, pipe, 1, 0, 1, [16, CELL, CELL], &parts);
            }
            Self::Set { from, to, id } => {
                core.set(from, to, id);
            }
            Self::Wait { from, to, id } => {
                core.wait(from, to, id);
            }
            Self::Barrier { pipe } => {
                core.barrier(pipe);
            }
            Self::BarrierAll => {
                core.barrier_all();
            }
        }
    }
}

/// A generator with the same numbers everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 33) % u64::from(limit)) as u32
    }

    fn instruction(&mut self) -> Item {
        let mut cells = || {
            let first = self.below(CELLS);
            (first, 1 + self.below((CELLS - first).min(2)))
        };
        let (read, write) = (cells(), cells());
        match self.below(3) {
            0 => Item::Instruction { pipe: MTE2, read: (0, 0), write },
            1 => Item::Instruction { pipe: MTE3, read, write: (0, 0) },
            _ => Item::Instruction { pipe: V, read, write },
        }
    }
}

/// For every item which ones come before it; none when the items wait for each other in a circle.
fn closure(items: &[Item]) -> Option<Vec<u64>> {
    assert!(items.len() <= 64);
    let mut before = vec![0_u64; items.len()];
    for (later, item) in items.iter().enumerate() {
        for (earlier, other) in items[..later].iter().enumerate() {
            let same = item.pipe().is_none() || other.pipe().is_none() || item.pipe() == other.pipe();
            // The vector unit keeps its order; on the copy pipes whatever is not a copy itself does.
            let copies = |item: &Item| matches!(item, Item::Instruction { pipe, .. } if *pipe != V);
            if same && !(copies(item) && copies(other)) {
                before[later] |= 1 << earlier;
            }
        }
        if let Item::Wait { from, to, id } = *item {
            let set = items.iter().position(|other| *other == Item::Set { from, to, id })?;
            before[later] |= 1 << set;
        }
    }
    loop {
        let mut changed = false;
        for item in 0..items.len() {
            let all = (0..items.len())
                .filter(|other| before[item] & (1 << other) != 0)
                .fold(before[item], |all, other| all | before[other]);
            changed |= all != before[item];
            before[item] = all;
        }
        if !changed {
            break;
        }
    }
    (0..items.len()).all(|item| before[item] & (1 << item) == 0).then_some(before)
}

fn conflict(a: &Item, b: &Item) -> bool {
    let overlap = |(a, an): (u32, u32), (b, bn): (u32, u32)| a < b + bn && b < a + an && an > 0 && bn > 0;
    match (a, b) {
        (Item::Instruction { read: ar, write: aw, .. }, Item::Instruction { read: br, write: bw, .. }) => {
            overlap(*aw, *bw) || overlap(*aw, *br) || overlap(*ar, *bw)
        }
        _ => false,
    }
}

/// Pairs of items on the same bytes without an order.
fn races(items: &[Item], before: &[u64]) -> Vec<(usize, usize)> {
    let pairs = (0..items.len()).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
    pairs
        .filter(|(a, b)| conflict(&items[*a], &items[*b]) && before[*b] & (1 << a) == 0 && before[*a] & (1 << b) == 0)
        .collect()
}

/// Instructions with everything between them that they need.
fn ordered(random: &mut Random, length: usize) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let mut ids = std::collections::BTreeMap::new();
    for _ in 0..length {
        let next = random.instruction();
        loop {
            let mut tried = items.clone();
            tried.push(next);
            let before = closure(&tried).expect("no circles in the order of the program");
            let Some((earlier, _)) = races(&tried, &before).into_iter().next() else { break };
            let (from, to) = (items[earlier].pipe().unwrap_or(V), next.pipe().unwrap_or(V));
            if items.len() > 56 {
                return items;
            }
            if from == to {
                items.push(Item::Barrier { pipe: from });
            } else if random.below(8) == 0 {
                items.push(Item::BarrierAll);
            } else {
                let id = ids.entry((from, to)).and_modify(|id| *id += 1).or_insert(0);
                if *id > 15 {
                    return items;
                }
                // The set anywhere behind what it speaks of, at times in front of other instructions; the wait in front of the
                // next one or, now and then, long before the set.
                let set = earlier + 1 + random.below((items.len() - earlier) as u32) as usize;
                items.insert(set, Item::Set { from, to, id: *id });
                let wait = Item::Wait { from, to, id: *id };
                let early = if random.below(4) == 0 { random.below(items.len() as u32) as usize } else { items.len() };
                items.insert(early, wait);
                if closure(&items).is_none() {
                    items.remove(early);
                    items.push(wait);
                }
            }
        }
        items.push(next);
    }
    items
}

fn judged(items: &[Item]) -> Vec<Hazard> {
    let mut trace = TraceBuilder::default();
    let core = trace.core(0);
    core.at(1000).scalar(1, 0, &[Part::ub_write(0, CELL * CELLS)]).barrier_all();
    for (index, item) in items.iter().enumerate() {
        core.at(index as u64 + 1);
        item.emit(core, index as u64 * 64);
    }
    core.end();
    report(&trace).hazards
}

/// What the judge says of races has to be what the closure says.
fn compare(items: &[Item]) -> bool {
    let before = closure(items).expect("no circles");
    let expected = races(items, &before);
    let hazards = judged(items);
    let found: Vec<_> = hazards.iter().filter(|hazard| hazard.kind == HazardKind::Race).collect();
    assert_eq!(found.is_empty(), expected.is_empty(), "{items:#?}\nby hand: {expected:?}\n{hazards:#?}");
    for race in &found {
        let (a, b) = (race.site.min(race.other_site) as usize - 1, race.site.max(race.other_site) as usize - 1);
        assert!(expected.contains(&(a, b)), "({a}, {b}) is ordered: {items:#?}\n{race:#?}");
    }
    !expected.is_empty()
}

#[test]
fn programs_with_all_their_flags_are_never_flagged() {
    for seed in 1..=300_u64 {
        let items = ordered(&mut Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)), 10 + seed as usize % 12);
        let hazards = judged(&items);
        assert_eq!(hazards, [], "seed {seed}: {items:#?}");
    }
}

#[test]
fn every_order_that_is_missed_is_missed_by_the_judge_too() {
    let mut necessary = 0;
    for seed in 1..=60_u64 {
        let items = ordered(&mut Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d)), 10 + seed as usize % 12);
        for (index, item) in items.iter().enumerate() {
            let mut fewer = items.clone();
            match *item {
                Item::Instruction { .. } | Item::Wait { .. } => continue,
                Item::Set { from, to, id } => {
                    fewer.retain(|other| *other != *item && *other != Item::Wait { from, to, id });
                }
                Item::Barrier { .. } | Item::BarrierAll => {
                    fewer.remove(index);
                }
            }
            necessary += u32::from(compare(&fewer));
        }
    }
    assert!(necessary > 200, "{necessary} orders were necessary");
}

#[test]
fn programs_with_some_of_their_flags_are_judged_like_the_closure() {
    let mut wrong = 0;
    for seed in 1..=400_u64 {
        let mut random = Random(seed.wrapping_mul(0xd134_2543_de82_ef95));
        let mut items = ordered(&mut random, 8 + seed as usize % 14);
        for _ in 0..random.below(4) {
            let index = random.below(items.len() as u32) as usize;
            match items[index] {
                Item::Set { from, to, id } | Item::Wait { from, to, id } => items.retain(|other| {
                    !matches!(*other, Item::Set { from: f, to: t, id: i } | Item::Wait { from: f, to: t, id: i } if (f, t, i) == (from, to, id))
                }),
                Item::Barrier { .. } | Item::BarrierAll => {
                    items.remove(index);
                }
                Item::Instruction { .. } => {}
            }
        }
        wrong += u32::from(compare(&items));
    }
    assert!((50..350).contains(&wrong), "{wrong} of 400 programs are wrong");
}
