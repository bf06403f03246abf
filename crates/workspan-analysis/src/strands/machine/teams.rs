//! Teams: when members begin and end, and where they meet.

use workspan_model::nesting::Construct;

use super::Machine;
use crate::strands::calls::SharedCall;
use crate::strands::charge::Charge;
use crate::strands::frames::Frame;
use crate::strands::path::Tail;
use crate::strands::position::Position;
use crate::strands::problem::Problem;
use crate::strands::region::Point;
use crate::strands::running::Running;
use crate::strands::teams::{Member, Share, Team};

impl<C: Charge> Machine<C> {
    pub(super) fn team(&mut self, members: u32) {
        if !self.has_room() {
            return;
        }
        self.charge.team(members);
        let creator = self.now.suspend();
        self.groups.open(true);
        let team = Box::new(Team::new(creator, self.member, members));
        self.teams += 1;
        self.begin_member(&team.creator);
        self.add_burden(&team);
        self.open.push(Frame::Team(team));
    }

    fn begin_member(&mut self, creator: &Running) {
        self.member = Member::default();
        self.now.own = 0;
        self.now.children.ends = None;
        self.now.place = Point::Begin.code();
        self.begin_round(creator);
    }

    /// As if it began where the team does, with a path of its own.
    fn begin_round(&mut self, creator: &Running) {
        let tail = Tail::at(creator.at.tail.span, self.now.at.tail.key);
        self.now.at = Position { tail, uniform: creator.at.uniform };
    }

    fn add_burden(&mut self, team: &Team) {
        if team.is_shared() {
            self.now.at.delay(self.burden);
        }
    }

    /// A member's round has ended.
    fn end_round(&mut self, team: &mut Team) {
        self.now.children.forget(&mut self.paths);
        if C::CALLS {
            self.calls.settle_local(&mut self.paths, &mut self.now.at.tail);
        }
        let round = self.member.round;
        team.end_round(round, self.now.at, &mut self.paths);
        if let Some(group) = self.groups.last_mut().filter(|group| group.round) {
            let last = std::mem::replace(&mut group.last, Position::NEVER);
            team.end_round(round, last, &mut self.paths);
        }
    }

    pub(super) fn barrier(&mut self) {
        let Some(at) = self.open.team_at_barrier() else {
            self.problem(Problem::NotOpen);
            return;
        };
        let Some(frame) = self.open.get_mut(at) else {
            return;
        };
        let mut frame = std::mem::replace(frame, Frame::Group);
        if let Frame::Team(team) = &mut frame {
            self.charge.barrier();
            self.end_round(team);
            self.member.round += 1;
            self.begin_round(&team.creator);
        }
        if let Some(slot) = self.open.get_mut(at) {
            *slot = frame;
        }
    }

    /// A member of the team, which was the innermost construct, has ended.
    pub(super) fn end_member(&mut self, mut team: Box<Team>) {
        self.charge.member_end();
        self.add_burden(&team);
        self.end_round(&mut team);
        let another = team.next_member();
        self.begin_member(&team.creator);
        if another {
            self.add_burden(&team);
        }
        self.open.push(Frame::Team(team));
    }

    pub(super) fn team_end(&mut self) {
        if !self.is_open(Construct::Team) {
            return;
        }
        if let Some(Frame::Team(team)) = self.open.pop() {
            self.finish_team(*team);
        }
    }

    fn finish_team(&mut self, team: Team) {
        self.charge.team_end();
        if let Some(group) = self.groups.close() {
            self.work.unjoined = self.work.unjoined.saturating_sub(group.work);
        }
        self.teams -= 1;
        self.member = team.around;
        let Machine { open, detached, member, teams, .. } = self;
        let ended = team.end(self.now.at, &mut self.paths, |paths, end| {
            if *teams == 0 {
                detached.raise(paths, &end);
            } else if let Some(Frame::Team(around)) = open.team().and_then(|at| open.get_mut(at)) {
                around.detach(member.round, &end, paths);
            }
        });
        ended.charge(&mut self.accounts);
        if C::CALLS {
            for call in &ended.late_calls {
                self.calls.end_late(&mut self.paths, call, &ended.starts);
            }
            for share in &ended.shares {
                if let Some(call) = &share.call {
                    self.calls.end_all_shared(&mut self.paths, call, share.span);
                }
            }
        }
        let place = self.now.place;
        self.now.resume(ended.creator, &mut self.paths);
        self.now.place = place;
    }

    /// A member's part of a worksharing construct ends.
    pub(super) fn end_shared_call(&mut self) -> Option<SharedCall> {
        let number = self.member.shared;
        let all = self.innermost_team().and_then(|team| team.shared_call(number));
        let (calls, here) = self.calls();
        calls.end_shared(here, all)
    }

    /// A member has left a worksharing construct.
    pub(super) fn share(&mut self, part: Share) {
        let number = self.member.shared;
        self.member.shared += 1;
        if let Some(team) = self.innermost_team() {
            team.share(number, part);
        }
    }
}
