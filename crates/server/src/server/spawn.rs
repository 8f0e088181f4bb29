//! Third stage of a start: resumes unfinished work, starts the tasks, and accepts requests.

use std::sync::Arc;

use sayso_store::StoreError;
use sayso_store::read::{FindUnfinishedWork, ListOpenGroups, ListOpenRuns};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::files::announce_server;
use super::housekeeping::housekeeping;
use super::wire::Wired;
use super::{Server, StartError};
use crate::runtime::deadlines::{self, Deadlines};
use crate::runtime::notify::Notifier;
use crate::runtime::{Runtime, groups, keeper};
use crate::surfaces::{http, listener, listeners};

/// Starts every task of the server. When this returns, the server answers requests.
pub(super) async fn spawn(wired: Wired) -> Result<Server, StartError> {
    let Wired { app, deadlines, grace, socket, listener_calls, admin_token, data_dir, lock } = wired;
    let (services, runtime) = (&app.services, &app.runtime);
    resume(runtime, &deadlines).await?;
    let mut tasks = JoinSet::new();
    tasks.spawn(Arc::clone(&runtime.connections).run(Arc::clone(runtime)));
    tasks.spawn(deadlines::run(Arc::clone(services), deadlines, grace));
    tasks.spawn(keeper::run(Arc::clone(services), Arc::clone(&runtime.keeper)));
    tasks.spawn(Arc::clone(&runtime.runs).run(Arc::clone(services)));
    tasks.spawn(groups::run(Arc::clone(services), Arc::clone(&runtime.groups), grace));
    tasks.spawn(housekeeping(Arc::clone(&app)));
    let feed = Arc::clone(&runtime.feed);
    tasks.spawn(async move { feed.keep_alive().await });
    let notes = Notifier::run(runtime);
    let (stop, mut stopping) = watch::channel(false);
    let router = http::router(Arc::clone(&app));
    // Clients that reach this server must find its own `server.json`, not the file of its predecessor at the same address.
    announce_server(&data_dir, &services.url)?;
    let listeners = tokio::spawn(listeners::run(listener_calls, router.clone(), app.tls.clone(), stopping.clone()));
    let listener =
        tokio::spawn(listener::serve(socket, router, listener::ListenerLimits::default(), app.tls.clone(), async move {
            // An error means that the server was dropped, which also stops the listener.
            let _ = stopping.wait_for(|stop| *stop).await;
        }));
    Ok(Server { address: app.address, token: admin_token, app, stop, listener, listeners, tasks, notes, data_dir, _lock: lock })
}

/// Resumes the unfinished work of the last process: deadlines, kept asks, connections and runs.
async fn resume(runtime: &Runtime, deadlines: &Deadlines) -> Result<(), StoreError> {
    let services = &runtime.services;
    let unfinished = services.store.read(FindUnfinishedWork { workspace: services.workspace }).await?;
    deadlines.add(unfinished.deadlines);
    for kept in unfinished.kept {
        runtime.keeper.resume(kept, services.clock.now());
    }
    runtime.connections.request_actors(unfinished.connections);
    runtime.groups.resume(services.store.read(ListOpenGroups { workspace: services.workspace }).await?);
    runtime.runs.request_tasks(services.store.read(ListOpenRuns { workspace: services.workspace }).await?);
    Ok(())
}
