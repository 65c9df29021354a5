//! `report.md`: the night for a person to read (§7.11), with untrusted text made harmless.

use std::fmt::Write;

use skillopt_core::edit::Edit;
use skillopt_core::text::{acts, one_line};

use crate::report::{NightReport, TargetReport};

/// The report as Markdown.
#[must_use]
pub fn markdown(report: &NightReport) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = render(report, &mut text);
    text
}

fn render(report: &NightReport, out: &mut String) -> std::fmt::Result {
    let number = report
        .night
        .map_or_else(String::new, |number| format!(" {number}"));
    writeln!(out, "# Night{number}: {}\n", inline(&report.reason))?;
    writeln!(out, "- Project: {}", inline(&report.project))?;
    let simulated = if report.simulated {
        ", a built-in simulation"
    } else {
        ""
    };
    writeln!(
        out,
        "- Answers: {}{simulated}",
        inline(&report.target_backend)
    )?;
    writeln!(out, "- Sessions with something new: {}", report.n_sessions)?;
    let [train, validation, test] = report.slices;
    writeln!(
        out,
        "- Tasks: {} ({train} training, {validation} held out, {test} test)",
        report.n_tasks
    )?;
    let (before, after) = report.headline();
    writeln!(
        out,
        "- Held-out score: {} -> {}",
        score(before),
        score(after)
    )?;
    writeln!(
        out,
        "- Model calls: {}, tokens: {}",
        report.spend.calls, report.spend.tokens
    )?;
    if report.holdout_leaked && report.gated {
        writeln!(
            out,
            "\n**Not validated**: held-out and training tasks were not apart."
        )?;
    }
    for target in &report.targets {
        render_target(target, out)?;
    }
    if !report.suggestions.is_empty() {
        writeln!(
            out,
            "\n## Untested suggestions\n\nWhat you said yourself; nothing has tested it.\n"
        )?;
        for suggestion in &report.suggestions {
            writeln!(
                out,
                "- {} ({}×)",
                inline(&suggestion.words),
                suggestion.times
            )?;
        }
    }
    if !report.missing.is_empty() {
        writeln!(out, "\n## What is still missing\n")?;
        for line in &report.missing {
            writeln!(out, "- {}", inline(line))?;
        }
    }
    if !report.notes.is_empty() {
        writeln!(out, "\n## Notes\n")?;
        for note in &report.notes {
            writeln!(out, "- {}", inline(note))?;
        }
    }
    if let Some(id) = &report.proposal {
        writeln!(
            out,
            "\nReview it with `skillopt proposal show {id}`, then adopt or reject it."
        )?;
    }
    Ok(())
}

fn render_target(target: &TargetReport, out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "\n## {}\n\n{}",
        inline(&target.path),
        inline(&target.sentence)
    )?;
    if let Some(decision) = &target.decision {
        writeln!(
            out,
            "\n| Task | Tags | Before | After | Change |\n| --- | --- | --- | --- | --- |"
        )?;
        for delta in &decision.deltas {
            writeln!(
                out,
                "| {} | {} | {} | {} | {} |",
                inline(&delta.task),
                inline(&delta.tags.join(", ")),
                score(delta.before),
                score(delta.after),
                delta.status.id(),
            )?;
        }
    }
    let mut list = |title: &str, edits: &[Edit]| -> std::fmt::Result {
        if edits.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n### {title}\n")?;
        for edit in edits {
            let text = if edit.content.is_empty() {
                &edit.anchor
            } else {
                &edit.content
            };
            writeln!(
                out,
                "- **{:?}** {}: {}",
                edit.op,
                inline(text),
                inline(&edit.rationale)
            )?;
        }
        Ok(())
    };
    list("Proposed edits", &target.applied)?;
    let title = if target.was_compared() {
        "Edits that did not help"
    } else {
        "Edits that could not be tested"
    };
    list(title, &target.rejected)?;
    let unmatched: Vec<Edit> = target
        .unmatched
        .iter()
        .map(|(edit, _)| edit.clone())
        .collect();
    list("Edits that could not be applied", &unmatched)?;
    if let Some(why) = &target.not_staged {
        writeln!(out, "\nNot staged: {}", inline(why))?;
    }
    Ok(())
}

fn score(value: Option<f64>) -> String {
    value
        .filter(|value| value.is_finite())
        .map_or_else(|| "—".to_owned(), |value| format!("{value:.3}"))
}

/// Text of strangers on one line, without anything a Markdown reader or a terminal would act on.
#[must_use]
pub fn inline(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '|' => safe.push_str("&#124;"),
            '`' => safe.push_str("&#96;"),
            '\\' | '*' | '_' | '[' | ']' | '#' | '!' => {
                safe.push('\\');
                safe.push(c);
            }
            c if acts(c) => safe.push(' '),
            c => safe.push(c),
        }
    }
    one_line(&safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_text_cannot_act() {
        for unseen in ['\u{ad}', '\u{61c}', '\u{200f}', '\u{2028}', '\u{e0041}'] {
            assert_eq!(inline(&format!("a{unseen}b")), "a b", "{unseen:?}");
        }
        let hostile = "a\u{1b}[31m | <b>`x`</b>\n# h \u{202e}z";
        let safe = inline(hostile);
        assert_eq!(
            safe,
            "a \\[31m &#124; &lt;b&gt;&#96;x&#96;&lt;/b&gt; \\# h z"
        );
    }
}
