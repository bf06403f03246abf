//! Signals, while a program runs and after it has ended.
//!
//! *While it runs* the program decides. Ctrl-C goes to the whole foreground group, so the program gets it from the terminal and
//! we must only survive it; what somebody sends to us alone is passed on. (A signal that a process sends to the group reaches
//! the program twice: nothing distinguishes it from one to us alone.) What is ignored (`nohup`) stays so: the program inherits it,
//! whereas it would get a default for a signal that is caught here.
//!
//! *After its end* there may be minutes of work on what it has left. The first signal ends that with what there is
//! ([`stopped`]), the second ends us at once. A signal to the group that has ended the program may be noticed here only
//! after the program's end: it is not counted ([`Phase::After`]).

use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use nix::sys::signal::{kill, Signal};
use nix::unistd::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::exfiltrator::origin::{Origin, WithOrigin};
use signal_hook::iterator::SignalsInfo;
use signal_hook::low_level::emulate_default_handler;
use signal_hook::low_level::siginfo::Cause;

use crate::output;

/// A signal to the group is noticed here no later than that after the end of the program.
const LATE: Duration = Duration::from_millis(500);

/// True once somebody has asked us to end after the program has: what takes long is to stop, and to keep what there is.
pub fn stopped() -> bool {
    STOPPED.load(Ordering::Acquire)
}

static STOPPED: AtomicBool = AtomicBool::new(false);

/// Signals that are ours to handle; to be made before the program starts.
#[derive(Debug)]
pub struct Caught(());

impl Caught {
    /// From now on, no first request to end ends us.
    pub fn new() -> io::Result<Caught> {
        static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();
        INSTALLED.get_or_init(|| listen().map_err(|error| error.to_string())).clone().map_err(io::Error::other)?;
        *phase() = Phase::Before(Vec::new());
        Ok(Caught(()))
    }

    /// Passes requests to end on to `child`, those that came meanwhile included, until the result is dropped.
    pub fn pass_on_to(self, child: &Child) -> PassedOn {
        let child = i32::try_from(child.id()).map_or(Pid::this(), Pid::from_raw);
        let mut phase = phase();
        if let Phase::Before(early) = &*phase {
            early.iter().for_each(|signal| pass(child, *signal));
        }
        *phase = Phase::Running { child, signalled: false };
        PassedOn { ended_by: None }
    }
}

/// As long as it lives, signals are passed on.
#[derive(Debug)]
pub struct PassedOn {
    ended_by: Option<i32>,
}

impl PassedOn {
    /// The program has ended, by this signal if by any.
    pub fn end(mut self, signal: Option<i32>) {
        self.ended_by = signal;
    }
}

impl Drop for PassedOn {
    fn drop(&mut self) {
        let mut phase = phase();
        let signalled = matches!(*phase, Phase::Running { signalled: true, .. });
        *phase = Phase::After { since: now(), late: self.ended_by.filter(|_| !signalled) };
    }
}

/// What a signal means now.
#[derive(Debug)]
enum Phase {
    /// The program is about to start; these are for it.
    Before(Vec<i32>),
    /// It runs, and we may have been sent a signal that it was, too.
    Running { child: Pid, signalled: bool },
    /// It has ended. `late`: the signal that ended it, which we have not been seen to get.
    After { since: Instant, late: Option<i32> },
}

fn phase() -> MutexGuard<'static, Phase> {
    static PHASE: Mutex<Phase> = Mutex::new(Phase::Before(Vec::new()));
    PHASE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is to be done on a signal.
#[derive(Debug, PartialEq, Eq)]
enum Action {
    Nothing,
    Pass(Pid),
    Stop,
}

fn act(phase: &mut Phase, signal: i32, by_terminal: bool, now: Instant) -> Action {
    match phase {
        // The terminal has sent it to nobody else yet: there is nobody to end but us.
        Phase::Before(early) => {
            early.push(signal);
            Action::Nothing
        }
        Phase::Running { child, signalled } => {
            *signalled = true;
            if by_terminal {
                Action::Nothing
            } else {
                Action::Pass(*child)
            }
        }
        Phase::After { since, late } => {
            if late.take() == Some(signal) && now.duration_since(*since) < LATE {
                return Action::Nothing;
            }
            Action::Stop
        }
    }
}

/// Starts the thread that hears of signals.
fn listen() -> io::Result<()> {
    let ignored = ignored();
    let ours = [SIGINT, SIGQUIT, SIGTERM, SIGHUP].into_iter().filter(|signal| !ignored(*signal));
    let mut signals = SignalsInfo::<WithOrigin>::new(ours)?;
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || signals.forever().for_each(|origin| hear(&origin)))?;
    Ok(())
}

fn hear(origin: &Origin) {
    let action = act(&mut phase(), origin.signal, origin.cause == Cause::Kernel, now());
    match action {
        Action::Nothing => {}
        Action::Pass(child) => pass(child, origin.signal),
        Action::Stop => {
            if STOPPED.swap(true, Ordering::AcqRel) || origin.signal == SIGQUIT {
                // Does not return for signals that end a process by default.
                let _ = emulate_default_handler(origin.signal);
            }
            output::note("the program has ended; keeping what there is of its recording (again: end at once)");
        }
    }
}

fn pass(child: Pid, signal: i32) {
    if let Ok(signal) = Signal::try_from(signal) {
        // It may just have ended; then there is nobody to notify.
        let _ = kill(child, signal);
    }
}

/// A file that grows beyond `ulimit -f` is an error to report, and no death.
pub fn survive_file_size_limit() -> io::Result<()> {
    // Catches rather than ignores: what is ignored here would be ignored in the program too.
    signal_hook::flag::register(SIGXFSZ, std::sync::Arc::new(AtomicBool::new(false))).map(|_| ())
}

/// Whether a signal is ignored, by whoever started us.
fn ignored() -> impl Fn(i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    move |signal| mask >> (signal - 1) & 1 != 0
}

fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_signal_means_depends_on_the_program() {
        let (child, now) = (Pid::from_raw(7), super::now());
        let mut phase = Phase::Running { child, signalled: false };
        assert_eq!(act(&mut phase, SIGINT, false, now), Action::Pass(child), "sent to us alone");
        let mut phase = Phase::Running { child, signalled: false };
        assert_eq!(act(&mut phase, SIGINT, true, now), Action::Nothing, "the program has it from the terminal");
        assert!(matches!(phase, Phase::Running { signalled: true, .. }));
        let mut phase = Phase::After { since: now, late: None };
        assert_eq!(act(&mut phase, SIGTERM, false, now), Action::Stop);
    }

    #[test]
    fn the_signal_that_ended_the_program_does_not_end_what_comes_after() {
        let now = super::now();
        let mut phase = Phase::After { since: now, late: Some(SIGINT) };
        assert_eq!(act(&mut phase, SIGINT, true, now), Action::Nothing);
        assert_eq!(act(&mut phase, SIGINT, true, now), Action::Stop, "the second is one of its own");
        let mut phase = Phase::After { since: now, late: Some(SIGINT) };
        assert_eq!(act(&mut phase, SIGINT, true, now + LATE), Action::Stop, "too late to be that one");
    }
}
