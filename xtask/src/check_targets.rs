//! `cargo xtask check-targets`: whether the code of the platforms that are not this one type-checks.
//!
//! Nothing is linked and nothing is run, so the C, Objective-C and resource compilers of those platforms
//! are not needed: a script in their place writes empty archives. The standard library is the one that
//! rustup installed for the target; without it, on Debian, one is built from the sources that Debian
//! packages with its newest compiler.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Stop;
use crate::command::{Step, cargo, program, target};

/// A platform whose code is checked.
struct Target {
    name: &'static str,
    /// What `std::env::consts::OS` says there.
    system: &'static str,
}

impl Target {
    fn is_elsewhere(&self) -> bool {
        self.system != std::env::consts::OS
    }
}

const TARGETS: &[Target] = &[
    Target {
        name: "x86_64-pc-windows-gnu",
        system: "windows",
    },
    Target {
        name: "aarch64-apple-darwin",
        system: "macos",
    },
];

/// Name of the script in place of compilers.
const SCRIPT: &str = "no-compiler";

/// Stands for the C, Objective-C and resource compilers, for the archiver and for what makes import
/// libraries: answers their probes and writes an archive of nothing where a file is asked for.
const NO_COMPILER: &str = r##"#!/bin/sh
out=
previous=
for word in "$@"; do
  case "$previous" in
    -o | --output | -l) out=$word ;;
  esac
  case "$word" in
    -V) echo "GNU windres"; exit 0 ;;
    -v | --version) echo "clang version 17.0.0"; exit 0 ;;
    -E) echo "clang"; exit 0 ;;
    -o?*) out=${word#-o} ;;
    *.a) out=$word ;;
  esac
  previous=$word
done
if [ -n "$out" ]; then
  printf '!<arch>\n' > "$out"
fi
"##;

/// Checks the product for every target, or only for those named.
pub(crate) fn run(names: &[String]) -> Result<(), Stop> {
    if let Some(unknown) = names
        .iter()
        .find(|name| !TARGETS.iter().any(|target| target.name == *name))
    {
        return Err(Stop::Because(format!(
            "\"{unknown}\" is not checked; there are: {}",
            TARGETS
                .iter()
                .map(|target| target.name)
                .collect::<Vec<_>>()
                .join(", ")
        )));
    }
    if cfg!(not(unix)) {
        return Err(Stop::Because(
            "other platforms are checked from Linux or macOS only: the compilers that are not \
             installed are stood for by a script of the shell"
                .to_owned(),
        ));
    }
    let folder = target().join("check-targets");
    for target in TARGETS
        .iter()
        .filter(|target| names.is_empty() || names.iter().any(|name| name == target.name))
    {
        check(target, &folder)?;
    }
    Ok(())
}

fn check(target: &Target, folder: &Path) -> Result<(), Stop> {
    // What is only for tests stays out: they use what only Linux has.
    let mut check = cargo([
        "check",
        "--locked",
        "--workspace",
        "--exclude",
        "skillopt-tests",
        // What runs here is macros and build scripts: not worth optimising.
        "--config",
        "profile.dev.package.\"*\".opt-level = 0",
        "--target",
        target.name,
    ])
    // Separated as arguments are not: a path may have blanks.
    .env("CARGO_ENCODED_RUSTFLAGS", flags(target, folder));
    let with = if has_std(target.name) {
        check = check.args(["--target-dir".as_ref(), folder.join("build").as_os_str()]);
        "rustup's standard library"
    } else {
        let compiler = DebianCompiler::in_folder(folder)?;
        check = compiler.lent_to(check).args([
            "--target-dir".as_ref(),
            folder.join("build-debian").as_os_str(),
        ]);
        "Debian's sources of the standard library"
    };
    if target.is_elsewhere() {
        check = without_its_compilers(check, target, folder)?;
    }
    check.run(&format!("check for {}, with {with}", target.name))
}

fn flags(target: &Target, folder: &Path) -> OsString {
    let mut flags = OsString::from("-Dwarnings");
    if target.is_elsewhere() {
        flags.push("\u{1f}-Cdlltool=");
        flags.push(folder.join(SCRIPT));
    }
    flags
}

/// Whether the compiler in use has a standard library for the target.
fn has_std(target: &str) -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let Ok(output) = program(rustc, ["--print", "sysroot"])
        .into_command()
        .output()
    else {
        return false;
    };
    let sysroot = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    !sysroot.is_empty()
        && Path::new(&sysroot)
            .join("lib/rustlib")
            .join(target)
            .join("lib")
            .is_dir()
}

/// Puts the script in the place of the target's compilers.
#[allow(clippy::disallowed_methods, reason = "made anew with each run")]
fn without_its_compilers(check: Step, target: &Target, folder: &Path) -> Result<Step, Stop> {
    let script = folder.join(SCRIPT);
    fs::create_dir_all(folder)?;
    fs::write(&script, NO_COMPILER)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    }
    let sdk = folder.join("empty-sdk");
    fs::create_dir_all(&sdk)?;
    let name = target.name.replace('-', "_");
    Ok(["CC", "CXX", "AR", "RC"]
        .iter()
        .fold(check, |check, tool| {
            check.env(&format!("{tool}_{name}"), &script)
        })
        .env("SDKROOT", sdk))
}

/// Debian's newest compiler and the sources of its standard library, unpacked and not installed, so that
/// the machine's own stays as it is.
struct DebianCompiler {
    folder: PathBuf,
}

impl DebianCompiler {
    /// Downloads and unpacks it, unless that was done before.
    fn in_folder(folder: &Path) -> Result<Self, Stop> {
        let ready = Self {
            folder: folder.join("debian"),
        };
        if ready.folder.is_dir() {
            return Ok(ready);
        }
        let missing = |what: &str| {
            Stop::Because(format!(
                "{what}; add the target with `rustup target add NAME`, or run this on Debian 12 or \
                 later with a network and after `apt-get update`"
            ))
        };
        if !program("apt-get", ["--version"]).succeeds() {
            return Err(missing(
                "the standard library of the target is not installed, and there is no apt-get to \
                 fetch its sources with",
            ));
        }
        let packages = packages()
            .ok_or_else(|| missing("Debian's package lists name no compiler `rustc-web`"))?;
        // Unpacked beside its place and moved there whole.
        let part = folder.join("debian.part");
        let downloads = folder.join("packages");
        for left in [&part, &downloads] {
            if left.exists() {
                fs::remove_dir_all(left)?;
            }
            fs::create_dir_all(left)?;
        }
        program("apt-get", ["-qq", "download"])
            .args(&packages)
            .with(|command| {
                command.current_dir(&downloads);
            })
            .run(&format!("download {}", packages.join(" ")))
            .map_err(|_| missing("Debian's compiler could not be downloaded"))?;
        for package in fs::read_dir(&downloads)? {
            program("dpkg-deb", ["-x".as_ref(), package?.path().as_os_str()])
                .args([&part])
                .run_quietly("unpack")?;
        }
        fs::remove_dir_all(&downloads)?;
        fs::rename(&part, &ready.folder)?;
        Ok(ready)
    }

    /// Lets cargo use it. Building the standard library is not a stable feature, which this compiler has
    /// to be told to allow.
    fn lent_to(&self, step: Step) -> Step {
        let libraries = [
            "usr/lib",
            "usr/lib/x86_64-linux-gnu",
            "usr/lib/aarch64-linux-gnu",
        ]
        .map(|below| self.folder.join(below).to_string_lossy().into_owned());
        step.env("RUSTC", self.folder.join("usr/bin/rustc"))
            .env("LD_LIBRARY_PATH", libraries.join(":"))
            .env("RUSTC_BOOTSTRAP", "1")
            .args(["-Zbuild-std=std,panic_abort,panic_unwind"])
    }
}

/// The packages that make a whole compiler: names of libraries carry their version.
fn packages() -> Option<Vec<String>> {
    let std = dependency("libstd-rust-web-dev", "libstd-rust-web-")?;
    let llvm = dependency(&std, "libllvm")?;
    let named = ["rustc-web", "rust-web-src", "libstd-rust-web-dev"];
    Some(
        named
            .map(str::to_owned)
            .into_iter()
            .chain([std, llvm])
            .collect(),
    )
}

/// The package with this beginning that another one depends on.
fn dependency(package: &str, beginning: &str) -> Option<String> {
    let output = program("apt-cache", ["depends", package])
        .into_command()
        .output()
        .ok()?;
    named_in(&String::from_utf8_lossy(&output.stdout), beginning)
}

fn named_in(answer: &str, beginning: &str) -> Option<String> {
    answer
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Depends: "))
        .find(|name| name.starts_with(beginning))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_in_a_package_s_name_is_read_from_the_package_lists() {
        let answer = "libstd-rust-web-dev\n  Depends: libc6\n  Depends: libstd-rust-web-1.96\n \
                      Conflicts: libstd-rust-web-1.2\n";
        assert_eq!(
            named_in(answer, "libstd-rust-web-").as_deref(),
            Some("libstd-rust-web-1.96")
        );
        assert_eq!(named_in(answer, "libllvm"), None);
    }

    #[cfg(unix)]
    #[test]
    fn the_script_in_place_of_compilers_answers_and_leaves_files() {
        let folder = std::env::temp_dir().join(format!("check-targets-{}", std::process::id()));
        let check = without_its_compilers(program("true", [""]), &TARGETS[1], &folder);
        assert!(check.is_ok_and(Step::succeeds));
        let script = folder.join(SCRIPT);
        for (words, made) in [
            (["-c", "-o"], "a.o"),
            (["--output-format=coff", "--output"], "b.lib"),
            (["cq", "-D"], "c.a"),
            (["-D", "-l"], "d.lib"),
        ] {
            let made = folder.join(made);
            let ended = program(&script, words).args([&made]).succeeds();
            assert!(ended && fs::read(&made).is_ok_and(|file| file == b"!<arch>\n"));
        }
        let version = program(&script, ["-V"]).run_quietly("version").ok();
        assert_eq!(version.as_deref(), Some("GNU windres\n"));
        assert!(fs::remove_dir_all(&folder).is_ok());
    }
}
