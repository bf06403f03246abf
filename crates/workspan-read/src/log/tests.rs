//! Logs made by hand.

use std::fmt::Write;

use proptest::collection::vec;
use proptest::prelude::*;
use workspan_model::strand::Event as Ends;
use workspan_model::{ContextId, Nanos};
use workspan_wire::log::{Event, Record};

use super::*;

/// A log: each word is an event with what belongs to it, as `Fork:5` (cost) or `Begin=7` (identity).
///
/// `With=7` and `Of=7` stand before what they belong to. The context is 1.
fn log(text: &str) -> Vec<Record> {
    let event = |name: &str| {
        let named = |event: &Event| format!("{event:?}") == name;
        (0..=255).filter_map(Event::of).find(named).unwrap_or_else(|| panic!("no event {name}"))
    };
    let number = |text: &str| text.parse::<i64>().expect("a number");
    text.split_whitespace()
        .flat_map(|word| {
            let (name, n, identity) = match (word.split_once(':'), word.split_once('=')) {
                (Some((name, cost)), _) => (name, number(cost), 0),
                (_, Some((name, identity))) => (name, 0, number(identity).cast_unsigned()),
                _ => (word, 0, 0),
            };
            // `Turn=7` is the first turn, `Turn=107` the second one; so are members. `In=7` is a task of the innermost group.
            let (n, identity) = match name {
                "In" => (workspan_wire::log::INNERMOST, identity),
                "Turn" | "Member" => ((identity / 100).cast_signed(), identity % 100),
                _ => (n, identity),
            };
            let context = u32::from(!["Life"].contains(&name));
            let name = if name == "Key" { "With" } else { name };
            // `Last` is a member's last barrier, `Some` the wait for those reported with `For` before.
            let (name, context, identity) = match name {
                "In" => ("With", context, identity),
                "Last" => ("Barrier", context, 1 << 48),
                "Some" => ("Sync", context, 1 << 48),
                "After" => (name, 0, identity),
                "For" => ("After", 1, identity),
                _ => (name, context, identity),
            };
            let record = Record::new(event(name), context, n, identity);
            Record::wide(n, 0).into_iter().chain([record])
        })
        .collect()
}

const SETTING: Setting<'_> =
    Setting { contexts: &[ContextId::ROOT], ticks_per_second: 1_000_000_000, started: 0, complete: true };

fn rows(logs: &[Vec<Record>], setting: &Setting<'_>) -> (Vec<Strand>, Converted) {
    let mut strands = Vec::new();
    let take = |some: &[Strand]| {
        strands.extend_from_slice(some);
        Ok::<(), ()>(())
    };
    let converted = convert(logs, setting, take).expect("vectors can be read and written");
    assert_eq!(converted.strands, strands.len() as u64);
    (strands, converted)
}

/// In short: `fork 5` for a strand of cost 5 that ends with a fork; after `+` what it was blocked.
fn in_short(strands: &[Strand]) -> String {
    let mut text = String::new();
    for strand in strands {
        let name = match strand.event {
            Ends::Fork(_) => "fork",
            Ends::Next(_) => "next",
            Ends::Join => "join",
            Ends::Group => "group",
            Ends::Wait => "wait",
            Ends::Spawn(creation) => match creation.group {
                Some(0) => "spawn",
                Some(1) => "spawn-out",
                Some(_) => "spawn-further-out",
                None => "detach",
            },
            Ends::End => "end",
            Ends::Enter(_) => "enter",
            Ends::Leave => "leave",
            Ends::Call(_) => "call",
            Ends::Sync => "sync",
            Ends::After(0) => "after-first",
            Ends::After(_) => "after-other",
            Ends::Team(_) => "team",
            Ends::Barrier => "barrier",
            Ends::TeamEnd => "team-end",
            Ends::Wake(0) => "wake-0",
            Ends::Wake(1) => "wake-1",
            Ends::Wake(_) => "wake-other",
            Ends::Await(0) => "await-0",
            Ends::Await(1) => "await-1",
            Ends::Await(_) => "await-other",
            Ends::Locked(_) => "locked",
        };
        let separator = if text.is_empty() { "" } else { ", " };
        write!(text, "{separator}{name} {}", strand.cost.0).expect("text can be written to");
        if strand.blocked.0 != 0 {
            write!(text, "+{}", strand.blocked.0).expect("text can be written to");
        }
    }
    text
}

#[track_caller]
fn check(logs: &[&str], expected: &str) {
    let logs: Vec<_> = logs.iter().map(|text| log(text)).collect();
    let (strands, converted) = rows(&logs, &SETTING);
    assert_eq!(in_short(&strands), expected);
    assert!(converted.whole(), "{converted:?}");
}

/// As [`check`], of logs that end too early. `found`: cut, lone, lost and stray.
#[track_caller]
fn check_cut(logs: &[&str], expected: &str, found: [u64; 4]) {
    let logs: Vec<_> = logs.iter().map(|text| log(text)).collect();
    let (strands, converted) = rows(&logs, &Setting { complete: false, ..SETTING });
    assert_eq!(in_short(&strands), expected);
    let Converted { strands: _, cut, unfinished, lone, lost, stray } = converted;
    assert_eq!(([cut, lone, lost, stray], unfinished), (found, 0));
}

/// The program ends while tasks run that nobody waits for: one says that it is done before it is, another never ends. All
/// that they had done is there.
#[test]
fn whom_nobody_waits_for_need_not_end() {
    for (logs, expected, unfinished) in [
        (["Life With=2 Spawn:5 End:1", "Begin=2"], "detach 5, end 0, end 1", 1),
        (["Life With=2 Spawn:5 End:1", "Begin=2 Fork:3 Next:4"], "detach 5, fork 3, next 4, join 0, end 0, end 1", 1),
        (["Life With=2 Spawn:5 End:1", "Life:99 Born=2 Fork:3"], "detach 5, fork 3, join 0, end 0, end 1", 1),
        // A thief had not come back: somebody waited for that.
        (["Life Fork:1 Next:2 With=3 Late:1 End:4", "Begin=3 Fork:4"], "", 0),
    ] {
        let logs: Vec<_> = logs.iter().map(|text| log(text)).collect();
        let (strands, converted) = rows(&logs, &SETTING);
        if !expected.is_empty() {
            assert_eq!(in_short(&strands), expected);
        }
        assert_eq!((converted.unfinished, converted.whole()), (unfinished, unfinished > 0), "{converted:?}");
    }
}

#[test]
fn one_thread_is_in_order_already() {
    check(&["Life Enter:3 Fork:1 Next:4 Join:5 Leave:2 End:1"], "enter 3, fork 1, next 4, join 5, leave 2, end 1");
}

#[test]
fn a_stolen_branch_stands_where_it_was_forked() {
    check(
        &["Life Fork:1 Next:4 With=7 Late:2 Elsewhere=7 End:1", "Begin=7 Fork:10 Next:11 Join:12 End:13"],
        "fork 1, next 6, fork 10, next 11, join 12, join 13, end 1",
    );
}

#[test]
fn a_thief_that_was_done_before_it_was_asked() {
    check(&["Life Fork:1 Next:4 Elsewhere=7 End:1", "Begin=7 End:13"], "fork 1, next 4, join 13, end 1");
}

#[test]
fn what_a_waiting_thread_runs_stands_elsewhere() {
    // The second thread's branch forks; while it waits for the first thread, it runs a task of its own.
    check(
        &[
            "Life With=3 Spawn:1 Fork:1 Next:2 Elsewhere=5 Begin=9 End:6 End:1",
            "Begin=5 Fork:1 Next:3 With=9 Late:0 Begin=3 End:100 Elsewhere=9 End:7",
        ],
        "detach 1, end 100, fork 1, next 2, fork 1, next 3, join 6, join 7, end 1",
    );
}

#[test]
fn a_branch_found_after_other_tasks_is_no_theft() {
    check(
        &["Life With=3 Spawn:1 Fork:1 Next:2 With=5 Late:1 Begin=3 End:50 Join:4 End:1"],
        "detach 1, end 50, fork 1, next 3, join 4, end 1",
    );
}

#[test]
fn tasks_name_their_groups_outward() {
    check(
        &[
            "Life Group=1 Group=2 With=3 Of=2 Spawn:1 With=4 Of=1 Spawn:2 Wait:3 Wait:4 End:5",
            "Begin=4 End:40 Begin=3 Group=6 With=5 Of=1 Spawn:7 Wait:8 End:30",
            "Begin=5 End:50",
        ],
        "group 0, group 0, spawn 1, group 0, spawn-further-out 7, end 50, wait 8, end 30, spawn-out 2, end 40, wait 3, \
         wait 4, end 5",
    );
}

#[test]
fn a_strand_that_moves_is_one() {
    check(&["Life With=2 Handoff:1 End:3", "Begin=2 Fork:10 Next:1 Join:1 End:20"], "fork 11, next 1, join 1, end 23");
}

/// `Key=7` stands before a wake-up and its waits.
#[test]
fn who_waits_comes_after_who_woke_it() {
    // The main thread waits for what a thread did, and for its end.
    check(
        &[
            "Life With=2 Spawn:5 Key=70 Await:3 Key=71 Await:1 End:2",
            "Life Born=2 Fork:1 Next:2 Join:3 Key=70 Wake:4 Key=71 Wake:6 End:0",
        ],
        "detach 5, fork 1, next 2, join 3, wake-0 4, wake-1 6, end 0, await-0 3, await-1 1, end 2",
    );
}

#[test]
fn who_waits_for_what_comes_later_goes_on_there() {
    // A worker gets two pieces of work from its creator, and says when it is done.
    check(
        &[
            "Life With=2 Spawn:5 Key=70 Wake:10 Key=71 Wake:20 Key=72 Await:30 End:2",
            "Life Born=2 Key=70 Await:1 Key=71 Await:100 Key=72 Wake:200 End:0",
        ],
        "detach 5, wake-0 1, end 0, wake-1 10, detach 0, await-0 0, wake-0 100, end 0, wake-1 20, detach 0, await-0 0, \
         wake-0 200, end 0, await-0 30, end 2",
    );
}

#[test]
fn wake_ups_that_nobody_waited_for_are_none() {
    check(&["Life Key=70 Wake:5 Enter:2 Leave:1 End:1"], "enter 7, leave 1, end 1");
}

#[test]
fn a_branch_that_waits_for_a_later_one_comes_as_much_later() {
    check(
        &["Life Fork:1 Key=70 Of=24 Await:5 Next:2 Key=70 Wake:30 Join:1 End:1"],
        "fork 1, next 7+24, join 31, end 1",
    );
}

#[test]
fn regions_of_a_thread_that_waits_go_on() {
    check(
        &["Life With=2 Spawn:5 Key=70 Wake:10 End:2", "Life Born=2 Enter:1 Key=70 Await:2 Leave:3 End:4"],
        "detach 5, enter 1, wake-0 2, leave 0, end 0, wake-1 10, detach 0, await-0 0, enter 0, leave 3, end 4, end 2",
    );
}

#[test]
fn copies_of_a_task_are_tasks() {
    check(
        &["Life Group=1 With=2 Of=1 Spawn:5 Begin=2 End:1 Wait:0 End:0", "Begin=2 End:2"],
        "group 0, spawn 5, end 1, spawn 0, end 2, wait 0, end 0",
    );
}

#[test]
fn turns_at_a_shared_iterator_are_one_chain() {
    // Two threads: the first takes turns 0 and 2, the second 1; both find the end.
    check(
        &[
            "Life Fork:0 Turns:1 Turn=7 Item:2 ItemEnd:20 Turn=207 Item:2 Fork:1 Next:1 Join:1 ItemEnd:22 Turn=307 \
             TurnEnd:9 Left Next:0 Elsewhere=4 End:0",
            "Begin=4 Turns:5 Turn=107 Item:3 ItemEnd:21 Turn=407 TurnEnd:8 Left End:6",
        ],
        "fork 0, group 1, spawn 2, end 20, spawn 3, end 21, spawn 2, fork 1, next 1, join 1, end 22, wait 17, next 0, \
         join 11, end 0",
    );
}

#[test]
fn a_task_that_never_ran_was_none() {
    check(&["Life With=2 Spawn:5 End:1"], "end 6");
}

#[test]
fn charges_without_an_event_are_empty_groups() {
    check(&["Life Cut:5 Cut:0 End:1"], "group 5, wait 0, end 1");
}

#[test]
fn threads_begin_where_they_were_created() {
    check(&["Life With=2 Spawn:5 End:1", "Life:99 Born=2 End:7"], "detach 5, end 7, end 1");
}

#[test]
fn what_is_open_when_the_program_is_killed_is_closed() {
    check_cut(
        &["Life Enter:1 Fork:2 Group=1 With=3 Of=1 Spawn:3", "Begin=3 Fork:4 Next:5"],
        "enter 1, fork 2, group 0, spawn 3, fork 4, next 5, join 0, end 0, wait 0, join 0, leave 0, end 0",
        [2, 0, 0, 0],
    );
    // Killed while it waits for the thief: the join is made.
    check_cut(
        &["Life Fork:2 Next:1 With=3 Late:1", "Begin=3 Fork:4"],
        "fork 2, next 2, fork 4, join 0, join 0, end 0",
        [2, 0, 0, 0],
    );
}

#[test]
fn pieces_that_nobody_refers_to_stand_first() {
    let mut thief = log("Begin=3 End:4");
    thief[0] = Record::new(Event::Begin, 1, 70, 3);
    let logs = [log("Life Fork:2"), thief];
    let (strands, converted) = rows(&logs, &Setting { complete: false, ..SETTING });
    assert_eq!(in_short(&strands), "detach 0, end 4+70, fork 2, join 0, end 0");
    assert_eq!((converted.lone, converted.cut, converted.lost), (1, 1, 0));
}

/// What the main thread did is lost, and a thread of another waits for it.
#[test]
fn who_waits_for_a_lost_main_thread_goes_on_at_the_end() {
    let mut thread = log("Life Key=70 Await:3 Fork:4 Next:5 Join:6 End:7");
    thread[0] = Record::new(Event::Life, 2, 0, 0);
    let (strands, converted) = rows(&[Vec::new(), thread], &Setting { complete: false, ..SETTING });
    assert_eq!(
        in_short(&strands),
        "detach 0, wake-0 3, end 0, detach 0, await-0 0, fork 4, next 5, join 6, end 7, end 0"
    );
    assert_eq!((converted.lone, converted.cut), (1, 3));
}

#[test]
fn threads_that_had_not_begun_are_nothing() {
    check(&["Life With=3 Spawn:1 End:2", "Life"], "end 3");
}

#[test]
fn exits_in_the_middle_are_charged_where_they_were() {
    check(&["Life Enter:1 Fork:2 End:5"], "enter 1, fork 2, join 5, leave 0, end 0");
}

#[test]
fn nanoseconds_add_up_along_every_path() {
    let strands = "Life ".to_owned() + &"Fork:1 Next:3 Join:7 ".repeat(100) + "End:1";
    // Three ticks to seven nanoseconds, and seven to three.
    for rate in [428_571_428, 2_333_333_333] {
        let logs = [log(&strands)];
        let (strands, _) = rows(&logs, &Setting { ticks_per_second: rate, ..SETTING });
        let (mut s, mut from, mut best) = (0, 0, 0);
        for strand in &strands {
            s += strand.cost.0 + strand.blocked.0;
            match strand.event {
                Ends::Fork(_) => (from, best) = (s, s),
                Ends::Next(_) => (s, best) = (from, best.max(s)),
                Ends::Join => s = s.max(best),
                _ => {}
            }
        }
        // The longer branch is the second one.
        let ticks = 100 * (1 + 7) + 1;
        assert_eq!(i128::from(s), ticks * 1_000_000_000 / i128::from(rate));
        let work: i64 = strands.iter().map(|strand| strand.cost.0).sum();
        let exact = 1_101.0 * 1e9 / rate as f64;
        assert!((work as f64 - exact).abs() < 302.0);
    }
}

/// Rows are well nested, whatever the logs.
fn check_nesting(strands: &[Strand]) {
    let (mut open, mut labels) = (Vec::new(), 0);
    for (i, strand) in strands.iter().enumerate() {
        let closes = match strand.event {
            Ends::Fork(_) => {
                open.push("fork");
                continue;
            }
            Ends::Group => {
                open.push("group");
                continue;
            }
            Ends::Spawn(creation) | Ends::Call(creation) => {
                let groups = open.iter().filter(|open| ["group", "team"].contains(*open)).count();
                assert!(creation.group.is_none_or(|group| usize::from(group) < groups));
                open.push("task");
                continue;
            }
            Ends::Enter(_) => {
                open.push("region");
                continue;
            }
            Ends::Next(_) => {
                assert_eq!(open.last(), Some(&"fork"));
                continue;
            }
            Ends::Join => "fork",
            Ends::Wait => "group",
            Ends::Leave => "region",
            Ends::End if open.is_empty() => {
                assert_eq!(i + 1, strands.len());
                continue;
            }
            Ends::Team(_) => {
                open.push("team");
                continue;
            }
            Ends::Barrier => {
                assert_eq!(open.iter().rfind(|open| **open != "region"), Some(&"team"));
                continue;
            }
            Ends::Sync | Ends::After(_) => continue,
            Ends::Wake(label) => {
                assert!(label <= labels);
                labels = labels.max(label + 1);
                continue;
            }
            Ends::Await(label) | Ends::Locked(label) => {
                assert!(label < labels);
                continue;
            }
            // A member.
            Ends::End if open.last() == Some(&"team") => continue,
            Ends::End => "task",
            Ends::TeamEnd => "team",
        };
        assert_eq!(open.pop(), Some(closes));
    }
    assert!(open.is_empty());
    assert_eq!(strands.last().map(|strand| strand.event), Some(Ends::End));
}

fn any_record() -> impl Strategy<Value = Record> {
    let event = proptest::sample::select((0..=255).filter_map(Event::of).collect::<Vec<_>>());
    (event, 0u32..3, -3i64..9, 0u64..6).prop_map(|(event, context, n, second)| Record::new(event, context, n, second))
}

proptest! {
    #[test]
    fn any_logs_give_well_nested_strands(
        logs in vec(vec(any_record(), 0..60), 0..4),
        complete in any::<bool>(),
        rate in any::<u64>(),
    ) {
        let records: usize = logs.iter().map(Vec::len).sum();
        let (strands, _) = rows(&logs, &Setting { complete, ticks_per_second: rate, ..SETTING });
        check_nesting(&strands);
        prop_assert!(strands.len() <= 6 * records + 6);
    }

    #[test]
    fn any_words_are_taken(logs in vec(vec((any::<u64>(), any::<u64>()), 0..40), 0..3)) {
        let logs: Vec<Vec<_>> = logs.into_iter().map(|log| log.into_iter().map(|(a, b)| Record(a, b)).collect()).collect();
        check_nesting(&rows(&logs, &SETTING).0);
    }
}

#[test]
fn members_stand_one_after_the_other() {
    check(
        &[
            "Life With=9 Team:1 Member=9 In=4 Spawn:2 Last:3 Begin=4 End:8 End:0 TeamEnd \
             With=8 Team:1 Member=8 Last:0 End:0 TeamEnd End:1",
            // Of the worker's last barrier no end is reported, before it begins in the next team.
            "Member=109 Barrier:5 Last:6 Member=108 Last:4",
        ],
        "team 1, spawn 2, end 8, barrier 3, end 0, barrier 5, barrier 6, end 0, team-end 0, \
         team 1, barrier 0, end 0, barrier 4, end 0, team-end 0, end 1",
    );
}

#[test]
fn the_member_that_leads_stands_first() {
    check(
        &[
            "Life With=9 Team:1 Member=9 Last:2 In=4 Begin=4 End:8 End:0 TeamEnd With=8 Team:1 Member=8 Last:2 End:0 \
             TeamEnd End:1",
            "Member=109 In=4 Spawn:3 In=5 Call:1 Begin=5 End:4 Last:5 Member=108 Single Last:70",
        ],
        "team 1, spawn 3, end 8, call 1, end 4, barrier 5, end 0, barrier 2, end 0, team-end 0, \
         team 1, barrier 70, end 0, barrier 2, end 0, team-end 0, end 1",
    );
}

#[test]
fn tasks_come_after_others_and_are_waited_for() {
    check(
        &[
            "Life In=3 Spawn:1 After=0 In=4 Call:2 After=0 After=3 Begin=4 End:20 In=5 Spawn:3 After=9 Begin=5 End:1 Sync:4 \
             For=4 For=9 Some:5 End:1",
            "Begin=3 With=6 Suspend:10",
            "Resume=6 End:11",
        ],
        "detach 1, end 21, after-first 0, call 2, end 20, detach 3, end 1, sync 4, after-other 0, call 5, end 0, end 1",
    );
}

#[test]
fn tasks_of_a_loop_stand_where_it_begins() {
    check(
        &["Life Enter:1 Group In=3 Spawn:0 Wait:5 Leave:1 End:1", "Begin=3 End:10 Begin=3 End:11", "Begin=3 End:12"],
        "enter 1, group 0, spawn 0, end 10, spawn 0, end 11, spawn 0, end 12, wait 5, leave 1, end 1",
    );
}

#[test]
fn contexts_that_nobody_knows_are_the_root() {
    let (strands, _) = rows(&[log("Life Fork:1 Next:1 Join:1 End:1")], &SETTING);
    assert!(strands.iter().all(|strand| strand.context == ContextId::ROOT && strand.blocked == Nanos::ZERO));
}
