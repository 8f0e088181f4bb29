//! Starts an agent, answers its questions with their first option, and denies its approvals.
//!
//! `cargo run --package sayso-examples --bin answer`

use sayso_client::api::ask::{AnswerRequest, Ask, AskKind, NoRequest, Question};
use sayso_client::api::session::{NewSession, SessionStatus};
use sayso_client::{Client, Error};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let client = Client::discover()?;
    let prompt = Some("parallel".to_owned()); // The mock asks a question, an approval and another question.
    let session = client.start_session(&NewSession { agent: "mock".to_owned(), prompt, ..NewSession::default() }).await?;

    // Each event wakes the loop. The loop then reads the session, so a lost connection loses nothing.
    let mut events = client.session_events(&session.id, Some(0));
    loop {
        events.next().await?;
        let now = client.session(&session.id).await?;
        for ask in now.asks.unwrap_or_default() {
            decide(&client, &ask).await?;
        }
        if now.status == SessionStatus::Idle {
            return client.end_session(&session.id).await;
        }
    }
}

async fn decide(client: &Client, ask: &Ask) -> Result<(), Error> {
    let decided = match ask.kind {
        AskKind::Question => {
            let first = |question: &Question| question.options.iter().take(1).map(|option| option.label.clone()).collect();
            let answers = ask.questions.iter().map(first).collect();
            client.answer(&ask.id, &AnswerRequest { answers, note: None }).await
        }
        AskKind::Approval | AskKind::Link => {
            client.deny(&ask.id, &NoRequest { message: Some("Not now.".to_owned()), stop: false }).await
        }
    };
    match decided {
        Ok(ask) => println!("{:?}", ask.status),
        // Another person was faster.
        Err(error) if error.already_resolved().is_some() => {}
        Err(error) => return Err(error),
    }
    Ok(())
}
