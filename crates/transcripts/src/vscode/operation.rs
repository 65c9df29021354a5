//! The log of what changed in a session.
//!
//! Newer versions append one operation for each change instead of writing the session again. What an
//! operation changes is named by a path of keys and positions; only those paths are followed that
//! lead to something that is looked at.

use std::cell::Cell;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::chat::{
    Call, Chat, Gone, Part, RawAgent, RawChat, RawMessage, RawModelState, RawPart, RawRequest,
    RawSpecific, RawTerminalState, Request, cancelled, completed, cut, exit_code, extension,
    millis, parts, refused, requests, text,
};
use crate::lenient::{Flag, List, Number, Object, Present, Text};
use crate::reading::short;

/// One line of the log.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Operation<'a> {
    /// 0 begins with a whole session, 1 sets, 2 changes the end of a list, 3 deletes.
    pub(super) kind: Number,
    #[serde(borrow)]
    k: List<&'a RawValue>,
    v: Option<&'a RawValue>,
    /// From where on a list is replaced; without it things are added.
    i: Number,
    /// What it puts in was asked for, and could not be read.
    #[serde(skip)]
    unreadable: Cell<bool>,
}

/// What came of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Applied {
    /// The session is changed, or was not to be changed by one that does not fit it.
    Yes,
    /// No such operation is known.
    UnknownKind,
    /// What it puts in cannot be read; nothing was put in.
    Unreadable,
}

/// What a path leads to. Positions are those of the request and of the part of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    SessionId,
    Created,
    Requests,
    Request(usize),
    Field(usize, Field),
    Response(usize),
    Part(usize, usize),
    PartText(usize, usize),
    PartCall(usize, usize, CallField),
    Elsewhere,
}

/// What is looked at of a request, beside its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Id,
    Message,
    MessageText,
    Agent,
    At,
    ModelState,
    CompletedAt,
    AnswerState,
    BySystem,
    Cancelled,
    TakenBack,
}

/// What is looked at of a tool's call, beside its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallField {
    Confirmed,
    Specific,
    TerminalState,
    ExitCode,
}

/// A part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Key {
    Name(String),
    At(usize),
}

impl Operation<'_> {
    /// Bytes of what it puts in.
    pub(super) fn bytes(&self) -> usize {
        self.v.map_or(0, |value| value.get().len())
    }

    /// Changes the session.
    pub(super) fn apply(&self, chat: &mut Chat) -> Applied {
        let place = place(&self.keys());
        match self.kind.0 {
            Some(0) => {
                if let Some(whole) = self.value::<Object<RawChat<'_>>>().0 {
                    *chat = whole.into();
                }
            }
            Some(1) => self.set(chat, place),
            Some(2) => self.change_end(chat, place),
            Some(3) => self.delete(chat, place),
            _ => return Applied::UnknownKind,
        }
        if self.unreadable.get() {
            Applied::Unreadable
        } else {
            Applied::Yes
        }
    }

    fn keys(&self) -> Vec<Key> {
        let key = |raw: &&RawValue| match serde_json::from_str::<String>(raw.get()) {
            Ok(name) => Key::Name(name),
            // A position that is none leads nowhere.
            Err(_) => Key::At(raw.get().parse().unwrap_or(usize::MAX)),
        };
        self.k.0.iter().map(key).collect()
    }

    /// What it puts in; nothing when that has another shape, or cannot be read.
    fn value<'v, T: Deserialize<'v> + Default>(&'v self) -> T {
        let Some(value) = self.v else {
            return T::default();
        };
        serde_json::from_str(value.get()).unwrap_or_else(|_| {
            self.unreadable.set(true);
            T::default()
        })
    }

    fn set(&self, chat: &mut Chat, place: Place) {
        match place {
            Place::SessionId => chat.session_id = short(&self.value::<Text<'_>>()).to_owned(),
            Place::Created => chat.created = millis(self.value()),
            Place::Requests => self.replace(chat, 0, requests(self.value())),
            Place::Request(at) => {
                if let Some(request) = chat.requests.get_mut(at) {
                    *request = self
                        .value::<Object<RawRequest<'_>>>()
                        .0
                        .unwrap_or_default()
                        .into();
                }
            }
            Place::Field(at, field) => self.set_field(chat, at, field),
            Place::Response(at) => {
                if let Some(request) = chat.requests.get_mut(at) {
                    request.response = parts(self.value());
                }
            }
            Place::Part(at, number) => {
                if let Some(part) = part(chat, at, number) {
                    *part = self
                        .value::<Object<RawPart<'_>>>()
                        .0
                        .unwrap_or_default()
                        .into();
                }
            }
            Place::PartText(at, number) => {
                if let Some(Part::Text(text)) = part(chat, at, number) {
                    *text = cut(&self.value::<Text<'_>>());
                }
            }
            Place::PartCall(at, number, field) => {
                if let Some(Part::Tool(call)) = part(chat, at, number) {
                    self.set_call(call, field);
                }
            }
            Place::Elsewhere => {}
        }
    }

    fn set_call(&self, call: &mut Call, field: CallField) {
        match field {
            CallField::Confirmed => call.refused = self.v.is_some_and(refused),
            CallField::Specific => {
                let specific = self.value::<Object<RawSpecific<'_>>>().0;
                call.tell(&specific.unwrap_or_default());
            }
            CallField::TerminalState => {
                let state = self.value::<Object<RawTerminalState>>().0;
                call.exit_code = state.as_ref().and_then(exit_code);
            }
            CallField::ExitCode => call.exit_code = self.value::<Number>().0,
        }
    }

    fn set_field(&self, chat: &mut Chat, at: usize, field: Field) {
        let Some(request) = chat.requests.get_mut(at) else {
            return;
        };
        match field {
            Field::Id => request.id = short(&self.value::<Text<'_>>()).to_owned(),
            Field::Message => {
                let message = self.value::<Object<RawMessage<'_>>>().0;
                request.text = message.as_ref().map(text).unwrap_or_default();
            }
            Field::MessageText => request.text = cut(&self.value::<Text<'_>>()),
            Field::Agent => {
                let agent = self.value::<Object<RawAgent<'_>>>().0.unwrap_or_default();
                request.extension = extension(&agent);
            }
            Field::At => request.at = millis(self.value()),
            Field::ModelState => {
                let state = self.value::<Object<RawModelState>>().0.unwrap_or_default();
                request.completed = completed(&state);
                request.cancelled = cancelled(&state);
            }
            Field::CompletedAt => request.completed = millis(self.value()),
            Field::AnswerState => request.cancelled = self.value::<Number>().0 == Some(2),
            Field::BySystem => request.by_system = self.value::<Flag>().0,
            Field::Cancelled => request.cancelled = self.value::<Flag>().0,
            Field::TakenBack => request.taken_back = self.value::<Present>().0,
        }
    }

    fn change_end(&self, chat: &mut Chat, place: Place) {
        match place {
            Place::Requests => {
                let from = self.from(chat.requests.len());
                if let Some(from) = from {
                    self.replace(chat, from, requests(self.value()));
                }
            }
            Place::Response(at) => {
                if let Some(request) = chat.requests.get_mut(at)
                    && let Some(from) = self.from(request.response.len())
                {
                    request.response.truncate(from);
                    request.response.extend(parts(self.value()));
                }
            }
            Place::SessionId
            | Place::Created
            | Place::Request(_)
            | Place::Field(..)
            | Place::Part(..)
            | Place::PartText(..)
            | Place::PartCall(..)
            | Place::Elsewhere => {}
        }
    }

    /// From where on a list of this length is replaced; `None` when that lies beyond it.
    fn from(&self, length: usize) -> Option<usize> {
        let Some(from) = self.i.0 else {
            return Some(length);
        };
        usize::try_from(from).ok().filter(|&from| from <= length)
    }

    /// Puts requests in the place of those from `from` on. Of those that do not come again the first
    /// was sent again, if anything was sent, and what stood behind it is gone with it.
    fn replace(&self, chat: &mut Chat, from: usize, more: Vec<Request>) {
        let gone: Vec<Request> = chat.requests.split_off(from);
        let mut sent = !more.is_empty();
        for (number, request) in gone.into_iter().enumerate() {
            let stays = request.id.is_empty() || more.iter().any(|other| other.id == request.id);
            if stays {
                continue;
            }
            chat.gone.push(Gone {
                at: from + number,
                replaced: std::mem::take(&mut sent),
                request,
            });
        }
        chat.requests.extend(more);
    }

    fn delete(&self, chat: &mut Chat, place: Place) {
        match place {
            Place::Request(at) if at < chat.requests.len() => {
                let request = chat.requests.remove(at);
                chat.gone.push(Gone {
                    at,
                    replaced: false,
                    request,
                });
            }
            Place::Part(at, number) => {
                if let Some(request) = chat.requests.get_mut(at)
                    && number < request.response.len()
                {
                    request.response.remove(number);
                }
            }
            // Whatever is deleted is as if it were set to nothing.
            Place::SessionId
            | Place::Created
            | Place::Requests
            | Place::Request(_)
            | Place::Field(..)
            | Place::Response(_)
            | Place::PartText(..)
            | Place::PartCall(..)
            | Place::Elsewhere => self.set(chat, place),
        }
    }
}

fn part(chat: &mut Chat, at: usize, number: usize) -> Option<&mut Part> {
    chat.requests.get_mut(at)?.response.get_mut(number)
}

fn place(keys: &[Key]) -> Place {
    let mut names = [""; 7];
    let mut positions = [usize::MAX; 7];
    if keys.len() > names.len() {
        return Place::Elsewhere;
    }
    for (at, key) in keys.iter().enumerate() {
        match key {
            Key::Name(name) => names[at] = name,
            Key::At(position) => positions[at] = *position,
        }
    }
    let (request, number) = (positions[1], positions[3]);
    match &names[..keys.len()] {
        ["sessionId"] => Place::SessionId,
        ["creationDate"] => Place::Created,
        ["requests"] => Place::Requests,
        ["requests", ""] => Place::Request(request),
        ["requests", "", "response"] => Place::Response(request),
        ["requests", "", "response", ""] => Place::Part(request, number),
        ["requests", "", "response", "", "value"]
        | ["requests", "", "response", "", "content" | "value", "value"] => {
            Place::PartText(request, number)
        }
        ["requests", "", "response", "", rest @ ..] => call_field(rest)
            .map_or(Place::Elsewhere, |field| {
                Place::PartCall(request, number, field)
            }),
        ["requests", "", rest @ ..] => {
            field(rest).map_or(Place::Elsewhere, |field| Place::Field(request, field))
        }
        _ => Place::Elsewhere,
    }
}

fn call_field(names: &[&str]) -> Option<CallField> {
    Some(match names {
        ["isConfirmed"] => CallField::Confirmed,
        ["toolSpecificData"] => CallField::Specific,
        ["toolSpecificData", "terminalCommandState"] => CallField::TerminalState,
        ["toolSpecificData", "terminalCommandState", "exitCode"] => CallField::ExitCode,
        _ => return None,
    })
}

fn field(names: &[&str]) -> Option<Field> {
    Some(match names {
        ["requestId"] => Field::Id,
        ["message"] => Field::Message,
        ["message", "text"] => Field::MessageText,
        ["agent"] => Field::Agent,
        ["timestamp"] => Field::At,
        ["modelState"] => Field::ModelState,
        ["modelState", "completedAt"] => Field::CompletedAt,
        ["modelState", "value"] => Field::AnswerState,
        ["isSystemInitiated"] => Field::BySystem,
        ["isCanceled"] => Field::Cancelled,
        ["shouldBeRemovedOnSend"] => Field::TakenBack,
        _ => return None,
    })
}
