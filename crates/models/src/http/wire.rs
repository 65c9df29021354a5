//! Reading the body of a response: bounded, in pieces, with the time to the first of them.

use std::time::Duration;

use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::answer::Answer;
use super::failure::{Asked, transport};
use super::said::Said;
use crate::backend::RawReply;
use crate::error::{CallError, Wait};

/// The most that is read of a reply, after decompression.
const LARGEST_REPLY: usize = 8 * 1024 * 1024;
/// The most that is read of an error.
const LARGEST_ERROR: usize = 256 * 1024;

/// When the first piece of the reply has to be there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    pub(super) until: Instant,
    pub(super) length: Duration,
}

impl Patience {
    pub(super) const fn ended(&self) -> CallError {
        CallError::TimedOut {
            wait: Wait::FirstByte,
            after: self.length,
        }
    }
}

/// Reads a body piece by piece.
struct Body<'a> {
    response: Response,
    patience: Option<Patience>,
    left: usize,
    asked: &'a Asked<'a>,
}

impl Body<'_> {
    /// The next bytes; `None` at the end.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, CallError> {
        let chunk = match self.patience {
            Some(patience) => timeout_at(patience.until, self.response.chunk())
                .await
                .map_err(|_| patience.ended())?,
            None => self.response.chunk().await,
        };
        let Some(chunk) = chunk.map_err(|error| transport(&error, self.asked))? else {
            return Ok(None);
        };
        self.left = self
            .left
            .checked_sub(chunk.len())
            .ok_or_else(|| CallError::Unreadable {
                reason: format!("it is longer than {} MB", LARGEST_REPLY / (1024 * 1024)),
            })?;
        Ok(Some(chunk.to_vec()))
    }

    async fn rest(mut self) -> Result<Vec<u8>, CallError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.next().await? {
            self.patience = None;
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }
}

/// Reads what a server said with an error status; what cannot be read is left out.
pub(super) async fn read_error(response: Response, asked: &Asked<'_>) -> Said {
    let html = is_kind(&response, "html");
    let body = Body {
        response,
        patience: None,
        left: LARGEST_ERROR,
        asked,
    };
    let text = body
        .rest()
        .await
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .unwrap_or_default();
    if html || text.trim_start().starts_with('<') {
        return Said::words("(a web page)");
    }
    Said::read(&text)
}

/// Reads a successful response, streamed or not, whatever was asked for. `offered` says whether the
/// question offers tools.
pub(super) async fn read_reply(
    response: Response,
    patience: Option<Patience>,
    offered: bool,
    asked: &Asked<'_>,
) -> Result<RawReply, CallError> {
    if is_kind(&response, "html") {
        return Err(web_page(asked));
    }
    let answer = Answer::new(offered);
    let streamed = is_stream(&response);
    let body = Body {
        response,
        patience,
        left: LARGEST_REPLY,
        asked,
    };
    if streamed {
        read_stream(body, answer).await
    } else {
        read_whole(body, answer).await
    }
}

fn web_page(asked: &Asked<'_>) -> CallError {
    asked.unavailable(
        format!(
            "{} answered with a web page, not with a model's reply; a network that asks to log in does that, and so does a wrong models.endpoint",
            asked.address
        ),
        false,
    )
}

/// Reads a successful response that is one JSON value.
pub(super) async fn read_json(response: Response, asked: &Asked<'_>) -> Result<Value, CallError> {
    if is_kind(&response, "html") {
        return Err(web_page(asked));
    }
    json_of(Body {
        response,
        patience: None,
        left: LARGEST_REPLY,
        asked,
    })
    .await
}

async fn json_of(body: Body<'_>) -> Result<Value, CallError> {
    let asked = body.asked;
    let bytes = body.rest().await?;
    let text = String::from_utf8_lossy(&bytes);
    serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|_| {
        if text.trim_start().starts_with('<') {
            return web_page(asked);
        }
        asked.unavailable(
            format!(
                "{} answered with something that is not JSON: {}",
                asked.address,
                asked.excerpt(&text)
            ),
            true,
        )
    })
}

async fn read_whole(body: Body<'_>, mut answer: Answer) -> Result<RawReply, CallError> {
    let asked = body.asked;
    let value = json_of(body).await?;
    answer.take(&value, asked)?;
    if !answer.begun {
        return Err(asked.unavailable(
            format!(
                "{} answered, but not as the {} do",
                asked.address,
                asked.protocol.name()
            ),
            true,
        ));
    }
    answer.into_reply(asked)
}

async fn read_stream(mut body: Body<'_>, mut answer: Answer) -> Result<RawReply, CallError> {
    let asked = body.asked;
    let mut events = Events::default();
    let mut done = false;
    while !done {
        let Some(chunk) = body.next().await? else {
            break;
        };
        for event in events.feed(&chunk) {
            if event.trim() == "[DONE]" {
                done = true;
                break;
            }
            // Comments and pings keep a connection alive; the model speaks in other events.
            if take(&event, &mut answer, asked)? {
                body.patience = None;
            }
        }
    }
    if !done
        && let Some(event) = events.last()
        && event.trim() != "[DONE]"
    {
        take(&event, &mut answer, asked)?;
    }
    if !done && answer.end.is_none() {
        return Err(asked.unavailable(
            format!("{} broke off in the middle of the reply", asked.address),
            true,
        ));
    }
    answer.into_reply(asked)
}

/// Whether the event is the model's.
fn take(event: &str, answer: &mut Answer, asked: &Asked<'_>) -> Result<bool, CallError> {
    let piece: Value = serde_json::from_str(event).map_err(|_| {
        asked.unavailable(
            format!("{} sent a piece of a reply that is not JSON", asked.address),
            true,
        )
    })?;
    answer.take(&piece, asked)?;
    Ok(piece.get("type").and_then(Value::as_str) != Some("ping"))
}

/// The data of server-sent events, put together from chunks that end anywhere.
#[derive(Debug, Default)]
struct Events {
    line: Vec<u8>,
    data: Option<String>,
}

impl Events {
    /// The events that `chunk` completes.
    fn feed(&mut self, chunk: &[u8]) -> Vec<String> {
        let mut complete = Vec::new();
        let mut rest = chunk;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            self.line.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            complete.extend(self.end_line(&line));
        }
        self.line.extend_from_slice(rest);
        complete
    }

    /// What is left when the connection ends without the empty line after the last event.
    fn last(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        self.end_line(&line).or_else(|| self.data.take())
    }

    fn end_line(&mut self, line: &[u8]) -> Option<String> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return self.data.take();
        }
        if let Some(data) = line.strip_prefix(b"data:") {
            let data = String::from_utf8_lossy(data.strip_prefix(b" ").unwrap_or(data));
            match &mut self.data {
                Some(so_far) => {
                    so_far.push('\n');
                    so_far.push_str(&data);
                }
                None => self.data = Some(data.into_owned()),
            }
        }
        None
    }
}

/// Whether the server answers piece by piece.
pub(super) fn is_stream(response: &Response) -> bool {
    is_kind(response, "event-stream")
}

fn is_kind(response: &Response, word: &str) -> bool {
    response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.to_ascii_lowercase().contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_from_chunks_that_end_anywhere() {
        let stream = b": hello\r\n\r\nevent: x\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\ndata:two\n\nid: 4\n\ndata: \xffend";
        for size in 1..stream.len() {
            let mut events = Events::default();
            let mut all: Vec<String> = stream
                .chunks(size)
                .flat_map(|chunk| events.feed(chunk))
                .collect();
            all.extend(events.last());
            assert_eq!(
                all,
                ["{\"a\":\n1}", "two", "\u{fffd}end"],
                "chunks of {size}"
            );
        }
    }
}
