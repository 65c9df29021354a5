//! The marks that stand where a secret was (§7.10).

/// Stands for a value whose kind is only known by its name.
pub(super) const PLAIN: &str = "[REDACTED]";
/// OpenAI, Anthropic and every other key that starts with `sk-`.
pub(super) const OPENAI_KEY: &str = "[REDACTED_OPENAI_KEY]";
/// AWS access key ids.
pub(super) const AWS_KEY: &str = "[REDACTED_AWS_KEY]";
/// GitHub tokens, classic and fine-grained.
pub(super) const GITHUB_TOKEN: &str = "[REDACTED_GITHUB_TOKEN]";
/// Slack tokens.
pub(super) const SLACK_TOKEN: &str = "[REDACTED_SLACK_TOKEN]";
/// Google API keys.
pub(super) const GOOGLE_KEY: &str = "[REDACTED_GOOGLE_KEY]";
/// JSON web tokens.
pub(super) const JWT: &str = "[REDACTED_JWT]";
/// Passwords of connection strings.
pub(super) const DB_PASS: &str = "[REDACTED_DB_PASS]";
/// PEM private key blocks.
pub(super) const PRIVATE_KEY: &str = "[REDACTED_PRIVATE_KEY]";
/// Signatures of Azure shared access links.
pub(super) const SAS_SIG: &str = "[REDACTED_SAS_SIG]";
/// Keys of Azure storage accounts.
pub(super) const STORAGE_KEY: &str = "[REDACTED_STORAGE_KEY]";
/// Keys and tokens of the many other providers we know by their prefix.
pub(super) const PROVIDER_KEY: &str = "[REDACTED_API_KEY]";
/// The secret part of a webhook's address.
pub(super) const WEBHOOK: &str = "[REDACTED_WEBHOOK]";
/// Telegram and Discord bot tokens.
pub(super) const BOT_TOKEN: &str = "[REDACTED_BOT_TOKEN]";

/// How every mark begins.
pub(super) const OPENING: &str = "[REDACTED";
/// No mark is longer than this, in bytes.
const LONGEST: usize = 40;

/// The end of the mark that begins at `at`, if one does.
pub(super) fn end_at(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let name = rest.strip_prefix(OPENING.as_bytes())?;
    match name.first()? {
        b']' => return Some(at + OPENING.len() + 1),
        b'_' => {}
        _ => return None,
    }
    let length = name
        .iter()
        .take(LONGEST)
        .position(|byte| !matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'))?;
    (length > 1 && name[length] == b']').then_some(at + OPENING.len() + length + 1)
}

/// Whether the whole text is one mark.
#[must_use]
pub fn is_mark(text: &str) -> bool {
    end_at(text.as_bytes(), 0) == Some(text.len())
}

/// Whether a mark stands anywhere in the text.
#[must_use]
pub fn contains_mark(text: &str) -> bool {
    memchr::memmem::find_iter(text.as_bytes(), OPENING.as_bytes())
        .any(|at| end_at(text.as_bytes(), at).is_some())
}
