//! Words of identifiers: `bankConflictDataCopyLen` and `BANK_CONFLICT_DATA_COPY_LEN` say the same.

/// Lower-case words of an identifier.
pub fn words(name: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let characters: Vec<char> = name.chars().collect();
    for (position, character) in characters.iter().enumerate() {
        if !character.is_ascii_alphanumeric() {
            found.push(String::new());
            continue;
        }
        let previous = position.checked_sub(1).map(|before| characters[before]);
        let lower_before = previous.is_some_and(|before| before.is_ascii_lowercase() || before.is_ascii_digit());
        let lower_after = characters.get(position + 1).is_some_and(char::is_ascii_lowercase);
        let upper_before = previous.is_some_and(|before| before.is_ascii_uppercase());
        if character.is_ascii_uppercase() && (lower_before || (upper_before && lower_after)) {
            found.push(String::new());
        }
        if found.is_empty() {
            found.push(String::new());
        }
        if let Some(word) = found.last_mut() {
            word.push(character.to_ascii_lowercase());
        }
    }
    found.retain(|word| !word.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_cut_into_words() {
        assert_eq!(words("bankConflictDataCopyLen"), ["bank", "conflict", "data", "copy", "len"]);
        assert_eq!(words("BUFFER_NUM"), ["buffer", "num"]);
        assert_eq!(words("multiCoreSplitM"), ["multi", "core", "split", "m"]);
        assert_eq!(words("UBFactor_"), ["ub", "factor"]);
    }
}
