//! What each event makes of a graph that is being built: one function for each rule of [`workspan_model::strand`].

use workspan_model::{ContextId, Creation, Strand};

use super::build::{Builder, Bundle, Chain, Fork, Group, Task, Team};
use super::graph::{kind, SCALE};
use crate::strands::Charge;

impl Charge for Builder {
    const PLACES: bool = true;
    const SCALE: i64 = SCALE;

    #[inline(always)]
    fn charge(&mut self, row: &Strand, context: ContextId, before: u32, after: u32) -> (u32, i64) {
        let region = self.regions.find(context, before, after);
        let [cost, blocked] = [row.cost.0, row.blocked.0].map(|nanos| nanos.saturating_mul(SCALE));
        self.piece(cost, blocked, region);
        (0, cost)
    }

    fn blocked(&self, key: u32) -> u32 {
        key
    }

    fn expected(&self, _: ContextId) -> u32 {
        0
    }

    fn fork(&mut self, context: ContextId, tasks: bool) {
        let from = self.here();
        self.set(from, kind::FORKS);
        let mark = self.mark();
        let label = self.label();
        self.forks.push(Fork {
            from,
            label,
            mark,
            branch: self.mark(),
            number: 0,
            tasks,
            context,
            before: None,
            largest: 0,
        });
    }

    fn next(&mut self) {
        if let Some(mut fork) = self.forks.pop() {
            let end = self.end_of(fork.from);
            if !fork.tasks && fork.number == 0 {
                self.set(end, kind::LEADS);
            }
            self.end_branch(&mut fork, end);
            fork.number += 1;
            fork.branch = self.mark();
            self.chain.at = fork.from;
            self.chain.bundle = None;
            self.flags = if fork.tasks { kind::FIRST } else { 0 };
            self.forks.push(fork);
        }
    }

    fn join(&mut self) {
        let Some(mut fork) = self.forks.pop() else {
            return;
        };
        let end = self.end_of(fork.from);
        self.end_branch(&mut fork, end);
        self.chain.bundle = None;
        let work = self.total.saturating_sub(fork.mark.total);
        let inlines = fork.tasks && fork.number > 0 && !self.has_met(&fork.mark);
        if inlines && self.grain.inlines(fork.context, fork.largest) {
            let saved = self.grain.join_cost().saturating_mul(i64::from(fork.number));
            self.chain.at = self.inline(fork.from, &fork.mark, saved);
        } else if self.is_foldable(work, &fork.mark) {
            self.chain.at = self.fold(fork.from, &fork.mark);
        } else {
            self.chain.at = fork.label;
        }
    }

    fn group(&mut self) {
        let from = self.here();
        let mark = self.mark();
        let label = self.label();
        self.groups.push(Group::Label { label, from, mark });
    }

    fn wait(&mut self) {
        let end = self.here();
        let Some(Group::Label { label, from, mark }) = self.groups.pop() else {
            return;
        };
        self.chain.bundle = None;
        self.edges.push((end, label));
        // A group whose first row has become the rest of a piece cannot be taken out of it again.
        if self.is_foldable(self.total.saturating_sub(mark.total), &mark) && from + 1 == mark.node && end > from {
            self.chain.at = self.fold(from, &mark);
        } else {
            self.set(end, kind::WAITS);
            self.chain.at = label;
        }
    }

    fn spawn(&mut self, creation: &Creation, group: Option<u32>, call: bool) {
        let from = self.here();
        self.set(from, if call { kind::FORKS } else { kind::SPAWNS });
        let mark = self.mark();
        let after = std::mem::take(&mut self.chain.after);
        let ordered = !after.is_empty();
        let chain = Chain { also: after, ..Chain::at(from) };
        self.creators.push(std::mem::replace(&mut self.chain, chain));
        self.tasks.push(Task { from, mark, creation: *creation, group, call, ordered });
        self.flags = if call { 0 } else { kind::FIRST } | if ordered { kind::ORDERED } else { 0 };
    }

    fn end(&mut self) {
        let (Some(task), Some(creator)) = (self.tasks.pop(), self.creators.pop()) else {
            return;
        };
        let mut end = self.end_of(task.from);
        self.chain = creator;
        let work = self.total.saturating_sub(task.mark.total);
        if !task.call && !self.has_met(&task.mark) && self.grain.inlines(task.creation.context, work) {
            let saved = task.creation.overhead.0.saturating_mul(SCALE);
            end = self.inline(task.from, &task.mark, saved);
            if self.keep_ends {
                self.chain.created.push(end);
            }
            self.chain.at = end;
            self.chain.bundle = None;
            return;
        }
        if self.keep_ends {
            self.chain.created.push(end);
        }
        if task.call {
            self.chain.at = if self.is_foldable(work, &task.mark) && !task.ordered {
                self.fold(task.from, &task.mark)
            } else {
                end
            };
            self.chain.bundle = None;
            return;
        }
        let small = self.is_foldable(work, &task.mark) && !task.ordered;
        if small {
            end = self.collapse(task.from, &task.mark, false);
            if let Some(created) = self.chain.created.last_mut() {
                *created = end;
            }
            self.set(end, kind::FIRST);
        }
        self.set(end, kind::LAST);
        if small && self.bundle(task.from, end, task.group, task.mark.edge) {
            return;
        }
        let target = task.group.and_then(|at| match self.groups.get(at as usize)? {
            Group::Label { label, .. } => Some(*label),
            Group::Round => self.teams.last().and_then(|team| team.barriers.get(team.round).copied()),
        });
        if let Some(target) = target.filter(|target| self.edges.last() != Some(&(end, *target))) {
            self.edges.push((end, target));
        }
        self.chain.children.push(end);
        self.chain.bundle = small.then_some(Bundle { creator: task.from, group: task.group });
    }

    fn sync(&mut self) {
        let end = self.here();
        if !self.chain.children.is_empty() {
            let all = self.push(0, 0, 0, kind::VIRTUAL);
            if let Some(before) = self.chain.gathered.replace(all) {
                self.edges.push((before, all));
            }
            for child in std::mem::take(&mut self.chain.children) {
                self.edges.push((child, all));
            }
        }
        self.chain.bundle = None;
        if let Some(all) = self.chain.gathered {
            self.set(end, kind::WAITS);
            self.chain.also.push(all);
        }
    }

    fn after(&mut self, number: usize) {
        if let Some(end) = self.chain.created.get(number) {
            self.chain.after.push(*end);
        }
    }

    fn team(&mut self, members: u32) {
        let from = self.here();
        let several = if members > 1 { kind::TEAM } else { 0 };
        self.set(from, kind::FORKS | several);
        let mark = self.mark();
        let first = self.push(0, 0, 0, kind::VIRTUAL);
        self.creators.push(std::mem::replace(&mut self.chain, Chain::at(from)));
        self.groups.push(Group::Round);
        let (barriers, members) = (vec![first], mark.edge);
        self.teams.push(Team { from, mark, barriers, round: 0, member: 0, several, members });
    }

    fn barrier(&mut self) {
        let end = self.here();
        let Some(mut team) = self.teams.pop() else {
            return;
        };
        self.set(end, kind::PARKS);
        let barrier = team.barriers[team.round];
        self.edges.push((end, barrier));
        self.forget();
        self.chain.also.push(barrier);
        team.round += 1;
        if team.barriers.len() == team.round {
            let next = self.push(0, 0, 0, kind::VIRTUAL);
            team.barriers.push(next);
        }
        self.teams.push(team);
    }

    fn member_end(&mut self) {
        let Some(mut team) = self.teams.pop() else {
            return;
        };
        let end = self.end_of(team.from);
        self.set(end, if team.member > 0 { kind::LAST } else { team.several });
        self.edges.push((end, team.barriers[team.round]));
        self.forget();
        self.chain.at = team.from;
        team.round = 0;
        team.member = team.member.saturating_add(1);
        team.members = self.edges.len();
        self.widest = self.widest.max(team.member);
        self.flags = kind::FIRST;
        self.teams.push(team);
    }

    fn team_end(&mut self) {
        self.flags = 0;
        self.here();
        let (Some(team), Some(creator)) = (self.teams.pop(), self.creators.pop()) else {
            return;
        };
        self.groups.pop();
        let last = team.barriers.last().copied().unwrap_or(team.from);
        let at = std::mem::replace(&mut self.chain, creator).at;
        self.chain.at = if at == team.from { last } else { at };
        if at != team.from {
            // The row of the team's end: after all members, and not one of them.
            if let Some(kind) = self.kind.get_mut(at as usize) {
                *kind &= !kind::FIRST;
            }
            let leads_on = self.edges.iter().skip(team.members).any(|(from, _)| *from == at);
            if leads_on {
                // Of rows that break the rules.
                self.chain.also.push(last);
            } else {
                self.edges.push((last, at));
            }
        }
        self.chain.bundle = None;
        if self.chain.also.is_empty() && self.is_foldable(self.total.saturating_sub(team.mark.total), &team.mark) {
            self.chain.at = self.fold(team.from, &team.mark);
        }
    }

    fn wake(&mut self, label: u32) {
        let end = self.here();
        self.set(end, kind::WAKES);
        self.met = self.len();
        self.chain.bundle = None;
        match self.wakes.get_mut(label as usize) {
            Some(known) => *known = end,
            None => self.wakes.push(end),
        }
    }

    fn awaits(&mut self, label: u32) {
        self.here();
        self.met = self.len();
        self.chain.bundle = None;
        if let Some(before) = self.wakes.get(label as usize) {
            self.chain.also.push(*before);
        }
    }
}
