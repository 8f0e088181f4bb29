//! Programs of the person's own: the editor and the browser.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// Opens a file in the person's editor and waits until it is closed.
pub(crate) fn edit_file(path: &Path) -> Result<(), Failure> {
    let named = ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()));
    let editor = named.unwrap_or_else(|| "vi".to_owned());
    // The variable may hold arguments (`code --wait`), and a shell is what reads it everywhere else.
    let status = Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(path).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => {
            Err(Failure::new(format!("The editor `{editor}` did not end well."))
                .then("Choose another one with: EDITOR=nano sayso …"))
        }
        Err(error) => Err(Failure::io("The editor cannot be started", &error)),
    }
}

/// Lets the person change a JSON value; nothing if it stays the same.
pub(crate) fn edit_json(value: &serde_json::Value) -> Result<Option<serde_json::Value>, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::new(format!("Internal error: {error}.")))?;
    let edited = edit_text(&text, "json")?;
    let edited: serde_json::Value = serde_json::from_str(&edited).map_err(|error| {
        Failure::new(format!("Not sent: the edited input is not JSON ({error}).")).then("Try again with: sayso next")
    })?;
    Ok((edited != *value).then_some(edited))
}

/// Lets the person change a text, in a file whose name ends like this.
pub(crate) fn edit_text(text: &str, suffix: &str) -> Result<String, Failure> {
    let file = Scratch::new(text, suffix)?;
    edit_file(&file.0)?;
    fs::read_to_string(&file.0).map_err(|error| Failure::io("The edited input cannot be read", &error))
}

/// A file for this user alone that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(text: &str, suffix: &str) -> Result<Self, Failure> {
        let path =
            std::env::temp_dir().join(format!("sayso-edit-{}-{}.{suffix}", std::process::id(), sayso_client::now().as_millis()));
        // `create_new` never follows a link that somebody put there first.
        let written = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let written = written.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| Failure::io("A file to edit cannot be made", &error))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed from the temporary directory is removed by the system.
        let _ = fs::remove_file(&self.0);
    }
}

/// Opens a web address in the person's browser.
pub(crate) fn open_in_browser(url: &str) -> Result<(), Failure> {
    if !(url.starts_with("https://") || url.starts_with("http://")) || url.chars().any(char::is_control) {
        return Err(Failure::new("Only http and https addresses are opened from here."));
    }
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let opened = Command::new(program).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    match opened {
        Ok(mut browser) => {
            // It may live longer than the ask. Somebody has to wait for it, or it stays as a zombie.
            std::thread::spawn(move || browser.wait());
            Ok(())
        }
        Err(error) => Err(Failure::io(&format!("`{program}` cannot be started"), &error).then("Copy the address instead.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_are_opened() {
        for url in ["file:///etc/passwd", "javascript:alert(1)", "--help", "https://a\u{1b}b"] {
            assert!(open_in_browser(url).is_err(), "{url}");
        }
    }
}
