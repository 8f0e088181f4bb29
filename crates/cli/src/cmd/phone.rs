//! `sayso phone`: signs a phone in. Opens the server to the local network first if it has no public address.

use sayso_client::Client;
use sayso_client::api::listener::{ListenerList, NewListener};
use sayso_client::api::token::{NewLoginCode, Role};

use crate::app::App;
use crate::args::PhoneArgs;
use crate::autostart;
use crate::failure::Failure;
use crate::qr;
use crate::terminal;
use crate::words;

/// Warning about plain http.
const PLAIN: &str = "Over plain http there are no notifications, the app can't be installed, and others on the network can read the traffic. See docs/phone.md";

/// Shows a sign-in code for a phone, or closes the server to the network.
pub(crate) async fn run(app: &App, args: &PhoneArgs) -> Result<(), Failure> {
    app.person_only()?;
    if args.close {
        return close(app).await;
    }
    let client = autostart::client(app).await?;
    let reached = client.listeners().await?;
    let address = match &reached.public_url {
        Some(url) if args.address.is_none() => url.clone(),
        Some(_) | None => open(app, &client, &reached, args).await?,
    };
    let code = client.login_code_for(&NewLoginCode { role: Some(Role::Answerer) }).await?;
    let url = format!("{address}/#code={}", code.code);
    let secure = address.starts_with("https://");
    let value = serde_json::json!({ "url": url, "address": address, "secure": secure, "expiresAt": code.expires_at });
    app.out.result(&value, || {
        let drawn = qr::draw(&url, &app.out.look).unwrap_or_else(|| "The terminal is too narrow for a QR code.".to_owned());
        let until = words::at(code.expires_at, sayso_client::now());
        let mut lines = vec![
            drawn,
            url.clone(),
            format!("This code signs one phone in, until {until}. The phone can answer asks, but not change settings."),
        ];
        if !secure {
            lines.push(PLAIN.to_owned());
        }
        lines.push("To sign the phone out: sayso token list, then sayso token revoke ID.".to_owned());
        if reached.public_url.as_ref() != Some(&address) {
            lines.push("To close the server to the network: sayso phone --close".to_owned());
        }
        lines.join("\n")
    })
}

/// Opens the server to the network after the person has confirmed.
async fn open(app: &App, client: &Client, reached: &ListenerList, args: &PhoneArgs) -> Result<String, Failure> {
    let wanted = args.address.clone().or_else(|| reached.suggested.clone());
    let Some(wanted) = wanted else {
        return Err(Failure::new("No network address of this machine was found.")
            .then("Pass the address: sayso phone --address 192.168.1.7"));
    };
    let is_open = reached.data.iter().any(|listener| listener.address == wanted);
    if !is_open && !args.yes {
        let how = if reached.certificate.is_some() {
            "with your certificate"
        } else {
            "over plain http, which others on that network can read"
        };
        let question = format!("This opens Sayso to the network at {wanted}, {how}.\nOpen it? [y/n]: ");
        if app.out.json || !terminal::confirm(&question, |question| app.out.write(question)) {
            return Err(Failure::new("Nothing was opened.").then("To open it without this question: sayso phone --yes"));
        }
    }
    Ok(client.open_listener(&NewListener { address: Some(wanted) }).await?.url)
}

/// Closes all addresses that were opened to the network.
async fn close(app: &App) -> Result<(), Failure> {
    let client = app.client()?;
    let opened = client.listeners().await?.data.into_iter().filter(|listener| !listener.main);
    let closed: Vec<String> = opened.map(|listener| listener.address).collect();
    for address in &closed {
        client.close_listener(address).await?;
    }
    app.out.result(&serde_json::json!({ "closed": closed }), || match closed.as_slice() {
        [] => "The server is not open to the network.".to_owned(),
        some => format!("Closed: {}", some.join(", ")),
    })
}
