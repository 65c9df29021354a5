//! What a try costs, before and after.

use skillopt_core::Problem;
use skillopt_core::call::Call;
use skillopt_core::tool::{MOST_ROUNDS, result_of};
use skillopt_store::Store;
use skillopt_store::attempts::{self, Attempt, Cost, State};

use crate::backend::{Backend, Usage};
use crate::budget::Spend;
use crate::price::Price;

/// Tokens a server adds around each message.
pub(super) const PER_MESSAGE: u64 = 16;

/// The worst case of one try: no tokenizer makes more tokens than there are bytes, and no reply is
/// longer than it may be. At least one token, by which paid tries are told from others.
pub(super) fn worst(backend: &dyn Backend, call: &Call, price: Option<Price>) -> Cost {
    let messages: u64 = call
        .messages
        .iter()
        .map(|message| message.text.len() as u64 + PER_MESSAGE)
        .sum();
    let schema = call
        .params
        .schema
        .as_ref()
        .map_or(0, |schema| schema.to_string().len() as u64);
    let once = messages + schema + of_tools(call) + backend.overhead_tokens();
    let reply = u64::from(call.params.max_tokens);
    let (input, output) = if backend.answers_tools() && !call.tools().is_empty() {
        within(call, once, reply)
    } else {
        (once, reply)
    };
    Cost {
        tokens: (input + output).max(1),
        micros: price.map_or(0, |price| price.micros(input, output)),
    }
}

/// A try that makes all its rounds itself: every request holds what was said and given before it, each
/// tool once a round.
fn within(call: &Call, once: u64, reply: u64) -> (u64, u64) {
    let requests = 1 + MOST_ROUNDS as u64;
    let results: u64 = call
        .tools()
        .iter()
        .map(|tool| tool.shown_result().len() as u64)
        .sum();
    let carried = requests * (requests - 1) / 2 * (reply + results);
    (requests * once + carried, requests * reply)
}

/// What the tools that are offered and their calls so far add to a question, in bytes.
fn of_tools(call: &Call) -> u64 {
    /// What a server writes around a tool or a call of one.
    const AROUND: u64 = 128;
    let offered: u64 = call
        .tools()
        .iter()
        .map(|tool| (tool.name.len() + tool.shown_description().len()) as u64 + AROUND)
        .sum();
    let called: u64 = call
        .rounds
        .iter()
        .map(|round| {
            let calls: u64 = round
                .calls
                .iter()
                .map(|made| {
                    let result = result_of(call.tools(), made);
                    (made.id.len() * 2 + made.name.len() + made.arguments.len() + result.len())
                        as u64
                        + 2 * AROUND
                })
                .sum();
            round.text.len() as u64 + calls
        })
        .sum();
    offered + called
}

/// What a try used. Half a count is none: the reservation then counts.
pub(super) struct Used {
    pub(super) usage: attempts::Usage,
    pub(super) cost_micros: Option<u64>,
    pub(super) cost: Cost,
}

/// What an answered try used, of what was reserved for it.
pub(super) fn used(usage: Usage, reserved: Cost, price: Option<Price>) -> Used {
    let (Some(input), Some(output)) = (usage.input_tokens, usage.output_tokens) else {
        return Used {
            usage: attempts::Usage::default(),
            cost_micros: None,
            cost: reserved,
        };
    };
    let micros = price
        .and_then(|price| price.micros_used(usage))
        .unwrap_or(0);
    Used {
        usage: attempts::Usage {
            input_tokens: Some(input),
            cached_tokens: usage.cached_tokens,
            output_tokens: Some(output),
        },
        cost_micros: Some(micros),
        cost: Cost {
            tokens: input.saturating_add(output),
            micros,
        },
    }
}

/// What the paid tries of a night have cost, from its rows. Tries a dead process left open become
/// unknown and count as reserved.
pub(super) fn spent(store: &Store, night: i64) -> Result<Spend, Problem> {
    let attempts = store.commit("count spend", |tx| {
        attempts::forget_started(tx, night)?;
        attempts::of_night(tx, night)
    })?;
    let mut spend = Spend::default();
    for attempt in attempts
        .iter()
        .filter(|attempt| attempt.reserved.tokens > 0)
    {
        let cost = cost(attempt);
        spend.calls += 1;
        spend.tokens = spend.tokens.saturating_add(cost.tokens);
        spend.cost_micros = spend.cost_micros.saturating_add(cost.micros);
    }
    Ok(spend)
}

fn cost(attempt: &Attempt) -> Cost {
    let counted = match (attempt.usage.input_tokens, attempt.usage.output_tokens) {
        (None, None) => None,
        (input, output) => Some(input.unwrap_or(0).saturating_add(output.unwrap_or(0))),
    };
    match attempt.state {
        State::Started | State::Unknown => attempt.reserved,
        State::Answered => Cost {
            tokens: counted.unwrap_or(attempt.reserved.tokens),
            micros: attempt.cost_micros.unwrap_or(attempt.reserved.micros),
        },
        State::Failed => Cost {
            tokens: counted.unwrap_or(0),
            micros: attempt.cost_micros.unwrap_or(0),
        },
    }
}
