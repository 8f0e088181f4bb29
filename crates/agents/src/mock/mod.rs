//! The mock agent: a pure function of the prompt and the outcomes so far, so that its asks survive
//! a restart of the server and every surface can be tried without a model.
//!
//! The first of these words that the prompt holds (whole, in any case, the longest first) says what it does:
//!
//! | word | what happens |
//! |---|---|
//! | `questions` | one ask with three questions: one choice, several choices, free text |
//! | `parallel` | three asks at once: a question, an approval, a question |
//! | `withdraw` | a question that is taken back after a second |
//! | `question` | one question with two options, own text allowed |
//! | `approve` | an approval of a shell command |
//! | `deploy` | an approval of the script `./deploy.sh` |
//! | `secret` | a question for a secret |
//! | `crash` | a question, and the agent dies while it is open |
//! | `form` | text, a number, yes or no, and an optional choice |
//! | `link` | an address to open |
//! | `plan` | an approval of a plan |
//! | `slow` | a message that streams, one word every 50 ms |
//!
//! Anything else is echoed. `question 500 times` asks one after another without a word in between.
//! Afterwards the agent says what it received.

mod acp_agent;
mod acp_answer;
mod asks;
mod script;
mod state;
mod translator;

pub use acp_agent::{AcpAgent, AcpInput};
pub use translator::{CAPABILITIES, MockTranslator};
