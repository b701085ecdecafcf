//! The constraint language: integer expressions over tunables and case facts.
//!
//! ```text
//! or       = and { "||" and }
//! and      = compare { "&&" compare }
//! compare  = sum [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) sum ]
//! sum      = product { ( "+" | "-" ) product }
//! product  = unary { ( "*" | "/" | "%" ) unary }
//! unary    = ( "!" | "-" ) unary | atom
//! atom     = integer | "true" | "false" | 'text' | name | function "(" or { "," or } ")" | "(" or ")"
//! ```
//!
//! Integers are exact: 128 bits wide and checked, `/` and `%` floor towards minus infinity as `ceil_div` and `align_up`
//! round up. Functions: `min(a, b, ..)`, `max(a, b, ..)`, `ceil_div(a, b)`, `align_up(a, b)`. Texts (for tunables whose
//! values are names) can only be compared with `==` and `!=`.

use std::ops::Range;

use num_traits::{CheckedNeg, CheckedRem, PrimInt};

/// What an expression is about: positions are resolved by the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// A tunable, by its position in the space; its values are integers or booleans.
    Tunable(usize),
    /// A tunable whose values are texts.
    TextTunable(usize),
    /// A case fact, by its position in the list of facts.
    Fact(usize),
}

/// Mistake in the text of a constraint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExpressionError {
    /// What is wrong and what would be right.
    pub message: String,
    /// Bytes of the expression's text that are at fault.
    pub span: Range<usize>,
}

/// Why an expression has no value at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationError {
    /// An intermediate result does not fit 128 bits.
    #[error("integer overflow")]
    Overflow,
    /// Division or remainder by zero.
    #[error("division by zero")]
    DivisionByZero,
}

/// Source of values while an expression is evaluated.
pub trait Environment {
    /// Integer value of a tunable (booleans are 0 and 1).
    fn integer(&self, tunable: usize) -> i128;
    /// Text value of a tunable.
    fn text(&self, tunable: usize) -> &str;
    /// Value of a case fact.
    fn fact(&self, fact: usize) -> i128;
}

/// A parsed and type-checked constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    root: Node,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Min,
    Max,
    CeilDiv,
    AlignUp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Integer(i128),
    Text(String),
    Symbol(Symbol),
    Not(Box<Node>),
    Negate(Box<Node>),
    Binary(Operator, Box<Node>, Box<Node>),
    TextEqual { left: Box<Node>, right: Box<Node>, equal: bool },
    Call(Function, Vec<Node>),
}

/// Truth values are the integers 0 and 1, so that a boolean tunable can stand wherever a condition can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Integer,
    Truth,
    Text,
}

impl Expression {
    /// Parses a constraint. `resolve` says what a name stands for.
    pub fn parse(text: &str, resolve: &dyn Fn(&str) -> Option<Symbol>) -> Result<Self, ExpressionError> {
        let tokens = tokenize(text)?;
        let mut parser = Parser { tokens, position: 0, end: text.len(), resolve, depth: 0 };
        let (root, kind, span) = parser.or()?;
        if let Some(token) = parser.peek() {
            return Err(ExpressionError {
                message: "expected an operator or the end".to_owned(),
                span: token.1.clone(),
            });
        }
        if kind != Kind::Truth {
            return Err(ExpressionError {
                message: "a constraint must be true or false: compare the value with something".to_owned(),
                span,
            });
        }
        Ok(Self { root })
    }

    /// Whether the constraint holds.
    pub fn holds(&self, environment: &dyn Environment) -> Result<bool, EvaluationError> {
        // Numbers that fit 64 bits, nearly all, take a fraction of the time; what does not is worked out with all of them.
        let short = evaluate::<i64>(&self.root, environment).map(|value| value != 0);
        short.or_else(|_| evaluate::<i128>(&self.root, environment).map(|value| value != 0))
    }

    /// Positions of the tunables that the expression mentions, ascending.
    pub fn tunables(&self) -> Vec<usize> {
        let mut found = Vec::new();
        self.root.visit(&mut |symbol| {
            if let Symbol::Tunable(position) | Symbol::TextTunable(position) = symbol {
                found.push(*position);
            }
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether the expression mentions a case fact, and so must be asked per case.
    pub fn depends_on_case(&self) -> bool {
        let mut depends = false;
        self.root.visit(&mut |symbol| depends |= matches!(symbol, Symbol::Fact(_)));
        depends
    }
}

impl Node {
    fn visit(&self, see: &mut dyn FnMut(&Symbol)) {
        match self {
            Node::Integer(_) | Node::Text(_) => {}
            Node::Symbol(symbol) => see(symbol),
            Node::Not(inner) | Node::Negate(inner) => inner.visit(see),
            Node::Binary(_, left, right) | Node::TextEqual { left, right, .. } => {
                left.visit(see);
                right.visit(see);
            }
            Node::Call(_, arguments) => arguments.iter().for_each(|argument| argument.visit(see)),
        }
    }
}

/// Integers of one width, the widest of which decides what overflows.
trait Number: PrimInt + CheckedNeg + CheckedRem + TryFrom<i128> + From<bool> {}

impl Number for i64 {}
impl Number for i128 {}

fn floor_div<N: Number>(left: N, right: N) -> Result<N, EvaluationError> {
    if right.is_zero() {
        return Err(EvaluationError::DivisionByZero);
    }
    let quotient = left.checked_div(&right).ok_or(EvaluationError::Overflow)?;
    let inexact = !left.checked_rem(&right).ok_or(EvaluationError::Overflow)?.is_zero();
    Ok(if inexact && ((left < N::zero()) != (right < N::zero())) { quotient - N::one() } else { quotient })
}

fn ceil_div<N: Number>(left: N, right: N) -> Result<N, EvaluationError> {
    floor_div(left.checked_neg().ok_or(EvaluationError::Overflow)?, right)?
        .checked_neg()
        .ok_or(EvaluationError::Overflow)
}

fn evaluate<N: Number>(node: &Node, environment: &dyn Environment) -> Result<N, EvaluationError> {
    let overflow = EvaluationError::Overflow;
    let fitting = |value: i128| N::try_from(value).map_err(|_| EvaluationError::Overflow);
    let of = |node: &Node| evaluate::<N>(node, environment);
    match node {
        Node::Integer(value) => fitting(*value),
        // Texts never reach here: the parser only lets them into comparisons of texts.
        Node::Text(_) | Node::Symbol(Symbol::TextTunable(_)) => Ok(N::zero()),
        Node::Symbol(Symbol::Tunable(position)) => fitting(environment.integer(*position)),
        Node::Symbol(Symbol::Fact(position)) => fitting(environment.fact(*position)),
        Node::Not(inner) => Ok(of(inner)?.is_zero().into()),
        Node::Negate(inner) => of(inner)?.checked_neg().ok_or(overflow),
        Node::TextEqual { left, right, equal } => {
            Ok(((text_of(left, environment) == text_of(right, environment)) == *equal).into())
        }
        Node::Binary(Operator::And, left, right) => Ok((!of(left)?.is_zero() && !of(right)?.is_zero()).into()),
        Node::Binary(Operator::Or, left, right) => Ok((!of(left)?.is_zero() || !of(right)?.is_zero()).into()),
        Node::Binary(operator, left, right) => {
            let (left, right) = (of(left)?, of(right)?);
            match operator {
                Operator::Add => left.checked_add(&right).ok_or(overflow),
                Operator::Subtract => left.checked_sub(&right).ok_or(overflow),
                Operator::Multiply => left.checked_mul(&right).ok_or(overflow),
                Operator::Divide => floor_div(left, right),
                Operator::Remainder => {
                    let product = floor_div(left, right)?.checked_mul(&right).ok_or(overflow)?;
                    left.checked_sub(&product).ok_or(overflow)
                }
                Operator::Equal => Ok((left == right).into()),
                Operator::NotEqual => Ok((left != right).into()),
                Operator::Less => Ok((left < right).into()),
                Operator::LessEqual => Ok((left <= right).into()),
                Operator::Greater => Ok((left > right).into()),
                Operator::GreaterEqual | Operator::And | Operator::Or => Ok((left >= right).into()),
            }
        }
        Node::Call(function, arguments) => match (function, arguments.as_slice()) {
            (Function::Min | Function::Max, [first, rest @ ..]) => {
                let furthest = if *function == Function::Min { N::min } else { N::max };
                rest.iter().try_fold(of(first)?, |furthest_yet, node| Ok(furthest(furthest_yet, of(node)?)))
            }
            (Function::CeilDiv, [left, right]) => ceil_div(of(left)?, of(right)?),
            (Function::AlignUp, [left, right]) => {
                let (left, right) = (of(left)?, of(right)?);
                ceil_div(left, right)?.checked_mul(&right).ok_or(overflow)
            }
            // The parser checks the number of arguments.
            _ => Ok(N::zero()),
        },
    }
}

fn text_of<'a>(node: &'a Node, environment: &'a dyn Environment) -> &'a str {
    match node {
        Node::Text(text) => text,
        Node::Symbol(Symbol::TextTunable(position)) => environment.text(*position),
        _ => "",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Integer(i128),
    Text(String),
    Name(String),
    Mark(&'static str),
}

const MARKS: [&str; 18] =
    ["||", "&&", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!", "(", ")", ",", "="];

fn tokenize(text: &str) -> Result<Vec<(Token, Range<usize>)>, ExpressionError> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        if byte.is_ascii_whitespace() {
            at += 1;
        } else if byte.is_ascii_digit() {
            while bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
                at += 1;
            }
            let digits = text[start..at].replace('_', "");
            let value = match digits.strip_prefix("0x") {
                Some(hexadecimal) => i128::from_str_radix(hexadecimal, 16),
                None => digits.parse(),
            };
            let value = value.map_err(|_| ExpressionError {
                message: "not an integer of this language: write decimal or 0x digits".to_owned(),
                span: start..at,
            })?;
            tokens.push((Token::Integer(value), start..at));
        } else if byte.is_ascii_alphabetic() || byte == b'_' {
            while bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
                at += 1;
            }
            tokens.push((Token::Name(text[start..at].to_owned()), start..at));
        } else if byte == b'\'' {
            let length = text[at + 1..].find('\'').ok_or_else(|| ExpressionError {
                message: "the text has no closing quote".to_owned(),
                span: start..text.len(),
            })?;
            at += length + 2;
            tokens.push((Token::Text(text[start + 1..at - 1].to_owned()), start..at));
        } else if let Some(mark) = MARKS.iter().find(|mark| text[at..].starts_with(**mark)) {
            at += mark.len();
            if *mark == "=" {
                return Err(ExpressionError {
                    message: "`=` compares nothing, write `==`".to_owned(),
                    span: start..at,
                });
            }
            tokens.push((Token::Mark(mark), start..at));
        } else {
            let width = text[at..].chars().next().map_or(1, char::len_utf8);
            return Err(ExpressionError { message: "unexpected character".to_owned(), span: start..start + width });
        }
    }
    Ok(tokens)
}

/// Nesting beyond this is refused, so that no manifest can exhaust the stack.
const MAX_DEPTH: usize = 64;

struct Parser<'a> {
    tokens: Vec<(Token, Range<usize>)>,
    position: usize,
    end: usize,
    resolve: &'a dyn Fn(&str) -> Option<Symbol>,
    depth: usize,
}

type Parsed = (Node, Kind, Range<usize>);

impl Parser<'_> {
    fn peek(&self) -> Option<&(Token, Range<usize>)> {
        self.tokens.get(self.position)
    }

    fn accept(&mut self, marks: &[&'static str]) -> Option<&'static str> {
        let Some((Token::Mark(mark), _)) = self.peek() else { return None };
        let mark = *mark;
        marks.contains(&mark).then(|| {
            self.position += 1;
            mark
        })
    }

    fn here(&self) -> Range<usize> {
        self.peek().map_or(self.end..self.end, |token| token.1.clone())
    }

    fn expect(&mut self, mark: &'static str) -> Result<(), ExpressionError> {
        if self.accept(&[mark]).is_some() {
            return Ok(());
        }
        Err(ExpressionError { message: format!("expected `{mark}`"), span: self.here() })
    }

    fn require(parsed: &Parsed, kind: Kind, what: &str) -> Result<(), ExpressionError> {
        // A boolean tunable is an integer 0 or 1 that may stand as a condition, and a condition may be counted.
        if parsed.1 == kind || (parsed.1 != Kind::Text && kind != Kind::Text) {
            return Ok(());
        }
        Err(ExpressionError { message: format!("{what}, but this is a text"), span: parsed.2.clone() })
    }

    fn binary(operator: Operator, left: Parsed, right: Parsed, kind: Kind) -> Parsed {
        let span = left.2.start..right.2.end;
        (Node::Binary(operator, Box::new(left.0), Box::new(right.0)), kind, span)
    }

    fn or(&mut self) -> Result<Parsed, ExpressionError> {
        let mut left = self.and()?;
        while self.accept(&["||"]).is_some() {
            let right = self.and()?;
            Self::require(&left, Kind::Truth, "`||` joins conditions")?;
            Self::require(&right, Kind::Truth, "`||` joins conditions")?;
            left = Self::binary(Operator::Or, left, right, Kind::Truth);
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Parsed, ExpressionError> {
        let mut left = self.compare()?;
        while self.accept(&["&&"]).is_some() {
            let right = self.compare()?;
            Self::require(&left, Kind::Truth, "`&&` joins conditions")?;
            Self::require(&right, Kind::Truth, "`&&` joins conditions")?;
            left = Self::binary(Operator::And, left, right, Kind::Truth);
        }
        Ok(left)
    }

    fn compare(&mut self) -> Result<Parsed, ExpressionError> {
        let left = self.sum()?;
        let Some(mark) = self.accept(&["==", "!=", "<=", ">=", "<", ">"]) else { return Ok(left) };
        let right = self.sum()?;
        if left.1 == Kind::Text || right.1 == Kind::Text {
            let span = left.2.start..right.2.end;
            if left.1 != right.1 || !matches!(mark, "==" | "!=") {
                let message = "a text can only be compared with a text, by `==` or `!=`".to_owned();
                return Err(ExpressionError { message, span });
            }
            let node = Node::TextEqual { left: Box::new(left.0), right: Box::new(right.0), equal: mark == "==" };
            return Ok((node, Kind::Truth, span));
        }
        let operator = match mark {
            "==" => Operator::Equal,
            "!=" => Operator::NotEqual,
            "<=" => Operator::LessEqual,
            ">=" => Operator::GreaterEqual,
            "<" => Operator::Less,
            _ => Operator::Greater,
        };
        Ok(Self::binary(operator, left, right, Kind::Truth))
    }

    fn sum(&mut self) -> Result<Parsed, ExpressionError> {
        let mut left = self.product()?;
        while let Some(mark) = self.accept(&["+", "-"]) {
            let right = self.product()?;
            Self::require(&left, Kind::Integer, "arithmetic needs integers")?;
            Self::require(&right, Kind::Integer, "arithmetic needs integers")?;
            let operator = if mark == "+" { Operator::Add } else { Operator::Subtract };
            left = Self::binary(operator, left, right, Kind::Integer);
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Parsed, ExpressionError> {
        let mut left = self.unary()?;
        while let Some(mark) = self.accept(&["*", "/", "%"]) {
            let right = self.unary()?;
            Self::require(&left, Kind::Integer, "arithmetic needs integers")?;
            Self::require(&right, Kind::Integer, "arithmetic needs integers")?;
            let operator = match mark {
                "*" => Operator::Multiply,
                "/" => Operator::Divide,
                _ => Operator::Remainder,
            };
            left = Self::binary(operator, left, right, Kind::Integer);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Parsed, ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ExpressionError { message: "nested too deeply".to_owned(), span: self.here() });
        }
        let start = self.here().start;
        let parsed = match self.accept(&["!", "-"]) {
            Some("!") => {
                let inner = self.unary()?;
                Self::require(&inner, Kind::Truth, "`!` negates a condition")?;
                let span = start..inner.2.end;
                (Node::Not(Box::new(inner.0)), Kind::Truth, span)
            }
            Some(_) => {
                let inner = self.unary()?;
                Self::require(&inner, Kind::Integer, "arithmetic needs integers")?;
                let span = start..inner.2.end;
                (Node::Negate(Box::new(inner.0)), Kind::Integer, span)
            }
            None => self.atom()?,
        };
        self.depth -= 1;
        Ok(parsed)
    }

    fn atom(&mut self) -> Result<Parsed, ExpressionError> {
        let Some((token, span)) = self.peek().cloned() else {
            return Err(ExpressionError { message: "the expression ends too early".to_owned(), span: self.here() });
        };
        self.position += 1;
        match token {
            Token::Integer(value) => Ok((Node::Integer(value), Kind::Integer, span)),
            Token::Text(text) => Ok((Node::Text(text), Kind::Text, span)),
            Token::Mark("(") => {
                let inner = self.or()?;
                let end = self.here().end;
                self.expect(")")?;
                Ok((inner.0, inner.1, span.start..end))
            }
            Token::Mark(mark) => Err(ExpressionError { message: format!("expected a value before `{mark}`"), span }),
            Token::Name(name) if name == "true" || name == "false" => {
                Ok((Node::Integer(i128::from(name == "true")), Kind::Truth, span))
            }
            Token::Name(name) if matches!(self.peek(), Some((Token::Mark("("), _))) => self.call(&name, span),
            Token::Name(name) => match (self.resolve)(&name) {
                Some(Symbol::TextTunable(position)) => {
                    Ok((Node::Symbol(Symbol::TextTunable(position)), Kind::Text, span))
                }
                Some(symbol) => Ok((Node::Symbol(symbol), Kind::Integer, span)),
                None => {
                    Err(ExpressionError { message: format!("`{name}` is neither a tunable nor a case fact"), span })
                }
            },
        }
    }

    fn call(&mut self, name: &str, span: Range<usize>) -> Result<Parsed, ExpressionError> {
        let (function, exactly) = match name {
            "min" => (Function::Min, None),
            "max" => (Function::Max, None),
            "ceil_div" => (Function::CeilDiv, Some(2)),
            "align_up" => (Function::AlignUp, Some(2)),
            _ => {
                let message = format!("no function `{name}`: there are min, max, ceil_div and align_up");
                return Err(ExpressionError { message, span });
            }
        };
        self.expect("(")?;
        let mut arguments = Vec::new();
        loop {
            let argument = self.or()?;
            Self::require(&argument, Kind::Integer, "functions take integers")?;
            arguments.push(argument.0);
            if self.accept(&[","]).is_none() {
                break;
            }
        }
        let span = span.start..self.here().end;
        self.expect(")")?;
        if exactly.is_some_and(|count| count != arguments.len()) {
            return Err(ExpressionError { message: format!("`{name}` takes two arguments"), span });
        }
        Ok((Node::Call(function, arguments), Kind::Integer, span))
    }
}

#[cfg(test)]
mod tests;
