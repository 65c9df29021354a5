//! Words of a POSIX shell, for lines that are shown or written to a crontab.

/// `text` as one word: quoted unless every character is plain.
pub(crate) fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The words of a line that was put together from [`word`]s.
pub(crate) fn words(line: &str) -> impl Iterator<Item = String> {
    let mut rest = line.chars().peekable();
    std::iter::from_fn(move || {
        while rest.next_if(|c| *c == ' ').is_some() {}
        rest.peek()?;
        let (mut word, mut quoted) = (String::new(), false);
        while let Some(c) = rest.next_if(|c| quoted || *c != ' ') {
            match c {
                '\'' => quoted = !quoted,
                '\\' if !quoted => word.extend(rest.next()),
                c => word.push(c),
            }
        }
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_as_they_were() {
        let given = ["/a/b-c_d.e", "a b", "o'k", "", "50%", "\\", "ä"];
        let line: Vec<String> = given.iter().map(|text| word(text)).collect();
        assert_eq!(line[0], "/a/b-c_d.e");
        assert_eq!(line[2], "'o'\\''k'");
        assert_eq!(words(&line.join("  ")).collect::<Vec<_>>(), given);
    }
}
