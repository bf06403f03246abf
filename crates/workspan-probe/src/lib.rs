//! What a program may report to a collector. Without a collector every call is a load and a test.
//!
//! The collector's functions are weak symbols: a program with this crate links and runs whether or not an instrumented
//! runtime is linked in.

#![expect(unsafe_code, reason = "weak symbols of the collector")]
#![no_std]

use core::marker::PhantomData;
use core::panic::Location;

/// Makes each call of a function a region with the function's name: what [`region`] is for a block, this is for a function.
///
/// ```
/// #[workspan_probe::function]
/// fn parse(line: &str) -> usize {
///     line.len()
/// }
/// assert_eq!(parse("a line"), 6);
/// ```
///
/// Between the sites that fork, `workspan calls` then shows who calls whom. A call within another of the same function is
/// part of that one. The region has the place of the function's name. Functions that are `async` or `const` are refused:
///
/// ```compile_fail
/// #[workspan_probe::function]
/// async fn later() {}
/// ```
pub use workspan_macros::function;

/// Address of a function of the collector; 0 if nobody defines it.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
macro_rules! address_of {
    ($symbol:literal) => {{
        let address: usize;
        #[cfg(target_arch = "x86_64")]
        // SAFETY: reads the symbol's address from the global offset table: 0 if nobody defines it.
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $symbol),
                concat!("mov {}, qword ptr [rip + ", $symbol, "@GOTPCREL]"),
                out(reg) address,
                options(nostack, pure, readonly, preserves_flags)
            );
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $symbol),
                concat!("adrp {0}, :got:", $symbol),
                concat!("ldr {0}, [{0}, :got_lo12:", $symbol, "]"),
                out(reg) address,
                options(nostack, pure, readonly, preserves_flags)
            );
        }
        address
    }};
}

/// The same where weak symbols are not known to work.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
macro_rules! address_of {
    ($symbol:literal) => {
        0usize
    };
}

type Tick = extern "C" fn(u64);
type Begin = unsafe extern "C" fn(*const u8, *const u8, usize) -> u32;
type End = extern "C" fn(u32);
type Create = unsafe extern "C" fn(*const u8, *const u8) -> u64;

/// Advances the virtual clock of the calling thread, for exact tests; with the real clock it has no effect.
#[inline]
pub fn tick(ticks: u64) {
    if let Some(tick) = collector_tick() {
        tick(ticks);
    }
}

/// True if a collector is linked into this program.
pub fn present() -> bool {
    collector_tick().is_some()
}

/// Marks what follows, up to the guard's end, as a region: it has a row of its own in reports, and
/// `workspan what-if -s NAME=8` reports what making it faster would give. It may be part of a task, or contain what forks.
///
/// ```
/// let data: Vec<u32> = {
///     let _region = workspan_probe::region("read");
///     (0..100).collect()
/// };
/// ```
///
/// A region is known by the place of this call; the name of the first call there stays. One that ends ends those that were
/// begun within it.
#[inline]
#[track_caller]
#[must_use = "the region ends when the guard is dropped"]
pub fn region(name: &'static str) -> Region {
    let location: &'static Location<'static> = Location::caller();
    let mark = collector_begin().map(|begin| {
        let location: *const Location<'static> = location;
        // SAFETY: both are of static life, and as the collector requests.
        unsafe { begin(location.cast(), name.as_ptr(), name.len()) }
    });
    Region { mark, _thread: PhantomData }
}

/// A marked region, until dropped. It belongs to the thread that began it.
#[derive(Debug)]
pub struct Region {
    mark: Option<u32>,
    _thread: PhantomData<*const ()>,
}

impl Drop for Region {
    #[inline]
    fn drop(&mut self) {
        if let (Some(mark), Some(end)) = (self.mark, collector_end()) {
            end(mark);
        }
    }
}

/// A task of a pool of the program's own: created by whoever hands it to a queue, and run by any thread. Then it has work, span
/// and parallelism as a task of any runtime; locks of the queue order no tasks.
///
/// A queue is known by the address of `queue`: that of what [`wait`] gets.
///
/// ```
/// use std::sync::{mpsc, Arc, Mutex};
/// use workspan_probe::Task;
///
/// let (sender, receiver) = mpsc::channel::<(Task, Box<dyn FnOnce() + Send>)>();
/// let receiver = Arc::new(Mutex::new(receiver));
/// let threads: Vec<_> = (0..2)
///     .map(|_| {
///         let receiver = Arc::clone(&receiver);
///         std::thread::spawn(move || loop {
///             let next = receiver.lock().unwrap().recv();
///             let Ok((task, work)) = next else { break };
///             task.run(work);
///         })
///     })
///     .collect();
/// for number in 0..10 {
///     sender.send((Task::new(&sender), Box::new(move || drop(number)))).unwrap();
/// }
/// drop(sender);
/// for thread in threads {
///     thread.join().unwrap();
/// }
/// ```
///
/// Seen by `workspan record`; `cargo workspan`, which records rayon's tasks, sees none of these.
#[derive(Debug)]
#[must_use = "a task that was created is to be run"]
pub struct Task(u64);

impl Task {
    /// Creates a task for `queue`.
    #[inline]
    #[track_caller]
    pub fn new<Q: ?Sized>(queue: &Q) -> Task {
        let location: &'static Location<'static> = Location::caller();
        let location: *const Location<'static> = location;
        let queue: *const Q = queue;
        // SAFETY: the address of what lives for ever, as the collector requests.
        Task(collector_create().map_or(0, |create| unsafe { create(queue.cast(), location.cast()) }))
    }

    /// Runs it: `work` is what it does.
    #[inline]
    pub fn run<R>(self, work: impl FnOnce() -> R) -> R {
        let _running = self.begin();
        work()
    }

    /// Begins it on the calling thread; it ends when what is returned is dropped.
    #[inline]
    pub fn begin(self) -> Running {
        if let Some(begin) = collector_of_number(address_of!("workspan_task_begin")) {
            begin(self.0);
        }
        Running { task: self.0, _thread: PhantomData }
    }
}

/// A [`Task`] that runs, until dropped. It belongs to the thread that began it.
#[derive(Debug)]
pub struct Running {
    task: u64,
    _thread: PhantomData<*const ()>,
}

impl Drop for Running {
    #[inline]
    fn drop(&mut self) {
        if let Some(end) = collector_of_number(address_of!("workspan_task_end")) {
            end(self.task);
        }
    }
}

/// Waits by `work` for all tasks that were created for `queue`: what the calling thread does in it, but for tasks that it runs, is part of
/// the wait.
#[inline]
pub fn wait<Q: ?Sized, R>(queue: &Q, work: impl FnOnce() -> R) -> R {
    struct Waits(u64);
    impl Drop for Waits {
        fn drop(&mut self) {
            if let Some(end) = collector_of_number(address_of!("workspan_task_wait_end")) {
                end(self.0);
            }
        }
    }
    let queue: *const Q = queue;
    let waits = Waits(queue.cast::<u8>() as usize as u64);
    if let Some(begin) = collector_of_number(address_of!("workspan_task_wait_begin")) {
        begin(waits.0);
    }
    work()
}

fn collector_create() -> Option<Create> {
    let address = address_of!("workspan_task_create_at");
    // SAFETY: as of `collector_tick`.
    unsafe { core::mem::transmute::<usize, Option<Create>>(address) }
}

/// The collector's function at this address, which takes a number or an address, as a number.
fn collector_of_number(address: usize) -> Option<Tick> {
    // SAFETY: as of `collector_tick`; where these functions are looked for, both are passed alike.
    unsafe { core::mem::transmute::<usize, Option<Tick>>(address) }
}

fn collector_tick() -> Option<Tick> {
    let address = address_of!("workspan_tick");
    // SAFETY: the collector defines the symbol as a function of this type; 0 is `None`.
    unsafe { core::mem::transmute::<usize, Option<Tick>>(address) }
}

fn collector_begin() -> Option<Begin> {
    let address = address_of!("workspan_region_begin");
    // SAFETY: as above.
    unsafe { core::mem::transmute::<usize, Option<Begin>>(address) }
}

fn collector_end() -> Option<End> {
    let address = address_of!("workspan_region_end");
    // SAFETY: as above.
    unsafe { core::mem::transmute::<usize, Option<End>>(address) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_happens_without_a_collector() {
        assert!(!super::present());
        super::tick(5);
        let region = super::region("nothing");
        drop(region);
        let queue = 1;
        let task = super::Task::new(&queue);
        assert_eq!(super::wait(&queue, || task.run(|| 2)), 2);
    }
}
