//! Values of expressions over numbers and names whose values are known.

use std::collections::BTreeMap;
use std::ops::Range;

use super::known::Known;
use super::words::literal;
use source::tunable::lexer::Tokens;

/// Value of an expression, if all of it is arithmetic.
pub(super) fn number(tokens: &Tokens<'_>, known: &BTreeMap<String, Known>, range: Range<usize>) -> Option<f64> {
    let mut sum = Sum { tokens, known, at: range.start, end: range.end };
    let value = sum.sum()?;
    (sum.at == range.end).then_some(value)
}

/// Arithmetic over numbers and known names.
struct Sum<'a, 'b> {
    tokens: &'a Tokens<'b>,
    known: &'a BTreeMap<String, Known>,
    at: usize,
    end: usize,
}

impl Sum<'_, '_> {
    fn word(&self) -> &str {
        if self.at < self.end { self.tokens.get(self.at) } else { "" }
    }

    fn sum(&mut self) -> Option<f64> {
        let mut value = self.product()?;
        loop {
            match self.word() {
                "+" => {
                    self.at += 1;
                    value += self.product()?;
                }
                "-" => {
                    self.at += 1;
                    value -= self.product()?;
                }
                _ => return Some(value),
            }
        }
    }

    fn product(&mut self) -> Option<f64> {
        let mut value = self.factor()?;
        loop {
            match self.word() {
                "*" => {
                    self.at += 1;
                    value *= self.factor()?;
                }
                "/" => {
                    self.at += 1;
                    let divisor = self.factor()?;
                    // Whole numbers divide as C++ does.
                    value = if value.fract() == 0.0 && divisor.fract() == 0.0 {
                        (divisor != 0.0).then(|| (value / divisor).trunc())?
                    } else {
                        value / divisor
                    };
                }
                _ => return Some(value),
            }
        }
    }

    fn factor(&mut self) -> Option<f64> {
        let word = self.word().to_owned();
        self.at += 1;
        match word.as_str() {
            "-" => self.factor().map(|value| -value),
            "(" => {
                let value = self.sum()?;
                (self.word() == ")").then(|| self.at += 1)?;
                Some(value)
            }
            "static_cast" if self.word() == "<" => {
                self.at = self.tokens.closing_angle(self.at)? + 1;
                self.factor()
            }
            _ => match self.known.get(&word) {
                Some(Known::Number(value)) => Some(*value),
                Some(_) => None,
                None => literal(&word),
            },
        }
    }
}
