//! Loops over a range of its own for every core, such that no two cores write one line of the data cache.

use std::ops::Range;

use crate::analysis::code::{scope, words};
use crate::analysis::element_places::{Nest, Running, Written};
use crate::analysis::polynomial::Polynomial;
use crate::rewrite::edits::edit;
use source::Edit;
use source::facts::fixed_type_bytes;
use source::parse::{Loop, SyntaxFile};

/// Bytes of a line of a core's data cache, as docs/model.md has them.
const LINE_BYTES: usize = 64;
/// Names that a dealt loop needs.
const NAMES: [&str; 5] = ["rounds", "lineRounds", "share", "first", "last"];
/// Rounds of the inner one of two loops that are one range.
const INNER: &str = "innerRounds";
/// Why a share is what it is.
const COMMENT: &str = "// no line of the data cache is written by two cores";

/// Rounds to deal.
pub(crate) struct Deal<'a> {
    pub(crate) nest: Nest<'a>,
    pub(crate) running: Vec<Running>,
    /// Where each write goes, with its element type as the kernel calls it; nothing where that is not known.
    pub(crate) written: Option<Vec<(&'a str, Written)>>,
    /// Types of the elements that are written.
    pub(crate) elements: Vec<&'a str>,
}

impl Deal<'_> {
    /// Makes the loops go over the range of their core. `taken` counts the names that are in use.
    pub(crate) fn edits(&self, taken: &mut usize) -> Result<Vec<Edit>, String> {
        let (file, outer) = (self.nest.course.file, self.nest.outer);
        let line = file.line(outer.span.start);
        let whole = file.whole_lines(&outer.span).ok_or_else(|| format!("line {line}: the loop shares its lines"))?;
        let (zero, bound) = header(file, outer)?;
        let text = words(file.text());
        while NAMES.iter().chain([&INNER]).any(|name| text.contains(&numbered(name, *taken).as_str())) {
            *taken += 1;
        }
        let [rounds, line_rounds, share, first, last] = NAMES.map(|name| numbered(name, *taken));
        let inner_rounds = numbered(INNER, *taken);
        *taken += 1;
        let api = scope(file);
        let cores = format!("{api}GetBlockNum()");
        let mut lines = Vec::new();
        let mut edits = Vec::new();
        match self.nest.inner {
            None => {
                lines.push(format!("const int64_t {rounds} = {};", file.slice(&bound)));
                edits.extend([edit(file, zero, first.clone()), edit(file, bound, last.clone())]);
            }
            Some(inner) => {
                let (inner_zero, inner_bound) = header(file, inner)?;
                let (of_outer, of_inner) = (file.slice(&bound), file.slice(&inner_bound));
                let counter = self.nest.outer_counter();
                lines.push(format!("const int64_t {inner_rounds} = ({of_inner}) > 0 ? ({of_inner}) : 1;"));
                lines.push(format!(
                    "const int64_t {rounds} = ({of_inner}) > 0 ? static_cast<int64_t>({of_outer}) * {inner_rounds} : 0;"
                ));
                let before = format!("{counter} * {inner_rounds}");
                edits.push(edit(file, zero, format!("{first} / {inner_rounds}")));
                edits.push(edit(file, bound, format!("({last} + {inner_rounds} - 1) / {inner_rounds}")));
                edits.push(edit(file, inner_zero, format!("{before} < {first} ? {first} - {before} : 0")));
                edits.push(edit(
                    file,
                    inner_bound,
                    format!("(({counter} + 1) * {inner_rounds} < {last} ? {inner_rounds} : {last} - {before})"),
                ));
            }
        }
        lines.extend([
            format!("int64_t {first} = 0;"),
            format!("int64_t {last} = {rounds};"),
            // A core that is alone need not find out where its range ends, which small work would feel.
            format!("if ({cores} > 1) {{"),
        ]);
        let own = self.line_rounds(&line_rounds, &inner_rounds, &rounds).into_iter().chain([
            format!(
                "const int64_t {share} = ({rounds} + {line_rounds} * {cores} - 1) / ({line_rounds} * {cores}) * {line_rounds};"
            ),
            format!("{first} = {share} * {api}GetBlockIdx();"),
            format!("{last} = {first} + {share} < {rounds} ? {first} + {share} : {rounds};"),
        ]);
        lines.extend(own.map(|line| format!("    {line}")));
        lines.push("}".to_owned());
        let indentation = file.indentation(outer.span.start);
        let before: String = lines.iter().map(|line| format!("{indentation}{line}\n")).collect();
        edits.push(edit(file, whole.start..whole.start, before));
        edits.extend(self.starts()?);
        Ok(edits)
    }

    /// Running indices set at the start of every round.
    fn starts(&self) -> Result<Vec<Edit>, String> {
        let file = self.nest.course.file;
        let repetition = self.nest.innermost();
        let body = &repetition.body;
        if !self.running.is_empty() && !file.slice(body).starts_with('{') {
            return Err(format!("line {}: the loop has no block", file.line(body.start)));
        }
        let indentation = format!("{}    ", file.indentation(repetition.span.start));
        let set = |running: &Running| {
            let text = format!("\n{indentation}{} = {};", running.name, running.start.text());
            edit(file, body.start + 1..body.start + 1, text)
        };
        Ok(self.running.iter().map(set).collect())
    }

    /// Lines that say how many rounds a share is a multiple of, so that it ends where a line does.
    fn line_rounds(&self, name: &str, inner: &str, rounds: &str) -> Vec<String> {
        let size = |element: &str| (!element.is_empty()).then(|| format!("sizeof({element})"));
        let words = Words { name, inner, rounds, say: &|number| Some(number.text()), size: &size };
        self.line_rounds_in(&words).unwrap_or_default()
    }

    /// Lines of host code that give `name` the number of shares that there are for all cores, where everything that it follows from can be
    /// said there. Elements are taken to be of two bytes where their type is not known: others make shares of fewer rounds possible, none of
    /// more but bytes.
    pub(crate) fn shares_on_host(&self, number: usize, say: &Say<'_>) -> Option<(Vec<String>, String)> {
        let [line_rounds, rounds, inner] = ["lineRounds", "rounds", INNER].map(|name| numbered(name, number));
        let size = |element: &str| Some(fixed_type_bytes(element).unwrap_or(2).to_string());
        let words = Words { name: &line_rounds, inner: &inner, rounds: &rounds, say, size: &size };
        let mut lines = Vec::new();
        if let Some(all) = self.nest.inner_rounds() {
            let all = say(&all)?;
            lines.push(format!("const int64_t {inner} = std::max<int64_t>(1, {all});"));
        }
        lines.push(format!("const int64_t {rounds} = {};", say(&self.nest.rounds()?)?));
        lines.extend(self.line_rounds_in(&words)?);
        Some((lines, format!("({rounds} + {line_rounds} - 1) / {line_rounds}")))
    }

    fn line_rounds_in(&self, words: &Words<'_>) -> Option<Vec<String>> {
        let Words { name, inner, rounds, say, size } = words;
        let odd = |written: &Written| written.pitch.constant().is_some_and(|pitch| pitch % 2 != 0);
        let written = self.written.as_deref().unwrap_or_default();
        let plain = written.iter().all(|(_, places)| {
            odd(places) && places.outer.is_none() && places.whole.is_empty() && places.base.is_none()
        });
        if plain {
            // Of several types the shortest elements need most rounds.
            let size = match self.elements.as_slice() {
                [element] => size(element),
                _ => None,
            };
            let of_line = size.map_or_else(|| LINE_BYTES.to_string(), |size| format!("{LINE_BYTES} / {size}"));
            return Some(vec![format!("const int64_t {name} = {of_line}; {COMMENT}")]);
        }
        let divides = |number: &str, element: &str| {
            let size = size(element).map(|size| format!(" * {size}")).unwrap_or_default();
            format!("({number}){size} % {LINE_BYTES} != 0")
        };
        let any = |tests: Vec<String>| {
            let mut kept: Vec<String> = Vec::new();
            for test in tests {
                if !kept.contains(&test) {
                    kept.push(test);
                }
            }
            kept.join(" || ")
        };
        let mut pitches = Vec::new();
        for (element, places) in written {
            pitches.push(divides(&format!("{name} * ({})", say(&places.pitch)?), element));
        }
        let mut lines = vec![
            format!("int64_t {name} = 1; {COMMENT}"),
            format!("while ({}) {{", any(pitches)),
            format!("    {name} *= 2;"),
            "}".to_owned(),
        ];
        let one_row = |written: &Written| {
            let all = self.nest.inner_rounds().and_then(|rounds| written.pitch.times(&rounds));
            written.outer.is_none() || all.is_some_and(|all| written.outer.as_ref() == Some(&all))
        };
        let is_one_range = written.iter().all(|(_, places)| one_row(places));
        // What lies in a round of the outer loop is no matter where that is the least.
        let in_outer = |places: &Written, distance: &Polynomial| {
            !is_one_range && places.outer.as_ref().is_some_and(|outer| outer.is_multiple_of(distance))
        };
        let (mut fine, mut all) = (vec![format!("{inner} % {name} != 0")], Vec::new());
        for (element, places) in written {
            for distance in &places.whole {
                let tests = if in_outer(places, distance) { &mut fine } else { &mut all };
                tests.push(divides(&say(distance)?, element));
            }
            if let Some(base) = &places.base {
                let is_within = !is_one_range && places.outer.as_ref().is_some_and(|outer| base.lies_in(outer));
                let tests = if is_within { &mut fine } else { &mut all };
                tests.push(divides(&say(base)?, element));
            }
        }
        if !is_one_range {
            // Whole rounds of the outer loop, where a line of theirs would be of several cores.
            let mut pitches = Vec::new();
            for (element, places) in written {
                if let Some(distance) = &places.outer {
                    let distance = say(distance)?;
                    fine.push(divides(&distance, element));
                    pitches.push(divides(&format!("{name} / {inner} * ({distance})"), element));
                }
            }
            lines.extend([
                format!("if ({}) {{", any(fine)),
                format!("    {name} = {inner};"),
                format!("    while ({}) {{", any(pitches)),
                // What is missing to a line is a power of two.
                format!("        {name} *= 2;"),
                "    }".to_owned(),
                "}".to_owned(),
            ]);
        }
        if !all.is_empty() {
            lines.extend([
                format!("if ({}) {{", any(all)),
                format!("    {name} = {rounds} > 0 ? {rounds} : 1;"),
                "}".to_owned(),
            ]);
        }
        Some(lines)
    }
}

/// A number in the words of a place; nothing where it cannot be said there.
pub(crate) type Say<'a> = dyn Fn(&Polynomial) -> Option<String> + 'a;

/// Words for what lines are made of.
struct Words<'a> {
    name: &'a str,
    inner: &'a str,
    rounds: &'a str,
    say: &'a Say<'a>,
    /// Bytes of an element.
    size: &'a dyn Fn(&str) -> Option<String>,
}

/// The name of a later loop.
pub(crate) fn numbered(name: &str, number: usize) -> String {
    if number == 0 { name.to_owned() } else { format!("{name}{}", number + 1) }
}

/// The zero that a loop counts from and the bound that its counter stays below, as bytes.
fn header(file: &SyntaxFile, repetition: &Loop) -> Result<(Range<usize>, Range<usize>), String> {
    let line = file.line(repetition.span.start);
    let (Some(initializer), Some(condition)) = (&repetition.initializer, &repetition.condition) else {
        return Err(format!("line {line}: the loop has no range"));
    };
    let trimmed = |text: &str, start: usize| {
        let from = start + (text.len() - text.trim_start().len());
        from..from + text.trim().len()
    };
    let part = |span: &Range<usize>, text: &str, sign: char| {
        let at = text.find(sign)? + 1;
        Some(trimmed(&text[at..], span.start + at))
    };
    let zero = part(initializer, file.slice(initializer).trim_end_matches(';'), '=');
    let bound = part(condition, file.slice(condition), '<');
    match (zero, bound) {
        (Some(zero), Some(bound)) if file.slice(&zero) == "0" => Ok((zero, bound)),
        _ => Err(format!("line {line}: the loop does not count from 0 while less")),
    }
}

/// Edits that let the loops of a file which are dealt go over all rounds again; those of which two are one range stay.
pub(crate) fn gathered(file: &SyntaxFile) -> Vec<Edit> {
    let text = file.text();
    let mut edits = Vec::new();
    for local in file.locals().iter().filter(|local| local.alone) {
        let Some(number) = local.name.strip_prefix(NAMES[0]) else { continue };
        let names = NAMES.map(|name| format!("{name}{number}"));
        let [rounds, line_rounds, _, first, last] = &names;
        let Some(value) = &local.value else { continue };
        let Some(start) = file.whole_lines(&local.span).map(|lines| lines.start) else { continue };
        // The first loop behind it that begins with the range.
        let begins = |repetition: &&Loop| {
            let part = repetition.initializer.as_ref().map(|span| file.slice(span).trim_end_matches(';').trim());
            part.is_some_and(|part| part.ends_with(&format!("= {first}")))
        };
        let mut behind = file.loops().iter().filter(|repetition| repetition.span.start >= local.span.end);
        let Some(repetition) = behind.find(begins) else { continue };
        let (Some(initializer), Some(condition)) = (&repetition.initializer, &repetition.condition) else {
            continue;
        };
        let end = text[..repetition.span.start].rfind('\n').map_or(0, |at| at + 1);
        let lines: Vec<&str> = text[start..end].lines().map(str::trim).collect();
        let is_ours = lines.get(1).is_some_and(|line| *line == format!("int64_t {first} = 0;"))
            && lines.get(2).is_some_and(|line| *line == format!("int64_t {last} = {rounds};"))
            && lines.get(4).is_some_and(|line| line.contains(line_rounds) && line.ends_with(COMMENT))
            && lines.last() == Some(&"}");
        if !is_ours {
            continue;
        }
        let place = |span: &Range<usize>, name: &str| {
            file.slice(span).rfind(name).map(|at| span.start + at..span.start + at + name.len())
        };
        let (Some(first), Some(last)) = (place(initializer, first), place(condition, last)) else {
            continue;
        };
        edits.push(edit(file, start..end, ""));
        edits.push(edit(file, first, "0"));
        edits.push(edit(file, last, file.slice(value)));
    }
    edits
}
