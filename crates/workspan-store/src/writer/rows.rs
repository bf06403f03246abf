//! Strands as columns.

use bytes::Bytes;
use parquet::data_type::ByteArray;
use workspan_model::nesting::Detail;
use workspan_model::{Creation, Strand};

use crate::schema::EVENTS;
use crate::tasks::Tasks;
use crate::{StoreError, GROUP_ROWS};

/// A column that is null in some rows: which have a value, and the values.
#[derive(Debug)]
pub(crate) struct Optional<T> {
    pub(crate) present: Vec<i16>,
    pub(crate) values: Vec<T>,
}

impl<T> Optional<T> {
    fn new() -> Optional<T> {
        Optional { present: Vec::with_capacity(GROUP_ROWS), values: Vec::new() }
    }

    fn push(&mut self, value: Option<T>) {
        self.present.push(i16::from(value.is_some()));
        self.values.extend(value);
    }

    fn clear(&mut self) {
        self.present.clear();
        self.values.clear();
    }
}

/// The rows of a row group, as far as they have come.
#[derive(Debug)]
pub(crate) struct Rows {
    words: [ByteArray; EVENTS.len()],
    tasks: Tasks,
    /// Strands before these.
    before: i64,
    pub(crate) run: Vec<i32>,
    pub(crate) strand: Vec<i64>,
    pub(crate) task: Vec<i64>,
    pub(crate) event: Vec<ByteArray>,
    pub(crate) context: Vec<i32>,
    pub(crate) cost: Vec<i64>,
    pub(crate) blocked: Vec<i64>,
    pub(crate) start: Vec<i64>,
    pub(crate) thread: Vec<i32>,
    pub(crate) value: Optional<i64>,
    pub(crate) inner: Optional<i32>,
    pub(crate) outward: Optional<i32>,
    pub(crate) overhead: Optional<i64>,
    pub(crate) seen: Optional<i64>,
}

impl Rows {
    pub(crate) fn new(run: u32) -> Rows {
        Rows {
            words: EVENTS.map(|word| ByteArray::from(Bytes::from_static(word.as_bytes()))),
            tasks: Tasks::default(),
            before: 0,
            // The only column that is the same for all; cut to length when it is written.
            run: vec![i32::try_from(run).unwrap_or(i32::MAX); GROUP_ROWS],
            strand: Vec::with_capacity(GROUP_ROWS),
            task: Vec::with_capacity(GROUP_ROWS),
            event: Vec::with_capacity(GROUP_ROWS),
            context: Vec::with_capacity(GROUP_ROWS),
            cost: Vec::with_capacity(GROUP_ROWS),
            blocked: Vec::with_capacity(GROUP_ROWS),
            start: Vec::with_capacity(GROUP_ROWS),
            thread: Vec::with_capacity(GROUP_ROWS),
            value: Optional::new(),
            inner: Optional::new(),
            outward: Optional::new(),
            overhead: Optional::new(),
            seen: Optional::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.strand.len()
    }

    /// Tasks so far, the root included.
    pub(crate) fn tasks(&self) -> i64 {
        self.tasks.count()
    }

    pub(crate) fn clear(&mut self) {
        self.before += i64::try_from(self.len()).unwrap_or(0);
        for column in [&mut self.strand, &mut self.task, &mut self.cost, &mut self.blocked, &mut self.start] {
            column.clear();
        }
        self.event.clear();
        self.context.clear();
        self.thread.clear();
        self.value.clear();
        self.inner.clear();
        self.outward.clear();
        self.overhead.clear();
        self.seen.clear();
    }

    /// The next strands, with the numbers by which a tool saw them, as far as it did.
    pub(crate) fn push(&mut self, strands: &[Strand], seen: &[u64]) -> Result<(), StoreError> {
        let seen = seen.iter().map(|number| i64::try_from(*number).ok().filter(|number| *number > 0));
        let seen = seen.chain(std::iter::repeat(None));
        let numbers = self.before + i64::try_from(self.len()).unwrap_or(0)..;
        for ((strand, number), seen) in strands.iter().zip(numbers).zip(seen) {
            let (value, inner, creation) = match strand.event.detail() {
                Detail::Count(count) => (Some(count), None, None),
                Detail::Creation(creation) => (None, Some(creation.context), Some(creation)),
                Detail::Context(context) => (None, Some(context), None),
                Detail::None => (None, None, None),
            };
            let context = small("context", strand.context.0)?;
            let inner = inner.map(|context| small("context", context.0)).transpose()?;
            let outward = creation.and_then(|Creation { group, .. }| group);
            self.context.push(context);
            self.strand.push(number);
            self.task.push(self.tasks.step(&strand.event));
            self.event.push(self.words[usize::from(strand.event.number())].clone());
            self.cost.push(strand.cost.0);
            self.blocked.push(strand.blocked.0);
            self.start.push(strand.start.0);
            self.thread.push(i32::from(strand.thread));
            self.value.push(value.map(i64::from));
            self.inner.push(inner);
            self.outward.push(outward.map(i32::from));
            self.overhead.push(creation.map(|creation| creation.overhead.0));
            self.seen.push(seen);
        }
        Ok(())
    }
}

fn small(what: &'static str, number: u32) -> Result<i32, StoreError> {
    i32::try_from(number).map_err(|_| StoreError::TooLarge { what, number: number.into() })
}
