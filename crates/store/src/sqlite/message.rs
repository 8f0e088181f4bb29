//! A message that a person types: it answers the one open question, or it is a prompt.

use std::sync::Arc;

use sayso_core::ask::{AskState, Decision, MessageTarget, PendingAsk, Reach, target_of};

use super::tx::{Earlier, Tx};
use super::{ask_row, resolve, sessions};
use crate::error::StoreError;
use crate::event::EventKind;
use crate::write::{MessageSent, Operation, SendMessage};

impl Operation for SendMessage {
    type Output = MessageSent;

    fn apply(self, tx: &mut Tx<'_>) -> Result<MessageSent, StoreError> {
        let found = sessions::get(tx.db(), self.workspace, self.session)?;
        let Some(session) = found.filter(|session| sessions::visible(session, &self.scope)) else {
            return Ok(MessageSent::NotFound);
        };
        match tx.earlier(self.key.as_ref())? {
            Earlier::Fresh => {}
            Earlier::Other => return Ok(MessageSent::KeyReused),
            // The first call's effect: its message, and the ask it answered if it did.
            Earlier::Same(target) => return again(tx, &self, &target),
        }
        if session.external.is_some() {
            return Ok(MessageSent::External);
        }
        if session.status.is_ended() {
            return Ok(MessageSent::Ended);
        }
        // What is parked has no agent that waits for it: it stands in nobody's way.
        let mut pending = ask_row::pending_of(tx.db(), self.session)?;
        pending.retain(|ask| ask.state == AskState::Pending(Reach::Live));
        let shapes: Vec<PendingAsk> = pending.iter().map(|ask| PendingAsk::of(ask, self.typed)).collect();
        match target_of(&shapes) {
            MessageTarget::Prompt => {}
            MessageTarget::Answers(id, shape) => {
                let Some(at) = pending.iter().position(|ask| ask.id == id) else { return Ok(MessageSent::NotFound) };
                let ask = Arc::new(pending.swap_remove(at));
                let answers = shape.answers(&self.text, ask.body.questions().len());
                let decision = Decision::Answered { answers, note: None };
                if let Ok(ask) = resolve::decide(tx, self.workspace, ask, decision, self.by.clone(), self.block.at)? {
                    sessions::put_block(tx, self.workspace, self.session, &self.block, EventKind::MessageCompleted)?;
                    tx.remember(self.key.as_ref(), &format!("{} {}", self.block.id, ask.id), self.now)?;
                    return Ok(MessageSent::Answered(self.block.id, Box::new(Arc::unwrap_or_clone(ask))));
                }
                // The text does not fit these questions: then it does not answer them.
                if !self.queue {
                    return Ok(MessageSent::Pending(vec![id]));
                }
            }
            MessageTarget::Pending(ids) if !self.queue => return Ok(MessageSent::Pending(ids)),
            MessageTarget::Pending(_) => {}
        }
        sessions::put_block(tx, self.workspace, self.session, &self.block, EventKind::MessageCompleted)?;
        tx.send_command(session.connection, self.session, self.command)?;
        tx.remember(self.key.as_ref(), &self.block.id.to_string(), self.now)?;
        Ok(MessageSent::Prompt(self.block.id))
    }
}

fn again(tx: &Tx<'_>, call: &SendMessage, target: &str) -> Result<MessageSent, StoreError> {
    let mut ids = target.split(' ');
    let block = ids.next().and_then(|id| id.parse().ok()).unwrap_or(call.block.id);
    let answered = ids.next().and_then(|id| id.parse().ok());
    let ask = answered.map(|id| ask_row::get(tx.db(), call.workspace, id)).transpose()?.flatten();
    Ok(ask.map_or(MessageSent::Prompt(block), |ask| MessageSent::Answered(block, Box::new(ask))))
}
