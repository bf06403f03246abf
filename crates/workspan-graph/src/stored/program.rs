//! The static descriptions of all modules that a process registered, by id of a segment.

use std::collections::HashMap;

use workspan_trace::bytes::Malformed;
use workspan_trace::control::{Kind, FIRST_SEGMENT};
use workspan_trace::program::{flag, operation, Access, Module, Operation, Segment};

/// Ids that a process may use: more would be a damaged file.
const MOST_IDS: usize = 1 << 26;

/// Ids between those that are known and a further module, at most: descriptions come in any order.
const MOST_GAP: usize = 1 << 22;
/// Slots of all ids, at most.
const MOST_SLOTS: u64 = 1 << 28;

/// What an id stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Module + 1; 0: a control event, or nobody's.
    module: u32,
    /// Segment of the module.
    segment: u32,
    /// Slots of its event.
    pub slots: u32,
    /// Where its slots begin among those of all ids.
    pub first_slot: u32,
    /// Accesses that read, those of unknown number excluded.
    pub loads: u32,
    /// Accesses that write.
    pub stores: u32,
    /// Bytes accessed, where known.
    pub bytes: u32,
    /// Sizes or masks are in slots: what was accessed must be counted event by event.
    pub dynamic: bool,
    /// It begins a basic block.
    pub block: bool,
    /// It stands for all iterations of a loop.
    pub repeated: bool,
    /// The id is known.
    pub known: bool,
}

/// A module where it was loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Id of its first segment.
    pub base: u32,
    /// What it is.
    pub module: Module,
    /// Addresses of its variables.
    pub variables: Vec<u64>,
    /// Operations that stand for what a library reads and writes in a call at the end of a segment: the first of two.
    pub transfers: HashMap<u32, u32>,
}

/// All modules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// In the order of registration.
    pub modules: Vec<Loaded>,
    entries: Vec<Entry>,
    slots: u32,
}

impl Program {
    /// One that knows control events only.
    pub fn new() -> Program {
        let mut program = Program::default();
        for id in 0..FIRST_SEGMENT {
            let slots = Kind::of(id).map(|kind| small(kind.slots()));
            let entry = Entry { slots: slots.unwrap_or(0), known: slots.is_some(), ..Entry::default() };
            program.put(id, entry);
        }
        program
    }

    /// Adds a module, as the run-time handed it over.
    pub fn add(&mut self, base: u32, bytes: &[u8]) -> Result<(), Malformed> {
        let (mut module, rest) = Module::decode(bytes)?;
        let variables: Vec<u64> =
            rest.chunks_exact(8).filter_map(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes).collect();
        let last = (base as usize).saturating_add(module.segments.len());
        if base < FIRST_SEGMENT || last > MOST_IDS || variables.len() != module.symbols.len() {
            return Err(Malformed);
        }
        let slots: u64 = module.segments.iter().map(|segment| module.slots(segment) as u64).sum();
        if base as usize > self.entries.len() + MOST_GAP || u64::from(self.slots) + slots > MOST_SLOTS {
            return Err(Malformed);
        }
        let number = small(self.modules.len()) + 1;
        for (at, segment) in (0..).zip(&module.segments) {
            let entry = Entry { module: number, segment: at, ..describe(&module, segment) };
            self.put(base + at, entry);
        }
        let transfers = add_transfers(&mut module);
        self.modules.push(Loaded { base, module, variables, transfers });
        Ok(())
    }

    /// The bytes that [`Program::add`] makes a module of.
    pub fn encoded(loaded: &Loaded) -> Vec<u8> {
        let mut bytes = loaded.module.encode();
        bytes.extend(loaded.variables.iter().flat_map(|address| address.to_le_bytes()));
        bytes
    }

    fn put(&mut self, id: u32, entry: Entry) {
        let id = id as usize;
        if self.entries.len() <= id {
            self.entries.resize(id + 1, Entry::default());
        }
        self.entries[id] = Entry { first_slot: self.slots, ..entry };
        self.slots += entry.slots;
    }

    /// What an id stands for, if it is known.
    #[inline]
    pub fn entry(&self, id: u32) -> Option<&Entry> {
        self.entries.get(id as usize).filter(|entry| entry.known)
    }

    /// One more than the highest id.
    pub fn ids(&self) -> usize {
        self.entries.len()
    }

    /// Slots of all ids.
    pub fn slots(&self) -> usize {
        self.slots as usize
    }

    /// Module and segment of an id.
    #[inline]
    pub fn segment(&self, id: u32) -> Option<(&Loaded, &Segment)> {
        let entry = self.entry(id)?;
        let loaded = self.modules.get(entry.module.checked_sub(1)? as usize)?;
        Some((loaded, loaded.module.segments.get(entry.segment as usize)?))
    }

    /// Number of the module of an id.
    #[inline]
    pub fn module_of(&self, id: u32) -> u32 {
        self.entries.get(id as usize).map_or(0, |entry| entry.module.saturating_sub(1))
    }

    /// Id of the first operation of a segment: operations are counted over all modules.
    pub fn operation_base(&self, module: usize) -> u64 {
        self.modules.iter().take(module).map(|loaded| loaded.module.operations.len() as u64).sum()
    }

    /// File and line of an operation: of the innermost place.
    pub fn place(&self, module: usize, operation: usize) -> Option<(&str, u32)> {
        let module = &self.modules.get(module)?.module;
        place(module, module.operations.get(operation)?.place)
    }

    /// The operation that stands for what a library reads or writes in a call at the end of a segment; of no place otherwise.
    pub fn transfer(&self, id: u32, access: Access) -> u32 {
        let found = self.entry(id).and_then(|entry| {
            let loaded = self.modules.get(entry.module.checked_sub(1)? as usize)?;
            loaded.transfers.get(&entry.segment)
        });
        found.map_or(u32::MAX, |first| first + u32::from(access == Access::Store))
    }

    /// Basic blocks in all.
    pub fn blocks(&self) -> u64 {
        let functions = self.modules.iter().flat_map(|loaded| &loaded.module.functions);
        functions.map(|function| u64::from(function.blocks)).sum()
    }
}

/// Adds a read and a write, of a size that is known at run time, for each call of MPI. No segment has them.
fn add_transfers(module: &mut Module) -> HashMap<u32, u32> {
    let is_of_mpi = |segment: &Segment| {
        let name = module.text(segment.callee);
        segment.flags & flag::CALL != 0
            && ["MPI_", "PMPI_", "mpi_", "pmpi_"].iter().any(|start| name.starts_with(start))
    };
    let calls: Vec<(u32, u32)> = (0..)
        .zip(&module.segments)
        .filter(|(_, segment)| is_of_mpi(segment))
        .map(|(number, segment)| (number, segment.call_place))
        .collect();
    let mut found = HashMap::new();
    for (number, place) in calls {
        found.insert(number, small(module.operations.len()));
        let flags = operation::LIBRARY | operation::SIZE_SLOT;
        for access in [Access::Load, Access::Store] {
            module.operations.push(Operation { access, flags, place, ..Operation::default() });
        }
    }
    found
}

/// File and line of a place of a module.
pub fn place(module: &Module, place: u32) -> Option<(&str, u32)> {
    let place = module.places.get(place as usize)?;
    Some((module.text(place.file), place.line))
}

fn describe(module: &Module, segment: &Segment) -> Entry {
    let operations = module.operations_of(segment);
    let dynamic = |operation: &&Operation| operation.flags & (operation::SIZE_SLOT | operation::MASK_SLOT) != 0;
    let fixed = || operations.iter().filter(|operation| !dynamic(operation));
    let count = |wanted: fn(&Operation) -> bool| small(fixed().filter(|operation| wanted(operation)).count());
    Entry {
        slots: small(module.slots(segment)),
        loads: count(|operation| operation.access != Access::Store),
        stores: count(|operation| operation.access != Access::Load),
        bytes: fixed().fold(0, |sum: u32, operation| sum.saturating_add(operation.size)),
        dynamic: operations.iter().any(|operation| dynamic(&operation)),
        block: segment.flags & flag::BLOCK != 0,
        repeated: segment.flags & flag::REPEATED != 0,
        known: true,
        ..Entry::default()
    }
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
