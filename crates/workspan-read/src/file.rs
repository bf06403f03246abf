//! `.wspan` files; `docs/format/wspan.md` is the description for others.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | [`MAGIC`] |
//! | 2 + 2 | [`MAJOR`] and [`MINOR`] version, little-endian |
//! | 4 | zero |
//! | … | sections: tag (4 bytes), length (8, little-endian), CRC-32 of the payload (4, little-endian), payload |
//!
//! Sections: `INFO`, `SITE`, `CTXT`, one `RUN ` per run, `END ` (empty). A reader skips unknown tags and ignores what
//! follows the known fields of a payload: that is how minor versions grow.
//!
//! **If you change a payload here, increment [`MINOR`], or [`MAJOR`] if older readers would misread it.**

mod events;
mod ran;
mod sites;
mod waits;

use crate::codec::{Decoder, Encoder};
use crate::counts;
use crate::problem::Problem;
use workspan_model::histogram::Bucket;
use workspan_model::{
    AskedBy, AskedThreads, Clock, ContextId, ContextTree, Ending, Exit, Feature, Histogram, Lock, Machine, Nanos,
    OnPath, OpenRegion, Recording, Run, SiteId, Totals, UnseenLock,
};

/// First bytes: not text, and damaged by line-ending conversion.
pub const MAGIC: [u8; 8] = *b"\x89WSPAN\r\n";
/// Readers of another major version cannot read the file.
pub const MAJOR: u16 = 1;
/// Readers of an older minor version skip what they do not know.
pub const MINOR: u16 = 12;

const HEADER: usize = 16;
const SECTION: usize = 16;

/// Why a file is not read at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Something else.
    #[error("this is not a workspan recording")]
    Foreign,
    /// Nothing but a beginning.
    #[error("the recording is empty: it ends before its first section")]
    Empty,
    /// Another major version.
    #[error(
        "the recording has format {major}.{minor}, this workspan reads format {MAJOR} \
         (use the workspan that made it, or record again)"
    )]
    Version {
        /// Its major version.
        major: u16,
        /// Its minor version.
        minor: u16,
    },
}

/// The bytes of a file.
pub fn encode(recording: &Recording) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&MAJOR.to_le_bytes());
    out.extend_from_slice(&MINOR.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    section(&mut out, b"INFO", info(recording));
    let mut sites = sites::encode(&recording.sites);
    // Since minor version 8.
    ran::encode(&recording.ran, &mut sites);
    section(&mut out, b"SITE", sites);
    section(&mut out, b"CTXT", contexts(&recording.contexts));
    for run in &recording.runs {
        section(&mut out, b"RUN ", encode_run(run));
    }
    section(&mut out, b"END ", Encoder::default());
    out
}

/// The recording in a file, as far as it is intact, and what is wrong with the rest.
pub fn decode(bytes: &[u8]) -> Result<(Recording, Vec<Problem>), ReadError> {
    let magic = bytes.len().min(MAGIC.len());
    if bytes[..magic] != MAGIC[..magic] || bytes.is_empty() {
        return Err(ReadError::Foreign);
    }
    let Some(header) = bytes.get(..HEADER) else {
        return Err(ReadError::Empty);
    };
    let (major, minor) = (u16::from_le_bytes([header[8], header[9]]), u16::from_le_bytes([header[10], header[11]]));
    if major != MAJOR {
        return Err(ReadError::Version { major, minor });
    }
    let mut recording = Recording::default();
    let mut problems = Vec::new();
    let mut rest = &bytes[HEADER..];
    let mut ended = false;
    let mut seen_any = false;
    while !ended && !rest.is_empty() {
        let Some((tag, payload, intact, after)) = next_section(rest) else {
            break;
        };
        rest = after;
        seen_any = true;
        let mut decoder = Decoder::new(payload);
        // What comes after a table refers to it by number, so a table that comes late would change what that means.
        let in_order = match tag {
            b"SITE" => recording.contexts.len() == 1 && recording.runs.is_empty(),
            b"CTXT" => recording.runs.is_empty(),
            _ => true,
        };
        let understood = intact
            && in_order
            && match tag {
                b"INFO" => decode_info(&mut decoder, &mut recording).is_some(),
                b"SITE" => decode_sites(&mut decoder, &mut recording).is_some(),
                b"CTXT" => decode_contexts(&mut decoder, recording.sites.len())
                    .map(|contexts| recording.contexts = contexts)
                    .is_some(),
                b"RUN " => decode_run(&mut decoder, recording.contexts.len(), recording.sites.len())
                    .map(|run| recording.runs.push(run))
                    .is_some(),
                b"END " => {
                    ended = true;
                    true
                }
                _ => {
                    problems.push(Problem::Unknown { part: name(tag) });
                    true
                }
            };
        if !understood {
            problems.push(Problem::Damaged { part: name(tag) });
        }
    }
    if !seen_any {
        return Err(ReadError::Empty);
    }
    if !ended {
        problems.push(Problem::Truncated);
    }
    Ok((recording, problems))
}

fn name(tag: &[u8; 4]) -> String {
    tag.iter().map(|b| if b.is_ascii_graphic() { char::from(*b) } else { ' ' }).collect::<String>().trim().to_owned()
}

/// Tag, payload, whether the checksum is right, and what follows.
type Section<'a> = (&'a [u8; 4], &'a [u8], bool, &'a [u8]);

fn next_section(bytes: &[u8]) -> Option<Section<'_>> {
    let header = bytes.get(..SECTION)?;
    let tag: &[u8; 4] = header.first_chunk()?;
    let length = u64::from_le_bytes(header[4..12].try_into().ok()?);
    let crc = u32::from_le_bytes(header[12..16].try_into().ok()?);
    let end = SECTION.checked_add(usize::try_from(length).ok()?)?;
    let payload = bytes.get(SECTION..end)?;
    Some((tag, payload, crc32fast::hash(payload) == crc, &bytes[end..]))
}

fn section(out: &mut Vec<u8>, tag: &[u8; 4], payload: Encoder) {
    let payload = payload.into_bytes();
    out.extend_from_slice(tag);
    out.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    out.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
    out.extend_from_slice(&payload);
}

fn info(recording: &Recording) -> Encoder {
    let mut e = Encoder::default();
    e.unsigned(recording.command.len() as u64);
    for word in &recording.command {
        e.text(word);
    }
    e.text(&recording.directory).text(&recording.made_by).text(&recording.runtime).unsigned(recording.made_at);
    let machine = &recording.machine;
    e.text(&machine.processor).unsigned(u64::from(machine.cpus)).text(&machine.system);
    e.unsigned(machine.ticks_per_second);
    for length in machine.interrupt_ns {
        e.unsigned(length);
    }
    e.unsigned(machine.interrupt_period_ns);
    e.unsigned(u64::from(recording.has_debug_info));
    e.text(recording.debug_info_problem.as_deref().unwrap_or_default());
    // Since minor version 4.
    e.unsigned(machine.steal_ns);
    // Since minor version 12.
    e.unsigned(recording.unseen_locks.len() as u64);
    for UnseenLock { lock, file, line } in &recording.unseen_locks {
        e.text(lock).text(file).unsigned(u64::from(*line));
    }
    e
}

fn decode_info(d: &mut Decoder<'_>, recording: &mut Recording) -> Option<()> {
    let words = d.count()?;
    recording.command = (0..words).map(|_| d.text()).collect::<Option<_>>()?;
    recording.directory = d.text()?;
    recording.made_by = d.text()?;
    recording.runtime = d.text()?;
    recording.made_at = d.unsigned()?;
    recording.machine = Machine {
        processor: d.text()?,
        cpus: d.small()?,
        system: d.text()?,
        ticks_per_second: d.unsigned()?,
        interrupt_ns: [d.unsigned()?, d.unsigned()?, d.unsigned()?],
        interrupt_period_ns: d.unsigned()?,
        steal_ns: 0,
    };
    recording.has_debug_info = d.unsigned()? != 0;
    // Since minor version 2.
    if !d.is_empty() {
        recording.debug_info_problem = Some(d.text()?).filter(|text| !text.is_empty());
    }
    // Since minor version 4.
    if !d.is_empty() {
        recording.machine.steal_ns = d.unsigned()?;
    }
    // Since minor version 12.
    if !d.is_empty() {
        let lock = |d: &mut Decoder<'_>| Some(UnseenLock { lock: d.text()?, file: d.text()?, line: d.small()? });
        recording.unseen_locks = (0..d.count()?).map(|_| lock(d)).collect::<Option<_>>()?;
    }
    Some(())
}

fn decode_sites(d: &mut Decoder<'_>, recording: &mut Recording) -> Option<()> {
    recording.sites = sites::decode(d)?;
    recording.ran = ran::decode(d, recording.sites.len())?;
    Some(())
}

fn contexts(tree: &ContextTree) -> Encoder {
    let mut e = Encoder::default();
    e.unsigned(tree.len() as u64 - 1);
    for context in tree.ids().skip(1).filter_map(|id| tree.get(id)) {
        e.unsigned(u64::from(context.parent.0)).unsigned(context.site.map_or(0, |s| u64::from(s.0)));
    }
    e
}

fn decode_contexts(d: &mut Decoder<'_>, sites: usize) -> Option<ContextTree> {
    /// As many as a collector has room for. Interning takes time by their square: a second or two for all of them.
    const MOST: usize = 1 << 16;
    let count = d.count()?;
    if count > MOST {
        return None;
    }
    let mut tree = ContextTree::default();
    for _ in 0..count {
        let (parent, site) = (ContextId(d.small()?), d.small()?);
        if site as usize >= sites {
            return None;
        }
        tree.intern(parent, SiteId(site))?;
    }
    Some(tree)
}

fn encode_run(run: &Run) -> Encoder {
    let mut e = Encoder::default();
    let nanos = |e: &mut Encoder, value: Nanos| {
        e.signed(value.0);
    };
    e.unsigned(u64::from(run.clock == Clock::Virtual));
    match run.exit {
        Exit::Code(code) => e.unsigned(0).signed(i64::from(code)),
        Exit::Signal(signal) => e.unsigned(1).signed(i64::from(signal)),
    };
    e.unsigned(match run.ending {
        Ending::Clean => 0,
        Ending::InsideRegion => 1,
        Ending::Unseen => 2,
    });
    for value in [
        run.wall,
        run.cpu,
        run.span,
        run.lost_path,
        run.idle,
        run.preempted,
        run.blocked,
        run.interrupted,
        run.collector,
        run.displaced,
    ] {
        nanos(&mut e, value);
    }
    for value in [run.workers, run.pools, run.threads, run.other_processes] {
        e.unsigned(u64::from(value));
    }
    e.unsigned(run.logical_cores.map_or(0, u64::from)).unsigned(run.interrupts);
    e.signed(run.join_cost_ps).signed(run.probe_cost_ps).signed(run.batched_probe_cost_ps);
    e.unsigned(run.features.iter().map(|f| 1 << feature_bit(*f)).sum());
    for value in [run.losses.sites, run.losses.contexts, run.losses.threads, run.losses.path_nodes] {
        e.unsigned(value);
    }
    e.unsigned(run.totals.len() as u64);
    for totals in &run.totals {
        for value in
            [totals.self_work, totals.work, totals.span, totals.task_work, totals.overhead, totals.blocked, totals.wall]
        {
            nanos(&mut e, value);
        }
        for value in [totals.instances, totals.entries, totals.tasks, totals.items] {
            e.unsigned(value);
        }
        e.unsigned(totals.sizes.buckets().len() as u64);
        for bucket in totals.sizes.buckets() {
            nanos(&mut e, bucket.low);
            nanos(&mut e, bucket.high - bucket.low);
            e.unsigned(bucket.count);
        }
    }
    e.unsigned(run.critical.len() as u64);
    for value in &run.critical {
        nanos(&mut e, *value);
    }
    e.unsigned(run.open.len() as u64);
    for open in &run.open {
        e.unsigned(u64::from(open.context.0)).unsigned(u64::from(open.outermost));
        nanos(&mut e, open.span);
    }
    // Since minor version 3.
    nanos(&mut e, run.uniform_span);
    for totals in &run.totals {
        nanos(&mut e, totals.uniform_span);
        nanos(&mut e, totals.contended);
        match totals.lock {
            Lock::None => e.unsigned(0),
            Lock::Several => e.unsigned(1),
            Lock::One(lock) => e.unsigned(2).unsigned(lock),
        };
    }
    // Since minor version 4.
    for totals in &run.totals {
        e.unsigned(totals.on_path.instances);
        nanos(&mut e, totals.on_path.work);
        nanos(&mut e, totals.on_path.span);
    }
    // Since minor version 5.
    nanos(&mut e, run.steal);
    nanos(&mut e, run.burdened_span);
    for totals in &run.totals {
        nanos(&mut e, totals.burdened_span);
    }
    // Since minor version 6.
    events::encode(&mut e, &run.events);
    // Since minor version 7.
    let bits =
        run.asked.iter().flat_map(|asked| &asked.by).map(|by| 1 << asked_bit(*by)).fold(0, |all, bit: u64| all | bit);
    e.unsigned(bits).unsigned(run.asked.as_ref().map_or(0, |asked| u64::from(asked.answer)));
    // Since minor version 9.
    for totals in &run.totals {
        nanos(&mut e, totals.polled);
    }
    // Since minor version 10.
    nanos(&mut e, run.first_use);
    // Since minor version 11.
    waits::encode(&mut e, &run.waits);
    e
}

fn decode_run(d: &mut Decoder<'_>, contexts: usize, sites: usize) -> Option<Run> {
    let mut run = Run {
        clock: if d.unsigned()? == 0 { Clock::Real } else { Clock::Virtual },
        exit: match d.unsigned()? {
            0 => Exit::Code(i32::try_from(d.signed()?).ok()?),
            _ => Exit::Signal(i32::try_from(d.signed()?).ok()?),
        },
        ending: match d.unsigned()? {
            0 => Ending::Clean,
            1 => Ending::InsideRegion,
            _ => Ending::Unseen,
        },
        ..Run::default()
    };
    for value in [
        &mut run.wall,
        &mut run.cpu,
        &mut run.span,
        &mut run.lost_path,
        &mut run.idle,
        &mut run.preempted,
        &mut run.blocked,
        &mut run.interrupted,
        &mut run.collector,
        &mut run.displaced,
    ] {
        *value = Nanos(d.signed()?);
    }
    for value in [&mut run.workers, &mut run.pools, &mut run.threads, &mut run.other_processes] {
        *value = d.small()?;
    }
    run.logical_cores = Some(d.small()?).filter(|n| *n > 0);
    run.interrupts = d.unsigned()?;
    run.join_cost_ps = d.signed()?;
    run.probe_cost_ps = d.signed()?;
    run.batched_probe_cost_ps = d.signed()?;
    let bits = d.unsigned()?;
    run.features = FEATURES.into_iter().filter(|f| bits & 1 << feature_bit(*f) != 0).collect();
    let losses = &mut run.losses;
    for value in [&mut losses.sites, &mut losses.contexts, &mut losses.threads, &mut losses.path_nodes] {
        *value = d.unsigned()?;
    }
    let count = d.count().filter(|n| *n <= contexts)?;
    run.totals = (0..count).map(|_| decode_totals(d)).collect::<Option<_>>()?;
    let with_totals = count;
    let count = d.count().filter(|n| *n <= contexts)?;
    run.critical = (0..count).map(|_| d.signed().map(Nanos)).collect::<Option<_>>()?;
    run.totals.resize(contexts, Totals::default());
    run.critical.resize(contexts, Nanos::ZERO);
    let count = d.count()?;
    run.open = (0..count)
        .map(|_| {
            let context = ContextId(d.small().filter(|c| (*c as usize) < contexts)?);
            Some(OpenRegion { context, outermost: d.unsigned()? != 0, span: Nanos(d.signed()?) })
        })
        .collect::<Option<_>>()?;
    // Since minor version 3.
    if !d.is_empty() {
        run.uniform_span = Nanos(d.signed()?);
        for totals in run.totals.iter_mut().take(with_totals) {
            totals.uniform_span = Nanos(d.signed()?);
            totals.contended = Nanos(d.signed()?);
            totals.lock = match d.unsigned()? {
                0 => Lock::None,
                1 => Lock::Several,
                _ => Lock::One(d.unsigned()?),
            };
        }
    }
    // Since minor version 4.
    if !d.is_empty() {
        for totals in run.totals.iter_mut().take(with_totals) {
            totals.on_path = OnPath { instances: d.unsigned()?, work: Nanos(d.signed()?), span: Nanos(d.signed()?) };
        }
    }
    // Since minor version 5.
    if !d.is_empty() {
        run.steal = Nanos(d.signed()?);
        run.burdened_span = Nanos(d.signed()?);
        for totals in run.totals.iter_mut().take(with_totals) {
            totals.burdened_span = Nanos(d.signed()?);
        }
    }
    // Since minor version 6.
    if !d.is_empty() {
        run.events = events::decode(d, contexts)?;
    }
    // Since minor version 7.
    if !d.is_empty() {
        let (bits, answer) = (d.unsigned()?, d.small()?);
        let by: Vec<_> = AskedBy::ALL.into_iter().filter(|by| bits & 1 << asked_bit(*by) != 0).collect();
        run.asked = (!by.is_empty()).then_some(AskedThreads { answer, by });
    }
    // Since minor version 9.
    if !d.is_empty() {
        for totals in run.totals.iter_mut().take(with_totals) {
            totals.polled = Nanos(d.signed()?);
        }
    }
    // Since minor version 10.
    if !d.is_empty() {
        run.first_use = Nanos(d.signed()?);
    }
    // Since minor version 11.
    if !d.is_empty() {
        run.waits = waits::decode(d, sites)?;
    }
    counts::plausible(&run).then_some(run)
}

fn decode_totals(d: &mut Decoder<'_>) -> Option<Totals> {
    let mut totals = Totals::default();
    for value in [
        &mut totals.self_work,
        &mut totals.work,
        &mut totals.span,
        &mut totals.task_work,
        &mut totals.overhead,
        &mut totals.blocked,
        &mut totals.wall,
    ] {
        *value = Nanos(d.signed()?);
    }
    for value in [&mut totals.instances, &mut totals.entries, &mut totals.tasks, &mut totals.items] {
        *value = d.unsigned()?;
    }
    let count = d.count()?;
    let mut buckets = Vec::new();
    for _ in 0..count {
        let (low, width, count) = (d.signed()?, d.signed()?, d.unsigned()?);
        if width < 1 {
            return None;
        }
        buckets.push(Bucket { low: Nanos(low), high: Nanos(low.checked_add(width)?), count });
    }
    if buckets.windows(2).any(|pair| pair[0].high > pair[1].low) {
        return None;
    }
    totals.sizes = Histogram::new(buckets);
    Some(totals)
}

const FEATURES: [Feature; 4] =
    [Feature::SwitchWitness, Feature::InterruptWitness, Feature::RunDelay, Feature::SteadyCounter];

fn asked_bit(by: AskedBy) -> u32 {
    AskedBy::ALL.iter().zip(0..).find(|(known, _)| **known == by).map_or(0, |(_, bit)| bit)
}

fn feature_bit(feature: Feature) -> u32 {
    FEATURES.iter().zip(0..).find(|(f, _)| **f == feature).map_or(0, |(_, bit)| bit)
}
