//! A few pieces by themselves: their edges, sorted, and their longest path.

/// Used again and again.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) inner: Vec<(u32, u32)>,
    /// Edges from outside, to outside, and between others.
    pub(super) from: Vec<u32>,
    pub(super) to: Vec<u32>,
    pub(super) others: Vec<(u32, u32)>,
    offsets: Vec<u32>,
    targets: Vec<u32>,
    needs: Vec<u32>,
    ends: Vec<i64>,
    queue: Vec<u32>,
}

impl Scratch {
    /// The longest path among the pieces from `start`, along the inner edges.
    pub(super) fn longest(&mut self, extents: &[i64], start: u32) -> i64 {
        let Scratch { inner, offsets, targets, needs, ends, queue, .. } = self;
        let count = extents.len();
        for column in [&mut *offsets, &mut *needs] {
            column.clear();
            column.resize(count + 1, 0);
        }
        ends.clear();
        ends.resize(count, 0);
        for (from, to) in inner.iter() {
            offsets[(from - start) as usize + 1] += 1;
            needs[(to - start) as usize] += 1;
        }
        for at in 0..count {
            offsets[at + 1] += offsets[at];
        }
        targets.clear();
        targets.resize(inner.len(), 0);
        // Each offset moves to the end of its part, which is where the next one begins.
        for (from, to) in inner.iter() {
            let at = &mut offsets[(from - start) as usize];
            targets[*at as usize] = to - start;
            *at += 1;
        }
        queue.clear();
        queue.extend((0u32..).zip(&needs[..count]).filter(|(_, needs)| **needs == 0).map(|(at, _)| at));
        let mut longest = i64::MIN;
        while let Some(at) = queue.pop() {
            let index = at as usize;
            let end = ends[index].saturating_add(extents[index]);
            longest = longest.max(end);
            let first = if index == 0 { 0 } else { offsets[index - 1] };
            for target in &targets[first as usize..offsets[index] as usize] {
                let target = *target as usize;
                ends[target] = ends[target].max(end);
                needs[target] -= 1;
                if needs[target] == 0 {
                    queue.push(u32::try_from(target).unwrap_or(0));
                }
            }
        }
        if longest == i64::MIN {
            0
        } else {
            longest
        }
    }
}
