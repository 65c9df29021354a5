//! What the server can do instead of answering.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Ending, Request};

/// Chooses by the request.
pub type Decision = Arc<dyn Fn(&Request) -> Behaviour + Send + Sync>;

/// What is done with one request.
#[derive(Clone)]
pub enum Behaviour {
    /// The brain answers, streamed if that was asked for.
    Answer,
    /// This text answers.
    Reply(String),
    /// This text answers in one JSON object, streaming or not.
    Whole(String),
    /// A reply in one JSON object, streaming or not, that ends like this and calls itself this.
    Said {
        /// The text.
        text: String,
        /// How it ends.
        ending: Ending,
        /// What the content is said to be.
        content_type: &'static str,
    },
    /// Calls these tools, each with its arguments, and says nothing; streamed if that was asked for.
    Calls(Vec<(String, Value)>),
    /// Waits, then goes on.
    Delay(Duration, Box<Self>),
    /// An error, or anything else that is all there at once.
    Response {
        /// Status code.
        status: u16,
        /// Headers besides length and connection.
        headers: Vec<(&'static str, String)>,
        /// Body.
        body: Vec<u8>,
    },
    /// Sends nothing, for this long.
    Silence(Duration),
    /// Sends headers, then a comment at this pace and never a word of a reply.
    SlowLoris(Duration),
    /// Sends headers, then an event that says nothing at this pace, and never a word of a reply.
    Pings(Duration),
    /// Breaks the connection off in the middle of the reply.
    CutStream,
    /// Breaks the connection off without a word.
    Close,
    /// Sends a body without end.
    Endless,
    /// Decides when the request is there.
    Decide(Decision),
}

impl Behaviour {
    /// An error in OpenAI's form.
    #[must_use]
    pub fn error(status: u16, message: &str, code: &str) -> Self {
        Self::json(
            status,
            &json!({ "error": { "message": message, "type": "invalid_request_error", "param": null, "code": code } }),
        )
    }

    /// Any JSON.
    #[must_use]
    pub fn json(status: u16, body: &Value) -> Self {
        Self::Response {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            body: body.to_string().into_bytes(),
        }
    }

    /// Calls these tools without arguments.
    #[must_use]
    pub fn calls(tools: &[&str]) -> Self {
        Self::Calls(
            tools
                .iter()
                .map(|&tool| (tool.to_owned(), json!({})))
                .collect(),
        )
    }

    /// 401.
    #[must_use]
    pub fn unauthorized() -> Self {
        Self::error(401, "Incorrect API key provided.", "invalid_api_key")
    }

    /// 403.
    #[must_use]
    pub fn forbidden() -> Self {
        Self::error(403, "Your key has been disabled.", "forbidden")
    }

    /// 403 for the model.
    #[must_use]
    pub fn forbidden_model() -> Self {
        Self::error(403, "Your account may not use this model.", "forbidden")
    }

    /// 404 for the model.
    #[must_use]
    pub fn no_such_model() -> Self {
        Self::error(
            404,
            "The model `stub-model` does not exist.",
            "model_not_found",
        )
    }

    /// 413.
    #[must_use]
    pub fn too_large() -> Self {
        Self::error(413, "Request too large.", "request_too_large")
    }

    /// 400 because the prompt is too long.
    #[must_use]
    pub fn too_long() -> Self {
        Self::error(
            400,
            "This model's maximum context length is 4096 tokens.",
            "context_length_exceeded",
        )
    }

    /// 429 of a busy server, with or without `Retry-After`.
    #[must_use]
    pub fn rate_limited(retry_after: Option<&str>) -> Self {
        Self::error(429, "Too many requests.", "rate_limit_exceeded")
            .with_header("retry-after", retry_after)
    }

    /// 429 of a plan that is used up.
    #[must_use]
    pub fn out_of_quota(retry_after: Option<&str>) -> Self {
        Self::error(
            429,
            "You exceeded your current quota, please check your plan and billing details.",
            "insufficient_quota",
        )
        .with_header("retry-after", retry_after)
    }

    /// Any status with a short error.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self::error(status, "Something went wrong.", "server_error")
    }

    /// A limit message as a successful reply.
    #[must_use]
    pub fn limit_as_reply() -> Self {
        Self::Reply("Claude AI usage limit reached|4102444800".to_owned())
    }

    /// A web page, as a proxy or a hotel would send it.
    #[must_use]
    pub fn web_page(status: u16) -> Self {
        Self::Response {
            status,
            headers: vec![("content-type", "text/html; charset=utf-8".to_owned())],
            body: b"<!doctype html><title>Welcome to the hotel</title>".to_vec(),
        }
    }

    /// A good reply that claims to be something else.
    #[must_use]
    pub fn wrong_content_type(text: &str) -> Self {
        Self::Said {
            text: text.to_owned(),
            ending: Ending::Done,
            content_type: "text/plain",
        }
    }

    /// A reply that ends in another way than it should.
    #[must_use]
    pub fn ended(text: &str, ending: Ending) -> Self {
        Self::Said {
            text: text.to_owned(),
            ending,
            content_type: "application/json",
        }
    }

    /// 200 with something that is not JSON, or not a chat completion.
    #[must_use]
    pub fn garbage(body: &str) -> Self {
        Self::Response {
            status: 200,
            headers: vec![("content-type", "application/json".to_owned())],
            body: body.as_bytes().to_vec(),
        }
    }

    /// A small body that unpacks to `megabytes`.
    ///
    /// # Panics
    /// Never: memory takes what is written.
    #[must_use]
    pub fn gzip_bomb(megabytes: usize) -> Self {
        use std::io::Write as _;
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        let blank = vec![b' '; 1024 * 1024];
        for _ in 0..megabytes {
            packed.write_all(&blank).expect("memory takes it");
        }
        Self::Response {
            status: 200,
            headers: vec![
                ("content-type", "application/json".to_owned()),
                ("content-encoding", "gzip".to_owned()),
            ],
            body: packed.finish().expect("memory takes it"),
        }
    }

    /// A redirect.
    #[must_use]
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::Response {
            status,
            headers: vec![("location", location.to_owned())],
            body: Vec::new(),
        }
    }

    /// Waits before it does the same.
    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self::Delay(delay, Box::new(self))
    }

    /// Refuses requests that have any of `fields` (or `field.type=value`), answers others.
    #[must_use]
    pub fn refusing(fields: &[(&'static str, &'static str)]) -> Self {
        let fields = fields.to_vec();
        Self::Decide(Arc::new(move |request: &Request| {
            for (field, message) in &fields {
                let (name, kind) = field.split_once('=').unwrap_or((field, ""));
                let value = &request.body[name];
                if !value.is_null() && (kind.is_empty() || value["type"] == kind) {
                    return Self::error(400, message, "unsupported_parameter");
                }
            }
            Self::Answer
        }))
    }

    fn with_header(self, name: &'static str, value: Option<&str>) -> Self {
        match (self, value) {
            (
                Self::Response {
                    status,
                    mut headers,
                    body,
                },
                Some(value),
            ) => {
                headers.push((name, value.to_owned()));
                Self::Response {
                    status,
                    headers,
                    body,
                }
            }
            (other, _) => other,
        }
    }
}
