//! Calls of `ask_user` that wait for a person, in both generations of the protocol.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::http::{BenchTarget, find};

/// The generation of the protocol that a client uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Sessions,
    Stateless,
}

/// Opens a call with its own question. The call waits until the returned value is dropped.
pub(crate) async fn waiting(target: &BenchTarget, era: Era, number: usize) -> Result<TcpStream> {
    let questions =
        json!([{ "question": format!("Which one is number {number}?"), "options": [{ "label": "A" }, { "label": "B" }] }]);
    let mut params = json!({ "name": "ask_user", "arguments": { "questions": questions }, "_meta": { "progressToken": number } });
    let info = json!({ "name": "bench", "version": "1" });
    let headers = match era {
        Era::Stateless => {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            params["_meta"]["io.modelcontextprotocol/clientInfo"] = info;
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
            "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: ask_user\r\n".to_owned()
        }
        Era::Sessions => {
            let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
            let (_, head) = post(target, "", &request("initialize", hello)).await?;
            let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).context("no session")?;
            let headers = format!("mcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\n");
            post(target, &headers, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
            headers
        }
    };
    let (socket, head) = post(target, &headers, &request("tools/call", params)).await?;
    ensure!(head.starts_with("HTTP/1.1 200"), "the call was not taken: {head}");
    Ok(socket)
}

fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// Sends one message. Returns the connection and the head of the reply.
async fn post(target: &BenchTarget, headers: &str, body: &Value) -> Result<(TcpStream, String)> {
    let mut socket = TcpStream::connect(&target.address).await?;
    let body = body.to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
        target.address,
        target.token,
        body.len()
    );
    socket.write_all(request.as_bytes()).await?;
    let mut raw = Vec::new();
    let end = loop {
        ensure!(socket.read_buf(&mut raw).await? > 0, "the server hung up");
        if let Some(end) = find(&raw, b"\r\n\r\n") {
            break end;
        }
    };
    Ok((socket, String::from_utf8_lossy(&raw[..end]).into_owned()))
}
