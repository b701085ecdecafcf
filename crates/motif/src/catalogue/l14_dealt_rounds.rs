//! L14: rounds that one core does one after the other, dealt to all cores.
//!
//! Every core walks through all rounds, so that what counts them goes on as it did, and does the work of its own ones.

use crate::analysis::arms::Chain;
use crate::analysis::entry::device_files;
use crate::analysis::host_numbers::{OnHost, holds_on_host, key_on_host};
use crate::analysis::launches::{ELEMENTS_PER_CORE, Launch};
use crate::rewrite::dealing::{blocks_of, of_all_cores, of_one_core, set_blocks, to_all_cores, to_one_core};
use crate::rewrite::dealt_rounds::{Dealt, carries, classes, members, turn};
use crate::rewrite::edits::edit;
use crate::rewrite::first_core::{REST, first_core_alone};
use crate::rewrite::rounds_on_host::{number_of_rounds, whole_blocks};
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::api::is_copy;
use source::parse::{Call, Function};

/// The motif.
pub struct DealtRounds;

const METADATA: Metadata = Metadata {
    id: Id::L14,
    title: "rounds of one core dealt to all",
    family: Family::Launch,
    precondition: "a kernel of vector cores alone; the only block dimension that host code sets is 1, and nothing there asks for it; classes with global tensors are without bases and do their work in runs of calls of functions of their own \
     that together take from queues what they put in, set nothing that outlives them, and are the only ones that write global memory; what makes ready for them once may be done by all cores; \
     a tensor that every round adds another one to is made right before them, in one function with that; \
     a class or a function of which that is not so has an arm of the launch of its own, which the first core does; where the host knows the distance of whole blocks that rounds write, and it is none of whole blocks, one core does them; the first input has a shape, or the first output",
    left_to_verifier: "rounds are independent: none reads what another one wrote, in global memory or in a buffer, and no two write the same block (results, hazard check); \
     the first input, or else the first output, tells how much work there is",
    relieves: &[Counter::Mte2Us, Counter::Mte3Us, Counter::VecUs, Counter::ScalarUs],
    prior_gain: 4.0,
    cost: "more cores to start, and every core counts all rounds; sums that rounds make in a tensor are rounded otherwise",
    tunables: "closes a block dimension that is a tunable",
    undoing: "one core does all rounds",
    rounding_changes: false,
    // A number of cores that is 1 and that the kernel does not ask for is nothing that a search has to vary first.
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for DealtRounds {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let note = format!("rounds dealt to all vector cores, at least {ELEMENTS_PER_CORE} elements for each");
        let mut found = of_one_core(context, &note, |launch| dealt(context, launch));
        if found.iter().any(|candidate| candidate.edits.is_ok())
            && context.facts.kernels.values().any(|kernel| carries(context, kernel))
        {
            // A sum of as many is another sum.
            found = found.into_iter().map(|candidate| candidate.with_rounding(true)).collect();
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        of_all_cores(context, ELEMENTS_PER_CORE, |launch| gathered(context, launch))
    }
}

fn dealt(context: &Context, launch: &Launch<'_>) -> Result<Vec<Edit>, String> {
    let mut edits = to_all_cores(context, launch, ELEMENTS_PER_CORE)?;
    let (classes, rest) = classes(context)?;
    edits.extend(classes.iter().flat_map(|class| class.edits.iter().cloned()));
    for file in device_files(context) {
        let of_class = |function: &Function| function.class.is_some();
        let copies = |call: &&Call| is_copy(&call.name) && call.object.is_none();
        for call in file.calls().iter().filter(copies) {
            if !file.enclosing_function(call.span.start).is_some_and(of_class) {
                return Err(format!("{}:{}: {} in no class", file.name(), file.line(call.span.start), call.name));
            }
        }
    }
    let ways: Vec<Chain<'_>> = classes.iter().flat_map(|class| class.ways.iter().cloned()).collect();
    let mut told: Vec<OnHost> = Vec::new();
    for (question, asked) in first_core_alone(context, &ways, &rest)? {
        edits.push(question);
        // Where the host can tell, a launch that deals nothing has one core.
        told.extend(asked.zip(classes.first()).and_then(|(asked, class)| {
            key_on_host(context, launch, class.kernel, &asked)
                .or_else(|| holds_on_host(context, launch, class.kernel, &asked))
        }));
    }
    // And one in which two cores would write one block.
    for class in &classes {
        told.extend(whole_blocks(context, launch, class.kernel, &class.rounds).unwrap_or_default());
    }
    if let Some(own) = blocks_where(context, launch, &classes, &told) {
        let argument = launch.set.arguments.first();
        edits.retain(|other| argument != Some(&other.span) || other.file != launch.file.name());
        edits.extend(own);
    }
    Ok(edits)
}

/// The edit that has no more cores than there are rounds, and one where the host says that no rounds are dealt.
fn blocks_where(context: &Context, launch: &Launch<'_>, classes: &[Dealt<'_>], told: &[OnHost]) -> Option<Vec<Edit>> {
    let mut cores = blocks_of(launch, ELEMENTS_PER_CORE).ok()?;
    let numbers: Option<Vec<OnHost>> =
        classes.iter().map(|class| number_of_rounds(context, launch, class.kernel, &class.rounds)).collect();
    let numbers = numbers.unwrap_or_default();
    if let Some(most) = numbers
        .iter()
        .map(|number| number.text.clone())
        .reduce(|left, right| format!("std::max<int64_t>({left}, {right})"))
    {
        cores = format!("std::min<uint32_t>({cores}, static_cast<uint32_t>({most}))");
    }
    let from = told.iter().chain(&numbers).map(|told| told.from).max()?;
    // A tail may be one of the rounds and have nothing in it: a second core has to have something to do all the same.
    let enough = format!("{} >= {}", launch.elements().ok()?, 2 * ELEMENTS_PER_CORE);
    let all: Vec<&str> = told.iter().map(|told| told.text.as_str()).chain([enough.as_str()]).collect();
    let condition = match all[..] {
        [one] => one.to_owned(),
        _ => all.iter().map(|one| format!("({one})")).collect::<Vec<_>>().join(" && "),
    };
    set_blocks(launch, &format!("{condition} ? {cores} : 1"), from, Vec::new())
}

/// Makes one core do what was dealt as this motif does it.
fn gathered(context: &Context, launch: &Launch<'_>) -> Result<Vec<Edit>, String> {
    let mut edits = vec![to_one_core(launch)?];
    let mut rounds = 0;
    for file in device_files(context) {
        if file.text().contains(REST) {
            return Err(format!("{}: what the first core does is not looked for", file.name()));
        }
        let text = file.text();
        let [head, next] = turn(file);
        let members = members(file);
        let mut lines = text.split_inclusive('\n').scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some((start, line))
        });
        let mut open: Option<String> = None;
        for (start, line) in &mut lines {
            let span = start..start + line.len();
            match &open {
                None if line.trim() == head => {
                    open = Some(line[..line.len() - line.trim_start().len()].to_owned());
                    edits.push(edit(file, span, ""));
                    rounds += 1;
                }
                None if members.iter().any(|member| line.trim() == member) => edits.push(edit(file, span, "")),
                Some(_) if line.trim() == next => edits.push(edit(file, span, "")),
                Some(indentation) if line.trim_end() == format!("{indentation}}}") => {
                    edits.push(edit(file, span, ""));
                    open = None;
                }
                Some(_) if line.starts_with("    ") => edits.push(edit(file, start..start + 4, "")),
                _ => {}
            }
        }
        if open.is_some() {
            return Err(format!("{}: a round without an end", file.name()));
        }
    }
    if rounds == 0 {
        return Err("no round is dealt".to_owned());
    }
    Ok(edits)
}
