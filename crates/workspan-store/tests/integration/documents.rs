//! The description of the format names what there is.

use std::fs;
use std::path::Path;

use workspan_store::{GROUP_ROWS, MAJOR, MINOR, PART_GROUPS};

#[test]
fn the_format_is_described() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/format/strands.md");
    let text = fs::read_to_string(path).expect("it is there");
    assert!(text.starts_with(&format!("# `.strands`, version {MAJOR}.{MINOR}\n")));
    for number in [GROUP_ROWS, GROUP_ROWS * PART_GROUPS] {
        assert!(text.contains(&number.to_string()), "{number}");
    }
    for column in workspan_store::COLUMNS {
        assert!(text.contains(&format!("| `{column}` |")), "{column}");
    }
    for event in workspan_store::EVENTS {
        assert!(text.contains(&format!("`{event}`")), "{event}");
    }
}
