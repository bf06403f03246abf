//! The numbers by which a tool (`--tool`) saw the strands: of use to nobody but who joins a tool's findings with the rows, so
//! they are read by themselves.

use std::path::Path;

use super::group::column;
use super::part::Part;
use crate::parquet::chunk::{Unpacker, Values};
use crate::parquet::footer::Physical;
use crate::StoreError;

/// Reports, of a run's strands in serial order, by which number a tool saw each, if it did: a row group at a time, up to the
/// first that cannot be read. There are none in files before version 3.0.
pub fn seen(folder: &Path, run: u32, mut each: impl FnMut(&[Option<u64>])) -> Result<(), StoreError> {
    let mut unpacker = Unpacker::new().map_err(|error| StoreError::io(folder, error))?;
    let (mut bytes, mut values, mut numbers) = (Vec::new(), Values::default(), Vec::new());
    for number in 0.. {
        let Some(part) = Part::open(folder, run, number)? else {
            break;
        };
        for group in 0..part.groups() {
            let Some(region) = part.read(group, &mut bytes) else {
                return Ok(());
            };
            if column(&mut unpacker, &region, "tool_number", Physical::Int64, true, &mut values).is_none() {
                return Ok(());
            }
            let mut present = values.numbers.iter();
            let number = |has: &bool| if *has { present.next().and_then(|n| u64::try_from(*n).ok()) } else { None };
            numbers.clear();
            numbers.extend(values.present.iter().map(number));
            each(&numbers);
        }
    }
    Ok(())
}
