//! From the columns of a row group to strands.

use workspan_model::nesting::Details;
use workspan_model::{ContextId, Creation, Event, Nanos, Strand};

use super::part::{Part, Region};
use crate::parquet::chunk::{Shape, Unpacker, Values};
use crate::parquet::footer::Physical::{self, Bytes, Int32, Int64};
use crate::schema::EVENTS;

/// Most rows of a row group that are read.
const MOST_ROWS: usize = 1 << 20;

/// What is to be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) times: bool,
}

/// Decodes row groups; keeps its memory.
#[derive(Debug)]
pub(super) struct Decoder {
    unpacker: Unpacker,
    bytes: Vec<u8>,
    columns: Columns,
}

#[derive(Debug, Default)]
struct Columns {
    event: Values,
    context: Values,
    cost: Values,
    blocked: Values,
    start: Values,
    thread: Values,
    value: Values,
    inner: Values,
    outward: Values,
    overhead: Values,
}

impl Decoder {
    pub(super) fn new() -> Option<Decoder> {
        Some(Decoder { unpacker: Unpacker::new().ok()?, bytes: Vec::new(), columns: Columns::default() })
    }

    /// The strands of a row group; `None` if it makes no sense.
    pub(super) fn decode(
        &mut self,
        part: &Part,
        group: usize,
        wanted: Wanted,
        strands: &mut Vec<Strand>,
    ) -> Option<()> {
        let region = part.read(group, &mut self.bytes)?;
        let rows = region.rows();
        if rows > MOST_ROWS {
            return None;
        }
        let columns = &mut self.columns;
        let unpacker = &mut self.unpacker;
        let mut read = |name, physical, optional, values| column(unpacker, &region, name, physical, optional, values);
        read("event", Bytes, false, &mut columns.event)?;
        read("context", Int32, false, &mut columns.context)?;
        read("cost_ns", Int64, false, &mut columns.cost)?;
        read("blocked_ns", Int64, false, &mut columns.blocked)?;
        if wanted.times {
            read("start_ns", Int64, false, &mut columns.start)?;
            read("thread", Int32, false, &mut columns.thread)?;
        }
        read("value", Int64, true, &mut columns.value)?;
        read("inner_context", Int32, true, &mut columns.inner)?;
        read("outward", Int32, true, &mut columns.outward)?;
        read("overhead_ns", Int64, true, &mut columns.overhead)?;
        strands.clear();
        strands.reserve(rows);
        columns.strands(rows, wanted, strands)
    }
}

/// The values of a column; `None` if they make no sense, or are too many.
pub(super) fn column(
    unpacker: &mut Unpacker,
    region: &Region<'_, '_>,
    name: &str,
    physical: Physical,
    optional: bool,
    values: &mut Values,
) -> Option<()> {
    let rows = region.rows();
    if rows > MOST_ROWS {
        return None;
    }
    let (bytes, chunk) = region.column(name, physical, optional)?;
    // No encoding takes more than a little above the numbers themselves.
    let shape = Shape { physical, optional, zstd: chunk.zstd, rows, page: rows * 10 + (1 << 16) };
    unpacker.read(bytes, shape, values)
}

impl Columns {
    fn strands(&self, rows: usize, wanted: Wanted, strands: &mut Vec<Strand>) -> Option<()> {
        let codes: Vec<u8> = self.event.texts.iter().map(|word| code(word)).collect::<Option<_>>()?;
        let number = |values: &Values, row: usize| values.numbers.get(row).copied();
        // Those of columns that are null in some rows come one after the other.
        let mut cells = Cells {
            value: self.value.numbers.iter(),
            inner: self.inner.numbers.iter(),
            outward: self.outward.numbers.iter(),
            overhead: self.overhead.numbers.iter(),
            waited_for: None,
        };
        for row in 0..rows {
            let code = *codes.get(usize::try_from(number(&self.event, row)?).ok()?)?;
            cells.waited_for = self.outward.present.get(row).copied();
            let event = Event::of(code, &mut cells)?;
            let (start, thread) = if wanted.times {
                (number(&self.start, row)?, u16::try_from(number(&self.thread, row)?).ok()?)
            } else {
                (0, 0)
            };
            strands.push(Strand {
                event,
                context: ContextId(u32::try_from(number(&self.context, row)?).ok()?),
                cost: Nanos(number(&self.cost, row)?),
                blocked: Nanos(number(&self.blocked, row)?),
                start: Nanos(start),
                thread,
            });
        }
        // Values of rows that should have none.
        cells.are_used_up().then_some(())
    }
}

fn code(word: &[u8]) -> Option<u8> {
    EVENTS.iter().position(|event| event.as_bytes() == word).and_then(|code| u8::try_from(code).ok())
}

type Numbers<'a> = std::slice::Iter<'a, i64>;

/// What rows have in the columns that are null in some of them.
struct Cells<'a> {
    value: Numbers<'a>,
    inner: Numbers<'a>,
    outward: Numbers<'a>,
    overhead: Numbers<'a>,
    /// Whether the row has a group, as far as is known.
    waited_for: Option<bool>,
}

impl Cells<'_> {
    fn are_used_up(&self) -> bool {
        [&self.value, &self.inner, &self.outward, &self.overhead].iter().all(|numbers| numbers.len() == 0)
    }
}

impl Details for Cells<'_> {
    fn count(&mut self) -> Option<u32> {
        u32::try_from(*self.value.next()?).ok()
    }

    fn context(&mut self) -> Option<ContextId> {
        Some(ContextId(u32::try_from(*self.inner.next()?).ok()?))
    }

    fn creation(&mut self) -> Option<Creation> {
        let waited_for = self.waited_for?;
        Some(Creation {
            context: self.context()?,
            group: if waited_for { Some(u16::try_from(*self.outward.next()?).ok()?) } else { None },
            overhead: Nanos(*self.overhead.next()?),
        })
    }
}
