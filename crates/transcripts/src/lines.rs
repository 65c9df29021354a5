//! The line reader every agent's reader stands on.
//!
//! Lines are handed out as slices of one reused buffer. A line that does not fit is either passed
//! over while it streams by, when its beginning already says that nobody needs it, or the buffer
//! grows for it up to a limit, one reader thread at a time. Memory is thereby bounded whatever the
//! files hold.

use std::io::{self, Read};
use std::sync::Mutex;

use memchr::{memchr, memchr_iter};

/// Bytes a reader asks the system for at once; also the longest line that costs no growth.
const BUFFER: usize = 256 * 1024;

/// How much is read of what.
#[derive(Debug)]
pub(crate) struct Limits {
    /// Longest line that is read, in bytes.
    pub(crate) line: usize,
    /// Most bytes that are read of one compressed file, decompressed.
    pub(crate) decompressed: u64,
    /// Plain files from this size on are continued where they were left, in bytes.
    pub(crate) huge: u64,
    /// Held while a buffer is larger than [`BUFFER`], so that only one is.
    pub(crate) growing: Mutex<()>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line: 16 * 1024 * 1024,
            decompressed: 2 * 1024 * 1024 * 1024,
            huge: 32 * 1024 * 1024,
            growing: Mutex::new(()),
        }
    }
}

/// What a reader makes of the lines of one file.
pub(crate) trait Lines {
    /// One line without its end, from the file's beginning on.
    fn line(&mut self, line: &[u8]);

    /// Whether a line that begins like this is needed. Called for lines that do not fit.
    fn needs(&mut self, beginning: &[u8]) -> bool;

    /// Whether what stands behind the last line end is wanted, although it is no JSON value.
    fn wants_rest(&self) -> bool;

    /// A needed line was longer than the limit.
    fn too_long(&mut self);

    /// Whether to stop.
    fn stop(&self) -> bool;
}

/// What was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Consumed {
    /// Bytes up to the end of the last complete line.
    pub(crate) complete: u64,
    /// The file ends in an unfinished line.
    pub(crate) unfinished: bool,
}

/// The buffer of one reader thread.
pub(crate) struct Buffer(Vec<u8>);

impl Buffer {
    pub(crate) fn new() -> Self {
        Self(vec![0; BUFFER])
    }

    /// Reads `source` to its end. A last line without an end counts as a line when it is a complete
    /// JSON value, and is otherwise left for the next time.
    pub(crate) fn read(
        &mut self,
        source: &mut dyn Read,
        limits: &Limits,
        lines: &mut dyn Lines,
    ) -> io::Result<Consumed> {
        let mut consumed = Consumed::default();
        let mut reading = Reading {
            start: 0,
            end: 0,
            passing_over: false,
        };
        // The guard lives as long as the buffer is grown.
        let mut grown = None;
        loop {
            if lines.stop() {
                break;
            }
            if reading.end == self.0.len() {
                if reading.start > 0 {
                    self.0.copy_within(reading.start..reading.end, 0);
                    reading.end -= reading.start;
                    reading.start = 0;
                } else if reading.passing_over {
                    consumed.complete += reading.end as u64;
                    reading.end = 0;
                } else if self.0.len() == BUFFER && !lines.needs(&self.0) {
                    reading.passing_over = true;
                    continue;
                } else if self.0.len() >= limits.line {
                    lines.too_long();
                    reading.passing_over = true;
                    continue;
                } else {
                    if grown.is_none() {
                        grown = limits.growing.lock().ok();
                    }
                    let wanted = (self.0.len() * 2).min(limits.line);
                    self.0.resize(wanted, 0);
                }
            }
            let count = match source.read(&mut self.0[reading.end..]) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.shrink();
                    return Err(error);
                }
            };
            let fresh = reading.end..reading.end + count;
            reading.end = fresh.end;
            self.hand_out(&mut reading, fresh.start, lines, &mut consumed);
            if reading.start == reading.end && self.0.len() > BUFFER {
                self.shrink();
                grown = None;
                (reading.start, reading.end) = (0, 0);
            }
        }
        let rest = &self.0[reading.start..reading.end];
        if reading.passing_over {
            consumed.complete += rest.len() as u64;
        } else if !rest.iter().all(u8::is_ascii_whitespace) && !lines.stop() {
            if lines.wants_rest() || serde_json::from_slice::<serde::de::IgnoredAny>(rest).is_ok() {
                lines.line(rest);
                consumed.complete += rest.len() as u64;
            } else {
                consumed.unfinished = true;
            }
        }
        self.shrink();
        drop(grown);
        Ok(consumed)
    }

    fn hand_out(
        &self,
        reading: &mut Reading,
        fresh: usize,
        lines: &mut dyn Lines,
        consumed: &mut Consumed,
    ) {
        let mut from = fresh;
        if reading.passing_over {
            match memchr(b'\n', &self.0[fresh..reading.end]) {
                Some(length) => {
                    from = fresh + length + 1;
                    consumed.complete += (from - reading.start) as u64;
                    reading.start = from;
                    reading.passing_over = false;
                }
                None => return,
            }
        }
        for length in memchr_iter(b'\n', &self.0[from..reading.end]) {
            let end = from + length;
            let line = &self.0[reading.start..end];
            consumed.complete += line.len() as u64 + 1;
            reading.start = end + 1;
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if !line.is_empty() {
                lines.line(line);
            }
        }
    }

    fn shrink(&mut self) {
        if self.0.len() > BUFFER {
            self.0 = vec![0; BUFFER];
        }
    }
}

/// Where the unread bytes of the buffer are.
struct Reading {
    start: usize,
    end: usize,
    /// The line at `start` is not wanted.
    passing_over: bool,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Collects lines; needs everything but lines that begin with `skip`.
    #[derive(Default)]
    struct Collected {
        lines: Vec<Vec<u8>>,
        too_long: usize,
    }

    impl Lines for Collected {
        fn line(&mut self, line: &[u8]) {
            self.lines.push(line.to_vec());
        }

        fn needs(&mut self, beginning: &[u8]) -> bool {
            !beginning.starts_with(b"skip")
        }

        fn wants_rest(&self) -> bool {
            false
        }

        fn too_long(&mut self) {
            self.too_long += 1;
        }

        fn stop(&self) -> bool {
            false
        }
    }

    /// Gives the bytes in pieces of a size that never fits.
    struct InPieces<'a>(&'a [u8], usize);

    impl Read for InPieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn read(bytes: &[u8], piece: usize, line: usize) -> (Collected, Consumed) {
        let mut collected = Collected::default();
        let limits = Limits {
            line,
            ..Limits::default()
        };
        let mut buffer = Buffer::new();
        let consumed = buffer
            .read(&mut InPieces(bytes, piece), &limits, &mut collected)
            .unwrap();
        assert_eq!(buffer.0.len(), BUFFER, "the buffer went back to its size");
        (collected, consumed)
    }

    #[test]
    fn lines_do_not_depend_on_how_the_bytes_arrive() {
        let bytes = b"one\n\ntwo\r\n{\"last\":1}";
        for piece in [1, 2, 3, 7, 1000] {
            let (collected, consumed) = read(bytes, piece, 1 << 20);
            assert_eq!(collected.lines, [&b"one"[..], b"two", b"{\"last\":1}"]);
            assert_eq!(consumed.complete, bytes.len() as u64);
            assert!(!consumed.unfinished);
        }
    }

    #[test]
    fn a_half_written_line_is_left_for_the_next_time() {
        let (collected, consumed) = read(b"{\"a\":1}\n{\"b\":", 5, 1 << 20);
        assert_eq!(collected.lines, [b"{\"a\":1}"]);
        assert_eq!((consumed.complete, consumed.unfinished), (8, true));
    }

    #[test]
    fn long_lines_are_grown_for_passed_over_or_too_long() {
        let mut bytes = Vec::new();
        let mut line = |first: &[u8], length: usize| {
            bytes.extend_from_slice(first);
            bytes.extend(std::iter::repeat_n(b'x', length));
            bytes.push(b'\n');
        };
        line(b"a", 10);
        line(b"skip", 3 * BUFFER);
        line(b"b", 3 * BUFFER);
        line(b"c", 9 * BUFFER);
        line(b"d", 10);
        for piece in [1000, BUFFER - 1, 10 * BUFFER] {
            let (collected, consumed) = read(&bytes, piece, 4 * BUFFER);
            let lengths: Vec<usize> = collected.lines.iter().map(Vec::len).collect();
            assert_eq!(lengths, [11, 3 * BUFFER + 1, 11], "{piece}");
            assert_eq!(collected.too_long, 1);
            assert_eq!(consumed.complete, bytes.len() as u64);
        }
    }
}
