//! Sites: places in the source.

/// Position of a site in its recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteId(pub u32);

/// What a site stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SiteKind {
    /// `join`: two branches, one of them a task.
    Join,
    /// A scope: its body, and the wait for its tasks.
    Scope,
    /// A task spawned into a scope.
    ScopeSpawn,
    /// A detached task.
    Spawn,
    /// A task on every worker.
    Broadcast,
    /// The consuming end of a parallel iterator.
    ParIter,
    /// A parallel sort.
    ParSort,
    /// Serial code of the root strand between two regions.
    Serial {
        /// The region before it; `None` at the start of the program.
        from: Option<SiteId>,
        /// The region after it; `None` at the end of the program.
        to: Option<SiteId>,
    },
    /// A thread of the program, outside any pool.
    Thread,
    /// A parallel region: one implicit task to each thread of a team.
    Parallel,
    /// A league of teams.
    Teams,
    /// An explicit task.
    Task,
    /// A loop whose iterations become tasks.
    Taskloop,
    /// A worksharing loop.
    Loop,
    /// Worksharing sections.
    Sections,
    /// A critical section.
    Critical,
    /// Code between taking a lock and giving it back.
    Lock,
    /// A region that the program marks.
    Marked,
}

impl SiteKind {
    /// The word used in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            SiteKind::Join => "join",
            SiteKind::Scope => "scope",
            SiteKind::ScopeSpawn => "scope-spawn",
            SiteKind::Spawn => "spawn",
            SiteKind::Broadcast => "broadcast",
            SiteKind::ParIter => "par-iter",
            SiteKind::ParSort => "par-sort",
            SiteKind::Serial { .. } => "serial",
            SiteKind::Thread => "thread",
            SiteKind::Parallel => "parallel",
            SiteKind::Teams => "teams",
            SiteKind::Task => "task",
            SiteKind::Taskloop => "taskloop",
            SiteKind::Loop => "loop",
            SiteKind::Sections => "sections",
            SiteKind::Critical => "critical",
            SiteKind::Lock => "lock",
            SiteKind::Marked => "marked",
        }
    }

    /// False for serial code, which spawns nothing.
    pub fn spawns(self) -> bool {
        !matches!(self, SiteKind::Serial { .. } | SiteKind::Thread)
    }

    /// True for code under a lock.
    pub fn is_lock(self) -> bool {
        matches!(self, SiteKind::Critical | SiteKind::Lock)
    }

    /// True for constructs of OpenMP.
    pub fn is_openmp(self) -> bool {
        matches!(
            self,
            SiteKind::Parallel
                | SiteKind::Teams
                | SiteKind::Task
                | SiteKind::Taskloop
                | SiteKind::Loop
                | SiteKind::Sections
                | SiteKind::Critical
                | SiteKind::Lock
                | SiteKind::Marked
        )
    }
}

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
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        let mut feed = |bytes: &[u8]| {
            for byte in bytes {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
            }
        };
        feed(self.kind.name().as_bytes());
        feed(self.file.as_bytes());
        feed(&self.line.to_le_bytes());
        feed(&self.column.to_le_bytes());
        if let Some(address) = self.bare_address() {
            feed(self.module.as_bytes());
            feed(&address.to_le_bytes());
        }
        if let SiteKind::Serial { from, to } = self.kind {
            for end in [from, to] {
                let neighbour = end.and_then(|id| sites.get(id.0 as usize));
                // Only places that spawn are neighbours, so this does not recur.
                let part = neighbour.filter(|site| site.kind.spawns()).map_or(0, |site| site.stable_hash(sites));
                feed(&part.to_le_bytes());
            }
        }
        u32::try_from((hash ^ hash >> 32) & 0xffff_ffff).unwrap_or(0)
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
