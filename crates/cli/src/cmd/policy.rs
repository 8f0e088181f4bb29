//! `sayso policy`: shows, edits, checks, explains, tests and trusts policies.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use sayso_client::Client;
use sayso_client::api::error::ErrorCode;
use sayso_client::api::policy::{ExplainRequest, Explained, PolicyView};
use serde_json::Value;

use crate::app::App;
use crate::args::PolicyAction;
use crate::editor;
use crate::failure::Failure;
use crate::order::ending;
use crate::output::{Look, Style};
use crate::sanitize;
use crate::words;

/// Content of a new policy file.
const TEMPLATE: &str = "\
# Rules decide asks before they reach you. Check this file with: sayso policy check

# [questions]
# policy = \"forward\"            # reject | accept-first | forward | auto
# timeout = \"10m\"               # without a timeout, questions wait until you answer
# on_timeout = \"reject\"         # reject | accept-first

# [[rules]]
# name = \"read-only and tests\"
# do = \"allow\"                  # allow | deny | ask | answer | reject
# run = [\"git status\", \"git diff *\", \"cargo test *\"]
";

/// Shows the policy, or runs one action on it.
pub(crate) async fn run(app: &App, action: Option<PolicyAction>) -> Result<(), Failure> {
    let client = app.client()?;
    let Some(action) = action else {
        let view = client.policy().await?;
        return app.out.result(&view, || describe(&view, &app.out.look));
    };
    match action {
        PolicyAction::Edit => edit(app, &client).await,
        PolicyAction::Check { file } => {
            let file = file.unwrap_or_else(|| app.paths.policy());
            check(app, &client, &file).await
        }
        PolicyAction::Explain { id } => {
            let ask = client.find_ask(&id).await?;
            let request = ExplainRequest { ask_id: Some(ask.id), ..ExplainRequest::default() };
            let explanation = client.explain(&request).await?;
            app.out.result(&explanation, || explanation.data.iter().map(explained).collect::<Vec<_>>().join("\n"))
        }
        PolicyAction::Test { file, history } => test(app, &client, &file, history).await,
        PolicyAction::Trust { dir } => {
            let dir = fs::canonicalize(&dir).map_err(|error| Failure::io(&format!("Cannot use {}", dir.display()), &error))?;
            let trusted = client.trust(&dir.to_string_lossy()).await?;
            app.out.result(&trusted, || {
                format!("Trusted in its current version: {}", words::directory(&trusted.path, &app.out.look))
            })
        }
    }
}

fn describe(view: &PolicyView, look: &Look) -> String {
    let now = sayso_client::now();
    let mut out = look.paint(Style::Dim, &words::directory(&view.path, look));
    if let Some(error) = &view.error {
        let _ =
            write!(out, "\n{}", look.paint(Style::Bad, &format!("{} The last valid policy is active.", sanitize::text(error))));
    }
    if let Some(profile) = &view.profile {
        let until = profile.until.map(|until| format!(" until {}", words::at(until, now))).unwrap_or_default();
        let _ = write!(out, "\nProfile \"{}\" is on{until}. Turn it off with: sayso away off", sanitize::line(&profile.name));
    }
    for grant in &view.grants {
        let until = grant.until.map(|until| format!(" until {}", words::at(until, now))).unwrap_or_default();
        let _ = write!(out, "\nAllowed{until}: {}", sanitize::line(&grant.run.join(", ")));
    }
    let text = view.text.trim_end();
    if text.is_empty() {
        out.push_str("\nNo rules yet. Every ask comes to you and waits until you answer. Add rules with: sayso policy edit");
    } else {
        let _ = write!(out, "\n\n{}", sanitize::text(text));
    }
    out
}

async fn edit(app: &App, client: &Client) -> Result<(), Failure> {
    app.person_only()?;
    // The server knows the path of its policy file. A file on another machine cannot be edited from here.
    let path = PathBuf::from(client.policy().await?.path);
    let write = |error: std::io::Error| Failure::io(&format!("Cannot write {}", path.display()), &error);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(write)?;
    }
    if !path.exists() {
        fs::write(&path, TEMPLATE).map_err(write)?;
    }
    editor::edit_file(&path)?;
    check(app, client, &path).await
}

/// Lets the server parse a policy. This changes nothing.
async fn check(app: &App, client: &Client, file: &Path) -> Result<(), Failure> {
    let policy = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && file == app.paths.policy() => String::new(),
        Err(error) => return Err(Failure::io(&format!("Cannot read {}", file.display()), &error)),
    };
    let request = ExplainRequest { policy: Some(policy), pending: true, ..ExplainRequest::default() };
    let explanation = client.explain(&request).await.map_err(|error| located(error, file))?;
    let ok = serde_json::json!({ "file": file, "ok": true, "pending": explanation });
    app.out.result(&ok, || {
        let decides = explanation.data.iter().filter(|one| one.verdict != "ask").count();
        let pending = match (explanation.data.len(), decides) {
            (0, _) => String::new(),
            (waiting, decides) => {
                format!(" It would decide {decides} of {}.", words::count(waiting, "pending ask", "pending asks"))
            }
        };
        format!("{} is valid.{pending}", words::directory(&file.to_string_lossy(), &app.out.look))
    })
}

fn located(error: sayso_client::Error, file: &Path) -> Failure {
    match error.problem() {
        Some(problem) if problem.code == ErrorCode::InvalidPolicy => {
            // The detail includes line and column.
            let what = format!("{}: {}.", file.display(), sanitize::text(problem.detail.trim_end_matches('.')));
            Failure { code: Some(problem.code), ..Failure::new(what).then("The last valid policy stays active.") }
        }
        _ => error.into(),
    }
}

async fn test(app: &App, client: &Client, file: &Path, history: u32) -> Result<(), Failure> {
    let policy = fs::read_to_string(file).map_err(|error| Failure::io(&format!("Cannot read {}", file.display()), &error))?;
    let request = ExplainRequest { ask_id: None, policy: Some(policy), pending: true, history: Some(history) };
    let explanation = client.explain(&request).await.map_err(|error| located(error, file))?;
    app.out.result(&explanation, || {
        let decided = explanation.data.iter().filter(|one| one.verdict != "ask").count();
        let lines: Vec<String> = explanation.data.iter().map(explained).collect();
        let total = words::count(explanation.data.len(), "ask", "asks");
        format!("{}\nIt would decide {decided} of {total}.", lines.join("\n")).trim_start().to_owned()
    })
}

fn explained(one: &Explained) -> String {
    let considered: String =
        one.considered.iter().filter_map(Value::as_array).flatten().map(|rule| format!("\n  {}", rule_line(rule))).collect();
    format!(
        "{}  {:<8} {}: {}{considered}",
        ending(&one.ask_id, 4),
        sanitize::line(&one.verdict),
        sanitize::line(&one.summary),
        sanitize::line(&one.because)
    )
}

/// Formats one rule that was considered. Rules of an unknown shape are printed as JSON.
fn rule_line(rule: &Value) -> String {
    let text = |name: &str| rule.get(name).and_then(Value::as_str).map(sanitize::line);
    let Some(name) = text("name") else { return sanitize::line(&rule.to_string()) };
    let effect = text("effect").unwrap_or_default();
    match (rule.get("matched").and_then(Value::as_bool), text("whyNot")) {
        (Some(true), _) => format!("matched  {effect:<6} {name}"),
        (Some(false) | None, Some(why_not)) => format!("no match {effect:<6} {name}: {why_not}"),
        (Some(false) | None, None) => format!("no match {effect:<6} {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_line_says_why_the_rule_did_not_match() {
        let rule = serde_json::json!({"name": "tests", "effect": "allow", "matched": false, "whyNot": "`ls` is not allowed"});
        assert_eq!(rule_line(&rule), "no match allow  tests: `ls` is not allowed");
        assert_eq!(rule_line(&serde_json::json!({"name": "tests", "effect": "allow", "matched": true})), "matched  allow  tests");
        assert_eq!(rule_line(&serde_json::json!({"new": 1})), r#"{"new":1}"#);
    }

    #[test]
    fn template_contains_only_comments() {
        assert!(TEMPLATE.lines().all(|line| line.is_empty() || line.starts_with('#')));
    }
}
