//! What the modelled files find around them: as in the collectors, only smaller, and made anew for each execution.

/// In the place of `workspan_wire::sync`.
pub mod sync {
    pub use loom::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};

    /// A cell that fails the model if two threads use it without order between them.
    pub struct Cell<T>(loom::cell::UnsafeCell<T>);

    impl<T: Copy> Cell<T> {
        #[track_caller]
        pub fn new(value: T) -> Cell<T> {
            Cell(loom::cell::UnsafeCell::new(value))
        }

        #[track_caller]
        pub fn get(&self) -> T {
            // SAFETY: loom has checked that nobody writes meanwhile.
            self.0.with(|at| unsafe { *at })
        }

        #[track_caller]
        pub fn set(&self, value: T) {
            // SAFETY: loom has checked that nobody else is at it.
            self.0.with_mut(|at| unsafe { *at = value });
        }

        #[track_caller]
        pub fn replace(&self, value: T) -> T {
            let before = self.get();
            self.set(value);
            before
        }
    }

    impl<T> std::fmt::Debug for Cell<T> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("Cell")
        }
    }
}

/// In the place of `workspan_wire::shm`.
pub mod shm {
    use super::sync::{AtomicI64, AtomicU32, AtomicU64, Cell};
    pub use crate::wire_path::{Call, PathNode, AWAITED, NODE, NODE_ENTRIES, OWNED, PREFIXED};
    pub use crate::wire_task::Spans;

    pub const MAX_NODES: usize = 12;
    pub const MAX_CALLS: usize = 3;
    pub const OPEN_BATCHES: usize = 1;
    pub const LOG_RECORDS: usize = 2;
    pub const CALL_WANTED: u32 = u32::MAX;

    #[derive(Debug)]
    pub struct Candidate {
        pub span: AtomicI64,
        pub path: AtomicU64,
    }

    #[derive(Debug)]
    pub struct Header {
        pub dropped_nodes: AtomicU64,
        pub folding: AtomicU32,
        pub nodes: AtomicU32,
        pub free_nodes: AtomicU64,
        pub calls: AtomicU32,
        pub free_calls: AtomicU64,
    }

    #[derive(Clone, Copy, Debug)]
    pub struct Position {
        pub path: u32,
        pub context: u32,
        pub since: i64,
    }

    #[derive(Debug)]
    pub struct Thread {
        pub memory: *const super::shared::Memory,
        pub task: Task,
        pub batches: [Cell<u64>; OPEN_BATCHES],
        pub account: Account,
    }

    /// Of the state of a task, what paths use.
    #[derive(Debug)]
    pub struct Task {
        pub position: Cell<Position>,
        pub prefix: Cell<i64>,
        pub prefix_context: Cell<u32>,
        pub call: Cell<u32>,
    }

    #[derive(Debug)]
    pub struct Account {
        pub work: Cell<i64>,
    }

    #[derive(Debug)]
    pub struct ThreadLog {
        pub published: AtomicU64,
        pub taken: AtomicU64,
        pub records: [[Cell<u64>; 2]; LOG_RECORDS],
    }
}

/// In the place of `workspan_collect::shared`.
pub mod shared {
    use super::shm::{Account, Call, Header, PathNode, Position, Task, Thread, MAX_CALLS, MAX_NODES};
    use super::sync::{AtomicI64, AtomicU32, AtomicU64, Cell};

    #[derive(Debug)]
    pub struct Memory {
        header: Header,
        nodes: Vec<PathNode>,
        calls: Vec<Call>,
    }

    #[derive(Clone, Copy, Debug)]
    pub struct Shared(*const Memory);

    // SAFETY: as for the collectors' own: cells belong to one thread at a time, which is what the models check.
    unsafe impl Send for Shared {}
    // SAFETY: as above.
    unsafe impl Sync for Shared {}

    impl Shared {
        fn memory(self) -> &'static Memory {
            // SAFETY: the memory lives until `Whole` is dropped, at the end of an execution, behind all use.
            unsafe { &*self.0 }
        }

        pub fn of(thread: &Thread) -> Shared {
            Shared(thread.memory)
        }

        pub fn header(self) -> &'static Header {
            &self.memory().header
        }

        pub fn node(self, id: u32) -> &'static PathNode {
            &self.memory().nodes[id as usize]
        }

        pub fn call(self, id: u32) -> &'static Call {
            &self.memory().calls[id as usize]
        }

        pub fn account(self, thread: &Thread, _context: u32) -> &'static Account {
            // SAFETY: a thread lives as long as the memory.
            unsafe { &*std::ptr::from_ref(&thread.account) }
        }

        /// A thread of this memory.
        pub fn thread(self) -> Thread {
            Thread {
                memory: self.0,
                task: Task {
                    position: Cell::new(Position { path: 0, context: 0, since: 0 }),
                    prefix: Cell::new(0),
                    prefix_context: Cell::new(0),
                    call: Cell::new(0),
                },
                batches: [Cell::new(0)],
                account: Account { work: Cell::new(0) },
            }
        }

        /// Nodes that somebody holds.
        pub fn nodes_in_use(self) -> usize {
            let header = self.header();
            let (mut free, mut at) = (0, header.free_nodes.load(super::sync::Ordering::SeqCst) as u32);
            while at != 0 {
                free += 1;
                at = self.node(at).parent.load(super::sync::Ordering::SeqCst);
            }
            header.nodes.load(super::sync::Ordering::SeqCst) as usize - free
        }
    }

    /// The memory of an execution.
    #[derive(Debug)]
    pub struct Whole(*mut Memory);

    impl Whole {
        /// With this number of nodes, and of calls.
        pub fn new(nodes: usize, calls: usize) -> Whole {
            assert!(nodes < MAX_NODES && calls < MAX_CALLS);
            let header = Header {
                dropped_nodes: AtomicU64::new(0),
                folding: AtomicU32::new(0),
                nodes: AtomicU32::new(0),
                free_nodes: AtomicU64::new(0),
                calls: AtomicU32::new(0),
                free_calls: AtomicU64::new(0),
            };
            let (nodes, calls) = ((0..=nodes).map(|_| node()).collect(), (0..=calls).map(|_| call()).collect());
            Whole(Box::into_raw(Box::new(Memory { header, nodes, calls })))
        }

        pub fn shared(&self) -> Shared {
            Shared(self.0)
        }
    }

    impl Drop for Whole {
        fn drop(&mut self) {
            // SAFETY: made by `new`; all threads of the execution have ended.
            drop(unsafe { Box::from_raw(self.0) });
        }
    }

    fn node() -> PathNode {
        PathNode {
            ticks: std::array::from_fn(|_| Cell::new(0)),
            work: std::array::from_fn(|_| Cell::new(0)),
            span: std::array::from_fn(|_| Cell::new(0)),
            calls: std::array::from_fn(|_| Cell::new(0)),
            contexts: std::array::from_fn(|_| Cell::new(0)),
            len: Cell::new(0),
            length: Cell::new(0),
            fold_at: Cell::new(0),
            holders: AtomicU32::new(0),
            parent: AtomicU32::new(0),
        }
    }

    fn call() -> Call {
        Call {
            holders: AtomicU32::new(0),
            open: AtomicU32::new(0),
            known: AtomicU32::new(0),
            next: AtomicU32::new(0),
            context: AtomicU32::new(0),
            around: Cell::new(0),
            whole: Cell::new(0),
            _pad: Cell::new(0),
            work: AtomicI64::new(0),
            unjoined_work: AtomicI64::new(0),
            span: AtomicI64::new(0),
        }
    }
}

/// In the place of `workspan_collect::platform`.
pub mod platform {
    use super::shm::Candidate;
    use super::sync::Ordering;

    loom::lazy_static! {
        static ref PAIR: loom::sync::Mutex<()> = loom::sync::Mutex::new(());
    }

    /// One step for all others, and ordered as a locked instruction is; looks that read the halves one by one may still see
    /// them apart.
    pub fn exchange_pair(at: &Candidate, old: (i64, u64), new: (i64, u64)) -> Result<(), (i64, u64)> {
        let _all = PAIR.lock().expect("nobody panics");
        let found = (at.span.load(Ordering::Acquire), at.path.load(Ordering::Acquire));
        if found != old {
            return Err(found);
        }
        at.path.store(new.1, Ordering::Release);
        at.span.store(new.0, Ordering::Release);
        Ok(())
    }
}

/// In the place of `workspan_collect::spare`: no thread keeps anything for itself, all of it goes by what threads share.
pub mod spare {
    use super::shared::Shared;
    use crate::stash::Stash;

    pub fn nodes(_: Shared) -> Option<&'static Stash> {
        None
    }

    pub fn calls(_: Shared) -> Option<&'static Stash> {
        None
    }
}

/// In the place of `workspan_collect::strand`.
pub mod strand {
    use super::shm::{Position, Thread};

    pub fn path(thread: &Thread) -> u32 {
        thread.task.position.get().path
    }

    pub fn context(thread: &Thread) -> u32 {
        thread.task.position.get().context
    }

    pub fn set_path(thread: &Thread, path: u32) {
        thread.task.position.set(Position { path, ..thread.task.position.get() });
    }

    pub fn set_tail(thread: &Thread, path: u32, since: i64) {
        thread.task.position.set(Position { path, since, ..thread.task.position.get() });
    }
}

/// In the place of `workspan_collect::tables`.
pub mod tables {
    pub type ContextId = u32;
    pub const ROOT: ContextId = 0;
}

/// In the place of `workspan_collect::ends`.
pub mod ends {
    #[derive(Debug)]
    pub struct Ends;
}
