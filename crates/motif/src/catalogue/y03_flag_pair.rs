//! Y03: where only one pipe has to wait for one other, a flag instead of a barrier that stops all of them.

use crate::analysis::code::Surroundings;
use crate::analysis::pipe_order::{PipeEdge, edges};
use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::exchange::{Exchange, Form, FoundForm, Guard, Texts, Way};
use crate::{Company, Counter, Family, Id, Metadata};

/// The motif.
pub const FLAG_PAIR: Declared = Declared { metadata: &METADATA, rules: Rules::Exchanges(&[FLAG]) };

const METADATA: Metadata = Metadata {
    id: Id::Y03,
    title: "full barrier to a flag of one pair of pipes",
    family: Family::Synchronisation,
    precondition: "as Y01, but the barrier alone orders accesses in its block; all of them go from the same pipe to the same other pipe. The flag is set and awaited \
     at once, so that it balances on every path",
    left_to_verifier: "no other hazard that the barrier covered (hazard check)",
    relieves: &[Counter::StallUs],
    prior_gain: 1.08,
    cost: "an event id for the moment",
    tunables: "none",
    undoing: "full barrier",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

const FLAG: Exchange = Exchange {
    slow: Form::Code("@PipeBarrier<PIPE_ALL>();"),
    fast: Form::Code(
        "const @TEventID $$v = @GetTPipePtr()->FetchEventID(@HardEvent::$$e);
@SetFlag<@HardEvent::$$e>($$v);
@WaitFlag<@HardEvent::$$e>($$v);",
    ),
    make: Way::new("flag $e instead of the barrier", &[Guard::Holds(one_pair), Guard::Holds(free)])
        .choosing(needed)
        .on_conditions(|_| vec!["the hazard check finds no race: destinations of copies do not overlap".to_owned()]),
    unmake: Some(Way::new("full barrier instead of the flag", &[]).resembling(|place| {
        let pipes = place.hole("e").split_once('_');
        pipes.is_some_and(|pipes| variable(pipes) == place.hole("v")) && place.mentions("v") == 3
    })),
};

/// The event of the accesses that the barrier alone orders, its variable, and what else the barrier orders.
fn needed(place: &FoundForm<'_>) -> Vec<Texts> {
    let Surroundings { context, file, kernel, .. } = place.around;
    let (Ok(call), Ok(edges)) = (place.call(), edges(context, kernel, file, &[])) else { return Vec::new() };
    let needed: Vec<PipeEdge> = edges.into_iter().filter(|edge| edge.rests_on(file, call)).collect();
    let Some(pipes) = needed.first().map(|edge| edge.pipes) else { return Vec::new() };
    let other = needed.iter().find(|edge| edge.pipes != pipes).map(|edge| edge.explain(file)).unwrap_or_default();
    vec![vec![("e", format!("{}_{}", pipes.0, pipes.1)), ("v", variable(pipes)), ("other", other)]]
}

/// Name of the variable that holds the event's id.
fn variable(pipes: (&str, &str)) -> String {
    let title = |pipe: &str| {
        let (first, rest) = pipe.split_at_checked(1).unwrap_or((pipe, ""));
        format!("{first}{}", rest.to_lowercase())
    };
    format!("event{}To{}", title(pipes.0), title(pipes.1))
}

fn one_pair(place: &FoundForm<'_>) -> Result<(), String> {
    match place.hole("other") {
        "" => Ok(()),
        other => Err(format!("the barrier also orders {other}")),
    }
}

fn free(place: &FoundForm<'_>) -> Result<(), String> {
    place.around.file.whole_lines(place.span()).ok_or("the barrier shares its line")?;
    if place.mentions("v") > 0 { Err(format!("{} is taken", place.hole("v"))) } else { Ok(()) }
}
