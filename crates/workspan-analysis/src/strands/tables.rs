//! What the machine must know of contexts, by index.

pub(crate) use workspan_model::kind::Tasks as Role;
use workspan_model::{Context, ContextId, Recording, SiteKind};

use super::region::Point;

/// One for each context.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) contexts: Vec<Entry>,
}

/// What is known of a context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) parent: ContextId,
    /// Its site as a place before or after a strand.
    pub(crate) place: u32,
    pub(crate) recursive: bool,
    /// Serial code: outside of all regions.
    pub(crate) serial: bool,
    pub(crate) role: Role,
    /// Branches but the first are tasks.
    pub(crate) forks_tasks: bool,
    /// An instance has all that is created in it; of its tasks it lasts until that has ended.
    pub(crate) lasting: bool,
}

impl Tables {
    pub(crate) fn new(recording: &Recording) -> Tables {
        let tree = &recording.contexts;
        let marks_last = recording.has_lasting_tasks();
        let lasts = recording.lasting();
        let lasts = |kind| lasts(kind) && (marks_last || kind != SiteKind::Marked);
        let contexts =
            tree.ids().filter_map(|id| tree.get(id)).map(|context| entry(recording, context, &lasts)).collect();
        Tables { contexts }
    }

    /// What is known of `id`; of the root if it does not exist.
    #[inline(always)]
    pub(crate) fn get(&self, id: ContextId) -> &Entry {
        self.contexts.get(id.index()).unwrap_or(&self.contexts[0])
    }

    /// True if the site of `to` is active in `from`, from where it is entered: as recursion is folded.
    #[inline]
    pub(crate) fn is_recursion(&self, from: ContextId, to: ContextId) -> bool {
        let around = self.get(from);
        self.get(to).recursive || to == from || (around.recursive && to == around.parent)
    }
}

fn entry(recording: &Recording, context: &Context, lasts: &impl Fn(SiteKind) -> bool) -> Entry {
    let site = context.site.filter(|site| (site.0 as usize) < recording.sites.len());
    let kind = site.map(|site| recording.sites[site.0 as usize].kind);
    Entry {
        parent: context.parent,
        place: site.map_or(Point::Unknown, Point::Site).code(),
        recursive: context.recursive,
        serial: kind.is_none_or(|kind| !kind.spawns()),
        role: kind.map_or(Role::Each, |kind| kind.row().tasks),
        forks_tasks: !kind.is_some_and(|kind| lasts(kind) || kind == SiteKind::Marked),
        lasting: kind.is_some_and(lasts),
    }
}
