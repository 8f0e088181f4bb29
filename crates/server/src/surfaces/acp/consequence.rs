//! Handles session events and replies to calls, and derives the messages to the client.

use sayso_agents::json_rpc::{self, Id};
use sayso_api::ask::{Ask, AskStatus};
use sayso_api::error::ErrorCode;
use sayso_api::event::{Event, FeedEvent, MessageBlock, SessionStatusChange, ToolBlock};
use sayso_api::session::{Session, SessionStatus};
use serde_json::{Value, json};

use super::call::{Refusal, Reply, SessionCall};
use super::conversation::{Conversation, Output, Purpose, To, error, refusal, reply, stopped, update};
use super::session_state::{Activity, HeldRequest, Prompt, SessionState};
use super::updates::{SentUpdates, text_update};

impl Conversation {
    pub(super) fn event(&mut self, session: &str, event: FeedEvent, out: &mut Vec<Output>) {
        let Some(session_state) = self.sessions.get_mut(session) else { return };
        let told = event.seq.is_some_and(|seq| seq <= session_state.told_to);
        match event.event {
            Event::MessageDelta(delta) => update(session, &session_state.sent_updates.piece(delta), out),
            Event::MessageCompleted(message) => {
                if !session_state.record_message(&message.id)
                    && !told
                    && let Some(said) = session_state.sent_updates.message(&message)
                {
                    update(session, &said, out);
                }
            }
            Event::ToolStarted(tool) | Event::ToolUpdated(tool) | Event::ToolCompleted(tool) => {
                update(session, &session_state.sent_updates.tool(&tool), out);
            }
            Event::QuestionRequested(asked) | Event::ApprovalRequested(asked) | Event::LinkRequested(asked) => {
                if !told {
                    self.ask(session, asked.ask, out);
                }
            }
            Event::QuestionResolved(decided) | Event::ApprovalResolved(decided) | Event::LinkResolved(decided) => {
                self.cancel_requests(|pending| pending.ask.id == decided.ask.id, out);
            }
            Event::SessionStatus(changed) | Event::SessionEnded(changed) => self.changed(session, &changed, out),
            Event::Notice(notice) => {
                if !told {
                    update(session, &text_update("agent_thought_chunk", &format!("\n{}\n", notice.text)), out);
                }
            }
            Event::Error(error) => {
                if !told {
                    update(session, &text_update("agent_message_chunk", &format!("\n{}\n", error.text)), out);
                }
            }
            // Clients learn about these in another way, or have no use for them.
            Event::AskParked(_)
            | Event::AskSnoozed(_)
            | Event::AskDelivery(_)
            | Event::SessionCreated(_)
            | Event::PolicyChanged(_)
            | Event::RunStarted(_)
            | Event::RunCompleted(_)
            | Event::RunFailed(_)
            | Event::RunCancelled(_)
            | Event::StepStarted(_)
            | Event::StepCompleted(_)
            | Event::StepFailed(_)
            | Event::StepCancelled(_)
            | Event::AgentQuestionAsked(_)
            | Event::AgentQuestionAnswered(_) => {}
        }
    }

    fn changed(&mut self, session: &str, changed: &SessionStatusChange, out: &mut Vec<Output>) {
        // An event about new settings repeats the earlier status, which must not end the turn of a prompt that was just sent.
        if changed.permission_mode.is_some() || changed.model.is_some() {
            return;
        }
        let activity = Activity::of(changed.status, changed.resumable);
        let Some(session_state) = self.sessions.get_mut(session) else { return };
        let over = session_state.set_activity(activity);
        let cancelled = !over.is_empty() && std::mem::take(&mut session_state.cancelled);
        let held = if activity == Activity::Running { Vec::new() } else { std::mem::take(&mut session_state.held) };
        let reason = changed.reason.as_deref().unwrap_or("the session has ended");
        for id in over {
            match changed.status {
                SessionStatus::Failed => error(&id, session, json_rpc::INTERNAL, reason, out),
                SessionStatus::Ended => stopped(&id, session, "cancelled", out),
                _ => stopped(&id, session, if cancelled { "cancelled" } else { "end_turn" }, out),
            }
        }
        for held in held {
            match (held, activity) {
                (HeldRequest::New(id), Activity::Idle | Activity::Running) => reply_session_created(&id, session, out),
                (HeldRequest::Prompt(id, text), Activity::Idle | Activity::Running) => self.send_prompt(id, session, text, out),
                (HeldRequest::New(id) | HeldRequest::Prompt(id, _), Activity::Over { .. }) => {
                    error(&id, session, json_rpc::INTERNAL, reason, out);
                }
            }
        }
    }

    pub(super) fn done(&mut self, purpose: Purpose, outcome: Result<Reply, Refusal>, out: &mut Vec<Output>) {
        match (purpose, outcome) {
            (Purpose::Create(id), Ok(Reply::Session(session))) => {
                self.call(Purpose::New(id), SessionCall::Look { session: session.id }, out);
            }
            (Purpose::New(id), Ok(Reply::Session(session))) => {
                self.follow(&session, 0, out);
                let Some(session_state) = self.sessions.get_mut(&session.id) else { return };
                match session_state.activity {
                    Activity::Idle => reply_session_created(&id, &session.id, out),
                    // The session is starting. The client gets its reply when the session accepts a prompt or fails.
                    Activity::Running => session_state.held.push(HeldRequest::New(id)),
                    Activity::Over { .. } => {
                        let reason = session.reason.as_deref().unwrap_or("the agent ended");
                        error(&id, &session.id, json_rpc::INTERNAL, reason, out);
                    }
                }
            }
            (Purpose::Load(id), Ok(Reply::Session(session))) => {
                let call = SessionCall::Transcript { session: session.id.clone(), cursor: None };
                self.call(Purpose::Replay { id, session, pending: Vec::new() }, call, out);
            }
            (Purpose::Replay { id, session, mut pending }, Ok(Reply::Transcript(page))) => {
                let mut sent_updates = SentUpdates::default();
                for block in page.data {
                    replay(&session.id, block, &mut sent_updates, &mut pending, out);
                }
                match page.next_cursor {
                    Some(cursor) => {
                        let call = SessionCall::Transcript { session: session.id.clone(), cursor: Some(cursor) };
                        self.call(Purpose::Replay { id, session, pending }, call, out);
                    }
                    None => self.loaded(&id, &session, page.seq, pending, out),
                }
            }
            (Purpose::Resume(id), Ok(Reply::Session(mut session))) => {
                let pending = session.asks.take().unwrap_or_default();
                self.loaded(&id, &session, 0, pending, out);
            }
            (Purpose::List { id, cwd }, Ok(Reply::Sessions(page))) => {
                let wanted = |session: &&Session| !session.external && cwd.as_ref().is_none_or(|cwd| session.cwd == *cwd);
                let shown = |session: &Session| {
                    let Session { id, cwd, title, updated_at, .. } = session;
                    json!({ "sessionId": id, "cwd": cwd, "title": title, "updatedAt": updated_at })
                };
                let mut list = json!({ "sessions": page.data.iter().filter(wanted).map(shown).collect::<Vec<_>>() });
                if let Some(next) = page.next_cursor {
                    list["nextCursor"] = json!(next);
                }
                reply(&id, To::Connection, &list, out);
            }
            (Purpose::Prompt { id, session }, Ok(Reply::Said(accepted))) => match self.sessions.get_mut(&session) {
                Some(session_state) => {
                    session_state.prompts.push(Prompt { id, message: accepted.message_id, seen: false, ran: false });
                }
                None => error(&id, &session, json_rpc::INTERNAL, "the session is no longer visible to this token", out),
            },
            (Purpose::SetMode { id, session }, Ok(_)) => reply(&id, To::Known(session), &json!({}), out),
            (Purpose::Whole(session), Ok(Reply::Ask(ask))) => {
                if ask.status == AskStatus::Pending {
                    self.ask(&session, Ask { truncated: false, ..*ask }, out);
                }
            }
            (Purpose::Decide(pending), Err(refusal)) => match refusal.code {
                // Another person decided first. The session's event will withdraw the request to the client.
                Some(ErrorCode::AskAlreadyResolved | ErrorCode::AskNotFound) => {}
                _ => self.refused(pending, &format!("Invalid answer: {}.", refusal.message), out),
            },
            (Purpose::LookAgain(id), Ok(Reply::Session(mut session))) => {
                let pending = session.asks.take().unwrap_or_default();
                self.cancel_requests(|asked| asked.session == id && !pending.iter().any(|ask| ask.id == asked.ask.id), out);
                for ask in pending {
                    self.ask(&id, ask, out);
                }
                // Asks opened in the gap are no longer pending, so they are not presented.
                if let Some(session_state) = self.sessions.get_mut(&id) {
                    session_state.prompts.iter_mut().for_each(|prompt| (prompt.seen, prompt.ran) = (true, true));
                }
                let Session { status, reason, resumable, .. } = *session;
                self.changed(&id, &SessionStatusChange { status, reason, resumable, permission_mode: None, model: None }, out);
            }
            (Purpose::Create(id) | Purpose::New(id) | Purpose::List { id, .. }, Err(why)) => {
                refusal(&id, To::Connection, &why, out)
            }
            (Purpose::Load(id) | Purpose::Resume(id), Err(why)) => refusal(&id, To::Connection, &why, out),
            (Purpose::Replay { id, session, .. }, Err(why)) => refusal(&id, To::Known(session.id), &why, out),
            (Purpose::Prompt { id, session } | Purpose::SetMode { id, session }, Err(why)) => {
                refusal(&id, To::Known(session), &why, out)
            }
            (Purpose::TakeUp(session), Err(why)) => {
                let Some(session_state) = self.sessions.get_mut(&session) else { return };
                session_state.activity = Activity::Over { resumable: true };
                for held in std::mem::take(&mut session_state.held) {
                    let (HeldRequest::New(id) | HeldRequest::Prompt(id, _)) = held;
                    refusal(&id, To::Known(session.clone()), &why, out);
                }
            }
            (Purpose::LookAgain(session), Err(why)) => self.forget(&session, &why.message, out),
            (Purpose::Whole(_) | Purpose::Interrupt, Err(_)) => {}
            // Nothing else to do. The caller replies to the request of the client.
            (_, Ok(_)) => {}
        }
    }

    /// Handles a session that was loaded.
    fn loaded(&mut self, id: &Id, session: &Session, told_to: i64, pending: Vec<Ask>, out: &mut Vec<Output>) {
        self.follow(session, told_to, out);
        reply(id, To::Known(session.id.clone()), &json!({}), out);
        for ask in pending {
            self.ask(&session.id, ask, out);
        }
    }

    /// Starts forwarding the events of this session to the client, unless it does already.
    fn follow(&mut self, session: &Session, told_to: i64, out: &mut Vec<Output>) {
        if let Some(session_state) = self.sessions.get_mut(&session.id) {
            session_state.told_to = session_state.told_to.max(told_to);
            return;
        }
        let activity = Activity::of(session.status, session.resumable);
        self.sessions.insert(session.id.clone(), SessionState::new(activity, told_to));
        out.push(Output::Follow { session: session.id.clone(), since: session.seq.unwrap_or(0) });
    }
}

/// Replies that a session was created and accepts a prompt.
fn reply_session_created(id: &Id, session: &str, out: &mut Vec<Output>) {
    reply(id, To::Connection, &json!({ "sessionId": session }), out);
}

/// Replays one block of a transcript. Pending asks are presented after all blocks.
fn replay(session: &str, block: Value, sent_updates: &mut SentUpdates, pending: &mut Vec<Ask>, out: &mut Vec<Output>) {
    let kind = block["type"].as_str().unwrap_or_default().to_owned();
    let told = match kind.as_str() {
        "message" => serde_json::from_value(block).ok().and_then(|message: MessageBlock| sent_updates.message(&message)),
        "tool" => serde_json::from_value(block).ok().map(|tool: ToolBlock| sent_updates.tool(&tool)),
        "error" => block["text"].as_str().map(|text| text_update("agent_message_chunk", &format!("\n{text}\n"))),
        "notice" => block["text"].as_str().map(|text| text_update("agent_thought_chunk", &format!("\n{text}\n"))),
        "action" => {
            let ask = block.get("ask").cloned().and_then(|ask| serde_json::from_value::<Ask>(ask).ok());
            pending.extend(ask.filter(|ask| ask.status == AskStatus::Pending));
            None
        }
        // A kind of a later version.
        _ => None,
    };
    if let Some(told) = told {
        update(session, &told, out);
    }
}
