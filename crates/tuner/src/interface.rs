//! What a candidate has to leave as it is: what the operator promises to those who call it, and what it asks about where it is
//! compiled. A definition that lets the host see values of tensors, clears outputs before the launch or takes fewer types may make a
//! kernel faster, but not this operator; and code that is other code where it is tried has not been tried.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, PoisonError};

use super::evaluator::Evaluator;
use super::habits::new_tell;
use super::plan::Plan;
use super::shadowing::new_shadow;
use super::standard::Standard;
use super::trial_error::TrialError;
use discovery::cases::DescribedOps;
use source::SourceTree;
use verify::{Reason, Rejection};

impl Evaluator {
    /// The same with the operator as it stands to hold candidates against.
    #[must_use]
    pub fn with_pristine(mut self, sources: &SourceTree) -> Self {
        self.pristine = Arc::new(sources.clone());
        self
    }

    /// Whether a plan has other sources than the operator as it stands, where that is known.
    pub(super) fn is_changed(&self, plan: &Plan) -> bool {
        !matches!(self.standard, Standard::Baseline) && !self.pristine.is_empty() && plan.sources != *self.pristine
    }

    /// Whether there are no sources of the operator as it stands to compare with.
    pub(super) fn is_pristine_unknown(&self) -> bool {
        self.pristine.is_empty()
    }

    /// The operator as it stands with the settings of a plan.
    pub(super) fn pristine_plan(&self, plan: &Plan) -> Plan {
        Plan { sources: SourceTree::clone(&self.pristine), ..plan.clone() }
    }

    /// Refuses a candidate whose host library promises something else than that of the operator as it stands, or that has other
    /// conditions on where it is compiled.
    pub(super) async fn keeps_interface(&self, plan: &Plan, host: &Path, case: &str) -> Result<(), TrialError> {
        let asked = (plan.sources.digest(), host.to_owned());
        let faithful = || self.faithful.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_changed(plan) || faithful().contains(&asked) {
            return Ok(());
        }
        self.compare_interfaces(plan, host, case).await?;
        faithful().insert(asked);
        Ok(())
    }

    async fn compare_interfaces(&self, plan: &Plan, host: &Path, case: &str) -> Result<(), TrialError> {
        let refused = |detail: String| TrialError::from(Rejection::new(Reason::BuildFailed, case, detail));
        if let Some((file, name)) = new_condition(&self.pristine, &plan.sources) {
            return Err(refused(format!(
                "{file}: a condition of the preprocessor asks for {name}, which the operator as it stands does not: code that \
                 depends on where it is compiled is not the code that was tried"
            )));
        }
        if let Some((file, word, why)) = new_tell(&self.pristine, &plan.sources) {
            return Err(refused(format!("{file}: {word}, which the operator as it stands does not have: {why}")));
        }
        if let Some((file, name)) = new_shadow(&self.pristine, &plan.sources) {
            return Err(refused(format!(
                "{file}: {name} is the API's, and the candidate gives its name to something of its own, which the operator as it \
                 stands does not: what it reads as is not what it is"
            )));
        }
        let pristine = self.pristine_plan(plan);
        let built =
            self.build(&pristine, case, |builder, plan| builder.host(&plan.sources).map(|artifact| artifact.path));
        // What does not build or load as it stands has nothing that could be kept.
        let Ok(before) = built.await else { return Ok(()) };
        if before == host {
            return Ok(());
        }
        self.host_keeps_habits(plan, &before, host, case)?;
        let Ok(before) = self.description(&before).await else { return Ok(()) };
        let now = self.description(host).await.map_err(|failure| TrialError::of_run(failure, case))?;
        let lines = |ops: &serde_json::Value| {
            let ops = DescribedOps::of(ops).ops;
            let own = ops.into_iter().find(|op| op.kind == self.manifest.operator);
            own.map(|op| op.interface).unwrap_or_default()
        };
        match first_difference(&lines(&before.ops), &lines(&now.ops)) {
            Some(difference) => Err(refused(difference)),
            None => Ok(()),
        }
    }
}

/// The first line that two interfaces do not share.
fn first_difference(before: &[String], now: &[String]) -> Option<String> {
    let told = |was: &str, is: &str| {
        format!(
            "the definition of the operator is another one, which no candidate may change: it was \"{was}\" and is \"{is}\""
        )
    };
    let nothing = String::new();
    (0..before.len().max(now.len())).find_map(|line| {
        let (was, is) = (before.get(line).unwrap_or(&nothing), now.get(line).unwrap_or(&nothing));
        (was != is).then(|| told(was, is))
    })
}

/// A name in a condition of the preprocessor that is in none of the operator as it stands, and that the candidate does not define.
fn new_condition(before: &SourceTree, now: &SourceTree) -> Option<(String, String)> {
    let known: BTreeSet<String> = before.iter().flat_map(|(_, text)| names(text, IN_CONDITIONS)).collect();
    let defined: BTreeSet<String> = now.iter().flat_map(|(_, text)| names(text, &["define"])).collect();
    now.iter().find_map(|(file, text)| {
        let mut new = names(text, IN_CONDITIONS).into_iter();
        let new = new.find(|name| !known.contains(name) && !defined.contains(name))?;
        Some((file.to_owned(), new))
    })
}

const IN_CONDITIONS: &[&str] = &["if", "ifdef", "ifndef", "elif"];

/// Names in directives with one of these words; of a definition the first, which it defines.
fn names(text: &str, directives: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.replace("\\\n", " ").lines() {
        let Some(directive) = line.trim_start().strip_prefix('#').map(str::trim_start) else { continue };
        let end = directive.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(directive.len());
        let (word, rest) = directive.split_at(end);
        if !directives.contains(&word) {
            continue;
        }
        let said = rest.split("//").next().unwrap_or(rest);
        let words = said.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let is_name = |word: &&str| word.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
        let names = words.filter(is_name).filter(|name| *name != "defined").map(str::to_owned);
        found.extend(names.take(if word == "define" { 1 } else { usize::MAX }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> SourceTree {
        SourceTree::from_iter([("k.h", text)])
    }

    #[test]
    fn conditions_ask_for_nothing_new() {
        let before = tree("#ifndef K_H\n#define K_H\n#if defined(__CCE_AICORE__) // x\n#endif\n#endif\n");
        assert_eq!(new_condition(&before, &before), None);
        let guarded = tree("#ifndef OTHER_H\n#define OTHER_H\n#ifdef __CCE_AICORE__\n#endif\n#endif\n");
        assert_eq!(new_condition(&before, &guarded), None);
        for text in
            ["#ifdef __x86_64__", "  # if K_H && !defined(__linux__)", "#if 0\n#elif __GNUC__ > 4", "#if K_H && \\\n A"]
        {
            assert!(new_condition(&before, &tree(text)).is_some(), "{text}");
        }
    }

    #[test]
    fn interfaces_differ_in_a_line() {
        let lines = |text: &str| text.split('|').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(first_difference(&lines("a|b"), &lines("a|b")), None);
        let told = first_difference(&lines("a|b"), &lines("a|c")).expect("another line");
        assert!(told.contains("\"b\"") && told.contains("\"c\""), "{told}");
        assert!(first_difference(&lines("a"), &lines("a|c")).is_some());
    }
}
