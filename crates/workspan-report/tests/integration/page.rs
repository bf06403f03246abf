//! What a reader does with the page, and what it must withstand.

use serde_json::json;
use std::io::Write as _;
use workspan_analysis::what_if::Selector;
use workspan_report::html::Sources;
use workspan_testkit::strands::stream::Shape;

use crate::browser::Browser;
use crate::pages::{made, Made};

const SCREEN: (u32, u32) = (1400, 2600);

/// Lines that are there to be shown.
fn sources(name: &str) -> Sources {
    let text: String = (1..=12).map(|line| format!("    work_on_line({line}); // </script><b>\n")).collect();
    Sources::from([(format!("src/{name}.rs"), text)])
}

#[test]
fn it_opens_from_disk_in_every_light() {
    let run = made(Shape::Tasks, 4_000, "demo");
    let (file, bytes) = run.write("demo", &sources("demo"));
    assert!(bytes < 1_000_000, "{bytes} bytes");
    let mut browser = Browser::start("light");
    for (media, scheme) in [("screen", "light"), ("screen", "dark"), ("print", "light")] {
        browser.show(media, scheme, SCREEN);
        browser.open(&file, "");
        let picture = browser.picture(&format!("page-{media}-{scheme}"));
        assert!(picture.len() > 50_000, "{media} {scheme}: the picture is next to empty");
        let background = browser.eval("getComputedStyle(document.body).backgroundColor");
        let expected = if scheme == "dark" { "rgb(26, 28, 31)" } else { "rgb(255, 255, 255)" };
        assert_eq!(background, json!(expected), "{media}");
    }
    browser.show("screen", "light", (390, 1600));
    browser.open(&file, "");
    browser.picture("page-narrow");
    let too_wide = browser.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert_eq!(too_wide, json!(0), "the page is wider than a narrow screen");
    // Every panel that strands allow is there, each with its help.
    let panels = "['scaling', 'icicles', 'walk', 'timeline', 'regions', 'sites', 'source', 'recording'].filter(id => \
                  !document.querySelector(`#${id} .help`)).join()";
    assert_eq!(browser.eval(panels), json!(""));
    assert_eq!(browser.eval("document.querySelectorAll('#speedup .band').length"), json!(1));
    assert_eq!(browser.eval("document.querySelectorAll('#sizes rect').length > 3"), json!(true));
    browser.check_quiet();
}

/// What strands wait for each other is in the run's total of time blocked, and holds no processor.
#[test]
fn the_band_is_that_of_the_strands() {
    let mut run = made(Shape::Tasks, 4_000, "waits");
    let band = |run: &Made| {
        let (file, _) = run.write("waits", &sources("waits"));
        let page = std::fs::read_to_string(file).expect("it was written");
        let from = page.split_once("\"bounds\":").expect("it has bounds").1;
        from.split_once("]]").expect("they end").0.to_owned()
    };
    let before = band(&run);
    let whole = &mut run.recording.runs[0];
    whole.blocked += whole.span * 10;
    assert_eq!(band(&run), before);
}

/// Moves a slider as a hand would: to the factor of this number in its list.
fn slide(browser: &mut Browser, part: &str, step: usize) -> f64 {
    let script = format!(
        "(() => {{ const input = document.querySelector('tr[data-part=\"{part}\"] input'); input.value = '{step}'; \
         const before = performance.now(); input.dispatchEvent(new Event('input', {{ bubbles: true }})); \
         return performance.now() - before; }})()"
    );
    browser.eval(&script).as_f64().expect("a time")
}

/// The factors of the sliders.
const FACTORS: [f64; 18] =
    [1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0, 20.0, 24.0, 32.0, 48.0, 64.0, f64::INFINITY];

/// What the page shows, against what the command reports.
#[track_caller]
fn check_answer(browser: &mut Browser, run: &Made, parts: &[(String, Selector, f64)]) {
    let expected = run.answer(parts);
    let figures = [expected.before, expected.after, expected.ceiling]
        .map(|f| json!([f.work_ns.to_string(), f.span_ns.to_string(), f.parallelism]));
    let shown = "Array.from(document.querySelectorAll('#sliders .figures tbody tr'), row => [row.dataset.work, \
                 row.dataset.span, Number(row.dataset.parallelism)])";
    assert_eq!(browser.eval(shown), json!(figures));
    let line = browser.eval("document.querySelector('#sliders .answer').textContent");
    assert_eq!(line, json!(expected.text));
    let after = "(() => { const d = document.querySelector('#sliders .after').dataset; return [d.named, d.strands, d.places]; })()";
    let named = [expected.named_ns.to_string(), expected.named_strands.to_string(), expected.path.len().to_string()];
    assert_eq!(browser.eval(after), json!(named));
    let path: Vec<_> = expected
        .path
        .iter()
        .take(8)
        .map(|row| json!([row.before_ns.to_string(), row.after_ns.to_string(), row.piece.text]))
        .collect();
    let shown = "Array.from(document.querySelectorAll('#sliders .path tbody tr'), row => [row.dataset.before, row.dataset.after, \
                 row.lastElementChild.textContent])";
    assert_eq!(browser.eval(shown), json!(path));
}

#[test]
fn sliders_tell_what_the_command_tells() {
    for shape in [Shape::Tasks, Shape::Iterators] {
        let name = if shape == Shape::Tasks { "tasks" } else { "iterators" };
        let run = made(shape, 6_000, name);
        let (file, _) = run.write(name, &sources(name));
        let mut browser = Browser::start(name);
        browser.show("screen", "light", SCREEN);
        browser.open(&file, "");
        // Two pieces of the path: their handles are the command's, which say what they name.
        let handles = browser.eval("Array.from(document.querySelectorAll('tr[data-part]'), row => row.dataset.part)");
        let handles: Vec<String> = serde_json::from_value(handles).expect("names");
        let piece = |handle: &String| {
            let all =
                workspan_analysis::strands::places(&run.recording, &run.rows).unwrap_or_else(|never| match never {});
            let mut found =
                all.into_iter().filter(|at| workspan_analysis::advise::piece_id(&run.recording, at) == *handle);
            let place = found.next().expect("the command knows it");
            assert!(found.next().is_none(), "made-up sites differ");
            Selector::Place(place)
        };
        let mut parts = Vec::new();
        for (handle, step) in handles.iter().zip([8, 3]) {
            slide(&mut browser, handle, step);
            parts.push((handle.clone(), piece(handle), FACTORS[step]));
            check_answer(&mut browser, &run, &parts);
        }
        // The schedules, too, one number of processors after the other.
        let points = "(document.querySelector('#speedup').dataset.predicted || '').length > 2";
        browser.wait_for(points);
        let predicted = browser.eval("JSON.parse(document.querySelector('#speedup').dataset.predicted)");
        let predicted: Vec<[f64; 4]> = serde_json::from_value(predicted).expect("speedups");
        assert_eq!(predicted, run.predicted(&parts));
        assert_eq!(browser.eval("document.querySelectorAll('#speedup .dots.changed circle').length"), json!(11));
        browser.picture(&format!("predicted-{name}"));
        // A site that is chosen, with all below it, to infinity.
        let (id, site) = run.handle(if shape == Shape::Tasks { 3 } else { 2 });
        browser.eval(&format!("document.getElementById('{id}').click()"));
        assert_eq!(
            browser.eval("document.querySelectorAll('.sel').length > 2"),
            json!(true),
            "it is marked everywhere"
        );
        browser.eval(&format!("document.querySelector('[data-add=\"{id}/\"]').click()"));
        slide(&mut browser, &format!("{id}/"), 17);
        parts.push((format!("{id}/"), Selector::Below(site), f64::INFINITY));
        check_answer(&mut browser, &run, &parts);
        assert_eq!(browser.eval("document.querySelectorAll('#speedup .band').length"), json!(2));
        browser.picture(&format!("what-if-{name}"));
        // What the address says is what whoever follows it sees.
        let address = browser.eval("location.hash.slice(1)");
        browser.open(&file, address.as_str().expect("a text"));
        check_answer(&mut browser, &run, &parts);
        // Schedules with this number of parts would take too long here, and the page says so.
        browser.wait_for("document.querySelector('#speedup').dataset.predicted === '[]'");
        let note = browser.eval("document.querySelector('#speedup .none').textContent");
        assert!(note.as_str().is_some_and(|note| note.contains("workspan predict")), "{note}");
        // Back to where it was.
        for (part, ..) in &parts {
            slide(&mut browser, part, 0);
        }
        assert_eq!(browser.eval("document.querySelectorAll('#sliders .figures').length"), json!(0));
        browser.check_quiet();
    }
}

#[test]
fn a_large_recording_answers_a_click_at_once() {
    let run = made(Shape::Joins, 300_000, "large");
    assert!(run.instances() >= 100_000, "{}", run.instances());
    let (file, bytes) = run.write("large", &sources("large"));
    assert!(bytes < 20_000_000, "{bytes} bytes");
    let mut browser = Browser::start("large");
    browser.show("screen", "light", SCREEN);
    browser.open(&file, "");
    let part = browser.eval("document.querySelector('tr[data-part]').dataset.part");
    let part = part.as_str().expect("a part");
    // The first answer also computes what is at most possible.
    let first = slide(&mut browser, part, 3);
    let mut times: Vec<f64> = (4..13).map(|step| slide(&mut browser, part, step)).collect();
    times.sort_by(f64::total_cmp);
    let (id, _) = run.handle(2);
    let choose = browser.eval(&format!(
        "(() => {{ const before = performance.now(); document.getElementById('{id}').click(); return performance.now() - before; }})()"
    ));
    let choose = choose.as_f64().expect("a time");
    let measured = format!(
        "{} instances, {} rows, {bytes} bytes: the first answer {first:.0} ms, others {:.0} ms (median; {:.0} at least), choosing {choose:.0} ms",
        run.instances(),
        run.rows.len(),
        times[times.len() / 2],
        times[0],
    );
    // 100 ms is the aim. A machine that does ten other things may take several times as long; one that computes everything
    // anew for each row of a table takes longer than that.
    assert!(times[0] < 1_000.0 && choose < 1_000.0, "{measured}");
    // Shown with --nocapture: figures are wanted of tests that pass, too.
    let _ = writeln!(std::io::stderr(), "{measured}");
    browser.check_quiet();
}

/// A row of a table that can be seen.
const SEEN: &str = "Array.from(document.querySelectorAll('#sites tbody tr')).filter(row => !row.hidden)";

#[test]
fn tables_sort_and_filter_and_remember() {
    let run = made(Shape::Tasks, 4_000, "tables");
    let (file, _) = run.write("tables", &sources("tables"));
    let mut browser = Browser::start("tables");
    browser.show("screen", "light", SCREEN);
    browser.open(&file, "");
    let first = format!("{SEEN}.map(row => row.lastElementChild.textContent)");
    let order = browser.eval(&first);
    let order = order.as_array().expect("rows").clone();
    assert!(order.len() >= 2);
    // By tasks, then turned round.
    for (direction, word) in [(1, "descending"), (-1, "ascending")] {
        browser.eval("document.querySelectorAll('#sites thead button')[5].click()");
        let sorted = browser.eval(&format!(
            "{SEEN}.map(row => row.cells[5].textContent).map(text => parseFloat(text) * (text.includes('k') ? 1000 : 1))"
        ));
        let values: Vec<f64> = serde_json::from_value(sorted).expect("numbers");
        assert!(values.windows(2).all(|pair| (pair[0] - pair[1]) * f64::from(direction) >= 0.0), "{values:?}");
        let aria = browser.eval("document.querySelectorAll('#sites thead th')[5].getAttribute('aria-sort')");
        assert_eq!(aria, json!(word));
    }
    browser.eval("(() => { const i = document.querySelector('#sites input'); i.value = 'SPAWN tables'; i.dispatchEvent(new Event('input')); })()");
    assert_eq!(browser.eval(&format!("{SEEN}.length")), json!(1));
    assert_eq!(
        browser.eval("document.querySelector('#sites .found').textContent"),
        json!(format!("1 of {}", order.len()))
    );
    let address = browser.eval("location.hash.slice(1)");
    browser.open(&file, address.as_str().expect("a text"));
    assert_eq!(browser.eval(&format!("{SEEN}.length")), json!(1));
    let aria = browser.eval("document.querySelectorAll('#sites thead th')[5].getAttribute('aria-sort')");
    assert_eq!(aria, json!("ascending"));
    // A plain address leads to its place, as ever.
    let (id, _) = run.handle(3);
    browser.open(&file, &id);
    assert_eq!(browser.eval("document.querySelector('.at').id"), json!(id));
    browser.check_quiet();
}

#[test]
fn everything_can_be_done_by_keys() {
    let run = made(Shape::Tasks, 4_000, "keys");
    let (file, _) = run.write("keys", &sources("keys"));
    let mut browser = Browser::start("keys");
    browser.show("screen", "light", SCREEN);
    browser.open(&file, "");
    let (id, _) = run.handle(1);
    browser.eval("document.querySelector('#sites tbody tr').focus()");
    browser.press("ArrowDown");
    browser.press("Enter");
    let chosen = browser.eval("document.activeElement.id + ' ' + document.activeElement.classList.contains('sel')");
    let second = browser.eval(&format!("{SEEN}[1].id"));
    assert_eq!(chosen, json!(format!("{} true", second.as_str().unwrap_or_default())));
    assert_eq!(browser.eval("location.hash.includes('sel=')"), json!(true));
    // Into the icicle, down, zoom, and back.
    let shown =
        "Array.from(document.querySelectorAll('#icicle-work g')).filter(g => g.style.display !== 'none').length";
    let all = browser.eval(shown);
    browser.eval("document.querySelector('#icicle-work g').focus()");
    for key in ["ArrowDown", "ArrowRight", "ArrowLeft", "Enter"] {
        browser.press(key);
    }
    assert_eq!(browser.eval("location.hash.includes('zoom-icicle-work=')"), json!(true));
    assert_ne!(browser.eval(shown), all);
    let detail = browser.eval("document.querySelector('#icicles .detail').textContent");
    assert!(detail.as_str().is_some_and(|text| text.contains(" ns)")), "{detail}");
    browser.press("Escape");
    assert_eq!(browser.eval(shown), all);
    // A slider, and the timeline.
    browser.eval("document.querySelector('tr[data-part] input').focus()");
    browser.press("ArrowRight");
    assert_eq!(browser.eval("document.querySelector('tr[data-part] output').textContent"), json!("1.25×"));
    browser.eval("document.querySelector('svg.timeline').focus()");
    browser.press("ArrowRight");
    let at = browser.eval("document.querySelector('#timeline .detail').textContent");
    assert!(at.as_str().is_some_and(|text| text.contains("running")), "{at}");
    assert_eq!(browser.eval(&format!("document.getElementById('{id}').tabIndex")), json!(0));
    browser.check_quiet();
}

#[test]
fn hostile_names_are_inert() {
    let evil = "</script><script>window.hacked=1</script><img src=x onerror=hacked=1>\"'&";
    let mut run = made(Shape::Tasks, 2_000, "evil");
    run.rename(evil);
    let text = format!("{evil}\n").repeat(12);
    let (file, _) = run.write("evil", &Sources::from([(format!("src/{evil}.rs"), text)]));
    let mut browser = Browser::start("evil");
    browser.show("screen", "light", SCREEN);
    // Names in the address are no better.
    browser.open(&file, "~sel=</script><b>&faster=s-zz=2,a-00000000=inf&zoom-icicle-work=x&sort-sites=99-&at=%E0%A4%A");
    assert_eq!(browser.eval("typeof window.hacked + document.images.length"), json!("undefined0"));
    let part = browser.eval("document.querySelector('tr[data-part]').dataset.part");
    slide(&mut browser, part.as_str().expect("a part"), 5);
    let shown = browser.eval("document.querySelector('#sliders .path td:last-child').textContent.length > 0");
    assert_eq!(shown, json!(true));
    assert_eq!(browser.eval("document.body.textContent.includes('onerror=hacked=1>')"), json!(true));
    assert_eq!(browser.eval("typeof window.hacked + document.images.length"), json!("undefined0"));
    browser.picture("hostile");
    browser.check_quiet();
}
