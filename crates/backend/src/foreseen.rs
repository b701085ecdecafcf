//! Answers of tiling functions to questions that are still to come.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::execution::Tiled;

/// Answers that nobody has asked for yet, by question.
#[derive(Clone, Debug, Default)]
pub struct Foreseen(Arc<Mutex<HashMap<String, Tiled>>>);

impl Foreseen {
    /// The answer to a question; each is given once.
    pub(super) fn take(&self, question: &str) -> Option<Tiled> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(question)
    }

    pub(super) fn keep(&self, question: String, answer: Tiled) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(question, answer);
    }
}
