//! Approvals of commands, extra access and MCP tools, and the responses that allow them.

use sayso_core::ask::{Action, Approval, Choice, Preview};
use sayso_core::limits;
use sayso_core::raw::Raw;
use serde_json::json;
use serde_json::value::RawValue;

use super::items::{Item, ItemDetails};
use crate::json::{Object, line, list, text};
use crate::text::one_line;

/// Maximum length of a title in characters. The preview or the input shows the full text.
pub(super) const TITLE: usize = 160;
/// Maximum length of a choice's rule in characters. A rule that cannot be shown in full is not offered.
const RULE: usize = 400;

/// The id of the choice that approves until the session ends.
pub(super) const SESSION: &str = "session";
/// The id of the choice that approves permanently.
const ALWAYS: &str = "always";
/// The id of the choice that accepts the rule that Codex proposes and stores.
const RULE_CHOICE: &str = "rule";
/// Prefix of the ids of choices that allow access to a host.
const HOST: &str = "host-";

pub(super) fn command(params: &Object<'_>) -> Approval {
    let command = params.non_blank_text("command");
    let cwd = params.non_blank_text("cwd");
    let network = params.object("networkApprovalContext");
    let host = network.as_ref().map(|network| {
        let protocol = network.non_blank_text("protocol").map(|protocol| format!(" ({protocol})")).unwrap_or_default();
        format!("{}{protocol}", network.non_blank_text("host").unwrap_or_else(|| "an unnamed host".to_owned()))
    });
    let plain = is_command(params);
    let runs = runs(params);
    let action = match &command {
        Some(command) if runs => Action::Run { command: command.clone() },
        Some(_) | None => Action::Other,
    };
    let title = match (&command, &host) {
        (_, Some(host)) => format!("Connect to {host}"),
        (Some(command), None) if plain => inner(params, command).unwrap_or_else(|| command.clone()),
        (Some(command), None) => format!("Write to a command that runs: {command}"),
        (None, None) => "Run an unknown command".to_owned(),
    };
    let access = params
        .get("additionalPermissions")
        .map(|access| format!("It asks for more access: {}", describe_permissions(access).join(", ")));
    Approval {
        tool: "commandExecution".to_owned(),
        action,
        title: one_line(&title, TITLE),
        input: if runs { Raw::of(&json!({ "command": command, "cwd": cwd })) } else { copy_fields(params) },
        preview: command.map(|command| Preview::Command { command, cwd }),
        choices: command_choices(params),
        editable: false,
        allowed_decisions: None,
        input_schema: None,
        reason: reason([params.non_blank_text("reason"), access, None]),
    }
}

/// The script inside `bash -lc '…'`, if Codex reports it and the command line really contains it.
fn inner(params: &Object<'_>, command: &str) -> Option<String> {
    let actions = params.list("commandActions")?;
    let [only] = actions.as_slice() else { return None };
    Object::of(only)?.non_blank_text("command").filter(|inner| command.contains(inner.as_str()))
}

fn is_command(params: &Object<'_>) -> bool {
    params.text("kind").is_none_or(|kind| kind == "command")
}

/// Whether the request is only for a known command.
fn runs(params: &Object<'_>) -> bool {
    is_command(params) && params.get("networkApprovalContext").is_none() && params.non_blank_text("command").is_some()
}

fn command_choices(params: &Object<'_>) -> Vec<Choice> {
    let mut choices = Vec::new();
    if runs(params) {
        let label = "Allow exactly this command (Codex, this session)".to_owned();
        choices.push(Choice { id: SESSION.to_owned(), label });
    }
    if let Some(prefix) = rule(params).and_then(join_words).filter(|prefix| prefix.chars().count() <= RULE) {
        let label = format!("Allow every command that begins with `{prefix}` (Codex, all projects, from now on)");
        choices.push(Choice { id: RULE_CHOICE.to_owned(), label });
    }
    for (at, host) in hosts(params).into_iter().enumerate() {
        if let Some(host) = allowed_host(host).filter(|host| host.chars().count() <= RULE) {
            let label = format!("Allow connections to `{host}` (Codex, from now on)");
            choices.push(Choice { id: format!("{HOST}{at}"), label });
        }
    }
    choices.truncate(limits::OPTIONS);
    choices
}

/// The rule that Codex proposes. Sayso never sends any other rule, because Codex would accept a wider one.
fn rule<'a>(params: &Object<'a>) -> Option<&'a RawValue> {
    params.get("proposedExecpolicyAmendment")
}

fn hosts<'a>(params: &Object<'a>) -> Vec<&'a RawValue> {
    params.list("proposedNetworkPolicyAmendments").unwrap_or_default()
}

fn allowed_host(raw: &RawValue) -> Option<String> {
    let fields = Object::of(raw)?;
    fields.non_blank_text("host").filter(|_| fields.text("action").as_deref() == Some("allow"))
}

/// Joins words the way a user would type them in a shell.
fn join_words(raw: &RawValue) -> Option<String> {
    let words = list(raw)?.into_iter().map(text).collect::<Option<Vec<String>>>()?;
    let plain = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./=:@%+,".contains(&b));
    let shown: Vec<String> = words.iter().map(|word| if plain(word) { word.clone() } else { line(word) }).collect();
    (!shown.is_empty()).then(|| shown.join(" "))
}

/// The response that approves a command; `None` if the choice was not offered.
pub(super) fn command_yes(params: &Object<'_>, choice: Option<&str>) -> Option<String> {
    let Some(choice) = choice else { return Some(r#""accept""#.to_owned()) };
    let offered = command_choices(params).into_iter().any(|offered| offered.id == choice);
    match choice {
        _ if !offered => None,
        SESSION => Some(r#""acceptForSession""#.to_owned()),
        RULE_CHOICE => Some(format!(r#"{{"acceptWithExecpolicyAmendment":{{"execpolicy_amendment":{}}}}}"#, rule(params)?.get())),
        _ => {
            let at: usize = choice.strip_prefix(HOST)?.parse().ok()?;
            let host = hosts(params).into_iter().nth(at)?.get();
            Some(format!(r#"{{"applyNetworkPolicyAmendment":{{"network_policy_amendment":{host}}}}}"#))
        }
    }
}

/// The response that approves a patch.
pub(super) fn patch_yes(choice: Option<&str>) -> Option<String> {
    match choice {
        None => Some(r#""accept""#.to_owned()),
        Some(SESSION) => Some(r#""acceptForSession""#.to_owned()),
        Some(_) => None,
    }
}

/// The approval of extra access.
pub(super) fn permissions(params: &Object<'_>) -> Result<Approval, String> {
    let wanted = params.get("permissions").filter(|wanted| Object::of(wanted).is_some()).ok_or("it names no permissions")?;
    let wishes = describe_permissions(wanted);
    Ok(Approval {
        tool: "request_permissions".to_owned(),
        action: Action::Other,
        title: one_line(&format!("Grant more access: {}", wishes.join(", ")), TITLE),
        input: Raw::of(&wanted),
        preview: Some(Preview::Text { text: wishes.join("\n") }),
        choices: vec![Choice { id: SESSION.to_owned(), label: "Grant it until the session ends (Codex)".to_owned() }],
        editable: false,
        allowed_decisions: None,
        input_schema: None,
        reason: reason([params.non_blank_text("reason"), None, None]),
    })
}

/// The granted permissions: everything that was requested, or nothing if the choice was not offered.
pub(super) fn permissions_reply(params: &Object<'_>, choice: Option<&str>) -> Option<String> {
    let scope = match choice {
        None => "turn",
        Some(SESSION) => "session",
        Some(_) => return None,
    };
    let wanted = params.get("permissions")?.get();
    Some(format!(r#"{{"permissions":{wanted},"scope":"{scope}"}}"#))
}

/// The permissions that an object requests, one line each. Unknown permissions are shown as JSON.
fn describe_permissions(raw: &RawValue) -> Vec<String> {
    let Some(fields) = Object::of(raw) else { return vec![raw.get().to_owned()] };
    let mut wishes: Vec<String> = Vec::new();
    let mut add = |wish: String| {
        if !wishes.contains(&wish) {
            wishes.push(wish);
        }
    };
    for (name, value) in fields.fields().filter(|(_, value)| value.get() != "null") {
        let inner = Object::of(value);
        match (name, &inner) {
            ("network", Some(network)) if network.is_true("enabled") => add("use the network".to_owned()),
            ("fileSystem", Some(files)) => {
                for access in ["read", "write"] {
                    let paths = files.list(access).unwrap_or_default().into_iter().filter_map(text);
                    paths.for_each(|path| add(format!("{access} {path}")));
                }
                for entry in files.list("entries").unwrap_or_default() {
                    let known = Object::of(entry).and_then(|entry| {
                        let path = entry
                            .object("path")
                            .and_then(|path| path.non_blank_text("path"))
                            .or_else(|| entry.non_blank_text("path"))?;
                        Some(format!("{} {path}", entry.non_blank_text("access")?))
                    });
                    add(known.unwrap_or_else(|| entry.get().to_owned()));
                }
            }
            _ => add(format!("{name}: {}", value.get())),
        }
    }
    if wishes.is_empty() { vec![raw.get().to_owned()] } else { wishes }
}

/// The approval of an MCP tool. Only the message and the pending item contain the tool's name.
pub(super) fn mcp_tool(params: &Object<'_>, meta: &Object<'_>, item: Option<&Item>) -> Approval {
    let server = params.non_blank_text("serverName").unwrap_or_else(|| "an MCP server".to_owned());
    let message = params.non_blank_text("message").unwrap_or_default();
    let tool = item.and_then(|item| match &item.what {
        ItemDetails::Mcp { tool, .. } => Some(tool.clone()),
        ItemDetails::Patch { .. } | ItemDetails::Other => None,
    });
    let (name, action, title) = match tool {
        Some(tool) => {
            let (name, title) = (format!("mcp__{server}__{tool}"), format!("Use {tool} of {server}"));
            (name, Action::Mcp { server, tool }, title)
        }
        None if message.is_empty() => (format!("mcp__{server}"), Action::Other, format!("Use a tool of {server}")),
        None => (format!("mcp__{server}"), Action::Other, message),
    };
    let named = |id: &str| offers(meta).iter().any(|offered| offered == id).then(|| id.to_owned());
    let session = named(SESSION).map(|id| Choice { id, label: "Allow this tool (Codex, this session)".to_owned() });
    let always =
        named(ALWAYS).map(|id| Choice { id, label: "Allow this tool (Codex, your configuration, from now on)".to_owned() });
    Approval {
        tool: limits::head(&name, limits::NAME).to_owned(),
        action,
        title: one_line(&title, TITLE),
        input: meta.get("tool_params").map_or_else(|| Raw::of(&json!({})), |input| Raw::of(&input)),
        preview: None,
        choices: session.into_iter().chain(always).collect(),
        editable: false,
        allowed_decisions: None,
        input_schema: None,
        reason: reason([meta.non_blank_text("tool_description"), None, None]),
    }
}

/// The item that a tool request belongs to. Codex builds the request's message from the item, so the messages must
/// match.
pub(super) fn mcp_item<'a>(params: &Object<'_>, mut items: impl Iterator<Item = &'a Item>) -> Option<&'a Item> {
    let (server, message) = (params.non_blank_text("serverName")?, params.non_blank_text("message")?);
    items.find(|item| match &item.what {
        ItemDetails::Mcp { server: of, tool } => {
            *of == server && message == format!("Allow the {server} MCP server to run tool \"{tool}\"?")
        }
        ItemDetails::Patch { .. } | ItemDetails::Other => false,
    })
}

fn offers(meta: &Object<'_>) -> Vec<String> {
    meta.list("persist").unwrap_or_default().into_iter().filter_map(text).collect()
}

/// The duration of a tool approval as JSON; `None` if that duration was not offered.
pub(super) fn mcp_tool_yes(params: &Object<'_>, choice: Option<&str>) -> Option<String> {
    let Some(choice) = choice else { return Some("null".to_owned()) };
    let meta = params.object("_meta")?;
    let offered = [SESSION, ALWAYS].contains(&choice) && offers(&meta).iter().any(|offered| offered == choice);
    offered.then(|| format!(r#"{{"persist":"{choice}"}}"#))
}

fn copy_fields(params: &Object<'_>) -> Raw {
    Raw::of(&crate::json::Fields(params.fields().collect::<Vec<_>>()))
}

/// The lines of Codex's explanation.
pub(super) fn reason(parts: [Option<String>; 3]) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| limits::head(&parts.join("\n"), limits::TEXT).to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn read_approval(params: &str) -> Approval {
        command(&Object::parse(params).unwrap())
    }

    fn yes(params: &str, choice: Option<&str>) -> Option<Value> {
        command_yes(&Object::parse(params).unwrap(), choice).map(|yes| serde_json::from_str(&yes).unwrap())
    }

    const TOUCH: &str = r#"{"kind":"command","command":"/bin/bash -lc 'touch hello.txt'","cwd":"/p","reason":"Need it",
        "commandActions":[{"type":"unknown","command":"touch hello.txt"}],"proposedExecpolicyAmendment":["touch","hello world"],
        "proposedNetworkPolicyAmendments":[{"host":"a.test","action":"deny"},{"host":"b.test","action":"allow"}]}"#;

    #[test]
    fn command_title_shows_the_inner_script() {
        let approval = read_approval(TOUCH);
        let line = "/bin/bash -lc 'touch hello.txt'".to_owned();
        assert_eq!(approval.action, Action::Run { command: line.clone() });
        assert_eq!(approval.preview, Some(Preview::Command { command: line, cwd: Some("/p".to_owned()) }));
        assert_eq!((approval.title.as_str(), approval.reason.as_deref()), ("touch hello.txt", Some("Need it")));
        let labels: Vec<String> = approval.choices.iter().map(|choice| format!("{}: {}", choice.id, choice.label)).collect();
        assert_eq!(
            labels,
            [
                "session: Allow exactly this command (Codex, this session)",
                "rule: Allow every command that begins with `touch \"hello world\"` (Codex, all projects, from now on)",
                "host-1: Allow connections to `b.test` (Codex, from now on)",
            ]
        );
        let lying = r#"{"command":"bash -lc 'rm -rf /'","commandActions":[{"command":"ls"}]}"#;
        assert_eq!(read_approval(lying).title, "bash -lc 'rm -rf /'");
    }

    #[test]
    fn command_with_extra_access_matches_no_rule() {
        for params in [
            r#"{"kind":"writeStdin","command":"python3"}"#,
            r#"{"command":"curl a.test","networkApprovalContext":{"host":"a.test","protocol":"https"}}"#,
            r#"{"kind":"command"}"#,
        ] {
            let approval = read_approval(params);
            assert_eq!(approval.action, Action::Other, "{params}");
            assert!(approval.choices.is_empty(), "{params}");
        }
        let more = r#"{"command":"ls","additionalPermissions":{"network":{"enabled":true},"new":7}}"#;
        assert_eq!(read_approval(more).reason.as_deref(), Some("It asks for more access: use the network, new: 7"));
    }

    #[test]
    fn only_rules_proposed_by_codex_are_returned() {
        assert_eq!(yes(TOUCH, None), Some(json!("accept")));
        assert_eq!(yes(TOUCH, Some("session")), Some(json!("acceptForSession")));
        let rule = json!({"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["touch", "hello world"]}});
        assert_eq!(yes(TOUCH, Some("rule")), Some(rule));
        let host = json!({"applyNetworkPolicyAmendment": {"network_policy_amendment": {"host": "b.test", "action": "allow"}}});
        assert_eq!(yes(TOUCH, Some("host-1")), Some(host));
        for wrong in ["host-0", "host-2", "", "always"] {
            assert_eq!(yes(TOUCH, Some(wrong)), None, "{wrong}");
        }
        assert_eq!(yes(r#"{"command":"ls"}"#, Some("rule")), None);
        let long = format!(r#"{{"command":"ls","proposedExecpolicyAmendment":["{}"]}}"#, "x".repeat(RULE + 1));
        assert_eq!(yes(&long, Some("rule")), None, "what could not be shown was not offered");
    }

    #[test]
    fn extra_access_is_granted_as_a_whole() {
        let params = r#"{"reason":"build","permissions":{"network":{"enabled":true},"fileSystem":{"read":null,"write":["/p/out"],
            "entries":[{"path":{"type":"path","path":"/p/out"},"access":"write"},{"new":1}]}}}"#;
        let params = Object::parse(params).unwrap();
        let approval = permissions(&params).unwrap();
        assert_eq!(approval.title, r#"Grant more access: use the network, write /p/out, {"new":1}"#);
        let granted: Value = serde_json::from_str(&permissions_reply(&params, Some("session")).unwrap()).unwrap();
        assert_eq!((&granted["scope"], &granted["permissions"]["network"]), (&json!("session"), &json!({"enabled": true})));
        assert_eq!(permissions_reply(&params, Some("always")), None);
        assert!(permissions(&Object::parse(r#"{"permissions":7}"#).unwrap()).is_err());
    }

    #[test]
    fn mcp_tool_is_identified_by_its_item() {
        let params = r#"{"serverName":"demo","message":"Allow the demo MCP server to run tool \"plain\"?","_meta":{"persist":["session"],"tool_params":{"x":1}}}"#;
        let params = Object::parse(params).unwrap();
        let meta = params.object("_meta").unwrap();
        let item = |tool: &str| {
            let item = format!(r#"{{"type":"mcpToolCall","server":"demo","tool":"{tool}"}}"#);
            Item::of(&Object::parse(&item).unwrap(), tool, "t").unwrap()
        };
        let items = [item("other"), item("plain")];
        let found = mcp_item(&params, items.iter());
        assert_eq!(found.unwrap().id, "plain");
        let known = mcp_tool(&params, &meta, found);
        assert_eq!(known.action, Action::Mcp { server: "demo".into(), tool: "plain".into() });
        assert_eq!((known.tool.as_str(), known.input.as_str(), known.choices.len()), ("mcp__demo__plain", r#"{"x":1}"#, 1));
        assert_eq!(mcp_tool(&params, &meta, mcp_item(&params, items[..1].iter())).action, Action::Other);
        assert_eq!(mcp_tool_yes(&params, None).as_deref(), Some("null"));
        assert_eq!(mcp_tool_yes(&params, Some("session")).as_deref(), Some(r#"{"persist":"session"}"#));
        assert_eq!(mcp_tool_yes(&params, Some("always")), None, "it was not offered");
    }
}
