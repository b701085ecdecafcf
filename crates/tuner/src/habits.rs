//! What a candidate may not begin to do: to keep values from one call to the next, to ask the machine that it runs on, to use what only
//! this machine has, or what gives away that it is one. The candidate that was tried and the operator that runs on a device would be
//! two then. What the operator as it stands does already is left to it.

use std::collections::BTreeSet;
use std::path::Path;

use super::evaluator::Evaluator;
use super::plan::Plan;
use super::trial_error::TrialError;
use build::{Artifact, Half, KernelLibraries, KernelVariant, LibraryFacts};
use source::SourceTree;
use source::lex::tokens;
use source::tunable::constants_in;
use verify::{Reason, Rejection};

const OF_ADDRESSES: &str =
    "addresses are other numbers on a device, and code that depends on them is not the code that was tried";
const OF_COMPILATION: &str = "code that depends on when and where it is compiled is not the code that was tried";
const OF_PROCESSORS: &str = "vectors of this machine are no part of a device";
const OF_TYPES: &str =
    "what types are made of differs on a device, and code that depends on it is not the code that was tried";

/// Words that a candidate may not bring along, and what they give away or hide.
const TELLS: [(&str, &str); 18] = [
    ("GetPhyAddr", OF_ADDRESSES),
    ("__BASE_FILE__", OF_COMPILATION),
    ("__DATE__", OF_COMPILATION),
    ("__FILE__", OF_COMPILATION),
    ("__TIMESTAMP__", OF_COMPILATION),
    ("__TIME__", OF_COMPILATION),
    ("__builtin_FILE", OF_COMPILATION),
    ("arm_neon", OF_PROCESSORS),
    ("ext_vector_type", OF_PROCESSORS),
    ("ifunc", "what is chosen when a library is loaded is chosen where it is tried"),
    ("immintrin", OF_PROCESSORS),
    ("is_class", OF_TYPES),
    ("is_class_v", OF_TYPES),
    ("is_compound", OF_TYPES),
    ("is_fundamental", OF_TYPES),
    ("thread_local", "a device keeps nothing from one launch to the next"),
    ("vector_size", OF_PROCESSORS),
    ("x86intrin", OF_PROCESSORS),
];

/// The first of these words that a candidate has and the operator as it stands does not, with its file and what is against it.
pub(super) fn new_tell(before: &SourceTree, now: &SourceTree) -> Option<(String, &'static str, &'static str)> {
    let has = |text: &str, word: &str| {
        text.contains(word) && tokens(text).iter().any(|token| parts(token.text(text)).any(|part| part == word))
    };
    TELLS.iter().find_map(|(word, why)| {
        let (file, _) = now.iter().find(|(_, text)| has(text, word))?;
        let is_new = !before.iter().any(|(_, text)| has(text, word));
        is_new.then(|| (file.to_owned(), *word, *why))
    })
}

/// Words of a token: an attribute's name has its underscores, a header's its ending.
fn parts(token: &str) -> impl Iterator<Item = &str> {
    let words = token.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.flat_map(|word| [word, word.trim_matches('_')])
}

impl Evaluator {
    /// Refuses a candidate whose host library keeps or asks what that of the operator as it stands does not.
    pub(super) fn host_keeps_habits(
        &self,
        plan: &Plan,
        before: &Path,
        now: &Path,
        case: &str,
    ) -> Result<(), TrialError> {
        let of = |library| LibraryFacts::of(library, Half::Host).map_err(|error| TrialError::of_build(error, case));
        let (before, now) = (of(before)?, of(now)?);
        let refused = |detail: String| Err(Rejection::new(Reason::BuildFailed, case, detail).into());
        if let Some(name) = LibraryFacts::new_question(&before, &now) {
            return refused(format!(
                "the host half calls {name}, which the operator as it stands does not: tiling follows from the call, not from where it is tried"
            ));
        }
        if let Some(name) = LibraryFacts::new_state(&before, &now, &kept_by(plan)) {
            return refused(format!(
                "the host half keeps {name} from one call to the next, which the operator as it stands does not: tiling follows from the call alone"
            ));
        }
        Ok(())
    }

    /// Refuses a candidate whose kernel keeps values between launches, or calls what no device has, where that of the operator as it stands
    /// does not.
    pub(super) async fn kernel_keeps_habits(
        &self,
        plan: &Plan,
        variant: &KernelVariant,
        kernel: &KernelLibraries,
        case: &str,
    ) -> Result<(), TrialError> {
        if !self.is_changed(plan) {
            return Ok(());
        }
        let facts = |library: Option<&Artifact>| match library {
            Some(library) => {
                LibraryFacts::of(&library.path, Half::Kernel).map_err(|error| TrialError::of_build(error, case))
            }
            None => Ok(LibraryFacts::default()),
        };
        let now = [facts(kernel.vector.as_ref())?, facts(kernel.cube.as_ref())?];
        if now.iter().all(|now| now.state.is_empty() && now.asks.is_empty()) {
            return Ok(());
        }
        let words = kept_by(plan);
        let nothing = LibraryFacts::default();
        let keeps = |before: &LibraryFacts, now: &LibraryFacts| LibraryFacts::new_state(before, now, &words);
        if now.iter().all(|now| now.asks.is_empty() && keeps(&nothing, now).is_none()) {
            return Ok(());
        }
        let pristine = self.pristine_plan(plan);
        let wanted = variant.clone();
        let built = self.build(&pristine, case, move |builder, plan| builder.kernel(&plan.sources, &wanted)).await;
        // What does not build as it stands keeps nothing.
        let before = match &built {
            Ok(built) => [facts(built.vector.as_ref())?, facts(built.cube.as_ref())?],
            Err(_) => [LibraryFacts::default(), LibraryFacts::default()],
        };
        let both = || before.iter().zip(&now);
        let kept = both().find_map(|(before, now)| keeps(before, now));
        let detail = match kept {
            Some(name) => format!("the kernel keeps {name} from one launch to the next, which no device does"),
            None => match both().find_map(|(before, now)| LibraryFacts::new_question(before, now)) {
                Some(name) => {
                    format!("the kernel calls {name}, which the operator as it stands does not, and no device has")
                }
                None => return Ok(()),
            },
        };
        Err(Rejection::new(Reason::BuildFailed, case, detail).into())
    }
}

fn words_of(sources: &SourceTree) -> BTreeSet<&str> {
    sources.iter().flat_map(|(_, text)| tokens(text).into_iter().map(|token| token.text(text))).collect()
}

/// Words that variables of a candidate may have which keep something. A constant that is read at run time instead of being compiled in is a
/// variable only while it is searched.
fn kept_by(plan: &Plan) -> BTreeSet<&str> {
    let mut words = words_of(&plan.sources);
    if plan.knobs.is_empty() {
        return words;
    }
    for constant in plan.sources.iter().flat_map(|(file, text)| constants_in(file, text)) {
        let is_read = |name: &String| constant.site.text.contains(&format!("ascend_tune_knob(\"{name}\""));
        if plan.knobs.keys().any(is_read) {
            words.remove(constant.name.as_str());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_that_is_searched_keeps_nothing() {
        let knob = tree("const int TILE = static_cast<int>(ascend_tune_knob(\"TILE\", 64));\nstatic int calls;\n");
        let knobs = [("TILE".to_owned(), 128)].into_iter().collect();
        let searched = Plan { sources: knob.clone(), knobs, ..Plan::default() };
        assert!(kept_by(&searched).contains("calls") && !kept_by(&searched).contains("TILE"));
        let plain = Plan { sources: knob, ..Plan::default() };
        assert!(kept_by(&plain).contains("TILE"), "of what would be written everything counts");
    }

    fn tree(text: &str) -> SourceTree {
        SourceTree::from_iter([("k.h", text)])
    }

    #[test]
    fn what_gives_a_simulator_away_is_nothing_new() {
        let before = tree("auto at = x.GetPhyAddr();\n");
        for text in [
            "if constexpr (std::is_class<half>::value) {}",
            "static thread_local bool warm;",
            "typedef float Wide __attribute__((__vector_size__(64)));",
            "#include <immintrin.h>\n",
            "constexpr int TILE = __TIME__[0] < '1' ? 1 : 2;",
            "constexpr int TILE = sizeof(__FILE__) > 32 ? 1 : 2;",
        ] {
            let found = new_tell(&before, &tree(text));
            assert!(found.is_some_and(|(file, word, _)| file == "k.h" && text.contains(word)), "{text}");
        }
        assert_eq!(new_tell(&before, &tree("y.GetPhyAddr(); // is_class\n")), None);
        assert!(new_tell(&tree(""), &before).is_some());
    }
}
