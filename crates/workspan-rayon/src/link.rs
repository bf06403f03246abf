//! What a job knows of its creator: a pointer to the creator's frame, which outlives the job because the creator waits
//! for the job's latch.

use workspan_collect::clock;
use workspan_collect::group::TaskLink;
use workspan_collect::handoff::Handoff;
use workspan_collect::join::JoinFrame;
use workspan_collect::strand;
use workspan_collect::tables::ContextId;
use workspan_collect::task::{self, Suspended};
use workspan_collect::thread;

/// To be called before the clock is read for a task in `context`.
pub fn touch_account(context: ContextId) {
    if let Some(thread) = thread::hot() {
        strand::touch_account(thread, context);
    }
}

/// After a hook that began at tick `now` and takes longer than those whose cost is calibrated, the first time much longer.
pub fn restart(now: u64) {
    if let Some(thread) = thread::hot() {
        clock::restart(thread, now);
    }
}

/// Where a stack job belongs: a pointer whose two lowest bits say to what.
#[derive(Clone, Copy, Debug)]
pub struct Link(usize);

#[derive(Clone, Copy)]
enum Target<'a> {
    None,
    Join(&'a JoinFrame),
    Handoff(&'a Handoff),
    Task(&'a TaskLink),
}

const JOIN: usize = 0;
const HANDOFF: usize = 1;
const TASK: usize = 2;
const TAGS: usize = 3;

// SAFETY: the targets are `Sync`, and outlive the job (module header).
unsafe impl Send for Link {}
// SAFETY: as above.
unsafe impl Sync for Link {}

/// State between [`Link::begin`] and [`Link::end`].
#[derive(Debug)]
pub struct Begun(Option<Suspended>);

impl Link {
    /// Of a job that nobody follows.
    #[inline(always)]
    pub fn none() -> Link {
        Link(0)
    }

    /// Of the right branch of a join.
    #[inline(always)]
    pub fn join(frame: &JoinFrame) -> Link {
        Link(frame as *const JoinFrame as usize | JOIN)
    }

    /// Of a strand handed to a pool.
    pub fn handoff(handoff: &Handoff) -> Link {
        Link(handoff as *const Handoff as usize | HANDOFF)
    }

    /// Of a task of a group.
    pub fn task(task: &TaskLink) -> Link {
        Link(task as *const TaskLink as usize | TASK)
    }

    fn target(&self) -> Target<'_> {
        let address = self.0 & !TAGS;
        match self.0 & TAGS {
            _ if self.0 == 0 => Target::None,
            // SAFETY: the tag says that the address is of a hand-over, which outlives the job (module header).
            HANDOFF => Target::Handoff(unsafe { &*(address as *const Handoff) }),
            // SAFETY: the same of a task link.
            TASK => Target::Task(unsafe { &*(address as *const TaskLink) }),
            // SAFETY: the same of the frame of a join.
            _ => Target::Join(unsafe { &*(address as *const JoinFrame) }),
        }
    }

    /// The job begins, on whichever thread took it.
    pub fn begin(&self) -> Begun {
        Begun(self.try_begin())
    }

    fn try_begin(&self) -> Option<Suspended> {
        let mut suspended = Suspended::default();
        let (origin, handoff) = match self.target() {
            Target::None => return None,
            Target::Join(frame) if frame.active() => (frame.origin(), None),
            Target::Join(_) => return None,
            Target::Handoff(handoff) => (handoff.origin()?, Some(handoff)),
            Target::Task(link) => {
                touch_account(link.context()?);
                let (thread, now) = thread::waking()?;
                return link.begin(thread, now, &mut suspended).then_some(suspended);
            }
        };
        touch_account(origin.context);
        let (thread, now) = thread::waking()?;
        task::begin(thread, now, &origin, &mut suspended);
        if let Some(handoff) = handoff {
            handoff.begun(thread);
        }
        restart(now);
        Some(suspended)
    }

    /// The job has ended, by return or by panic. Call before the latch is set.
    pub fn end(&self, begun: Begun) {
        let running = match &begun.0 {
            Some(suspended) => thread::running().map(|(thread, now)| (thread, now, suspended)),
            None => None,
        };
        match (self.target(), running) {
            (Target::None, _) => {}
            (Target::Join(frame), Some((thread, now, suspended))) => {
                frame.stolen_done(thread, task::end(thread, now, suspended));
            }
            (Target::Join(frame), None) if frame.active() => frame.stolen_lost(),
            (Target::Join(_), None) => {}
            (Target::Handoff(handoff), Some((thread, now, suspended))) => {
                handoff.done(thread, task::end(thread, now, suspended));
            }
            (Target::Handoff(handoff), None) => handoff.lost(),
            (Target::Task(link), Some((thread, now, suspended))) => link.end(thread, now, suspended),
            (Target::Task(link), None) => link.lost(),
        }
    }
}
