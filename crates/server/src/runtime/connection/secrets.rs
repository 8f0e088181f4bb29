//! Secrets that were given to an agent are masked in what it says next, while they are in memory.
//! What it repeats after a restart, or in another form, cannot be caught and is not promised.

use sayso_core::ask::{Ask, Decision, MASK};

/// Shorter values would mask harmless words.
const SHORTEST: usize = 4;
/// How many are kept per connection; the oldest go first.
const MOST: usize = 32;

/// The secrets that one connection's agent knows from us.
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

    /// The text without them.
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
    fn what_is_known_is_masked() {
        let secrets = Secrets { values: vec!["hunter22".to_owned()] };
        assert_eq!(secrets.mask("I use hunter22 now".to_owned()), format!("I use {MASK} now"));
        assert_eq!(secrets.mask("nothing here".to_owned()), "nothing here");
    }
}
