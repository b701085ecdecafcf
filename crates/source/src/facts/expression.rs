//! Integer expressions of C++ as text: values and divisors that follow from named constants and known values.

use std::collections::{BTreeMap, BTreeSet};

use crate::lex::{PieceKind, pieces};

/// What names are known to be: every value a name takes over all cases and specialisations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownValues {
    /// Values by name; a type's name stands for its size in bytes.
    pub values: BTreeMap<String, BTreeSet<i64>>,
}

impl KnownValues {
    /// Adds one possible value of a name.
    pub fn add(&mut self, name: impl Into<String>, value: i64) {
        self.values.entry(name.into()).or_default().insert(value);
    }

    fn single(&self, name: &str) -> Option<i64> {
        let values = self.values.get(name)?;
        (values.len() == 1).then(|| values.iter().next().copied()).flatten()
    }

    /// Size of a type in bytes, if it is the same in all cases.
    pub fn type_bytes(&self, type_name: &str) -> Option<i64> {
        fixed_type_bytes(type_name).or_else(|| self.single(type_name.trim()))
    }

    /// Value of an expression, if it has exactly one.
    pub fn value(&self, expression: &str) -> Option<i64> {
        let tree = parse(expression)?;
        self.value_of(&tree)
    }

    fn value_of(&self, tree: &Tree) -> Option<i64> {
        match tree {
            Tree::Number(value) => Some(*value),
            Tree::Name(name) => self.single(name),
            Tree::SizeOf(type_name) => self.type_bytes(type_name),
            Tree::Binary(operator, left, right) => {
                let (left, right) = (self.value_of(left)?, self.value_of(right)?);
                match operator {
                    '+' => left.checked_add(right),
                    '-' => left.checked_sub(right),
                    '*' => left.checked_mul(right),
                    '/' => left.checked_div(right),
                    '%' => left.checked_rem(right),
                    '<' => left.checked_shl(u32::try_from(right).ok()?),
                    _ => left.checked_shr(u32::try_from(right).ok()?),
                }
            }
        }
    }

    /// The largest value that an expression of numbers that are not negative may have.
    pub fn most(&self, expression: &str) -> Option<i64> {
        parse(expression).and_then(|tree| self.most_of(&tree))
    }

    fn most_of(&self, tree: &Tree) -> Option<i64> {
        if let Some(value) = self.value_of(tree) {
            return Some(value);
        }
        match tree {
            Tree::Name(name) | Tree::SizeOf(name) => self.values.get(name)?.iter().max().copied(),
            Tree::Binary('+', left, right) => self.most_of(left)?.checked_add(self.most_of(right)?),
            Tree::Binary('*', left, right) => self.most_of(left)?.checked_mul(self.most_of(right)?),
            Tree::Binary('/', left, right) => self.most_of(left)?.checked_div(self.value_of(right)?),
            _ => None,
        }
    }

    /// A number that certainly divides the expression in every case; 1 if nothing is known, 0 for the constant 0.
    pub fn divisor(&self, expression: &str) -> i64 {
        parse(expression).map_or(1, |tree| self.divisor_of(&tree))
    }

    fn divisor_of(&self, tree: &Tree) -> i64 {
        if let Some(value) = self.value_of(tree) {
            return value.checked_abs().unwrap_or(1);
        }
        match tree {
            Tree::Name(name) => {
                self.values.get(name).map_or(1, |values| values.iter().fold(0, |sum, value| gcd(sum, *value)))
            }
            Tree::Binary('*', left, right) => self.divisor_of(left).checked_mul(self.divisor_of(right)).unwrap_or(1),
            Tree::Binary('+' | '-', left, right) => gcd(self.divisor_of(left), self.divisor_of(right)),
            Tree::SizeOf(type_name) => {
                self.values.get(type_name).map_or(1, |values| values.iter().fold(0, |sum, value| gcd(sum, *value)))
            }
            // What a multiple of b is divided by b, all its divisors are. Otherwise a quotient alone tells nothing; a / b * b
            // is a multiple of b: the product rule sees the b.
            Tree::Binary('/', left, right) => match (self.divisor_of(left), self.value_of(right)) {
                (divisor, Some(by)) if by > 0 && divisor % by == 0 => divisor / by,
                _ => 1,
            },
            _ => 1,
        }
    }
}

/// Size in bytes of the types that mean the same everywhere.
pub fn fixed_type_bytes(type_name: &str) -> Option<i64> {
    Some(match type_name.trim() {
        "half" | "float16_t" | "bfloat16_t" | "int16_t" | "uint16_t" => 2,
        "float" | "float32_t" | "int32_t" | "uint32_t" | "int" => 4,
        "int8_t" | "uint8_t" | "bool" | "char" => 1,
        "int64_t" | "uint64_t" | "double" => 8,
        _ => return None,
    })
}

fn gcd(left: i64, right: i64) -> i64 {
    let (mut left, mut right) = (left.unsigned_abs(), right.unsigned_abs());
    while right != 0 {
        (left, right) = (right, left % right);
    }
    i64::try_from(left).unwrap_or(1)
}

#[derive(Clone, Debug)]
enum Tree {
    Number(i64),
    Name(String),
    SizeOf(String),
    Binary(char, Box<Tree>, Box<Tree>),
}

struct Cursor<'a> {
    words: Vec<(PieceKind, &'a str)>,
    position: usize,
    depth: usize,
}

fn parse(expression: &str) -> Option<Tree> {
    let words = pieces(expression)
        .into_iter()
        .filter(|token| token.kind != PieceKind::Comment)
        .map(|token| (token.kind, &expression[token.span]))
        .collect();
    let mut cursor = Cursor { words, position: 0, depth: 0 };
    let tree = cursor.binary(0)?;
    (cursor.position == cursor.words.len()).then_some(tree)
}

impl Cursor<'_> {
    fn peek(&self) -> &str {
        self.words.get(self.position).map_or("", |(_, word)| word)
    }

    fn take(&mut self, word: &str) -> Option<()> {
        (self.peek() == word).then(|| self.position += 1)
    }

    fn operator(&self) -> Option<(char, u8, usize)> {
        let next = self.words.get(self.position + 1).map_or("", |(_, word)| word);
        match (self.peek(), next) {
            ("<", "<") => Some(('<', 1, 2)),
            (">", ">") => Some(('>', 1, 2)),
            ("+", _) => Some(('+', 2, 1)),
            ("-", _) => Some(('-', 2, 1)),
            ("*", _) => Some(('*', 3, 1)),
            ("/", _) => Some(('/', 3, 1)),
            ("%", _) => Some(('%', 3, 1)),
            _ => None,
        }
    }

    fn binary(&mut self, weakest: u8) -> Option<Tree> {
        self.depth += 1;
        if self.depth > 64 {
            return None;
        }
        let mut left = self.primary()?;
        while let Some((operator, strength, width)) = self.operator() {
            if strength <= weakest {
                break;
            }
            self.position += width;
            let right = self.binary(strength)?;
            left = Tree::Binary(operator, Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Some(left)
    }

    fn primary(&mut self) -> Option<Tree> {
        let (kind, word) = *self.words.get(self.position)?;
        self.position += 1;
        match (kind, word) {
            (PieceKind::Number, number) => parse_integer(number).map(Tree::Number),
            (_, "(") => {
                // A C cast `(uint32_t)x` or a parenthesised expression.
                if fixed_type_bytes(self.peek()).is_some()
                    && self.words.get(self.position + 1).is_some_and(|(_, word)| *word == ")")
                {
                    self.position += 2;
                    return self.primary();
                }
                let inner = self.binary(0)?;
                self.take(")")?;
                Some(inner)
            }
            (PieceKind::Word, "sizeof") => {
                self.take("(")?;
                let name = self.words.get(self.position).filter(|(kind, _)| *kind == PieceKind::Word)?.1.to_owned();
                self.position += 1;
                self.take(")")?;
                Some(Tree::SizeOf(name))
            }
            (PieceKind::Word, "static_cast") => {
                self.take("<")?;
                while self.peek() != ">" {
                    self.words.get(self.position)?;
                    self.position += 1;
                }
                self.take(">")?;
                self.take("(")?;
                let inner = self.binary(0)?;
                self.take(")")?;
                Some(inner)
            }
            (PieceKind::Word, "this") => {
                self.take("-")?;
                self.take(">")?;
                self.primary()
            }
            (PieceKind::Word, mut name) => {
                // `a.b`, `a->b`, `A::b`: the last name tells.
                loop {
                    let next = |offset: usize| self.words.get(self.position + offset).map_or("", |(_, word)| *word);
                    let skip = match (next(0), next(1)) {
                        (".", _) => 1,
                        ("-", ">") | (":", ":") => 2,
                        _ => break,
                    };
                    self.position += skip;
                    name = self.words.get(self.position).filter(|(kind, _)| *kind == PieceKind::Word)?.1;
                    self.position += 1;
                }
                (self.peek() != "(" && self.peek() != "[").then(|| Tree::Name(name.to_owned()))
            }
            _ => None,
        }
    }
}

/// Value of an integer literal with its suffix.
pub fn parse_integer(literal: &str) -> Option<i64> {
    let digits = literal.replace('\'', "");
    let digits = digits.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16).ok(),
        None => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_follow_from_constants() {
        let mut known = KnownValues::default();
        known.add("N", 4);
        known.add("T", 2);
        assert_eq!(known.value("N * sizeof(T) + 8 / 2"), Some(12));
        assert_eq!(known.value("static_cast<uint32_t>(this->N * sizeof(float))"), Some(16));
        assert_eq!(known.value("(uint32_t)N << 2"), Some(16));
        assert_eq!(known.value("tiling->N"), Some(4));
        assert_eq!(known.value("f(N)"), None);
        assert_eq!(known.value("10 - 3 - 2"), Some(5));
        assert_eq!(known.value("1 / 0"), None);
    }

    #[test]
    fn divisors_hold_for_all_cases() {
        let mut known = KnownValues::default();
        known.add("tile", 1024);
        known.add("tile", 96);
        assert_eq!(known.divisor("tile * sizeof(float)"), 128);
        assert_eq!(known.divisor("n * 8 * sizeof(float)"), 32);
        assert_eq!(known.divisor("tile + n"), 1);
        assert_eq!(known.divisor("tile / 2"), 16);
        assert_eq!(known.divisor("tile / 3"), 1);
        assert_eq!(known.most("(tile + 7) / 8 * 8"), Some(1024));
        assert_eq!(known.most("tile - 7"), None);
    }
}
