//! A sample of the time of a run: a few long excerpts, each of which is a row of chunks of one thread. No other chunk is read.
//!
//! **What an excerpt says.** Its caches begin empty. A set of an LRU cache that has held as many lines of the excerpt as it has ways
//! holds the same as if the run had been simulated from its beginning. So a miss that evicts a line is a miss, and a hit a hit; what
//! alone is unknown are misses that take an empty place: as many as places have been taken. With `m` misses, `u` of them unknown,
//! the run had `m − u` to `m`.
//!
//! **Estimate.** The run is divided into strata of equally many accesses, in each of which an excerpt begins at an access that a fixed hash
//! chooses. With `a` accesses to lines in an excerpt, `p = (m − u/2)/a`, the share of all is the mean of `p` of `n` excerpts (Cochran, *Sampling
//! Techniques*, 1977: chapter 9A, Hansen and Hurwitz), and its error that of differences between neighbours,
//! `(1 − f) Σ(p − p')² / 2 n (n − 1)` for a share `f` of the run (chapter 5A.12), with Student's t of `n/2` degrees of freedom, and
//! half of the mean of `u/a` besides, which is a bound. Strata are rows of chunks that execute much the same. Only caches of one
//! thread each can be sampled so.

use workspan_trace::control::Kind;
use workspan_trace::program::Access as Mode;

use crate::bounds::Bounds;
use crate::cache::{Caches, Impossible, Size};
use crate::codec::Decoder;
use crate::events::{Access, Events};
use crate::file::{ChunkInfo, Problem, Recording};
use crate::ranks;
use crate::replay::{most_iterations, Iterations};

/// A way to choose excerpts.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// Excerpts, at least and at most.
    count: (u64, u64),
    /// Accesses of each, at least.
    length: u64,
    /// One of how many accesses is simulated, of a run with fewer than [`MANY`].
    share: u64,
}

const fn scale(count: (u64, u64), length: u64, share: u64) -> Scale {
    Scale { count, length, share }
}

/// Ways to choose excerpts for caches of more lines than one number and at most another, in turn until one says enough: small ones forget soon,
/// large ones need long excerpts, and if too much is unknown to them, fewer and longer ones.
const SCALES: [(u64, u64, &[Scale]); 3] = [
    (2048, u64::MAX, &[scale((8, 16), LONG, MOSTLY), scale((4, 6), LONG, MOSTLY)]),
    (512, 2048, &[scale((8, 16), 1 << 17, 96), scale((8, 64), 1 << 17, MOSTLY)]),
    (0, 512, &[scale((16, 50), 1 << 15, 96), scale((16, 200), 1 << 15, MOSTLY)]),
];
/// One of how many accesses is simulated, unless fewer do.
const MOSTLY: u64 = 24;
/// Part of what is wanted that the error must not exceed for the next way not to be tried.
const ENOUGH: f64 = 0.7;
/// How many times what is wanted must not be unknown for the next way to be tried.
const HOPELESS: f64 = 3.0;
/// Accesses of a run from which on whoever asks says which part is simulated.
const MANY: u64 = 1 << 32;
/// Long excerpts, and how many of them show whether too much is unknown.
const LONG: u64 = 1 << 18;
const FIRST: usize = 3;
/// Accesses of an event, and one miss of how many accesses, from which on it takes less to simulate some sets of all the run; and
/// accesses of an event from which on few excerpts may do.
const LOOPS: u64 = 4;
const LONG_LOOPS: u64 = 32;
const OFTEN: u64 = 8;
/// What says more is damaged: sums of fewer than 2²⁴ chunks are numbers.
const MOST_OF_CHUNK: u64 = 1 << 40;
/// Quantiles of Student's distribution at 95 %, by degrees of freedom.
const QUANTILES: [(usize, f64); 8] =
    [(30, 2.05), (15, 2.14), (8, 2.31), (6, 2.45), (5, 2.58), (4, 2.78), (3, 3.19), (0, 4.31)];

/// What an excerpt showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Excerpt {
    /// Lines accessed.
    accesses: u64,
    /// Of each cache: misses, and how many of them may be hits.
    misses: Vec<(u64, u64)>,
}

/// What a sample says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sampled {
    /// Misses of each size, as far as they are known well enough.
    pub sizes: Vec<Size>,
    /// All sizes are.
    pub suffices: bool,
    /// If they are not: to simulate [some sets](Caches::sampled) of all the run takes hardly less than to simulate all.
    pub no_sets: bool,
}

/// Misses of each size in a run of which one of about `one_in` accesses is simulated, with an error of a share `wanted` of the
/// accesses; nothing if it has too few chunks for that, or damaged ones.
pub fn sizes(
    recording: &Recording,
    (line, ways): (u64, u64),
    (smallest, largest): (u64, u64),
    (one_in, wanted): (u64, f64),
) -> Result<Option<Sampled>, Unsampled> {
    let all: Vec<Chunk<'_>> = chunks(recording);
    let total: u64 = all.iter().map(|chunk| chunk.accesses).sum();
    let events = recording.chunks.iter().fold(0, |sum: u64, chunk| sum.saturating_add(chunk.summary.events));
    let mut sizes = Vec::new();
    for (above, up_to, scales) in SCALES {
        let (from, to) = (smallest.max(above.saturating_mul(line) + 1), largest.min(up_to.saturating_mul(line)));
        if from > to {
            continue;
        }
        let caches = match Caches::new(line, ways, (from, to)) {
            Ok(caches) => caches.watching(),
            // No such size has room for a set.
            Err(Impossible::Sizes) => continue,
            Err(error) => return Err(error.into()),
        };
        let mut found = Found::new();
        // What loops do is much the same for long; of other programs little would not be enough.
        let is_worth = |scale: &&Scale| scale.share <= MOSTLY || total >= events.saturating_mul(LONG_LOOPS);
        for scale in scales.iter().filter(is_worth) {
            let share = if total < MANY { one_in.min(scale.share) } else { one_in };
            let other = sample(recording, &caches, (&all, total), (*scale, share, wanted))?;
            if let Some(other) = other.filter(|other| found.is_empty() || error(other) < error(&found)) {
                found = other;
            }
            let hopeless =
                |(size, unknown): &(Size, u64)| !Size { error: *unknown, ..*size }.is_within(HOPELESS * wanted);
            if error(&found) <= wanted * ENOUGH || found.iter().any(hopeless) {
                break;
            }
        }
        if found.is_empty() {
            return Ok(None);
        }
        if error(&found) > wanted {
            let misses_often = found.first().is_some_and(|(size, _)| size.misses.saturating_mul(OFTEN) > size.accesses);
            let no_sets = total < events.saturating_mul(LOOPS) && !misses_often;
            return Ok(Some(Sampled { sizes, suffices: false, no_sets }));
        }
        sizes.extend(found.into_iter().map(|(size, _)| size));
    }
    sizes.sort_by_key(|size| size.bytes);
    Ok(Some(Sampled { sizes, suffices: true, no_sets: false }))
}

/// Misses of each size, and how much of the error is what is unknown.
type Found = Vec<(Size, u64)>;

/// The largest error, as a share of the accesses.
#[expect(clippy::cast_precision_loss, reason = "compared")]
fn error(found: &Found) -> f64 {
    let share = |(size, _): &(Size, u64)| size.error as f64 / size.accesses.max(1) as f64;
    if found.is_empty() {
        return f64::INFINITY;
    }
    found.iter().map(share).fold(0.0, f64::max)
}

fn sample(
    recording: &Recording,
    caches: &Caches,
    (all, total): (&[Chunk<'_>], u64),
    (scale, share, wanted): (Scale, u64, f64),
) -> Result<Option<Found>, Problem> {
    let most = total / share.max(1);
    let count = (most / scale.length).min(scale.count.1);
    if count < scale.count.0 {
        return Ok(None);
    }
    let length = most / count;
    let mut decoder = Decoder::default();
    let mut bytes = Vec::new();
    let mut excerpts = Vec::new();
    for place in places(&units(all, length), total / count, (length, count)) {
        let mut caches = caches.fresh();
        let mut skipped = place.offset;
        for chunk in place.chunks {
            let left = place.length.saturating_sub(caches.seen());
            if !run(recording, chunk.info, &mut decoder, (&mut caches, skipped, left))? {
                return Ok(None);
            }
            skipped = 0;
        }
        let sizes = caches.sizes();
        bytes = sizes.iter().map(|size| size.bytes).collect();
        let misses = sizes.iter().map(|size| size.misses).zip(caches.unknown()).collect();
        excerpts.push(Excerpt { accesses: sizes.first().map_or(0, |size| size.accesses), misses });
        if scale.length >= LONG && excerpts.len() == FIRST {
            let found = estimate(&bytes, &excerpts, total);
            let too_much = |(size, unknown): &(Size, u64)| !Size { error: *unknown, ..*size }.is_within(wanted);
            if found.iter().any(too_much) {
                return Ok(Some(found));
            }
        }
    }
    Ok(Some(estimate(&bytes, &excerpts, total)))
}

/// Why nothing was sampled.
#[derive(Debug, thiserror::Error)]
pub enum Unsampled {
    /// The caches.
    #[error(transparent)]
    Impossible(#[from] Impossible),
    /// The file.
    #[error(transparent)]
    Unreadable(#[from] Problem),
}

#[derive(Clone, Copy, Debug)]
struct Chunk<'r> {
    info: &'r ChunkInfo,
    accesses: u64,
    bytes: u64,
    /// The segment that comes most often, and how often.
    most: (u32, u64),
}

/// All chunks, thread by thread.
fn chunks(recording: &Recording) -> Vec<Chunk<'_>> {
    let chunk = |info: &'_ ChunkInfo| {
        let mut sums = (0_u64, 0_u64);
        for each in &info.summary.fragments {
            sums.0 = sums.0.saturating_add(each.loads).saturating_add(each.stores);
            sums.1 = sums.1.saturating_add(each.bytes);
        }
        let most = info.summary.counts.iter().max_by_key(|(id, count)| (*count, *id)).copied();
        (sums, most.unwrap_or_default())
    };
    let contexts = recording.contexts();
    let infos = contexts.iter().flat_map(|context| recording.chunks_of(*context));
    let made = infos.map(|info| {
        let ((accesses, bytes), most) = chunk(info);
        Chunk { info, accesses: accesses.min(MOST_OF_CHUNK), bytes: bytes.min(MOST_OF_CHUNK), most }
    });
    made.collect()
}

/// A row of chunks of a thread.
#[derive(Clone, Copy, Debug)]
struct Unit<'c, 'r> {
    chunks: &'c [Chunk<'r>],
    accesses: u64,
}

/// All chunks in rows of about `length` accesses, or one chunk each, those next to each other that execute much the same: the segment
/// that comes most often, and how much is accessed at once.
fn units<'c, 'r>(all: &'c [Chunk<'r>], length: u64) -> Vec<Unit<'c, 'r>> {
    let mut units = Vec::new();
    let mut rest = all;
    while let Some(first) = rest.first() {
        let (mut count, mut accesses) = (0, 0);
        for chunk in rest.iter().take_while(|chunk| chunk.info.context == first.info.context) {
            if count > 0 && accesses + chunk.accesses / 2 > length {
                break;
            }
            (count, accesses) = (count + 1, accesses + chunk.accesses);
        }
        units.push(Unit { chunks: &rest[..count], accesses });
        rest = &rest[count..];
    }
    units.sort_by_cached_key(|unit| {
        let most = unit.chunks.iter().map(|chunk| (chunk.most.1, chunk.most.0)).max().unwrap_or_default();
        let bytes: u64 = unit.chunks.iter().map(|chunk| chunk.bytes).sum();
        (most.1, bytes.saturating_mul(1000) / unit.accesses.max(1))
    });
    units
}

/// Where an excerpt is.
#[derive(Clone, Copy, Debug)]
struct Place<'c, 'r> {
    chunks: &'c [Chunk<'r>],
    /// Accesses of the first chunk before it.
    offset: u64,
    length: u64,
}

/// An excerpt in each stratum: a row, or a part of one that is longer.
fn places<'u, 'c, 'r>(
    units: &'u [Unit<'c, 'r>],
    stratum: u64,
    (length, count): (u64, u64),
) -> impl Iterator<Item = Place<'c, 'r>> + use<'u, 'c, 'r> {
    let (mut at, mut before) = (0, 0);
    (0..count).filter_map(move |number| {
        let begin = number * stratum + mixed(number) % stratum.max(1);
        while units.get(at).is_some_and(|unit| before + unit.accesses <= begin) {
            before += units[at].accesses;
            at += 1;
        }
        let unit = units.get(at)?;
        let parts = if unit.chunks.len() > 1 { 1 } else { (unit.accesses / length.max(1)).max(1) };
        let length = (unit.accesses / parts).max(1);
        Some(Place { chunks: unit.chunks, offset: (begin - before) / length * length, length })
    })
}

/// Distributes numbers evenly (Knuth, *The Art of Computer Programming* 3, 6.4: multiplication by the golden ratio).
fn mixed(number: u64) -> u64 {
    (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16
}

/// Some accesses of a chunk, behind those that are skipped. False if it is damaged.
fn run(
    recording: &Recording,
    chunk: &ChunkInfo,
    decoder: &mut Decoder,
    (caches, mut skipped, wanted): (&mut Caches, u64, u64),
) -> Result<bool, Problem> {
    if wanted == 0 {
        return Ok(true);
    }
    let program = &recording.program;
    let rank = recording.ranks.bits(chunk.context);
    let mut raw = Vec::new();
    if decoder.decode_into(program, &recording.encoded(chunk)?, &mut raw).is_err() {
        return Ok(false);
    }
    let (mut accesses, mut steps): (Vec<Access>, Vec<i64>) = Default::default();
    let bounds = Bounds::of(recording);
    let mut events = Events::new(program, &raw);
    let enough = caches.seen().saturating_add(wanted);
    while let Ok(Some((event, entry))) = events.next_event() {
        if caches.seen() >= enough {
            break;
        }
        if let Some(mut control) = event.control() {
            if control.kind == Kind::Transfer {
                ranks::mark(&mut control, rank);
                let [address, size, ..] = control.slots;
                let mut access = Access { address, size, mode: Mode::Load, flags: 0, operation: 0 };
                bounds.one(&mut access);
                caches.access(access.address, access.size);
            }
            continue;
        }
        let Some((module, segment)) = program.segment(event.id).filter(|(_, segment)| segment.operations > 0) else {
            continue;
        };
        let variables = recording.ranks.variables(rank, program.module_of(event.id)).unwrap_or(&module.variables);
        let each = u64::from(entry.loads) + u64::from(entry.stores);
        if skipped > 0 && !entry.repeated {
            skipped = skipped.saturating_sub(each);
            continue;
        }
        if entry.repeated {
            let lists = (&mut accesses, &mut steps);
            let times = event.iterations_at(module, variables, segment, lists).min(most_iterations(recording));
            let behind = (skipped / each.max(1)).min(times);
            skipped = skipped.saturating_sub(times.saturating_mul(each.max(1)));
            for (access, step) in accesses.iter_mut().zip(&steps) {
                access.address = access.address.wrapping_add(step.cast_unsigned().wrapping_mul(behind)) | rank;
            }
            bounds.of_loop(&mut accesses);
            let left = (enough - caches.seen()).div_ceil(each.max(1)).max(1);
            caches.iterate(Iterations { first: &accesses, steps: &steps, times: (times - behind).min(left) });
        } else {
            event.accesses_at(module, variables, segment, &mut accesses);
            for access in &mut accesses {
                bounds.one(access);
                caches.access(access.address | rank, access.size);
            }
        }
    }
    Ok(true)
}

/// What excerpts say of a run with `total` accesses.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate; saturates"
)]
fn estimate(bytes: &[u64], found: &[Excerpt], total: u64) -> Found {
    let count = (found.len() as f64).max(1.0);
    let lines: f64 = found.iter().map(|excerpt| excerpt.accesses as f64).sum();
    let all = total as f64;
    let rest = 1.0 - (lines / all.max(1.0)).min(1.0);
    let quantile = QUANTILES.iter().find(|(freedom, _)| *freedom <= found.len() / 2);
    let quantile = quantile.map_or(f64::INFINITY, |(_, quantile)| *quantile);
    let estimate = |(number, bytes): (usize, &u64)| {
        // Shares of misses, and of those that are unknown.
        let of = |excerpt: &Excerpt| {
            let (misses, unknown) = excerpt.misses.get(number).copied().unwrap_or_default();
            let accesses = (excerpt.accesses as f64).max(1.0);
            (misses as f64 / accesses, unknown as f64 / accesses)
        };
        let unknown = found.iter().map(|excerpt| of(excerpt).1).sum::<f64>() / count / 2.0;
        let ratios: Vec<f64> = found.iter().map(|excerpt| of(excerpt).0 - of(excerpt).1 / 2.0).collect();
        let ratio = ratios.iter().sum::<f64>() / count;
        let squares: f64 = ratios.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
        let deviation = (rest * squares / (2.0 * (count - 1.0).max(1.0) * count)).sqrt();
        let (misses, error) = ((all * ratio).round() as u64, (all * (quantile * deviation + unknown)).ceil() as u64);
        (Size { bytes: *bytes, accesses: total, misses, error }, (all * unknown).ceil() as u64)
    };
    bytes.iter().enumerate().map(estimate).collect()
}
