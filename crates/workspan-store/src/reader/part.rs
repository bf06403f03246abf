//! A part: a file of strands.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Mutex;

use crate::parquet::footer::{self, Chunk, Footer, Group, Physical, TAIL};
use crate::{names, schema, StoreError, MAJOR};

/// A part that is open; without row groups if it makes no sense, which shows as one that cannot be read.
#[derive(Debug)]
pub(super) struct Part {
    name: String,
    file: Mutex<File>,
    footer: Option<Footer>,
    sums: Vec<u32>,
}

impl Part {
    /// Opens a part; `None` if there is none.
    pub(super) fn open(folder: &Path, run: u32, number: u32) -> Result<Option<Part>, StoreError> {
        let name = names::part(run, number);
        let path = folder.join(&name);
        let mut file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(|error| StoreError::io(&path, error))?,
        };
        let footer = read_footer(&mut file).map_err(|error| StoreError::io(&path, error))?;
        if let Some((major, minor)) = footer.as_ref().and_then(version).filter(|(major, _)| *major != MAJOR) {
            return Err(StoreError::Version { path, major, minor });
        }
        let sums = footer.as_ref().and_then(|footer| footer.note(schema::SUMS_KEY)).unwrap_or_default();
        let sums = sums.split(' ').map_while(|sum| u32::from_str_radix(sum, 16).ok()).collect();
        Ok(Some(Part { name, file: Mutex::new(file), footer, sums }))
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Row groups; one that cannot be read, if the part makes no sense.
    pub(super) fn groups(&self) -> usize {
        self.footer.as_ref().map_or(1, |footer| footer.groups.len())
    }

    /// The bytes of a row group, if they are as written, and where its columns are in them.
    pub(super) fn read<'a>(&self, group: usize, bytes: &'a mut Vec<u8>) -> Option<Region<'_, 'a>> {
        let footer = self.footer.as_ref()?;
        let described = footer.groups.get(group)?;
        let begin = described.chunks.iter().map(|chunk| chunk.offset).min()?;
        let length = described.chunks.iter().try_fold(0usize, |sum, chunk| sum.checked_add(chunk.length))?;
        let mut file = self.file.lock().ok()?;
        let size = file.seek(SeekFrom::End(0)).ok()?;
        let end = u64::try_from(begin.checked_add(length)?).ok()?;
        if end > size {
            return None;
        }
        bytes.resize(length, 0);
        file.seek(SeekFrom::Start(begin.try_into().ok()?)).ok()?;
        file.read_exact(bytes).ok()?;
        drop(file);
        (crc32fast::hash(bytes) == *self.sums.get(group)?).then_some(Region { footer, group: described, begin, bytes })
    }
}

/// A row group's bytes.
pub(super) struct Region<'a, 'b> {
    footer: &'a Footer,
    group: &'a Group,
    begin: usize,
    bytes: &'b [u8],
}

impl<'b> Region<'_, 'b> {
    pub(super) fn rows(&self) -> usize {
        self.group.rows
    }

    /// The part of a column.
    pub(super) fn column(&self, name: &str, physical: Physical, optional: bool) -> Option<(&'b [u8], Chunk)> {
        let chunk = *self.group.chunks.get(self.footer.find(name, physical, optional)?)?;
        let begin = chunk.offset.checked_sub(self.begin)?;
        Some((self.bytes.get(begin..begin.checked_add(chunk.length)?)?, chunk))
    }
}

/// Major and minor version, as the file has them in its notes.
pub(super) fn version(footer: &Footer) -> Option<(u16, u16)> {
    let (major, minor) = footer.note(schema::VERSION_KEY)?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// `None` if there is no footer, or it makes no sense.
pub(super) fn read_footer(file: &mut File) -> io::Result<Option<Footer>> {
    let size = file.seek(SeekFrom::End(0))?;
    let mut tail = [0; TAIL];
    if size < tail.len() as u64 {
        return Ok(None);
    }
    file.seek(SeekFrom::End(-8))?;
    file.read_exact(&mut tail)?;
    let Some(length) = footer::length(&tail).filter(|length| *length as u64 <= size - tail.len() as u64) else {
        return Ok(None);
    };
    let mut bytes = vec![0; length];
    file.seek(SeekFrom::Start(size - (length + tail.len()) as u64))?;
    file.read_exact(&mut bytes)?;
    Ok(footer::parse(&bytes))
}
