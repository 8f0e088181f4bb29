//! Compiled rules, and whether their conditions hold for an ask.

use super::address::AddressPattern;
use super::command_line::CommandLine;
use super::config_files::config_kind;
use super::config_table::ConfigKind;
use super::decide::Subject;
use super::disk_facts::path_arguments;
use super::error::PolicyError;
use super::model::{Effect, RuleSpec, Texts};
use super::paths::{PathPatterns, Places, within};
use super::policy_file::{KeyFault, check_message};
use super::run_pattern::RunPattern;
use super::scopes::Scope;
use super::start_directory::StartDirectory;
use super::text_pattern::{Haystack, TextPattern, matches_wildcard, matches_wildcard_ignoring_case};
use crate::ask::{Action, Approval, AskBody, Claims, Question};
use crate::plain_text;
use crate::time::Time;

/// The longest id of a rule, in bytes.
const ID_LIMIT: usize = 64;

/// A rule with compiled patterns.
#[derive(Debug, Clone)]
pub struct Rule {
    spec: RuleSpec,
    number: usize,
    run: Option<Vec<RunPattern>>,
    edit: Option<PathPatterns>,
    read: Option<PathPatterns>,
    fetch: Option<Vec<AddressPattern>>,
    header: Option<TextPattern>,
    matches: Option<TextPattern>,
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        (&self.spec, self.number) == (&other.spec, other.number)
    }
}

/// Why a rule does not match, for people.
pub(super) type MismatchReason = &'static str;

/// An ask with values that are derived once and used by all rules.
#[derive(Debug)]
pub(super) struct PreparedAsk<'a> {
    pub(super) subject: &'a Subject<'a>,
    pub(super) places: Places<'a>,
    /// The command line, for commands.
    pub(super) line: Option<CommandLine>,
    /// The directory in which the command starts.
    pub(super) start: StartDirectory,
    /// The paths of the action and the targets of links among them. For commands, only the targets.
    pub(super) paths: Vec<String>,
    /// Texts in the arguments of a tool that may be paths, if the action does not say which paths it touches.
    pub(super) arguments: Vec<String>,
    pub(super) now: Time,
    /// The properties that the caller only reports.
    pub(super) claims: Claims,
}

/// A question with values that are derived once and used by all rules.
#[derive(Debug)]
pub(super) struct PreparedQuestion<'a> {
    pub(super) question: &'a Question,
    header: Haystack<'a>,
    text: Haystack<'a>,
}

impl<'a> PreparedQuestion<'a> {
    pub(super) fn of(question: &'a Question) -> Self {
        Self {
            question,
            header: Haystack::of(question.header.as_deref().unwrap_or_default()),
            text: Haystack::of(&question.text),
        }
    }
}

impl<'a> PreparedAsk<'a> {
    pub(super) fn at(subject: &'a Subject<'a>, now: Time, claims: Claims) -> Self {
        let places = Places { project: subject.project, home: subject.home };
        let (line, start, paths, arguments) = (None, StartDirectory::Project, Vec::new(), Vec::new());
        let mut this = Self { subject, places, line, start, paths, arguments, now, claims };
        let AskBody::Approval(approval) = subject.body else { return this };
        let real_paths = subject.disk.map_or(&[][..], |disk| &disk.real_paths);
        match &approval.action {
            Action::Run { command } => {
                this.line = Some(CommandLine::read(command));
                this.start = StartDirectory::of(approval, places);
                this.paths = real_paths.to_vec();
            }
            Action::Edit { paths } | Action::Read { paths } if !paths.is_empty() => {
                this.paths = paths.iter().chain(real_paths).cloned().collect();
            }
            Action::Edit { .. } | Action::Mcp { .. } | Action::Other => {
                this.arguments = path_arguments(&approval.input);
                this.arguments.extend_from_slice(real_paths);
            }
            Action::Read { .. } | Action::Fetch { .. } | Action::Plan | Action::Mode => {}
        }
        this
    }

    /// Returns the first path of an edit that is configuration which makes programs run.
    pub(super) fn edited_config(&self) -> Option<(&str, ConfigKind)> {
        let AskBody::Approval(Approval { action: Action::Edit { .. }, .. }) = self.subject.body else { return None };
        self.paths.iter().find_map(|path| Some((path.as_str(), config_kind(path, self.places)?)))
    }
}

impl Rule {
    /// Compiles a single rule.
    ///
    /// # Errors
    /// Returns the first error, without a line.
    pub fn new(spec: RuleSpec) -> Result<Self, PolicyError> {
        Self::compile(spec, 1).map_err(|fault| PolicyError::new(fault.message))
    }

    /// Returns the rule as written.
    #[must_use]
    pub const fn spec(&self) -> &RuleSpec {
        &self.spec
    }

    pub(super) const fn effect(&self) -> Effect {
        self.spec.effect
    }

    /// Returns the name of the rule, or its place.
    #[must_use]
    pub fn label(&self, scope: Scope) -> String {
        self.spec.name.clone().unwrap_or_else(|| format!("rule {} ({})", self.number, scope.as_str()))
    }

    /// Returns the key of the rule in stored decisions: its id, or its label.
    #[must_use]
    pub fn key(&self, scope: Scope) -> String {
        self.spec.id.clone().unwrap_or_else(|| self.label(scope))
    }

    pub(super) fn compile(spec: RuleSpec, number: usize) -> Result<Self, KeyFault> {
        check_shape(&spec)?;
        let texts = |key: &'static str, texts: &Option<Texts>| -> Result<(), KeyFault> {
            match texts {
                Some(Texts(list)) if list.is_empty() => {
                    Err(KeyFault::new(key, format!("{key} is empty: write at least one pattern, or leave it out")))
                }
                Some(Texts(list)) if list.iter().any(|text| text.trim().is_empty()) => {
                    Err(KeyFault::new(key, format!("{key} contains an empty text: write a pattern")))
                }
                Some(_) | None => Ok(()),
            }
        };
        for (key, list) in [
            ("run", &spec.run),
            ("edit", &spec.edit),
            ("read", &spec.read),
            ("fetch", &spec.fetch),
            ("mcp", &spec.mcp),
            ("tool", &spec.tool),
            ("agent", &spec.agent),
            ("answer", &spec.answer),
        ] {
            texts(key, list)?;
        }
        let paths = |key: &'static str, texts: &Option<Texts>| {
            texts
                .as_ref()
                .map(|Texts(list)| PathPatterns::compile(list).map_err(|message| KeyFault::new(key, format!("{key}: {message}"))))
                .transpose()
        };
        let text = |key: &'static str, text: &Option<String>| {
            text.as_ref()
                .map(|text| TextPattern::compile(text).map_err(|message| KeyFault::new(key, format!("{key}: {message}"))))
                .transpose()
        };
        Ok(Self {
            run: each("run", &spec.run, RunPattern::compile)?,
            edit: paths("edit", &spec.edit)?,
            read: paths("read", &spec.read)?,
            fetch: each("fetch", &spec.fetch, AddressPattern::compile)?,
            header: text("header", &spec.header)?,
            matches: text("match", &spec.matches)?,
            spec,
            number,
        })
    }

    /// Checks the conditions that do not depend on the request: time, agent and project.
    pub(super) fn matches_context(&self, prepared: &PreparedAsk<'_>) -> Result<(), MismatchReason> {
        if self.spec.until.is_some_and(|until| until <= prepared.now) {
            return Err("it has expired");
        }
        if let Some(Texts(agents)) = &self.spec.agent
            && !agents.iter().any(|agent| self.matches_name(agent, prepared.subject.agent))
        {
            return Err("another agent");
        }
        if self.spec.agent.is_some() && prepared.claims.agent && matches!(self.effect(), Effect::Allow | Effect::Answer) {
            return Err("the name of the agent is only reported");
        }
        match (&self.spec.project, prepared.subject.project) {
            (None, _) => Ok(()),
            (Some(_), None) => Err("the ask has no project"),
            (Some(wanted), Some(project)) => {
                let places = Places { project: None, home: prepared.places.home };
                match (places.absolute(wanted), places.absolute(project)) {
                    (Some(wanted), Some(project)) if within(&project, &wanted) => Ok(()),
                    (Some(_), Some(_)) => Err("another project"),
                    // The location is unknown. Rules that protect match, others do not.
                    (None, _) | (_, None) if matches!(self.effect(), Effect::Deny | Effect::Ask | Effect::Reject) => Ok(()),
                    (None, _) | (_, None) => Err("its project is not known"),
                }
            }
        }
    }

    /// Rules that protect ignore case, rules that allow do not.
    fn matches_name(&self, pattern: &str, name: &str) -> bool {
        match self.effect() {
            Effect::Deny | Effect::Ask | Effect::Reject => matches_wildcard_ignoring_case(pattern, name),
            Effect::Allow | Effect::Answer => matches_wildcard(pattern, name),
        }
    }

    /// Whether an `ask` or `deny` rule may mean this request. Returns the part of the request that matched.
    pub(super) fn matches_broadly(&self, prepared: &PreparedAsk<'_>) -> Result<String, MismatchReason> {
        match prepared.subject.body {
            AskBody::Question { .. } => Err("it is about approvals"),
            AskBody::Link(link) => {
                if self.spec.tool.is_some()
                    || self.run.is_some()
                    || self.edit.is_some()
                    || self.read.is_some()
                    || self.spec.mcp.is_some()
                {
                    return Err("another action");
                }
                match &self.fetch {
                    Some(patterns) if !patterns.iter().any(|pattern| pattern.matches_broadly(&link.url)) => {
                        Err("another address")
                    }
                    Some(_) | None => Ok(link.url.clone()),
                }
            }
            AskBody::Approval(approval) => {
                if self.header.is_some() || self.matches.is_some() {
                    return Err("it is about questions");
                }
                self.matches_tool(&approval.tool)?;
                match &approval.action {
                    Action::Run { .. } => match (&self.run, &prepared.line) {
                        (Some(patterns), Some(line)) => line.first_broad_match(patterns).ok_or("no command on the line matches"),
                        (Some(_), None) => Err("another action"),
                        (None, _) => self.require_no_action().map(|()| approval.title.clone()),
                    },
                    Action::Edit { .. } => self.match_paths_broadly(self.edit.as_ref(), prepared),
                    Action::Read { .. } => self.match_paths_broadly(self.read.as_ref(), prepared),
                    Action::Fetch { url } => match &self.fetch {
                        Some(patterns) if patterns.iter().any(|pattern| pattern.matches_broadly(url)) => Ok(url.clone()),
                        Some(_) => Err("another address"),
                        None => self.require_no_action().map(|()| url.clone()),
                    },
                    Action::Mcp { server, tool } => match &self.spec.mcp {
                        Some(Texts(patterns)) if patterns.iter().any(|pattern| self.matches_mcp_tool(pattern, server, tool)) => {
                            Ok(format!("{server}/{tool}"))
                        }
                        Some(_) => Err("another MCP tool"),
                        None => self.require_no_action().map(|()| format!("{server}/{tool}")),
                    },
                    Action::Plan | Action::Mode | Action::Other => self.require_no_action().map(|()| approval.title.clone()),
                }
            }
        }
    }

    fn match_paths_broadly(&self, patterns: Option<&PathPatterns>, prepared: &PreparedAsk<'_>) -> Result<String, MismatchReason> {
        match patterns {
            Some(patterns) => {
                patterns.first_broad_match(&prepared.paths, prepared.places).map(str::to_owned).ok_or("no path matches")
            }
            None => self.require_no_action().map(|()| prepared.paths.first().cloned().unwrap_or_default()),
        }
    }

    /// Whether an `allow` rule certainly means this request. For a command line, only conditions on the whole line are checked
    /// here, because several rules may cover its commands together.
    pub(super) fn matches_strictly(&self, prepared: &PreparedAsk<'_>) -> Result<(), MismatchReason> {
        let approval = match prepared.subject.body {
            AskBody::Question { .. } => return Err("it is about approvals"),
            AskBody::Link(_) => return Err("links are never allowed by a rule"),
            AskBody::Approval(approval) => approval,
        };
        self.matches_tool(&approval.tool)?;
        match &approval.action {
            Action::Run { .. } => match (&self.run, &prepared.line) {
                (_, None) => Err("another action"),
                (_, Some(line)) if line.plain.is_err() => Err("rules cannot allow this kind of line"),
                (Some(_), Some(_)) => Ok(()),
                (None, Some(_)) => self.require_no_action(),
            },
            Action::Edit { .. } => {
                self.match_paths_strictly(self.edit.as_ref(), prepared).and_then(|()| self.names_config(prepared))
            }
            Action::Read { .. } => self.match_paths_strictly(self.read.as_ref(), prepared),
            Action::Fetch { url } => match &self.fetch {
                Some(patterns) if patterns.iter().any(|pattern| pattern.matches_strictly(url)) => Ok(()),
                Some(_) => Err("another address"),
                None => self.require_no_action(),
            },
            Action::Mcp { server, tool } => match &self.spec.mcp {
                Some(Texts(patterns)) if patterns.iter().any(|pattern| self.matches_mcp_tool(pattern, server, tool)) => Ok(()),
                Some(_) => Err("another MCP tool"),
                None => self.require_no_action(),
            },
            Action::Plan => match &self.spec.tool {
                Some(Texts(tools)) if tools.contains(&approval.tool) => self.require_no_action(),
                Some(_) | None => Err("a plan is allowed only by a rule that names its tool in full"),
            },
            Action::Mode => Err("a change of mode is never allowed by a rule"),
            Action::Other => self.require_no_action(),
        }
    }

    /// Whether the rule names the configuration that an edit changes.
    fn names_config(&self, prepared: &PreparedAsk<'_>) -> Result<(), MismatchReason> {
        let is_named = match &self.edit {
            Some(patterns) => patterns.name_config(&prepared.paths, prepared.places),
            None => prepared.edited_config().is_none(),
        };
        if is_named { Ok(()) } else { Err("it does not name the configuration that is changed") }
    }

    fn match_paths_strictly(&self, patterns: Option<&PathPatterns>, prepared: &PreparedAsk<'_>) -> Result<(), MismatchReason> {
        match patterns {
            Some(patterns) if patterns.match_all_strictly(&prepared.paths, prepared.places) => Ok(()),
            Some(_) => Err("not every path matches"),
            None => self.require_no_action(),
        }
    }

    /// Returns the patterns for commands. `None` means that the rule covers every command.
    pub(super) fn run_patterns(&self) -> Option<&[RunPattern]> {
        self.run.as_deref()
    }

    fn matches_tool(&self, tool: &str) -> Result<(), MismatchReason> {
        match &self.spec.tool {
            Some(Texts(tools)) if !tools.iter().any(|pattern| self.matches_name(pattern, tool)) => Err("another tool"),
            Some(_) | None => Ok(()),
        }
    }

    /// Matches a tool of an MCP server. A pattern without a slash matches all tools of a server.
    fn matches_mcp_tool(&self, pattern: &str, server: &str, tool: &str) -> bool {
        let (wanted_server, wanted_tool) = pattern.split_once('/').unwrap_or((pattern, "*"));
        self.matches_name(wanted_server, server) && self.matches_name(wanted_tool, tool)
    }

    /// Matches only if the rule has no condition on the action.
    fn require_no_action(&self) -> Result<(), MismatchReason> {
        if self.run.is_some() || self.edit.is_some() || self.read.is_some() || self.fetch.is_some() || self.spec.mcp.is_some() {
            return Err("another action");
        }
        if self.header.is_some() || self.matches.is_some() {
            return Err("it is about questions");
        }
        Ok(())
    }

    /// Whether the rule matches this question.
    pub(super) fn matches_question(&self, question: &PreparedQuestion<'_>) -> Result<(), MismatchReason> {
        if self.spec.tool.is_some() || self.require_no_action() == Err("another action") {
            return Err("it is about approvals");
        }
        if self.header.as_ref().is_some_and(|pattern| !pattern.fits(&question.header)) {
            return Err("another header");
        }
        if self.matches.as_ref().is_some_and(|pattern| !pattern.fits(&question.text) && !pattern.fits(&question.header)) {
            return Err("another question");
        }
        Ok(())
    }
}

fn each<T>(
    key: &'static str,
    texts: &Option<Texts>,
    compile: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<Vec<T>>, KeyFault> {
    let Some(Texts(list)) = texts else { return Ok(None) };
    let compiled = list
        .iter()
        .map(|text| compile(text).map_err(|message| KeyFault::new(key, format!("{key}: {message}"))))
        .collect::<Result<_, _>>()?;
    Ok(Some(compiled))
}

fn check_id(id: Option<&str>) -> Result<(), KeyFault> {
    let is_usable = |id: &str| {
        (1..=ID_LIMIT).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    match id {
        Some(id) if !is_usable(id) => {
            Err(KeyFault::new("id", format!("an id has 1 to {ID_LIMIT} letters, digits, - and _; leave it out if you need none")))
        }
        Some(_) | None => Ok(()),
    }
}

/// Checks that a rule has the keys that its effect requires, and no others.
fn check_shape(spec: &RuleSpec) -> Result<(), KeyFault> {
    check_message(spec.message.as_deref())?;
    check_id(spec.id.as_deref())?;
    plain_text::check_optional("the name", spec.name.as_deref()).map_err(|error| KeyFault::new("name", error.to_string()))?;
    let actions: Vec<&'static str> = [
        ("run", spec.run.is_some()),
        ("edit", spec.edit.is_some()),
        ("read", spec.read.is_some()),
        ("fetch", spec.fetch.is_some()),
        ("mcp", spec.mcp.is_some()),
    ]
    .into_iter()
    .filter_map(|(key, said)| said.then_some(key))
    .collect();
    let question = if spec.header.is_some() { Some("header") } else { spec.matches.as_ref().map(|_| "match") };
    let effect = spec.effect.as_str();
    if let [first, second, ..] = actions.as_slice() {
        return Err(KeyFault::new(second, format!("{first} and {second} in one rule never hold together: write two rules")));
    }
    match spec.effect {
        Effect::Answer | Effect::Reject => {
            if let Some(key) = actions.first().copied().or(spec.tool.as_ref().map(|_| "tool")) {
                return Err(KeyFault::new(
                    key,
                    format!("{key} is about approvals, do = \"{effect}\" about questions: write header or match instead"),
                ));
            }
        }
        Effect::Allow | Effect::Deny => {
            if let Some(key) = question {
                return Err(KeyFault::new(
                    key,
                    format!("{key} is about questions, do = \"{effect}\" about approvals: write do = \"answer\" or \"reject\""),
                ));
            }
        }
        Effect::Ask => {
            if let (Some(key), false) = (question, actions.is_empty() && spec.tool.is_none()) {
                return Err(KeyFault::new(
                    key,
                    format!("{key} is about questions and the rest about approvals: write two rules"),
                ));
            }
        }
    }
    if spec.effect == Effect::Allow && actions.is_empty() && spec.tool.is_none() {
        return Err(KeyFault::new("do", "an allow rule must say what it allows: write run, edit, read, fetch, mcp or tool"));
    }
    match (spec.effect, &spec.answer, spec.pick) {
        (Effect::Answer, _, _) if question.is_none() => {
            return Err(KeyFault::new("do", "an answer rule must say which question it answers: write header or match"));
        }
        (Effect::Answer, None, None) => {
            return Err(KeyFault::new("do", "an answer rule must say the answer: write answer = [\"…\"] or pick = 1"));
        }
        (Effect::Answer, Some(_), Some(_)) => return Err(KeyFault::new("pick", "answer and pick together: write one of them")),
        (Effect::Answer, None, Some(0)) => {
            return Err(KeyFault::new("pick", "options are counted from 1: write pick = 1 for the first"));
        }
        (Effect::Allow | Effect::Deny | Effect::Ask | Effect::Reject, Some(_), _) => {
            return Err(KeyFault::new("answer", format!("answer belongs to do = \"answer\", not to \"{effect}\"")));
        }
        (Effect::Allow | Effect::Deny | Effect::Ask | Effect::Reject, None, Some(_)) => {
            return Err(KeyFault::new("pick", format!("pick belongs to do = \"answer\", not to \"{effect}\"")));
        }
        (Effect::Answer, Some(_), None)
        | (Effect::Answer, None, Some(_))
        | (Effect::Allow | Effect::Deny | Effect::Ask | Effect::Reject, None, None) => {}
    }
    if spec.message.is_some() && !matches!(spec.effect, Effect::Deny | Effect::Reject) {
        return Err(KeyFault::new(
            "message",
            format!("message belongs to do = \"deny\" or \"reject\", not to do = \"{effect}\""),
        ));
    }
    match &spec.project {
        Some(project) if !(project.starts_with('/') || project == "~" || project.starts_with("~/")) => {
            Err(KeyFault::new("project", "a project is a whole path: write it from / or ~/"))
        }
        Some(_) | None => Ok(()),
    }
}
