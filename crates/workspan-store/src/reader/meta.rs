//! What is known of a run as a whole.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::part::{read_footer, version};
use crate::parquet::chunk::{Shape, Unpacker, Values};
use crate::parquet::footer::{Footer, Physical};
use crate::{names, Problem, StoreError, MAJOR, OLDEST};

/// A larger file is none that the writer makes.
const MOST_BYTES: u64 = 16 << 20;

/// What is known of a run as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// The command, its words with a space between.
    pub command: String,
    /// Seconds since 1970 when the recording was made.
    pub made_at: u64,
    /// Strands that were written; `None` if that was never finished.
    pub strands: Option<u64>,
    /// Why some are missing.
    partial: Option<String>,
    finished: bool,
}

/// What the writer has said is wrong with a run, or has left unsaid.
pub(crate) fn problems(stored: Option<&Stored>) -> Option<Problem> {
    match stored {
        Some(Stored { finished: true, partial: Some(reason), .. }) => Some(Problem::Partial { reason: reason.clone() }),
        Some(Stored { finished: true, .. }) => None,
        _ => Some(Problem::Unfinished),
    }
}

/// Reads it; `None` if there is none, or it makes no sense.
pub(crate) fn read(folder: &Path, run: u32) -> Result<Option<Stored>, StoreError> {
    let path = folder.join(names::meta(run));
    let mut file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(|error| StoreError::io(&path, error))?,
    };
    let footer = read_footer(&mut file).map_err(|error| StoreError::io(&path, error))?;
    let Some(footer) = footer else {
        return Ok(None);
    };
    if let Some((major, minor)) = version(&footer).filter(|(major, _)| !(OLDEST..=MAJOR).contains(major)) {
        return Err(StoreError::Version { path, major, minor });
    }
    Ok(pairs(&mut file, &footer).map(|pairs| stored(&pairs)))
}

fn pairs(file: &mut File, footer: &Footer) -> Option<Vec<(String, String)>> {
    let [group] = footer.groups.as_slice() else {
        return None;
    };
    if file.seek(SeekFrom::End(0)).ok()? > MOST_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    let mut unpacker = Unpacker::new().ok()?;
    let mut column = |name| {
        let chunk = group.chunks[footer.find(name, Physical::Bytes, true)?];
        let bytes = bytes.get(chunk.offset..chunk.offset.checked_add(chunk.length)?)?;
        let most = usize::try_from(MOST_BYTES).ok()?;
        if group.rows > 1000 {
            return None;
        }
        let shape = Shape { physical: Physical::Bytes, optional: true, zstd: chunk.zstd, rows: group.rows, page: most };
        let mut values = Values::default();
        unpacker.read(bytes, shape, &mut values)?;
        let text = |number: &i64| values.texts.get(usize::try_from(*number).ok()?);
        let texts = values.numbers.iter().map(|number| Some(String::from_utf8_lossy(text(number)?).into_owned()));
        texts.collect::<Option<Vec<String>>>()
    };
    let (keys, values) = (column("key")?, column("value")?);
    (keys.len() == values.len()).then(|| keys.into_iter().zip(values).collect())
}

fn stored(pairs: &[(String, String)]) -> Stored {
    let text = |key: &str| pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
    let state = text("state").unwrap_or_default();
    Stored {
        command: text("command").unwrap_or_default().to_owned(),
        made_at: text("made_at").and_then(|n| n.parse().ok()).unwrap_or(0),
        strands: text("strands").and_then(|n| n.parse().ok()),
        partial: (state == "partial").then(|| text("reason").unwrap_or_default().to_owned()),
        finished: matches!(state, "complete" | "partial"),
    }
}
