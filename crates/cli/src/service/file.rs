//! Text of the service file that starts the server: a systemd user unit or a launchd agent. Pure.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Names of the service.
pub(super) const UNIT: &str = "sayso.service";
pub(super) const LABEL: &str = "sayso.server";

/// The service manager of a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manager {
    /// Linux.
    Systemd,
    /// macOS.
    Launchd,
}

impl Manager {
    /// Returns the service manager of this system.
    pub(crate) const fn here() -> Self {
        if cfg!(target_os = "macos") { Self::Launchd } else { Self::Systemd }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Service {
    /// Path of this program.
    pub(crate) program: String,
    pub(crate) data_dir: PathBuf,
    pub(crate) listen: Option<SocketAddr>,
    pub(crate) log: PathBuf,
    /// Environment variables that agents need to find programs and files. Contains no secrets, because other users can
    /// read the file.
    pub(crate) environment: Vec<(String, String)>,
}

impl Service {
    fn words(&self) -> Vec<String> {
        let data_dir = self.data_dir.to_string_lossy().into_owned();
        let mut words = vec![self.program.clone(), "serve".to_owned(), "--data-dir".to_owned(), data_dir];
        if let Some(listen) = self.listen {
            words.extend(["--listen".to_owned(), listen.to_string()]);
        }
        words
    }

    /// Returns the content of the service file.
    pub(crate) fn text(&self, manager: Manager) -> String {
        match manager {
            Manager::Systemd => self.unit(),
            Manager::Launchd => self.agent(),
        }
    }

    /// `KillMode=process` ends only the server with the service. Agents keep running under their supervisors.
    fn unit(&self) -> String {
        let start: Vec<String> = self.words().iter().map(|word| quoted(word).replace('$', "$$")).collect();
        let environment: String = self
            .environment
            .iter()
            .map(|(name, value)| format!("Environment={}\n", quoted(&format!("{name}={value}"))))
            .collect();
        let log = self.log.to_string_lossy().replace('%', "%%");
        format!(
            "# Written by `sayso service install`; `sayso service remove` removes it.\n\
             [Unit]\n\
             Description=Sayso: your agents act on your say-so\n\
             \n\
             [Service]\n\
             ExecStart={}\n\
             {environment}\
             KillMode=process\n\
             Restart=on-failure\n\
             RestartSec=2\n\
             StandardOutput=append:{log}\n\
             StandardError=inherit\n\
             \n\
             [Install]\n\
             WantedBy=default.target\n",
            start.join(" ")
        )
    }

    fn agent(&self) -> String {
        let text = |text: &str| format!("<string>{}</string>", escaped(text));
        let words: String = self.words().iter().map(|word| format!("\n    {}", text(word))).collect();
        let environment: String = self
            .environment
            .iter()
            .map(|(name, value)| format!("\n    <key>{}</key>\n    {}", escaped(name), text(value)))
            .collect();
        let log = text(&self.log.to_string_lossy());
        format!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- Written by `sayso service install`; `sayso service remove` removes it. -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{LABEL}</string>
  <key>ProgramArguments</key>
  <array>{words}
  </array>
  <key>EnvironmentVariables</key>
  <dict>{environment}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>AbandonProcessGroup</key>
  <true/>
  <key>StandardOutPath</key>
  {log}
  <key>StandardErrorPath</key>
  {log}
</dict>
</plist>
"#
        )
    }
}

/// Extracts the program from a file that [`Service::text`] wrote.
pub(crate) fn program(text: &str, manager: Manager) -> Option<String> {
    match manager {
        Manager::Systemd => {
            let start = text.lines().find_map(|line| line.strip_prefix("ExecStart="))?;
            let mut characters = start.strip_prefix('"')?.chars();
            let mut word = String::new();
            loop {
                match characters.next()? {
                    '"' => break,
                    '\\' => word.push(characters.next()?),
                    c => word.push(c),
                }
            }
            Some(word.replace("$$", "$").replace("%%", "%"))
        }
        Manager::Launchd => {
            let rest = text.split_once("<key>ProgramArguments</key>")?.1;
            let word = rest.split_once("<string>")?.1.split_once("</string>")?.0;
            Some(word.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&"))
        }
    }
}

/// Returns true if the file starts the server of this data directory.
pub(super) fn is_for(text: &str, data_dir: &Path, manager: Manager) -> bool {
    let data_dir = data_dir.to_string_lossy();
    match manager {
        Manager::Systemd => text.contains(&format!("--data-dir\" {}", quoted(&data_dir).replace('$', "$$"))),
        Manager::Launchd => text.contains(&format!("<string>{}</string>", escaped(&data_dir))),
    }
}

/// Quotes a word for a systemd unit. Escapes specifiers and control characters.
fn quoted(word: &str) -> String {
    let mut quoted = String::from('"');
    for c in word.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '%' => quoted.push_str("%%"),
            c if c.is_control() => quoted.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Escapes text for a plist.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service() -> Service {
        Service {
            program: "/home/ada/.local/bin/sayso".into(),
            data_dir: "/home/ada/.local/state/sayso".into(),
            listen: None,
            log: "/home/ada/.local/state/sayso/logs/sayso.log".into(),
            environment: vec![
                ("LANG".into(), "en_GB.UTF-8".into()),
                ("PATH".into(), "/home/ada/.local/bin:/usr/bin:/bin".into()),
            ],
        }
    }

    fn odd() -> Service {
        Service {
            program: "/opt/50% \"off\" & $more/sayso".into(),
            data_dir: "/a b\n<c>".into(),
            listen: Some("127.0.0.1:4600".parse().unwrap()),
            ..service()
        }
    }

    #[test]
    fn service_files_match_snapshots() {
        insta::assert_snapshot!("systemd", service().text(Manager::Systemd));
        insta::assert_snapshot!("launchd", service().text(Manager::Launchd));
        insta::assert_snapshot!("systemd_odd", odd().text(Manager::Systemd));
        insta::assert_snapshot!("launchd_odd", odd().text(Manager::Launchd));
    }

    #[test]
    fn program_and_data_directory_are_read_from_written_files() {
        for service in [service(), odd()] {
            for manager in [Manager::Systemd, Manager::Launchd] {
                let text = service.text(manager);
                assert_eq!(program(&text, manager).as_deref(), Some(service.program.as_str()));
                assert!(is_for(&text, &service.data_dir, manager), "{text}");
                assert!(!is_for(&text, Path::new("/home/ada"), manager), "{text}");
            }
        }
        assert_eq!(program("ExecStart=/usr/bin/other", Manager::Systemd), None);
    }
}
