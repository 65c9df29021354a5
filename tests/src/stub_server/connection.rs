//! HTTP/1.1, as much of it as a client of a model server needs.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use super::behaviour::Behaviour;
use super::calls;
use super::shapes::{Ending, Shape};
use super::{Request, Shared};

/// The most that is read of a request.
const LARGEST_REQUEST: usize = 64 * 1024 * 1024;

pub(super) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            // A client that hangs up is none of our business.
            let _ = converse(stream, &shared).await;
        });
    }
}

async fn converse(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    while let Some(request) = read_request(&mut stream).await? {
        let busy = shared.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        shared.most_in_flight.fetch_max(busy, Ordering::SeqCst);
        let kept = answer(&mut stream, request, shared).await;
        shared.in_flight.fetch_sub(1, Ordering::SeqCst);
        if !kept? {
            break;
        }
    }
    Ok(())
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let method = words.next().unwrap_or_default().to_owned();
    let path = words.next().unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .and_then(|(_, value)| value.parse().ok())
        .unwrap_or(0_usize);
    if length > LARGEST_REQUEST {
        return Ok(None);
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(Some(Request {
        method,
        path,
        headers,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
        answered_by: String::new(),
    }))
}

/// Answers one request; whether the connection can carry another.
async fn answer(
    stream: &mut BufReader<TcpStream>,
    mut request: Request,
    shared: &Shared,
) -> io::Result<bool> {
    let behaviour = {
        let mut state = shared.state();
        request.answered_by.clone_from(&state.answered_by);
        state.requests.push(request.clone());
        let authorized = state.key.as_ref().is_none_or(|key| {
            request.header("authorization") == Some(&format!("Bearer {key}"))
                || ["x-api-key", "api-key"]
                    .iter()
                    .any(|name| request.header(name) == Some(key))
        });
        if !authorized {
            Behaviour::unauthorized()
        } else if Shape::of(&request).is_some() {
            state
                .script
                .pop_front()
                .unwrap_or_else(|| state.standing.clone())
        } else if let Some(answers) = state.says.get_mut(request.path.as_str()) {
            let answer = answers.front().cloned().unwrap_or_default();
            if answers.len() > 1 {
                answers.pop_front();
            }
            Behaviour::json(200, &answer)
        } else if request.path.ends_with("/models") && !state.models.is_empty() {
            let rows: Vec<Value> = state
                .models
                .iter()
                .map(|id| json!({ "id": id, "object": "model" }))
                .collect();
            Behaviour::json(200, &json!({ "object": "list", "data": rows }))
        } else {
            Behaviour::error(404, "There is nothing here.", "not_found")
        }
    };
    act(stream, behaviour, &request, shared).await
}

async fn act(
    stream: &mut BufReader<TcpStream>,
    mut behaviour: Behaviour,
    request: &Request,
    shared: &Shared,
) -> io::Result<bool> {
    loop {
        match behaviour {
            Behaviour::Decide(decide) => behaviour = decide(request),
            Behaviour::Delay(delay, next) => {
                sleep(delay).await;
                behaviour = *next;
            }
            Behaviour::Answer => {
                let brain = Arc::clone(&shared.state().brain);
                behaviour = Behaviour::Reply(brain(&request.body));
            }
            other => {
                let extra = shared.state().headers.clone();
                return finish(stream, other, request, &extra).await;
            }
        }
    }
}

async fn finish(
    stream: &mut BufReader<TcpStream>,
    behaviour: Behaviour,
    request: &Request,
    extra: &[(&'static str, String)],
) -> io::Result<bool> {
    let streamed = request.body["stream"] == true;
    // What is no question is never acted upon by script.
    let shape = Shape::of(request).unwrap_or(Shape::Chat);
    match behaviour {
        Behaviour::Reply(text) if streamed => {
            write_events(stream, shape.events(&text, request), extra).await
        }
        Behaviour::Reply(text) | Behaviour::Whole(text) => {
            let body = shape.whole(&text, Ending::Done, request);
            write_json(stream, &body, "application/json").await?;
            Ok(true)
        }
        Behaviour::Calls(calls) if streamed => {
            write_events(stream, calls::events(shape, &calls, request), extra).await
        }
        Behaviour::Calls(calls) => {
            let body = calls::whole(shape, &calls, request);
            write_json(stream, &body, "application/json").await?;
            Ok(true)
        }
        Behaviour::Said {
            text,
            ending,
            content_type,
        } => {
            let body = shape.whole(&text, ending, request);
            write_json(stream, &body, content_type).await?;
            Ok(true)
        }
        Behaviour::Response {
            status,
            headers,
            body,
        } => {
            let headers: Vec<(&str, &str)> = headers
                .iter()
                .map(|(name, value)| (*name, value.as_str()))
                .collect();
            write_whole(stream, status, &headers, &body).await?;
            Ok(true)
        }
        Behaviour::Silence(length) => {
            sleep(length).await;
            Ok(false)
        }
        Behaviour::SlowLoris(pace) => {
            write_head(stream, 200, &[("content-type", "text/event-stream")], None).await?;
            loop {
                write_chunk(stream, b": still thinking\n\n").await?;
                sleep(pace).await;
            }
        }
        Behaviour::Pings(pace) => {
            write_head(stream, 200, &[("content-type", "text/event-stream")], None).await?;
            loop {
                write_chunk(stream, b"event: ping\ndata: {\"type\":\"ping\"}\n\n").await?;
                sleep(pace).await;
            }
        }
        Behaviour::CutStream => {
            write_head(stream, 200, &[("content-type", "text/event-stream")], None).await?;
            // Everything but the end of it.
            let events = shape.events("Half of a reply", request);
            for (name, data) in &events[..2] {
                write_chunk(
                    stream,
                    format!("event: {name}\ndata: {data}\n\n").as_bytes(),
                )
                .await?;
            }
            Ok(false)
        }
        Behaviour::Close => Ok(false),
        Behaviour::Endless => {
            write_head(stream, 200, &[("content-type", "application/json")], None).await?;
            let blank = vec![b' '; 64 * 1024];
            loop {
                write_chunk(stream, &blank).await?;
                // Lets others be served in between.
                sleep(Duration::from_micros(50)).await;
            }
        }
        Behaviour::Answer | Behaviour::Decide(_) | Behaviour::Delay(..) => {
            unreachable!("these lead to another behaviour")
        }
    }
}

async fn write_events(
    stream: &mut BufReader<TcpStream>,
    events: Vec<(String, String)>,
    extra: &[(&'static str, String)],
) -> io::Result<bool> {
    let mut headers = vec![("content-type", "text/event-stream")];
    headers.extend(extra.iter().map(|(name, value)| (*name, value.as_str())));
    write_head(stream, 200, &headers, None).await?;
    for (name, data) in events {
        let event = if name.is_empty() {
            format!("data: {data}\n\n")
        } else {
            format!("event: {name}\ndata: {data}\n\n")
        };
        write_chunk(stream, event.as_bytes()).await?;
    }
    write_chunk(stream, b"").await?;
    Ok(true)
}

async fn write_json(
    stream: &mut BufReader<TcpStream>,
    body: &Value,
    content_type: &str,
) -> io::Result<()> {
    let headers = [("content-type", content_type)];
    write_whole(stream, 200, &headers, body.to_string().as_bytes()).await
}

async fn write_whole(
    stream: &mut BufReader<TcpStream>,
    status: u16,
    headers: &[(&str, &str)],
    body: &[u8],
) -> io::Result<()> {
    write_head(stream, status, headers, Some(body.len())).await?;
    stream.write_all(body).await?;
    stream.flush().await
}

async fn write_head(
    stream: &mut BufReader<TcpStream>,
    status: u16,
    headers: &[(&str, &str)],
    length: Option<usize>,
) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {status} Stub\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    match length {
        Some(length) => head.push_str(&format!("content-length: {length}\r\n\r\n")),
        None => head.push_str("transfer-encoding: chunked\r\n\r\n"),
    }
    stream.write_all(head.as_bytes()).await?;
    stream.flush().await
}

async fn write_chunk(stream: &mut BufReader<TcpStream>, bytes: &[u8]) -> io::Result<()> {
    let size = format!("{:x}\r\n", bytes.len());
    stream
        .write_all(&[size.as_bytes(), bytes, b"\r\n"].concat())
        .await?;
    stream.flush().await
}
