//! `sayso backup`: copies the whole database while the server runs.

use std::path::Path;

use crate::app::App;
use crate::failure::Failure;
use crate::words;

pub(crate) async fn run(app: &App, file: &Path) -> Result<(), Failure> {
    app.person_only()?;
    let database = app.paths.database();
    if !database.exists() {
        return Err(Failure::new(format!("There is no database at {}.", database.display())));
    }
    if file.symlink_metadata().is_ok() {
        return Err(Failure::new(format!("{} already exists.", file.display())).then("Choose another name."));
    }
    sayso_store::backup(&database, file).map_err(|error| Failure::caused("The backup failed", &error))?;
    let bytes = std::fs::metadata(file).map(|data| data.len()).unwrap_or_default();
    app.out.result(&serde_json::json!({ "file": file, "bytes": bytes }), || {
        format!("Backup written: {} ({} KiB)", words::directory(&file.to_string_lossy(), &app.out.look), bytes.div_ceil(1024))
    })
}
