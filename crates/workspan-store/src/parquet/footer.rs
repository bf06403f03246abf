//! The end of a file: which columns there are, and where.

use super::thrift::{Cursor, Kind};

/// First and last bytes of a file.
const MAGIC: &[u8; 4] = b"PAR1";
/// Behind the footer: its length, and the magic.
pub(crate) const TAIL: usize = 8;

/// Physical type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Physical {
    /// 32 bits.
    Int32,
    /// 64 bits.
    Int64,
    /// Bytes of any length.
    Bytes,
}

/// A column of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// `None` for those that are not read here.
    pub(crate) physical: Option<Physical>,
    /// Rows may be without a value.
    pub(crate) optional: bool,
}

/// The part of a column that is in a row group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Where it begins in the file.
    pub(crate) offset: usize,
    /// How many bytes it has.
    pub(crate) length: usize,
    /// Whether its pages are compressed with zstd.
    pub(crate) zstd: bool,
}

/// Rows that are stored together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) rows: usize,
    /// By column.
    pub(crate) chunks: Vec<Chunk>,
}

/// What a file says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Footer {
    pub(crate) columns: Vec<Column>,
    pub(crate) groups: Vec<Group>,
    /// Keys and values, for whatever the writer wants to report.
    pub(crate) notes: Vec<(String, String)>,
}

impl Footer {
    /// The value of a key.
    pub(crate) fn note(&self, key: &str) -> Option<&str> {
        self.notes.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Position of a column that is as expected.
    pub(crate) fn find(&self, name: &str, physical: Physical, optional: bool) -> Option<usize> {
        let fits = |c: &Column| c.name == name && c.physical == Some(physical) && c.optional == optional;
        self.columns.iter().position(fits)
    }
}

/// Length of the footer, from the last bytes of a file.
pub(crate) fn length(tail: &[u8; TAIL]) -> Option<usize> {
    let (length, magic) = tail.split_at(4);
    (magic == MAGIC).then(|| u32::from_le_bytes([length[0], length[1], length[2], length[3]]))?.try_into().ok()
}

/// Reads a footer.
pub(crate) fn parse(bytes: &[u8]) -> Option<Footer> {
    let mut footer = Footer::default();
    let mut cursor = Cursor::new(bytes);
    cursor.structure(|c, field, kind| {
        match (field, kind) {
            (2, Kind::List) => {
                let (Kind::Struct, count) = c.list()? else {
                    return None;
                };
                // The first one is the table itself.
                element(c)?;
                footer.columns = (1..count).map(|_| element(c)).collect::<Option<_>>()?;
            }
            (4, Kind::List) => footer.groups = structures(c, group)?,
            (5, Kind::List) => footer.notes = structures(c, note)?,
            _ => return Some(false),
        }
        Some(true)
    })?;
    footer.groups.iter().all(|group| group.chunks.len() == footer.columns.len()).then_some(footer)
}

fn structures<T>(c: &mut Cursor<'_>, one: impl Fn(&mut Cursor<'_>) -> Option<T>) -> Option<Vec<T>> {
    let (Kind::Struct, count) = c.list()? else {
        return None;
    };
    // Grows with what is read, whatever the count says.
    let mut found = Vec::new();
    for _ in 0..count {
        found.push(one(c)?);
    }
    Some(found)
}

fn text(c: &mut Cursor<'_>) -> Option<String> {
    Some(String::from_utf8_lossy(c.binary()?).into_owned())
}

fn element(c: &mut Cursor<'_>) -> Option<Column> {
    let mut column = Column { name: String::new(), physical: None, optional: false };
    let mut flat = true;
    c.structure(|c, field, kind| {
        match (field, kind) {
            (1, Kind::Number) => {
                column.physical = match c.signed()? {
                    1 => Some(Physical::Int32),
                    2 => Some(Physical::Int64),
                    6 => Some(Physical::Bytes),
                    _ => None,
                }
            }
            (3, Kind::Number) => match c.signed()? {
                0 => column.optional = false,
                1 => column.optional = true,
                _ => flat = false,
            },
            (4, Kind::Bytes) => column.name = text(c)?,
            _ => return Some(false),
        }
        Some(true)
    })?;
    flat.then_some(column)
}

fn group(c: &mut Cursor<'_>) -> Option<Group> {
    let mut group = Group::default();
    c.structure(|c, field, kind| {
        match (field, kind) {
            (1, Kind::List) => group.chunks = structures(c, chunk)?,
            (3, Kind::Number) => group.rows = c.size()?,
            _ => return Some(false),
        }
        Some(true)
    })?;
    Some(group)
}

fn chunk(c: &mut Cursor<'_>) -> Option<Chunk> {
    let mut chunk = Chunk::default();
    c.structure(|c, field, kind| {
        if (field, kind) != (3, Kind::Struct) {
            return Some(false);
        }
        let (mut data, mut dictionary) = (None, None);
        c.structure(|c, field, kind| {
            match (field, kind) {
                (4, Kind::Number) => match c.signed()? {
                    0 => chunk.zstd = false,
                    6 => chunk.zstd = true,
                    _ => return None,
                },
                (7, Kind::Number) => chunk.length = c.size()?,
                (9, Kind::Number) => data = Some(c.size()?),
                (11, Kind::Number) => dictionary = Some(c.size()?),
                _ => return Some(false),
            }
            Some(true)
        })?;
        chunk.offset = dictionary.unwrap_or(usize::MAX).min(data?);
        Some(true)
    })?;
    Some(chunk)
}

fn note(c: &mut Cursor<'_>) -> Option<(String, String)> {
    let (mut key, mut value) = (String::new(), String::new());
    c.structure(|c, field, kind| {
        match (field, kind) {
            (1, Kind::Bytes) => key = text(c)?,
            (2, Kind::Bytes) => value = text(c)?,
            _ => return Some(false),
        }
        Some(true)
    })?;
    Some((key, value))
}
