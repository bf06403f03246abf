//! Published programs that use rayon, unmodified, at pinned versions, built natively and by `cargo workspan install`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::Value;

use super::child::Call;
use super::figure::{Figure, Target};
use super::pairs::{cpu, work, Pairs};
use super::spread::Spread;
use super::{build, inputs, table, Options};

/// A published program.
struct Published {
    package: &'static str,
    version: &'static str,
    /// Makes the inputs in a folder and returns the arguments.
    arguments: fn(&Path) -> anyhow::Result<Vec<String>>,
    /// Sites that the report must show: kind and the end of `file:line`.
    sites: &'static [(&'static str, &'static str)],
}

const PUBLISHED: &[Published] = &[
    Published {
        package: "oxipng",
        version: "10.2.1",
        arguments: |folder| {
            let files = pictures(folder, 4, 480)?;
            Ok(["-o", "4", "--dry-run"].map(str::to_owned).into_iter().chain(files).collect())
        },
        sites: &[
            ("par-iter", "/oxipng-10.2.1/src/main.rs:106"),
            ("spawn", "/oxipng-10.2.1/src/evaluate.rs:141"),
            ("par-iter", "/oxipng-10.2.1/src/evaluate.rs:149"),
        ],
    },
    Published {
        package: "dssim",
        version: "3.5.1",
        arguments: |folder| pictures(folder, 4, 900),
        sites: &[
            ("join", "/dssim-core-3.5.1/src/dssim.rs:225"),
            ("par-iter", "/dssim-core-3.5.1/src/dssim.rs:240"),
            ("par-iter", "/dssim-core-3.5.1/src/dssim.rs:287"),
            ("par-iter", "/dssim-core-3.5.1/src/tolab.rs:122"),
        ],
    },
    Published {
        package: "tokei",
        version: "15.0.0",
        arguments: |folder| {
            inputs::sources(&folder.join("sources"), 2000)?;
            Ok(vec![folder.join("sources").to_string_lossy().into_owned()])
        },
        sites: &[
            ("join", "/tokei-15.0.0/src/language/language_type.rs:124"),
            ("par-iter", "/tokei-15.0.0/src/language/language_type.rs:121"),
            ("par-iter", "/tokei-15.0.0/src/language/languages.rs:86"),
            ("par-iter", "/tokei-15.0.0/src/utils/fs.rs:115"),
        ],
    },
];

/// CPU time, profiled over native, at most.
const OVERHEAD: f64 = 1.05;
/// How far the measured work may be from the native CPU time.
const WORK: f64 = 0.05;

fn pictures(folder: &Path, count: u64, side: u32) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    for seed in 0..count {
        let file = folder.join(format!("picture{seed}.png"));
        inputs::picture(&file, side, seed)?;
        files.push(file.to_string_lossy().into_owned());
    }
    Ok(files)
}

/// Measures the group.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let wanted: Vec<&Published> = PUBLISHED.iter().filter(|p| options.wants("crates", p.package)).collect();
    if wanted.is_empty() {
        return Ok(figures);
    }
    table::group("Published programs: profiled over native");
    for published in wanted {
        let program = build::published(published.package, published.version, published.package)?;
        let folder = build::folder().join("inputs").join(published.package);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let arguments = (published.arguments)(&folder)?;
        for workers in [1, 2] {
            let call = Call {
                program: program.clone(),
                arguments: arguments.clone(),
                workers,
                folder: PathBuf::from(&folder),
            };
            let case = format!("{} {}", published.package, published.version);
            let pairs = Pairs::run("crates", &case, &call, options.runs)?;
            let rows = [
                pairs.ratio("CPU time", cpu, cpu, Some(Target::AtMost(OVERHEAD))),
                pairs.ratio("work over native CPU time", cpu, work, Some(Target::NearOne(WORK))),
            ];
            for figure in rows.into_iter().flatten().chain(sites(published, &case, &pairs, workers)) {
                table::row(&figure);
                figures.push(figure);
            }
        }
    }
    Ok(figures)
}

/// The share of the expected sites among those that the reports show, and which others they show.
fn sites(published: &Published, case: &str, pairs: &Pairs, workers: u32) -> Option<Figure> {
    let found: BTreeSet<(String, String)> = pairs.runs.iter().flat_map(|(_, run)| shown(&run.report)).collect();
    let of_rayon = found.iter().filter(|(_, place)| place.contains("/rayon")).count();
    let is_found =
        |(kind, end): &&(&str, &str)| found.iter().any(|(found, place)| found == kind && place.ends_with(end));
    let there = published.sites.iter().filter(is_found).count();
    let expected = (published.sites.len() + of_rayon).max(1);
    let places = found.iter().map(|(kind, place)| format!("{kind} {}", short(place)));
    Some(Figure {
        group: "crates",
        case: case.to_owned(),
        workers,
        quantity: "sites at the user's lines",
        value: there as f64 / expected as f64,
        spread: Spread::of([there as f64 / expected as f64]),
        target: Some(Target::AtLeast(1.0)),
        behind: Vec::new(),
        remark: places.collect::<Vec<_>>().join(", "),
    })
}

fn shown(report: &Value) -> Vec<(String, String)> {
    let sites = report["sites"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |site: &Value, name: &str| site[name].as_str().unwrap_or_default().to_owned();
    sites.iter().map(|site| (text(site, "kind"), format!("{}:{}", text(site, "file"), site["line"]))).collect()
}

/// A place from its package on.
fn short(place: &str) -> &str {
    let package = place.find("/src/").and_then(|src| place[..src].rfind('/'));
    package.map_or(place, |slash| &place[slash + 1..])
}
