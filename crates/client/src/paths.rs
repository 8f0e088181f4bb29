//! The locations of Sayso's files, according to the XDG specification.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::environment::Environment;

/// The default listen address of a server.
pub const DEFAULT_LISTEN: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 4517));

/// The directories of one user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The directory of `config.toml` and `policy.toml`.
    pub config_dir: PathBuf,
    /// The directory of the database, the tokens, `server.json` and the logs.
    pub data_dir: PathBuf,
    /// The parent directory of the sockets.
    runtime: RuntimeDir,
}

/// The location of sockets.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RuntimeDir {
    /// Below `XDG_RUNTIME_DIR`, which only this user can access.
    Own(PathBuf),
    /// Below the temporary directory, which all users share.
    Shared(PathBuf),
}

/// A directory that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PathsError {
    /// Neither `HOME` nor the XDG variables are set.
    #[error("HOME is not set, so Sayso has no directory for its files")]
    NoHome,
    /// Another user could read or replace files in the directory.
    #[error("{} is not safe to use: {reason}", .path.display())]
    NotOurs {
        /// The path of the directory.
        path: PathBuf,
        /// A description of the problem.
        reason: String,
    },
    /// The directory could not be created.
    #[error("cannot create {}", .path.display())]
    Io {
        /// The path of the directory.
        path: PathBuf,
        /// The underlying I/O error.
        #[source]
        source: io::Error,
    },
}

impl Paths {
    /// Determines the directories. `data_dir` (from `--data-dir`) takes precedence over `SAYSO_DATA_DIR`.
    ///
    /// # Errors
    /// If neither the home directory nor the XDG variables are set.
    pub fn new(environment: &Environment, data_dir: Option<PathBuf>) -> Result<Self, PathsError> {
        let home = environment.path("HOME");
        let below = |variable: &str, default: &str| {
            let base = environment.path(variable).or_else(|| home.as_ref().map(|home| home.join(default)));
            base.map(|base| base.join("sayso")).ok_or(PathsError::NoHome)
        };
        let data_dir = match data_dir.or_else(|| environment.get("SAYSO_DATA_DIR").map(PathBuf::from)) {
            Some(given) => given,
            None => below("XDG_STATE_HOME", ".local/state")?,
        };
        let runtime = match environment.path("XDG_RUNTIME_DIR") {
            Some(base) => RuntimeDir::Own(base.join("sayso")),
            None => {
                let base = environment.path("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp"));
                RuntimeDir::Shared(base.join(format!("sayso-{}", rustix::process::getuid().as_raw())))
            }
        };
        Ok(Self { config_dir: below("XDG_CONFIG_HOME", ".config")?, data_dir, runtime })
    }

    /// The path of the server's settings.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.config_dir.join("config.toml")
    }

    /// The path of the user's policy.
    #[must_use]
    pub fn policy(&self) -> PathBuf {
        self.config_dir.join("policy.toml")
    }

    /// The path of the database.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.data_dir.join("sayso.db")
    }

    /// The path of the admin token.
    #[must_use]
    pub fn token(&self) -> PathBuf {
        self.data_dir.join("token")
    }

    /// The path of the token that agents outside Sayso share. It can open asks but not decide them.
    #[must_use]
    pub fn agent_token(&self) -> PathBuf {
        self.data_dir.join("agent-token")
    }

    /// The path of the token that `sayso connect` created for one agent. Earlier versions created one token for all
    /// agents, [`Paths::agent_token`].
    #[must_use]
    pub fn agent_token_of(&self, agent: &str) -> PathBuf {
        self.data_dir.join(format!("agent-token-{agent}"))
    }

    /// The path of the file in which a running server describes itself.
    #[must_use]
    pub fn server_file(&self) -> PathBuf {
        self.data_dir.join("server.json")
    }

    /// The path of the log of a server in the background.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.data_dir.join("logs").join("sayso.log")
    }

    /// The directory of the sockets, which may not exist yet.
    #[must_use]
    pub fn runtime_dir(&self) -> &Path {
        match &self.runtime {
            RuntimeDir::Own(path) | RuntimeDir::Shared(path) => path,
        }
    }

    /// Creates the directory of the sockets with access for this user only, or checks the permissions of an existing
    /// one.
    ///
    /// # Errors
    /// If it cannot be created, or if another user can access it.
    pub fn make_runtime_dir(&self) -> Result<PathBuf, PathsError> {
        let path = self.runtime_dir();
        make_private(path)?;
        Ok(path.to_owned())
    }

    /// Creates the data directory and its log directory with access for this user only. An existing data directory that
    /// others can enter gets the mode 0700.
    ///
    /// # Errors
    /// If an I/O error occurs, or if the directory belongs to another user.
    pub fn make_data_dir(&self) -> Result<DataDir, PathsError> {
        let io = |source| PathsError::Io { path: self.data_dir.clone(), source };
        let private = || {
            let mut builder = fs::DirBuilder::new();
            builder.recursive(true).mode(0o700);
            builder
        };
        private().create(&self.data_dir).map_err(io)?;
        // A symbolic link to another directory is allowed, because the user created it.
        let found = fs::metadata(&self.data_dir).map_err(io)?;
        if found.uid() != rustix::process::getuid().as_raw() {
            let reason = "it belongs to another user".to_owned();
            return Err(PathsError::NotOurs { path: self.data_dir.clone(), reason });
        }
        let is_private = found.permissions().mode() & 0o077 == 0;
        if !is_private {
            fs::set_permissions(&self.data_dir, fs::Permissions::from_mode(0o700)).map_err(io)?;
        }
        private().create(self.data_dir.join("logs")).map_err(io)?;
        Ok(if is_private { DataDir::Private } else { DataDir::MadePrivate })
    }
}

/// The state in which the data directory was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "the person has to know that others could read their data"]
pub enum DataDir {
    /// The directory is new, or was already private.
    Private,
    /// Other users could enter the directory. Its permissions were fixed.
    MadePrivate,
}

/// Creates one directory with mode 0700. In a shared parent, another user may have created it first, so the result is
/// checked without following symbolic links.
fn make_private(path: &Path) -> Result<(), PathsError> {
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(source) => return Err(PathsError::Io { path: path.to_owned(), source }),
    }
    let found = fs::symlink_metadata(path).map_err(|source| PathsError::Io { path: path.to_owned(), source })?;
    let not_ours = |reason: &str| Err(PathsError::NotOurs { path: path.to_owned(), reason: reason.to_owned() });
    if !found.is_dir() {
        return not_ours("it is not a directory");
    }
    if found.uid() != rustix::process::getuid().as_raw() {
        return not_ours("it belongs to another user");
    }
    if found.permissions().mode() & 0o077 != 0 {
        return not_ours("other users can access it; run `chmod 700` on it or remove it");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xdg_variables_take_precedence_over_home() {
        let plain = Paths::new(&Environment::from_pairs([("HOME", "/home/ada")]), None).unwrap();
        assert_eq!(plain.policy(), Path::new("/home/ada/.config/sayso/policy.toml"));
        assert_eq!(plain.database(), Path::new("/home/ada/.local/state/sayso/sayso.db"));
        assert_eq!(plain.log(), Path::new("/home/ada/.local/state/sayso/logs/sayso.log"));

        let xdg = [("HOME", "/home/ada"), ("XDG_CONFIG_HOME", "/c"), ("XDG_STATE_HOME", "/s"), ("XDG_RUNTIME_DIR", "/r")];
        let xdg = Paths::new(&Environment::from_pairs(xdg), None).unwrap();
        assert_eq!(xdg.config(), Path::new("/c/sayso/config.toml"));
        assert_eq!(xdg.token(), Path::new("/s/sayso/token"));
        assert_eq!(xdg.runtime_dir(), Path::new("/r/sayso"));
    }

    #[test]
    fn data_dir_flag_takes_precedence_over_the_variable() {
        let environment = Environment::from_pairs([("HOME", "/home/ada"), ("SAYSO_DATA_DIR", "/variable")]);
        assert_eq!(Paths::new(&environment, None).unwrap().data_dir, Path::new("/variable"));
        assert_eq!(Paths::new(&environment, Some("/flag".into())).unwrap().data_dir, Path::new("/flag"));
        assert!(matches!(Paths::new(&Environment::default(), None), Err(PathsError::NoHome)));
    }

    #[test]
    fn runtime_directory_open_to_others_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let environment = [("HOME", "/home/ada"), ("TMPDIR", dir.path().to_str().unwrap())];
        let paths = Paths::new(&Environment::from_pairs(environment), None).unwrap();
        let made = paths.make_runtime_dir().unwrap();
        assert_eq!(fs::metadata(&made).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(paths.make_runtime_dir().unwrap(), made);

        fs::set_permissions(&made, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(paths.make_runtime_dir(), Err(PathsError::NotOurs { .. })));
        fs::remove_dir(&made).unwrap();
        std::os::unix::fs::symlink(dir.path(), &made).unwrap();
        assert!(matches!(paths.make_runtime_dir(), Err(PathsError::NotOurs { .. })));
    }
}
