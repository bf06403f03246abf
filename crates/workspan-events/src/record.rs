//! What the kernel writes about samples: records of a ring, decoded.
//!
//! **Invariant:** pure functions over bytes; a record that makes no sense is passed over, a damaged length ends the reading.

/// Something that happened in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'b> {
    /// A thread was seen at work.
    Sample(Sample<'b>),
    /// Code was mapped.
    Mapped(Mapped<'b>),
    /// This number of records did not fit.
    Lost(u64),
}

/// A thread at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample<'b> {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// When, in nanoseconds of the clock.
    pub time: u64,
    /// The program's registers, in the order of [`NAMES`]; of another machine or none: zeros.
    pub registers: [u64; 9],
    /// Its stack from the stack pointer on, as far as it came with the sample.
    pub stack: &'b [u8],
}

/// Code that was mapped into a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapped<'b> {
    /// Process.
    pub pid: u32,
    /// First address.
    pub address: u64,
    /// Bytes.
    pub length: u64,
    /// Where in the file they begin.
    pub offset: u64,
    /// The file's path, or a name in brackets.
    pub path: &'b [u8],
}

/// Registers that come with a sample, as bits: those by which callers are found.
pub const REGISTERS: u64 = 1 << 1 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 18 | 1 << 20 | 1 << 21 | 1 << 22 | 1 << 23;
/// Their numbers in debug information: rbx, rbp, rsp, rip (as the return address), r10, r12 to r15.
pub const NAMES: [u16; 9] = [3, 6, 7, 16, 10, 12, 13, 14, 15];

const MAPPED: u32 = 10;
const LOST: u32 = 2;
const SAMPLE: u32 = 9;
const HEADER: usize = 8;

/// The records in `bytes`.
pub fn records(mut bytes: &[u8]) -> impl Iterator<Item = Record<'_>> {
    std::iter::from_fn(move || loop {
        let header = word(bytes, 0)?;
        #[expect(clippy::cast_possible_truncation, reason = "its lower half")]
        let (kind, size) = (header as u32, (header >> 48) as usize);
        let payload = bytes.get(HEADER..size)?;
        bytes = &bytes[size..];
        let record = match kind {
            SAMPLE => sample(payload).map(Record::Sample),
            MAPPED => mapped(payload).map(Record::Mapped),
            LOST => word(payload, 8).map(Record::Lost),
            _ => None,
        };
        if record.is_some() {
            return record;
        }
    })
}

fn sample(bytes: &[u8]) -> Option<Sample<'_>> {
    let (pid, tid) = halves(word(bytes, 8)?);
    let time = word(bytes, 16)?;
    let mut registers = [0; 9];
    let mut at = 32;
    // Of a thread of the kernel there are none.
    if word(bytes, 24)? != 0 {
        for register in &mut registers {
            *register = word(bytes, at)?;
            at += 8;
        }
    }
    let room = usize::try_from(word(bytes, at)?).ok()?;
    let mut stack: &[u8] = &[];
    if room > 0 {
        let all = bytes.get(at + 8..at.checked_add(8)?.checked_add(room)?)?;
        let there = usize::try_from(word(bytes, at + 8 + room)?).ok()?;
        stack = &all[..there.min(room)];
    }
    Some(Sample { pid, tid, time, registers, stack })
}

fn mapped(bytes: &[u8]) -> Option<Mapped<'_>> {
    /// Device, inode and rights.
    const OTHER: usize = 32;
    let (pid, _) = halves(word(bytes, 0)?);
    let name = bytes.get(32 + OTHER..)?;
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    Some(Mapped {
        pid,
        address: word(bytes, 8)?,
        length: word(bytes, 16)?,
        offset: word(bytes, 24)?,
        path: &name[..end],
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// Two numbers of 32 bits, that at the lower address first.
#[expect(clippy::cast_possible_truncation, reason = "the halves")]
fn halves(word: u64) -> (u32, u32) {
    let (low, high) = (word as u32, (word >> 32) as u32);
    if cfg!(target_endian = "little") {
        (low, high)
    } else {
        (high, low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, payload: &[u64], rest: &[u8]) -> Vec<u8> {
        let size = HEADER + payload.len() * 8 + rest.len();
        let header = u64::from(kind) | (size as u64) << 48;
        let words = std::iter::once(&header).chain(payload).flat_map(|word| word.to_ne_bytes());
        words.chain(rest.iter().copied()).collect()
    }

    fn a_sample(there: u64) -> Vec<u8> {
        let registers: Vec<u64> = (1..=9).collect();
        let mut words = vec![0xdead, 7 << 32 | 5, 1234, 2];
        words.extend(&registers);
        words.extend([16, 0x1111, 0x2222, there]);
        record(SAMPLE, &words, &[])
    }

    #[test]
    fn samples_come_with_registers_and_the_stack_that_is_there() {
        let bytes = [a_sample(8), record(77, &[1, 2], &[]), a_sample(16)].concat();
        let found: Vec<Record<'_>> = records(&bytes).collect();
        let [Record::Sample(first), Record::Sample(second)] = found[..] else { panic!("{found:?}") };
        assert_eq!((first.pid, first.tid, first.time), (5, 7, 1234));
        assert_eq!(first.registers, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!((first.stack.len(), second.stack.len()), (8, 16));
        assert_eq!(first.stack, 0x1111_u64.to_ne_bytes());
    }

    #[test]
    fn mappings_have_a_path() {
        let bytes = record(MAPPED, &[5, 0x7000, 0x2000, 0x1000, 0, 0, 0, 0], b"/bin/prog\0\0\0\0\0\0\0");
        let expected = Mapped { pid: 5, address: 0x7000, length: 0x2000, offset: 0x1000, path: b"/bin/prog" };
        assert_eq!(records(&bytes).collect::<Vec<_>>(), [Record::Mapped(expected)]);
    }

    #[test]
    fn damaged_records_end_the_reading() {
        let whole = [a_sample(8), a_sample(8)].concat();
        for cut in 0..whole.len() {
            assert!(records(&whole[..cut]).count() <= 1, "{cut}");
        }
        // A stack that is longer than its record, and a length of nothing.
        let words = [0, 0, 0, 0, u64::MAX];
        assert_eq!(records(&record(SAMPLE, &words, &[])).count(), 0);
        assert_eq!(records(&[0; 64]).count(), 0);
    }
}
