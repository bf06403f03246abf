//! Calls that may wait for the outside world, other than those of the modules beside: of children, sockets, files, queues of the system.
//! Who makes one may be blocked; who makes none, and gives up its processor all the same, is not ([`workspan_collect::outside`]).

use workspan_collect::outside;

use super::shim::original;

/// Integers and pointers, in registers: as many as such a function may have.
type Function = unsafe extern "C-unwind" fn(u64, u64, u64, u64, u64, u64) -> u64;

macro_rules! forward {
    ($($name:ident $symbol:literal)*) => {$(
        /// # Safety
        ///
        /// As for the C library's.
        #[no_mangle]
        pub unsafe extern "C-unwind" fn $name(a: u64, b: u64, c: u64, d: u64, e: u64, f: u64) -> u64 {
            outside::call();
            // SAFETY: the caller's own arguments, of which the function takes those that it has.
            unsafe { original!($symbol as Function)(a, b, c, d, e, f) }
        }
    )*};
}

forward! {
    wait c"wait"
    waitpid c"waitpid"
    waitid c"waitid"
    wait3 c"wait3"
    wait4 c"wait4"
    system c"system"
    pclose c"pclose"
    sleep c"sleep"
    thrd_sleep c"thrd_sleep"
    select c"select"
    pselect c"pselect"
    accept c"accept"
    accept4 c"accept4"
    connect c"connect"
    recvfrom c"recvfrom"
    recvmmsg c"recvmmsg"
    fsync c"fsync"
    fdatasync c"fdatasync"
    flock c"flock"
    lockf c"lockf"
    msgrcv c"msgrcv"
    mq_receive c"mq_receive"
    mq_timedreceive c"mq_timedreceive"
    semop c"semop"
    semtimedop c"semtimedop"
}
