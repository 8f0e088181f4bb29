//! Measures notifications: their delay, their memory, and the cost of an unresponsive receiver.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use sayso_api::ask::Ask;
use sayso_testkit::receivers::{ReceivedCall, Receiver};
use sayso_testkit::{ServerProcess, write_config};
use tempfile::TempDir;

use crate::http::BenchHttp;
use crate::report::Bound::AtMost;
use crate::report::{Measurement, Report};
use crate::round_trip::target;
use crate::{MIB, Size, directory, many_pending, memory, meter};

const SECRET: (&str, &str) = ("HOOK", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
/// The number of channels.
const CHANNELS: usize = 3;
/// The delay of notifications in the first measurement, in milliseconds.
const AFTER: u64 = 200;

pub(crate) async fn measure(report: &mut Report, size: Size) -> Result<()> {
    late(report, size).await?;
    measure_pending_memory(report, size).await?;
    dead(report, size).await
}

/// Starts a server with this many webhooks at one address.
async fn start(channels: usize, url: &str, after: &str) -> Result<(TempDir, ServerProcess)> {
    let dir = directory()?;
    let channel = |number: usize| {
        format!(
            "[[notify]]\nname = \"n{number}\"\nkind = \"webhook\"\nurl = \"{url}\"\nsecret_env = \"HOOK\"\nallow_private = true\nafter = \"{after}\"\n"
        )
    };
    write_config(dir.path(), &(0..channels).map(channel).collect::<String>())?;
    let server = ServerProcess::with_env(dir.path(), &[SECRET]).await?;
    Ok((dir, server))
}

/// Measures the milliseconds from the end of the delay until each channel receives the call.
async fn late(report: &mut Report, size: Size) -> Result<()> {
    let receiver = Receiver::with_status(200).await?;
    let (_dir, mut server) = start(CHANNELS, receiver.url(), &format!("{AFTER}ms")).await?;
    let mut http = BenchHttp::connect(&target(&server)).await?;
    let asks = size.answers.min(100);
    let body = r#"{"questions":[{"text":"Which?","input":"text"}]}"#;
    let mut due = std::collections::HashMap::new();
    for _ in 0..asks {
        let ask: Ask = serde_json::from_slice(http.post("/v1/asks", body).await?)?;
        let opened = u64::try_from(ask.opened_at.as_millis())?;
        due.insert(ask.id, opened + AFTER);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let calls = receiver.calls(asks * CHANNELS).await?;
    let mut over = Vec::with_capacity(calls.len());
    for call in &calls {
        let event = call.json();
        let due = due.get(event["data"]["askId"].as_str().unwrap_or_default()).context("a note of no ask")?;
        over.push(u32::try_from(arrival_millis(call)?.saturating_sub(*due))?);
    }
    server.terminate().await?;
    let line = Measurement::new("notify_late").figure("asks", asks as f64).figure("channels", CHANNELS as f64);
    let line = line.figure("p50_ms", meter::percentile(&mut over, 0.5)).figure("most_ms", meter::percentile(&mut over, 1.0));
    report.add(line.target("p99_ms", meter::percentile(&mut over, 0.99), AtMost(50.0)))
}

/// Returns when a call arrived, in milliseconds since 1970.
fn arrival_millis(call: &ReceivedCall) -> Result<u64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    Ok(u64::try_from((now - call.at.elapsed()).as_millis())?)
}

/// Measures the additional memory of pending asks whose notifications wait for their time.
async fn measure_pending_memory(report: &mut Report, size: Size) -> Result<()> {
    let mut added = Vec::new();
    for channels in [0, CHANNELS] {
        let (_dir, mut server) = start(channels, "http://127.0.0.1:9", "1h").await?;
        let before = memory::settled(&server).await?;
        many_pending::open(&server, size.many).await?;
        let after = memory::settled(&server).await?;
        server.terminate().await?;
        added.push((after as f64 - before as f64) / MIB);
    }
    let [without, with] = added[..] else { anyhow::bail!("two measurements") };
    let line = Measurement::new("notify_held").figure("pending", size.many as f64).figure("channels", CHANNELS as f64);
    report.add(line.figure("without_mib", without).figure("with_mib", with).target("added_mib", with - without, AtMost(20.0)))
}

/// Measures the time of an answer while the receiver never replies, compared with no receiver.
async fn dead(report: &mut Report, size: Size) -> Result<()> {
    let silent = Receiver::start(|_| std::future::pending()).await?;
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        for (channels, times) in [(0, &mut without), (CHANNELS, &mut with)] {
            let (_dir, mut server) = start(channels, silent.url(), "0s").await?;
            let ids = many_pending::open(&server, size.answers).await?;
            let mut answers = many_pending::answer(&server, &ids, size.answers).await?;
            times.push(meter::percentile(&mut answers, 0.5) / 1e3);
            server.terminate().await?;
        }
    }
    let (with, without) = (meter::median(&with), meter::median(&without));
    let line = Measurement::new("notify_dead").figure("answers", size.answers as f64).figure("answer_p50_ms", with);
    report.add(line.figure("without_p50_ms", without).target("ratio", with / without, AtMost(1.25)))
}
