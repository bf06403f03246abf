//! What a task has run of a pipeline: tasks that libtbb goes on with depend on that, or do not.

use crate::dag::frame::Frame;

/// In a task's word ([`Frame::word`]), and no address: it has run a stage of a pipeline, and not the last.
const HAS_RUN: u64 = 1;
/// It has run the last stage.
const HAS_RUN_LAST: u64 = 2;

/// True if `task` has run stages of a pipeline. The tasks that it spawns go on with other items then, or enter them: what they depend on is
/// the order of the stages, and not what this one has done before.
pub fn has_run(task: &Frame) -> bool {
    matches!(task.word(), HAS_RUN | HAS_RUN_LAST)
}

/// True if what `task` returns to run next is another item.
pub fn has_run_last(task: &Frame) -> bool {
    task.word() == HAS_RUN_LAST
}

/// `task` has run a stage, the last or another one.
pub fn ran(task: &Frame, last: bool) {
    task.set_word(if last { HAS_RUN_LAST } else { HAS_RUN });
}
