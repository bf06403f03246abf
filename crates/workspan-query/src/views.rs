//! Views over the tables.

/// Tables, besides the views.
pub(crate) const TABLES: [&str; 4] = ["nodes", "sites", "contexts", "meta"];

/// A view.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// The query that it stands for.
    pub sql: &'static str,
}

/// All that are queries; each may use those before it. `docs/cli.md` names them, and `tasks`, which is read otherwise.
pub const VIEWS: &[View] = &[
    View {
        name: "strands",
        about: "nodes with the site that they are charged to",
        sql: "select n.*, c.site, s.place, s.kind, s.function, s.file, s.line from nodes n \
              left join contexts c on c.context = n.context left join sites s on s.site = c.site",
    },
    View {
        name: "site_totals",
        about: "what the strands of each site amount to",
        sql:
            "select t.run, c.site, s.place, s.kind, s.function, sum(t.strands) as strands, sum(t.work_ns) as work_ns, \
              cast(sum(t.work_ns) as double) / nullif(sum(sum(t.work_ns)) over (partition by t.run), 0) as share, \
              sum(t.blocked_ns) as blocked_ns from \
              (select run, context, count(*) as strands, sum(cost_ns) as work_ns, sum(blocked_ns) as blocked_ns \
              from nodes group by run, context) t \
              left join contexts c on c.context = t.context left join sites s on s.site = c.site \
              group by t.run, c.site, s.place, s.kind, s.function",
    },
    View {
        name: "threads",
        about: "what each thread ran",
        sql: "select run, thread, count(*) as strands, sum(cost_ns) as work_ns, min(start_ns) as start_ns, \
              max(start_ns + cost_ns + blocked_ns) as end_ns from nodes group by run, thread",
    },
];
