//! What a server understands, learned from what it refuses.

use skillopt_core::call::Call;

use super::said::Said;

/// How a structured reply is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Structure {
    /// With the schema.
    Schema,
    /// As any JSON object.
    Object,
    /// By the prompt alone.
    Words,
}

/// What a server understands. Begins with everything; every refusal that names a field takes that
/// field away for the rest of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) structure: Structure,
    pub(super) stream: bool,
    pub(super) stream_usage: bool,
    pub(super) temperature: bool,
    pub(super) system_role: bool,
    pub(super) completion_tokens: bool,
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
                "text.format",
                "output_config",
                "output_format",
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
