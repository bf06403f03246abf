//! What ran, without what it accessed: calls, loops, turns, lines. Models that hold a dependence against every execution of its lines
//! need it, since they have to know all dependences first; the program does not run again.
//!
//! A step that follows its predecessor as it did the last time costs nothing; other steps are a count and a number.
//! **Memory:** [`MOST`] and a buffer of events; beyond, the journal [is full](Journal::is_full).

use workspan_trace::bytes::{Reader, Writer};

/// Bytes of a journal that is full.
const MOST: usize = 1 << 28;

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A call begins.
    Call,
    /// The calls of a place end.
    Return(u32),
    /// A loop begins, and with it its first iteration.
    Loop(u32),
    /// It ends.
    Leave(u32),
    /// Its next iteration begins.
    Turn,
    /// A line of a segment: number of both.
    Line(u32),
    /// Lines that follow one another: number of their sequence.
    Strip(u32),
}

impl Step {
    fn number(self) -> u32 {
        match self {
            Step::Call => 0,
            Step::Turn => 1,
            Step::Return(place) => place << 2 | 2,
            Step::Line(line) => line << 2 | 3,
            Step::Strip(number) => (number + 1) << 2 | 1,
            Step::Loop(number) => number << 3 | 4,
            Step::Leave(number) => number << 3,
        }
    }

    fn of(number: u32) -> Step {
        match number & 3 {
            _ if number == 0 => Step::Call,
            _ if number == 1 => Step::Turn,
            1 => Step::Strip((number >> 2) - 1),
            2 => Step::Return(number >> 2),
            3 => Step::Line(number >> 2),
            _ if number & 4 != 0 => Step::Loop(number >> 3),
            _ => Step::Leave(number >> 3),
        }
    }
}

/// All steps.
#[derive(Debug, Default)]
pub struct Journal {
    out: Writer,
    /// What followed each step the last time.
    next: Vec<u32>,
    last: u32,
    run: u64,
}

fn place(next: &mut Vec<u32>, number: u32) -> &mut u32 {
    let at = number as usize;
    if next.len() <= at {
        next.resize(at + 1, 0);
    }
    &mut next[at]
}

impl Journal {
    /// It is time to go through it.
    pub fn is_full(&self) -> bool {
        self.out.bytes.len() >= MOST
    }

    /// Notes a step.
    #[inline]
    pub fn note(&mut self, step: Step) {
        let number = step.number();
        let expected = place(&mut self.next, self.last);
        if *expected == number {
            self.run += 1;
        } else {
            *expected = number;
            self.out.number(self.run);
            self.out.number(number.into());
            self.run = 0;
        }
        self.last = number;
    }

    /// Notes the same steps several times.
    pub fn repeat(&mut self, steps: &[Step], times: u64) {
        for done in 1..=times {
            let (run, last, count) = (self.run, self.last, steps.len() as u64);
            steps.iter().for_each(|step| self.note(*step));
            // All as expected: nothing has changed but the length of the run.
            if self.run == run + count && self.last == last {
                self.run += (times - done) * count;
                return;
            }
        }
    }

    /// Goes through all steps again; iterations that are the same come with their number.
    pub fn replay(&self, mut each: impl FnMut(Walk<'_>)) {
        let mut from = Reader::new(&self.out.bytes);
        let (mut next, mut last, mut cycle) = (Vec::new(), 0, Vec::new());
        while let (Ok(run), Ok(number)) = (from.number(), from.small()) {
            repeat(run, (&mut next, &mut last, &mut cycle), &mut each);
            *place(&mut next, last) = number;
            last = number;
            each(Walk::Step(Step::of(number)));
        }
        repeat(self.run, (&mut next, &mut last, &mut cycle), &mut each);
    }
}

/// What a replay comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walk<'s> {
    /// A step.
    Step(Step),
    /// A turn and lines or strips, several times.
    Cycle(&'s [Step], u64),
}

/// Steps of an iteration that is looked for.
const LONGEST: usize = 256;

/// Goes through steps that follow one another as they did before.
fn repeat(
    mut count: u64,
    (next, last, cycle): (&mut Vec<u32>, &mut u32, &mut Vec<Step>),
    each: &mut impl FnMut(Walk<'_>),
) {
    let turn = Step::Turn.number();
    while count > 0 {
        // Nothing changes what follows a step: from one turn to the next is what comes again.
        if *place(next, *last) == turn {
            cycle.clear();
            let mut at = turn;
            let is_line = |number: u32| matches!(Step::of(number), Step::Line(_) | Step::Strip(_));
            loop {
                cycle.push(Step::of(at));
                at = *place(next, at);
                if !is_line(at) || cycle.len() > LONGEST {
                    break;
                }
            }
            let times = count / cycle.len() as u64;
            if at == turn && times > 1 {
                each(Walk::Cycle(cycle, times));
                count -= times * cycle.len() as u64;
                *last = cycle.last().map_or(turn, |step| step.number());
                continue;
            }
        }
        *last = *place(next, *last);
        each(Walk::Step(Step::of(*last)));
        count -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn steps_come_back(numbers in prop::collection::vec((0_u32..7, 1_u32..9), 0..400)) {
            let steps: Vec<Step> = numbers
                .into_iter()
                .map(|(kind, number)| match kind {
                    0 => Step::Call,
                    1 => Step::Turn,
                    2 => Step::Return(number),
                    3 => Step::Line(number),
                    4 => Step::Loop(number),
                    5 => Step::Leave(number),
                    _ => Step::Strip(number),
                })
                .collect();
            let mut journal = Journal::default();
            steps.iter().for_each(|step| journal.note(*step));
            let mut back = Vec::new();
            journal.replay(|walk| match walk {
                Walk::Step(step) => back.push(step),
                Walk::Cycle(steps, times) => (0..times).for_each(|_| back.extend(steps)),
            });
            prop_assert_eq!(back, steps);
        }
    }
}
