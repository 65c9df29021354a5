//! Replies that keep every rule they can read.

use skillopt_core::check::check_from_sentence;
use skillopt_core::task::Check;
use skillopt_core::text::{head, one_line};

/// The rules of a document that can be read literally: list items and lines that are one of the
/// sentences of [`skillopt_core::check::sentence`].
pub(super) fn rules(document: &str) -> impl Iterator<Item = Check> + '_ {
    document
        .lines()
        .map(|line| line.trim().trim_start_matches(['-', '*', '+']).trim())
        .filter(|line| !line.is_empty())
        .filter_map(check_from_sentence)
}

/// What the documents ask of a reply.
#[derive(Debug, Default)]
struct Wishes {
    opening: Option<String>,
    closing: Option<String>,
    sections: Vec<String>,
    include: Vec<String>,
    avoid: Vec<String>,
    at_most: Option<usize>,
    at_least: usize,
    bullets: bool,
    json: bool,
    one_line: bool,
    answer_tags: bool,
}

impl Wishes {
    fn of(documents: [&String; 2]) -> Self {
        let mut wishes = Self::default();
        for document in documents {
            // Said in many ways, and always with the tag itself.
            wishes.answer_tags |= document.contains("<answer>");
            for check in rules(document) {
                wishes.take(&check);
            }
        }
        wishes
    }

    fn take(&mut self, check: &Check) {
        let text = check.arg.as_str().unwrap_or_default().to_owned();
        let number = check
            .arg
            .as_u64()
            .and_then(|number| usize::try_from(number).ok());
        match check.op.as_str() {
            "contains" => self.include.push(text),
            "not_contains" => self.avoid.push(text),
            "section_present" | "section_contains" => self.sections.push(text),
            "max_chars" => self.at_most = number.or(self.at_most),
            "min_chars" => self.at_least = number.unwrap_or(self.at_least),
            "regex" => self.take_pattern(check),
            // It never refuses and has no tools.
            _ => {}
        }
    }

    /// Patterns are known by their sentences.
    fn take_pattern(&mut self, check: &Check) {
        let sentence = skillopt_core::check::sentence(check);
        let named = |words: &str| sentence.strip_prefix(words)?.strip_suffix('.');
        if let Some(text) = named("Begin the reply with ") {
            self.opening = serde_json::from_str(text).ok();
        } else if let Some(text) = named("End the reply with ") {
            // The other such rule wants a question.
            let closing = serde_json::from_str(text).unwrap_or("Shall I change anything?");
            self.closing = Some(closing.to_owned());
        } else if sentence.contains("bullet list") {
            self.bullets = true;
        } else if sentence.contains("JSON only") {
            self.json = true;
        } else if sentence.contains("on one line") {
            self.one_line = true;
        } else if sentence.contains("no emojis") {
            self.avoid.push("🙂".to_owned());
        }
    }
}

/// A short reply to `intent` that keeps the rules of the documents. It knows nothing else. `sample`
/// varies the wording, as independent draws do.
pub(super) fn write(intent: &str, documents: [&String; 2], sample: u32) -> String {
    let wishes = Wishes::of(documents);
    let subject = one_line(head(intent, 60));
    let mut sentences: Vec<String> = match sample % 3 {
        0 => vec![
            format!("Sure! Here is a first version of what you asked for ({subject})."),
            "It goes through the main points one after the other and gives the reason for each of them, so that you \
             can judge them for yourself."
                .to_owned(),
            "At the end there is a short summary, in case you only want the outcome. 🙂".to_owned(),
        ],
        1 => vec![
            format!("Here you go: {subject}."),
            "The main points are all there, each with a reason. 🙂".to_owned(),
        ],
        _ => vec![
            format!("Of course. I took your request ({subject}) as it stands and worked it out in full."),
            "First the background, then the main points with their reasons, then what follows from them, and finally \
             some remarks on what could be looked at next. 🙂"
                .to_owned(),
        ],
    };
    while sentences
        .iter()
        .map(|sentence| sentence.chars().count() + 1)
        .sum::<usize>()
        < wishes.at_least
    {
        sentences.push("A further remark makes the point clearer.".to_owned());
    }
    let mut reply = shape(&wishes, &sentences);
    if let Some(limit) = wishes.at_most {
        // The filler goes first; what was asked for by name stays.
        while reply.chars().count() > limit && !sentences.is_empty() {
            let spare = reply.chars().count() - limit;
            match sentences.last_mut() {
                Some(last) if last.chars().count() > spare + 1 => {
                    let kept = last.chars().count() - spare - 1;
                    *last = head(last, kept).trim_end().to_owned();
                }
                _ => {
                    sentences.pop();
                }
            }
            reply = shape(&wishes, &sentences);
        }
    }
    reply
}

/// Puts the parts of a reply together.
fn shape(wishes: &Wishes, sentences: &[String]) -> String {
    let sentences: Vec<String> = sentences
        .iter()
        .map(|sentence| without(sentence, &wishes.avoid))
        .collect();
    let opening = wishes.opening.as_deref().unwrap_or_default();
    let closing = wishes.closing.as_deref().unwrap_or_default();
    if wishes.json {
        let value = serde_json::json!({"sections": wishes.sections, "reply": sentences.join(" "), "notes": wishes.include});
        return format!("{opening}{value}{closing}");
    }
    let mut lines: Vec<String> = Vec::new();
    if !opening.is_empty() {
        lines.push(opening.to_owned());
    }
    if wishes.one_line {
        // A label is a section as well (§5.5).
        lines.extend(wishes.sections.iter().map(|name| format!("{name}:")));
    } else {
        lines.extend(wishes.sections.iter().map(|name| format!("# {name}\n")));
    }
    if wishes.bullets {
        lines.extend(
            sentences
                .iter()
                .filter(|sentence| !sentence.is_empty())
                .map(|sentence| format!("- {sentence}")),
        );
    } else {
        lines.push(sentences.join(" "));
    }
    lines.extend(wishes.include.iter().cloned());
    if wishes.answer_tags {
        let last = lines.pop().unwrap_or_default();
        lines.push(format!("<answer>{last}</answer>"));
    }
    lines.push(closing.to_owned());
    lines.retain(|line| !line.is_empty());
    lines.join(if wishes.one_line { " " } else { "\n" })
}

/// `text` without every occurrence of the phrases, upper and lower case alike.
fn without(text: &str, phrases: &[String]) -> String {
    let mut text = text.to_owned();
    for phrase in phrases {
        let wanted: Vec<char> = phrase.to_lowercase().chars().collect();
        if wanted.is_empty() {
            continue;
        }
        let mut kept: Vec<char> = Vec::new();
        let mut low: Vec<char> = Vec::new();
        for c in text.chars() {
            kept.push(c);
            low.extend(c.to_lowercase());
            // One character may become several in lower case; then nothing is cut.
            if low.len() == kept.len() && low.ends_with(&wanted) {
                kept.truncate(kept.len() - wanted.len());
                low.truncate(kept.len());
            }
        }
        text = kept.into_iter().collect();
    }
    one_line(&text)
}
