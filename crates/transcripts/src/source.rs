//! The bytes of a transcript file, plain or compressed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use crate::lines::Limits;

/// Window that compressed bytes may ask for, as a power of two: 8 MiB.
pub(crate) const WINDOW: u32 = 23;
/// No words shrink to less than one byte in so many.
const LARGEST_RATIO: u64 = 200;
/// What a compressed file of any size may hold.
const ALWAYS: u64 = 16 * 1024 * 1024;
/// Bytes before the place a file was read to that must be unchanged when it is continued.
const TAIL: u64 = 4096;

/// How a file's bytes are stored; recognised by its first bytes, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Plain,
    Zstandard,
}

impl Packing {
    /// Looks at the first bytes of `file` and goes back to its beginning.
    pub(crate) fn of(file: &mut File) -> io::Result<Self> {
        let mut magic = [0; 4];
        let mut filled = 0;
        while filled < magic.len() {
            match file.read(&mut magic[filled..])? {
                0 => break,
                count => filled += count,
            }
        }
        file.seek(SeekFrom::Start(0))?;
        Ok(Self::of_bytes(&magic[..filled]))
    }

    /// The same for bytes in memory.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        // RFC 8878 §3.1.1 and §3.1.2: a frame, or a skippable frame before it.
        match bytes.get(..4) {
            Some([0x28, 0xB5, 0x2F, 0xFD] | [0x50..=0x5F, 0x2A, 0x4D, 0x18]) => Self::Zstandard,
            _ => Self::Plain,
        }
    }
}

/// A reader of decompressed bytes that ends at the limit.
pub(crate) struct Unpacked<R: io::BufRead> {
    inner: zstd::stream::read::Decoder<'static, R>,
    left: u64,
    /// There was more than the limit.
    pub(crate) cut: bool,
}

impl<R: Read> Unpacked<io::BufReader<R>> {
    /// `size` is that of the compressed file: a small one that swells beyond all reason is cut, since
    /// its lines cost time however little they hold.
    pub(crate) fn new(packed: R, size: u64, limits: &Limits) -> io::Result<Self> {
        let mut inner = zstd::stream::read::Decoder::new(packed)?;
        inner.window_log_max(WINDOW)?;
        Ok(Self {
            inner,
            left: limits
                .decompressed
                .min(size.saturating_mul(LARGEST_RATIO).max(ALWAYS)),
            cut: false,
        })
    }
}

impl<R: io::BufRead> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            self.cut = self.inner.read(&mut [0])? > 0;
            return Ok(0);
        }
        let wanted = buffer
            .len()
            .min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let count = self.inner.read(&mut buffer[..wanted])?;
        self.left -= count as u64;
        Ok(count)
    }
}

/// Hash of the bytes before `offset`, by which a continued file is recognised.
pub(crate) fn tail_hash(file: &mut File, offset: u64) -> io::Result<String> {
    let length = offset.min(TAIL);
    file.seek(SeekFrom::Start(offset - length))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(skillopt_core::hash::sha256_hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_is_known_by_the_first_bytes() {
        let packed = zstd::encode_all(&b"{}"[..], 3).unwrap();
        assert_eq!(Packing::of_bytes(&packed), Packing::Zstandard);
        assert_eq!(Packing::of_bytes(b"{}"), Packing::Plain);
        assert_eq!(Packing::of_bytes(b""), Packing::Plain);
    }

    #[test]
    fn a_bomb_ends_at_the_limit() {
        let packed = zstd::encode_all(io::repeat(b'a').take(10_000_000), 3).unwrap();
        assert!(packed.len() < 10_000, "the bomb is small");
        let limits = Limits {
            decompressed: 1_000_000,
            ..Limits::default()
        };
        let mut unpacked = Unpacked::new(packed.as_slice(), packed.len() as u64, &limits).unwrap();
        let mut bytes = Vec::new();
        unpacked.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes.len(), 1_000_000);
        assert!(unpacked.cut);
    }

    #[test]
    fn a_small_file_cannot_swell_without_measure() {
        let packed = zstd::encode_all(io::repeat(b'\n').take(40_000_000), 3).unwrap();
        let size = packed.len() as u64;
        assert!(size < 10_000, "the bomb is small");
        let mut unpacked = Unpacked::new(packed.as_slice(), size, &Limits::default()).unwrap();
        let read = io::copy(&mut unpacked, &mut io::sink()).unwrap();
        assert_eq!(read, ALWAYS);
        assert!(unpacked.cut);
    }
}
