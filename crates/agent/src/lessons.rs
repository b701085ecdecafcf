//! What a model says was learned of a proposal: the words of a record, beside which the numbers of the run stand.

use super::answer::one_line;

/// What was learned of one proposal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// Name of the proposal.
    pub name: String,
    /// What was done, one sentence.
    pub what: String,
    /// Conditions that have to hold.
    pub needs: Vec<String>,
    /// When it should be left alone.
    pub avoid: Vec<String>,
    /// Why it was taken back after it had been taken over, where that is so.
    pub taken_back: Option<String>,
}

const HEAD: &str = "<<<<<<< RECORD";
const END: &str = ">>>>>>> END";
/// Conditions of each kind that are kept.
const MOST: usize = 4;

/// Reads an answer. Blocks about something else than `names`, and lines that say nothing, are left out.
pub fn lessons(answer: &str, names: &[String]) -> Vec<Learned> {
    let mut learned: Vec<Learned> = Vec::new();
    let mut open: Option<Learned> = None;
    for line in answer.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix(HEAD) {
            open = Some(Learned { name: name.trim().to_owned(), ..Learned::default() });
            continue;
        }
        let Some(one) = &mut open else { continue };
        let said = |prefix: &str| {
            line.strip_prefix(prefix)
                .map(|text| one_line(text.trim()))
                .filter(|text| !text.is_empty() && text != "none")
        };
        if let Some(what) = said("WHAT:") {
            one.what = what;
        } else if let Some(needs) = said("NEEDS:") {
            one.needs.push(needs);
        } else if let Some(avoid) = said("AVOID:") {
            one.avoid.push(avoid);
        } else if line == END {
            let mut one = open.take().unwrap_or_default();
            one.needs.truncate(MOST);
            one.avoid.truncate(MOST);
            let known = names.contains(&one.name) && learned.iter().all(|other| other.name != one.name);
            if known && !one.what.is_empty() {
                learned.push(one);
            }
        }
    }
    learned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_about_what_was_tried_are_read_and_nothing_else() {
        let answer = "Well.\n<<<<<<< RECORD model-1\nWHAT: a longer tile\x1b for short rows\nNEEDS: rows are short\nNEEDS: none\nAVOID: one core\n\
                      >>>>>>> END\n<<<<<<< RECORD model-9\nWHAT: x\n>>>>>>> END\n<<<<<<< RECORD model-1\nWHAT: again\n>>>>>>> END\n\
                      <<<<<<< RECORD model-2\nNEEDS: y\n>>>>>>> END\n<<<<<<< RECORD model-2\nWHAT: cut off";
        let names = ["model-1".to_owned(), "model-2".to_owned()];
        let expected = Learned {
            name: "model-1".to_owned(),
            what: "a longer tile  for short rows".to_owned(),
            needs: vec!["rows are short".to_owned()],
            avoid: vec!["one core".to_owned()],
            taken_back: None,
        };
        assert_eq!(lessons(answer, &names), [expected]);
        assert!(lessons("NOTHING", &names).is_empty());
    }
}
