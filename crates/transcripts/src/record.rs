//! Lines that are read as records.

use serde::Deserialize;

use crate::lenient::{NotReadable, parse};
use crate::reading::Recorder;
use crate::reason::Reason;

/// A line as a record; counted under its reason when it is none.
pub(crate) fn parsed<'a, T: Deserialize<'a>>(
    line: &'a [u8],
    spare: &'a mut Vec<u8>,
    recorder: &mut Recorder<'_>,
) -> Option<T> {
    match parse::<T>(line, spare) {
        Ok((record, repaired)) => {
            if repaired {
                recorder.skip(Reason::Repaired);
            }
            Some(record)
        }
        Err(NotReadable::Malformed) => {
            recorder.skip(Reason::Malformed);
            None
        }
        Err(NotReadable::NotAnObject) => {
            recorder.skip(Reason::NotAnObject);
            None
        }
    }
}
