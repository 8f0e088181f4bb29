//! The agent's stdin. Inputs are written one at a time, each once and only after the input that it names as its
//! predecessor. The bytes of an input are only kept in memory, until they are written.

use std::io::{self, Write};

use crate::protocol::ToServer;

/// Writes inputs to the agent without blocking. `W` is the non-blocking end of a pipe.
#[derive(Debug)]
pub(crate) struct AgentInput<W> {
    /// `None` after the last input was written.
    stdin: Option<W>,
    /// The id of the last written input.
    last: u64,
    current: Option<CurrentInput>,
    /// The reason why no further input is accepted.
    closed: Option<String>,
}

#[derive(Debug)]
struct CurrentInput {
    id: u64,
    bytes: Vec<u8>,
    written: usize,
}

/// The result of submitting an input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Submitted {
    /// The input is now the current one. Record it in the journal if it requests that, then call [`AgentInput::write`].
    Started,
    /// An earlier attachment submitted the same input and it is still being written. The reply follows at its end.
    UnderWay,
    /// Send this reply.
    Reply(ToServer),
    /// Another input is being written. Submit this input again when that one is finished.
    Wait(Vec<u8>),
    /// The predecessor of this input is not the last written input. The server has to attach again.
    Diverged,
}

impl<W: Write> AgentInput<W> {
    pub(crate) fn new(stdin: W) -> Self {
        Self { stdin: Some(stdin), last: 0, current: None, closed: None }
    }

    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// The pipe, while the agent has not read all bytes of the current input.
    pub(crate) fn waiting_pipe(&self) -> Option<&W> {
        self.current.as_ref().and(self.stdin.as_ref())
    }

    /// Accepts an input. `previous` is the id that the last input must have; servers of version 1 omit it.
    pub(crate) fn submit(&mut self, id: u64, previous: Option<u64>, bytes: Vec<u8>) -> Submitted {
        if id == self.last || (previous.is_none() && id < self.last) {
            return Submitted::Reply(ToServer::Taken { id: self.last });
        }
        match &self.current {
            Some(current) if current.id == id => return Submitted::UnderWay,
            Some(_) if self.closed.is_none() => return Submitted::Wait(bytes),
            Some(_) | None => {}
        }
        if let Some(message) = &self.closed {
            return Submitted::Reply(ToServer::Refused { id, message: message.clone() });
        }
        if previous.is_some_and(|previous| previous != self.last) {
            return Submitted::Diverged;
        }
        self.current = Some(CurrentInput { id, bytes, written: 0 });
        Submitted::Started
    }

    /// Accepts no further input. The current input is still written; then the agent reads the end of its input.
    pub(crate) fn close(&mut self, why: &str) {
        self.closed.get_or_insert_with(|| why.to_owned());
        if self.current.is_none() {
            self.stdin = None;
        }
    }

    /// Writes as much of the current input as the pipe accepts. Returns the reply when the input is finished.
    pub(crate) fn write(&mut self) -> Option<ToServer> {
        let (current, stdin) = (self.current.as_mut()?, self.stdin.as_mut()?);
        while current.written < current.bytes.len() {
            match stdin.write(&current.bytes[current.written..]) {
                Ok(count) => current.written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
                Err(error) => {
                    let message = match error.kind() {
                        io::ErrorKind::BrokenPipe => "the agent closed its input".to_owned(),
                        _ => error.to_string(),
                    };
                    let id = current.id;
                    self.current = None;
                    self.stdin = None;
                    self.closed = Some(message.clone());
                    return Some(ToServer::Refused { id, message });
                }
            }
        }
        self.last = current.id;
        self.current = None;
        if self.closed.is_some() {
            self.stdin = None;
        }
        Some(ToServer::Taken { id: self.last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pipe with a limited capacity.
    #[derive(Debug, Default)]
    struct Pipe {
        written: Vec<u8>,
        room: usize,
        broken: bool,
    }

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.broken {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            if self.room == 0 {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let count = bytes.len().min(self.room);
            self.room -= count;
            self.written.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn input(room: usize) -> AgentInput<Pipe> {
        AgentInput::new(Pipe { room, ..Pipe::default() })
    }

    fn submit(inputs: &mut AgentInput<Pipe>, id: u64, bytes: &[u8]) -> Submitted {
        inputs.submit(id, None, bytes.to_vec())
    }

    fn taken(id: u64) -> Submitted {
        Submitted::Reply(ToServer::Taken { id })
    }

    #[test]
    fn input_is_written_once() {
        let mut inputs = input(3);
        assert_eq!(submit(&mut inputs, 5, b"five"), Submitted::Started);
        assert_eq!((inputs.write(), submit(&mut inputs, 5, b"five"), inputs.last()), (None, Submitted::UnderWay, 0));
        assert_eq!(submit(&mut inputs, 6, b"six"), Submitted::Wait(b"six".to_vec()));
        inputs.stdin.as_mut().unwrap().room = 100;
        assert_eq!(inputs.write(), Some(ToServer::Taken { id: 5 }));
        assert_eq!((submit(&mut inputs, 5, b"five"), submit(&mut inputs, 3, b"three")), (taken(5), taken(5)));
        assert_eq!(submit(&mut inputs, 6, b"six"), Submitted::Started);
        assert_eq!(inputs.write(), Some(ToServer::Taken { id: 6 }));
        assert_eq!(inputs.stdin.unwrap().written, b"fivesix");
    }

    #[test]
    fn input_that_does_not_name_the_last_one_is_not_written() {
        let mut inputs = input(100);
        let chained = |inputs: &mut AgentInput<Pipe>, id, previous| inputs.submit(id, Some(previous), b"line".to_vec());
        assert_eq!(chained(&mut inputs, 5, 4), Submitted::Diverged);
        assert_eq!(chained(&mut inputs, 5, 0), Submitted::Started);
        assert_eq!(inputs.write(), Some(ToServer::Taken { id: 5 }));
        assert_eq!(chained(&mut inputs, 5, 0), taken(5));
        // A server of version 1 gets the reply that input 3 was taken.
        assert_eq!((chained(&mut inputs, 3, 2), chained(&mut inputs, 9, 6)), (Submitted::Diverged, Submitted::Diverged));
        assert_eq!((chained(&mut inputs, 9, 5), inputs.last()), (Submitted::Started, 5));
    }

    #[test]
    fn current_input_is_written_before_the_pipe_is_closed() {
        let mut inputs = input(1);
        submit(&mut inputs, 1, b"one");
        assert_eq!(inputs.write(), None);
        inputs.close("the agent is being stopped");
        assert!(inputs.waiting_pipe().is_some());
        let message = "the agent is being stopped".to_owned();
        assert_eq!(submit(&mut inputs, 2, b"two"), Submitted::Reply(ToServer::Refused { id: 2, message }));
        inputs.stdin.as_mut().unwrap().room = 100;
        assert_eq!(inputs.write(), Some(ToServer::Taken { id: 1 }));
        assert!(inputs.stdin.is_none());
        assert_eq!(submit(&mut inputs, 1, b"one"), taken(1));
    }

    #[test]
    fn broken_pipe_refuses_every_later_input() {
        let mut inputs = AgentInput::new(Pipe { broken: true, ..Pipe::default() });
        submit(&mut inputs, 1, b"one");
        let refused = |id| ToServer::Refused { id, message: "the agent closed its input".to_owned() };
        assert_eq!(inputs.write(), Some(refused(1)));
        for id in [1, 2, 1] {
            assert_eq!(submit(&mut inputs, id, b"again"), Submitted::Reply(refused(id)));
        }
    }
}
