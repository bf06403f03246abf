//! Absolute spans under assumptions, which go beside the one that was: by the same rules, but for what is assumed.
//!
//! * **uniform**: each iteration of a worksharing loop costs the same, and could run by itself ([`super::pieces`]).
//! * **burdened**: all is stolen that can be, and that costs something: where a task or team begins, and for who waits for it.

use core::sync::atomic::{AtomicI64, Ordering};

use workspan_collect::strand;
use workspan_wire::shm::{Latest, Thread};

use super::solo::raise;

/// Absolute spans under assumptions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AltSpans {
    /// With uniform loops.
    pub uniform: i64,
    /// With steals.
    pub burdened: i64,
}

impl AltSpans {
    /// Before anything that has ended.
    pub const NEVER: AltSpans = AltSpans { uniform: i64::MIN, burdened: i64::MIN };

    /// Those of `thread` at the last stop.
    #[inline(always)]
    pub fn of(thread: &Thread) -> AltSpans {
        AltSpans {
            uniform: thread.task.work.get() + thread.task.offsets.uniform.get(),
            burdened: strand::burdened(thread),
        }
    }

    /// `thread` continues with them.
    #[inline(always)]
    pub fn set(self, thread: &Thread) {
        thread.task.offsets.uniform.set(self.uniform - thread.task.work.get());
        strand::set_burdened(thread, self.burdened);
    }

    /// `thread`, whose strand is stopped, continues after them.
    #[inline(always)]
    pub fn join(self, thread: &Thread) {
        let now = AltSpans::of(thread);
        if self.uniform > now.uniform || self.burdened > now.burdened {
            now.max(self).set(thread);
        }
    }

    /// The later of both, each by itself.
    #[inline(always)]
    pub fn max(self, other: AltSpans) -> AltSpans {
        AltSpans { uniform: self.uniform.max(other.uniform), burdened: self.burdened.max(other.burdened) }
    }

    /// Both, `ticks` before.
    pub fn earlier(self, ticks: i64) -> AltSpans {
        AltSpans { uniform: self.uniform - ticks, burdened: self.burdened - ticks }
    }

    /// After something was stolen, or its end was reported to who waits, which costs `steal`.
    #[inline(always)]
    pub fn burdened_by(self, steal: i64) -> AltSpans {
        AltSpans { burdened: self.burdened + steal, ..self }
    }

    /// Before what that costs.
    #[inline(always)]
    pub fn relieved_of(self, steal: i64) -> AltSpans {
        AltSpans { burdened: self.burdened.saturating_sub(steal), ..self }
    }

    /// How much they are beyond `other`.
    pub fn beyond(self, other: AltSpans) -> AltSpans {
        AltSpans { uniform: self.uniform - other.uniform, burdened: self.burdened - other.burdened }
    }

    /// What `latest` has.
    #[inline(always)]
    pub fn seen(latest: &Latest) -> AltSpans {
        AltSpans { uniform: latest.uniform.load(Ordering::Acquire), burdened: latest.burdened.load(Ordering::Acquire) }
    }

    /// `latest` is no earlier.
    #[inline(always)]
    pub fn raise(self, latest: &Latest) {
        self.raise_both(&latest.uniform, &latest.burdened);
    }

    /// The same of two numbers.
    #[inline(always)]
    pub fn raise_both(self, uniform: &AtomicI64, burdened: &AtomicI64) {
        raise(uniform, self.uniform);
        raise(burdened, self.burdened);
    }
}
