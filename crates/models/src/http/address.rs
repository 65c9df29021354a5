//! Where an endpoint is, and to whom a key may go.

use std::net::IpAddr;

use reqwest::Url;
use skillopt_core::Problem;

/// The base address of an endpoint: scheme, host, port and path up to and including the version,
/// without a slash at the end. Holds no credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    base: Url,
    /// What every request has after the `?`; empty for nothing.
    query: String,
}

/// Hosts of the one cloud whose accounts are understood; below them only its resources are.
const CLOUD_HOSTS: [&str; 3] = [
    ".openai.azure.com",
    ".cognitiveservices.azure.com",
    ".services.ai.azure.com",
];

impl Address {
    /// Reads what a user wrote: with or without `/v1`, with or without `/chat/completions`.
    ///
    /// # Errors
    /// `endpoint_invalid` when it is not an http(s) address or holds a password, a query or a
    /// fragment.
    pub fn parse(written: &str) -> Result<Self, Problem> {
        Self::parse_below(written, "v1")
    }

    /// The same, with `version` in the place of `v1` where none is written.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_below(written: &str, version: &str) -> Result<Self, Problem> {
        let invalid = |why: &str| {
            Problem::refused(
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
        let path = ["/chat/completions", "/responses", "/messages", "/models"]
            .iter()
            .find_map(|end| path.strip_suffix(end))
            .unwrap_or(path);
        let path = path.trim_end_matches('/');
        let last = path.rsplit('/').next().unwrap_or_default();
        let versioned = last == "openai"
            || last
                .strip_prefix('v')
                .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
        let path = if versioned {
            path.to_owned()
        } else {
            format!("{path}/{version}")
        };
        base.set_path(&path);
        Ok(Self {
            base,
            query: String::new(),
        })
    }

    /// The same with `path` instead of its own, and with `name=value` in every request.
    #[must_use]
    pub(crate) fn with_path_and_query(mut self, path: &str, name: &str, value: &str) -> Self {
        self.base.set_path(path);
        self.query = {
            let mut scratch = self.base.clone();
            scratch.query_pairs_mut().append_pair(name, value);
            scratch.query().unwrap_or_default().to_owned()
        };
        self
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

    /// Host and port to connect to, when it is this computer.
    pub(crate) fn on_this_computer(&self) -> Option<(String, u16)> {
        let host = self.base.host_str().filter(|_| self.is_loopback())?;
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        Some((bare.to_owned(), self.base.port_or_known_default()?))
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
        Err(Problem::refused(
            "endpoint_insecure",
            format!(
                "A key is configured, but {} is neither encrypted nor on this computer; nothing was sent.",
                self.as_str()
            ),
            "Use an https:// address, or remove models.api_key_env if the server needs no key.",
        ))
    }

    /// Whether a token of a cloud account may be sent there: encrypted, and to a host of that cloud.
    ///
    /// # Errors
    /// `endpoint_not_trusted` otherwise.
    pub fn accept_cloud_credential(&self) -> Result<(), Problem> {
        let host = self
            .base
            .host_str()
            .unwrap_or_default()
            .to_ascii_lowercase();
        let of_the_cloud = CLOUD_HOSTS
            .iter()
            .any(|end| host.strip_suffix(end).is_some_and(|name| !name.is_empty()));
        if self.is_encrypted() && of_the_cloud && self.base.port().is_none() {
            return Ok(());
        }
        Err(Problem::refused(
            "endpoint_not_trusted",
            format!(
                "A token of your cloud account would go to {}, which is not an https address of Azure; nothing was sent.",
                self.as_str()
            ),
            format!(
                "Use the resource's own address (https://NAME{}), or a key: set models.azure_auth to key.",
                CLOUD_HOSTS[0]
            ),
        ))
    }

    /// An address below the base, for example `chat/completions`.
    pub(super) fn below(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}/{path}", self.base.path()));
        url.set_query((!self.query.is_empty()).then_some(&self.query));
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
    fn cloud_tokens_go_only_to_encrypted_hosts_of_the_cloud() {
        for (address, allowed) in [
            ("https://me.openai.azure.com", true),
            ("https://ME.OpenAI.Azure.com", true),
            ("https://me.cognitiveservices.azure.com/openai/v1", true),
            ("https://me.services.ai.azure.com/openai/v1", true),
            ("http://me.openai.azure.com", false),
            ("https://me.openai.azure.com:8443", false),
            ("https://openai.azure.com", false),
            ("https://me.openai.azure.com.evil.example", false),
            ("https://evil-openai.azure.com", false),
            ("https://evil.example/me.openai.azure.com", false),
            ("http://127.0.0.1:8080", false),
            ("https://localhost", false),
        ] {
            let address = Address::parse(address).unwrap();
            let accepted = address.accept_cloud_credential();
            assert_eq!(accepted.is_ok(), allowed, "{address:?}");
            if let Err(problem) = accepted {
                assert_eq!(problem.code, "endpoint_not_trusted");
            }
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
