//! Parts of a program, and which strands are in them.

use workspan_model::{ContextId, ContextTree, Recording, SiteId, SiteKind};

use crate::strands::{Place, Point, Region};

/// A part of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// Strands of a site itself: what its exclusive share of the critical path is about. Of serial code, too.
    Site(SiteId),
    /// The same with everything below the site.
    Below(SiteId),
    /// Strands of a context itself.
    Context(ContextId),
    /// Strands between two events in these lines of a file, which is named by the end of its path. The beginning and the
    /// end of a task lie where it is created; a wait lies wherever the other event does, between two waits where the task is
    /// created. Serial code lies between its
    /// regions, or where samples saw most of its lines at work; before the first and after the last one it lies there only.
    Lines {
        /// The file.
        file: String,
        /// First line.
        first: u32,
        /// Last line.
        last: u32,
    },
    /// One region.
    Region(Region),
    /// A region in all contexts.
    Place(Place),
    /// Regions that the program marks by this name, with everything below.
    Marked(String),
}

/// A selector that knows the recording.
#[derive(Clone)]
pub(super) enum Chosen<'a> {
    /// By context.
    Contexts(Vec<bool>),
    Lines(Lines<'a>),
    Region(Region),
    Place(&'a ContextTree, Place),
}

#[derive(Clone)]
pub(super) struct Lines<'a> {
    recording: &'a Recording,
    file: String,
    first: u32,
    last: u32,
}

impl Selector {
    pub(super) fn resolve<'a>(&self, recording: &'a Recording) -> Chosen<'a> {
        let tree = &recording.contexts;
        let own = |wanted: &dyn Fn(SiteId) -> bool| tree.ids().map(|id| tree.site(id).is_some_and(wanted)).collect();
        let below = |wanted: &dyn Fn(SiteId) -> bool| {
            let mut chosen: Vec<bool> = own(wanted);
            for id in tree.ids() {
                chosen[id.index()] |= tree.get(id).is_some_and(|context| chosen[context.parent.index()]);
            }
            chosen
        };
        match self {
            Selector::Site(site) => Chosen::Contexts(own(&|other| other == *site)),
            Selector::Below(site) => Chosen::Contexts(below(&|other| other == *site)),
            Selector::Context(context) => Chosen::Contexts(tree.ids().map(|id| id == *context).collect()),
            Selector::Marked(name) => Chosen::Contexts(below(&|site| is_marked(recording, site, name))),
            Selector::Region(region) => Chosen::Region(*region),
            Selector::Place(place) => Chosen::Place(tree, *place),
            Selector::Lines { file, first, last } => {
                Chosen::Lines(Lines { recording, file: file.clone(), first: *first, last: *last })
            }
        }
    }
}

fn is_marked(recording: &Recording, site: SiteId, name: &str) -> bool {
    recording.sites.get(site.0 as usize).is_some_and(|site| {
        site.kind == SiteKind::Marked
            && (site.type_name == name || site.function.as_ref().is_some_and(|function| function.name == name))
    })
}

impl Chosen<'_> {
    pub(super) fn has(&self, region: &Region) -> bool {
        match self {
            Chosen::Contexts(chosen) => chosen.get(region.context.index()).copied().unwrap_or(false),
            Chosen::Lines(lines) => lines.have(region),
            Chosen::Region(chosen) => chosen == region,
            Chosen::Place(tree, chosen) => *chosen == Place::of(tree, region),
        }
    }
}

/// Where an event is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Within,
    Outside,
    Anywhere,
}

impl Lines<'_> {
    fn have(&self, region: &Region) -> bool {
        let ends = match self.kind(region) {
            Some(SiteKind::Serial { .. }) if self.ran(region) => return true,
            Some(SiteKind::Serial { from, to }) => {
                [from, to].map(|end| end.map_or(Where::Outside, |site| self.of(site)))
            }
            // Between two waits nothing else says where it lies.
            _ if (region.before, region.after) == (Point::Wait, Point::Wait) => [self.own(region), Where::Anywhere],
            _ => [region.before, region.after].map(|point| self.place(region, point)),
        };
        ends.contains(&Where::Within) && !ends.contains(&Where::Outside)
    }

    /// True if most of the lines in which samples saw this serial code are among these, or all of it up to the region behind it: at its ends are
    /// calls and constructs that nobody names who means a loop.
    fn ran(&self, region: &Region) -> bool {
        let site = self.recording.contexts.site(region.context);
        let ran = self.recording.ran.iter().find(|ran| Some(ran.site) == site && self.is_file(&ran.file));
        ran.filter(|ran| ran.lines.0 > 0).is_some_and(|ran| {
            let seen = u64::from(ran.lines.1.saturating_sub(ran.lines.0)) + 1;
            let (first, last) = (self.first.max(ran.lines.0), self.last.min(ran.lines.1));
            let most = first <= last && (u64::from(last - first) + 1) * 2 > seen;
            most || (first == ran.lines.0 && first <= last && self.reaches_what_follows(region))
        })
    }

    /// True if the lines end just before the region, in the same file, that follows this serial code, or later.
    fn reaches_what_follows(&self, region: &Region) -> bool {
        let Some(SiteKind::Serial { to: Some(to), .. }) = self.kind(region) else {
            return false;
        };
        let next = self.recording.sites.get(to.0 as usize);
        next.is_some_and(|site| self.is_file(&site.file) && u64::from(self.last) + 1 >= u64::from(site.line))
    }

    fn kind(&self, region: &Region) -> Option<SiteKind> {
        let site = self.recording.contexts.site(region.context)?;
        self.recording.sites.get(site.0 as usize).map(|site| site.kind)
    }

    fn place(&self, region: &Region, point: Point) -> Where {
        match point {
            Point::Unknown | Point::Wait => Where::Anywhere,
            Point::Site(site) => self.of(site),
            Point::Begin | Point::End | Point::Enter | Point::Leave | Point::Meet => self.own(region),
        }
    }

    /// Where the site is whose strands these are.
    fn own(&self, region: &Region) -> Where {
        self.recording.contexts.site(region.context).map_or(Where::Outside, |site| self.of(site))
    }

    fn of(&self, site: SiteId) -> Where {
        let Some(site) = self.recording.sites.get(site.0 as usize) else {
            return Where::Outside;
        };
        let direct = Some((site.file.as_str(), site.line));
        let via = site.via.as_ref().map(|(file, line)| (file.as_str(), *line));
        let within = |(file, line): (&str, u32)| line >= self.first && line <= self.last && self.is_file(file);
        if direct.into_iter().chain(via).any(within) {
            Where::Within
        } else {
            Where::Outside
        }
    }

    fn is_file(&self, path: &str) -> bool {
        is_file(path, &self.file)
    }
}

/// True if a file is named by the end of its path.
pub fn is_file(path: &str, named: &str) -> bool {
    path.strip_suffix(named).is_some_and(|before| before.is_empty() || before.ends_with('/')) && !named.is_empty()
}

#[cfg(test)]
mod tests {
    use workspan_model::{Ran, Site};

    use super::*;

    fn has_in(recording: &Recording, region: Region, first: u32, last: u32) -> bool {
        Selector::Lines { file: "omp.c".to_owned(), first, last }.resolve(recording).has(&region)
    }

    #[test]
    fn serial_code_is_where_it_was_seen_at_work() {
        let mut recording = Recording {
            sites: vec![Site::at(SiteKind::Serial { from: None, to: None }, "", 0, 0)],
            ..Recording::default()
        };
        let context = recording.contexts.intern(ContextId::ROOT, SiteId(0)).unwrap();
        let ran = Ran {
            site: SiteId(0),
            function: "spin".to_owned(),
            file: "src/omp.c".to_owned(),
            lines: (7, 8),
            samples: 10,
            within: 10,
            callees: Vec::new(),
            threads: 1,
            main_thread: true,
        };
        recording.ran.push(ran);
        let region = Region { context, before: Point::Unknown, after: Point::Unknown };
        let has = |file: &str, first, last| {
            Selector::Lines { file: file.to_owned(), first, last }.resolve(&recording).has(&region)
        };
        assert!(has("omp.c", 7, 8) && has("src/omp.c", 1, 100));
        assert!(!has("omp.c", 8, 8) && !has("mp.c", 7, 8) && !has("other.c", 7, 8));
        // A loop, and a call behind it.
        recording.ran[0].lines = (61, 68);
        let has =
            |first, last| Selector::Lines { file: "omp.c".to_owned(), first, last }.resolve(&recording).has(&region);
        assert!(has(61, 65) && has(60, 66) && !has(61, 64) && !has(66, 90) && !has(69, 90) && !has(1, 60));
        // All of it that comes before the loop behind it.
        recording.sites.push(Site::at(SiteKind::Loop, "src/omp.c", 68, 1));
        recording.sites[0].kind = SiteKind::Serial { from: None, to: Some(SiteId(1)) };
        recording.ran[0].lines = (67, 68);
        assert!(
            has_in(&recording, region, 1, 67)
                && !has_in(&recording, region, 1, 66)
                && !has_in(&recording, region, 68, 68)
        );
        recording.ran[0].lines = (0, 0);
        assert!(!Selector::Lines { file: "omp.c".to_owned(), first: 0, last: 9 }.resolve(&recording).has(&region));
    }
}
