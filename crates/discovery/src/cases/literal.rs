//! Literals of Python, as case lists have them in their cells: numbers, strings, lists, tuples, dictionaries.

use serde_json::{Map, Value};

/// Reads a literal; tuples become arrays, `None` becomes null, infinities and what is no number become null too.
pub(super) fn python_literal(text: &str) -> Option<Value> {
    let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
    let value = reader.value()?;
    reader.blanks();
    (reader.at == reader.bytes.len()).then_some(value)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn blanks(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn next(&mut self) -> Option<u8> {
        self.blanks();
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.next() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self) -> Option<Value> {
        match self.next()? {
            b'[' => self.items(b']').map(|(items, _)| Value::Array(items)),
            b'(' => {
                let (mut items, comma) = self.items(b')')?;
                // `(1)` is a number in brackets, `(1,)` a tuple.
                Some(if items.len() == 1 && !comma { items.remove(0) } else { Value::Array(items) })
            }
            b'{' => self.dictionary(),
            quote @ (b'\'' | b'"') => self.text(quote).map(Value::String),
            _ => self.word(),
        }
    }

    fn items(&mut self, close: u8) -> Option<(Vec<Value>, bool)> {
        self.at += 1;
        let (mut items, mut comma) = (Vec::new(), false);
        while !self.take(close) {
            items.push(self.value()?);
            comma = self.take(b',');
            if !comma && self.next()? != close {
                return None;
            }
        }
        Some((items, comma))
    }

    fn dictionary(&mut self) -> Option<Value> {
        self.at += 1;
        let mut map = Map::new();
        while !self.take(b'}') {
            let key = match self.value()? {
                Value::String(key) => key,
                other => other.to_string(),
            };
            if !self.take(b':') {
                return None;
            }
            map.insert(key, self.value()?);
            if !self.take(b',') && self.next()? != b'}' {
                return None;
            }
        }
        Some(Value::Object(map))
    }

    fn text(&mut self, quote: u8) -> Option<String> {
        self.at += 1;
        let start = self.at;
        while *self.bytes.get(self.at)? != quote {
            self.at += 1;
        }
        let text = String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned();
        self.at += 1;
        Some(text)
    }

    fn word(&mut self) -> Option<Value> {
        let start = self.at;
        let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-' | b'_');
        while self.bytes.get(self.at).is_some_and(part) {
            self.at += 1;
        }
        let word = std::str::from_utf8(&self.bytes[start..self.at]).ok().filter(|word| !word.is_empty())?;
        Some(match word {
            "True" | "true" | "TRUE" => Value::Bool(true),
            "False" | "false" | "FALSE" => Value::Bool(false),
            "None" | "null" => Value::Null,
            _ => match (word.parse::<i64>(), word.parse::<f64>()) {
                (Ok(whole), _) => Value::from(whole),
                (_, Ok(number)) => Value::from(number),
                _ => Value::String(word.to_owned()),
            },
        })
    }
}

/// Records of a CSV text with the line that each starts on, from 1; quoted cells may hold commas and line ends.
pub(super) fn csv_records(text: &str) -> Vec<(usize, Vec<String>)> {
    let mut records = Vec::new();
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let (mut line, mut start) = (1, 1);
    let mut letters = text.trim_start_matches('\u{feff}').chars().peekable();
    while let Some(letter) = letters.next() {
        line += usize::from(letter == '\n');
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                cells.push(std::mem::take(&mut cell));
                records.push((start, std::mem::take(&mut cells)));
                start = line;
            }
            '\r' => {}
            letter => cell.push(letter),
        }
    }
    if !cell.is_empty() || !cells.is_empty() {
        cells.push(cell);
        records.push((start, cells));
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_python_are_read() {
        let read = |text: &str| python_literal(text).map(|value| value.to_string());
        assert_eq!(read("((64, 60000), ())").as_deref(), Some("[[64,60000],[]]"));
        assert_eq!(read("{'bins': 462, 'axis': [-1,], 'keep': True}").as_deref(), {
            Some("{\"axis\":[-1],\"bins\":462,\"keep\":true}")
        });
        assert_eq!(read("((-inf, 2.5), None)").as_deref(), Some("[[null,2.5],null]"));
        assert_eq!(read("[1, 2").as_deref(), None);
        assert_eq!(read("(7)").as_deref(), Some("7"));
    }

    #[test]
    fn quoted_cells_stay_whole() {
        let records = csv_records("a,b\r\n\"[[1,2],\n[3]]\",x\nlast,\"say \"\"y\"\"\"");
        assert_eq!(records[1], (2, vec!["[[1,2],\n[3]]".to_owned(), "x".to_owned()]));
        assert_eq!(records[2], (4, vec!["last".to_owned(), "say \"y\"".to_owned()]));
    }
}
