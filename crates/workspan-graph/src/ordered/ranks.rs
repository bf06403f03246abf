//! Several processes in one recording: ranks of MPI, merged.
//!
//! Each rank has a range of contexts. Its addresses have its number in their highest 16 bits, so that no two ranks share
//! memory. Ranks that run the same program share the descriptions of its modules; where its variables lie differs.

use std::collections::HashMap;

use workspan_trace::bytes::{Malformed, Reader, Writer};
use workspan_trace::control::Kind;
use workspan_trace::mpi::is_shared;

use crate::events::Control;

const SHIFT: u32 = 48;
/// Ranks that addresses have room for; the highest bit has another use.
pub const MOST: u32 = 1 << 15;

/// A process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rank {
    /// In `MPI_COMM_WORLD`.
    pub rank: u32,
    /// Its first context; it has all up to the next rank's.
    pub first: u32,
    /// Nothing of it is missing.
    pub complete: bool,
    /// Addresses of variables, by module.
    pub variables: HashMap<u32, Vec<u64>>,
}

/// All processes; none if the recording was not merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranks {
    /// By first context.
    pub ranks: Vec<Rank>,
    /// How many ranks the run had.
    pub size: u32,
    /// Messages that were sent and received.
    pub matched: u64,
    /// Sends that no receive belongs to.
    pub sent_only: u64,
    /// Receives that no send belongs to.
    pub received_only: u64,
}

impl Ranks {
    /// The process of a context.
    pub fn of(&self, context: u32) -> Option<&Rank> {
        let above = self.ranks.partition_point(|rank| rank.first <= context);
        self.ranks.get(above.checked_sub(1)?)
    }

    /// The highest bits of a context's addresses.
    pub fn bits(&self, context: u32) -> u64 {
        self.of(context).map_or(0, |rank| u64::from(rank.rank) << SHIFT)
    }

    /// Where the variables of a module lie in the process with these bits.
    #[inline]
    pub fn variables(&self, bits: u64, module: u32) -> Option<&Vec<u64>> {
        let rank = self.ranks.iter().find(|rank| u64::from(rank.rank) << SHIFT == bits)?;
        rank.variables.get(&module)
    }

    /// True if nothing is missing.
    pub fn complete(&self) -> bool {
        self.ranks.len() == self.size as usize && self.ranks.iter().all(|rank| rank.complete) && self.received_only == 0
    }

    /// Appends the encoding.
    pub fn encode(&self, out: &mut Writer) {
        for number in [u64::from(self.size), self.matched, self.sent_only, self.received_only, self.ranks.len() as u64]
        {
            out.number(number);
        }
        for rank in &self.ranks {
            for number in [rank.rank, rank.first, u32::from(rank.complete)] {
                out.number(number.into());
            }
            let mut variables: Vec<_> = rank.variables.iter().collect();
            variables.sort_unstable();
            out.number(variables.len() as u64);
            for (module, addresses) in variables {
                out.number(u64::from(*module));
                out.number(addresses.len() as u64);
                addresses.iter().for_each(|address| out.number(*address));
            }
        }
    }

    /// Reads what [`Ranks::encode`] wrote.
    pub fn decode(from: &mut Reader<'_>) -> Result<Ranks, Malformed> {
        let mut ranks = Ranks { size: from.small()?, ..Ranks::default() };
        (ranks.matched, ranks.sent_only, ranks.received_only) = (from.number()?, from.number()?, from.number()?);
        for _ in 0..from.count()? {
            let mut rank = Rank { rank: from.small()?, first: from.small()?, ..Rank::default() };
            rank.complete = from.small()? != 0;
            for _ in 0..from.count()? {
                let module = from.small()?;
                let mut addresses = Vec::new();
                for _ in 0..from.count()? {
                    addresses.push(from.number()?);
                }
                rank.variables.insert(module, addresses);
            }
            if rank.rank >= MOST || ranks.ranks.last().is_some_and(|last: &Rank| last.first >= rank.first) {
                return Err(Malformed);
            }
            ranks.ranks.push(rank);
        }
        Ok(ranks)
    }
}

/// The bits of an address that say whose it is.
pub fn bits_of(address: u64) -> u64 {
    address >> SHIFT << SHIFT
}

/// Gives the addresses of an event the bits of its process.
pub fn mark(control: &mut Control, bits: u64) {
    let slots = &mut control.slots;
    match control.kind {
        Kind::Sync | Kind::Barrier if !is_shared(slots[2]) => slots[2] |= bits,
        Kind::Allocate | Kind::Free | Kind::Transfer => slots[0] |= bits,
        Kind::Atomic | Kind::Frame | Kind::Local | Kind::Semaphore => slots[0] |= bits,
        Kind::Gather => slots[2] |= bits,
        Kind::Spawn if slots[3] != 0 => slots[3] |= bits,
        Kind::Depend => slots[1] |= bits,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let variables = HashMap::from([(3, vec![1, 1 << 46]), (0, vec![])]);
        let ranks = vec![
            Rank { rank: 1, first: 1, complete: true, variables: variables.clone() },
            Rank { rank: 0, first: 9, complete: false, variables },
        ];
        let ranks = Ranks { ranks, size: 3, matched: 7, sent_only: 1, received_only: 0 };
        let mut out = Writer::default();
        ranks.encode(&mut out);
        assert_eq!(Ranks::decode(&mut Reader::new(&out.bytes)), Ok(ranks.clone()));
        for length in 0..out.bytes.len() {
            assert!(Ranks::decode(&mut Reader::new(&out.bytes[..length])).is_err());
        }
        assert_eq!([0, 1, 8, 9, 100].map(|context| ranks.bits(context)), [0, 1 << 48, 1 << 48, 0, 0]);
        assert!(!ranks.complete());
    }
}
