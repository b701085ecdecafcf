//! What a motif is to those who use it: sites, refusals and checked patches in both directions.

use std::sync::Arc;

use crate::context::Context;
use crate::id::Id;
use crate::metadata::Metadata;
use crate::site::{Candidate, Findings, Refusal, Refused, Site};
use source::Patch;

/// An optimisation that can be made and unmade in source code.
pub trait Motif: Sync {
    /// What is known of it without any source.
    fn metadata(&self) -> &'static Metadata;
    /// Places for the motif.
    fn candidates(&self, context: &Context) -> Vec<Candidate>;
    /// Places where the motif has been applied and can be undone.
    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate>;

    /// Id in the catalogue.
    fn id(&self) -> Id {
        self.metadata().id
    }
    /// Sites where the motif applies and places where it was refused.
    fn find(&self, context: &Context) -> Findings {
        findings(&candidates(self, context), context)
    }
    /// The patch at a site of [`Motif::find`].
    fn apply(&self, context: &Context, site: &Site) -> Result<Patch, Refusal> {
        patch(self.id(), self.metadata().title, &candidates(self, context), context, site)
    }
    /// Sites where the motif can be unmade.
    fn rewind_sites(&self, context: &Context) -> Findings {
        findings(&self.rewind_candidates(context), context)
    }
    /// The patch that unmakes the motif at a site of [`Motif::rewind_sites`].
    fn rewind(&self, context: &Context, site: &Site) -> Result<Patch, Refusal> {
        let title = format!("rewind of {}", self.metadata().title);
        patch(self.id(), &title, &self.rewind_candidates(context), context, site)
    }
}

/// The candidates of a motif, found once for the same context: whoever takes a site asks for its patch next.
fn candidates<Kind: Motif + ?Sized>(motif: &Kind, context: &Context) -> Arc<[Candidate]> {
    context.found.once(motif.id(), || motif.candidates(context).into())
}

fn findings(candidates: &[Candidate], context: &Context) -> Findings {
    let mut findings = Findings::default();
    for candidate in candidates {
        let Candidate { site, edits } = candidate;
        let checked = edits.as_ref().map_err(Clone::clone).and_then(|edits| {
            context.forest.check_edits(edits).map_err(|error| error.to_string())?;
            context.verifiable(edits)
        });
        match checked {
            Ok(()) => findings.sites.push(site.clone()),
            Err(reason) => findings.refused.push(Refused { file: site.file.clone(), line: site.line, reason }),
        }
    }
    findings.sites.sort_by(|left, right| {
        (&left.file, left.span.start, &left.note).cmp(&(&right.file, right.span.start, &right.note))
    });
    findings
}

fn patch(motif: Id, title: &str, candidates: &[Candidate], context: &Context, site: &Site) -> Result<Patch, Refusal> {
    let same = |candidate: &&Candidate| {
        candidate.site.file == site.file && candidate.site.span == site.span && candidate.site.note == site.note
    };
    let Some(candidate) = candidates.iter().find(same) else {
        return Err(Refusal::NoSuchSite { motif, file: site.file.clone(), line: site.line });
    };
    let edits = candidate.edits.clone().map_err(|reason| Refusal::Precondition {
        motif,
        file: site.file.clone(),
        line: site.line,
        reason,
    })?;
    let title = format!("{title} at {}:{}", site.file, site.line);
    let patch = Patch { title, motif: motif.to_string(), edits };
    context.admit(&patch)?;
    Ok(patch)
}
