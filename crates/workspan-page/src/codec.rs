//! What a page carries, as bytes.
//!
//! | part | form |
//! |---|---|
//! | mark | 8 bytes |
//! | cost of a steal | nanoseconds |
//! | what was [merged](crate::shorten) | rows that are gone, threshold, work elsewhere |
//! | sites | number; of each the number of its kind and, of serial code, its two neighbours |
//! | contexts | number, without the root; of each its parent, its site, and its lock: 0 for none, 1 for several, from 2 on which |
//! | rows | number; length of each of three columns; the columns |
//!
//! Columns: *tags*, a byte for each row, with its event, whether its context is that of the row before, and whether it was
//! blocked; *details*, numbers that only some rows have; *costs*. Numbers are [as short as they are small](crate::numbers).
//! Neither start nor thread of a strand is there: what needs them is computed before.
//!
//! A row takes three to four bytes, and about two when deflated.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use workspan_analysis::Rows;
use workspan_model::nesting::{Detail, Details};
use workspan_model::{
    ContextId, ContextTree, Creation, Event, Lock, Nanos, Recording, Run, Site, SiteId, SiteKind, Strand, Totals,
};

use crate::numbers::{write, write_signed, Numbers};
use crate::shorten::{Merged, Shortener};

const MARK: &[u8; 8] = b"wsppage5";

const SAME_CONTEXT: u8 = 0x20;
const BLOCKED: u8 = 0x40;
const EVENT: u8 = 0x1f;

/// Rows with the contexts that they name. It is [`Rows`]: each reading decodes it.
#[derive(Debug)]
pub struct Carried {
    /// Kinds of sites, contexts, and what a steal costs; of runs, one that has the locks of contexts if there are any; nothing else of a
    /// recording.
    pub recording: Recording,
    /// What was merged; the last context is that of what was.
    pub merged: Merged,
    rows: u64,
    tags: Vec<u8>,
    details: Vec<u8>,
    costs: Vec<u8>,
}

/// Why bytes cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodecError;

/// The rows of a run of `recording`.
pub fn encode<R: Rows + ?Sized>(recording: &Recording, rows: &R) -> Result<Vec<u8>, R::Error> {
    let mut columns = Columns::default();
    rows.read(&mut |batch| {
        batch.iter().for_each(|row| columns.push(row));
        ControlFlow::Continue(())
    })?;
    Ok(written(recording, &columns, &Merged::default()))
}

/// The same, with what has less work than a threshold [merged](crate::shorten).
pub fn encode_merged<R: Rows + ?Sized>(
    recording: &Recording,
    rows: &R,
    threshold: Nanos,
) -> Result<(Vec<u8>, Merged), R::Error> {
    shortened(recording, rows, threshold).map(|(bytes, merged, _)| (bytes, merged))
}

/// And whether a larger threshold merges no more.
fn shortened<R: Rows + ?Sized>(
    recording: &Recording,
    rows: &R,
    threshold: Nanos,
) -> Result<(Vec<u8>, Merged, bool), R::Error> {
    let (recording, context) = with_context(recording);
    let mut shortener = Shortener::new(threshold, context);
    loop {
        let ordered = shortener.needs_order();
        shortener = Shortener::new(threshold, context);
        if ordered {
            shortener = shortener.with_order();
        }
        let mut columns = Columns::default();
        rows.read(&mut |batch| {
            batch.iter().for_each(|row| shortener.push(row, &mut |row| columns.push(row)));
            if shortener.needs_order() {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        if !shortener.needs_order() {
            let all = shortener.refused_none();
            let merged = shortener.finish(&mut |row| columns.push(row));
            return Ok((written(&recording, &columns, &merged), merged, all));
        }
    }
}

/// The rows, of which there are `count`, merged until there are at most this number. The threshold grows by a factor of four each
/// time. Where nothing more can be merged there are as many as there are, and no more thresholds are tried.
pub fn encode_within<R: Rows + ?Sized>(
    recording: &Recording,
    rows: &R,
    count: u64,
    most: u64,
) -> Result<(Vec<u8>, Merged), R::Error> {
    if count <= most {
        return Ok((encode(recording, rows)?, Merged::default()));
    }
    let mut threshold = Nanos(1_000);
    loop {
        let (bytes, merged, all) = shortened(recording, rows, threshold)?;
        if all || count - merged.rows <= most || threshold.0 > i64::MAX / 8 {
            return Ok((bytes, merged));
        }
        threshold = threshold * 4;
    }
}

/// The recording with a context for what is merged.
fn with_context(recording: &Recording) -> (Recording, ContextId) {
    let mut sites: Vec<Site> = recording.sites.iter().map(|known| site(known.kind)).collect();
    let id = SiteId(u32::try_from(sites.len()).unwrap_or(u32::MAX));
    sites.push(site(SiteKind::Serial { from: None, to: None }));
    let mut contexts = recording.contexts.clone();
    let context = contexts.intern(ContextId::ROOT, id).unwrap_or(ContextId::ROOT);
    let (machine, runs) = (recording.machine.clone(), recording.runs.clone());
    (Recording { sites, contexts, machine, runs, ..Recording::default() }, context)
}

fn written(recording: &Recording, columns: &Columns, merged: &Merged) -> Vec<u8> {
    let mut out = MARK.to_vec();
    write(&mut out, recording.machine.steal_ns);
    write(&mut out, merged.rows);
    write_signed(&mut out, merged.threshold.0);
    write_signed(&mut out, merged.elsewhere.0);
    write(&mut out, recording.sites.len() as u64);
    for site in &recording.sites {
        write_kind(&mut out, site.kind);
    }
    let tree = &recording.contexts;
    write(&mut out, tree.len() as u64 - 1);
    let mut locks = BTreeMap::new();
    for (id, context) in tree.ids().skip(1).filter_map(|id| Some((id, tree.get(id)?))) {
        write(&mut out, u64::from(context.parent.0));
        write(&mut out, context.site.map_or(0, |site| u64::from(site.0)));
        let known = locks.len() as u64;
        write(
            &mut out,
            match lock(recording, id) {
                Lock::None => 0,
                Lock::Several => 1,
                Lock::One(number) => *locks.entry(number).or_insert(known) + 2,
            },
        );
    }
    write(&mut out, columns.rows);
    for column in [&columns.tags, &columns.details, &columns.costs] {
        write(&mut out, column.len() as u64);
    }
    for column in [&columns.tags, &columns.details, &columns.costs] {
        out.extend_from_slice(column);
    }
    out
}

/// The lock of a context, as far as a run says.
fn lock(recording: &Recording, id: ContextId) -> Lock {
    let locks = recording.runs.iter().filter_map(|run| run.totals.get(id.index())).map(|totals| totals.lock);
    locks.into_iter().find(|lock| *lock != Lock::None).unwrap_or_default()
}

fn write_kind(out: &mut Vec<u8>, kind: SiteKind) {
    write(out, u64::from(kind.row().number) - 1);
    for end in kind.ends().into_iter().flatten() {
        write(out, end.map_or(0, |site| u64::from(site.0) + 1));
    }
}

#[derive(Default)]
struct Columns {
    rows: u64,
    tags: Vec<u8>,
    details: Vec<u8>,
    costs: Vec<u8>,
    context: u32,
}

impl Columns {
    fn push(&mut self, row: &Strand) {
        let mut tag = event_number(row.event);
        let details = &mut self.details;
        if row.context.0 == self.context {
            tag |= SAME_CONTEXT;
        } else {
            write_signed(details, i64::from(row.context.0) - i64::from(self.context));
            self.context = row.context.0;
        }
        match row.event.detail() {
            Detail::Count(number) if tag & EVENT < ONE_ITERATION => write(details, u64::from(number)),
            Detail::Creation(Creation { context, group, overhead }) => {
                write_signed(details, i64::from(context.0) - i64::from(row.context.0));
                write(details, group.map_or(0, |group| u64::from(group) + 1));
                write_signed(details, overhead.0);
            }
            Detail::Context(context) => write_signed(details, i64::from(context.0) - i64::from(row.context.0)),
            Detail::Count(_) | Detail::None => {}
        }
        if row.blocked != Nanos::ZERO {
            tag |= BLOCKED;
            write_signed(details, row.blocked.0);
        }
        write_signed(&mut self.costs, row.cost.0);
        self.tags.push(tag);
        self.rows += 1;
    }
}

/// From here on: forks of one iteration, and what divides them, have numbers of their own.
const ONE_ITERATION: u8 = 17;

fn event_number(event: Event) -> u8 {
    match event {
        Event::Fork(1) => ONE_ITERATION,
        Event::Next(1) => ONE_ITERATION + 1,
        other => other.number(),
    }
}

impl Carried {
    /// From bytes, all of which are looked at.
    pub fn decode(bytes: &[u8]) -> Result<Carried, CodecError> {
        Carried::read(bytes).ok_or(CodecError)
    }

    fn read(bytes: &[u8]) -> Option<Carried> {
        let mut numbers = Numbers::new(bytes.strip_prefix(MARK.as_slice())?);
        let mut recording = Recording::default();
        recording.machine.steal_ns = numbers.next()?;
        let merged = Merged {
            rows: numbers.next()?,
            threshold: Nanos(numbers.next_signed()?),
            elsewhere: Nanos(numbers.next_signed()?),
        };
        for _ in 0..numbers.next_u32()? {
            recording.sites.push(site(read_kind(&mut numbers)?));
        }
        let locks;
        (recording.contexts, locks) = read_contexts(&mut numbers, recording.sites.len())?;
        if locks.iter().any(|lock| *lock != Lock::None) {
            let totals = locks.into_iter().map(|lock| Totals { lock, ..Totals::default() }).collect();
            recording.runs.push(Run { totals, ..Run::default() });
        }
        let rows = numbers.next()?;
        let lengths = [numbers.next()?, numbers.next()?, numbers.next()?];
        let [tags, details, costs] = lengths.map(|length| numbers.take(length));
        let (tags, details, costs) = (tags?.to_vec(), details?.to_vec(), costs?.to_vec());
        let carried = Carried { recording, merged, rows, tags, details, costs };
        let mut decoder = Decoder::new(&carried);
        let mut found = 0;
        while decoder.next()?.is_some() {
            found += 1;
        }
        (numbers.is_empty() && found == rows).then_some(carried)
    }

    /// Rows.
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// The context of what was merged, if anything was.
    pub fn merged_context(&self) -> Option<ContextId> {
        let last = u32::try_from(self.recording.contexts.len() - 1).ok()?;
        (self.merged.rows > 0).then_some(ContextId(last))
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }
}

fn read_kind(numbers: &mut Numbers<'_>) -> Option<SiteKind> {
    let kind = SiteKind::numbered(numbers.next_u32()?.checked_add(1)?, None, None)?;
    if kind.ends().is_none() {
        return Some(kind);
    }
    let mut end = || Some(numbers.next_u32()?.checked_sub(1).map(SiteId));
    let (from, to) = (end()?, end()?);
    Some(kind.with_ends(from, to))
}

fn read_contexts(numbers: &mut Numbers<'_>, sites: usize) -> Option<(ContextTree, Vec<Lock>)> {
    let mut tree = ContextTree::default();
    let mut locks = vec![Lock::None];
    for number in 1..=numbers.next_u32()? {
        let (parent, site) = (ContextId(numbers.next_u32()?), SiteId(numbers.next_u32()?));
        // Each is new, or the numbers would not be those of the rows.
        let known = (site.0 as usize) < sites;
        tree.intern(parent, site).filter(|id| known && id.0 == number)?;
        locks.push(match numbers.next()? {
            0 => Lock::None,
            1 => Lock::Several,
            one => Lock::One(one),
        });
    }
    Some((tree, locks))
}

fn site(kind: SiteKind) -> Site {
    Site::at(kind, "", 0, 0)
}

struct Decoder<'a> {
    tags: std::slice::Iter<'a, u8>,
    details: Numbers<'a>,
    costs: Numbers<'a>,
    context: u32,
}

impl<'a> Decoder<'a> {
    fn new(carried: &'a Carried) -> Decoder<'a> {
        Decoder {
            tags: carried.tags.iter(),
            details: Numbers::new(&carried.details),
            costs: Numbers::new(&carried.costs),
            context: 0,
        }
    }

    /// The next row, if there is one; `None` if it is broken, or something is left over.
    #[inline]
    fn next(&mut self) -> Option<Option<Strand>> {
        let Some(tag) = self.tags.next() else {
            return (self.details.is_empty() && self.costs.is_empty()).then_some(None);
        };
        if tag & SAME_CONTEXT == 0 {
            self.context = self.near(self.context)?;
        }
        let context = ContextId(self.context);
        let event = self.event(tag & EVENT)?;
        let blocked = if tag & BLOCKED == 0 { 0 } else { self.details.next_signed()? };
        let cost = self.costs.next_signed()?;
        Some(Some(Strand { event, context, cost: Nanos(cost), blocked: Nanos(blocked), start: Nanos::ZERO, thread: 0 }))
    }

    #[inline]
    fn near(&mut self, context: u32) -> Option<u32> {
        u32::try_from(i64::from(context).checked_add(self.details.next_signed()?)?).ok()
    }

    #[inline]
    fn event(&mut self, number: u8) -> Option<Event> {
        match number.checked_sub(ONE_ITERATION) {
            None => Event::of(number, self),
            Some(0) => Some(Event::Fork(1)),
            Some(1) => Some(Event::Next(1)),
            Some(_) => None,
        }
    }
}

impl Details for Decoder<'_> {
    #[inline]
    fn count(&mut self) -> Option<u32> {
        self.details.next_u32()
    }

    #[inline]
    fn context(&mut self) -> Option<ContextId> {
        self.near(self.context).map(ContextId)
    }

    fn creation(&mut self) -> Option<Creation> {
        let context = self.context()?;
        let group = match self.details.next()?.checked_sub(1) {
            Some(group) => Some(u16::try_from(group).ok()?),
            None => None,
        };
        Some(Creation { context, group, overhead: Nanos(self.details.next_signed()?) })
    }
}

/// Rows of a batch: few enough to stay in the cache when several analyses look at them.
const BATCH: usize = 512;

impl Rows for Carried {
    type Error = std::convert::Infallible;

    fn read(&self, take: &mut dyn FnMut(&[Strand]) -> ControlFlow<()>) -> Result<(), Self::Error> {
        let mut decoder = Decoder::new(self);
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            batch.clear();
            // Broken rows were refused when this was decoded.
            while batch.len() < BATCH {
                let Some(row) = decoder.next().flatten() else {
                    break;
                };
                batch.push(row);
            }
            if batch.is_empty() || take(&batch).is_break() {
                return Ok(());
            }
        }
    }
}
