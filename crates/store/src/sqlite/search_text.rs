//! What a search for words looks at. Secrets are masked in outcomes, so none is in here.

use sayso_core::ask::{Ask, Outcome};

/// All texts of what was asked, one per line.
pub(super) fn asked(ask: &Ask) -> String {
    let mut found = String::new();
    for value in [serde_json::to_value(&*ask.body), serde_json::to_value(&*ask.context)].into_iter().flatten() {
        collect(&value, &mut found);
    }
    found
}

/// All texts of what was decided, one per line.
pub(super) fn decided(outcome: &Outcome) -> String {
    let mut found = String::new();
    if let Ok(value) = serde_json::to_value(outcome) {
        collect(&value, &mut found);
    }
    found
}

fn collect(value: &serde_json::Value, found: &mut String) {
    match value {
        serde_json::Value::String(text) => {
            found.push_str(text);
            found.push('\n');
        }
        serde_json::Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
        serde_json::Value::Object(fields) => fields.values().for_each(|value| collect(value, found)),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}
