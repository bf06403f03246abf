//! A page of sections that are made up, with names that no program should have.

use super::{html, Axis, Chart, Draw, Drawing, Heat, Page, Point, Row, Scale, Section, Series, Table};

const HOSTILE: &str = "</style></title><script>alert(1)</script>\"'&";

fn axis(scale: Scale) -> Axis {
    Axis { label: HOSTILE.to_owned(), scale, shown: |value| format!("{value}<b>") }
}

fn sections(rows: usize) -> Vec<Section> {
    let point = |x: f64, y: f64| Point { x, y, error: 0.5, title: HOSTILE.to_owned() };
    let series =
        |draw| Series { name: HOSTILE.to_owned(), draw, points: vec![point(1.0, 2.0), point(f64::NAN, 1e300)] };
    let chart = Chart {
        title: HOSTILE.to_owned(),
        x: axis(Scale::Doubling),
        y: axis(Scale::Decades),
        series: [Draw::Line, Draw::Steps, Draw::Dots, Draw::Dots].map(series).to_vec(),
    };
    let row = Row { title: HOSTILE.to_owned(), counts: vec![(0, 1), (1, 5), (u32::MAX, u64::MAX), (7, u64::MAX)] };
    let heat = Heat {
        title: HOSTILE.to_owned(),
        columns: HOSTILE.to_owned(),
        rows_are: HOSTILE.to_owned(),
        most: 100,
        rows: vec![row; rows],
    };
    let table = Table {
        header: vec!["misses".to_owned(), "at".to_owned()],
        names: vec![1],
        rows: vec![vec!["3".to_owned(), HOSTILE.to_owned()]; rows],
    };
    let section = |title| Section {
        title,
        text: HOSTILE.to_owned(),
        help: HOSTILE.to_owned(),
        drawings: vec![Drawing::Chart(chart.clone()), Drawing::Heat(heat.clone())],
        tables: vec![table.clone()],
    };
    vec![section("Cache misses"), section("Races")]
}

fn page(rows: usize) -> String {
    let (command, warnings) = ([HOSTILE.to_owned()], [HOSTILE.to_owned()]);
    let sections = sections(rows);
    html(&Page {
        of: "graph",
        command: &command,
        made_at: 1,
        headline: HOSTILE,
        warnings: &warnings,
        sections: &sections,
    })
}

#[test]
fn hostile_names_are_text() {
    let page = page(3);
    assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
    assert_eq!(
        (page.matches("</style>").count(), page.matches("</title>").count()),
        (1 + 4, 1 + page.matches("<title>").count() - 1)
    );
    assert!(page.contains("default-src 'none'") && !page.contains("href=\"http"));
    // Both sections can be reached.
    assert!(page.contains("<a href=\"#cache-misses\">") && page.contains("<h2 id=\"cache-misses\">"));
}

#[test]
fn large_answers_are_cut_and_say_so() {
    let page = page(1000);
    assert_eq!(page.matches("<td>3</td>").count(), 2 * 200);
    assert_eq!(page.matches("800 more rows").count(), 2);
    // Of 1000 rows of a heat map five share one.
    assert_eq!(page.matches("and 4 more</title>").count(), 2 * 200);
    assert!(page.len() < 600_000, "{} bytes", page.len());
    assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
}
