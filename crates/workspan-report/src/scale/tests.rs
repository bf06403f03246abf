//! The answers for a made-up program. To accept a change: `INSTA_UPDATE=always INSTA_FORCE_PASS=1`; of the schema
//! `WORKSPAN_BLESS=1`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use workspan_analysis::factored::{Measured, Places, Point, Profiled, RegionFactors, Sample, SiteFactors};
use workspan_model::{Nanos, Recording, Site, SiteId, SiteKind};

use super::{csv, html, json, scale, schema, svg, text, Conditions, Input, Scale};
use crate::terminal::Style;

fn ms(value: i64) -> Nanos {
    Nanos(value * 1_000_000)
}

/// For each P: T_1, and of two runs T_P and I_P, in milliseconds.
type Times = (u32, i64, [(i64, i64); 2]);

const TIMES: &[Times] =
    &[(1, 1200, [(1200, 0), (1210, 2)]), (2, 1200, [(700, 90), (720, 110)]), (4, 1200, [(500, 400), (520, 500)])];

fn measured(times: &[Times]) -> Measured {
    let point = |(workers, one, runs): &Times| Point {
        workers: *workers,
        runs: runs.map(|(time, idle)| Sample { time: ms(time), idle: ms(idle), ..Sample::default() }).to_vec(),
        one_worker: vec![ms(*one), ms(one + 10)],
        ..Point::default()
    };
    let points = times.iter().map(point).collect();
    Measured { baseline: vec![ms(1000), ms(1010)], elision: vec![ms(1100), ms(1102)], points }
}

fn conditions() -> Conditions {
    Conditions {
        command: vec!["./<prog>".to_owned(), "--cutoff={P}".to_owned()],
        baseline: Some(vec!["./seq".to_owned()]),
        elision: Some(vec!["./elision".to_owned()]),
        made_at: 1_798_761_540,
        processor: "Some Processor".to_owned(),
        cpus: 4,
        repeat: 2,
        warm_up: 1,
        ..Conditions::default()
    }
}

fn view(times: &[Times], complete: bool) -> Scale {
    let site = |kind, line| Site::at(kind, "src/<a>.rs", line, 5);
    let to = Some(SiteId(1));
    let sites = vec![site(SiteKind::Serial { from: None, to }, 0), site(SiteKind::Join, 7)];
    let recording = Recording { sites, ..Recording::default() };
    let region = |id, serial, work, idle| RegionFactors {
        site: SiteId(id),
        serial,
        one_worker: ms(600),
        work: ms(work),
        idle: ms(idle),
    };
    let places = Places {
        workers: 4,
        regions: vec![region(1, false, 900, 300), region(0, true, 610, 150)],
        sites: vec![SiteFactors { site: SiteId(1), one_worker: ms(600), work: ms(900) }],
        profiled: Profiled { task_overhead: ms(40), span: ms(450) },
    };
    let view = scale(Input {
        conditions: &conditions(),
        measured: &measured(times),
        places: Some((&recording, &places)),
        complete,
        warnings: &["something was odd".to_owned()],
    });
    view.expect("there are points")
}

#[test]
fn the_text() {
    insta::assert_snapshot!(text(&view(TIMES, true), Style::default(), true));
}

#[test]
fn the_text_in_ascii_of_a_single_point_that_was_interrupted() {
    let view = view(&TIMES[1..2], false);
    let text = text(&view, Style::default(), false);
    assert!(text.contains("! interrupted"));
    assert!(!text.contains('│'));
    insta::assert_snapshot!(view.reading.join("\n"), @r"
    Work inflation, 8.1 % of the time of 2 workers: the gap between the maximal and the inflation-specific curve; the same work takes 1.10 times as long as with one worker.
    Task overhead, 7.3 % of the time of 2 workers: the gap between the curve of the elision and the maximal one; larger tasks would cost less.
    Idle time, 7.0 % of the time of 2 workers: the gap between the maximal and the idle-time-specific curve; workers find no work.
    Algorithmic overhead, 6.8 % of the time of 2 workers: the gap between the linear curve and that of the elision; the program does more than the baseline.
    ");
}

#[test]
fn the_plot_in_ascii() {
    insta::assert_snapshot!(super::plot::draw(&view(TIMES, true), false), @r"
    4.00 |                                                           ..
         |                                                       ....
         |                                                    ...     e
         |                                                 ...        m
         |                                             ....
         |                                          ...
    2.67 |                                       ...
         |                                   ....                     f
         |                                ...
         |                             ...                            a
         |                         .... m
         |                      ...     f
    1.33 |                   ...        a
         |               ....
         |            ...a
         |         ...
         |     ....
         |  ...
    0.00 |..
         +-------------------------------------------------------------
                         1              2                             4  workers
          . linear   e elision   m maximal   i idle-time-specific   f inflation-specific   a actual
    ");
}

#[test]
fn the_table_of_values() {
    insta::assert_snapshot!(csv(&view(TIMES, true)), @r"
    workers,runs,time_ns,time_error_ns,one_worker_ns,idle_ns,work_ns,inflation_ns,baseline_ns,elision_ns,linear,elision,maximal,idle_specific,inflation_specific,actual,actual_error
    1,2,1205000000,63550002,1205000000,1000000,1204000000,-1000000,1005000000,1101000000,1,0.9128065395095368,0.8340248962655602,0.8333333333333334,0.834717607973422,0.8340248962655602,0.06867361459880748
    2,2,710000000,127100003,1205000000,100000000,1320000000,115000000,1005000000,1101000000,2,1.8256130790190737,1.6680497925311204,1.5402298850574712,1.5227272727272727,1.4154929577464788,0.2687370761127131
    4,2,510000000,127100003,1205000000,450000000,1590000000,385000000,1005000000,1101000000,4,3.6512261580381473,3.336099585062241,2.4290030211480365,2.5283018867924527,1.9705882352941178,0.5066634099352247
    ");
}

#[test]
fn the_picture() {
    insta::assert_snapshot!(svg(&view(TIMES, true)));
}

/// It needs nothing else, and what the program chose is inert.
#[test]
fn the_page() {
    let page = html(&view(TIMES, true));
    assert!(page.contains("./&lt;prog&gt;") && page.contains("src/&lt;a&gt;.rs:7") && !page.contains("<prog>"));
    let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
    assert!(
        !elsewhere.contains("http://")
            && !elsewhere.contains("https://")
            && !elsewhere.contains("<script")
            && !elsewhere.contains("src=")
    );
    // Every element is closed.
    for tag in ["table", "tr", "td", "th", "svg", "p", "h2", "ul", "text", "circle"] {
        let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    assert!(page.len() < 40_000, "{}", page.len());
}

#[test]
fn nothing_measured_is_no_answer() {
    let measured = Measured::default();
    let input = Input { conditions: &conditions(), measured: &measured, places: None, complete: false, warnings: &[] };
    assert_eq!(scale(input), None);
}

/// Without a baseline the program is its own, and says so; few and short runs are warned of.
#[test]
fn what_to_know_is_said() {
    let conditions = Conditions { baseline: None, elision: None, cpus: 1, ..conditions() };
    let point = |workers, time, idle| Point {
        workers,
        runs: vec![Sample { time: Nanos(time), idle: Nanos(idle), ..Sample::default() }],
        one_worker: vec![Nanos(2_000_000)],
        ..Point::default()
    };
    let points = vec![point(1, 2_000_000, 0), point(2, 1_000_000, -5)];
    let measured = Measured { points, ..Measured::default() };
    let input = Input { conditions: &conditions, measured: &measured, places: None, complete: true, warnings: &[] };
    let view = scale(input).expect("there are points");
    insta::assert_snapshot!(view.warnings.join("\n"), @r"
    no --baseline: speedups are over the program itself with one worker, so algorithmic overhead does not show
    a single run: the noise between runs is not known (use --repeat N)
    2 workers on 1 processor: workers wait for a processor, which is a cause of its own as far as CPU times show it
    idle time with 2 workers is below zero: more threads than these were at work
    runs take only 1.00 ms: their serial start-up is a large share (use a larger input)
    ");
    insta::assert_snapshot!(view.text, @r"speedup 2.00 with 2 workers: next to nothing is lost");
}

fn document(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

#[test]
fn the_schema_is_up_to_date() {
    let file = document("format/scale.schema.json");
    if std::env::var_os("WORKSPAN_BLESS").is_some() {
        fs::write(&file, schema()).expect("the documents are writable");
    }
    assert!(fs::read_to_string(file).expect("it is there") == schema(), "the schema has changed: bless it");
}

/// Of answers with all parts, and with few.
#[test]
fn answers_are_as_the_schema_says() {
    let schema: Value = serde_json::from_str(&schema()).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    for view in [view(TIMES, true), view(&TIMES[..1], false)] {
        let answer = serde_json::from_str(&json(&view)).expect("JSON");
        let errors: Vec<String> = schema.iter_errors(&answer).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

/// Every number of the answer has its definition.
#[test]
fn every_field_is_documented() {
    let text = fs::read_to_string(document("methods/scale.md")).expect("it is there");
    let schema: Value = serde_json::from_str(&schema()).expect("JSON");
    let mut missing = Vec::new();
    for (kind, part) in [
        ("Point", "points"),
        ("Speedups", "speedups"),
        ("Causes", "causes"),
        ("Time", "time"),
        ("Shape", "shapes"),
        ("Region", "regions"),
        ("Site", "sites"),
        ("Conditions", "conditions"),
    ] {
        let fields = schema["$defs"][kind]["properties"].as_object().unwrap_or_else(|| panic!("{kind} has fields"));
        missing.extend(fields.keys().map(|name| format!("`{part}.{name}`")).filter(|name| !text.contains(name)));
    }
    assert!(missing.is_empty(), "not in docs/methods/scale.md: {missing:?}");
}
