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
    for complete in [false, true] {
        let setting =
            Setting { contexts: &[ContextId::ROOT; 3], ticks_per_second: 2_600_000_000, started: 0, complete };
        let (mut open, mut strands) = (0usize, 0usize);
        let converted = convert(&*logs, &setting, |some: &[Strand]| {
            for strand in some {
                strands += 1;
                match strand.event {
                    Ends::Fork(_) | Ends::Group | Ends::Spawn(_) | Ends::Enter(_) => open += 1,
                    Ends::Next(_) => assert!(open > 0),
                    // The last one ends the program.
                    Ends::End if open == 0 => {}
                    _ => open -= 1,
                }
            }
            Ok::<(), Infallible>(())
        });
        assert_eq!(converted.expect("nothing fails here").strands as usize, strands);
        assert_eq!(open, 0);
        assert!(strands <= 6 * records + 6);
    }
});
