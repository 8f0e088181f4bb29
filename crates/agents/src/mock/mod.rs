//! The mock agent: a pure function of the prompt and the outcomes so far, so that its asks survive a server restart and
//! every surface can be tried without a model.
//!
//! The prompt is searched for these words (whole words, case-insensitive, longest first); the first match decides:
//!
//! | word | behavior |
//! |---|---|
//! | `questions` | one ask with three questions: single choice, multiple choice, free text |
//! | `parallel` | three asks at once: a question, an approval, a question |
//! | `withdraw` | a question that is withdrawn after one second |
//! | `question` | one question with two options, free text allowed |
//! | `approve` | an approval of a shell command |
//! | `deploy` | an approval of the script `./deploy.sh` |
//! | `secret` | a question for a secret |
//! | `crash` | a question; the agent crashes while it is open |
//! | `form` | text, a number, yes or no, and an optional choice |
//! | `link` | a URL to open |
//! | `plan` | an approval of a plan |
//! | `slow` | a message that streams, one word every 50 ms |
//!
//! Any other prompt is echoed. `question 500 times` asks 500 questions one after another, without messages in between.
//! At the end of the turn, the agent says what it received.

mod acp_agent;
mod acp_answer;
mod asks;
mod script;
mod state;
mod translator;

pub use acp_agent::{AcpAgent, AcpInput};
pub use translator::{CAPABILITIES, MockTranslator};
