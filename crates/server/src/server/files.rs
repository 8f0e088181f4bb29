//! Private files in the data directory.

use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use super::StartError;

pub(super) fn make_private_dir(dir: &Path) -> Result<(), StartError> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(|source| StartError::File { path: dir.to_owned(), source })
}

/// Writes a file that only its owner can read. Readers see either the complete new content or the old file.
pub(super) fn write_private(path: &Path, text: &str) -> Result<(), StartError> {
    let failed = |source| StartError::File { path: path.to_owned(), source };
    let part = path.with_extension("part");
    let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    std::fs::rename(&part, path).map_err(failed)
}

/// Writes `server.json`, which tells clients on this machine where the server is.
pub(super) fn announce_server(data_dir: &Path, url: &str) -> Result<(), StartError> {
    let server = serde_json::json!({ "url": url, "pid": std::process::id(), "version": env!("CARGO_PKG_VERSION") });
    write_private(&data_dir.join("server.json"), &server.to_string())
}
