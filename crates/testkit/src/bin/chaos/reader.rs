//! One reader of the whole feed, from its beginning, through every death of the server.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use anyhow::Result;
use sayso_api::ask::Delivery;
use sayso_api::event::Event;
use sayso_client::{Client, StreamItem};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::journal::ChaosJournal;

/// What the feed said.
#[derive(Debug, Default)]
pub(crate) struct FeedContents {
    /// The last place.
    pub(crate) seq: i64,
    pub(crate) events: u64,
    /// Places that were left out, and resets, which say that something the reader saw is gone.
    pub(crate) gaps: u64,
    /// Places that came twice.
    pub(crate) doubled: u64,
    /// What each place said, as a hash: the feed must say the same when it is read again.
    pub(crate) said: BTreeMap<i64, u64>,
    /// Per ask: how often it was said to be requested, resolved, delivered, undeliverable.
    pub(crate) asks: BTreeMap<String, ChaosEvents>,
}

/// How often something was said of an ask.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct ChaosEvents {
    pub(crate) requested: u32,
    pub(crate) resolved: u32,
    pub(crate) delivered: u32,
    pub(crate) undeliverable: u32,
}

/// A reader at work.
#[derive(Debug)]
pub(crate) struct FeedReader {
    /// How far it must come before it may stop; -1 while nobody knows.
    pub(crate) until: watch::Sender<i64>,
    pub(crate) task: JoinHandle<Result<FeedContents>>,
}

/// Begins to read.
pub(crate) async fn read(client: Client, journal: Arc<ChaosJournal>) -> FeedReader {
    let (until, mut end) = watch::channel(-1_i64);
    let task = tokio::spawn(async move {
        let mut read = FeedContents::default();
        let mut stream = client.events(Some(0));
        loop {
            let wanted = *end.borrow_and_update();
            if wanted >= 0 && read.seq >= wanted {
                return Ok(read);
            }
            let item = tokio::select! {
                item = stream.next() => item?,
                changed = end.changed() => match changed {
                    Ok(()) => continue,
                    Err(_) => return Ok(read),
                },
            };
            match item {
                StreamItem::Event(event) => {
                    let Some(seq) = event.seq else { continue };
                    read.events += 1;
                    match seq - read.seq {
                        1 => {}
                        ..=0 => read.doubled += 1,
                        more => read.gaps += more.unsigned_abs() - 1,
                    }
                    read.seq = read.seq.max(seq);
                    let mut hash = DefaultHasher::new();
                    (event.name(), &event.session_id, event.event.data_json()).hash(&mut hash);
                    read.said.insert(seq, hash.finish());
                    note(&mut read, &journal, &event.event);
                }
                StreamItem::Reset { seq } => {
                    read.gaps += 1;
                    journal.write().problem(format!("the stream was reset at {} to {seq}", read.seq));
                    read.seq = seq;
                }
                StreamItem::Reconnecting { .. } | StreamItem::Reconnected => {}
            }
        }
    });
    FeedReader { until, task }
}

fn note(read: &mut FeedContents, journal: &ChaosJournal, event: &Event) {
    if let Event::QuestionRequested(requested) = event {
        read.asks.entry(requested.ask.id.clone()).or_default().requested += 1;
        journal.write().seen.insert(requested.ask.id.clone());
    } else if let Event::QuestionResolved(resolved) = event {
        read.asks.entry(resolved.ask.id.clone()).or_default().resolved += 1;
    } else if let Event::AskDelivery(delivery) = event {
        let told = read.asks.entry(delivery.id.clone()).or_default();
        match delivery.delivery {
            Delivery::Undeliverable | Delivery::Withheld => told.undeliverable += 1,
            Delivery::Queued | Delivery::Delivered | Delivery::Confirmed => told.delivered += 1,
        }
    }
}
