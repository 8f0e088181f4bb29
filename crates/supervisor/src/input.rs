//! What is written to the agent: each input once, one at a time, in the order of its ids. It is in
//! memory until it is written, and nowhere else.

use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::hub::Hub;
use crate::protocol::ToServer;

/// How often one who waits for the input before looks whether it is still worth it.
const LOOK: Duration = Duration::from_millis(200);

/// The input under way, and what is known of those before it.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    state: Mutex<InputState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct InputState {
    /// The last input that was written. It lives as long as we do, and that is as long as the agent.
    last: u64,
    /// The id of the input that is being written, or is about to be.
    under_way: Option<u64>,
    /// Its bytes, until the writer takes them.
    bytes: Option<Vec<u8>>,
    /// Why nothing can be written any more.
    closed: Option<String>,
}

/// What became of an input that the server sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Submitted {
    /// The reply comes when it is written. It may be under way since an earlier attachment.
    UnderWay,
    /// To be replied now.
    Reply(ToServer),
    /// The server has gone while it waited for the input before.
    Abandoned,
}

impl Inputs {
    /// No code that holds the lock can panic half-way through a change, so a poisoned one is as good.
    fn state(&self) -> MutexGuard<'_, InputState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn last(&self) -> u64 {
        self.state().last
    }

    /// Hands an input to the writer. If another one is under way it waits for that one, as long as
    /// `is_wanted`.
    pub(crate) fn submit(&self, id: u64, bytes: Vec<u8>, is_wanted: impl Fn() -> bool) -> Submitted {
        let mut state = self.state();
        loop {
            if id <= state.last {
                return Submitted::Reply(ToServer::Taken { id: state.last });
            }
            if state.under_way == Some(id) {
                return Submitted::UnderWay;
            }
            if let Some(message) = &state.closed {
                return Submitted::Reply(ToServer::Refused { id, message: message.clone() });
            }
            if state.under_way.is_none() {
                state.under_way = Some(id);
                state.bytes = Some(bytes);
                self.changed.notify_all();
                return Submitted::UnderWay;
            }
            state = self.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            if !is_wanted() {
                return Submitted::Abandoned;
            }
        }
    }

    /// Nothing more is taken. What is under way is still written; then the agent reads the end.
    pub(crate) fn close(&self, why: &str) {
        self.state().closed.get_or_insert_with(|| why.to_owned());
        self.changed.notify_all();
    }

    /// The next input to write. `None`: closed.
    fn next(&self) -> Option<(u64, Vec<u8>)> {
        let mut state = self.state();
        loop {
            if let (Some(id), Some(bytes)) = (state.under_way, state.bytes.take()) {
                return Some((id, bytes));
            }
            if state.closed.is_some() {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn finish(&self, id: u64, written: Result<(), &str>) {
        let mut state = self.state();
        state.under_way = None;
        match written {
            Ok(()) => state.last = id,
            Err(why) => state.closed = Some(why.to_owned()),
        }
        self.changed.notify_all();
    }
}

/// Writes inputs until there are no more, and closes the agent's input at the end.
pub(crate) fn write_all(inputs: &Inputs, hub: &Hub, mut stdin: impl Write) {
    while let Some((id, bytes)) = inputs.next() {
        let written = stdin.write_all(&bytes);
        // It may be large, and nobody needs it any more.
        drop(bytes);
        match written {
            Ok(()) => {
                inputs.finish(id, Ok(()));
                hub.reply(&ToServer::Taken { id });
            }
            Err(error) => {
                let message = match error.kind() {
                    io::ErrorKind::BrokenPipe => "the agent closed its input".to_owned(),
                    _ => error.to_string(),
                };
                inputs.finish(id, Err(&message));
                hub.reply(&ToServer::Refused { id, message });
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn submit(inputs: &Inputs, id: u64, bytes: &[u8]) -> Submitted {
        inputs.submit(id, bytes.to_vec(), || false)
    }

    fn taken(id: u64) -> Submitted {
        Submitted::Reply(ToServer::Taken { id })
    }

    #[test]
    fn an_input_is_taken_once() {
        let inputs = Inputs::default();
        assert_eq!(submit(&inputs, 5, b"five"), Submitted::UnderWay);
        assert_eq!(submit(&inputs, 5, b"five"), Submitted::UnderWay);
        assert_eq!(inputs.next(), Some((5, b"five".to_vec())));
        // Still under way: not taken, and not taken twice either.
        assert_eq!((submit(&inputs, 5, b"five"), inputs.last()), (Submitted::UnderWay, 0));
        assert_eq!(submit(&inputs, 6, b"six"), Submitted::Abandoned);
        inputs.finish(5, Ok(()));
        assert_eq!((submit(&inputs, 5, b"five"), submit(&inputs, 3, b"three")), (taken(5), taken(5)));
        assert_eq!(submit(&inputs, 6, b"six"), Submitted::UnderWay);
    }

    #[test]
    fn one_who_waits_gets_its_turn() {
        let inputs = Inputs::default();
        submit(&inputs, 1, b"one");
        assert!(inputs.next().is_some());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| inputs.submit(2, b"two".to_vec(), || true));
            inputs.finish(1, Ok(()));
            assert_eq!(waiting.join().unwrap(), Submitted::UnderWay);
        });
        assert_eq!(inputs.next(), Some((2, b"two".to_vec())));
    }

    #[test]
    fn what_was_accepted_is_written_before_the_end() {
        let inputs = Inputs::default();
        submit(&inputs, 1, b"one");
        inputs.close("the agent is being stopped");
        let mut written = Vec::new();
        write_all(&inputs, &Hub::new(PathBuf::new()), &mut written);
        assert_eq!((written.as_slice(), inputs.last()), (&b"one"[..], 1));
        let message = "the agent is being stopped".to_owned();
        assert_eq!(submit(&inputs, 2, b"two"), Submitted::Reply(ToServer::Refused { id: 2, message }));
        assert_eq!(submit(&inputs, 1, b"one"), taken(1));
    }

    #[test]
    fn a_closed_pipe_refuses_for_ever() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let inputs = Inputs::default();
        submit(&inputs, 1, b"one");
        write_all(&inputs, &Hub::new(PathBuf::new()), writer);
        for id in [1, 2, 1] {
            let message = "the agent closed its input".to_owned();
            assert_eq!(submit(&inputs, id, b"again"), Submitted::Reply(ToServer::Refused { id, message }));
        }
    }
}
