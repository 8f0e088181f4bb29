//! Templates with variables for the inputs of a run and the outputs of earlier steps.
//!
//! `{{input.topic}}` is an input of the run, and `{{steps.plan.output}}` is the last message of a step. `{{{{` produces two
//! literal braces. Values that are filled in are not parsed again, so text of an agent cannot refer to variables.

use std::collections::BTreeMap;
use std::fmt;

/// A variable of a template.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variable {
    /// An input of the run.
    Input(String),
    /// The last message of a step, or the answer to a checkpoint.
    Output(String),
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(name) => write!(f, "{{{{input.{name}}}}}"),
            Self::Output(step) => write!(f, "{{{{steps.{step}.output}}}}"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Variable(Variable),
}

/// A parsed template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

/// The values of variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Values<'a> {
    /// The inputs of the run, by name.
    pub inputs: BTreeMap<&'a str, &'a str>,
    /// The outputs of steps, by id.
    pub outputs: BTreeMap<&'a str, &'a str>,
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// A message with the error and the correction.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            plain.push_str(before);
            if let Some(after) = after.strip_prefix("{{") {
                plain.push_str("{{");
                rest = after;
                continue;
            }
            let Some((name, after)) = after.split_once("}}") else {
                return Err("`{{` without `}}`: close it, or write `{{{{` for two braces".to_owned());
            };
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(Part::Variable(variable(name.trim())?));
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Self { parts })
    }

    /// Returns the variables, in order of appearance.
    pub fn variables(&self) -> impl Iterator<Item = &Variable> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Variable(variable) => Some(variable),
        })
    }

    /// Fills in all variables.
    ///
    /// # Errors
    /// The first variable that has no value.
    pub fn fill(&self, values: &Values<'_>) -> Result<String, Variable> {
        let mut text = String::new();
        for part in &self.parts {
            text.push_str(match part {
                Part::Text(plain) => plain,
                Part::Variable(variable) => {
                    let value = match variable {
                        Variable::Input(name) => values.inputs.get(name.as_str()),
                        Variable::Output(step) => values.outputs.get(step.as_str()),
                    };
                    value.ok_or_else(|| variable.clone())?
                }
            });
        }
        Ok(text)
    }
}

fn variable(name: &str) -> Result<Variable, String> {
    if let Some(input) = name.strip_prefix("input.").filter(|input| is_name(input)) {
        return Ok(Variable::Input(input.to_owned()));
    }
    if let Some(step) = name.strip_prefix("steps.").and_then(|rest| rest.strip_suffix(".output")).filter(|step| is_name(step)) {
        return Ok(Variable::Output(step.to_owned()));
    }
    let shown = crate::limits::head(name, 60);
    Err(format!("`{{{{{shown}}}}}` is not a variable: write {{{{input.NAME}}}} or {{{{steps.ID.output}}}}"))
}

/// Returns whether this text is valid as the name of a step or an input.
pub(super) fn is_name(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(text: &str) -> Result<String, String> {
        let values = Values {
            inputs: BTreeMap::from([("topic", "login {{input.other}}")]),
            outputs: BTreeMap::from([("plan", "1. Do it.")]),
        };
        Template::parse(text)?.fill(&values).map_err(|variable| variable.to_string())
    }

    #[test]
    fn values_are_filled_in_once() {
        assert_eq!(fill("Add {{ input.topic }}: {{steps.plan.output}}"), Ok("Add login {{input.other}}: 1. Do it.".into()));
        assert_eq!(fill("no places"), Ok("no places".into()));
        assert_eq!(fill("{{{{ raw }} and {one}"), Ok("{{ raw }} and {one}".into()));
        assert_eq!(fill("{{input.nothing}}"), Err("{{input.nothing}}".into()));
    }

    #[test]
    fn unknown_variables_are_refused() {
        for wrong in ["{{topic}}", "{{input.}}", "{{input.a b}}", "{{steps.plan}}", "{{steps..output}}", "{{", "{{}}"] {
            assert!(Template::parse(wrong).is_err(), "{wrong}");
        }
    }
}
