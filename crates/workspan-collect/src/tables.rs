//! Interning of sites and contexts: lock-free, append-only, shared by all threads.
//!
//! [`intern`](super::intern) is how. A record's `ready` flag is for whoever reads the memory from outside, at any time: it is set
//! when the record is whole, before it is published, and taken back if it was written in vain.
//!
//! Cost: a few tens of nanoseconds for a known key. Off the hot path: regions are cached per thread (`region`), and
//! sites are interned once per source location and thread.

use core::sync::atomic::Ordering;

use super::intern::{Found, Table};
use super::modules;
use super::shared::Shared;
use super::text::{copy_text, kept_end, text_of};
use workspan_wire::shm::{
    ContextRecord, SiteRecord, FILE_BYTES, INDEX_SLOTS, MAX_CONTEXTS, MAX_SITES, STACK_DEPTH, TYPE_BYTES,
};
use workspan_wire::site::SiteKind;

/// A site's position in the table.
pub type SiteId = u32;
/// A context's position in the table.
pub type ContextId = u32;

/// The root context: serial code outside any region.
pub const ROOT: ContextId = 0;

/// What identifies a site, and what is worth keeping about it.
#[derive(Clone, Copy, Debug)]
pub struct SiteKey<'a> {
    /// What it stands for.
    pub kind: SiteKind,
    /// File as the compiler saw it.
    pub file: &'a str,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// For serial code: the site + 1 before and after it. Otherwise what distinguishes places of one address.
    pub serial: (u32, u32),
    /// Where the compiler names no file: an address in the code; 0 otherwise.
    pub address: u64,
}

/// Details that are kept but do not identify.
#[derive(Clone, Copy, Debug, Default)]
pub struct SiteDetail<'a> {
    /// Name of the closure type.
    pub type_name: &'a str,
    /// Address in the code that called.
    pub address: u64,
    /// Return addresses.
    pub stack: &'a [u64],
}

/// Finds the site of `key`, or makes it, with what `detail` adds. `None` if the table is full.
pub fn intern_site<'d>(shared: Shared, key: &SiteKey<'_>, detail: impl FnOnce() -> SiteDetail<'d>) -> Option<SiteId> {
    let header = shared.header();
    let index = |slot| shared.site_slot(slot);
    let table = Table { index, slots: INDEX_SLOTS, used: &header.sites, capacity: MAX_SITES };
    let mut detail = Some(detail);
    let write = |id| {
        let record = shared.site(id);
        write_site(record, key);
        // Once: a thread makes one record at most.
        if let Some(detail) = detail.take() {
            describe_site(shared, record, &detail());
        }
        record.ready.store(1, Ordering::Release);
    };
    let unused = |id| shared.site(id).ready.store(0, Ordering::Relaxed);
    match table.intern(hash_site(key), |id| same_site(shared.site(id), key), write, unused) {
        Found::Known(id) | Found::New(id) => Some(id),
        Found::Full => {
            shared.header().dropped_sites.fetch_add(1, Ordering::Relaxed);
            None
        }
    }
}

/// The stand-in of `site` in front of serial code that runs beside its tasks ([`SiteKind::Beside`]); `waited`: behind a wait.
pub fn intern_beside(shared: Shared, site: SiteId, waited: bool) -> Option<SiteId> {
    let record = shared.site(site);
    let (mut file, mut type_name) = ([0; FILE_BYTES], [0; TYPE_BYTES]);
    let file = text_of(&record.file, record.file_len.get(), &mut file);
    let type_name = text_of(&record.type_name, record.type_len.get(), &mut type_name);
    let stack: [u64; STACK_DEPTH] = core::array::from_fn(|at| record.stack[at].get());
    let address = record.address.get();
    let key = SiteKey {
        kind: SiteKind::Beside,
        file,
        line: record.line.get(),
        column: record.column.get(),
        serial: (site + 1, u32::from(waited)),
        address: if file.is_empty() { address } else { 0 },
    };
    intern_site(shared, &key, || SiteDetail { type_name, address, stack: &stack })
}

/// Adds what is worth keeping about a new site, before others see it.
fn describe_site(shared: Shared, record: &SiteRecord, detail: &SiteDetail<'_>) {
    record.type_len.set(copy_text(&record.type_name, detail.type_name.as_bytes()));
    if detail.address != 0 {
        record.address.set(detail.address);
        record.module.set(modules::index(shared, detail.address));
    }
    for (cell, address) in record.stack.iter().zip(detail.stack.iter().take(STACK_DEPTH)) {
        cell.set(*address);
    }
}

/// Where a site leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Context inside.
    pub context: ContextId,
    /// The site is already active around it.
    pub recursive: bool,
}

/// Where `site` leads from context `from`.
///
/// The active sites are those on the path of `from`, or of its parent if `from` is recursive itself (then its own site is
/// among them). Recursion therefore makes at most one more context per active site, however deep it goes. Cost: the
/// length of the path, which recursion does not add to.
pub fn target(shared: Shared, from: ContextId, site: SiteId) -> Target {
    let record = shared.context(from);
    let path = if record.recursive.get() != 0 { record.parent.get() } else { from };
    let mut at = path;
    let mut recursive = false;
    while at != ROOT && !recursive {
        recursive = shared.context(at).site.get() == site;
        at = shared.context(at).parent.get();
    }
    if recursive && shared.context(path).site.get() == site {
        return Target { context: path, recursive };
    }
    Target { context: intern_context(shared, path, site, recursive), recursive }
}

/// Contexts that are kept for sites directly below their regions.
const RESERVED: usize = MAX_CONTEXTS / 8;

/// Finds or makes the context of `site` below `parent`. If the table is nearly full, new ones are made below the region alone: what is
/// between is skipped, and each site keeps its row. If it is full, the parent itself.
fn intern_context(shared: Shared, parent: ContextId, site: SiteId, recursive: bool) -> ContextId {
    let index = |slot| shared.context_slot(slot);
    let used = &shared.header().contexts;
    let table = Table { index, slots: INDEX_SLOTS, used, capacity: MAX_CONTEXTS };
    let hash = |parent| mix(u64::from(parent) << 32 | u64::from(site));
    let is_below = |id, parent| shared.context(id).parent.get() == parent && shared.context(id).site.get() == site;
    let mut parent = parent;
    if used.load(Ordering::Relaxed) as usize >= MAX_CONTEXTS - RESERVED {
        if let Some(known) = table.find(hash(parent), |id| is_below(id, parent)) {
            return known;
        }
        parent = region_of(shared, parent);
    }
    let same = |id| is_below(id, parent);
    let write = |id| {
        let record: &ContextRecord = shared.context(id);
        record.parent.set(parent);
        record.site.set(site);
        record.recursive.set(u32::from(recursive));
        record.ready.store(1, Ordering::Release);
    };
    let unused = |id| shared.context(id).ready.store(0, Ordering::Relaxed);
    match table.intern(hash(parent), same, write, unused) {
        Found::Known(id) | Found::New(id) => id,
        Found::Full => {
            shared.header().dropped_contexts.fetch_add(1, Ordering::Relaxed);
            parent
        }
    }
}

/// The context directly below the root that `context` lies in; the root for the root.
fn region_of(shared: Shared, context: ContextId) -> ContextId {
    let mut at = context;
    while at != ROOT && shared.context(at).parent.get() != ROOT {
        at = shared.context(at).parent.get();
    }
    at
}

/// Makes the root context. Called once, before any other.
pub fn make_root(shared: Shared) {
    shared.header().contexts.store(1, Ordering::Relaxed);
    let root = shared.context(ROOT);
    root.site.set(u32::MAX);
    root.ready.store(1, Ordering::Release);
}

fn write_site(record: &SiteRecord, key: &SiteKey<'_>) {
    record.kind.set(key.kind as u32);
    record.line.set(key.line);
    record.column.set(key.column);
    record.serial_from.set(key.serial.0);
    record.serial_to.set(key.serial.1);
    record.address.set(key.address);
    record.file_len.set(copy_text(&record.file, key.file.as_bytes()));
}

fn same_site(record: &SiteRecord, key: &SiteKey<'_>) -> bool {
    let file = kept_end(key.file.as_bytes(), record.file.len());
    record.kind.get() == key.kind as u32
        && record.line.get() == key.line
        && record.column.get() == key.column
        && (record.serial_from.get(), record.serial_to.get()) == key.serial
        && (key.address == 0 || record.address.get() == key.address)
        && record.file_len.get() as usize == file.len()
        && record.file.iter().zip(file).all(|(cell, byte)| cell.get() == *byte)
}

fn hash_site(key: &SiteKey<'_>) -> u64 {
    // FNV-1a over the file, then the numbers.
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in key.file.as_bytes() {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    }
    mix(hash ^ u64::from(key.line) << 40 ^ u64::from(key.column) << 24 ^ key.kind as u64)
        ^ mix(u64::from(key.serial.0) << 32 | u64::from(key.serial.1))
        ^ mix(key.address)
}

fn mix(mut x: u64) -> u64 {
    x ^= x >> 30;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 27;
    x = x.wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}
