//! `cargo xtask package`: the packages of this system, with everything a user needs in one.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use crate::Stop;
use crate::command::{cargo, of_npm, program, root, say, target};
use crate::{needs, ui};

/// The packages that can be made here without fetching tools from elsewhere.
const HERE: &str = if cfg!(target_os = "linux") {
    "deb,rpm"
} else if cfg!(target_os = "macos") {
    "app,dmg"
} else {
    "nsis,msi"
};

/// Further words for the maker of packages. Files are named apart for Windows only: programs that do not end
/// in `.exe` would keep every build elsewhere from going through.
const MORE: &[&str] = if cfg!(windows) {
    &["--config", "installers/windows.json"]
} else {
    &[]
};

/// Builds the programs and puts them into packages below `target/release/bundle`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Stop> {
    let bundles = match arguments {
        [] => HERE,
        [flag, bundles] if flag == "--bundles" => bundles,
        _ => {
            return Err(Stop::Because(
                "`package` takes --bundles LIST and nothing else".to_owned(),
            ));
        }
    };
    needs::system(needs::FOR_PACKAGES, false)?;
    ui::build()?;
    cargo([
        "build",
        "--release",
        "--locked",
        "-p",
        "skillopt-cli",
        "-p",
        "skillopt-desktop",
    ])
    .run("release build")?;
    pages_of_the_command_line()?;
    // It reads src-tauri/tauri.conf.json.
    program(
        root().join("ui/node_modules/.bin").join(of_npm("tauri")),
        ["bundle", "--bundles", bundles]
            .into_iter()
            .chain(MORE.iter().copied()),
    )
    .run("packages")?;
    let bundled = target().join("release/bundle");
    for package in packages(&bundled)? {
        if package.extension().is_some_and(|ending| ending == "deb") {
            pack_tightly(&package)?;
        }
    }
    for package in packages(&bundled)? {
        let size = fs::metadata(&package)?.len();
        say(&format!(
            "{} ({:.1} MB)",
            package.display(),
            size as f64 / 1e6
        ));
    }
    Ok(())
}

/// Packs a Debian package again with xz, which its maker cannot: a third less.
fn pack_tightly(package: &Path) -> Result<(), Stop> {
    let unpacked = target().join("package/deb");
    if unpacked.exists() {
        fs::remove_dir_all(&unpacked)?;
    }
    program(
        "dpkg-deb",
        [
            OsStr::new("--raw-extract"),
            package.as_os_str(),
            unpacked.as_os_str(),
        ],
    )
    .run_quietly("what is in the package")?;
    program(
        "dpkg-deb",
        [
            OsStr::new("--root-owner-group"),
            OsStr::new("-Zxz"),
            OsStr::new("--build"),
            unpacked.as_os_str(),
            package.as_os_str(),
        ],
    )
    .run_quietly("the package, packed tightly")?;
    Ok(())
}

/// Manual and completions, which packages put where shells look for them.
#[allow(clippy::disallowed_methods, reason = "made anew with each package")]
fn pages_of_the_command_line() -> Result<(), Stop> {
    let folder = target().join("package");
    fs::create_dir_all(&folder)?;
    let skillopt = target().join("release/skillopt");
    for (name, words) in [
        ("skillopt.1", ["man"].as_slice()),
        ("skillopt.bash", &["completions", "bash"]),
        ("skillopt.zsh", &["completions", "zsh"]),
        ("skillopt.fish", &["completions", "fish"]),
    ] {
        let text = program(&skillopt, words).run_quietly(name)?;
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}

fn packages(folder: &Path) -> Result<Vec<std::path::PathBuf>, Stop> {
    let mut found = Vec::new();
    for kind in fs::read_dir(folder)? {
        for file in fs::read_dir(kind?.path())? {
            let path = file?.path();
            let is_package = path.extension().is_some_and(|ending| {
                ["deb", "rpm", "AppImage", "dmg", "msi", "exe"]
                    .iter()
                    .any(|known| ending == *known)
            });
            if is_package {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
