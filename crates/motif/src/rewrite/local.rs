//! Local motifs that are stated in text: two forms by example, and what the source has to prove. They are read as the catalogue's own
//! exchanges are, but only in the parts that need no code of ours, so that whoever writes one can do no more than propose edits.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::analysis::code::words;
use crate::context::Context;
use crate::counter::Counter;
use crate::rewrite::exchange::{Exchange, Form, Guard, Way, made, unmade};
use crate::site::{Candidate, Site};
use source::{Edit, Patch, SourceTree};

/// A local motif as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LocalForm {
    /// What it does, a few words.
    pub title: String,
    /// The code that is looked for, by example (docs/extending.md).
    pub slow: String,
    /// The code that takes its place.
    pub fast: String,
    /// Holes that have to be local tensors of some element types.
    #[serde(default)]
    pub tensors: Vec<TensorsOf>,
    /// Pairs of holes that have to be tensors in different memory.
    #[serde(default)]
    pub apart: Vec<[String; 2]>,
    /// Names that `fast` declares, and that mean nothing in the function yet.
    #[serde(default)]
    pub fresh: Vec<String>,
    /// The counter that goes down with it, where somebody has said so and the profiles of the rewrite that it comes from agreed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relieves: Option<Counter>,
    /// What became of it on the operators that it was tried on, and why it is refused, where it is.
    #[serde(default, skip_serializing_if = "LocalRecord::is_empty")]
    pub record: LocalRecord,
}

/// What became of a local motif on operators, one and the same counted as often as it was tried there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LocalRecord {
    /// Operators whose sources were searched for the slow form.
    pub searched: u32,
    /// Those that have it, with the guards.
    pub matched: u32,
    /// Those of them that were run with the fast form in its place, and were right.
    pub held: u32,
    /// Those of them that got faster.
    pub gained: u32,
    /// Places of the operators that it comes from at which it was made and taken over.
    #[serde(default)]
    pub places: u32,
    /// Digests of the sources of these operators, as they were before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<String>,
    /// The operator that it broke although its guards held, and how. Such a motif is not made any more.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub refused: String,
}

impl LocalRecord {
    /// Whether it was tried nowhere.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds what became of it elsewhere.
    pub fn add(&mut self, other: &Self) {
        self.searched += other.searched;
        self.matched += other.matched;
        self.held += other.held;
        self.gained += other.gained;
        // The same sources once more are no further place.
        if other.from.is_empty() || other.from.iter().any(|of| !self.from.contains(of)) {
            self.places += other.places;
        }
        self.from.extend(other.from.iter().filter(|of| !self.from.contains(of)).cloned().collect::<Vec<_>>());
        if self.refused.is_empty() {
            self.refused.clone_from(&other.refused);
        }
    }
}

/// Holes that have to be local tensors of some element types.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TensorsOf {
    /// The holes.
    pub holes: Vec<String>,
    /// The element types.
    pub elements: Vec<String>,
}

/// Why a text is no local motif.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocalFormError {
    /// A part is missing, or too long.
    #[error("`{part}` has {letters} letters; it must have 1 to {most}")]
    Length {
        /// Which.
        part: &'static str,
        /// How long it is.
        letters: usize,
        /// How long it may be.
        most: usize,
    },
    /// An example would match from anywhere, or holds what an example cannot.
    #[error("`{part}`: {what}")]
    Example {
        /// Which.
        part: &'static str,
        /// What is wrong.
        what: &'static str,
    },
    /// A hole is used that `slow` does not have.
    #[error("the hole {hole:?} of `{part}` does not occur in `slow`")]
    Hole {
        /// Where.
        part: &'static str,
        /// Which.
        hole: String,
    },
    /// There are too many guards.
    #[error("there are {count} guards; {most} are the most")]
    Guards {
        /// How many there are.
        count: usize,
        /// How many there may be.
        most: usize,
    },
}

const MOST_LETTERS: usize = 2000;
const MOST_TITLE: usize = 100;
const MOST_GUARDS: usize = 16;

/// A local motif that can be made.
pub struct LocalMotif {
    form: LocalForm,
    exchange: Exchange,
}

impl std::fmt::Debug for LocalMotif {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LocalMotif").field("form", &self.form).finish_non_exhaustive()
    }
}

impl LocalMotif {
    /// Of a text. What it leaves in memory stays there: a program reads a bank's few once.
    pub fn new(form: LocalForm) -> Result<Self, LocalFormError> {
        let length = |part, text: &str, most| match text.trim().chars().count() {
            letters if (1..=most).contains(&letters) => Ok(()),
            letters => Err(LocalFormError::Length { part, letters, most }),
        };
        length("title", &form.title, MOST_TITLE)?;
        length("slow", &form.slow, MOST_LETTERS)?;
        length("fast", &form.fast, MOST_LETTERS)?;
        example("slow", &form.slow)?;
        example("fast", &form.fast)?;
        let known = holes(&form.slow);
        let of_form = |part: &'static str, names: Vec<String>| {
            let unknown = names.into_iter().find(|hole| !known.contains(hole));
            unknown.map_or(Ok(()), |hole| Err(LocalFormError::Hole { part, hole }))
        };
        of_form("fast", holes(&form.fast).into_iter().collect())?;
        of_form("tensors", form.tensors.iter().flat_map(|of| of.holes.clone()).collect())?;
        of_form("apart", form.apart.iter().flatten().cloned().collect())?;
        let count = form.tensors.len() + form.apart.len() + form.fresh.len();
        if count > MOST_GUARDS {
            return Err(LocalFormError::Guards { count, most: MOST_GUARDS });
        }
        let (slow, fast) = (Form::Code(kept(&form.slow)), Form::Code(kept(&form.fast)));
        let make = Way::new(kept(&form.title), guards(&form));
        let unmake = is_invertible(&form).then(|| Way::new(kept(&form.title), guards_of_unmaking(&form)));
        Ok(Self { exchange: Exchange { slow, fast, make, unmake }, form })
    }

    /// Whether the fast form says all that the slow one needs to be written.
    pub fn is_invertible(&self) -> bool {
        self.exchange.unmake.is_some()
    }

    /// Its text.
    pub fn form(&self) -> &LocalForm {
        &self.form
    }

    /// The sources with it, at all places where that is possible, or else at the first; `None` where there is none.
    pub fn applied(&self, context: &Context) -> Option<(SourceTree, Vec<Site>)> {
        let candidates = made(context, std::slice::from_ref(&self.exchange));
        let possible: Vec<(&Site, &Vec<Edit>)> =
            candidates.iter().filter_map(|Candidate { site, edits }| Some((site, edits.as_ref().ok()?))).collect();
        let together = |chosen: &[(&Site, &Vec<Edit>)]| {
            let edits = chosen.iter().flat_map(|(_, edits)| (*edits).clone()).collect();
            let patch = Patch { title: self.form.title.clone(), motif: String::new(), edits };
            context.admit(&patch).ok().map(|tree| (tree, chosen.iter().map(|(site, _)| (*site).clone()).collect()))
        };
        let first = possible.first()?;
        together(&possible).or_else(|| together(&[*first]))
    }

    /// Patches that put the slow form into the place of the fast one, one place each: those of which it makes the same text again.
    pub fn rewinds(&self, context: &Context) -> Vec<(Site, Patch)> {
        let ways = std::slice::from_ref(&self.exchange);
        let found = unmade(context, ways).into_iter().filter_map(|Candidate { site, edits }| {
            let patch = Patch { title: self.form.title.clone(), motif: String::new(), edits: edits.ok()? };
            let slow = context.after(context.tree.apply(&patch).ok()?);
            let is_undone = made(&slow, ways).into_iter().any(|Candidate { edits, .. }| {
                let again = edits.ok().map(|edits| Patch { edits, ..patch.clone() });
                again.and_then(|again| slow.tree.apply(&again).ok()).is_some_and(|tree| tree == context.tree)
            });
            is_undone.then_some((site, patch))
        });
        found.collect()
    }
}

/// A text for as long as the program runs.
fn kept(text: &str) -> &'static str {
    Box::leak(text.trim().to_owned().into_boxed_str())
}

fn kept_list(texts: &[String]) -> &'static [&'static str] {
    Box::leak(texts.iter().map(|text| kept(text)).collect::<Vec<_>>().into_boxed_slice())
}

fn guards(form: &LocalForm) -> &'static [Guard] {
    let tensors = form.tensors.iter().map(|of| Guard::Tensors(kept_list(&of.holes), kept_list(&of.elements)));
    let apart = form.apart.iter().map(|[left, right]| Guard::Apart(kept(left), kept(right)));
    let fresh = (!form.fresh.is_empty()).then(|| Guard::Fresh(kept_list(&form.fresh)));
    Box::leak(tensors.chain(apart).chain(fresh).collect::<Vec<_>>().into_boxed_slice())
}

/// Whether every hole of the slow form has a text once the fast one is found.
fn is_invertible(form: &LocalForm) -> bool {
    let known = holes(&form.fast);
    let of_guards = form.tensors.iter().flat_map(|of| &of.holes).chain(form.apart.iter().flatten());
    holes(&form.slow).iter().chain(of_guards).all(|hole| known.contains(hole))
}

/// The same guards, and that nobody else uses the names that go.
fn guards_of_unmaking(form: &LocalForm) -> &'static [Guard] {
    let tensors = form.tensors.iter().map(|of| Guard::Tensors(kept_list(&of.holes), kept_list(&of.elements)));
    let apart = form.apart.iter().map(|[left, right]| Guard::Apart(kept(left), kept(right)));
    let mentions = |name: &String| words(&form.fast).into_iter().filter(|word| word == name).count();
    let gone = form.fresh.iter().map(|name| Guard::Mentioned(kept(name), mentions(name)));
    Box::leak(tensors.chain(apart).chain(gone).collect::<Vec<_>>().into_boxed_slice())
}

/// What an example may be: one that begins as code does, and holds no comment and no directive.
fn example(part: &'static str, text: &str) -> Result<(), LocalFormError> {
    let wrong = |what| Err(LocalFormError::Example { part, what });
    let text = text.trim();
    if !(text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '@') || text.starts_with("$$")) {
        return wrong("it has to begin with a word, @ or $$, or it would begin anywhere");
    }
    if text.contains("//") || text.contains("/*") || text.contains('#') || text.contains('\\') {
        return wrong("comments, directives and backslashes have no place in an example");
    }
    if text.contains('"') || text.contains('\'') {
        return wrong("texts have no place in an example");
    }
    Ok(())
}

/// Names of the holes of an example.
fn holes(example: &str) -> BTreeSet<String> {
    let names = example.split('$').skip(1).map(|behind| {
        let end = behind.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
        behind[..end.unwrap_or(behind.len())].to_owned()
    });
    names.filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::facts::KnownValues;

    const KERNEL: &str = "class KernelAdd {\n    __aicore__ inline void Compute(uint32_t count) {\n        \
        AscendC::LocalTensor<float> x = inQueueX.DeQue<float>();\n        \
        AscendC::LocalTensor<float> y = outQueueY.AllocTensor<float>();\n        \
        AscendC::Muls(y, x, 2.0f, count);\n        AscendC::Muls(y, y, 2.0f, count);\n        \
        outQueueY.EnQue(y);\n        inQueueX.FreeTensor(x);\n    }\n    AscendC::TQue<AscendC::TPosition::VECIN, 1> inQueueX;\n    \
        AscendC::TQue<AscendC::TPosition::VECOUT, 1> outQueueY;\n};\n";

    fn form() -> LocalForm {
        let tensors = TensorsOf { holes: vec!["x".to_owned(), "y".to_owned()], elements: vec!["float".to_owned()] };
        LocalForm {
            title: "add $x to itself".to_owned(),
            slow: "@Muls($$y, $$x, 2.0f, $n);".to_owned(),
            fast: "@Add($$y, $$x, $$x, $n);".to_owned(),
            tensors: vec![tensors],
            ..LocalForm::default()
        }
    }

    fn applied(form: LocalForm) -> Option<String> {
        let tree: SourceTree = [("op_kernel/k.cpp", KERNEL)].into_iter().collect();
        let context = Context::new(tree, KnownValues::default(), None);
        let (tree, sites) = LocalMotif::new(form).unwrap().applied(&context)?;
        assert!(!sites.is_empty());
        Some(tree.text("op_kernel/k.cpp").unwrap().to_owned())
    }

    #[test]
    fn a_motif_that_is_stated_in_text_is_made_where_its_guards_hold() {
        let expected = KERNEL.replace("Muls(y, x, 2.0f, count)", "Add(y, x, x, count)");
        let expected = expected.replace("Muls(y, y, 2.0f, count)", "Add(y, y, y, count)");
        assert_eq!(applied(form()).unwrap(), expected, "at all places");
        let apart = LocalForm { apart: vec![["x".to_owned(), "y".to_owned()]], ..form() };
        assert!(applied(apart).unwrap().contains("Muls(y, y, 2.0f, count)"), "one of both is in place");
        let half = TensorsOf { holes: vec!["x".to_owned()], elements: vec!["half".to_owned()] };
        assert_eq!(applied(LocalForm { tensors: vec![half], ..form() }), None);
        assert_eq!(
            applied(LocalForm { fast: "@Add($$y, $$x, $$x, $n".to_owned(), ..form() }),
            None,
            "it does not parse"
        );
    }

    #[test]
    fn it_is_unmade_where_the_fast_form_says_everything_and_it_makes_the_same_again() {
        let rewinds = |form: LocalForm, text: &str| {
            let tree: SourceTree = [("op_kernel/k.cpp", text)].into_iter().collect();
            let context = Context::new(tree, KnownValues::default(), None);
            let motif = LocalMotif::new(form).unwrap();
            let of = |(site, patch): (Site, Patch)| (site.line, context.admit(&patch).unwrap());
            (motif.is_invertible(), motif.rewinds(&context).into_iter().map(of).collect::<Vec<_>>())
        };
        let fast = KERNEL.replace("Muls(y, x, 2.0f, count)", "Add(y, x, x, count)");
        let (_, found) = rewinds(form(), &fast);
        let [(5, slow)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(slow.text("op_kernel/k.cpp"), Some(KERNEL));
        let other = fast.replace("Add(y, x, x", "Add(y, x, y");
        assert!(rewinds(form(), &other).1.is_empty(), "two holes of a name are one text");
        // What is multiplied by, nothing of the fast form says.
        let one_way = LocalForm { slow: "@Muls($$y, $$x, $f, $n);".to_owned(), ..form() };
        assert_eq!(rewinds(one_way, &fast), (false, Vec::new()));
        // A name that the fast form declares goes with it, unless somebody else uses it.
        let named = LocalForm {
            fast: "uint32_t all = $n;\n@Add($$y, $$x, $$x, all);".to_owned(),
            fresh: vec!["all".to_owned()],
            ..form()
        };
        let made = applied(LocalForm { apart: vec![["x".to_owned(), "y".to_owned()]], ..named.clone() }).unwrap();
        let (_, found) = rewinds(named.clone(), &made);
        assert_eq!(found.iter().map(|(_, tree)| tree.text("op_kernel/k.cpp")).collect::<Vec<_>>(), [Some(KERNEL)]);
        let used = made.replace("outQueueY.EnQue(y);", "outQueueY.EnQue(y); Use(all);");
        assert!(rewinds(named, &used).1.is_empty());
    }

    #[test]
    fn what_is_no_motif_says_why() {
        let refused = |change: fn(&mut LocalForm)| {
            let mut form = form();
            change(&mut form);
            LocalMotif::new(form).unwrap_err().to_string()
        };
        assert!(refused(|form| form.slow.clear()).contains("`slow` has 0 letters"));
        assert!(refused(|form| form.fast = "x".repeat(3000)).contains("`fast` has 3000 letters"));
        assert!(refused(|form| form.slow = "$x = 1;".to_owned()).contains("begin with a word"));
        assert!(refused(|form| form.fast = "@Add($$y, $$z, $n);".to_owned()).contains("the hole \"z\" of `fast`"));
        assert!(refused(|form| form.apart = vec![["x".to_owned(), "q".to_owned()]]).contains("\"q\" of `apart`"));
        assert!(refused(|form| form.fast = "Add($n); // ok".to_owned()).contains("comments"));
        assert!(refused(|form| form.fresh = vec!["a".to_owned(); 40]).contains("41 guards"));
    }
}
