//! Whole numbers as polynomials over the names of a program: places in memory, steps and sizes that are to be compared or divided.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::code::{is_name, words};
use crate::analysis::flow::effects::is_plain;
use crate::analysis::linear::{enclosed, parted};

/// Sums of products are multiplied out up to so many terms.
const TERMS_MAX: usize = 64;
/// Casts that keep a whole number what it is, as long as it fits.
const WHOLE: &[&str] = &["int32_t", "uint32_t", "int64_t", "uint64_t", "size_t", "int", "unsigned", "long"];

/// A sum of products. A product is its factors in order, with how often each is taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Polynomial {
    terms: BTreeMap<Vec<String>, i64>,
}

impl Polynomial {
    /// A number.
    pub(crate) fn number(value: i64) -> Self {
        let mut terms = BTreeMap::new();
        terms.insert(Vec::new(), value);
        Self { terms }.without_zeros()
    }

    /// A name, or an expression that is not taken apart.
    pub(crate) fn atom(name: impl Into<String>) -> Self {
        Self { terms: BTreeMap::from([(vec![name.into()], 1)]) }
    }

    /// Takes an expression apart. `resolve` says what a name stands for, or `None` for one that stands for something unknown. What has no
    /// form of its own, such as a quotient, is one factor, if every name in it stands for itself.
    pub(crate) fn of(text: &str, resolve: &dyn Fn(&str) -> Option<Self>) -> Option<Self> {
        let text = text.trim();
        if let Some(value) = whole_number(text) {
            return Some(Self::number(value));
        }
        if is_name(text) || text.strip_prefix("this->").is_some_and(is_name) {
            return resolve(text);
        }
        if let Some(inner) = enclosed(text) {
            return Self::of(inner, resolve);
        }
        if let Some(terms) = parted(text, &['+', '-'])
            && terms.len() > 1
        {
            let mut sum = Self::default();
            for (sign, term) in terms {
                let term = Self::of(term, resolve)?;
                sum = sum.plus(&if sign == '-' { term.times(&Self::number(-1))? } else { term });
            }
            return Some(sum);
        }
        if let Some(factors) = parted(text, &['*', '/', '%'])
            && factors.len() > 1
            && factors.iter().all(|(sign, _)| *sign == '*')
        {
            let mut product = Self::number(1);
            for (_, factor) in factors {
                product = product.times(&Self::of(factor, resolve)?)?;
            }
            return Some(product);
        }
        if let Some(inner) = cast(text) {
            return Self::of(inner, resolve);
        }
        let stands = |word: &str| {
            let known = is_type(word) || word == "this" || word.starts_with(|first: char| first.is_ascii_digit());
            known || resolve(word).is_some_and(|value| value == Self::atom(word))
        };
        let is_whole = text.ends_with(|last: char| last.is_alphanumeric() || matches!(last, '_' | ')'));
        let blanks_aside = || text.split_whitespace().collect::<Vec<_>>().join(" ");
        (is_whole && is_plain(text) && words(text).into_iter().all(stands)).then(|| Self::atom(blanks_aside()))
    }

    /// Whether it is nothing.
    pub(crate) fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// The number that it is, if it has no names.
    pub(crate) fn constant(&self) -> Option<i64> {
        match self.terms.iter().next() {
            None => Some(0),
            Some((factors, value)) => (self.terms.len() == 1 && factors.is_empty()).then_some(*value),
        }
    }

    /// The sum with another one.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let mut terms = self.terms.clone();
        for (factors, value) in &other.terms {
            let sum = terms.entry(factors.clone()).or_default();
            *sum = sum.saturating_add(*value);
        }
        Self { terms }.without_zeros()
    }

    /// The product with another one; `None` where it gets too long.
    pub(crate) fn times(&self, other: &Self) -> Option<Self> {
        let mut terms: BTreeMap<Vec<String>, i64> = BTreeMap::new();
        for (left, first) in &self.terms {
            for (right, second) in &other.terms {
                let mut factors: Vec<String> = left.iter().chain(right).cloned().collect();
                factors.sort();
                let sum = terms.entry(factors).or_default();
                *sum = sum.checked_add(first.checked_mul(*second)?)?;
            }
        }
        (terms.len() <= TERMS_MAX).then(|| Self { terms }.without_zeros())
    }

    /// What a name is multiplied with, and the rest; `None` where it is multiplied with itself.
    pub(crate) fn split(&self, name: &str) -> Option<(Self, Self)> {
        let (mut of_name, mut rest) = (Self::default(), Self::default());
        for (factors, value) in &self.terms {
            match factors.iter().position(|factor| factor == name) {
                None => {
                    rest.terms.insert(factors.clone(), *value);
                }
                Some(at) => {
                    let mut others = factors.clone();
                    others.remove(at);
                    if others.iter().any(|factor| factor == name) {
                        return None;
                    }
                    of_name.terms.insert(others, *value);
                }
            }
        }
        Some((of_name, rest))
    }

    /// Whether it is a multiple of a product: every term has all of its factors.
    pub(crate) fn is_multiple_of(&self, product: &Self) -> bool {
        let Some((wanted, value)) = product.terms.iter().next().filter(|_| product.terms.len() == 1) else {
            return self == product;
        };
        self.terms.iter().all(|(factors, own)| {
            let mut left = factors.clone();
            let has_all = wanted
                .iter()
                .all(|factor| left.iter().position(|other| other == factor).map(|at| left.remove(at)).is_some());
            has_all && *value != 0 && own % value == 0
        })
    }

    /// Whether it is less than another one that is not negative, term by term, and not negative itself where names are not.
    pub(crate) fn lies_in(&self, other: &Self) -> bool {
        let less = |(factors, value): (&Vec<String>, &i64)| {
            *value >= 0 && other.terms.get(factors).is_some_and(|whole| value < whole)
        };
        self.terms.iter().all(less) && other.terms.values().all(|value| *value >= 0)
    }

    /// All names.
    pub(crate) fn names(&self) -> BTreeSet<&str> {
        self.terms.keys().flatten().map(String::as_str).collect()
    }

    /// Whether an atom that is an expression mentions a name, or is it.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        self.names().into_iter().any(|atom| words(atom).contains(&name))
    }

    fn without_zeros(mut self) -> Self {
        self.terms.retain(|_, value| *value != 0);
        self
    }

    /// As C++ in other words: every name is one, and has an expression of its own there.
    pub(crate) fn text_with(&self, words: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let mut other = Self::default();
        for (factors, value) in &self.terms {
            let named: Option<Vec<String>> = factors.iter().map(|factor| words(factor)).collect();
            let mut product = Self::number(*value);
            for factor in named? {
                product = product.times(&Self::atom(factor))?;
            }
            other = other.plus(&product);
        }
        Some(other.text())
    }

    /// As C++, in numbers of 64 bits.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Names first, the number last.
        for (factors, value) in self.terms.iter().rev() {
            let sign = match (text.is_empty(), *value < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            let mut product: Vec<String> = factors
                .iter()
                .enumerate()
                .map(|(at, factor)| match (at, is_name(factor)) {
                    (0, _) => format!("static_cast<int64_t>({factor})"),
                    (_, true) => factor.clone(),
                    (_, false) if factor.strip_prefix("this->").is_some_and(is_name) => factor.clone(),
                    (_, false) => format!("({factor})"),
                })
                .collect();
            let value = value.unsigned_abs();
            if value != 1 || product.is_empty() {
                product.push(value.to_string());
            }
            text = format!("{text}{sign}{}", product.join(" * "));
        }
        if text.is_empty() { "0".to_owned() } else { text }
    }
}

/// A whole number in digits, with the suffixes of its type.
fn whole_number(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let decimal = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (decimal && (digits == "0" || !digits.starts_with('0'))).then(|| digits.parse().ok())?
}

/// What is cast to a whole number.
fn cast(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix("static_cast<") {
        let (kind, rest) = rest.split_once('>')?;
        return WHOLE.contains(&kind.trim()).then(|| enclosed(rest.trim()))?;
    }
    let (kind, rest) = text.strip_prefix('(')?.split_once(')')?;
    WHOLE.contains(&kind.trim()).then_some(rest.trim())
}

fn is_type(word: &str) -> bool {
    WHOLE.contains(&word) || word == "static_cast"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Polynomial> {
        let resolve = |name: &str| match name {
            "lost" => None,
            "place" => Polynomial::of("row * width + 3", &|name| Some(Polynomial::atom(name))),
            _ => Some(Polynomial::atom(name.trim_start_matches("this->"))),
        };
        Polynomial::of(text, &resolve)
    }

    #[test]
    fn sums_of_products_are_taken_apart() {
        let text = |text: &str| of(text).map(|found| found.text());
        assert_eq!(
            text("(i * rows + j) * this->columns - 2 + 3u").unwrap(),
            text("j * columns + i * columns * rows + 1").unwrap()
        );
        assert_eq!(text("place + 4").unwrap(), "static_cast<int64_t>(row) * width + 7");
        assert_eq!(text("i - i").unwrap(), "0");
        assert_eq!(text("(uint64_t)i * (int)(2 * n)").unwrap(), "static_cast<int64_t>(i) * n * 2");
        assert_eq!(text("n / 2 * i").as_deref(), Some("static_cast<int64_t>(n / 2 * i)"));
        // What is not known, has an effect or has a form of its own that depends on what stands for something else.
        for unknown in ["lost + 1", "place / 2", "n++", "gm.GetValue(i)", "lost % 4", "i * -1"] {
            assert_eq!(text(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_name_is_split_off_and_multiples_are_known() {
        let address = of("(i * rows + j) * columns + k").unwrap();
        let (pitch, rest) = address.split("j").unwrap();
        assert_eq!(pitch, of("columns").unwrap());
        assert_eq!(rest.split("i").unwrap().0, of("rows * columns").unwrap());
        assert!(of("i * i").unwrap().split("i").is_none());
        assert!(of("rows * columns * 4").unwrap().is_multiple_of(&of("columns * 2").unwrap()));
        assert!(!of("rows * columns * 3").unwrap().is_multiple_of(&of("columns * 2").unwrap()));
        assert!(!of("rows * columns + 1").unwrap().is_multiple_of(&of("columns").unwrap()));
        assert!(of("columns + 1").unwrap().is_multiple_of(&of("1 + columns").unwrap()));
        assert!(of("2 * rows").unwrap().lies_in(&of("3 * rows + 1").unwrap()));
        for (part, whole) in
            [("3 * rows", "3 * rows"), ("columns", "3 * rows"), ("rows - 1", "3 * rows"), ("rows", "3 * rows - i")]
        {
            assert!(!of(part).unwrap().lies_in(&of(whole).unwrap()), "{part} in {whole}");
        }
        assert!(of("rows / i").unwrap().mentions("i"));
        assert_eq!(of("2 * 3 - 6").unwrap().constant(), Some(0));
        assert!(of("n - n").unwrap().is_zero());
    }
}
