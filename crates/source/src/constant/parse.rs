//! From text to expressions.

use super::error::ConstantError;
use super::expression::{BinaryOperator, ConstantExpression, Helper, UnaryOperator};
use super::literal::literal;
use super::types::{NumberType, fixed_type_bytes};
use crate::lex::{PieceKind, pieces, touching};

/// Levels of nesting and of operands in a row that an expression may have, so that no text exhausts the stack.
const MOST_LEVELS: usize = 200;

/// Marks of more than one letter. Two `>` are joined where an operator is looked for: they close template arguments as well.
const LONG_MARKS: [&str; 11] = ["<<", "::", "->", "==", "!=", "<=", ">=", "&&", "||", "++", "--"];

/// A word of the text, and whether the next one follows it without a blank.
type Word<'a> = (&'a str, bool);

impl ConstantExpression {
    /// Takes a text apart; comments in it are no part of it.
    pub fn parse(text: &str) -> Result<Self, ConstantError> {
        let pieces = pieces(text);
        let mut words: Vec<Word<'_>> = Vec::with_capacity(pieces.len());
        let mut at = 0;
        while let Some(piece) = pieces.get(at) {
            let long = |mark: &&&str| {
                text[piece.span.start..].starts_with(**mark) && touching(&pieces[at..], mark.len()) == mark.len()
            };
            let count = match piece.kind {
                PieceKind::Punctuation => LONG_MARKS.iter().find(long).map_or(1, |mark| mark.len()),
                _ => 1,
            };
            let end = pieces[at + count - 1].span.end;
            at += count;
            // A line goes on after a backslash.
            let joins_lines = &text[piece.span.start..end] == "\\" && text[end..].starts_with(['\n', '\r']);
            if piece.kind != PieceKind::Comment && !joins_lines {
                let touches = pieces.get(at).is_some_and(|next| next.span.start == end);
                words.push((&text[piece.span.start..end], touches));
            }
        }
        Parser::all(words)
    }

    /// The same of words that a lexer has cut.
    pub fn of_words(words: &[&str]) -> Result<Self, ConstantError> {
        Parser::all(words.iter().map(|word| (*word, true)).collect())
    }
}

struct Parser<'a> {
    words: Vec<Word<'a>>,
    at: usize,
}

/// An expression and how many levels it has.
type Measured = (ConstantExpression, usize);

impl<'a> Parser<'a> {
    fn all(words: Vec<Word<'a>>) -> Result<ConstantExpression, ConstantError> {
        let mut parser = Self { words, at: 0 };
        let (expression, _) = parser.conditional(0)?;
        if parser.at < parser.words.len() { Err(parser.error("an operator or the end")) } else { Ok(expression) }
    }

    fn word(&self, offset: usize) -> &'a str {
        self.words.get(self.at + offset).map_or("", |(word, _)| word)
    }

    fn accept(&mut self, word: &str) -> bool {
        let found = self.word(0) == word;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, word: &'static str) -> Result<(), ConstantError> {
        if self.accept(word) { Ok(()) } else { Err(self.error(word)) }
    }

    fn error(&self, expected: &'static str) -> ConstantError {
        ConstantError::Syntax { found: self.word(0).to_owned(), expected }
    }

    /// One level more than these have.
    fn level(depth: usize) -> Result<usize, ConstantError> {
        if depth < MOST_LEVELS { Ok(depth + 1) } else { Err(ConstantError::TooDeep { limit: MOST_LEVELS }) }
    }

    fn conditional(&mut self, depth: usize) -> Result<Measured, ConstantError> {
        let depth = Self::level(depth)?;
        let (condition, high) = self.binary(depth, 0)?;
        if !self.accept("?") {
            return Ok((condition, high));
        }
        let (one, first) = self.conditional(depth)?;
        self.expect(":")?;
        let (other, second) = self.conditional(depth)?;
        let height = Self::level(high.max(first).max(second))?;
        Ok((ConstantExpression::Conditional(Box::new([condition, one, other])), height))
    }

    /// The operator that stands next, how strongly it binds and how many words it has.
    fn operator(&self) -> Option<(BinaryOperator, u8, usize)> {
        let touching = self.words.get(self.at).is_some_and(|(_, touches)| *touches);
        if self.word(0) == ">" && self.word(1) == ">" && touching {
            return Some((BinaryOperator::ShiftRight, 8, 2));
        }
        let found = BinaryOperator::ALL.iter().find(|(_, mark, _)| *mark == self.word(0));
        found.map(|(operator, _, strength)| (*operator, *strength, 1))
    }

    fn binary(&mut self, depth: usize, weakest: u8) -> Result<Measured, ConstantError> {
        let depth = Self::level(depth)?;
        let (mut left, mut height) = self.unary(depth)?;
        while let Some((operator, strength, words)) = self.operator().filter(|(_, strength, _)| *strength > weakest) {
            self.at += words;
            let (right, high) = self.binary(depth, strength)?;
            height = Self::level(height.max(high))?;
            left = ConstantExpression::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok((left, height))
    }

    fn unary(&mut self, depth: usize) -> Result<Measured, ConstantError> {
        let depth = Self::level(depth)?;
        let operator = match self.word(0) {
            "+" => UnaryOperator::Plus,
            "-" => UnaryOperator::Minus,
            "~" => UnaryOperator::Complement,
            "!" => UnaryOperator::Not,
            "(" => return self.parenthesised(depth),
            _ => return self.primary(depth),
        };
        self.at += 1;
        let (operand, height) = self.unary(depth)?;
        Ok((ConstantExpression::Unary(operator, Box::new(operand)), Self::level(height)?))
    }

    /// `(type) operand`, or an expression in parentheses.
    fn parenthesised(&mut self, depth: usize) -> Result<Measured, ConstantError> {
        self.at += 1;
        if let Some((name, length)) = self.type_name(")")
            && is_type(&name)
        {
            self.at += length + 1;
            let (operand, height) = self.unary(depth)?;
            return Ok((cast(name, operand), Self::level(height)?));
        }
        let inner = self.conditional(depth)?;
        self.expect(")")?;
        Ok(inner)
    }

    /// Words of a type up to a closing mark, and how many these are.
    fn type_name(&self, close: &str) -> Option<(String, usize)> {
        let mut name = String::new();
        for length in 0..8 {
            let word = self.word(length);
            if word == close {
                return (length > 0).then_some((name, length));
            }
            if !is_word(word) && word != "::" {
                return None;
            }
            if is_word(word) && name.ends_with(|letter: char| letter != ':') {
                name.push(' ');
            }
            name.push_str(word);
        }
        None
    }

    fn primary(&mut self, depth: usize) -> Result<Measured, ConstantError> {
        let word = self.word(0);
        match word {
            "sizeof" => {
                self.at += 1;
                self.expect("(")?;
                let (name, length) = self.type_name(")").ok_or_else(|| self.error("a type"))?;
                self.at += length + 1;
                return Ok((ConstantExpression::SizeOf(name), 1));
            }
            "defined" => {
                self.at += 1;
                let parenthesised = self.accept("(");
                let name = self.word(0);
                if !is_word(name) {
                    return Err(self.error("the name of a macro"));
                }
                self.at += 1;
                if parenthesised {
                    self.expect(")")?;
                }
                return Ok((ConstantExpression::Defined(name.to_owned()), 1));
            }
            "static_cast" => {
                self.at += 1;
                self.expect("<")?;
                let (name, length) = self.type_name(">").ok_or_else(|| self.error("a type"))?;
                self.at += length + 1;
                return self.cast_of_parenthesised(name, depth);
            }
            _ => {}
        }
        if let Some(value) = literal(word) {
            self.at += 1;
            return Ok((ConstantExpression::Literal(value), 1));
        }
        if is_word(word) || word == "::" {
            return self.named(depth);
        }
        // A number that is none, a text.
        if word.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '.' | '\'' | '"')) && word.len() > 1
        {
            return Err(ConstantError::Literal { literal: word.to_owned() });
        }
        Err(self.error("a value"))
    }

    fn cast_of_parenthesised(&mut self, name: String, depth: usize) -> Result<Measured, ConstantError> {
        self.expect("(")?;
        let (operand, height) = self.conditional(depth)?;
        self.expect(")")?;
        Ok((cast(name, operand), Self::level(height)?))
    }

    /// A name with what leads to it, a call of a helper, or a type before parentheses.
    fn named(&mut self, depth: usize) -> Result<Measured, ConstantError> {
        let mut path = String::new();
        let mut last = "";
        loop {
            match self.word(0) {
                mark @ ("::" | "." | "->") => {
                    path.push_str(mark);
                    self.at += 1;
                }
                word if is_word(word) && !path.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_') => {
                    path.push_str(word);
                    last = word;
                    self.at += 1;
                }
                _ => break,
            }
        }
        if !path.ends_with(last) || last.is_empty() {
            return Err(self.error("a name"));
        }
        let helper = Helper::named(path.trim_start_matches("::"));
        match (self.word(0), helper) {
            ("<", Some(helper)) => {
                self.at += 1;
                let (name, length) = self.type_name(">").ok_or_else(|| self.error("a type"))?;
                self.at += length + 1;
                let kind = NumberType::named(&name).ok_or(ConstantError::UnknownType { name })?;
                self.call(helper, Some(kind), depth)
            }
            ("(", Some(helper)) => self.call(helper, None, depth),
            ("(", None) if is_type(&path) => self.cast_of_parenthesised(path, depth),
            ("(" | "[" | "{", _) => Err(self.error("an operator: calls and elements are no constants")),
            _ => Ok((ConstantExpression::Name(last.to_owned()), 1)),
        }
    }

    fn call(&mut self, helper: Helper, kind: Option<NumberType>, depth: usize) -> Result<Measured, ConstantError> {
        self.expect("(")?;
        let (left, high) = self.conditional(depth)?;
        self.expect(",")?;
        let (right, height) = self.conditional(depth)?;
        self.expect(")")?;
        let height = Self::level(high.max(height))?;
        Ok((ConstantExpression::Call(helper, kind, Box::new([left, right])), height))
    }
}

fn is_word(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphabetic() || matches!(first, '_' | '$')) && !word.ends_with(['\'', '"'])
}

/// Whether a name is that of an arithmetic type, be it one that only the device calculates with.
fn is_type(name: &str) -> bool {
    NumberType::named(name).is_some() || fixed_type_bytes(name).is_some()
}

fn cast(name: String, operand: ConstantExpression) -> ConstantExpression {
    match NumberType::named(&name) {
        Some(kind) => ConstantExpression::Cast(kind, Box::new(operand)),
        None => ConstantExpression::CastToUnknown(name, Box::new(operand)),
    }
}
