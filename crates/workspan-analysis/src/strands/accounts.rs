//! Totals per context, while rows are read.

use workspan_model::{histogram, Histogram, Nanos, Totals};

/// Sums of one context. Spans are in the units of positions.
#[derive(Clone, Debug, Default)]
pub(super) struct Account {
    pub(super) self_work: i64,
    pub(super) blocked: i64,
    pub(super) tasks: u64,
    pub(super) items: u64,
    pub(super) task_work: i64,
    pub(super) entries: u64,
    pub(super) instances: u64,
    pub(super) work: i64,
    pub(super) span: i64,
    pub(super) uniform_span: i64,
    pub(super) overhead: i64,
    pub(super) wall: i64,
    /// Counts of sizes: position in [`Accounts::sizes`], from 1.
    sizes: u32,
}

/// All contexts.
#[derive(Debug)]
pub(super) struct Accounts {
    accounts: Vec<Account>,
    /// Only for contexts that have tasks.
    sizes: Vec<[u64; histogram::BUCKETS]>,
}

impl Accounts {
    pub(super) fn new(contexts: usize) -> Accounts {
        Accounts { accounts: vec![Account::default(); contexts], sizes: Vec::new() }
    }

    /// The account of a context that exists.
    #[inline(always)]
    pub(super) fn of(&mut self, index: usize) -> &mut Account {
        &mut self.accounts[index]
    }

    /// Counts a task that ran `own` itself.
    #[inline]
    pub(super) fn count_task(&mut self, index: usize, own: i64) {
        let account = &mut self.accounts[index];
        account.tasks += 1;
        account.task_work = account.task_work.saturating_add(own);
        if account.sizes == 0 {
            self.sizes.push([0; histogram::BUCKETS]);
            account.sizes = u32::try_from(self.sizes.len()).unwrap_or(u32::MAX);
        }
        if let Some(sizes) = self.sizes.get_mut(account.sizes as usize - 1) {
            sizes[histogram::bucket(own.max(0).unsigned_abs())] += 1;
        }
    }

    /// As values.
    pub(super) fn totals(&self, nanos: impl Fn(i64) -> Nanos, uniform: bool) -> Vec<Totals> {
        let totals = |account: &Account| Totals {
            self_work: Nanos(account.self_work),
            instances: account.instances,
            work: Nanos(account.work),
            span: nanos(account.span),
            entries: account.entries,
            tasks: account.tasks,
            items: account.items,
            task_work: Nanos(account.task_work),
            overhead: Nanos(account.overhead),
            blocked: Nanos(account.blocked),
            wall: Nanos(account.wall),
            uniform_span: if uniform { nanos(account.uniform_span) } else { Nanos::ZERO },
            sizes: account
                .sizes
                .checked_sub(1)
                .and_then(|at| self.sizes.get(at as usize))
                .map_or(Histogram::EMPTY, Histogram::of_counts),
            ..Totals::default()
        };
        self.accounts.iter().map(totals).collect()
    }
}
