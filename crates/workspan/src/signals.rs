//! Signals while a program runs.
//!
//! Ctrl-C goes to the whole foreground group, so the program gets it and we must only survive it. Requests to end that
//! are sent to us alone (`SIGTERM`, `SIGHUP`) are passed on. What is ignored (`nohup`) stays so: the program inherits it,
//! whereas it would get a default for a signal that is caught here.

use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::{fs, io};

use nix::sys::signal::{kill, Signal};
use nix::unistd::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::{Handle, Signals};

/// Signals that are ours to handle; to be made before the program starts.
#[derive(Debug)]
pub struct Caught {
    signals: Signals,
}

impl Caught {
    /// From now on, no request to end ends us.
    pub fn new() -> io::Result<Caught> {
        let ignored = ignored();
        for signal in [SIGINT, SIGQUIT].into_iter().filter(|signal| !ignored(*signal)) {
            survive(signal)?;
        }
        Ok(Caught { signals: Signals::new([SIGTERM, SIGHUP].into_iter().filter(|signal| !ignored(*signal)))? })
    }

    /// Passes requests to end on to `child`, those that came meanwhile included, until the result is dropped.
    pub fn pass_on_to(mut self, child: &Child) -> PassedOn {
        let pid = i32::try_from(child.id()).map(Pid::from_raw);
        let over = Arc::new(AtomicBool::new(false));
        let handle = self.signals.handle();
        let thread = thread::spawn({
            let over = Arc::clone(&over);
            move || {
                for signal in self.signals.forever() {
                    if let (Ok(pid), Ok(signal), false) = (pid, Signal::try_from(signal), over.load(Ordering::Acquire))
                    {
                        // It may just have ended; then there is nobody to report to.
                        let _ = kill(pid, signal);
                    }
                }
            }
        });
        PassedOn { over, handle, thread: Some(thread) }
    }
}

/// As long as it lives, signals are passed on.
#[derive(Debug)]
pub struct PassedOn {
    over: Arc<AtomicBool>,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Drop for PassedOn {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            // It ends when its signals are closed, and has nothing to return.
            let _ = thread.join();
        }
    }
}

/// A file that grows beyond `ulimit -f` is an error to report, and no death.
pub fn survive_file_size_limit() -> io::Result<()> {
    survive(SIGXFSZ)
}

/// Whether a signal is ignored, by whoever started us.
fn ignored() -> impl Fn(i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    move |signal| mask >> (signal - 1) & 1 != 0
}

/// Catches rather than ignores: what is ignored here would be ignored in the program too.
fn survive(signal: i32) -> io::Result<()> {
    signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false))).map(|_| ())
}
