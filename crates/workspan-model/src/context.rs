//! Contexts: where time is charged.

use crate::site::SiteId;

/// Position of a context in its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextId(pub u32);

impl ContextId {
    /// Serial code outside any region.
    pub const ROOT: ContextId = ContextId(0);

    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A site below the sites around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// The context around it; the root is its own parent.
    pub parent: ContextId,
    /// Its site; `None` for the root.
    pub site: Option<SiteId>,
    /// True if the site is on the path already: a recursion, folded. Such a context has no children.
    pub recursive: bool,
}

/// All contexts of a recording.
///
/// **Invariants:** the root is first; a parent comes before its children; on a path to the root no site occurs twice, but
/// for that of a recursive context, which has no children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextTree {
    contexts: Vec<Context>,
}

impl Default for ContextTree {
    fn default() -> ContextTree {
        ContextTree { contexts: vec![Context { parent: ContextId::ROOT, site: None, recursive: false }] }
    }
}

impl ContextTree {
    /// Adds the context of `site` below `parent`, or finds it. `None` if `parent` does not exist or is recursive.
    pub fn intern(&mut self, parent: ContextId, site: SiteId) -> Option<ContextId> {
        self.get(parent).filter(|p| !p.recursive)?;
        let known = self.contexts.iter().skip(1).position(|c| c.parent == parent && c.site == Some(site));
        if let Some(index) = known {
            return u32::try_from(index + 1).ok().map(ContextId);
        }
        let recursive = self.path(parent).any(|id| self.site(id) == Some(site));
        let id = ContextId(u32::try_from(self.contexts.len()).ok()?);
        self.contexts.push(Context { parent, site: Some(site), recursive });
        Some(id)
    }

    /// Where `site` leads from `from`, and whether it is active there already. Recursion is folded as a collector folds it:
    /// the active sites are those on the path of `from`, or of its parent if `from` is recursive itself; a recursion into
    /// the innermost of them changes nothing. `None` if `from` does not exist.
    pub fn enter(&mut self, from: ContextId, site: SiteId) -> Option<(ContextId, bool)> {
        let around = self.get(from)?;
        let path = if around.recursive { around.parent } else { from };
        if self.site(path) == Some(site) {
            return Some((path, true));
        }
        let id = self.intern(path, site)?;
        Some((id, self.get(id)?.recursive))
    }

    /// A context.
    pub fn get(&self, id: ContextId) -> Option<&Context> {
        self.contexts.get(id.index())
    }

    /// Its site.
    pub fn site(&self, id: ContextId) -> Option<SiteId> {
        self.get(id)?.site
    }

    /// Number of contexts, the root included.
    pub fn len(&self) -> usize {
        self.contexts.len()
    }

    /// Never true: there is always the root.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// All contexts, parents first.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = ContextId> {
        (0..u32::try_from(self.contexts.len()).unwrap_or(u32::MAX)).map(ContextId)
    }

    /// `id` and the contexts around it, the root excluded.
    pub fn path(&self, id: ContextId) -> impl Iterator<Item = ContextId> + '_ {
        let mut at = Some(id);
        std::iter::from_fn(move || {
            let id = at.filter(|id| *id != ContextId::ROOT)?;
            at = self.get(id).map(|c| c.parent);
            Some(id)
        })
    }

    /// Direct children of `id`.
    pub fn children(&self, id: ContextId) -> impl Iterator<Item = ContextId> + '_ {
        self.ids().filter(move |child| *child != ContextId::ROOT && self.contexts[child.index()].parent == id)
    }

    /// For every context, the sum of `value` over it and everything below it.
    pub fn inclusive<T: Copy + std::ops::AddAssign>(&self, values: &[T]) -> Vec<T> {
        let mut sums = values.to_vec();
        for id in self.ids().rev().filter(|id| *id != ContextId::ROOT) {
            let (Some(value), parent) = (sums.get(id.index()).copied(), self.contexts[id.index()].parent) else {
                continue;
            };
            if let Some(sum) = sums.get_mut(parent.index()) {
                *sum += value;
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recursion_is_folded() {
        let mut tree = ContextTree::default();
        let a = tree.intern(ContextId::ROOT, SiteId(7)).unwrap();
        let b = tree.intern(a, SiteId(8)).unwrap();
        assert_eq!(tree.intern(a, SiteId(8)), Some(b));
        let again = tree.intern(b, SiteId(7)).unwrap();
        assert!(tree.get(again).unwrap().recursive && !tree.get(b).unwrap().recursive);
        assert_eq!(tree.intern(again, SiteId(8)), None);
        assert_eq!(tree.intern(ContextId(9), SiteId(7)), None);
        assert_eq!(tree.enter(b, SiteId(8)), Some((b, true)));
        assert_eq!(tree.enter(again, SiteId(8)), Some((b, true)));
        assert_eq!(tree.enter(again, SiteId(7)), Some((again, true)));
        assert_eq!(tree.enter(ContextId(9), SiteId(7)), None);
        assert_eq!(tree.path(b).collect::<Vec<_>>(), [b, a]);
        assert_eq!(tree.inclusive(&[1, 2, 4, 8]), [15, 14, 12, 8]);
    }
}
