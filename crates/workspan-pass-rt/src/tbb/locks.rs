//! Locks of oneTBB that are taken inside libtbb: who takes one takes over what was done under it before.

use super::abi::{followed, Pointer};
use crate::{atomics, original};

/// The lock that a scoped lock holds: its first word. Null: none.
///
/// # Safety
/// What a program passes to libtbb.
unsafe fn held(scoped: Pointer) -> u64 {
    // SAFETY: the caller's own.
    unsafe { *scoped.cast::<u64>() }
}

macro_rules! define {
    ($(acquire $function:ident $symbol:literal $name:literal ($($argument:ident: $type:ty),*) $($result:ty)?;)*) => {$(
        #[export_name = $symbol]
        unsafe extern "C-unwind" fn $function(lock: Pointer, scoped: Pointer $(, $argument: $type)*) -> bool {
            let taken = original!($name, fn(Pointer, Pointer $(, $type)*) -> bool, lock, scoped $(, $argument)*);
            // Those that answer nothing leave anything for an answer: the scoped lock says whether it holds the lock.
            // SAFETY: the caller's own.
            if followed() && unsafe { held(scoped) } != 0 {
                atomics::acquire(lock as u64);
            }
            taken
        }
    )*};
    ($(change $function:ident $symbol:literal $name:literal;)*) => {$(
        #[export_name = $symbol]
        unsafe extern "C-unwind" fn $function(scoped: Pointer) -> bool {
            let is_followed = followed();
            // SAFETY: the caller's own.
            let lock = unsafe { held(scoped) };
            if is_followed && lock != 0 {
                atomics::release(lock);
            }
            let answer = original!($name, fn(Pointer) -> bool, scoped);
            // SAFETY: as above.
            if is_followed && lock != 0 && unsafe { held(scoped) } == lock {
                atomics::acquire(lock);
            }
            answer
        }
    )*};
}

define! {
    acquire queuing_acquire "_ZN3tbb6detail2r17acquireERNS0_2d116queuing_rw_mutexERNS3_11scoped_lockEb" c"_ZN3tbb6detail2r17acquireERNS0_2d116queuing_rw_mutexERNS3_11scoped_lockEb" (write: bool);
    acquire queuing_try "_ZN3tbb6detail2r111try_acquireERNS0_2d116queuing_rw_mutexERNS3_11scoped_lockEb" c"_ZN3tbb6detail2r111try_acquireERNS0_2d116queuing_rw_mutexERNS3_11scoped_lockEb" (write: bool);
    acquire rtm_acquire "_ZN3tbb6detail2r17acquireERNS0_2d19rtm_mutexERNS3_11scoped_lockEb" c"_ZN3tbb6detail2r17acquireERNS0_2d19rtm_mutexERNS3_11scoped_lockEb" (only: bool);
    acquire rtm_try "_ZN3tbb6detail2r111try_acquireERNS0_2d19rtm_mutexERNS3_11scoped_lockE" c"_ZN3tbb6detail2r111try_acquireERNS0_2d19rtm_mutexERNS3_11scoped_lockE" ();
    acquire rtm_reader "_ZN3tbb6detail2r114acquire_readerERNS0_2d112rtm_rw_mutexERNS3_11scoped_lockEb" c"_ZN3tbb6detail2r114acquire_readerERNS0_2d112rtm_rw_mutexERNS3_11scoped_lockEb" (only: bool);
    acquire rtm_writer "_ZN3tbb6detail2r114acquire_writerERNS0_2d112rtm_rw_mutexERNS3_11scoped_lockEb" c"_ZN3tbb6detail2r114acquire_writerERNS0_2d112rtm_rw_mutexERNS3_11scoped_lockEb" (only: bool);
    acquire rtm_try_reader "_ZN3tbb6detail2r118try_acquire_readerERNS0_2d112rtm_rw_mutexERNS3_11scoped_lockE" c"_ZN3tbb6detail2r118try_acquire_readerERNS0_2d112rtm_rw_mutexERNS3_11scoped_lockE" ();
    acquire rtm_try_writer "_ZN3tbb6detail2r118try_acquire_writerERNS0_2d112rtm_rw_mutexERNS3_11scoped_lockE" c"_ZN3tbb6detail2r118try_acquire_writerERNS0_2d112rtm_rw_mutexERNS3_11scoped_lockE" ();
}

define! {
    change queuing_release "_ZN3tbb6detail2r17releaseERNS0_2d116queuing_rw_mutex11scoped_lockE" c"_ZN3tbb6detail2r17releaseERNS0_2d116queuing_rw_mutex11scoped_lockE";
    change queuing_upgrade "_ZN3tbb6detail2r117upgrade_to_writerERNS0_2d116queuing_rw_mutex11scoped_lockE" c"_ZN3tbb6detail2r117upgrade_to_writerERNS0_2d116queuing_rw_mutex11scoped_lockE";
    change queuing_downgrade "_ZN3tbb6detail2r119downgrade_to_readerERNS0_2d116queuing_rw_mutex11scoped_lockE" c"_ZN3tbb6detail2r119downgrade_to_readerERNS0_2d116queuing_rw_mutex11scoped_lockE";
    change rtm_release "_ZN3tbb6detail2r17releaseERNS0_2d19rtm_mutex11scoped_lockE" c"_ZN3tbb6detail2r17releaseERNS0_2d19rtm_mutex11scoped_lockE";
    change rtm_rw_release "_ZN3tbb6detail2r17releaseERNS0_2d112rtm_rw_mutex11scoped_lockE" c"_ZN3tbb6detail2r17releaseERNS0_2d112rtm_rw_mutex11scoped_lockE";
    change rtm_upgrade "_ZN3tbb6detail2r17upgradeERNS0_2d112rtm_rw_mutex11scoped_lockE" c"_ZN3tbb6detail2r17upgradeERNS0_2d112rtm_rw_mutex11scoped_lockE";
    change rtm_downgrade "_ZN3tbb6detail2r19downgradeERNS0_2d112rtm_rw_mutex11scoped_lockE" c"_ZN3tbb6detail2r19downgradeERNS0_2d112rtm_rw_mutex11scoped_lockE";
}
