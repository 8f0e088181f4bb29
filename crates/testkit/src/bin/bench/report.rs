//! Prints one JSON object per line, and collects missed targets.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::Result;
use serde_json::{Map, Value, json};

use crate::meter;

/// The target of a figure.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Bound {
    fn is_met_by(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
        }
    }

    fn words(self) -> String {
        match self {
            Self::AtMost(most) => format!("<= {}", rounded(most)),
            Self::AtLeast(least) => format!(">= {}", rounded(least)),
        }
    }
}

/// One measurement.
#[derive(Debug)]
pub(crate) struct Measurement {
    name: &'static str,
    /// The figures in the order of measurement.
    fields: Vec<(String, f64)>,
    targets: Map<String, Value>,
    missed: Vec<String>,
}

impl Measurement {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, fields: Vec::new(), targets: Map::new(), missed: Vec::new() }
    }

    /// Adds a figure without a target.
    pub(crate) fn figure(mut self, figure: &str, value: f64) -> Self {
        self.fields.retain(|(known, _)| known != figure);
        self.fields.push((figure.to_owned(), rounded(value)));
        self
    }

    /// Adds a figure with a target.
    pub(crate) fn target(mut self, figure: &str, value: f64, bound: Bound) -> Self {
        self.targets.insert(figure.to_owned(), json!(bound.words()));
        // A target also counts as missed if the figure could not be measured.
        if !bound.is_met_by(value) {
            self.missed.push(format!("{} {figure}: {}, wanted {}", self.name, rounded(value), bound.words()));
        }
        self.figure(figure, value)
    }
}

/// The lines so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    missed: Vec<String>,
}

impl Report {
    pub(crate) fn add(&mut self, line: Measurement) -> Result<()> {
        // Formatted here, so that the name comes first and the figures follow in order.
        let mut text = format!("{{\"bench\":{},\"ok\":{}", json!(line.name), line.missed.is_empty());
        for (figure, value) in line.fields {
            write!(text, ",{}:{}", json!(figure), json!(value))?;
        }
        if !line.targets.is_empty() {
            write!(text, ",\"targets\":{}", Value::Object(line.targets))?;
        }
        write!(text, ",\"load\":{}}}", json!(meter::load()))?;
        self.missed.extend(line.missed);
        let mut out = std::io::stdout().lock();
        writeln!(out, "{text}")?;
        Ok(out.flush()?)
    }

    /// Returns a description of each missed target.
    pub(crate) fn missed(&self) -> &[String] {
        &self.missed
    }
}

fn rounded(value: f64) -> f64 {
    let digits = if value.abs() >= 100.0 { 10.0 } else { 1000.0 };
    (value * digits).round() / digits
}
