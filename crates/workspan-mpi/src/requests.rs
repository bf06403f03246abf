//! What a request stands for until it is complete.

use workspan_trace::control::Kind;
use workspan_trace::mpi::{Deed, Message};

use crate::communicators::{Communicator, Roles};
use crate::memory::{note, Bytes, Mode, Shape};
use crate::sink;
use crate::status::Status;
use crate::table::Table;

/// What a request does.
#[derive(Clone, Copy, Debug)]
pub enum What {
    /// Sends a message.
    Send {
        /// To which rank of the world.
        peer: u32,
        /// Its tag.
        tag: i32,
        /// Its data.
        data: Bytes,
    },
    /// Receives one.
    Receive {
        /// Where it goes.
        address: u64,
    },
    /// Takes part in a collective call.
    Collective {
        /// Which one.
        sequence: u64,
        /// What this rank does in it.
        roles: Roles,
        /// What comes of it.
        data: Bytes,
    },
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// What it does.
    pub what: What,
    /// The communicator.
    pub around: &'static Communicator,
    /// When it was posted.
    pub ticket: u64,
    /// It stays when it is complete, and may be started again.
    pub persistent: bool,
    /// It was started and is not complete.
    pub active: bool,
    /// A call that waits for several has found it: another of the same handle is the next one.
    pub claimed: bool,
}

const MOST: usize = 1 << 15;
/// All requests.
pub static REQUESTS: Table<Request, MOST> = Table::new();

/// Where a request is.
pub fn find(handle: usize) -> Option<usize> {
    let order = |request: &Request| if request.claimed { u64::MAX } else { request.ticket };
    REQUESTS.find(handle, order).filter(|place| !REQUESTS.get(*place).claimed)
}

/// Takes a request in. Of those that do not fit only the completion is lost.
pub fn add(handle: usize, request: Request) {
    REQUESTS.insert(handle, request);
}

/// A request of a communicator, posted now.
pub fn posted(what: What, around: &'static Communicator, ticket: u64) -> Request {
    Request { what, around, ticket, persistent: false, active: true, claimed: false }
}

/// Notes what was done with a message.
pub fn message(deed: Deed, times: (u64, u64), (peer, tag): (u32, i32), around: &Communicator, ticket: u64) {
    let (before, after) = times;
    let communicator = around.number;
    let message = Message { before, after, deed, peer, tag: tag.cast_unsigned(), communicator, ticket };
    sink::event(Kind::Message, message.slots());
}

/// Notes that a message was received. Nothing if there was none.
pub fn received(status: Status, times: (u64, u64), around: &Communicator, ticket: u64, (address, shape): (u64, Shape)) {
    if status.source < 0 || status.cancelled {
        return;
    }
    message(Deed::Receive, times, (around.world(status.source), status.tag), around, ticket);
    note(Bytes { address: address.wrapping_add_signed(shape.first), count: status.bytes }, Mode::Write);
}

impl Request {
    /// It is complete.
    pub fn complete(&self, status: Status, times: (u64, u64)) {
        match self.what {
            What::Send { peer, tag, .. } => message(Deed::Sent, times, (peer, tag), self.around, self.ticket),
            What::Receive { address } => {
                received(status, times, self.around, self.ticket, (address, Shape::default()));
            }
            What::Collective { sequence, roles, data } => {
                // Its arrival was noted when it was posted.
                let roles = Roles { arrives: false, ..roles };
                self.around.collective(times, sequence, roles);
                note(data, Mode::Write);
            }
        }
    }

    /// It begins: what it sends is read and sent.
    pub fn begin(&self, times: (u64, u64)) {
        if let What::Send { peer, tag, data } = self.what {
            note(data, Mode::Read);
            message(Deed::Send, times, (peer, tag), self.around, self.ticket);
        }
    }
}
