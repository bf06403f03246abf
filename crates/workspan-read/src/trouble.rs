//! How often threads of the program did not wait for others as they should have.

use std::io;
use std::mem::{offset_of, size_of};

use workspan_wire::shm::Header;

use super::Snapshot;

/// Counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trouble {
    /// Times a thread went on without its turn.
    pub impatient: u64,
    /// Events that were skipped.
    pub unfollowed: u64,
    /// Waits of a loop's iterations for others that are in no order.
    pub unordered: u64,
    /// Interface version of a oneTBB that is not known to the collector; 0 for none.
    pub unknown_tbb: u64,
}

/// Reads them.
pub fn trouble(snapshot: &(impl Snapshot + ?Sized)) -> io::Result<Trouble> {
    let header = snapshot.read(0, size_of::<Header>())?;
    let word = |at: usize| header.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_ne_bytes);
    Ok(Trouble {
        impatient: word(offset_of!(Header, impatient)),
        unfollowed: word(offset_of!(Header, unfollowed)),
        unordered: word(offset_of!(Header, unordered)),
        unknown_tbb: word(offset_of!(Header, unknown_tbb)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_header_counts_is_read() {
        let mut memory = vec![0u8; size_of::<Header>()];
        for (at, count) in [
            (offset_of!(Header, impatient), 3u64),
            (offset_of!(Header, unfollowed), 4),
            (offset_of!(Header, unordered), 5),
            (offset_of!(Header, unknown_tbb), 12300),
        ] {
            memory[at..at + 8].copy_from_slice(&count.to_ne_bytes());
        }
        assert_eq!(
            trouble(&memory[..]).expect("it is whole"),
            Trouble { impatient: 3, unfollowed: 4, unordered: 5, unknown_tbb: 12300 }
        );
    }
}
