//! What the targets share.
//!
//! ```sh
//! cargo xtask fuzz recording --seconds 60
//! ```

use workspan_model::Recording;
use workspan_read::{decode, encode};
use workspan_report::html::Sources;
use workspan_report::text::Style;
use workspan_report::{html, json, text};

/// Whatever a recording says, it can be reported in every form, written, and read again as it is.
pub fn check(recording: &Recording) {
    if let Some(report) = workspan_report::report(recording) {
        text::write(&report, Style { colour: true, top: 5 });
        json::write(&report);
        html::write(&report, &Sources::new(), None);
    }
    let again = decode(&encode(recording)).expect("it was just written");
    assert!(again == (recording.clone(), Vec::new()), "written, it reads otherwise");
}
