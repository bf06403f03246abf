//! The part of a column that is in a row group: a page with a dictionary, perhaps, and pages of rows.

use super::footer::Physical;
use super::hybrid::{self, Run};
use super::page::{self, Header};
use super::thrift::Cursor;
use super::{bits, delta};

const PLAIN: i64 = 0;
const PLAIN_DICTIONARY: i64 = 2;
const DELTA: i64 = 5;
const DICTIONARY: i64 = 8;

/// Unpacks pages; keeps its memory.
pub(crate) struct Unpacker {
    zstd: zstd::bulk::Decompressor<'static>,
    page: Vec<u8>,
    dictionary: Vec<i64>,
}

impl std::fmt::Debug for Unpacker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unpacker").finish_non_exhaustive()
    }
}

/// The values of a chunk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    /// Which rows have a value; empty if all must.
    pub(crate) present: Vec<bool>,
    /// The values of those that have one. Of texts: positions in `texts`.
    pub(crate) numbers: Vec<i64>,
    /// Texts, each perhaps of several rows.
    pub(crate) texts: Vec<Vec<u8>>,
}

impl Values {
    fn clear(&mut self) {
        self.present.clear();
        self.numbers.clear();
        self.texts.clear();
    }
}

/// What is known of a chunk before it is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) physical: Physical,
    pub(crate) optional: bool,
    pub(crate) zstd: bool,
    pub(crate) rows: usize,
    /// Most bytes of a page; larger ones are refused.
    pub(crate) page: usize,
}

impl Unpacker {
    /// Begins with no memory.
    pub(crate) fn new() -> std::io::Result<Unpacker> {
        Ok(Unpacker { zstd: zstd::bulk::Decompressor::new()?, page: Vec::new(), dictionary: Vec::new() })
    }

    /// Reads all values of a chunk.
    pub(crate) fn read(&mut self, chunk: &[u8], shape: Shape, values: &mut Values) -> Option<()> {
        values.clear();
        self.dictionary.clear();
        let mut cursor = Cursor::new(chunk);
        let mut rows = 0usize;
        while rows < shape.rows {
            let header = page::header(&mut cursor)?;
            let packed = cursor.take(header.packed)?;
            if header.unpacked > shape.page {
                return None;
            }
            let mut page = std::mem::take(&mut self.page);
            let bytes = if shape.zstd {
                page.clear();
                page.reserve(header.unpacked);
                self.zstd.decompress_to_buffer(packed, &mut page).ok()?;
                page.as_slice()
            } else {
                packed
            };
            (bytes.len() == header.unpacked).then_some(())?;
            if header.dictionary {
                // There is one, before all rows.
                (rows == 0 && self.dictionary.is_empty() && values.texts.is_empty()).then_some(())?;
                (header.values <= bytes.len()).then_some(())?;
                plain(bytes, shape.physical, header.values, &mut self.dictionary, &mut values.texts)?;
            } else {
                rows = rows.checked_add(header.values).filter(|rows| *rows <= shape.rows && header.values > 0)?;
                self.rows(bytes, shape, header, values)?;
            }
            self.page = page;
        }
        Some(())
    }

    fn rows(&mut self, bytes: &[u8], shape: Shape, header: Header, values: &mut Values) -> Option<()> {
        let mut cursor = Cursor::new(bytes);
        let mut count = header.values;
        if shape.optional {
            let length = u32::from_le_bytes(*cursor.take(4)?.first_chunk()?);
            let levels = cursor.take(length.try_into().ok()?)?;
            count = 0;
            hybrid::decode(levels, 1, header.values, |run| {
                let (level, times) = match run {
                    Run::One(level) => (level, 1),
                    Run::Many(level, times) => (level, times),
                };
                values.present.resize(values.present.len() + times, level == 1);
                count += if level == 1 { times } else { 0 };
                (level <= 1).then_some(())
            })?;
        }
        let before = values.numbers.len();
        match header.encoding {
            PLAIN => {
                // Texts of several pages stand behind those of a dictionary.
                plain(cursor.rest(), shape.physical, count, &mut values.numbers, &mut values.texts)?;
            }
            DELTA if shape.physical != Physical::Bytes => delta::decode(cursor.rest(), count, &mut values.numbers)?,
            DICTIONARY | PLAIN_DICTIONARY => self.look_up(&mut cursor, count, values)?,
            _ => return None,
        }
        (values.numbers.len() - before == count).then_some(())
    }

    fn look_up(&self, cursor: &mut Cursor<'_>, count: usize, values: &mut Values) -> Option<()> {
        // Of no value, there need not be a width either.
        if count == 0 {
            return Some(());
        }
        let width = u32::from(cursor.byte()?);
        let (dictionary, numbers) = (&self.dictionary, &mut values.numbers);
        hybrid::decode(cursor.rest(), width, count, |run| {
            let (Run::One(position) | Run::Many(position, _)) = run;
            let number = *dictionary.get(usize::try_from(position).ok()?)?;
            match run {
                Run::One(_) => numbers.push(number),
                Run::Many(_, times) => numbers.resize(numbers.len() + times, number),
            }
            Some(())
        })
    }
}

/// Values as they are. Texts go to `texts`, and their positions to `numbers`.
fn plain(
    bytes: &[u8],
    physical: Physical,
    count: usize,
    numbers: &mut Vec<i64>,
    texts: &mut Vec<Vec<u8>>,
) -> Option<()> {
    match physical {
        Physical::Int64 => bits::unpack(bytes, 64, count, |value| numbers.push(value.cast_signed())),
        Physical::Int32 => bits::unpack(bytes, 32, count, |value| {
            #[expect(clippy::cast_possible_truncation, reason = "32 bits were read")]
            numbers.push((value as u32).cast_signed().into());
        }),
        Physical::Bytes => {
            let mut cursor = Cursor::new(bytes);
            for _ in 0..count {
                let length = u32::from_le_bytes(*cursor.take(4)?.first_chunk()?);
                let text = cursor.take(length.try_into().ok()?)?;
                numbers.push(texts.len().try_into().ok()?);
                texts.push(text.to_vec());
            }
            Some(())
        }
    }
}
