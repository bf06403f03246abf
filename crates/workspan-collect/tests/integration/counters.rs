//! Opening and reading a thread's counters, with a kernel that is made up.

use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering;

use workspan_collect::counters::{close, open, read, Kernel, Wanted, SOFTWARE};
use workspan_collect::page::Page;
use workspan_collect::platform::Usage;
use workspan_read::AskedEvent;
use workspan_wire::events::Means;
use workspan_wire::shm::Clock;

use crate::machine::Machine;

const HARDWARE: u32 = 0;
const CYCLES: AskedEvent = AskedEvent { device: HARDWARE, config: [0; 3], user: false };
const INSTRUCTIONS: AskedEvent = AskedEvent { device: HARDWARE, config: [1, 0, 0], user: false };
const FAULTS: AskedEvent = AskedEvent { device: SOFTWARE, config: [2, 0, 0], user: false };
const MIGRATIONS: AskedEvent = AskedEvent { device: SOFTWARE, config: [4, 0, 0], user: false };

const EPERM: u32 = 1;
const ENOENT: u32 = 2;
const ENOSPC: u32 = 28;

#[derive(Default)]
struct Made {
    /// What an event is refused with.
    refuses: Option<fn(&Wanted) -> Option<u32>>,
    readable: bool,
    /// Of each counter that was opened: its event, and the group's leader.
    opened: RefCell<Vec<(Wanted, i32)>>,
    shut: RefCell<Vec<i32>>,
    unmapped: RefCell<Vec<u64>>,
    readings: Cell<u32>,
    gone: Cell<bool>,
}

struct MadePage {
    readable: bool,
    value: i64,
}

impl Page for MadePage {
    fn lock(&self) -> u32 {
        2
    }

    fn index(&self) -> (u32, bool) {
        (1, self.readable)
    }

    fn offset(&self) -> i64 {
        self.value
    }

    fn width(&self) -> u16 {
        48
    }

    fn times(&self) -> (u64, u64) {
        (100, 50)
    }

    fn counter(&self, _number: u32) -> u64 {
        7
    }
}

impl Kernel for Made {
    type Page = MadePage;

    fn open(&self, event: &Wanted, leader: i32) -> Result<i32, u32> {
        if let Some(error) = self.refuses.and_then(|refuses| refuses(event)) {
            return Err(error);
        }
        let mut opened = self.opened.borrow_mut();
        opened.push((*event, leader));
        Ok(i32::try_from(opened.len()).expect("few") + 9)
    }

    fn map(&self, descriptor: i32) -> u64 {
        u64::try_from(descriptor).expect("one that was opened") * 4096
    }

    fn page(&self, address: u64) -> MadePage {
        let value = i64::try_from(address / 4096).expect("small") * 100;
        MadePage { readable: self.readable, value }
    }

    fn read(&self, leader: i32, words: &mut [u64]) -> bool {
        assert_eq!(leader, 10);
        self.readings.set(self.readings.get() + 1);
        for (i, word) in (0u64..).zip(words.iter_mut()) {
            *word = 1000 * i;
        }
        !self.gone.get()
    }

    fn usage(&self) -> Usage {
        Usage { voluntary: 1, involuntary: 2, minor_faults: 40, major_faults: 5, input: 0 }
    }

    fn shut(&self, descriptor: i32) {
        self.shut.borrow_mut().push(descriptor);
    }

    fn unmap(&self, address: u64) {
        self.unmapped.borrow_mut().push(address / 4096);
    }
}

/// A machine whose clock is real, so that the kernel is asked.
fn machine(events: &[AskedEvent]) -> Machine {
    let machine = Machine::new(1);
    let header = machine.shared.header();
    header.config.clock.store(Clock::Real as u32, Ordering::Relaxed);
    header.events.count.store(u32::try_from(events.len()).expect("few"), Ordering::Relaxed);
    for (asked, event) in header.events.asked.iter().zip(events) {
        asked.device.store(event.device, Ordering::Relaxed);
        asked.config[0].store(event.config[0], Ordering::Relaxed);
    }
    machine
}

/// Threads that count it, threads that cannot, why, and how.
fn found(machine: &Machine, event: usize) -> [u32; 4] {
    let found = &machine.shared.header().events.found[event];
    [&found.threads, &found.refused, &found.error, &found.means].map(|field| field.load(Ordering::Relaxed))
}

#[test]
fn a_group_is_read_in_user_space_where_that_is_permitted() {
    let machine = machine(&[CYCLES, INSTRUCTIONS]);
    let (shared, thread) = (machine.shared, machine.threads[0]);
    let kernel = Made { readable: true, ..Made::default() };
    assert!(open(&kernel, shared, thread));
    let groups: Vec<i32> = kernel.opened.borrow().iter().map(|(_, leader)| *leader).collect();
    assert_eq!(groups, [-1, 10]);
    // The pages keep the counters alive.
    assert_eq!(*kernel.shut.borrow(), [10, 11]);
    let (values, times) = read(&kernel, shared, thread).expect("they are there");
    assert_eq!((values[0], values[1], times), (1007, 1107, [100, 50]));
    assert_eq!(kernel.readings.get(), 0);
    assert_eq!(found(&machine, 1), [1, 0, 0, Means::Page as u32]);
    close(&kernel, thread);
    assert_eq!(*kernel.unmapped.borrow(), [10, 11]);
    assert_eq!(kernel.shut.borrow().len(), 2);
}

#[test]
fn otherwise_the_kernel_reads_the_group_at_once() {
    let machine = machine(&[MIGRATIONS, CYCLES, INSTRUCTIONS, FAULTS]);
    let (shared, thread) = (machine.shared, machine.threads[0]);
    let kernel = Made::default();
    assert!(open(&kernel, shared, thread));
    // The leader's descriptor stays.
    assert_eq!(*kernel.shut.borrow(), [11, 12]);
    let (values, times) = read(&kernel, shared, thread).expect("they are there");
    assert_eq!((&values[..4], times), (&[3000, 4000, 5000, 45][..], [1000, 2000]));
    assert_eq!(kernel.readings.get(), 1);
    assert_eq!(found(&machine, 2), [1, 0, 0, Means::Read as u32]);
    close(&kernel, thread);
    assert_eq!(*kernel.shut.borrow(), [11, 12, 10]);
    assert_eq!(*kernel.unmapped.borrow(), [11, 12]);
}

#[test]
fn what_is_refused_is_told_and_leaves_the_others_alone() {
    let machine = machine(&[CYCLES, FAULTS, MIGRATIONS, INSTRUCTIONS]);
    let (shared, thread) = (machine.shared, machine.threads[0]);
    let refuses = |wanted: &Wanted| match (wanted.device, wanted.config[0]) {
        (HARDWARE, 0) => Some(ENOENT),
        (HARDWARE, _) => Some(ENOSPC),
        _ => Some(EPERM),
    };
    let kernel = Made { refuses: Some(refuses), ..Made::default() };
    assert!(open(&kernel, shared, thread));
    // The kernel keeps page faults of every thread, migrations it does not.
    let (values, _) = read(&kernel, shared, thread).expect("they are there");
    assert_eq!(values[..4], [0, 45, 0, 0]);
    assert_eq!(found(&machine, 0), [0, 1, ENOENT, 0]);
    assert_eq!(found(&machine, 1), [1, 0, 0, Means::Usage as u32]);
    assert_eq!(found(&machine, 2), [0, 1, EPERM, 0]);
    assert_eq!(found(&machine, 3), [0, 1, ENOSPC, 0]);
    close(&kernel, thread);
    assert!(kernel.shut.borrow().is_empty() && kernel.unmapped.borrow().is_empty());
    let nothing = Made { refuses: Some(|_| Some(ENOENT)), ..Made::default() };
    assert!(!open(&nothing, self::machine(&[CYCLES, INSTRUCTIONS]).shared, thread));
}

#[test]
fn without_permission_to_count_in_the_kernel_the_rest_is_counted() {
    let machine = machine(&[CYCLES]);
    let (shared, thread) = (machine.shared, machine.threads[0]);
    let kernel = Made { refuses: Some(|wanted| (!wanted.user).then_some(EPERM)), ..Made::default() };
    assert!(open(&kernel, shared, thread));
    assert!(kernel.opened.borrow()[0].0.user);
    assert_eq!(found(&machine, 0), [1, 0, 0, Means::Read as u32 | Means::Outside as u32]);
}

#[test]
fn counters_that_are_gone_are_no_zeros() {
    let machine = machine(&[MIGRATIONS]);
    let (shared, thread) = (machine.shared, machine.threads[0]);
    let kernel = Made::default();
    assert!(open(&kernel, shared, thread));
    kernel.gone.set(true);
    assert_eq!(read(&kernel, shared, thread), None);
    workspan_collect::counters::lost(shared, thread);
    let [threads, refused, error, _] = found(&machine, 0);
    assert_eq!([threads, refused], [1, 1]);
    assert_ne!(error, 0);
}
