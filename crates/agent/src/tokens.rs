//! How long a text is for a model, without its own tokenizer.

/// Bytes of source code that make a token. Tokenizers in use have three to four; an estimate must not be too low.
const BYTES: usize = 3;

/// Tokens of a text, estimated.
pub fn tokens(text: &str) -> u64 {
    text.len().div_ceil(BYTES) as u64
}
