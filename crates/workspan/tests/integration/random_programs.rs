//! Random fork-join programs against a serial oracle: not a tick of difference, at 1, 2 and 4 workers.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use workspan::args::{Clock, RunOptions};
use workspan::exit::Outcome;
use workspan::record::measure;
use workspan_analysis::{profile, Profile};
use workspan_model::{Recording, SiteKind};
use workspan_testkit::oracle::{Calls, Kind, Site, SiteAnswer};
use workspan_testkit::{evaluate, generate, Answer};

use crate::build;

/// Programs; each runs three times.
const PROGRAMS: u64 = 1_000;

#[test]
fn every_number_equals_the_oracles() {
    let program = build::program("random");
    let sites = Sites::read(&build::root().join("programs/random/src/main.rs"));
    let mut differences = Vec::new();
    for seed in 0..PROGRAMS {
        let expected = evaluate(&generate(seed));
        for workers in [1, 2, 4] {
            let found = run(&program, seed, workers, &sites);
            if found != expected {
                differences.push(format!("seed {seed}, {workers} workers: {}", difference(&expected, &found)));
            }
        }
    }
    assert!(differences.is_empty(), "{} of {PROGRAMS}:\n{}", differences.len(), differences.join("\n"));
}

fn run(program: &Path, seed: u64, workers: u32, sites: &Sites) -> Answer {
    let options = RunOptions {
        clock: Clock::Virtual,
        workers: Some(workers),
        logical_cores: Some(8),
        repeat: 1,
        ..RunOptions::default()
    };
    let command = [program.as_os_str().to_owned(), OsString::from(seed.to_string())];
    let (recording, outcome) = measure(&command, &options).expect("the program runs");
    assert_eq!(outcome, Outcome::OK, "seed {seed}");
    let run = recording.runs.last().expect("a run was recorded");
    assert!(run.complete(), "seed {seed}, {workers} workers: {run:?}");
    answer(&recording, &profile(&recording, run), sites)
}

/// The profile in the oracle's terms.
fn answer(recording: &Recording, profile: &Profile, sites: &Sites) -> Answer {
    let number = |nanos: workspan_model::Nanos| u64::try_from(nanos.0).expect("nothing is negative");
    let shares: i64 = recording.runs[0].critical.iter().map(|c| c.0).sum();
    assert_eq!(shares + recording.runs[0].lost_path.0, recording.runs[0].span.0, "shares do not add up");
    let mut answer =
        Answer { work: number(profile.program.work), span: number(profile.program.span), sites: BTreeMap::new() };
    for row in &profile.sites {
        let place = &recording.sites[row.site.0 as usize];
        let site = sites.of(place.kind, place.line);
        let (mut instances, mut on_path) = (0, Calls::default());
        for (totals, id) in recording.runs[0].totals.iter().zip(recording.contexts.ids()) {
            if recording.contexts.site(id) == Some(row.site) {
                instances += totals.instances;
                on_path.count += totals.on_path.instances;
                on_path.work += number(totals.on_path.work);
                on_path.span += number(totals.on_path.span);
            }
        }
        answer.sites.insert(
            site,
            SiteAnswer {
                work: number(row.work),
                span: number(row.spans),
                instances,
                self_work: number(row.self_work),
                critical: number(row.critical),
                tasks: if site.0 == Kind::ParBridge { 0 } else { row.tasks },
                on_path,
            },
        );
    }
    let serial = profile.regions.iter().filter(|r| r.serial);
    let (work, critical) = serial.fold((0, 0), |(w, c), r| (w + number(r.work), c + number(r.critical)));
    if work > 0 {
        let serial = SiteAnswer { self_work: work, critical, ..SiteAnswer::default() };
        answer.sites.insert((Kind::Serial, 0), serial);
    }
    answer
}

fn difference(expected: &Answer, found: &Answer) -> String {
    let mut parts = Vec::new();
    if (expected.work, expected.span) != (found.work, found.span) {
        parts.push(format!("work {} {}, span {} {}", expected.work, found.work, expected.span, found.span));
    }
    for site in expected.sites.keys().chain(found.sites.keys().filter(|s| !expected.sites.contains_key(s))) {
        if expected.sites.get(site) != found.sites.get(site) {
            parts.push(format!("{site:?}: {:?} {:?}", expected.sites.get(site), found.sites.get(site)));
        }
    }
    parts.join("; ")
}

/// The lines of the textual copies in `programs/random`.
struct Sites(BTreeMap<u32, Site>);

impl Sites {
    fn read(file: &Path) -> Sites {
        let text = fs::read_to_string(file).expect("the program's source is there");
        let kinds = [
            ("rayon::join", Kind::Join),
            ("rayon::scope(", Kind::Scope(0)),
            ("rayon::scope_fifo(", Kind::Scope(1)),
            ("rayon::in_place_scope(", Kind::Scope(2)),
            ("=> scope.spawn(", Kind::ScopeSpawn),
            (".with_max_len(1)", Kind::ParIter),
            (".par_bridge()", Kind::ParBridge),
            ("=> rayon::spawn", Kind::Spawn),
        ];
        let mut copies = BTreeMap::new();
        let mut sites = BTreeMap::new();
        for (line, text) in text.lines().enumerate() {
            if let Some((_, kind)) = kinds.iter().find(|(needle, _)| text.contains(needle)) {
                let copy = copies.entry(*kind).or_insert(0u8);
                sites.insert(u32::try_from(line).expect("a short file") + 1, (*kind, *copy));
                *copy += 1;
            }
        }
        Sites(sites)
    }

    fn of(&self, kind: SiteKind, line: u32) -> Site {
        *self.0.get(&line).unwrap_or_else(|| panic!("a {} at line {line}", kind.name()))
    }
}
