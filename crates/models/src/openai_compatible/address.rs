//! Where an endpoint is, and to whom a key may go.

use std::net::IpAddr;

use reqwest::Url;
use skillopt_core::Problem;

/// The base address of an endpoint: scheme, host, port and path up to and including the version,
/// without a slash at the end. Holds no credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    base: Url,
}

impl Address {
    /// Reads what a user wrote: with or without `/v1`, with or without `/chat/completions`.
    ///
    /// # Errors
    /// `endpoint_invalid` when it is not an http(s) address or holds a password, a query or a
    /// fragment.
    pub fn parse(written: &str) -> Result<Self, Problem> {
        let invalid = |why: &str| {
            Problem::permanent(
                "endpoint_invalid",
                format!("models.endpoint is not an address of a model server: {why}."),
                "Set it to a base address, for example https://api.openai.com/v1 or http://127.0.0.1:8080/v1.",
            )
        };
        let written = written.trim();
        if written.is_empty() {
            return Err(invalid("it is empty"));
        }
        // The text itself is not shown: it may hold a password.
        let mut base = Url::parse(written).map_err(|_| invalid("it cannot be read"))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(invalid("it begins neither with https:// nor with http://"));
        }
        if base.host_str().is_none_or(str::is_empty) {
            return Err(invalid("it names no host"));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(invalid(
                "it holds a user name or password, which do not belong there",
            ));
        }
        if base.query().is_some() || base.fragment().is_some() {
            return Err(invalid("it has a part after ? or #"));
        }
        let path = base.path().trim_end_matches('/');
        let path = path.strip_suffix("/chat/completions").unwrap_or(path);
        let path = path.strip_suffix("/models").unwrap_or(path);
        let path = path.trim_end_matches('/');
        let last = path.rsplit('/').next().unwrap_or_default();
        let versioned = last == "openai"
            || last
                .strip_prefix('v')
                .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
        let path = if versioned {
            path.to_owned()
        } else {
            format!("{path}/v1")
        };
        base.set_path(&path);
        Ok(Self { base })
    }

    /// The base as text, for example `https://api.openai.com/v1`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.base.as_str()
    }

    /// Host, with the port when it is not the usual one.
    #[must_use]
    pub fn host(&self) -> String {
        let host = self.base.host_str().unwrap_or_default();
        self.base
            .port()
            .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Whether it is this computer.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        let host = self.base.host_str().unwrap_or_default();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        bare.parse::<IpAddr>().map_or_else(
            |_| {
                let name = host.trim_end_matches('.');
                name.eq_ignore_ascii_case("localhost")
                    || name.to_ascii_lowercase().ends_with(".localhost")
            },
            |ip| ip.to_canonical().is_loopback(),
        )
    }

    /// Whether what is sent is encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.base.scheme() == "https"
    }

    /// Whether a credential may be sent there: encrypted, or not leaving this computer.
    ///
    /// # Errors
    /// `endpoint_insecure` otherwise.
    pub fn accept_credential(&self) -> Result<(), Problem> {
        if self.is_encrypted() || self.is_loopback() {
            return Ok(());
        }
        Err(Problem::permanent(
            "endpoint_insecure",
            format!(
                "A key is configured, but {} is neither encrypted nor on this computer; nothing was sent.",
                self.as_str()
            ),
            "Use an https:// address, or remove models.api_key_env if the server needs no key.",
        ))
    }

    /// An address below the base, for example `chat/completions`.
    pub(super) fn below(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}/{path}", self.base.path()));
        url
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_base_whatever_was_written() {
        for (written, base) in [
            ("https://api.openai.com", "https://api.openai.com/v1"),
            ("https://api.openai.com/v1/", "https://api.openai.com/v1"),
            (" http://127.0.0.1:8080 ", "http://127.0.0.1:8080/v1"),
            (
                "http://127.0.0.1:8080/v1/chat/completions",
                "http://127.0.0.1:8080/v1",
            ),
            (
                "http://localhost:11434/v1/models",
                "http://localhost:11434/v1",
            ),
            ("https://openrouter.ai/api", "https://openrouter.ai/api/v1"),
            (
                "https://openrouter.ai/api/v1",
                "https://openrouter.ai/api/v1",
            ),
            (
                "https://api.z.ai/api/paas/v4",
                "https://api.z.ai/api/paas/v4",
            ),
            (
                "https://generativelanguage.googleapis.com/v1beta/openai/",
                "https://generativelanguage.googleapis.com/v1beta/openai",
            ),
        ] {
            let address = Address::parse(written).unwrap();
            assert_eq!(address.as_str(), base, "{written}");
            assert_eq!(
                address.below("chat/completions").as_str(),
                format!("{base}/chat/completions")
            );
        }
    }

    #[test]
    fn what_is_no_address_is_refused_without_repeating_it() {
        for written in [
            "",
            "api.openai.com/v1",
            "ftp://host/v1",
            "https://me:hunter2@host/v1",
            "https://host/v1?key=hunter2",
            "https://host/v1#hunter2",
            "file:///etc/passwd",
            "http://",
        ] {
            let problem = Address::parse(written).unwrap_err();
            assert_eq!(problem.code, "endpoint_invalid", "{written}");
            assert!(!problem.message.contains("hunter2"), "{problem}");
        }
    }

    #[test]
    fn keys_go_only_to_encrypted_addresses_or_this_computer() {
        for (address, allowed) in [
            ("https://api.example.com/v1", true),
            ("http://127.0.0.1:8080", true),
            ("http://127.9.9.9:8080", true),
            ("http://[::1]:8080", true),
            ("http://[::ffff:127.0.0.1]:8080", true),
            ("http://localhost:1234", true),
            ("http://models.localhost:1234", true),
            ("http://api.example.com/v1", false),
            ("http://192.168.1.5:11434", false),
            ("http://localhost.example.com", false),
            ("http://127.0.0.1.example.com", false),
            ("http://[::2]:8080", false),
        ] {
            let address = Address::parse(address).unwrap();
            assert_eq!(address.accept_credential().is_ok(), allowed, "{address:?}");
        }
    }
}
