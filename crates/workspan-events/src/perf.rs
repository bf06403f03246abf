//! The kernel's counters: `perf_event_open`.
//!
//! A counter is opened by the thread that will start the program, asleep, to be inherited: it wakes when a child of this thread calls
//! `exec`, counts in all of that program's threads and children, and has their sums when they have ended. So nothing is done in
//! the program, and this process counts nothing of its own.
#![expect(unsafe_code, reason = "a system call that no library wraps")]

use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::counters::{Reading, Refused, Source};
use crate::name::{Attributes, Devices, Folder};

/// Counts in programs that this thread starts from now on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Children;

/// Size of what the kernel reads (`PERF_ATTR_SIZE_VER5`), in words.
const WORDS: usize = 14;
/// Times are reported beside values (`PERF_FORMAT_TOTAL_TIME_ENABLED`, `_RUNNING`).
const WITH_TIMES: u64 = 1 | 2;
/// Bits of the flags.
const DISABLED: u64 = 1;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const ENABLE_ON_EXEC: u64 = 1 << 12;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_ulong = 8;

impl Source for Children {
    type Counter = fs::File;

    fn open(&mut self, event: &Attributes, group: Option<&fs::File>) -> Result<fs::File, Refused> {
        match open(event, group, event.user) {
            // Of one's own programs, outside of the kernel, is always permitted; but the kernel's own events have no outside.
            Err(Refused::NotPermitted) if !event.user && event.device != crate::name::SOFTWARE => {
                open(event, group, true)
            }
            other => other,
        }
    }

    fn read(&mut self, counter: &fs::File) -> Result<Reading, Refused> {
        let mut words = [0u64; 3];
        let mut bytes = [0u8; 24];
        let mut counter = counter;
        counter.read_exact(&mut bytes).map_err(|error| refused(&error))?;
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = bytes.try_into().map_or(0, u64::from_ne_bytes);
        }
        let [value, enabled, running] = words;
        Ok(Reading { value, enabled, running })
    }
}

fn open(event: &Attributes, group: Option<&fs::File>, user: bool) -> Result<fs::File, Refused> {
    let mut attributes = [0u64; WORDS];
    let size = u64::try_from(size_of_val(&attributes)).unwrap_or(0);
    // Two numbers of 32 bits each, the first at the lower address.
    attributes[0] = if cfg!(target_endian = "little") {
        u64::from(event.device) | size << 32
    } else {
        u64::from(event.device) << 32 | size
    };
    attributes[1] = event.config[0];
    attributes[4] = WITH_TIMES;
    let outside = if user { EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR } else { 0 };
    // Members of a group sleep as long as its first does.
    let asleep = if group.is_none() { DISABLED | ENABLE_ON_EXEC } else { 0 };
    attributes[5] = INHERIT | asleep | outside;
    attributes[7] = event.config[1];
    attributes[8] = event.config[2];
    let group = group.map_or(-1, AsRawFd::as_raw_fd);
    // SAFETY: the kernel reads as many bytes as the structure says that it has, which is the array's size, and writes nothing
    // unless it refuses that size, and then only there. All other arguments are numbers.
    let descriptor =
        unsafe { libc::syscall(libc::SYS_perf_event_open, attributes.as_mut_ptr(), 0, -1, group, CLOSE_ON_EXEC) };
    match i32::try_from(descriptor) {
        Ok(descriptor) if descriptor >= 0 => {
            // SAFETY: the kernel has just made it, and nobody else knows it.
            let owned = unsafe { OwnedFd::from_raw_fd(descriptor) };
            Ok(fs::File::from(owned))
        }
        _ => Err(refused(&io::Error::last_os_error())),
    }
}

fn refused(error: &io::Error) -> Refused {
    Refused::of_code(error.raw_os_error().unwrap_or(0))
}

/// What this machine says of its counters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine;

const DEVICES: &str = "/sys/bus/event_source/devices";

/// A name that stays in its folder.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains('/')
}

impl Devices for Machine {
    fn number(&self, device: &str) -> Option<u32> {
        let path = format!("{DEVICES}/{device}/type");
        fs::read_to_string(path).ok().filter(|_| is_plain(device))?.trim().parse().ok()
    }

    fn describe(&self, device: &str, folder: Folder, name: &str) -> Option<String> {
        let folder = match folder {
            Folder::Format => "format",
            Folder::Events => "events",
        };
        let path = format!("{DEVICES}/{device}/{folder}/{name}");
        fs::read_to_string(path).ok().filter(|_| is_plain(device) && is_plain(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse, Counters};
    use std::process::Command;

    /// Of the kernel's own events, which machines without counters have, too.
    #[test]
    fn faults_of_a_program_are_counted() {
        let events = parse("page-faults:u,cycles", &Machine).expect("they are known");
        let mut counters = Counters::open(Children, &events);
        let ended = Command::new("true").status();
        assert!(ended.is_ok_and(|status| status.success()));
        let read = counters.read();
        match &read[0] {
            Ok(count) => assert!(count.value > 10.0, "{count:?}"),
            // Where perf events are forbidden altogether.
            Err(refused) => assert!(matches!(refused, Refused::NotPermitted | Refused::NotThere), "{refused}"),
        }
        if let Ok(count) = &read[1] {
            assert!(count.value > 1000.0, "{count:?}");
        }
    }

    #[test]
    fn devices_are_those_of_the_machine() {
        if fs::exists(format!("{DEVICES}/software/type")).unwrap_or(false) {
            assert_eq!(Machine.number("software"), Some(1));
        }
        assert_eq!(Machine.number("../devices/software"), None);
        assert_eq!(Machine.describe("cpu", Folder::Format, "../type"), None);
    }
}
