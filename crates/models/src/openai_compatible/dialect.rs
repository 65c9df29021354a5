//! What a server understands of Chat Completions, learned from what it refuses.

use serde_json::{Map, Value, json};
use skillopt_core::call::{Call, Message, Role};

use super::failure::Said;

/// How a structured reply is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Structure {
    /// `response_format` with the schema.
    Schema,
    /// `response_format` with `json_object`.
    Object,
    /// By the prompt alone.
    Words,
}

/// What a server understands. Begins with everything; every refusal that names a field takes that
/// field away for the rest of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    structure: Structure,
    stream: bool,
    stream_usage: bool,
    temperature: bool,
    system_role: bool,
    completion_tokens: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            structure: Structure::Schema,
            stream: true,
            stream_usage: true,
            temperature: true,
            system_role: true,
            completion_tokens: false,
        }
    }
}

impl Dialect {
    /// The request for `call` in this dialect.
    pub(super) fn request(&self, call: &Call) -> Value {
        let mut body = Map::new();
        body.insert("model".into(), call.backend.model.clone().into());
        body.insert("messages".into(), self.messages(&call.messages));
        let limit = if self.completion_tokens {
            "max_completion_tokens"
        } else {
            "max_tokens"
        };
        body.insert(limit.into(), call.params.max_tokens.into());
        if let Some(temperature) = call.params.temperature.filter(|_| self.temperature) {
            body.insert("temperature".into(), json!(temperature));
        }
        if let Some(schema) = &call.params.schema {
            match self.structure {
                Structure::Schema => {
                    body.insert(
                        "response_format".into(),
                        json!({
                            "type": "json_schema",
                            "json_schema": { "name": "reply", "strict": true, "schema": schema },
                        }),
                    );
                }
                Structure::Object => {
                    body.insert("response_format".into(), json!({ "type": "json_object" }));
                }
                Structure::Words => {}
            }
        }
        if self.stream {
            body.insert("stream".into(), true.into());
            if self.stream_usage {
                body.insert("stream_options".into(), json!({ "include_usage": true }));
            }
        }
        Value::Object(body)
    }

    fn messages(&self, messages: &[Message]) -> Value {
        let as_json = |role: &str, text: &str| json!({ "role": role, "content": text });
        let mut rendered = Vec::with_capacity(messages.len());
        let mut standing = String::new();
        for message in messages {
            let role = match message.role {
                Role::System => "system",
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            if self.system_role || message.role == Role::Assistant {
                rendered.push(as_json(role, &message.text));
            } else if message.role == Role::System {
                standing.push_str(&message.text);
                standing.push_str("\n\n");
            } else {
                rendered.push(as_json(role, &format!("{standing}{}", message.text)));
                standing.clear();
            }
        }
        if !standing.is_empty() {
            rendered.push(as_json("user", standing.trim_end()));
        }
        Value::Array(rendered)
    }

    /// Whether replies are asked for piece by piece.
    pub(super) const fn streams(&self) -> bool {
        self.stream
    }

    /// The same without streaming.
    pub(super) const fn without_stream(mut self) -> Self {
        self.stream = false;
        self
    }

    /// What to leave out after the server has refused `call` with 400 or 422; `None` when nothing
    /// that it named can be left out.
    pub(super) fn without_what_it_named(self, call: &Call, said: &Said) -> Option<Self> {
        let text = said.everything().to_ascii_lowercase();
        let names = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let mut next = self;
        if call.params.schema.is_some()
            && self.structure != Structure::Words
            && names(&[
                "response_format",
                "json_schema",
                "json_object",
                "guided_json",
            ])
        {
            next.structure = match self.structure {
                Structure::Schema => Structure::Object,
                Structure::Object | Structure::Words => Structure::Words,
            };
        } else if !self.completion_tokens && names(&["max_completion_tokens"]) {
            next.completion_tokens = true;
        } else if self.stream && self.stream_usage && names(&["stream_options", "include_usage"]) {
            next.stream_usage = false;
        } else if self.stream && names(&["stream"]) {
            next.stream = false;
        } else if call.params.temperature.is_some() && self.temperature && names(&["temperature"]) {
            next.temperature = false;
        } else if self.system_role && names(&["system role", "system message", "role 'system'"]) {
            next.system_role = false;
        }
        (next != self).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_core::call::{BackendId, Params, Subject};

    fn call() -> Call {
        let message = |role, text: &str| Message {
            role,
            text: text.into(),
        };
        Call {
            backend: BackendId {
                kind: "openai_compatible".into(),
                address: "http://127.0.0.1/v1".into(),
                model: "m".into(),
                version: String::new(),
                system_mode: "system_role".into(),
            },
            subject: Subject::Judge {
                intent: String::new(),
                rubric: String::new(),
                response: String::new(),
            },
            messages: vec![
                message(Role::System, "Be brief."),
                message(Role::User, "Hi"),
            ],
            params: Params {
                max_tokens: 64,
                temperature: Some(0.5),
                schema: Some(json!({ "type": "object" })),
            },
            sample: 0,
            ask: 0,
        }
    }

    #[test]
    fn the_first_request_asks_for_everything() {
        let expected = json!({
            "model": "m",
            "messages": [
                { "role": "system", "content": "Be brief." },
                { "role": "user", "content": "Hi" },
            ],
            "max_tokens": 64,
            "temperature": 0.5,
            "response_format": {
                "type": "json_schema",
                "json_schema": { "name": "reply", "strict": true, "schema": { "type": "object" } },
            },
            "stream": true,
            "stream_options": { "include_usage": true },
        });
        assert_eq!(Dialect::default().request(&call()), expected);
    }

    #[test]
    fn each_refusal_takes_away_what_it_names_and_nothing_else() {
        // Wordings of OpenAI, DeepSeek, LM Studio and vLLM.
        type Step = (&'static str, fn(&Value) -> bool);
        let steps: [Step; 7] = [
            ("This response_format type is unavailable now", |body| {
                body["response_format"]["type"] == "json_object"
            }),
            (
                "'response_format.type' must be 'json_schema' or 'text'",
                |body| body.get("response_format").is_none(),
            ),
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                |body| body["max_completion_tokens"] == 64 && body.get("max_tokens").is_none(),
            ),
            ("unknown field: stream_options", |body| {
                body["stream"] == true && body.get("stream_options").is_none()
            }),
            ("streaming is not supported", |body| {
                body.get("stream").is_none()
            }),
            (
                "Unsupported value: 'temperature' does not support 0.5 with this model.",
                |body| body.get("temperature").is_none(),
            ),
            ("System role not supported", |body| {
                body["messages"] == json!([{ "role": "user", "content": "Be brief.\n\nHi" }])
            }),
        ];
        let mut dialect = Dialect::default();
        for (message, holds) in steps {
            let said = Said::read(&json!({ "error": { "message": message } }).to_string());
            dialect = dialect
                .without_what_it_named(&call(), &said)
                .unwrap_or_else(|| panic!("{message}"));
            assert!(holds(&dialect.request(&call())), "{message}");
        }
        let said =
            Said::read(r#"{"error":{"message":"bad stream, temperature, response_format"}}"#);
        assert_eq!(dialect.without_what_it_named(&call(), &said), None);
    }
}
