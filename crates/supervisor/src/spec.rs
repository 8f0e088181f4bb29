//! The command line of a supervisor.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

/// What to supervise and where. The environment is not included: the agent inherits the supervisor's environment
/// unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The directory of the lock and the journal. It is created with mode 0700 if it is missing.
    pub dir: PathBuf,
    /// The Unix socket to listen on, in a directory that only the user can access.
    pub socket: PathBuf,
    /// The agent's working directory.
    pub directory: PathBuf,
    /// How long the agent continues without a server before it is stopped. Whole seconds.
    pub lonely: Duration,
    /// Maximum number of bytes that are kept of one output line.
    pub line_limit: usize,
    /// The agent's program and its arguments.
    pub command: Vec<OsString>,
}

impl Spec {
    /// The default of `lonely`, which covers a long weekend.
    pub const LONELY: Duration = Duration::from_secs(7 * 24 * 60 * 60);
    /// The default of `line_limit`.
    pub const LINE_LIMIT: usize = 16 * 1024 * 1024;

    /// Parses the arguments after `sayso supervise`.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn parse(args: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut args = args;
        let (mut dir, mut socket, mut directory) = (None, None, None);
        let mut lonely = Self::LONELY;
        let mut line_limit = Self::LINE_LIMIT;
        while let Some(option) = args.next() {
            if option == "--" {
                break;
            }
            let name = option.to_str().unwrap_or_default().to_owned();
            let mut value = || args.next().ok_or_else(|| format!("{name} needs a value"));
            match name.as_str() {
                "--dir" => dir = Some(PathBuf::from(value()?)),
                "--socket" => socket = Some(PathBuf::from(value()?)),
                "--cwd" => directory = Some(PathBuf::from(value()?)),
                "--lonely" => lonely = Duration::from_secs(number(&name, &value()?)?),
                "--line-limit" => line_limit = number(&name, &value()?)?,
                _ => return Err(format!("unknown option {}", option.to_string_lossy())),
            }
        }
        let command: Vec<OsString> = args.collect();
        if command.is_empty() {
            return Err("a command is needed after --".to_owned());
        }
        let needed = |path: Option<PathBuf>, name: &str| path.ok_or_else(|| format!("{name} is needed"));
        Ok(Self {
            dir: needed(dir, "--dir")?,
            socket: needed(socket, "--socket")?,
            directory: needed(directory, "--cwd")?,
            lonely,
            line_limit,
            command,
        })
    }

    /// The arguments after `sayso supervise` from which [`Spec::parse`] restores this value.
    #[must_use]
    pub fn to_args(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = vec!["--dir".into(), self.dir.clone().into()];
        args.extend(["--socket".into(), self.socket.clone().into()]);
        args.extend(["--cwd".into(), self.directory.clone().into()]);
        args.extend(["--lonely".into(), self.lonely.as_secs().to_string().into()]);
        args.extend(["--line-limit".into(), self.line_limit.to_string().into()]);
        args.push("--".into());
        args.extend(self.command.iter().cloned());
        args
    }
}

fn number<N: std::str::FromStr>(name: &str, value: &OsStr) -> Result<N, String> {
    value.to_str().and_then(|text| text.parse().ok()).ok_or_else(|| format!("{name} needs a whole number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Spec, String> {
        Spec::parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn arguments_round_trip() {
        let spec = Spec {
            dir: "/state/agent 1".into(),
            socket: "/run/1.sock".into(),
            directory: "/home/me/work".into(),
            lonely: Duration::from_secs(60),
            line_limit: 4096,
            command: vec!["agent".into(), "--dir".into(), "--".into(), "".into()],
        };
        assert_eq!(Spec::parse(spec.to_args().into_iter()), Ok(spec));
    }

    #[test]
    fn omitted_options_have_defaults() {
        let spec = parse("--dir d --socket s --cwd c -- cat").unwrap();
        assert_eq!((spec.lonely, spec.line_limit), (Spec::LONELY, Spec::LINE_LIMIT));
    }

    #[test]
    fn invalid_arguments_are_named_in_the_error() {
        let mistakes = [
            ("--dir d --socket s --cwd c", "a command is needed after --"),
            ("--dir d --socket s --cwd c --", "a command is needed after --"),
            ("--socket s --cwd c -- cat", "--dir is needed"),
            ("--dir d --cwd c -- cat", "--socket is needed"),
            ("--dir d --socket s -- cat", "--cwd is needed"),
            ("--dir", "--dir needs a value"),
            ("--lonely soon -- cat", "--lonely needs a whole number"),
            ("--line-limit -1 -- cat", "--line-limit needs a whole number"),
            ("cat", "unknown option cat"),
        ];
        for (line, mistake) in mistakes {
            assert_eq!(parse(line), Err(mistake.to_owned()), "{line}");
        }
    }
}
