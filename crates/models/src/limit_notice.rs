//! Usage limits that providers put into words.
//!
//! Command-line agents, and gateways in front of them, say "You've hit your weekly limit · resets
//! Dec 2, 6:25pm (UTC)" where a reply should be: sometimes with an error status, sometimes as if it
//! were the model's answer. Such a text must never be scored, and the time it names is when the
//! night can go on.
//!
//! Words inside a long answer mean nothing: a task may well be about limits. Without a sign of
//! failure beside it, a text counts only if it is short and is a known notice from its first to
//! its last character.

mod reset;

use std::sync::LazyLock;

use jiff::tz::TimeZone;
use regex::Regex;
use skillopt_core::Instant;

pub use reset::reset_time;

/// Longer texts are answers.
const LONGEST_NOTICE: usize = 300;

/// How much stands beside a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// It came where a reply belongs, with every sign of success.
    None,
    /// An error status, a non-zero exit or an error flag came with it.
    Failure,
}

/// A usage limit in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitNotice {
    /// When more is allowed; `None` when the text does not say.
    pub until: Option<Instant>,
}

/// Whole texts that are notices. `TAIL` is what may follow: when it resets and how to get more.
static WHOLE: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    const TAIL: &str = r"(?:[.!]?\s*[|·∙•—–-]\s*\S.{0,160}|[.!]?\s+(?:it|your limit|limits?)?\s*(?:will\s+)?resets?\b.{0,120}|[.!]?\s+(?:please\s+)?(?:try again|upgrade|run /|/upgrade|visit https://).{0,160}|[.!]?)";
    [
        // "Claude AI usage limit reached|1755772800", "5-hour limit reached ∙ resets 7am",
        // "Opus weekly limit reached ∙ resets Oct 6, 1pm"
        r"(?:claude )?(?:ai )?(?:(?:usage|session|weekly|daily|monthly|5-hour|five-hour|opus|sonnet|fable|haiku) ?){1,3}limit reached",
        // "You've hit your session limit · resets 5:10pm (Europe/Paris)"
        r"you(?:['’]ve| have) (?:hit|reached|exceeded) your (?:[a-z0-9-]+ ){0,3}limit",
        r"you(?:['’]re| are) out of (?:extra usage|usage credits|credits)",
        r"(?:your )?credit balance (?:is )?too low",
        r"you exceeded your current quota(?:, please check your plan and billing details)?",
        r"insufficient (?:balance|credits|quota)",
        r"spend limit reached",
    ]
    .iter()
    .map(|head| Regex::new(&format!(r"(?is)\A{head}{TAIL}\z")).expect("a fixed pattern"))
    .collect()
});

/// What, said together with a failure, makes it a usage limit and not a busy server.
static MENTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(?:\b(?:usage|session|weekly|daily|monthly|spend|5-hour|five-hour) limit\b",
        r"|\bhit your (?:[a-z0-9-]+ ){0,3}limit\b|\byour (?:[a-z0-9-]+ ){0,3}limit will reset\b",
        r"|\bout of (?:extra usage|usage credits|credits)\b",
        r"|\bcredit balance (?:is )?too low\b|\bexceeded your current quota\b",
        r"|\binsufficient[ _](?:quota|balance|credits?|funds)\b|\bbilling[ _]hard[ _]limit\b",
        r"|\bquota[ _](?:exceeded|exhausted)\b|\bpayment required\b)"
    ))
    .expect("a fixed pattern")
});

/// What denies it again: "temporarily limiting requests (not your usage limit)".
static DENIAL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\bnot (?:your|a) usage limit\b").expect("a fixed pattern"));

/// Reads `text` as a usage limit; `None` when it is not one. Times of day in it are taken in the
/// time zone it names, else in `zone`.
#[must_use]
pub fn read(text: &str, evidence: Evidence, now: Instant, zone: &TimeZone) -> Option<LimitNotice> {
    let text = text.trim();
    let is_notice = match evidence {
        Evidence::None => {
            text.len() <= LONGEST_NOTICE
                && text.lines().count() <= 2
                && WHOLE.iter().any(|whole| whole.is_match(text))
        }
        Evidence::Failure => {
            let head = skillopt_core::text::head(text, 4 * LONGEST_NOTICE);
            MENTION.is_match(head) && !DENIAL.is_match(head)
        }
    };
    is_notice.then(|| LimitNotice {
        until: reset_time(text, now, zone),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Instant {
        "2026-11-29T18:25:00Z".parse().unwrap()
    }

    #[test]
    fn known_notices_are_recognised_without_any_other_sign() {
        // Texts as reported in public threads and as printed by Claude Code 2.1.332.
        for text in [
            "Claude AI usage limit reached|1795983924",
            "Claude usage limit reached. Your limit will reset at 9pm (America/New_York).",
            "You've hit your 5-hour limit · resets 8:25pm (UTC)",
            "You've hit your session limit · resets 5:10pm (Europe/Paris)",
            "You've hit your weekly limit · resets Dec 2, 6:25pm (UTC)",
            "You’ve hit your limit · resets 3pm",
            "You've hit your limit",
            "5-hour limit reached ∙ resets 7am\n     /upgrade to increase your usage limit.",
            "Opus weekly limit reached ∙ resets Oct 6, 1pm",
            "You're out of extra usage · resets 9pm (Asia/Tokyo)",
            "Credit balance is too low",
            "You exceeded your current quota, please check your plan and billing details.",
            "Insufficient Balance",
        ] {
            assert!(
                read(text, Evidence::None, now(), &TimeZone::UTC).is_some(),
                "{text}"
            );
        }
    }

    #[test]
    fn an_answer_about_limits_is_an_answer() {
        let long = format!(
            "You've hit your limit · resets 3pm {}",
            "and so on ".repeat(40)
        );
        for text in [
            "Show the user: \"You've hit your limit · resets 3pm\" and log them out.",
            "You've hit your limit of five uploads, so the button is greyed out and a tooltip says why.",
            "The usage limit reached by the service was 40 requests.",
            "Weekly limit reached is shown when the counter passes 100.",
            "- You've hit your session limit\n- Try again\n- Upgrade",
            "Insufficient balance checks were the cause: the guard ran after the transfer.",
            &long,
            "",
        ] {
            assert_eq!(
                read(text, Evidence::None, now(), &TimeZone::UTC),
                None,
                "{text}"
            );
        }
    }

    #[test]
    fn a_failure_needs_fewer_words_but_a_busy_server_is_not_a_limit() {
        let read = |text: &str| read(text, Evidence::Failure, now(), &TimeZone::UTC);
        assert!(read("Error: Claude usage limit reached, see your plan").is_some());
        assert!(read("429 insufficient_quota").is_some());
        // Claude Code 2.1.332 on a plain 429.
        assert!(read("API Error: Server is temporarily limiting requests (not your usage limit) · This request would exceed your organization's rate limit").is_none());
        assert!(read("API Error: 529 Overloaded.").is_none());
        assert!(
            read("Rate limit reached for requests per min. Please try again in 20s.").is_none()
        );
    }
}
