//! Chunks on disk: `events.wsg` of a folder `NAME.graph`.
//!
//! A header, then records `[u32 length][u32 checksum][body]`, the first byte of a body being its kind. A file that ends
//! without the last record, or in the middle of one, is read as far as it goes, and says so.
//! `docs/format/graph.md` is the description for others.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use workspan_trace::bytes::{Malformed, Reader, Writer};
use workspan_trace::{READABLE, VERSION};

use crate::codec::Encoded;
use crate::cut::Cut;
use crate::program::Program;
use crate::ranks::{self, Ranks};
use crate::sample::Sample;
use crate::summary::Summary;

/// Name of the file in its folder.
pub const NAME: &str = "events.wsg";
/// First bytes of the file.
pub const MAGIC: &[u8; 8] = b"wspgraph";
/// Added to the version of a recording of a sample, which earlier readers would take for all there is.
const OF_SAMPLE: u32 = 1 << 16;
/// Longest body: what is longer is damage.
const MOST_BODY: u32 = 1 << 28;
/// Most that a summary unfolds to.
const MOST_SUMMARY: usize = 1 << 26;

mod kind {
    pub(super) const META: u8 = 1;
    pub(super) const MODULE: u8 = 2;
    pub(super) const EVENTS: u8 = 3;
    pub(super) const END: u8 = 4;
    pub(super) const HOST: u8 = 5;
    pub(super) const RANKS: u8 = 6;
    pub(super) const SAMPLE: u8 = 7;
}

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The system says no.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("it is no task graph")]
    Other,
    /// Another version has written it.
    #[error("its format has version {0}, this workspan reads {oldest} to {VERSION}: record it again", oldest = READABLE.start())]
    Version(u32),
    /// A record is damaged.
    #[error("the record at byte {0} is damaged")]
    Damaged(u64),
}

/// What is known before the program runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Seconds since 1970.
    pub made_at: u64,
    /// Version of workspan.
    pub made_by: String,
    /// Rate of the cycle counter, in Hz.
    pub ticks_per_second: u64,
}

/// How the recording ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// Exit status of the program, or -1.
    pub status: i64,
    /// Signal that ended it, or 0.
    pub signal: u32,
    /// Ticks since the start when it ended.
    pub ticks: u64,
    /// Times that a thread found no buffer and went on without.
    pub gave_up: u32,
    /// Objects that did not fit into a table.
    pub untracked: u32,
    /// Instrumented processes that were not recorded.
    pub refused: u32,
    /// Buffers that hold events that are not understood.
    pub unknown: u32,
}

/// Where the program ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// Cycle counter when the program started.
    pub start: u64,
    /// A number of the machine since its last start; 0: unknown.
    pub machine: u64,
    /// Rate of the counter, in Hz, if it is not the machine's, as that of an emulated program; else 0.
    pub rate: u64,
    /// Processors of the machine; of merged recordings, of all machines; 0: unknown.
    pub processors: u32,
}

/// Where a chunk of events is, and what it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkInfo {
    /// Context.
    pub context: u32,
    /// Which of its chunks.
    pub sequence: u32,
    /// The thread still wrote it when the process ended.
    pub unfinished: bool,
    /// Bytes of the events.
    pub raw: usize,
    /// What it holds.
    pub summary: Summary,
    /// Where its accesses are in the file, and how long the two streams are.
    place: (u64, usize, usize),
}

/// Writes a recording.
#[derive(Debug)]
pub struct Recorder {
    file: BufWriter<File>,
    bytes: u64,
    packer: Packer,
}

/// Compresses summaries: what that needs is made once.
struct Packer(zstd::bulk::Compressor<'static>);

impl std::fmt::Debug for Packer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Packer")
    }
}

impl Recorder {
    /// Begins.
    pub fn create(path: &Path, meta: &Meta) -> io::Result<Recorder> {
        Recorder::create_of(path, meta, None)
    }

    /// Begins one of a sample, if there is one.
    pub fn create_of(path: &Path, meta: &Meta, sample: Option<&Sample>) -> io::Result<Recorder> {
        let file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        let mut recorder = Recorder { file, bytes: 12, packer: Packer(zstd::bulk::Compressor::new(1)?) };
        recorder.file.write_all(MAGIC)?;
        let version = VERSION | if sample.is_some() { OF_SAMPLE } else { 0 };
        recorder.file.write_all(&version.to_le_bytes())?;
        let mut out = record(kind::META);
        out.number(meta.command.len() as u64);
        meta.command.iter().for_each(|word| out.text(word));
        out.text(&meta.made_by);
        out.number(meta.made_at);
        out.number(meta.ticks_per_second);
        recorder.put(&out.bytes)?;
        if let Some(sample) = sample {
            let mut out = record(kind::SAMPLE);
            sample.encode(&mut out);
            recorder.put(&out.bytes)?;
        }
        Ok(recorder)
    }

    fn put(&mut self, body: &[u8]) -> io::Result<()> {
        let length = u32::try_from(body.len()).ok().filter(|length| *length <= MOST_BODY);
        let length = length.ok_or_else(|| io::Error::other("a record is too long"))?;
        self.file.write_all(&length.to_le_bytes())?;
        self.file.write_all(&crc32fast::hash(body).to_le_bytes())?;
        self.file.write_all(body)?;
        self.bytes += 8 + u64::from(length);
        // Records are long: whoever kills `workspan` loses none that was written.
        self.file.flush()
    }

    /// A module, as the run-time handed it over.
    pub fn module(&mut self, base: u32, bytes: &[u8]) -> io::Result<()> {
        let mut out = record(kind::MODULE);
        out.number(base.into());
        out.number(bytes.len() as u64);
        out.bytes.extend(zstd::bulk::compress(bytes, 3)?);
        self.put(&out.bytes)
    }

    /// A chunk of events.
    pub fn events(&mut self, context: u32, sequence: u32, unfinished: bool, chunk: &Encoded) -> io::Result<()> {
        let mut out = record(kind::EVENTS);
        let summary = chunk.summary.encode();
        let packed = self.packer.0.compress(&summary)?;
        for number in [context as usize, sequence as usize, usize::from(unfinished), chunk.raw, summary.len()] {
            out.number(number as u64);
        }
        for part in [&packed, &chunk.structure, &chunk.residuals] {
            out.number(part.len() as u64);
        }
        for part in [&packed, &chunk.structure, &chunk.residuals] {
            out.bytes.extend_from_slice(part);
        }
        self.put(&out.bytes)
    }

    /// Where the program ran.
    pub fn host(&mut self, host: Host) -> io::Result<()> {
        let mut out = record(kind::HOST);
        out.number(host.start);
        out.number(host.machine);
        out.number(host.rate);
        out.number(host.processors.into());
        self.put(&out.bytes)
    }

    /// Which processes the recording was made of.
    pub fn ranks(&mut self, ranks: &Ranks) -> io::Result<()> {
        let mut out = record(kind::RANKS);
        ranks.encode(&mut out);
        self.put(&out.bytes)
    }

    /// Ends. Bytes written in all.
    pub fn finish(mut self, end: &End) -> io::Result<u64> {
        let mut out = record(kind::END);
        out.signed(end.status);
        for number in [end.signal.into(), end.ticks, end.gave_up.into(), end.untracked.into()] {
            out.number(number);
        }
        out.number(end.refused.into());
        out.number(end.unknown.into());
        self.put(&out.bytes)?;
        self.file.flush()?;
        Ok(self.bytes)
    }
}

fn record(kind: u8) -> Writer {
    Writer { bytes: vec![kind] }
}

/// A recording, opened: everything but the accesses.
#[derive(Debug)]
pub struct Recording {
    /// Several threads may read chunks.
    file: Mutex<File>,
    /// What was known before the program ran.
    pub meta: Meta,
    /// Static descriptions.
    pub program: Program,
    /// Chunks, by context and sequence.
    pub chunks: Vec<ChunkInfo>,
    /// How it ended; nothing if the recording was cut short.
    pub end: Option<End>,
    /// Where the program ran.
    pub host: Option<Host>,
    /// Processes that it was made of, if it was merged.
    pub ranks: Ranks,
    /// Which accesses it has, if not all.
    pub sample: Option<Sample>,
    /// Bytes of the file.
    pub bytes: u64,
    /// Where damage begins, if there is some.
    pub damaged: Option<u64>,
    /// Accesses that were too long to be replayed whole.
    pub cut: Cut,
}

impl Recording {
    /// Opens a recording and reads the summaries.
    pub fn open(path: &Path) -> Result<Recording, Problem> {
        let mut file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let mut head = [0; 12];
        file.read_exact(&mut head).map_err(|_| Problem::Other)?;
        let (magic, version) = head.split_at(8);
        if magic != MAGIC {
            return Err(Problem::Other);
        }
        let version = version.try_into().map_or(0, u32::from_le_bytes);
        let of_sample = version & OF_SAMPLE != 0;
        if !READABLE.contains(&(version & !OF_SAMPLE)) {
            return Err(Problem::Version(version));
        }
        let mut recording = Recording {
            file: Mutex::new(file),
            meta: Meta::default(),
            program: Program::new(),
            chunks: Vec::new(),
            end: None,
            host: None,
            ranks: Ranks::default(),
            sample: None,
            bytes,
            damaged: None,
            cut: Cut::default(),
        };
        let mut at = 12;
        let mut unpacker = zstd::bulk::Decompressor::new()?;
        while recording.end.is_none() {
            match recording.body(at, bytes) {
                Ok(Some(body)) if recording.take(&body, at + 8, &mut unpacker).is_ok() => at += 8 + body.len() as u64,
                Ok(None) => break,
                Ok(Some(_)) | Err(Problem::Damaged(_)) => {
                    recording.damaged = Some(at);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        // Without its sample, nothing can be said about its accesses.
        if of_sample != recording.sample.is_some() {
            return Err(Problem::Damaged(12));
        }
        recording.chunks.sort_by_key(|chunk| (chunk.context, chunk.sequence));
        for chunk in &mut recording.chunks {
            let bits = recording.ranks.bits(chunk.context);
            chunk.summary.marks.iter_mut().for_each(|mark| ranks::mark(&mut mark.control, bits));
        }
        Ok(recording)
    }

    fn body(&mut self, at: u64, bytes: u64) -> Result<Option<Vec<u8>>, Problem> {
        if at == bytes {
            return Ok(None);
        }
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        let mut head = [0; 8];
        if bytes - at < 8 {
            return Err(Problem::Damaged(at));
        }
        file.read_exact(&mut head)?;
        let word = |from: usize| head[from..from + 4].try_into().map_or(0, u32::from_le_bytes);
        if u64::from(word(0)) > bytes - at - 8 || word(0) > MOST_BODY {
            return Err(Problem::Damaged(at));
        }
        let mut body = vec![0; word(0) as usize];
        file.read_exact(&mut body)?;
        if crc32fast::hash(&body) != word(4) || body.is_empty() {
            return Err(Problem::Damaged(at));
        }
        Ok(Some(body))
    }

    fn take(&mut self, body: &[u8], at: u64, unpacker: &mut zstd::bulk::Decompressor<'_>) -> Result<(), Malformed> {
        let mut from = Reader::new(&body[1..]);
        match body[0] {
            kind::META => {
                for _ in 0..from.count()? {
                    self.meta.command.push(from.text()?);
                }
                self.meta.made_by = from.text()?;
                self.meta.made_at = from.number()?;
                self.meta.ticks_per_second = from.number()?;
            }
            kind::MODULE => {
                let base = from.small()?;
                let length = usize::try_from(from.number()?).map_err(|_| Malformed)?;
                let length = length.min(MOST_BODY as usize);
                let bytes = zstd::bulk::decompress(from.rest(), length).map_err(|_| Malformed)?;
                self.program.add(base, &bytes)?;
            }
            kind::EVENTS => {
                let mut chunk = ChunkInfo { context: from.small()?, sequence: from.small()?, ..ChunkInfo::default() };
                chunk.unfinished = from.small()? != 0;
                chunk.raw = from.small()? as usize;
                let unpacked = from.small()? as usize;
                let (packed, structure, residuals) = (from.count()?, from.small()? as usize, from.small()? as usize);
                let packed = from.take(packed)?;
                if unpacked > MOST_SUMMARY || from.rest().len() != structure.saturating_add(residuals) {
                    return Err(Malformed);
                }
                let summary = unpacker.decompress(packed, unpacked).map_err(|_| Malformed)?;
                chunk.summary = Summary::decode(&summary)?;
                chunk.place = (at + (body.len() - from.rest().len()) as u64, structure, residuals);
                self.chunks.push(chunk);
            }
            kind::END => {
                let mut end = End { status: from.signed()?, signal: from.small()?, ..End::default() };
                end.ticks = from.number()?;
                for value in [&mut end.gave_up, &mut end.untracked, &mut end.refused, &mut end.unknown] {
                    *value = from.small()?;
                }
                self.end = Some(end);
            }
            kind::HOST => {
                let mut host = Host { start: from.number()?, machine: from.number()?, ..Host::default() };
                // Earlier recordings end here, or behind the next.
                host.rate = if from.rest().is_empty() { 0 } else { from.number()? };
                host.processors = if from.rest().is_empty() { 0 } else { from.small()? };
                if host.rate != 0 {
                    self.meta.ticks_per_second = host.rate;
                }
                self.host = Some(host);
            }
            kind::SAMPLE => self.sample = Some(Sample::decode(&mut from)?),
            kind::RANKS => self.ranks = Ranks::decode(&mut from)?,
            _ => return Err(Malformed),
        }
        Ok(())
    }

    /// Reads the accesses of a chunk.
    pub fn encoded(&self, chunk: &ChunkInfo) -> Result<Encoded, Problem> {
        let (at, structure, residuals) = chunk.place;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        let mut bytes = vec![0; structure];
        file.read_exact(&mut bytes)?;
        let mut rest = vec![0; residuals];
        file.read_exact(&mut rest)?;
        Ok(Encoded { raw: chunk.raw, summary: Summary::default(), structure: bytes, residuals: rest })
    }

    /// Chunks of a context, in order, up to the first that is missing.
    pub fn chunks_of(&self, context: u32) -> impl Iterator<Item = &ChunkInfo> {
        let first = self.chunks.partition_point(|chunk| chunk.context < context);
        self.chunks[first..]
            .iter()
            .take_while(move |chunk| chunk.context == context)
            .zip(0..)
            .take_while(|(chunk, number)| chunk.sequence == *number)
            .map(|(chunk, _)| chunk)
    }

    /// Contexts that have written something.
    pub fn contexts(&self) -> Vec<u32> {
        let mut contexts: Vec<u32> = self.chunks.iter().map(|chunk| chunk.context).collect();
        contexts.dedup();
        contexts
    }

    /// Accesses in all.
    pub fn accesses(&self) -> u64 {
        let fragments = self.chunks.iter().flat_map(|chunk| &chunk.summary.fragments);
        fragments.fold(0, |sum: u64, each| sum.saturating_add(each.loads).saturating_add(each.stores))
    }

    /// True if nothing is missing.
    pub fn complete(&self) -> bool {
        let whole = |end: &End| end.gave_up == 0 && end.untracked == 0 && end.unknown == 0 && end.signal == 0;
        let present: usize = self.contexts().into_iter().map(|context| self.chunks_of(context).count()).sum();
        self.end.as_ref().is_some_and(whole)
            && self.damaged.is_none()
            && present == self.chunks.len()
            && self.ranks.complete()
    }
}
