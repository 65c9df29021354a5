//! Small files beside a transcript that say where it belongs.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Most bytes of such a file.
const LIMIT: u64 = 64 * 1024;

/// The bytes of a small ordinary file; `None` when there is none that can be read.
pub(crate) fn read(path: &Path) -> Option<Vec<u8>> {
    // A pipe would wait for somebody to write to it.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path)
        .ok()?
        .take(LIMIT + 1)
        .read_to_end(&mut bytes)
        .ok()?;
    (bytes.len() as u64 <= LIMIT).then_some(bytes)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Write;

    use super::*;

    pub(crate) fn put(path: &Path, bytes: &[u8]) {
        File::create(path).unwrap().write_all(bytes).unwrap();
    }

    #[test]
    fn only_small_ordinary_files_are_read() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a");
        assert_eq!(read(&path), None);
        assert_eq!(read(home.path()), None);
        put(&path, b"x");
        assert_eq!(read(&path).as_deref(), Some(&b"x"[..]));
        put(&path, &vec![b'x'; 64 * 1024 + 1]);
        assert_eq!(read(&path), None);
    }
}
