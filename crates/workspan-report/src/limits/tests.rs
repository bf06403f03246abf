//! The view of limits that are made up.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use workspan_limits::model::{ALL, BEYOND};
use workspan_limits::path::{Link, Step};
use workspan_limits::profile::{Profile, Slack};
use workspan_limits::result::{Limits as Found, ModelLimit};

use super::{csv, html, json, limits, schema, svg, text, Conditions, Input, Place};
use crate::terminal::Style;

fn view() -> super::Limits {
    view_beside(9.0)
}

/// The view, beside a report of `workspan depend` with this parallelism.
fn view_beside(parallelism: f64) -> super::Limits {
    let lengths = [500, 80, 20, 250, 200, 500, 80, 10, 250, 200, 100, 5];
    let model = |(model, length): (&workspan_limits::Model, u64)| ModelLimit {
        name: model.name,
        instructions: 1000,
        critical_path: length,
        path: vec![
            Step { op: 1, link: Link::MemoryValue, address: 0x4000, weight: length as f64 * 0.5 },
            Step { op: 1, link: Link::Register, address: 0, weight: length as f64 * 0.25 },
            Step { op: 2, link: Link::MemoryName, address: 0x5000, weight: length as f64 * 0.25 },
        ],
        profile: (model.name == "Tru").then(|| {
            let mut profile = Profile::default();
            (0..1000).for_each(|n| profile.add(1 + n % length));
            profile
        }),
        model: *model,
    };
    let beyond = |(n, machine): (u64, &workspan_limits::Model)| model((machine, 100 + 10 * n));
    let found = Found {
        instructions: 1000,
        models: ALL.iter().zip(lengths).map(model).collect(),
        beyond: (0u64..).zip(&BEYOND).map(beyond).collect(),
        branches: (100, Some(7)),
        slack: Some(Slack { unused: 10, ..Slack::default() }),
        bytes: 4096,
        coarse: false,
        exact: true,
    };
    let place =
        |file: &str, line, function: &str| Place { file: file.to_owned(), line, function: Some(function.to_owned()) };
    let places = BTreeMap::from([(1, place("src/random.c", 40, "seed")), (2, place("src/</script><b>.c", 7, "main"))]);
    let conditions = Conditions {
        command: vec!["./prog".to_owned(), "<b>".to_owned()],
        emulator: "qemu-x86_64 version 7.2".to_owned(),
        exit_code: Some(3),
        threads: 1,
        ..Conditions::default()
    };
    let warnings = ["the program ended with status 3".to_owned()];
    limits(&Input {
        conditions: &conditions,
        found: &found,
        places: &places,
        variables: &BTreeMap::from([(0x4000, "state".to_owned()), (0x5000, "[heap]".to_owned())]),
        depend: Some(&(vec!["./prog".to_owned()], parallelism)),
        complete: true,
        wall_ns: 5,
        warnings: &warnings,
    })
}

#[test]
fn the_verdict_names_numbers_cause_and_place() {
    let view = view();
    assert_eq!(
        view.text,
        "parallelism 2.00 with all dependences, 12.5 with those of values alone, 100 with a frame for each call: what limits it \
         most is the order of calls on one stack; 75 % of the longest chain of values is in `seed`, src/random.c:40, through `state`"
    );
    let names: Vec<&str> = view.models.iter().map(|model| model.name.as_str()).collect();
    assert_eq!(names, workspan_limits::model::TABLE);
    assert_eq!(view.control.len(), 5);
    let of_tru = view.variables.iter().filter(|variable| variable.model == "Tru");
    let of_tru: Vec<(&str, &str, f64)> =
        of_tru.map(|found| (found.variable.as_str(), found.link.as_str(), found.share)).collect();
    assert_eq!(of_tru, [("state", "memory-value", 0.5), ("[heap]", "memory-name", 0.25)]);
}

/// Its bound is `TruSp`, which allows 100.
#[test]
fn what_depend_found_has_a_bound() {
    let of = |parallelism| view_beside(parallelism).depend.expect("it was given");
    assert_eq!((of(9.0).model.as_deref(), of(9.0).bound, of(9.0).within), (Some("TruSp"), Some(100.0), Some(true)));
    assert_eq!(of(110.0).within, Some(false));
    let shown = |parallelism| text(&view_beside(parallelism), Style::default());
    assert!(shown(9.0).contains("calls as tasks have 9.00 of the 100 that TruSp allows"), "{}", shown(9.0));
    assert!(shown(110.0).contains("110, more than the 100 that TruSp allows"), "{}", shown(110.0));
}

#[test]
fn the_text() {
    insta::assert_snapshot!(text(&view(), Style::default()));
}

#[test]
fn rows_for_scripts() {
    let rows = csv(&view());
    assert_eq!(rows.lines().count(), 13 + BEYOND.len());
    assert!(rows.contains("\nTru,table,1000,80,12.5,values alone\n"), "{rows}");
}

#[test]
fn the_page_needs_nothing_and_trusts_nobody() {
    let page = html(&view());
    assert!(!page.contains("<b>") && !page.contains("</script>"), "{page}");
    let page = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!page.contains("http:") && !page.contains("https:"), "{page}");
    assert_eq!(svg(&view()).matches("<rect").count(), 12);
}

/// To accept a change: `WORKSPAN_BLESS=1 cargo test -p workspan-report limits`.
#[test]
fn the_schema_is_up_to_date_and_holds() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/format/limits.schema.json");
    if std::env::var_os("WORKSPAN_BLESS").is_some() {
        fs::write(&file, schema()).expect("the documents are writable");
    }
    assert!(fs::read_to_string(file).expect("it is there") == schema(), "the schema has changed: bless it");
    let schema: serde_json::Value = serde_json::from_str(&schema()).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    let answer = serde_json::from_str(&json(&view())).expect("JSON");
    let errors: Vec<String> = schema.iter_errors(&answer).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}
