//! What the script computes with and the page does not show, as JSON, and the parts that it inflates.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use workspan_page::session::numbers;

use super::escape;
use super::keys::Keys;
use super::scaling;
use super::table::Order;
use super::timeline;
use crate::live::{deflated, Dot, Live};
use crate::parts::ONE_NUMBER;
use crate::view::{Report, Site, SizeBucket};

/// The engine: `workspan-page` as WebAssembly. `cargo xtask web --wasm` makes it.
const ENGINE: &[u8] = include_bytes!("made/page.wasm");

/// For the script.
#[derive(Debug, Serialize)]
pub(crate) struct Data<'a> {
    /// Names for boxes, by the number in `data-s`.
    labels: Vec<&'a str>,
    /// Handles of sites and regions, by the same.
    ids: Vec<&'a str>,
    order: Order,
    /// Sizes of tasks, by handle of a site: from, up to, how many.
    sizes: BTreeMap<&'a str, Vec<(i64, i64, u64)>>,
    /// Mean cost of creating one of them, in nanoseconds, by the same; without sites of which it is not known.
    creation: BTreeMap<&'a str, i64>,
    /// Speedup on 1, 2, 4 … processors: at least, at most.
    bounds: Vec<(f64, f64)>,
    /// The same simulated: greedy, and by work stealing the least, the median, the most; with even iterations of loops the median, if
    /// that is more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    predicted: Vec<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline: Option<Over>,
    #[serde(skip_serializing_if = "Option::is_none")]
    what_if: Option<WhatIf<'a>>,
}

/// The run over time.
#[derive(Debug, Serialize)]
struct Over {
    from_ns: i64,
    width_ns: i64,
    running: Vec<f64>,
}

/// What can be asked.
#[derive(Debug, Serialize)]
struct WhatIf<'a> {
    /// Which of repeated runs.
    run: u32,
    runs: usize,
    /// Segments: handle, three numbers, text.
    pieces: Vec<(&'a str, [u32; 3], Cow<'a, str>)>,
    /// Numbers of sites, by handle.
    sites: &'a BTreeMap<String, Vec<u32>>,
}

impl<'a> Data<'a> {
    /// Of a report and, if there are any, its strands.
    pub(crate) fn of(report: &'a Report, keys: &'a Keys<'a>, live: Option<&'a Live>) -> Data<'a> {
        let buckets = |sizes: &[SizeBucket]| sizes.iter().map(|b| (b.from_ns, b.to_ns, b.tasks)).collect();
        let sites = report.sites.iter().filter(|site| !site.task_sizes.is_empty());
        let creation = |site: &Site| site.overhead_ns / i64::try_from(site.tasks).unwrap_or(i64::MAX).max(1);
        let created = sites.clone().map(|site| (site.id.as_str(), creation(site))).filter(|(_, cost)| *cost > 0);
        let over = |live: &Live| {
            let timeline = live.timeline.as_ref()?;
            let running = timeline::running(timeline).into_iter().map(|value| (value * 1_000.0).round() / 1_000.0);
            Some(Over { from_ns: timeline.from.0, width_ns: timeline.width.0, running: running.collect() })
        };
        let predicted = |live: &Live| {
            let numbers = |Dot { seen, even }: &Dot| {
                let even = even.filter(|even| *even > seen.stealing[1] * ONE_NUMBER);
                [seen.greedy].into_iter().chain(seen.stealing).chain(even).collect()
            };
            live.predicted.iter().map(numbers).collect()
        };
        let what_if = |live: &'a Live| WhatIf {
            run: live.run.0,
            runs: live.run.1,
            pieces: live
                .pieces
                .iter()
                .map(|part| (part.handle.as_str(), numbers(&part.spot), escape::unmarked(&part.piece.text)))
                .collect(),
            sites: &live.sites,
        };
        Data {
            labels: keys.labels(),
            ids: keys.ids(),
            order: Order::of(report),
            creation: created.collect(),
            sizes: sites.map(|site| (site.id.as_str(), buckets(&site.task_sizes))).collect(),
            bounds: scaling::bounds(report, live).iter().map(|bounds| (bounds.least, bounds.most)).collect(),
            predicted: live.map_or(Vec::new(), predicted),
            timeline: live.and_then(over),
            what_if: live.filter(|live| live.carried.is_some()).map(what_if),
        }
    }
}

/// The engine and the rows, if there are any.
pub(crate) fn carried(live: Option<&Live>) -> String {
    let Some(rows) = live.and_then(|live| live.carried.as_ref()) else {
        return String::new();
    };
    let part = |id: &str, bytes: &[u8]| format!("<script type=\"text/plain\" id=\"{id}\">{}</script>\n", base64(bytes));
    part("engine", &deflated(ENGINE)) + &part("rows", rows)
}

/// RFC 4648.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let value = (bits >> (18 - 6 * digit)) & 63;
            out.push(if digit <= chunk.len() { char::from(DIGITS[value as usize]) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_letters() {
        let check = |text: &str, expected: &str| assert_eq!(base64(text.as_bytes()), expected);
        // The examples of the RFC.
        check("", "");
        check("f", "Zg==");
        check("fo", "Zm8=");
        check("foo", "Zm9v");
        check("foob", "Zm9vYg==");
        check("fooba", "Zm9vYmE=");
        check("foobar", "Zm9vYmFy");
    }

    #[test]
    fn a_page_stays_small() {
        assert!(ENGINE.starts_with(b"\0asm"), "the engine is no WebAssembly");
        let engine = deflated(ENGINE).len();
        assert!(engine < 150_000, "the engine has {engine} bytes, deflated");
        let script = crate::html::SCRIPT;
        assert!(script.len() < 150_000 && !script.contains("</script"), "the script has {} bytes", script.len());
    }
}
