//! Who is asked on each side, and how: what the settings say of the side itself, else of the night.

use std::collections::BTreeSet;

use skillopt_core::call::Side;
use skillopt_settings::{Api, LegacyThinking, Settings, Thinking};

use super::servers;
use crate::{cassette, handoff, mock, persona_sim};

/// Who answers on one side, resolved.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    pub(crate) kind: String,
    pub(crate) model: String,
    /// Empty for the backend's own.
    pub(crate) endpoint: String,
    /// The variable that holds the key; empty for the backend's own.
    pub(crate) key_variable: String,
    /// The setting that names it.
    pub(crate) key_setting: &'static str,
    /// Empty for the model's own choice.
    pub(crate) effort: String,
    pub(crate) api: Api,
    pub(crate) thinking: Thinking,
    /// The older switch, which counts where the side has no word of its own.
    pub(crate) legacy_thinking: LegacyThinking,
    /// `None` for the model's own choice.
    pub(crate) temperature: Option<f64>,
    /// Tokens that the model reads and writes at most; 0 for what is known of it.
    pub(crate) context_tokens: u64,
    /// Tokens of a reply at most; 0 for what its purpose needs.
    pub(crate) reply_tokens: u32,
}

impl Choice {
    /// A side that says nothing is as the whole night is, and the judge as the optimizer. Model and
    /// effort are inherited with the backend only: another one would not know them.
    pub(super) fn of(settings: &Settings, side: Side) -> Self {
        let own = Self::own(settings, side);
        let night = Self::of_night(settings);
        let (general, served) = match side {
            Side::Target | Side::Optimizer => (night, None),
            Side::Judge => {
                let optimizer = Self::of(settings, Side::Optimizer);
                if own.kind.is_empty() || own.kind == optimizer.kind {
                    (optimizer, Some(true))
                } else {
                    (night, None)
                }
            }
        };
        let kind = or(&own.kind, &general.kind, true);
        let served = served.unwrap_or_else(|| is_served(settings, &kind));
        own.over(&general, served)
    }

    /// The judge when `kind` is found for it: with no address, key or model but its own.
    pub(super) fn found(settings: &Settings, kind: &str) -> Self {
        let own = Self {
            kind: kind.to_owned(),
            ..Self::own(settings, Side::Judge)
        };
        own.over(&Self::of(settings, Side::Optimizer), false)
    }

    /// Whether the user has said who mines and proposes, or who judges.
    pub(super) fn judge_was_chosen(settings: &Settings) -> bool {
        [Side::Optimizer, Side::Judge].iter().any(|side| {
            let own = Self::own(settings, *side);
            !(own.kind.is_empty() && own.model.is_empty() && own.endpoint.is_empty())
        })
    }

    /// Every side's, those that are equal in everything together.
    pub(super) fn distinct(settings: &Settings) -> Vec<(Self, Vec<Side>)> {
        let mut distinct: Vec<(Self, Vec<Side>)> = Vec::new();
        for side in Side::ALL {
            let choice = Self::of(settings, side);
            match distinct.iter_mut().find(|(known, _)| *known == choice) {
                Some((_, sides)) => sides.push(side),
                None => distinct.push((choice, vec![side])),
            }
        }
        distinct
    }

    /// Own words first, then those of `general`; its address and key only where `served`.
    fn over(self, general: &Self, served: bool) -> Self {
        let kind = or(&self.kind, &general.kind, true);
        let inherits = kind == general.kind;
        let own_thinking = self.thinking != Thinking::Unset;
        Self {
            model: or(&self.model, &general.model, inherits),
            endpoint: or(&self.endpoint, &general.endpoint, served),
            key_setting: if self.key_variable.is_empty() {
                general.key_setting
            } else {
                self.key_setting
            },
            key_variable: or(&self.key_variable, &general.key_variable, served),
            effort: or(&self.effort, &general.effort, inherits),
            api: match self.api {
                Api::Auto => general.api,
                own @ (Api::Chat | Api::Responses) => own,
            },
            thinking: if own_thinking {
                self.thinking
            } else {
                general.thinking
            },
            legacy_thinking: if own_thinking {
                LegacyThinking::Unset
            } else {
                general.legacy_thinking
            },
            temperature: self.temperature.or(general.temperature),
            context_tokens: match self.context_tokens {
                0 => general.context_tokens,
                own => own,
            },
            reply_tokens: match self.reply_tokens {
                0 => general.reply_tokens,
                own => own,
            },
            kind,
        }
    }

    /// What the settings say of the whole night.
    fn of_night(settings: &Settings) -> Self {
        Self {
            kind: settings.backend.clone(),
            model: settings.model.trim().to_owned(),
            endpoint: settings.endpoint.trim().to_owned(),
            key_variable: settings.api_key_env.trim().to_owned(),
            key_setting: "models.api_key_env",
            effort: settings.reasoning_effort.trim().to_owned(),
            api: settings.api,
            thinking: settings.thinking,
            legacy_thinking: settings.enable_thinking,
            temperature: settings.temperature,
            context_tokens: settings.context_tokens,
            reply_tokens: settings.reply_tokens,
        }
    }

    /// What they say of one side alone.
    fn own(settings: &Settings, side: Side) -> Self {
        let text = |target: &String, optimizer: &String, judge: &String| {
            let own = match side {
                Side::Target => target,
                Side::Optimizer => optimizer,
                Side::Judge => judge,
            };
            own.trim().to_owned()
        };
        let s = settings;
        let (key_setting, api, thinking, temperature, context_tokens, reply_tokens) = match side {
            Side::Target => (
                "models.target_api_key_env",
                s.target_api,
                s.target_thinking,
                s.target_temperature,
                // Attempts are never cut.
                0,
                s.target_reply_tokens,
            ),
            Side::Optimizer => (
                "models.optimizer_api_key_env",
                s.optimizer_api,
                s.optimizer_thinking,
                s.optimizer_temperature,
                s.optimizer_context_tokens,
                s.optimizer_reply_tokens,
            ),
            Side::Judge => (
                "models.judge_api_key_env",
                s.judge_api,
                s.judge_thinking,
                s.judge_temperature,
                s.judge_context_tokens,
                s.judge_reply_tokens,
            ),
        };
        Self {
            kind: text(&s.target_backend, &s.optimizer_backend, &s.judge_backend),
            model: text(&s.target_model, &s.optimizer_model, &s.judge_model),
            endpoint: text(&s.target_endpoint, &s.optimizer_endpoint, &s.judge_endpoint),
            key_variable: text(
                &s.target_api_key_env,
                &s.optimizer_api_key_env,
                &s.judge_api_key_env,
            ),
            effort: text(
                &s.target_reasoning_effort,
                &s.optimizer_reasoning_effort,
                &s.judge_reasoning_effort,
            ),
            key_setting,
            api,
            thinking,
            legacy_thinking: LegacyThinking::Unset,
            temperature,
            context_tokens,
            reply_tokens,
        }
    }
}

fn or(own: &str, general: &str, is_for_it: bool) -> String {
    match own {
        "" if is_for_it => general.to_owned(),
        own => own.to_owned(),
    }
}

/// Whether the endpoint and key of the whole night are for the backend `kind`. With two providers they
/// are one's only: a key must not be sent to another company. A server has the better claim than a
/// program that is signed in by itself, and the night's own backend than another.
fn is_served(settings: &Settings, kind: &str) -> bool {
    let sides = [
        &settings.target_backend,
        &settings.optimizer_backend,
        &settings.judge_backend,
    ];
    // A judge without a word of its own is no other provider than the optimizer.
    let named = sides.iter().enumerate().filter_map(|(place, side)| {
        let kind = match (place, side.is_empty()) {
            (_, false) => side.as_str(),
            (2, true) => return None,
            (_, true) => settings.backend.as_str(),
        };
        takes_key(kind).then_some(kind)
    });
    let used: BTreeSet<&str> = named.collect();
    let servers: BTreeSet<&str> = used
        .iter()
        .copied()
        .filter(|kind| servers::is_server(kind))
        .collect();
    let claiming = if servers.is_empty() { used } else { servers };
    match claiming.len() {
        0 => true,
        1 => claiming.contains(kind),
        _ => kind == settings.backend,
    }
}

fn takes_key(kind: &str) -> bool {
    !matches!(
        kind,
        mock::KIND | persona_sim::KIND | handoff::KIND | cassette::KIND
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{claude, codex, openai_compatible};

    fn of(backend: &str) -> Settings {
        Settings {
            backend: backend.to_owned(),
            ..Settings::default()
        }
    }

    #[test]
    fn a_model_is_inherited_with_its_backend_only() {
        let settings = Settings {
            model: "m".into(),
            target_backend: claude::KIND.into(),
            optimizer_model: "o".into(),
            ..of(openai_compatible::KIND)
        };
        let target = Choice::of(&settings, Side::Target);
        assert_eq!(
            (target.kind.as_str(), target.model.as_str()),
            ("claude", "")
        );
        let optimizer = Choice::of(&settings, Side::Optimizer);
        assert_eq!(
            (optimizer.kind.as_str(), optimizer.model.as_str()),
            ("openai_compatible", "o")
        );
        let inherited = Settings {
            optimizer_model: String::new(),
            ..settings
        };
        assert_eq!(Choice::of(&inherited, Side::Optimizer).model, "m");
    }

    #[test]
    fn a_judge_is_the_optimizer_unless_it_has_words_of_its_own() {
        let settings = Settings {
            model: "m".into(),
            optimizer_model: "o".into(),
            optimizer_endpoint: "https://b.example/v1".into(),
            optimizer_api_key_env: "B_KEY".into(),
            optimizer_reasoning_effort: "high".into(),
            ..of(openai_compatible::KIND)
        };
        assert_eq!(
            Choice::of(&settings, Side::Judge),
            Choice::of(&settings, Side::Optimizer)
        );
        let sides = |settings: &Settings| -> Vec<Vec<Side>> {
            let distinct = Choice::distinct(settings);
            distinct.into_iter().map(|(_, sides)| sides).collect()
        };
        assert_eq!(
            sides(&settings),
            [vec![Side::Target], vec![Side::Optimizer, Side::Judge]]
        );
        assert_eq!(sides(&of("claude")), [Side::ALL.to_vec()]);
        let another_model = Settings {
            judge_model: "j".into(),
            judge_temperature: Some(0.0),
            ..settings.clone()
        };
        let judge = Choice::of(&another_model, Side::Judge);
        assert_eq!(judge.model, "j");
        assert_eq!(judge.temperature, Some(0.0));
        assert_eq!(
            (judge.endpoint.as_str(), judge.key_variable.as_str()),
            ("https://b.example/v1", "B_KEY")
        );
        let another_backend = Settings {
            judge_backend: codex::KIND.into(),
            ..settings
        };
        let judge = Choice::of(&another_backend, Side::Judge);
        assert_eq!(
            (
                judge.kind.as_str(),
                judge.model.as_str(),
                judge.effort.as_str()
            ),
            ("codex", "", "")
        );
        assert_eq!(
            (judge.endpoint.as_str(), judge.key_variable.as_str()),
            ("", "")
        );
    }

    #[test]
    fn who_was_chosen_is_told_from_who_was_only_tuned() {
        assert!(!Choice::judge_was_chosen(&Settings {
            target_model: "t".into(),
            judge_temperature: Some(0.0),
            optimizer_reasoning_effort: "high".into(),
            ..of("claude")
        }));
        for settings in [
            Settings {
                optimizer_backend: "codex".into(),
                ..of("claude")
            },
            Settings {
                optimizer_model: "opus".into(),
                ..of("claude")
            },
            Settings {
                judge_model: "opus".into(),
                ..of("claude")
            },
            Settings {
                judge_endpoint: "https://j.example/v1".into(),
                ..of("qwen")
            },
        ] {
            assert!(Choice::judge_was_chosen(&settings));
        }
    }

    #[test]
    fn a_judge_that_was_found_gets_nobody_elses_key() {
        let settings = Settings {
            model: "opus".into(),
            api_key_env: "A_KEY".into(),
            reasoning_effort: "max".into(),
            temperature: Some(0.2),
            judge_reasoning_effort: "low".into(),
            ..of("claude")
        };
        let judge = Choice::found(&settings, codex::KIND);
        assert_eq!(
            (
                judge.model.as_str(),
                judge.key_variable.as_str(),
                judge.endpoint.as_str()
            ),
            ("", "", "")
        );
        assert_eq!(
            (judge.effort.as_str(), judge.temperature),
            ("low", Some(0.2))
        );
    }

    #[test]
    fn a_key_goes_to_one_provider_only() {
        let shared = |backend: &str, target: &str, optimizer: &str, judge: &str| {
            let settings = Settings {
                endpoint: "https://a.example/v1".into(),
                api_key_env: "A_KEY".into(),
                target_backend: target.into(),
                optimizer_backend: optimizer.into(),
                judge_backend: judge.into(),
                ..of(backend)
            };
            Side::ALL.map(|side| {
                let choice = Choice::of(&settings, side);
                assert_eq!(choice.endpoint.is_empty(), choice.key_variable.is_empty());
                !choice.key_variable.is_empty()
            })
        };
        for (backend, target, optimizer, judge, expected) in [
            ("openai_compatible", "", "", "", [true, true, true]),
            ("claude", "", "", "", [true, true, true]),
            ("openai_compatible", "claude", "", "", [false, true, true]),
            ("claude", "openai_compatible", "", "", [true, false, false]),
            (
                "openai_compatible",
                "claude",
                "claude",
                "",
                [true, true, true],
            ),
            ("anthropic", "qwen", "", "", [false, true, true]),
            ("claude", "qwen", "anthropic", "", [false, false, false]),
            ("claude", "", "codex", "", [true, false, false]),
            ("claude", "", "", "codex", [true, true, false]),
            ("claude", "mock", "", "", [false, true, true]),
            ("mock", "mock", "claude", "", [false, true, true]),
            ("anthropic", "", "", "qwen", [true, true, false]),
            ("claude", "", "", "anthropic", [false, false, true]),
            ("anthropic", "", "codex", "anthropic", [true, false, true]),
        ] {
            assert_eq!(
                shared(backend, target, optimizer, judge),
                expected,
                "{backend} {target} {optimizer} {judge}"
            );
        }
    }

    #[test]
    fn each_side_has_its_own_server_key_and_parameters() {
        let settings = Settings {
            endpoint: "https://a.example/v1".into(),
            api_key_env: "A_KEY".into(),
            reasoning_effort: "low".into(),
            temperature: Some(0.5),
            context_tokens: 4_096,
            reply_tokens: 900,
            thinking: Thinking::Enabled,
            enable_thinking: LegacyThinking::On,
            target_temperature: Some(0.0),
            target_reply_tokens: 700,
            optimizer_endpoint: "https://b.example/v1".into(),
            optimizer_api_key_env: "B_KEY".into(),
            optimizer_reasoning_effort: "high".into(),
            optimizer_api: Api::Responses,
            optimizer_context_tokens: 100_000,
            judge_thinking: Thinking::Disabled,
            ..of(openai_compatible::KIND)
        };
        let [target, optimizer, judge] = Side::ALL.map(|side| Choice::of(&settings, side));
        assert_eq!(
            target,
            Choice {
                kind: openai_compatible::KIND.into(),
                model: String::new(),
                endpoint: "https://a.example/v1".into(),
                key_variable: "A_KEY".into(),
                key_setting: "models.api_key_env",
                effort: "low".into(),
                api: Api::Auto,
                thinking: Thinking::Enabled,
                legacy_thinking: LegacyThinking::On,
                temperature: Some(0.0),
                context_tokens: 4_096,
                reply_tokens: 700,
            }
        );
        assert_eq!(
            optimizer,
            Choice {
                endpoint: "https://b.example/v1".into(),
                key_variable: "B_KEY".into(),
                key_setting: "models.optimizer_api_key_env",
                effort: "high".into(),
                api: Api::Responses,
                temperature: Some(0.5),
                context_tokens: 100_000,
                reply_tokens: 900,
                ..target
            }
        );
        assert_eq!(
            judge,
            Choice {
                thinking: Thinking::Disabled,
                legacy_thinking: LegacyThinking::Unset,
                ..optimizer
            }
        );
    }
}
