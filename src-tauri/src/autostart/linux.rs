//! The entry of freedesktop.org's "Desktop Application Autostart Specification". A library would write
//! it, but neither quotes the program nor looks for the user's configuration folder.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The file's name.
const ENTRY: &str = "skillopt-desktop.desktop";

pub(super) fn change(asked: Option<bool>) -> io::Result<bool> {
    let entry = folder(|name| std::env::var_os(name))?.join(ENTRY);
    match asked {
        Some(true) => write(&entry, &program(|name| std::env::var_os(name))?)?,
        Some(false) => match std::fs::remove_file(&entry) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        },
        None => {}
    }
    is_on(&entry)
}

/// Names this program in the entry, when the one it names is gone: packages are moved and renamed, and an
/// AppImage has its version in its name. An entry that names another program that is there stays.
pub(super) fn mend() -> io::Result<()> {
    let entry = folder(|name| std::env::var_os(name))?.join(ENTRY);
    mend_entry(&entry, &program(|name| std::env::var_os(name))?)
}

fn mend_entry(entry: &Path, program: &Path) -> io::Result<()> {
    let text = match std::fs::read_to_string(entry) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        read => read?,
    };
    let exec = text.lines().find_map(|line| line.strip_prefix("Exec="));
    let is_gone = exec
        .and_then(|exec| unquoted(exec.strip_suffix(" --quiet")?))
        .is_some_and(|named| named.is_absolute() && !named.exists());
    if is_gone && is_on(entry)? {
        write(entry, program)?;
    }
    Ok(())
}

/// The user's autostart folder.
fn folder(variable: impl Fn(&str) -> Option<OsString>) -> io::Result<PathBuf> {
    // A relative one is to be ignored, by the specification.
    let named = variable("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let config = match named {
        Some(config) => config,
        None => variable("HOME")
            .filter(|home| !home.is_empty())
            .map(|home| PathBuf::from(home).join(".config"))
            .ok_or_else(|| io::Error::other("your home folder is not known"))?,
    };
    Ok(config.join("autostart"))
}

/// What is to be started: of an AppImage the file itself, since its contents are elsewhere the next time.
fn program(variable: impl Fn(&str) -> Option<OsString>) -> io::Result<PathBuf> {
    match variable("APPIMAGE").map(PathBuf::from) {
        Some(image) if image.is_absolute() => Ok(image),
        Some(_) | None => std::env::current_exe(),
    }
}

fn write(entry: &Path, program: &Path) -> io::Result<()> {
    let exec = quoted(program)?;
    let text = format!(
        "[Desktop Entry]\nType=Application\nVersion=1.0\nName=SkillOpt\n\
         Comment=Nights while you sleep, one click in the morning\n\
         Exec={exec} --quiet\nIcon=skillopt-desktop\nTerminal=false\nStartupNotify=false\n"
    );
    if let Some(folder) = entry.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = std::fs::File::create(entry)?;
    file.write_all(text.as_bytes())
}

/// Also one that the user's desktop has switched off is there.
fn is_on(entry: &Path) -> io::Result<bool> {
    match std::fs::read_to_string(entry) {
        Ok(text) => Ok(!text.lines().any(|line| {
            let line = line.replace(' ', "");
            line == "Hidden=true" || line == "X-GNOME-Autostart-enabled=false"
        })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// A program as an argument of `Exec`: quoted, with `\` before what the quotes leave special, each of these
/// once more since values are unescaped before, and `%`, which begins a field, doubled.
fn quoted(program: &Path) -> io::Result<String> {
    let text = program
        .to_str()
        .filter(|text| !text.chars().any(char::is_control))
        .ok_or_else(|| io::Error::other("the path of the program cannot be written in an entry"))?;
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\\' => out.push_str(r"\\\\"),
            '"' | '`' | '$' => {
                out.push_str(r"\\");
                out.push(c);
            }
            '%' => out.push_str("%%"),
            other => out.push(other),
        }
    }
    out.push('"');
    Ok(out)
}

/// The program that [`quoted`] wrote; `None` for what it does not write.
fn unquoted(text: &str) -> Option<PathBuf> {
    let mut rest = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut out = String::new();
    while let Some(c) = rest.chars().next() {
        let (taken, meant) = match c {
            '\\' if rest.starts_with(r"\\\\") => (4, '\\'),
            '\\' => (3, rest.strip_prefix(r"\\")?.chars().next()?),
            '%' if rest.starts_with("%%") => (2, '%'),
            other => (other.len_utf8(), other),
        };
        out.push(meant);
        rest = rest.get(taken..)?;
    }
    Some(out.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(known: &[(&str, &str)]) -> impl Fn(&str) -> Option<OsString> {
        let known: Vec<(String, OsString)> = known
            .iter()
            .map(|(name, value)| ((*name).to_owned(), OsString::from(value)))
            .collect();
        move |name| {
            let found = known.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        }
    }

    #[test]
    fn the_folder_is_the_one_of_the_configuration() {
        let of = |known: &[(&str, &str)]| folder(variables(known)).ok();
        let home = ("HOME", "/home/a");
        assert_eq!(of(&[home]), Some("/home/a/.config/autostart".into()));
        let named = ("XDG_CONFIG_HOME", "/etc/a");
        assert_eq!(of(&[home, named]), Some("/etc/a/autostart".into()));
        for ignored in ["", "relative"] {
            assert_eq!(
                of(&[home, ("XDG_CONFIG_HOME", ignored)]),
                Some("/home/a/.config/autostart".into())
            );
        }
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn an_appimage_is_started_as_a_whole() {
        let image = program(variables(&[("APPIMAGE", "/home/a/SkillOpt.AppImage")]));
        assert_eq!(image.unwrap(), PathBuf::from("/home/a/SkillOpt.AppImage"));
        let own = std::env::current_exe().unwrap();
        assert_eq!(program(variables(&[])).unwrap(), own);
        assert_eq!(program(variables(&[("APPIMAGE", "")])).unwrap(), own);
    }

    #[test]
    fn a_path_is_one_argument_whatever_is_in_it() {
        // The expected values are made by hand from the specification's two rules (Exec, string values).
        for (path, expected) in [
            (
                "/usr/bin/skillopt-desktop",
                r#""/usr/bin/skillopt-desktop""#,
            ),
            ("/home/my apps/s", r#""/home/my apps/s""#),
            ("/a\"b", r#""/a\\"b""#),
            ("/a$b`c", r#""/a\\$b\\`c""#),
            (r"/a\b", r#""/a\\\\b""#),
            ("/100%", r#""/100%%""#),
        ] {
            assert_eq!(quoted(Path::new(path)).unwrap(), expected, "{path}");
            assert_eq!(unquoted(expected), Some(path.into()), "{path}");
        }
        assert!(quoted(Path::new("/a\nHidden=true")).is_err());
    }

    #[test]
    fn an_entry_that_the_desktop_switched_off_is_off() {
        let folder = tempfile::tempdir().unwrap();
        let entry = folder.path().join("autostart").join(ENTRY);
        assert!(!is_on(&entry).unwrap());
        write(&entry, Path::new("/opt/my apps/s")).unwrap();
        assert!(is_on(&entry).unwrap());
        let text = std::fs::read_to_string(&entry).unwrap();
        assert!(
            text.contains("\nExec=\"/opt/my apps/s\" --quiet\n"),
            "{text}"
        );
        for switch in ["Hidden=true", "X-GNOME-Autostart-enabled=false"] {
            write(&entry, Path::new("/opt/my apps/s")).unwrap();
            let mut file = std::fs::File::options().append(true).open(&entry).unwrap();
            writeln!(file, "{switch}").unwrap();
            assert!(!is_on(&entry).unwrap());
        }
    }

    #[test]
    fn an_entry_whose_program_is_gone_names_this_one() {
        let folder = tempfile::tempdir().unwrap();
        let entry = folder.path().join("autostart").join(ENTRY);
        let (gone, here) = (folder.path().join("gone"), folder.path().join("here"));
        let other = folder.path().join("other");
        for program in [&here, &other] {
            std::fs::File::create(program).unwrap();
        }
        let named = || {
            let text = std::fs::read_to_string(&entry).unwrap();
            let exec = text.lines().find_map(|line| line.strip_prefix("Exec="));
            unquoted(exec.unwrap().strip_suffix(" --quiet").unwrap()).unwrap()
        };
        mend_entry(&entry, &here).unwrap();
        assert!(!entry.exists(), "what is off stays off");
        write(&entry, &other).unwrap();
        mend_entry(&entry, &here).unwrap();
        assert_eq!(named(), other);
        write(&entry, &gone).unwrap();
        mend_entry(&entry, &here).unwrap();
        assert_eq!(named(), here);
        write(&entry, &gone).unwrap();
        let mut file = std::fs::File::options().append(true).open(&entry).unwrap();
        writeln!(file, "Hidden=true").unwrap();
        mend_entry(&entry, &here).unwrap();
        assert_eq!(named(), gone);
    }
}
