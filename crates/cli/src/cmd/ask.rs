//! `sayso ask`: lets a script ask a person. Prints the answer; the exit code tells how the ask ended.

use std::time::Duration;

use sayso_client::api::ask::{ActionKind, Approval, Ask, AskStatus, NewAsk, ShownAnswer};
use sayso_client::{Client, question};

use crate::app::App;
use crate::args;
use crate::autostart;
use crate::failure::{Failure, exit};
use crate::git;
use crate::sanitize;
use crate::terminal::Keyboard;
use crate::words;

/// After Ctrl-C, how long to wait for a server that is still accepting the question.
const LAST_MOMENT: Duration = Duration::from_secs(2);

/// Opens an ask and waits for its outcome.
pub(crate) async fn run(app: &App, args: args::AskArgs) -> Result<(), Failure> {
    let client = autostart::client(app).await?;
    let wait = !args.no_wait;
    let mut ask = new_ask(args);
    // The server names the agent of an agent's token. A script of the person must not appear as the person, so it
    // gets a name of its own.
    if app.environment.agent_marker().is_none() {
        ask.agent = Some("script".to_owned());
    }
    if !wait {
        let opened = client.open_ask(&ask).await?;
        return app.out.result(&opened, || opened.id.clone());
    }
    // From here on, Ctrl-C withdraws the ask, even if the request that opens it is still in flight.
    let mut keyboard = Keyboard::open(&app.out)?;
    let opening = client.open_ask(&ask);
    tokio::pin!(opening);
    let opened = tokio::select! {
        opened = &mut opening => opened?,
        () = keyboard.interrupt() => {
            return Err(match tokio::time::timeout(LAST_MOMENT, opening).await {
                Ok(Ok(opened)) => withdrawn(&client, &opened).await,
                Ok(Err(error)) => error.into(),
                Err(_) => interrupted("The server did not confirm the question in time. It may still be pending: sayso ls"),
            });
        }
    };
    if opened.status != AskStatus::Pending {
        return finish(app, &client.receive(&opened.id).await?);
    }
    if app.out.is_terminal && !app.out.json {
        app.out.note(&format!("Waiting for an answer. Decide it with: {}", words::how_to_decide(&opened)));
    }
    tokio::select! {
        decided = outcome(&client, &opened) => finish(app, &decided?),
        () = keyboard.interrupt() => Err(withdrawn(&client, &opened).await),
    }
}

/// Withdraws the ask. An error is ignored: if a person was faster, the ask is resolved, which is just as good.
async fn withdrawn(client: &Client, opened: &Ask) -> Failure {
    let _ = client.withdraw(&opened.id).await;
    interrupted("Withdrawn.")
}

fn interrupted(what: &str) -> Failure {
    Failure { exit: exit::INTERRUPTED, ..Failure::new(what) }
}

/// Waits for the outcome and marks it as delivered.
async fn outcome(client: &Client, opened: &Ask) -> Result<Ask, sayso_client::Error> {
    client.wait_for_outcome(&opened.id).await?;
    client.receive(&opened.id).await
}

fn new_ask(args: args::AskArgs) -> NewAsk {
    let directory = std::env::current_dir().ok();
    let options: Vec<&str> = args.options.iter().map(String::as_str).collect();
    let mut ask = match args.approval {
        Some(command) => NewAsk {
            approval: Some(Approval {
                tool: "sayso ask".to_owned(),
                action: ActionKind::Run,
                input: serde_json::json!({ "command": command }),
                command: Some(command),
                paths: Vec::new(),
                url: None,
                server: None,
                title: args.text.clone(),
                preview: None,
                choices: Vec::new(),
                editable: false,
                allowed_decisions: None,
                input_schema: None,
                reason: Some(args.text.clone()),
            }),
            ..NewAsk::default()
        },
        None => {
            let mut ask = question(&args.text, &options);
            for question in ask.questions.iter_mut().flatten() {
                question.header.clone_from(&args.header);
                question.multiple = args.multiple;
                question.custom = !args.no_custom;
                question.secret = args.secret;
            }
            ask
        }
    };
    ask.title = args.text.lines().next().map(str::to_owned);
    ask.branch = directory.as_deref().and_then(git::branch);
    ask.project = directory.map(|directory| directory.to_string_lossy().into_owned());
    ask.context = args.context;
    ask.labels = args.labels.into_iter().map(|label| (label.key, label.value)).collect();
    ask.dedupe_key = args.dedupe_key;
    ask.timeout = args.timeout.map(|span| span.to_string());
    ask
}

fn finish(app: &App, ask: &Ask) -> Result<(), Failure> {
    if app.out.json {
        app.out.json(ask)?;
    }
    let Some(outcome) = &ask.outcome else { return Err(Failure::new("The server reported a decision without an outcome.")) };
    let no = |exit: u8| Err(Failure { exit, ..Failure::new(words::outcome(outcome)) });
    match outcome.status {
        AskStatus::Answered => {
            if !app.out.json {
                for line in answer_lines(outcome.answers.as_deref().unwrap_or_default())? {
                    // Scripts get all characters. Terminals get text without control sequences.
                    app.out.line(&if app.out.is_terminal { sanitize::text(&line) } else { line });
                }
                if let Some(note) = &outcome.note {
                    app.out.note(&format!("Note: {}", sanitize::text(note)));
                }
            }
            Ok(())
        }
        AskStatus::Approved => {
            if !app.out.json {
                app.out.line("approved");
            }
            Ok(())
        }
        AskStatus::Rejected | AskStatus::Denied if outcome.by.kind == "timeout" => no(exit::NO_ANSWER),
        AskStatus::Rejected | AskStatus::Denied => no(exit::NO),
        AskStatus::Withdrawn | AskStatus::Pending => no(exit::ERROR),
    }
}

/// Formats one entry per line.
fn answer_lines(answers: &[ShownAnswer]) -> Result<Vec<String>, Failure> {
    let mut lines = Vec::new();
    for answer in answers {
        match answer {
            ShownAnswer::Entries(entries) => lines.extend(entries.iter().cloned()),
            ShownAnswer::Secret { .. } => {
                return Err(Failure::new("The answer is a secret, and the server does not return it here.")
                    .then("Only agents receive secrets."));
            }
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::FromArgMatches as _;

    fn args(line: &[&str]) -> args::AskArgs {
        let matches = args::command().try_get_matches_from(["sayso", "ask"].iter().chain(line)).unwrap();
        match args::Args::from_arg_matches(&matches).unwrap().command {
            Some(args::CliCommand::Ask(ask)) => ask,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn options_and_flags_become_a_question() {
        let line = ["Which?", "--option", "A", "--option", "B", "--multiple", "--no-custom", "--header", "H", "--timeout", "90s"];
        let ask = new_ask(args(&line));
        let question = &ask.questions.as_ref().unwrap()[0];
        assert_eq!(
            (question.text.as_str(), question.header.as_deref(), question.multiple, question.custom),
            ("Which?", Some("H"), true, false)
        );
        assert_eq!(question.options.iter().map(|option| option.label.as_str()).collect::<Vec<_>>(), ["A", "B"]);
        assert_eq!((ask.timeout.as_deref(), ask.approval.is_none()), (Some("1m30s"), true));
        assert!(ask.project.is_some());
    }

    #[test]
    fn approval_flag_becomes_an_approval_of_a_command() {
        let ask = new_ask(args(&["Deploy?", "--approval", "make deploy"]));
        let approval = ask.approval.unwrap();
        assert_eq!((approval.command.as_deref(), approval.action, ask.questions), (Some("make deploy"), ActionKind::Run, None));
    }

    #[test]
    fn answers_print_one_entry_per_line_without_secrets() {
        let answers = [ShownAnswer::Entries(vec!["a".into(), "b".into()]), ShownAnswer::Entries(vec!["c".into()])];
        assert_eq!(answer_lines(&answers).unwrap(), ["a", "b", "c"]);
        assert!(answer_lines(&[ShownAnswer::Secret { secret: true }]).is_err());
    }
}
