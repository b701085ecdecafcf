//! The language model of `rewind`: whether it is asked, and what it has cost.

use std::sync::Arc;

use super::args::RewindArgs;
use super::model::{Asking, model, subject};
use super::output::Output;
use agent::ModelRewinder;
use events::ModelUse;
use proposer::Rewinder;
use tuner::{Surveyed, TunerError, Workspace};

/// Removals that a model is asked for where `--model` is given and ascend.toml does not say how many.
const USUAL: u32 = 4;

/// A model that takes optimisations out.
#[derive(Debug)]
pub(super) struct Removing {
    rewinder: Arc<ModelRewinder>,
    asked: String,
}

impl Removing {
    /// The model of ascend.toml, where that or the command line wants it to be asked, and somebody agreed.
    pub fn invite(
        arguments: &RewindArgs,
        workspace: &Workspace,
        output: &mut Output,
    ) -> Result<Option<impl FnOnce(&Surveyed) -> Self>, TunerError> {
        let of_manifest = workspace.manifest.model.as_ref().and_then(|table| table.rewind).unwrap_or(0);
        let most = if arguments.ask_model { of_manifest.max(USUAL) } else { of_manifest };
        let options = &arguments.model;
        let wanted = most > 0 || options.record.is_some() || options.replay.is_some();
        if options.no_model || !wanted {
            return Ok(None);
        }
        let asking =
            Asking { options, kept: "rewind-model.jsonl", again: arguments.no_resume, wanted: arguments.ask_model };
        let Some(invited) = model(&asking, workspace, output)? else { return Ok(None) };
        let most = if most == 0 { USUAL } else { most };
        let workspace = workspace.clone();
        Ok(Some(move |surveyed: &Surveyed| {
            let subject = subject(&workspace, surveyed);
            let rewinder = ModelRewinder::new(subject, invited.settings, invited.templates, invited.chat, most);
            Self { rewinder: Arc::new(rewinder), asked: invited.asked }
        }))
    }

    /// For the miner.
    pub fn rewinder(&self) -> Arc<dyn Rewinder> {
        Arc::clone(&self.rewinder) as Arc<dyn Rewinder>
    }

    /// What it was asked, and what that cost; `evaluations` were made of what it said.
    pub fn used(&self, evaluations: u64) -> ModelUse {
        let spent = self.rewinder.spent();
        ModelUse {
            asked: self.asked.clone(),
            answers: spent.answers,
            failures: spent.failures,
            prompt_tokens: spent.prompt_tokens,
            answer_tokens: spent.answer_tokens,
            seconds: spent.seconds,
            money: spent.money,
            evaluations,
            ended: self.rewinder.over(),
            lineage: Vec::new(),
        }
    }
}
