//! Asks a person a question and waits for the answer, however long it takes.
//!
//! `cargo run --package sayso-examples --bin ask`, then answer with `sayso next`.

use sayso_client::api::ask::ShownAnswer;
use sayso_client::{Client, Error, question};

#[tokio::main]
async fn main() -> Result<(), Error> {
    // The server in SAYSO_URL with the token in SAYSO_TOKEN, or the server of this machine.
    let client = Client::discover()?;
    let ask = client.ask_and_wait(&question("Where should the backup go?", &["NAS", "S3"])).await?;
    match ask.outcome.and_then(|outcome| outcome.answers).as_deref() {
        Some([ShownAnswer::Entries(entries)]) => println!("Backing up to {}", entries.join(", ")),
        _ => println!("No answer, no backup"),
    }
    Ok(())
}
