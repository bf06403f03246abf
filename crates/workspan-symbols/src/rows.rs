//! The rows of a unit's line program.
//!
//! **Cost:** one pass over the program.

use gimli::{ColumnType, IncompleteLineProgram};

use crate::budget::{Budget, Stop};
use crate::executable::{Code, Slice};

/// Instructions that come from one place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    /// Index in the program's table.
    pub(crate) file: u64,
    pub(crate) line: u32,
    /// 0 if unknown.
    pub(crate) column: u32,
    /// File, line and column of the first statement among several rows for the same address, of which all but the last are
    /// without instructions. At the beginning of a function it is where that begins.
    pub(crate) opening: (u64, u32, u32),
}

/// Runs a line program. Rows without instructions, without a line, and those of code that the linker has dropped are left
/// out: nothing at their address describes them.
pub(crate) fn for_each(
    program: IncompleteLineProgram<Slice<'_>>,
    code: &Code,
    budget: &Budget,
    mut visit: impl FnMut(Row),
) -> Result<(), Stop> {
    budget.charge(program.header().raw_program_buf().len())?;
    let mut rows = program.rows();
    let mut pending: Option<(Row, bool)> = None;
    while let Some((_, row)) = rows.next_row()? {
        let address = row.address();
        // What a row without instructions says of the beginning, if it is a statement, counts for the next.
        let mut opening = None;
        match pending.take() {
            Some((mut last, _)) if last.begin < address => {
                last.end = address;
                visit(last);
            }
            Some((last, true)) if last.begin == address => opening = Some(last.opening),
            _ => {}
        }
        let line = row.line().map_or(0, |line| u32::try_from(line.get()).unwrap_or(0));
        if row.end_sequence() || line == 0 || !code.contains(address) {
            continue;
        }
        let column = match row.column() {
            ColumnType::LeftEdge => 0,
            ColumnType::Column(column) => u32::try_from(column.get()).unwrap_or(0),
        };
        let statement = opening.is_some() || row.is_stmt();
        let opening = opening.unwrap_or((row.file_index(), line, column));
        pending =
            Some((Row { begin: address, end: address, file: row.file_index(), line, column, opening }, statement));
    }
    Ok(())
}
