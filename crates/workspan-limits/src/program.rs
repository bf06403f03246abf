//! The code of a program, as it appears in a trace.

use std::collections::{HashMap, HashSet};

use crate::op::Op;
use crate::x86::Decode;

/// An instruction of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its address.
    pub address: u64,
    /// Its first bytes.
    pub bytes: [u8; 15],
    /// How many it has.
    pub len: u8,
}

impl Place {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len).min(15)]
    }
}

/// A file that code comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// First address.
    pub from: u64,
    /// Address behind the last.
    pub to: u64,
    /// Where in the file.
    pub offset: u64,
    /// Its path.
    pub path: Vec<u8>,
}

/// A block of code.
#[derive(Debug, Default)]
pub struct Block {
    /// Its instructions.
    pub ops: Vec<Op>,
    /// How often it ran.
    pub runs: u64,
}

/// All code that was seen.
#[derive(Debug, Default)]
pub struct Program {
    places: Vec<Place>,
    known: HashMap<u64, u32>,
    blocks: Vec<Block>,
    files: Vec<Mapped>,
    decode: Decode,
    /// Addresses at which other code was before.
    changed: u64,
    /// Instructions that cannot be decoded.
    unknown: u64,
    /// One of them.
    example: u32,
    /// Where functions of the allocator begin.
    allocators: HashSet<u64>,
}

impl Program {
    /// Nothing yet; number 0 is no instruction.
    pub fn new() -> Program {
        let none = Place { address: 0, bytes: [0; 15], len: 0 };
        Program { places: vec![none], ..Program::default() }
    }

    /// Words behind a record `ring::CODE` of `workspan-emulator`. Returns the block's id, if they are right.
    pub fn code(&mut self, words: &[u64]) -> Option<usize> {
        let (&[id, address, count], packed) = words.split_first_chunk::<3>()?;
        let count = usize::try_from(count).ok().filter(|count| *count <= 512)?;
        let bytes: Vec<u8> = packed.iter().flat_map(|word| word.to_le_bytes()).collect();
        let (lengths, mut bytes) = bytes.split_at_checked(count)?;
        let mut ops = Vec::with_capacity(count);
        let mut at = address;
        for len in lengths {
            let (this, rest) = bytes.split_at_checked(usize::from(*len))?;
            // QEMU 7.2 includes the beginning of an instruction that the next page continues; it runs in the next block.
            let may_cross = at % 4096 > 4096 - 15;
            if may_cross && ops.len() + 1 == count && count > 1 && self.decode.is_cut(at, this) {
                break;
            }
            ops.push(self.instruction(at, this));
            at = at.wrapping_add(u64::from(*len));
            bytes = rest;
        }
        drop_dead_flags(&mut ops);
        let id = usize::try_from(id).ok().filter(|id| *id < 1 << 28)?;
        if self.blocks.len() <= id {
            self.blocks.resize_with(id + 1, Block::default);
        }
        self.blocks[id].ops = ops;
        Some(id)
    }

    fn instruction(&mut self, address: u64, bytes: &[u8]) -> Op {
        let mut kept = [0; 15];
        let len = bytes.len().min(15);
        kept[..len].copy_from_slice(&bytes[..len]);
        let place = Place { address, bytes: kept, len: u8::try_from(len).unwrap_or(15) };
        let mut id = self.known.get(&address).copied().unwrap_or(0);
        if id == 0 || self.places[id as usize] != place {
            self.changed += u64::from(id != 0);
            id = u32::try_from(self.places.len()).unwrap_or(0);
            self.places.push(place);
            self.known.insert(address, id);
        }
        let op = self.decode.op(address, bytes).unwrap_or_else(|| {
            self.unknown += 1;
            self.example = id;
            Op::default()
        });
        Op { id, allocator: self.allocators.contains(&address), ..op }
    }

    /// Words behind a record `ring::FILE` of `workspan-emulator`. Returns the file.
    pub fn file(&mut self, words: &[u64]) -> Option<&Mapped> {
        let (&[from, to, offset, len], packed) = words.split_first_chunk::<4>()?;
        let mut path: Vec<u8> = packed.iter().flat_map(|word| word.to_le_bytes()).collect();
        path.truncate(usize::try_from(len).unwrap_or(0));
        self.files.push(Mapped { from, to, offset, path });
        self.files.last()
    }

    /// Functions of the allocator begin at these addresses, in code that comes from now on.
    pub fn allocators(&mut self, addresses: impl IntoIterator<Item = u64>) {
        self.allocators.extend(addresses);
    }

    /// A block.
    #[inline(always)]
    pub fn block(&self, id: u64) -> Option<&Block> {
        self.blocks.get(usize::try_from(id).ok()?)
    }

    /// A block ran once more.
    #[inline(always)]
    pub fn count(&mut self, id: u64) {
        if let Some(block) = usize::try_from(id).ok().and_then(|id| self.blocks.get_mut(id)) {
            block.runs += 1;
        }
    }

    /// All blocks.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// An instruction; number 0 is none.
    pub fn place(&self, id: u32) -> Option<&Place> {
        self.places.get(id as usize).filter(|place| place.len > 0)
    }

    /// How many instructions the program's code has, as far as it ran.
    pub fn instructions(&self) -> usize {
        self.places.len() - 1
    }

    /// The file that an address belongs to.
    pub fn file_of(&self, address: u64) -> Option<&Mapped> {
        self.files.iter().rev().find(|file| (file.from..file.to).contains(&address))
    }

    /// Files that code comes from.
    pub fn files(&self) -> &[Mapped] {
        &self.files
    }

    /// Instructions that took the place of others: code that was made while the program ran.
    pub fn changed(&self) -> u64 {
        self.changed
    }

    /// Instructions that could not be decoded, and the last of them.
    pub fn unknown(&self) -> (u64, u32) {
        (self.unknown, self.example)
    }
}

/// Flags that nobody reads before they are written again: a block runs as a whole.
fn drop_dead_flags(ops: &mut [Op]) {
    use crate::op::register::{CARRY, FLAGS, OVERFLOW};
    for flag in [CARRY, OVERFLOW, FLAGS] {
        let mut written_next = false;
        for op in ops.iter_mut().rev() {
            let writes = op.targets.contains(&flag);
            if writes && written_next {
                op.targets.retain(|target| target != flag);
            }
            written_next = (written_next || writes) && !op.sources.contains(&flag);
        }
    }
}
