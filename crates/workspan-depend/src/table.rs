//! Where dependences are collected: one record for each pair of places, kind, and loop that carries it.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::shadow::{BuildHasher, Site};
use crate::source::PlaceId;

/// Kinds of dependences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Read after write.
    #[default]
    Raw,
    /// Write after read.
    War,
    /// Write after write.
    Waw,
}

impl Kind {
    /// As shown.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Raw => "RAW",
            Kind::War => "WAR",
            Kind::Waw => "WAW",
        }
    }
}

/// What makes a dependence one of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Kind.
    pub kind: Kind,
    /// Site of the earlier access.
    pub source: Site,
    /// Site of the later one.
    pub sink: Site,
    /// The call that the earlier one happened in; 0: none.
    pub source_call: PlaceId,
    /// The call that the later one happened in; 0: none.
    pub sink_call: PlaceId,
    /// The loop that carries it, + 1; 0: it is not carried.
    pub carrier: u32,
    /// The function in which both places are.
    pub function: u32,
}

/// A dependence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// How often.
    pub count: u64,
    /// Least distance in iterations.
    pub least: u64,
    /// Greatest distance.
    pub most: u64,
    /// Sum of the distances.
    pub sum: u64,
    /// Where it was seen first.
    pub address: u64,
    /// Where it was seen last, and in which execution of the loop or function.
    pub latest: (u64, u64),
    /// It was seen at several addresses in one execution.
    pub varies: bool,
    /// Iteration of the later access when it was seen first.
    pub iteration: u64,
}

/// Whether a value that a loop wrote was read afterwards, and from which iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveOut {
    /// From the last one.
    pub last: bool,
    /// From another one.
    pub other: bool,
    /// It is not known from which.
    pub unknown: bool,
}

/// All that was found.
#[derive(Debug, Default)]
pub struct Table {
    records: HashMap<Key, u32, BuildHasher>,
    /// In the order of their first sight.
    pub all: Vec<(Key, Record)>,
    /// Reads of values from before the iteration: site and loop.
    pub exposed: HashSet<(Site, u32), BuildHasher>,
    /// Values read after a loop: site that wrote them, and loop.
    pub live_out: BTreeMap<(Site, u32), LiveOut>,
    /// Library functions that wrote at several places of an object in several iterations, by site and loop: how often.
    pub unbounded: BTreeMap<(Site, u32), u64>,
}

impl Key {
    /// True if one end lies in a call.
    pub fn is_of_calls(&self) -> bool {
        self.source_call != 0 || self.sink_call != 0
    }
}

impl Table {
    /// Number of a record.
    pub fn record(&mut self, key: Key, address: u64, iteration: u64) -> u32 {
        if let Some(number) = self.records.get(&key) {
            return *number;
        }
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.records.insert(key, number);
        self.all.push((key, Record { address, iteration, least: u64::MAX, ..Record::default() }));
        number
    }

    /// A dependence that no iteration lies between, or one that the one before carries, was seen that many times more.
    pub fn repeat(&mut self, number: u32, times: u64) {
        if let Some((_, record)) = self.all.get_mut(number as usize) {
            record.count += times;
            record.sum = record.sum.saturating_add(times.saturating_mul(record.least.min(record.most)));
        }
    }

    /// A dependence was seen several times in one execution of its node, which began at `start`: first and last at these addresses, at
    /// several or not; the least and the greatest distance, and the sum.
    pub fn count_all(
        &mut self,
        number: u32,
        times: u64,
        (addresses, varies, start): ((u64, u64), bool, u64),
        (least, most, sum): (u64, u64, u64),
    ) {
        if let Some((_, record)) = self.all.get_mut(number as usize) {
            record.varies |= varies || record.count > 0 && record.latest.1 == start && record.latest.0 != addresses.0;
            record.count += times;
            record.least = record.least.min(least);
            record.most = record.most.max(most);
            record.sum = record.sum.saturating_add(sum);
            record.latest = (addresses.1, start);
        }
    }

    /// Another part of the access that was counted last has it, too, at these distances: the greatest is so much further.
    pub fn widen(&mut self, number: u32, distances: (u64, u64), further: u64) {
        if let Some((_, record)) = self.all.get_mut(number as usize) {
            record.least = record.least.min(distances.0);
            record.most = record.most.max(distances.1);
            record.sum = record.sum.saturating_add(further);
        }
    }

    /// A dependence was seen.
    #[inline]
    pub fn count(&mut self, number: u32, at: (u64, u64), distances: (u64, u64)) {
        if let Some((_, record)) = self.all.get_mut(number as usize) {
            record.count += 1;
            record.least = record.least.min(distances.0);
            record.most = record.most.max(distances.1);
            record.sum = record.sum.saturating_add(distances.1);
            record.varies |= record.count > 1 && record.latest.1 == at.1 && record.latest.0 != at.0;
            record.latest = at;
        }
    }
}
