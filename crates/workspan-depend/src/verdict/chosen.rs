//! What a loop keeps of one of its iterations: where the least or greatest value was found, what was seen last.
//!
//! **Argument:** copies of a minimum find several candidates, so that a variable that is set beside it has the wrong one in the end. And what
//! one iteration writes on a condition, another may write as well: which value is left over depends on the order. The run need not show
//! either: if the first iteration has the greatest value, or one iteration alone meets the condition, the variable is written once.
//!
//! A constant is left over whatever the order: `found = 1` is `found = found || 1`.

use std::collections::BTreeSet;

use workspan_trace::facts::Update;

use super::judge::Judge;
use crate::profile::{Blocker, Loop, Reduction};
use crate::shadow::Site;
use crate::source::SiteInfo;
use crate::table::{Kind, LiveOut};

impl Judge<'_> {
    /// Variables that keep a value of an iteration that is not the last.
    pub(super) fn chosen(&self, carrier: u32, found: &Loop) -> Vec<Blocker> {
        let has_extreme = found.reductions.iter().any(|each| each.operator == "min" || each.operator == "max");
        let kept = self.kept(carrier);
        let sites = kept.iter().map(|(site, live)| (self.site(*site), live));
        let chosen = sites.filter(|(site, live)| {
            // Written on a condition: not in each iteration, or beside an extreme.
            let is_nested = || site.in_loop != carrier && self.is_one_place(carrier, site);
            let on_condition = || site.in_loop == carrier && !site.always || is_nested();
            let is_chosen = live.other
                || has_extreme && (live.unknown || live.last && on_condition())
                || live.last && on_condition() && !self.is_written_each_time(carrier, site);
            is_chosen
                && (is_scalar(site) || self.is_member(site) || self.is_one_place(carrier, site))
                && site.update == 0
                && self.induction(carrier, site.local).is_none()
        });
        let blocker = |site: &SiteInfo| Blocker {
            kind: if has_extreme { "control" } else { "WAW" }.to_owned(),
            variable: self.name_of(site).to_owned(),
            source: self.place(site.place),
            sink: self.place(site.place),
            distance: None,
            count: 1,
        };
        chosen.map(|(site, _)| blocker(site)).filter(|blocker| !blocker.variable.is_empty()).collect()
    }

    /// Values that are read after the loop: seen in its function, or where that has been called.
    fn kept(&self, carrier: u32) -> Vec<(Site, LiveOut)> {
        let (engine, source) = (self.engine, &self.engine.source);
        let seen = engine.table.live_out.iter().filter(|((_, of), _)| *of == carrier);
        let mut found: Vec<(Site, LiveOut)> = seen.map(|((site, _), live)| (*site, *live)).collect();
        let known: BTreeSet<Site> = found.iter().map(|(site, _)| *site).collect();
        let is_written = |site: &SiteInfo| site.writes && site.local == 0 && source.is_within(site.in_loop, carrier);
        let others = (0..).zip(&source.sites).filter(|(at, site)| is_written(site) && !known.contains(at));
        let around = others.map(|(at, _)| at).filter(|at| self.is_read_around(carrier, *at));
        let live = LiveOut { last: true, other: false, unknown: true };
        found.extend(around.map(|site| (site, live)).collect::<Vec<(Site, LiveOut)>>());
        found
    }

    /// True for a member of a variable that is a structure: `best.at`. Of what pointers lead to it is not known whether it is one object.
    fn is_member(&self, site: &SiteInfo) -> bool {
        site.direct && self.name_of(site).contains(['.', '%'])
    }

    /// True for what each iteration of a loop writes at the same address, if it writes it at all.
    pub(super) fn is_one_place(&self, carrier: u32, site: &SiteInfo) -> bool {
        let (mut at, mut levels) = (site.in_loop, 1);
        while at != carrier && at != 0 {
            (at, levels) = (self.engine.source.loops[at as usize - 1].parent, levels + 1);
        }
        at == carrier && site.fixed >= levels
    }

    /// True if each iteration was seen to write a variable.
    fn is_written_each_time(&self, carrier: u32, of: &SiteInfo) -> bool {
        let count = self.engine.loops[carrier as usize - 1];
        let is_same = |site: &SiteInfo| {
            let is_known = is_scalar(site) || self.is_one_place(carrier, site);
            site.function == of.function && site.local == of.local && site.variable == of.variable && is_known
        };
        let all = self.engine.table.all.iter().filter(|(key, values)| {
            key.carrier == carrier
                && key.kind == Kind::Waw
                && (values.least, values.most) == (1, 1)
                && is_same(self.site(key.sink))
        });
        all.map(|(_, values)| values.count).sum::<u64>() >= count.iterations.saturating_sub(count.entries)
    }

    /// Variables that the loop sets to a constant on a condition, once at least.
    pub(super) fn flags(&self, carrier: u32, found: &Loop) -> Vec<Reduction> {
        let kept = self.engine.table.live_out.keys().filter(|(_, of)| *of == carrier);
        let flags = kept.filter_map(|(site, _)| {
            let site = self.site(*site);
            let update = Update::of(site.update).filter(|update| update.is_of_constant())?;
            let is_flag = is_scalar(site) && self.all_writes_are(carrier, site, update);
            is_flag.then(|| Reduction {
                operator: update.sign().to_owned(),
                variable: self.name_of(site).to_owned(),
                ..Reduction::default()
            })
        });
        let private: BTreeSet<&str> = found.private.iter().map(|each| each.variable.as_str()).collect();
        flags.filter(|each| !each.variable.is_empty() && !private.contains(each.variable.as_str())).collect()
    }

    /// True if all that the loop writes to a variable of the function is by one operator, also where it has not run.
    pub(super) fn all_writes_are(&self, carrier: u32, of: &SiteInfo, update: Update) -> bool {
        let source = &self.engine.source;
        // A library function that is given the address has no number for it.
        let by_name = |site: &SiteInfo| site.local * of.local == 0 && site.variable == of.variable && is_scalar(site);
        let is_same = |site: &SiteInfo| {
            site.function == of.function && (site.local == of.local && of.local != 0 || by_name(site))
        };
        let inside = source.sites.iter().filter(|site| source.is_within(site.in_loop, carrier));
        !is_scalar(of) || inside.filter(|site| site.writes && is_same(site)).all(|site| site.update == update as u8)
    }
}

/// True for a number or a pointer by itself.
pub(super) fn is_scalar(site: &SiteInfo) -> bool {
    site.local != 0 || site.direct && site.whole && site.variable != 0
}
