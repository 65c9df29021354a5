//! The checks a correction states literally.
//!
//! Only what can be verified on a text reply becomes a check. "Use the imperative mood" is a wish, but
//! no check; it is left to a model miner. A wish that is missed costs one task; a check that nobody
//! asked for teaches the documents something wrong, so every pattern here wants explicit words.

mod wording;

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Value, json};

use crate::check::{Form, Unit};
use crate::task::Check;
use wording::Wording;

/// Longer turns are requests with material in them, whose words are no wishes. In bytes.
const LONGEST_TURN: usize = 4_000;

/// Words that name a style. "Use tabs instead of spaces" says nothing about the words of a reply.
const STYLES: [&str; 58] = [
    "tabs",
    "tab",
    "spaces",
    "space",
    "snake_case",
    "snake-case",
    "camelcase",
    "camel-case",
    "pascalcase",
    "kebab-case",
    "uppercase",
    "lowercase",
    "case",
    "imperative",
    "indicative",
    "passive",
    "active",
    "present",
    "past",
    "future",
    "tense",
    "voice",
    "markdown",
    "json",
    "yaml",
    "toml",
    "xml",
    "html",
    "csv",
    "bullets",
    "bullet",
    "lists",
    "list",
    "table",
    "tables",
    "prose",
    "paragraphs",
    "paragraph",
    "text",
    "english",
    "german",
    "french",
    "spanish",
    "chinese",
    "british",
    "american",
    "quotes",
    "single",
    "double",
    "async",
    "sync",
    "that",
    "this",
    "it",
    "the",
    "one",
    "these",
    "those",
];

/// Marks with a name, and the text that has them.
const MARKS: [(&str, &str); 9] = [
    ("exclamation mark", "!"),
    ("exclamation point", "!"),
    ("semicolon", ";"),
    ("em dash", "—"),
    ("em-dash", "—"),
    ("question mark", "?"),
    ("code block", "```"),
    ("code fence", "```"),
    ("bold", "**"),
];

/// A wish for a shape without an argument: its pattern, the sentence when it is wanted, and the
/// sentence when it is not.
struct Shape {
    pattern: Regex,
    wanted: Option<&'static str>,
    unwanted: Option<&'static str>,
}

struct Patterns {
    counts: [Regex; 4],
    sections: [Regex; 4],
    name: Regex,
    include: Regex,
    exclude: Regex,
    exchange: Regex,
    edge: Regex,
    tags: Regex,
    marks: Regex,
    shapes: Vec<Shape>,
}

/// `Q` stands for a quotation, `N` for a number, `U` for what is counted.
fn compile(pattern: &str) -> Regex {
    let pattern = pattern
        .replace("{Q}", wording::QUOTATION)
        .replace(
            "{N}",
            r"(\d{1,6}|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty)",
        )
        .replace(
            "{U}",
            r"(?:short |concise |brief |plain )?(characters?|chars?|letters|words?|lines?|sentences?|bullets|bullet[ -]points?)\b",
        );
    // Of the short classes only `\w` needs Unicode, which makes patterns many times larger.
    let pattern = pattern
        .replace(r"\s", r"[ \t\r\n]")
        .replace(r"\d", "[0-9]")
        .replace(r"\b", r"(?-u:\b)");
    Regex::new(&format!("(?i){pattern}")).expect("a fixed pattern")
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let shape = |pattern, wanted, unwanted| Shape {
        pattern: compile(pattern),
        wanted,
        unwanted,
    };
    Patterns {
        counts: [
            // At most.
            compile(
                r"\b(?:under|below|within|at most|no more than|not more than|not over|max(?:imum)?(?: of)?|max\.|less than|fewer than|up to|shorter than|not exceed|(?:keep|limit|cut|shorten|trim|reduce|stick)\b[^.!?\n]*?\bto(?: a maximum of| at most)?)\s+{N}\s*{U}",
            ),
            compile(
                r"\b{N}\s*{U}\s*(?:max\b|maximum\b|at most\b|or less\b|or fewer\b|tops\b)|\bin (?:just |only )?(?:a single |(one|two|three|four|five) )(?:short |concise )?(sentences?)\b|\b(one) (sentence) only\b",
            ),
            // At least.
            compile(
                r"\b(?:at least|no less than|no fewer than|min(?:imum)?(?: of)?|min\.|more than|longer than)\s+{N}\s*{U}",
            ),
            // Exactly.
            compile(r"\b(?:exactly|precisely)\s+{N}\s*{U}"),
        ],
        sections: [
            compile(
                r"\b(?:sections?|headings?)\s*(?:called|named|titled|headed|entitled|for|on|:)\s+(?:the\s+)?([^.!?;\n]+)",
            ),
            compile(
                r"\b(?:add|include|with|have|need|forgot|missed|missing|lacks|wants?)\s+(?:an?\s+|the\s+)?(?:{Q}|(?-i:([A-Z][\w&-]*(?: [A-Z][\w&-]*){0,2})))\s+section\b",
            ),
            compile(r"\bsections?\s+(?:called|named|titled|entitled)\s+([\w-]+)\s*(?:$|[.,;!?\n])"),
            compile(r"\badd\s+(?:an?\s+|the\s+)?sections?\s+{Q}"),
        ],
        name: compile(
            r"^(?:\s|,|and\b|&|then\b|the\b)*(?:{Q}|(?-i:([A-Z][\w&-]*(?: [A-Z][\w&-]*){0,3})))",
        ),
        include: compile(
            r"\b(?:(?:include|mention|contain|contains|say|use|write|add|append|quote)\s+(?:the\s+)?(?:exact\s+)?(?:word|words|phrase|text|term|line|sentence|string|label)|(?:include|mention|contain)(?:\s+the)?)\s+{Q}",
        ),
        exclude: compile(
            r"\b(?:don't|do not|never|avoid|without|stop|no|drop|remove|skip|leave out|get rid of|not)\s+(?:ever\s+)?(?:use|using|say|saying|write|writing|mention|mentioning|include|including)?\s*(?:the\s+|any\s+)?(?:exact\s+)?(?:word|words|phrase|text|term|filler)?\s*{Q}",
        ),
        exchange: compile(
            r"\b(?:use|write|say|spell it|call it|call them)\s+(?:the word\s+)?(?:{Q}|([\w.+-]+))\s*(?:,\s*not|instead of|rather than|,?\s+and\s+not|,?\s+never)\s+(?:the word\s+)?(?:{Q}|([\w.+-]*[\w+-]))",
        ),
        edge: compile(
            r"\b(start|begin|open|starts|begins|opens|starting|beginning|end|finish|close|ends|ending|sign off|conclude)(?:\s+(?:it|the reply|your reply|the answer|the message|the mail|every reply|each reply|off))?\s+with\s+(?:the\s+)?(?:word|words|text|phrase|line|sentence)?\s*{Q}",
        ),
        tags: compile(
            r"\b(?:wrap|put|enclose|surround|place)\b[^.!?\n]*?<([a-z][a-z0-9_-]*)>|\b(?:in|inside|within|between|with|use|using)\s+(?:the\s+)?<([a-z][a-z0-9_-]*)>(?:…|\.\.\.|\s)*(?:</[a-z][a-z0-9_-]*>)?\s*tags?\b|<(answer)>",
        ),
        marks: compile(
            r"\b(?:no|without|don't use|do not use|never use|avoid|drop the|remove the|stop using)\s+(?:any\s+)?(exclamation marks?|exclamation points?|semicolons?|em[ -]dash(?:es)?|question marks?|code (?:blocks?|fences?)|bold)\b",
        ),
        shapes: vec![
            shape(
                r"\b(?:as|use|in|with|using)\s+(?:an?\s+)?(?:plain |simple |markdown |short |unordered )*(?:bullet(?:ed)?[ -]?(?:points?|lists?)|bullets)\b|\bone bullet per\b|\bno bullet(?:[ -]?points?|[ -]?lists?|s)\b",
                Some("Write the reply as a bullet list."),
                Some("Use no bullet points."),
            ),
            shape(
                r"\b(?:as|use|in|with|make it)\s+(?:an?\s+)?(?:markdown )?(?:numbered|ordered) list\b",
                Some("Write the reply as a numbered list."),
                None,
            ),
            shape(
                r"\b(?:as|in|into)\s+an?\s+(?:markdown )?table\b",
                Some("Put a table into the reply."),
                None,
            ),
            shape(
                r"\b(?:in|inside|into)\s+a\s+(?:fenced )?code (?:block|fence)\b",
                Some("Put a code block into the reply."),
                None,
            ),
            shape(
                r"\b(?:only|just|nothing but)\s+(?:valid\s+|raw\s+)?json\b|\bjson\s+only\b|\b(?:reply|answer|respond|output|return|format|give|send)\b[^.!?\n]*?\b(?:in|as)\s+(?:valid\s+|raw\s+)?json\b|^\W*(?:no,?\s+|please,?\s+|again,?\s+)*(?:in|as)\s+(?:valid\s+)?json\b",
                Some("Reply with JSON only."),
                None,
            ),
            shape(
                r"\b(?:on|in) (?:one|a single) line\b|\bone line only\b|\bone-liner\b|\bsingle line\b",
                Some("Keep the reply on one line."),
                None,
            ),
            shape(
                r"\b(?:in|all|only|everything in)\s+lower ?-?case(?:\s+letters)?(?:\s+(?:only|please))?\s*(?:$|[.,;!\n])",
                Some("Write the reply in lower case."),
                None,
            ),
            shape(
                r"\b(?:in|all|only|everything in)\s+upper ?-?case(?:\s+letters)?(?:\s+(?:only|please))?\s*(?:$|[.,;!\n])",
                Some("Write the reply in upper case."),
                None,
            ),
            shape(
                r"\b(?:end|finish|close)\b[^.!?\n]*?\bwith a question\b",
                Some("End the reply with a question."),
                None,
            ),
            shape(
                r"\b(?:no|without|don't use|do not use|avoid|drop the|remove the|stop using|never use)\s+(?:any\s+)?(?:markdown )?(?:headings|headers)\b",
                None,
                Some("Use no headings."),
            ),
            shape(
                r"\b(?:no|without|don't use|do not use|avoid|drop the|remove the|stop using|never use)\s+(?:any\s+)?emojis?\b|(?:不要|别用|别|不用)(?:使用|用)?(?:任何)?(?:表情符号|表情|emoji)",
                None,
                Some("Use no emojis."),
            ),
        ],
    }
});

/// The checks that a correction states literally, in a fixed order. Every one of them compiles, and
/// its sentence can be read back.
#[must_use]
pub fn constraints(text: &str) -> Vec<Check> {
    if text.len() > LONGEST_TURN {
        return Vec::new();
    }
    let mut found = Found {
        wording: Wording::new(text),
        checks: Vec::new(),
    };
    found.counts();
    found.sections();
    found.phrases();
    found.edges();
    found.tags();
    found.shapes();
    found.chinese();
    found.checks
}

struct Found {
    wording: Wording,
    checks: Vec<Check>,
}

impl Found {
    fn add(&mut self, op: &str, arg: Value) {
        let check = Check {
            op: op.to_owned(),
            arg,
        };
        if !self.checks.contains(&check) {
            self.checks.push(check);
        }
    }

    fn add_form(&mut self, form: Option<Form>) {
        if let Some(form) = form {
            self.add("regex", json!(form.pattern()));
        }
    }

    /// Runs `act` on every match of a pattern.
    fn each(&mut self, pattern: &Regex, mut act: impl FnMut(&mut Self, &Captures<'_>)) {
        let text = self.wording.text().to_owned();
        for captures in pattern.captures_iter(&text) {
            act(self, &captures);
        }
    }

    /// "under 200 characters", "exactly 3 bullets".
    fn counts(&mut self) {
        let [most, most_behind, least, exact] = &PATTERNS.counts;
        for (pattern, at_most, at_least) in [
            (most, true, false),
            (most_behind, true, false),
            (least, false, true),
            (exact, true, true),
        ] {
            self.each(pattern, |found, captures| {
                if found.wording.is_negated(captures) || found.wording.is_conditional(captures) {
                    return;
                }
                let mut parts = captures.iter().skip(1).flatten().map(|part| part.as_str());
                let (first, second) = (parts.next().unwrap_or("one"), parts.next());
                // "in a single sentence" has a unit and no number.
                let (number, unit) = second.map_or(("one", first), |unit| (first, unit));
                if let Some(number) = number_of(number) {
                    found.count(number, &unit.to_lowercase(), at_most, at_least);
                }
            });
        }
    }

    fn count(&mut self, number: u32, unit: &str, at_most: bool, at_least: bool) {
        let unit = match unit.as_bytes().first() {
            Some(b'w') => Unit::Words,
            Some(b'b') => Unit::Bullets,
            Some(b's') => Unit::Sentences,
            Some(b'l') if unit.starts_with("line") => Unit::Lines,
            _ => {
                for (wanted, op) in [(at_most, "max_chars"), (at_least, "min_chars")] {
                    if wanted && number > 0 {
                        self.add(op, json!(number));
                    }
                }
                return;
            }
        };
        for (wanted, most) in [(at_most, true), (at_least, false)] {
            if wanted {
                self.add_form(Form::counted(unit, most, number));
            }
        }
    }

    /// "add a section called Risks", "you forgot the Summary section".
    fn sections(&mut self) {
        let [list, before, word, bare] = &PATTERNS.sections;
        self.each(list, |found, captures| {
            if found.wording.is_negated(captures) {
                return;
            }
            let mut rest = captures.get(1).map_or("", |list| list.as_str());
            while let Some(name) = PATTERNS.name.captures(rest) {
                if let Some(name) = found.wording.phrase(&name, &[1, 2]) {
                    found.add("section_present", json!(name));
                }
                rest = &rest[name[0].len()..];
                if !rest.trim_start().starts_with([',', '&'])
                    && !rest.trim_start().starts_with("and")
                {
                    break;
                }
            }
        });
        for pattern in [before, word, bare] {
            self.each(pattern, |found, captures| {
                if !found.wording.is_negated(captures)
                    && let Some(name) = found.wording.phrase(captures, &[1, 2])
                    && !found.has_section(&name)
                {
                    found.add("section_present", json!(name));
                }
            });
        }
    }

    fn has_section(&self, name: &str) -> bool {
        self.checks.iter().any(|check| {
            check.op == "section_present"
                && check
                    .arg
                    .as_str()
                    .is_some_and(|known| known.eq_ignore_ascii_case(name))
        })
    }

    /// "include the word 'beta'", "never say 'simply'", "write 'customers', not 'users'".
    fn phrases(&mut self) {
        self.each(&PATTERNS.include, |found, captures| {
            if !found.wording.is_negated(captures)
                && !found.wording.is_conditional(captures)
                && !found.wording.is_exchange(captures)
                && let Some(phrase) = found.wording.phrase(captures, &[1, 2])
            {
                found.add("contains", json!(phrase));
            }
        });
        self.each(&PATTERNS.exchange, |found, captures| {
            let quoted = captures.get(1).is_some();
            let (Some(wanted), Some(unwanted)) = (
                found.wording.phrase(captures, &[1, 2]),
                found.wording.phrase(captures, &[3, 4]),
            ) else {
                return;
            };
            let (low, other) = (wanted.to_lowercase(), unwanted.to_lowercase());
            let short = low.chars().count().min(other.chars().count()) < 2;
            let style = !quoted && (short || is_style(&low) || is_style(&other));
            if !style
                && !found.wording.is_negated(captures)
                && !found.wording.is_conditional(captures)
                && !low.contains(&other)
                && !other.contains(&low)
            {
                found.add("contains", json!(wanted));
                found.add("not_contains", json!(unwanted));
            }
        });
        self.each(&PATTERNS.exclude, |found, captures| {
            if !found.wording.is_conditional(captures)
                && let Some(phrase) = found.wording.phrase(captures, &[1])
            {
                found.add("not_contains", json!(phrase));
            }
        });
        self.each(&PATTERNS.marks, |found, captures| {
            let name = captures[1].to_lowercase();
            if let Some((_, mark)) = MARKS.iter().find(|(known, _)| name.starts_with(known)) {
                found.add("not_contains", json!(mark));
            }
        });
    }

    /// "start with 'Dear team'", "don't end with 'Cheers'".
    fn edges(&mut self) {
        self.each(&PATTERNS.edge, |found, captures| {
            let verb = captures[1].to_lowercase();
            let beginning = ["start", "begin", "open"]
                .iter()
                .any(|start| verb.starts_with(start));
            let wanted = !found.wording.is_negated(captures);
            if !found.wording.is_conditional(captures)
                && let Some(phrase) = found.wording.verbatim(captures, &[2])
            {
                found.add_form(Some(Form::literal(beginning, wanted, &phrase)));
            }
        });
    }

    /// "wrap the answer in `<answer>` tags".
    fn tags(&mut self) {
        self.each(&PATTERNS.tags, |found, captures| {
            let name = captures.iter().skip(1).flatten().next();
            if let Some(name) = name.map(|name| name.as_str())
                && !found.wording.is_negated(captures)
            {
                found.add("contains", json!(format!("<{name}>")));
                found.add("contains", json!(format!("</{name}>")));
            }
        });
    }

    fn shapes(&mut self) {
        for shape in &PATTERNS.shapes {
            self.each(&shape.pattern, |found, captures| {
                let words = captures[0].to_lowercase();
                let negated = words.starts_with("no ") || found.wording.is_negated(captures);
                let sentence = if negated || shape.wanted.is_none() {
                    shape.unwanted
                } else {
                    shape.wanted
                };
                found.add_form(sentence.and_then(Form::fixed));
            });
        }
    }

    /// The commonest literal wishes in Chinese.
    fn chinese(&mut self) {
        static LIMITS: LazyLock<[Regex; 4]> = LazyLock::new(|| {
            [
                compile(
                    r"(?:不超过|不要超过|别超过|最多|少于|控制在|限制在)\s*(\d{1,6})\s*个?(?:字符|字)",
                ),
                compile(r"(?:至少|不少于)\s*(\d{1,6})\s*个?(?:字符|字)"),
                compile(r"(?:必须|请|要)(?:包含|提到|写上|出现){Q}"),
                compile(r"(?:不要|别|禁止|不能)(?:再)?(?:使用|用|写|出现|提到|说)(?:词|短语)?{Q}"),
            ]
        });
        let [most, least, include, exclude] = &*LIMITS;
        for (pattern, op) in [(most, "max_chars"), (least, "min_chars")] {
            self.each(pattern, |found, captures| {
                if let Some(number) = number_of(&captures[1]).filter(|number| *number > 0) {
                    found.add(op, json!(number));
                }
            });
        }
        for (pattern, op) in [(include, "contains"), (exclude, "not_contains")] {
            self.each(pattern, |found, captures| {
                if let Some(phrase) = found.wording.phrase(captures, &[1]) {
                    found.add(op, json!(phrase));
                }
            });
        }
    }
}

fn is_style(word: &str) -> bool {
    STYLES.contains(&word)
}

/// A number in digits or as an English word.
fn number_of(text: &str) -> Option<u32> {
    const WORDS: [(&str, u32); 13] = [
        ("one", 1),
        ("two", 2),
        ("three", 3),
        ("four", 4),
        ("five", 5),
        ("six", 6),
        ("seven", 7),
        ("eight", 8),
        ("nine", 9),
        ("ten", 10),
        ("twelve", 12),
        ("fifteen", 15),
        ("twenty", 20),
    ];
    let word = WORDS
        .iter()
        .find(|(word, _)| text.eq_ignore_ascii_case(word));
    word.map_or_else(|| text.parse().ok(), |(_, number)| Some(*number))
}

#[cfg(test)]
mod tests;
