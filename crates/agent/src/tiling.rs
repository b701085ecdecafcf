//! The tiling function as a text of its own: where it stands, and what a model writes in its place.

use std::ops::Range;

use super::answer::{AnswerError, Change, one_line, title};
use source::SourceTree;
use source::parse::SyntaxForest;

/// Where a tiling function stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// File.
    pub file: String,
    /// Bytes of it, without the markers.
    span: Range<usize>,
}

/// What stands in a comment before and behind what may be rewritten.
const BEGIN: &str = "ascend-tune: tiling begin";
const END: &str = "ascend-tune: tiling end";
/// What a tiling function is given.
const GIVEN: &str = "TilingContext";
/// How an answer begins, and ends.
pub(super) const HEAD: &str = "<<<<<<< TILING";

impl Region {
    /// Between the markers; without markers the only function that is given a tiling context.
    pub fn of(sources: &SourceTree) -> Result<Self, String> {
        let marked: Vec<(&str, &str)> = sources.iter().filter(|(_, text)| text.contains(BEGIN)).collect();
        match marked[..] {
            [] => Self::function(sources),
            [(file, text)] => Self::marked(file, text),
            _ => Err(format!("several files have the comment \"{BEGIN}\": one may")),
        }
    }

    fn marked(file: &str, text: &str) -> Result<Self, String> {
        let wrong = || format!("{file}: one line with \"// {BEGIN}\" and behind it one with \"// {END}\" are needed");
        let (begin, end) = (text.find(BEGIN).ok_or_else(wrong)?, text.find(END).ok_or_else(wrong)?);
        let start = text[begin..].find('\n').map(|line| begin + line + 1).ok_or_else(wrong)?;
        let stop = text[..end].rfind('\n').map(|line| line + 1).ok_or_else(wrong)?;
        let once = |marker: &str| text.matches(marker).count() == 1;
        if start >= stop || !once(BEGIN) || !once(END) {
            Err(wrong())
        } else {
            Ok(Self { file: file.to_owned(), span: start..stop })
        }
    }

    fn function(sources: &SourceTree) -> Result<Self, String> {
        let forest = SyntaxForest::parse(sources);
        let mut found: Vec<Self> = Vec::new();
        for (file, text) in sources.iter() {
            let functions = forest.get(file).map(|file| file.functions().to_vec()).unwrap_or_default();
            let given = functions.into_iter().filter(|function| {
                let head = text.get(function.span.start..function.body.start).unwrap_or_default();
                head.contains(GIVEN)
            });
            found.extend(given.map(|function| Self { file: file.to_owned(), span: function.span }));
        }
        match found.len() {
            1 => found.pop().ok_or_else(String::new),
            count => Err(format!(
                "{count} functions of the sources are given a {GIVEN}, not one: put \"// {BEGIN}\" before what may be rewritten, and \
                 \"// {END}\" behind it"
            )),
        }
    }

    /// Its text.
    pub fn text<'a>(&self, sources: &'a SourceTree) -> &'a str {
        sources.text(&self.file).and_then(|text| text.get(self.span.clone())).unwrap_or_default()
    }

    /// An answer as a change of nothing else, with the text that it puts there.
    pub fn change(&self, answer: &str, sources: &SourceTree) -> Result<(Change, String), AnswerError> {
        let mut lines = answer.lines();
        let Some(line) = lines.by_ref().position(|line| line.trim() == HEAD) else {
            let nothing = answer.trim().trim_matches(['`', '.', '"']) == "NOTHING";
            return Err(if nothing { AnswerError::Nothing } else { AnswerError::NoTiling });
        };
        let mut text = String::new();
        let mut ended = false;
        for line in lines {
            ended = line.trim_end() == super::answer::END;
            if ended {
                break;
            }
            text.push_str(line.trim_end_matches('\r'));
            text.push('\n');
        }
        if !ended {
            return Err(AnswerError::Open { line: line + 1, missing: super::answer::END });
        }
        // It may not move the markers, nor bring some of its own.
        if text.contains(BEGIN) || text.contains(END) {
            return Err(AnswerError::NotFunction { line: line + 1, name: one_line(BEGIN) });
        }
        let was = self.text(sources);
        let text = if was.ends_with('\n') { text } else { text.trim_end().to_owned() };
        let whole = sources.text(&self.file).unwrap_or_default();
        let (before, behind) = (whole.get(..self.span.start), whole.get(self.span.end..));
        let wanted_text = format!("{}{text}{}", before.unwrap_or_default(), behind.unwrap_or_default());
        let mut wanted = sources.clone();
        wanted.insert(self.file.as_str(), wanted_text.as_str());
        if wanted == *sources {
            return Err(AnswerError::Unchanged);
        }
        Ok((Change { title: title(answer), base: sources.clone(), wanted }, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str =
        "static int Cores() { return 8; }\nstatic int Tile(gert::TilingContext* context)\n{\n    return 1;\n}\n";

    fn tree(text: &str) -> SourceTree {
        [("op_host/t.cpp", text), ("op_kernel/k.cpp", "void K() {}\n")].into_iter().collect()
    }

    #[test]
    fn it_is_the_function_that_is_given_a_context_or_what_stands_between_markers() {
        let sources = tree(HOST);
        let region = Region::of(&sources).unwrap();
        assert!(region.text(&sources).starts_with("static int Tile(") && region.text(&sources).ends_with('}'));
        let marked = HOST.replace("static int Cores", "// ascend-tune: tiling begin\nstatic int Cores")
            + "// ascend-tune: tiling end\n";
        let sources = tree(&marked);
        assert_eq!(Region::of(&sources).unwrap().text(&sources), HOST);
        let none = Region::of(&tree("int x;\n")).unwrap_err();
        assert!(none.starts_with("0 functions") && none.contains("// ascend-tune: tiling begin"), "{none}");
        let open = Region::of(&tree("// ascend-tune: tiling begin\nint x;\n")).unwrap_err();
        assert!(open.contains("op_host/t.cpp: one line with"), "{open}");
    }

    #[test]
    fn an_answer_changes_nothing_outside() {
        let sources = tree(HOST);
        let region = Region::of(&sources).unwrap();
        let of = |body: &str| {
            region.change(&format!("TITLE: two\n<<<<<<< TILING\n{body}\n>>>>>>> REPLACE\nDone."), &sources)
        };
        let (change, text) = of("static int Tile(gert::TilingContext* context)\n{\n    return 2;\n}").unwrap();
        assert_eq!(change.title, "two");
        assert_eq!(change.wanted.text("op_host/t.cpp").unwrap(), HOST.replace("return 1", "return 2"));
        assert_eq!(region.text(&change.wanted), text);
        assert_eq!(change.wanted.text("op_kernel/k.cpp"), sources.text("op_kernel/k.cpp"));
        assert_eq!(of(region.text(&sources)).unwrap_err(), AnswerError::Unchanged);
        assert!(of("// ascend-tune: tiling end").is_err());
        assert_eq!(region.change("NOTHING", &sources).unwrap_err(), AnswerError::Nothing);
        assert_eq!(region.change("a wider tile", &sources).unwrap_err(), AnswerError::NoTiling);
        let open = region.change("<<<<<<< TILING\nint x;", &sources).unwrap_err();
        assert!(open.to_string().contains("has no `>>>>>>> REPLACE`"), "{open}");
    }
}
