//! Who accesses, and when, in one number; and whether that comes before what others do.

use crate::order::Order;

/// Answers that are kept.
const ANSWERS: usize = 1 << 13;

/// Who accessed, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) context: u32,
    /// Context of the thread.
    pub(super) thread: u32,
    pub(super) moment: u32,
    /// How often the context has learnt of others. What it does with one stamp has the same before it.
    pub(super) changes: u32,
    /// Marks of stacks at the time.
    pub(super) marks: u32,
}

#[derive(Clone, Copy, Debug)]
struct Answer {
    stamp: u32,
    context: u32,
    /// What has no order may get one by each event.
    events: u32,
    before: bool,
}

/// All stamps. The first is nobody's.
#[derive(Debug)]
pub(super) struct Stamps {
    all: Vec<Stamp>,
    answers: Box<[Answer]>,
    /// Events so far.
    pub(super) events: u32,
}

impl Default for Stamps {
    fn default() -> Stamps {
        let nobody = Stamp { context: u32::MAX, thread: u32::MAX, moment: 0, changes: 0, marks: 0 };
        let none = Answer { stamp: 0, context: u32::MAX, events: 0, before: false };
        Stamps { all: vec![nobody], answers: vec![none; ANSWERS].into(), events: 0 }
    }
}

impl Stamps {
    /// The number of a stamp, which is that of the last one if both are the same.
    pub(super) fn number(&mut self, stamp: Stamp) -> u32 {
        if self.all.last() != Some(&stamp) {
            self.all.push(stamp);
        }
        u32::try_from(self.all.len() - 1).expect("fewer stamps than 64 GiB of them")
    }

    pub(super) fn of(&self, number: u32) -> Stamp {
        self.all[number as usize]
    }

    /// An event may have ordered what was not.
    pub(super) fn event(&mut self) {
        self.events = self.events.wrapping_add(1);
        if self.events == 0 {
            self.answers.iter_mut().for_each(|answer| answer.stamp = 0);
        }
    }

    /// True if an access comes before what a context does now.
    pub(super) fn is_before(&mut self, number: u32, context: u32, order: &mut Order) -> bool {
        let stamp = self.of(number);
        if stamp.context == context {
            return true;
        }
        let at = (number ^ context.wrapping_mul(0x9e37_79b1).rotate_left(15)) as usize % ANSWERS;
        let answer = &mut self.answers[at];
        if (answer.stamp, answer.context) == (number, context) && (answer.before || answer.events == self.events) {
            return answer.before;
        }
        let before = order.is_before(stamp.context, stamp.moment, context);
        *answer = Answer { stamp: number, context, events: self.events, before };
        before
    }
}
