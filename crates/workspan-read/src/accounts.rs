//! Accounts of a thread: of the first contexts in its own area, of the others in pages.

use std::io;
use std::mem::{offset_of, size_of};

use workspan_wire::shm::{self, Account, AccountPage, ThreadArea};

use crate::memory::{Record, Snapshot};

/// Hands each account of the thread in `slot` to `take`, with its context, of which there are `count`. Returns the thread's
/// area, accounts excluded.
pub(crate) fn read(
    snapshot: &(impl Snapshot + ?Sized),
    slot: usize,
    count: usize,
    mut take: impl FnMut(usize, &Record),
) -> io::Result<Record> {
    let size = size_of::<Account>();
    let at = shm::THREADS + slot * size_of::<ThreadArea>();
    let accounts = offset_of!(ThreadArea, accounts);
    let first = count.min(shm::FIRST_CONTEXTS);
    let area = Record::read(snapshot, at, accounts + first * size)?;
    (0..first).for_each(|index| take(index, &area.part(accounts + index * size, size)));
    let needed = (count - first).div_ceil(shm::PAGE_ACCOUNTS).min(shm::THREAD_PAGES);
    let pages = Record::read(snapshot, at + offset_of!(ThreadArea, pages), needed * 4)?;
    for page in 0..needed {
        let number = pages.u32(4 * page) as usize;
        if number == 0 || number > shm::MAX_ACCOUNT_PAGES {
            continue;
        }
        let begin = first + page * shm::PAGE_ACCOUNTS;
        let length = (count - begin).min(shm::PAGE_ACCOUNTS);
        let at = shm::ACCOUNT_PAGES + (number - 1) * size_of::<AccountPage>();
        let page = Record::read(snapshot, at, length * size)?;
        (0..length).for_each(|index| take(begin + index, &page.part(index * size, size)));
    }
    Ok(area)
}
