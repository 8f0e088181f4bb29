//! Draws an ask as text. All agent text is sanitized and shown completely.

use std::fmt::Write as _;

use sayso_client::api::ask::{
    ActionKind, Approval, ApprovalDecision, Ask, AskFiles, Choice, FileDiff, InputKind, Link, Preview, Question,
};
use unicode_width::UnicodeWidthStr;

use crate::files::{self, FileLine};
use crate::order::ending;
use crate::output::{Look, RULE, Style};
use crate::sanitize;
use crate::words;

/// Labels up to this width are aligned. Longer labels are not padded.
const LABEL: usize = 32;

/// Formats the first line: `━━━ mock asks · fix the tests · ~/work/shop (main) · …4f2a ━━━━━━`.
pub(crate) fn banner(ask: &Ask, look: &Look) -> String {
    let line = look.rule();
    let mut facts = vec![format!("{} asks", words::asker(ask))];
    let title = sanitize::line(&ask.title);
    if !title.is_empty() {
        facts.push(title);
    }
    let title_at = facts.len() - 1;
    if let Some(subagent) = &ask.subagent {
        facts.push(format!("sub-agent {}", sanitize::line(subagent)));
    }
    match (&ask.project, &ask.branch) {
        (Some(project), Some(branch)) => facts.push(format!("{} ({})", words::directory(project, look), sanitize::line(branch))),
        (Some(project), None) => facts.push(words::directory(project, look)),
        (None, Some(branch)) => facts.push(format!("({})", sanitize::line(branch))),
        (None, None) => {}
    }
    facts.push(format!("{}{}", look.ellipsis(), ending(&ask.id, 4)));

    // In a narrow terminal, the title is shortened. Project and id must stay readable.
    let joined = |facts: &[String]| facts.join(&format!(" {} ", look.dot()));
    let frame = 2 * (3 * line.width() + 1);
    let excess = (joined(&facts).width() + frame).saturating_sub(look.width);
    if excess > 0 && title_at > 0 {
        let room = facts[title_at].width().saturating_sub(excess).max(8);
        facts[title_at] = words::cut(&facts[title_at], room, look.ellipsis());
    }
    let head = format!("{} {} ", line.repeat(3), joined(&facts));
    let tail = RULE.min(look.width).saturating_sub(head.width()).max(3);
    format!("{head}{}", line.repeat(tail))
}

/// Formats the line that closes a prompt.
pub(crate) fn rule(look: &Look) -> String {
    look.rule().repeat(RULE.min(look.width))
}

/// Quotes what the agent said before it asked.
pub(crate) fn context(ask: &Ask, look: &Look) -> Option<String> {
    let said = ask.context.as_deref().filter(|said| !said.trim().is_empty())?;
    let quoted: Vec<String> = sanitize::text(said.trim()).lines().map(|line| format!("{} {line}", look.bar())).collect();
    Some(format!("{}\n{}", look.paint(Style::Dim, "Before asking, the agent said"), quoted.join("\n")))
}

/// Formats a question and its numbered options.
pub(crate) fn question(question: &Question, look: &Look) -> String {
    let mut out = String::new();
    if let Some(header) = question.header.as_deref().filter(|header| !header.is_empty()) {
        let header = look.paint(Style::Bold, &format!("[{}]", sanitize::line(header)));
        let _ = write!(out, "{header}  ");
    }
    out.push_str(sanitize::text(&question.text).trim_end());

    let numbers = question.options.len().to_string().len();
    let labels: Vec<String> = question.options.iter().map(|option| words::label(&option.label)).collect();
    let column = labels.iter().map(|label| label.width()).filter(|width| *width <= LABEL).max().unwrap_or(0);
    for (index, (option, label)) in question.options.iter().zip(&labels).enumerate() {
        let number = index + 1;
        let description = words::description(option);
        let _ = write!(out, "\n  {number:>numbers$}. ");
        if description.is_empty() {
            out.push_str(label);
            continue;
        }
        // Later lines of a description are aligned with its first line.
        let indent = " ".repeat(2 + numbers + 2 + column.max(label.width()) + 2);
        let description = description.lines().collect::<Vec<_>>().join(&format!("\n{indent}"));
        let _ = write!(out, "{}  {description}", words::pad(label, column));
    }
    if let Some(preselected) = question.preselected.as_ref().filter(|entries| !entries.is_empty()) {
        let entries: Vec<String> = preselected.iter().map(|entry| words::entry(question, entry)).collect();
        let _ = write!(out, "\nPreselected by your rule: {}. Press Enter to send it.", entries.join(", "));
    }
    out
}

/// Returns the prompt text of a question.
pub(crate) fn select(question: &Question) -> String {
    let skip = if question.required { "" } else { ", or Enter for none" };
    match question.input {
        InputKind::Choice if !question.options.is_empty() => {
            let numbers = match question.options.len() {
                1 => "1".to_owned(),
                several => format!("1-{several}"),
            };
            let several = if question.multiple { ", comma-separated" } else { "" };
            let own = if question.custom { ", or type your own" } else { "" };
            format!("Select [{numbers}{several}{own}{skip}]: ")
        }
        InputKind::Choice | InputKind::Text if question.secret => format!("Answer [not shown{skip}]: "),
        InputKind::Choice | InputKind::Text if question.required => "Answer: ".to_owned(),
        InputKind::Choice | InputKind::Text => "Answer [Enter for none]: ".to_owned(),
        InputKind::Number => {
            let kind = if question.integer { "Whole number" } else { "Number" };
            let range = match (question.minimum, question.maximum) {
                (Some(low), Some(high)) => format!(", {low} to {high}"),
                (Some(low), None) => format!(", at least {low}"),
                (None, Some(high)) => format!(", at most {high}"),
                (None, None) => String::new(),
            };
            format!("{kind}{range}{skip}: ")
        }
        InputKind::YesNo => format!("Yes or no [y/n{skip}]: "),
    }
}

/// Formats an approval with its command, diff, plan or input, complete and verbatim.
pub(crate) fn approval(ask: &Ask, approval: &Approval, look: &Look) -> String {
    let mut out = look.paint(Style::Bold, &heading(approval));
    match &approval.preview {
        Some(Preview::Command { command, cwd }) => {
            let _ = write!(out, "\n{}", command_lines(command));
            if let Some(cwd) = cwd {
                let _ = write!(out, "\n  in {}", words::directory(cwd, look));
            }
        }
        Some(Preview::Diff { files }) => {
            for file in files {
                let _ = write!(out, "\n\n{}", file_change(file, look));
            }
            out.push('\n');
        }
        Some(Preview::Plan { text } | Preview::Text { text }) => {
            let _ = write!(out, "\n\n{}\n", sanitize::text(text).trim_end());
        }
        None => match &approval.command {
            Some(command) => {
                let _ = write!(out, "\n{}", command_lines(command));
            }
            None => {
                // Serializing a JSON value cannot fail.
                let input = serde_json::to_string_pretty(&approval.input).unwrap_or_default();
                let _ = write!(out, "\n  {} {}", sanitize::line(&approval.tool), sanitize::text(&input).replace('\n', "\n  "));
            }
        },
    }
    if let Some(reason) = &approval.reason {
        let _ = write!(out, "\nThe agent's reason: {}", sanitize::text(reason));
    }
    if let Some(why) = words::why(ask) {
        let _ = write!(out, "\n{why}");
    }
    let digest = words::short_digest(ask);
    if !digest.is_empty() {
        let _ = write!(out, "\n{}", look.paint(Style::Dim, &format!("Digest {digest}")));
    }
    for (index, choice) in approval.choices.iter().enumerate() {
        let _ = write!(out, "\n  {}. {}", index + 1, sanitize::line(&choice.label));
    }
    out
}

/// Formats the files that the command of an approval executes.
pub(crate) fn files(ask: &Ask, seen: Option<&AskFiles>, look: &Look) -> String {
    let lines = files::lines(ask, seen, &[]).into_iter().map(|line| match line {
        FileLine::Heading(text) => look.paint(Style::Bold, &text),
        FileLine::Text(text) => format!("  {text}"),
        FileLine::Note(text) => look.paint(Style::Dim, &text),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Formats a change to a file since the person saw it.
pub(crate) fn file_change(change: &FileDiff, look: &Look) -> String {
    format!("{}\n{}", look.paint(Style::Bold, &sanitize::line(&change.path)), diff(&change.diff, look))
}

fn heading(approval: &Approval) -> String {
    match approval.action {
        ActionKind::Run => "Run a command".to_owned(),
        ActionKind::Plan => "Start with this plan?".to_owned(),
        ActionKind::Edit | ActionKind::Read | ActionKind::Fetch | ActionKind::Mcp | ActionKind::Mode | ActionKind::Other => {
            sanitize::line(&approval.title)
        }
    }
}

fn command_lines(command: &str) -> String {
    format!("  $ {}", sanitize::text(command).replace('\n', "\n    "))
}

fn diff(text: &str, look: &Look) -> String {
    let lines = sanitize::text(text);
    let painted = lines.lines().map(|line| match line.as_bytes().first() {
        Some(b'+') => look.paint(Style::Good, line),
        Some(b'-') => look.paint(Style::Bad, line),
        Some(b'@') => look.paint(Style::Dim, line),
        Some(_) | None => line.to_owned(),
    });
    painted.collect::<Vec<_>>().join("\n")
}

/// Returns the prompt text of an approval.
pub(crate) fn decide(approval: &Approval) -> String {
    let when = |decision, keys: &str| if approval.allows(decision) { keys.to_owned() } else { String::new() };
    let choices = match approval.choices.len() {
        0 => String::new(),
        1 => "1/".to_owned(),
        several => format!("1-{several}/"),
    };
    let yes = when(ApprovalDecision::Approve, "y/");
    let (no, reason) = (when(ApprovalDecision::Deny, "n/"), when(ApprovalDecision::Deny, "r/"));
    let (choices, edit) = (when(ApprovalDecision::Approve, &choices), when(ApprovalDecision::Edit, "e/"));
    format!("Approve? [{yes}{no}{choices}{edit}{reason}?]: ")
}

/// Help for the commands that all prompts accept.
macro_rules! commands {
    ($no:literal) => {
        concat!(
            "  /reject [reason]  ",
            $no,
            "; the agent sees your reason\n  /snooze  hide the ask for 30 minutes\n  Ctrl-D  decide later"
        )
    };
}

/// Returns the help for a question.
pub(crate) fn question_help(question: &Question) -> String {
    let how = match question.input {
        InputKind::Choice if !question.options.is_empty() && question.multiple => {
            "  numbers or labels of options, separated by commas"
        }
        InputKind::Choice if !question.options.is_empty() => "  number or label of an option",
        InputKind::Choice | InputKind::Text => "  your answer",
        InputKind::Number => "  a number",
        InputKind::YesNo => "  y or a for yes, n or d for no",
    };
    let literal = "  \"/reject\" in quotes sends it as text";
    format!("{how}\n{}\n{literal}", commands!("reject the question"))
}

/// Returns the help for an approval.
pub(crate) fn approval_help(approval: &Approval) -> String {
    let mut lines = Vec::new();
    let denies = approval.allows(ApprovalDecision::Deny);
    if approval.allows(ApprovalDecision::Approve) {
        lines.push("  y  approve".to_owned());
    }
    if denies {
        lines.push("  n  deny".to_owned());
    }
    if approval.allows(ApprovalDecision::Approve) {
        let choice = |(index, choice): (usize, &Choice)| format!("  {}  approve: {}", index + 1, sanitize::line(&choice.label));
        lines.extend(approval.choices.iter().enumerate().map(choice));
    }
    if approval.allows(ApprovalDecision::Edit) {
        lines.push("  e  edit the input, then approve".to_owned());
    }
    if denies {
        lines.push("  r  deny with a reason\n  s  deny and stop the agent".to_owned());
    }
    lines.push(commands!("deny").to_owned());
    lines.join("\n")
}

/// Formats a link: the complete address with its host emphasized.
pub(crate) fn link(link: &Link, look: &Look) -> String {
    let url = sanitize::line(&link.url);
    let shown = match split_at_host(&url) {
        Some((before, host, after)) => format!("{before}{}{after}", look.paint(Style::Bold, host)),
        None => url.clone(),
    };
    let message = link.message.as_deref().map(|message| format!("{}\n", sanitize::text(message))).unwrap_or_default();
    let named = split_at_host(&url).map(|(_, host, _)| format!("\n  Host: {host}")).unwrap_or_default();
    format!("{}\n{message}  {shown}{named}", look.paint(Style::Bold, "Open a link"))
}

/// Splits an address around its host. Text before an `@` is not part of the host, although it is often made to look
/// like one.
fn split_at_host(url: &str) -> Option<(&str, &str, &str)> {
    let start = url.find("://")? + 3;
    let end = url[start..].find(['/', '?', '#', '\\']).map_or(url.len(), |at| start + at);
    let start = url[start..end].rfind('@').map_or(start, |at| start + at + 1);
    Some((&url[..start], &url[start..end], &url[end..]))
}

/// Returns the host of an address.
pub(crate) fn host_of(url: &str) -> Option<&str> {
    split_at_host(url).map(|(_, host, _)| host)
}

/// Prompt text of a link.
pub(crate) const DONE: &str = "Done? [y/n/o/?]: ";

/// Help for a link.
pub(crate) const LINK_HELP: &str = concat!(
    "  o  open the link in a browser\n  y  done: you have opened the link\n  n  deny\n  r  deny with a reason\n",
    commands!("deny")
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{self, approval_ask, database, look, option, question_ask};
    use sayso_client::api::ask::{Choice, FileDiff};

    /// Formats a complete prompt before anything is typed.
    fn screen(ask: &Ask, look: &Look) -> String {
        let body = match (&ask.approval, &ask.link) {
            (Some(wanted), _) => format!("{}\n{}", approval(ask, wanted, look), decide(wanted)),
            (None, Some(address)) => format!("{}\n{DONE}", link(address, look)),
            (None, None) => {
                let blocks = ask.questions.iter().map(|one| format!("{}\n{}", question(one, look), select(one)));
                blocks.collect::<Vec<_>>().join("\n")
            }
        };
        format!("{}\n{body}\n{}", banner(ask, look), rule(look))
    }

    #[test]
    fn question_prompt_has_the_specified_layout() {
        assert_eq!(
            screen(&question_ask(), &look()),
            "━━━ mock asks · fix the tests · ~/work/shop (main) · …4f2a ━━━━━━━━━━━━━\n\
             [Database]  Which database should this feature use?\n\
             \u{20} 1. SQLite      lightweight, file-based\n\
             \u{20} 2. PostgreSQL  full-featured\n\
             Select [1-2, or type your own]: \n\
             ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━"
        );
    }

    #[test]
    fn prompt_text_follows_the_kind_of_question() {
        let three = Question { options: ["A", "B", "C"].map(|label| option(label, "")).to_vec(), multiple: true, ..database() };
        assert_eq!(select(&three), "Select [1-3, comma-separated, or type your own]: ");
        assert_eq!(select(&Question { custom: false, ..three.clone() }), "Select [1-3, comma-separated]: ");
        assert_eq!(select(&Question { custom: false, ..database() }), "Select [1-2]: ");
        assert_eq!(
            select(&Question { required: false, ..three }),
            "Select [1-3, comma-separated, or type your own, or Enter for none]: "
        );
        let number = Question { input: InputKind::Number, minimum: Some(0.0), maximum: Some(100.0), integer: true, ..database() };
        assert_eq!(select(&number), "Whole number, 0 to 100: ");
        assert_eq!(select(&Question { input: InputKind::YesNo, ..database() }), "Yes or no [y/n]: ");
        let text = Question { input: InputKind::Text, options: Vec::new(), ..database() };
        assert_eq!(select(&text), "Answer: ");
        assert_eq!(select(&Question { secret: true, ..text }), "Answer [not shown]: ");
    }

    #[test]
    fn prompts_match_snapshots() {
        let look = look();
        let mut set = question_ask();
        set.questions.push(Question {
            header: Some("Areas".into()),
            text: "Which areas?\nChoose all that apply.".into(),
            multiple: true,
            custom: false,
            options: vec![
                option("Auth", "logins"),
                option("Billing (Recommended)", "two\nlines"),
                option("A label that is far too long to be lined up", "x"),
            ],
            ..database()
        });
        set.questions.push(Question {
            header: None,
            text: "Anything else?".into(),
            input: InputKind::Text,
            options: Vec::new(),
            required: false,
            response_schema: None,
            ..database()
        });
        insta::assert_snapshot!("several_questions", screen(&set, &look));

        let mut run = approval_ask();
        run.why = Some("no rule allows `cargo test`".into());
        run.approval.as_mut().unwrap().choices =
            vec![Choice { id: "always".into(), label: "Always allow cargo test (Claude, this project)".into() }];
        insta::assert_snapshot!("a_command", screen(&run, &look));

        let files = vec![FileDiff { path: "src/a.rs".into(), diff: "@@ -1 +1 @@\n-old\n+new\tafter a tab\n".into() }];
        let edit = Approval {
            action: ActionKind::Edit,
            title: "Edit src/a.rs".into(),
            preview: Some(Preview::Diff { files }),
            command: None,
            editable: false,
            allowed_decisions: None,
            input_schema: None,
            ..fixtures::approval()
        };
        insta::assert_snapshot!("an_edit", screen(&Ask { approval: Some(edit), ..approval_ask() }, &look));

        let plan = Approval {
            action: ActionKind::Plan,
            preview: Some(Preview::Plan { text: "# Plan\n\n1. Write the test\n2. Fix it".into() }),
            command: None,
            ..fixtures::approval()
        };
        insta::assert_snapshot!("a_plan", screen(&Ask { approval: Some(plan), ..approval_ask() }, &look));

        let link =
            Link { url: "https://github.com@evil.example/login/device?x=1".into(), message: Some("Sign in to go on".into()) };
        insta::assert_snapshot!("a_link", screen(&Ask { approval: None, link: Some(link), ..approval_ask() }, &look));

        let hostile = Ask {
            agent: "m\u{1b}]0;x\u{7}".into(),
            title: "fake\n━━━ real asks".into(),
            approval: Some(Approval {
                preview: Some(Preview::Command { command: "echo ok\u{1b}[1A\u{1b}[2K\nrm -rf ~ \u{202e}#".into(), cwd: None }),
                ..fixtures::approval()
            }),
            ..approval_ask()
        };
        insta::assert_snapshot!("hostile_text", screen(&hostile, &look));
        insta::assert_snapshot!("ascii", screen(&question_ask(), &Look { ascii: true, ..look }));
    }

    #[test]
    fn long_title_is_cut_before_project_and_id() {
        let look = look();
        let long = Ask { title: "a title that goes on and on and on and on and on and on".into(), ..question_ask() };
        let banner = banner(&long, &look);
        assert_eq!(banner.width(), look.width, "{banner}");
        let wide = Look { width: 120, ..look };
        assert!(super::banner(&long, &wide).contains("and on and on · ~/work/shop"), "a title is cut only when there is no room");
        assert!(banner.contains("~/work/shop (main) · …4f2a ━━━"), "{banner}");
    }

    #[test]
    fn host_excludes_user_info_and_path() {
        assert_eq!(split_at_host("https://a.example/x").unwrap().1, "a.example");
        assert_eq!(split_at_host("https://good.example@evil.example:8/x?y@z").unwrap().1, "evil.example:8");
        assert_eq!(split_at_host("https://evil.example\\@good.example/").unwrap().1, "evil.example");
        assert_eq!(split_at_host("mailto:x"), None);
    }
}
