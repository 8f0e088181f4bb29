//! The password file, in the format of libpq: lines of `host:port:database:user:password`.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use super::hosts::HostConfig;

/// The directories of sockets that libpq looks up as `localhost`.
const DEFAULT_SOCKETS: [&str; 3] = ["/var/run/postgresql", "/run/postgresql", "/tmp"];

#[derive(Debug, Clone)]
pub(super) struct PasswordFile {
    pub(super) path: PathBuf,
    /// Whether a file that cannot be used is an error. Otherwise it is ignored, as libpq does with the default file.
    pub(super) is_required: bool,
}

impl PasswordFile {
    /// Returns the password for this host. The file is read for each connection, so a changed password needs no restart.
    pub(super) async fn find(&self, host: &HostConfig) -> Result<Option<String>, String> {
        let path = self.path.display();
        match self.read().await {
            Ok(text) => {
                let (user, name) = (host.config.get_user(), host.config.get_dbname());
                let user = user.unwrap_or_default();
                let server = if DEFAULT_SOCKETS.contains(&host.name.as_str()) { "localhost" } else { &host.name };
                Ok(find(&text, [server, &host.port.to_string(), name.unwrap_or(user), user]))
            }
            Err(error) if self.is_required => Err(format!("cannot use the password file {path}: {error}")),
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    tracing::warn!(%error, "ignoring the password file {path}");
                }
                Ok(None)
            }
        }
    }

    async fn read(&self) -> io::Result<String> {
        let found = tokio::fs::metadata(&self.path).await?;
        if !found.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        if found.permissions().mode() & 0o077 != 0 {
            return Err(io::Error::other("other users can read it; run `chmod 600` on it"));
        }
        tokio::fs::read_to_string(&self.path).await
    }
}

/// Returns the password of the first line whose fields match. `*` matches every value.
fn find(text: &str, wanted: [&str; 4]) -> Option<String> {
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut rest = line;
        for wanted in wanted {
            let (field, after) = split_field(rest)?;
            if rest.split_once(':').is_none_or(|(raw, _)| raw != "*") && field != wanted {
                return None;
            }
            rest = after;
        }
        // Further colons belong to the password; libpq treats them as its end.
        Some(split_field(rest).map_or_else(|| unescape(rest), |(password, _)| password))
    })
}

/// Splits at the first colon that has no backslash before it.
fn split_field(line: &str) -> Option<(String, &str)> {
    let mut is_escaped = false;
    let colon = line.find(|letter| {
        let ends = letter == ':' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends
    })?;
    Some((unescape(&line[..colon]), &line[colon + 1..]))
}

fn unescape(field: &str) -> String {
    let mut letters = field.chars();
    let mut out = String::with_capacity(field.len());
    while let Some(letter) = letters.next() {
        out.extend(if letter == '\\' { letters.next() } else { Some(letter) });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_matching_line_has_the_password() {
        let text = "# one:5432:asks:sayso:comment\n\
                    one:5433:asks:sayso:other port\n\
                    broken line\n\
                    one:5432:asks:sayso:a\\:b\\\\c\n\
                    one:*:*:*:second\n\
                    *:*:asks:\\*:star\n\
                    /run/pg\\:1:5432:*:sayso:socket:ignored\n";
        let password = |host, port, database, user| find(text, [host, port, database, user]);
        assert_eq!(password("one", "5432", "asks", "sayso").as_deref(), Some("a:b\\c"));
        assert_eq!(password("one", "5433", "asks", "sayso").as_deref(), Some("other port"));
        assert_eq!(password("one", "5432", "asks", "ann").as_deref(), Some("second"));
        assert_eq!(password("two", "5432", "asks", "*").as_deref(), Some("star"));
        assert_eq!(password("two", "5432", "asks", "sayso"), None);
        assert_eq!(password("/run/pg:1", "5432", "other", "sayso").as_deref(), Some("socket"));
    }
}
