//! A sample of the memory: of all cache lines those whose number has certain lowest bits. What falls into a set of a cache stays
//! apart from all else, so that a cache of [`CLASSES`] sets or more is exact in the sets that are drawn.
//!
//! Recorded are all control events, the segments next to them, loops that one event stands for, and segments that touch a drawn line. Summaries are those of
//! all events: tasks, and how much they executed and touched, are exact.

use workspan_trace::bytes::{Malformed, Reader, Writer};

use crate::events::Access;

/// Bytes of a line.
pub const LINE: u64 = 64;
/// Classes that lines are divided into.
pub const CLASSES: usize = 256;

/// Which lines are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// One of how many.
    pub one_in: u32,
    /// A bit for each class.
    drawn: [u64; 4],
}

impl Sample {
    /// One of 2 to 32 lines, a power of two.
    pub fn new(one_in: u32) -> Option<Sample> {
        if !one_in.is_power_of_two() || !(2..=32).contains(&one_in) {
            return None;
        }
        let mut classes: Vec<u64> = (0..CLASSES as u64).collect();
        classes.sort_by_key(|class| hash(*class));
        let mut sample = Sample { one_in, drawn: [0; 4] };
        for class in classes.into_iter().take(CLASSES / one_in as usize) {
            sample.drawn[(class / 64) as usize] |= 1 << (class % 64);
        }
        Some(sample)
    }

    /// The class of a line.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "below 256")]
    pub fn class(line: u64) -> usize {
        (line % CLASSES as u64) as usize
    }

    /// True if a line is recorded.
    #[inline]
    pub fn has(&self, line: u64) -> bool {
        let class = line % CLASSES as u64;
        self.drawn[(class / 64) as usize] >> (class % 64) & 1 != 0
    }

    /// Classes that are drawn.
    pub fn classes(&self) -> u64 {
        self.drawn.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }

    pub(crate) fn encode(&self, out: &mut Writer) {
        out.number(self.one_in.into());
        self.drawn.iter().for_each(|bits| out.number(*bits));
    }

    pub(crate) fn decode(from: &mut Reader<'_>) -> Result<Sample, Malformed> {
        let mut sample = Sample { one_in: from.small()?, drawn: [0; 4] };
        for bits in &mut sample.drawn {
            *bits = from.number()?;
        }
        if sample.classes() == 0 || u64::from(sample.one_in).checked_mul(sample.classes()) != Some(CLASSES as u64) {
            return Err(Malformed);
        }
        Ok(sample)
    }

    /// True if a drawn line is accessed.
    pub(crate) fn touched_by(&self, access: &Access) -> bool {
        let last = access.address.saturating_add(access.size.saturating_sub(1)) / LINE;
        let first = access.address / LINE;
        access.size > 0 && (last - first >= CLASSES as u64 || (first..=last).any(|line| self.has(line)))
    }

    /// The parts of accesses that lie in drawn lines.
    pub(crate) fn part(&self, accesses: &[Access], into: &mut Vec<Access>) {
        into.clear();
        for access in accesses.iter().filter(|access| access.size > 0) {
            let end = access.address.saturating_add(access.size);
            for line in access.address / LINE..=(end - 1) / LINE {
                if self.has(line) {
                    let address = access.address.max(line * LINE);
                    into.push(Access {
                        address,
                        size: end.min((line * LINE).saturating_add(LINE)) - address,
                        ..*access
                    });
                }
            }
        }
    }
}

fn hash(class: u64) -> u64 {
    let mut state = class.wrapping_add(0x9e37_79b9_7f4a_7c15);
    state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ state >> 31
}
