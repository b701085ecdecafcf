//! Why the pipes of a core wait for ever: a flag that nobody sets, or a circle of waits.

use std::collections::{BTreeSet, VecDeque};

use super::held::Held;
use super::pipe::{flag_name, flag_slot, slot_destination, slot_source};
use super::record::{PIPE_COUNT, Record, S, pipe_name};
use super::trace::OpKind;

/// What stands still: per pipe what it holds behind its flag, and the record that the scalar unit cannot get past.
pub(crate) struct Blocked<'b> {
    pub(crate) held: &'b [VecDeque<Held>; PIPE_COUNT],
    pub(crate) halted: Option<&'b Held>,
}

/// One reason, with the wait that comes first in the program and, in a circle, the set that it waits for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) site: u64,
    pub(crate) other_site: u64,
    pub(crate) message: String,
}

/// A unit that waits.
struct Wait {
    pipe: usize,
    site: u64,
    number: u64,
    /// The flag; none at a barrier for all pipes.
    slot: Option<u16>,
    /// Units that would have to go on first, with the site of what they would do.
    needs: Vec<(usize, u64)>,
}

impl Wait {
    fn awaited(&self) -> String {
        match self.slot {
            Some(slot) => format!("flag {}", flag_name(slot)),
            None => "all pipes".to_owned(),
        }
    }
}

/// The reasons of a standstill. Waits that merely follow from others are left out. `later` are the flags that are set, and
/// where, in what the scalar unit has not come to.
pub(crate) fn reports(
    blocked: &Blocked<'_>,
    later: &[(u16, u64)],
    kind: impl Fn(&Record<'_>) -> OpKind,
) -> Vec<Report> {
    let slot = |record: &Record<'_>| flag_slot(record.aux[1], record.aux[2], record.aux[0]);
    let needs = |wanted: u16| {
        let source = slot_source(wanted);
        let held = blocked.held[source]
            .iter()
            .find(|held| kind(&held.record()) == OpKind::SetFlag && slot(&held.record()) == wanted);
        let late = || later.iter().find(|(slot, _)| *slot == wanted).map(|(_, site)| (S, *site));
        held.map(|held| (source, held.record().site)).or_else(late).into_iter().collect::<Vec<_>>()
    };
    let mut waits: Vec<Wait> = Vec::new();
    for (pipe, held) in blocked.held.iter().enumerate() {
        if let Some(first) = held.front() {
            let slot = slot(&first.record());
            waits.push(Wait {
                pipe,
                site: first.record().site,
                number: first.number,
                slot: Some(slot),
                needs: needs(slot),
            });
        }
    }
    if let Some(halted) = blocked.halted {
        let flag = (kind(&halted.record()) == OpKind::WaitFlag).then(|| slot(&halted.record()));
        let needs = match flag {
            Some(slot) => needs(slot),
            None => waits.iter().map(|wait| (wait.pipe, wait.site)).collect(),
        };
        waits.push(Wait { pipe: S, site: halted.record().site, number: halted.number, slot: flag, needs });
    }
    let mut reports = Vec::new();
    let mut seen = BTreeSet::new();
    for wait in &waits {
        if let Some(report) = reason(wait, &waits, &mut seen) {
            reports.push(report);
        }
    }
    reports
}

/// Where the way from a wait through what it needs ends: at a flag that nobody sets, or in a circle. Each once.
fn reason(start: &Wait, waits: &[Wait], seen: &mut BTreeSet<usize>) -> Option<Report> {
    let mut path: Vec<&Wait> = Vec::new();
    let mut at = start;
    loop {
        if let Some(first) = path.iter().position(|wait| wait.pipe == at.pipe) {
            return seen.insert(at.pipe).then(|| circle(&path[first..], seen));
        }
        if seen.contains(&at.pipe) {
            return None;
        }
        path.push(at);
        let next = at.needs.iter().find_map(|(pipe, _)| waits.iter().find(|wait| wait.pipe == *pipe));
        match next {
            Some(next) => at = next,
            None => {
                seen.insert(at.pipe);
                return Some(never_set(at));
            }
        }
    }
}

fn never_set(wait: &Wait) -> Report {
    let by = wait.slot.map_or("nobody", |slot| pipe_name(slot_source(slot)));
    let message = format!("{} waits for {} that {by} never sets", pipe_name(wait.pipe), wait.awaited());
    Report { site: wait.site, other_site: 0, message }
}

fn circle(members: &[&Wait], seen: &mut BTreeSet<usize>) -> Report {
    seen.extend(members.iter().map(|wait| wait.pipe));
    let first = (0..members.len()).min_by_key(|index| members[*index].number).unwrap_or(0);
    let circle: Vec<&Wait> = (0..members.len()).map(|step| members[(first + step) % members.len()]).collect();
    let name = |wait: &Wait| pipe_name(wait.pipe);
    let mut message = format!("{} waits for {}", name(circle[0]), circle[0].awaited());
    for next in &circle[1..] {
        message += &format!(", which {} sets only after its own wait for {}", name(next), next.awaited());
    }
    message += &format!(", which {} sets only after the wait for {}: a circle", name(circle[0]), circle[0].awaited());
    if let Some(destination) = circle[0].slot.map(slot_destination).filter(|_| circle.len() == 1) {
        message = format!(
            "{} waits for {} whose set comes only behind that wait",
            pipe_name(destination),
            circle[0].awaited()
        );
    }
    let other_site = circle[0].needs.first().map_or(0, |(_, site)| *site);
    Report { site: circle[0].site, other_site, message }
}
