//! Types of settings: how each is read from TOML, from text (environment, flags), and shown.

use serde_json::{Value, json};
use toml_edit::Value as Toml;

/// What kind of value a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Switch,
    /// A whole number, not negative.
    Number,
    /// A number.
    Decimal,
    /// Text.
    Text,
    /// A list of texts.
    List,
    /// One of a few words.
    Choice(&'static [&'static str]),
}

/// A type a setting can have.
pub(crate) trait Setting: Sized + Clone + PartialEq {
    const KIND: Kind;
    /// Reads a TOML value; the error completes "… must be …".
    fn from_toml(value: &Toml) -> Result<Self, String>;
    /// Reads the text of a variable or a flag.
    fn from_text(text: &str) -> Result<Self, String>;
    fn to_json(&self) -> Value;
}

impl Setting for bool {
    const KIND: Kind = Kind::Switch;

    fn from_toml(value: &Toml) -> Result<Self, String> {
        value.as_bool().ok_or_else(|| "true or false, without quotes".to_owned())
    }

    fn from_text(text: &str) -> Result<Self, String> {
        match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Ok(true),
            "false" | "0" | "no" | "off" => Ok(false),
            _ => Err("true or false".to_owned()),
        }
    }

    fn to_json(&self) -> Value {
        json!(self)
    }
}

impl Setting for u32 {
    const KIND: Kind = Kind::Number;

    fn from_toml(value: &Toml) -> Result<Self, String> {
        let number = value.as_integer().ok_or_else(|| "a whole number, without quotes".to_owned())?;
        Self::try_from(number).map_err(|_| "a whole number from 0 to 4294967295".to_owned())
    }

    fn from_text(text: &str) -> Result<Self, String> {
        text.trim().parse().map_err(|_| "a whole number from 0 to 4294967295".to_owned())
    }

    fn to_json(&self) -> Value {
        json!(self)
    }
}

impl Setting for f64 {
    const KIND: Kind = Kind::Decimal;

    fn from_toml(value: &Toml) -> Result<Self, String> {
        #[expect(clippy::cast_precision_loss, reason = "shares and prices are small")]
        let whole = value.as_integer().map(|number| number as Self);
        value.as_float().or(whole).filter(|number| number.is_finite()).ok_or_else(|| "a number".to_owned())
    }

    fn from_text(text: &str) -> Result<Self, String> {
        text.trim().parse().ok().filter(|number: &Self| number.is_finite()).ok_or_else(|| "a number".to_owned())
    }

    fn to_json(&self) -> Value {
        json!(self)
    }
}

/// Empty text leaves the choice to somebody else (the server).
impl Setting for Option<f64> {
    const KIND: Kind = Kind::Decimal;

    fn from_toml(value: &Toml) -> Result<Self, String> {
        match value.as_str() {
            Some("") => Ok(None),
            _ => f64::from_toml(value).map(Some).map_err(|_| "a number, or \"\" for none".to_owned()),
        }
    }

    fn from_text(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(None);
        }
        f64::from_text(text).map(Some)
    }

    fn to_json(&self) -> Value {
        self.map_or_else(|| json!(""), |number| json!(number))
    }
}

impl Setting for String {
    const KIND: Kind = Kind::Text;

    fn from_toml(value: &Toml) -> Result<Self, String> {
        value.as_str().map(str::to_owned).ok_or_else(|| "text in quotes".to_owned())
    }

    fn from_text(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }

    fn to_json(&self) -> Value {
        json!(self)
    }
}

impl Setting for Vec<String> {
    const KIND: Kind = Kind::List;

    fn from_toml(value: &Toml) -> Result<Self, String> {
        value
            .as_array()
            .and_then(|array| array.iter().map(|item| item.as_str().map(str::to_owned)).collect())
            .ok_or_else(|| "a list of texts, like [\"a\", \"b\"]".to_owned())
    }

    /// A variable or flag separates items by commas.
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect())
    }

    fn to_json(&self) -> Value {
        json!(self)
    }
}

/// A setting that is one of a few words; the default comes first.
macro_rules! choices {
    ($(#[doc = $doc:literal])+ $name:ident { $($(#[doc = $variant_doc:literal])+ $variant:ident = $word:literal,)+ }) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[doc = $variant_doc])+ #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Its words, as they are written in settings.
            pub const WORDS: &'static [&'static str] = &[$($word,)+];

            /// The word of this choice.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// The choice with this word.
            #[must_use]
            pub fn from_id(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl crate::value::Setting for $name {
            const KIND: crate::value::Kind = crate::value::Kind::Choice(Self::WORDS);

            fn from_toml(value: &toml_edit::Value) -> Result<Self, String> {
                value.as_str().and_then(Self::from_id).ok_or_else(|| crate::value::one_of(Self::WORDS, value.as_str()))
            }

            fn from_text(text: &str) -> Result<Self, String> {
                Self::from_id(text.trim()).ok_or_else(|| crate::value::one_of(Self::WORDS, Some(text.trim())))
            }

            fn to_json(&self) -> serde_json::Value {
                serde_json::json!(self.id())
            }
        }
    };
}
pub(crate) use choices;

/// "one of a, b, c", with the word that was probably meant.
pub(crate) fn one_of(words: &[&str], given: Option<&str>) -> String {
    let mut text = format!("one of {}", words.join(", "));
    if let Some(near) = given.and_then(|given| crate::suggest::nearest(given, words.iter().copied())) {
        text.push_str(&format!(" (did you mean \"{near}\"?)"));
    }
    text
}

/// A backend, or the one named by `models.backend` when empty.
impl Setting for Option<crate::table::Backend> {
    const KIND: Kind = Kind::Choice(crate::table::Backend::WORDS);

    fn from_toml(value: &Toml) -> Result<Self, String> {
        match value.as_str() {
            Some("") => Ok(None),
            _ => crate::table::Backend::from_toml(value).map(Some),
        }
    }

    fn from_text(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() { Ok(None) } else { crate::table::Backend::from_text(text).map(Some) }
    }

    fn to_json(&self) -> Value {
        json!(self.map_or("", crate::table::Backend::id))
    }
}
