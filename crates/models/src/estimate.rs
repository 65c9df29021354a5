//! What a night will cost, before it is paid for.

use serde::Serialize;
use skillopt_core::call::Side;

use crate::budget::Spend;
use crate::path::{PathOptions, Roles};

/// Bytes of a prompt per token at least: close to one per character in scripts with long characters.
const BYTES_PER_TOKEN_LOW: u64 = 3;
/// Bytes of a prompt per token at most, in English prose.
const BYTES_PER_TOKEN_HIGH: u64 = 5;
/// The share of its bound a reply uses at least is one in so many.
const SHORT_REPLY: u64 = 10;

/// Questions of one kind that will be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// `mine`, `attempt`, `judge` or `reflect`.
    pub kind: &'static str,
    /// Which side answers.
    pub side: Side,
    /// How many.
    pub questions: u64,
    /// How often the tools of each may be called before it is answered; every time is one more request.
    pub rounds: u64,
    /// Bytes of the messages of each, and of what it says of its tools.
    pub prompt_bytes: u64,
    /// Bytes of what all its tools give, each once.
    pub result_bytes: u64,
}

impl Asked {
    /// Requests that one question makes at most.
    const fn requests(&self) -> u64 {
        1 + self.rounds
    }

    /// The tokens of one question at most, in and out, when every reply uses its bound. Each request
    /// holds what was said and given in those before it.
    const fn most_tokens(&self, overhead: u64, bound: u64) -> (u64, u64) {
        let requests = self.requests();
        let once = self.prompt_bytes / BYTES_PER_TOKEN_LOW + overhead;
        let round = self.result_bytes / BYTES_PER_TOKEN_LOW + bound;
        let carried = self.rounds * requests / 2 * round;
        (requests * once + carried, requests * bound)
    }
}

/// What calls will cost. Only paid backends count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Estimate {
    /// Calls at most, without tries made again.
    pub calls: u64,
    /// Tokens at least.
    pub tokens_low: u64,
    /// Tokens at most, when every reply uses its bound.
    pub tokens_high: u64,
    /// Millionths of the currency at least; `None` when a price is not known.
    pub cost_micros_low: Option<u64>,
    /// Millionths of the currency at most; `None` when a price is not known.
    pub cost_micros_high: Option<u64>,
}

impl Estimate {
    /// What to hold back so that these calls can be made.
    #[must_use]
    pub fn to_hold(&self) -> Spend {
        Spend {
            calls: self.calls,
            tokens: self.tokens_high,
            cost_micros: self.cost_micros_high.unwrap_or(0),
        }
    }
}

/// What `plan` will cost with these backends and prices.
#[must_use]
pub fn estimate(plan: &[Asked], roles: &Roles, options: &PathOptions) -> Estimate {
    let mut total = Estimate {
        cost_micros_low: Some(0),
        cost_micros_high: Some(0),
        ..Estimate::default()
    };
    for asked in plan {
        let backend = roles.of(asked.side);
        if !backend.paid() || asked.questions == 0 {
            continue;
        }
        let bound = u64::from(options.sides.get(asked.side).lengths.of(asked.kind));
        let overhead = backend.overhead_tokens();
        // Nobody has to call a tool.
        let least = (
            asked.prompt_bytes / BYTES_PER_TOKEN_HIGH + overhead,
            bound / SHORT_REPLY,
        );
        let most = asked.most_tokens(overhead, bound);
        let price = options.prices.of(backend.as_ref()).map(|(price, _)| price);
        let cost = |(input, output)| {
            price.map(|price| price.micros(input, output).saturating_mul(asked.questions))
        };
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        total.calls += asked.questions
            * if backend.answers_tools() {
                1
            } else {
                asked.requests()
            };
        total.tokens_low += asked.questions * (least.0 + least.1);
        total.tokens_high += asked.questions * (most.0 + most.1);
        total.cost_micros_low = sum(total.cost_micros_low, cost(least));
        total.cost_micros_high = sum(total.cost_micros_high, cost(most));
    }
    total
}
