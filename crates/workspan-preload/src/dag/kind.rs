//! Properties of tasks.

use workspan_wire::shm::Thread;

/// Properties of a task.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kind {
    /// An implicit or initial task: it has no end that somebody waits for.
    pub implicit: bool,
    /// Its creator goes on only after it: it is part of the creator's chain.
    pub inline: bool,
    /// Its site is already active around it.
    pub recursive: bool,
    /// It creates no instance of its own: part of the machinery of the construct around it.
    pub machinery: bool,
    /// It has the untied clause: parts of it may run at the same time as the books on its former part are closed.
    pub untied: bool,
    /// It is final: tasks that it creates are part of its own chain.
    pub final_: bool,
    /// It belongs to a taskloop.
    pub taskloop: bool,
    /// It waits at its team's last barrier.
    pub leaving: bool,
    /// Tasks below it report to whoever waits for them themselves ([`super::gather`]): it passes nothing on.
    pub direct: bool,
    /// Tasks that it creates belong to the construct that it belongs to.
    pub siblings: bool,
    /// It is part of a construct, which is the instance.
    pub part: bool,
}

impl Kind {
    /// Each of its tasks is an instance of its site.
    pub(super) fn is_instance(self) -> bool {
        !self.machinery && !self.implicit && !self.taskloop && !self.part
    }

    /// What it costs more if it is stolen, at its begin and again for who waits for it.
    #[inline(always)]
    pub(super) fn steal(self, thread: &Thread) -> i64 {
        if self.inline || self.machinery {
            0
        } else {
            thread.steal.get()
        }
    }
}
