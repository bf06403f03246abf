//! A buffer of events, taken segment by segment, and where iterations repeat, many at once.

use workspan_graph::events::{Events, Unknown};
use workspan_graph::program::Program;
use workspan_graph::replay::{Consumer, Executed};

use super::Engine;

/// Takes a buffer of a context; buffers of one context come in their order.
pub fn analyse(engine: &mut Engine, program: &Program, context: u32, bytes: &[u8]) -> Result<(), Unknown> {
    let mut accesses = Vec::new();
    let mut at = 0;
    loop {
        let mut events = Events::new(program, &bytes[at..]);
        let Some((event, _)) = events.next_event().map_err(|unknown| Unknown { at: unknown.at + at, ..unknown })?
        else {
            return Ok(());
        };
        at += events.position();
        if let Some(control) = event.control() {
            engine.control(context, control);
        } else if let Some((module, segment)) = program.segment(event.id) {
            let frame = event.accesses(module, segment, &mut accesses);
            engine.segment(
                Executed { context, thread: context, id: event.id, module, module_number: 0, segment, frame },
                &accesses,
            );
            at += engine.repeated(program, context, &bytes[at..]);
        }
    }
}

impl Engine {
    /// Bytes of iterations that repeat what is known.
    fn repeated(&mut self, program: &Program, context: u32, bytes: &[u8]) -> usize {
        let at = context as usize;
        let is_steady = |context: &super::Context| context.steady.is_complete();
        if !self.contexts.get(at).and_then(Option::as_deref).is_some_and(is_steady) {
            return 0;
        }
        let Some(mut context) = self.contexts[at].take() else {
            return 0;
        };
        let taken = self.batch(&mut context, program, bytes);
        self.contexts[at] = Some(context);
        taken
    }
}
