//! Writes the files that are generated from the code: `docs/openapi.json`.

use std::path::Path;

use anyhow::{Context as _, Result};

fn main() -> Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let mut text = serde_json::to_string_pretty(&sayso_server::openapi())?;
    text.push('\n');
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}
