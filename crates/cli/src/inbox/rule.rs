//! Creates a rule from an approval: suggests a pattern, tries it on past asks, and approves pending asks. Pure.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use sayso_client::api::ask::{ActionKind, ApproveRequest, Ask, AskStatus};
use sayso_client::api::policy::{Explained, NewGrant};
use sayso_core::time::Time;

use super::event::{Decision, Effect};
use super::field::Field;
use super::model::{Focus, Model};

/// Delay after the last key before a rule is tried.
const PAUSE: Duration = Duration::from_millis(250);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// The kind of action that a rule allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
    Run,
    Edit,
    Read,
    Fetch,
    Mcp,
    Tool,
}

impl About {
    /// Label in the form.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Run => "Command",
            Self::Edit => "Edits in",
            Self::Read => "Reads in",
            Self::Fetch => "Addresses",
            Self::Mcp => "MCP tool",
            Self::Tool => "Tool",
        }
    }

    /// Key in the policy file.
    const fn key(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Edit => "edit",
            Self::Read => "read",
            Self::Fetch => "fetch",
            Self::Mcp => "mcp",
            Self::Tool => "tool",
        }
    }
}

/// A rule that allows what an approval asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) about: About,
    pub(crate) pattern: String,
    pub(crate) project: Option<String>,
}

impl Rule {
    /// Suggests a rule for an approval, for example the program and subcommand followed by `*`.
    fn suggest(ask: &Ask) -> Option<Self> {
        let approval = ask.approval.as_ref()?;
        let project = ask.project.clone();
        let (about, pattern) = match approval.action {
            ActionKind::Run => (About::Run, command_pattern(approval.command.as_deref().unwrap_or_default())),
            ActionKind::Edit => (About::Edit, path_pattern(&approval.paths, project.as_deref())),
            ActionKind::Read => (About::Read, path_pattern(&approval.paths, project.as_deref())),
            ActionKind::Fetch => (About::Fetch, url_host(approval.url.as_deref().unwrap_or_default())),
            ActionKind::Mcp => (About::Mcp, format!("{}/{}", approval.server.as_deref().unwrap_or_default(), approval.tool)),
            ActionKind::Plan | ActionKind::Mode | ActionKind::Other => (About::Tool, approval.tool.clone()),
        };
        Some(Self { about, pattern, project })
    }

    /// Formats the rule for the policy file.
    pub(crate) fn toml(&self) -> String {
        let pattern = quoted(&self.pattern);
        let value = if self.about == About::Tool { pattern } else { format!("[{pattern}]") };
        let name = quoted(&format!("{} from the terminal", self.pattern));
        let project = self.project.as_ref().map(|project| format!("project = {}\n", quoted(project))).unwrap_or_default();
        format!("[[rules]]\nname = {name}\ndo = \"allow\"\n{} = {value}\n{project}", self.about.key())
    }

    /// Appends the rule to the text of a policy file.
    pub(crate) fn added_to(&self, policy: &str) -> String {
        match policy.trim_end() {
            "" => self.toml(),
            before => format!("{before}\n\n{}", self.toml()),
        }
    }

    /// Converts the rule to a temporary grant.
    pub(crate) fn grant(&self, until: Time) -> NewGrant {
        let mut grant = NewGrant { until: Some(until), project: self.project.clone(), ..NewGrant::default() };
        let patterns = match self.about {
            About::Run => &mut grant.run,
            About::Edit => &mut grant.edit,
            About::Read => &mut grant.read,
            About::Fetch => &mut grant.fetch,
            About::Mcp => &mut grant.mcp,
            About::Tool => &mut grant.tool,
        };
        patterns.push(self.pattern.clone());
        grant
    }
}

/// Quotes a string for TOML. JSON escapes are valid in TOML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// Turns `cargo test --workspace` into `cargo test *`. A single word stays unchanged.
fn command_pattern(command: &str) -> String {
    let mut words = command.split_whitespace();
    match (words.next(), words.next()) {
        (Some(program), Some(verb)) if !verb.starts_with('-') => format!("{program} {verb} *"),
        (Some(program), Some(_)) => format!("{program} *"),
        (program, _) => program.unwrap_or_default().to_owned(),
    }
}

/// Returns a pattern for the folder of the first path, relative to the project if possible.
fn path_pattern(paths: &[String], project: Option<&str>) -> String {
    let path = paths.first().map(String::as_str).unwrap_or_default();
    let inside = project.and_then(|project| path.strip_prefix(project)?.strip_prefix('/')).unwrap_or(path);
    match inside.rsplit_once('/') {
        Some((folder, _)) if !folder.is_empty() => format!("{folder}/**"),
        Some(_) | None => inside.to_owned(),
    }
}

/// Returns the host of an address.
fn url_host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    authority.rsplit('@').next().unwrap_or(authority).to_owned()
}

/// How long a rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lasting {
    Hour,
    Today,
    NoEnd,
}

impl Lasting {
    pub(super) const ALL: [(Self, &'static str); 3] = [(Self::Hour, "1 hour"), (Self::Today, "today"), (Self::NoEnd, "no end")];

    const fn step(self, on: bool) -> Self {
        match (self, on) {
            (Self::Hour, true) | (Self::NoEnd, false) => Self::Today,
            (Self::Today, true) | (Self::Hour, false) => Self::NoEnd,
            (Self::NoEnd, true) | (Self::Today, false) => Self::Hour,
        }
    }

    /// Returns the end of the rule; `None` if it does not end.
    fn until(self, now: Time, zone: &jiff::tz::TimeZone) -> Option<Time> {
        match self {
            Self::Hour => Some(now.plus(HOUR)),
            Self::Today => {
                let today = jiff::Timestamp::from_millisecond(now.as_millis()).ok()?.to_zoned(zone.clone());
                let end = today.tomorrow().and_then(|tomorrow| tomorrow.start_of_day());
                // If the calendar cannot compute the next midnight, use one hour.
                Some(end.map_or(now.plus(HOUR), |end| Time::from_millis(end.timestamp().as_millisecond())))
            }
            Self::NoEnd => None,
        }
    }
}

/// The effect of a rule on past and pending asks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Trial {
    /// Number of past asks that it would have decided.
    pub(crate) decided: usize,
    /// How many of them it would have decided like the person.
    pub(crate) as_you_did: usize,
    /// Summaries of the asks that it would have decided differently.
    pub(crate) otherwise: Vec<String>,
    /// Ids of the pending asks that it allows.
    pub(crate) releases: Vec<String>,
}

impl Trial {
    /// Compares the decisions of the policy with and without the rule.
    pub(crate) fn of(before: &[Explained], after: &[Explained], pending: &[Explained]) -> Self {
        let verdicts: HashMap<&str, &str> = before.iter().map(|one| (one.ask_id.as_str(), one.verdict.as_str())).collect();
        let decided: Vec<&Explained> = after
            .iter()
            .filter(|one| one.verdict != "ask" && verdicts.get(one.ask_id.as_str()) != Some(&one.verdict.as_str()))
            .collect();
        let same = |one: &&Explained| {
            matches!(
                (one.verdict.as_str(), one.status),
                ("approve", AskStatus::Approved)
                    | ("deny", AskStatus::Denied)
                    | ("answer", AskStatus::Answered)
                    | ("reject", AskStatus::Rejected)
            )
        };
        let differs = |one: &&Explained| !same(one) && one.status != AskStatus::Withdrawn;
        Self {
            decided: decided.len(),
            as_you_did: decided.iter().copied().filter(same).count(),
            otherwise: decided.iter().copied().filter(differs).map(|one| one.summary.clone()).collect(),
            releases: pending.iter().filter(|one| one.verdict == "approve").map(|one| one.ask_id.clone()).collect(),
        }
    }
}

/// The form for a rule.
#[derive(Debug)]
pub(super) struct RuleForm {
    about: About,
    pub(super) pattern: Field,
    pub(super) project: Option<String>,
    pub(super) everywhere: bool,
    pub(super) lasting: Lasting,
    /// The active line: pattern, scope, duration, then one line per pending ask.
    pub(super) at: usize,
    /// The rule that was tried last, and the result.
    pub(super) tried: Option<(Rule, Result<Trial, String>)>,
    /// When to try the rule again.
    try_at: Option<Time>,
    /// Pending asks that the person excluded.
    kept: BTreeSet<String>,
    /// Asks to approve after the rule is saved; `Some` while it is being saved.
    saving: Option<Vec<String>>,
    pub(super) problem: Option<String>,
}

/// Number of lines above the pending asks.
pub(super) const LINES: usize = 3;

impl RuleForm {
    /// Returns the rule with the current input.
    pub(super) fn rule(&self) -> Rule {
        let project = self.project.clone().filter(|_| !self.everywhere);
        Rule { about: self.about, pattern: self.pattern.text().trim().to_owned(), project }
    }

    /// Returns the result for the current rule, if it was tried.
    pub(super) fn trial(&self) -> Option<&Trial> {
        self.tried.as_ref().filter(|(rule, _)| *rule == self.rule()).and_then(|(_, trial)| trial.as_ref().ok())
    }

    /// Returns the pending asks that the rule allows, and whether each will be approved.
    pub(super) fn releases(&self) -> impl Iterator<Item = (&str, bool)> {
        let all = self.trial().map(|trial| trial.releases.as_slice()).unwrap_or_default();
        all.iter().map(|id| (id.as_str(), !self.kept.contains(id)))
    }

    /// Schedules another trial after a change.
    pub(super) fn changed(&mut self, now: Time) {
        self.problem = None;
        self.try_at = Some(now.plus(PAUSE));
    }

    /// Returns when the rule must be tried.
    pub(super) const fn due(&self) -> Option<Time> {
        self.try_at
    }
}

impl Model {
    /// Opens the form for the ask under the cursor.
    pub(super) fn make_rule(&mut self) -> Vec<Effect> {
        let Some(rule) = self.ask().filter(|ask| ask.status == AskStatus::Pending).and_then(Rule::suggest) else {
            self.show_message("You can make rules from approvals only.");
            return Vec::new();
        };
        self.rule = Some(RuleForm {
            about: rule.about,
            pattern: Field::with(&rule.pattern),
            project: rule.project.clone(),
            everywhere: rule.project.is_none(),
            lasting: Lasting::Hour,
            at: 0,
            tried: None,
            try_at: None,
            kept: BTreeSet::new(),
            saving: None,
            problem: None,
        });
        self.focus = Focus::Rule;
        vec![Effect::TryRule(rule)]
    }

    /// Tries the rule shortly after the last key.
    pub(super) fn try_rule(&mut self, effects: &mut Vec<Effect>) {
        let now = self.now;
        if let Some(form) = &mut self.rule
            && form.try_at.is_some_and(|at| at <= now)
        {
            form.try_at = None;
            effects.push(Effect::TryRule(form.rule()));
        }
    }

    /// Stores the result of a trial.
    pub(super) fn rule_tried(&mut self, rule: Rule, trial: Result<Trial, String>) {
        if let Some(form) = self.rule.as_mut().filter(|form| form.rule() == rule) {
            form.problem = trial.as_ref().err().cloned();
            form.tried = Some((rule, trial));
        }
    }

    /// After the rule was saved, approves the selected asks. They can still be undone.
    pub(super) fn rule_saved(&mut self, saved: Result<(), String>) -> Vec<Effect> {
        let Some(form) = &mut self.rule else { return Vec::new() };
        let released = form.saving.take().unwrap_or_default();
        if let Err(problem) = saved {
            form.problem = Some(problem);
            return Vec::new();
        }
        self.close_forms();
        self.show_message("The rule is saved.");
        let mut effects = Vec::new();
        self.actions += 1;
        for id in released {
            let waits = self.asks.get(&id).is_some_and(|ask| ask.status == AskStatus::Pending);
            if waits && self.sending(&id).is_none() {
                let yes = Decision::Approve(ApproveRequest::default());
                effects.extend(self.hold_with(&id, yes, "Approve".to_owned()));
            }
        }
        effects
    }

    pub(super) fn key_in_rule(&mut self, key: KeyEvent) -> Vec<Effect> {
        let now = self.now;
        let Some(form) = &mut self.rule else {
            self.focus = Focus::Card;
            return Vec::new();
        };
        let lines = LINES + form.releases().count();
        let before = form.rule();
        match (form.at, key.code) {
            (_, KeyCode::Esc) => {
                self.close_forms();
                return Vec::new();
            }
            (_, KeyCode::Enter) => return self.save_rule(true),
            (_, KeyCode::Char('s')) if key.modifiers.contains(KeyModifiers::CONTROL) => return self.save_rule(false),
            (at, KeyCode::Up | KeyCode::BackTab) => form.at = at.saturating_sub(1),
            (at, KeyCode::Down | KeyCode::Tab) => form.at = (at + 1).min(lines - 1),
            (0, _) => {
                form.pattern.key(key);
            }
            (1, KeyCode::Left | KeyCode::Right | KeyCode::Char(' ')) if form.project.is_some() => {
                form.everywhere = !form.everywhere;
            }
            (2, KeyCode::Left) => form.lasting = form.lasting.step(false),
            (2, KeyCode::Right | KeyCode::Char(' ')) => form.lasting = form.lasting.step(true),
            (at, KeyCode::Char(' ')) if at >= LINES => {
                let under_hand = form.releases().nth(at - LINES).map(|(id, _)| id.to_owned());
                if let Some(id) = under_hand
                    && !form.kept.remove(&id)
                {
                    form.kept.insert(id);
                }
            }
            _ => {}
        }
        if form.rule() != before {
            form.changed(now);
        }
        Vec::new()
    }

    fn save_rule(&mut self, release: bool) -> Vec<Effect> {
        let until = self.rule.as_ref().map(|form| form.lasting.until(self.now, &self.settings.zone));
        let (Some(form), Some(until)) = (&mut self.rule, until) else { return Vec::new() };
        if form.saving.is_some() || form.problem.is_some() {
            return Vec::new();
        }
        let rule = form.rule();
        if rule.pattern.is_empty() {
            form.problem = Some("Type what to allow.".to_owned());
        } else if form.trial().is_none() {
            self.show_message("The rule is still being tested.");
        } else {
            let released = form.releases().filter(|(_, released)| release && *released).map(|(id, _)| id.to_owned());
            form.saving = Some(released.collect());
            return vec![Effect::SaveRule { rule, until }];
        }
        Vec::new()
    }

    /// Closes all forms and discards their input.
    pub(super) fn close_forms(&mut self) {
        self.rule = None;
        self.start = None;
        self.focus = Focus::Card;
        // Keys that were meant for the form must not act on the card.
        self.shown_at = self.now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::approval_ask;

    #[test]
    fn suggested_pattern_is_a_command_prefix_folder_or_host() {
        let commands = ["cargo test --workspace", "ls -l", "make", ""].map(command_pattern);
        assert_eq!(commands, ["cargo test *", "ls *", "make", ""]);
        let path = |path: &str| path_pattern(&[path.to_owned()], Some("/code/shop"));
        assert_eq!(
            ["/code/shop/src/api/a.rs", "/code/shop/a.rs", "/etc/passwd", "/code/shopping/a.rs"].map(path),
            ["src/api/**", "a.rs", "/etc/**", "/code/shopping/**"]
        );
        assert_eq!(["https://me@docs.rs:8080/x?y", "docs.rs"].map(url_host), ["docs.rs:8080", "docs.rs"]);
    }

    #[test]
    fn rule_is_appended_to_the_policy_file() {
        let mut rule = Rule::suggest(&approval_ask()).unwrap();
        rule.project = Some("/code/\"shop\"".to_owned());
        let toml = "[[rules]]\nname = \"cargo test * from the terminal\"\ndo = \"allow\"\nrun = [\"cargo test *\"]\n\
                    project = \"/code/\\\"shop\\\"\"\n";
        assert_eq!(rule.toml(), toml);
        assert_eq!(rule.added_to("# mine\n\n"), format!("# mine\n\n{toml}"));
        assert_eq!(rule.grant(Time::from_millis(1)).run, ["cargo test *"]);
    }

    #[test]
    fn today_ends_at_local_midnight() {
        let zone = jiff::tz::TimeZone::fixed(jiff::tz::offset(2));
        let at = |text: &str| Time::from_millis(text.parse::<jiff::Timestamp>().unwrap().as_millisecond());
        let until = Lasting::Today.until(at("2026-11-15T20:30:00Z"), &zone);
        assert_eq!(until, Some(at("2026-11-15T22:00:00Z")));
    }

    #[test]
    fn trial_counts_only_additional_decisions() {
        let explained = |id: &str, verdict: &str, status: AskStatus| Explained {
            ask_id: id.to_owned(),
            summary: format!("ask {id}"),
            status,
            verdict: verdict.to_owned(),
            because: String::new(),
            considered: None,
        };
        let before = [explained("known", "approve", AskStatus::Approved), explained("a", "ask", AskStatus::Approved)];
        let after = [
            explained("known", "approve", AskStatus::Approved),
            explained("a", "approve", AskStatus::Approved),
            explained("b", "approve", AskStatus::Denied),
            explained("c", "approve", AskStatus::Withdrawn),
            explained("d", "ask", AskStatus::Approved),
        ];
        let pending = [explained("e", "approve", AskStatus::Pending), explained("f", "ask", AskStatus::Pending)];
        let wanted = Trial { decided: 3, as_you_did: 1, otherwise: vec!["ask b".to_owned()], releases: vec!["e".to_owned()] };
        assert_eq!(Trial::of(&before, &after, &pending), wanted);
    }
}
