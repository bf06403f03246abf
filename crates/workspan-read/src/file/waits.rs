//! Which threads waited for which.

use workspan_model::{Nanos, Role, SiteId, WaitFor};

use crate::codec::{Decoder, Encoder};

pub(super) fn encode(e: &mut Encoder, waits: &[WaitFor]) {
    let role = |role: Role| match role {
        Role::Main => 0,
        Role::Outside => 1,
        Role::Threads(site) => 2 + u64::from(site.0),
    };
    e.unsigned(waits.len() as u64);
    for wait in waits {
        e.unsigned(role(wait.waiter)).unsigned(role(wait.on)).unsigned(wait.count);
        e.signed(wait.waited.0).signed(wait.locked.0).signed(wait.passed_on.0);
    }
}

/// None: damaged.
pub(super) fn decode(d: &mut Decoder<'_>, sites: usize) -> Option<Vec<WaitFor>> {
    let role = |d: &mut Decoder<'_>| match d.small()? {
        0 => Some(Role::Main),
        1 => Some(Role::Outside),
        site => Some(site - 2).filter(|site| (*site as usize) < sites).map(|site| Role::Threads(SiteId(site))),
    };
    let count = d.count()?;
    (0..count)
        .map(|_| {
            Some(WaitFor {
                waiter: role(d)?,
                on: role(d)?,
                count: d.unsigned().filter(|count| *count <= 1 << 53)?,
                waited: Nanos(d.signed()?),
                locked: Nanos(d.signed()?),
                passed_on: Nanos(d.signed()?),
            })
        })
        .collect()
}
