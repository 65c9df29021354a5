//! Declares the calls a window may make, and puts a page in the place of the front end when it was
//! not built, so that the workspace compiles without Node.

#![allow(
    clippy::disallowed_methods,
    reason = "a page that is built again when it is torn"
)]

use std::path::Path;

/// Every call of the front end; what is not listed is refused before it reaches the program.
const CALLS: &[&str] = &["execute", "shell"];

const NOT_BUILT: &str = "<!doctype html><meta charset=\"utf-8\"><title>SkillOpt</title>\
<p>The pages of this window were not built. Run <code>cargo xtask ui</code>, then build the program again.</p>\n";

fn main() {
    let pages = Path::new("../ui/dist");
    let first = pages.join("index.html");
    if !first.exists()
        && let Err(error) =
            std::fs::create_dir_all(pages).and_then(|()| std::fs::write(&first, NOT_BUILT))
    {
        println!("cargo::warning=the placeholder page could not be written: {error}");
    }
    println!("cargo::rerun-if-changed=../ui/dist");
    let attributes = tauri_build::Attributes::new()
        .app_manifest(tauri_build::AppManifest::new().commands(CALLS));
    if let Err(error) = tauri_build::try_build(attributes) {
        println!("cargo::error={error:#}");
    }
}
