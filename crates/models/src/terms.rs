//! On what terms a provider may be asked by a program while nobody is looking. Said once for each; a
//! night asks it only after the user has agreed (`models.terms_accepted`).

use std::collections::BTreeSet;

use serde::Serialize;
use skillopt_core::Problem;

use crate::path::Roles;
use crate::roles::servers;
use crate::{claude, codex, copilot, cursor, opencode, pi};

/// What a user agrees to before nights ask a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Terms {
    /// The provider, as `models.terms_accepted` names it: `claude`, `anthropic:api.anthropic.com`.
    pub provider: String,
    /// What nights do there and who decides about it, one sentence.
    pub about: String,
    /// Where the terms are.
    pub address: String,
}

/// The same for one provider that is known before it is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) about: &'static str,
    pub(crate) address: &'static str,
}

impl Known {
    pub(crate) fn of(self, provider: String) -> Terms {
        Terms {
            provider,
            about: self.about.to_owned(),
            address: self.address.to_owned(),
        }
    }
}

const OPENAI: Known = Known {
    about: "Nights send requests to OpenAI by themselves, billed to your key; the agreement of your OpenAI account says what is allowed.",
    address: "https://openai.com/policies/services-agreement/",
};
const ANTHROPIC: Known = Known {
    about: "Nights send requests to Anthropic by themselves, billed to your key; Anthropic's commercial terms say what is allowed.",
    address: "https://www.anthropic.com/legal/commercial-terms",
};
const MICROSOFT: Known = Known {
    about: "Nights send requests to your Azure resource by themselves, billed to your subscription; Microsoft's terms for online services say what is allowed.",
    address: "https://www.microsoft.com/licensing/terms/product/ForOnlineServices/all",
};
const OPENROUTER: Known = Known {
    about: "Nights send requests to OpenRouter by themselves, billed to your key; its terms, and those of whoever serves the model, say what is allowed.",
    address: "https://openrouter.ai/terms",
};

/// The terms of whoever runs a server at `host` (which may end in a port).
pub(crate) fn of_host(provider: String, host: &str) -> Terms {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let known = match name {
        "api.openai.com" => OPENAI,
        "api.anthropic.com" => ANTHROPIC,
        "openrouter.ai" => OPENROUTER,
        name if name.ends_with(".azure.com") => MICROSOFT,
        _ => {
            return Terms {
                provider,
                about: format!(
                    "Nights send requests to {host} by themselves, with your key if it wants one; the terms of whoever runs it say what is allowed."
                ),
                address: format!("https://{name}"),
            };
        }
    };
    known.of(provider)
}

/// The terms of a provider by its name; `None` for one that needs none or that does not exist.
#[must_use]
pub fn of_provider(name: &str) -> Option<Terms> {
    let name = name.trim().to_ascii_lowercase();
    if let Some((kind, host)) = name.split_once(':') {
        let is_host = !host.is_empty()
            && host
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || ".-_:[]".contains(c));
        return (servers::is_server(kind) && is_host).then(|| of_host(name.clone(), host));
    }
    [
        &claude::ABOUT,
        &codex::ABOUT,
        &copilot::ABOUT,
        &cursor::ABOUT,
        &opencode::ABOUT,
        &pi::ABOUT,
    ]
    .into_iter()
    .find(|about| about.kind == name)
    .map(|about| about.terms.of(name))
}

impl Terms {
    /// Whether the user has agreed.
    #[must_use]
    pub fn accepted(&self, accepted: &[String]) -> bool {
        accepted
            .iter()
            .any(|word| word.trim().eq_ignore_ascii_case(&self.provider))
    }

    /// What a night says that may not ask yet.
    #[must_use]
    pub fn problem(&self) -> Problem {
        Problem::permanent(
            "terms_not_accepted",
            format!(
                "You have not yet agreed that nights ask {}. {}",
                self.provider, self.about
            ),
            format!(
                "Read {}; then `skillopt backend accept {}` agrees, once.",
                self.address, self.provider
            ),
        )
    }
}

/// What the user has not agreed to of what the sides ask, each provider once.
#[must_use]
pub fn missing(roles: &Roles, accepted: &[String]) -> Vec<Terms> {
    let mut seen = BTreeSet::new();
    roles
        .each()
        .into_iter()
        .filter_map(|backend| backend.terms())
        .filter(|terms| !terms.accepted(accepted) && seen.insert(terms.provider.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_the_terms_of_who_runs_it() {
        for (host, address) in [
            (
                "api.openai.com",
                "https://openai.com/policies/services-agreement/",
            ),
            (
                "me.openai.azure.com",
                "https://www.microsoft.com/licensing/terms/product/ForOnlineServices/all",
            ),
            ("models.example.org:8443", "https://models.example.org"),
            (
                "api.openai.com.example.org",
                "https://api.openai.com.example.org",
            ),
        ] {
            assert_eq!(of_host("p".into(), host).address, address, "{host}");
        }
    }

    #[test]
    fn providers_are_known_by_their_names() {
        for name in ["claude", "Codex", "copilot", "cursor", "opencode", "pi"] {
            let terms = of_provider(name).unwrap();
            assert_eq!(terms.provider, name.to_ascii_lowercase());
            assert!(terms.address.starts_with("https://"), "{name}");
        }
        let server = of_provider("anthropic:api.anthropic.com").unwrap();
        assert_eq!(server.address, ANTHROPIC.address);
        for name in [
            "claud",
            "mock",
            "handoff",
            "anthropic",
            "anthropic:",
            "nobody:host",
            "anthropic:a,b",
            "",
        ] {
            assert_eq!(of_provider(name), None, "{name}");
        }
    }

    #[test]
    fn only_the_very_provider_is_agreed_to() {
        let terms = of_host("openai_compatible:one.example".into(), "one.example");
        let accepts = |word: &str| terms.accepted(&[word.to_owned()]);
        assert!(accepts("openai_compatible:one.example"));
        assert!(accepts(" OpenAI_compatible:One.example "));
        for other in ["openai_compatible", "openai_compatible:two.example", ""] {
            assert!(!accepts(other), "{other}");
        }
        let problem = terms.problem();
        assert!(problem.guidance.contains("https://one.example"));
        assert!(
            problem
                .guidance
                .contains("skillopt backend accept openai_compatible:one.example")
        );
    }
}
