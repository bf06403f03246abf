//! What can go wrong.

use std::io;
use std::path::{Path, PathBuf};

use crate::{MAJOR, MINOR};

/// Why strands cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The system says no: no such file, a full disk.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What it says.
        source: io::Error,
    },
    /// There are no strands: the run was not recorded strand by strand.
    #[error("{} holds no strands", path.display())]
    Empty {
        /// Which folder.
        path: PathBuf,
    },
    /// Made by another major version.
    #[error(
        "{} has format {major}.{minor}, this workspan reads format {MAJOR}.{MINOR} \
         (use the workspan that made it, or record again)",
        path.display()
    )]
    Version {
        /// Which file.
        path: PathBuf,
        /// Its major version.
        major: u16,
        /// Its minor version.
        minor: u16,
    },
    /// Writing has failed before; nothing more is taken.
    #[error("{}: writing has failed before", path.display())]
    Stopped {
        /// Which folder.
        path: PathBuf,
    },
    /// A number that the format has no room for.
    #[error("{what} {number} is too large to be stored")]
    TooLarge {
        /// Of what.
        what: &'static str,
        /// The number.
        number: u64,
    },
}

impl StoreError {
    pub(crate) fn io(path: &Path, source: io::Error) -> StoreError {
        StoreError::Io { path: path.to_owned(), source }
    }

    /// An error of the crate `parquet`: that of the system below it, where there is one.
    pub(crate) fn parquet(path: &Path, error: ::parquet::errors::ParquetError) -> StoreError {
        let source = match error {
            ::parquet::errors::ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(error) => *error,
                Err(other) => io::Error::other(other),
            },
            other => io::Error::other(other),
        };
        StoreError::io(path, source)
    }

    /// True if there is no room left: on the disk, or for files as large.
    pub fn is_full(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        matches!(self, StoreError::Io { source, .. } if matches!(source.kind(), StorageFull | QuotaExceeded | FileTooLarge))
    }
}
