//! Questions in the prompt.

use anyhow::Result;
use sayso_testkit::pty::CTRL_D;

use crate::support::{Person, ending, ends_well};

const ONE: &str = "Select [1-2, or type your own]: ";
const SEVERAL: &str = "Select [1-3, comma-separated, or type your own]: ";

#[tokio::test]
async fn question_prompt_matches_its_snapshot() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "ask me a question"])?;
    terminal.expect(ONE).await?;
    let ask = person.pending().await?;
    terminal.line("1").await?;
    terminal.expect("You answered: SQLite.\n> ").await?;
    terminal.send(CTRL_D).await?;
    ends_well(&mut terminal).await?;
    let session = ask.session_id.unwrap();
    let screen = terminal.screen().replace(ending(&ask.id), "4f2a").replace(ending(&session), "77c1");
    insta::assert_snapshot!("one_question", screen);
    assert!(terminal.raw().windows(14).any(|bytes| bytes == b"\x1b[1m[Database]"), "the header is bold");
    Ok(())
}

#[tokio::test]
async fn several_questions_are_asked_in_order() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "questions"])?;
    terminal.expect(ONE).await?;
    let ask = person.pending().await?;
    assert!(!terminal.screen().contains("[Areas]"), "the next question is not shown yet:\n{}", terminal.screen());
    terminal.line("PostgreSQL").await?;
    terminal.expect(SEVERAL).await?;
    terminal.line("3, 1, and the docs, please").await?;
    terminal.expect("Answer: ").await?;
    terminal.line("be quick").await?;
    terminal
        .expect("You answered: [Database] PostgreSQL; [Areas] Search, Auth, and the docs, please; [Notes] be quick.\n> ")
        .await?;
    terminal.send(CTRL_D).await?;
    ends_well(&mut terminal).await?;
    let session = ask.session_id.unwrap();
    let screen = terminal.screen().replace(ending(&ask.id), "4f2a").replace(ending(&session), "77c1");
    insta::assert_snapshot!("several_questions", screen);
    Ok(())
}

#[tokio::test]
async fn invalid_line_is_asked_again() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "question"])?;
    for (typed, said) in [
        ("7", "There is no option 7. To send the number as text, put it in quotes: \"7\""),
        ("0", "There is no option 0."),
        ("", "Type an answer."),
        ("   ", "Type an answer."),
    ] {
        terminal.expect(ONE).await?;
        terminal.line(typed).await?;
        terminal.expect(said).await?;
    }
    terminal.expect(ONE).await?;
    terminal.line("  DuckDB, in a file  ").await?;
    terminal.expect("You answered: DuckDB, in a file.").await?;
    assert_eq!(terminal.screen().matches("Which database").count(), 1, "only the input line is repeated");
    Ok(())
}

#[tokio::test]
async fn no_custom_prompt_does_not_offer_free_text() -> Result<()> {
    let person = Person::new().await?;
    let options = ["--option", "staging", "--option", "production", "--option", "both", "--no-custom", "--no-wait"];
    person.ok(&[&["ask", "Deploy where?"], &options[..]].concat()).await?;
    let mut terminal = person.terminal(&["next"])?;
    for (typed, said) in [("moon", "\"moon\" is not one of the options."), ("4", "There is no option 4.\n")] {
        terminal.expect("Select [1-3]: ").await?;
        terminal.line(typed).await?;
        terminal.expect(said).await?;
    }
    terminal.line("Production").await?;
    terminal.expect("✓ Answered by tester in the terminal: \"production\".\n").await?;
    ends_well(&mut terminal).await?;
    assert!(!terminal.screen().contains("own"), "{}", terminal.screen());

    person.ok(&[&["ask", "Check what?", "--multiple"], &options[..]].concat()).await?;
    let mut terminal = person.terminal(&["next"])?;
    for (typed, said) in [("1,moon", "\"moon\" is not one of the options."), ("2-4", "There are no options 2 to 4.")] {
        terminal.expect("Select [1-3, comma-separated]: ").await?;
        terminal.line(typed).await?;
        terminal.expect(said).await?;
    }
    terminal.line("2-3, staging").await?;
    terminal.expect("✓ Answered by tester in the terminal: \"production, both, staging\".\n").await?;
    assert!(!terminal.screen().contains("own"), "{}", terminal.screen());
    Ok(())
}

#[tokio::test]
async fn form_validates_each_field() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "form"])?;
    terminal.expect("Answer: ").await?;
    terminal.line("shop").await?;
    for (typed, said) in
        [("many", "Type a number."), ("80.5", "Type a whole number."), ("99999", "Type a number between 1 and 65535.")]
    {
        terminal.expect("Whole number, 1 to 65535: ").await?;
        terminal.line(typed).await?;
        terminal.expect(said).await?;
    }
    terminal.expect("Whole number, 1 to 65535: ").await?;
    terminal.line("8080").await?;
    terminal.expect("Yes or no [y/n]: ").await?;
    terminal.line("perhaps").await?;
    terminal.expect("Type y or n.").await?;
    terminal.line("n").await?;
    terminal.expect("Select [1-2, or Enter for none]: ").await?;
    terminal.line("").await?;
    terminal.expect("[Name] shop; [Port] 8080; [Public] false; [Region] nothing.").await?;
    Ok(())
}

#[tokio::test]
async fn secret_never_appears_on_the_screen() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "secret"])?;
    terminal.expect("Answer [not shown]: ").await?;
    terminal.line("correct horse battery").await?;
    terminal.expect("I received a secret of 21 characters.\n> ").await?;
    assert!(!String::from_utf8_lossy(terminal.raw()).contains("horse"), "{}", terminal.screen());
    // Text that is typed afterwards is visible again.
    terminal.line("hello again").await?;
    terminal.expect("hello again\nhello again\n> ").await?;
    terminal.send(CTRL_D).await?;
    ends_well(&mut terminal).await?;
    for shown in [person.ok(&["history"]).await?, person.ok(&["history", "--json"]).await?] {
        assert!(!shown.contains("horse"), "{shown}");
    }
    Ok(())
}

#[tokio::test]
async fn parallel_asks_are_prompted_in_order() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "parallel"])?;
    terminal.expect("Which database should this feature use?").await?;
    terminal.expect(ONE).await?;
    terminal.line("2").await?;
    terminal.expect("Approve? [").await?;
    terminal.line("y").await?;
    terminal.expect("Which test runner should I use?").await?;
    terminal.expect(ONE).await?;
    terminal.line("nextest").await?;
    terminal.expect("You answered: PostgreSQL.\nApproved: cargo test --workspace\nYou answered: nextest.\n> ").await?;
    let banners = terminal.screen().matches("━━━ mock asks · parallel · ~/project (main) · …").count();
    assert!(
        (3..=5).contains(&banners),
        "each ask is printed when it arrives and again when it is prompted for:\n{}",
        terminal.screen()
    );
    Ok(())
}

#[tokio::test]
async fn next_answers_the_first_ask_and_counts_the_rest() -> Result<()> {
    let person = Person::new().await?;
    assert_eq!(person.ok(&["next"]).await?, "You're all caught up.");
    for text in ["First?", "Second?", "Third?"] {
        person.ok(&["ask", text, "--no-wait", "--context", "I looked around.\nIt is all there."]).await?;
    }
    let mut terminal = person.terminal(&["next"])?;
    let shown = terminal.expect("Answer: ").await?;
    assert!(shown.contains("Before asking, the agent said\n│ I looked around.\n│ It is all there.\n"), "{shown}");
    assert!(shown.contains("First?") && !shown.contains("Second?"), "{shown}");
    terminal.line("yes").await?;
    terminal.expect("✓ Answered by tester in the terminal: \"yes\".\n2 more asks are pending.\n").await?;
    ends_well(&mut terminal).await?;
    // Without a terminal, piped input is the answer.
    let piped = person.run_with_input(&["next"], "from a pipe\n").await?;
    assert_eq!(piped.code, Some(0), "{piped:?}");
    assert!(piped.out.ends_with("✓ Answered by tester in the terminal: \"from a pipe\".\n1 more ask is pending.\n"), "{piped:?}");
    assert!(!piped.out.contains('\u{1b}'), "{piped:?}");
    Ok(())
}

#[tokio::test]
async fn prompt_commands_run_and_quoted_commands_are_sent_as_text() -> Result<()> {
    let person = Person::new().await?;
    let id = person.asks(&sayso_client::question("Which command?", &[])).await?.id;
    let mut terminal = person.terminal(&["next"])?;
    terminal.expect("Or type /reject [reason], /snooze or /help.").await?;
    terminal.expect("Answer: ").await?;
    terminal.line("/snooze").await?;
    terminal.expect("Snoozed for 30 minutes. The agent keeps waiting.").await?;
    ends_well(&mut terminal).await?;
    assert!(person.client()?.ask(&id).await?.snoozed_until.is_some());

    let mut terminal = person.terminal(&["answer", ending(&id)])?;
    terminal.expect("Answer: ").await?;
    terminal.line("\"/reject\"").await?;
    terminal.expect("Answered by tester in the terminal: \"/reject\".").await?;
    ends_well(&mut terminal).await
}

/// The output without a terminal contains everything that a decision needs.
#[tokio::test]
async fn start_without_a_terminal_prints_the_options() -> Result<()> {
    let person = Person::new().await?;
    let mut command = person.command(&["start", "mock", "question"]);
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn()?;
    let ask = sayso_testkit::within("the question", async {
        loop {
            match person.client()?.pending_asks().await?.data.pop() {
                Some(ask) => return Ok(ask),
                None => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
            }
        }
    });
    let id = ask.await?.id;
    person.ok(&["answer", ending(&id), "1"]).await?;
    let out = String::from_utf8(child.wait_with_output().await?.stdout)?;
    let shown = "[Database]  Which database should this feature use?\n  1. SQLite      lightweight, file-based\n  2. PostgreSQL  full-featured\nDecide it with: sayso answer ";
    assert!(out.contains(shown), "{out}");
    Ok(())
}
