//! The one automaton that finds where a secret could be.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use super::mark;
use super::provider::PROVIDERS;

/// What a credential's name ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// `token`.
    Token,
    /// `secret`.
    Secret,
    /// `password`, `passphrase` and their kin.
    Password,
    /// `key`: what stands before decides.
    Key,
    /// `pwd`: a password, or the working directory.
    Pwd,
    /// `pass`, which also means "succeed".
    Pass,
    /// `auth`, `cred`: credentials only when the value looks like one.
    Vague,
    /// A password in another language.
    Foreign,
}

/// What a keyword announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lead {
    /// A mark of an earlier redaction.
    Mark,
    /// A token of the provider with this index.
    Provider(usize),
    /// The end of a credential's name.
    Name(Word),
    /// `Authorization`.
    Authorization,
    /// `Bearer` outside a header.
    Bearer,
    /// `Basic` outside a header.
    Basic,
    /// `Cookie`, `Set-Cookie`.
    Cookie,
    /// The opening line of a PEM block.
    Pem,
    /// `://`, before which a scheme stands and after which user and password may.
    Address,
    /// `sig=`, `signature=`.
    Signature,
    /// A webhook whose address is the secret.
    Webhook,
    /// A Telegram bot token, behind its bot id.
    Telegram,
    /// The user option of curl.
    UserOption,
    /// The password option of a command.
    PasswordOption,
    /// The key lines of a PuTTY key file.
    PuttyKey,
}

const NAMES: &[(&str, Lead)] = &[
    ("token", Lead::Name(Word::Token)),
    ("secret", Lead::Name(Word::Secret)),
    ("password", Lead::Name(Word::Password)),
    ("passwd", Lead::Name(Word::Password)),
    ("passphrase", Lead::Name(Word::Password)),
    ("pass phrase", Lead::Name(Word::Password)),
    ("pass-phrase", Lead::Name(Word::Password)),
    ("pass_phrase", Lead::Name(Word::Password)),
    ("passcode", Lead::Name(Word::Password)),
    ("apikey", Lead::Name(Word::Key)),
    ("key", Lead::Name(Word::Key)),
    ("pwd", Lead::Name(Word::Pwd)),
    ("pass", Lead::Name(Word::Pass)),
    ("auth", Lead::Name(Word::Vague)),
    ("cred", Lead::Name(Word::Vague)),
    ("creds", Lead::Name(Word::Vague)),
    ("credential", Lead::Name(Word::Vague)),
    ("credentials", Lead::Name(Word::Vague)),
    ("passwort", Lead::Name(Word::Foreign)),
    ("kennwort", Lead::Name(Word::Foreign)),
    ("contraseña", Lead::Name(Word::Foreign)),
    ("mot de passe", Lead::Name(Word::Foreign)),
    ("пароль", Lead::Name(Word::Foreign)),
    ("密码", Lead::Name(Word::Foreign)),
    ("密碼", Lead::Name(Word::Foreign)),
    ("パスワード", Lead::Name(Word::Foreign)),
    ("비밀번호", Lead::Name(Word::Foreign)),
    ("authorization", Lead::Authorization),
    ("bearer ", Lead::Bearer),
    ("basic ", Lead::Basic),
    ("cookie", Lead::Cookie),
    ("-----BEGIN ", Lead::Pem),
    ("://", Lead::Address),
    ("sig=", Lead::Signature),
    ("signature=", Lead::Signature),
    ("hooks.slack.com/", Lead::Webhook),
    ("/api/webhooks/", Lead::Webhook),
    ("webhook.office.com/webhookb2/", Lead::Webhook),
    (":AA", Lead::Telegram),
    ("-u ", Lead::UserOption),
    ("--user ", Lead::UserOption),
    ("--proxy-user ", Lead::UserOption),
    (" -p", Lead::PasswordOption),
    (" -a ", Lead::PasswordOption),
    ("Private-Lines: ", Lead::PuttyKey),
    (mark::OPENING, Lead::Mark),
];

static AUTOMATON: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let names = NAMES.iter().map(|(word, _)| *word);
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::DFA))
        .build(names.chain(PROVIDERS.iter().map(|provider| provider.prefix)))
        .expect("a few hundred bytes of keywords fit an automaton")
});

/// The first keyword at or after `from`: where it begins and ends, and what it announces.
pub(super) fn next(bytes: &[u8], from: usize) -> Option<(usize, usize, Lead)> {
    let found = AUTOMATON.find(Input::new(bytes).range(from..))?;
    let index = found.pattern().as_usize();
    let lead = NAMES.get(index).map_or(
        Lead::Provider(index.wrapping_sub(NAMES.len())),
        |(_, lead)| *lead,
    );
    Some((found.start(), found.end(), lead))
}
