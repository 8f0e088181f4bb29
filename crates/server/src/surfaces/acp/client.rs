//! The client's capabilities and request parameters, parsed leniently.

use std::collections::BTreeMap;

use sayso_agents::json::{Object, text};
use sayso_api::session::NewSession;
use serde_json::{Value, json};

/// What the client supports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Client {
    /// The client can show forms.
    pub(super) forms: bool,
    /// The client can open URLs.
    pub(super) links: bool,
    /// The client supports `_sandboxagent/session/request_question`.
    pub(super) questions: bool,
}

impl Client {
    pub(super) fn of(params: &Object<'_>) -> Self {
        let capabilities = params.object("clientCapabilities").unwrap_or_default();
        let elicitation = capabilities.object("elicitation").unwrap_or_default();
        let meta = capabilities.object("_meta").unwrap_or_default();
        let places = [
            capabilities.object("extensions"),
            meta.object("extensions"),
            meta.object("sandboxagent"),
            params.object("_meta").and_then(|meta| meta.object("extensions")),
        ];
        Self {
            forms: elicitation.object("form").is_some(),
            links: elicitation.object("url").is_some(),
            questions: places.into_iter().flatten().any(|place| place.is_true("sessionRequestQuestion")),
        }
    }
}

/// Builds our reply to `initialize`.
pub(super) fn introduction() -> Value {
    let extensions = json!({ "sessionRequestQuestion": true });
    json!({
        "protocolVersion": 1,
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": { "image": false, "audio": false, "embeddedContext": true },
            "mcpCapabilities": { "http": false, "sse": false },
            "sessionCapabilities": { "list": {}, "resume": {} },
            "_meta": { "extensions": extensions, "sandboxagent": extensions },
        },
        "agentInfo": { "name": "sayso", "title": "Sayso", "version": env!("CARGO_PKG_VERSION") },
        "authMethods": [],
        "extensions": extensions,
        "_meta": { "extensions": extensions },
    })
}

/// Parses the session that `session/new` requests. ACP has a field for the directory; `_meta.sayso` contains the other
/// settings.
pub(super) fn wanted_session(params: &Object<'_>, default_agent: Option<&str>) -> Result<NewSession, String> {
    let cwd = params.non_blank_text("cwd").ok_or("`cwd` is missing: the absolute path of the directory to work in")?;
    let meta = params.object("_meta").unwrap_or_default();
    let own = meta.object("sayso").unwrap_or_default();
    let agent = own.non_blank_text("agent").or_else(|| meta.non_blank_text("agent")).or_else(|| default_agent.map(str::to_owned));
    let agent = agent.ok_or("no agent is named; set `_meta.sayso.agent`")?;
    let labels = own.object("labels").unwrap_or_default();
    let labels: BTreeMap<String, String> =
        labels.fields().filter_map(|(key, value)| Some((key.to_owned(), text(value)?))).collect();
    let (permission_mode, model) = (own.non_blank_text("permissionMode"), own.non_blank_text("model"));
    Ok(NewSession { agent, cwd: Some(cwd), permission_mode, model, labels, ..NewSession::default() })
}

/// Returns the text of a prompt. Linked files are named at their position; embedded files are appended.
pub(super) fn prompt(params: &Object<'_>) -> Result<String, String> {
    let blocks = params.list("prompt").ok_or("`prompt` is missing: a list of content blocks")?;
    let (mut said, mut enclosed) = (String::new(), String::new());
    for block in blocks {
        let block = Object::of(block).ok_or("a block of the prompt is not an object")?;
        match block.text("type").unwrap_or_default().as_str() {
            "text" => said.push_str(&block.text("text").ok_or("a text block has no `text`")?),
            "resource_link" => said.push_str(&block.text("uri").ok_or("a resource link without `uri`")?),
            "resource" => {
                let resource = block.object("resource").ok_or("a resource block without `resource`")?;
                let uri = resource.text("uri").unwrap_or_default();
                let content = resource.text("text").ok_or("only text resources can be embedded")?;
                said.push_str(&uri);
                enclosed.push_str(&format!("\n\n{uri}:\n{}", super::updates::fenced("", &content)));
            }
            other => return Err(format!("a prompt can contain text and resources, not `{other}`")),
        }
    }
    let prompt = said + &enclosed;
    if prompt.trim().is_empty() { Err("the prompt is empty".to_owned()) } else { Ok(prompt) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(json: &str) -> Object<'_> {
        Object::parse(json).unwrap()
    }

    #[test]
    fn question_capability_is_read_from_four_places() {
        for place in [
            r#"{"clientCapabilities":{"extensions":{"sessionRequestQuestion":true}}}"#,
            r#"{"clientCapabilities":{"_meta":{"extensions":{"sessionRequestQuestion":true}}}}"#,
            r#"{"clientCapabilities":{"_meta":{"sandboxagent":{"sessionRequestQuestion":true}}}}"#,
            r#"{"_meta":{"extensions":{"sessionRequestQuestion":true}}}"#,
        ] {
            assert!(Client::of(&object(place)).questions, "{place}");
        }
        let other =
            r#"{"clientCapabilities":{"elicitation":{"form":{},"url":null},"extensions":{"sessionRequestQuestion":"yes"}}}"#;
        assert_eq!(Client::of(&object(other)), Client { forms: true, links: false, questions: false });
        assert_eq!(Client::of(&object(r#"{"clientCapabilities":7}"#)), Client::default());
    }

    #[test]
    fn session_is_identified_by_directory_and_agent() {
        let params = r#"{"cwd":"/p","mcpServers":[],"_meta":{"sayso":{"agent":"mock","model":"m","permissionMode":"plan","labels":{"team":"a","n":1}}}}"#;
        let wanted = NewSession {
            agent: "mock".to_owned(),
            cwd: Some("/p".to_owned()),
            model: Some("m".to_owned()),
            permission_mode: Some("plan".to_owned()),
            labels: BTreeMap::from([("team".to_owned(), "a".to_owned())]),
            ..NewSession::default()
        };
        assert_eq!(wanted_session(&object(params), Some("claude")), Ok(wanted));
        let agent = |params: &str| wanted_session(&object(params), Some("claude")).map(|new| new.agent);
        assert_eq!(agent(r#"{"cwd":"/p","_meta":{"agent":"codex"}}"#), Ok("codex".to_owned()));
        assert_eq!(agent(r#"{"cwd":"/p","_meta":7}"#), Ok("claude".to_owned()));
        assert!(agent("{}").unwrap_err().contains("`cwd`"));
        assert!(wanted_session(&object(r#"{"cwd":"/p"}"#), None).unwrap_err().contains("_meta.sayso.agent"));
    }

    #[test]
    fn prompt_joins_texts_and_files() {
        let said = |blocks: &str| prompt(&object(&format!(r#"{{"prompt":{blocks}}}"#)));
        assert_eq!(
            said(
                r#"[{"type":"text","text":"Look at "},{"type":"resource_link","uri":"file:///a","name":"a"},{"type":"text","text":"."}]"#
            ),
            Ok("Look at file:///a.".to_owned())
        );
        assert_eq!(
            said(r#"[{"type":"text","text":"Fix "},{"type":"resource","resource":{"uri":"file:///a.rs","text":"```\nfn"}}]"#),
            Ok("Fix file:///a.rs\n\nfile:///a.rs:\n````\n```\nfn\n````".to_owned())
        );
        for wrong in [
            "7",
            "[]",
            "[7]",
            r#"[{"type":"text","text":" "}]"#,
            r#"[{"type":"text"}]"#,
            r#"[{"type":"image","data":"","mimeType":"image/png"}]"#,
            r#"[{"type":"resource","resource":{"uri":"file:///a","blob":"AA=="}}]"#,
        ] {
            assert!(said(wrong).is_err(), "{wrong}");
        }
    }
}
