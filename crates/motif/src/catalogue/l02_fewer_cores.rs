//! L02: no more cores than there is work for: each core takes time to start.

use crate::analysis::launches::{ELEMENTS_PER_CORE, Launch, cap_of, launches};
use crate::rewrite::edits::{edit, included};
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::parse::Call;

/// Where `std::min` is declared.
const HEADER: &str = "<algorithm>";

/// What host code takes from there.
const ALGORITHMS: &[&str] =
    &["std::min", "std::max", "std::clamp", "std::sort", "std::find", "std::all_of", "std::any_of"];

/// The motif.
pub struct FewerCores;

const METADATA: Metadata = Metadata {
    id: Id::L02,
    title: "fewer cores for small work",
    family: Family::Launch,
    precondition: "a host function that sets one block dimension, which follows from a variable that gets the platform's number of vector cores there; every share follows \
     from that variable; the first input has a shape",
    left_to_verifier: "cores stay independent with another number of them (results, hazard check); the first input tells how much work there is",
    relieves: &[Counter::LaunchUs],
    prior_gain: 1.1,
    cost: "work that takes long per element of the first input has fewer cores too while that is small",
    tunables: "none",
    undoing: "the platform's number of cores, however small the input",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for FewerCores {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for launch in launches(context) {
            for asked in asked(&launch) {
                let note = format!("a core for every {ELEMENTS_PER_CORE} elements");
                let candidate = Candidate::new(launch.file, &asked.span, note, capped(&launch, asked));
                found.push(
                    candidate
                        .on_condition("cores stay independent when there are fewer of them")
                        .on_condition("the elements of the first input tell how much work there is"),
                );
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for launch in launches(context) {
            for cap in launch.file.calls_in(launch.function.body.clone()).filter(|call| call.name == "min") {
                let file = launch.file;
                let asks = |call: &&Call| call.name == "GetCoreNumAiv" && cap.arguments.first() == Some(&call.span);
                let Some(inner) = file.calls_in(cap.span.clone()).find(asks) else { continue };
                let question = file.slice(&inner.span);
                if launch.work(ELEMENTS_PER_CORE).ok().map(|work| cap_of(question, &work)).as_deref()
                    != Some(file.slice(&cap.span))
                {
                    continue;
                }
                let plain = edit(file, cap.span.clone(), question);
                let note = "the platform's number of cores";
                found.push(Candidate::new(file, &cap.span, note, Ok(vec![plain.clone()])));
                // The header goes with it where nothing else needs it.
                let line = format!("#include {HEADER}\n");
                let uses = ALGORITHMS.iter().map(|name| file.text().matches(name).count()).sum::<usize>();
                if let Some(start) = file.text().find(&line).filter(|_| uses == 1) {
                    let edits = Ok(vec![edit(file, start..start + line.len(), ""), plain]);
                    found.push(Candidate::new(file, &cap.span, format!("{note}, without {HEADER}"), edits));
                }
            }
        }
        found
    }
}

/// Where a function asks for the number of cores from which its block dimension follows.
fn asked<'a>(launch: &Launch<'a>) -> Vec<&'a Call> {
    let (file, sources) = (launch.file, launch.sources());
    let calls = file.calls_in(launch.function.body.clone()).filter(|call| call.name == "GetCoreNumAiv");
    calls
        .filter(|call| {
            let before = file.text()[..call.span.start].trim_end();
            let Some(target) = before.strip_suffix('=').map(str::trim_end) else { return false };
            let name = target.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default();
            let ended = file.text()[call.span.end..].trim_start().starts_with(';');
            ended && sources.contains(&name)
        })
        .collect()
}

fn capped(launch: &Launch<'_>, asked: &Call) -> Result<Vec<Edit>, String> {
    let file = launch.file;
    let mut edits =
        vec![edit(file, asked.span.clone(), cap_of(file.slice(&asked.span), &launch.work(ELEMENTS_PER_CORE)?))];
    edits.extend(included(file, HEADER)?);
    Ok(edits)
}
