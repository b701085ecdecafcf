//! L15: rounds of a loop of scalars over global memory, dealt to all cores in ranges.
//!
//! The scalar unit writes global memory through a cache of its core, whole lines at a time: two cores must not write one line. A range is
//! so many rounds that what a dense tensor holds of them ends where a line does. Two loops of which one does nothing but the other are one
//! range, an index that runs along is set at the start of a round, and what a kernel may do instead of such loops stays with the first core.

use std::cell::Cell;

use crate::analysis::code::words;
use crate::analysis::entry::device_files;
use crate::analysis::host_numbers::{holds_on_host, key_on_host, on_host};
use crate::analysis::launches::Launch;
use crate::analysis::polynomial::Polynomial;
use crate::rewrite::dealing::{blocks_of, of_all_cores, of_one_core, set_blocks, to_all_cores, to_one_core};
use crate::rewrite::first_core::REST;
use crate::rewrite::scalar_dealing::{self, Dealing};
use crate::rewrite::scalar_ranges::{self, numbered};
use crate::{Candidate, Combination, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;

/// Elements of the first input that a core should have to do: a scalar unit takes a microsecond for so many even where it hardly does anything
/// for each, which is far longer than a core takes to start.
const SCALARS_PER_CORE: u32 = 128;

/// The motif.
pub struct DealtLoops;

const METADATA: Metadata = Metadata {
    id: Id::L15,
    title: "rounds of a scalar loop dealt to all cores",
    family: Family::Launch,
    precondition: "a kernel of vector cores alone; the only block dimension that host code sets is 1, and nothing there asks for it; in every launch, global memory is read and written by GetValue and SetValue alone, \
     and no global tensor by both, or the launch does something else in an arm of its own; every write stands in a loop from 0 in steps of 1 that runs once, at an index that follows its counter and nothing that was read, \
     or that runs along in steps that are known; what outlives a round is the same for all of them; no tensor is written by two of these loops; the first input has a shape",
    left_to_verifier: "rounds are independent: none reads what another one wrote under another name, and no two cores write the same line of the data cache (results, hazard check); \
     the first input tells how much work there is",
    relieves: &[Counter::ScalarUs],
    prior_gain: 8.0,
    cost: "more cores to start; a range is at least a line of the data cache",
    tunables: "closes a block dimension that is a tunable",
    undoing: "one core does all rounds",
    rounding_changes: false,
    // A number of cores that is 1 and that the kernel does not ask for is nothing that a search has to vary first.
    replaces_constants: false,
    // What works on tiles is dealt no more.
    company: Company {
        leads: &[
            Combination { rank: 17, motifs: &[Id::L15, Id::D24, Id::V01] },
            Combination { rank: 18, motifs: &[Id::L15, Id::D24, Id::V01, Id::Y01, Id::D01] },
        ],
        ..Company::ANY
    },
};

impl Motif for DealtLoops {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        // Most kernels of one core have nothing of the kind, which is worth no word.
        if !device_files(context).any(|file| file.calls_named("SetValue").next().is_some()) {
            return Vec::new();
        }
        let note = format!("scalar rounds dealt to all vector cores, at least {SCALARS_PER_CORE} elements for each");
        of_one_core(context, &note, |launch| dealt(context, launch))
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        of_all_cores(context, SCALARS_PER_CORE, |launch| gathered(context, launch))
    }
}

fn dealt(context: &Context, launch: &Launch<'_>) -> Result<Vec<Edit>, String> {
    let mut edits = to_all_cores(context, launch, SCALARS_PER_CORE)?;
    let dealing = scalar_dealing::dealt(context)?;
    if let Some(own) = blocks(context, launch, &dealing) {
        let argument = launch.set.arguments.first();
        edits.retain(|other| argument != Some(&other.span) || other.file != launch.file.name());
        edits.extend(own);
    }
    edits.extend(dealing.edits);
    Ok(edits)
}

/// The edit that has no more blocks than there are shares, and one where none are dealt, where the host can say that.
fn blocks(context: &Context, launch: &Launch<'_>, dealing: &Dealing<'_>) -> Option<Vec<Edit>> {
    let file = launch.file;
    let from = Cell::new(0);
    let taken = words(file.text());
    let mut number = 0;
    let (mut lines, mut shares) = (Vec::new(), Vec::new());
    for ((kernel, deal), way) in dealing.deals.iter().zip(&dealing.ways) {
        let say = |value: &Polynomial| {
            let said = on_host(context, launch, kernel, value)?;
            from.set(from.get().max(said.from));
            Some(said.text)
        };
        while ["lineRounds", "rounds", "innerRounds"]
            .iter()
            .any(|name| taken.contains(&numbered(name, number).as_str()))
        {
            number += 1;
        }
        // Rounds where not all is known that shares follow from, and nothing where these are not.
        let rounds = || Some((Vec::new(), say(&deal.nest.rounds()?)?));
        if let Some((own, share)) = deal.shares_on_host(number, &say).or_else(rounds) {
            lines.extend(own);
            // Where a launch goes another way, these rounds are no work.
            let way = way.as_ref().and_then(|way| holds_on_host(context, launch, kernel, way));
            shares.push(match way {
                Some(way) => {
                    from.set(from.get().max(way.from));
                    format!("({} ? {share} : 1)", way.text)
                }
                None => share,
            });
        }
        number += 1;
    }
    let key = dealing.condition.as_ref().and_then(|(kernel, asked)| {
        key_on_host(context, launch, kernel, asked).or_else(|| holds_on_host(context, launch, kernel, asked))
    });
    let cores = blocks_of(launch, SCALARS_PER_CORE).ok()?;
    // What one after the other deals is had by the same cores.
    let most = shares.iter().fold("1".to_owned(), |most, own| format!("std::max<int64_t>({most}, {own})"));
    let few = match shares.len() == dealing.deals.len() {
        true => format!("std::min<uint32_t>({cores}, static_cast<uint32_t>({most}))"),
        false if key.is_some() => cores,
        false => return None,
    };
    if shares.len() != dealing.deals.len() {
        lines.clear();
    }
    let text = match &key {
        Some(key) => format!("{} ? {few} : 1", key.text),
        None => few,
    };
    set_blocks(launch, &text, from.get().max(key.map_or(0, |key| key.from)), lines)
}

/// Makes one core do what was dealt as this motif does it.
fn gathered(context: &Context, launch: &Launch<'_>) -> Result<Vec<Edit>, String> {
    let mut edits = vec![to_one_core(launch)?];
    if let Some(file) = device_files(context).find(|file| file.text().contains(REST)) {
        return Err(format!("{}: what the first core does is not looked for", file.name()));
    }
    let loops: Vec<Edit> = device_files(context).flat_map(scalar_ranges::gathered).collect();
    if loops.is_empty() {
        return Err("no loop is dealt".to_owned());
    }
    edits.extend(loops);
    Ok(edits)
}
