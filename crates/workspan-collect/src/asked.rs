//! Questions of the program for how many threads there are. One that asks may take another path where there is one: code without
//! tasks, or a loop in as many parts as there are threads. So the report names the question and the answer.
//!
//! **Cost:** a few loads for each question.

use core::sync::atomic::Ordering;

use super::process;
use workspan_wire::shm::Asked;

/// The answer to a program that asks by `function`, `actual` being the truth: the number that the runner wants a program with one
/// worker to see, if it wants that.
pub fn answer(function: Asked, actual: usize) -> usize {
    let Some(shared) = process::shared() else { return actual };
    let wanted = shared.header().config.answered_threads.load(Ordering::Relaxed);
    let answer = if actual == 1 && wanted > 1 { wanted as usize } else { actual };
    note(function, answer);
    answer
}

/// The program has asked by `function`, and was given `answer`.
pub fn note(function: Asked, answer: usize) {
    let Some(shared) = process::shared() else { return };
    if shared.is_idle_only() {
        return;
    }
    let header = shared.header();
    let below_most = u32::MAX - u32::try_from(answer).unwrap_or(u32::MAX);
    // Programs ask often, and on many threads: mostly there is nothing to write.
    if header.asked_by.load(Ordering::Relaxed) & function as u32 == 0 {
        header.asked_by.fetch_or(function as u32, Ordering::Relaxed);
    }
    if header.asked_least.load(Ordering::Relaxed) < below_most {
        header.asked_least.fetch_max(below_most, Ordering::Relaxed);
    }
}
