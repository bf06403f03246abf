//! Which memory inflated strands miss on or share, by a task graph of the same program.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use workspan_graph::file::Recording as Graph;
use workspan_graph::moved::{self, Found, Moved, OfSite};
use workspan_graph::part::replay;
use workspan_graph::races::Place;
use workspan_model::{ContextId, Recording, Site, SiteKind};
use workspan_report::differential::NodeByNode;
use workspan_report::inflated_memory::{inflated, Cause, InflatedSite, Memory, Moving, Strands, LEAST_MOVED};
use workspan_trace::program::Address;

use crate::graph::open::{allocation_site, call, open, place_of};
use crate::graph::sampled;
use crate::graph::shown::ratio;
use crate::{machine, output};

/// The cache where the kernel describes none.
const USUAL: machine::LastLevel = machine::LastLevel { bytes: 32 << 20, ways: 16 };

/// A graph, opened, and the cache that misses are counted in.
#[derive(Debug)]
pub(super) struct Source {
    folder: PathBuf,
    graph: Graph,
    cache: machine::LastLevel,
}

impl Source {
    /// Opens a graph; `kib`: the size of the cache, default this machine's.
    pub(super) fn open(folder: &Path, kib: Option<u64>) -> anyhow::Result<Source> {
        let own = machine::last_level().unwrap_or(USUAL);
        let bytes = kib.map_or(Some(own.bytes), |kib| kib.checked_mul(1024));
        let bytes = bytes.filter(|bytes| bytes.is_power_of_two());
        let bytes =
            bytes.ok_or_else(|| anyhow::anyhow!("a cache has a power of two of KiB: --cache 32768, for example"))?;
        let cache = machine::LastLevel { bytes, ways: own.ways.min(bytes / moved::LINE) };
        Ok(Source { folder: folder.to_owned(), graph: open(folder)?, cache })
    }

    /// Which allocations the strands of sites that inflate miss on or share; and what is doubtful about that.
    pub(super) fn explain(&self, nodes: &NodeByNode, recording: &Recording) -> anyhow::Result<(Memory, Vec<String>)> {
        let machine::LastLevel { bytes, ways } = self.cache;
        let mut memory = Memory {
            graph: output::path(&self.folder),
            complete: self.graph.complete(),
            line_bytes: moved::LINE,
            cache_bytes: bytes,
            cache_ways: ways,
            sampled: sampled::sentence(&self.graph, sampled::Numbers::Part),
            ..Memory::default()
        };
        let sites = inflated(nodes);
        if sites.is_empty() {
            return Ok((memory, Vec::new()));
        }
        if self.graph.sample.is_some() {
            sampled::check_size(ways, bytes)?;
        }
        let mut found = Moved::new(bytes, ways, self.graph.sample.map_or(1, |sample| sample.one_in))?;
        replay(&self.graph, &mut found)?;
        let mut doubts = BTreeSet::new();
        // Several sites may have the same tasks: a loop those of the region around it.
        let mut strands: Vec<(Vec<u32>, Strands)> = Vec::new();
        for site in sites {
            let (segments, exact) = self.tasks_of(&found, recording, site.id.as_deref());
            if !exact {
                let graph = &memory.graph;
                doubts.insert(format!(
                    "no task of {graph} was created at {}: what its strands touch is among that of the tasks around it, if {graph} is of this program",
                    site.name
                ));
            }
            let pair = site.sums.work;
            let site = InflatedSite {
                id: site.id.clone(),
                name: site.name.clone(),
                more_ns: pair.more_ns,
                inflation: pair.inflation,
            };
            match strands.iter_mut().find(|(known, _)| *known == segments) {
                Some((_, strands)) => strands.sites.push(site),
                None => {
                    let touched = self.touched(&found, &segments);
                    strands.push((segments, Strands { sites: vec![site], ..touched }));
                }
            }
        }
        memory.strands = strands.into_iter().map(|(_, strands)| strands).collect();
        Ok((memory, doubts.into_iter().collect()))
    }

    /// The creations of tasks at a site or, where there are none, at the closest site around it; none: the program's start.
    /// And whether it was the site itself.
    fn tasks_of(&self, found: &Moved, recording: &Recording, id: Option<&str>) -> (Vec<u32>, bool) {
        let is_it = |site: &Site| id == Some(&site.stable_id(&recording.sites));
        let Some(number) = recording.sites.iter().position(is_it) else {
            return (Vec::new(), true);
        };
        let site = &recording.sites[number];
        if matches!(site.kind, SiteKind::Serial { .. }) {
            return (Vec::new(), true);
        }
        let contexts = &recording.contexts;
        let is_of_it = |id: &ContextId| contexts.site(*id).is_some_and(|id| id.0 as usize == number);
        for (distance, id) in contexts.ids().find(is_of_it).into_iter().flat_map(|id| contexts.path(id)).enumerate() {
            let around = contexts.site(id).and_then(|id| recording.sites.get(id.0 as usize));
            let created = around.map_or_else(Vec::new, |around| self.created_at(found, around));
            if !created.is_empty() {
                return (created, distance == 0);
            }
        }
        (Vec::new(), false)
    }

    fn created_at(&self, found: &Moved, site: &Site) -> Vec<u32> {
        let is_there = |segment: &u32| {
            let place = allocation_site(&self.graph, *segment);
            place.is_some_and(|(file, line)| line == site.line && is_same(Path::new(file), Path::new(&site.file)))
        };
        found.sites.keys().flatten().copied().filter(is_there).collect()
    }

    /// What the tasks touch that these segments created.
    fn touched(&self, found: &Moved, segments: &[u32]) -> Strands {
        let start = [None];
        let created: Vec<Option<u32>> = segments.iter().copied().map(Some).collect();
        let keys = if created.is_empty() { &start[..] } else { &created };
        let of_sites: Vec<&OfSite> = keys.iter().filter_map(|key| found.sites.get(key)).collect();
        let accesses = of_sites.iter().fold(0, |sum: u64, of| sum.saturating_add(of.accesses));
        let mut all: BTreeMap<_, Found> = BTreeMap::new();
        for (key, of) in of_sites.iter().flat_map(|of| &of.found) {
            let found = all.entry(*key).or_default();
            found.count += of.count;
            found.bytes += of.bytes;
            found.largest = found.largest.max(of.largest);
            for (places, count) in &of.places {
                *found.places.entry(*places).or_default() += count;
            }
        }
        let named = |(_, found): &(_, Found)| ratio(found.count, accesses) >= LEAST_MOVED;
        let mut all: Vec<_> = all.into_iter().filter(named).collect();
        all.sort_by_key(|(key, found)| (Reverse(found.count), *key));
        let allocations =
            all.iter().filter_map(|((cause, allocation), found)| self.moving((*cause, *allocation), found, accesses));
        Strands {
            created_at: segments.first().and_then(|segment| call(&self.graph, *segment)),
            accesses,
            allocations: allocations.collect(),
            ..Strands::default()
        }
    }

    fn moving(&self, (cause, allocation): (moved::Cause, Option<u32>), found: &Found, accesses: u64) -> Option<Moving> {
        let ((at, with), _) = found.places.iter().max_by_key(|(places, count)| (**count, Reverse(**places)))?;
        Some(Moving {
            cause: match cause {
                moved::Cause::FalseSharing => Cause::FalseSharing,
                moved::Cause::TrueSharing => Cause::TrueSharing,
                moved::Cause::Traffic => Cause::Traffic,
                moved::Cause::Misses => Cause::Misses,
            },
            count: found.count,
            share: ratio(found.count, accesses),
            bytes: found.bytes,
            allocated_at: allocation
                .map(|segment| call(&self.graph, segment).unwrap_or_else(|| "unknown call".to_owned())),
            variable: allocation.is_none().then(|| self.variable(*at)).flatten(),
            largest_bytes: allocation.map(|_| found.largest),
            at: place_of(&self.graph, *at).0,
            with: with.map(|with| place_of(&self.graph, with).0),
        })
    }

    /// The variable that an operation names.
    fn variable(&self, (module, operation): Place) -> Option<String> {
        let module = &self.graph.program.modules.get(module as usize)?.module;
        match module.operations.get(operation as usize)?.address {
            Address::Symbol { symbol, .. } => module.symbols.get(symbol as usize).cloned(),
            _ => None,
        }
    }
}

/// The same file: one name may have more folders before it than the other.
fn is_same(one: &Path, other: &Path) -> bool {
    let names = |path: &Path| -> Vec<_> {
        path.components()
            .rev()
            .filter(|part| *part != Component::CurDir)
            .map(|part| part.as_os_str().to_owned())
            .collect()
    };
    let (one, other) = (names(one), names(other));
    !one.is_empty() && !other.is_empty() && one.iter().zip(&other).all(|(one, other)| one == other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_the_same_if_one_ends_as_the_other() {
        let same = |one: &str, other: &str| is_same(Path::new(one), Path::new(other));
        assert!(same("src/main.rs", "/home/me/prog/src/main.rs") && same("./a.c", "a.c") && same("a.c", "a.c"));
        assert!(!same("src/main.rs", "src/lib.rs") && !same("b/a.c", "c/a.c") && !same("", "a.c"));
    }
}
