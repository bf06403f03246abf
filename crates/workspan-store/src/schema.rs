//! The columns of strands.

use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnPath, TypePtr};
use workspan_model::Event;

use crate::{GROUP_ROWS, MAJOR, MINOR};

/// Columns of strands. Optional ones are null where the event has no such value.
pub(crate) const NODES: &str = "message nodes {
    REQUIRED INT32 run;
    REQUIRED INT64 strand;
    REQUIRED INT64 task;
    REQUIRED BYTE_ARRAY event (STRING);
    REQUIRED INT32 context;
    REQUIRED INT64 cost_ns;
    REQUIRED INT64 blocked_ns;
    REQUIRED INT64 start_ns;
    REQUIRED INT32 thread;
    OPTIONAL INT64 value;
    OPTIONAL INT32 inner_context;
    OPTIONAL INT32 outward;
    OPTIONAL INT64 overhead_ns;
    OPTIONAL INT64 tool_number;
}";

/// Their names.
pub const COLUMNS: [&str; 14] = [
    "run",
    "strand",
    "task",
    "event",
    "context",
    "cost_ns",
    "blocked_ns",
    "start_ns",
    "thread",
    "value",
    "inner_context",
    "outward",
    "overhead_ns",
    "tool_number",
];

/// Words for events, as stored.
pub const EVENTS: [&str; 18] = Event::NAMES;

/// The schema of strands.
pub(crate) fn nodes() -> TypePtr {
    Arc::new(parse_message_type(NODES).expect("it is a constant that a test writes with"))
}

/// Key of the version in a file's metadata.
pub(crate) const VERSION_KEY: &str = "workspan.strands";

/// Key of the CRC-32 of each row group.
pub(crate) const SUMS_KEY: &str = "workspan.crc32";

/// The version, as in a file's metadata.
pub(crate) fn version() -> String {
    format!("{MAJOR}.{MINOR}")
}

/// What all tables have in common.
pub(crate) fn properties() -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_created_by("workspan".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).unwrap_or_default()))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(vec![KeyValue::new(VERSION_KEY.to_owned(), version())]))
}

/// How strands are written: a page to each column of a row group, encodings by what is in the columns.
pub(crate) fn node_properties() -> WriterProperties {
    let mut properties = properties()
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_data_page_row_count_limit(GROUP_ROWS)
        .set_data_page_size_limit(16 << 20)
        .set_dictionary_page_size_limit(1 << 18)
        .set_write_batch_size(GROUP_ROWS);
    // What hardly repeats: times, and numbers that go up.
    for column in ["strand", "task", "cost_ns", "blocked_ns", "start_ns", "overhead_ns", "tool_number"] {
        properties = properties
            .set_column_dictionary_enabled(ColumnPath::from(column), false)
            .set_column_encoding(ColumnPath::from(column), Encoding::DELTA_BINARY_PACKED);
    }
    properties.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_has_the_columns() {
        assert_eq!(nodes().get_fields().iter().map(|field| field.name()).collect::<Vec<_>>(), COLUMNS);
    }
}
