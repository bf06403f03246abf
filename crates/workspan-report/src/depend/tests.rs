//! The schemas, as they are committed.

use std::fs;
use std::path::Path;

/// To accept a change: `WORKSPAN_BLESS=1 cargo test -p workspan-report depend`.
#[test]
fn the_schemas_are_up_to_date() {
    let documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/format");
    let all = [("depend.schema.json", super::schema()), ("depend-what-if.schema.json", super::what_if::schema())];
    for (name, schema) in all {
        let file = documents.join(name);
        if std::env::var_os("WORKSPAN_BLESS").is_some() {
            fs::write(&file, &schema).expect("the documents are writable");
        }
        assert!(fs::read_to_string(file).expect("it is there") == schema, "{name} has changed: bless it");
    }
}
