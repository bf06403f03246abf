//! `workspan graph misses`: the instructions and allocations with most misses in a cache of one size.

use serde_json::json;
use workspan_graph::cache::Caches;
use workspan_graph::curve::Sharing;
use workspan_graph::file::Recording;
use workspan_graph::misses::{Count, Misses};
use workspan_graph::part::replay;

use super::open::{call, open, place_of};
use super::sampled::{self, Numbers};
use super::shown::{self, ratio, Answer, Table};
use crate::args::graph::GraphMisses;
use crate::exit::Outcome;

/// Runs the verb.
pub fn run(args: &GraphMisses) -> anyhow::Result<Outcome> {
    let recording = open(&args.folder)?;
    let cache = Cache { kib: args.size, line: args.line, ways: args.ways, shared: args.shared };
    shown::write(&args.form, &recording, &answer(&recording, cache, args.allocations)?)?;
    Ok(Outcome::OK)
}

/// A cache that misses are counted in.
#[derive(Clone, Copy, Debug)]
pub struct Cache {
    /// Its size in KiB.
    pub kib: u64,
    /// Bytes of a line.
    pub line: u64,
    /// Lines of a set.
    pub ways: u64,
    /// All contexts share it.
    pub shared: bool,
}

/// The misses of one cache, by instruction or by allocation.
pub fn answer(recording: &Recording, cache: Cache, allocations: bool) -> anyhow::Result<Answer> {
    let Cache { kib, line, ways, shared } = cache;
    let bytes = kib.checked_mul(1024).filter(|bytes| bytes.is_power_of_two());
    let bytes = bytes.ok_or_else(|| anyhow::anyhow!("a cache has a power of two of KiB: --size 32, for example"))?;
    let caches = Caches::new(line, ways, (bytes, bytes))?;
    if recording.sample.is_some() {
        sampled::check_size(ways, bytes)?;
    }
    let mut misses = Misses::new(caches, if shared { Sharing::Shared } else { Sharing::Private });
    replay(recording, &mut misses)?;
    let total = misses.total;
    // What was counted in the recorded lines, for all.
    let estimated =
        recording.sample.map(|sample| sampled::size(recording, &sample, (line, ways, shared), bytes)).transpose()?;
    let scaled = |misses: u64| estimated.map_or(misses, |all| scaled(misses, all.misses, total.misses));
    let all = |lines: u64| recording.sample.map_or(lines, |sample| lines.saturating_mul(sample.one_in.into()));
    let share = |count: &Count| json!(ratio(count.misses, total.misses));
    let rows = if allocations {
        let mut found: Vec<_> = misses.sites.iter().collect();
        found.sort_by_key(|(_, (count, _))| std::cmp::Reverse(count.misses));
        let row = |(segment, (count, size)): (&Option<u32>, &(Count, u64))| {
            let site = segment.and_then(|segment| call(recording, segment));
            let site = match (segment, site) {
                (None, _) => "stack and variables".to_owned(),
                (Some(_), Some(place)) => place,
                (Some(_), None) => "unknown call".to_owned(),
            };
            vec![json!(scaled(count.misses)), share(count), json!(size), json!(site)]
        };
        found.into_iter().map(row).collect()
    } else {
        let mut found: Vec<_> = misses.operations.iter().filter(|(_, count)| count.misses > 0).collect();
        found.sort_by_key(|(_, count)| std::cmp::Reverse(count.misses));
        let row = |((module, operation), count): (&(u32, u32), &Count)| {
            let (place, function) = place_of(recording, (*module, *operation));
            vec![
                json!(scaled(count.misses)),
                share(count),
                json!(all(count.accesses)),
                json!(ratio(count.misses, count.accesses)),
                json!(place),
                json!(function),
            ]
        };
        found.into_iter().map(row).collect()
    };
    let columns: &[&str] = if allocations {
        &["misses", "share", "largest_bytes", "allocated_at"]
    } else {
        &["misses", "share", "accesses", "miss_ratio", "at", "function"]
    };
    let whose = if shared { "one cache of all contexts" } else { "a cache for each context" };
    let (count, of) = estimated.map_or((total.misses, total.accesses), |all| (all.misses, all.accesses));
    let error = estimated.map(|all| all.error);
    let more = error.map_or_else(String::new, |error| format!(" ± {error}"));
    let head =
        format!("{count}{more} misses of {of} accesses; {kib} KiB, lines of {line} bytes, {ways}-way LRU, {whose}");
    let mut fields = json!({
        "bytes": bytes, "line_bytes": line, "ways": ways, "shared": shared,
        "accesses": of, "misses": count, "complete": recording.complete(),
    });
    if let (Some(error), Some(fields)) = (error, fields.as_object_mut()) {
        fields.insert("misses_error".to_owned(), json!(error));
    }
    let (name, title, help) = if allocations {
        ("allocations", "Misses by allocation", "The calls that allocated the memory whose accesses miss.")
    } else {
        (
            "instructions",
            "Misses by instruction",
            "The instructions that miss, with the share of their accesses that do.",
        )
    };
    let table = Table { name, columns, rows };
    Ok(Answer { of: "graph misses", title, help, head, fields, table, numbers: Numbers::Estimate, ..Answer::default() })
}

/// A part of the misses that were counted, as a part of those that are estimated.
fn scaled(part: u64, estimate: u64, counted: u64) -> u64 {
    let whole = u128::from(part) * u128::from(estimate) / u128::from(counted.max(1));
    u64::try_from(whole).unwrap_or(u64::MAX)
}
