//! Where the boxes of an icicle go.
//!
//! The width of a box is the time of its context and of all contexts below it, over that of the whole program. Siblings
//! stand by falling critical-path time, then work, in every icicle of a report, so that two of them can be compared.
//!
//! Takes time linear in the number of contexts, but for the sorting, and no recursion: nesting may be deep.

use std::cmp::Reverse;

use crate::view::Context;
use workspan_model::Nanos;

/// Boxes narrower than this share of the program are merged.
pub(crate) const NARROWEST: f64 = 0.001;

/// What the widths stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Time of all strands.
    Work,
    /// Time of strands on the critical path.
    Critical,
}

impl Measure {
    /// Of the strands of a context itself.
    pub(crate) fn own(self, context: &Context) -> i64 {
        match self {
            Measure::Work => context.self_ns,
            Measure::Critical => context.critical_ns,
        }
    }
}

/// What a box shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// The whole program.
    Program,
    /// A context, by its position in the report.
    Context(usize),
    /// The number of siblings, each too narrow to see.
    Others(usize),
}

/// A box; positions and widths are shares of the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cell {
    /// What it shows.
    pub(crate) shows: Shows,
    /// Row, from the top.
    pub(crate) depth: usize,
    /// Left edge.
    pub(crate) x: f64,
    /// Width.
    pub(crate) width: f64,
    /// Time in it.
    pub(crate) inclusive: i64,
}

/// The tree of contexts.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    contexts: &'a [Context],
    /// Children of each context, and at the end those of the program.
    children: Vec<Vec<usize>>,
}

impl<'a> Tree<'a> {
    /// Sorts siblings.
    pub(crate) fn of(contexts: &'a [Context]) -> Tree<'a> {
        let root = contexts.len();
        let mut children = vec![Vec::new(); root + 1];
        for (i, context) in contexts.iter().enumerate() {
            // Parents come first. A report that breaks the rule is drawn flatter, not for ever.
            let parent = context.parent.filter(|parent| *parent < i).unwrap_or(root);
            children[parent].push(i);
        }
        let mut tree = Tree { contexts, children };
        let (critical, work) = (tree.inclusive(Measure::Critical), tree.inclusive(Measure::Work));
        for siblings in &mut tree.children {
            siblings.sort_by_key(|i| (Reverse(critical[*i]), Reverse(work[*i])));
        }
        tree
    }

    /// Time of each context and everything below it, and at the end of all.
    ///
    /// A cost that was taken out may leave a little less than nothing; it is counted as nothing, as a width cannot be
    /// negative.
    fn inclusive(&self, measure: Measure) -> Vec<i64> {
        let mut sums: Vec<i64> = self.contexts.iter().map(|context| measure.own(context).max(0)).collect();
        sums.push(0);
        for parent in (0..self.contexts.len()).rev().chain([self.contexts.len()]) {
            sums[parent] =
                self.children[parent].iter().fold(sums[parent], |sum, child| sum.saturating_add(sums[*child]));
        }
        sums
    }

    /// The boxes, parents before children, siblings from left to right. `total` is the width of the page; what no
    /// context accounts for stays empty.
    pub(crate) fn layout(&self, measure: Measure, total: i64) -> Vec<Cell> {
        let inclusive = self.inclusive(measure);
        let root = self.contexts.len();
        let total = total.max(inclusive[root]);
        if total <= 0 {
            return Vec::new();
        }
        let width = |time: i64| Nanos(time).as_f64() / Nanos(total).as_f64();
        let mut cells = vec![Cell { shows: Shows::Program, depth: 0, x: 0.0, width: 1.0, inclusive: total }];
        let mut open = vec![(root, 0, 0.0)];
        while let Some((parent, depth, mut x)) = open.pop() {
            let mut others = (0, 0_i64);
            for child in self.children[parent].iter().copied().filter(|child| inclusive[*child] > 0) {
                let time = inclusive[child];
                if width(time) < NARROWEST {
                    others = (others.0 + 1, others.1.saturating_add(time));
                    continue;
                }
                let cell =
                    Cell { shows: Shows::Context(child), depth: depth + 1, x, width: width(time), inclusive: time };
                cells.push(cell);
                open.push((child, depth + 1, x));
                x += cell.width;
            }
            if others.0 > 0 {
                let (shows, inclusive) = (Shows::Others(others.0), others.1);
                cells.push(Cell { shows, depth: depth + 1, x, width: width(inclusive), inclusive });
            }
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::tests::context;

    #[track_caller]
    fn check(contexts: &[Context], measure: Measure, total: i64, expected: &[(Shows, usize, f64, f64)]) {
        let cells = Tree::of(contexts).layout(measure, total);
        let found: Vec<_> = cells.iter().map(|c| (c.shows, c.depth, c.x, c.width)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn children_lie_below_their_parents_and_the_critical_ones_first() {
        let contexts = [context(None, "a", 100, 0), context(Some(0), "b", 300, 0), context(Some(0), "c", 100, 100)];
        let at = Shows::Context;
        check(
            &contexts,
            Measure::Work,
            500,
            &[(Shows::Program, 0, 0.0, 1.0), (at(0), 1, 0.0, 1.0), (at(2), 2, 0.0, 0.2), (at(1), 2, 0.2, 0.6)],
        );
        check(
            &contexts,
            Measure::Critical,
            200,
            &[(Shows::Program, 0, 0.0, 1.0), (at(0), 1, 0.0, 0.5), (at(2), 2, 0.0, 0.5)],
        );
    }

    /// Found by fuzzing: memory that a program has written over holds any numbers.
    #[test]
    fn times_that_cannot_be_summed_do_no_harm() {
        let contexts = [context(None, "a", i64::MAX, 0), context(Some(0), "b", i64::MAX, 0)];
        let cells = Tree::of(&contexts).layout(Measure::Work, i64::MAX);
        assert_eq!(cells.iter().map(|cell| cell.width).collect::<Vec<_>>(), [1.0, 1.0, 1.0]);
    }

    #[test]
    fn narrow_boxes_are_merged() {
        let mut contexts = vec![context(None, "wide", 9_980, 0)];
        contexts.extend((0..4).map(|_| context(None, "narrow", 5, 0)));
        check(
            &contexts,
            Measure::Work,
            10_000,
            &[(Shows::Program, 0, 0.0, 1.0), (Shows::Context(0), 1, 0.0, 0.998), (Shows::Others(4), 1, 0.998, 0.002)],
        );
    }

    #[test]
    fn a_report_that_breaks_the_rules_is_drawn() {
        check(&[], Measure::Work, 0, &[]);
        check(&[context(Some(0), "own parent", -5, -5)], Measure::Critical, 0, &[]);
        let contexts = [context(Some(1), "later parent", 1, 1), context(Some(9), "no such parent", 1, 1)];
        let cells = Tree::of(&contexts).layout(Measure::Work, 1);
        assert_eq!(cells.iter().map(|c| c.depth).collect::<Vec<_>>(), [0, 1, 1]);
    }
}
