//! What is open while rows are read.

use std::collections::BTreeMap;

use workspan_model::ContextId;

use super::calls::{LateCall, SharedCall};
use super::path::Tail;

/// What is open within the running task, and the tasks around it.
#[derive(Debug)]
pub(super) enum Frame {
    Fork(Fork),
    Group,
    Task(Task),
    Region(Region),
    Team(Box<Team>),
}

/// Branches.
#[derive(Debug)]
pub(super) struct Fork {
    /// Where they begin.
    pub(super) from: Tail,
    pub(super) from_uniform: i64,
    /// The longest that has ended.
    pub(super) best: Tail,
    pub(super) best_uniform: i64,
    /// Of the running branch.
    pub(super) iterations: u32,
    /// The running branch is the first.
    pub(super) first: bool,
    /// The others are tasks.
    pub(super) tasks: bool,
    /// What the task around ran itself, the first branch included.
    pub(super) own: i64,
    /// It is a call by itself.
    pub(super) counted: bool,
}

/// Tasks that are waited for together.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) last: Tail,
    pub(super) last_uniform: i64,
    /// Their work.
    pub(super) work: i64,
    /// It is the round of a team: no further group is visible from within.
    pub(super) round: bool,
}

/// What the running task knows of those it created.
#[derive(Debug)]
pub(super) struct Children {
    pub(super) last: Tail,
    pub(super) last_uniform: i64,
    /// The latest end of all descendants.
    pub(super) late: i64,
    pub(super) late_uniform: i64,
    /// Only if anybody comes after them.
    pub(super) ends: Option<Box<Ends>>,
}

impl Children {
    pub(super) const NONE: Children =
        Children { last: Tail::NEVER, last_uniform: i64::MIN, late: i64::MIN, late_uniform: i64::MIN, ends: None };
}

/// Ends of the tasks that one has created.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// By number.
    pub(super) ends: Vec<(Tail, i64)>,
    /// Tasks before these: a barrier has waited for them.
    pub(super) forgotten: usize,
    /// After which the next one comes.
    pub(super) after: Option<(Tail, i64)>,
}

/// A task: how it began. The state of its creator is on a stack of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) context: ContextId,
    /// Position of its group, if it has one.
    pub(super) group: Option<u32>,
    pub(super) call: bool,
    pub(super) outermost: bool,
    /// It is among the open calls.
    pub(super) counted: bool,
    pub(super) span: i64,
    pub(super) uniform: i64,
    pub(super) work: i64,
    pub(super) apart: i64,
}

/// A suspended task.
#[derive(Debug)]
pub(super) struct Creator {
    pub(super) tail: Tail,
    pub(super) uniform: i64,
    pub(super) own: i64,
    pub(super) place: u32,
    pub(super) children: Children,
}

/// An instance of a region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub(super) context: ContextId,
    pub(super) outermost: bool,
    /// It is among the open calls.
    pub(super) counted: bool,
    pub(super) span: i64,
    pub(super) uniform: i64,
    pub(super) work: i64,
    pub(super) apart: i64,
    /// Of the team around.
    pub(super) round: usize,
    /// When it was entered, if from serial code.
    pub(super) entered: Option<i64>,
}

/// A team, its members one after the other.
#[derive(Debug)]
pub(super) struct Team {
    pub(super) creator: Creator,
    /// Round of the member that created it in its own team, and its number of shared constructs.
    pub(super) round: usize,
    pub(super) shared: usize,
    /// Longest of each round, as if all rounds began where the team does.
    pub(super) rounds: Vec<Round>,
    /// Of each worksharing construct, by its number among those of a member.
    pub(super) shares: Vec<Share>,
    /// Instances that last over a barrier: how often a context's span has the beginning of a round in it.
    pub(super) across: BTreeMap<(ContextId, usize), i64>,
    /// The member that runs, from 0, and how many there are.
    pub(super) member: u32,
    pub(super) members: u32,
    /// Calls whose spans are known when the rounds are.
    pub(super) late_calls: Vec<LateCall>,
}

/// What all members did between two barriers.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) best: Tail,
    pub(super) best_uniform: i64,
    /// Of tasks that nobody waits for.
    pub(super) detached: Tail,
    pub(super) detached_uniform: i64,
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
