//! Integer literals and constant expressions of literals, with the form they are written in.

/// Value of an integer literal such as `16`, `0x40u`, `4'096UL`; `None` for anything else.
pub fn integer(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L', 'z', 'Z']).replace('\'', "");
    let lower = digits.to_ascii_lowercase();
    if let Some(hexadecimal) = lower.strip_prefix("0x") {
        return i64::from_str_radix(hexadecimal, 16).ok();
    }
    if let Some(binary) = lower.strip_prefix("0b") {
        return i64::from_str_radix(binary, 2).ok();
    }
    if lower.len() > 1 && lower.starts_with('0') {
        return i64::from_str_radix(&lower[1..], 8).ok();
    }
    if lower.is_empty() || !lower.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    lower.parse().ok()
}

/// Suffix of an integer literal (`U`, `UL`, ..).
pub fn suffix(text: &str) -> &str {
    &text[text.trim_end_matches(['u', 'U', 'l', 'L', 'z', 'Z']).len()..]
}

/// `value` written like the literal `like`: same base, same suffix.
pub fn written_like(value: i64, like: &str) -> String {
    let suffix = suffix(like);
    let hexadecimal = like.starts_with("0x") || like.starts_with("0X");
    if hexadecimal && value >= 0 { format!("{}{value:x}{suffix}", &like[..2]) } else { format!("{value}{suffix}") }
}

/// Value of an expression of integer literals with `+ - * / % << >>`, parentheses and casts by `static_cast<..>`.
pub fn constant_expression(words: &[&str]) -> Option<i64> {
    let mut parser = Parser { words, at: 0 };
    let value = parser.shift()?;
    (parser.at == words.len()).then_some(value)
}

struct Parser<'a> {
    words: &'a [&'a str],
    at: usize,
}

impl Parser<'_> {
    fn accept(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at) == Some(&word);
        self.at += usize::from(found);
        found
    }

    fn shift(&mut self) -> Option<i64> {
        let mut value = self.sum()?;
        loop {
            if self.accept("<<") {
                value = value.checked_shl(u32::try_from(self.sum()?).ok()?)?;
            } else if self.words.get(self.at..self.at + 2) == Some(&[">", ">"]) {
                self.at += 2;
                value = value.checked_shr(u32::try_from(self.sum()?).ok()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        loop {
            if self.accept("+") {
                value = value.checked_add(self.product()?)?;
            } else if self.accept("-") {
                value = value.checked_sub(self.product()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.unary()?;
        loop {
            if self.accept("*") {
                value = value.checked_mul(self.unary()?)?;
            } else if self.accept("/") {
                value = value.checked_div(self.unary()?)?;
            } else if self.accept("%") {
                value = value.checked_rem(self.unary()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn unary(&mut self) -> Option<i64> {
        if self.accept("-") {
            return self.unary()?.checked_neg();
        }
        if self.accept("(") {
            let value = self.shift()?;
            return self.accept(")").then_some(value);
        }
        if self.accept("static_cast") {
            while !self.accept(">") {
                self.words.get(self.at)?;
                self.at += 1;
            }
            return self.unary();
        }
        let value = integer(self.words.get(self.at)?)?;
        self.at += 1;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_keep_their_form() {
        for (text, value) in
            [("16", 16), ("16U", 16), ("0x40uL", 64), ("4'096", 4096), ("0b11", 3), ("017", 15), ("0", 0)]
        {
            assert_eq!(integer(text), Some(value), "{text}");
        }
        for text in ["1.5f", "1e5", "", "U", "x", "0x", "99999999999999999999"] {
            assert_eq!(integer(text), None, "{text}");
        }
        assert_eq!(written_like(32, "16U"), "32U");
        assert_eq!(written_like(128, "0x40"), "0x80");
    }

    #[test]
    fn expressions_of_literals() {
        let value = |text: &str| constant_expression(&text.split_whitespace().collect::<Vec<_>>());
        assert_eq!(value("8 * 1024"), Some(8192));
        assert_eq!(value("( 1 << 4 ) + 2 * 3U"), Some(22));
        assert_eq!(value("static_cast < uint32_t > ( 48 )"), Some(48));
        assert_eq!(value("LENGTH * 2"), None);
        assert_eq!(value("8 *"), None);
        assert_eq!(value("1 / 0"), None);
    }
}
