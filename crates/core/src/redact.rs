//! Secrets are taken out of a text before it is stored, shown or sent anywhere (§7.10 of the reference,
//! and the token formats of the providers people use).
//!
//! The value goes, the name and everything around it stay, and a mark says what was there:
//! `api_key=[REDACTED]`, `[REDACTED_OPENAI_KEY]`. Redacting twice changes nothing more.
//!
//! Characters that nobody sees (zero width, soft hyphens, fillers) can stand in the middle of a key: where
//! they join what is read as one word, the text is gone over once more without them, and a secret found
//! there is taken out with all of them.
//!
//! One automaton finds the places where a secret could be; only around those is anything looked at, and
//! never further than a constant, unless what is looked at is then taken out. So time is linear in the
//! length of the text, whatever the text is.

mod assignment;
mod class;
mod harmless;
mod header;
mod hidden;
mod json;
mod keyword;
mod mark;
mod name;
mod pem;
mod places;
mod provider;
mod random;
mod run;
mod value;

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::Value;

use self::keyword::Lead;
pub use self::mark::{contains_mark, is_mark};

/// A text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'t> {
    /// The text; borrowed when there was nothing to take out.
    pub text: Cow<'t, str>,
    /// How many values were taken out. Marks that were already there do not count.
    pub count: usize,
}

/// Takes every secret out of `text`.
#[must_use]
pub fn redact(text: &str) -> Redacted<'_> {
    redact_except(text, &HashSet::new())
}

/// Takes every secret out of all texts in `value`, keys of objects included, and replaces as a whole
/// what stands under a key that is named like a credential. Returns how many values were taken out.
pub fn redact_json(value: &mut Value) -> usize {
    Redactor::default().redact_json(value)
}

/// Redaction that lets pass what its user has seen and called a false alarm.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    false_alarms: HashSet<String>,
}

impl Redactor {
    /// A redactor that never takes out a value equal to one of these texts, surrounding white space
    /// aside.
    #[must_use]
    pub fn with_false_alarms(texts: &[String]) -> Self {
        let kept = texts.iter().map(|text| text.trim().to_owned());
        Self {
            false_alarms: kept.filter(|text| !text.is_empty()).collect(),
        }
    }

    /// Takes every secret out of `text`.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Redacted<'t> {
        redact_except(text, &self.false_alarms)
    }

    /// As [`redact_json`].
    pub fn redact_json(&self, value: &mut Value) -> usize {
        json::redact(value, &self.false_alarms)
    }
}

/// How often a text is gone over at most.
const MOST_PASSES: usize = 4;

/// Goes over the text until nothing more is found. A mark can end what ran on in the first pass, so a
/// text with secrets is gone over once more; one without takes a single pass.
fn redact_except<'t>(text: &'t str, false_alarms: &HashSet<String>) -> Redacted<'t> {
    let mut whole = Redacted {
        text: Cow::Borrowed(text),
        count: 0,
    };
    for _ in 0..MOST_PASSES {
        let mut found = secrets(&whole.text, false_alarms);
        if found.is_empty() {
            found = hidden::secrets(&whole.text, false_alarms);
        }
        if found.is_empty() {
            break;
        }
        whole = Redacted {
            count: whole.count + found.len(),
            text: Cow::Owned(without(&whole.text, &found)),
        };
    }
    whole
}

/// A value to take out, and the mark to put in its place.
#[derive(Debug, Clone, Copy)]
struct Secret {
    start: usize,
    end: usize,
    mark: &'static str,
}

/// The secrets of a text, in order, none inside another.
fn secrets(text: &str, false_alarms: &HashSet<String>) -> Vec<Secret> {
    let mut scan = Scan::new(text, false_alarms);
    scan.run();
    scan.found
}

/// The text with marks in the places of secrets.
fn without(text: &str, secrets: &[Secret]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for secret in secrets {
        out.push_str(&text[copied..secret.start]);
        out.push_str(secret.mark);
        copied = secret.end;
    }
    out.push_str(&text[copied..]);
    out
}

/// One pass over a text.
struct Scan<'t, 'k> {
    text: &'t str,
    bytes: &'t [u8],
    false_alarms: &'k HashSet<String>,
    /// Keywords are looked for from here on.
    at: usize,
    /// The end of the last mark or kept value: nothing looks further back.
    floor: usize,
    found: Vec<Secret>,
    /// Bytes looked at besides the automaton's one pass; tests hold it linear.
    work: usize,
}

impl<'t, 'k> Scan<'t, 'k> {
    fn new(text: &'t str, false_alarms: &'k HashSet<String>) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            false_alarms,
            at: 0,
            floor: 0,
            found: Vec::new(),
            work: 0,
        }
    }

    fn run(&mut self) {
        let mut runs = run::Runs::default();
        let mut shaped = runs.next(self.bytes, 0, &mut self.work);
        let mut hit = self.next_keyword();
        loop {
            if shaped.is_some_and(|span| span.start < self.floor) {
                shaped = runs.next(self.bytes, self.floor, &mut self.work);
            }
            if hit.is_some_and(|(start, ..)| start < self.at) {
                hit = self.next_keyword();
            }
            if let Some(span) = shaped
                && hit.is_none_or(|(start, ..)| span.start <= start)
            {
                self.replace(span.start, span.end, span.mark);
            } else if let Some((start, end, lead)) = hit {
                self.at = end;
                self.look(start, end, lead);
            } else {
                return;
            }
        }
    }

    fn next_keyword(&mut self) -> Option<(usize, usize, Lead)> {
        let hit = keyword::next(self.bytes, self.at);
        self.work += hit.map_or(self.bytes.len(), |(_, end, _)| end) - self.at;
        hit
    }

    /// Looks at what a keyword at `start..end` announces.
    fn look(&mut self, start: usize, end: usize, lead: Lead) {
        match lead {
            Lead::Mark => {
                if let Some(end) = mark::end_at(self.bytes, start) {
                    self.keep_to(end);
                }
            }
            Lead::Provider(index) => {
                if let Some(provider) = provider::PROVIDERS.get(index)
                    && class::begins_word(self.bytes, self.floor, start)
                    && let Some((end, mark)) = provider.token_at(self.bytes, start)
                {
                    self.replace(start, end, mark);
                }
            }
            Lead::Name(word) => self.name(start, end, word),
            Lead::Authorization => self.authorization(start, end),
            Lead::Bearer => self.bearer(end),
            Lead::Basic => self.basic(start, end),
            Lead::Cookie => self.cookie(start, end),
            Lead::Pem => {
                if let Some(end) = pem::block_end(self.bytes, end, &mut self.work) {
                    self.replace(start, end, mark::PRIVATE_KEY);
                }
            }
            Lead::Address => self.address(end),
            Lead::Signature => self.signature(start, end),
            Lead::Webhook => self.webhook(start, end),
            Lead::Telegram => self.telegram(start, end),
            Lead::UserOption => self.user_option(start, end),
            Lead::PasswordOption => self.password_option(start, start + 3),
            Lead::PuttyKey => {
                if let Some((start, end)) = pem::putty_lines(self.bytes, end) {
                    self.replace(start, end, mark::PRIVATE_KEY);
                }
            }
        }
    }

    /// Leaves everything up to `end` as it is.
    fn keep_to(&mut self, end: usize) {
        self.floor = self.floor.max(end);
        self.at = self.at.max(end);
    }

    /// Puts `mark` in the place of `start..end`, unless the user called that a false alarm.
    fn replace(&mut self, start: usize, end: usize, mark: &'static str) {
        let free = self.found.last().is_none_or(|last| start >= last.end);
        if free && !self.false_alarms.contains(self.text[start..end].trim()) {
            self.found.push(Secret { start, end, mark });
            self.work += end - start;
        }
        self.keep_to(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes looked at, besides the automaton's and the shape pass's own single pass.
    fn work(text: &str) -> usize {
        let none = HashSet::new();
        let mut scan = Scan::new(text, &none);
        scan.run();
        scan.work
    }

    /// Repetitions that make a backtracking or rescanning matcher quadratic (§14 #75 and more).
    const HOSTILE: &[&str] = &[
        "a_",
        "a-",
        "token_",
        "token-",
        "password=",
        "password:",
        "password ",
        "password='",
        "password=\"",
        "password=\\\"",
        "password=\"\"\"",
        "key=",
        "key=\"",
        "key='x",
        "key=a,",
        "api_key=",
        "eyJ",
        "eyJ-",
        "eyJaaaaaa.",
        "eyJ.eyJ-",
        "sk-",
        "sk-a-",
        "sk-foo-bar-",
        "ghp_",
        "npm_",
        "pypi-",
        "tskey-",
        "xapp-",
        "key-",
        "secret_",
        "SG.",
        "SG.aaaaaaaaaaaaaaaaaaaa-",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAAAAAA\n",
        "-----BEGIN ",
        "-----",
        "://",
        "://a:",
        "://a:b@",
        "://a:b",
        "/sig=",
        "sig=",
        "sig=aaaaaaaaaaa(",
        "/signature=",
        "signature=",
        "Authorization: ",
        "Authorization: Bearer ",
        "Authorization: Digest \"",
        "Authorization: \"",
        "Basic ",
        "Basic dXNlcjpwdw==",
        "Basic dXNlcjpwdw",
        "pass phrase: ",
        "s\u{200b}k-",
        "\u{200b}",
        "Bearer ",
        "Bearer aaaaaaaaaaaaaaaa",
        "Cookie: a=1;",
        "cookie=1;",
        "cookie=a=1;",
        "Cookie: \"a=",
        "/api/webhooks/",
        "/api/webhooks/1",
        "hooks.slack.com/services/",
        "1234567:AA",
        ":AA",
        "curl -u ",
        "curl -u \"",
        " -u a:b",
        "--user '",
        "mysql -p",
        "sshpass -p x",
        " -p",
        "redis-cli -a ",
        "Private-Lines: 3\n",
        "Private-Lines: 3\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n",
        "password: {value: ",
        "\"password\": {\"value\":",
        "token | ",
        "password: &a ",
        "\"auth\":\"",
        "<token>",
        "<token>a",
        "token>",
        "[REDACTED",
        "[REDACTED_",
        "[REDACTED]",
        "password {",
        "password={",
        "password=[\"",
        "password=[\"a\",",
        "password: |\n ",
        "password: |\n  a\n",
        "token: a(",
        "token: a = ",
        "token: A<",
        "token=f(\"",
        "token, value: ",
        "\"token\", \"value\": \"",
        "password is ",
        "\\n",
        "\\u003dtoken",
        "\u{1b}[32m",
        "MTk4NjIyNDgzNDcxOTI1MjQ4.",
        "SK0123456789abcdef0123456789abcdef",
        "ab.",
        "............",
        "密码：",
        "пароль: ",
        "é",
        "\r\n",
        "\u{feff}",
        "AKIA",
        "pass=",
        "export A_TOKEN=a&b",
        "TOKEN=&a",
        "\nTOKEN=a,b",
        "\"",
        "'",
        "\\",
        "{{",
        "${",
        "}",
        "auth=",
    ];

    #[test]
    fn time_is_linear_on_hostile_text() {
        for seed in HOSTILE {
            let once = seed.repeat(6_000 / seed.len());
            let twice = once.repeat(4);
            let (small, large) = (work(&once), work(&twice));
            assert!(
                large <= 5 * small + 4096,
                "{seed:?}: {small} for {}, {large} for {}",
                once.len(),
                twice.len()
            );
            assert!(
                large <= 48 * twice.len() + 4096,
                "{seed:?}: {large} for {}",
                twice.len()
            );
        }
    }

    #[test]
    fn what_is_hidden_is_looked_for_only_where_it_joins_words() {
        let most = |text: &str| hidden::joined(text).map(|joined| joined.text.len());
        assert_eq!(most("plain text"), None);
        assert_eq!(
            most("\u{feff}a file with a mark, \u{26a0}\u{fe0f} and an emoji"),
            None
        );
        assert_eq!(most("so\u{ad}ft"), Some("soft".len()));
    }

    #[test]
    fn time_is_linear_on_pairs_of_hostile_texts() {
        for first in HOSTILE {
            for second in HOSTILE {
                let text = format!("{first}{second}").repeat(16);
                let found = work(&text);
                assert!(
                    found <= 60 * text.len() + 4096,
                    "{first:?} and {second:?}: {found} for {}",
                    text.len()
                );
            }
        }
    }
}
