//! A part: a file of strands that stands at its place only when it is whole.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::data_type::{ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};

use super::rows::{Optional, Rows};
use crate::{names, schema, StoreError};

pub(super) struct Part {
    path: PathBuf,
    /// `None` once it stands at its place.
    writer: Option<SerializedFileWriter<Summed>>,
    groups: usize,
    /// Of each row group.
    sums: Vec<String>,
    strands: u64,
}

impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part").field("path", &self.path).field("groups", &self.groups).finish_non_exhaustive()
    }
}

impl Part {
    pub(super) fn create(folder: &Path, run: u32, number: u32) -> Result<Part, StoreError> {
        let path = folder.join(names::part(run, number));
        let file = names::create_temporary(&path).map_err(|error| StoreError::io(&path, error))?;
        let properties = Arc::new(schema::node_properties());
        let file = Summed { file, sum: crc32fast::Hasher::new() };
        let mut writer = SerializedFileWriter::new(file, schema::nodes(), properties)
            .map_err(|error| StoreError::parquet(&path, error))?;
        // The magic bytes belong to no row group.
        writer.flush().map_err(|error| StoreError::io(&path, error))?;
        Ok(Part { path, writer: Some(writer), groups: 0, sums: Vec::new(), strands: 0 })
    }

    pub(super) fn groups(&self) -> usize {
        self.groups
    }

    pub(super) fn write(&mut self, rows: &Rows) -> Result<(), StoreError> {
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        writer.inner_mut().sum = crc32fast::Hasher::new();
        write_group(writer, rows).map_err(|error| StoreError::parquet(&self.path, error))?;
        // What is still in a buffer has not been summed up.
        writer.flush().map_err(|error| StoreError::io(&self.path, error))?;
        self.sums.push(format!("{:08x}", writer.inner().sum.clone().finalize()));
        self.groups += 1;
        self.strands += rows.len() as u64;
        Ok(())
    }

    /// Moves it to its place; reports strands and bytes.
    pub(super) fn close(mut self) -> Result<(u64, u64), StoreError> {
        let Some(writer) = &mut self.writer else {
            return Ok((0, 0));
        };
        writer.append_key_value_metadata(KeyValue::new(schema::SUMS_KEY.to_owned(), self.sums.join(" ")));
        writer.finish().map_err(|error| StoreError::parquet(&self.path, error))?;
        let bytes = writer.bytes_written() as u64;
        fs::rename(names::temporary(&self.path), &self.path).map_err(|error| StoreError::io(&self.path, error))?;
        self.writer = None;
        Ok((self.strands, bytes))
    }

    fn discard(&self) {
        // There may be nothing, and there is nobody to report to.
        let _ = fs::remove_file(names::temporary(&self.path));
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if self.writer.take().is_some() {
            self.discard();
        }
    }
}

/// A file, and the checksum of what has been written to it.
struct Summed {
    file: File,
    sum: crc32fast::Hasher,
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

pub(crate) fn write_group<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    rows: &Rows,
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    // In the order of the schema.
    column::<_, Int32Type>(&mut group, &rows.run[..rows.len()], None)?;
    column::<_, Int64Type>(&mut group, &rows.strand, None)?;
    column::<_, Int64Type>(&mut group, &rows.task, None)?;
    column::<_, ByteArrayType>(&mut group, &rows.event, None)?;
    column::<_, Int32Type>(&mut group, &rows.context, None)?;
    column::<_, Int64Type>(&mut group, &rows.cost, None)?;
    column::<_, Int64Type>(&mut group, &rows.blocked, None)?;
    column::<_, Int64Type>(&mut group, &rows.start, None)?;
    column::<_, Int32Type>(&mut group, &rows.thread, None)?;
    optional::<_, Int64Type>(&mut group, &rows.value)?;
    optional::<_, Int32Type>(&mut group, &rows.inner)?;
    optional::<_, Int32Type>(&mut group, &rows.outward)?;
    optional::<_, Int64Type>(&mut group, &rows.overhead)?;
    optional::<_, Int64Type>(&mut group, &rows.seen)?;
    group.close().map(drop)
}

fn optional<W: Write + Send, T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column_of: &Optional<T::T>,
) -> Result<(), ParquetError> {
    column::<W, T>(group, &column_of.values, Some(&column_of.present))
}

fn column<W: Write + Send, T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    present: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let Some(mut to) = group.next_column()? else {
        return Err(ParquetError::General("more columns than the schema has".to_owned()));
    };
    to.typed::<T>().write_batch(values, present, None)?;
    to.close()
}
