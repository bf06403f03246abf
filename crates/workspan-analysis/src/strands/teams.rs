//! Teams: members one after the other, each with its rounds.
//!
//! A member's next round begins where the longest of this one ends, over all members; that is known only when the last
//! member has been read. So every round is composed as if it began where the team does, with a path of its own, and the
//! rounds are strung together at the end.

use std::collections::BTreeMap;

use workspan_model::ContextId;

use super::charge::Charge;
use super::frames::{Creator, Frame, Group, Round, Share, Team};
use super::machine::Machine;
use super::path::{Tail, LOCAL, TOKEN};
use super::problem::Problem;
use super::region::Point;

impl Round {
    const EMPTY: Round =
        Round { best: Tail::NEVER, best_uniform: i64::MIN, detached: Tail::NEVER, detached_uniform: i64::MIN };
}

impl<C: Charge> Machine<C> {
    pub(super) fn team(&mut self, members: u32) {
        if !self.has_room() {
            return;
        }
        self.charge.team(members);
        let creator = self.suspend();
        self.groups.push(Group { last: Tail::NEVER, last_uniform: i64::MIN, work: 0, round: true });
        let team = Team {
            round: self.round,
            shared: self.shared,
            rounds: Vec::new(),
            shares: Vec::new(),
            across: BTreeMap::new(),
            member: 0,
            members,
            late_calls: Vec::new(),
            creator,
        };
        self.teams += 1;
        self.begin_member(&team.creator);
        self.add_team_burden(&team);
        self.frames.push(Frame::Team(Box::new(team)));
    }

    fn begin_member(&mut self, creator: &Creator) {
        self.round = 0;
        self.shared = 0;
        self.own = 0;
        self.children.ends = None;
        self.place = Point::Begin.code();
        self.begin_round(creator);
    }

    fn begin_round(&mut self, creator: &Creator) {
        self.tail = Tail::at(creator.tail.span, self.tail.key);
        self.uniform = creator.uniform;
    }

    /// Other threads are to come, or to be waited for: which member does most of the work is accident.
    fn add_team_burden(&mut self, team: &Team) {
        if team.members > 1 {
            self.tail.span = self.tail.span.saturating_add(self.burden);
            self.uniform = self.uniform.saturating_add(self.burden);
        }
    }

    /// The innermost team, if the running strand is a member's.
    fn innermost(&self) -> Option<usize> {
        self.frames.iter().rposition(|frame| matches!(frame, Frame::Team(_)))
    }

    pub(super) fn innermost_team(&mut self) -> Option<&mut Team> {
        match self.innermost().and_then(|at| self.frames.get_mut(at)) {
            Some(Frame::Team(team)) => Some(team),
            _ => None,
        }
    }

    /// A member's round has ended.
    fn end_round(&mut self, team: &mut Team) {
        self.forget_children();
        if C::CALLS {
            self.settle_local();
        }
        let round = self.round;
        if team.rounds.len() <= round {
            team.rounds.resize_with(round + 1, || Round::EMPTY);
        }
        let slot = &mut team.rounds[round];
        self.paths.join(&mut slot.best, self.tail);
        slot.best_uniform = slot.best_uniform.max(self.uniform);
        if let Some(group) = self.groups.last_mut().filter(|group| group.round) {
            self.paths.join(&mut slot.best, std::mem::replace(&mut group.last, Tail::NEVER));
            slot.best_uniform = slot.best_uniform.max(group.last_uniform);
            group.last_uniform = i64::MIN;
        }
    }

    pub(super) fn barrier(&mut self) {
        let inner = self.frames.iter().rposition(|frame| !matches!(frame, Frame::Region(_)));
        let Some(at) = inner.filter(|at| matches!(self.frames[*at], Frame::Team(_))) else {
            self.problem(Problem::NotOpen);
            return;
        };
        let mut frame = std::mem::replace(&mut self.frames[at], Frame::Group);
        if let Frame::Team(team) = &mut frame {
            self.charge.barrier();
            self.end_round(team);
            self.round += 1;
            self.begin_round(&team.creator);
        }
        self.frames[at] = frame;
    }

    /// A member has ended; the team is the innermost construct.
    pub(super) fn end_member(&mut self) {
        if let Some(Frame::Team(mut team)) = self.frames.pop() {
            self.charge.member_end();
            self.add_team_burden(&team);
            self.end_round(&mut team);
            team.member += 1;
            self.begin_member(&team.creator);
            if team.member < team.members {
                self.add_team_burden(&team);
            }
            self.frames.push(Frame::Team(team));
        }
    }

    pub(super) fn team_end(&mut self) {
        if !self.is_team_open() {
            return;
        }
        if let Some(Frame::Team(team)) = self.frames.pop() {
            self.finish_team(*team);
        }
    }

    /// Strings the rounds together.
    pub(super) fn finish_team(&mut self, team: Team) {
        self.charge.team_end();
        // What the row of the team's end cost itself.
        let mut rest = self.tail;
        let rest_uniform = self.uniform.saturating_sub(team.creator.uniform);
        let Team { mut creator, rounds, shares, across, round, shared, late_calls, .. } = team;
        let (begin, begin_uniform) = (creator.tail.span, creator.uniform);
        if let Some(group) = self.groups.pop() {
            self.apart = self.apart.saturating_sub(group.work);
        }
        self.teams -= 1;
        (self.round, self.shared) = (round, shared);
        self.paths.settle(&mut creator.tail);
        let mut starts = vec![(0i64, 0i64)];
        for mut round in rounds {
            if round.detached.span != i64::MIN {
                let path = self.paths.own(creator.tail.path);
                let mut end = Tail { path, ..creator.tail };
                self.append(&mut end, &mut round.detached, begin, false);
                let uniform = creator.uniform.saturating_add(round.detached_uniform.saturating_sub(begin_uniform));
                self.detach(&end, uniform);
                self.paths.release(end.path);
            }
            if round.best.span != i64::MIN {
                self.append(&mut creator.tail, &mut round.best, begin, true);
            }
            if round.best_uniform != i64::MIN {
                let uniform = round.best_uniform.saturating_sub(begin_uniform);
                creator.uniform = creator.uniform.saturating_add(uniform);
            }
            let span = creator.tail.span.saturating_sub(begin);
            starts.push((span, creator.uniform.saturating_sub(begin_uniform)));
        }
        creator.uniform = creator.uniform.saturating_add(rest_uniform);
        self.append(&mut creator.tail, &mut rest, begin, true);
        self.charge_across(&across, &starts);
        if C::CALLS {
            self.finish_calls(&late_calls, &shares, &starts);
        }
        for share in shares {
            let account = self.accounts.of(share.context.index());
            account.entries += 1;
            if share.outermost {
                account.instances += 1;
                account.work = account.work.saturating_add(share.work);
                account.span = account.span.saturating_add(share.span);
                account.uniform_span = account.uniform_span.saturating_add(share.uniform);
            }
        }
        let place = self.place;
        self.resume(creator);
        self.place = place;
    }

    /// `tail`, settled, goes on by what `part` has beyond `begin`; `part` is used up. `stays`: it is the team's own tail, which
    /// goes through an instance once, though several members had parts of it.
    fn append(&mut self, tail: &mut Tail, part: &mut Tail, begin: i64, stays: bool) {
        self.paths.settle(part);
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.extend(self.paths.stretches(part.path));
        for stretch in scratch.drain(..).rev() {
            if stretch.key & (TOKEN | LOCAL) != TOKEN || self.paths.is_first(stretch.key, stays) {
                tail.path = self.paths.add(tail.path, stretch);
            }
        }
        self.scratch = scratch;
        self.paths.release(part.path);
        tail.span = tail.span.saturating_add(part.span.saturating_sub(begin));
        tail.since = tail.span;
    }

    /// An instance of `context` that was entered in an earlier round of this member ends.
    pub(super) fn across(&mut self, context: ContextId, entered: usize) {
        let round = self.round;
        if let Some(Frame::Team(team)) = self.innermost().and_then(|at| self.frames.get_mut(at)) {
            *team.across.entry((context, round)).or_default() += 1;
            *team.across.entry((context, entered)).or_default() -= 1;
        }
    }

    fn charge_across(&mut self, across: &BTreeMap<(ContextId, usize), i64>, starts: &[(i64, i64)]) {
        for ((context, round), times) in across {
            let (span, uniform) = starts.get(*round).or(starts.last()).copied().unwrap_or_default();
            let account = self.accounts.of(context.index());
            account.span = account.span.saturating_add(span.saturating_mul(*times));
            account.uniform_span = account.uniform_span.saturating_add(uniform.saturating_mul(*times));
        }
    }

    /// A member has left a worksharing construct.
    pub(super) fn share(&mut self, part: Share) {
        let ordinal = self.shared;
        self.shared += 1;
        let Some(Frame::Team(team)) = self.innermost().and_then(|at| self.frames.get_mut(at)) else {
            return;
        };
        match team.shares.get_mut(ordinal) {
            Some(share) => {
                share.span = share.span.max(part.span);
                share.uniform = share.uniform.max(part.uniform);
                share.work = share.work.saturating_add(part.work);
                if let (Some(all), Some(part)) = (&mut share.call, part.call) {
                    all.add(&part);
                }
            }
            None => team.shares.push(part),
        }
    }

    /// A task that nobody waits for has ended within a team.
    pub(super) fn detach_in_team(&mut self, end: &Tail, end_uniform: i64) {
        let round = self.round;
        let Some(Frame::Team(team)) = self.innermost().and_then(|at| self.frames.get_mut(at)) else {
            return;
        };
        if team.rounds.len() <= round {
            team.rounds.resize_with(round + 1, || Round::EMPTY);
        }
        let slot = &mut team.rounds[round];
        self.paths.raise(&mut slot.detached, end);
        slot.detached_uniform = slot.detached_uniform.max(end_uniform);
    }
}
