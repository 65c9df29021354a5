//! JSON values as transcripts have them: any shape may stand anywhere.
//!
//! A field of an unexpected shape is read as absent, so that one odd field does not cost the line.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use skillopt_core::Instant;

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

/// A string; empty when the value is anything else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Text<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::ops::Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                expecting_anything(f)
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }

            absent!(scalars, list, map);
        }

        deserializer.deserialize_any(TextVisitor)
    }
}

/// Whether the value is `true`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Flag(pub(crate) bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FlagVisitor;

        impl<'de> Visitor<'de> for FlagVisitor {
            type Value = Flag;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                expecting_anything(f)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
                Ok(Flag(value))
            }

            fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
                Ok(Flag(false))
            }

            fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
                Ok(Flag(false))
            }

            fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
                Ok(Flag(false))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Flag(false))
            }

            absent!(text, list, map);
        }

        deserializer.deserialize_any(FlagVisitor)
    }
}

/// A moment, as milliseconds after the epoch or as ISO 8601; none when the value is anything else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Moment(pub(crate) Option<Instant>);

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MomentVisitor;

        impl<'de> Visitor<'de> for MomentVisitor {
            type Value = Moment;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                expecting_anything(f)
            }

            fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Moment(Number(Some(number)).instant()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Moment(Number(i64::try_from(number).ok()).instant()))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
                Ok(Moment(Number::of_float(number).instant()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Moment(text.trim().parse().ok()))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Moment(None))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Moment(None))
            }

            absent!(list, map);
        }

        deserializer.deserialize_any(MomentVisitor)
    }
}

/// Whether the key is there at all, with any value but `null`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Present(pub(crate) bool);

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::<IgnoredAny>::deserialize(deserializer).map(|value| Self(value.is_some()))
    }
}

/// A whole number; absent when the value is anything else. A fraction is rounded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Number(pub(crate) Option<i64>);

impl Number {
    /// The number closest to a fraction, if it fits.
    pub(crate) fn of_float(value: f64) -> Self {
        // The digits, since no conversion of a float says whether it fits.
        Self(format!("{value:.0}").parse().ok())
    }

    /// The moment that many milliseconds after the epoch.
    pub(crate) fn instant(self) -> Option<Instant> {
        self.0
            .filter(|&milliseconds| milliseconds > 0)
            .and_then(|milliseconds| Instant::from_millisecond(milliseconds).ok())
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberVisitor;

        impl<'de> Visitor<'de> for NumberVisitor {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                expecting_anything(f)
            }

            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Number(None))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
                Ok(Number(Some(value)))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
                Ok(Number(i64::try_from(value).ok()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
                Ok(Number::of_float(value))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Number(None))
            }

            absent!(text, list, map);
        }

        deserializer.deserialize_any(NumberVisitor)
    }
}

/// A string, or an object that stands in its place.
#[derive(Debug)]
pub(crate) struct TextOr<'a, T> {
    pub(crate) text: Text<'a>,
    pub(crate) object: Option<T>,
}

impl<T> Default for TextOr<'_, T> {
    fn default() -> Self {
        Self {
            text: Text::default(),
            object: None,
        }
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for TextOr<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrVisitor<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for TextOrVisitor<T> {
            type Value = TextOr<'de, T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                expecting_anything(f)
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(TextOr {
                    text: Text(Cow::Borrowed(text)),
                    object: None,
                })
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(TextOr {
                    text: Text(Cow::Owned(text.to_owned())),
                    object: None,
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let object = T::deserialize(MapAccessDeserializer::new(map))?;
                Ok(TextOr {
                    text: Text::default(),
                    object: Some(object),
                })
            }

            absent!(scalars, list);
        }

        deserializer.deserialize_any(TextOrVisitor(std::marker::PhantomData))
    }
}

/// An object; absent when the value is anything else.
#[derive(Debug, Clone)]
pub(crate) struct Object<T>(pub(crate) Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                expecting_anything(f)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|value| Object(Some(value)))
            }

            absent!(scalars, text, list);
        }

        deserializer.deserialize_any(ObjectVisitor(std::marker::PhantomData))
    }
}

/// A list; empty when the value is anything else.
#[derive(Debug, Clone)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListVisitor<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
            type Value = List<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                expecting_anything(f)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while items.len() < LIST_LIMIT {
                    match list.next_element()? {
                        Some(item) => items.push(item),
                        None => return Ok(List(items)),
                    }
                }
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(List(items))
            }

            absent!(scalars, text, map);
        }

        deserializer.deserialize_any(ListVisitor(std::marker::PhantomData))
    }
}

/// Words that stand alone or in blocks: a message's content.
#[derive(Debug, Clone)]
pub(crate) enum Content<'a, B> {
    /// One string.
    Text(Text<'a>),
    /// A list of blocks; things that are no objects are left out.
    Blocks(Vec<B>),
}

impl<B> Default for Content<'_, B> {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl<'de: 'a, 'a, B: Deserialize<'de>> Deserialize<'de> for Content<'a, B> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor<B>(std::marker::PhantomData<B>);

        impl<'de, B: Deserialize<'de>> Visitor<'de> for ContentVisitor<B> {
            type Value = Content<'de, B>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                expecting_anything(f)
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Content::Text(Text(Cow::Borrowed(text))))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(Text(Cow::Owned(text.to_owned()))))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut blocks = Vec::new();
                while let Some(Object(block)) = list.next_element()? {
                    blocks.extend(block);
                }
                Ok(Content::Blocks(blocks))
            }

            absent!(scalars, map);
        }

        deserializer.deserialize_any(ContentVisitor(std::marker::PhantomData))
    }
}

/// The keys of an object, or the string that stands in its place.
#[derive(Debug, Default)]
pub(crate) struct Keys<'a> {
    pub(crate) text: Text<'a>,
    pub(crate) names: Vec<Text<'a>>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Keys<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeysVisitor;

        impl<'de> Visitor<'de> for KeysVisitor {
            type Value = Keys<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                expecting_anything(f)
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Keys {
                    text: Text(Cow::Borrowed(text)),
                    names: Vec::new(),
                })
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Keys {
                    text: Text(Cow::Owned(text.to_owned())),
                    names: Vec::new(),
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut keys = Keys::default();
                while let Some((name, IgnoredAny)) = map.next_entry()? {
                    keys.names.push(name);
                }
                Ok(keys)
            }

            absent!(scalars, list);
        }

        deserializer.deserialize_any(KeysVisitor)
    }
}

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

/// Puts `line` into `spare` with everything that is no text replaced; `false` when all of it is.
fn repair(line: &[u8], spare: &mut Vec<u8>) -> bool {
    spare.clear();
    let text = String::from_utf8_lossy(line);
    let mut changed = matches!(text, Cow::Owned(_));
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(step) = memchr::memchr(b'\\', &bytes[at..]) {
        spare.extend_from_slice(&bytes[at..at + step]);
        at += step;
        match surrogate(&bytes[at..]) {
            Some(Surrogate::Pair) => {
                spare.extend_from_slice(&bytes[at..at + 12]);
                at += 12;
            }
            Some(Surrogate::Half) => {
                spare.extend_from_slice(b"\\ufffd");
                at += 6;
                changed = true;
            }
            None => {
                let end = (at + 2).min(bytes.len());
                spare.extend_from_slice(&bytes[at..end]);
                at = end;
            }
        }
    }
    spare.extend_from_slice(&bytes[at..]);
    changed
}

enum Surrogate {
    Pair,
    Half,
}

/// What the escape at the start of `bytes` is, if it is a surrogate at all.
fn surrogate(bytes: &[u8]) -> Option<Surrogate> {
    let unit = |bytes: &[u8]| -> Option<u16> {
        let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    match unit(bytes)? {
        0xD800..=0xDBFF => match unit(&bytes[6..]) {
            Some(0xDC00..=0xDFFF) => Some(Surrogate::Pair),
            _ => Some(Surrogate::Half),
        },
        0xDC00..=0xDFFF => Some(Surrogate::Half),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Line<'a> {
        #[serde(borrow)]
        text: Text<'a>,
        flag: Flag,
        there: Present,
        inner: Object<Inner>,
        content: Content<'a, Inner>,
    }

    #[derive(Debug, Clone, Default, Deserialize)]
    #[serde(default)]
    struct Inner {
        flag: Flag,
    }

    #[test]
    fn odd_shapes_are_absent_and_do_not_cost_the_line() {
        for odd in [
            "null",
            "1",
            "-7",
            "1.5",
            "true",
            "[]",
            "[[1]]",
            "{}",
            "{\"a\":{}}",
            "1e400",
        ] {
            let json =
                format!("{{\"text\":{odd},\"inner\":{odd},\"content\":{odd},\"flag\":{odd}}}");
            let parsed: Result<Line<'_>, _> = serde_json::from_str(&json);
            if odd == "1e400" {
                // Too large for any number: the whole line is damaged.
                assert!(parsed.is_err());
                continue;
            }
            let line = parsed.unwrap();
            assert!(line.text.is_empty(), "{odd}");
            assert_eq!(line.flag.0, odd == "true");
            assert_eq!(line.inner.0.is_some(), odd.starts_with('{'));
        }
    }

    #[test]
    fn lines_that_would_take_too_much_room_are_not_parsed() {
        #[derive(Debug, Default, Deserialize)]
        #[serde(default)]
        struct Lists<'a> {
            #[serde(borrow)]
            texts: List<Text<'a>>,
            objects: List<Object<Inner>>,
        }
        let mut spare = Vec::new();
        let line = format!(r#"{{"texts":[{}7]}}"#, "7,".repeat(2 * LIST_LIMIT));
        let (lists, _): (Lists<'_>, bool) = parse(line.as_bytes(), &mut spare).unwrap();
        assert_eq!(lists.texts.0.len(), LIST_LIMIT);
        let mut spare = Vec::new();
        let line = format!(r#"{{"objects":[{}{{}}]}}"#, "{},".repeat(OBJECT_LIMIT));
        let parsed = parse::<Lists<'_>>(line.as_bytes(), &mut spare);
        assert_eq!(parsed.err(), Some(NotReadable::Malformed));
        let mut spare = Vec::new();
        let (lists, _): (Lists<'_>, bool) =
            parse(br#"{"objects":[{"flag":true},7]}"#, &mut spare).unwrap();
        let flags: Vec<bool> = lists
            .objects
            .0
            .iter()
            .flat_map(|it| &it.0)
            .map(|it| it.flag.0)
            .collect();
        assert_eq!(flags, [true]);
    }

    #[test]
    fn numbers_and_things_in_the_place_of_texts() {
        for (json, expected) in [
            ("7", Some(7)),
            ("-7", Some(-7)),
            ("1767607260000", Some(1_767_607_260_000)),
            ("1.6", Some(2)),
            ("18446744073709551615", None),
            ("1e300", None),
            ("\"7\"", None),
            ("true", None),
            ("null", None),
            ("[7]", None),
            ("{}", None),
        ] {
            assert_eq!(
                serde_json::from_str::<Number>(json).unwrap().0,
                expected,
                "{json}"
            );
        }
        let text: TextOr<'_, Inner> = serde_json::from_str("\"a\"").unwrap();
        assert_eq!((&*text.text, text.object.is_some()), ("a", false));
        let object: TextOr<'_, Inner> = serde_json::from_str("{\"flag\":true}").unwrap();
        assert!(object.text.is_empty() && object.object.is_some_and(|it| it.flag.0));
        let neither: TextOr<'_, Inner> = serde_json::from_str("[1]").unwrap();
        assert!(neither.text.is_empty() && neither.object.is_none());
    }

    #[test]
    fn deep_nesting_in_ignored_fields_is_harmless() {
        let json = format!(
            "{{\"other\":{}{},\"text\":\"x\"}}",
            "[".repeat(5000),
            "]".repeat(5000)
        );
        let line: Line<'_> = serde_json::from_str(&json).unwrap();
        assert_eq!(&*line.text, "x");
    }

    #[test]
    fn invalid_bytes_and_half_surrogates_are_replaced() {
        let mut spare = Vec::new();
        let line = b"{\"text\":\"a\xFFb \\ud83d! \\\\ud83d \\ud83d\\ude00\",\"there\":0}";
        let (parsed, repaired): (Line<'_>, bool) = parse(line, &mut spare).unwrap();
        assert!(repaired);
        assert_eq!(&*parsed.text, "a\u{FFFD}b \u{FFFD}! \\ud83d 😀");
        assert!(parsed.there.0);
    }

    #[test]
    fn lines_that_are_no_records_are_told_apart() {
        let mut spare = Vec::new();
        for line in ["[1]", "\"x\"", "12", "null", "true"] {
            let parsed = parse::<Line<'_>>(line.as_bytes(), &mut spare).err();
            assert_eq!(parsed, Some(NotReadable::NotAnObject), "{line}");
        }
        for line in ["{", "{\"text\"", "nonsense", "{}x", ""] {
            assert!(
                parse::<Line<'_>>(line.as_bytes(), &mut spare).is_err(),
                "{line}"
            );
        }
    }
}
