//! JSON values as transcripts have them: any shape may stand anywhere.
//!
//! A field of an unexpected shape is read as absent, so that one odd field does not cost the line.

use std::fmt;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// Most objects in one line: parsed, they take many times the room they take in the line.
const OBJECT_LIMIT: usize = 200_000;
/// Most items kept of one list.
const LIST_LIMIT: usize = 100_000;

/// A visitor's answers for shapes that count as absent.
macro_rules! absent {
    ($($shape:ident),+) => { $(absent!(@ $shape);)+ };
    (@ scalars) => {
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
        fn visit_unit<E>(self) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
    };
    (@ text) => {
        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
    };
    (@ list) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
    (@ map) => {
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
}

fn expecting_anything(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("any JSON value")
}

// Behind the macro, which both use.
mod repair;
mod scalars;
mod shapes;

pub(crate) use repair::repair;
pub(crate) use scalars::{Flag, Moment, Number, Present, Text};
pub(crate) use shapes::{Content, Keys, List, Object, TextOr};

/// Parses one line. A line with invalid UTF-8 or half a surrogate pair is repaired and parsed again;
/// `repaired` then says so.
pub(crate) fn parse<'a, T: Deserialize<'a>>(
    line: &'a [u8],
    spare: &'a mut Vec<u8>,
) -> Result<(T, bool), NotReadable> {
    // A list would be taken for a record field by field, so the brace is asked for.
    let first = line.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'{') {
        return Err(match serde_json::from_slice::<IgnoredAny>(line) {
            Ok(_) => NotReadable::NotAnObject,
            Err(_) => NotReadable::Malformed,
        });
    }
    if line.len() > OBJECT_LIMIT && memchr::memchr_iter(b'{', line).count() > OBJECT_LIMIT {
        return Err(NotReadable::Malformed);
    }
    if let Ok(value) = serde_json::from_slice(line) {
        return Ok((value, false));
    }
    if !repair(line, spare) {
        return Err(NotReadable::Malformed);
    }
    serde_json::from_slice(spare.as_slice())
        .map(|value| (value, true))
        .map_err(|_| NotReadable::Malformed)
}

/// Why a line cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotReadable {
    Malformed,
    NotAnObject,
}

#[cfg(test)]
mod tests;
