//! Tables, read by a parser of RFC 4180.

use workspan_analysis::calls::{calls, Options};
use workspan_export::{cilkscale, strand_table, tables, taskprof};
use workspan_model::{Nanos, Recording};
use workspan_report::{report, Report};

use crate::sample::{check_snapshot, sample, written, Sample, SEEDS, SHOWN};

/// Names and rows, all of one length.
pub(crate) fn check_csv(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let mut rows = Vec::new();
    let (mut row, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, quoted) {
            ('"', true) if rest.next_if_eq(&'"').is_some() => cell.push('"'),
            ('"', true) => {
                quoted = false;
                assert!(matches!(rest.peek(), Some(',' | '\n')), "behind a quote");
            }
            (c, true) => cell.push(c),
            ('"', false) => {
                assert!(cell.is_empty(), "a quote within a cell");
                quoted = true;
            }
            (',', false) => row.push(std::mem::take(&mut cell)),
            ('\n', false) => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            (c, false) => {
                assert_ne!(c, '\r');
                cell.push(c);
            }
        }
    }
    assert!(!quoted && row.is_empty() && cell.is_empty(), "it does not end");
    let names = rows.remove(0);
    assert!(rows.iter().all(|row| row.len() == names.len()), "{names:?}");
    (names, rows)
}

fn report_of(recording: &Recording) -> Report {
    report(recording).expect("it holds a run")
}

/// All tables, one after the other.
pub(crate) fn write_tables(sample: &Sample) -> Vec<(&'static str, String)> {
    let report = report_of(&sample.recording);
    let mut all: Vec<_> =
        tables::TABLES.iter().map(|table| (table.name, written(|out| table.write(&report, out)))).collect();
    let strands =
        written(|out| strand_table::write(&sample.recording, &sample.rows, out).unwrap_or_else(|never| match never {}));
    all.push(("strands", strands));
    all.push(("taskprof", written(|out| taskprof::write(&report, out))));
    all.push(("cilkscale", write_cilkscale(sample, Some(5_000))));
    all
}

fn write_cilkscale(sample: &Sample, steal: Option<i64>) -> String {
    let calls = steal.map(|steal| {
        let options = Options { heights: false, steal: Nanos(steal), on_one: Nanos::ZERO };
        calls(&sample.recording, &sample.rows, &options).unwrap_or_else(|never| match never {})
    });
    let report = report_of(&sample.recording);
    written(|out| cilkscale::write(&sample.recording, &report, calls.as_ref(), out))
}

#[test]
fn tables_say_what_the_report_says() {
    for seed in SEEDS.step_by(5) {
        let sample = sample(seed);
        let report = report_of(&sample.recording);
        for (name, text) in write_tables(&sample) {
            let (names, rows) = check_csv(&text);
            let column = |wanted: &str| {
                let at = names.iter().position(|name| name == wanted).unwrap_or_else(|| panic!("{wanted} of {name}"));
                rows.iter().map(move |row| row[at].clone()).collect::<Vec<_>>()
            };
            let sum = |wanted: &str| column(wanted).iter().map(|cell| cell.parse::<i64>().expect("whole")).sum::<i64>();
            match name {
                "program" => assert_eq!((sum("work_ns"), sum("span_ns")), (sample.work().0, sample.run.span.0)),
                "regions" => assert_eq!(rows.len(), report.regions.len()),
                "sites" => {
                    let ids: Vec<_> = report.sites.iter().map(|site| site.id.clone()).collect();
                    assert_eq!(column("id"), ids);
                    assert_eq!(sum("self_ns"), report.sites.iter().map(|site| site.self_ns).sum::<i64>());
                }
                "contexts" => {
                    for (parent, index) in column("parent").iter().zip(0..) {
                        assert!(parent.is_empty() || parent.parse::<i64>().expect("whole") < index);
                    }
                }
                "strands" => {
                    assert_eq!((rows.len(), sum("cost_ns")), (sample.rows.len(), sample.work().0));
                    let critical = rows.iter().zip(column("critical")).filter(|(_, critical)| critical == "true");
                    let takes =
                        |row: &[String]| row[6].parse::<i64>().expect("whole") + row[7].parse::<i64>().expect("whole");
                    assert_eq!(critical.map(|(row, _)| takes(row)).sum::<i64>(), sample.run.span.0, "seed {seed}");
                }
                _ => {}
            }
        }
    }
    for (name, text) in write_tables(&sample(SHOWN)) {
        check_snapshot(&format!("table-{name}"), &text);
    }
}

/// If a steal costs nothing, the burdened span is the span; code under a lock has none.
#[test]
fn cilkscale_has_its_own_header() {
    for seed in SEEDS.step_by(3) {
        let sample = sample(seed);
        let text = write_cilkscale(&sample, Some(0));
        assert!(text.starts_with(
            "tag,work (seconds),span (seconds),parallelism,burdened_span (seconds),burdened_parallelism\n,"
        ));
        let (_, rows) = check_csv(&text);
        let seconds = |nanos: Nanos| nanos.as_f64() / 1e9;
        let cell = |row: &[String], at: usize| row[at].parse::<f64>().expect("a number");
        assert!((cell(&rows[0], 1) - seconds(sample.work())).abs() < 1e-12, "seed {seed}");
        assert!((cell(&rows[0], 2) - seconds(sample.run.span)).abs() < 1e-12, "seed {seed}");
        for row in &rows {
            if row[0].ends_with(" critical") {
                assert_eq!(row[4..], ["", ""]);
            } else {
                assert_eq!((&row[4], &row[5]), (&row[2], &row[3]), "seed {seed} {}", row[0]);
            }
        }
        let (_, burdened) = check_csv(&write_cilkscale(&sample, Some(5_000)));
        assert!(cell(&burdened[0], 4) >= cell(&rows[0], 4), "seed {seed}");
        let (_, without) = check_csv(&write_cilkscale(&sample, None));
        assert!(without.iter().all(|row| row[4..] == ["", ""]));
        assert!(without.iter().zip(&rows).all(|(a, b)| a[..4] == b[..4]));
    }
}

#[test]
fn taskprof_has_its_own_header() {
    for seed in SEEDS.step_by(3) {
        let sample = sample(seed);
        let text = written(|out| taskprof::write(&report_of(&sample.recording), out));
        assert!(text.starts_with("Source file,Line number,Parallelism,critical path %\nmain,0,"), "{text}");
        let (_, rows) = check_csv(&text);
        let percent: f64 = rows.iter().map(|row| row[3].parse::<f64>().expect("a number")).sum();
        assert!((percent - 100.0).abs() < 1e-6, "seed {seed}: {percent}");
    }
}
