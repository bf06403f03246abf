//! Reads since the last write, as a list of groups: those of one site that no later write can distinguish are one.
//!
//! **Invariant:** the groups of one site are in the order of time, the latest first; two that lie in the same node of the tree, and in the
//! same call of its function, may be one or two: whoever writes takes them together.
//!
//! **Cost:** in a list of up to [`LOOK`] groups a read looks for those of its site. A longer list gets a new group for each read; when it
//! is twice as long as what was left the last time, or 255 groups longer, all groups of it that can be become one. So no list grows with
//! the run, and a read costs a few looks, however many sites read. While a step is noted a read always looks: the lists of locals say
//! which shape a frame has.

use super::kinds::ReadKind;
use super::step::Noted;
use super::Context;
use crate::shadow::{Cell, Reader, Readers, Site};
use crate::tree::{common, common_of_both, Common};

/// Kinds of groups of its site that a read looks for while a step is noted.
const SURVIVORS: usize = 4;
/// Groups that it looks at otherwise.
const LOOK: u32 = 16;
/// [`Readers::room`] of a list that is longer, at least.
const ROOM: u8 = 16;

/// Adds a read to those since the last write; where two groups became one, the last moment of the later one. `function_of`: that of a
/// site.
pub(super) fn note_read(
    context: &mut Context,
    readers: &mut Readers,
    cell: &mut Cell,
    site: Site,
    function_of: impl Fn(Site) -> u32,
) -> Option<u64> {
    let now = context.now;
    let new = Reader { site, next: cell.readers, first: now, last: now };
    let head = readers.get(cell.readers);
    let function = function_of(site);
    let turn = context.nodes.last().map_or(0, |node| node.turn);
    // In the iteration or call that runs, and not by a call of the same function that it has made.
    let innermost = Common { node: context.nodes.len().saturating_sub(1), carried: false };
    let is_here = |context: &Context, reader: &Reader| {
        reader.first >= turn && context.call_of(innermost, function, reader.last) == 0
    };
    if cell.readers == 0 || head.site == site && is_here(context, &head) {
        if cell.readers == 0 {
            cell.readers = readers.add(new);
            context.shapes.noting.read(|| Noted::First);
            return None;
        }
        readers.set(cell.readers, Reader { last: now, ..head });
        context.shapes.noting.read(|| Noted::Longer(0));
        return None;
    }
    // Two groups, or one: the common cases of what follows.
    if head.site == site {
        let next = readers.get(head.next);
        let is_one = head.next == 0;
        let is_same = |next: &Reader| {
            next.site == site
                && next.next == 0
                && common_of_both(&context.nodes, head.last, next.last).is_some_and(|node| {
                    context.call_of(node, function, next.last) == context.call_of(node, function, head.first)
                })
        };
        if is_one {
            cell.readers = readers.add(new);
            context.shapes.noting.read(|| Noted::First);
            return None;
        }
        if is_same(&next) {
            readers.set(head.next, Reader { last: head.last, ..next });
            readers.set(cell.readers, Reader { first: now, last: now, ..head });
            context.shapes.noting.read(|| Noted::Pushed);
            return Some(head.last);
        }
    }
    let room = readers.room(cell.readers);
    if room != 0 && !context.shapes.noting.is_active {
        if room == 1 {
            join_all(context, readers, cell, function_of);
        }
        cell.readers = readers.add(Reader { next: cell.readers, ..new });
        return None;
    }
    let (noted, joined) = join_reads(context, readers, cell, (site, function));
    context.shapes.noting.read(|| noted);
    joined
}

/// The group of the site that lies in the iteration or call that runs becomes longer, or there is a new one, and earlier ones become one.
fn join_reads(
    context: &mut Context,
    readers: &mut Readers,
    cell: &mut Cell,
    (site, function): (Site, u32),
) -> (Noted, Option<u64>) {
    let now = context.now;
    let turn = context.nodes.last().map_or(0, |node| node.turn);
    let innermost = Common { node: context.nodes.len().saturating_sub(1), carried: false };
    let is_noted = context.shapes.noting.is_active;
    let (survivors, look) = if is_noted { (SURVIVORS, u32::MAX) } else { (usize::MAX, LOOK) };
    let mut kinds = std::mem::take(&mut context.kinds);
    kinds.clear();
    let (mut at, mut before, mut place) = (cell.readers, 0, 0);
    let (mut joined, mut moment) = (Vec::new(), None);
    while at != 0 && kinds.len() < survivors && place < look {
        let reader = readers.get(at);
        let (number, of) = (at, place);
        (at, place) = (reader.next, place + 1);
        if reader.site != site {
            before = number;
            continue;
        }
        if kinds.is_empty() && reader.first >= turn && context.call_of(innermost, function, reader.last) == 0 {
            readers.set(number, Reader { last: now, ..reader });
            context.kinds = kinds;
            return (Noted::Longer(of), None);
        }
        let node = common(&context.nodes, reader.last);
        let kind = ReadKind { site, node, call: context.call_of(node, function, reader.last) };
        let Some((group, of_group)) = kinds.meet(kind, (number, of)) else {
            before = number;
            continue;
        };
        readers.unlink(before, number, cell);
        readers.change(group, |later| later.first = reader.first);
        moment = Some(readers.get(group).last);
        if is_noted {
            joined.push((of_group, of));
        }
    }
    context.kinds = kinds;
    cell.readers = readers.add(Reader { site, next: cell.readers, first: now, last: now });
    if at != 0 && place == look {
        readers.set_room(cell.readers, ROOM);
    }
    (if joined.is_empty() { Noted::First } else { Noted::Joined(joined) }, moment)
}

/// All groups of a list that no write can distinguish become one.
#[cold]
fn join_all(context: &mut Context, readers: &mut Readers, cell: &mut Cell, function_of: impl Fn(Site) -> u32) {
    let mut kinds = std::mem::take(&mut context.kinds);
    kinds.clear();
    let (mut at, mut before, mut place) = (cell.readers, 0, 0);
    while at != 0 {
        let (number, reader) = (at, readers.get(at));
        at = reader.next;
        let node = common(&context.nodes, reader.last);
        let call = context.call_of(node, function_of(reader.site), reader.last);
        match kinds.meet(ReadKind { site: reader.site, node, call }, (number, place)) {
            Some((group, _)) => {
                readers.unlink(before, number, cell);
                readers.change(group, |later| later.first = reader.first);
            }
            None => (before, place) = (number, place + 1),
        }
    }
    context.kinds = kinds;
    readers.set_room(cell.readers, u8::try_from(place).unwrap_or(u8::MAX).max(ROOM));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::source::PlaceId;
    use crate::tree::Frame;

    /// First and last read by site, node and call, as a write now would find them.
    fn groups_of(context: &Context, reads: &[Reader]) -> BTreeMap<(Site, usize, bool, PlaceId), (u64, u64)> {
        let mut all = BTreeMap::new();
        for read in reads {
            let node = common(&context.nodes, read.last);
            let key = (read.site, node.node, node.carried, context.call_of(node, 1, read.last));
            let (first, last) = all.entry(key).or_insert((read.first, read.last));
            (*first, *last) = (read.first.min(*first), read.last.max(*last));
        }
        all
    }

    #[test]
    fn lists_do_not_grow_where_calls_take_turns() {
        const PLACES: u32 = 9;
        let mut context = Context::default();
        context.frames.push(Frame::default());
        context.push_node(0, 0);
        context.push_node(1, 0);
        let (mut readers, mut cell) = (Readers::default(), Cell::default());
        let (mut each, mut longest) = (Vec::new(), 0);
        for iteration in 0..2_000_u32 {
            let turn = context.now + 1;
            let node = &mut context.nodes[1];
            (node.former, node.turn) = (node.turn, turn);
            for step in 0..PLACES {
                // In another order each time; one place is rare.
                let place = 1 + (step * 7 + iteration * iteration) % (PLACES - u32::from(iteration % 64 != 0));
                context.frames[0].pending = Some((place, 0, 0));
                context.frames[0].pending_since = context.now + 1;
                context.frames.push(Frame { node: 2, function: 1, call: place, ..Frame::default() });
                context.push_node(0, 1);
                for site in 1..4 {
                    context.now += 1;
                    note_read(&mut context, &mut readers, &mut cell, site, |_| 1);
                    each.push(Reader { site, next: 0, first: context.now, last: context.now });
                }
                context.frames.pop();
                context.nodes.pop();
                let now = context.now;
                context.frames[0].returned(now);
            }
            let mut at = cell.readers;
            let list: Vec<Reader> = std::iter::from_fn(|| {
                let reader = readers.get(at);
                (std::mem::replace(&mut at, reader.next) != 0).then_some(reader)
            })
            .collect();
            longest = longest.max(list.len());
            if iteration % 100 == 0 {
                assert_eq!(groups_of(&context, &list), groups_of(&context, &each), "iteration {iteration}");
            }
        }
        // A write could distinguish 54: three sites, nine places, in this iteration and before. There were 54 000 reads.
        assert!(longest <= 2 * 54, "{longest} groups");
    }
}
