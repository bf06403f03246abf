//! The shared memory as bytes, and its units.

use std::io;

use workspan_model::Nanos;

/// A place to read from: the shared memory.
pub trait Snapshot {
    /// `length` bytes at `offset`.
    fn read(&self, offset: usize, length: usize) -> io::Result<Vec<u8>>;
}

impl Snapshot for [u8] {
    fn read(&self, offset: usize, length: usize) -> io::Result<Vec<u8>> {
        let end = offset.checked_add(length).ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(self.get(offset..end).ok_or(io::ErrorKind::UnexpectedEof)?.to_vec())
    }
}

/// Bytes of a `repr(C)` structure.
pub(crate) struct Record(pub(crate) Vec<u8>);

impl Record {
    pub(crate) fn read(snapshot: &(impl Snapshot + ?Sized), at: usize, length: usize) -> io::Result<Record> {
        snapshot.read(at, length).map(Record)
    }

    pub(crate) fn u32(&self, at: usize) -> u32 {
        self.0.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_ne_bytes)
    }

    pub(crate) fn u64(&self, at: usize) -> u64 {
        self.0.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_ne_bytes)
    }

    pub(crate) fn i64(&self, at: usize) -> i64 {
        self.0.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, i64::from_ne_bytes)
    }

    pub(crate) fn text(&self, at: usize, length: u32, room: usize) -> String {
        let length = (length as usize).min(room);
        String::from_utf8_lossy(self.0.get(at..at + length).unwrap_or(&[])).into_owned()
    }

    pub(crate) fn part(&self, at: usize, size: usize) -> Record {
        Record(self.0.get(at..at + size).map_or_else(Vec::new, <[u8]>::to_vec))
    }
}

/// Conversion of ticks.
pub(crate) struct Ticks {
    per_second: u64,
}

impl Ticks {
    pub(crate) fn new(per_second: u64) -> Ticks {
        Ticks { per_second: if per_second == 0 { 1_000_000_000 } else { per_second } }
    }

    pub(crate) fn nanos(&self, ticks: i64) -> Nanos {
        let scaled = i128::from(ticks) * 1_000_000_000 / i128::from(self.per_second);
        Nanos(i64::try_from(scaled).unwrap_or(if ticks < 0 { i64::MIN } else { i64::MAX }))
    }

    pub(crate) fn nanos_u(&self, ticks: u64) -> Nanos {
        self.nanos(i64::try_from(ticks).unwrap_or(i64::MAX))
    }

    /// 1/1024 ticks in picoseconds.
    pub(crate) fn fine_picos(&self, fine: i64) -> i64 {
        let scaled = i128::from(fine) * 1_000_000_000_000 / 1024 / i128::from(self.per_second);
        i64::try_from(scaled).unwrap_or(0)
    }
}
