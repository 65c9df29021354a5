//! Backends and what they cost, as text.

use std::fmt::Write;

use skillopt_app::backend::{Accepted, BackendRow, Chosen, TestOutput, Tested};
use skillopt_app::key::{Kept, KeyringState};
use skillopt_app::spend::Spent;
use skillopt_app::types::{LocalServer, NightSpend};

use crate::terminal::plain;

pub(crate) fn list(rows: &[BackendRow], out: &mut String) -> std::fmt::Result {
    for row in rows {
        let mark = if row.sides.is_empty() { ' ' } else { '*' };
        writeln!(out, "{mark} {:<18} {}", row.name, row.about)?;
        match &row.problem {
            Some(problem) if row.sides.is_empty() => {
                writeln!(out, "    not ready: {}", plain(&problem.message))?;
            }
            Some(problem) => {
                writeln!(out, "    BAD {}", plain(&problem.message))?;
                writeln!(out, "    {}", plain(&problem.guidance))?;
            }
            None if row.model.is_empty() && row.address.is_empty() => {}
            None => writeln!(
                out,
                "    {}",
                plain(format!("{} {}", row.model, row.address).trim())
            )?,
        }
        if !row.sides.is_empty() {
            writeln!(out, "    used as {}", together(&row.sides))?;
            if row.terms.is_some() {
                let words = if row.tells_allowance {
                    "says how much of the plan is left"
                } else {
                    "does not say how much of the plan is left, so none of it can be reserved"
                };
                writeln!(out, "    {words}")?;
            }
            match &row.terms {
                Some(terms) if !row.terms_accepted => {
                    let problem = terms.problem();
                    writeln!(out, "    {}", plain(&problem.message))?;
                    writeln!(out, "    {}", plain(&problem.guidance))?;
                }
                Some(_) | None => {}
            }
        }
    }
    writeln!(
        out,
        "`skillopt backend test [NAME]` asks one of them a tiny question."
    )
}

pub(crate) fn keys(kept: &Kept, out: &mut String) -> std::fmt::Result {
    match kept.state {
        KeyringState::Missing => writeln!(out, "There is no keyring in this session."),
        KeyringState::Denied => writeln!(out, "The keyring does not let this program in."),
        KeyringState::Locked => writeln!(
            out,
            "The keyring is locked; unlock it to see what is in it."
        ),
        KeyringState::Ready if kept.names.is_empty() => writeln!(
            out,
            "The keyring holds no key. `skillopt key set NAME` keeps one under the name that models.api_key_env gives."
        ),
        KeyringState::Ready => kept
            .names
            .iter()
            .try_for_each(|name| writeln!(out, "{}", plain(name))),
    }
}

pub(crate) fn accepted(accepted: &Accepted, out: &mut String) -> std::fmt::Result {
    for terms in &accepted.added {
        writeln!(out, "{}: {}", plain(&terms.provider), plain(&terms.about))?;
        writeln!(out, "    {}", plain(&terms.address))?;
    }
    let all = if accepted.accepted.is_empty() {
        "nobody that needs it".to_owned()
    } else {
        plain(&accepted.accepted.join(", "))
    };
    writeln!(
        out,
        "Nights may ask {all} by themselves; models.terms_accepted in {} says so.",
        plain(&accepted.file.to_string_lossy())
    )
}

pub(crate) fn chosen(chosen: &Chosen, out: &mut String) -> std::fmt::Result {
    for changed in &chosen.changed {
        writeln!(
            out,
            "{} = {} (was {})",
            changed.key,
            plain(&changed.after.to_string()),
            plain(&changed.before.to_string())
        )?;
    }
    let (backend, by) = (plain(&chosen.backend), chosen.layer.title());
    let Some(problem) = &chosen.problem else {
        return writeln!(
            out,
            "{backend} answers, by {by}. `skillopt backend test` asks it a tiny question."
        );
    };
    writeln!(out, "{backend} is to answer, by {by}, but it cannot yet.")?;
    writeln!(out, "! {}", plain(&problem.message))?;
    writeln!(out, "  {}", plain(&problem.guidance))
}

pub(crate) fn servers(found: &[LocalServer], out: &mut String) -> std::fmt::Result {
    if found.is_empty() {
        return writeln!(
            out,
            "No model server answers on this computer. models.local_ports says where one is looked for."
        );
    }
    for server in found {
        writeln!(out, "{} at {}", server.name, server.endpoint)?;
        for model in &server.models {
            writeln!(out, "    {}", plain(model))?;
        }
    }
    writeln!(
        out,
        "Use one with: skillopt backend use openai_compatible --endpoint ADDRESS --model NAME"
    )
}

/// "target", "target and optimizer", "target, optimizer and judge".
fn together(sides: &[String]) -> String {
    match sides {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

pub(crate) fn test(output: &TestOutput, out: &mut String) -> std::fmt::Result {
    output.tested.iter().try_for_each(|tested| one(tested, out))
}

fn one(tested: &Tested, out: &mut String) -> std::fmt::Result {
    let sides = if tested.sides.is_empty() {
        String::new()
    } else {
        format!(" ({})", together(&tested.sides))
    };
    let name = plain(format!("{} {}", tested.backend, tested.asked_model).trim());
    if let Some(problem) = &tested.problem {
        writeln!(out, "BAD {name}{sides}: {}", plain(&problem.message))?;
        return writeln!(out, "      {} ({})", plain(&problem.guidance), problem.code);
    }
    let Some(trial) = &tested.trial else {
        return writeln!(
            out,
            "ok  {name}{sides}: a person answers, so nothing was asked; questions go to {}",
            plain(&tested.address)
        );
    };
    writeln!(
        out,
        "ok  {name}{sides}: \"{}\" in {} ms",
        plain(&trial.reply),
        trial.took.as_millis()
    )?;
    let count = |tokens: Option<u64>| tokens.map_or_else(|| "?".to_owned(), |n| n.to_string());
    let tokens = match (trial.usage.input_tokens, trial.usage.output_tokens) {
        (None, None) => "tokens are not counted".to_owned(),
        (asked, answered) => format!("{} tokens in, {} out", count(asked), count(answered)),
    };
    let requests = match trial.request_thousandths {
        0 => String::new(),
        thousandths => format!("{}; ", requests(thousandths)),
    };
    writeln!(
        out,
        "      answered by {}; {tokens}; {requests}{}",
        plain(if trial.model.is_empty() {
            "itself"
        } else {
            &trial.model
        }),
        match trial.cost_micros {
            _ if trial.free => "nothing is paid".to_owned(),
            None => "cost not known".to_owned(),
            Some(micros) => format!("cost {}", money(micros)),
        }
    )
}

pub(crate) fn spent(spent: &Spent, out: &mut String) -> std::fmt::Result {
    if spent.rows.is_empty() {
        return writeln!(out, "No night has paid for a model yet.");
    }
    let mut month = "";
    for row in &spent.rows {
        if row.month != month {
            month = &row.month;
            writeln!(out, "{month}")?;
        }
        let nights = if row.nights == 1 { "night" } else { "nights" };
        writeln!(
            out,
            "  {}: {} {nights}, {}",
            plain(&row.root),
            row.nights,
            words(&row.spend)
        )?;
    }
    writeln!(out, "together: {}", words(&spent.total))?;
    writeln!(
        out,
        "Money is counted with the price table, in its currency (USD unless prices.toml or spends.input_price says otherwise)."
    )
}

/// `3 model calls, 120 tokens, 0.02 in money; 40 of the tokens came from a cache`.
pub(crate) fn words(spend: &NightSpend) -> String {
    let mut words = super::spent(spend.calls, spend.tokens, spend.cost_micros);
    if spend.cached_tokens > 0 {
        words.push_str(&format!(
            "; {} of the tokens came from a cache",
            spend.cached_tokens
        ));
    }
    if spend.request_thousandths > 0 {
        words.push_str(&format!("; {}", requests(spend.request_thousandths)));
    }
    if spend.unknown > 0 {
        words.push_str(&format!(
            "; {} of the calls ended without an account and count in full",
            spend.unknown
        ));
    }
    words
}

/// `2.33 requests of the plan`, what a provider bills apart from tokens.
fn requests(thousandths: u64) -> String {
    let digits = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
    let number = digits.trim_end_matches('0').trim_end_matches('.');
    let noun = if number == "1" { "request" } else { "requests" };
    format!("{number} {noun} of the plan")
}

/// Millionths as an amount: two digits behind the point, or as many as it takes to show something.
fn money(micros: u64) -> String {
    let whole = micros / 1_000_000;
    let digits = format!("{:06}", micros % 1_000_000);
    let shown = if whole == 0 && micros < 100_000 {
        digits.trim_end_matches('0')
    } else {
        &digits[..2]
    };
    let shown = if shown.len() < 2 { &digits[..2] } else { shown };
    format!("{whole}.{shown}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_shown_without_zeros_behind_them() {
        for (thousandths, words) in [
            (1_000, "1 request of the plan"),
            (330, "0.33 requests of the plan"),
            (10_000, "10 requests of the plan"),
        ] {
            assert_eq!(requests(thousandths), words);
        }
        let spend = NightSpend {
            calls: 2,
            request_thousandths: 2_000,
            ..NightSpend::default()
        };
        assert_eq!(words(&spend), "2 model calls; 2 requests of the plan");
    }

    #[test]
    fn money_shows_small_amounts_too() {
        for (micros, text) in [
            (0, "0.00"),
            (1, "0.000001"),
            (2_100, "0.0021"),
            (100_000, "0.10"),
            (1_234_567, "1.23"),
            (20_000_000, "20.00"),
        ] {
            assert_eq!(money(micros), text);
        }
    }
}
