//! Stored folders, one of each version that was published: today's reader gives what their writer was given.
//!
//! Nothing in them comes from a run. When the format has got a new version, make its folder, and leave the others:
//!
//! ```sh
//! WORKSPAN_BLESS=1 cargo test -p workspan-store --test integration golden
//! ```
//!
//! The bytes are not compared with what is written today: they depend on the versions of the crates that write them.

use std::path::PathBuf;
use std::sync::Once;

use workspan_model::{Clock, ContextId, Creation, Event, Nanos, Strand};
use workspan_store::{seen, Meta, Reader, Writer, MAJOR, MINOR};

use crate::round_trip::read;
use crate::rows::recording;

/// Versions of the stored folders, and how many of the rows of today's they have: events that came later stand at the end,
/// before the root's own.
const STORED: &[(u16, u16, usize)] = &[(1, 0, 22), (2, 0, 24), (3, 0, 25)];

/// By which a tool saw the first rows, since 3.0.
const NUMBERS: [u64; 4] = [1, 0, 3_000_000_000_042, 2];

fn stored(major: u16, minor: u16) -> PathBuf {
    static BLESSED: Once = Once::new();
    let folder =
        |major, minor| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{major}.{minor}.strands"));
    BLESSED.call_once(|| {
        if std::env::var_os("WORKSPAN_BLESS").is_some() {
            let mut writer = Writer::create(&folder(MAJOR, MINOR), 1, &meta()).expect("the tests are writable");
            writer.push_seen(&expected(usize::MAX), &NUMBERS).expect("there is room");
            writer.finish(&recording(), None).expect("there is room");
        }
    });
    folder(major, minor)
}

fn meta() -> Meta {
    Meta {
        command: vec!["./prog".to_owned(), "two words".to_owned()],
        made_at: 1_767_225_600,
        made_by: "0.1.0".to_owned(),
        runtime: "rayon-core 1.13.0".to_owned(),
        clock: Clock::Virtual,
        ticks_per_second: 2_600_000_000,
    }
}

/// Every event, and every number another; of this number of rows, all but the last ones.
fn expected(rows: usize) -> Vec<Strand> {
    let creation =
        |context, group, overhead| Creation { context: ContextId(context), group, overhead: Nanos(overhead) };
    let events = [
        Event::Fork(40),
        Event::Next(41),
        Event::Join,
        Event::Group,
        Event::Spawn(creation(3, Some(1), 500)),
        Event::End,
        Event::Spawn(creation(4, None, 501)),
        Event::End,
        Event::Wait,
        Event::After(42),
        Event::Call(creation(5, Some(0), -502)),
        Event::End,
        Event::Sync,
        Event::Enter(ContextId(6)),
        Event::Leave,
        Event::Team(2),
        Event::Barrier,
        Event::End,
        Event::Barrier,
        Event::End,
        Event::TeamEnd,
        Event::Wake(0),
        Event::Await(0),
        Event::Locked(0),
    ];
    let strand = |(event, n): (Event, u16)| Strand {
        event,
        context: ContextId(u32::from(n % 20)),
        cost: Nanos(1_000_000_007 * i64::from(n) - 3),
        blocked: Nanos(if n % 3 == 0 { 10_000 + i64::from(n) } else { 0 }),
        start: Nanos(2_000_000_011 * i64::from(n)),
        thread: 60_000 + n,
    };
    let events = events.into_iter().take(rows.saturating_sub(1)).chain([Event::End]);
    events.zip(0..).map(strand).collect()
}

#[test]
fn every_version_is_read() {
    for (major, minor, rows) in STORED {
        let reader = Reader::open(&stored(*major, *minor), 1).expect("it is stored");
        let about = reader.stored().expect("it is stored");
        assert_eq!((about.command.as_str(), about.made_at), ("./prog two words", 1_767_225_600));
        assert_eq!(about.strands, Some(*rows as u64));
        let mut numbers = Vec::new();
        seen(&stored(*major, *minor), 1, |some| numbers.extend_from_slice(some)).expect("it is stored");
        if (*major, *minor) < (3, 0) {
            assert_eq!(numbers, []);
        } else {
            assert_eq!(numbers.len(), *rows);
            assert_eq!(numbers[..5], [Some(1), None, Some(3_000_000_000_042), Some(2), None]);
        }
        assert_eq!(read(reader), (expected(*rows), Vec::new()), "version {major}.{minor}");
    }
    assert_eq!(
        STORED.last().map(|(major, minor, _)| (*major, *minor)),
        Some((MAJOR, MINOR)),
        "the format has a new version: see the head of this file"
    );
}
