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

/// Calls of one kind that will be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// `mine`, `attempt`, `judge` or `reflect`.
    pub kind: &'static str,
    /// Which side answers.
    pub side: Side,
    /// How many.
    pub calls: u64,
    /// Bytes of the messages of each.
    pub prompt_bytes: u64,
}

/// What calls will cost. Only paid backends count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Estimate {
    /// Calls, without tries made again.
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
        if !backend.paid() || asked.calls == 0 {
            continue;
        }
        let bound = u64::from(options.sides.get(asked.side).lengths.of(asked.kind));
        let overhead = backend.overhead_tokens();
        let input_low = asked.prompt_bytes / BYTES_PER_TOKEN_HIGH + overhead;
        let input_high = asked.prompt_bytes / BYTES_PER_TOKEN_LOW + overhead;
        let price = options.prices.of(backend.as_ref()).map(|(price, _)| price);
        let cost = |input, output| {
            price.map(|price| price.micros(input, output).saturating_mul(asked.calls))
        };
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        total.calls += asked.calls;
        total.tokens_low += asked.calls * (input_low + bound / SHORT_REPLY);
        total.tokens_high += asked.calls * (input_high + bound);
        total.cost_micros_low = sum(total.cost_micros_low, cost(input_low, bound / SHORT_REPLY));
        total.cost_micros_high = sum(total.cost_micros_high, cost(input_high, bound));
    }
    total
}
