//! Whether the last iteration's copy of an array may take the array's place.
//!
//! **Argument:** `lastprivate` copies the whole array. So each iteration must write all elements that one before has written, and no
//! element may be read afterwards that was written before the loop. The latter is seen where a loop lies between both in one
//! function; elsewhere it is not known, and not assumed.
//!
//! Of a loop in a loop it is not known which of its iterations wrote what is read later: the last one, if each of them writes the variable.

use std::collections::BTreeSet;

use super::carried::Carried;
use super::chosen::is_scalar;
use super::judge::Judge;
use crate::shadow::Site;
use crate::source::SiteInfo;
use crate::table::{Key, Kind, Record};

/// From which iterations values come that are read after a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Afterwards {
    /// None is read.
    Nothing,
    /// Elements may be read, where that is not seen.
    Unseen,
    /// The last one.
    Last,
    /// Any of them.
    Any,
}

impl Judge<'_> {
    /// What is read after the loop of what one site writes in it.
    pub(super) fn read_afterwards(
        &self,
        carrier: u32,
        carried: &Carried<'_>,
        writer: Site,
        values: &Record,
    ) -> Afterwards {
        let live = self.engine.table.live_out.get(&(writer, carrier)).copied().unwrap_or_default();
        let unseen =
            !live.last && (self.may_be_read_unseen(carrier, self.site(writer)) || self.is_read_around(carrier, writer));
        // An array is more than the element that is read.
        let of_writer = |key: &Key| key.sink == writer || key.source == writer;
        let is_array = values.varies || carried.names.iter().any(|(key, values)| of_writer(key) && values.varies);
        match () {
            () if live.other => Afterwards::Any,
            () if (live.unknown || unseen && !is_array) && !self.is_always_written(carrier, carried, writer) => {
                Afterwards::Any
            }
            () if live.last && !is_array && !self.is_written_by_each(carrier, carried, writer) => Afterwards::Any,
            () if unseen && is_array && !live.unknown => Afterwards::Unseen,
            () if live.last || live.unknown || unseen => Afterwards::Last,
            () => Afterwards::Nothing,
        }
    }

    /// True if what a site writes is read when the function of the loop has returned.
    pub(super) fn is_read_around(&self, carrier: u32, writer: Site) -> bool {
        let function = self.engine.source.loops[carrier as usize - 1].function;
        let of_writer = self.engine.table.all.iter().filter(|(key, _)| key.source == writer && key.kind == Kind::Raw);
        let around: BTreeSet<u32> = of_writer.map(|(key, _)| key.function).filter(|of| *of != function).collect();
        around.into_iter().any(|of| self.may_run_around(carrier, of))
    }

    /// True if a site takes part in the writes by which each iteration writes a variable in one place.
    fn is_always_written(&self, carrier: u32, carried: &Carried<'_>, writer: Site) -> bool {
        let count = self.engine.loops[carrier as usize - 1];
        let followers = count.iterations.saturating_sub(count.entries);
        carried.names.iter().any(|(key, values)| {
            let follows = key.kind == Kind::Waw && (values.least, values.most) == (1, 1);
            let is_own = key.sink == writer || key.source == writer;
            is_own && follows && !values.varies && values.count == followers
        })
    }

    /// True if each iteration was seen to write what a site writes: there, or at a site that writes the same.
    fn is_written_by_each(&self, carrier: u32, carried: &Carried<'_>, writer: Site) -> bool {
        let overwritten = || carried.names.iter().filter(|(key, _)| key.kind == Kind::Waw);
        let mut same = BTreeSet::from([writer]);
        loop {
            let meets = |key: &Key| same.contains(&key.source) || same.contains(&key.sink);
            let all: Vec<Site> =
                overwritten().filter(|(key, _)| meets(key)).flat_map(|(key, _)| [key.source, key.sink]).collect();
            let before = same.len();
            same.extend(all);
            if same.len() == before {
                break;
            }
        }
        let count = self.engine.loops[carrier as usize - 1];
        let followers = count.iterations.saturating_sub(count.entries);
        let follows = |key: &Key, values: &Record| same.contains(&key.sink) && (values.least, values.most) == (1, 1);
        let seen = overwritten().filter(|(key, values)| follows(key, values)).map(|(_, values)| values.count);
        seen.sum::<u64>() >= followers
    }

    /// True if what a variable holds after the loop may be read unseen: Rust hands variables to its library, which is not
    /// instrumented, by reference. What a called function writes by a reference may be a variable of any other.
    fn may_be_read_unseen(&self, carrier: u32, site: &SiteInfo) -> bool {
        let is_rust = || self.place(site.place).file.ends_with(".rs");
        let is_called = site.function != self.engine.source.loops[carrier as usize - 1].function;
        (site.direct || is_called) && (site.local == 0 || site.has_address) && is_rust()
    }

    /// A dependence whose value such a copy would lose.
    pub(super) fn lost_by_the_last_copy<'t>(&self, carrier: u32, carried: &Carried<'t>) -> Option<&'t (Key, Record)> {
        let written_again = |(key, _): &&&(Key, Record)| key.kind == Kind::Waw && !is_scalar(self.site(key.sink));
        let elements = || carried.names.iter().filter(written_again);
        let in_part = elements().find(|(_, values)| values.varies && values.most > 1);
        in_part.or_else(|| elements().find(|(key, _)| self.is_read_across(carrier, key))).copied()
    }

    /// True if the loop has other writes of a number, whose value of the last iteration is read afterwards.
    pub(super) fn leaves_last(&self, carrier: u32, of: &SiteInfo) -> bool {
        let live_out = &self.engine.table.live_out;
        let is_same =
            |site: &SiteInfo| site.function == of.function && site.local == of.local && site.variable == of.variable;
        let mut live = live_out.iter().filter(|((_, at), live)| *at == carrier && (live.last || live.other));
        is_scalar(of) && live.any(|((site, _), _)| is_same(self.site(*site)))
    }

    /// True if something of the variable is written before a loop and read after it.
    fn is_read_across(&self, carrier: u32, of: &Key) -> bool {
        let number = carrier as usize - 1;
        let (begin, end) = (self.place(self.engine.source.loops[number].place), self.end_of(number));
        let (variable, function) = (self.site(of.sink).variable, of.function);
        variable != 0
            && self.engine.table.all.iter().any(|(key, _)| {
                let is_same = |site| self.site(site).variable == variable && self.site(site).function == function;
                // What writes all of it need not name it, nor what is given it to read.
                let is_named = is_same(key.source) || is_same(key.sink);
                if key.kind != Kind::Raw || key.function != function || !is_named {
                    return false;
                }
                let (source, sink) = self.ends(key);
                source.file == begin.file && sink.file == begin.file && source.line < begin.line && sink.line > end
            })
    }
}
