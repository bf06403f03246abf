//! Teams: members one after the other, each with its rounds.
//!
//! A member's next round begins where the longest of this one ends, over all members; that is known only when the last
//! member has been read. So every round is composed as if it began where the team does, with a path of its own, and the
//! rounds are strung together at the end.

use std::collections::BTreeMap;

use workspan_model::ContextId;

use super::accounts::Accounts;
use super::calls::{LateCall, SharedCall};
use super::path::Paths;
use super::position::Position;
use super::running::Running;

/// How far the running member has come: its round, and how many worksharing constructs it has left.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Member {
    pub(super) round: usize,
    pub(super) shared: usize,
}

/// A team.
#[derive(Debug)]
pub(super) struct Team {
    pub(super) creator: Running,
    /// How far the member that created it was in its own team.
    pub(super) around: Member,
    /// Longest of each round, as if all rounds began where the team does.
    rounds: Vec<Round>,
    /// Of each worksharing construct, by its number among those of a member.
    shares: Vec<Share>,
    /// Instances that last over a barrier: how often a context's span has the beginning of a round in it.
    across: BTreeMap<(ContextId, usize), i64>,
    /// The member that runs, from 0, and how many there are.
    member: u32,
    members: u32,
    /// Calls whose spans are known when the rounds are.
    late_calls: Vec<LateCall>,
}

/// What all members did between two barriers.
#[derive(Debug)]
struct Round {
    best: Position,
    /// Of tasks that nobody waits for.
    detached: Position,
}

/// An instance of a worksharing construct, over all members.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    pub(super) context: ContextId,
    pub(super) outermost: bool,
    /// As a call.
    pub(super) call: Option<SharedCall>,
    pub(super) span: i64,
    pub(super) uniform: i64,
    pub(super) work: i64,
}

/// A team that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) creator: Running,
    /// By how much each round begins later than the team: its span, and the same with uniform iterations.
    pub(super) starts: Vec<(i64, i64)>,
    pub(super) shares: Vec<Share>,
    across: BTreeMap<(ContextId, usize), i64>,
    pub(super) late_calls: Vec<LateCall>,
}

impl Team {
    pub(super) fn new(creator: Running, around: Member, members: u32) -> Team {
        Team {
            creator,
            around,
            rounds: Vec::new(),
            shares: Vec::new(),
            across: BTreeMap::new(),
            member: 0,
            members,
            late_calls: Vec::new(),
        }
    }

    /// Other threads are to come, or to be waited for: which member does most of the work is accident.
    pub(super) fn is_shared(&self) -> bool {
        self.members > 1
    }

    /// A member has ended. True if another is to come.
    pub(super) fn next_member(&mut self) -> bool {
        self.member += 1;
        self.member < self.members
    }

    fn round(&mut self, number: usize) -> &mut Round {
        if self.rounds.len() <= number {
            let empty = || Round { best: Position::NEVER, detached: Position::NEVER };
            self.rounds.resize_with(number + 1, empty);
        }
        &mut self.rounds[number]
    }

    /// The round of a member, or its tasks, last until here; the position is used up.
    pub(super) fn end_round(&mut self, number: usize, at: Position, paths: &mut Paths) {
        self.round(number).best.join(paths, at);
    }

    /// A task that nobody waits for has ended in this round.
    pub(super) fn detach(&mut self, number: usize, end: &Position, paths: &mut Paths) {
        self.round(number).detached.raise(paths, end);
    }

    /// An instance of `context` that was entered in an earlier round of this member ends.
    pub(super) fn leave_across(&mut self, context: ContextId, entered: usize, left: usize) {
        *self.across.entry((context, left)).or_default() += 1;
        *self.across.entry((context, entered)).or_default() -= 1;
    }

    /// What the members before have of the worksharing construct of this number, as a call.
    pub(super) fn shared_call(&self, number: usize) -> Option<SharedCall> {
        self.shares.get(number)?.call
    }

    /// A member has left a worksharing construct.
    pub(super) fn share(&mut self, number: usize, part: Share) {
        match self.shares.get_mut(number) {
            Some(share) => {
                share.span = share.span.max(part.span);
                share.uniform = share.uniform.max(part.uniform);
                share.work = share.work.saturating_add(part.work);
                if let (Some(all), Some(part)) = (&mut share.call, part.call) {
                    all.add(&part);
                }
            }
            None => self.shares.push(part),
        }
    }

    /// A call lasts over a barrier.
    pub(super) fn call_later(&mut self, call: LateCall) {
        self.late_calls.push(call);
    }

    /// Strings the rounds together; `rest` is what the row of the team's end cost itself, and is used up. `detach` gets
    /// tasks that nobody waits for.
    pub(super) fn end(
        self,
        mut rest: Position,
        paths: &mut Paths,
        mut detach: impl FnMut(&mut Paths, Position),
    ) -> Ended {
        let Team { mut creator, rounds, shares, across, late_calls, .. } = self;
        let begin = creator.at;
        let (begin, begin_uniform) = (begin.tail.span, begin.uniform);
        let rest_uniform = rest.uniform.saturating_sub(begin_uniform);
        paths.settle(&mut creator.at.tail);
        let mut starts = vec![(0i64, 0i64)];
        for mut round in rounds {
            if round.detached.tail.span != i64::MIN {
                let mut end = creator.at.tail;
                end.path = paths.own(creator.at.tail.path);
                paths.append(&mut end, &mut round.detached.tail, begin, false);
                let uniform = creator.at.uniform.saturating_add(round.detached.uniform.saturating_sub(begin_uniform));
                detach(paths, Position { tail: end, uniform });
                paths.release(end.path);
            }
            if round.best.tail.span != i64::MIN {
                paths.append(&mut creator.at.tail, &mut round.best.tail, begin, true);
            }
            if round.best.uniform != i64::MIN {
                let uniform = round.best.uniform.saturating_sub(begin_uniform);
                creator.at.uniform = creator.at.uniform.saturating_add(uniform);
            }
            let span = creator.at.tail.span.saturating_sub(begin);
            starts.push((span, creator.at.uniform.saturating_sub(begin_uniform)));
        }
        creator.at.uniform = creator.at.uniform.saturating_add(rest_uniform);
        paths.append(&mut creator.at.tail, &mut rest.tail, begin, true);
        Ended { creator, starts, shares, across, late_calls }
    }
}

impl Ended {
    /// Charges the instances of worksharing constructs, and what lasted over barriers.
    pub(super) fn charge(&self, accounts: &mut Accounts) {
        for ((context, round), times) in &self.across {
            let (span, uniform) = self.starts.get(*round).or(self.starts.last()).copied().unwrap_or_default();
            let account = accounts.of(context.index());
            account.span = account.span.saturating_add(span.saturating_mul(*times));
            account.uniform_span = account.uniform_span.saturating_add(uniform.saturating_mul(*times));
        }
        for share in &self.shares {
            let account = accounts.of(share.context.index());
            account.entries += 1;
            if share.outermost {
                account.instances += 1;
                account.work = account.work.saturating_add(share.work);
                account.span = account.span.saturating_add(share.span);
                account.uniform_span = account.uniform_span.saturating_add(share.uniform);
            }
        }
    }
}
