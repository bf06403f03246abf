//! A bound on what a run counts, so that no sum of counts overflows, in one run or over many.

use workspan_model::histogram::Bucket;
use workspan_model::{Histogram, Run, Totals};

/// More than all counts of a run amount to together; up to here they are also exact as floating-point numbers.
const MOST: u64 = 1 << 53;

/// True if the counts of a run can be summed.
pub(crate) fn plausible(run: &Run) -> bool {
    all(run).try_fold(0u64, u64::checked_add).is_some_and(|sum| sum <= MOST)
}

/// Cuts what the memory of a broken program says down to what can be summed.
pub(crate) fn limit(run: &mut Run) {
    if plausible(run) {
        return;
    }
    let most = MOST / all(run).count().max(1) as u64;
    let losses = &mut run.losses;
    let lost = [&mut losses.sites, &mut losses.contexts, &mut losses.threads, &mut losses.path_nodes];
    for count in lost.into_iter().chain([&mut run.interrupts]) {
        *count = most.min(*count);
    }
    for Totals { instances, entries, tasks, items, sizes, .. } in &mut run.totals {
        for count in [instances, entries, tasks, items] {
            *count = most.min(*count);
        }
        *sizes =
            Histogram::new(sizes.buckets().iter().map(|bucket| Bucket { count: most.min(bucket.count), ..*bucket }));
    }
}

fn all(run: &Run) -> impl Iterator<Item = u64> + '_ {
    let losses = &run.losses;
    let of_run = [losses.sites, losses.contexts, losses.threads, losses.path_nodes, run.interrupts];
    let of_contexts = run.totals.iter().flat_map(|totals| {
        let counts = [totals.instances, totals.entries, totals.tasks, totals.items];
        counts.into_iter().chain(totals.sizes.buckets().iter().map(|bucket| bucket.count))
    });
    of_run.into_iter().chain(of_contexts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_summed_is_cut_down() {
        let totals = Totals { tasks: u64::MAX, items: 7, ..Totals::default() };
        let mut run = Run { interrupts: u64::MAX, totals: vec![totals; 3], ..Run::default() };
        assert!(!plausible(&run));
        limit(&mut run);
        assert!(plausible(&run) && run.tasks() > 0 && run.totals[0].items == 7);
        let same = run.clone();
        limit(&mut run);
        assert_eq!(run, same);
    }
}
