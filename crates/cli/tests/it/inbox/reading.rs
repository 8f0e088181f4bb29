//! Long commands, long lists and typed text in the inbox.

use super::*;

#[tokio::test]
async fn command_wraps_only_between_words() -> Result<()> {
    let person = person().await?;
    let command = "cargo test --workspace --all-targets --no-fail-fast --features=metrics,tracing --test-threads=1 \
                   --include-ignored --exact-name-of-the-test";
    person.asks(&approval(command)).await?;
    let mut terminal = person.terminal(&["inbox"])?;
    for columns in [80, 60, 50] {
        terminal.resize(columns, 24)?;
        let whole = |seen: &str| command.split(' ').all(|word| seen.split_whitespace().any(|shown| shown == word));
        terminal.shows_that(&format!("whole words in {columns} columns"), whole).await?;
    }
    leave(&mut terminal).await
}

#[tokio::test]
async fn typed_text_stays_visible_when_someone_else_answers() -> Result<()> {
    let person = person().await?;
    let id = person.asks(&question("Which database?", &["SQLite", "PostgreSQL"])).await?.id;
    let mut terminal = person.terminal(&["inbox"])?;
    terminal.shows("Which database?").await?;
    press(&mut terminal, "3", ONE_KEY).await?;
    terminal.send("a plain file").await?;
    terminal.shows("a plain file").await?;
    person.client()?.answer(&id, &AnswerRequest { answers: vec![vec!["SQLite".into()]], note: None }).await?;
    let seen = terminal.shows("ANSWERED").await?;
    assert!(seen.contains("Not sent: \"a plain file\""), "{seen}");
    leave(&mut terminal).await
}

#[tokio::test]
async fn list_shows_more_rows_when_the_window_grows() -> Result<()> {
    let person = person().await?;
    for number in 10..40 {
        person.asks(&question(&format!("Question {number}?"), &["A", "B"])).await?;
    }
    let mut terminal = person.terminal(&["inbox"])?;
    terminal.shows("30 waiting").await?;
    terminal.send(&"j".repeat(29)).await?;
    terminal.shows("30 of 30").await?;
    terminal.resize(120, 72)?;
    let all = |seen: &str| (10..40).all(|number| seen.contains(&format!("Question {number}?")));
    terminal.shows_that("every row", all).await?;
    leave(&mut terminal).await
}

#[tokio::test]
async fn backspace_deletes_a_whole_emoji() -> Result<()> {
    let person = person().await?;
    let id = person.asks(&question("Which one?", &["A", "B"])).await?.id;
    let mut terminal = person.terminal(&["inbox"])?;
    terminal.shows("Which one?").await?;
    press(&mut terminal, "3", ONE_KEY).await?;
    terminal.send("ok👍🏽\u{7f}").await?;
    terminal.send("!\r").await?;
    let answered = outcome(&person, &id).await?.outcome.context("it is over")?;
    assert_eq!(answered.answers, Some(vec![ShownAnswer::Entries(vec!["ok!".into()])]));
    leave(&mut terminal).await
}

#[tokio::test]
async fn recommended_is_shown_as_a_mark_next_to_the_label() -> Result<()> {
    let person = person().await?;
    let id = person.asks(&question("Which database?", &["SQLite", "PostgreSQL (Recommended)"])).await?.id;
    let mut terminal = person.terminal(&["inbox"])?;
    let seen = terminal.shows("Which database?").await?;
    assert!(seen.contains("2 PostgreSQL  recommended") && !seen.contains("(Recommended)"), "{seen}");
    press(&mut terminal, "2", ONE_KEY).await?;
    let seen = terminal.shows("ANSWERED").await?;
    assert!(!seen.contains("(Recommended)"), "{seen}");
    let answered = outcome(&person, &id).await?.outcome.context("it is over")?;
    assert_eq!(answered.answers, Some(vec![ShownAnswer::Entries(vec!["PostgreSQL (Recommended)".into()])]));
    leave(&mut terminal).await
}
