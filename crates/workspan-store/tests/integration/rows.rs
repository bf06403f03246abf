//! Strands made at random: well nested, of all events, with times as programs have them.

use workspan_model::{ContextId, ContextTree, Creation, Event, Nanos, Recording, Site, SiteId, SiteKind, Strand};
use workspan_testkit::random::Random;

/// Makes strands, as many as requested or a few more.
pub(crate) fn strands(seed: u64, count: usize) -> Vec<Strand> {
    let mut maker = Maker { random: Random::new(seed), strands: Vec::with_capacity(count + 64), now: 0 };
    while maker.strands.len() < count {
        maker.construct(6);
    }
    maker.push(Event::End);
    maker.strands
}

struct Maker {
    random: Random,
    strands: Vec<Strand>,
    now: i64,
}

impl Maker {
    fn below(&mut self, bound: u64) -> i64 {
        i64::try_from(self.random.below(bound)).expect("small")
    }

    fn context(&mut self) -> ContextId {
        ContextId(u32::try_from(self.random.below(20)).expect("small"))
    }

    fn push(&mut self, event: Event) {
        let cost = match self.random.below(50) {
            0 => -self.below(20),
            1..=4 => self.below(1_000_000),
            _ => self.below(2_000),
        };
        let blocked = if self.random.once_in(100) { self.below(100_000) } else { 0 };
        self.now += cost.max(0) + blocked + self.below(40);
        let context = self.context();
        let thread = u16::try_from(self.random.below(4)).expect("small");
        self.strands.push(Strand {
            event,
            context,
            cost: Nanos(cost),
            blocked: Nanos(blocked),
            start: Nanos(self.now),
            thread,
        });
    }

    fn creation(&mut self) -> Creation {
        let group =
            if self.random.once_in(5) { None } else { Some(u16::try_from(self.random.below(3)).expect("small")) };
        Creation { context: self.context(), group, overhead: Nanos(200 + self.below(100)) }
    }

    fn construct(&mut self, depth: u32) {
        if depth == 0 {
            return;
        }
        match self.random.below(7) {
            0 | 1 => {
                self.push(Event::Fork(1));
                self.construct(depth - 1);
                self.push(Event::Next(1));
                self.construct(depth - 1);
                self.push(Event::Join);
            }
            2 => {
                self.push(Event::Group);
                for _ in 0..=self.below(4) {
                    let creation = self.creation();
                    self.push(Event::Spawn(creation));
                    self.construct(depth - 1);
                    self.push(Event::End);
                }
                self.push(Event::Wait);
            }
            3 => {
                let context = self.context();
                self.push(Event::Enter(context));
                self.construct(depth - 1);
                self.push(Event::Leave);
            }
            4 => {
                self.push(Event::Team(2));
                for _ in 0..2 {
                    self.push(Event::Barrier);
                    self.construct(depth - 1);
                    self.push(Event::End);
                }
                self.push(Event::TeamEnd);
            }
            5 => {
                self.push(Event::After(3));
                let creation = self.creation();
                self.push(Event::Call(creation));
                self.construct(depth - 1);
                self.push(Event::End);
                self.push(Event::Sync);
            }
            _ => {
                self.push(Event::Fork(1_000_000));
                for _ in 0..self.below(8) {
                    self.push(Event::Next(u32::MAX));
                }
                self.push(Event::Join);
            }
        }
    }
}

/// A recording that the strands could belong to.
pub(crate) fn recording() -> Recording {
    let site = |line| Site {
        kind: SiteKind::Join,
        file: "src/main.rs".to_owned(),
        line,
        column: 5,
        function: None,
        type_name: String::new(),
        module: String::new(),
        addresses: vec![0x1000],
        via: (line == 2).then(|| ("src/lib.rs".to_owned(), 7)),
    };
    let mut contexts = ContextTree::default();
    for number in 0..20 {
        contexts.intern(ContextId(number / 2), SiteId(number)).expect("parents come first");
    }
    Recording {
        command: vec!["./prog".to_owned(), "two words".to_owned()],
        sites: (1..=20).map(site).collect(),
        contexts,
        ..Recording::default()
    }
}
