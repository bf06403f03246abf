//! `workspan graph misses`: the instructions and allocations with most misses in a cache of one size.

use serde_json::{json, Value};
use workspan_graph::cache::{Caches, Sharing};
use workspan_graph::misses::{Count, Misses};
use workspan_graph::replay::replay;

use super::open::{allocation_site, open, place_of};
use super::shown::{self, Table};
use crate::args::graph::GraphMisses;
use crate::exit::Outcome;
use crate::output;

/// Runs the verb.
pub fn run(args: &GraphMisses) -> anyhow::Result<Outcome> {
    let bytes = args.size.checked_mul(1024).filter(|bytes| bytes.is_power_of_two());
    let bytes = bytes.ok_or_else(|| anyhow::anyhow!("a cache has a power of two of KiB: --size 32, for example"))?;
    let caches = Caches::new(args.line, args.ways, (bytes, bytes))?;
    let recording = open(&args.folder)?;
    let mut misses = Misses::new(caches, if args.shared { Sharing::Shared } else { Sharing::Private });
    replay(&recording, &mut misses)?;
    let total = misses.total;
    let share = |count: &Count| ratio(count.misses, total.misses);
    let rows = if args.allocations {
        let mut found: Vec<_> = misses.sites.iter().collect();
        found.sort_by_key(|(_, (count, _))| std::cmp::Reverse(count.misses));
        let row = |(segment, (count, size)): (&Option<u32>, &(Count, u64))| {
            let site = segment.and_then(|segment| allocation_site(&recording, segment));
            let site = match (segment, site) {
                (None, _) => "stack and variables".to_owned(),
                (Some(_), Some((file, line))) => format!("{file}:{line}"),
                (Some(_), None) => "unknown call".to_owned(),
            };
            vec![json!(count.misses), share(count), json!(size), json!(site)]
        };
        found.into_iter().map(row).collect()
    } else {
        let mut found: Vec<_> = misses.operations.iter().filter(|(_, count)| count.misses > 0).collect();
        found.sort_by_key(|(_, count)| std::cmp::Reverse(count.misses));
        let row = |((module, operation), count): (&(u32, u32), &Count)| {
            let (place, function) = place_of(&recording, (*module, *operation));
            vec![
                json!(count.misses),
                share(count),
                json!(count.accesses),
                ratio(count.misses, count.accesses),
                json!(place),
                json!(function),
            ]
        };
        found.into_iter().map(row).collect()
    };
    let columns: &[&str] = if args.allocations {
        &["misses", "share", "largest_bytes", "allocated_at"]
    } else {
        &["misses", "share", "accesses", "miss_ratio", "at", "function"]
    };
    let whose = if args.shared { "one cache of all contexts" } else { "a cache for each context" };
    let head = format!(
        "{} misses of {} accesses; {} KiB, lines of {} bytes, {}-way LRU, {whose}",
        total.misses, total.accesses, args.size, args.line, args.ways
    );
    let fields = json!({
        "bytes": bytes, "line_bytes": args.line, "ways": args.ways, "shared": args.shared,
        "accesses": total.accesses, "misses": total.misses, "complete": recording.complete(),
    });
    let name = if args.allocations { "allocations" } else { "instructions" };
    output::data(&shown::write(&args.form, &Table { name, columns, rows }, &head, fields, args.form.top))?;
    Ok(Outcome::OK)
}

#[expect(clippy::cast_precision_loss, reason = "a ratio that is shown")]
fn ratio(part: u64, all: u64) -> Value {
    json!(if all == 0 { 0.0 } else { part as f64 / all as f64 })
}
