//! Waiting for what must come. The one place where tests look at a clock: a test that asserts how long something takes fails
//! on a machine that does ten other things.

use std::panic;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// What has not come by then never comes: far longer than anything takes, on a machine that does ten other things.
pub const LIMIT: Duration = Duration::from_secs(300);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// Looks until something is found; `None` if nothing is within `limit`.
#[expect(clippy::disallowed_methods, reason = "the pause between two looks")]
pub fn within<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let began = Instant::now();
    loop {
        let found = look();
        if found.is_some() || began.elapsed() >= limit {
            return found;
        }
        thread::sleep(PAUSE);
    }
}

/// Looks until something is found.
///
/// # Panics
///
/// If nothing is within [`LIMIT`].
#[track_caller]
pub fn wait_for<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    within(LIMIT, look).unwrap_or_else(|| panic!("{what}: not within {} s", LIMIT.as_secs()))
}

/// What `work` returns; it has a thread of its own.
///
/// # Panics
///
/// If `work` does, or does not end within [`LIMIT`].
#[track_caller]
pub fn ends<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    let thread = thread::spawn(move || {
        // Only who has given up does not listen.
        let _ = send.send(work());
    });
    match receive.recv_timeout(LIMIT) {
        Ok(done) => done,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what}: not within {} s", LIMIT.as_secs()),
        Err(mpsc::RecvTimeoutError::Disconnected) => match thread.join() {
            Err(reason) => panic::resume_unwind(reason),
            Ok(()) => unreachable!("it has sent before"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_is_found_and_what_does_not_is_not() {
        let mut looks = 0;
        let third = || {
            looks += 1;
            (looks == 3).then_some(looks)
        };
        assert_eq!(wait_for("the third look", third), 3);
        assert_eq!(within(Duration::ZERO, || None::<u8>), None);
    }

    #[test]
    fn what_ends_has_a_result_and_what_panics_a_reason() {
        assert_eq!(ends("a sum", || 1 + 1), 2);
        let reason = panic::catch_unwind(|| ends("a panic", || panic::resume_unwind(Box::new("why")))).unwrap_err();
        assert_eq!(reason.downcast_ref(), Some(&"why"));
    }
}
