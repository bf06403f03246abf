//! Source texts: what is edited stays in one piece, and what is not edited stays as it is.

#![no_main]

use libfuzzer_sys::fuzz_target;
use workspan_instrument::edit::{Edits, Place};
use workspan_instrument::source::{blanked, closing, functions, statement};

/// What no input holds.
const MARK: &str = "\u{1}MARK\u{1}";

// The first two lines say what to look for in the rest.
fuzz_target!(|input: &str| {
    let mut parts = input.splitn(3, '\n');
    let (Some(name), Some(snippet), Some(text)) = (parts.next(), parts.next(), parts.next()) else {
        return;
    };
    let blank = blanked(text);
    assert_eq!(blank.len(), text.len());
    assert_eq!(blank.matches('\n').count(), text.matches('\n').count());
    for (open, _) in blank.match_indices(['(', '[', '{']) {
        assert!(closing(&blank, open).is_none_or(|end| end > open && end <= text.len()));
    }
    for function in functions(&blank, 0..blank.len(), name) {
        assert!(text.get(function.body.clone()).is_some() && text.get(function.signature.clone()).is_some());
        for (at, _) in blank[function.body.clone()].match_indices(';') {
            let found = statement(&blank, &function.body, function.body.start + at);
            assert!(found.is_none_or(|found| text.get(found).is_some()));
        }
    }
    assert_eq!(Edits::new(text.to_owned()).finish(), text);
    // Part of a mark beside a mark would be taken for one.
    if input.contains('\u{1}') || snippet.is_empty() {
        return;
    }
    let edits = Edits::new(text.to_owned());
    let places = [edits.function(name), edits.method(snippet, name), edits.block(snippet), Ok(edits.whole())];
    for place in places.into_iter().flatten() {
        check(text, &place, snippet);
    }
});

/// Everything that inserts leaves the text as it is around what it inserts.
fn check(text: &str, place: &Place, snippet: &str) {
    let edits = Edits::new(text.to_owned());
    edits.type_parameters(place);
    let insert: [fn(&mut Edits, &Place, &str) -> bool; 5] = [
        |edits, place, snippet| edits.before(place, snippet, MARK).is_ok(),
        |edits, place, snippet| edits.after(place, snippet, MARK).is_ok(),
        |edits, place, snippet| edits.right_before(place, snippet, MARK).is_ok(),
        |edits, place, snippet| edits.right_after(place, snippet, MARK).is_ok(),
        |edits, place, _| {
            edits.attribute(place, MARK);
            true
        },
    ];
    for insert in insert {
        let mut edits = edits.clone();
        if insert(&mut edits, place, snippet) {
            let edited = edits.finish();
            let without = ["\n", ""].map(|line| edited.replace(&format!("{line}{MARK}"), "").replace(MARK, ""));
            let without_line = edited.replace(&format!("{MARK}\n"), "");
            assert!(without.iter().chain([&without_line]).any(|without| without == text), "{edited}");
        }
    }
    let mut edits = edits.clone();
    if edits.replace(place, snippet, MARK).is_ok() {
        assert_eq!(edits.finish().replacen(MARK, snippet, 1), text);
    }
}
