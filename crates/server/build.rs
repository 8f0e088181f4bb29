//! Compiles `web/dist` into release builds: writes `page.rs`, a table of file names and contents sorted by name.
//! Debug builds read the folder at run time instead, so they do not depend on it.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        let manifest = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
        let out = env::var("OUT_DIR").map_err(io::Error::other)?;
        let dist = PathBuf::from(manifest).join("../../web/dist");
        // Cargo reruns this script on every build if the folder does not exist.
        fs::create_dir_all(&dist)?;
        println!("cargo::rerun-if-changed={}", dist.display());
        let mut files = Vec::new();
        list_files(&dist, &dist, &mut files)?;
        files.sort();
        let rows: String = files.iter().map(|(name, path)| format!("    ({name:?}, include_bytes!({path:?})),\n")).collect();
        fs::write(Path::new(&out).join("page.rs"), format!("static FILES: &[(&str, &[u8])] = &[\n{rows}];\n"))?;
    }
    Ok(())
}

/// Adds each file below `dir` with its path relative to `root`.
fn list_files(root: &Path, dir: &Path, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            list_files(root, &path, files)?;
        } else if let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str) {
            files.push((name.to_owned(), path.clone()));
        }
    }
    Ok(())
}
