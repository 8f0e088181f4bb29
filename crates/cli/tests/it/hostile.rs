//! Agent text never controls the person's terminal.

use anyhow::Result;
use sayso_client::api::ask::{ActionKind, Approval, Choice, Link, NewAsk, Preview};
use sayso_client::question;
use sayso_testkit::pty::{CTRL_D, Pty, without_colours};

use crate::support::{Person, ends_well, ran};

/// Clears the screen, sets the title, writes to the clipboard, moves the cursor up, uses C1 codes, and reorders and
/// hides text.
const EVIL: &str =
    "a\u{1b}[2J\u{1b}]0;owned\u{7}\u{1b}]52;c;cm0=\u{7}\u{1b}[1A\u{9b}31m\u{202e}evil\u{2066}\u{200b}\u{feff}\u{8}\rz";
const SHOWN: &str = "<U+001B>[2J<U+001B>]0;owned<U+0007><U+001B>]52;c;cm0=<U+0007><U+001B>[1A<U+009B>31m<U+202E>evil<U+2066><U+200B><U+FEFF><U+0008><U+000D>z";

fn evil(where_: &str) -> String {
    format!("{where_} {EVIL}")
}

fn evil_question() -> NewAsk {
    let mut ask = question(&evil("text"), &[&evil("label"), "plain"]);
    ask.title = Some(evil("title"));
    ask.context = Some(evil("context"));
    ask.agent = Some(evil("agent"));
    ask.project = Some(format!("/tmp/{}", evil("project")));
    ask.branch = Some(evil("branch"));
    ask.labels = [(evil("key"), evil("value"))].into();
    for question in ask.questions.iter_mut().flatten() {
        question.header = Some(evil("header"));
        question.options[0].description = Some(evil("description"));
        question.options[0].preview = Some(evil("preview"));
    }
    ask
}

fn evil_approval() -> NewAsk {
    NewAsk {
        title: Some(evil("title")),
        approval: Some(Approval {
            tool: evil("tool"),
            action: ActionKind::Run,
            input: serde_json::json!({ "command": evil("command"), evil("name"): 1 }),
            command: Some(evil("command")),
            paths: Vec::new(),
            url: None,
            server: None,
            title: evil("heading"),
            preview: Some(Preview::Command { command: evil("command"), cwd: Some(evil("cwd")) }),
            choices: vec![Choice { id: "c".into(), label: evil("choice") }],
            editable: false,
            allowed_decisions: None,
            input_schema: None,
            reason: Some(evil("reason")),
        }),
        ..NewAsk::default()
    }
}

fn evil_link() -> NewAsk {
    let url = format!("https://example.com/{}", "x\u{1b}[2J\u{202e}");
    NewAsk { title: Some("link".into()), link: Some(Link { url, message: Some(evil("message")) }), ..NewAsk::default() }
}

/// Returns true if the text has no control characters other than newlines, and no characters that reorder or hide
/// text. The caller removes colors first.
fn is_harmless(text: &str) -> bool {
    let hidden = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    text.chars().all(|c| c == '\n' || !(c.is_control() || hidden(c)))
}

/// Checks that the terminal received only the color codes of this program.
fn assert_harmless(pty: &Pty) {
    let raw = String::from_utf8_lossy(pty.raw()).replace("\r\n", "\n");
    let ours = ["0", "1", "2", "31", "32", "33", "35"];
    let without = ours.iter().fold(raw.clone(), |text, code| text.replace(&format!("\u{1b}[{code}m"), ""));
    assert!(is_harmless(&without), "{raw:?}");
}

/// Opens an ask; `None` if the server refuses it, in which case it cannot do harm.
async fn opened(person: &Person, ask: &NewAsk) -> Result<Option<String>> {
    match person.client()?.open_ask(ask).await {
        Ok(ask) => Ok(Some(ask.id)),
        Err(error) if error.problem().is_some() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[tokio::test]
async fn agent_text_is_escaped_by_all_commands() -> Result<()> {
    let person = Person::new().await?;
    let question = person.asks(&evil_question()).await?.id;
    let approval = person.asks(&evil_approval()).await?.id;
    let link = opened(&person, &evil_link()).await?;

    let mut ids = vec![question.as_str(), approval.as_str()];
    ids.extend(link.as_deref());
    let shows = ids.iter().map(|id| vec!["show", id, "--raw"]);
    let explains = ids.iter().map(|id| vec!["policy", "explain", id]);
    for args in [vec!["ls"], vec!["history"]].into_iter().chain(shows).chain(explains) {
        let mut terminal = person.terminal(&args)?;
        ends_well(&mut terminal).await?;
        assert_harmless(&terminal);
        let piped = person.run(&args).await?;
        assert!(is_harmless(&piped.out) && is_harmless(&piped.err), "{args:?}: {piped:?}");
    }

    for (id, prompt) in [(&question, "Select [1-2, or type your own]: "), (&approval, "Approve? [y/n/1/r/?]: ")] {
        let mut terminal = person.terminal(&["answer", id])?;
        let shown = terminal.expect(prompt).await?;
        assert!(shown.contains(SHOWN), "{shown}");
        terminal.line("?").await?;
        if *id == approval {
            terminal.expect(prompt).await?;
            terminal.send(CTRL_D).await?;
        }
        ends_well(&mut terminal).await?;
        assert_harmless(&terminal);
    }
    Ok(())
}

#[tokio::test]
async fn streamed_session_text_is_escaped() -> Result<()> {
    let person = Person::new().await?;
    // The mock repeats its prompt.
    let mut terminal = person.terminal(&["start", "mock", EVIL])?;
    terminal.expect("z\n> ").await?;
    assert!(terminal.screen().contains("evil"), "{}", terminal.screen());
    terminal.send(CTRL_D).await?;
    ends_well(&mut terminal).await?;
    assert_harmless(&terminal);
    let session = person.json(&["sessions"]).await?["data"][0]["id"].as_str().unwrap().to_owned();
    for args in [&["sessions"][..], &["sessions", "show", &session], &["sessions", "log", &session]] {
        let mut terminal = person.terminal(args)?;
        ends_well(&mut terminal).await?;
        assert_harmless(&terminal);
    }
    Ok(())
}

#[tokio::test]
async fn answer_is_escaped_for_terminals_and_complete_for_scripts() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["ask", &evil("text")])?;
    terminal.expect("Waiting for an answer.").await?;
    let id = person.pending().await?.id;
    person.ok(&["answer", &id, EVIL]).await?;
    terminal.expect(SHOWN).await?;
    ends_well(&mut terminal).await?;
    assert_harmless(&terminal);
    let mut terminal = person.terminal(&["history"])?;
    ends_well(&mut terminal).await?;
    assert_harmless(&terminal);
    let ambiguous = person.run(&["show", "\u{1b}[2J"]).await?;
    assert!(ambiguous.code == Some(1) && is_harmless(&ambiguous.err), "{ambiguous:?}");
    Ok(())
}

#[tokio::test]
async fn arguments_are_escaped_in_errors() -> Result<()> {
    let person = Person::new().await?;
    let option = format!("--{EVIL}");
    for args in [
        &[EVIL][..],
        &[&option],
        &["ls", EVIL],
        &["--data-dir", EVIL, "ls"],
        &["show", EVIL],
        &["answer", EVIL, "x"],
        &["approve", EVIL],
        &["deny", EVIL],
        &["reject", EVIL],
        &["snooze", EVIL, EVIL],
        &["start", EVIL],
        &["sessions", "show", EVIL],
        &["ask", "Which?", "--label", EVIL, "--no-wait"],
        &["ask", "Which?", "--timeout", EVIL],
        &["policy", "check", EVIL],
        &["policy", "explain", EVIL],
        &["policy", "test", EVIL],
        &["policy", "trust", EVIL],
        &["allow", EVIL, "--for", EVIL],
        &["allow", EVIL, "--for", "1h"],
        &["away", EVIL],
        &["workflow", "run", EVIL],
        &["workflow", "check", EVIL],
        &["workflow", "show", EVIL],
        &["token", "create", EVIL, "--role", EVIL],
        &["token", "create", EVIL, "--role", "agent"],
        &["token", "list"],
        &["token", "revoke", EVIL],
        &["notify", "test", EVIL],
        &["connect", EVIL],
        &["logs", "--ask", EVIL],
        &["serve", "--listen", EVIL],
        &["completions", EVIL],
        &["backup", EVIL],
    ] {
        let mut terminal = person.terminal(args)?;
        terminal.end().await?;
        assert_own_colours(&terminal, args);
        let piped = person.run(args).await?;
        assert!(is_harmless(&piped.out) && is_harmless(&piped.err), "{args:?}: {piped:?}");
    }
    Ok(())
}

/// Like [`assert_harmless`], with the color codes of the command-line parser.
fn assert_own_colours(pty: &Pty, args: &[&str]) {
    let raw = String::from_utf8_lossy(pty.raw()).replace("\r\n", "\n");
    let codes = ["0", "1", "2", "4", "31", "32", "33", "35"];
    let without = codes.iter().fold(raw.clone(), |text, code| text.replace(&format!("\u{1b}[{code}m"), ""));
    assert!(is_harmless(&without), "{args:?}: {raw:?}");
}

#[tokio::test]
async fn colors_follow_terminal_and_environment() -> Result<()> {
    let person = Person::new().await?;
    person.ok(&["ask", "Which?", "--option", "A", "--header", "Head", "--no-wait"]).await?;
    let id = person.pending().await?.id;
    let shown = async |environment: &[(&str, &str)]| {
        let mut terminal = person.terminal_with(&["show", &id], environment)?;
        ends_well(&mut terminal).await?;
        Ok::<_, anyhow::Error>(String::from_utf8(terminal.raw().to_vec())?)
    };
    let coloured = shown(&[]).await?;
    assert!(coloured.contains("\u{1b}[1m[Head]\u{1b}[0m"), "{coloured:?}");
    let plain = without_colours(&coloured);
    for environment in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let bare = shown(&[environment]).await?;
        assert!(!bare.contains('\u{1b}'), "{bare:?}");
        assert_eq!(bare.replace("\r\n", "\n").lines().count(), plain.lines().count());
    }
    let mut piped = person.command(&["show", &id]);
    piped.env("TERM", "xterm-256color").env("FORCE_COLOR", "1");
    let piped = ran(piped).await?.out;
    assert!(!piped.contains('\u{1b}'), "{piped:?}");
    // A terminal without UTF-8 gets ASCII signs.
    let ascii = shown(&[("LC_ALL", "C"), ("NO_COLOR", "1")]).await?;
    assert!(ascii.is_ascii() && ascii.starts_with("=== script asks * Which? * ~/project (main) * ..."), "{ascii}");
    Ok(())
}

/// Returns true if the terminal received only what the inbox itself sends: positions, colors, its title and its bell.
fn only_ours(raw: &str) -> bool {
    let mut rest = raw;
    while let Some(at) = rest.find(|c: char| c.is_control()) {
        if !is_harmless(&rest[..at]) {
            return false;
        }
        rest = &rest[at..];
        let Some(after) = rest.strip_prefix('\u{1b}') else {
            // Messages before and after the inbox end with newlines.
            match rest.strip_prefix(['\u{7}', '\r', '\n']) {
                Some(after) => rest = after,
                None => return false,
            }
            continue;
        };
        if let Some(title) = after.strip_prefix("]2;") {
            let Some((title, after)) = title.split_once('\u{7}') else { return false };
            if !title.trim_start_matches(|c: char| matches!(c, '(' | ')' | ' ' | '0'..='9')).eq("Sayso") {
                return false;
            }
            rest = after;
            continue;
        }
        // The keyboard protocol: saved, enabled, disabled, restored.
        if let Some(after) = ["[>0u", "[=15;1u", "[=0;1u", "[<1u"].iter().find_map(|ours| after.strip_prefix(ours)) {
            rest = after;
            continue;
        }
        let Some(sequence) = after.strip_prefix('[') else { return false };
        let private = sequence.starts_with('?');
        let parameters = sequence.trim_start_matches(|c: char| matches!(c, '?' | ';' | '0'..='9'));
        match (private, parameters.chars().next()) {
            (false, Some('m' | 'H' | 'J' | 't')) | (true, Some('h' | 'l')) => rest = &parameters[1..],
            (_, _) => return false,
        }
    }
    is_harmless(rest)
}

#[tokio::test]
async fn inbox_sends_no_control_sequences_of_agents() -> Result<()> {
    let person = Person::new().await?;
    person.asks(&evil_question()).await?;
    person.asks(&evil_approval()).await?;
    opened(&person, &evil_link()).await?;
    let mut terminal = person.terminal(&["inbox"])?;
    terminal.shows("1 of ").await?;
    terminal.resize(120, 40)?;
    terminal.shows("Agents are waiting").await?;
    for number in 1..=3 {
        for key in ["\u{1b}[B", "t", "p", "x", "j"] {
            terminal.send(key).await?;
        }
        terminal.resize(100 + number, 40)?;
    }
    terminal.shows("<U+001B>[2J").await?;
    terminal.send("q").await?;
    ends_well(&mut terminal).await?;
    let raw = String::from_utf8(terminal.raw().to_vec())?;
    assert!(only_ours(&raw), "{raw:?}");
    for evil in ["\u{1b}[1A", "a\u{1b}]0;x\u{7}", "\u{1b}]52;c;x\u{7}", "\u{1b}]2;evil\u{7}", "\u{9b}31m", "\u{202e}", "\u{8}"] {
        assert!(!only_ours(evil), "{evil:?}");
    }
    Ok(())
}
