//! Spans of sites against those of the regions around them.

use std::collections::BTreeSet;

use workspan_analysis::{profile, replay};
use workspan_model::{ContextId, Nanos, Run, SiteKind};
use workspan_testkit::strands::random;

/// What ran side by side is no chain: a site's span is at most that of the regions that wait for its tasks.
#[test]
fn no_site_is_longer_than_the_regions_around_it() {
    let mut side_by_side = 0;
    for seed in 0..1_000 {
        let made = random(seed);
        let replayed = replay(&made.recording, &made.rows).unwrap_or_else(|never| match never {});
        let profile = profile(&made.recording, &replayed.into_run(&Run::default()));
        let tree = &made.recording.contexts;
        let kind = |id: ContextId| tree.site(id).map(|site| made.recording.sites[site.0 as usize].kind);
        for row in &profile.sites {
            let own = || tree.ids().filter(|id| tree.site(*id) == Some(row.site));
            let waited_for = |id: ContextId| {
                let region = tree.path(id).last().and_then(kind).expect("it is in one");
                tree.path(id).filter_map(kind).all(|kind| kind != SiteKind::Spawn && (region.lasts() || !kind.lasts()))
            };
            // Code under a lock counts as one after the other, whatever it creates.
            if made.recording.sites[row.site.0 as usize].kind.is_lock() || !own().all(waited_for) {
                continue;
            }
            let around: BTreeSet<ContextId> = own().filter_map(|id| tree.path(id).last()).collect();
            let regions = profile.regions.iter().filter(|region| around.contains(&region.context));
            let most: Nanos = regions.map(|region| region.span).sum();
            assert!(row.span <= most, "seed {seed}: {row:?}, {most:?}");
            side_by_side += u64::from(row.spans > most && most < profile.program.span);
        }
    }
    assert!(side_by_side > 20, "{side_by_side}");
}
