//! Where the pieces are.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use workspan_wire::log::Event;

use super::across::{Forks, Loops};
use super::entry::{Cursor, Entry, Source};
use super::input::Logs;
use super::waits::Key;

/// A piece of a task, from its first entry up to the one that ends it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) identity: u64,
    /// Number of a turn; of a member, its place in the team.
    pub(super) turn: i64,
    pub(super) begin: u64,
    pub(super) end: u64,
    /// Tasks that a member creates itself, and `single`s that it runs.
    leads: u32,
    pub(super) slot: u16,
    /// A member of a team.
    member: bool,
    /// It did not learn the context of a loop that it entered.
    untold: bool,
    /// A thread's life.
    pub(super) life: bool,
    /// A task of the runtime's.
    pub(super) machinery: bool,
    /// It has been placed.
    pub(super) placed: bool,
    /// Somebody refers to it.
    pub(super) wanted: bool,
}

/// What is open while a log is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Turn,
    /// A member that has arrived at its last barrier.
    Leaving,
    Other,
}

/// All pieces.
#[derive(Debug)]
pub(super) struct Index {
    /// By slot and begin.
    pub(super) pieces: Vec<Piece>,
    /// The first of each slot.
    first: Vec<usize>,
    /// By identity, turn and place.
    by_identity: Vec<usize>,
    /// The main thread's.
    pub(super) main: Option<usize>,
    /// What is waited for, and how often.
    pub(super) awaited: BTreeMap<Key, u32>,
    /// Loops whose iterations wait for one another.
    pub(super) loops: Loops,
}

impl Index {
    /// Reads all logs once; twice if not all that happened is in them.
    pub(super) fn new<L: Logs + ?Sized>(source: &mut Source<'_, L>, complete: bool) -> io::Result<Index> {
        let mut index = Index {
            pieces: Vec::new(),
            first: Vec::new(),
            by_identity: Vec::new(),
            main: None,
            awaited: BTreeMap::new(),
            loops: Loops::default(),
        };
        let slots = source.logs.slots().min(usize::from(u16::MAX));
        for slot in 0..slots {
            index.first.push(index.pieces.len());
            index.read(source, slot)?;
        }
        index.first.push(index.pieces.len());
        index.loops.order();
        index.order_members();
        let pieces = &index.pieces;
        let mut by_identity: Vec<usize> = (0..pieces.len()).collect();
        by_identity.sort_by_key(|i| (pieces[*i].identity, pieces[*i].turn));
        index.by_identity = by_identity;
        if !complete {
            for slot in 0..slots {
                index.mark_wanted(source, slot)?;
            }
        }
        Ok(index)
    }

    fn read<L: Logs + ?Sized>(&mut self, source: &mut Source<'_, L>, slot: usize) -> io::Result<()> {
        let mut cursor = source.whole(slot);
        let mut open: Vec<(usize, Kind, Forks)> = Vec::new();
        while let Some(entry) = source.entry(cursor)? {
            cursor.at = entry.next;
            match entry.event {
                Event::Begin | Event::Life | Event::Turn | Event::Resume | Event::Member => {
                    if entry.event == Event::Life {
                        for (piece, ..) in open.drain(..) {
                            self.pieces[piece].end = entry.at;
                        }
                        if entry.context == 0 && self.main.is_none() {
                            self.main = Some(self.pieces.len());
                        }
                    }
                    let member = entry.event == Event::Member;
                    if let Some((piece, ..)) = open.pop_if(|(_, kind, _)| member && *kind == Kind::Leaving) {
                        // Its end was not reported.
                        self.pieces[piece].end = entry.at;
                    }
                    let turn = entry.event == Event::Turn;
                    open.push((self.pieces.len(), if turn { Kind::Turn } else { Kind::Other }, Forks::default()));
                    self.pieces.push(Piece {
                        identity: entry.identity,
                        turn: if turn || member { entry.n } else { 0 },
                        begin: entry.at,
                        end: cursor.end,
                        leads: 0,
                        slot: u16::try_from(slot).unwrap_or(u16::MAX),
                        member,
                        untold: false,
                        life: entry.event == Event::Life,
                        machinery: false,
                        placed: false,
                        // Of a turn the resource's other turns know.
                        wanted: turn,
                    });
                }
                Event::Spawn | Event::Call | Event::Single => {
                    if let Some(piece) = open.last().and_then(|(piece, ..)| self.pieces.get_mut(*piece)) {
                        piece.leads = piece.leads.saturating_add(1);
                    }
                }
                Event::Enter if entry.with.is_some_and(|with| with.n == 1 && with.context == 0) => {
                    if let Some(piece) = open.last().and_then(|(piece, ..)| self.pieces.get_mut(*piece)) {
                        piece.untold = true;
                    }
                }
                Event::Born => {
                    if let Some(piece) = open.last().and_then(|(piece, ..)| self.pieces.get_mut(*piece)) {
                        if piece.life && piece.identity == 0 {
                            piece.identity = entry.identity;
                        }
                    }
                }
                Event::End | Event::Suspend => {
                    while let Some((piece, kind, _)) = open.pop() {
                        self.pieces[piece].end = entry.next;
                        if kind != Kind::Turn {
                            self.pieces[piece].machinery = entry.number == 1;
                            break;
                        }
                    }
                }
                Event::Await => {
                    if let Some(key) = Key::of(&entry) {
                        *self.awaited.entry(key).or_default() += 1;
                    }
                }
                Event::Fork | Event::Next | Event::Join | Event::Wake => {
                    if let Some((.., forks)) = open.last_mut() {
                        match entry.event {
                            Event::Fork => forks.fork(&entry, slot),
                            Event::Next => forks.next(&entry),
                            Event::Join => forks.join(&entry, &mut self.loops),
                            _ => forks.wake(&entry),
                        }
                    }
                }
                Event::Barrier if entry.number == 1 => {
                    if let Some((_, kind, _)) = open.last_mut() {
                        *kind = Kind::Leaving;
                    }
                }
                Event::ItemEnd | Event::TurnEnd => {
                    if let Some((piece, ..)) = open.pop_if(|(_, kind, _)| *kind == Kind::Turn) {
                        self.pieces[piece].end = entry.next;
                    }
                }
                _ => {}
            }
        }
        self.forget_unborn(source, slot)
    }

    /// A thread that has come to life and no further when the program ended has nothing to report.
    fn forget_unborn<L: Logs + ?Sized>(&mut self, source: &mut Source<'_, L>, slot: usize) -> io::Result<()> {
        let from = self.first.last().copied().unwrap_or(0);
        let Some(last) = self.pieces.get(from..).and_then(<[Piece]>::last).filter(|last| last.life) else {
            return Ok(());
        };
        let life = source.entry(Cursor { slot, at: last.begin, end: last.end })?;
        if self.main != Some(self.pieces.len() - 1) && life.is_some_and(|life| life.next == last.end) {
            self.pieces.pop();
        }
        Ok(())
    }

    /// That member of a team stands first which runs most `single`s and creates most tasks: which of them it is, whoever
    /// comes first, is to look the same in every run. Where one does not learn which loop it entered, another knows that stands
    /// before it: there they keep their order.
    fn order_members(&mut self) {
        let untold = self.pieces.iter().filter(|piece| piece.member && piece.untold);
        let untold: BTreeSet<u64> = untold.map(|piece| piece.identity).collect();
        for piece in self.pieces.iter_mut().filter(|piece| piece.member && !untold.contains(&piece.identity)) {
            piece.turn = piece.turn.saturating_sub(i64::from(piece.leads) << u32::BITS);
        }
    }

    fn mark_wanted<L: Logs + ?Sized>(&mut self, source: &mut Source<'_, L>, slot: usize) -> io::Result<()> {
        let mut cursor = source.whole(slot);
        while let Some(entry) = source.entry(cursor)? {
            cursor.at = entry.next;
            if let Some(identity) = refers_to(&entry) {
                let from = self.by_identity.partition_point(|i| self.pieces[*i].identity < identity);
                for i in &self.by_identity[from..] {
                    if self.pieces[*i].identity != identity {
                        break;
                    }
                    self.pieces[*i].wanted = true;
                }
            }
        }
        Ok(())
    }

    /// Pieces that belong to no place in the order.
    pub(super) fn lone(&self, complete: bool) -> Vec<usize> {
        let alone = |piece: &Piece| if complete { piece.life && piece.identity == 0 } else { !piece.wanted };
        (0..self.pieces.len()).filter(|i| Some(*i) != self.main && alone(&self.pieces[*i])).collect()
    }

    /// The next piece of this identity that has not been placed: they are taken in order.
    pub(super) fn next(&self, identity: u64) -> Option<usize> {
        let before = |piece: &Piece| piece.identity < identity || (piece.identity == identity && piece.placed);
        let at = self.by_identity.partition_point(|i| before(&self.pieces[*i]));
        let found = *self.by_identity.get(at)?;
        (identity != 0 && self.pieces[found].identity == identity).then_some(found)
    }

    /// Takes it.
    pub(super) fn take(&mut self, identity: u64) -> Option<Cursor> {
        let found = self.next(identity)?;
        Some(self.place(found))
    }

    /// Takes it if it is turn number `turn`.
    pub(super) fn take_turn(&mut self, identity: u64, turn: i64) -> Option<Cursor> {
        let found = self.next(identity).filter(|found| self.pieces[*found].turn == turn)?;
        Some(self.place(found))
    }

    /// Number of pieces of this identity.
    pub(super) fn count(&self, identity: u64) -> usize {
        let from = self.by_identity.partition_point(|i| self.pieces[*i].identity < identity);
        let to = self.by_identity.partition_point(|i| self.pieces[*i].identity <= identity);
        to - from
    }

    /// Takes this one.
    pub(super) fn place(&mut self, piece: usize) -> Cursor {
        let piece = &mut self.pieces[piece];
        piece.placed = true;
        Cursor { slot: usize::from(piece.slot), at: piece.begin, end: piece.end }
    }

    /// The end of the piece that begins at `at`.
    pub(super) fn end_of(&self, slot: usize, at: u64) -> Option<u64> {
        let pieces = self.pieces.get(*self.first.get(slot)?..*self.first.get(slot + 1)?)?;
        let found = pieces.binary_search_by_key(&at, |piece| piece.begin).ok()?;
        Some(pieces[found].end)
    }
}

/// The identity of the piece that belongs where this entry stands.
fn refers_to(entry: &Entry) -> Option<u64> {
    match entry.event {
        Event::Spawn | Event::Call | Event::Handoff | Event::Late | Event::Team | Event::Suspend => {
            entry.with.map(|with| with.identity)
        }
        Event::Elsewhere => Some(entry.identity),
        _ => None,
    }
    .filter(|identity| *identity != 0)
}
