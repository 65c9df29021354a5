//! Conversions between rows and values: instants, JSON, file ids, counters.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;
use skillopt_core::Instant;

use crate::fault::{Fault, unreadable};

/// An instant as microseconds since the epoch.
pub(crate) struct At(pub(crate) Instant);

impl ToSql for At {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.as_microsecond().into())
    }
}

impl FromSql for At {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let micros = value.as_i64()?;
        Instant::from_microsecond(micros)
            .map(Self)
            .map_err(|error| FromSqlError::Other(error.to_string().into()))
    }
}

/// An unsigned counter. SQLite has signed 64-bit integers; counters stay far below.
pub(crate) struct Count(pub(crate) u64);

impl ToSql for Count {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(i64::try_from(self.0).unwrap_or(i64::MAX).into())
    }
}

impl FromSql for Count {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(Self(u64::try_from(value.as_i64()?).unwrap_or(0)))
    }
}

/// 64 bits that name something (device, inode); stored bit by bit in a signed column.
pub(crate) struct Bits(pub(crate) u64);

impl ToSql for Bits {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.cast_signed().into())
    }
}

impl FromSql for Bits {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(Self(value.as_i64()?.cast_unsigned()))
    }
}

/// `value` as JSON text for a column called `what`.
pub(crate) fn to_json<T: Serialize + ?Sized>(what: &str, value: &T) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|error| unreadable(what, error))
}

/// The value behind the JSON text of a column called `what`.
pub(crate) fn from_json<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, Fault> {
    serde_json::from_str(text).map_err(|error| unreadable(what, error))
}
