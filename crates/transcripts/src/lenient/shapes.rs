//! Values made of others.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{LIST_LIMIT, Text, expecting_anything};

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
