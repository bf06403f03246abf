//! What threads of a program wait for each other with: mutexes, reader-writer and spin locks, conditions, semaphores, barriers, futexes,
//! pipes.
//!
//! The functions of the C library are defined here first ([`mutex`], [`rwlock`], [`condition`], [`semaphore`], [`barrier`], [`c11`],
//! [`futex`], [`signal`], [`pipes`], [`polls`], [`looks`]), and go on to its own. A wait that blocks is an edge from the strand that ended it ([`workspan_collect::waits`]):
//!
//! | wait | goes on behind |
//! |---|---|
//! | for a lock | everyone who gave it back meanwhile |
//! | for a condition | who signalled it, and everyone who gave its mutex back since |
//! | for a semaphore, a futex | who posted or woke, first come, first served |
//! | at a barrier | all who arrived |
//! | for a pipe, an event counter, a socket of a pair, also by `poll` or `epoll` | who wrote to it, or closed it |
//! | for a signal (`sigwait`, `sigsuspend`) | who sent it (`pthread_kill`, `kill`) |
//!
//! **A wait that does not block leaves no edge:** which of two strands takes a free lock first is accident. So the span is that
//! under the observed order of waits, not under the observed order of locks.
//!
//! **Locks that are fought for** ([`locks`]) have a region of their own, the code that holds them, as OpenMP's have
//! ([`crate::dag::lock`]): each wait for a lock heats it, each time that it is taken cools it.
//!
//! **Waits with a limit** that is reached: [`timer`].
//!
//! **Cost.** A function that would not block: an attempt to take, and a load of what is known of the address
//! ([`waiters::Bucket`]). Where somebody waits: some 100 ns beside the system call.
//!
//! **Bias.** Who gives a lock back at the very moment at which another begins to wait for it may not see that: then the wait is
//! neither an edge nor time blocked. What runtimes of tasks wait for is theirs, and known by them ([`caller`]). A signal handler that
//! posts or writes to a pipe is not followed while its own thread is in a hook of this module; in one of a runtime of tasks it may charge
//! the time since the strand's last event twice ([`workspan_collect::waits::leave_at`]).

pub mod barrier;
pub mod c11;
pub mod caller;
pub mod condition;
pub mod descriptors;
pub mod futex;
pub mod locks;
pub mod lookers;
pub mod looks;
pub mod mutex;
pub mod outside;
pub mod pipes;
pub mod polls;
pub mod rwlock;
pub mod semaphore;
pub mod shim;
pub mod signal;
pub mod sleeps;
pub mod timer;
pub mod wait;
pub mod waiters;
