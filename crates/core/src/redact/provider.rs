//! Tokens that are known by how they begin.

use super::class::{
    ALNUM, BASE64, DASH, DIGIT, DOT, LOWER, UNDERSCORE, UPPER, WORD, any, is, run_end,
};
use super::mark;

/// One family of tokens: a prefix, then at least `least` bytes of `body`.
pub(super) struct Provider {
    /// How the token begins, in exact case.
    pub(super) prefix: &'static str,
    body: u8,
    least: usize,
    mark: &'static str,
    shape: Shape,
}

/// What else must hold for the body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Nothing.
    Any,
    /// It is not a name made of words (`sk-folding-cube`).
    NotWords,
    /// It has a digit.
    Digit,
    /// It is all lower-case hexadecimal.
    Hex,
    /// It has exactly `least` bytes.
    Exact,
    /// It has a second part after a dot, as long as the first.
    TwoParts,
}

const ALNUM_: u8 = ALNUM | UNDERSCORE;
const DOTTED: u8 = WORD | DOT;
const PADDED: u8 = WORD | BASE64;

const fn of(
    prefix: &'static str,
    body: u8,
    least: usize,
    mark: &'static str,
    shape: Shape,
) -> Provider {
    Provider {
        prefix,
        body,
        least,
        mark,
        shape,
    }
}

const fn other(prefix: &'static str, body: u8, least: usize) -> Provider {
    of(prefix, body, least, mark::PROVIDER_KEY, Shape::Any)
}

/// Every family we know. The first part is §7.10, the rest the providers' own documentation.
pub(super) static PROVIDERS: &[Provider] = &[
    of("sk-", WORD, 10, mark::OPENAI_KEY, Shape::NotWords),
    of("AKIA", UPPER | DIGIT, 16, mark::AWS_KEY, Shape::Any),
    of("ASIA", UPPER | DIGIT, 16, mark::AWS_KEY, Shape::Any),
    of("ABIA", UPPER | DIGIT, 16, mark::AWS_KEY, Shape::Any),
    of("ACCA", UPPER | DIGIT, 16, mark::AWS_KEY, Shape::Any),
    of("ghp_", ALNUM_, 20, mark::GITHUB_TOKEN, Shape::Any),
    of("gho_", ALNUM_, 20, mark::GITHUB_TOKEN, Shape::Any),
    of("ghu_", ALNUM_, 20, mark::GITHUB_TOKEN, Shape::Any),
    of("ghs_", ALNUM_, 20, mark::GITHUB_TOKEN, Shape::Any),
    of("ghr_", ALNUM_, 20, mark::GITHUB_TOKEN, Shape::Any),
    of("github_pat_", ALNUM_, 20, mark::GITHUB_TOKEN, Shape::Any),
    of("xoxa-", WORD, 10, mark::SLACK_TOKEN, Shape::Any),
    of("xoxb-", WORD, 10, mark::SLACK_TOKEN, Shape::Any),
    of("xoxc-", WORD, 10, mark::SLACK_TOKEN, Shape::Any),
    of("xoxd-", PADDED, 10, mark::SLACK_TOKEN, Shape::Any),
    of("xoxe-", WORD, 10, mark::SLACK_TOKEN, Shape::Any),
    of("xoxe.", DOTTED, 10, mark::SLACK_TOKEN, Shape::Any),
    of("xoxo-", WORD, 10, mark::SLACK_TOKEN, Shape::Any),
    of("xoxp-", WORD, 10, mark::SLACK_TOKEN, Shape::Any),
    of("xoxr-", WORD, 10, mark::SLACK_TOKEN, Shape::Any),
    of("xoxs-", WORD, 10, mark::SLACK_TOKEN, Shape::Any),
    of("xapp-", WORD, 10, mark::SLACK_TOKEN, Shape::Digit),
    of("AIza", WORD, 20, mark::GOOGLE_KEY, Shape::Any),
    of("ya29.", WORD, 16, mark::GOOGLE_KEY, Shape::Any),
    of("GOCSPX-", WORD, 20, mark::GOOGLE_KEY, Shape::Any),
    of("1//0", WORD, 30, mark::GOOGLE_KEY, Shape::Any),
    other("glpat-", DOTTED, 16),
    other("gldt-", DOTTED, 16),
    other("glrt-", DOTTED, 16),
    other("glsoat-", DOTTED, 16),
    other("glcbt-", DOTTED, 16),
    other("glptt-", DOTTED, 16),
    other("glimt-", DOTTED, 16),
    other("glft-", DOTTED, 16),
    other("npm_", ALNUM, 30),
    of("pypi-", WORD, 40, mark::PROVIDER_KEY, Shape::Digit),
    other("hf_", ALNUM, 24),
    other("api_org_", ALNUM, 24),
    other("sk_live_", ALNUM_, 10),
    other("sk_test_", ALNUM_, 10),
    other("rk_live_", ALNUM_, 10),
    other("rk_test_", ALNUM_, 10),
    other("whsec_", ALNUM | BASE64, 20),
    of("SG.", WORD, 16, mark::PROVIDER_KEY, Shape::TwoParts),
    of("shpat_", ALNUM, 24, mark::PROVIDER_KEY, Shape::Any),
    other("shpca_", ALNUM, 24),
    other("shppa_", ALNUM, 24),
    other("shpss_", ALNUM, 24),
    other("sq0atp-", WORD, 20),
    other("sq0csp-", WORD, 20),
    other("dop_v1_", ALNUM, 32),
    other("doo_v1_", ALNUM, 32),
    other("dor_v1_", ALNUM, 32),
    of("dapi", LOWER | DIGIT, 32, mark::PROVIDER_KEY, Shape::Hex),
    other("lin_api_", ALNUM, 30),
    other("ntn_", ALNUM, 30),
    other("figd_", WORD, 30),
    other("gsk_", ALNUM, 30),
    other("pplx-", ALNUM, 30),
    other("xai-", ALNUM, 40),
    other("r8_", ALNUM, 30),
    of("fw_", ALNUM, 20, mark::PROVIDER_KEY, Shape::Digit),
    other("ATATT3", PADDED, 40),
    other("ATCTT3", PADDED, 40),
    other("dp.pt.", ALNUM | DOT, 30),
    other("dp.st.", ALNUM | DOT | UNDERSCORE, 30),
    other("pscale_tkn_", DOTTED, 30),
    other("pscale_pw_", DOTTED, 30),
    other("pscale_oauth_", DOTTED, 30),
    other("PMAK-", ALNUM | DASH, 30),
    other("sntrys_", PADDED, 30),
    other("sntryu_", PADDED, 30),
    other("glsa_", ALNUM_, 30),
    other("glc_", ALNUM | BASE64, 30),
    other("NRAK-", UPPER | DIGIT, 24),
    other("hvs.", WORD, 20),
    other("hvb.", WORD, 20),
    other("AGE-SECRET-KEY-1", UPPER | DIGIT, 40),
    other("dckr_pat_", WORD, 20),
    other("dckr_oat_", WORD, 20),
    other("HRKU-", WORD, 30),
    of("sbp_", ALNUM_, 40, mark::PROVIDER_KEY, Shape::Digit),
    of("nfp_", ALNUM, 30, mark::PROVIDER_KEY, Shape::Digit),
    other("CCIPAT_", WORD, 30),
    of("bkua_", ALNUM, 30, mark::PROVIDER_KEY, Shape::Digit),
    of(
        "rubygems_",
        LOWER | DIGIT,
        40,
        mark::PROVIDER_KEY,
        Shape::Hex,
    ),
    of("tskey-", WORD, 20, mark::PROVIDER_KEY, Shape::Digit),
    of("AKCp", ALNUM, 60, mark::PROVIDER_KEY, Shape::Digit),
    of("fm2_", ALNUM | BASE64, 60, mark::PROVIDER_KEY, Shape::Digit),
    other("mfa.", WORD, 60),
    other("ops_eyJ", WORD, 60),
    other("sk.eyJ", DOTTED, 40),
    other("lsv2_pt_", WORD, 30),
    other("lsv2_sk_", WORD, 30),
    of("oy2", LOWER | DIGIT, 43, mark::PROVIDER_KEY, Shape::Exact),
];

/// Families whose prefix is also a credential name, so that the name finds them.
pub(super) static NAMED: &[Provider] = &[
    of("secret_", ALNUM, 40, mark::PROVIDER_KEY, Shape::Digit),
    of("key-", LOWER | DIGIT, 32, mark::PROVIDER_KEY, Shape::Hex),
];

/// Parts after `sk-` that real keys have, so that words after them do not make the key a name.
const KEY_FAMILIES: [&[u8]; 10] = [
    b"proj", b"ant", b"svcacct", b"admin", b"live", b"test", b"or", b"None", b"service", b"lf",
];

/// Bodies up to this long may be let pass as a name; longer ones never are, which keeps the work
/// spent on what is not redacted bounded.
const LONGEST_NAME: usize = 48;

/// Longer bodies are taken for tokens even without a digit, for the same reason.
const LONGEST_DOUBT: usize = 256;

/// Whether `body` is a name made of lower-case words, as in `sk-folding-cube`.
fn is_words(body: &[u8]) -> bool {
    if body.len() > LONGEST_NAME {
        return false;
    }
    let mut parts = body
        .split(|byte| matches!(byte, b'-' | b'_'))
        .filter(|part| !part.is_empty());
    let Some(first) = parts.next() else {
        return false;
    };
    let word = |part: &[u8]| part.len() <= 12 && part.iter().all(|&byte| is(byte, LOWER));
    let mut rest = parts.peekable();
    let digits = |part: &[u8]| part.len() <= 2 && part.iter().all(|&byte| is(byte, DIGIT));
    rest.peek().is_some()
        && word(first)
        && !KEY_FAMILIES.contains(&first)
        && rest.all(|part| word(part) || digits(part))
}

impl Provider {
    /// The end and the mark of this provider's token at `at`, if one stands there.
    pub(super) fn token_at(&self, bytes: &[u8], at: usize) -> Option<(usize, &'static str)> {
        if !bytes[at..].starts_with(self.prefix.as_bytes()) {
            return None;
        }
        let start = at + self.prefix.len();
        let mut end = run_end(bytes, start, self.body);
        // A dot that ends a sentence is not part of the token.
        while end > start && bytes[end - 1] == b'.' {
            end -= 1;
        }
        let body = &bytes[start..end];
        if body.len() < self.least {
            return None;
        }
        let fits = match self.shape {
            Shape::Any => true,
            Shape::NotWords => !is_words(body),
            Shape::Digit => body.len() > LONGEST_DOUBT || any(body, DIGIT),
            Shape::Hex => body.iter().all(u8::is_ascii_hexdigit),
            Shape::Exact => body.len() == self.least,
            Shape::TwoParts => {
                let second = end + 1;
                if bytes.get(end) != Some(&b'.') {
                    return None;
                }
                end = run_end(bytes, second, self.body);
                end - second >= self.least
            }
        };
        fits.then_some((end, self.mark))
    }
}

/// The end and the mark of the token of any provider that begins at `at`.
pub(super) fn token_at(bytes: &[u8], at: usize) -> Option<(usize, &'static str)> {
    PROVIDERS
        .iter()
        .find_map(|provider| provider.token_at(bytes, at))
}
