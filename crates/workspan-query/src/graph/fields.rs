//! The columns of accesses and of allocations and releases.

use workspan_graph::program::place;
use workspan_graph::tables::{access, name, Column};
use workspan_graph::walk::{Deed, Item};
use workspan_trace::program::operation;

use super::shared::Shared;

/// What a column shows of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Task,
    Context,
    Thread,
    Chunk,
    Event,
    Iteration,
    Segment,
    Operation,
    Kind,
    Address,
    Size,
    Ticket,
    Atomic,
    Library,
    Function,
    File,
    Line,
}

/// Columns of `accesses`.
pub(super) const ACCESSES: &[(&str, Field)] = &[
    ("task", Field::Task),
    ("context", Field::Context),
    ("thread", Field::Thread),
    ("chunk", Field::Chunk),
    ("event", Field::Event),
    ("iteration", Field::Iteration),
    ("segment", Field::Segment),
    ("operation", Field::Operation),
    ("access", Field::Kind),
    ("address", Field::Address),
    ("size", Field::Size),
    ("atomic", Field::Atomic),
    ("library", Field::Library),
    ("function", Field::Function),
    ("file", Field::File),
    ("line", Field::Line),
];

/// Columns of `allocation_events`.
pub(super) const ALLOCATIONS: &[(&str, Field)] = &[
    ("task", Field::Task),
    ("context", Field::Context),
    ("thread", Field::Thread),
    ("chunk", Field::Chunk),
    ("event", Field::Event),
    ("segment", Field::Segment),
    ("what", Field::Kind),
    ("ticket", Field::Ticket),
    ("address", Field::Address),
    ("size", Field::Size),
    ("function", Field::Function),
    ("file", Field::File),
    ("line", Field::Line),
];

impl Field {
    /// An empty column.
    pub(super) fn column(self) -> Column {
        match self {
            Field::Task | Field::Kind | Field::Function | Field::File => Column::Text(Vec::new()),
            _ => Column::Number(Vec::new()),
        }
    }

    /// Adds what an item has to its column.
    pub(super) fn push(self, shared: &Shared, item: &Item, column: &mut Column) {
        match column {
            Column::Number(values) => {
                values.push(self.number(shared, item).and_then(|number| i64::try_from(number).ok()));
            }
            Column::Text(values) => values.push(self.text(shared, item)),
        }
    }

    fn number(self, shared: &Shared, item: &Item) -> Option<u64> {
        let (thread, chunk, event) = item.at;
        let found = match (self, item.deed) {
            (Field::Context, _) => item.piece.context.into(),
            (Field::Thread, _) => thread.into(),
            (Field::Chunk, _) => chunk.into(),
            (Field::Event, _) => event,
            (Field::Segment, _) => item.segment.into(),
            (Field::Line, _) => place_of(shared, item)?.1.into(),
            (Field::Iteration, Deed::Access(_, iteration)) => iteration,
            (Field::Operation, Deed::Access(access, _)) => access.operation.into(),
            (Field::Address, Deed::Access(access, _)) => access.address,
            (Field::Size, Deed::Access(access, _)) => access.size,
            (Field::Atomic, Deed::Access(access, _)) => u64::from(access.flags & operation::ATOMIC != 0),
            (Field::Library, Deed::Access(access, _)) => u64::from(access.flags & operation::LIBRARY != 0),
            (Field::Address, Deed::Allocate(address, ..) | Deed::Free(address, _)) => address,
            (Field::Size, Deed::Allocate(_, size, _)) => size,
            (Field::Ticket, Deed::Allocate(.., ticket) | Deed::Free(_, ticket)) => ticket,
            _ => return None,
        };
        Some(found)
    }

    fn text(self, shared: &Shared, item: &Item) -> Option<String> {
        match (self, item.deed) {
            (Field::Task, _) => shared.graph().0.tasks.get(item.piece.task? as usize).map(name),
            (Field::Kind, Deed::Access(what, _)) => Some(access(what.mode).to_owned()),
            (Field::Kind, Deed::Allocate(..)) => Some("allocate".to_owned()),
            (Field::Kind, Deed::Free(..)) => Some("free".to_owned()),
            (Field::File, _) => place_of(shared, item).map(|(file, _)| file.to_owned()),
            (Field::Function, _) => {
                let (loaded, segment) = shared.recording.program.segment(item.segment)?;
                loaded.module.functions.get(segment.function as usize).map(|function| function.name.clone())
            }
            _ => None,
        }
    }
}

/// Where it stands in the source: of allocations and releases, the call.
fn place_of<'s>(shared: &'s Shared, item: &Item) -> Option<(&'s str, u32)> {
    let program = &shared.recording.program;
    match item.deed {
        Deed::Access(access, _) => program.place(item.module as usize, access.operation as usize),
        Deed::Allocate(..) | Deed::Free(..) => {
            let (loaded, segment) = program.segment(item.segment)?;
            place(&loaded.module, segment.call_place)
        }
    }
}
