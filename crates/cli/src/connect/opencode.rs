//! OpenCode: adds the MCP server to `opencode.json`.

use std::path::{Path, PathBuf};

use sayso_client::Environment;
use serde_json::json;

use super::json::{JsonDocument, JsonItem, JsonStep};
use super::program::Program;
use super::{Edit, Unfit, Want, config_directory, no_scope};
use crate::args::ConfigScope;
use crate::failure::Failure;

/// Returns the edit of the existing configuration file, or of `opencode.json` if there is none.
pub(super) fn edits(
    environment: &Environment,
    home: &Path,
    here: &Path,
    scope: ConfigScope,
    program: &Program,
) -> Result<Vec<Edit>, Failure> {
    let dir: PathBuf = match scope {
        ConfigScope::User => config_directory(environment, "XDG_CONFIG_HOME", home, ".config").join("opencode"),
        ConfigScope::Project => here.to_owned(),
        ConfigScope::Local => return Err(no_scope("OpenCode", scope)),
    };
    let known = ["opencode.jsonc", "opencode.json"].map(|name| dir.join(name));
    let path = known.iter().find(|path| path.exists()).unwrap_or(&known[1]).clone();
    let words = program.mcp("opencode");
    Ok(vec![Edit::new(path, move |text, want| config(text, &words, want))])
}

/// Returns the configuration with or without our server.
fn config(text: &str, words: &[String], want: Want) -> Result<String, Unfit> {
    const SERVERS: JsonStep<'_> = JsonStep::Name("mcp");
    const OURS: JsonStep<'_> = JsonStep::Name("sayso");
    let mut document = JsonDocument::parse(text)?;
    let entry = json!({ "type": "local", "command": words, "enabled": true, "timeout": 86_400_000 });
    let known = &document.value()["mcp"]["sayso"];
    let is_there = !known.is_null();
    match want {
        Want::Connected if *known == entry => return Ok(text.to_owned()),
        Want::Disconnected if !is_there => return Ok(text.to_owned()),
        Want::Connected | Want::Disconnected => document.remove(&[SERVERS, OURS])?,
    }
    match want {
        Want::Connected => {
            let plain = |name: &'static str| (name, JsonItem::Plain(entry[name].clone()));
            let fields = vec![plain("type"), ("command", JsonItem::words(words)), plain("enabled"), plain("timeout")];
            document.add(&[SERVERS], "sayso", &JsonItem::Fields(fields))?;
        }
        Want::Disconnected if document.value()["mcp"] == json!({}) => document.remove(&[SERVERS])?,
        Want::Disconnected => {}
    }
    Ok(document.into_text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_is_added_and_removed_without_a_trace() {
        let words = Program::at("/usr/bin/sayso").mcp("opencode");
        let text = "{\n  // mine\n  \"$schema\": \"x\",\n  \"mcp\": {\n    \"other\": { \"type\": \"remote\", \"url\": \"u\" },\n  },\n}\n";
        let with = config(text, &words, Want::Connected).unwrap();
        insta::assert_snapshot!("opencode", with);
        assert_eq!(config(&with, &words, Want::Connected).unwrap(), with);
        assert_eq!(config(&with, &words, Want::Disconnected).unwrap(), text);
        assert_eq!(config(text, &words, Want::Disconnected).unwrap(), text);
        let old = config(text, &Program::at("/old/sayso").mcp("opencode"), Want::Connected).unwrap();
        assert_eq!(config(&old, &words, Want::Connected).unwrap(), with);
        assert!(matches!(config("{", &words, Want::Connected), Err(Unfit::Syntax(_))));
        assert_eq!(config("{\"mcp\":[]}", &words, Want::Connected), Err(Unfit::Shape("mcp".to_owned())));
    }
}
