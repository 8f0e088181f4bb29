//! Decides approvals and links. Deny rules win over ask rules, which win over allow rules, independent of their order and
//! scope.

use super::address;
use super::command_line::first_not_covered;
use super::config_files::{config_kind, mentions_config, programs_that_read};
use super::decide::{Verdict, message_or, quoted};
use super::explain::Considered;
use super::guard;
use super::model::{ApprovalPolicy, Effect};
use super::rules::{MismatchReason, PreparedAsk, Rule};
use super::scopes::{PolicySet, Scope};
use super::settings::Settings;
use super::start_directory::{StartDirectory, change_to};
use super::words::Word;
use crate::ask::{Action, ApprovalDecision, AskBody, Decision, PolicyNote};
use crate::texts;

/// Decides an approval or a link. `seen`, if given, receives the result of every rule.
pub(super) fn decide(
    set: &PolicySet,
    settings: &Settings,
    prepared: &PreparedAsk<'_>,
    mut seen: Option<&mut Vec<Considered>>,
) -> Verdict {
    let guarded = guard::find_reason_to_ask(&set.protected, prepared);
    if let Some(seen) = seen.as_deref_mut() {
        seen.push(Considered::built_in(guarded));
    }

    let mut denied: Option<(Scope, &Rule)> = None;
    let mut asked: Option<(String, String)> = guarded.map(|why| (guard::NAME.to_owned(), format!("{}: {why}", guard::NAME)));
    let mut allowing: Vec<(Scope, &Rule)> = Vec::new();
    for (scope, rule) in set.rules() {
        let fit: Result<String, MismatchReason> = if !set.permits(scope, rule.effect()) {
            Err("the project is not trusted, so it may only deny, ask and reject")
        } else {
            rule.matches_context(prepared).and_then(|()| match rule.effect() {
                Effect::Deny | Effect::Ask => rule.matches_broadly(prepared),
                Effect::Allow => rule.matches_strictly(prepared).map(|()| String::new()),
                Effect::Answer | Effect::Reject => Err("it is about questions"),
            })
        };
        if let Some(seen) = seen.as_deref_mut() {
            let shown = fit.as_ref().map_err(|miss| *miss).and_then(|_| covers_some(rule, prepared));
            seen.push(Considered::of(scope, rule, shown));
        }
        match (rule.effect(), fit) {
            (Effect::Deny, Ok(_)) => denied = denied.or(Some((scope, rule))),
            (Effect::Ask, Ok(what)) => {
                asked = asked
                    .or_else(|| Some((rule.key(scope), format!("rule \"{}\" asks for {}", rule.label(scope), quoted(&what)))));
            }
            (Effect::Allow, Ok(_)) => allowing.push((scope, rule)),
            (Effect::Answer | Effect::Reject, Ok(_)) | (_, Err(_)) => {}
        }
    }

    let person = |why: String, hits: Vec<String>| {
        Verdict::Person(PolicyNote {
            why: Some(why),
            preselected: Vec::new(),
            rules: Some(set.fingerprint()),
            deadline: settings.approval_deadline(prepared.now),
            hits,
        })
    };
    if let Some((scope, rule)) = denied {
        let message = message_or(rule.spec().message.as_ref(), texts::DENIED_BY_POLICY);
        let (hits, rule) = (vec![rule.key(scope)], rule.label(scope));
        return Verdict::Decided { decision: Decision::Denied { message, stop: false }, rule, hits };
    }
    if let Some((hit, why)) = asked {
        return person(why, vec![hit]);
    }
    let withheld = why_not_approved(prepared);
    let why = match withheld.clone().map_or_else(|| find_allowing_rules(&allowing, prepared), Err) {
        Ok((rule, hits)) => return approved(rule, hits),
        Err(why) => why,
    };
    match settings.approvals {
        ApprovalPolicy::Allow => match withheld.or_else(|| why_never_by_default(prepared)) {
            Some(why) => person(why, Vec::new()),
            None => approved("approvals.policy = \"allow\"".to_owned(), Vec::new()),
        },
        ApprovalPolicy::Ask => person(why, Vec::new()),
        ApprovalPolicy::Deny => {
            let message = message_or(settings.approval_message.as_ref(), texts::DENIED_BY_POLICY);
            Verdict::Decided {
                decision: Decision::Denied { message, stop: false },
                rule: "approvals.policy = \"deny\"".to_owned(),
                hits: Vec::new(),
            }
        }
    }
}

fn approved(rule: String, hits: Vec<String>) -> Verdict {
    Verdict::Decided { decision: Decision::Approved { choice: None, input: None }, rule, hits }
}

/// Returns why neither a rule nor `policy = "allow"` can approve the ask, or `None` if they can.
fn why_not_approved(prepared: &PreparedAsk<'_>) -> Option<String> {
    if let AskBody::Approval(approval) = prepared.subject.body
        && !approval.allows(ApprovalDecision::Approve)
    {
        return Some("the caller wants a decision by a person".to_owned());
    }
    if let Some(why) = find_config_argument(prepared) {
        return Some(why);
    }
    let disk = prepared.subject.disk?;
    if disk.unknown {
        return Some("links in its paths cannot be followed".to_owned());
    }
    let (line, mut changed) = (prepared.line.as_ref()?, disk.changed.iter());
    changed.find_map(|path| {
        let readers = programs_that_read(path);
        let (program, _) = line.commands().find(|(program, _)| readers.contains(program))?;
        Some(format!("{} changed since the session began, and {program} reads it", quoted(path)))
    })
}

/// Returns why a tool needs a person if one of its arguments is a configuration file. Rules for tools contain no paths, so none
/// of them permits a specific file.
fn find_config_argument(prepared: &PreparedAsk<'_>) -> Option<String> {
    prepared.arguments.iter().find_map(|path| {
        let kind = config_kind(path, prepared.places)?;
        Some(format!("it names {}, which is configuration of {}", quoted(path), kind.as_str()))
    })
}

/// Returns why `policy = "allow"` does not approve the ask, or `None` if it does.
fn why_never_by_default(prepared: &PreparedAsk<'_>) -> Option<String> {
    let fixed = match prepared.subject.body {
        AskBody::Question { .. } => "a question is not approved",
        AskBody::Link(_) => "only a person opens a link",
        AskBody::Approval(approval) => match &approval.action {
            Action::Plan => "only a person accepts a plan",
            Action::Mode => "only a person changes the mode",
            Action::Run { .. } if prepared.line.as_ref().is_none_or(|line| line.unreadable) => "the command line cannot be read",
            Action::Fetch { url } if !address::is_readable(url) => "the address cannot be read",
            Action::Edit { .. } => return find_unnamed_config(prepared),
            Action::Run { .. } | Action::Read { .. } | Action::Fetch { .. } | Action::Mcp { .. } | Action::Other => return None,
        },
    };
    Some(fixed.to_owned())
}

/// Returns why an edit of configuration needs a person.
fn find_unnamed_config(prepared: &PreparedAsk<'_>) -> Option<String> {
    let (path, kind) = prepared.edited_config()?;
    Some(format!("no rule names {}, which is configuration of {}", quoted(path), kind.as_str()))
}

/// Returns the names and keys of the rules that together allow the ask, or why they do not.
fn find_allowing_rules(allowing: &[(Scope, &Rule)], prepared: &PreparedAsk<'_>) -> Result<(String, Vec<String>), String> {
    let title = || match prepared.subject.body {
        AskBody::Approval(approval) => match &approval.action {
            Action::Run { command } => quoted(command),
            Action::Edit { paths } | Action::Read { paths } if !paths.is_empty() => quoted(&prepared.paths.join(", ")),
            Action::Fetch { url } => quoted(url),
            Action::Mcp { server, tool } => quoted(&format!("{server}/{tool}")),
            Action::Plan => "this plan".to_owned(),
            Action::Mode => "a change of mode".to_owned(),
            Action::Edit { .. } | Action::Read { .. } | Action::Other => quoted(&approval.tool),
        },
        AskBody::Link(_) => "a link".to_owned(),
        AskBody::Question { .. } => "a question".to_owned(),
    };
    let Some(line) = &prepared.line else {
        let unnamed = || find_unnamed_config(prepared).unwrap_or_else(|| format!("no rule allows {}", title()));
        let (scope, rule) = allowing.first().ok_or_else(unnamed)?;
        return Ok((rule.label(*scope), vec![rule.key(*scope)]));
    };
    let commands = line.plain.as_ref().map_err(|found| format!("no rule can allow {}: it contains {found}", title()))?;
    let mut used = vec![false; allowing.len()];
    let used_cell = std::cell::RefCell::new(&mut used);
    let find = |fits: &dyn Fn(&Rule) -> bool| match allowing.iter().position(|(_, rule)| fits(rule)) {
        Some(at) => {
            used_cell.borrow_mut()[at] = true;
            true
        }
        None => false,
    };
    let covers = |words: &[Word]| {
        find(&|rule| match rule.run_patterns() {
            Some(patterns) => patterns.iter().any(|pattern| pattern.matches_strictly(words)),
            None => !mentions_config(words, prepared.places),
        })
    };
    match (&prepared.start, prepared.start.outside(prepared.places)) {
        (StartDirectory::Unknown, _) => return Err("the directory in which it starts cannot be known".to_owned()),
        (_, Some(directory)) if !covers(&change_to(directory)) => {
            return Err(format!("no rule allows {}, where it starts", quoted(&format!("cd {directory}"))));
        }
        (StartDirectory::Project | StartDirectory::Named(_), _) => {}
    }
    let missing = first_not_covered(commands, &mut |words| covers(words), &mut |words| {
        find(&|rule| match rule.run_patterns() {
            Some(patterns) => patterns.iter().any(|pattern| pattern.is_exact() && pattern.matches_strictly(words)),
            None => !mentions_config(words, prepared.places),
        })
    });
    if let Some(missing) = missing {
        return Err(format!("no rule allows {}", quoted(&missing)));
    }
    let allowed_by = || allowing.iter().zip(&used).filter(|(_, used)| **used).map(|(allowing, _)| allowing);
    let names: Vec<String> = allowed_by().map(|(scope, rule)| rule.label(*scope)).collect();
    Ok((names.join(", "), allowed_by().map(|(scope, rule)| rule.key(*scope)).collect()))
}

/// For explanations: whether an `allow` rule for commands covers at least one command.
fn covers_some(rule: &Rule, prepared: &PreparedAsk<'_>) -> Result<(), MismatchReason> {
    let (Effect::Allow, Some(_), Some(Ok(commands))) =
        (rule.effect(), rule.run_patterns(), prepared.line.as_ref().map(|line| line.plain.as_ref()))
    else {
        return Ok(());
    };
    let by_itself = |words: &Vec<_>| {
        rule.run_patterns().is_some_and(|patterns| patterns.iter().any(|pattern| pattern.matches_strictly(words)))
    };
    if commands.iter().any(by_itself) || find_allowing_rules(&[(Scope::User, rule)], prepared).is_ok() {
        Ok(())
    } else {
        Err("no command on the line matches")
    }
}
