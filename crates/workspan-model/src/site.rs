//! Sites: places in the source.

pub use crate::kind::{SiteId, SiteKind};

use crate::hash::Hash;

/// A place in the source. Where neither compiler nor debug information reports it, an address in the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// What it stands for.
    pub kind: SiteKind,
    /// File as the compiler saw it: relative to the workspace for its own code. Empty for serial code, and if unknown.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The function around it, if known.
    pub function: Option<Function>,
    /// Name of the closure's type, as the compiler prints it; for a construct of OpenMP, of the function.
    pub type_name: String,
    /// The shared library in which the addresses lie, by its path; empty for the executable, and see
    /// [`Site::UNKNOWN_MODULE`].
    pub module: String,
    /// Addresses as the module's own file has them, innermost first: the call, and its callers as far as known.
    pub addresses: Vec<u64>,
    /// The place in the user's own workspace that led here, for sites in a dependency.
    pub via: Option<(String, u32)>,
}

/// What distinguishes a site from all others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SiteIdentity {
    kind: SiteKind,
    file: String,
    line: u32,
    column: u32,
    /// Module and address, where no place is known.
    code: Option<(String, u64)>,
}

impl Site {
    /// A place in the source, of which nothing else is known.
    pub fn at(kind: SiteKind, file: &str, line: u32, column: u32) -> Site {
        Site {
            kind,
            file: file.to_owned(),
            line,
            column,
            function: None,
            type_name: String::new(),
            module: String::new(),
            addresses: Vec::new(),
            via: None,
        }
    }

    /// Stands for a module whose name is not known. Its addresses mean nothing to another run.
    pub const UNKNOWN_MODULE: &str = "?";

    /// The address by which the site is known, for want of a place.
    pub fn bare_address(&self) -> Option<u64> {
        self.addresses.first().copied().filter(|_| self.file.is_empty())
    }

    /// The kind and the place or, where that is not known, the address.
    pub fn identity(&self) -> SiteIdentity {
        SiteIdentity {
            kind: self.kind,
            file: self.file.clone(),
            line: self.line,
            column: self.column,
            code: self.bare_address().map(|address| (self.module.clone(), address)),
        }
    }

    /// A handle that does not depend on the run: a hash of kind and place.
    pub fn stable_id(&self, sites: &[Site]) -> String {
        format!("s-{:08x}", self.stable_hash(sites))
    }

    fn stable_hash(&self, sites: &[Site]) -> u32 {
        let mut hash = Hash::new();
        hash.feed(self.kind.name().as_bytes());
        hash.feed(self.file.as_bytes());
        hash.feed(&self.line.to_le_bytes());
        hash.feed(&self.column.to_le_bytes());
        if let Some(address) = self.bare_address() {
            hash.feed(self.module.as_bytes());
            hash.feed(&address.to_le_bytes());
        }
        if let SiteKind::Serial { from, to } = self.kind {
            for end in [from, to] {
                let neighbour = end.and_then(|id| sites.get(id.0 as usize));
                // Only places that spawn are neighbours, so this does not recur.
                let part = neighbour.filter(|site| site.kind.spawns()).map_or(0, |site| site.stable_hash(sites));
                hash.feed(&part.to_le_bytes());
            }
        }
        hash.short()
    }
}

/// A function's name and how it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its path.
    pub name: String,
    /// True if it comes from debug information, false if derived from a closure's type or taken from the symbol table.
    pub from_debug_info: bool,
    /// How far the site's address lies behind the function's first instruction, where the line is not known.
    pub offset: Option<u64>,
}
