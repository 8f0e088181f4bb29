//! Round trips through the ACP endpoint, interleaved with native ones in the same run: one client, its connection and its session stream.

use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use sayso_testkit::ServerProcess;
use serde_json::{Value, json};

use crate::http::{BenchHttp, Sse};
use crate::meter;
use crate::round_trip::{Until, target};

/// A prompt with more questions than any run can answer.
const UNTIL_STOPPED: &str = "question 1000000 times";

/// Measures round trips in microseconds, after a warm-up.
pub(crate) async fn round_trips(server: &ServerProcess, until: Until) -> Result<Vec<u32>> {
    const WARM: usize = 100;
    let target = target(server);
    let mut http = BenchHttp::connect(&target).await?;
    let capabilities = json!({ "_meta": { "extensions": { "sessionRequestQuestion": true } } });
    let hello = request(1, "initialize", json!({ "protocolVersion": 1, "clientCapabilities": capabilities }));
    let connection = http.post_for("/acp", &hello, "acp-connection-id").await?;
    let connection = format!("acp-connection-id: {connection}\r\n");
    let mut stream = Sse::open_with(&target, "/acp", &connection).await?;
    let new = json!({ "cwd": "/", "mcpServers": [], "_meta": { "sayso": { "agent": crate::MOCK } } });
    http.post_with("/acp", &connection, &request(2, "session/new", new)).await?;
    let made: Value = serde_json::from_slice(stream.data().await?)?;
    let session = made["result"]["sessionId"].as_str().with_context(|| made.to_string())?.to_owned();
    let mut stream = Sse::open_with(&target, "/acp", &format!("{connection}acp-session-id: {session}\r\n")).await?;
    let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": UNTIL_STOPPED }] });
    http.post_with("/acp", &connection, &request(3, "session/prompt", prompt)).await?;

    let (mut times, mut done, mut seen, mut began) = (Vec::new(), 0, None::<Instant>, Instant::now());
    loop {
        let message: Value = serde_json::from_slice(stream.data().await?)?;
        if message["method"] != "_sandboxagent/session/request_question" {
            ensure!(message["method"] == "session/update", "{message}");
            continue;
        }
        // The next question arrived, so the last round trip is complete.
        if let Some(seen) = seen.replace(Instant::now()) {
            done += 1;
            if done == WARM {
                began = Instant::now();
            } else if done > WARM {
                times.push(meter::micros(seen.elapsed()));
            }
        }
        let over = match until {
            Until::Time(time) => done > WARM && began.elapsed() >= time,
            Until::Count(count) => times.len() as u64 >= count,
        };
        if over {
            return Ok(times);
        }
        let result = json!({ "status": "answered", "answers": [["SQLite"]] });
        http.post_with("/acp", &connection, &json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string())
            .await?;
    }
}

fn request(id: u64, method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}
