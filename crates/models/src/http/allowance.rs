//! What the headers of a reply say is left: Anthropic's windows of a plan, and the limits per minute
//! of Anthropic and OpenAI.

use jiff::SignedDuration;
use reqwest::header::HeaderMap;
use skillopt_core::Instant;

use crate::allowance::Allowance;

/// The windows of a plan.
const PLAN: [&str; 2] = ["5h", "7d"];
/// What Anthropic counts in a minute.
const ANTHROPIC: [&str; 4] = ["requests", "tokens", "input-tokens", "output-tokens"];
/// What OpenAI counts in a minute.
const OPENAI: [&str; 2] = ["requests", "tokens"];

/// The tightest limit of these headers; `None` when they tell of none.
pub(super) fn read(headers: &HeaderMap, now: Instant) -> Option<Allowance> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |name: &str| text(name)?.parse::<u64>().ok();
    let plan = PLAN.iter().filter_map(|window| {
        let of = |what: &str| format!("anthropic-ratelimit-unified-{window}-{what}");
        let used = text(&of("utilization"))?.parse().ok()?;
        Allowance::after(used, text(&of("reset")).and_then(instant))
    });
    let anthropic = ANTHROPIC.iter().filter_map(|kind| {
        let of = |what: &str| format!("anthropic-ratelimit-{kind}-{what}");
        Allowance::of(
            number(&of("limit"))?,
            number(&of("remaining"))?,
            text(&of("reset")).and_then(instant),
        )
    });
    let openai = OPENAI.iter().filter_map(|kind| {
        let of = |what: &str| format!("x-ratelimit-{what}-{kind}");
        let wait = text(&of("reset")).and_then(duration);
        Allowance::of(
            number(&of("limit"))?,
            number(&of("remaining"))?,
            wait.and_then(|wait| now.checked_add(wait).ok()),
        )
    });
    Allowance::tightest(plan.chain(anthropic).chain(openai))
}

/// Seconds since 1970, or RFC 3339.
fn instant(text: &str) -> Option<Instant> {
    match text.parse::<i64>() {
        Ok(seconds) => Instant::from_second(seconds).ok(),
        Err(_) => text.parse().ok(),
    }
}

/// `1s`, `6m0s`, `120ms`, `1h30m`; bounded by a day, since these limits are of a minute.
fn duration(text: &str) -> Option<SignedDuration> {
    let mut rest = text;
    let mut millis = 0_i64;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .filter(|&end| end > 0)?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let (unit, length) = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)]
            .into_iter()
            .find(|(unit, _)| {
                rest.strip_prefix(unit)
                    .is_some_and(|after| !after.starts_with(|c: char| c.is_ascii_alphabetic()))
            })?;
        rest = &rest[unit.len()..];
        let part = SignedDuration::try_from_secs_f64(number * f64::from(length) / 1000.0).ok()?;
        millis = millis.checked_add(i64::try_from(part.as_millis()).ok()?)?;
    }
    let day = SignedDuration::from_hours(24);
    Some(SignedDuration::from_millis(millis).min(day))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-11-29T18:25:00Z";

    fn read_of(headers: &[(&str, &str)]) -> Option<(u8, Option<String>)> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(
                reqwest::header::HeaderName::from_bytes(name.as_bytes()).unwrap(),
                value.parse().unwrap(),
            );
        }
        let read = read(&map, NOW.parse().unwrap())?;
        Some((read.left_percent, read.until.map(|until| until.to_string())))
    }

    #[test]
    fn the_tightest_limit_and_its_end() {
        let minute = Some("2026-11-29T18:26:00Z".to_owned());
        for (headers, expected) in [
            (vec![], None),
            (
                vec![
                    ("anthropic-ratelimit-unified-5h-utilization", "0.42"),
                    ("anthropic-ratelimit-unified-5h-reset", "1796000400"),
                    ("anthropic-ratelimit-unified-7d-utilization", "0.81"),
                    (
                        "anthropic-ratelimit-unified-7d-reset",
                        "2026-12-03T00:00:00Z",
                    ),
                    ("anthropic-ratelimit-requests-limit", "50"),
                    ("anthropic-ratelimit-requests-remaining", "49"),
                ],
                Some((19, Some("2026-12-03T00:00:00Z".to_owned()))),
            ),
            (
                vec![
                    ("anthropic-ratelimit-input-tokens-limit", "30000"),
                    ("anthropic-ratelimit-input-tokens-remaining", "3000"),
                    (
                        "anthropic-ratelimit-input-tokens-reset",
                        "2026-11-29T18:26:00Z",
                    ),
                ],
                Some((10, minute.clone())),
            ),
            (
                vec![
                    ("x-ratelimit-limit-tokens", "150000"),
                    ("x-ratelimit-remaining-tokens", "149984"),
                    ("x-ratelimit-reset-tokens", "6ms"),
                    ("x-ratelimit-limit-requests", "60"),
                    ("x-ratelimit-remaining-requests", "12"),
                    ("x-ratelimit-reset-requests", "1m0s"),
                ],
                Some((20, minute)),
            ),
            (
                vec![
                    ("x-ratelimit-limit-requests", "60"),
                    ("x-ratelimit-remaining-requests", "many"),
                    ("anthropic-ratelimit-unified-5h-utilization", "NaN"),
                ],
                None,
            ),
        ] {
            assert_eq!(read_of(&headers), expected, "{headers:?}");
        }
    }

    #[test]
    fn durations_as_they_are_written() {
        let millis = |text: &str| duration(text).map(|wait| wait.as_millis());
        for (text, expected) in [
            ("1s", Some(1_000)),
            ("6m0s", Some(360_000)),
            ("120ms", Some(120)),
            ("1h30m", Some(5_400_000)),
            ("7.66s", Some(7_660)),
            ("999999999h", Some(86_400_000)),
            ("soon", None),
            ("5", None),
            ("5 s", None),
            ("1..2s", None),
        ] {
            assert_eq!(millis(text), expected, "{text}");
        }
    }
}
