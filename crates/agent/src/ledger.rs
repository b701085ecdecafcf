//! What a model has cost, and whether there is enough left for another question.

use serde::{Deserialize, Serialize};

use super::settings::Budget;

/// Tokens of one exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Of the prompt.
    pub prompt_tokens: u64,
    /// Of the answer.
    pub answer_tokens: u64,
}

/// What has been spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spent {
    /// Questions that were answered.
    pub answers: u64,
    /// Questions that were not.
    pub failures: u64,
    /// Tokens of prompts.
    pub prompt_tokens: u64,
    /// Tokens of answers.
    pub answer_tokens: u64,
    /// Seconds of answering.
    pub seconds: f64,
    /// Money, in the currency of the prices.
    pub money: f64,
}

/// Keeps the books of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Ledger {
    budget: Budget,
    spent: Spent,
}

/// An answer of fewer tokens is not worth asking for.
const SHORTEST_ANSWER: u64 = 100;

impl Ledger {
    /// Before the first question.
    pub fn new(budget: Budget) -> Self {
        Self { budget, spent: Spent::default() }
    }

    /// What has been spent.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// Tokens that the answer to a prompt may have, of `wanted`; otherwise what is used up. A question is asked only if its answer is
    /// sure to fit.
    pub fn answer_tokens(&self, prompt_tokens: u64, wanted: u64) -> Result<u64, String> {
        let Budget { tokens, money, seconds, per_prompt_token, per_answer_token } = self.budget;
        if let Some(limit) = seconds.filter(|limit| self.spent.seconds >= *limit) {
            return Err(format!("{:.0} of {limit:.0} seconds are used up", self.spent.seconds));
        }
        let mut allowed = wanted;
        if let Some(limit) = tokens {
            let used = self.spent.prompt_tokens + self.spent.answer_tokens;
            allowed = allowed.min(limit.saturating_sub(used + prompt_tokens));
            if allowed < SHORTEST_ANSWER.min(wanted) {
                return Err(format!(
                    "{used} of {limit} tokens are used up, and the next question takes about {prompt_tokens}"
                ));
            }
        }
        if let Some(limit) = money {
            let left = limit - self.spent.money - prompt_tokens as f64 * per_prompt_token;
            let affordable = if per_answer_token > 0.0 { (left / per_answer_token).floor() } else { wanted as f64 };
            allowed = allowed.min(if left > 0.0 { affordable as u64 } else { 0 });
            if allowed < SHORTEST_ANSWER.min(wanted) {
                return Err(format!("{:.4} of {limit:.4} in money are used up", self.spent.money));
            }
        }
        Ok(allowed)
    }

    /// Takes note of an answer.
    pub fn answered(&mut self, usage: Usage, seconds: f64) {
        self.spent.answers += 1;
        self.spent.seconds += seconds;
        self.pay(usage);
    }

    /// Takes note of a question that got no answer, and of what it took all the same.
    pub fn failed(&mut self, usage: Usage) {
        self.spent.failures += 1;
        self.pay(usage);
    }

    fn pay(&mut self, usage: Usage) {
        self.spent.prompt_tokens += usage.prompt_tokens;
        self.spent.answer_tokens += usage.answer_tokens;
        self.spent.money += usage.prompt_tokens as f64 * self.budget.per_prompt_token
            + usage.answer_tokens as f64 * self.budget.per_answer_token;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(budget: Budget) -> Ledger {
        let mut ledger = Ledger::new(budget);
        ledger.answered(Usage { prompt_tokens: 1000, answer_tokens: 500 }, 3.0);
        ledger
    }

    #[test]
    fn an_answer_may_be_as_long_as_what_is_left() {
        let of = |tokens| ledger(Budget { tokens: Some(tokens), ..Budget::default() }).answer_tokens(1000, 800);
        assert_eq!((of(10_000), of(3_000)), (Ok(800), Ok(500)));
        assert!(of(2_550).unwrap_err().starts_with("1500 of 2550 tokens are used up"));
        assert!(of(1).is_err());
        assert_eq!(ledger(Budget::default()).answer_tokens(1_000_000, 800), Ok(800), "there is no limit");
    }

    #[test]
    fn money_and_seconds_end_it_too() {
        let priced =
            |money| Budget { money: Some(money), per_prompt_token: 1e-3, per_answer_token: 2e-3, ..Budget::default() };
        assert_eq!(ledger(priced(4.0)).answer_tokens(1000, 800), Ok(500), "two are spent, one goes for the prompt");
        assert!(ledger(priced(3.1)).answer_tokens(1000, 800).unwrap_err().contains("2.0000 of 3.1000"));
        assert!(ledger(priced(0.5)).answer_tokens(1000, 800).is_err());
        let timed = |seconds| ledger(Budget { seconds: Some(seconds), ..Budget::default() }).answer_tokens(1, 800);
        assert_eq!((timed(3.5), timed(3.0).is_err()), (Ok(800), true));
    }
}
