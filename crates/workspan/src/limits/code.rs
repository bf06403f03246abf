//! Words of a trace for tracers that see one instruction at a time: each is a block of its own.

use std::collections::{BTreeSet, HashMap};
use std::fs;

use workspan_wire::trace;

/// Writes words.
#[derive(Debug, Default)]
pub struct Code {
    /// Blocks by their address.
    known: HashMap<u64, u64>,
    /// First addresses of files whose code was seen.
    files: BTreeSet<u64>,
    /// The words.
    pub words: Vec<u64>,
}

/// A file in the memory of a process.
#[derive(Clone, Debug)]
pub struct Mapped {
    /// First address.
    pub from: u64,
    /// Address behind the last.
    pub to: u64,
    /// Where in the file.
    pub offset: u64,
    /// Its path; empty if it has none.
    pub path: String,
    /// Whether code may be there.
    pub runs: bool,
}

impl Code {
    /// True if the instruction at an address is known.
    pub fn knows(&self, address: u64) -> bool {
        self.known.contains_key(&address)
    }

    /// An instruction that has not run before, in this file if in any.
    pub fn learn(&mut self, address: u64, bytes: &[u8], file: Option<&Mapped>) {
        if let Some(file) = file.filter(|file| file.path.starts_with('/') && self.files.insert(file.from)) {
            let path = file.path.as_bytes();
            let mut body = vec![file.from, file.to, file.offset, path.len() as u64];
            pack(path, &mut body);
            self.record(trace::FILE, &body);
        }
        let id = self.known.len() as u64;
        self.known.insert(address, id);
        let mut body = vec![id, address, 1];
        let packed: Vec<u8> = [&[u8::try_from(bytes.len()).unwrap_or(15)], bytes].concat();
        pack(&packed, &mut body);
        self.record(trace::CODE, &body);
    }

    /// An instruction that is known begins to run.
    pub fn ran(&mut self, address: u64) {
        let id = self.known.get(&address).copied().unwrap_or(0);
        self.words.push(trace::record(trace::BLOCK, id));
    }

    /// The instruction accesses memory.
    pub fn access(&mut self, address: u64, size: u64, store: bool) {
        let (mut at, end) = (address, address.wrapping_add(size));
        while at < end {
            // The largest power of two that fits.
            let bits = u64::from((end - at).ilog2()).min(7);
            self.words.push(trace::access(0, bits, store, at));
            at += 1 << bits;
        }
    }

    /// Another record.
    pub fn record(&mut self, kind: u64, body: &[u64]) {
        self.words.push(trace::record(kind, body.len() as u64));
        self.words.extend_from_slice(body);
    }
}

fn pack(bytes: &[u8], into: &mut Vec<u64>) {
    for part in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        into.push(u64::from_le_bytes(word));
    }
}

/// What a process has in its memory.
pub fn mapped(process: i32) -> Vec<Mapped> {
    let Ok(maps) = fs::read_to_string(format!("/proc/{process}/maps")) else { return Vec::new() };
    let one = |line: &str| {
        let mut parts = line.splitn(6, ' ');
        let (from, to) = parts.next()?.split_once('-')?;
        let rights = parts.next()?;
        let offset = u64::from_str_radix(parts.next()?, 16).ok()?;
        let path = parts.nth(2).unwrap_or_default().trim_start().to_owned();
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        Some(Mapped { from: number(from)?, to: number(to)?, offset, path, runs: rights.contains('x') })
    };
    maps.lines().filter_map(one).collect()
}
