//! Azure OpenAI: the protocols of OpenAI on a resource of one's own, with a key or with the account
//! that the Azure command line, or the machine itself, is signed in to.
//!
//! A token of such an account opens more than this resource. It is only sent encrypted, and only to
//! a host of Azure; see [`Address::accept_cloud_credential`].

mod command_line;
mod managed_identity;

use skillopt_core::Problem;

use crate::http::{Address, Protocol};

pub use command_line::CommandLine;
pub use managed_identity::ManagedIdentity;

/// The `kind` of this backend.
pub const KIND: &str = "azure_openai";

/// The variable of the key when none is named.
pub const KEY_VARIABLE: &str = "AZURE_OPENAI_API_KEY";
/// The variable of the endpoint when none is set.
pub const ENDPOINT_VARIABLE: &str = "AZURE_OPENAI_ENDPOINT";

/// What a token is for.
const RESOURCE: &str = "https://cognitiveservices.azure.com";

/// Where a deployment is asked. Without an API version it is today's interface, which needs none and
/// takes the deployment for the model; with one it is the older interface of that version.
///
/// # Errors
/// `endpoint_invalid`, and `azure_deployment_invalid` for a name no deployment can have.
pub fn address(
    endpoint: &str,
    api_version: &str,
    deployment: &str,
    protocol: Protocol,
) -> Result<Address, Problem> {
    let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if deployment.is_empty() || !deployment.chars().all(usual) || deployment.starts_with('.') {
        return Err(Problem::refused(
            "azure_deployment_invalid",
            "models.model does not hold the name of a deployment of your Azure OpenAI resource.",
            "Set models.model to the deployment's name, as the portal lists it.",
        ));
    }
    let written = endpoint.trim().trim_end_matches('/');
    let written = written.strip_suffix("/openai").unwrap_or(written);
    let address = Address::parse_below(written, "openai/v1")?;
    Ok(match (api_version.trim(), protocol) {
        ("", _) => address,
        (version, Protocol::Chat) => {
            let path = format!("/openai/deployments/{deployment}");
            address.with_path_and_query(&path, "api-version", version)
        }
        (version, Protocol::Responses | Protocol::Messages) => {
            address.with_path_and_query("/openai", "api-version", version)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn todays_interface_and_the_older_ones() {
        let of = |endpoint: &str, version: &str, protocol: Protocol| {
            address(endpoint, version, "gpt-4o", protocol)
                .unwrap()
                .as_str()
                .to_owned()
        };
        for written in [
            "https://me.openai.azure.com",
            "https://me.openai.azure.com/",
            "https://me.openai.azure.com/openai",
            "https://me.openai.azure.com/openai/v1/",
        ] {
            assert_eq!(
                of(written, "", Protocol::Chat),
                "https://me.openai.azure.com/openai/v1",
                "{written}"
            );
        }
        assert_eq!(
            of(
                "https://me.openai.azure.com",
                "2024-12-01-preview",
                Protocol::Chat
            ),
            "https://me.openai.azure.com/openai/deployments/gpt-4o"
        );
        assert_eq!(
            of(
                "https://me.openai.azure.com",
                "2025-04-01-preview",
                Protocol::Responses
            ),
            "https://me.openai.azure.com/openai"
        );
        for deployment in ["", "..", "a/b", "a?b", "a b"] {
            let problem = address(
                "https://me.openai.azure.com",
                "",
                deployment,
                Protocol::Chat,
            );
            let problem = problem.unwrap_err();
            assert_eq!(problem.code, "azure_deployment_invalid");
            assert!(problem.refused, "as any other setting that cannot be used");
        }
    }
}
