//! A text as a model reads it, in ASCII, so that phrases are found however they are dressed up.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use super::characters::is_invisible;

/// Stands for a character that has no ASCII form.
const OTHER: u8 = b'?';

/// A text beside its ASCII form: compatibility forms folded (`ｃｕｒｌ`), accents dropped, look-alike
/// letters replaced, invisible characters left out. It has the same lines.
pub(super) struct Plain<'t> {
    original: &'t str,
    ascii: Cow<'t, str>,
    /// For each byte of `ascii`, and its end, where it comes from; empty when they are the same.
    origins: Vec<usize>,
    /// Where the lines of `ascii` begin.
    line_starts: Vec<usize>,
}

impl<'t> Plain<'t> {
    pub(super) fn of(original: &'t str) -> Self {
        let (ascii, origins) = if original.is_ascii() {
            (Cow::Borrowed(original), Vec::new())
        } else {
            let (ascii, origins) = folded(original);
            (Cow::Owned(ascii), origins)
        };
        let breaks = memchr::memchr_iter(b'\n', ascii.as_bytes());
        let line_starts = std::iter::once(0).chain(breaks.map(|at| at + 1)).collect();
        Self {
            original,
            ascii,
            origins,
            line_starts,
        }
    }

    pub(super) fn original(&self) -> &'t str {
        self.original
    }

    /// The ASCII form.
    pub(super) fn ascii(&self) -> &str {
        &self.ascii
    }

    /// The line, from 0, that has byte `at` of the ASCII form.
    pub(super) fn line_of(&self, at: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= at) - 1
    }

    /// Where the line after this one begins in the ASCII form.
    pub(super) fn end_of_line(&self, line: usize) -> usize {
        self.line_starts
            .get(line + 1)
            .copied()
            .unwrap_or(self.ascii.len())
    }

    /// The lines of the ASCII form with their beginnings, without line endings.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.line_starts.iter().enumerate().map(|(line, &start)| {
            let text = &self.ascii[start..self.end_of_line(line)];
            (start, text.trim_end_matches(['\n', '\r']))
        })
    }

    /// The byte of the original that a byte of the ASCII form, or its end, comes from.
    pub(super) fn origin(&self, at: usize) -> usize {
        if self.original.len() == self.ascii.len() && self.origins.is_empty() {
            at
        } else {
            self.origins[at]
        }
    }
}

fn folded(original: &str) -> (String, Vec<usize>) {
    let mut ascii = String::with_capacity(original.len());
    let mut origins = Vec::with_capacity(original.len() + 1);
    for (at, c) in original.char_indices() {
        let before = ascii.len();
        if c.is_ascii() {
            ascii.push(c);
        } else if is_invisible(c) || unicode_normalization::char::is_combining_mark(c) {
            continue;
        } else {
            for part in std::iter::once(c).nfkd() {
                if part.is_ascii() {
                    ascii.push(part);
                } else if !unicode_normalization::char::is_combining_mark(part) {
                    ascii.push(look_alike(part) as char);
                }
            }
        }
        origins.resize(origins.len() + ascii.len() - before, at);
    }
    origins.push(original.len());
    (ascii, origins)
}

/// The ASCII letter that a letter of another script is drawn like.
fn look_alike(c: char) -> u8 {
    match c {
        'а' | 'α' => b'a',
        'А' | 'Α' => b'A',
        'В' | 'Β' => b'B',
        'с' | 'ϲ' => b'c',
        'С' => b'C',
        'ԁ' => b'd',
        'е' => b'e',
        'Е' | 'Ε' => b'E',
        'Н' | 'Η' => b'H',
        'һ' => b'h',
        'і' | 'ι' | 'ı' => b'i',
        'І' | 'Ι' => b'I',
        'ј' => b'j',
        'К' | 'Κ' => b'K',
        'М' | 'Μ' => b'M',
        'Ν' => b'N',
        'о' | 'ο' => b'o',
        'О' | 'Ο' => b'O',
        'р' | 'ρ' => b'p',
        'Р' | 'Ρ' => b'P',
        'ѕ' => b's',
        'Ѕ' => b'S',
        'Т' | 'Τ' => b'T',
        'ν' | 'ѵ' => b'v',
        'ԝ' => b'w',
        'х' | 'χ' => b'x',
        'Х' | 'Χ' => b'X',
        'у' => b'y',
        'Υ' => b'Y',
        'Ζ' => b'Z',
        '‘' | '’' | 'ʼ' => b'\'',
        '“' | '”' => b'"',
        '‐' | '‑' | '–' | '—' | '−' => b'-',
        _ => OTHER,
    }
}
