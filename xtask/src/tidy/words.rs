//! Plain English: words that readers stumble over do not come back.
//!
//! The rule looks at sentences: documents whole; of Rust files comments and text literals, with names in backticks and
//! placeholders removed, since names of code and fields of JSON have their own history. [`CLEAN`] lists what it covers, [`TO_DO`]
//! what is still to be gone through, so that a file is in exactly one of both.

use workspan_instrument::source::blanked;

use super::{Repository, Violation};

/// A word, and what to write. Words are matched whole, in lower case; a space matches one space.
const WORDS: &[(&str, &str)] = &[
    ("tell", "report, show"),
    ("tells", "reports, shows"),
    ("told", "reported, shown"),
    ("telling", "reporting, showing"),
    ("untold", "not reported"),
    ("foretell", "predict"),
    ("foretold", "predicted"),
    ("bracket of parallelism", "range"),
    ("uncounted", "excluded, or not counted"),
    ("excluded", "excluded"),
    ("so many", "N"),
    ("asked for", "requested"),
    ("asks for", "requests"),
    ("of Workspan", "Workspan's"),
    ("of the program", "the program's"),
    ("mend", "fix"),
    ("mended", "fixed"),
    ("stderr is talk", "messages"),
    ("come true", "the predicted gain was reached"),
    ("came true", "the predicted gain was reached"),
    ("it is taken that", "assumes"),
    ("may be believed", "is accurate to"),
    ("1.5 times as long", "took 1.5x as long"),
];

/// Words that only users' text must not have: code has verbs and pieces.
const FOR_USERS: &[(&str, &str)] = &[
    ("verb", "command"),
    ("verbs", "commands"),
    ("stretch", "segment"),
    ("stretches", "segments"),
    ("piece", "segment, or chunk of a loop"),
    ("pieces", "segments, or chunks of a loop"),
    ("bracket", "range"),
    ("brackets", "ranges"),
];
