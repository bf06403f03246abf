//! Logs of threads, whatever they say: strands come out well nested, and not many more than records went in.
//!
//! Six bytes are a record, so that the fuzzer need not find out how one is packed; its top bit begins another thread's.

#![no_main]

use std::convert::Infallible;

use libfuzzer_sys::fuzz_target;
use workspan_model::{ContextId, Event as Ends, Strand};
use workspan_read::log::{convert, Setting};
use workspan_wire::log::{Event, Record};

fuzz_target!(|bytes: &[u8]| {
    let mut logs = vec![Vec::new()];
    for packed in bytes.chunks_exact(6) {
        let [event, context, high, low, second, more] = packed.try_into().expect("six bytes");
        if more & 0x80 != 0 {
            logs.push(Vec::new());
        }
        if let (Some(event), Some(log)) = (Event::of(event % 64), logs.last_mut()) {
            let n = i64::from(i16::from_be_bytes([high, low]));
            log.push(Record::new(event, u32::from(context % 4), n, u64::from(second % 16) | u64::from(more) << 40));
        }
    }
    let records: usize = logs.iter().map(Vec::len).sum();
    let of = |event: Event| logs.iter().flatten().filter(|record| record.event() == Some(event)).count();
    // Behind a wait a task goes on as another part, which enters again what was open, and leaves it.
    let reentered = 2 * of(Event::Await) * of(Event::Enter);
    for complete in [false, true] {
        let setting =
            Setting { contexts: &[ContextId::ROOT; 3], ticks_per_second: 2_600_000_000, started: 0, complete };
        let (mut open, mut strands) = (Vec::new(), 0usize);
        let converted = convert(&*logs, &setting, |some: &[Strand]| {
            strands += some.len();
            some.iter().for_each(|strand| step(&mut open, &strand.event));
            Ok::<(), Infallible>(())
        });
        assert_eq!(converted.expect("nothing fails here").strands as usize, strands);
        assert_eq!(open, [Open::Over]);
        assert!(strands <= 6 * records + 6 + reentered);
    }
});

/// What is open.
#[derive(Debug, PartialEq)]
enum Open {
    Fork,
    Group,
    Task,
    Region,
    Team,
    /// The program has ended.
    Over,
}

/// Opens and closes what a strand's end does.
fn step(open: &mut Vec<Open>, event: &Ends) {
    let closes = match event {
        Ends::Fork(_) => return open.push(Open::Fork),
        Ends::Group => return open.push(Open::Group),
        Ends::Spawn(_) | Ends::Call(_) => return open.push(Open::Task),
        Ends::Enter(_) => return open.push(Open::Region),
        Ends::Team(_) => return open.push(Open::Team),
        Ends::Next(_) => return assert_eq!(open.last(), Some(&Open::Fork)),
        Ends::Barrier => {
            return assert_eq!(open.iter().rfind(|open| **open != Open::Region), Some(&Open::Team));
        }
        Ends::Sync | Ends::After(_) | Ends::Wake(_) | Ends::Await(_) | Ends::Locked(_) => return,
        Ends::Join => Open::Fork,
        Ends::Wait => Open::Group,
        Ends::Leave => Open::Region,
        Ends::TeamEnd => Open::Team,
        // A member.
        Ends::End if open.last() == Some(&Open::Team) => return,
        Ends::End if open.is_empty() => return open.push(Open::Over),
        Ends::End => Open::Task,
    };
    assert_eq!(open.pop(), Some(closes));
}
