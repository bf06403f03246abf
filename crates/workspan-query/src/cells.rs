//! Values of an answer.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{
    DataType, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, Int8Type, Schema, UInt16Type, UInt32Type,
    UInt64Type, UInt8Type,
};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::DataFusionError;

/// A column of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Whether it holds numbers.
    pub numeric: bool,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// None.
    Null,
    /// A whole number.
    Integer(i128),
    /// Any other number.
    Float(f64),
    /// True or false.
    Truth(bool),
    /// A text, or what is written as one.
    Text(String),
}

pub(crate) fn columns(schema: &Schema) -> Vec<Column> {
    let column = |name: &str, kind: &DataType| Column { name: name.to_owned(), numeric: kind.is_numeric() };
    schema.fields().iter().map(|field| column(field.name(), field.data_type())).collect()
}

/// Reads the values of a column.
pub(crate) struct Reader<'a> {
    array: &'a ArrayRef,
    formatter: ArrayFormatter<'a>,
}

/// Readers of all columns.
pub(crate) fn readers(batch: &RecordBatch) -> Result<Vec<Reader<'_>>, DataFusionError> {
    const OPTIONS: FormatOptions<'static> = FormatOptions::new();
    let reader = |array| Ok(Reader { array, formatter: ArrayFormatter::try_new(array.as_ref(), &OPTIONS)? });
    batch.columns().iter().map(reader).collect()
}

impl Reader<'_> {
    pub(crate) fn cell(&self, row: usize) -> Cell {
        let array = self.array;
        if array.is_null(row) {
            return Cell::Null;
        }
        match array.data_type() {
            DataType::Int8 => Cell::Integer(array.as_primitive::<Int8Type>().value(row).into()),
            DataType::Int16 => Cell::Integer(array.as_primitive::<Int16Type>().value(row).into()),
            DataType::Int32 => Cell::Integer(array.as_primitive::<Int32Type>().value(row).into()),
            DataType::Int64 => Cell::Integer(array.as_primitive::<Int64Type>().value(row).into()),
            DataType::UInt8 => Cell::Integer(array.as_primitive::<UInt8Type>().value(row).into()),
            DataType::UInt16 => Cell::Integer(array.as_primitive::<UInt16Type>().value(row).into()),
            DataType::UInt32 => Cell::Integer(array.as_primitive::<UInt32Type>().value(row).into()),
            DataType::UInt64 => Cell::Integer(array.as_primitive::<UInt64Type>().value(row).into()),
            DataType::Float32 => Cell::Float(array.as_primitive::<Float32Type>().value(row).into()),
            DataType::Float64 => Cell::Float(array.as_primitive::<Float64Type>().value(row)),
            DataType::Boolean => Cell::Truth(array.as_boolean().value(row)),
            DataType::Null => Cell::Null,
            _ => Cell::Text(self.formatter.value(row).to_string()),
        }
    }
}
