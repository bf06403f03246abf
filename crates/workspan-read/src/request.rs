//! The first page of the shared memory, as a runner prepares it.

use std::mem::{offset_of, size_of};

use workspan_wire::events::{Asked, Events, MAX_EVENTS, USER_ONLY};
use workspan_wire::shm::{self, Clock, Config, Header};

/// What a runner asks a collector for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Source of time.
    pub clock: Clock,
    /// Cores as on which loops are to be split; `None` for the true number.
    pub logical_cores: Option<u32>,
    /// What a program with one worker hears that asks how many threads there are; `None` for the truth.
    pub answered_threads: Option<u32>,
    /// Ticks of the clock per second.
    pub ticks_per_second: u64,
    /// Virtual clock: cost of creating a task, in 1/1024 ticks.
    pub virtual_task_cost: i64,
    /// 10th, 50th and 90th percentile of the length of interrupts, in ticks.
    pub interrupt_ticks: [i64; 3],
    /// Mean ticks between interrupts; 0 if not known.
    pub interrupt_period: i64,
    /// Length, in ticks, that few of the pauses exceed that show by nothing.
    pub pause_ticks: i64,
    /// Share of time that they take, in millionths.
    pub pause_ppm: u32,
    /// [`shm::Feature`] bits that are not to be used.
    pub disabled: u32,
    /// Whether every strand is to be logged.
    pub log: bool,
    /// Whether only idle time is to be accounted for.
    pub idle_only: bool,
    /// What a steal costs in burdened spans, in ticks; 0 if these are not requested.
    pub steal_ticks: i64,
    /// Whether threads say when their serial code ran.
    pub segments: bool,
    /// Events to be counted by context; those beyond [`MAX_EVENTS`] are not.
    pub events: Vec<AskedEvent>,
}

/// An event to be counted, in the words of `perf_event_open`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AskedEvent {
    /// The kernel's number of a device.
    pub device: u32,
    /// Which event of it.
    pub config: [u64; 3],
    /// Only what happens outside of the kernel.
    pub user: bool,
}

/// The bytes to write at offset 0 of the otherwise zeroed shared memory.
pub fn first_page(request: &Request) -> Vec<u8> {
    let mut page = vec![0; size_of::<Header>()];
    let mut put = |at: usize, bytes: &[u8]| {
        if let Some(place) = page.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    };
    put(offset_of!(Header, magic), &shm::MAGIC.to_ne_bytes());
    put(offset_of!(Header, wire_version), &shm::WIRE_VERSION.to_ne_bytes());
    let config = offset_of!(Header, config);
    put(config + offset_of!(Config, clock), &(request.clock as u32).to_ne_bytes());
    put(config + offset_of!(Config, logical_cores), &request.logical_cores.unwrap_or(0).to_ne_bytes());
    put(config + offset_of!(Config, answered_threads), &request.answered_threads.unwrap_or(0).to_ne_bytes());
    put(config + offset_of!(Config, ticks_per_second), &request.ticks_per_second.to_ne_bytes());
    put(config + offset_of!(Config, virtual_task_cost), &request.virtual_task_cost.to_ne_bytes());
    for (i, ticks) in request.interrupt_ticks.iter().enumerate() {
        put(config + offset_of!(Config, interrupt_ticks) + 8 * i, &ticks.to_ne_bytes());
    }
    put(config + offset_of!(Config, interrupt_period), &request.interrupt_period.to_ne_bytes());
    put(config + offset_of!(Config, pause_ticks), &request.pause_ticks.to_ne_bytes());
    put(config + offset_of!(Config, pause_ppm), &request.pause_ppm.to_ne_bytes());
    put(config + offset_of!(Config, disabled), &request.disabled.to_ne_bytes());
    put(config + offset_of!(Config, log), &u32::from(request.log).to_ne_bytes());
    put(config + offset_of!(Config, idle_only), &u32::from(request.idle_only).to_ne_bytes());
    put(config + offset_of!(Config, steal_ticks), &request.steal_ticks.to_ne_bytes());
    put(config + offset_of!(Config, segments), &u32::from(request.segments).to_ne_bytes());
    let events = offset_of!(Header, events);
    let count = request.events.len().min(MAX_EVENTS);
    put(events + offset_of!(Events, count), &u32::try_from(count).unwrap_or(0).to_ne_bytes());
    for (i, event) in request.events.iter().take(count).enumerate() {
        let at = events + offset_of!(Events, asked) + i * size_of::<Asked>();
        put(at + offset_of!(Asked, device), &event.device.to_ne_bytes());
        put(at + offset_of!(Asked, flags), &(u32::from(event.user) * USER_ONLY).to_ne_bytes());
        for (word, config) in event.config.iter().enumerate() {
            put(at + offset_of!(Asked, config) + 8 * word, &config.to_ne_bytes());
        }
    }
    // The longest chain so far: none.
    let detached = offset_of!(Header, detached) + offset_of!(shm::Candidate, span);
    put(detached, &i64::MIN.to_ne_bytes());
    page
}
