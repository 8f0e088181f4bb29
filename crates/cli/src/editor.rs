//! Starts the person's editor and browser.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// Opens a file in the person's editor and waits until the editor exits.
pub(crate) fn edit_file(path: &Path) -> Result<(), Failure> {
    let named = ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()));
    let editor = named.unwrap_or_else(|| "vi".to_owned());
    // The variable may contain arguments (`code --wait`), so a shell parses it, as in other programs.
    let status = Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(path).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => {
            Err(Failure::new(format!("The editor `{editor}` failed.")).then("Choose another editor with: EDITOR=nano sayso …"))
        }
        Err(error) => Err(Failure::io("Cannot start the editor", &error)),
    }
}

/// Opens a JSON value in the editor; `None` if the value is unchanged.
pub(crate) fn edit_json(value: &serde_json::Value) -> Result<Option<serde_json::Value>, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::new(format!("Internal error: {error}.")))?;
    let edited = edit_text(&text, "json")?;
    let edited: serde_json::Value = serde_json::from_str(&edited).map_err(|error| {
        Failure::new(format!("Not sent: the edited input is not valid JSON ({error}).")).then("Try again with: sayso next")
    })?;
    Ok((edited != *value).then_some(edited))
}

/// Opens a text in the editor, in a temporary file with this suffix.
pub(crate) fn edit_text(text: &str, suffix: &str) -> Result<String, Failure> {
    let file = Scratch::new(text, suffix)?;
    edit_file(&file.0)?;
    fs::read_to_string(&file.0).map_err(|error| Failure::io("Cannot read the edited input", &error))
}

/// A temporary file for this user only, removed on drop.
struct Scratch(PathBuf);

impl Scratch {
    fn new(text: &str, suffix: &str) -> Result<Self, Failure> {
        let path =
            std::env::temp_dir().join(format!("sayso-edit-{}-{}.{suffix}", std::process::id(), sayso_client::now().as_millis()));
        // `create_new` does not follow symbolic links that another user may have placed there.
        let written = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let written = written.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| Failure::io("Cannot create a temporary file", &error))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If this fails, the system cleans up its temporary directory later.
        let _ = fs::remove_file(&self.0);
    }
}

/// Opens a web address in the person's browser.
pub(crate) fn open_in_browser(url: &str) -> Result<(), Failure> {
    if !(url.starts_with("https://") || url.starts_with("http://")) || url.chars().any(char::is_control) {
        return Err(Failure::new("Only http and https addresses can be opened."));
    }
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let opened = Command::new(program).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    match opened {
        Ok(mut browser) => {
            // The browser may outlive the ask. A thread waits for it, so that it does not become a zombie.
            std::thread::spawn(move || browser.wait());
            Ok(())
        }
        Err(error) => {
            Err(Failure::io(&format!("Cannot start `{program}`"), &error).then("Copy the address into your browser instead."))
        }
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
