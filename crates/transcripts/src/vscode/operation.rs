//! The log of what changed in a session.
//!
//! Newer versions append one operation for each change instead of writing the session again. What an
//! operation changes is named by a path of keys and positions; only those paths are followed that
//! lead to something that is looked at.

use std::cell::Cell;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::chat::{
    Chat, Part, RawAgent, RawChat, RawMessage, RawModelState, RawPart, RawRequest, completed, cut,
    extension, millis, parts, requests, text,
};
use crate::lenient::{Flag, List, Number, Object, Text};
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
    BySystem,
    Cancelled,
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
            Place::Requests => chat.requests = requests(self.value()),
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
            Place::Elsewhere => {}
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
            }
            Field::CompletedAt => request.completed = millis(self.value()),
            Field::BySystem => request.by_system = self.value::<Flag>().0,
            Field::Cancelled => request.cancelled = self.value::<Flag>().0,
        }
    }

    fn change_end(&self, chat: &mut Chat, place: Place) {
        match place {
            Place::Requests => self.splice(&mut chat.requests, || requests(self.value())),
            Place::Response(at) => {
                if let Some(request) = chat.requests.get_mut(at) {
                    self.splice(&mut request.response, || parts(self.value()));
                }
            }
            Place::SessionId
            | Place::Created
            | Place::Request(_)
            | Place::Field(..)
            | Place::Part(..)
            | Place::PartText(..)
            | Place::Elsewhere => {}
        }
    }

    fn splice<T>(&self, list: &mut Vec<T>, more: impl FnOnce() -> Vec<T>) {
        if let Some(from) = self.i.0 {
            match usize::try_from(from) {
                Ok(from) if from <= list.len() => list.truncate(from),
                _ => return,
            }
        }
        list.extend(more());
    }

    fn delete(&self, chat: &mut Chat, place: Place) {
        match place {
            Place::Request(at) if at < chat.requests.len() => {
                chat.requests.remove(at);
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
            | Place::Elsewhere => self.set(chat, place),
        }
    }
}

fn part(chat: &mut Chat, at: usize, number: usize) -> Option<&mut Part> {
    chat.requests.get_mut(at)?.response.get_mut(number)
}

fn place(keys: &[Key]) -> Place {
    let mut names = [""; 6];
    let mut positions = [usize::MAX; 6];
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
        ["requests", "", rest @ ..] => {
            field(rest).map_or(Place::Elsewhere, |field| Place::Field(request, field))
        }
        _ => Place::Elsewhere,
    }
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
        ["isSystemInitiated"] => Field::BySystem,
        ["isCanceled"] => Field::Cancelled,
        _ => return None,
    })
}
