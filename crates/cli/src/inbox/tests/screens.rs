//! Snapshots of all states on several screen sizes.

use super::*;

#[test]
fn context_and_previews_are_shown_on_demand() {
    let mut desk = Desk::with(vec![sessions_question()]);
    let short = desk.screen(80, 40);
    desk.press('t');
    let whole = desk.screen(80, 40);
    assert!(!short.contains("twice this year") && whole.contains("twice this year"), "{short}\n{whole}");
    desk.key(KeyCode::Down);
    desk.press('p');
    assert!(desk.screen(80, 40).contains("CREATE TABLE sessions"));
    desk.press('p');
    assert!(!desk.screen(80, 40).contains("CREATE TABLE sessions"));
}

#[test]
fn long_card_scrolls_to_its_end() {
    let mut long = approval_ask();
    let text = (1..=200).map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n");
    long.approval.as_mut().unwrap().preview = Some(Preview::Text { text });
    let mut desk = Desk::with(vec![long]);
    let mut seen = desk.screen(80, 24);
    for _ in 0..40 {
        desk.key(KeyCode::PageDown);
        seen.push_str(&desk.screen(80, 24));
    }
    for number in 1..=200 {
        assert!(seen.contains(&format!("line {number}\n")), "{number}");
    }
    desk.key(KeyCode::Home);
    assert!(desk.screen(80, 24).contains("line 1\n"));
    desk.key(KeyCode::End);
    assert!(desk.screen(80, 24).contains("line 200\n"));
    desk.key(KeyCode::PageUp);
    assert!(!desk.screen(80, 24).contains("line 200\n"));
}

#[test]
fn highlighted_option_is_scrolled_into_view() {
    let mut many = question_ask();
    many.questions[0].options = (1..=40).map(|number| option(&format!("Option {number}"), "")).collect();
    let mut desk = Desk::with(vec![many]);
    for _ in 0..30 {
        desk.key(KeyCode::Down);
        desk.screen(80, 24);
    }
    assert!(desk.screen(80, 24).contains("> "), "{}", desk.screen(80, 24));
    assert!(desk.screen(80, 24).contains("Option 30"), "{}", desk.screen(80, 24));
    desk.key(KeyCode::Home);
    assert!(desk.screen(80, 24).contains("Option 1\n"), "the person may look elsewhere");
}

#[test]
fn list_scrolls_back_when_the_window_grows() {
    let many: Vec<Ask> = (10..30).map(|number| ask(&format!("q{number}"), 60 - number, question_ask())).collect();
    let mut desk = Desk::with(many);
    for _ in 0..30 {
        desk.press('j');
    }
    desk.screen(80, 24);
    assert!(desk.kept.top > 10);
    desk.screen(80, 200);
    assert_eq!(desk.kept.top, 0, "the window grew");
    desk.screen(80, 24);
    desk.press('/');
    desk.type_in("zzz");
    desk.screen(80, 24);
    desk.key(KeyCode::Esc);
    desk.screen(80, 24);
    assert!(desk.screen(80, 24).contains("> ?"), "{}", desk.screen(80, 24));
}

/// Other tests press each key of the help. Add a test there for each new key.
#[test]
fn help_lists_all_keys() {
    let mut desk = Desk::with(afternoon());
    desk.press('?');
    let screen = desk.screen(80, 40);
    for (key, does) in KEYS {
        assert!(screen.contains(key) && screen.contains(does), "{key}: {does}\n{screen}");
    }
    desk.press('j');
    assert_eq!(desk.model.focus, Focus::Help(1));
    desk.press('k');
    desk.press('q');
    assert_eq!(desk.model.focus, Focus::Card);
}

#[test]
fn pending_asks_match_snapshots() {
    let at = |id: &str| {
        let mut desk = Desk::with(afternoon());
        desk.model.list.go_to(id);
        desk.event(Event::Tick);
        desk.rest();
        desk
    };
    for (name, id) in
        [("command", "ask_a"), ("question", "ask_b"), ("edit", "ask_c"), ("plan", "ask_d"), ("set", "ask_e"), ("link", "ask_i")]
    {
        picture(name, &mut at(id));
    }
    picture("parked", &mut at("ask_k"));
    let mut snoozed = at("ask_a");
    snoozed.press('z');
    snoozed.model.list.go_to("ask_l");
    snoozed.event(Event::Tick);
    snoozed.rest();
    picture("snoozed", &mut snoozed);
    let mut highlighted = at("ask_b");
    highlighted.key(KeyCode::Down);
    picture("question_highlighted", &mut highlighted);
    let mut held = at("ask_b");
    held.press('1');
    held.rest();
    picture("sending", &mut held);
    let mut reason = at("ask_c");
    reason.press('r');
    reason.type_in("Use the refund queue instead; this races with the nightly job.");
    picture("reason", &mut reason);
    let mut lost = at("ask_b");
    lost.event(Event::Lost { after: Duration::from_secs(4) });
    picture("disconnected", &mut lost);
    let mut help = at("ask_b");
    help.press('?');
    picture("help", &mut help);
    let mut filter = at("ask_b");
    filter.press('/');
    filter.type_in("shop");
    picture("filter", &mut filter);
    let mut all = at("ask_e");
    for _ in 0..5 {
        all.key(KeyCode::Tab);
    }
    picture("set_last_look", &mut all);
}

#[test]
fn decided_asks_match_snapshots() {
    let ended = |status: AskStatus, change: &dyn Fn(&mut Ask)| {
        let mut desk = Desk::with(vec![ask("ask_b", 24, sessions_question())]);
        let mut over = decided(ask("ask_b", 24, sessions_question()), status, ada());
        change(&mut over);
        desk.event(Event::Fetched(Box::new(over)));
        desk.rest();
        desk
    };
    picture("answered_elsewhere", &mut ended(AskStatus::Answered, &|_| {}));
    picture("undelivered", &mut ended(AskStatus::Answered, &|ask| ask.delivery = Some(Delivery::Undeliverable)));
    picture(
        "rejected",
        &mut ended(AskStatus::Rejected, &|ask| {
            ask.outcome.as_mut().unwrap().message = Some("Use the bucket in infra/storage.tf.".into());
        }),
    );
    picture(
        "timed_out",
        &mut ended(AskStatus::Rejected, &|ask| {
            ask.outcome.as_mut().unwrap().by = Actor { kind: "timeout".into(), after: Some("10m".into()), name: None, ..ada() };
        }),
    );
    picture(
        "withdrawn",
        &mut ended(AskStatus::Withdrawn, &|ask| {
            ask.outcome.as_mut().unwrap().message = Some("The turn was interrupted.".into());
        }),
    );
    picture("empty", &mut Desk::with(Vec::new()));
    let once = &mut Desk::in_mode(Mode::Once, afternoon());
    picture("once", once);
}

#[test]
fn ascii_and_tiny_screens_are_drawn() {
    let ascii = Look { ascii: true, ..look() };
    let screen = Desk::with(afternoon()).screen_with(120, 40, &ascii);
    assert!(screen.is_ascii(), "{screen}");
    // Tiny screens must not cause a panic.
    let mut desk = Desk::with(afternoon());
    for (columns, rows) in [(1, 1), (9, 9), (10, 6), (20, 7), (30, 10), (100, 6), (200, 60)] {
        for id in ["ask_a", "ask_b", "ask_c", "ask_e", "ask_i"] {
            desk.model.list.go_to(id);
            desk.event(Event::Tick);
            desk.screen(columns, rows);
        }
    }
}

/// Text that would clear screens, set titles, write to clipboards, or hide or reorder words: control characters 0 to
/// 31 and 127 to 159, and a table of sequences, in each place where agent text is drawn.
#[test]
fn control_sequences_in_agent_text_never_reach_the_screen() {
    let sequences = [
        "\u{1b}[2J",
        "\u{1b}]0;owned\u{7}",
        "\u{1b}]52;c;cm0=\u{7}",
        "\u{1b}[1A\u{1b}[2K",
        "\u{1b}P+q\u{1b}\\",
        "\u{1b}c",
        "\u{9b}31m",
        "\u{9d}0;t\u{9c}",
        "\u{1b}[?1049l",
        "\u{1b}[6n",
        "\u{1b}_G\u{1b}\\",
        "\u{1b}[200~",
        "\u{1b}(0",
        "\r",
        "\u{8}\u{8}",
        "\u{7f}",
        "\u{202e}",
        "\u{2066}",
        "\u{200b}",
        "\u{feff}",
        "\u{ad}",
        "\u{e0041}",
        "\u{fe0f}",
        "z\u{310}\u{311}\u{312}\u{313}\u{314}\u{315}",
        "\u{2028}",
        "\u{fff9}",
        "\u{61c}",
    ];
    let controls = (0u32..0x20).chain(0x7f..0xa0).filter_map(char::from_u32).map(String::from);
    let invisible = (0x200bu32..0x2010).chain(0x2028..0x202f).chain(0x2060..0x2070).chain(0xfe00..0xfe10).chain(0xe0000..0xe0080);
    let hostile: Vec<String> = sequences
        .iter()
        .map(|text| (*text).to_owned())
        .chain(controls)
        .chain(invisible.filter_map(char::from_u32).map(String::from))
        .collect();
    assert!(hostile.len() >= 200, "{}", hostile.len());
    for text in &hostile {
        let evil = |place: &str| format!("{place}{text}x");
        let mut question = question(&[("a", "b")]);
        question.header = Some(evil("header"));
        question.text = evil("text");
        question.options[0].label = evil("label");
        question.options[0].description = Some(evil("description"));
        question.options[0].preview = Some(evil("preview"));
        let asked = Ask {
            agent: evil("agent"),
            title: evil("title"),
            project: Some(evil("/project")),
            branch: Some(evil("branch")),
            subagent: Some(evil("sub")),
            context: Some(evil("context")),
            questions: vec![question],
            ..question_ask()
        };
        let mut tool = edit();
        tool.why = Some(evil("why"));
        let approval = tool.approval.as_mut().unwrap();
        approval.tool = evil("tool");
        approval.title = evil("heading");
        approval.reason = Some(evil("reason"));
        approval.choices[0].label = evil("choice");
        approval.preview = Some(Preview::Diff { files: vec![FileDiff { path: evil("path"), diff: evil("@@ -1 +1 @@\n+") }] });
        let url = Link { url: evil("https://host/"), message: Some(evil("message")) };
        let linked = Ask { link: Some(url), ..link() };
        let mut desk = Desk::with(vec![ask("a", 3, asked), ask("b", 2, tool), ask("c", 1, linked)]);
        for _ in 0..3 {
            desk.key(KeyCode::Down);
            desk.press('p');
            for (columns, rows) in [(80, 24), (120, 40)] {
                let screen = desk.screen(columns, rows);
                let harmful = |c: char| {
                    (c.is_control() && c != '\n')
                        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
                };
                assert!(!screen.contains(harmful), "{text:?}: {screen}");
            }
            desk.press('j');
            desk.rest();
        }
    }
}
