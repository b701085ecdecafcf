//! What a run searches: tunables of the manifest, and constants that a rewrite has brought along.
//!
//! A rewrite that may bring some says so ([`Proposal::brings_constants`](proposer::Proposal)). Once it is taken over, what the tool would
//! find in such sources and did not find before becomes a tunable of all later turns, with the value that it came with as the one that it
//! begins with. It is a step of its own: what does not hold on a probe goes back to that value, and goes altogether with its rewrite.

use super::TunerError;
use super::candidate::Candidate;
use super::progress::Progress;
use super::round::Field;
use super::unreached::{not_searched, unreached};
use super::workspace::Workspace;
use discovery::init::Brought;
use events::{Event, Warning};
use motif::Coverage;
use space::{SearchSpace, Tunable};

/// The search space of a run as it grows and shrinks.
pub(super) struct Searched {
    /// The workspace with the cases of the manifest.
    workspace: Workspace,
    /// Tunables that keep the values that they have in the sources.
    left_alone: Vec<String>,
    /// What is searched now.
    pub space: SearchSpace,
}

impl Searched {
    /// The tunables of the manifest.
    pub fn of(workspace: &Workspace) -> Result<Self, TunerError> {
        Ok(Self { workspace: workspace.clone(), left_alone: Vec::new(), space: workspace.space()? })
    }

    /// All tunables, whether they are varied or not.
    pub fn tunables(&self) -> &[Tunable] {
        self.workspace.tunables()
    }

    /// Leaves alone what no case comes by, and says so.
    pub fn leave_unreached(&mut self, coverage: &Coverage, baseline: &Candidate) -> Option<Event> {
        let unreached = unreached(&self.space, &baseline.sources, coverage);
        let told = not_searched(&unreached);
        self.leave_alone(unreached.into_values().flatten().collect(), baseline);
        told
    }

    /// From now on these keep the values that they begin with.
    pub fn leave_alone(&mut self, names: Vec<String>, baseline: &Candidate) {
        self.left_alone.extend(names);
        self.space = self.narrowed(self.space.clone(), baseline);
    }

    /// Searches what was brought along as well. Where that makes no space the one that there is stays.
    pub fn grow(
        &mut self,
        found: &Brought,
        (field, progress): (&mut Field, &mut Progress),
        baseline: &Candidate,
        emit: &mut dyn FnMut(Event),
    ) {
        let space = match self.workspace.with_brought(found).space() {
            Ok(space) => space,
            Err(error) => {
                tracing::debug!(%error, "what a rewrite brought along is not searched");
                return;
            }
        };
        self.space = self.narrowed(space, baseline);
        self.take_along(found, (field, progress));
        emit(told(found));
    }

    /// Has values of what was brought along, without searching them.
    pub fn take_along(&mut self, found: &Brought, (field, progress): (&mut Field, &mut Progress)) {
        self.workspace = self.workspace.with_brought(found);
        field.workspace = field.workspace.with_brought(found);
        progress.read_again(field.workspace.tunables());
    }

    fn narrowed(&self, space: SearchSpace, baseline: &Candidate) -> SearchSpace {
        let first = baseline.at_first(self.tunables());
        let kept = self.left_alone.iter().filter_map(|name| Some((name.clone(), first.get(name)?.clone())));
        space.clone().with_fixed(&kept.collect()).unwrap_or(space)
    }
}

fn told(found: &Brought) -> Event {
    let value = |tunable: &Tunable| tunable.default.as_ref().map(ToString::to_string).unwrap_or_default();
    let named = found.tunables.iter().map(|tunable| format!("{} = {}", tunable.name, value(tunable)));
    Event::Warning(Warning {
        code: "tunables-brought".to_owned(),
        message: format!("searched from here on, brought along by a rewrite: {}", named.collect::<Vec<_>>().join(", ")),
        help: None,
    })
}
