//! Masks secret answers in the later output of the agent that received them, while they are in memory. Secrets that the agent
//! repeats after a restart of the server, or in another form, are not detected.

use sayso_core::ask::{Ask, Decision, MASK};

/// The minimum length of a masked value. Masking shorter values would hide harmless words.
const SHORTEST: usize = 4;
/// The maximum number of secrets per connection. The oldest are removed first.
const MOST: usize = 32;

/// The secrets that were given to the agent of one connection.
#[derive(Default)]
pub(super) struct Secrets {
    values: Vec<String>,
}

impl Secrets {
    /// Remembers the secret answers of an ask.
    pub(super) fn learn(&mut self, ask: &Ask, decision: &Decision) {
        let Decision::Answered { answers, .. } = decision else { return };
        for (question, entries) in ask.body.questions().iter().zip(answers) {
            if question.is_secret() {
                self.values.extend(entries.iter().filter(|value| value.len() >= SHORTEST).cloned());
            }
        }
        if self.values.len() > MOST {
            self.values.drain(..self.values.len() - MOST);
        }
    }

    /// Replaces all known secrets in a text.
    pub(super) fn mask(&self, text: String) -> String {
        self.values
            .iter()
            .fold(text, |text, secret| if text.contains(secret.as_str()) { text.replace(secret.as_str(), MASK) } else { text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_secrets_are_masked() {
        let secrets = Secrets { values: vec!["hunter22".to_owned()] };
        assert_eq!(secrets.mask("I use hunter22 now".to_owned()), format!("I use {MASK} now"));
        assert_eq!(secrets.mask("nothing here".to_owned()), "nothing here");
    }
}
