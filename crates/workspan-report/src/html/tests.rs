//! Tests of the page as a whole, on a report made by hand.

use super::*;
use crate::events::{EventSite, EventTotal, Events};
use crate::view::{
    Context, Extremes, Place, Program, Recorded, Region, Report, Site, SizeBucket, Spread, TaskSizes, Verdict, Warning,
    WhatIf, SCHEMA_VERSION,
};
use crate::what_if::{Figures, OnPath, Piece};

/// What a name must not do.
const HOSTILE: &str = "</script><b>&\"'";

/// A context.
pub(super) fn context(parent: Option<usize>, id: &str, self_ns: i64, critical_ns: i64) -> Context {
    Context { parent, id: id.to_owned(), label: id.to_owned(), self_ns, critical_ns }
}

fn place(line: u32) -> Place {
    Place { file: "src/main.rs".to_owned(), line, column: 5, code: None, with_column: false }
}

fn site(id: &str, line: u32) -> Site {
    let Place { file, line, column, code, with_column } = place(line);
    Site {
        id: id.to_owned(),
        file,
        line,
        column,
        code,
        with_column,
        function: Some("demo::heavy".to_owned()),
        name: None,
        kind: "join".to_owned(),
        via: None,
        instances: 3,
        tasks: 3,
        work_ns: 5_000_000,
        span_ns: 2_000_000,
        instances_span_ns: None,
        parallelism: Some(2.5),
        uniform: None,
        burdened: None,
        contended_ns: 0,
        self_ns: 4_000_000,
        critical_ns: 1_800_000,
        critical_share: Some(0.9),
        overhead_ns: 90,
        overhead_share: Some(0.0001),
        overhead_total_ns: 90,
        blocked_ns: 0,
        polled_ns: None,
        task_ns: Some(TaskSizes { mean: 1_333_333, p50: 1_300_000, p90: 1_500_000 }),
        task_sizes: vec![SizeBucket { from_ns: 1_048_576, to_ns: 1_310_720, tasks: 3 }],
    }
}

fn serial(id: &str, from: Option<Place>, to: Option<Place>) -> Region {
    Region {
        id: id.to_owned(),
        kind: "serial".to_owned(),
        place: None,
        function: None,
        name: None,
        ran: None,
        prefix: from.is_none(),
        from,
        to,
        beside: false,
        open: false,
        instances: 1,
        work_ns: 200_000,
        span_ns: 200_000,
        instances_span_ns: None,
        parallelism: Some(1.0),
        uniform: None,
        burdened: None,
        critical_ns: 200_000,
        critical_share: Some(0.1),
        overhead_ns: 0,
        task_overhead: Some(0.0),
        wall_ns: 200_000,
        idle_ns: 0,
    }
}

fn empty() -> Report {
    Report {
        schema_version: SCHEMA_VERSION,
        verdict: Verdict { text: "nothing was measured".to_owned(), ..Verdict::default() },
        program: Program {
            work_ns: 0,
            span_ns: 0,
            one_processor_ns: 0,
            parallelism: None,
            uniform: None,
            burdened: None,
            task_overhead: None,
            overhead_ns: 0,
            tasks: 0,
            serial_ns: 0,
            workers: 1,
            logical_cores: None,
            asked_threads: None,
            wall_ns: 0,
            cpu_ns: 0,
            idle_ns: 0,
            preempted_ns: 0,
            blocked_ns: 0,
            polled_ns: None,
            interrupted_ns: 0,
            first_use_ns: None,
            collector_ns: 0,
            complete: true,
            dropped: 0,
            exit_code: None,
            signal: None,
        },
        regions: Vec::new(),
        sites: Vec::new(),
        contexts: Vec::new(),
        warnings: Vec::new(),
        spread: None,
        recorded: Recorded {
            command: Vec::new(),
            at: 0,
            workspan: String::new(),
            runtime: String::new(),
            runs: 0,
            clock: String::new(),
            processor: String::new(),
            cpus: 0,
            system: String::new(),
            join_cost_ps: 0,
            probe_cost_ps: 0,
            steal_ns: None,
            steal_from: None,
        },
        what_if: Vec::new(),
        events: None,
        threads: None,
    }
}

/// A program with one join, and serial code before it.
fn demo() -> Report {
    let mut report = empty();
    report.verdict.text = "parallelism 2.36: 90 % of the critical path is a join".to_owned();
    report.verdict.main = Some("s-1".to_owned());
    report.program.work_ns = 5_200_000;
    report.program.span_ns = 2_200_000;
    report.program.parallelism = Some(2.36);
    let join = Region { place: Some(place(12)), kind: "join".to_owned(), prefix: false, ..serial("s-1", None, None) };
    report.regions = vec![join, serial("s-0", None, Some(place(12)))];
    report.sites = vec![site("s-1", 12)];
    report.contexts = vec![context(None, "s-0", 200_000, 200_000), context(None, "s-1", 5_000_000, 2_000_000)];
    report.recorded.command = vec!["target/release/demo".to_owned(), "7".to_owned()];
    report.recorded.at = 951_782_400;
    report
}

fn source() -> Sources {
    let text: String = (1..=30).map(|line| format!("    line({line});\n")).collect();
    Sources::from([("src/main.rs".to_owned(), text)])
}

#[track_caller]
fn check(report: &Report, sources: &Sources, expected: &[&str]) -> String {
    let page = write(report, sources, None);
    for part in expected {
        assert!(page.contains(part), "the page lacks {part}");
    }
    assert!(!page.contains("http://") && !page.contains("https://"), "the page refers to the network");
    page
}

#[test]
fn what_matters_is_there_without_a_script() {
    check(
        &demo(),
        &source(),
        &[
            "<title>demo · parallelism 2.36 · Workspan</title>",
            "<h1><b>parallelism 2.36</b><a href=\"#s-1\">: 90 % of the critical path is a join</a></h1>",
            "<th scope=\"row\">program</th><td>5.20 ms</td><td>2.20 ms</td><td>2.36</td>",
            "<a href=\"#L0-12\">src/main.rs:12</a><span> join in demo::heavy</span>",
            "<a href=\"#L0-12\">serial code before src/main.rs:12</a><span></span>",
            "target/release/demo 7",
            "2000-02-29 00:00 UTC",
        ],
    );
}

/// Names stand in elements of their own, not between backticks.
#[test]
fn nothing_on_the_page_has_backticks() {
    let mut report = demo();
    report.verdict.text =
        "parallelism 2, which a.c:16 has: 90 % of the critical path is serial code in `spin` (a.c:4)".to_owned();
    report.verdict.lines = vec!["on 16 processors: 2x in `spin`".to_owned()];
    report.verdict.next = Some("parallelise serial code in `spin`".to_owned());
    report.warnings = vec![Warning { code: "a".to_owned(), message: "see `workspan doctor`".to_owned() }];
    report.contexts[0].label = "serial code in `spin`".to_owned();
    report.regions[1].ran = Some(crate::ran::Ran {
        function: "spin".to_owned(),
        file: "a.c".to_owned(),
        first_line: 4,
        last_line: 4,
        samples: 10,
        share: 1.0,
        callees: Vec::new(),
        threads: 1,
        main_thread: true,
    });
    report.sites[0].name = Some("solve".to_owned());
    let expected = [
        "<h1><b>parallelism 2, which a.c:16 has</b>",
        "<title>demo · parallelism 2, which a.c:16 has · Workspan</title>",
        "critical path is serial code in <code>spin</code> (a.c:4)</a></h1>",
        "Try: parallelise serial code in <code>spin</code></p>",
        "</b> see <code>workspan doctor</code></li>",
        "<title>serial code in spin (a.c:4), before src/main.rs:12, main thread",
        "<text>before main.rs:12</text>",
        "<span> join <code>solve</code> in demo::heavy</span>",
    ];
    let page = check(&report, &source(), &expected);
    // The script has its own, in its code.
    let shown = page.replace(SCRIPT, "");
    let at = shown.find('`');
    assert!(at.is_none(), "{}", &shown[at.unwrap_or(0).saturating_sub(80)..][..120]);
}

/// The page and the text have one row for two of start-up, where one of them says nothing.
#[test]
fn two_rows_of_start_up_are_one() {
    let starts = |share: f64| {
        let mut report = demo();
        let little = Region { critical_share: Some(share), critical_ns: 5_000, ..serial("s-9", None, None) };
        report.regions.push(little);
        (crate::rows::shown_regions(&report).into_owned(), report)
    };
    let (shown, report) = starts(0.001);
    let row = shown.iter().find(|region| region.id == "s-0").expect("it is there");
    assert_eq!((shown.len(), row.critical_ns, row.work_ns, row.instances), (2, 205_000, 400_000, 1));
    assert!(row.critical_share.is_some_and(|share| (share - 0.101).abs() < 1e-9));
    let plain = crate::text::Style { colour: false, top: 9 };
    let text = crate::text::write(&report, plain);
    assert!(text.contains("before src/main.rs:12") && !text.contains("  serial code\n"), "{text}");
    check(&report, &source(), &[]);
    // What takes long stays apart.
    let (shown, report) = starts(0.2);
    assert_eq!(shown.len(), 3);
    let text = crate::text::write(&report, plain);
    assert!(text.contains("  serial code\n"), "{text}");
}

/// Of threads: how many there are, whose parallelism a row has, and from when on its locks count.
#[test]
fn rows_of_threads_are_explained() {
    let mut report = demo();
    report.program.workers = 0;
    let threads = Site {
        kind: "thread".to_owned(),
        instances: 4,
        parallelism: Some(1.0),
        instances_span_ns: Some(6_000_000),
        ..site("s-1", 12)
    };
    let lock = Site { kind: "lock".to_owned(), contended_ns: 100, instances: 78, ..site("s-2", 18) };
    report.sites = vec![threads.clone(), lock];
    let plain = crate::text::Style { colour: false, top: 9 };
    let text = crate::text::write(&report, plain);
    for part in [
        "\n4 threads, created by the program\n",
        " 1.00 each ",
        "\neach: instances of the row ran side by side; the parallelism is that of one of them alone",
        "\nlock: the times taken, and the work under the lock, count from the first wait for it on, or from when it",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let page =
        check(&report, &source(), &["<td>1.00 each</td>", "4 threads, created by the program", "count from the first"]);
    assert_eq!(page.matches("lock: the times taken").count(), 1);
    // A lock that no thread takes has its row from the beginning.
    report.sites[0].kind = "parallel".to_owned();
    assert!(!crate::text::write(&report, plain).contains("lock: the times"));
    report.sites = vec![Site { instances: 1, instances_span_ns: None, ..threads }];
    let text = crate::text::write(&report, plain);
    assert!(text.contains("\n1 thread, created by the program\n") && !text.contains(" each"), "{text}");
}

#[test]
fn an_icicle_is_as_wide_as_its_measure() {
    let page = check(&demo(), &source(), &[]);
    let critical = page.split("<figure id=\"icicle-critical\">").nth(1).and_then(|rest| rest.split("</figure>").next());
    insta::assert_snapshot!(critical.unwrap_or_default(), @r#"
    <figcaption><b>Critical path</b> 2.20 ms</figcaption>
    <svg class="icicle" width="100%" height="40" aria-label="Critical path, 2.20 ms, by site">
    <g class="ct"><title>whole program
    critical path 2.20 ms (2200000 ns)</title><svg x="0.000%" y="0" width="100.000%" height="19"><rect/><text>whole program</text></svg></g>
    <g class="c1" data-s="0"><title>src/main.rs:12 join in demo::heavy
    critical path 2.00 ms (2000000 ns), 91 %; 2.00 ms its own</title><svg x="0.000%" y="20" width="90.909%" height="19"><rect/><text>main.rs:12 join</text></svg></g>
    <g class="cs" data-s="1"><title>serial code before src/main.rs:12
    critical path 200 µs (200000 ns), 9.1 %; 200 µs its own</title><svg x="90.909%" y="20" width="9.091%" height="19"><rect/><text>before main.rs:12</text></svg></g>
    </svg>
    "#);
}

#[test]
fn lines_carry_their_numbers_and_lead_back() {
    let page = check(&demo(), &source(), &["<tr id=\"L0-9\"", "<tr id=\"L0-15\""]);
    assert!(!page.contains("line(8)") && !page.contains("line(16)"));
    let hits: Vec<&str> = page.lines().filter(|line| line.contains("class=\"hit\"")).collect();
    insta::assert_snapshot!(hits.join("\n"), @r##"
    <tr id="L0-12" class="hit" data-s="0"><td class="bar" style="--v:90.0%"><a href="#s-1">90 %</a></td><td>5.00 ms</td><td>2.00 ms</td><td>2.50</td><td>3</td><td><i class="sw c1"></i>12</td><td>    line(12);</td></tr>
    "##);
}

#[test]
fn two_sites_on_a_line_have_a_row_each() {
    let mut report = demo();
    report.sites.push(Site { column: 30, ..site("s-2", 12) });
    check(&report, &source(), &["line(12); <em>↳ join, column 5</em>", "<td> <em>↳ join, column 30</em>"]);
}

#[test]
fn a_site_in_a_dependency_is_shown_where_the_workspace_calls_it() {
    let mut report = demo();
    let file = "/home/u/.cargo/registry/src/index-01/dep-1.0.0/src/lib.rs".to_owned();
    report.sites = vec![Site { file, via: Some(place(20)), ..site("s-3", 7) }];
    check(
        &report,
        &source(),
        &[
            "dep-1.0.0/src/lib.rs:7<span> join in demo::heavy (from <a href=\"#L0-20\">src/main.rs:20</a>)</span>",
            "line(20); <em>↳ leads to dep-1.0.0/src/lib.rs:7</em>",
            "No source was found, or none was wanted, of dep-1.0.0/src/lib.rs.",
        ],
    );
}

#[test]
fn without_sources_the_page_says_so() {
    let page = check(&demo(), &Sources::new(), &["No source was found, or none was wanted, of src/main.rs."]);
    assert!(!page.contains("href=\"#L0"));
}

#[test]
fn a_file_that_became_shorter_says_so() {
    let sources = Sources::from([("src/main.rs".to_owned(), "fn main() {}\n".to_owned())]);
    check(&demo(), &sources, &["It has no line 12: it changed."]);
}

#[test]
fn nothing_from_the_program_is_markup() {
    let hostile = || HOSTILE.to_owned();
    let mut report = demo();
    let at = Place { file: hostile(), line: 1, column: 1, code: None, with_column: false };
    report.verdict.text = format!("parallelism 2: {HOSTILE}");
    report.verdict.main = Some(hostile());
    report.recorded = Recorded {
        command: vec![hostile(), hostile()],
        workspan: hostile(),
        runtime: hostile(),
        clock: hostile(),
        processor: hostile(),
        system: hostile(),
        ..report.recorded
    };
    report.sites = vec![Site {
        file: hostile(),
        function: Some(hostile()),
        name: None,
        kind: hostile(),
        via: Some(at.clone()),
        ..site(HOSTILE, 1)
    }];
    report.regions = vec![Region { kind: hostile(), place: Some(at.clone()), ..serial("r", None, None) }];
    report.regions.push(serial(HOSTILE, Some(at.clone()), Some(at)));
    report.contexts = vec![Context { label: hostile(), ..context(None, HOSTILE, 1_000, 1_000) }];
    report.warnings = vec![Warning { code: hostile(), message: hostile() }];
    let page = check(&report, &Sources::from([(hostile(), hostile())]), &["&lt;/script&gt;&lt;b&gt;&amp;&quot;&#39;"]);
    assert!(!page.contains("<b>&") && !page.contains("&\"'"));
    assert_eq!(page.matches("</script>").count(), 2);
}

#[test]
fn an_empty_report_is_a_page() {
    let page = check(&empty(), &Sources::new(), &["nothing was measured", "The program created no task."]);
    let shown = page.split("<script").next().unwrap_or_default();
    assert!(!shown.contains("NaN") && !shown.contains("inf"));
    assert!(page.len() < 60_000, "{} bytes", page.len());
}

#[test]
fn extremes_and_losses_are_shown() {
    let mut report = demo();
    let times = Extremes { min: 1_000, max: 2_000 };
    report.spread = Some(Spread {
        runs: 5,
        work_ns: times,
        span_ns: times,
        parallelism: Extremes { min: 1.0, max: 2.0 },
        wall_ns: times,
    });
    report.program.complete = false;
    report.program.dropped = 12_345;
    report.warnings = vec![Warning { code: "dropped".to_owned(), message: "some were lost".to_owned() }];
    check(
        &report,
        &Sources::new(),
        &[
            "<th scope=\"row\">lowest</th><td>1.00 µs</td>",
            "<p class=\"conditions\">1 worker; tables: medians of 5 runs; the lines above them: the run of median parallelism</p>",
            "Drawn from the run whose parallelism is the median.",
            "<b aria-hidden=\"true\">!</b> some were lost",
            "12.3 k events did not fit",
        ],
    );
}

#[test]
fn a_large_report_stays_within_its_budget() {
    let mut report = demo();
    report.sites = (0..200).map(|i| site(&format!("s-{i:08x}"), 10 * i + 1)).collect();
    let parent = |i: usize| (!i.is_multiple_of(10)).then(|| i - 1);
    report.contexts = (0..500).map(|i| context(parent(i), &format!("s-{:08x}", i % 200), 1_000_000, 500_000)).collect();
    let page = check(&report, &Sources::new(), &["s-000000c7"]);
    assert!(page.matches("<g class=").count() > 1_000);
    assert!(page.len() < 400_000, "{} bytes", page.len());
}

#[test]
fn scenarios_are_shown_as_text() {
    let figures = Figures { work_ns: 3_000, span_ns: 2_000, parallelism: Some(1.5), even_parallelism: None };
    let piece = Piece { site: None, from: HOSTILE.to_owned(), to: HOSTILE.to_owned(), text: HOSTILE.to_owned() };
    let mut report = demo();
    report.what_if = vec![WhatIf {
        schema_version: 1,
        text: format!("parallelism 2: with {HOSTILE}"),
        run: 1,
        changes: Vec::new(),
        named_ns: 0,
        named_strands: 0,
        before: figures,
        after: figures,
        ceiling: figures,
        sites: Vec::new(),
        path: vec![OnPath { piece, before_ns: 2_000, after_ns: 1_000, after_share: Some(0.5) }],
        warnings: vec![HOSTILE.to_owned()],
    }];
    let row = "<tr><td>recorded</td><td>3.00 µs</td><td>2.00 µs</td><td>1.50</td></tr>";
    let page = check(&report, &Sources::new(), &["<h2>What if</h2>", "<strong>parallelism 2: with ", row, "50 %"]);
    assert!(!page.contains("<b>&") && page.matches("</script>").count() == 2);
    assert!(!check(&demo(), &Sources::new(), &[]).contains("<section id=\"what-if\">"));
}

#[test]
fn events_have_a_table_of_their_own() {
    let total = |name: &str, in_strands: Option<f64>| EventTotal {
        name: name.to_owned(),
        in_strands,
        whole: Some(2_000.0),
        attributed: Some(0.5),
        counted_share: 1.0,
        missing_threads: 0,
        outside_kernel: false,
        refused: None,
    };
    let site = EventSite {
        id: Some("s-1".to_owned()),
        name: "src/<main>.rs:12".to_owned(),
        kind: "join".to_owned(),
        own: vec![0.0, 900.0],
        inclusive: vec![0.0, 950.0],
    };
    let events = Events { events: vec![total("cycles", None), total("page-faults", Some(1_000.0))], sites: vec![site] };
    let page = check(
        &Report { events: Some(events), ..demo() },
        &source(),
        &[
            "page-faults: 1000 in strands, 50 % of the 2000 of the whole process",
            "<td>900</td><td>90 %</td><td>950</td><td>src/&lt;main&gt;.rs:12 join</td>",
        ],
    );
    assert!(!page.contains("<th scope=\"col\">cycles"), "what was not counted is in no table");
    assert!(!check(&demo(), &source(), &[]).contains("id=\"events\""));
}
