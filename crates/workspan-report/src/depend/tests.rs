//! The schema, as it is committed.

use std::fs;
use std::path::Path;

/// To accept a change: `WORKSPAN_BLESS=1 cargo test -p workspan-report depend`.
#[test]
fn the_schema_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/format/depend.schema.json");
    if std::env::var_os("WORKSPAN_BLESS").is_some() {
        fs::write(&file, super::schema()).expect("the documents are writable");
    }
    assert!(fs::read_to_string(file).expect("it is there") == super::schema(), "the schema has changed: bless it");
}
