//! Measures the current speed of the machine. Other machines may share its processors, which is invisible from inside. A fixed
//! piece of work shows how far two runs can be compared.

use std::hint::black_box;
use std::time::Instant;

const ROUNDS: u32 = 20_000;
const TEXT: &str =
    r#"{"id":"ask_1","questions":[{"text":"Which database?","options":[{"label":"SQLite"},{"label":"PostgreSQL"}]}]}"#;

/// Returns the microseconds to parse and write a small document on two threads at once.
pub(crate) fn work_us() -> f64 {
    let work = || {
        let began = Instant::now();
        for _ in 0..ROUNDS {
            let value: serde_json::Value = serde_json::from_str(black_box(TEXT)).unwrap_or_default();
            black_box(value.to_string());
        }
        began.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS)
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(work);
        let own = work();
        other.join().map_or(own, |other| f64::midpoint(own, other))
    })
}
