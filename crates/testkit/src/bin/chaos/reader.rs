//! A reader of the whole feed from its start, across all kills of the server.

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

/// The contents of the feed.
#[derive(Debug, Default)]
pub(crate) struct FeedContents {
    /// The last position.
    pub(crate) seq: i64,
    pub(crate) events: u64,
    /// Skipped positions and resets, which both mean that an event was lost.
    pub(crate) gaps: u64,
    /// Positions that occurred twice.
    pub(crate) doubled: u64,
    /// A hash of the event at each position: a second reading of the feed must return the same events.
    pub(crate) said: BTreeMap<i64, u64>,
    /// Per ask: the number of requested, resolved, delivered and undeliverable events.
    pub(crate) asks: BTreeMap<String, ChaosEvents>,
}

/// Event counts of one ask.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct ChaosEvents {
    pub(crate) requested: u32,
    pub(crate) resolved: u32,
    pub(crate) delivered: u32,
    pub(crate) undeliverable: u32,
}

#[derive(Debug)]
pub(crate) struct FeedReader {
    /// The position that the reader must reach before it stops; -1 while it is unknown.
    pub(crate) until: watch::Sender<i64>,
    pub(crate) task: JoinHandle<Result<FeedContents>>,
}

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
