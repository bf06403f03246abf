//! Which strands of two runs are the same, by the definition: an explicit key for every row.
//!
//! The key of a row is that of the construct around it, the branch or member it stands in, what it is, and the how manieth of
//! its kind there. A strand is known by the row that ends it and the row that is next before it. So it is where runs lack
//! subtrees of each other's; where they lack some of several that look the same, any choice is as good, and this is one.

use std::collections::BTreeMap;

use workspan_model::{Event, Strand};

/// What a row is: event, context, context of what begins.
type Look = (u8, u32, u32);
/// Construct around, branch, look, ordinal.
type Key = (usize, u32, Look, u32);

/// Per row of `new`: the row of `base` whose strand is the same.
pub fn partners(new: &[Strand], base: &[Strand]) -> Vec<Option<usize>> {
    let mut known = BTreeMap::new();
    let base: BTreeMap<_, usize> = strands(&mut known, base).into_iter().zip(0..).collect();
    strands(&mut known, new).iter().map(|strand| base.get(strand).copied()).collect()
}

/// Of each row: its key, and that of the row before it.
fn strands(known: &mut BTreeMap<Key, usize>, rows: &[Strand]) -> Vec<(usize, Option<usize>)> {
    let keys = keys(known, rows);
    let before = std::iter::once(None).chain(keys.iter().copied().map(Some));
    keys.iter().copied().zip(before).collect()
}

struct Open {
    key: usize,
    branch: u32,
    seen: BTreeMap<Look, u32>,
    team: bool,
}

fn keys(known: &mut BTreeMap<Key, usize>, rows: &[Strand]) -> Vec<usize> {
    let open = |key, team| Open { key, branch: 0, seen: BTreeMap::new(), team };
    let mut stack = vec![open(0, false)];
    let mut keys = Vec::with_capacity(rows.len());
    for row in rows {
        let Some(around) = stack.last_mut() else {
            break;
        };
        let look = look(row);
        let ordinal = around.seen.entry(look).or_default();
        let key = (around.key, around.branch, look, *ordinal);
        *ordinal += 1;
        let next = known.len() + 1;
        let key = *known.entry(key).or_insert(next);
        keys.push(key);
        let member_ends = matches!(row.event, Event::End) && around.team;
        match row.event {
            Event::Fork(_) | Event::Group | Event::Spawn(_) | Event::Call(_) | Event::Enter(_) => {
                stack.push(open(key, false));
            }
            Event::Team(_) => stack.push(open(key, true)),
            Event::Next(_) => around.branch += 1,
            Event::End if member_ends => around.branch += 1,
            Event::Join | Event::Wait | Event::End | Event::Leave | Event::TeamEnd => {
                stack.pop();
            }
            Event::Sync | Event::After(_) | Event::Barrier | Event::Wake(_) | Event::Await(_) | Event::Locked(_) => {}
        }
    }
    keys
}

fn look(row: &Strand) -> Look {
    let (event, inner) = match row.event {
        Event::Fork(iterations) => (0, iterations),
        Event::Next(_) => (1, 0),
        Event::Join => (2, 0),
        Event::Group => (3, 0),
        Event::Wait => (4, 0),
        Event::Spawn(creation) => (5, creation.context.0),
        Event::Call(creation) => (6, creation.context.0),
        Event::End => (7, 0),
        Event::Sync => (8, 0),
        Event::After(_) => (9, 0),
        Event::Enter(context) => (10, context.0),
        Event::Leave => (11, 0),
        Event::Team(_) => (12, 0),
        Event::Barrier => (13, 0),
        Event::TeamEnd => (14, 0),
        Event::Wake(_) => (15, 0),
        Event::Await(_) => (16, 0),
        Event::Locked(_) => (17, 0),
    };
    (event, row.context.0, inner)
}
