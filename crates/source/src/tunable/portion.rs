//! How much of the unified buffer a tiling function plans with, as a rule: so much for every element that a core gets.
//!
//! A plan that takes all there is does short work in one tile, and nothing overlaps with anything; a limit that is right for short work
//! makes the tiles of long work shorter than they need to be.

use std::ops::Range;

use space::Value;

use super::asked::asked_size;
use super::lexer::Tokens;
use super::share::function_body;
use super::{Site, SiteForm, TunableError};
use crate::constant::integer;

/// Least bytes that are planned with, a quarter of the unified buffer: below that, what every round costs outweighs what overlaps (`rsqrt` of 131050
/// bfloat16 is 12 % slower with a third of it and a least share of 1024 blocks beside it).
const LEAST_BYTES: i64 = 49_152;
/// For the maintainer who meets the rule.
const WHY: &str =
    "// Short work in several tiles, so that copies overlap with computing: the plan grows with what a core gets.";

/// What the rule is made of where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortionRule {
    /// The size, as written.
    variable: String,
    /// The question for the number of vector cores.
    cores: String,
    /// The question for the number of elements of the first input.
    elements: String,
    /// Line break and indentation of the call that asks for the size.
    line: String,
}

impl PortionRule {
    /// The rule on lines of its own; nothing for no rule.
    pub(super) fn text(&self, bytes: i64) -> String {
        if bytes <= 0 {
            return String::new();
        }
        format!("{0}{WHY}{0}{1}", self.line, self.statement(&bytes.to_string()))
    }

    fn statement(&self, bytes: &str) -> String {
        let Self { variable, cores, elements, line } = self;
        format!(
            "{variable} = std::min<uint64_t>({variable},{line}    std::max<uint64_t>({LEAST_BYTES}, {bytes} * ({elements} / {cores})));"
        )
    }

    /// The rule on the line of the call, with a number that is asked for.
    pub(super) fn knob(&self, bytes: &str) -> String {
        let line = Self { line: String::new(), ..self.clone() };
        format!(" if ({bytes} > 0) {{ {} }}", line.statement(bytes))
    }
}

/// Whether a rule has a place in the file.
pub fn has_portion(file: &str, text: &str, target: &str) -> bool {
    portions(file, text, target).is_ok()
}

/// The places where a size is asked for in a function that is handed the context of a tiling.
pub(super) fn portions(file: &str, text: &str, target: &str) -> Result<Vec<Site>, TunableError> {
    let tokens = Tokens::of(text);
    let asked = (0..tokens.tokens.len()).filter(|position| tokens.get(*position) == "GetCoreMemSize");
    let found: Vec<Site> = asked.filter_map(|position| portion(file, &tokens, position, target)).collect();
    if found.is_empty() {
        let what = format!("size of the unified buffer `{target}` in a function with the first input's shape");
        return Err(TunableError::NotFound { file: file.to_owned(), what });
    }
    Ok(found)
}

fn portion(file: &str, tokens: &Tokens<'_>, position: usize, target: &str) -> Option<Site> {
    let asked = asked_size(file, tokens, position).filter(|asked| asked.name == target)?;
    let SiteForm::Asked { variable, line } = asked.site.form else { return None };
    let (sign, platform) = (tokens.get(position.checked_sub(1)?), position.checked_sub(2)?);
    let is_name = tokens.get(platform).bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !matches!(sign, "." | "->") || !is_name || tokens.statement_start(position) != platform {
        return None;
    }
    let body = function_body(tokens, position)?;
    let context = context_of(tokens, &body)?;
    // Of an input that may be absent nobody asks without looking.
    let asks = |at: usize| {
        matches!(tokens.get(at), "GetInputShape" | "GetInputTensor")
            && tokens.get(at + 1) == "("
            && tokens.get(at + 2) == "0"
            && tokens.get(at + 3) == ")"
    };
    if !body.clone().any(asks) {
        return None;
    }
    let rule = PortionRule {
        variable,
        cores: format!("{}{sign}GetCoreNumAiv()", tokens.get(platform)),
        elements: format!("{context}GetInputShape(0)->GetStorageShape().GetShapeSize()"),
        line,
    };
    let start = asked.site.span.end;
    let first = (position..tokens.tokens.len()).find(|at| tokens.tokens[*at].span.start >= start)?;
    let there = (first..tokens.tokens.len().min(first + 64)).find(|at| tokens.get(*at) == ";").and_then(|end| {
        let statement = tokens.compact(first..end + 1);
        let compact = |bytes: &str| rule.statement(bytes).split_whitespace().collect::<String>();
        let (before, behind) = compact("@").split_once('@').map(|(a, b)| (a.to_owned(), b.to_owned()))?;
        let bytes = integer(statement.strip_prefix(&before)?.strip_suffix(&behind)?)?;
        Some((tokens.span(end..end + 1).end, bytes))
    });
    let span: Range<usize> = start..there.map_or(start, |(end, _)| end);
    Some(Site {
        file: file.to_owned(),
        text: tokens.text[span.clone()].to_owned(),
        line: asked.site.line,
        value: there.map(|(_, bytes)| Value::Int(bytes)),
        form: SiteForm::Portion(rule),
        span,
    })
}

/// How the function whose body this is calls its context, with what stands before a member: `context->`.
pub(super) fn context_of(tokens: &Tokens<'_>, body: &Range<usize>) -> Option<String> {
    let close = body.start.checked_sub(1).filter(|at| tokens.get(*at) == ")")?;
    let open = (0..close).rev().find(|at| tokens.get(*at) == "(" && tokens.closing(*at) == Some(close))?;
    let kind = (open..close).find(|at| tokens.get(*at) == "TilingContext")?;
    let sign = tokens.get(kind + 1);
    let name = tokens.get(kind + 2);
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match sign {
        "*" if is_name => Some(format!("{name}->")),
        "&" if is_name => Some(format!("{name}.")),
        _ => None,
    }
}
