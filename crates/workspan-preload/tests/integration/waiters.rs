//! Lists of those who wait, of which one thread at a time takes hold.

use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use workspan_preload::sync::waiters::bucket;

use crate::machine::Machine;

/// Who is at the list may lose its processor there, for longer than anybody spins: nothing is lost by that.
#[test]
fn who_comes_late_waits_for_who_was_stopped() {
    let machine = Machine::new(2);
    let shared = machine.shared;
    let bucket = bucket(0x1000);
    thread::scope(|scope| {
        let (here, is_here) = channel();
        scope.spawn(move || {
            bucket.locked(shared.thread(0), || {
                here.send(()).expect("somebody listens");
                #[expect(
                    clippy::disallowed_methods,
                    reason = "stopped for longer than anybody spins; nothing waits for it"
                )]
                thread::sleep(Duration::from_millis(100));
            })
        });
        is_here.recv().expect("it is there");
        assert_eq!(bucket.locked(machine.threads[1], || 7), Some(7));
    });
    assert_eq!(machine.shared.header().unfollowed.load(Ordering::Relaxed), 0);
}

/// A signal's handler that finds its own thread at the list does without, at once and counted; so does who comes after somebody has waited
/// in vain. When the list is free again, it is as before.
#[test]
fn who_waits_in_vain_does_without() {
    let machine = Machine::new(2);
    let [own, other] = [machine.threads[0], machine.threads[1]];
    let bucket = bucket(0x2000);
    let inner = bucket.locked(own, || [bucket.locked(own, || ()), bucket.locked(other, || ())]);
    assert_eq!(inner, Some([None, None]));
    assert_eq!(machine.shared.header().unfollowed.load(Ordering::Relaxed), 2);
    assert_eq!(bucket.locked(other, || 7), Some(7));
    assert_eq!(machine.shared.header().unfollowed.load(Ordering::Relaxed), 2);
}
