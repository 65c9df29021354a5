//! From settings to the backends that are reached over HTTP.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::tz::TimeZone;
use skillopt_core::Problem;
use skillopt_settings::{Api, AzureAuth, Settings};

use super::{Choice, Surroundings, seconds};
use crate::api_key::ApiKey;
use crate::http::{self, Address, Credential, Manner, Options, Protocol, Thinking};
use crate::terms::Terms;
use crate::{anthropic, azure_openai, minimax, openai_compatible, qwen};

/// Whether a backend is reached over HTTP, so that it has an endpoint and may need a key.
pub(crate) fn is_server(kind: &str) -> bool {
    matches!(
        kind,
        openai_compatible::KIND | anthropic::KIND | azure_openai::KIND | qwen::KIND | minimax::KIND
    )
}

/// What the server of one side is made from.
///
/// Errors: `endpoint_…`, `api_key_…`, `thinking_conflict`, `azure_deployment_invalid`.
pub(super) fn options(
    choice: &Choice,
    settings: &Settings,
    around: &Surroundings<'_>,
) -> Result<Options, Problem> {
    let endpoint = endpoint(choice, settings, around.environment);
    let address = match choice.kind.as_str() {
        azure_openai::KIND => azure_openai::address(
            endpoint,
            &settings.azure_api_version,
            &choice.model,
            protocol(choice.api, &choice.model),
        )?,
        _ => Address::parse(endpoint)?,
    };
    let made = match choice.kind.as_str() {
        anthropic::KIND => of_anthropic(choice, around)?,
        azure_openai::KIND => of_azure(choice, settings, &address, around)?,
        qwen::KIND => of_qwen(choice, around)?,
        minimax::KIND => of_minimax(choice, around)?,
        _ => of_anybody(choice, around)?,
    };
    Ok(Options {
        kind: made.kind,
        address,
        credential: made.credential,
        protocol: made.protocol,
        manner: Manner {
            thinking: made.thinking,
            effort: choice.effort.clone(),
        },
        model: made.model,
        lists_models: made.kind != azure_openai::KIND,
        first_byte: seconds(settings.first_byte_seconds),
        whole: seconds(settings.call_seconds),
        clock: Arc::clone(&around.clock),
        zone: TimeZone::system(),
    })
}

/// What has to be agreed to before nights ask the server of one side, which may have no key yet. `None` for
/// one of this computer.
///
/// Errors: `endpoint_…`.
pub(super) fn terms(
    choice: &Choice,
    settings: &Settings,
    environment: &BTreeMap<String, String>,
) -> Result<Option<Terms>, Problem> {
    let address = Address::parse(endpoint(choice, settings, environment))?;
    Ok(http::terms(&choice.kind, &address))
}

/// Where the server is by the settings, else by a variable of the reference, else usually; empty when nobody
/// says.
fn endpoint<'a>(
    choice: &'a Choice,
    settings: &Settings,
    environment: &'a BTreeMap<String, String>,
) -> &'a str {
    let (variable, usual) = match choice.kind.as_str() {
        anthropic::KIND => return or(&choice.endpoint, anthropic::ENDPOINT),
        azure_openai::KIND => (azure_openai::ENDPOINT_VARIABLE, ""),
        qwen::KIND => (qwen::ENDPOINT_VARIABLE, qwen::ENDPOINT),
        minimax::KIND => (
            minimax::ENDPOINT_VARIABLE,
            minimax::endpoint(settings.region),
        ),
        _ => (openai_compatible::ENDPOINT_VARIABLE, ""),
    };
    or(&choice.endpoint, or(value(environment, variable), usual))
}

/// What differs between these backends.
struct Made {
    kind: &'static str,
    credential: Credential,
    protocol: Protocol,
    thinking: Thinking,
    model: String,
}

fn of_anybody(choice: &Choice, around: &Surroundings<'_>) -> Result<Made, Problem> {
    // Variables of the reference: address, key and model belong together.
    let from_variable = choice.endpoint.is_empty();
    let variable = |name| {
        if from_variable {
            value(around.environment, name)
        } else {
            ""
        }
    };
    let model = or(&choice.model, variable(openai_compatible::MODEL_VARIABLE));
    let usual = openai_compatible::KEY_VARIABLE;
    let key = if choice.key_variable.is_empty() && !variable(usual).is_empty() {
        lookup_key("the backend openai_compatible", usual, around)?
    } else {
        named_key(choice, around)?
    };
    Ok(Made {
        kind: openai_compatible::KIND,
        credential: Credential::bearer(key),
        protocol: protocol(choice.api, model),
        thinking: Thinking::ServerDefault,
        model: model.to_owned(),
    })
}

fn of_anthropic(choice: &Choice, around: &Surroundings<'_>) -> Result<Made, Problem> {
    let key = key_of_a_company(choice, anthropic::KIND, anthropic::KEY_VARIABLE, around)?;
    Ok(Made {
        kind: anthropic::KIND,
        credential: anthropic::credential(key),
        protocol: Protocol::Messages,
        thinking: Thinking::ServerDefault,
        model: or(&choice.model, anthropic::MODEL).to_owned(),
    })
}

fn of_qwen(choice: &Choice, around: &Surroundings<'_>) -> Result<Made, Problem> {
    let own_server = choice.endpoint.is_empty();
    let variable = qwen::KEY_VARIABLE;
    let key = if choice.key_variable.is_empty() && own_server && is_set(around, variable) {
        lookup_key("the backend qwen", variable, around)?
    } else {
        named_key(choice, around)?
    };
    Ok(Made {
        kind: qwen::KIND,
        credential: Credential::bearer(key),
        protocol: Protocol::Chat,
        thinking: qwen::thinking(choice.thinking, choice.legacy_thinking)?,
        model: or(&choice.model, qwen::MODEL).to_owned(),
    })
}

fn of_minimax(choice: &Choice, around: &Surroundings<'_>) -> Result<Made, Problem> {
    let key = key_of_a_company(choice, minimax::KIND, minimax::KEY_VARIABLE, around)?;
    let model = or(&choice.model, minimax::MODEL).to_owned();
    Ok(Made {
        kind: minimax::KIND,
        credential: Credential::bearer(key),
        protocol: Protocol::Chat,
        thinking: minimax::thinking(&model, choice.thinking),
        model,
    })
}

fn of_azure(
    choice: &Choice,
    settings: &Settings,
    address: &Address,
    around: &Surroundings<'_>,
) -> Result<Made, Problem> {
    let named = !choice.key_variable.is_empty();
    // The usual key is Azure's own; no other host is sent it because its address was typed in.
    let usual =
        is_set(around, azure_openai::KEY_VARIABLE) && address.accept_cloud_credential().is_ok();
    let credential = match settings.azure_auth {
        AzureAuth::Auto if named || usual => key_for_azure(choice, around)?,
        AzureAuth::Key => key_for_azure(choice, around)?,
        AzureAuth::Auto | AzureAuth::CommandLine => Credential::cloud(Arc::new(
            azure_openai::CommandLine::new(around.environment.clone(), Arc::clone(&around.clock)),
        )),
        AzureAuth::ManagedIdentity => {
            Credential::cloud(Arc::new(azure_openai::ManagedIdentity::new(
                around.environment,
                &settings.azure_client_id,
                Arc::clone(&around.clock),
            )?))
        }
    };
    Ok(Made {
        kind: azure_openai::KIND,
        credential,
        protocol: protocol(choice.api, &choice.model),
        thinking: Thinking::ServerDefault,
        model: choice.model.clone(),
    })
}

fn protocol(api: Api, model: &str) -> Protocol {
    match api {
        Api::Auto => openai_compatible::protocol_of(model),
        Api::Chat => Protocol::Chat,
        Api::Responses => Protocol::Responses,
    }
}

/// What a variable holds; empty when it is not set.
fn value<'a>(environment: &'a BTreeMap<String, String>, variable: &str) -> &'a str {
    let value = environment.get(variable);
    value.map_or("", |value| value.trim())
}

fn or<'a>(own: &'a str, usual: &'a str) -> &'a str {
    if own.is_empty() { usual } else { own }
}

fn is_set(around: &Surroundings<'_>, variable: &str) -> bool {
    !value(around.environment, variable).is_empty()
}

fn lookup_key(
    setting: &str,
    variable: &str,
    around: &Surroundings<'_>,
) -> Result<Option<ApiKey>, Problem> {
    ApiKey::from_setting(setting, variable, around.environment, around.keyring)
}

/// The key that the settings name.
fn named_key(choice: &Choice, around: &Surroundings<'_>) -> Result<Option<ApiKey>, Problem> {
    lookup_key(choice.key_setting, &choice.key_variable, around)
}

/// The key of a company, which has a usual variable. At an address of one's own only a key that was
/// named is sent, and none is needed.
fn key_of_a_company(
    choice: &Choice,
    kind: &str,
    usual: &str,
    around: &Surroundings<'_>,
) -> Result<Option<ApiKey>, Problem> {
    if choice.key_variable.is_empty() && choice.endpoint.is_empty() {
        return lookup_key(&format!("the backend {kind}"), usual, around);
    }
    named_key(choice, around)
}

fn key_for_azure(choice: &Choice, around: &Surroundings<'_>) -> Result<Credential, Problem> {
    let key = if choice.key_variable.is_empty() {
        lookup_key(
            "the backend azure_openai",
            azure_openai::KEY_VARIABLE,
            around,
        )?
    } else {
        named_key(choice, around)?
    };
    Ok(key.map_or(Credential::None, |key| Credential::Header("api-key", key)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use skillopt_core::call::Side;
    use skillopt_settings::{Region, Thinking as Wish};
    use skillopt_store::SystemClock;

    use super::*;
    use crate::cancel::CancelToken;
    use crate::keyring::Keyring;

    fn made(settings: &Settings, environment: &[(&str, &str)]) -> Result<Options, Problem> {
        let environment: BTreeMap<String, String> = environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let around = Surroundings {
            environment: &environment,
            keyring: &Keyring::nowhere(),
            handoff: PathBuf::new(),
            agents: None,
            clock: Arc::new(SystemClock),
            cancel: &CancelToken::new(),
        };
        options(&Choice::of(settings, Side::Target), settings, &around)
    }

    fn of(backend: &str) -> Settings {
        Settings {
            backend: backend.to_owned(),
            ..Settings::default()
        }
    }

    fn code(settings: &Settings, environment: &[(&str, &str)]) -> String {
        made(settings, environment).err().unwrap().code.into_owned()
    }

    #[test]
    fn companies_have_their_address_model_and_variable() {
        let anthropic = made(&of("anthropic"), &[("ANTHROPIC_API_KEY", "k")]).unwrap();
        assert_eq!(
            (anthropic.address.as_str(), anthropic.model.as_str()),
            ("https://api.anthropic.com/v1", "claude-sonnet-5-5")
        );
        assert!(matches!(
            anthropic.credential,
            Credential::Header("x-api-key", _)
        ));
        let minimax = |region| Settings {
            region,
            ..of("minimax")
        };
        for (region, address) in [
            (Region::Global, "https://api.minimax.io/v1"),
            (Region::China, "https://api.minimaxi.com/v1"),
        ] {
            let made = made(&minimax(region), &[("MINIMAX_API_KEY", "k")]).unwrap();
            assert_eq!(made.address.as_str(), address);
            assert_eq!(made.model, "MiniMax-M3");
            assert_eq!(made.manner.thinking, Thinking::Named("disabled"));
        }
        for backend in ["anthropic", "minimax"] {
            assert_eq!(code(&of(backend), &[]), "api_key_missing");
        }
    }

    #[test]
    fn the_usual_key_is_not_sent_to_an_address_that_was_typed_in() {
        let own = Settings {
            endpoint: "https://gateway.example/v1".into(),
            ..of("anthropic")
        };
        let with = made(&own, &[("ANTHROPIC_API_KEY", "k")]).unwrap();
        assert!(matches!(with.credential, Credential::None));
        let named = Settings {
            api_key_env: "GATEWAY_KEY".into(),
            ..own
        };
        let with = made(&named, &[("GATEWAY_KEY", "k")]).unwrap();
        assert!(matches!(
            with.credential,
            Credential::Header("x-api-key", _)
        ));
        // An explicit address beats the region, whatever the region says.
        let settings = Settings {
            endpoint: "https://gateway.example/v1".into(),
            region: Region::China,
            ..of("minimax")
        };
        let made = made(&settings, &[]).unwrap();
        assert_eq!(made.address.as_str(), "https://gateway.example/v1");
    }

    #[test]
    fn variables_of_the_reference_name_address_key_and_model_where_the_settings_do_not() {
        let variables = [
            ("OPENAI_COMPATIBLE_BASE_URL", "https://gateway.example/v1"),
            ("OPENAI_COMPATIBLE_API_KEY", "k"),
            ("OPENAI_COMPATIBLE_MODEL", "small"),
            ("QWEN_CHAT_BASE_URL", "http://127.0.0.1:9000/v1"),
            ("MINIMAX_BASE_URL", "https://minimax.example/v1"),
            ("MINIMAX_API_KEY", "k"),
        ];
        for (backend, address, model, key) in [
            (
                "openai_compatible",
                "https://gateway.example/v1",
                "small",
                true,
            ),
            ("qwen", "http://127.0.0.1:9000/v1", "Qwen/Qwen3.5-4B", false),
            ("minimax", "https://minimax.example/v1", "MiniMax-M3", true),
        ] {
            let by_variables = made(&of(backend), &variables).unwrap();
            assert_eq!(by_variables.address.as_str(), address);
            assert_eq!(by_variables.model, model);
            assert_eq!(!matches!(by_variables.credential, Credential::None), key);
            // What the settings say wins, and no key of a variable goes there.
            let own = Settings {
                endpoint: "https://own.example/v1".into(),
                ..of(backend)
            };
            let own = made(&own, &variables).unwrap();
            assert_eq!(own.address.as_str(), "https://own.example/v1");
            assert!(matches!(own.credential, Credential::None), "{backend}");
        }
    }

    #[test]
    fn qwen_needs_no_key_and_knows_three_states() {
        let made_of = |settings: &Settings| made(settings, &[]).unwrap();
        let plain = made_of(&of("qwen"));
        assert_eq!(plain.address.as_str(), "http://localhost:8000/v1");
        assert_eq!(plain.model, "Qwen/Qwen3.5-4B");
        assert_eq!(plain.manner.thinking, Thinking::ServerDefault);
        let off = Settings {
            thinking: Wish::Disabled,
            ..of("qwen")
        };
        assert_eq!(made_of(&off).manner.thinking, Thinking::Template(false));
        let conflict = Settings {
            enable_thinking: skillopt_settings::LegacyThinking::On,
            ..off
        };
        assert_eq!(code(&conflict, &[]), "thinking_conflict");
    }

    #[test]
    fn azure_takes_a_key_or_an_account() {
        let azure = Settings {
            endpoint: "https://me.openai.azure.com".into(),
            model: "gpt-4o".into(),
            ..of("azure_openai")
        };
        let with = |auth: AzureAuth, environment: &[(&str, &str)]| {
            let settings = Settings {
                azure_auth: auth,
                ..azure.clone()
            };
            made(&settings, environment).map(|made| made.credential)
        };
        let usual = [("AZURE_OPENAI_API_KEY", "k")];
        assert!(matches!(
            with(AzureAuth::Auto, &usual).unwrap(),
            Credential::Header("api-key", _)
        ));
        assert!(matches!(
            with(AzureAuth::Auto, &[]).unwrap(),
            Credential::Cloud(_)
        ));
        for auth in [AzureAuth::CommandLine, AzureAuth::ManagedIdentity] {
            assert!(matches!(with(auth, &usual).unwrap(), Credential::Cloud(_)));
        }
        assert_eq!(
            with(AzureAuth::Key, &[]).unwrap_err().code,
            "api_key_missing"
        );
        let nowhere = Settings {
            endpoint: String::new(),
            ..azure.clone()
        };
        assert_eq!(code(&nowhere, &[]), "endpoint_invalid");
        let variable = [("AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com")];
        assert_eq!(
            made(&nowhere, &variable).unwrap().address.as_str(),
            "https://me.openai.azure.com/openai/v1"
        );
    }

    #[test]
    fn a_token_of_an_account_goes_to_the_cloud_alone() {
        for endpoint in ["http://127.0.0.1:8080", "https://evil.example"] {
            let settings = Settings {
                endpoint: endpoint.into(),
                model: "gpt-4o".into(),
                ..of("azure_openai")
            };
            let options = made(&settings, &[("AZURE_OPENAI_API_KEY", "k")]).unwrap();
            let problem = crate::http::Server::new(options).err().unwrap();
            assert_eq!(problem.code, "endpoint_not_trusted", "{endpoint}");
        }
    }

    #[test]
    fn models_without_chat_completions_are_asked_with_responses() {
        let protocol_with = |api: Api, model: &str| {
            let settings = Settings {
                endpoint: "https://api.example/v1".into(),
                model: model.into(),
                api,
                ..of("openai_compatible")
            };
            made(&settings, &[]).unwrap().protocol
        };
        for (api, model, protocol) in [
            (Api::Auto, "gpt-5.1-codex", Protocol::Responses),
            (Api::Auto, "gpt-5.1", Protocol::Chat),
            (Api::Chat, "gpt-5.1-codex", Protocol::Chat),
            (Api::Responses, "gpt-5.1", Protocol::Responses),
        ] {
            assert_eq!(protocol_with(api, model), protocol);
        }
    }
}
