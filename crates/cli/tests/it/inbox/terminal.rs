//! The terminal of the inbox: its size, signals, pipes and settings.

use super::*;

#[tokio::test]
async fn layout_follows_the_terminal_size() -> Result<()> {
    let person = person().await?;
    person.asks(&question("Which of all these things?", &["A", "B"])).await?;
    let mut terminal = person.terminal(&["inbox"])?;
    terminal.shows("1 of 1").await?;
    terminal.resize(120, 40)?;
    terminal.shows("Agents are waiting 1").await?;
    terminal.resize(40, 12)?;
    let seen = terminal.shows_that("the small screen", |seen| seen.contains("1 of 1") && seen.contains("? keys")).await?;
    assert!(seen.lines().count() <= 12 && seen.contains("Which of all these things?"), "{seen}");
    leave(&mut terminal).await
}

/// Size changes and keys arrive through different channels. Neither may hide the other.
#[tokio::test]
async fn no_key_is_lost_during_resizes() -> Result<()> {
    let person = person().await?;
    person.asks(&question("Which database?", &["SQLite", "PostgreSQL"])).await?;
    let mut terminal = person.terminal(&["inbox"])?;
    terminal.shows("Which database?").await?;
    for columns in 81..=100 {
        terminal.resize(columns, 24)?;
        terminal.send("?").await?;
        terminal.shows("highlight an option").await?;
        terminal.resize(columns, 25)?;
        terminal.send("q").await?;
        terminal.shows("WAITING FOR YOU").await?;
    }
    leave(&mut terminal).await
}

#[tokio::test]
async fn keys_move_the_cursor_filter_and_show_help() -> Result<()> {
    let person = person().await?;
    for text in ["First?", "Second?"] {
        person.asks(&question(text, &["A", "B"])).await?;
    }
    let mut terminal = person.terminal(&["inbox"])?;
    terminal.shows("1 of 2").await?;
    terminal.send("j").await?;
    terminal.shows("2 of 2").await?;
    press(&mut terminal, DOWN, ONE_KEY).await?;
    terminal.shows("Enter sends \"A\".").await?;
    terminal.send("/first\r").await?;
    terminal.shows("1 of 1").await?;
    terminal.send(ESCAPE).await?;
    terminal.shows("of 2").await?;
    terminal.send("?").await?;
    terminal.shows("deny and stop the agent").await?;
    terminal.send(PAGE_DOWN).await?;
    terminal.shows("go to the agent's tmux pane").await?;
    terminal.send(CTRL_C).await?;
    ends_well(&mut terminal).await
}

#[tokio::test]
async fn signals_restore_the_terminal() -> Result<()> {
    let person = person().await?;
    person.asks(&question("Which?", &["A", "B"])).await?;
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 143)] {
        let mut terminal = person.terminal(&["inbox"])?;
        terminal.shows("Which?").await?;
        let pid = terminal.pid().and_then(|pid| Pid::from_raw(pid.cast_signed())).context("no process")?;
        kill_process(pid, signal)?;
        assert_eq!(terminal.end().await?.code(), Some(code), "{signal:?}");
        assert!(!terminal.is_full_screen());
    }
    // Ctrl-Z restores the terminal, and the inbox reappears afterwards.
    let mut terminal = person.terminal(&["inbox"])?;
    terminal.shows("Which?").await?;
    let pid = terminal.pid().and_then(|pid| Pid::from_raw(pid.cast_signed())).context("it runs")?;
    terminal.send("\u{1a}").await?;
    within("it to stop", async {
        while process_state(pid.as_raw_nonzero().get().cast_unsigned())? != Some('T') {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        Ok(())
    })
    .await?;
    let before = terminal.raw().len();
    kill_process(pid, Signal::CONT)?;
    terminal.expect("\u{1b}[?1049l").await?;
    terminal.expect("\u{1b}[?1049h").await?;
    terminal.shows("Which?").await?;
    assert!(terminal.raw().len() > before);
    leave(&mut terminal).await
}

#[tokio::test]
async fn inbox_in_a_pipe_prints_the_list() -> Result<()> {
    let person = person().await?;
    person.asks(&question("Which?", &["A", "B"])).await?;
    let (inbox, list) = (person.ok(&["inbox"]).await?, person.ok(&["ls"]).await?);
    // Each line ends with the age of the ask.
    let unaged = |line: &str| line.rsplit_once("  ").map(|(rest, _)| rest.to_owned());
    assert!(unaged(&inbox).is_some_and(|line| line.contains("Which?")), "{inbox}");
    assert_eq!(unaged(&inbox), unaged(&list));
    assert_eq!(person.json(&["inbox"]).await?["data"].as_array().map(Vec::len), Some(1));
    Ok(())
}

#[tokio::test]
async fn invalid_settings_are_refused() -> Result<()> {
    let person = Person::new().await?;
    person.write_config("[terminal]\nbeep = true\n")?;
    let mut terminal = person.terminal(&["inbox"])?;
    terminal.expect("Cannot read the settings").await?;
    assert_eq!(terminal.end().await?.code(), Some(1));
    Ok(())
}
