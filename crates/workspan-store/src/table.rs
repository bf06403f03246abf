//! Small tables, written at once.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::names::temporary;
use crate::{schema, StoreError};

/// A column, null where it is none.
#[derive(Clone, Debug)]
pub enum Column {
    /// Numbers.
    Number(Vec<Option<i64>>),
    /// Texts.
    Text(Vec<Option<String>>),
    /// True or false.
    Truth(Vec<bool>),
}

/// Writes a table so that there is never half of it.
pub fn write(path: &Path, columns: &[(&str, Column)]) -> Result<(), StoreError> {
    let beside = temporary(path);
    let written = write_to(&beside, columns)
        .map_err(|error| StoreError::parquet(path, error))
        .and_then(|()| fs::rename(&beside, path).map_err(|error| StoreError::io(path, error)));
    if written.is_err() {
        // What is left of the attempt is of no use; the first error is the one to report.
        let _ = fs::remove_file(&beside);
    }
    written
}

fn write_to(path: &Path, columns: &[(&str, Column)]) -> Result<(), ParquetError> {
    let fields = columns.iter().map(|(name, column)| field(name, column).map(Arc::new)).collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("table").with_fields(fields).build()?;
    let mut writer =
        SerializedFileWriter::new(File::create(path)?, Arc::new(schema), Arc::new(schema::properties().build()))?;
    let mut group = writer.next_row_group()?;
    for (_, column) in columns {
        let Some(mut to) = group.next_column()? else {
            break;
        };
        match column {
            Column::Number(values) => {
                let (levels, values) = present(values, |value| *value);
                to.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
            }
            Column::Text(values) => {
                let (levels, values) =
                    present(values, |value| ByteArray::from(Bytes::copy_from_slice(value.as_bytes())));
                to.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
            }
            Column::Truth(values) => {
                to.typed::<BoolType>().write_batch(values, None, None)?;
            }
        }
        to.close()?;
    }
    group.close()?;
    // Says what the last write said; dropped, nobody would hear it.
    writer.finish().map(drop)
}

fn field(name: &str, column: &Column) -> Result<Type, ParquetError> {
    let (physical, repetition, logical) = match column {
        Column::Number(_) => (Physical::INT64, Repetition::OPTIONAL, None),
        Column::Text(_) => (Physical::BYTE_ARRAY, Repetition::OPTIONAL, Some(LogicalType::String)),
        Column::Truth(_) => (Physical::BOOLEAN, Repetition::REQUIRED, None),
    };
    Type::primitive_type_builder(name, physical).with_repetition(repetition).with_logical_type(logical).build()
}

/// Which rows have a value, and the values.
fn present<T, V>(values: &[Option<T>], value: impl Fn(&T) -> V) -> (Vec<i16>, Vec<V>) {
    (values.iter().map(|v| i16::from(v.is_some())).collect(), values.iter().flatten().map(value).collect())
}
