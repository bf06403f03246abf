//! A part: a file of strands.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Mutex;

use crate::parquet::footer::{self, Chunk, Footer, Group, Physical, TAIL};
use crate::{names, schema, StoreError, MAJOR, OLDEST};

/// Most row groups of a file that are read.
const MOST_GROUPS: usize = 1024;

/// A part that is open; without row groups if it makes no sense, which shows as one that cannot be read.
#[derive(Debug)]
pub(crate) struct Part {
    name: String,
    source: Mutex<Box<dyn Source>>,
    footer: Option<Footer>,
    /// `None` if nothing is compared with them.
    sums: Option<Vec<u32>>,
}

/// Where the bytes are.
trait Source: Read + Seek + Send + std::fmt::Debug {}

impl<T: Read + Seek + Send + std::fmt::Debug> Source for T {}

impl Part {
    /// Opens a part; `None` if there is none.
    pub(crate) fn open(folder: &Path, run: u32, number: u32) -> Result<Option<Part>, StoreError> {
        let name = names::part(run, number);
        let path = folder.join(&name);
        let mut file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(|error| StoreError::io(&path, error))?,
        };
        let footer = read_footer(&mut file).map_err(|error| StoreError::io(&path, error))?;
        if let Some((major, minor)) =
            footer.as_ref().and_then(version).filter(|(major, _)| !(OLDEST..=MAJOR).contains(major))
        {
            return Err(StoreError::Version { path, major, minor });
        }
        let sums = Some(footer.as_ref().map(sums).unwrap_or_default());
        Ok(Some(Part { name, source: Mutex::new(Box::new(file)), footer, sums }))
    }

    /// A part in memory; with `checked`, its checksums must be right.
    pub(crate) fn of_bytes(bytes: &[u8], checked: bool) -> Part {
        let mut source = io::Cursor::new(bytes.to_vec());
        let footer = read_footer(&mut source).ok().flatten();
        let sums = checked.then(|| footer.as_ref().map(sums).unwrap_or_default());
        Part { name: String::new(), source: Mutex::new(Box::new(source)), footer, sums }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Row groups; one that cannot be read, if the part makes no sense.
    pub(crate) fn groups(&self) -> usize {
        self.footer.as_ref().map_or(1, |footer| footer.groups.len())
    }

    /// The bytes of a row group, if they are as written, and where its columns are in them.
    pub(crate) fn read<'a>(&self, group: usize, bytes: &'a mut Vec<u8>) -> Option<Region<'_, 'a>> {
        let footer = self.footer.as_ref()?;
        let described = footer.groups.get(group)?;
        let begin = described.chunks.iter().map(|chunk| chunk.offset).min()?;
        let length = described.chunks.iter().try_fold(0usize, |sum, chunk| sum.checked_add(chunk.length))?;
        let mut source = self.source.lock().ok()?;
        let size = source.seek(SeekFrom::End(0)).ok()?;
        let end = u64::try_from(begin.checked_add(length)?).ok()?;
        if end > size {
            return None;
        }
        bytes.resize(length, 0);
        source.seek(SeekFrom::Start(begin.try_into().ok()?)).ok()?;
        source.read_exact(bytes).ok()?;
        drop(source);
        if let Some(sums) = &self.sums {
            (crc32fast::hash(bytes) == *sums.get(group)?).then_some(())?;
        }
        Some(Region { footer, group: described, begin, bytes })
    }
}

/// A row group's bytes.
pub(crate) struct Region<'a, 'b> {
    footer: &'a Footer,
    group: &'a Group,
    begin: usize,
    bytes: &'b [u8],
}

impl<'b> Region<'_, 'b> {
    pub(crate) fn rows(&self) -> usize {
        self.group.rows
    }

    /// The part of a column.
    pub(crate) fn column(&self, name: &str, physical: Physical, optional: bool) -> Option<(&'b [u8], Chunk)> {
        let chunk = *self.group.chunks.get(self.footer.find(name, physical, optional)?)?;
        let begin = chunk.offset.checked_sub(self.begin)?;
        Some((self.bytes.get(begin..begin.checked_add(chunk.length)?)?, chunk))
    }
}

/// The checksums of the row groups.
fn sums(footer: &Footer) -> Vec<u32> {
    let sums = footer.note(schema::SUMS_KEY).unwrap_or_default();
    sums.split(' ').map_while(|sum| u32::from_str_radix(sum, 16).ok()).collect()
}

/// Major and minor version, as the file has them in its notes.
pub(crate) fn version(footer: &Footer) -> Option<(u16, u16)> {
    let (major, minor) = footer.note(schema::VERSION_KEY)?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// `None` if there is no footer, or it makes no sense.
pub(crate) fn read_footer(file: &mut (impl Read + Seek)) -> io::Result<Option<Footer>> {
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
    Ok(footer::parse(&bytes).filter(|footer| footer.groups.len() <= MOST_GROUPS))
}
