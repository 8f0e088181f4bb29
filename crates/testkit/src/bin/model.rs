//! A scripted model for tests that are not written in Rust, and for experiments: `model SCRIPT.json`. It prints its
//! URL, supports every API of [`MockModel`], and exits when its stdin is closed.
//!
//! The script is a list of `{"when": "word", "turns": [[{"text": "…"}, {"call": "tool", "input": {…}}]]}`. The first
//! entry whose word occurs in the person's last message is used, and its turns are returned one after another.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Parser;
use sayso_testkit::models::{MockModel, ModelBlock, ModelScript, ModelTurn};
use serde::Deserialize;
use serde_json::Value;
use tokio::io::AsyncReadExt as _;

#[derive(Debug, Parser)]
#[command(name = "model", about = "A model that says what a file says")]
struct Args {
    /// The script as JSON
    script: PathBuf,
}

#[derive(Debug, Deserialize)]
struct ModelEntry {
    when: String,
    turns: Vec<Vec<ModelSaid>>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ModelSaid {
    Text { text: String },
    Call { call: String, input: Value },
}

/// The turns of an entry. Calls are numbered, so that each has a unique id.
fn turns(entry: ModelEntry) -> (String, Vec<ModelTurn>) {
    let mut calls = 0;
    let mut block = |said| match said {
        ModelSaid::Text { text } => ModelBlock::Text(text),
        ModelSaid::Call { call, input } => {
            calls += 1;
            ModelBlock::call(format!("call_{}_{calls}", entry.when), call, input)
        }
    };
    let turns = entry.turns.into_iter().map(|turn| turn.into_iter().map(&mut block).collect()).collect();
    (entry.when.clone(), turns)
}

#[tokio::main]
async fn main() -> Result<()> {
    let path = Args::parse().script;
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let script: Vec<ModelEntry> = serde_json::from_str(&text).with_context(|| format!("{} is not a script", path.display()))?;
    let model = MockModel::start(ModelScript::by_word(script.into_iter().map(turns))).await?;
    writeln!(std::io::stdout(), "{}", model.url())?;
    tokio::io::stdin().read_to_end(&mut Vec::new()).await?;
    Ok(())
}
